"""Encodings of one text in rows, one under the other: cells placed by character, a ruler of boundaries, and
the stretches where the rows differ.

A character has the same column in every row. A column is kept free before each boundary that any row has; a
row that has it draws a line there. Tokens that share a character are drawn by their bytes, side by side, in
its place.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from tokentui.analyze.compare import Cuts, Disagreement, cuts, disagreements
from tokentui.core.safetext import clusters, visible
from tokentui.core.table import cell_width
from tokentui.encode.encoding import Encoding

Width = Callable[[str], int]
"""The columns that a safe text takes in a terminal."""

DROPPED = -1
"""The token of a cell whose text the tokenizer dropped."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A token in its place, or text that was dropped.

    Attributes:
        x: Its first column.
        width: Its columns, without the one of the boundary behind it.
        text: The text drawn there: safe, of just that width.
        start: The first character of the text that it covers.
        end: The one behind the last.
        token: The token's number in the encoding, `DROPPED` for text that is in none.
        unknown: True if the token replaces text that the vocabulary lacks.
        place: Among the tokens that share its characters, from 0.
        of: The number of tokens that share its characters: 1 for one alone.
    """

    x: int
    width: int
    text: str
    start: int
    end: int
    token: int
    unknown: bool = False
    place: int = 0
    of: int = 1


@dataclass(frozen=True, slots=True)
class Mark:
    """A place of the ruler: a boundary before the character `offset`, its column, and the rows that have it.
    """

    offset: int
    x: int
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Alignment:
    """Encodings of one text, placed.

    Attributes:
        text: The text.
        width: The columns of every row.
        rows: The cells of each encoding, from left to right.
        cuts: The boundaries of each.
        ruler: Every boundary that any of them has.
        partings: The stretches that they cut differently, from left to right.
    """

    text: str
    width: int
    rows: tuple[tuple[Cell, ...], ...]
    cuts: tuple[Cuts, ...]
    ruler: tuple[Mark, ...]
    partings: tuple[Disagreement, ...]

    def x(self, offset: int) -> int:
        """Return the column of a boundary: 0 for the start of the text, the width for its end."""
        if offset in (0, len(self.text)):
            return 0 if offset == 0 else self.width
        return next(mark.x for mark in self.ruler if mark.offset == offset)

    def after(self, offset: int) -> Disagreement | None:
        """Return the first disagreement that begins after an offset, or None."""
        at = bisect_right(self.partings, offset, key=lambda one: one.start)
        return self.partings[at] if at < len(self.partings) else None

    def before(self, offset: int) -> Disagreement | None:
        """Return the last disagreement that begins before an offset, or None."""
        at = bisect_left(self.partings, offset, key=lambda one: one.start)
        return self.partings[at - 1] if at else None

    def line(self, row: int, boundary: str = "│", shared: str = "┊") -> str:
        """Return a row as a line of text."""
        cells = self.rows[row]
        inner = [(cell.x - 1, shared) for cell in cells if cell.place]
        lines = [(mark.x, boundary) for mark in self.ruler if row in mark.rows]
        return _drawn([*((cell.x, cell.text) for cell in cells), *inner, *lines])

    def counts(self) -> str:
        """Return the ruler as a line of text: below each boundary, the number of rows that have it."""
        return _drawn([(mark.x, str(len(mark.rows))) for mark in self.ruler])


class _Stretch(NamedTuple):
    """A part of a row between two boundaries: one or more tokens that together cover the characters from
    `first` to `last`."""

    start: int
    end: int
    first: int
    last: int
    tokens: range


def align(encodings: Sequence[Encoding], *, width: Width = cell_width) -> Alignment:
    """Place encodings of one text under each other.

    Args:
        encodings: The rows, one at least.
        width: Return the width of a safe text; by default that of a terminal.
    """
    text = encodings[0].text
    ways = tuple(map(cuts, encodings))
    rows = [list(_stretches(encoding, way)) for encoding, way in zip(encodings, ways, strict=True)]
    shared = {
        offset: tuple(
            n for n, way in enumerate(ways) if offset in way.offsets
        ) for way in ways for offset in way.offsets
    }
    edges = {0, len(text), *shared}
    edges.update(place for row in rows for one in row for place in (one.first, one.last))
    places = sorted(edges | _clusters(text, edges))
    needs: dict[int, list[tuple[int, int]]] = {}
    for encoding, row in zip(encodings, rows, strict=True):
        for one in row:
            if len(one.tokens) > 1:
                labels = _labels(encoding, one.tokens)
                needs.setdefault(one.last, []).append((one.first, sum(map(width, labels)) + len(labels) - 1))
    shown = {start: _shown(text[start:end]) for start, end in pairwise(places)}
    xs = {0: 0}  # where the text of each place begins, behind the line of its boundary
    for start, end in pairwise(places):
        line = end in shared
        xs[end] = xs[start] + width(shown[start]) + line
        for first, room in needs.get(end, ()):
            xs[end] = max(xs[end], xs[first] + room + line)
    drawing = _Drawing(places, shown, xs, frozenset(shared), width)
    return Alignment(
        text=text,
        width=xs[len(text)],
        rows=tuple(
            tuple(drawing.cells(encoding, row)) for encoding, row in zip(encodings, rows, strict=True)
        ),
        cuts=ways,
        ruler=tuple(Mark(offset, xs[offset] - 1, shared[offset]) for offset in sorted(shared)),
        partings=tuple(disagreements(ways)),
    )


class _Drawing(NamedTuple):
    """The material of cells: places, the text at each, their columns, and which of them have a line
    before them."""

    places: list[int]
    shown: dict[int, str]
    xs: dict[int, int]
    lines: frozenset[int]
    width: Width

    def cells(self, encoding: Encoding, row: Sequence[_Stretch]) -> Iterator[Cell]:
        """Yield the cells of a row."""
        unknown = frozenset(encoding.unknown)
        for one in row:
            if one.start < one.first:
                yield self._cell(one.start, one.first, DROPPED, False)
            if len(one.tokens) == 1:
                yield self._cell(one.first, one.last, one.tokens[0], one.tokens[0] in unknown)
            elif one.tokens:
                yield from self._group(encoding, one, unknown)
            if one.last < one.end:
                yield self._cell(one.last, one.end, DROPPED, False)

    def _cell(self, start: int, end: int, token: int, unknown: bool) -> Cell:
        """Return the cell of one token: its visible text, padded with spaces up to the next boundary."""
        x, last = self.xs[start], self.xs[end] - (end in self.lines)
        drawn: list[str] = []
        at = x
        for place in self.places[bisect_left(self.places, start) : bisect_left(self.places, end)]:
            drawn.append(" " * (self.xs[place] - at) + self.shown[place])
            at = self.xs[place] + self.width(self.shown[place])
        drawn.append(" " * (last - at))
        return Cell(x, last - x, "".join(drawn), start, end, token, unknown)

    def _group(self, encoding: Encoding, one: _Stretch, unknown: frozenset[int]) -> Iterator[Cell]:
        """Yield the cells of several tokens that share characters."""
        labels = _labels(encoding, one.tokens)
        x, last = self.xs[one.first], self.xs[one.last] - (one.last in self.lines)
        for place, (token, label) in enumerate(zip(one.tokens, labels, strict=True)):
            end = last if place == len(labels) - 1 else x + self.width(label)
            drawn = label + " " * (end - x - self.width(label))
            yield Cell(x, end - x, drawn, one.first, one.last, token, token in unknown, place, len(labels))
            x = end + 1


def _stretches(encoding: Encoding, way: Cuts) -> Iterator[_Stretch]:
    edges = [0, *way.offsets, len(encoding.text)]
    for start, end in pairwise(edges):
        tokens = range(way.before[start], way.before[end])
        spans = [encoding.offsets[token] for token in tokens]
        first = min((max(start, low) for low, _ in spans), default=start)
        last = max((min(end, high) for _, high in spans), default=start)
        yield _Stretch(start, end, first, max(first, last), tokens)


def _clusters(text: str, edges: set[int]) -> set[int]:
    """Return the offsets of everything that is drawn by itself: grapheme clusters, split at the token edges
    inside them."""
    if text.isascii():
        return set(range(len(text)))
    cuts = sorted({0, len(text), *edges})
    return {start + cluster.start for start, end in pairwise(cuts) for cluster in clusters(text[start:end])}


def _labels(encoding: Encoding, tokens: range) -> list[str]:
    """Return the text of each of several tokens that share characters."""
    found = (encoding.pieces[token] for token in tokens)
    return [
        _shown(encoding.tokens[token] if piece is None else piece) for token,
        piece in zip(tokens, found, strict=True)
    ]


def _drawn(placed: list[tuple[int, str]]) -> str:
    """Join texts into one line, each at its column."""
    out, at = [], 0
    for x, text in sorted(placed):
        out.append(" " * (x - at) + text)
        at = x + cell_width(text)
    return "".join(out)


def _shown(data: str | bytes) -> str:
    return "".join(span.text for span in visible(data))
