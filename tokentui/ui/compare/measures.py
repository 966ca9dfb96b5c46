"""The measures of all columns, each row under one set of conventions, the second corpus below the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.binding import BindingType

from tokentui.core.safetext import safe
from tokentui.session.compared import LETTERS, SYMBOLS, CompareSnapshot, Measured, Row
from tokentui.ui.actions import bindings
from tokentui.ui.compare.lines import at_words
from tokentui.ui.compare.lists import CompareList
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.table import Column, TableRow
from tokentui.ui.draw.text import Cell

ERROR_SHOWN = 200
_FIGURE_LEAST, _FIGURE_MOST = 10, 18
_TITLE_WIDTH = len("bits at a fixed length")


class MeasuresList(CompareList):
    """The measures."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("measures")]

    formulas = False
    """Whether formulas stand in the place of conventions."""
    snapshot: CompareSnapshot | None = None

    def show_measures(self, snapshot: CompareSnapshot) -> None:
        """Take a snapshot."""
        self.snapshot = snapshot
        self._lay_out()

    def turn_formulas(self) -> None:
        """Show formulas, or conventions again."""
        self.formulas = not self.formulas
        self._lay_out()

    def on_resize(self) -> None:
        """Fit the columns to the room there is."""
        super().on_resize()
        self._lay_out()

    @property
    def note(self) -> Cell:
        """Which position the figures belong to, where it is not the present one."""
        now = self.snapshot
        if now is None or now.measured is None:
            return ()
        if now.measured.at == now.position:
            return (("formulas: f" if not self.formulas else "conventions: f", "muted"),)
        return ((f"of {at_words(now.measured.at)}", "warning"),)

    def _lay_out(self) -> None:
        now = self.snapshot
        if now is None:
            return
        # Widths that hold any figure of this corpus, so that nothing jumps.
        wide = min(_FIGURE_MOST, max(_FIGURE_LEAST, len(number(now.corpus_bytes)) + 4))
        columns = (
            Column("measure", flex=4, min_width=_TITLE_WIDTH, priority=9),
            *(Column(LETTERS[n], width=wide, align="right", priority=8 - n) for n in range(len(now.columns))),
            Column("formula" if self.formulas else "under", flex=6, min_width=14, priority=1),
        )
        rows = list(_rows(now.measured, now, self.formulas))
        if now.held_measured is not None:
            rows += _rows(now.held_measured, now, self.formulas, "second corpus ")
        if self.formulas:
            rows.append(TableRow(None, ((("where", "strong"),), *((),) * (len(now.columns) + 1))))
            rows += (
                TableRow(("symbol", name), (((name, ""),), *((),) * len(now.columns), ((meaning, "muted"),)))
                for name, meaning in SYMBOLS.items()
            )
        self.take(columns, rows)


def _rows(measured: Measured | None, now: CompareSnapshot, formulas: bool, which: str = "") -> Iterator[TableRow]:
    columns = now.columns
    empty: tuple[Cell, ...] = ((),) * (len(columns) + 1)
    if measured is None:
        yield TableRow("coming", ((("coming …", "muted"),), *empty))
        return
    yield TableRow(None, (((which, "muted"), (safe(measured.corpus, limit=40), "strong")), *empty))
    errors = dict(measured.errors)
    for place, column in enumerate(columns):
        if column.key in errors:
            error: Cell = ((f"{LETTERS[place]} ", ""), (safe(errors[column.key], limit=ERROR_SHOWN), "error"))
            yield TableRow((which, "error", column.key), (error, *empty))
    for n, row in enumerate(measured.rows):
        figures = tuple(_figure(row, measured.keys, column.key) for column in columns)
        about: Cell = ((row.measure.formula if formulas else row.under, "muted"),)
        cells: tuple[Cell, ...] = (((row.measure.title, ""),), *figures, about)
        yield TableRow((which, row.measure.name, n), cells, dim=measured.at != now.position)


def _figure(row: Row, keys: Sequence[int], key: int) -> Cell:
    """A figure of a column: a dot where it has none under these conventions."""
    figure = row.figures[keys.index(key)] if key in keys else None
    return (("·", "muted"),) if figure is None else ((figure.shown, "muted" if figure.value is None else ""),)
