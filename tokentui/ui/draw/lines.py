"""Widgets that draw whole lines of runs, and repaint only those that look different."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.geometry import Region
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.text import PALETTE, Cell

STYLES: Mapping[str, str] = MappingProxyType(
    {
        **PALETTE,
        "frame": "$frame",
        "focus": "$accent bold",
        "dropped": "$foreground-muted italic",
        "partial-here": "underline",
        "shade-a": "on $shade-a",
        "shade-b": "on $shade-b",
        "shade-c": "on $shade-c",
        "fresh": "$fresh-text on $fresh bold",
        "fresh-other": "$fresh-text on $fresh-other bold",
        "past": "$primary",
        "future": "$text-disabled",
        "here": "$accent bold",
        # The columns of Compare.
        **{f"column-{n}": f"$column-{letter}" for n, letter in enumerate("abcd")},
    }
)
"""The palette of safe text, and what the main screen adds to it. `a+b` is both of them."""

PLAIN: Mapping[str, str] = MappingProxyType({"fresh": "bold reverse", "fresh-other": "bold reverse underline"})
"""What takes their place where there are no colours."""


def blank(width: int) -> Cell:
    """So many blanks."""
    return ((" " * width, ""),) if width > 0 else ()


def spread(left: Cell, right: Cell, width: int) -> Cell:
    """One cell at the left edge, one at the right; the left one gives way, the right one vanishes if it has no room."""
    taken = ui_text.width(right)
    if taken > width:
        right, taken = (), 0
    left = ui_text.clip(left, max(0, width - taken - (1 if taken else 0)))
    return (*left, *blank(width - ui_text.width(left) - taken), *right)


SAYS_BYTES = "says-bytes"
"""The class of lines that show what the last key cost."""


def key_bytes(app: object) -> Cell:
    """`186 B/key · `, what the last key cost; empty where nobody wants to know."""
    sent = getattr(app, "key_bytes", None)
    return () if sent is None else ((f"{sent:6,} B/key", "warning"), (" · ", "muted"))


class StyledLines(Widget):
    """A widget that draws lines of runs, by the names in `STYLES`."""

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
                words = PLAIN.get(part, STYLES[part]) if self.app.no_color else STYLES[part]
                if words == "dim":
                    dim = True  # Textual would mix a colour; a terminal dims in four bytes
                elif words:
                    style += Style.parse(words)
            own = self._by_name[base, name] = style.rich_style + RichStyle(dim=True) if dim else style.rich_style
        return own

    def strip(self, cell: Cell, width: int) -> Strip:
        """A line of this width."""
        segments: list[Segment] = ui_text.segments(ui_text.clip(cell, width), self.named)
        return Strip(segments).adjust_cell_length(width, self.named(""))


class Lines(StyledLines):
    """A few lines that say something; a subclass says what in `cells`, and calls `again` when it may have changed."""

    DEFAULT_CSS = """
    Lines { height: 1; width: 1fr; }
    """

    _cells: tuple[Cell, ...] = ()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """The lines, for this much room."""
        return ()

    def again(self) -> None:
        """Draw what has changed."""
        width, height = self.size
        old, self._cells = self._cells, tuple(self.cells(width, height))[:height]
        for y in range(max(len(old), len(self._cells))):
            if self._line(old, y) != self._line(self._cells, y):
                self.refresh(Region(0, y, width, 1))

    @staticmethod
    def _line(cells: Sequence[Cell], y: int) -> Cell:
        return cells[y] if y < len(cells) else ()

    def on_resize(self) -> None:
        """Fill the new room."""
        self.again()

    def render_line(self, y: int) -> Strip:
        """One of the lines, or a blank one."""
        return self.strip(self._line(self._cells, y), self.size.width)
