"""The screen as a grid of cells, filled from the lines that Textual draws."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.color import ColorSystem
from textual.strip import Strip

from tokentui.thinwire.private import ChopsUpdate, LayoutUpdate
from tokentui.thinwire.safe_text import RICH_TEXT
from tokentui.thinwire.styles import DEFAULT_STYLE, CellStyle, blank_style, cell_style

_ONE_CELL_EACH = re.compile(
    "[ -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0373\u0391-\u03a1\u03a3-\u0481"
    "\u2010-\u2026\u2190-\u21ff\u2500-\u25fc]*"
)
"""Text in which each character is a cell, so that it needs no look-up of clusters and widths."""


@dataclass(slots=True)
class Row:
    """A line of cells.

    Attributes:
        texts: The text of each cell. The first cell of a wide cluster has all of it, the others have "".
        styles: The style of each cell.
    """

    texts: list[str]
    styles: list[CellStyle]

    @classmethod
    def blank(cls, width: int, style: CellStyle = DEFAULT_STYLE) -> Row:
        """Return a row of spaces."""
        return cls([" "] * width, [style] * width)

    def copy(self) -> Row:
        """Return a row that does not change with this one."""
        return Row(self.texts.copy(), self.styles.copy())


class ScreenBuffer:
    """The cells that the screen should show.

    Args:
        width: Columns of the screen.
        height: Rows of the screen.
        system: The color system of the terminal. Other colors are replaced by the nearest it has.
        clusters: Splits text into (cluster, columns); see `SafeText.clusters`.
    """

    def __init__(
        self, width: int, height: int, system: ColorSystem,
        clusters: Callable[[str], Sequence[tuple[str, int]]] = RICH_TEXT.clusters,
    ) -> None:
        self.width, self.height = width, height
        self._system = system
        self._clusters = clusters
        self.rows = [Row.blank(width) for _ in range(height)]
        self.changed = set(range(height))
        """Indexes of the rows that were drawn to since `DiffWriter.frame` last sent them; at first all."""

    def draw(self, update: LayoutUpdate | ChopsUpdate) -> None:
        """Draw an update of Textual's compositor. What lies outside of the buffer is left out."""
        if isinstance(update, LayoutUpdate):
            for y, strips in enumerate(update.strips, update.region.y):
                self._draw_line(update.region.x, y, strips)
            return
        for y, left, right in update.spans:
            for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
                if strip is not None and x <= right and end > left:
                    self._draw_line(x, y, (strip,), min(end, right) - x)

    def _draw_line(self, x: int, y: int, strips: Iterable[Strip], limit: int | None = None) -> None:
        """Draw strips next to each other, from cell (x, y) on, in at most `limit` columns."""
        if not (0 <= y < self.height and 0 <= x < self.width):
            return
        texts: list[str] = []
        styles: list[CellStyle] = []
        for strip in strips:
            for text, rich_style, control in strip:
                if control:
                    continue
                style = cell_style(rich_style, self._system)
                if _ONE_CELL_EACH.fullmatch(text):
                    texts += text
                    styles += [style] * len(text)
                else:
                    self._append(text, style, texts, styles)
        room = self.width - x if limit is None else min(limit, self.width - x)
        if len(texts) > room:
            del texts[room:], styles[room:]
        _blank_cut_cluster(texts)
        styles = [
            blank_style(style) if text == " " else style for text, style in zip(texts, styles, strict=True)
        ]
        row = self.rows[y]
        end = x + len(texts)
        if row.texts[x:end] != texts or row.styles[x:end] != styles:
            # A cluster of which a part is overwritten disappears as a whole.
            left, right = x, end
            while left and row.texts[left] == "":
                left -= 1
            while right < self.width and row.texts[right] == "":
                row.texts[right] = " "
                right += 1
            row.texts[left:x] = [" "] * (x - left)
            row.texts[x:end] = texts
            row.styles[x:end] = styles
            self.changed.add(y)

    def _append(self, text: str, style: CellStyle, texts: list[str], styles: list[CellStyle]) -> None:
        """Append the cells of a text to those of its line.

        Marks at its start join the cluster before them, which may be of another style.
        """
        for cluster, width in self._clusters(text):
            if not width or _is_marks_only(cluster):
                last = _last_cluster(texts)
                if last >= 0 and _can_take_marks(texts[last]):
                    texts[last] += cluster
                    texts += [""] * width
                    styles += [styles[last]] * width
                else:
                    texts += " " * width
                    styles += [style] * width
                continue
            texts += (cluster, *[""] * (width - 1))
            styles += [style] * width


def _is_marks_only(cluster: str) -> bool:
    return all(unicodedata.category(char)[0] == "M" for char in cluster)


def _can_take_marks(cluster: str) -> bool:
    """Return whether marks combine with a cluster: letters, digits, marks, emoji, and the two bases for
    marks."""
    return (
        unicodedata.category(cluster[0])[0] in "LMN"
        or cluster[0] in "\N{DOTTED CIRCLE}\N{NO-BREAK SPACE}" or cluster >= "\U0001f000"
    )


def _last_cluster(texts: list[str]) -> int:
    """Return the index of the cell that has the last cluster of a line; -1 if there is none."""
    return next((index for index in range(len(texts) - 1, -1, -1) if texts[index]), -1)


def _blank_cut_cluster(texts: list[str]) -> None:
    """Replace the last cluster of a line by spaces, in place, if the line ends within it."""
    last = _last_cluster(texts)
    if last >= 0 and not texts[last].isascii() and last + cell_len(texts[last]) > len(texts):
        texts[last:] = [" "] * (len(texts) - last)
