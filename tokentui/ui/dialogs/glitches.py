"""The glitch tokens of the tokenizer of a step: a list by kind, and the vocabulary narrowed to them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Never

from tokentui.analyze.glitches import KINDS, Glitch
from tokentui.core.safetext import safe, safe_line
from tokentui.session.commands import Command, FindGlitches
from tokentui.ui.dialogs import LEAVE, SCROLL
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.dialogs.report import ReportScreen
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.table import Column, TableRow
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.keys import Action

if TYPE_CHECKING:  # it loads this dialog
    from tokentui.ui.main import MainScreen

_SHOWN = 60
_ALL = ""


class GlitchScreen(ReportScreen[tuple[Glitch, ...]]):
    """Lists the tokens that no text becomes, or none that people write, or that the corpus has only inside
    longer ones; each with its proof.

    Args:
        on: The main screen, whose vocabulary is narrowed.
    """

    HEADING, ASKING = "Glitch tokens", "looking at every token …"
    ACTIONS: ClassVar[Sequence[Action[Never]]] = (
        Action(("enter",), "inspect"), Action(("tab", "right"), "kind", lambda it: it.turn(1)),
        Action(("shift+tab", "left"), "", lambda it: it.turn(-1)),
        Action(("v",), "only these in the vocabulary", lambda it: it.narrow()), SCROLL, LEAVE,
        Action(("exclamation_mark", "q"), "", lambda it: it.leave()),
    )

    def __init__(self, on: MainScreen) -> None:
        super().__init__(on.face)
        self._on = on
        self.kind = _ALL
        """The kind that is listed; empty for all."""

    def question(self) -> Command[tuple[Glitch, ...]]:
        """The question."""
        return FindGlitches()

    def listed(self, found: Sequence[Glitch]) -> list[Glitch]:
        """Those of the kind that is listed."""
        return [one for one in found if self.kind in (_ALL, one.kind)]

    def said(self, answer: tuple[Glitch, ...]) -> Cell:
        """The number of each kind; the one that is listed is marked."""
        out: list[Run] = []
        for kind in (_ALL, *KINDS):
            many = sum(kind in (_ALL, one.kind) for one in answer)
            style = "key" if kind == self.kind else "muted"
            out += [("  " if out else "", ""), (f"{kind or 'all'} {number(many)}", style)]
        return tuple(out)

    def columns(self) -> Sequence[Column]:
        """An id, the token, its kind, and the proof."""
        return (Column("id", width=9, align="right", priority=1),
                Column("token", flex=1, min_width=10, priority=3),
                Column("kind", width=9), Column("why", flex=3, min_width=20, priority=2))

    def rows(self, answer: tuple[Glitch, ...]) -> Iterator[TableRow]:
        """The tokens by kind, in order of their ids."""
        if not self.listed(answer):
            whole = "each token comes of a text that people write"
            none = f"none: {KINDS[self.kind] if self.kind else whole}"
            yield TableRow(None, ((), (), (), ((none, "muted"),)))
        kinds = [*KINDS]
        for one in sorted(self.listed(answer), key=lambda one: kinds.index(one.kind)):
            why: list[Run] = [(safe(one.sentence) if not one.into else "always a part", "")]
            for n, into in enumerate(one.into):
                why += [(", " if n else " of ", "muted"), *ui_text.runs(into, limit=_SHOWN)]
            if one.text is not None and not one.into:
                why += [("  such as ", "muted"), *ui_text.runs(one.text.encode("utf-8", "surrogateescape"),
                                                               limit=_SHOWN)]
            yield TableRow(one.id, (((number(one.id), "muted"),), ui_text.runs(one.piece, limit=_SHOWN),
                                    ((one.kind, "muted"),), tuple(why)))

    def turn(self, by: int) -> None:
        """List another kind."""
        kinds = [_ALL, *KINDS]
        self.kind = kinds[(kinds.index(self.kind) + by) % len(kinds)]
        self.listing.move_to(0)
        self.lay_out()

    def narrow(self) -> None:
        """Leave, and show only these in the vocabulary."""
        if self.answer is not None:
            ids = frozenset(one.id for one in self.listed(self.answer))
            table = self._on.tables["vocabulary"]
            self._on.narrow("vocabulary", "")
            table.among = "glitch tokens"
            self._on.see(vocabulary_among=ids, vocabulary_top=0)
            self._on.go("vocabulary")
            self.dismiss(None)

    def on_virtual_table_cursor_moved(self) -> None:
        """Say in full why the token is one."""
        key = self.listing.cursor_key
        found = next((one for one in self.answer or () if one.id == key), None)
        self.notice.say(safe_line(f"{KINDS[found.kind]}: {found.sentence}") if found is not None else "")

    def chosen(self, key: Hashable) -> None:
        """Tell all about a token."""
        if isinstance(key, int):
            self.face.push(InspectScreen(self.face, token=key))
