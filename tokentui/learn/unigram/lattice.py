"""The segmentations of many strings at once, and the passes over them.

A lattice is a trie: strings that begin alike share the nodes, and with them all sums, of their beginning. An edge goes
from the node where a piece begins to the node where it ends. Nodes are numbered level by level and edges are ordered by
the node that they end in, the longest piece first, so that one plain loop over three flat arrays meets everything in
order.

Every pass is a generator that yields between chunks, so that a caller may stop in the middle and go on later.
"""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Generator, Mapping, Sequence
from itertools import compress
from math import exp, inf, log, log1p
from typing import NamedTuple

CHUNK = 4096
"""How many edges are handled between two looks at the clock: less than a millisecond."""
UNITS = 256
"""The same for units of a string: each begins and ends many edges."""
_SAFE_NATS = 640.0
"""Products of probabilities down to e to the minus this are kept as such; deeper in a string logarithms are taken."""


class Lattice(NamedTuple):
    """Nodes and edges; node 0 is the root.

    Attributes:
        levels: The first node of each depth, and the number of nodes.
        ends: The nodes in which strings of any weight end.
        weights: The weight of each of these.
        target: The node that each edge ends in.
        source: The node that it starts from.
        piece: The piece that it stands for.
    """

    levels: Sequence[int]
    ends: array[int]
    weights: array[float]
    target: array[int]
    source: array[int]
    piece: array[int]

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return self.levels[-1]

    def kept(self, alive: bytearray) -> Generator[None, None, Lattice]:
        """The same lattice with the edges of these pieces only."""
        target, source, piece = array("i"), array("i"), array("i")
        for low in range(0, len(self.piece), CHUNK):
            part = self.piece[low : low + CHUNK]
            chosen = [alive[k] for k in part]
            target.extend(compress(self.target[low : low + CHUNK], chosen))
            source.extend(compress(self.source[low : low + CHUNK], chosen))
            piece.extend(compress(part, chosen))
            yield
        return self._replace(target=target, source=source, piece=piece)

    def edges(self, low: int, high: int) -> zip[tuple[int, int, int]]:
        """The edges of these numbers as (target, source, piece)."""
        return zip(self.target[low:high], self.source[low:high], self.piece[low:high], strict=True)

    def reversed_edges(self, low: int, high: int) -> zip[tuple[int, int, int]]:
        """The same, the last one first."""
        target, source, piece = self.target[low:high], self.source[low:high], self.piece[low:high]
        return zip(reversed(target), reversed(source), reversed(piece), strict=True)

    def shallow(self, least: float) -> int:
        """The first edge that ends too deep for products of probabilities, `least` being the logarithm of the least one."""
        depth = int(_SAFE_NATS / max(1.0, -least))
        if depth + 1 >= len(self.levels):
            return len(self.target)
        return bisect.bisect_left(self.target, self.levels[depth + 1])


def build(
    strings: Mapping[str, float], ids: Mapping[str, int], longest: int
) -> Generator[float, None, tuple[Lattice, list[int]]]:
    """Lay out the lattice of some strings.

    Args:
        strings: The strings with their weights.
        ids: The number of each piece; every unit must be one.
        longest: The length of the longest piece, in units.

    Yields:
        How much is done, from 0 to 1.

    Returns:
        The lattice, and the node of each string in order.
    """
    names = list(strings)
    ways = [[0] for _ in names]  # the nodes that each has come through
    levels = [0, 1]
    target, source, piece = array("i"), array("i"), array("i")
    active = [(name, way) for name, way in zip(names, ways, strict=True) if name]
    nodes = 1
    depth = done = 0
    total = sum(map(len, names)) or 1
    look = ids.get
    while active:
        depth += 1
        first = max(0, depth - longest)
        children: dict[tuple[int, str], int] = {}
        for name, way in active:
            done += 1
            if done % UNITS == 0:
                yield done / total
            key = (way[-1], name[depth - 1])
            node = children.get(key)
            if node is None:
                node = children[key] = nodes
                nodes += 1
                for start in range(first, depth):
                    known = look(name[start:depth])
                    if known is not None:
                        target.append(node)
                        source.append(way[start])
                        piece.append(known)
            way.append(node)
        levels.append(nodes)
        active = [item for item in active if len(item[0]) > depth]
    at = [way[-1] for way in ways]
    ends = array("i", (at[n] for n, weight in enumerate(strings.values()) if weight))
    weights = array("d", filter(None, strings.values()))
    return Lattice(levels, ends, weights, target, source, piece), at


class Survey(NamedTuple):
    """What a model makes of a lattice.

    Attributes:
        alpha: The probability of each node: of all ways to it from the root; only down to the edge `shallow`.
        log_alpha: Its natural logarithm, for every node where there is anything deeper, else empty.
        shallow: The first edge that was handled by logarithms.
        likelihood: The log probability of all strings, by weight.
        uses: How often each piece stands in the best segmentations, by weight.
    """

    alpha: Sequence[float]
    log_alpha: Sequence[float]
    shallow: int
    likelihood: float
    uses: Sequence[float]


def survey(lattice: Lattice, scores: Sequence[float], least: float) -> Generator[None, None, Survey]:
    """Find the probability of every node and the best segmentation of every string.

    Of equally good segmentations the one whose last piece is longest is taken.

    Args:
        lattice: The strings.
        scores: The natural log probability of each piece that has an edge.
        least: The least of these.
    """
    probabilities = [exp(score) for score in scores]
    shallow = lattice.shallow(least)
    count, edges = lattice.nodes, len(lattice.target)
    alpha = [0.0] * count
    best = [-inf] * count
    back = [0] * count
    alpha[0], best[0] = 1.0, 0.0
    yield
    for low in range(0, shallow, CHUNK):
        high = min(low + CHUNK, shallow)
        edge = low
        for node, up, k in lattice.edges(low, high):
            alpha[node] += alpha[up] * probabilities[k]
            score = best[up] + scores[k]
            if score > best[node]:
                best[node] = score
                back[node] = edge
            edge += 1
        yield
    logs: list[float] = []
    if shallow < edges:
        for low in range(0, count, CHUNK):
            logs += [log(value) if value else -inf for value in alpha[low : low + CHUNK]]
            yield
    for low in range(shallow, edges, CHUNK):
        edge = low
        high = low + CHUNK
        for node, up, k in lattice.edges(low, high):
            here, more = logs[node], logs[up] + scores[k]
            logs[node] = max(here, more) + log1p(exp(-abs(here - more)))
            score = best[up] + scores[k]
            if score > best[node]:
                best[node] = score
                back[node] = edge
            edge += 1
        yield
    likelihood = 0.0
    flow = [0.0] * count
    for low in range(0, len(lattice.ends), CHUNK):
        high = low + CHUNK
        for node, weight in zip(lattice.ends[low:high], lattice.weights[low:high], strict=True):
            likelihood += weight * (logs[node] if logs else log(alpha[node]))
            flow[node] = weight
        yield
    uses = [0.0] * len(scores)
    for high in range(count - 1, 0, -CHUNK):
        for node in range(high, max(0, high - CHUNK), -1):
            if flow[node]:
                edge = back[node]
                uses[lattice.piece[edge]] += flow[node]
                flow[lattice.source[edge]] += flow[node]
        yield
    return Survey(alpha, logs, shallow, likelihood, uses)


def expectations(lattice: Lattice, scores: Sequence[float], known: Survey) -> Generator[None, None, list[float]]:
    """How often each piece is expected in the strings, by weight: the backward pass after a survey by these scores."""
    probabilities = [exp(score) for score in scores]
    alpha, logs, shallow = known.alpha, known.log_alpha, known.shallow
    edges = len(lattice.target)
    deep = lattice.target[shallow] if shallow < edges else lattice.nodes
    expected = [0.0] * len(scores)
    # Of a shallow node: the probability of all ways on from it, over that of the whole. Of a deep one: its uses.
    beta = [0.0] * lattice.nodes
    for node, weight in zip(lattice.ends, lattice.weights, strict=True):
        beta[node] = weight / alpha[node] if node < deep else weight
    yield
    for high in range(edges, shallow, -CHUNK):
        low = max(shallow, high - CHUNK)
        for node, up, k in lattice.reversed_edges(low, high):
            flow = beta[node] * exp(logs[up] + scores[k] - logs[node])
            expected[k] += flow
            beta[up] += flow if up >= deep else flow / alpha[up]
        yield
    for high in range(shallow, 0, -CHUNK):
        low = max(0, high - CHUNK)
        for node, up, k in lattice.reversed_edges(low, high):
            flow = beta[node] * probabilities[k]
            expected[k] += alpha[up] * flow
            beta[up] += flow
        yield
    return expected


class Alternatives(NamedTuple):
    """How each string of a lattice of pieces would be cut if it were no piece itself.

    Attributes:
        own: The score of each node's string as one piece, minus infinity where it is none.
        best: The score of the best other segmentation, minus infinity where there is none.
        back: The last edge of that segmentation.
        alone: The edge of the one piece.
    """

    own: Sequence[float]
    best: Sequence[float]
    back: Sequence[int]
    alone: Sequence[int]

    def path(self, lattice: Lattice, node: int) -> list[int]:
        """The pieces of the best other segmentation of a node's string, in order; none where there is none."""
        out: list[int] = []
        if self.best[node] == -inf:
            return out
        edge = self.back[node]
        while True:
            out.append(lattice.piece[edge])
            node = lattice.source[edge]
            if not node:
                return out[::-1]
            edge = self.alone[node] if self.own[node] >= self.best[node] else self.back[node]


def alternatives(lattice: Lattice, scores: Sequence[float]) -> Generator[None, None, Alternatives]:
    """Find the best segmentation of every node's string that is not the string itself as one piece."""
    count = lattice.nodes
    own, other, whole = [-inf] * count, [-inf] * count, [-inf] * count
    back, alone = [0] * count, [0] * count
    yield
    for low in range(0, len(lattice.target), CHUNK):
        high = low + CHUNK
        edge = low
        for node, up, k in lattice.edges(low, high):
            if up:
                score = whole[up] + scores[k]
                if score > other[node]:
                    other[node] = score
                    back[node] = edge
                    if score > whole[node]:
                        whole[node] = score
            else:
                own[node] = whole[node] = scores[k]
                alone[node] = edge
            edge += 1
        yield
    return Alternatives(own, other, back, alone)
