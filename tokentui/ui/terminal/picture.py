"""A screen as a grid of cells, filled from the lines that Textual draws."""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import split_graphemes
from rich.color import ColorSystem
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.strip import Strip

from tokentui.ui.terminal.abilities import drawable
from tokentui.ui.terminal.pen import PLAIN, Pen, pen_of


class Row:
    """A line of cells: what each shows and how. The right half of a wide character shows nothing of its own (`""`)."""

    __slots__ = ("pens", "texts")

    def __init__(self, width: int, pen: Pen = PLAIN) -> None:
        self.texts = [" "] * width
        self.pens = [pen] * width

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and self.texts == other.texts and self.pens == other.pens

    __hash__ = None  # type: ignore[assignment]

    def copy(self) -> Row:
        """The same cells again."""
        row = Row(0)
        row.texts, row.pens = self.texts.copy(), self.pens.copy()
        return row


class Picture:
    """What the screen should show.

    Args:
        width: Its size in cells.
        height: Its size in rows.
        system: How many colours there are.
        charset: The encoding that limits which characters there are.
    """

    def __init__(self, width: int, height: int, system: ColorSystem, charset: str = "utf-8") -> None:
        self.width, self.height = width, height
        self.system = system
        self.charset = charset
        self.rows = [Row(width) for _ in range(height)]
        self.changed: set[int] = set()
        """The rows that were drawn to since somebody last looked."""

    def draw(self, update: LayoutUpdate | ChopsUpdate) -> None:
        """Take what Textual wants to be shown."""
        if isinstance(update, LayoutUpdate):
            for y, strips in enumerate(update.strips, update.region.y):
                self._draw_line(update.region.x, y, strips)
            return
        for y, left, right in update.spans:
            for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
                if strip is not None and x <= right and end > left:
                    self._draw_line(x, y, (strip,), min(end, right) - x)

    def _draw_line(self, x: int, y: int, strips: Iterable[Strip], most: int | None = None) -> None:
        if not (0 <= y < self.height and 0 <= x < self.width):
            return
        texts: list[str] = []
        pens: list[Pen] = []
        for strip in strips:
            for text, style, control in strip:
                if control:
                    continue
                pen = pen_of(style, self.system)
                cells = list(text) if text.isascii() else self._cells(text)
                texts += cells
                pens += [pen] * len(cells)
        room = self.width - x if most is None else min(most, self.width - x)
        if len(texts) > room:
            del texts[room:], pens[room:]
        _mend_edges(texts)
        row = self.rows[y]
        end = x + len(texts)
        if row.texts[x:end] != texts or row.pens[x:end] != pens:
            # Half of a wide character that is drawn over is gone with its other half.
            if x and row.texts[x] == "":
                row.texts[x - 1] = " "
            if end < self.width and row.texts[end] == "":
                row.texts[end] = " "
            row.texts[x:end] = texts
            row.pens[x:end] = pens
            self.changed.add(y)

    def _cells(self, text: str) -> list[str]:
        cells: list[str] = []
        for start, end, width in split_graphemes(text)[0]:
            if not width:
                cells[-1:] = [one + text[start:end] for one in cells[-1:]]
            elif self.charset == "utf-8":
                cells += (text[start:end], *[""] * (width - 1))
            else:
                cells += drawable(text[start:end], self.charset, width)
        return cells


def _mend_edges(texts: list[str]) -> None:
    """A wide character cut off at the right edge has no room."""
    if texts and not texts[-1].isascii() and _wide(texts[-1]):
        texts[-1] = " "


def _wide(cluster: str) -> bool:
    return split_graphemes(cluster)[1] > 1
