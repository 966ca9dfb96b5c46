"""The step at which two columns part first, with what either had to choose from."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from tokentui.core.safetext import GlyphMode, safe
from tokentui.session.snapshot import DivergenceSide, DivergenceView, Snapshot
from tokentui.session.views import AtStep, Candidates, ColumnSnapshot, WhyView
from tokentui.ui.compare.column_panes import NAME_SHOWN, letter
from tokentui.ui.compare.lines import choice_cell, parting_of, places_of, said
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number, plural
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.text import Cell
from tokentui.ui.panes.candidates import PairTable
from tokentui.ui.panes.why import busy_cell


class SideTable(PairTable):
    """The candidates that one column chose from."""

    def choose(self) -> None:
        """Go to the step, whatever row the cursor is on."""
        self.post_message(self.Chosen(self, self.cursor, self.cursor_key))


def side_facts(place: int, column: ColumnSnapshot, side: DivergenceSide, mode: GlyphMode,
        width: int) -> Sequence[Cell]:
    """`A gpt2 takes ·t+he 9,310`, and below it `402,118 tokens · 384 ids · 4 tie: first-seen`."""
    takes = " takes " if side.choice is not None or side.round is not None else " "
    first: Cell = (
        (" ", ""), letter(place), (f" {safe(column.name, limit=NAME_SHOWN)}", "strong"), (takes, "muted"),
        *choice_cell(side, column, mode),
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
        self.facts, self.table = Lines(classes="side"), SideTable()

    def compose(self) -> ComposeResult:
        """Yield the choice of the column and its candidates."""
        yield self.facts
        yield self.table

    def show(self, place: int, column: ColumnSnapshot, side: DivergenceSide, mode: GlyphMode) -> None:
        """Take a side."""
        self.facts.show(lambda width, _: side_facts(place, column, side, mode, width))
        why = WhyView(side.choice, None, side.tied, 0, side.tie_rule, side.end, (), side.round)
        at, rows = AtStep(tokens=side.tokens, start_tokens=side.tokens), Candidates(side.pairs, 0, len(side.pairs))
        self.table.show(dataclasses.replace(column, at=at, candidates=rows, why=why), mode)

    def clear(self) -> None:
        """Show no candidates."""
        self.table.clear()


class PartingBody(Vertical):
    """Both sides of the step."""

    def __init__(self) -> None:
        super().__init__()
        self.said, self.left, self.right = Lines(classes="side"), Side("left"), Side("right")
        self.right.table.can_focus = False
        self.found: DivergenceView | None = None
        self.sides = Horizontal(self.left, self.right)

    def compose(self) -> ComposeResult:
        """Yield the two sides, left and right."""
        yield self.said
        yield self.sides

    @property
    def table(self) -> SideTable:
        """The table that gets the keys."""
        return self.left.table

    @property
    def note(self) -> Cell:
        """Return the way merges are compared, and the step of divergence under the other way."""
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

    def show(self, snapshot: Snapshot, pair: tuple[int, int] | None, mode: GlyphMode) -> None:
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
            lines = (said(found, snapshot.columns, places, mode), busy)
            self.said.show(lambda *_: [((" ", ""), *line) for line in lines])
