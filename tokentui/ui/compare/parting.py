"""The step at which two columns part first, with what either had to choose from."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import replace

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from tokentui.analyze.results import DivergenceSide
from tokentui.core.safetext import GlyphMode, safe
from tokentui.learn.rows import Entry
from tokentui.recipe import Recipe
from tokentui.session.snapshot import DivergenceView, Snapshot, TokenInBoth
from tokentui.session.views import LETTERS, PARTS, AtStep, ColumnSnapshot, TokenList
from tokentui.ui.compare.lines import (
    COLUMN_SHOWN,
    choice_cell,
    letter,
    overlap_of,
    parting_of,
    places_of,
    said,
    shared_cell,
)
from tokentui.ui.dialogs.inspect import spelled_marks
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.figures import number, plural
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.table import TableRow, VirtualTable
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.panes.tables import PairTable, token
from tokentui.ui.panes.why import busy_cell


class SideTable(PairTable):
    """The candidates that one column chose from."""

    def choose(self) -> None:
        """Go to the step, whatever row the cursor is on."""
        self.post_message(self.Chosen(self, self.cursor, self.cursor_key))


def side_facts(place: int, column: ColumnSnapshot, side: DivergenceSide, mode: GlyphMode,
        width: int) -> Sequence[Cell]:
    """`A gpt2 takes ·t+he 9,310`, and below it `402,118 tokens · 384 ids · 4 tie: first-seen`."""
    takes = " takes " if side.why.best is not None or side.why.round is not None else " "
    first: Cell = (
        (" ", ""), letter(place), (f" {safe(column.name, limit=COLUMN_SHOWN)}", "strong"), (takes, "muted"),
        *choice_cell(side, mode),
    )
    second: Cell = ((f" {plural(side.tokens, 'token')} · {number(side.vocab_size)} ids", "muted"),)
    if side.why.tied > 1:
        rule = safe(side.why.tie_rule, limit=COLUMN_SHOWN)
        second = ((f" {number(side.why.tied)} tie: ", ""), (rule, "strong"), (" ·", "muted"), *second)
    elif side.why.tie_rule:
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
        at = AtStep(tokens=side.tokens, start_tokens=side.tokens)
        self.table.show(dataclasses.replace(column, at=at, candidates=side.candidates, why=side.why), mode)

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

    @property
    def focused_body(self) -> SideTable:
        """The widget that gets the keys."""
        return self.table

    def present(self, snapshot: Snapshot, pair: tuple[int, int] | None, mode: GlyphMode) -> None:
        """Show a snapshot; see `Body.present`."""
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


# The tokens that two vocabularies share and the tokens of only one: counts, and searchable lists.


FIND_SHOWN = 40
_ID_WIDTH = 7
_USES_WIDTH = 9


def shared(now: Snapshot, look: TokenList, width: int) -> Sequence[Cell]:
    """The counts, the one that is listed marked: `common 88 · only A 296 · only B 113 · never B 12 · Jaccard
    0.1770`.
    """
    counts = overlap_of(now, (look.a, look.b))
    if counts is None:
        return ((("  ", ""), ("loading …", "muted")),)
    places = places_of(now.columns, (look.a, look.b))
    present = counts.at == now.position
    out: Cell = shared_cell(counts, places, present, look.part, look.bare)
    for part, place, count in (("never_b", places[1], counts.never_b),
            ("never_a", places[0], counts.never_a)):
        style = "focus" if part == look.part else "muted"
        figure: Run = ("" if count is None else f" {number(count)}", "strong" if part == look.part else "")
        out = (*out, (" · ", "muted"), (f"never {LETTERS[place]}", style), figure)
    jaccard = counts.bare_jaccard if look.bare else counts.jaccard
    if jaccard is not None:
        out = (*out, (" · Jaccard ", "muted"), (f"{jaccard:.4f}", "" if present else "muted"))
    return ((("  ", ""), *ui_text.clip(out, max(0, width - 3))),)


class TokensTable(VirtualTable):
    """The tokens of one of the lists."""

    mode: GlyphMode = "text"
    recipes: tuple[Recipe, ...] = ()
    """The recipes of the two columns."""

    def entry_at(self, index: int) -> Entry | None:
        """The token of a row as the vocabulary that has it lists it, None where it is not held."""
        row = self.row_at(index)
        if row is None or not isinstance(row.key, TokenInBoth):
            return None
        token = row.key
        side = 0 if token.id_a is not None else 1
        number, uses = ((token.id_a, token.uses_a), (token.id_b, token.uses_b))[side]
        marks = spelled_marks(token.piece, self.recipes[side])
        return Entry(number, -1, token.piece, "token", uses=uses, marks=marks)

    def row_of(self, held: TokenInBoth, index: int) -> TableRow:
        """A token, its ids and its uses in both."""
        ids: list[Cell] = [(("" if one is None else str(one), "muted"),) for one in (held.id_a, held.id_b)]
        uses: list[Cell] = []
        for identity, count in ((held.id_a, held.uses_a), (held.id_b, held.uses_b)):
            shown = "" if identity is None else "–" if count is None else number(count) if count else "∅"
            uses.append(((shown, "muted" if not count else ""),))
        return TableRow(held, (token(held.piece, self.mode), *ids, *uses))

    def show(self, top: int, rows: Sequence[TokenInBoth], total: int, places: tuple[int, int]) -> None:
        """Take rows of the columns at two places."""
        a, b = (LETTERS[place] for place in places)
        columns = (
            Column("token", flex=1, min_width=8, priority=5),
            Column(f"id {a}", width=_ID_WIDTH, align="right", priority=3),
            Column(f"id {b}", width=_ID_WIDTH, align="right", priority=2),
            Column(f"uses {a}", width=_USES_WIDTH, align="right", priority=4),
            Column(f"uses {b}", width=_USES_WIDTH, align="right", priority=4),
        )
        if columns != self.columns:
            self.set_columns(columns)
        self.update_rows(top, rows, total)


class VocabularyBody(Vertical):
    """The counts and a list."""

    def __init__(self) -> None:
        super().__init__()
        self.line, self.table = Lines(), TokensTable(())
        self.part, self.bare, self.find = PARTS[0], False, ""
        self.total = 0
        self.note: Cell = ()
        """Where one is in the list; for the title."""

    def compose(self) -> ComposeResult:
        """The counts at the top."""
        yield self.line
        yield self.table

    def look(self, pair: tuple[int, int]) -> TokenList:
        """Return the list of tokens to show for the two columns with these keys."""
        top, height = self.table.window
        rows = max(60, height, 3 * self.table.size.height)
        return TokenList(*pair, self.part, self.bare and not self.part.startswith("never"), self.find,
            top, rows)

    def turn(self, by: int) -> None:
        """Another list."""
        self.part = PARTS[(PARTS.index(self.part) + by) % len(PARTS)]
        self.table.move_to(0)

    def turn_bare(self) -> None:
        """Compare without marks, or with them."""
        self.bare = not self.bare
        self.table.move_to(0)

    def find_text(self, text: str) -> None:
        """List what holds a text."""
        self.find = text
        self.table.move_to(0)
        self.table.set_find(text)

    @property
    def focused_body(self) -> TokensTable:
        """The widget that gets the keys."""
        return self.table

    def present(self, snapshot: Snapshot, pair: tuple[int, int] | None, mode: GlyphMode) -> None:
        """Show a snapshot; see `Body.present`."""
        if pair is None:
            return
        look = self.look(pair)
        self.line.show(lambda width, _: shared(snapshot, look, width))
        found = snapshot.between.tokens
        places = places_of(snapshot.columns, pair)
        self.table.mode, self.table.recipes = mode, tuple(snapshot.columns[place].recipe for place in places)
        if found is None or replace(found.query, top=look.top, rows=look.rows) != look:
            self.table.show(0, (), 0, places)
            self.note = (("loading …", "muted"),)
            return
        if found.busy is not None:
            self.note = busy_cell(found.busy)[:-2]
        self.table.show(found.query.top, found.rows, found.total, places)
        if found.busy is None:
            sought: Cell = ((f"/{safe(self.find, limit=FIND_SHOWN)} · ", "muted"),) if self.find else ()
            marks: Cell = (("without marks · ", "muted"),) if look.bare else ()
            self.note = (*marks, *sought, ("tokens: ", "muted"), (number(found.total), "muted"))
