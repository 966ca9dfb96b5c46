"""The step at which two columns part first, with what either had to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from tokentui.core.safetext import GlyphMode, safe
from tokentui.session.compared import ColumnView, CompareSnapshot, PartingSide, PartingView
from tokentui.session.snapshot import WhyView
from tokentui.ui.actions import bindings
from tokentui.ui.compare.column_panes import NAME_SHOWN, Aside, as_main, letter
from tokentui.ui.compare.lines import choice_cell, parting_of, places_of, said
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number, plural
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.text import Cell
from tokentui.ui.panes.candidates import PairTable
from tokentui.ui.panes.why import busy_cell


class SideTable(PairTable):
    """What one column had to choose from."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("rows"), *bindings("parting")]

    def action_sideways(self, by: int) -> None:
        """Go to another pair."""
        self.post_message(Aside(self, by))

    def action_choose(self) -> None:
        """Go to the step, whatever row the cursor is on."""
        self.post_message(self.Chosen(self, self.cursor, self.cursor_key))


class SideFacts(Lines):
    """Which column it is, what it takes there and by which rule."""

    DEFAULT_CSS = """
    SideFacts { height: 2; }
    """

    place = 0
    column: ColumnView | None = None
    side: PartingSide | None = None
    mode: GlyphMode = "text"

    def show(self, place: int, column: ColumnView, side: PartingSide, mode: GlyphMode) -> None:
        """Take a side."""
        self.place, self.column, self.side, self.mode = place, column, side, mode
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """`A gpt2 takes ·t+he 9,310`, and below it `402,118 tokens · 384 ids · 4 tie: first-seen`."""
        side, column = self.side, self.column
        if side is None or column is None:
            return ()
        takes = " takes " if side.choice is not None or side.round is not None else " "
        first: Cell = (
            (" ", ""), letter(self.place), (f" {safe(column.name, limit=NAME_SHOWN)}", "strong"), (takes, "muted"),
            *choice_cell(side, column, self.mode),
        )
        second: Cell = ((f" {plural(side.tokens, 'token')} · {number(side.vocab_size)} ids", "muted"),)
        if side.tied > 1:
            rule = safe(side.tie_rule, limit=NAME_SHOWN)
            second = ((f" {number(side.tied)} tie: ", ""), (rule, "strong"), (" ·", "muted"), *second)
        elif side.tie_rule:
            second = (*second, (" · no tie", "muted"))
        return [ui_text.clip(line, width) for line in (first, second)]


class Side(Vertical):
    """One column at the step.

    Args:
        id: Its id.
    """

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self.facts, self.table = SideFacts(), SideTable()

    def compose(self) -> ComposeResult:
        """What it takes, and from what."""
        yield self.facts
        yield self.table

    def show(self, place: int, column: ColumnView, side: PartingSide, mode: GlyphMode) -> None:
        """Take a side."""
        self.facts.show(place, column, side, mode)
        why = WhyView(side.choice, None, side.tied, 0, side.tie_rule, side.end, (), side.round)
        shown = as_main(column, side.pairs, why, total=len(side.pairs), start_tokens=side.tokens, tokens=side.tokens)
        self.table.show(shown, mode)


    def clear(self) -> None:
        """Show no candidates."""
        self.table.snapshot = None
        self.table.update_rows(0, (), 0)


class PartingSaid(Lines):
    """What there is to say while there is no such step."""

    DEFAULT_CSS = """
    PartingSaid { height: 2; }
    """

    said: tuple[Cell, ...] = ()

    def say(self, *lines: Cell) -> None:
        """Say it."""
        self.said = lines
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """It."""
        return [((" ", ""), *line) for line in self.said]


class PartingBody(Vertical):
    """Both sides of the step."""

    def __init__(self) -> None:
        super().__init__()
        self.said, self.left, self.right = PartingSaid(), Side("left"), Side("right")
        self.right.table.can_focus = False
        self.found: PartingView | None = None
        self.sides = Horizontal(self.left, self.right)

    def compose(self) -> ComposeResult:
        """The sides beside each other."""
        yield self.said
        yield self.sides

    @property
    def table(self) -> SideTable:
        """What keys go to."""
        return self.left.table

    @property
    def note(self) -> Cell:
        """How merges are compared, and where they part when they are compared the other way."""
        found = self.found
        if found is None or (found.other is None and not found.literal):
            return ()
        how, otherwise = ("as spelled", "by meaning") if found.literal else ("by meaning", "as spelled")
        other = "" if found.other is None else f", {otherwise} at step {number(found.other)}"
        return ((f"{how}{other} (D)", "muted"),)

    def follow(self) -> None:
        """Bring the rows of the right side to those of the left."""
        self.right.table.top = self.left.table.top
        self.right.table.move_to(self.left.table.cursor)

    def show(self, snapshot: CompareSnapshot, pair: tuple[int, int] | None, mode: GlyphMode) -> None:
        """Take a snapshot, and the two columns, by their keys, that are looked at."""
        if pair is None:
            return
        places, found = places_of(snapshot.columns, pair), parting_of(snapshot, pair)
        there = found is not None and len(found.sides) == 2
        self.found = found
        self.said.display = not there
        for side in (self.left, self.right):
            side.facts.display = there
        if found is not None and there:
            for side, place, one in zip((self.left, self.right), places, found.sides, strict=True):
                side.show(place, snapshot.columns[place], one, mode)
        else:
            for side in (self.left, self.right):
                side.clear()
            busy = busy_cell(found.busy) if found is not None and found.busy is not None else ()
            self.said.say(said(found, snapshot.columns, places, mode), busy)
