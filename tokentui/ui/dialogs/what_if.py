"""The dialog of what-ifs: the changes that a row allows, and those that a run is under."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from textual.binding import Binding, BindingType

from tokentui.core.errors import TokentuiError
from tokentui.learn.rows import Candidate, Entry
from tokentui.recipe import FORBID, FORCE, LEAVE_OUT, Recipe, Run, WhatIf, check_changes
from tokentui.session.views import ColumnSnapshot, ColumnWanted
from tokentui.ui.bindings import HANDLED
from tokentui.ui.dialogs import ListDialog, row_key
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.table import Column, Listing, TableRow
from tokentui.ui.draw.text import Cell
from tokentui.ui.link import EngineLink
from tokentui.ui.panes.column_tables import tokens

if TYPE_CHECKING:
    from tokentui.ui.link import EngineScreen

_COLUMNS = (Column(width=22, priority=1), Column(flex=1, min_width=12, priority=2))

Step: TypeAlias = tuple[int, bytes, tuple[bytes, ...]]
"""A step that was made, its token and the parts of that."""


class WhatIfChoice(NamedTuple):
    """A what-if that can be added, or taken back.

    Attributes:
        change: The what-if.
        name: What it is, in two or three words.
        about: What it does.
        back: True if it is in force, and choosing it takes it back.
    """

    change: WhatIf
    name: str
    about: Cell
    back: bool = False


def of_pair(row: Candidate, column: ColumnSnapshot) -> Iterator[WhatIfChoice]:
    """Yield the what-ifs of a candidate of the next step: forbid the pair or the token, and force it unless
    it is the best."""
    step, best = column.at.step + 1, column.why.best
    pair, made = tokens(row.parts, "text"), tokens((row.spelled,), "text")
    yield WhatIfChoice(
        WhatIf(step, FORBID, row.parts), "forbid the pair",
        ((f"from step {number(step)} on ", "muted"), *pair, (" is not merged", "muted")),
    )
    yield WhatIfChoice(
        WhatIf(step, FORBID, (row.spelled,)), "forbid the token",
        ((f"from step {number(step)} on no pair makes ", "muted"), *made),
    )
    if best is None or best.parts != row.parts or column.why.end is not None:
        yield WhatIfChoice(
            WhatIf(step, FORCE, row.parts), "force it now",
            ((f"step {number(step)} merges ", "muted"), *pair, (", whatever its rank", "muted")),
        )


def of_step(step: int, token: bytes, parts: Sequence[bytes]) -> Iterator[WhatIfChoice]:
    """Yield the what-ifs of a merge that was made: leave it out, or forbid the token."""
    pair, made = tokens(tuple(parts), "text"), tokens((token,), "text")
    yield WhatIfChoice(
        WhatIf(step, LEAVE_OUT), "leave this merge out",
        (("the next best pair is merged instead of ", "muted"), *pair,
            (f", from step {number(step)} on", "muted")),
    )
    yield WhatIfChoice(
        WhatIf(step, FORBID, (token,)), "forbid the token",
        ((f"from step {number(step)} on no pair makes ", "muted"), *made),
    )


def choices(
    column: ColumnSnapshot, row: Candidate | Entry | None = None, made: Step | None = None
) -> list[WhatIfChoice]:
    """Return the what-ifs that a row of a column allows, then those in force, to take back.

    Args:
        column: The column.
        row: A candidate, or an entry of the vocabulary.
        made: A step, its token and the parts of the token; used in place of a row.

    Raises:
        TokentuiError: The column allows no what-ifs, or there are none to choose.
    """
    column.traits.check_what_ifs((WhatIf(1, LEAVE_OUT),))
    found: list[WhatIfChoice] = []
    if isinstance(row, Entry) and row.made is not None:
        made = row.made, row.piece, row.parts
    if isinstance(row, Candidate) and row.parts:
        found += of_pair(row, column)
    elif made is not None:
        found += of_step(*made)
    there = column.recipe.changes
    found = [choice for choice in found if allowed(column.recipe, choice.change)]
    about: Cell = (("the run continues without it", "muted"),)
    for change in there:
        found.append(WhatIfChoice(change, "take back", ((f"{change.text}   ", ""), *about), back=True))
    if not found:
        raise _why_no_what_if(column, row, made)
    return found


def _why_no_what_if(
    column: ColumnSnapshot, row: Candidate | Entry | None, made: Step | None
) -> TokentuiError:
    """Return, not raise, the error that says why a row allows no what-if, and what to choose instead.

    Args:
        column: The column.
        row: The row; None for none.
        made: The step that made the row's token: every change of it is then excluded by those in force.
    """
    if made is not None or (isinstance(row, Candidate) and row.parts):
        return TokentuiError("the what-ifs of this run exclude every change of this row", "what if",
            "choose another row")
    if isinstance(row, Entry):
        return TokentuiError("no merge made this token: the token exists from the start", "what if",
            "choose a token that a merge made")
    if column.why.end is not None:
        return TokentuiError("no pair is left to merge", "what if",
            "b goes back to a step with pairs; in Vocabulary, choose a token that a merge made")
    return TokentuiError("no pair is chosen", "what if", "choose a row of Pairs or Vocabulary")


def allowed(recipe: Recipe, change: WhatIf) -> bool:
    """Return whether a what-if can be added to a recipe. No error is formatted, since tokens can be megabytes
    long."""
    try:
        check_changes((*recipe.changes, change))
    except TokentuiError:
        return False
    return True


def changed(recipe: Recipe, choice: WhatIfChoice) -> Recipe:
    """Return the recipe with a what-if added, or removed if `choice.back`."""
    return recipe.but((choice.change,)) if choice.back else recipe.under((choice.change,))


def beside(column: ColumnSnapshot, choice: WhatIfChoice, run: Run) -> tuple[ColumnWanted, ColumnWanted]:
    """Return the columns of the present recipe and of the changed one, for Compare."""
    return (
        ColumnWanted(column.recipe, run, name=column.name), ColumnWanted(changed(column.recipe, choice), run),
    )


def ask_beside(
    screen: EngineScreen[Any], column: ColumnSnapshot, row: Candidate | Entry | None = None,
    made: Step | None = None,
) -> None:
    """Ask for a what-if of a row, and open the present run and the changed one in Compare. Raises
    TokentuiError, see `choices`."""
    dialog = WhatIfScreen(screen.engine, subject_of(row, made), choices(column, row, made))
    screen.app.push_for_result(
        dialog, lambda choice: screen.app.compare(beside(column, choice, screen.engine.run)))


def subject_of(row: Candidate | Entry | None, made: Step | None = None) -> Cell:
    """Return the pair or token of a row, else the token that was made; empty without either."""
    if isinstance(row, Candidate):
        return tokens(row.parts, "text")
    token = row.piece if row is not None else made[1] if made is not None else b""
    return tokens((token,), "text") if token else ()


class WhatIfScreen(ListDialog[WhatIfChoice]):
    """Asks for a what-if. Its result is the choice; None if it was cancelled.

    Args:
        engine: The link to the session.
        subject: The pair or token, for the title.
        found: The choices.
    """

    HEADING = "What if"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", HANDLED, "choose"), Binding("x", "leave"),
    ]

    def __init__(self, engine: EngineLink, subject: Cell, found: Sequence[WhatIfChoice]) -> None:
        subject_text = "".join(text for text, _ in subject)
        super().__init__(engine, f"{self.HEADING} · {subject_text}" if subject_text else self.HEADING)
        self._found = tuple(found)
        self.parts = self.listing, self.notice

    def on_mount(self) -> None:
        """Focus the list, and say in the notice that Compare shows the changed run."""
        super().on_mount()
        self.notice.say("the changed run opens next to this one in Compare, with its cost")

    def lay_out(self) -> None:
        """Show the choices, wrapped to the width, and fit the height."""
        self.tell(_COLUMNS, self._rows(), keep=self.listing.cursor_key)
        self.fit_height(len(self.listing.rows) + 1)

    def _rows(self) -> Iterator[TableRow]:
        """Yield a row for each what-if, with a heading before those in force."""
        for at, choice in enumerate(self._found):
            if choice.back and (not at or not self._found[at - 1].back):
                yield TableRow(None, ((("in force now", "muted"),), ()))
            yield TableRow(at, (((choice.name, "strong"),), choice.about))

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Close with the what-if of the row; ignore headings."""
        key = row_key(event.key)
        if isinstance(key, int):
            self.dismiss(self._found[key])
