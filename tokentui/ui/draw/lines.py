"""Widgets that draw whole lines of runs, and repaint only those that look different."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.text import PALETTE, WITHOUT_COLOUR, Cell
from tokentui.ui.keys import Action, Scrolling, fitting

Draw: TypeAlias = Callable[[int, int], Sequence[Cell]]
"""Gives the lines for so many columns and rows."""

WHEEL_ROWS = 3
"""Rows that one notch of the mouse wheel scrolls."""
SAYS_BYTES = "says-bytes"
"""The class of lines that show what the last key cost."""


def blank(width: int) -> Cell:
    """So many blanks."""
    return ((" " * width, ""),) if width > 0 else ()


def spread(left: Cell, right: Cell, width: int) -> Cell:
    """One cell at the left edge, one at the right; the left one gives way, the right one vanishes if it has
    no room.
    """
    taken = ui_text.width(right)
    if taken > width:
        right, taken = (), 0
    left = ui_text.clip(left, max(0, width - taken - (1 if taken else 0)))
    return (*left, *blank(width - ui_text.width(left) - taken), *right)


def key_bytes(app: object) -> Cell:
    """Return `186 B/key · `, the bytes sent for the last key; empty if they are not counted."""
    sent = getattr(app, "key_bytes", None)
    return () if sent is None else ((f"{sent:6,} B/key", "warning"), (" · ", "muted"))


def flow(facts: Sequence[Cell], width: int, height: int, gap: str = " · ") -> list[Cell]:
    """Facts one after the other: one that does not fit goes to the next line, and the last line is cut."""
    lines: list[Cell] = []
    for fact in facts:
        joined: Cell = (*lines[-1], (gap, "muted"), *fact) if lines else fact
        if lines and ui_text.width(joined) > width - 2 and len(lines) < height:
            lines.append(fact)
        else:
            lines[-1:] = [joined]
    return [((" ", ""), *ui_text.clip(line, max(0, width - 2))) for line in lines]


class StyledLines(Widget):
    """A widget that draws lines of runs, by the names in `PALETTE`; `a+b` is both of them."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._by_name: dict[tuple[object, str], RichStyle] = {}

    def notify_style_update(self) -> None:
        """Forget the styles of the old theme."""
        self._by_name.clear()
        super().notify_style_update()

    def named(self, name: str) -> RichStyle:
        """The style of this name on the ground of the widget."""
        base = self.visual_style
        if (own := self._by_name.get((base, name))) is None:
            style, dim = base, False
            for part in name.split("+"):
                words = WITHOUT_COLOUR.get(part, PALETTE[part]) if self.app.no_color else PALETTE[part]
                if words == "dim":
                    dim = True  # Textual would mix a colour; a terminal dims in four bytes
                elif words:
                    style += Style.parse(words)
            own = self._by_name[base, name] = style.rich_style + RichStyle(
                dim=True) if dim else style.rich_style
        return own

    def strip(self, cell: Cell, width: int) -> Strip:
        """A line of this width."""
        segments: list[Segment] = ui_text.segments(ui_text.clip(cell, width), self.named)
        return Strip(segments).adjust_cell_length(width, self.named(""))


class Lines(StyledLines):
    """A few lines; a function gives them for the room there is.

    Args:
        draw: The function; nothing is seen without one.
        id: The id of the widget.
        classes: Its classes.
    """

    DEFAULT_CSS = """
    Lines { height: 1; width: 1fr; }
    """

    def __init__(self, draw: Draw | None = None, *, id: str | None = None,
            classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._draw = draw
        self._cells: tuple[Cell, ...] = ()

    def show(self, draw: Draw) -> None:
        """Take another function, and draw what has changed."""
        self._draw = draw
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """The lines for this much room."""
        return self._draw(width, height) if self._draw is not None else ()

    def again(self) -> None:
        """Draw what has changed."""
        width, height = self.size
        old, self._cells = self._cells, tuple(self.cells(width, height))[:height]
        for y in range(max(len(old), len(self._cells))):
            if old[y : y + 1] != self._cells[y : y + 1]:
                self.refresh(Region(0, y, width, 1))

    def on_resize(self) -> None:
        """Fill the new room."""
        self.again()

    def render_line(self, y: int) -> Strip:
        """One of the lines, or a blank one."""
        return self.strip(self._cells[y] if y < len(self._cells) else (), self.size.width)


class ScrolledLines(Scrolling, StyledLines, can_focus=True):
    """Lines of which some are seen; it scrolls by rows of its own."""

    DEFAULT_CSS = """
    ScrolledLines { width: 1fr; height: 1fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.top = 0
        """The first row that is seen, of those that are held."""

    def scroll_rows(self, top: int) -> None:
        """Let this row be the first that is seen, as far as there are rows."""
        raise NotImplementedError

    def move(self, rows: int) -> None:
        """Scroll by rows."""
        self.scroll_rows(self.top + rows)

    def page(self, pages: int) -> None:
        """Scroll by pages, of which one row stays in view."""
        self.scroll_rows(self.top + pages * max(1, self.size.height - 1))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll."""
        event.stop()
        self.move(WHEEL_ROWS)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll."""
        event.stop()
        self.move(-WHEEL_ROWS)


class KeyLine(Lines):
    """Keys, as many as fit, most important first: the footer of a screen or a dialog.

    Args:
        actions: The actions that are shown at first.
        indent: Blanks at either side.
    """

    def __init__(self, actions: Sequence[Action[Any]] = (), indent: int = 0) -> None:
        super().__init__()
        self._actions, self._indent = [action for action in actions if action.label], indent

    def say(self, actions: Sequence[Action[Any]]) -> None:
        """Take other keys."""
        self._actions = [action for action in actions if action.label]
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """`n next  b back  space run …`."""
        line: Cell = blank(self._indent)
        for n, action in enumerate(fitting(self._actions, width - 2 * self._indent)):
            line = (*line, ("  " if n else "", ""), (action.shown_key, "key"), (f" {action.label}", "muted"))
        return (line,)
