"""Drawings of how a token comes to be and how a word is cut: merge trees and lattices, for any width.

A drawing is a value that an analysis makes. It gives its lines for a number of columns, and none if there is
no room for it; the terminal and the explorer show these lines, and JSON has the value.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tokentui.analyze.report import Json, Line, Span, piece_row
from tokentui.core.records import dataclass
from tokentui.core.safetext import visible
from tokentui.core.table import cell_width
from tokentui.encode.segment import AppliedMerge

if TYPE_CHECKING:
    from tokentui.analyze.results import TreeNode
    from tokentui.encode.explain import WordExplanation
    from tokentui.encode.segment.viterbi import Edge

_APART, _ROOTS_APART = 2, 3
"""Blanks between the two parts of a node, and between two trees."""
_DEEPEST, _MOST_LINES = 6, 17
_WIDEST_UNIT, _NARROWEST_UNIT = 7, 3
"""Columns of a unit of a lattice in one row."""
_BROKEN_UNIT, _FEWEST_UNITS = 4, 5
"""Columns of a unit where rows are broken, and the fewest units of a row."""
MOST_UNITS = 120
"""The maximum number of units of a lattice in rows. Nobody can read a longer one."""
_MOST_LAYERS, _FEW_LAYERS = 12, 5
"""The maximum number of lines below the units of a lattice in one row, and of each row of several."""
_THICK = ((0.75, "█"), (0.25, "━"), (0.01, "─"), (0.0, "┄"))
"""The stroke of a piece by the least share of all segmentations that contain it."""
_ASCII = str.maketrans("┌┐┴─┄━█…", "+++-.=#~")
"""The characters of ASCII in place of those that are drawn."""


class Node(NamedTuple):
    """A token, and the two parts that it was merged from.

    Attributes:
        piece: Its exact bytes.
        step: The step that made it; 0 for a unit.
        parts: The parts; none for a unit, or where they are not known.
    """

    piece: bytes
    step: int = 0
    parts: tuple[Node, ...] = ()

    @property
    def depth(self) -> int:
        """The number of levels below it."""
        return 1 + max(part.depth for part in self.parts) if self.parts else 0

    def to_json(self) -> Json:
        """Return it as an object of JSON, with its parts."""
        return {**piece_row(self.piece), "step": self.step, "parts": [part.to_json() for part in self.parts]}


class Missing(NamedTuple):
    """A join of two neighboring trees that no merge makes.

    Attributes:
        place: The number of the left tree.
        times: How often the pair occurs; 0 if it is not known, or no candidate.
        rank: Its place in the queue of candidates, from 1; 0 if it is in none.
    """

    place: int
    times: int = 0
    rank: int = 0

    @property
    def words(self) -> str:
        """The count and the place in the queue."""
        if not self.times:
            return "no merge"
        times = "once" if self.times == 1 else f"{self.times:,} times"
        return f"{times}, number {self.rank:,} in the queue" if self.rank else times


@dataclass(frozen=True, slots=True)
class MergeTree:
    """The merges of a token, or of a word that may be several tokens.

    Attributes:
        roots: The tree of each token, from left to right.
        missing: The join that is missing; None if none is, or it is not known.
    """

    roots: tuple[Node, ...]
    missing: Missing | None = None

    def lines(self, width: int, ascii_only: bool = False) -> Sequence[Line]:
        """Return the lines that fit a width: with the step of each merge if there is room, and as many levels
        as fit. A token whose parts are left out stands for itself. Empty if not even the tokens fit."""
        deepest = min(_DEEPEST, max((root.depth for root in self.roots), default=0))
        for levels, steps in itertools.product(range(deepest, -1, -1), (True, False)):
            block = self._block(levels, steps, ascii_only)
            if block.width <= width and len(block.lines) <= _MOST_LINES:
                drawn = levels or self.missing is not None
                return [_translated(line, ascii_only) for line in block.lines] if drawn else ()
        return ()

    def _block(self, levels: int, steps: bool, ascii_only: bool) -> _Block:
        """Draw the roots side by side, with a dashed line between the two that did not merge, if any."""
        blocks = [_tree(root, levels, steps, ascii_only) for root in self.roots]
        starts = list(itertools.accumulate((block.width + _ROOTS_APART for block in blocks), initial=0))
        lines = list(_beside(blocks, _ROOTS_APART))
        width = starts[-1] - _ROOTS_APART
        if self.missing is None or self.missing.place + 1 >= len(blocks):
            return _Block(lines, width, 0)
        place = self.missing.place
        low, high = (starts[n] + blocks[n].center for n in (place, place + 1))
        label = (Span(self.missing.words, "warning"),)
        return _hung(label, low, high, lines, width, "┄", "warning", ascii_only, moves=False)


def tree_of_token(tree: Sequence[TreeNode]) -> MergeTree | None:
    """Return the merge tree of a token as a drawing; None for a unit.

    Args:
        tree: Its nodes in reading order; the last ones may be left out.
    """
    place = 0

    def node() -> Node:
        nonlocal place
        branch = tree[place]
        place += 1
        parts: list[Node] = []
        while place < len(tree) and tree[place].depth == branch.depth + 1:
            parts.append(node())
        return Node(branch.piece, branch.step, tuple(parts) if len(parts) > 1 else ())

    return MergeTree((node(),)) if len(tree) > 2 else None


def tree_of_word(word: WordExplanation, missing: Mapping[str, object]) -> MergeTree | None:
    """Return the merges of a word as a drawing; None if it is not encoded by merges, or nothing is drawn.

    Args:
        word: The word.
        missing: The facts of the reason why it is not one token: the pair as `left` and `right`, with its
            `count` and `place` in the queue. Without a pair, as in a file, a join in the middle is missing.
    """
    if not all(isinstance(step, AppliedMerge) for step in word.steps):
        return None
    nodes = {at: Node(unit) for at, unit in enumerate(word.units)}
    for step in word.steps:
        assert isinstance(step, AppliedMerge)
        right = nodes.pop(step.middle)
        nodes[step.start] = Node(step.result, step.rank + 1, (nodes[step.start], right))
    roots = tuple(nodes[at] for at in sorted(nodes))
    join = None
    for place, (left, right) in enumerate(itertools.pairwise(roots)):
        if (left.piece, right.piece) == (missing.get("left"), missing.get("right")):
            figures = (missing.get(name) for name in ("count", "place"))
            join = Missing(place, *(figure if isinstance(figure, int) else 0 for figure in figures))
            break
    if join is None and word.steps and "left" not in missing:
        join = Missing((len(roots) - 1) // 2)
    return MergeTree(roots, join) if len(roots) > 1 and (word.steps or join is not None) else None


class _Block(NamedTuple):
    """Lines, their width, and the column at which a line from above meets them."""

    lines: list[Line]
    width: int
    center: int


def _width(line: Line, ascii_only: bool) -> int:
    return sum(cell_width(span.text if isinstance(span.text, str)
                          else _seen(span.text, ascii_only)) for span in line)


def _seen(piece: bytes, ascii_only: bool) -> str:
    return "".join(run.text for run in visible(piece, ascii_only=ascii_only))


def _tree(node: Node, levels: int, steps: bool, ascii_only: bool) -> _Block:
    """Draw a tree down to `levels` levels below its root, each token above its parts. With `steps`, the step
    of a merge follows its token."""
    label: Line = (Span(node.piece),)
    if steps and node.step:
        label += (Span(f" {node.step:,}", "muted"),)
    if not levels or not node.parts:
        size = max(1, _width(label, ascii_only))
        return _Block([label], size, (_width(label[:1], ascii_only) - 1) // 2)
    blocks = [_tree(part, levels - 1, steps, ascii_only) for part in node.parts]
    starts = list(itertools.accumulate((block.width + _APART for block in blocks), initial=0))
    low, high = blocks[0].center, starts[len(blocks) - 1] + blocks[-1].center
    lines = list(_beside(blocks, _APART))
    return _hung(label, low, high, lines, starts[-1] - _APART, "─", "muted", ascii_only)


def _hung(
    label: Line, low: int, high: int, lines: list[Line], width: int, stroke: str, role: str, ascii_only: bool,
    *, moves: bool = True,
) -> _Block:
    """Return lines below a label, with a wire from the middle of the label's first text to two columns. A
    label that would start left of the lines moves them, or starts with them."""
    middle, named = (low + high) // 2, _width(label[:1], ascii_only)
    shift = max(0, (named - 1) // 2 - middle) if moves else 0
    start = max(0, middle + shift - (named - 1) // 2)
    wire = f"{' ' * (shift + low)}┌{stroke * (middle - low - 1)}┴{stroke * (high - middle - 1)}┐"
    moved = [(Span(" " * shift), *line) if shift else line for line in lines]
    whole = max(shift + width, start + _width(label, ascii_only))
    return _Block([(Span(" " * start), *label), (Span(wire, role),), *moved], whole, middle + shift)


def _beside(blocks: Sequence[_Block], apart: int) -> Iterator[Line]:
    """Yield the lines of blocks next to each other, with `apart` blanks between and after them; a shorter
    block is filled with blanks."""
    for row in itertools.zip_longest(*(block.lines for block in blocks), fillvalue=()):
        line: list[Span] = []
        for block, part in zip(blocks, row, strict=True):
            line += [*part, Span(" " * (block.width + apart - _width(part, False)))]
        yield tuple(line)


def _translated(line: Line, ascii_only: bool) -> Line:
    """Return a line without blanks at its end, in characters of ASCII where there are no others."""
    spans = [span for span in line if span.text]
    while spans and isinstance(spans[-1].text, str) and not spans[-1].text.strip():
        spans.pop()
    if not ascii_only:
        return tuple(spans)
    return tuple(Span(span.text.translate(_ASCII), span.role) if isinstance(span.text, str) else span
                 for span in spans)


class Flow(NamedTuple):
    """Short texts one after the other, with dots between them.

    Attributes:
        texts: The texts.
    """

    texts: tuple[Line, ...]

    def lines(self, width: int, ascii_only: bool = False) -> Sequence[Line]:
        """Return lines with as many texts as fit on each. A text that is wider than `width` has a line of its
        own."""
        lines: list[Line] = []
        for text in self.texts:
            joined = (*lines[-1], Span(" · ", "muted"), *text) if lines else text
            if lines and _width(joined, ascii_only) <= width:
                lines[-1] = joined
            else:
                lines.append(text)
        return lines


@dataclass(frozen=True, slots=True)
class Lattice:
    """All pieces that may be part of a word, below the units that they cover. A stroke is the thicker the
    larger the share of all segmentations that contain the piece.

    Attributes:
        units: The units of the word.
        edges: The pieces.
    """

    units: tuple[bytes, ...]
    edges: tuple[Edge, ...]

    def lines(self, width: int, ascii_only: bool = False) -> Sequence[Line]:
        """Return the lines that fit a width: the units, the pieces of the best segmentation, and the
        others in as few lines as they take. The least probable are left out.

        A long word is broken into rows, between two pieces of the best segmentation where that is possible;
        a piece that goes over the end of a row is drawn in both. There are no lines for more than
        `MOST_UNITS` units.
        """
        unit = min(_WIDEST_UNIT, width // max(1, len(self.units)))
        whole = unit >= _NARROWEST_UNIT
        unit = unit if whole else _BROKEN_UNIT
        if not whole and (len(self.units) > MOST_UNITS or width < _BROKEN_UNIT * _FEWEST_UNITS):
            return ()
        names = [_fitted(_seen(one, ascii_only), unit - 1) for one in self.units]
        lines: list[Line] = []
        shown: set[Edge] = set()
        for start, end in self._rows(len(self.units) if whole else width // unit):
            lines += [()] if lines else []
            heads = [Span(name + " " * (unit - cell_width(name)), "strong") for name in names[start:end]]
            lines.append(tuple(heads))
            for layer in self._layers(start, end)[: _MOST_LAYERS if whole else _FEW_LAYERS]:
                lines.append(tuple(self._drawn(layer, start, end, unit, ascii_only)))
                shown.update(layer)
        if left := len(self.edges) - len(shown):
            lines.append((Span(f"and {left:,} less probable pieces", "muted"),))
        return [_translated(line, ascii_only) for line in lines]

    def _rows(self, most: int) -> Iterator[tuple[int, int]]:
        """Yield the (start, end) of each row, with at most `most` units."""
        ends = {edge.end for edge in self.edges if edge.best}
        start, last = 0, len(self.units)
        while start < last:
            furthest = min(last, start + most)
            end = max((end for end in ends if start < end <= furthest), default=furthest)
            yield start, end
            start = end

    def _layers(self, start: int, end: int) -> list[list[Edge]]:
        """Return the edges over a stretch in lines in which none covers another: first those of the best
        segmentation, then the most probable ones."""
        layers: list[list[Edge]] = [[]]
        def order(edge: Edge) -> tuple[float, ...]:
            return not edge.best, -edge.posterior, edge.start, edge.end

        here = (edge for edge in self.edges if edge.start < end and edge.end > start)
        for edge in sorted(here, key=order):
            open_to = layers if edge.best else layers[1:]
            free = next((layer for layer in open_to
                         if all(edge.end <= other.start or other.end <= edge.start for other in layer)), None)
            if free is None:
                layers.append(free := [])
            free.append(edge)
        return [sorted(layer, key=lambda edge: edge.start) for layer in layers if layer]

    def _drawn(
        self, layer: Sequence[Edge], start: int, end: int, unit: int, ascii_only: bool
    ) -> Iterator[Span]:
        """Yield the edges of a layer from `start` to `end`, `unit` cells a character.

        An edge cut at the left begins with `…`. Its stroke is thicker with its posterior; the best path and
        edges without a token have colors of their own.
        """
        at = start
        for edge in layer:
            first, last = max(start, edge.start), min(end, edge.end)
            yield Span(" " * (unit * (first - at)))
            room = unit * (last - first) - 1
            before = "…" * (edge.start < start)
            name = before + _fitted(_seen(edge.piece, ascii_only), room - len(before))
            stroke = next(stroke for least, stroke in _THICK if edge.posterior >= least)
            role = "accent" if edge.best else "warning" if edge.symbol is None else ""
            yield Span(name, role)
            yield Span(stroke * (room - cell_width(name)), role or "primary")
            yield Span(" ")
            at = last


def _fitted(text: str, room: int) -> str:
    """Return a safe text, cut to a width in columns with `…`; at least one column is filled."""
    if cell_width(text) <= room:
        return text
    kept = ""
    for char in text:
        if cell_width(kept + char) >= room:
            break
        kept += char
    return f"{kept}…" if room > 1 else text[:1] if cell_width(text[:1]) <= room else " "


class WalkPlace(NamedTuple):
    """A place of a word, as the search for the most probable segmentation fills it.

    Attributes:
        place: The number of units before it.
        piece: The piece that ends there with the largest total.
        start: The place where this piece starts.
        total: The natural log probability of the best way up to this place.
        tried: How many pieces end there.
        best: True if the most probable segmentation has a boundary there.
    """

    place: int
    piece: bytes
    start: int
    total: float
    tried: int
    best: bool


def viterbi_cells(word: WordExplanation) -> tuple[WalkPlace, ...]:
    """Return the places of a word from left to right, as Viterbi's algorithm fills them. Of equal totals, the
    piece that starts earliest is kept. Places that cannot be reached are left out; empty without a unigram
    model."""
    totals = {0: 0.0}
    cells = []
    ends = {edge.end for edge in word.lattice if edge.best}
    for place in range(1, len(word.units) + 1):
        here = sorted((edge for edge in word.lattice if edge.end == place and edge.start in totals),
                      key=lambda edge: edge.start)
        if not here:
            continue
        taken = max(here, key=lambda edge: totals[edge.start] + edge.score)
        totals[place] = totals[taken.start] + taken.score
        cells.append(WalkPlace(place, taken.piece, taken.start, totals[place], len(here), place in ends))
    return tuple(cells)
