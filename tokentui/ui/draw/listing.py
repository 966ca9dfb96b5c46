"""A list that is held whole and has headings, which the cursor steps over."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.table import TableRow, VirtualTable
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.draw.widths import clusters_of


class Listing(VirtualTable):
    """A table of some thousand rows at most, all of them held. A row whose key is None is a heading."""

    def __init__(self, columns: Sequence[Column], *, id: str | None = None) -> None:
        super().__init__(columns, id=id)
        self.rows: tuple[TableRow, ...] = ()

    def show(self, rows: Sequence[TableRow], keep: Hashable = None) -> None:
        """Take these rows, with the cursor on the one of this key; where there is none, about where it was."""
        self.rows = tuple(rows)
        self.update_rows(0, self.rows, len(self.rows))
        at = self.index_of(keep)
        self.move_to(self.cursor if at is None else at)

    def take(self, columns: Sequence[Column], rows: Sequence[TableRow]) -> None:
        """Show rows in these columns; the cursor stays on the row of its key."""
        if tuple(columns) != self.columns:
            self.set_columns(columns)
        self.show(rows, keep=self.cursor_key)

    def index_of(self, key: Hashable) -> int | None:
        """The row of a key."""
        return next((n for n, row in enumerate(self.rows) if row.key is not None and row.key == key), None)

    def move_to(self, index: int) -> None:
        """Put the cursor on a row, or from a heading on the next row in the same direction."""
        index = max(0, min(index, len(self.rows) - 1))
        places = [n for n, row in enumerate(self.rows) if row.key is not None]
        onward = [n for n in places if (n >= index if index >= self.cursor else n <= index)]
        if places:
            # With no row left in its direction the cursor stays at the last one there is.
            index = min(onward or places, key=lambda n: abs(n - index))
        super().move_to(index)
        if places and index == places[0]:
            self.show_row(0)  # the heading above the first row comes into view with it


def wrap(cell: Cell, width: int) -> list[Cell]:
    """A cell as lines of so many columns (at least two), cut wherever a line is full."""
    lines: list[list[Run]] = [[]]
    room = max(2, width)
    left = room
    for text, name in cell:
        start = place = 0
        for cluster, needed in clusters_of(text):
            if needed > left:
                lines[-1].append((text[start:place], name))
                lines.append([])
                start, left = place, room
            left -= needed
            place += len(cluster)
        lines[-1].append((text[start:], name))
    return [tuple(run for run in line if run[0]) for line in lines]
