"""The tokens that two vocabularies share and the tokens of only one: counts, and searchable lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textual.app import ComposeResult
from textual.containers import Vertical

from tokentui.core.safetext import GlyphMode, safe
from tokentui.session.snapshot import Snapshot, TokenInBoth
from tokentui.session.views import LETTERS, PARTS, TokenList
from tokentui.ui.compare.lines import overlap_of, places_of, shared_cell
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.table import TableRow, VirtualTable
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.panes.tables import token
from tokentui.ui.panes.why import busy_cell

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

    rows: tuple[TokenInBoth, ...] = ()
    rows_top = 0

    def token_at(self, index: int) -> TokenInBoth | None:
        """The token of a row, None where it is not held."""
        place = index - self.rows_top
        return self.rows[place] if 0 <= place < len(self.rows) else None

    def show(self, top: int, rows: Sequence[TokenInBoth], total: int, places: tuple[int, int],
            mode: GlyphMode) -> None:
        """Take rows."""
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
        self.rows, self.rows_top = tuple(rows), top
        self.update_rows(top, [_row(row, mode) for row in rows], total)


def _row(row: TokenInBoth, mode: GlyphMode) -> TableRow:
    ids: list[Cell] = [(("" if one is None else str(one), "muted"),) for one in (row.id_a, row.id_b)]
    uses: list[Cell] = []
    for identity, count in ((row.id_a, row.uses_a), (row.id_b, row.uses_b)):
        shown = "" if identity is None else "–" if count is None else number(count) if count else "∅"
        uses.append(((shown, "muted" if not count else ""),))
    return TableRow((row.piece, row.id_a, row.id_b), (token(row.piece, mode), *ids, *uses))


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

    def show(self, snapshot: Snapshot, pair: tuple[int, int] | None, mode: GlyphMode) -> None:
        """Take a snapshot, and the two columns, by their keys, that are looked at."""
        if pair is None:
            return
        look = self.look(pair)
        self.line.show(lambda width, _: shared(snapshot, look, width))
        found = snapshot.between.tokens
        places = places_of(snapshot.columns, pair)
        if found is None or replace(found.query, top=look.top, rows=look.rows) != look:
            self.table.show(0, (), 0, places, mode)
            self.note = (("loading …", "muted"),)
            return
        if found.busy is not None:
            self.note = busy_cell(found.busy)[:-2]
        self.table.show(found.query.top, found.rows, found.total, places, mode)
        if found.busy is None:
            total = number(found.total)
            at = number(min(self.table.cursor + 1, found.total)).rjust(len(total))
            sought: Cell = ((f"/{safe(self.find, limit=FIND_SHOWN)} · ", "muted"),) if self.find else ()
            marks: Cell = (("without marks · ", "muted"),) if look.bare else ()
            self.note = (*marks, *sought, (f"{at}/{total}", "muted"))
