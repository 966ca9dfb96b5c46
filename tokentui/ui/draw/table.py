"""The list of the program: rows of cells in columns, of which only a window is held.

The owner says how many rows there are and gives those that are seen; the table asks for others when it comes
to them. It draws line by line and repaints only lines that look different, so that 100,000 rows cost what 100
do. It scrolls by itself, by whole rows: nothing in it makes Textual lay out a screen again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.actions import SkipAction
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.columns import Column, place_columns, without_empty
from tokentui.ui.draw.lines import WHEEL_ROWS, StyledLines
from tokentui.ui.draw.text import Cell
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

    row: TableRow | None
    exists: bool
    cursor: bool
    bar: bool


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

    class _Own(Message):
        """A message of a table."""

        def __init__(self, table: VirtualTable) -> None:
            super().__init__()
            self.table = table

        @property
        def control(self) -> VirtualTable:
            """The table, for selectors of `on`."""
            return self.table

    class WindowWanted(_Own):
        """Rows are looked at that the table does not hold: `height` of them from `top` on, with some to
        spare.
        """

        def __init__(self, table: VirtualTable, top: int, height: int) -> None:
            super().__init__(table)
            self.top = top
            self.height = height

        def can_replace(self, message: Message) -> bool:
            """A newer wish stands for an older one that still waits."""
            return isinstance(message, VirtualTable.WindowWanted) and message.table is self.table

    class CursorMoved(_Own):
        """The cursor is on another row, or the row that it is on has come. `key` is None while the row is not
        held.
        """

        def __init__(self, table: VirtualTable, index: int, key: Hashable) -> None:
            super().__init__(table)
            self.index = index
            self.key = key

        def can_replace(self, message: Message) -> bool:
            """Only where the cursor is now matters."""
            return isinstance(message, VirtualTable.CursorMoved) and message.table is self.table

    class Chosen(_Own):
        """Enter was pressed on a row that is held."""

        def __init__(self, table: VirtualTable, index: int, key: Hashable) -> None:
            super().__init__(table)
            self.index = index
            self.key = key

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
        self.moved: Callable[[], object] | None = None
        """Called at once when the cursor is elsewhere: what says where it is, is then drawn in the same frame
        as the row.
        """
        self._held_top = 0
        self._held: tuple[TableRow, ...] = ()
        self._wanted: tuple[int, int, int] | None = None
        self._reported: tuple[int, Hashable] | None = None
        self._lines: list[_Line] = []
        self._had_bar = False
        self._strips: dict[tuple[object, ...], Strip] = {}

    # What the owner does.

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Take other columns; the rows held are of the old ones and go."""
        self.columns = tuple(columns)
        self._held = ()
        self._wanted = None
        self._settle()
        self.refresh()

    def update_rows(self, top: int, rows: Sequence[TableRow], total: int) -> None:
        """Take the rows from `top` on, of `total` there are; those held before go. Repaints lines that
        changed.
        """
        if total != self.total:
            self._wanted = None
        self._held_top, self._held, self.total = top, tuple(rows), max(0, total)
        self._settle()

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
        return self._held[place] if 0 <= place < len(self._held) and 0 <= index < self.total else None

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
        """Choose the row under the cursor. Where there is no row the key is whose list it is."""
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

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll; the cursor stays on its row."""
        self._wheel(event, WHEEL_ROWS)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll; the cursor stays on its row."""
        self._wheel(event, -WHEEL_ROWS)

    def _wheel(self, event: events.MouseEvent, rows: int) -> None:
        event.stop()
        self.top += rows
        self._settle()

    def on_resize(self) -> None:
        """Keep the cursor in view where it was."""
        self._settle(follow=self.top <= self.cursor < self.top + len(self._lines))

    # What is seen.

    @property
    def _header_lines(self) -> int:
        return int(any(column.title for column in self.columns))

    @property
    def _row_lines(self) -> int:
        return max(0, self.size.height - self._header_lines)

    @property
    def _has_bar(self) -> bool:
        return self.total > self._row_lines and self.size.width > 3

    def _top_for(self, index: int) -> int:
        return min(max(self.top, index - self._row_lines + 1), max(0, index))

    def _settle(self, follow: bool = False) -> None:
        """Bring cursor and view within bounds, repaint the lines that changed, ask and tell."""
        self.cursor = max(0, min(self.cursor, self.total - 1))
        if follow:
            self.top = self._top_for(self.cursor)
        self.top = max(0, min(self.top, self.total - self._row_lines))
        self._repaint()
        self._ask()
        self._tell()

    def _repaint(self) -> None:
        old, self._lines = self._lines, list(self._look())
        had_bar, self._had_bar = self._had_bar, self._has_bar
        if len(old) != len(self._lines) or had_bar != self._has_bar:
            self.refresh()
            return
        width, header = self.size.width, self._header_lines
        for y, (was, now) in enumerate(zip(old, self._lines, strict=True), start=header):
            if was != now:
                self.refresh(Region(0, y, width, 1))

    def _look(self) -> Iterator[_Line]:
        lines = self._row_lines
        first, last = _thumb(self.top, lines, self.total) if self._has_bar else (0, 0)
        for line in range(lines):
            index = self.top + line
            exists = index < self.total
            cursor = exists and index == self.cursor and (self.marked or self.has_focus)
            yield _Line(self.row_at(index), exists, cursor, first <= line < last)

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
        if self._reported is None or self._reported[0] != index or (self._reported[1] is None
                and key is not None):
            self._reported = index, key
            if self.moved is not None:
                self.moved()
            self.post_message(self.CursorMoved(self, index, key))

    def mark(self, on: bool) -> None:
        """Tell the row of the cursor from the others also without the focus, or not."""
        self.marked = on
        self._repaint()

    def notify_style_update(self) -> None:
        """Forget the styles of the old theme."""
        self._strips.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """One line: the header, a row, a row that is still to come, or nothing."""
        width = self.size.width
        if y < self._header_lines:
            style = self.get_component_rich_style("virtual-table--header")
            cells = tuple(((column.title, ""),) for column in self.columns)
            return Strip(self._draw(cells, "", style)).adjust_cell_length(width, style).simplify()
        place = y - self._header_lines
        line = self._lines[place] if place < len(self._lines) else _Line(None, False, False, False)
        # Rows that move up and down look as they did, and to draw one costs more than to find it again.
        look = (line, width, self._has_bar, self.columns, self.find, self.has_focus, self.visual_style)
        if (known := self._strips.get(look)) is None:
            if len(self._strips) >= MOST_STRIPS:
                self._strips.clear()
            known = self._strips[look] = self._line_strip(line, width)
        return known

    def _line_strip(self, line: _Line, width: int) -> Strip:
        style = self.get_component_rich_style(
            "virtual-table--cursor") if line.cursor else self.visual_style.rich_style
        margin = "▸" if line.cursor else ""
        if line.row is not None:
            segments = self._draw(line.row.cells, line.row.mark or margin, style, line)
        elif line.exists:
            segments = self._draw(((("…", "muted"),),), margin, style, line)
        else:
            segments = []
        if not self._has_bar:
            return Strip(segments).adjust_cell_length(width, style).simplify()
        bar = Segment("▐" if line.bar else " ", self.get_component_rich_style("virtual-table--bar"))
        return Strip([*Strip(segments).adjust_cell_length(width - 1, style).simplify(), bar])

    def _draw(self, cells: Sequence[Cell], margin: str, style: RichStyle,
            line: _Line | None = None) -> list[Segment]:
        def styled(name: str) -> RichStyle:
            return self._style(name, style, line)

        room = self.size.width - int(self._has_bar)
        out = [*ui_text.segments(ui_text.clip(((margin, ""),), 1, " "), styled)]
        out.append(Segment(" " * (2 - sum(segment.cell_length for segment in out)), style))
        empty = {n for n, cell in enumerate(cells) if cell == ()}
        for place in without_empty(self.columns, place_columns(self.columns, room - 2), empty):
            cell = cells[place.column] if place.column < len(cells) else ()
            cell = ui_text.clip(cell, place.width, "…")
            spare = place.width - ui_text.width(cell)
            left = spare if self.columns[place.column].align == "right" else 0
            out.append(Segment(" " * left, style))
            out.extend(ui_text.segments(ui_text.highlight(cell, self.find if line else ""), styled))
            out.append(Segment(" " * (spare - left + place.gap), style))
        return [segment for segment in out if segment.text]

    def _style(self, name: str, style: RichStyle, line: _Line | None) -> RichStyle:
        if not name and line is not None and line.row is not None and line.row.dim:
            name = "muted"
        if line is None or not name:
            return style
        own = self.named(name)
        if not line.cursor:
            return own
        # On the cursor colours give way to its own, and what is reversed elsewhere stands upright.
        return style + own.without_color + RichStyle(reverse=bool(own.reverse) != bool(style.reverse))


def _thumb(top: int, lines: int, total: int) -> tuple[int, int]:
    """The lines of the bar that are drawn, as (first, last + 1): at an end only when the view is there."""
    size = max(1, lines * lines // total)
    slack = total - lines
    place = (top * (lines - size) + slack // 2) // slack if slack > 0 else 0
    if lines - size > 1:
        place = 0 if top == 0 else lines - size if top == slack else max(1, min(lines - size - 1, place))
    return place, place + size
