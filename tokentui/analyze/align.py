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
        width: Its columns, without that of the boundary after it.
        text: The text drawn there: safe, and exactly that wide.
        start: The first character of the text that it covers.
        end: The character after the last.
        token: The index of the token in the encoding; `DROPPED` for text that no token covers.
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
    """A boundary on the ruler, before the character `offset`, in column `x`. `rows` has the indices of the
    rows that have it."""

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

    def after(self, offset: int) -> Disagreement | None:
        """Return the first disagreement that begins after an offset, or None."""
        at = bisect_right(self.partings, offset, key=lambda disagreement: disagreement.start)
        return self.partings[at] if at < len(self.partings) else None

    def before(self, offset: int) -> Disagreement | None:
        """Return the last disagreement that begins before an offset, or None."""
        at = bisect_left(self.partings, offset, key=lambda disagreement: disagreement.start)
        return self.partings[at - 1] if at else None

    def line(self, row: int, boundary: str = "│", shared: str = "┊") -> str:
        """Return a row as a line of text, with `boundary` at each boundary of the row and `shared` between
        tokens that share characters. Both must be one column wide."""
        cells = self.rows[row]
        inner = [(cell.x - 1, shared) for cell in cells if cell.place]
        lines = [(mark.x, boundary) for mark in self.ruler if row in mark.rows]
        return _drawn([*((cell.x, cell.text) for cell in cells), *inner, *lines])

    def counts(self) -> str:
        """Return a line of text with the number of rows that have each boundary, in its column."""
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
        encodings: The rows, at least one, all of the same text.
        width: Returns the width of a safe text in columns; by default that of a terminal.
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
    edges.update(place for row in rows for stretch in row for place in (stretch.first, stretch.last))
    places = sorted(edges | _clusters(text, edges))
    needs: dict[int, list[tuple[int, int]]] = {}
    for encoding, row in zip(encodings, rows, strict=True):
        for stretch in row:
            if len(stretch.tokens) > 1:
                labels = _labels(encoding, stretch.tokens)
                room = sum(map(width, labels)) + len(labels) - 1
                needs.setdefault(stretch.last, []).append((stretch.first, room))
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
    """Draws the cells of rows.

    Attributes:
        places: The offsets where something is drawn, ascending.
        shown: The visible text of each place, up to the next one.
        xs: The column of each place.
        lines: The places with a line before them, in the column before theirs.
        width: Returns the columns of a safe text.
    """

    places: list[int]
    shown: dict[int, str]
    xs: dict[int, int]
    lines: frozenset[int]
    width: Width

    def cells(self, encoding: Encoding, row: Sequence[_Stretch]) -> Iterator[Cell]:
        """Yield the cells of a row from left to right: a cell for each token, and for text before or after
        the tokens of a stretch that none covers."""
        unknown = frozenset(encoding.unknown)
        for stretch in row:
            if stretch.start < stretch.first:
                yield self._cell(stretch.start, stretch.first, DROPPED, False)
            if len(stretch.tokens) == 1:
                yield self._cell(stretch.first, stretch.last, stretch.tokens[0], stretch.tokens[0] in unknown)
            elif stretch.tokens:
                yield from self._group(encoding, stretch, unknown)
            if stretch.last < stretch.end:
                yield self._cell(stretch.last, stretch.end, DROPPED, False)

    def _cell(self, start: int, end: int, token: int, unknown: bool) -> Cell:
        """Return the cell of a token, or of dropped text: the visible text from `start` to `end`, padded with
        spaces up to the next boundary."""
        x, last = self.xs[start], self.xs[end] - (end in self.lines)
        drawn: list[str] = []
        at = x
        for place in self.places[bisect_left(self.places, start) : bisect_left(self.places, end)]:
            drawn.append(" " * (self.xs[place] - at) + self.shown[place])
            at = self.xs[place] + self.width(self.shown[place])
        drawn.append(" " * (last - at))
        return Cell(x, last - x, "".join(drawn), start, end, token, unknown)

    def _group(self, encoding: Encoding, stretch: _Stretch, unknown: frozenset[int]) -> Iterator[Cell]:
        """Yield the cells of several tokens that share characters, each as wide as its label; the last one
        fills the rest."""
        labels = _labels(encoding, stretch.tokens)
        x, last = self.xs[stretch.first], self.xs[stretch.last] - (stretch.last in self.lines)
        for place, (token, label) in enumerate(zip(stretch.tokens, labels, strict=True)):
            end = last if place == len(labels) - 1 else x + self.width(label)
            drawn = label + " " * (end - x - self.width(label))
            first, last_covered = stretch.first, stretch.last
            yield Cell(x, end - x, drawn, first, last_covered, token, token in unknown, place, len(labels))
            x = end + 1


def _stretches(encoding: Encoding, way: Cuts) -> Iterator[_Stretch]:
    """Yield the stretches between the cuts, each with its tokens and the characters that these cover.

    A stretch without tokens covers nothing.
    """
    edges = [0, *way.offsets, len(encoding.text)]
    for start, end in pairwise(edges):
        tokens = range(way.before[start], way.before[end])
        spans = [encoding.offsets[token] for token in tokens]
        first = min((max(start, low) for low, _ in spans), default=start)
        last = max((min(end, high) for _, high in spans), default=start)
        yield _Stretch(start, end, first, max(first, last), tokens)


def _clusters(text: str, edges: set[int]) -> set[int]:
    """Return the offsets where something is drawn: the start of each grapheme cluster, and edges of tokens
    inside clusters."""
    if text.isascii():
        return set(range(len(text)))
    cuts = sorted({0, len(text), *edges})
    return {start + cluster.start for start, end in pairwise(cuts) for cluster in clusters(text[start:end])}


def _labels(encoding: Encoding, tokens: range) -> list[str]:
    """Return the visible text of each of several tokens that share characters: their bytes, or the name of a
    token without bytes."""
    pieces = (encoding.pieces[token] for token in tokens)
    return [
        _shown(encoding.tokens[token] if piece is None else piece) for token,
        piece in zip(tokens, pieces, strict=True)
    ]


def _drawn(placed: list[tuple[int, str]]) -> str:
    """Join texts into one line, each at its column, with spaces between them. Texts must not overlap."""
    out, at = [], 0
    for x, text in sorted(placed):
        out.append(" " * (x - at) + text)
        at = x + cell_width(text)
    return "".join(out)


def _shown(data: str | bytes) -> str:
    return "".join(span.text for span in visible(data))
