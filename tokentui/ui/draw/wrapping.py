"""Running text in rows of a width: where each row begins and ends.

Rows depend on the text alone, not on how it is cut into tokens, so that nothing moves while merges are made. Only where
bars stand between tokens, or where a token ends inside a grapheme cluster whose parts are shown apart, do they take part.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from tokentui.core.safetext import GlyphMode, Kind, clusters, shown
from tokentui.ui.draw.text import Cell
from tokentui.ui.draw.widths import cell_len

_WORD = re.compile(r"\n|[^\S\n]?\S+|[^\S\n]")
_SPLIT = re.compile(r"\S+|\s")


class Glyph(NamedTuple):
    """What stands for a character and its marks: characters start to end of the text, and the cells that it takes."""

    start: int
    end: int
    cell: Cell
    width: int


@lru_cache(maxsize=1 << 14)
def _drawn(word: str, mode: GlyphMode) -> tuple[tuple[int, Cell, int], ...]:
    """The clusters of a word: how many characters each has, its cells and their number."""
    out: list[tuple[int, Cell, int]] = []
    for cluster in clusters(word):
        cell: Cell = tuple([(text, kind.value) for text, kind in shown(cluster, mode)])
        if cluster.text == "\r":
            # It ends every line of some files: as quiet as the newline behind it.
            cell = tuple([(text, Kind.space.value) for text, _ in cell])
        if mode in ("hex", "points"):
            cell = (*cell, (" ", ""))
        out.append((cluster.end - cluster.start, cell, sum(cell_len(text) for text, _ in cell)))
    return tuple(out)


def glyphs(text: str, mode: GlyphMode, breaks: Collection[int] = ()) -> list[Glyph]:
    """The text as glyphs, in order and without gaps; none of them goes over a break."""
    out: list[Glyph] = []
    end = 0
    for left, right in pairwise(sorted({0, len(text), *breaks})):
        piece = text[left:right]
        for word in piece if piece.isascii() else _SPLIT.findall(piece):
            for length, cell, width in _drawn(word, mode):
                start, end = end, end + length
                out.append(Glyph(start, end, cell, width))
    return out


def wrap(
    text: str, drawn: Sequence[Glyph], width: int, breaks: Collection[int] = (), bars: Collection[int] = (), start: int = 0,
    end: int | None = None,
) -> Iterator[tuple[int, int]]:
    """The rows of a stretch of text, as (start, end) in characters.

    A row breaks before a word that does not fit, inside a word that is longer than a row, and after a newline.

    Args:
        text: The text.
        drawn: Its glyphs, none of which goes over a break.
        width: The cells of a row.
        breaks: Characters before which a row begins whatever happens.
        bars: Characters before which a bar of one cell stands, unless a row begins there.
        start: Where the stretch begins; the beginning of a row.
        end: Where it ends; the end of the text where not given.
    """
    end = len(text) if end is None else end
    width = max(1, width)
    before = _columns(text, drawn, bars)
    cuts = [glyph.start for glyph in drawn]

    def cells(left: int, right: int) -> int:
        return before[right] - before[left] - (1 if left in bars else 0)

    row = start
    for word in _WORD.finditer(text, start, end):
        for left, right in _pieces(word.start(), word.end(), breaks):
            if left in breaks and left > row:
                yield row, left
                row = left
            if cells(row, right) > width and left > row and cells(left, right) <= width:
                yield row, left
                row = left
            while cells(row, right) > width:
                cut = _last_fitting(cuts, before, row, max(row, left), right, width + (1 if row in bars else 0))
                if cut >= right:
                    break
                yield row, cut
                row = cut
        if text[word.end() - 1] == "\n":
            yield row, word.end()
            row = word.end()
    if row < end:
        yield row, end


def _columns(text: str, drawn: Sequence[Glyph], bars: Collection[int]) -> list[int]:
    """For each character, the cells of all before it; a bar counts to the character that it stands before."""
    before = [0] * (len(text) + 1)
    total = 0
    for start, end, _, width in drawn:
        for place in range(start, end):
            before[place] = total
        total += width + (1 if start in bars else 0)
    before[len(text)] = total
    return before


def _pieces(start: int, end: int, breaks: Collection[int]) -> Iterator[tuple[int, int]]:
    inner = [place for place in range(start + 1, end) if place in breaks] if breaks else []
    edges = [start, *inner, end]
    return pairwise(edges)


def _last_fitting(cuts: Sequence[int], before: Sequence[int], row: int, left: int, right: int, width: int) -> int:
    """Where a row ends that a word from `left` to `right` overfills: as far on in the word as fits, one glyph at least."""
    low = bisect.bisect_right(cuts, row)
    best = left if left > row else cuts[low] if low < len(cuts) else right
    for place in range(bisect.bisect_left(cuts, best), bisect.bisect_left(cuts, right)):
        if before[cuts[place]] - before[row] > width:
            break
        best = max(best, cuts[place])
    return best
