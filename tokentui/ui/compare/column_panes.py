"""A column of Compare: where it stands, what it may take next, what it takes and why; or why it cannot be
shown.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from textual.containers import Vertical
from textual.widget import Widget

from tokentui.core.safetext import GlyphMode, safe
from tokentui.session.views import LETTERS, AtStep, ColumnSnapshot
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number, step_of
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.listing import wrap
from tokentui.ui.draw.pane import Pane
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.panes.candidates import PairTable
from tokentui.ui.panes.why import busy_cell, reasons

ERROR_SHOWN = 600
NAME_SHOWN = 40
_RATIO_WIDTH = len("2.00")
_LEAST_DIGITS = len("50,000")
FACTS_WIDTH = 62
"""The width that all facts fit into side by side."""


def letter(place: int) -> Run:
    """Return the letter of the column at a place, in its colour."""
    return LETTERS[place], f"column-{place}"


class ChoiceTable(PairTable):
    """The candidates for the next merge of a column, best first, as on the main screen."""


def facts(column: ColumnSnapshot, width: int, height: int) -> Sequence[Cell]:
    """Where a column stands, on as many lines as there are; numbers keep their width while they grow."""
    if not column.in_sync:
        return ()
    lines: list[Cell] = [()]
    for fact in _facts(column.at):
        joined: Cell = (*lines[-1], ("  ", ""), *fact) if lines[-1] else fact
        if ui_text.width(joined) <= width - 1:
            lines[-1] = joined
        elif len(lines) < height:
            lines.append(fact)
    return [((" ", ""), *line) for line in lines]


def _facts(at: AtStep) -> list[Cell]:
    whole = max(at.target or 0, at.computed, at.step)
    step = max(_LEAST_DIGITS, len(number(whole)))
    ids = max(_LEAST_DIGITS, len(number(at.vocab_size + whole - at.step)))
    tokens = len(number(max(at.start_tokens, at.tokens)))
    ratio = "–" if at.bytes_per_token is None else f"{at.bytes_per_token:.2f}"
    there = at.end.exact and at.step == at.end.step
    said = f"ends at {step_of(at.end)}" if not there else "the last step" if at.end.kind == "last" else "at its stop"
    return [
        (("step ", "muted"), (number(at.step).rjust(step), "strong")),
        ((number(at.vocab_size).rjust(ids), "strong"), (" ids", "muted")),
        ((ratio.rjust(_RATIO_WIDTH), "strong"), (" B/token", "muted")),
        ((number(at.tokens).rjust(tokens), ""), (" tokens", "muted")),
        *([((said, "muted"),)] if at.end.step is not None else []),
    ]


def column_why(shown: ColumnSnapshot, mode: GlyphMode, width: int, height: int) -> Sequence[Cell]:
    """Return the next choice of a column and its reason, on `height` lines; the last line is cut."""
    lines: list[Cell] = []
    for sentence in reasons(shown, "", mode):
        for n, fact in enumerate(_parts(sentence)):
            joined: Cell = (*lines[-1], ("   " if n else " · ", "muted"), *fact) if lines else fact
            if lines and ui_text.width(joined) > width - 2 and len(lines) < height:
                lines.append(fact)
            else:
                lines[-1:] = [joined]
    return [((" ", ""), *ui_text.clip(line, max(0, width - 2))) for line in lines]


def _parts(sentence: Cell) -> list[Cell]:
    """A sentence cut where it has a wide gap."""
    parts: list[list[Run]] = [[]]
    for run in sentence:
        if run == ("   ", ""):
            parts.append([])
        else:
            parts[-1].append(run)
    return [tuple(part) for part in parts if part]


def absent(column: ColumnSnapshot, width: int, height: int) -> Sequence[Cell]:
    """Return the text shown instead of candidates: why a column cannot be shown, or its work under way."""
    if column.error:
        words = textwrap.wrap(safe(column.error, limit=ERROR_SHOWN), max(2, width - 2))
        said: list[Cell] = [line for part in words for line in wrap(((part, "error"),), width - 2)]
    elif column.loading is not None:
        said = [busy_cell(column.loading)[:-2]]
    else:
        said = [(("loading …", "muted"),)]
    about: Cell = ((safe(column.about, limit=ERROR_SHOWN), "muted"),)
    return [((" ", ""), *ui_text.clip(line, max(0, width - 2))) for line in (about, (), *said)]


class ColumnSays(Lines, can_focus=True):
    """The text shown where a column has no candidates."""


class ColumnPane(Pane):
    """A column.

    Args:
        place: Its place from the left.
    """

    def __init__(self, place: int) -> None:
        self.facts, self.table = Lines(classes="facts"), ChoiceTable()
        self.says, self.why = ColumnSays(classes="says"), Lines(classes="why")
        super().__init__(LETTERS[place], Vertical(self.facts, self.table, self.says, self.why),
            id=f"column-{place}")
        self.place = place
        self.title.letter = f"column-{place}"
        self.column: ColumnSnapshot | None = None

    @property
    def focused_body(self) -> Widget:
        """The widget that gets the keys."""
        return self.table if self.column is None or self.column.in_sync else self.says

    def show(self, column: ColumnSnapshot, mode: GlyphMode) -> None:
        """Take what a snapshot says of the column that stands here."""
        another = self.column is not None and self.column.key != column.key
        had, self.column = self.focused_body, column
        shown = column.in_sync
        if had.has_focus and had is not self.focused_body:
            self.screen.set_focus(None)  # what is hidden must not hand the focus to whatever stands next to it
        self.table.display = self.facts.display = self.why.display = shown
        self.says.display = not shown
        self.facts.show(lambda width, height: facts(column, width, height))
        self.says.show(lambda width, height: absent(column, width, height))
        if another:
            self.table.move_to(0)
        if shown:
            self.table.show(column, mode)
            self.why.show(lambda width, height: column_why(column, mode, width, height))
        self.draw_title()

    def draw_title(self) -> None:
        """Say what it is, and which row of it is looked at."""
        if self.column is None:
            return
        name = f"{LETTERS[self.place]} {safe(self.column.name, limit=NAME_SHOWN)}"
        self.title.say([(name, True)], self.table.note if self.column.in_sync and self.table.total
            else ())
