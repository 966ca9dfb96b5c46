"""The panes of pairs and of the vocabulary: rows of a snapshot as rows of a table."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.cells import cell_len
from rich.style import Style as RichStyle
from textual.binding import BindingType

from tokentui.safetext import GlyphMode
from tokentui.snapshot import PairRow, Snapshot, TokenRow
from tokentui.ui.actions import bindings
from tokentui.ui.columns import Column
from tokentui.ui.table import TableRow, VirtualTable
from tokentui.ui.text import Cell, Run, runs
from tokentui.ui.widgets.figures import bar, number, signed

TOKEN_SHOWN = 64
"""The most characters of a token in a row."""


def token(piece: bytes, mode: GlyphMode) -> Cell:
    """A token as a cell."""
    return runs(piece, mode=mode, limit=TOKEN_SHOWN)


def pair(row: PairRow, mode: GlyphMode) -> Cell:
    """A pair as a cell: its two sides with a quiet plus between them."""
    return (*token(row.left, mode), ("+", "muted"), *token(row.right, mode))


class _SnapshotTable(VirtualTable):
    """A table whose columns depend on the size of the corpus and its own, and whose rows are those of a snapshot."""

    def __init__(self) -> None:
        super().__init__(())
        self.snapshot: Snapshot | None = None
        self.mode: GlyphMode = "text"

    def show(self, snapshot: Snapshot, mode: GlyphMode) -> None:
        """Take the rows of another step, or other rows of it."""
        self.snapshot, self.mode = snapshot, mode
        columns = self.fitted(snapshot, self.size.width)
        if columns != self.columns:
            self.set_columns(columns)
        self.fill(snapshot)

    def on_resize(self) -> None:
        """Fit the columns to the new width."""
        super().on_resize()
        if self.snapshot is not None:
            self.show(self.snapshot, self.mode)

    def fitted(self, snapshot: Snapshot, width: int) -> tuple[Column, ...]:
        """The columns; their widths depend on totals, so that they stay while numbers change."""
        raise NotImplementedError

    def fill(self, snapshot: Snapshot) -> None:
        """Hand over the rows."""
        raise NotImplementedError

    @property
    def note(self) -> Cell:
        """Where one is, for the title."""
        raise NotImplementedError

    def _style(self, name: str, style: RichStyle, line: Any) -> RichStyle:
        # Without the focus the cursor is no more than bold: its row keeps its colours.
        return super()._style(name, style, line if line is None or self.has_focus else line._replace(cursor=False))


class PairTable(_SnapshotTable):
    """What may be merged next, best first."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("pairs")]

    def fitted(self, snapshot: Snapshot, width: int) -> tuple[Column, ...]:
        """Pair, count, bar, change."""
        digits = max(5, len(number(snapshot.start_tokens)))
        return (
            Column("pair", flex=1, min_width=7, priority=4),
            # One more for the sign of a tie.
            Column("count", width=digits + 1, align="right", priority=3),
            Column("", width=_bar_width(width), priority=1),
            Column("change", width=max(6, digits), align="right", priority=2),
        )

    def fill(self, snapshot: Snapshot) -> None:
        """Hand over the candidates."""
        best = snapshot.why.best.count if snapshot.why.best else max((row.count for row in snapshot.pairs), default=0)
        width = _bar_width(self.size.width)
        rows = [
            self._row(row, snapshot.pairs_top + n, best, width, snapshot.why.best is not None)
            for n, row in enumerate(snapshot.pairs)
        ]
        self.update_rows(snapshot.pairs_top, rows, snapshot.pairs_total)

    def _row(self, row: PairRow, index: int, best: int, width: int, goes_on: bool) -> TableRow:
        is_next = index == 0 and goes_on
        tie: Run = ("=" if row.tied else "", "muted")
        change: Run = ("new", "accent") if row.new else (signed(row.change), "muted" if row.change < 0 else "")
        count: Cell = (tie, (number(row.count), "strong" if is_next else ""))
        cells: tuple[Cell, ...] = (
            pair(row, self.mode), count, ((bar(row.count, best, width), "accent" if is_next else "primary"),), (change,),
        )
        return TableRow((row.left, row.right), cells, mark="▸" if is_next else " ")

    @property
    def note(self) -> Cell:
        """`12/2,914`: the pair under the cursor, of all."""
        return _position(self)


class VocabularyTable(_SnapshotTable):
    """The tokens there are at this step."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("vocabulary")]

    def fitted(self, snapshot: Snapshot, width: int) -> tuple[Column, ...]:
        """Id, token, uses, the step that it was born with."""
        last = max(snapshot.target or 0, snapshot.known)
        ids = max((row.id for row in snapshot.vocabulary), default=0)
        return (
            Column("id", width=max(4, len(str(max(ids, snapshot.vocab_size + last - snapshot.step)))), align="right", priority=2),
            Column("token", flex=1, min_width=6, priority=4),
            Column("uses", width=max(5, len(number(snapshot.start_tokens))), align="right", priority=3),
            Column("born", width=max(7, len(number(last))), align="right", priority=1),
        )

    def fill(self, snapshot: Snapshot) -> None:
        """Hand over the tokens."""
        rows = [self._row(row, row.id == snapshot.last_id) for row in snapshot.vocabulary]
        self.update_rows(snapshot.vocabulary_top, rows, snapshot.vocab_size)

    def _row(self, row: TokenRow, newest: bool) -> TableRow:
        born: Run = (number(row.step), "muted") if row.step is not None else (row.kind, "muted")
        uses: Run = ("–", "muted") if row.uses is None else (number(row.uses) if row.uses else "∅", "")
        piece = token(row.piece, self.mode)
        if newest:
            piece = tuple((text, style or "accent") for text, style in _unkinded(piece))
        elif row.kind == "special":
            piece = tuple((text, style or "success") for text, style in _unkinded(piece))
        cells: tuple[Cell, ...] = (((str(row.id), "muted"),), piece, (uses,), (born,))
        return TableRow(row.id, cells, dim=row.uses == 0, mark="•" if newest else " ")

    @property
    def note(self) -> Cell:
        """`newest · 12/384`."""
        order = self.snapshot.vocabulary_order if self.snapshot is not None else ""
        return ((f"{order} · ", "muted"), *_position(self))


def _unkinded(cell: Cell) -> Cell:
    return tuple((text, "" if style == "text" else style) for text, style in cell)


def _bar_width(width: int) -> int:
    return 6 if width < 44 else 10 if width < 60 else 16


def _position(table: VirtualTable) -> Cell:
    total = number(table.total)
    at = number(min(table.cursor + 1, table.total))
    return ((f"{' ' * (cell_len(total) - cell_len(at))}{at}/{total}", "muted"),)
