"""The tables of a column: what they have in common, and the vocabulary."""

from __future__ import annotations

import operator
from typing import Any

from rich.cells import cell_len
from rich.style import Style as RichStyle

from tokentui.core.safetext import GlyphMode, safe
from tokentui.session.views import ColumnSnapshot, PairRow, TokenRow
from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.table import TableRow, VirtualTable
from tokentui.ui.draw.text import Cell, Run, runs

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


class ColumnTable(VirtualTable):
    """A table of rows of a column; its columns depend on the size of the corpus and the table's own."""

    def __init__(self) -> None:
        super().__init__(())
        self.column: ColumnSnapshot | None = None
        self.mode: GlyphMode = "text"
        self._drawn: tuple[object, ...] = ()

    def say(self, text: str) -> None:
        """Show a line in the place of rows."""
        self.clear()
        self.set_columns((Column(text, flex=1, priority=1),))

    def clear(self) -> None:
        """Show no rows."""
        self.column, self._drawn = None, ()
        self.update_rows(0, (), 0)

    def show(self, column: ColumnSnapshot, mode: GlyphMode) -> None:
        """Show the rows of another step, or other rows of it; nothing is done where all is as it was drawn."""
        old, drawn = self.column, (mode, self.size.width)
        self.column, self.mode = column, mode
        if (
            old is not None and drawn == self._drawn and old.recipe is column.recipe
            and old.opened is column.opened
            and old.at is column.at and all(map(operator.is_, self.drawn_from(old), self.drawn_from(column)))
        ):
            return
        self._drawn = drawn
        columns = self.fitted(column, self.size.width)
        if columns != self.columns:
            self.set_columns(columns)
        self.fill(column)

    def on_resize(self) -> None:
        """Fit the columns to the new width."""
        super().on_resize()
        if self.column is not None:
            self.show(self.column, self.mode)

    def drawn_from(self, column: ColumnSnapshot) -> tuple[object, ...]:
        """The sections that the rows are drawn from, besides the numbers."""
        raise NotImplementedError

    def fitted(self, column: ColumnSnapshot, width: int) -> tuple[Column, ...]:
        """The columns; their widths depend on totals, so that they stay while numbers change."""
        raise NotImplementedError

    def fill(self, column: ColumnSnapshot) -> None:
        """Hand over the rows."""
        raise NotImplementedError

    @property
    def note(self) -> Cell:
        """`12/2,914`: the row under the cursor, of all; for the title."""
        if self.column is None:
            return ()
        total = number(self.total)
        at = number(min(self.cursor + 1, self.total))
        return ((f"{' ' * (cell_len(total) - cell_len(at))}{at}/{total}", "muted"),)

    def _style(self, name: str, style: RichStyle, line: Any) -> RichStyle:
        # Without the focus the cursor is no more than bold: its row keeps its colours.
        return super()._style(name, style,
            line if line is None or self.has_focus else line._replace(cursor=False))


def digits(column: ColumnSnapshot) -> int:
    """The width of a column of counts of this corpus."""
    return max(5, len(number(max(column.at.start_tokens, column.at.tokens))))


class VocabularyTable(ColumnTable):
    """The tokens there are at this step; of a unigram model, above them those that the last step dropped."""


    def drawn_from(self, column: ColumnSnapshot) -> tuple[object, ...]:
        """The page of the vocabulary."""
        return (column.vocabulary,)

    def fitted(self, column: ColumnSnapshot, width: int) -> tuple[Column, ...]:
        """Return the columns id, token, count, and the step that added the token or its score."""
        at = column.at
        last = max(at.target or 0, at.computed)
        ids = max((row.id for row in column.vocabulary.rows if row.id is not None), default=0)
        if column.recipe.objective == "unigram":
            most, tail = at.vocab_size, Column("log p", width=_LOG_WIDTH, align="right", priority=2)
        else:
            most = at.vocab_size + last - at.step
            tail = Column("born", width=max(7, len(number(last))), align="right", priority=1)
        return (
            Column("id", width=max(4, len(str(max(ids, most)))), align="right", priority=2),
            Column("token", flex=1, min_width=6, priority=4),
            Column("uses", width=digits(column), align="right", priority=3),
            tail,
        )

    def fill(self, column: ColumnSnapshot) -> None:
        """Hand over the tokens."""
        page = column.vocabulary
        self.update_rows(page.top, [self._row(row, column) for row in page.rows], page.total)

    def _row(self, row: TokenRow, column: ColumnSnapshot) -> TableRow:
        if row.kind == "left":
            why = safe(row.reason, limit=REASON_SHOWN)
            said: Cell = (*styled(token(row.piece, self.mode), "gone"), (f"  {why}", "muted"))
            return TableRow(("left", row.piece), ((("–", "muted"),), said, (), ()), dim=True, mark="×")
        # Gage's placeholder has the id of the byte that it was.
        newest = row.step is not None and row.id == column.at.last_id
        if row.score is not None:
            tail: Run = (f"{row.score:.3f}".replace("-", "−"), "muted")
        else:
            tail = (number(row.step) if row.step is not None else row.kind, "muted")
        uses: Run = ("–", "muted") if row.uses is None else (number(row.uses) if row.uses else "∅", "")
        piece = token(row.piece, self.mode)
        if newest or row.kind == "special":
            piece = styled(piece, "accent" if newest else "success")
        if row.parents and column.recipe.objective == "gage":
            piece = (*piece, (" = ", "muted"), *tokens(row.parents, self.mode))
        cells: tuple[Cell, ...] = ((("–" if row.id is None else str(row.id), "muted"),), piece, (uses,),
            (tail,))
        return TableRow((row.kind, row.id), cells, dim=row.uses == 0, mark="•" if newest else " ")

    @property
    def note(self) -> Cell:
        """`newest · 12/384`."""
        order, note = self.column.vocabulary.order if self.column is not None else "", super().note
        return ((f"{order} · ", "muted"), *note) if note else ()
