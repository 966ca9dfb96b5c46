"""All segmentations of many strings at once, and what a model makes of them.

A lattice is a trie: strings with the same beginning share its nodes, and with them all sums over
segmentations. An edge is a piece, from the node before it to the node where it ends. The loops over edges,
with their formulas, are in `learn/kernels/unigram_passes.py`. Here they are called for a block of edges at a
time: each function is a generator, so that a caller can stop in the middle and go on later.
"""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Callable, Generator
from math import inf
from types import SimpleNamespace
from typing import NamedTuple, TypeVar

from tokentui.core.jobs import check
from tokentui.learn.kernels import unigram_passes, unigram_text
from tokentui.learn.kernels.unigram_passes import Edges, Others
from tokentui.learn.kernels.unigram_text import LONGEST, Ground, Strings, Trie, floats, ints, longs

T = TypeVar("T")
Slices = Generator[float, None, T]
"""Work in slices of about a millisecond. Yields the share that is done, 0 if it is not known; returns the
result."""
Passes = SimpleNamespace
"""The functions of `unigram_text` and `unigram_passes`, in plain Python or compiled."""
WRITTEN = Passes(**{**vars(unigram_text), **vars(unigram_passes)})
_SAFE_NATS = 640.0
"""Probabilities down to e to the power of minus this are kept as they are; smaller ones as logarithms."""
_NODE_EDGES = 32
"""The work of a node, in edges."""
MOST_EDGES = 1 << 25
"""The most edges of a lattice that are kept, of twelve bytes each. With more, each pass finds them again."""


class Rules(NamedTuple):
    """What the edges of a lattice are found from.

    Attributes:
        ground: The text with its seeds.
        trie: The nodes.
        alive: 1 for each seed that has edges.
    """

    ground: Ground
    trie: Trie
    alive: bytearray


class Lattice(NamedTuple):
    """Nodes and edges; node 0 is the root. Nodes are numbered by their depth.

    Attributes:
        levels: The first node of each depth, and the number of nodes.
        ends: The nodes in which strings end.
        weights: The weight of the strings that end in each of these.
        edges: The edges; none if there are too many to keep.
        rules: What the edges are found from if they are not kept; otherwise None.
    """

    levels: array[int]
    ends: array[int]
    weights: array[float]
    edges: Edges
    rules: Rules | None = None

    @property
    def nodes(self) -> int:
        return self.levels[-1]

    def deep(self, least: float) -> int:
        """Return the first node whose probability may be too small for a float.

        Args:
            least: The logarithm of the least probability of a piece.
        """
        depth = int(_SAFE_NATS / max(1.0, -least))
        return self.levels[min(depth + 1, len(self.levels) - 1)]


class Survey(NamedTuple):
    """The probabilities and the best segmentations of the strings of a lattice, by a model.

    Attributes:
        alpha: The probability of each node before `deep`: the sum over all paths from the root to it.
        logs: Its natural logarithm for every node; empty if no node is deeper.
        deep: The first node of which only the logarithm is known.
        likelihood: The log probability of all strings, by weight.
        uses: The uses of each seed in the best segmentations, by weight.
    """

    alpha: array[float]
    logs: array[float]
    deep: int
    likelihood: float
    uses: array[float]


def over(
    loop: Callable[..., object], low: int, high: int, size: int, *arguments: object, down: bool = False
) -> Slices[None]:
    """Call a loop for blocks of at most `size` indexes from `low` up to `high`, exclusive, in slices.

    Args:
        loop: Takes the first index, the index after the last one, and `arguments`.
        low, high, size: The indexes, and the size of a block.
        arguments: Further arguments of the loop.
        down: Whether the last block comes first.
    """
    blocks = [(at, min(at + size, high)) for at in range(low, high, size)]
    for block in reversed(blocks) if down else blocks:
        loop(*block, *arguments)
        yield 0.0


def sweep(
    loop: Callable[..., object], lattice: Lattice, low: int, high: int, run: Passes, *arguments: object,
    nodes: bool = False, down: bool = False,
) -> Slices[None]:
    """Call a loop on the edges that end in the nodes from `low` up to `high`, exclusive, a block per slice.

    A loop that records an edge records its index among all edges; among the edges of its block if edges are
    not kept. So a loop that reads what another one recorded must be called with the same `low`.

    Args:
        loop: Takes the first edge, the edge after the last one, the edges, and `arguments`.
        lattice: The lattice.
        low, high: The nodes.
        run: The passes.
        arguments: Further arguments of the loop.
        nodes: True if the loop takes nodes in place of the first edge and the edge after the last one.
        down: True if the last block comes first.
    """
    edges, rules = lattice.edges, lattice.rules
    if rules is None:
        if not nodes:
            low, high = (bisect.bisect_left(edges.target, node) for node in (low, high))
        yield from over(loop, low, high, run.CHUNK, edges, *arguments, down=down)
        return
    size = max(1, run.CHUNK // _NODE_EDGES)
    block_edges = Edges(*(ints(size * LONGEST) for _ in Edges._fields))
    way, count = ints(LONGEST + 1), longs(1)

    def block(first: int, last: int) -> None:
        count[0] = 0
        run.edges(first, last, *rules, way, count, block_edges)
        if not nodes:
            first, last = 0, count[0]
        loop(first, last, block_edges, *arguments)

    yield from over(block, low, high, size, down=down)


def finished(work: Slices[T], on_progress: Callable[[float], object] = lambda _: check()) -> T:
    """Run work to its end and return its result. The job of this thread may cancel it between two slices.

    Args:
        work: The work.
        on_progress: Called after each slice with the share that is done.
    """
    while True:
        try:
            on_progress(next(work))
        except StopIteration as stop:
            result: T = stop.value
            return result


def build(
    ground: Ground, strings: Strings, alive: bytearray, run: Passes, most: int | None = None
) -> Slices[tuple[Lattice, array[int]]]:
    """Build the lattice of some strings of a text, in slices.

    Args:
        ground: The text, and the seeds in it.
        strings: Where the strings are in it, and their weights.
        alive: 1 for each seed that has edges. Every unit has.
        run: The passes.
        most: The most edges that are kept; None to keep them all. With more, the lattice keeps `rules`
            instead.

    Returns:
        The lattice, and the node in which each string ends.
    """
    total = sum(strings.ends) - sum(strings.starts)
    bits = max(4, (2 * total + 2).bit_length())
    keys, values = longs(1 << bits), ints(1 << bits)
    grown, at = Trie(ints(total + 1), ints(total + 1), ints(total + 1)), ints(len(strings.starts))
    state = array("q", [0, strings.starts[0] if at else 0, 0, 1])  # the root is there
    while not run.grow(ground.text, strings, run.CHUNK, state, keys, values, 64 - bits, grown, at):
        yield 0.6 * state[0] / len(at)
    count = state[3]
    del keys, values  # they take more than the nodes
    numbers, levels = ints(count), ints(max(grown.depths) + 2)
    run.number(grown.depths, levels, numbers)
    trie = Trie(ints(count), ints(count), ints(count))
    yield from over(run.renumber, 0, count, run.CHUNK, grown, numbers, trie)
    ends, weights = ints(len(at)), floats(len(at))
    size = run.gather(strings, numbers, at, ints(count), ends, weights)
    del grown, numbers
    yield 0.7
    way, edges = ints(LONGEST + 1), Edges(ints(0), ints(0), ints(0))
    for part in (0.8, 0.9):  # first they are counted
        done = longs(1)
        yield from over(
            run.edges, 1, count, max(1, run.CHUNK // _NODE_EDGES), ground, trie, alive, way, done, edges
        )
        if most is not None and done[0] > most:
            return Lattice(levels, ends[:size], weights[:size], edges, Rules(ground, trie, alive)), at
        edges = edges if edges.target else Edges(ints(done[0]), ints(done[0]), ints(done[0]))
        yield part
    return Lattice(levels, ends[:size], weights[:size], edges), at


def kept(lattice: Lattice, alive: bytearray, run: Passes) -> Slices[Lattice]:
    """Return a lattice with only the edges of the seeds that are alive, in slices.

    The given lattice does not change. It is returned itself if all seeds are alive.
    """
    if all(alive):
        return lattice
    if lattice.rules is not None:
        return lattice._replace(rules=lattice.rules._replace(alive=alive))
    size = len(lattice.edges.target)
    room, count = max(1, min(size, run.CHUNK)), longs(1)
    edges, block = (Edges(*(ints(length) for _ in Edges._fields)) for length in (0, room))
    # A block at a time: edges may take more memory than all else, and those that go are to take none.
    for low in range(0, size, room):
        count[0] = 0
        run.keep(low, min(low + room, size), lattice.edges, alive, count, block)
        for values, more in zip(edges, block, strict=True):
            values.extend(more[: count[0]])
        yield 0.0
    return lattice._replace(edges=edges)


def survey(
    lattice: Lattice, scores: array[float], probabilities: array[float], least: float, run: Passes
) -> Slices[Survey]:
    """Return the probability of every node, and the uses of each seed in the best segmentations, in slices.

    This is the forward pass, then a pass back along the best edges.

    Args:
        lattice: The strings.
        scores: The natural log probability of each seed.
        probabilities: Their exponentials.
        least: The least of the scores.
        run: The passes.
    """
    count, deep = lattice.nodes, lattice.deep(least)
    alpha, best, back, logs, flow = floats(count), floats(count, -inf), ints(count), floats(0), floats(count)
    alpha[0], best[0] = 1.0, 0.0
    yield from sweep(run.forward, lattice, 1, deep, run, probabilities, scores, alpha, best, back)
    if deep < count:
        logs = floats(count)
        yield from over(run.logarithms, 0, count, run.CHUNK, alpha, logs)
        yield from sweep(run.forward_logs, lattice, deep, count, run, scores, logs, best, back)
    likelihood = run.likelihood(lattice.ends, lattice.weights, logs or alpha, bool(logs), flow)
    uses = floats(len(scores))
    for low, high in ((deep, count), (1, deep)):
        yield from sweep(run.count_uses, lattice, low, high, run, back, flow, uses, nodes=True, down=True)
    return Survey(alpha, logs, deep, likelihood, uses)


def expectations(
    lattice: Lattice, scores: array[float], probabilities: array[float], known: Survey, run: Passes
) -> Slices[array[float]]:
    """Compute the expected count of each seed in the strings by weight, in slices.

    It is the backward pass after a survey by these scores.
    """
    alpha, deep = known.alpha, known.deep
    beta, expected = floats(lattice.nodes), floats(len(scores))
    run.begin(lattice.ends, lattice.weights, alpha, deep, beta)
    logs = scores, alpha, known.logs, deep, beta, expected
    yield from sweep(run.backward_logs, lattice, deep, lattice.nodes, run, *logs, down=True)
    yield from sweep(run.backward, lattice, 1, deep, run, probabilities, alpha, beta, expected, down=True)
    return expected


def alternatives(lattice: Lattice, scores: array[float], run: Passes) -> Slices[Others]:
    """Find, for the string of each node, the best segmentation into two or more pieces, in slices."""
    count = lattice.nodes
    others = Others(floats(count, -inf), floats(count, -inf), floats(count, -inf), ints(count), ints(count))
    yield from over(run.alternatives, 0, len(lattice.edges.target), run.CHUNK, lattice.edges, scores, others)
    return others


def other_path(lattice: Lattice, others: Others, node: int) -> list[int]:
    """Return the pieces of the best segmentation of a node's string into two or more pieces, in order.

    The list is empty if there is none.
    """
    out: list[int] = []
    if others.best[node] == -inf:
        return out
    edge = others.back[node]
    while node:
        out.append(lattice.edges.piece[edge])
        node = lattice.edges.source[edge]
        edge = others.alone[node] if others.own[node] >= others.best[node] else others.back[node]
    return out[::-1]
