"""Widgets that draw whole lines of runs, and repaint only those that look different."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, TypeAlias

from rich.style import Style as RichStyle
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from tokentui.ui.bindings import RULE, BoundAction, Hint, fitting, footer_text, gap_before
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.text import PALETTE, WITHOUT_COLOR, Cell, Run, Styles
from tokentui.ui.guard import Guarded

Draw: TypeAlias = Callable[[int, int], Sequence[Cell]]
"""Returns the lines that fit a number of columns and rows."""


def spread(left: Cell, right: Cell, width: int) -> Cell:
    """Return a line with one cell at its left edge and one at its right. The left one is cut if necessary;
    the right one is left out if it does not fit at all."""
    taken = ui_text.width(right)
    if taken > width:
        right, taken = (), 0
    left = ui_text.clip(left, max(0, width - taken - (1 if taken else 0)))
    return (*left, (" " * (width - ui_text.width(left) - taken), ""), *right)


def flow(facts: Iterable[tuple[str, Cell]], width: int, height: int) -> list[Cell]:
    """Return facts joined into at most `height` lines, each fact after its gap; one that does not fit starts
    a new line. A line that is too long loses its last clauses."""
    lines: list[Cell] = []
    for gap, fact in facts:
        joined: Cell = (*lines[-1], (gap, "muted"), *fact) if lines else fact
        if lines and ui_text.width(joined) > width - 2 and len(lines) < height:
            lines.append(fact)
        else:
            lines[-1:] = [joined]
    room = max(0, width - 2)
    fits = ui_text.width
    return [((" ", ""), *(line if fits(line) <= room else shortened(line, room))) for line in lines]


_SEAM = re.compile(r" · | {3}|, |; |: | \(")
"""The beginning of a clause: whatever stands before it can stand alone."""


def shortened(line: Cell, width: int) -> Cell:
    """Return a sentence that fits a width: its last clauses are left out, and it is cut only if even the
    first one is too long. No clause begins inside a token, brackets, or a fraction."""
    if ui_text.width(line) <= width:
        return line
    best: Cell = ()
    for n, (text, style) in enumerate(line):
        for seam in _SEAM.finditer(text):
            kept: Cell = (*line[:n], *([(text[: seam.start()], style)] if seam.start() else []))
            if ui_text.width(kept) > width:
                return best or ui_text.clip(line, width)
            shown = "".join([text for text, _ in kept])
            if shown.count("(") <= shown.count(")") and not shown.endswith("/"):
                best = kept or best
    return best or ui_text.clip(line, width)


class StyledLines(Guarded, Widget):
    """A widget that draws lines of runs, styled by the names in `PALETTE`; `a+b` combines two."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._painted: tuple[Cell, ...] = ()
        self.named = Styles(self._resolve)
        """The styles of the palette on the ground of the widget."""

    def notify_style_update(self) -> None:
        """Forget the styles of the theme before."""
        self.named.clear()
        super().notify_style_update()

    def _resolve(self, name: str) -> RichStyle:
        """Return the style of palette names joined with `+`, over the style of the widget.

        Tints have no effect unless chips are on. Without color, `WITHOUT_COLOR` takes precedence. Raises
        KeyError for an unknown name.
        """
        style, dim = self.visual_style, False
        for part in name.split("+"):
            if part.startswith("tint-") and not self.app.chips:
                continue
            words = WITHOUT_COLOR.get(part, PALETTE[part]) if self.app.no_color else PALETTE[part]
            if words == "dim":
                dim = True  # Textual would mix a color; a terminal dims in four bytes
            elif words:
                style += Style.parse(words)
        return style.rich_style + RichStyle(dim=True) if dim else style.rich_style

    @property
    def painted(self) -> tuple[Cell, ...]:
        """The lines that were painted last."""
        return self._painted

    def paint(self, cells: Sequence[Cell]) -> None:
        """Replace the lines, and redraw those that changed."""
        old, self._painted = self._painted, tuple(cells)
        for y in range(max(len(old), len(cells))):
            if old[y : y + 1] != self._painted[y : y + 1]:
                self.refresh(Region(0, y, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        """Return a painted line, or a blank one."""
        width = self.size.width
        cell = ui_text.clip(self._painted[y], width) if y < len(self._painted) else ()
        return Strip(ui_text.segments(cell, self.named)).adjust_cell_length(width, self.named[""])


class Lines(StyledLines):
    """Some lines, which a function returns for the size of the widget.

    Args:
        draw: The function; None for the method `cells`.
        id: The id of the widget.
        classes: Its classes.
    """

    DEFAULT_CSS = """
    Lines { height: 1; width: 1fr; }
    """

    def __init__(self, draw: Draw | None = None, *, id: str | None = None,
            classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._draw = draw or self.cells

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """Return the lines for a width and height; none by default."""
        return ()

    def show(self, draw: Draw) -> None:
        """Replace the function, and redraw the lines that changed."""
        self._draw = draw
        self.again()

    def again(self) -> None:
        """Call the function, and redraw the lines that changed."""
        self.paint(self._draw(*self.size)[: self.size.height])

    def on_resize(self) -> None:
        """Draw for the new size."""
        self.again()


_ROW = Hint("row", rank=1, pane="cursor", count=2)
_PAGE, _END = Hint("page"), Hint("ends")
_ROWS, _PAGES, _ENDS = "Go up or down a row", "Go up or down a page", "Go to the first or last row"


class ScrolledLines(StyledLines, ScrollView, can_focus=True, inherit_bindings=False):
    """Lines of which some are visible. Scroll position, its limits and the wheel are those of `ScrollView`.

    `top` is the first visible row. A subclass says how many rows there are (`set_rows`) and draws them after
    each scroll (`scrolled`).

    The scroll bar of Textual is not used: it is painted at each step, since the number of rows changes. With
    two tables at 200x60 a step took 55,000 calls of Python functions instead of 39,000 (23 ms instead of
    17.5), and a key that scrolls 27,000 instead of 19,000. `VirtualTable` draws its bar in its lines.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "row up", tooltip=_ROWS, id="row_up", group=_ROW),
        Binding("down,j", "move(1)", "row down", tooltip=_ROWS, id="row_down", group=_ROW),
        Binding("pageup", "page(-1)", "page up", tooltip=_PAGES, id="page_up", group=_PAGE),
        Binding("pagedown", "page(1)", "page down", tooltip=_PAGES, id="page_down", group=_PAGE),
        Binding("home", "first", "first row", tooltip=_ENDS, id="first_row", group=_END),
        Binding("end", "last", "last row", tooltip=_ENDS, id="last_row", group=_END),
    ]

    DEFAULT_CSS = """
    ScrolledLines { width: 1fr; height: 1fr; overflow: hidden hidden; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._scrolling = False
        """True while `scroll_rows` itself changes the scroll position."""

    @property
    def allow_vertical_scroll(self) -> bool:
        """True if not all rows fit. `ScrollView` would ask whether its scroll bar is shown."""
        return self.max_scroll_y > 0

    @property
    def top(self) -> int:
        """The first visible row."""
        return self.scroll_offset.y

    def set_rows(self, rows: int) -> None:
        """Set the number of rows, and keep the scroll position within them.

        An assignment to `virtual_size` would lay out the screen, which takes 26 ms of processor time instead
        of 17 for a step with two tables.
        """
        if rows != self.virtual_size.height:
            self.set_reactive(ScrolledLines.virtual_size, Size(self.size.width, rows))
            self.scroll_rows(self.top)

    def scroll_rows(self, top: int) -> None:
        """Make a row the first visible one, within the limits. Does not call `scrolled`."""
        self._scrolling = True
        try:
            self.scroll_target_y = self.scroll_y = top
        finally:
            self._scrolling = False

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Draw the rows that the wheel brings into view."""
        super().watch_scroll_y(old_value, new_value)
        if not self._scrolling and round(old_value) != round(new_value):
            self.scrolled()

    def scrolled(self) -> None:
        """Draw the visible rows; called after each scroll."""
        raise NotImplementedError

    def scroll_to_row(self, top: int) -> None:
        """Make a row the first visible one, within the limits, and draw."""
        self.scroll_rows(top)
        self.scrolled()

    def action_move(self, rows: int) -> None:
        """Call `move`."""
        self.move(rows)

    def action_page(self, pages: int) -> None:
        """Call `page`."""
        self.page(pages)

    def action_first(self) -> None:
        """Go to the first row."""
        self.first()

    def action_last(self) -> None:
        """Go to the last row."""
        self.last()

    def first(self) -> None:
        """Go to the first row."""
        raise NotImplementedError

    def last(self) -> None:
        """Go to the last row."""
        raise NotImplementedError

    def move(self, rows: int) -> None:
        """Scroll by rows, up if negative."""
        self.scroll_to_row(self.top + rows)

    def page(self, pages: int) -> None:
        """Scroll by pages, up if negative; one row stays visible."""
        self.scroll_to_row(self.top + pages * max(1, self.size.height - 1))


class KeyLine(Lines):
    """A line of keys: the footer of a screen or a dialog. It shows as many as fit, the most important first.

    Args:
        actions: The initial actions.
        indent: Spaces on either side.
    """

    def __init__(self, actions: Sequence[BoundAction] = (), indent: int = 0) -> None:
        super().__init__()
        self._actions, self._indent = actions, indent
        self._places: list[tuple[int, BoundAction]] = []
        """The column behind each action that is shown."""

    def set_actions(self, actions: Sequence[BoundAction]) -> None:
        """Show other actions."""
        if actions != self._actions:
            self._actions = actions
            self.again()

    def fit(self, actions: Sequence[BoundAction]) -> list[BoundAction]:
        """Return the actions that fit into the line."""
        return [action for group in fitting(actions, self.size.width - 2 * self._indent) for action in group]

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """Return the line of keys, as in `n next  b back  space run …`, and note where each action is for
        clicks."""
        line: list[Run] = [(" " * self._indent, "")]
        self._places = []
        for n, group in enumerate(fitting(self._actions, width - 2 * self._indent)):
            for place, action in enumerate(group):
                key, label = footer_text(action)
                line.append((gap_before(action, place), "") if place else (RULE if n else "", "muted"))
                line += [(key, "key"), (label, "muted")]
                self._places.append((ui_text.width(line), action))
        return (tuple(line),)

    def on_click(self, event: events.Click) -> None:
        """Press the first key of the clicked action."""
        event.stop()
        action = next((action for end, action in self._places if event.x < end), None)
        if action is not None and event.x >= self._indent:
            self.app.simulate_key(action.keys[0])
