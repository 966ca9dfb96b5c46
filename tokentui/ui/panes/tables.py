"""The panes whose rows are those of a snapshot: what they have in common, and the vocabulary."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.cells import cell_len
from rich.style import Style as RichStyle
from textual.binding import BindingType

from tokentui.core.safetext import GlyphMode, safe
from tokentui.session.snapshot import PairRow, Snapshot, TokenRow
from tokentui.ui.actions import bindings
from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.table import TableRow, VirtualTable
from tokentui.ui.draw.text import Cell, Run, runs
from tokentui.ui.panes.waits import nothing_there

TOKEN_SHOWN = 64
"""The most characters of a token in a row."""
REASON_SHOWN = 60
_LOG_WIDTH = len("−12.345")


def token(piece: bytes, mode: GlyphMode) -> Cell:
    """A token as a cell."""
    return runs(piece, mode=mode, limit=TOKEN_SHOWN)


def pair(row: PairRow, mode: GlyphMode) -> Cell:
    """A pair as a cell: its two sides with a quiet plus between them."""
    return tokens((row.left, row.right), mode)


def tokens(pieces: tuple[bytes, ...], mode: GlyphMode) -> Cell:
    """Tokens side by side, with a quiet plus between them."""
    out: Cell = ()
    for piece in pieces:
        out = (*out, ("+" if out else "", "muted"), *token(piece, mode))
    return tuple(run for run in out if run[0])


def styled(cell: Cell, style: str) -> Cell:
    """A cell of data with another style where it is plain text; what is marked in it stays marked."""
    return tuple((text, style if name in ("", "text") else name) for text, name in cell)


class SnapshotTable(VirtualTable):
    """A table whose columns depend on the size of the corpus and its own, and whose rows are those of a snapshot."""

    def __init__(self) -> None:
        super().__init__(())
        self.snapshot: Snapshot | None = None
        self.mode: GlyphMode = "text"

    def show(self, snapshot: Snapshot, mode: GlyphMode) -> None:
        """Take the rows of another step, or other rows of it."""
        self.snapshot, self.mode = snapshot, mode
        if snapshot.nothing:
            self.set_columns((Column(nothing_there(snapshot), flex=1, priority=1),))
            self.update_rows(0, [], 0)
            return
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
        """`12/2,914`: the row under the cursor, of all; for the title."""
        if self.snapshot is None or self.snapshot.nothing:
            return ()
        total = number(self.total)
        at = number(min(self.cursor + 1, self.total))
        return ((f"{' ' * (cell_len(total) - cell_len(at))}{at}/{total}", "muted"),)

    def _style(self, name: str, style: RichStyle, line: Any) -> RichStyle:
        # Without the focus the cursor is no more than bold: its row keeps its colours.
        return super()._style(name, style, line if line is None or self.has_focus else line._replace(cursor=False))


def digits(snapshot: Snapshot) -> int:
    """The width of a column of counts of this corpus."""
    return max(5, len(number(max(snapshot.start_tokens, snapshot.tokens))))


class VocabularyTable(SnapshotTable):
    """The tokens there are at this step; of a unigram model, above them those that the last step dropped."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("vocabulary")]

    def fitted(self, snapshot: Snapshot, width: int) -> tuple[Column, ...]:
        """Id, token, uses, and the step that it was born with or its score."""
        last = max(snapshot.target or 0, snapshot.known)
        ids = max((row.id for row in snapshot.vocabulary if row.id is not None), default=0)
        if snapshot.recipe.objective == "unigram":
            most, tail = snapshot.vocab_size, Column("log p", width=_LOG_WIDTH, align="right", priority=2)
        else:
            most = snapshot.vocab_size + last - snapshot.step
            tail = Column("born", width=max(7, len(number(last))), align="right", priority=1)
        return (
            Column("id", width=max(4, len(str(max(ids, most)))), align="right", priority=2),
            Column("token", flex=1, min_width=6, priority=4),
            Column("uses", width=digits(snapshot), align="right", priority=3),
            tail,
        )

    def fill(self, snapshot: Snapshot) -> None:
        """Hand over the tokens."""
        rows = [self._row(row, snapshot) for row in snapshot.vocabulary]
        self.update_rows(snapshot.vocabulary_top, rows, rows_of_vocabulary(snapshot))

    def _row(self, row: TokenRow, snapshot: Snapshot) -> TableRow:
        if row.kind == "left":
            why = safe(row.reason, limit=REASON_SHOWN)
            said: Cell = (*styled(token(row.piece, self.mode), "gone"), (f"  {why}", "muted"))
            return TableRow(("left", row.piece), ((("–", "muted"),), said, (), ()), dim=True, mark="×")
        # Gage's placeholder has the id of the byte that it was.
        newest = row.step is not None and row.id == snapshot.last_id
        if row.score is not None:
            tail: Run = (f"{row.score:.3f}".replace("-", "−"), "muted")
        else:
            tail = (number(row.step) if row.step is not None else row.kind, "muted")
        uses: Run = ("–", "muted") if row.uses is None else (number(row.uses) if row.uses else "∅", "")
        piece = token(row.piece, self.mode)
        if newest or row.kind == "special":
            piece = styled(piece, "accent" if newest else "success")
        if row.parents and snapshot.recipe.objective == "gage":
            piece = (*piece, (" = ", "muted"), *tokens(row.parents, self.mode))
        cells: tuple[Cell, ...] = ((("–" if row.id is None else str(row.id), "muted"),), piece, (uses,), (tail,))
        return TableRow((row.kind, row.id), cells, dim=row.uses == 0, mark="•" if newest else " ")

    @property
    def note(self) -> Cell:
        """`newest · 12/384`."""
        order, note = self.snapshot.vocabulary_order if self.snapshot is not None else "", super().note
        return ((f"{order} · ", "muted"), *note) if note else ()


def rows_of_vocabulary(snapshot: Snapshot) -> int:
    """How many rows the vocabulary has: its entries, and in order of age those that the last step dropped."""
    training = snapshot.why.round
    if training is None or snapshot.vocabulary_order != "newest":
        return snapshot.vocab_size
    # In a walk through a pruning it is what the walk dropped.
    return snapshot.vocab_size + (training.taken or training.dropped)
