"""The list of the program: rows of cells in columns, of which only a window is held.

The owner says how many rows there are and gives those that are seen; the table asks for others when it comes
to them. It draws line by line and repaints only lines that look different, so that 100,000 rows cost what 100
do. It scrolls by itself, by whole rows: nothing in it makes Textual lay out a screen again.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events, on
from textual.actions import SkipAction
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.columns import Column, place_columns, thumb
from tokentui.ui.draw.lines import WHEEL_ROWS, StyledLines
from tokentui.ui.draw.text import Cell, Styles
from tokentui.ui.keys import Action, Scrolling

MOST_STRIPS = 1024
"""The number of drawn rows that are kept."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row: what it is called, a cell for each column, whether it is drawn dim, and one character in the
    margin.
    """

    key: Hashable
    cells: tuple[Cell, ...]
    dim: bool = False
    mark: str = ""


class _Line(NamedTuple):
    """All that the look of a line depends on, but for styles and columns."""

    row: TableRow | None = None
    exists: bool = False
    cursor: bool = False
    bar: bool = False


NO_LINE, HEADER = _Line(), _Line(cursor=True)
_GROUND = "ground"
"""The name of the style of a line itself."""


class VirtualTable(Scrolling, StyledLines, can_focus=True):
    """A table that holds a window of its rows.

    Args:
        columns: The columns; without titles there is no header line.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    VirtualTable {
        width: 1fr;
        height: 1fr;
        & > .virtual-table--header { text-style: bold; color: $foreground-muted; }
        & > .virtual-table--cursor { text-style: bold; }
        & > .virtual-table--bar { color: $foreground-muted; }
        &:focus > .virtual-table--cursor { text-style: reverse; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "virtual-table--header", "virtual-table--cursor", "virtual-table--bar",
    }
    ACTIONS = (Action(("enter",), "", lambda it: it.choose()),)
    KEEPS_COLOURS = False
    """True if the row of the cursor keeps its colours where the table has the focus; without it every row
    does."""

    class _Own(Message):
        """A message of a table about a row; a newer one stands for an older one that still waits."""

        def __init__(self, table: VirtualTable, index: int, key: Hashable = None) -> None:
            super().__init__()
            self.table, self.index, self.key = table, index, key

        @property
        def control(self) -> VirtualTable:
            """The table, for selectors of `on`."""
            return self.table

        def can_replace(self, message: Message) -> bool:
            """Only the newest of a table matters."""
            return type(message) is type(self) and message.control is self.table

    class WindowWanted(_Own):
        """Rows are seen that the table does not hold: `height` of them from `top` on, with some to spare."""

        def __init__(self, table: VirtualTable, top: int, height: int) -> None:
            super().__init__(table, top)
            self.top, self.height = top, height

    class CursorMoved(_Own):
        """The cursor is on another row, or its row has come; `key` is None while the row is not held."""

    class Chosen(_Own):
        """Enter was pressed on a row that is held."""

        def can_replace(self, message: Message) -> bool:
            """Each counts."""
            return False

    def __init__(self, columns: Sequence[Column], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.columns = tuple(columns)
        self.total = 0
        self.top = 0
        """The first row that is seen."""
        self.cursor = 0
        self.find = ""
        self.marked = True
        """True if the row of the cursor is marked while the table has no focus."""
        self._held_top = 0
        self._held: Sequence[Any] = ()
        self._made: dict[int, TableRow] = {}
        """The rows that were seen of those that are held."""
        self._wanted: tuple[int, int, int] | None = None
        self._reported: tuple[int, Hashable] | None = None
        self._lines: list[_Line] = []
        self._header_lines = self._row_lines = 0
        self._has_bar = self._had_bar = False
        self._look: tuple[object, ...] = ()
        """All that the look of a line depends on besides the line."""
        self._strips: dict[_Line, Strip] = {}
        self._manners: dict[str, Styles] = {}
        """The styles of each manner of line: the header, rows, dim ones, the one of the cursor."""

    # What the owner does.

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Take other columns; the rows held are of the old ones and go."""
        self.columns = tuple(columns)
        self._held, self._made = (), {}
        self._wanted = None
        self._settle()
        self.refresh()

    def update_rows(self, top: int, rows: Sequence[Any], total: int) -> None:
        """Take the rows from `top` on, of `total` there are; those held before go. Repaints lines that
        changed.

        Args:
            top: The number of the first.
            rows: The rows, or what `row_of` makes them from.
            total: The number of rows in all.
        """
        if total != self.total:
            self._wanted = None
        self._held_top, self._held, self._made, self.total = top, rows, {}, max(0, total)
        self._settle()

    def row_of(self, held: Any, index: int) -> TableRow:
        """Make a row that is seen from what is held of it; `index` is its number."""
        row: TableRow = held
        return row

    def move_to(self, index: int) -> None:
        """Put the cursor on a row and bring it into view."""
        self.cursor = index
        self._settle(follow=True)

    def show_row(self, index: int) -> None:
        """Scroll so that a row is seen; the cursor stays where it is."""
        self.top = self._top_for(index)
        self._settle()

    def set_find(self, find: str) -> None:
        """Mark this text wherever it stands in a run, upper or lower case; "" marks nothing."""
        if find != self.find:
            self.find = find
            self.refresh()

    @property
    def window(self) -> tuple[int, int]:
        """The rows to hold, as (top, height): those that are seen, and a page to either side."""
        height = self._row_lines
        top = max(0, self.top - height)
        return top, max(0, min(self.total, self.top + 2 * height) - top)

    @property
    def cursor_key(self) -> Hashable:
        """The key of the row under the cursor, None where it is not held."""
        row = self.row_at(self.cursor)
        return None if row is None else row.key

    def row_at(self, index: int) -> TableRow | None:
        """The row of this number, None where it is not held."""
        place = index - self._held_top
        if not (0 <= place < len(self._held) and 0 <= index < self.total):
            return None
        if (row := self._made.get(index)) is None:
            row = self._made[index] = self.row_of(self._held[place], index)
        return row

    # What the user does.

    def move(self, rows: int) -> None:
        """Move the cursor by rows."""
        self.move_to(self.cursor + rows)

    def page(self, pages: int) -> None:
        """Move the cursor and the view by pages."""
        rows = pages * max(1, self._row_lines - 1)
        self.top += rows
        self.move_to(self.cursor + rows)

    def first(self) -> None:
        """Go to the first row."""
        self.move_to(0)

    def last(self) -> None:
        """Go to the last row."""
        self.move_to(self.total - 1)

    def choose(self) -> None:
        """Choose the row under the cursor."""
        if not self.total:
            raise SkipAction
        row = self.row_at(self.cursor)
        if row is not None:
            self.post_message(self.Chosen(self, self.cursor, row.key))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the row, or go to the place on the bar."""
        place = event.get_content_offset(self)
        if place is None:
            return
        event.stop()
        line = place.y - self._header_lines
        if line < 0:
            return
        if self._has_bar and place.x == self.size.width - 1:
            lines = self._row_lines
            self.show_row(0 if line == 0 else self.total - 1 if line == lines - 1
                else line * self.total // lines)
        elif self.top + line < self.total:
            self.move_to(self.top + line)

    @on(events.MouseScrollDown)
    @on(events.MouseScrollUp)
    def _wheel(self, event: events.MouseEvent) -> None:
        """Scroll; the cursor stays on its row."""
        event.stop()
        self.top += WHEEL_ROWS if isinstance(event, events.MouseScrollDown) else -WHEEL_ROWS
        self._settle()

    def on_resize(self) -> None:
        """Keep the cursor in view where it was."""
        self._settle(follow=self.top <= self.cursor < self.top + len(self._lines))

    # What is seen.

    def _top_for(self, index: int) -> int:
        return min(max(self.top, index - self._row_lines + 1), max(0, index))

    def _settle(self, follow: bool = False) -> None:
        """Bring cursor and view within bounds, repaint the lines that changed, ask and tell."""
        width, height = self.size
        self._header_lines = int(any(column.title for column in self.columns))
        self._row_lines = max(0, height - self._header_lines)
        self._has_bar = self.total > self._row_lines and width > 3
        self.cursor = max(0, min(self.cursor, self.total - 1))
        if follow:
            self.top = self._top_for(self.cursor)
        self.top = max(0, min(self.top, self.total - self._row_lines))
        self._repaint()
        self._ask()
        self._tell()

    def _repaint(self) -> None:
        old, had_bar, self._had_bar = self._lines, self._had_bar, self._has_bar
        top, seen, total = self.top, self._row_lines, self.total
        first, last = thumb(top, seen, total) if self._has_bar else (0, 0)
        marked = self.cursor if self.marked or self.has_focus else -1
        self._lines = now = [
            _Line(self.row_at(index), index < total, index == marked and index < total, first <= line < last)
            for line, index in enumerate(range(top, top + seen))
        ]
        if len(old) != len(now) or had_bar != self._has_bar:
            self.refresh()
        elif changed := [y for y in range(len(now)) if now[y] != old[y]]:
            self.refresh(*[Region(0, y + self._header_lines, self.size.width, 1) for y in changed])

    def _ask(self) -> None:
        if any(line.exists and line.row is None for line in self._lines):
            wanted = (*self.window, self.total)
            # A wish is said once: an owner that cannot meet it is not asked again and again.
            if wanted != self._wanted:
                self._wanted = wanted
                self.post_message(self.WindowWanted(self, *self.window))
        else:
            self._wanted = None

    def _tell(self) -> None:
        if not self.total:
            self._reported = None
            return
        index, key = self.cursor, self.cursor_key
        if (
            self._reported is None
            or self._reported[0] != index
            or (self._reported[1] is None and key is not None)
        ):
            self._reported = index, key
            self.post_message(self.CursorMoved(self, index, key))

    def mark(self, on: bool) -> None:
        """Tell the row of the cursor from the others also without the focus, or not."""
        self.marked = on
        self._repaint()

    def notify_style_update(self) -> None:
        """Forget what was drawn in the old styles."""
        self._look = ()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """One line: the header, a row, a row that is still to come, or nothing."""
        look = (self.size.width, self._has_bar, self.columns, self.find, self.has_focus, self.visual_style)
        if look != self._look:
            self._look = look
            self._strips.clear()
            self._manners.clear()
        place = y - self._header_lines
        line = HEADER if place < 0 else self._lines[place] if place < len(self._lines) else NO_LINE
        # Rows that move up and down look as they did, and to draw one costs more than to find it again.
        if (known := self._strips.get(line)) is None:
            if len(self._strips) >= MOST_STRIPS:
                self._strips.clear()
            known = self._strips[line] = self._draw(line)
        return known

    def _draw(self, line: _Line) -> Strip:
        width, row = self.size.width - int(self._has_bar), line.row
        titles = line is HEADER
        if row is None:
            row = TableRow(
                None,
                tuple([((column.title, ""),) for column in self.columns]) if titles else ((("…", "muted"),),),
            )
        manner = "header" if titles else ("cursor" if line.cursor else "") + ("dim" if row.dim else "")
        if (styles := self._manners.get(manner)) is None:
            styles = self._manners[manner] = Styles(partial(self._styled, manner))
        style = styles[_GROUND]
        margin = row.mark or ("▸" if line.cursor and not titles else "")
        # A mark may be wide, and then leaves no gap.
        out = [*ui_text.segments(ui_text.clip(((margin, ""),), 1, " "), styles)]
        out.append(Segment(" " * (2 - sum([segment.cell_length for segment in out])), style))
        cells = row.cells if titles or line.exists else ()
        empty = frozenset([n for n, cell in enumerate(cells) if cell == ()])
        for place in place_columns(self.columns, width - 2, empty) if cells else ():
            cell = ui_text.clip(cells[place.column] if place.column < len(cells) else (), place.width)
            spare = place.width - ui_text.width(cell)
            left = spare if self.columns[place.column].align == "right" else 0
            if self.find and not titles:
                cell = ui_text.highlight(cell, self.find)
            out += [Segment(" " * left, style), *ui_text.segments(cell, styles)]
            out.append(Segment(" " * (spare - left + place.gap), style))
        strip = (
            Strip([segment for segment in out if segment.text]).adjust_cell_length(width, style).simplify()
        )
        if not self._has_bar or titles:
            return strip.adjust_cell_length(self.size.width, style)
        return Strip(
            [*strip, Segment("▐" if line.bar else " ", self.get_component_rich_style("virtual-table--bar"))]
        )

    def _styled(self, manner: str, name: str) -> RichStyle:
        """The style of a name in a line of some manner; `_GROUND` is that of the line itself."""
        if manner == "header":
            return self.get_component_rich_style("virtual-table--header")
        cursor = manner.startswith("cursor")
        ground = (
            self.get_component_rich_style("virtual-table--cursor") if cursor else self.visual_style.rich_style
        )
        if name == "" and manner.endswith("dim"):
            name = "muted"
        if name in ("", _GROUND):
            return ground
        own = self.named[name]
        if not cursor or not self.has_focus or self.KEEPS_COLOURS:
            return own
        # On the cursor colours give way to its own, and what is reversed elsewhere stands upright.
        return ground + own.without_color + RichStyle(reverse=bool(own.reverse) != bool(ground.reverse))


# A list that is held whole and has headings, which the cursor steps over.


class Listing(VirtualTable):
    """A table of some thousand rows at most, all of them held. A row whose key is None is a heading."""

    def __init__(self, columns: Sequence[Column], *, id: str | None = None) -> None:
        super().__init__(columns, id=id)
        self.rows: tuple[TableRow, ...] = ()

    def show(self, rows: Sequence[TableRow], keep: Hashable = None) -> None:
        """Take these rows, with the cursor on the one of this key; where there is none, about where it was.
        """
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
