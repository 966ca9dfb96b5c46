"""A screen as a grid of cells, filled from the lines that Textual draws."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from rich.color import ColorSystem
from textual.strip import Strip

from tokentui.ui.draw.widths import cell_len, clusters_of
from tokentui.ui.terminal.abilities import drawable
from tokentui.ui.terminal.pen import PLAIN, Pen, pen_of
from tokentui.ui.terminal.private import ChopsUpdate, LayoutUpdate

_SINGLE = re.compile(
    "[ -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0373\u0391-\u03a1\u03a3-\u0481\u2010-\u2026\u2190-\u21ff\u2500-\u25fc]*"
)
"""Text of which each character is a cell: no table has to be asked."""


class Row:
    """A line of cells: what each shows and how. The first cell of a cluster has all of it, the others nothing
    (`""`).
    """

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
    """The contents that the screen should have.

    Args:
        width: Its size in cells.
        height: Its size in rows.
        system: The number of colours, as a system of Rich.
        charset: The encoding that limits which characters there are.
    """

    def __init__(self, width: int, height: int, system: ColorSystem, charset: str = "utf-8") -> None:
        self.width, self.height = width, height
        self.system = system
        self.charset = charset
        self.rows = [Row(width) for _ in range(height)]
        self.changed: set[int] = set()
        """The rows that were drawn to since they were last sent."""

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
                if _SINGLE.fullmatch(text) and (self.charset == "utf-8" or text.isascii()):
                    texts += text
                    pens += [pen] * len(text)
                else:
                    self._add(text, pen, texts, pens)
        room = self.width - x if most is None else min(most, self.width - x)
        if len(texts) > room:
            del texts[room:], pens[room:]
        _mend_edge(texts)
        row = self.rows[y]
        end = x + len(texts)
        if row.texts[x:end] != texts or row.pens[x:end] != pens:
            # A cluster that is drawn over in part is gone as a whole.
            left, right = x, end
            while left and row.texts[left] == "":
                left -= 1
            while right < self.width and row.texts[right] == "":
                row.texts[right] = " "
                right += 1
            row.texts[left:x] = [" "] * (x - left)
            row.texts[x:end] = texts
            row.pens[x:end] = pens
            self.changed.add(y)

    def _add(self, text: str, pen: Pen, texts: list[str], pens: list[Pen]) -> None:
        """Put the cells of a text behind others of its line."""
        for cluster, width in clusters_of(text):
            if not width or _goes_on(cluster):
                head = _head(texts)
                if head >= 0 and _takes_marks(texts[head]) and self.charset == "utf-8":
                    texts[head] += cluster
                    texts += [""] * width
                    pens += [pens[head]] * width
                else:  # what it stood on is not there
                    texts += " " * width
                    pens += [pen] * width
                continue
            texts += (cluster, *[""] * (width - 1)) if self.charset == "utf-8" else drawable(cluster,
                self.charset, width)
            pens += [pen] * width


def _goes_on(cluster: str) -> bool:
    """True if a cluster consists of marks only: they belong to a character drawn in another style."""
    return all(unicodedata.category(char)[0] == "M" for char in cluster)


def _takes_marks(cell: str) -> bool:
    return unicodedata.category(cell[0])[0] in "LMN" or cell[
        0] in "\N{DOTTED CIRCLE}\N{NO-BREAK SPACE}" or cell >= "\U0001f000"


def _head(texts: list[str]) -> int:
    """The cell that has the last cluster; -1 where there is none."""
    return next((place for place in range(len(texts) - 1, -1, -1) if texts[place]), -1)


def _mend_edge(texts: list[str]) -> None:
    """A cluster cut off at the right edge has no room."""
    head = _head(texts)
    if head >= 0 and not texts[head].isascii() and head + cell_len(texts[head]) > len(texts):
        texts[head:] = [" "] * (len(texts) - head)
