"""The table of the program: rows of cells in columns, of which it holds only a window.

The owner sets the number of rows and gives those that are visible; the table asks for others when it scrolls
to them. It draws line by line and repaints only lines that look different, so that 100,000 rows cost what 100
do. Textual's `DataTable` has to be given all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import is_bar
from tokentui.ui.draw.lines import ScrolledLines
from tokentui.ui.draw.text import Cell, Styles

GAP = 1
"""Blank columns of the terminal between two columns of a table."""
MOST_STRIPS = 1024
"""The number of drawn rows that are kept."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Either `width` is set, or `flex`: its share of the room that the others leave, at least `min_width`. If
    the table is too narrow, columns of the lowest priority are left out first, the rightmost of equal ones.
    """

    title: str = ""
    width: int = 0
    flex: int = 0
    align: Literal["left", "right"] = "left"
    min_width: int = 1
    priority: int = 0


@lru_cache(512)
def place_columns(
    columns: tuple[Column, ...], room: int, empty: frozenset[int] = frozenset()
) -> tuple[tuple[int, int, int], ...]:
    """Return the columns that fit, from the left, each as (index, width, blanks after it).

    A single column that is too wide is cut. The room of a column in `empty` goes to the column at its left,
    unless that is aligned to the right, so that figures stay below each other.

    Args:
        columns: The columns.
        room: The cells of a line.
        empty: The indexes of the columns that the row leaves empty.
    """
    shown = list(range(len(columns)))
    least = [column.min_width if column.flex else column.width for column in columns]
    while len(shown) > 1 and sum([least[n] + GAP for n in shown]) - GAP > room:
        shown.remove(min(reversed(shown), key=lambda n: columns[n].priority))
    if not shown or room <= 0:
        return ()
    widths = {n: least[n] for n in shown}
    spare = room - sum(widths.values()) - GAP * (len(shown) - 1)
    if spare < 0:
        widths[shown[0]] = room
    # Whoever would get less than its least gets that; the others share what is left.
    flexible = [n for n in shown if columns[n].flex and spare >= 0]
    whole = spare + sum([least[n] for n in flexible])
    shares = sum([columns[n].flex for n in flexible])
    while short := [n for n in flexible if whole * columns[n].flex // shares < least[n]]:
        whole -= sum([least[n] for n in short])
        flexible = [n for n in flexible if n not in short]
        shares = sum([columns[n].flex for n in flexible])
    for n in flexible:
        widths[n] = whole * columns[n].flex // shares
        whole, shares = whole - widths[n], shares - columns[n].flex
    out: list[tuple[int, int, int]] = []
    for n in shown:
        width, gap = widths[n], 0 if n == shown[-1] else GAP
        if out and n in empty and columns[out[-1][0]].align == "left":
            left, wide, between = out.pop()
            out.append((left, wide + between + width, gap))
        else:
            out.append((n, width, gap))
    return tuple(out)


def thumb(top: int, lines: int, total: int) -> tuple[int, int]:
    """Return the lines of the thumb of a scroll bar as (first, last + 1). It touches an end only if the view
    does.

    Args:
        top: The index of the first visible row.
        lines: The lines of the bar, which are the visible rows.
        total: The number of all rows, more than `lines`.
    """
    size = max(1, lines * lines // total)
    slack = total - lines
    first = (top * (lines - size) + slack // 2) // slack if slack > 0 else 0
    if lines - size > 1:
        first = 0 if top == 0 else lines - size if top == slack else max(1, min(lines - size - 1, first))
    return first, first + size


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table.

    Attributes:
        key: The key; None for a heading.
        cells: A cell for each column.
        dim: True to draw it dim.
        mark: A character in the margin, in place of the sign of the cursor.
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


RowOf: TypeAlias = Callable[[Any, int], TableRow]
NO_LINE, HEADER = _Line(), _Line(cursor=True)
_GROUND = "ground"
"""The name of the style of a line itself."""


class VirtualTable(ScrolledLines):
    """A table that holds a window of its rows.

    Args:
        columns: The columns; without titles there is no header line.
        id: The id of the widget.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "choose")]
    KEEPS_COLORS = False
    """True if the row of the cursor looks like others; else it is strong, or reversed in the focus."""

    class _Own(Message):
        """A message of a table about a row; a newer one replaces an older one that still waits."""

        def __init__(self, table: VirtualTable, index: int, key: Hashable = None) -> None:
            super().__init__()
            self.table, self.index, self.key = table, index, key

        def can_replace(self, message: Message) -> bool:
            """Return True for a message of the same kind from the same table."""
            return isinstance(message, type(self)) and message.table is self.table

    class WindowWanted(_Own):
        """Visible rows are missing: the owner should give `height` rows from `top` on."""

        def __init__(self, table: VirtualTable, top: int, height: int) -> None:
            super().__init__(table, top)
            self.top, self.height = top, height

    class CursorMoved(_Own):
        """The cursor is on another row, or its row has arrived; `key` is None while the row is not held."""

    class Chosen(_Own):
        """Enter was pressed on a row that is held.

        Attributes:
            held: The object behind the row. The table may hold other rows when the message is handled.
        """

        def __init__(self, table: VirtualTable, index: int, key: Hashable) -> None:
            super().__init__(table, index, key)
            self.held: Any = table.held_at(index)

        def can_replace(self, message: Message) -> bool:
            """Return False: each counts."""
            return False

    class HeadClicked(Message):
        """The head of a column was clicked."""

        def __init__(self, table: VirtualTable, title: str) -> None:
            super().__init__()
            self.table, self.title = table, title

    find = reactive("", init=False)
    """The text that is marked wherever it stands in a run, upper or lower case."""

    def __init__(self, columns: Sequence[Column] = (), *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.columns = tuple(columns)
        self.total = 0
        self.cursor = 0
        self.marked = True
        self._held_top = 0
        self._held: Sequence[Any] = ()
        self._row_of: RowOf | None = None
        self._made: dict[int, TableRow] = {}
        """The rows that were made of those that are held."""
        self._wanted: tuple[int, int, int] | None = None
        self._reported: tuple[int, Hashable] | None = None
        self._lines: list[_Line] = []
        self._header_lines = self._row_lines = 0
        self._has_bar = False
        self._look: tuple[object, ...] = ()
        """All that the look of a line depends on besides the line: strips and styles are of this look."""
        self._strips: dict[_Line, Strip] = {}
        self._styles_of_state: dict[str, Styles] = {}

    # What the owner does.

    def update_rows(
        self, top: int, rows: Sequence[Any], total: int, columns: Sequence[Column] | None = None,
        row_of: RowOf | None = None,
    ) -> None:
        """Replace the rows that are held, and repaint lines that changed. The cursor stays at its index,
        within the rows.

        Args:
            top: The index of the first row.
            rows: The rows, or the objects that `row_of` makes rows of.
            total: The number of all rows.
            columns: Other columns; None to keep them.
            row_of: Returns the row for an object and its index, called when it is drawn; None if `rows` are
                rows.
        """
        if columns is not None and tuple(columns) != self.columns:
            self.columns, self._wanted = tuple(columns), None
            self.refresh()
        if total != self.total:
            self._wanted = None
        self._held_top, self._held, self._made, self.total = top, rows, {}, max(0, total)
        self._row_of = row_of
        self._settle()

    def move_to(self, index: int) -> None:
        """Put the cursor on a row, limited to the rows, and scroll to it."""
        self.cursor = index
        self._settle(follow=True)

    def show_row(self, index: int) -> None:
        """Scroll so that a row is visible; the cursor stays."""
        self.scroll_to_row(self._top_for(index))

    def sync_rows(self, table: VirtualTable) -> None:
        """Scroll to the row indexes that another table shows, with the cursor on the same index."""
        self.scroll_rows(table.top)
        self.move_to(table.cursor)

    @property
    def window(self) -> tuple[int, int]:
        """The rows to hold, as (top, height): the visible ones, and a page on either side."""
        height = self._row_lines
        top = max(0, self.top - height)
        return top, max(0, min(self.total, self.top + 2 * height) - top)

    @property
    def cursor_key(self) -> Hashable:
        """The key of the row under the cursor; None if the row is not held."""
        row = self.row_at(self.cursor)
        return None if row is None else row.key

    def held_at(self, index: int) -> Any:
        """Return the object behind a row; None if it is not held."""
        place = index - self._held_top
        return self._held[place] if 0 <= place < len(self._held) and 0 <= index < self.total else None

    def row_at(self, index: int) -> TableRow | None:
        """Return the row with an index; None if it is not held."""
        place = index - self._held_top
        if index not in self._made and 0 <= place < len(self._held) and 0 <= index < self.total:
            held = self._held[place]
            self._made[index] = held if self._row_of is None else self._row_of(held, index)
        return self._made.get(index)

    # What the user does.

    def move(self, rows: int) -> None:
        """Move the cursor by rows, up if negative."""
        self.move_to(self.cursor + rows)

    def page(self, pages: int) -> None:
        """Move the cursor and the view by pages, up if negative."""
        rows = pages * max(1, self._row_lines - 1)
        self.scroll_rows(self.top + rows)
        self.move_to(self.cursor + rows)

    def first(self) -> None:
        """Move the cursor to the first row."""
        self.move_to(0)

    def last(self) -> None:
        """Move the cursor to the last row."""
        self.move_to(self.total - 1)

    def action_choose(self) -> None:
        """Post `Chosen` for the row under the cursor, see `choose`."""
        self.choose()

    def choose(self) -> None:
        """Post `Chosen` for the row under the cursor; do nothing while it is not held.

        Raises:
            SkipAction: There are no rows, so that the key is passed on.
        """
        if not self.total:
            raise SkipAction
        if (row := self.row_at(self.cursor)) is not None:
            self.post_message(self.Chosen(self, self.cursor, row.key))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the clicked row, scroll to the clicked place of the bar, or post `HeadClicked`.
        """
        place = event.get_content_offset(self)
        if place is None:
            return
        event.stop()
        line = place.y - self._header_lines
        if line < 0:
            at = 2  # behind the margin
            for column, width, gap in place_columns(self.columns, self.size.width - int(self._has_bar) - 2):
                if at <= place.x < at + width:
                    self.post_message(self.HeadClicked(self, self.columns[column].title))
                at += width + gap
        elif self._has_bar and place.x == self.size.width - 1:
            last = line == self._row_lines - 1
            self.show_row(
                0 if line == 0 else self.total - 1 if last else line * self.total // self._row_lines
            )
        elif self.top + line < self.total:
            self.move_to(self.top + line)

    def scrolled(self) -> None:
        """Draw the visible rows, and ask for missing ones; the cursor stays on its row."""
        self._settle()

    def on_resize(self) -> None:
        """Draw for the new size; the cursor stays visible if it was."""
        self._settle(follow=self.top <= self.cursor < self.top + len(self._lines))

    # What is seen.

    def mark(self, on: bool) -> None:
        """Set whether the row of the cursor is marked while the table has no focus."""
        self.marked = on
        self._settle()

    def _top_for(self, index: int) -> int:
        return min(max(self.top, index - self._row_lines + 1), max(0, index))

    def _settle(self, follow: bool = False) -> None:
        """Limit the cursor and the view to the rows, repaint lines that changed, and post messages about
        missing rows and a moved cursor.

        Args:
            follow: True to scroll to the cursor.
        """
        (width, height), had_bar = self.size, self._has_bar
        self._header_lines = int(any(column.title for column in self.columns))
        self._row_lines = seen = max(0, height - self._header_lines)
        self._has_bar = self.total > seen and width > 3
        self.set_rows(self.total + self._header_lines)
        self.cursor = max(0, min(self.cursor, self.total - 1))
        if follow:
            self.scroll_rows(self._top_for(self.cursor))
        first, last = thumb(self.top, seen, self.total) if self._has_bar else (0, 0)
        marked = self.cursor if self.total and (self.marked or self.has_focus) else -1
        now = [
            _Line(self.row_at(index), index < self.total, index == marked, first <= line < last)
            for line, index in enumerate(range(self.top, self.top + seen))
        ]
        old, self._lines = self._lines, now
        if len(old) != seen or had_bar != self._has_bar:
            self.refresh()
        elif changed := [y for y in range(seen) if now[y] != old[y]]:
            self.refresh(*[Region(0, y + self._header_lines, width, 1) for y in changed])
        lacks_rows = any(line.exists and line.row is None for line in now)
        missing = (*self.window, self.total) if lacks_rows else None
        # A wish is said once: an owner that cannot meet it is not asked again and again.
        if missing not in (None, self._wanted):
            self.post_message(self.WindowWanted(self, *self.window))
        self._wanted = missing
        row, reported = self.row_at(self.cursor), self._reported
        here = self.cursor, None if row is None else row.key
        if not self.total:
            self._reported = None
        elif reported is None or reported[0] != here[0] or (reported[1] is None and here[1] is not None):
            self._reported = here
            self.post_message(self.CursorMoved(self, *here))

    def notify_style_update(self) -> None:
        """Forget the lines drawn in the styles before."""
        self._look = ()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """Return a line: the head, a row, an ellipsis for a row that is not held, or a blank line."""
        look = (self.size.width, self._has_bar, self.columns, self.find, self.has_focus, self.visual_style)
        if look != self._look:
            self._look = look
            self._strips.clear()
            self._styles_of_state.clear()
        place = y - self._header_lines
        line = HEADER if place < 0 else self._lines[place] if place < len(self._lines) else NO_LINE
        # Rows that move up and down look as they did, and to draw one costs more than to find it again.
        if (known := self._strips.get(line)) is None:
            if len(self._strips) >= MOST_STRIPS:
                self._strips.clear()
            known = self._strips[line] = self._draw(line)
        return known

    def _draw(self, line: _Line) -> Strip:
        """Return one line of the table: a row, the header, or an ellipsis for a row that is not held.

        A left-aligned cell that is too long takes free cells of a figure at its right. A mark of the row
        replaces the sign of the cursor; matches of `find` are highlighted.
        """
        width, row = self.size.width - int(self._has_bar), line.row
        titles = line is HEADER
        if row is None:
            heads: tuple[Cell, ...] = tuple([((column.title, ""),) for column in self.columns])
            row = TableRow(None, heads if titles else ((("…", "muted"),),))
        state = "header" if titles else ("cursor" if line.cursor else "") + ("dim" if row.dim else "")
        styles = self._styles(state)
        style = styles[_GROUND]
        margin = row.mark or ("▸" if line.cursor and not titles else "")
        # A mark may be wide, and then leaves no gap.
        out = [*ui_text.segments(ui_text.clip(((margin, ""),), 1, " "), styles)]
        out.append(Segment(" " * (2 - sum([segment.cell_length for segment in out])), style))
        cells = row.cells if titles or line.exists else ()
        empty = frozenset([n for n, cell in enumerate(cells) if cell == ()])
        placed = place_columns(self.columns, width - 2, empty) if cells else ()
        taken = 0
        for n, (column, whole, gap) in enumerate(placed):
            full: Cell = cells[column] if column < len(cells) else ()
            room = whole - taken
            taken = 0
            if n + 1 < len(placed) and self.columns[column].align == "left":
                # What is too long takes what the figure at its right leaves free.
                right, beside = placed[n + 1][:2]
                if self.columns[right].align == "right":
                    figure = cells[right] if right < len(cells) else ()
                    free = max(0, beside - ui_text.width(figure))
                    taken = max(0, min(ui_text.width(full) - room, free))
            room += taken
            cell = ui_text.clip(full, room)
            spare = room - ui_text.width(cell)
            left = spare if self.columns[column].align == "right" else 0
            if self.find and not titles:
                cell = ui_text.highlight(cell, self.find)
            # The cursor does not reverse a bar: the ground behind it would look like a longer bar.
            ground, looks = style, styles
            if line.cursor and not titles and any(is_bar(text) for text, _ in cell):
                looks = self._styles("dim" if row.dim else "")
                ground = looks[_GROUND]
            out += [Segment(" " * left, ground), *ui_text.segments(cell, looks)]
            out += [Segment(" " * (spare - left), ground), Segment(" " * gap, style)]
        shown = [segment for segment in out if segment.text]
        strip = Strip(shown).adjust_cell_length(width, style).simplify()
        if not self._has_bar or titles:
            return strip.adjust_cell_length(self.size.width, style)
        return Strip([*strip, Segment("▐" if line.bar else " ", self.named["muted"])])

    def _styles(self, state: str) -> Styles:
        """Return the styles of a line in a state, by name; see `_styled`."""
        if (styles := self._styles_of_state.get(state)) is None:
            styles = self._styles_of_state[state] = Styles(partial(self._styled, state))
        return styles

    def _styled(self, state: str, name: str) -> RichStyle:
        """Return the style of a palette name in a line.

        Args:
            state: `header`, `cursor`, `dim`, `cursordim`, or empty.
            name: The name; `_GROUND` for the line itself.
        """
        if state == "header":
            return self.named["strong+muted"]
        reverse = state.startswith("cursor") and self.has_focus and not self.KEEPS_COLORS
        strong = state.startswith("cursor") and not reverse and not self.KEEPS_COLORS
        ground = self.named["cursor" if reverse else "strong" if strong else ""]
        if name in ("", "text") and state.endswith("dim"):
            name = "muted"
        if name in ("", _GROUND):
            return ground
        own = self.named[name]
        if "tint-" in name and self.app.chips:
            return own  # chips that were reversed could not be told apart
        # The colors of the cursor replace those of the cell, and reversed text is not reversed there.
        return ground + own.without_color + RichStyle(reverse=not own.reverse) if reverse else own


# A list that is held whole and has headings, which the cursor steps over.


def heading(title: str, about: str = "") -> TableRow:
    """Return a row that names the rows below it.

    Args:
        title: The title, in bold.
        about: Muted words in the second column; empty for none.
    """
    return TableRow(None, (((title, "strong"),), ((about, "muted"),) if about else (), ()))


def contains(row: TableRow, text: str) -> bool:
    """Return whether the cells of a row contain a text, in any case."""
    return text.lower() in " ".join("".join(part for part, _ in cell) for cell in row.cells).lower()


def matching(rows: Iterable[TableRow], text: str) -> Iterator[TableRow]:
    """Yield the rows that contain a text, each with its continuation rows and the headings above; all rows
    for an empty text."""
    if not text:
        yield from rows
        return
    headings: list[TableRow] = []
    group: list[TableRow] = []
    for row in (*rows, TableRow(None, ())):
        if group and isinstance(row.key, tuple) and row.key[:1] == (group[0].key,) and len(row.key) == 2:
            group.append(row)
            continue
        if any(contains(one, text) for one in group):
            yield from (*headings, *group)
            headings = []
        group = [] if row.key is None else [row]
        headings = [row] if row.key is None else headings


class Listing(VirtualTable):
    """A table of some thousand rows at most, all of them held. A row with the key None is a heading, which
    the cursor skips.

    Textual's `OptionList` has no columns: each of its options is one text.
    """

    def __init__(self, columns: Sequence[Column] = (), *, id: str | None = None) -> None:
        super().__init__(columns, id=id)
        self.rows: tuple[TableRow, ...] = ()
        """The rows that are shown."""
        self._all: Sequence[TableRow] = ()
        self.only = ""
        """The text that all rows that are shown contain; empty to show all."""

    def show(
        self, rows: Sequence[TableRow], keep: Hashable = None, columns: Sequence[Column] | None = None
    ) -> None:
        """Replace the rows, with the cursor on the row with the key `keep`; if there is none, at its index. A
        filter stays."""
        self._all = rows
        self.rows = tuple(matching(rows, self.only))
        self.update_rows(0, self.rows, len(self.rows), columns)
        at = self.index_of(keep)
        self.move_to(self.cursor if at is None else at)

    def filter(self, text: str) -> None:
        """Show only the rows that contain a text; all for an empty one. The cursor stays on its row if that
        is shown."""
        self.only = text
        self.show(self._all, self.cursor_key)

    def find_row(self, text: str, by: int) -> bool:
        """Move the cursor to the next row that contains a text (`by` 1) or to the previous one (-1), around
        the end. Return False if none does."""
        count = len(self.rows)
        for n in range(1, count + 1):
            place = (self.cursor + by * n) % count
            if self.rows[place].key is not None and contains(self.rows[place], text):
                self.move_to(place)
                return True
        return False

    def index_of(self, key: Hashable) -> int | None:
        """Return the index of the row with a key; None if it is not shown."""
        return next((n for n, row in enumerate(self.rows) if row.key is not None and row.key == key), None)

    def move_to(self, index: int) -> None:
        """Put the cursor on a row. A heading is skipped in the direction of the move; if no row is left
        there, the cursor goes to the nearest one."""
        index = max(0, min(index, len(self.rows) - 1))
        places = [n for n, row in enumerate(self.rows) if row.key is not None]
        onward = [n for n in places if (n >= index if index >= self.cursor else n <= index)]
        if places:
            # With no row left in its direction the cursor stays at the last one there is.
            index = min(onward or places, key=lambda n: abs(n - index))
        super().move_to(index)
        if places and index == places[0]:
            self.show_row(0)  # the heading above the first row comes into view with it
