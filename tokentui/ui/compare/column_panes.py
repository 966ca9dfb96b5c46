"""A column of Compare: where it stands, what it may take next, what it takes and why; or why it cannot be shown."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget

from tokentui.core.safetext import GlyphMode, safe
from tokentui.recipe import Recipe
from tokentui.session.compared import LETTERS, ColumnAt, ColumnView
from tokentui.session.snapshot import CorpusView, EncodedView, LossRow, PairRow, Place, Snapshot, WhyView
from tokentui.ui.actions import bindings
from tokentui.ui.dialogs.listing import wrap
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.bands import TitleLine
from tokentui.ui.draw.figures import number, step_of
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.pane import Pane
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.panes.candidates import PairTable
from tokentui.ui.panes.why import WhyLines, busy_cell, sentences

ERROR_SHOWN = 600
NAME_SHOWN = 40
_NOTHING = CorpusView(Place(), (), True, True, 0.0)
_RATIO_WIDTH = len("2.00")
_LEAST_DIGITS = len("50,000")
FACTS_WIDTH = 62
"""The width that all facts fit into side by side."""


def letter(place: int) -> Run:
    """What the column at a place is called, in its colour."""
    return LETTERS[place], f"column-{place}"


def as_main(
    column: ColumnView, pairs: tuple[PairRow, ...] | tuple[LossRow, ...], why: WhyView, *, top: int = 0, total: int = 0,
    start_tokens: int = 0, tokens: int = 0,
) -> Snapshot:
    """A column as far as the tables and the sentences of the main screen look at it."""
    return Snapshot(
        version=0, corpus_name="", corpus_bytes=0, occurrences=0, distinct=0, notes=(), recipe=column.recipe or Recipe(),
        preset=column.name, step=0, known=0, target=None, tokens=tokens, start_tokens=start_tokens, vocab_size=0, running=False,
        speed=None, goal=None, partial=False, last=None, last_id=None, pairs=pairs, pairs_top=top, pairs_total=total, why=why,
        vocabulary=(), vocabulary_top=0, vocabulary_order="", corpus=_NOTHING, encoded=EncodedView("", (), 0), curve=(),
        curve_end=0, busy=None,
    )


class Aside(Message):
    """What has the focus is left to one side: for the column, the pair or the list beside it."""

    def __init__(self, source: Widget, by: int) -> None:
        super().__init__()
        self.source = source
        self.by = by


class ChoiceTable(PairTable):
    """What a column may take next, best first, as the main screen has it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("rows"), *bindings("choices")]

    def action_sideways(self, by: int) -> None:
        """Go to another column."""
        self.post_message(Aside(self, by))


class ColumnFacts(Lines):
    """Where a column stands: its step, its ids, its tokens."""

    column: ColumnView | None = None

    def show(self, column: ColumnView) -> None:
        """Take what a snapshot says of the column."""
        self.column = column
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """The facts, as many as the lines hold; numbers keep their width while they grow."""
        at = self.column.at if self.column is not None else None
        if self.column is None or at is None:
            return ()
        lines: list[Cell] = [()]
        for fact in _facts(at):
            joined: Cell = (*lines[-1], ("  ", ""), *fact) if lines[-1] else fact
            if ui_text.width(joined) <= width - 1:
                lines[-1] = joined
            elif len(lines) < height:
                lines.append(fact)
        return [((" ", ""), *line) for line in lines]


def _facts(at: ColumnAt) -> list[Cell]:
    whole = max(at.target or 0, at.known, at.step)
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


class ColumnWhy(WhyLines):
    """What a column takes, and why, on as many lines as there are."""

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """The facts one after the other; one that does not fit goes to the next line, and the last line is cut."""
        if self.snapshot is None:
            return ()
        lines: list[Cell] = []
        for sentence in sentences(self.snapshot, self.mode):
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


class ColumnSays(Lines, can_focus=True):
    """What stands in the place of candidates where there are none: why a column cannot be shown, or what it is busy with."""

    BINDINGS: ClassVar[list[BindingType]] = [binding for binding in bindings("choices") if "sideways" in binding.action]
    DEFAULT_CSS = """
    ColumnSays { height: 1fr; display: none; }
    """

    column: ColumnView | None = None

    def show(self, column: ColumnView) -> None:
        """Take what a snapshot says of the column."""
        self.column = column
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """The error, on as many lines as it takes; or how far it is."""
        column = self.column
        if column is None:
            return ()
        if column.error:
            words = textwrap.wrap(safe(column.error, limit=ERROR_SHOWN), max(2, width - 2))
            said: list[Cell] = [line for part in words for line in wrap(((part, "error"),), width - 2)]
        elif column.coming is not None:
            said = [busy_cell(column.coming)[:-2]]
        else:
            said = [(("coming …", "muted"),)]
        about: Cell = ((safe(column.about, limit=ERROR_SHOWN), "muted"),)
        return [((" ", ""), *ui_text.clip(line, max(0, width - 2))) for line in (about, (), *said)]

    def action_sideways(self, by: int) -> None:
        """Go to another column."""
        self.post_message(Aside(self, by))


class ColumnTitle(TitleLine):
    """The upper edge of a column: its letter in its colour, its name."""

    place = 0

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """`┌ A gpt2 ─────── 12/2,914 ┐`."""
        (line,) = super().cells(width, height)
        corner, (title, style), *rest = line
        if not title.startswith(LETTERS[self.place]):
            return (line,)
        return ((corner, (title[0], f"column-{self.place}+strong"), (title[1:], style), *rest),)


class ColumnBody(Vertical):
    """What stands in the box of a column."""

    def __init__(self) -> None:
        super().__init__()
        self.facts, self.table, self.says, self.why = ColumnFacts(), ChoiceTable(), ColumnSays(), ColumnWhy()

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield self.facts
        yield self.table
        yield self.says
        yield self.why


class ColumnPane(Pane):
    """A column.

    Args:
        place: Its place from the left.
    """

    def __init__(self, place: int) -> None:
        self.body = ColumnBody()
        super().__init__(LETTERS[place], self.body, id=f"column-{place}")
        self.place = place
        self.title = ColumnTitle(LETTERS[place])
        self.title.place = place
        self.column: ColumnView | None = None

    @property
    def table(self) -> ChoiceTable:
        """Its candidates."""
        return self.body.table

    @property
    def focused_body(self) -> Widget:
        """What keys go to."""
        return self.body.table if self.column is None or self.column.at is not None else self.body.says

    def show(self, column: ColumnView, mode: GlyphMode) -> None:
        """Take what a snapshot says of the column that stands here."""
        another = self.column is not None and self.column.key != column.key
        had, self.column = self.focused_body, column
        body, at = self.body, column.at
        if had.has_focus and had is not self.focused_body:
            self.screen.set_focus(None)  # what is hidden must not hand the focus to whatever stands beside it
        body.table.display = body.facts.display = body.why.display = at is not None
        body.says.display = at is None
        body.facts.show(column)
        body.says.show(column)
        if another:
            body.table.move_to(0)
        if at is not None:
            shown = as_main(
                column, at.pairs, at.why, top=at.pairs_top, total=at.pairs_total, start_tokens=at.start_tokens, tokens=at.tokens,
            )
            body.table.show(shown, mode)
            body.why.show(shown, mode)
        self.draw_title()

    def draw_title(self) -> None:
        """Say what it is, and which row of it is looked at."""
        if self.column is None:
            return
        name = f"{LETTERS[self.place]} {safe(self.column.name, limit=NAME_SHOWN)}"
        self.title.name_panes([(name, True)])
        self.title.say(self.table.note if self.column.at is not None and self.table.total else ())
