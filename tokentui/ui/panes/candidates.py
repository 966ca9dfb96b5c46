"""The pane of what may come next: pairs by count or by score, or pieces of a unigram model by loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tokentui.core.safetext import GlyphMode, is_safe
from tokentui.session.views import ColumnSnapshot, LossRow, PairRow
from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.figures import amount, bar, behind, decimal, number, plural, signed
from tokentui.ui.draw.table import TableRow
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.panes.births import birth_rows, by_birth
from tokentui.ui.panes.tables import ColumnTable, digits, pair, styled, token, tokens

SCORE_WIDTH = len("0.0038112")
"""Columns of a WordPiece score: five digits that count, however small it is."""
_BEHIND_WIDTH = len(">99.9 %")
_SMALL_WIDTH = len("1.23e-4")
_BYTE_WIDTH = len("ÿ FF")


class PairTable(ColumnTable):
    """The candidates, best first: pairs, or the pieces that a pruning ranks, lowest loss first."""


    def drawn_from(self, column: ColumnSnapshot) -> tuple[object, ...]:
        """The candidates, and which of them is taken."""
        return column.candidates, column.why

    def fitted(self, column: ColumnSnapshot, width: int) -> tuple[Column, ...]:
        """The columns of the objective."""
        return _COLUMNS.get(column.objective, _by_count)(column, width)

    def fill(self, column: ColumnSnapshot) -> None:
        """Hand over the candidates."""
        if column.objective == "unigram":
            rows = _loss_rows(column, self.mode)
        elif column.objective == "opened":
            rows = birth_rows(column, self.mode)
        else:
            rows = _pair_rows(column, self.mode, self.size.width)
        self.update_rows(column.candidates.top, list(rows), column.candidates.total)

    @property
    def note(self) -> Cell:
        """Where one is; of a pruning to come, how many pieces go."""
        training = self.column.why.round if self.column is not None else None
        count = training.going if training is not None else None
        going: Cell = ((f"{plural(count, 'goes', 'go')} · ", "muted"),) if count else ()
        return (*going, *super().note)


# Columns. Their widths depend on totals, so that they stay while numbers change.


def _by_count(column: ColumnSnapshot, width: int) -> tuple[Column, ...]:
    size = digits(column)
    return (
        Column("pair", flex=1, min_width=7, priority=4),
        # One more for the sign of a tie.
        Column("count", width=size + 1, align="right", priority=3),
        Column("", width=_bar_width(width), priority=1),
        Column("change", width=max(6, size), align="right", priority=2),
    )


def _by_gage(column: ColumnSnapshot, width: int) -> tuple[Column, ...]:
    count, change = _by_count(column, width)[1::2]
    return (
        Column("pair", flex=1, min_width=7, priority=5),
        Column("as", width=_BYTE_WIDTH, priority=3),
        Column("spelled", flex=1, min_width=7, priority=2),
        count,
        change,
    )


def _by_score(column: ColumnSnapshot, width: int) -> tuple[Column, ...]:
    size = digits(column)
    both = f"{'f(x)':>{size}} {'f(y)':>{size}}"
    return (
        Column("pair", flex=1, min_width=8, priority=5),
        Column("f(xy)", width=size, align="right", priority=3),
        # One column, so that neither stands without the other.
        Column(both, width=len(both), align="right", priority=1),
        Column("score", width=SCORE_WIDTH + 1, align="right", priority=4),
        Column("behind", width=_BEHIND_WIDTH, align="right", priority=2),
    )


def _by_loss(column: ColumnSnapshot, width: int) -> tuple[Column, ...]:
    size = digits(column)
    return (
        Column("piece", flex=2, min_width=7, priority=6),
        Column("p", width=_SMALL_WIDTH, align="right", priority=2),
        Column("expected", width=max(len("expected"), size), align="right", priority=1),
        Column("uses", width=size, align="right", priority=3),
        Column("loss", width=_SMALL_WIDTH, align="right", priority=5),
        Column("instead", flex=3, min_width=8, priority=4),
    )


_COLUMNS: dict[str, Callable[[ColumnSnapshot, int], tuple[Column, ...]]] = {
    "count": _by_count, "score": _by_score, "gage": _by_gage, "unigram": _by_loss, "opened": by_birth,
}


def _bar_width(width: int) -> int:
    return 6 if width < 44 else 10 if width < 60 else 16


# Rows.


def _pair_rows(column: ColumnSnapshot, mode: GlyphMode, width: int) -> Iterator[TableRow]:
    rows = [row for row in column.candidates.rows if isinstance(row, PairRow)]
    best = column.why.best
    for index, row in enumerate(rows, column.candidates.top):
        first = index == 0 and best is not None
        match column.objective:
            case "score":
                most = best.score if best is not None else max(one.score for one in rows)
                cells = _score_cells(row, mode, first, most, digits(column))
            case "gage":
                cells = _gage_cells(row, mode, first)
            case _:
                count = best.count if best is not None else max(one.count for one in rows)
                drawn: Run = (bar(row.count, count, _bar_width(width)), "accent" if first else "primary")
                cells = (pair(row, mode), _count(row, first), (drawn,), _change(row))
        yield TableRow((row.left, row.right), cells, mark="▸" if first else " ")


def _tie(row: PairRow) -> Run:
    return ("=" if row.tied else "", "muted")


def _count(row: PairRow, first: bool) -> Cell:
    return (_tie(row), (number(row.count), "strong" if first else ""))


def _change(row: PairRow) -> Cell:
    return (("new", "accent") if row.new else (signed(row.change), "muted" if row.change < 0 else ""),)


def _score_cells(row: PairRow, mode: GlyphMode, first: bool, best: float, size: int) -> tuple[Cell, ...]:
    uses = f"{number(row.left_uses):>{size}} {number(row.right_uses):>{size}}"
    score: Cell = (_tie(row), (decimal(row.score, SCORE_WIDTH), "strong" if first else ""))
    return pair(row, mode), ((number(row.count), ""),), ((uses, "muted"),
        ), score, ((behind(row.score, best), "muted"),)


def _gage_cells(row: PairRow, mode: GlyphMode, first: bool) -> tuple[Cell, ...]:
    spelled = token(row.spelled, mode)
    return pair(row, mode), stands(row.token, first), styled(spelled, "muted"), _count(row,
        first), _change(row)


def stands(byte: bytes, first: bool = True) -> Cell:
    """The byte that a pair is replaced by: `A`, or with its figure where its letter is no ASCII (`ÿ FF`)."""
    if not byte:
        return (("none", "muted"),)
    letter, figure = chr(byte[0]), byte.hex().upper()
    style = "key" if first else "muted"
    if not is_safe(letter) or letter.isspace():
        return ((figure, style),)
    return ((letter, style), ("" if letter.isascii() else f" {figure}", "muted"))


def _loss_rows(column: ColumnSnapshot, mode: GlyphMode) -> Iterator[TableRow]:
    rows = [row for row in column.candidates.rows if isinstance(row, LossRow)]
    training = column.why.round
    # While the next step is EM, the marks are no more than what a pruning would do by the figures of now.
    first = training.taken if training is not None and training.going is not None else None
    for index, row in enumerate(rows, column.candidates.top):
        style = "gone" if row.taken else "warning" if row.goes else ""
        mark = "×" if row.taken else "▸" if row.goes and index == first else "−" if row.goes else " "
        loss: Run = (decimal(row.loss, _SMALL_WIDTH), style if row.goes and not row.taken else "")
        cells: tuple[Cell, ...] = (
            styled(token(row.piece, mode), style),
            ((decimal(row.probability, _SMALL_WIDTH), "muted"),),
            ((amount(row.expected), ""),),
            ((number(row.uses) if row.uses else "∅", ""),),
            (loss,),
            tokens(row.alternative, mode) or (("nothing", "muted"),),
        )
        yield TableRow(row.piece, cells, dim=row.taken, mark=mark)
