"""The segmentations of many strings at once, and what a model makes of them.

A lattice is a trie: strings that begin alike share the nodes of their beginning, and with them all sums. An
edge is a piece, from the node before it to the node where it ends. The loops over edges, with their formulas,
are in `learn/kernels/unigram_passes.py`; here
they are called a block at a time: each function is a generator, so that a caller may stop in the middle and
go on later.
"""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Callable, Generator, Iterator
from math import inf
from types import SimpleNamespace
from typing import NamedTuple, TypeVar

from tokentui.core.jobs import check
from tokentui.learn.kernels import unigram_passes, unigram_text
from tokentui.learn.kernels.unigram_passes import Edges, Others
from tokentui.learn.kernels.unigram_text import LONGEST, Ground, Strings, Trie, floats, ints

T = TypeVar("T")
Slices = Generator[float, None, T]
"""Work in slices of about a millisecond; it yields the share that is done, where that is known, and returns
what it finds."""
Passes = SimpleNamespace
"""The functions of `unigram_text` and `unigram_passes`, as they are written or compiled."""
WRITTEN = Passes(**{**vars(unigram_text), **vars(unigram_passes)})
_SAFE_NATS = 640.0
"""Products of probabilities down to e to the minus this are kept as such; deeper in a string logarithms are
taken."""
_NODE_EDGES = 32
"""A node is as much work as so many edges."""


class Lattice(NamedTuple):
    """Nodes and edges; node 0 is the root. Nodes are numbered by their depth.

    Attributes:
        levels: The first node of each depth, and the number of nodes.
        ends: The nodes in which strings of any weight end.
        weights: The weight of each of these.
        edges: The edges.
    """

    levels: array[int]
    ends: array[int]
    weights: array[float]
    edges: Edges

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return self.levels[-1]

    def shallow(self, least: float) -> int:
        """The first edge that ends too deep for products of probabilities, `least` being the logarithm of the
        least one."""
        depth = int(_SAFE_NATS / max(1.0, -least))
        if depth + 1 >= len(self.levels):
            return len(self.edges.target)
        return bisect.bisect_left(self.edges.target, self.levels[depth + 1])


class Survey(NamedTuple):
    """The probabilities and the best segmentations of a lattice, by a model.

    Attributes:
        alpha: The probability of each node, of all ways to it from the root; only down to the edge `shallow`.
        logs: Its natural logarithm, for every node if there are deeper edges, else empty.
        shallow: The first edge that is handled by logarithms.
        likelihood: The log probability of all strings, by weight.
        uses: The count of each seed in the best segmentations, by weight.
    """

    alpha: array[float]
    logs: array[float]
    shallow: int
    likelihood: float
    uses: array[float]


def blocks(low: int, high: int, size: int) -> Iterator[tuple[int, int]]:
    """Cut a range into ranges of so many."""
    return ((at, min(at + size, high)) for at in range(low, high, size))


def finished(work: Slices[T], told: Callable[[float], object] = lambda _: check()) -> T:
    """Do all of a work at once; the job of this thread may cancel it between two slices."""
    while True:
        try:
            told(next(work))
        except StopIteration as stop:
            result: T = stop.value
            return result


def build(
    ground: Ground, strings: Strings, alive: bytearray, run: Passes
) -> Slices[tuple[Lattice, array[int]]]:
    """Lay out the lattice of some strings of a text.

    Args:
        ground: The text, and the seeds in it.
        strings: Where the strings are in it, and their weights.
        alive: 1 for each seed that counts; every unit does.
        run: The passes.

    Returns:
        The lattice, and the node of each string.
    """
    total = sum(strings.ends) - sum(strings.starts)
    bits = max(4, (2 * total + 2).bit_length())
    keys, values = array("q", bytes(8 << bits)), ints(1 << bits)
    grown, at = Trie(ints(total + 1), ints(total + 1), ints(total + 1)), ints(len(strings.starts))
    state = array("q", [0, strings.starts[0] if at else 0, 0, 1])  # the root is there
    while not run.grow(ground.text, strings, run.CHUNK, state, keys, values, 64 - bits, grown, at):
        yield 0.6 * state[0] / len(at)
    count = state[3]
    numbers, levels = ints(count), ints(max(grown.depths) + 2)
    run.number(grown.depths, count, levels, numbers)
    trie = Trie(ints(count), ints(count), ints(count))
    for low, high in blocks(0, count, run.CHUNK):
        run.renumber(grown, numbers, low, high, trie)
        yield 0.7
    ends, weights = ints(len(at)), floats(len(at))
    size = run.gather(strings, numbers, at, ints(count), ends, weights)
    way, edges, done = ints(LONGEST + 1), Edges(ints(0), ints(0), ints(0)), 0
    for part in (0.8, 0.9):  # first they are counted
        if done:
            edges, done = Edges(ints(done), ints(done), ints(done)), 0
        for low, high in blocks(1, count, max(1, run.CHUNK // _NODE_EDGES)):
            done = run.edges(ground, trie, alive, low, high, way, done, edges)
            yield part + 0.1 * high / count
    return Lattice(levels, ends[:size], weights[:size], edges), at


def kept(lattice: Lattice, alive: bytearray, run: Passes) -> Slices[Lattice]:
    """The same lattice with the edges of the pieces that are alive only."""
    edges, count = Edges(ints(0), ints(0), ints(0)), 0
    for turn in range(2):  # first they are counted
        if turn:
            edges, count = Edges(ints(count), ints(count), ints(count)), 0
        for low, high in blocks(0, len(lattice.edges.target), run.CHUNK):
            count = run.keep(lattice.edges, alive, low, high, count, edges)
            yield 0.0
    return lattice._replace(edges=edges)


def survey(
    lattice: Lattice, scores: array[float], probabilities: array[float], least: float, run: Passes
) -> Slices[Survey]:
    """Find the probability of every node and the best segmentation of every string: `forward`, then back
    along the best edges.

    Args:
        lattice: The strings.
        scores: The natural log probability of each seed.
        probabilities: Their exponentials.
        least: The least of the scores.
        run: The passes.
    """
    edges, count, shallow = lattice.edges, lattice.nodes, lattice.shallow(least)
    alpha, best, back, logs, flow = floats(count), floats(count, -inf), ints(count), floats(0), floats(count)
    alpha[0], best[0] = 1.0, 0.0
    for low, high in blocks(0, shallow, run.CHUNK):
        run.forward(edges, low, high, probabilities, scores, alpha, best, back)
        yield 0.0
    if shallow < len(edges.target):
        logs = floats(count)
        for low, high in blocks(0, count, run.CHUNK):
            run.logarithms(alpha, low, high, logs)
            yield 0.0
    for low, high in blocks(shallow, len(edges.target), run.CHUNK):
        run.forward_logs(edges, low, high, scores, logs, best, back)
        yield 0.0
    likelihood = run.likelihood(lattice.ends, lattice.weights, logs or alpha, bool(logs), flow)
    uses = floats(len(scores))
    for low, high in reversed(list(blocks(1, count, run.CHUNK))):
        run.count_uses(edges, back, flow, low, high, uses)
        yield 0.0
    return Survey(alpha, logs, shallow, likelihood, uses)


def expectations(
    lattice: Lattice, scores: array[float], probabilities: array[float], known: Survey, run: Passes
) -> Slices[array[float]]:
    """Return the expected count of each seed in the strings, by weight.

    This is the backward pass after a survey by these scores.
    """
    edges, alpha, shallow = lattice.edges, known.alpha, known.shallow
    deep = edges.target[shallow] if shallow < len(edges.target) else lattice.nodes
    beta, expected = floats(lattice.nodes), floats(len(scores))
    run.begin(lattice.ends, lattice.weights, alpha, deep, beta)
    for low, high in reversed(list(blocks(shallow, len(edges.target), run.CHUNK))):
        run.backward_logs(edges, low, high, scores, alpha, known.logs, deep, beta, expected)
        yield 0.0
    for low, high in reversed(list(blocks(0, shallow, run.CHUNK))):
        run.backward(edges, low, high, probabilities, alpha, beta, expected)
        yield 0.0
    return expected


def alternatives(lattice: Lattice, scores: array[float], run: Passes) -> Slices[Others]:
    """Find the best segmentation of every node's string that is not the string itself as one piece."""
    count = lattice.nodes
    found = Others(floats(count, -inf), floats(count, -inf), floats(count, -inf), ints(count), ints(count))
    for low, high in blocks(0, len(lattice.edges.target), run.CHUNK):
        run.alternatives(lattice.edges, low, high, scores, found)
        yield 0.0
    return found


def other_path(lattice: Lattice, found: Others, node: int) -> list[int]:
    """The pieces of the best other segmentation of a node's string, in order; none where there is none."""
    out: list[int] = []
    if found.best[node] == -inf:
        return out
    edge = found.back[node]
    while node:
        out.append(lattice.edges.piece[edge])
        node = lattice.edges.source[edge]
        edge = found.alone[node] if found.own[node] >= found.best[node] else found.back[node]
    return out[::-1]
