"""The loops of a unigram training over its lattice: expectations, best segmentations, losses.

Plain Python runs these functions as they stand here. `unigram.py` compiles the same functions, so the numbers
of both engines are the same to the last bit. A pass works on the edges or nodes from `low` up to `high`, so
that a caller may stop between two calls.
"""

from __future__ import annotations

from math import exp, inf, log, log1p
from typing import NamedTuple

from tokentui.core.native import Float32s, Float64s, Int32s, Int64s, Uint8s
from tokentui.learn.kernels.unigram_text import LONGEST, Ground, Trie

KEPT, SPLITS, UNUSED = 0, 1, 2
"""Why a piece goes whatever others are worth: it need not; its parts are more probable; no best segmentation
has it."""


class Edges(NamedTuple):
    """The edges of a lattice: a piece from one node to another. They are in the order of the nodes that they
    end in, of those that end in one node the longest first, so one loop over them meets every node after all
    nodes before it."""

    target: Int32s
    source: Int32s
    piece: Int32s


class Others(NamedTuple):
    """The best segmentation of each node's string, and the best one that is not the string as one piece.

    Attributes:
        own: The score of the string as one piece, minus infinity where it is none.
        best: The score of the best other segmentation, minus infinity where there is none.
        whole: The greater of both.
        back: The last edge of the best other segmentation.
        alone: The edge of the one piece.
    """

    own: Float64s
    best: Float64s
    whole: Float64s
    back: Int32s
    alone: Int32s


# ---- the lattice


def edges(
    low: int, high: int, ground: Ground, trie: Trie, alive: Uint8s, way: Int32s, state: Int64s, out: Edges
) -> None:
    """The edges that end in nodes: a node's string ends with a seed, and an edge comes from the node before
    that.

    Args:
        low, high: The nodes to look at.
        ground: The text and the seeds.
        trie: The nodes.
        alive: 1 for each seed that counts; every unit does.
        way: Room for the nodes on the way back.
        state: The number of edges so far.
        out: Takes the edges; empty where they are only counted.
    """
    count = state[0]
    for node in range(low, high):
        spot = trie.spots[node]
        longest = min(trie.depths[node], LONGEST)
        up = node
        for size in range(1, longest + 1):
            up = trie.parents[up]
            way[size] = up
        for size in range(longest, 0, -1):
            start = spot - size
            if size > 1:
                if not ground.lengths[start] >> size & 1:
                    continue
                known = ground.deepest[start]
                while ground.sizes[known] != size:
                    known = ground.links[known]
                if not alive[known]:
                    continue
            else:
                known = ground.units[ground.text[start]]
            if len(out.target):
                out.target[count], out.source[count], out.piece[count] = node, way[size], known
            count += 1
    state[0] = count


def keep(low: int, high: int, edges: Edges, alive: Uint8s, state: Int64s, out: Edges) -> None:
    """Copy the edges of the pieces that are alive; `state` has how many there are so far."""
    target, source, piece = edges
    count = state[0]
    for edge in range(low, high):
        if alive[piece[edge]]:
            out.target[count], out.source[count], out.piece[count] = target[edge], source[edge], piece[edge]
            count += 1
    state[0] = count


# ---- expectation


def spread(pieces: Int32s, scores: Float64s, table: Float64s, probabilities: Float64s) -> None:
    """The score of each seed, where it is a piece, and the probability of all."""
    for n in range(len(pieces)):
        table[pieces[n]] = scores[n]
    for seed in range(len(table)):
        probabilities[seed] = exp(table[seed])


def logarithms(low: int, high: int, values: Float64s, out: Float64s) -> None:
    """The natural logarithm of each value, minus infinity of 0."""
    for n in range(low, high):
        out[n] = log(values[n]) if values[n] else -inf


def forward(
    low: int, high: int, edges: Edges, probabilities: Float64s, scores: Float64s, alpha: Float64s,
    best: Float64s, back: Int32s,
) -> None:
    """The sum over all segmentations up to each node, and the best of them (Viterbi).

    For the edges i → j with their pieces k:

        alpha[j] = Σ alpha[i] · p(k)              alpha[root] = 1
        best[j]  = max best[i] + log p(k)         best[root] = 0, back[j] is the edge

    Of equally good segmentations the one whose last piece is longest is taken.

    >>> edges = Edges([1, 2, 3, 3, 3], [0, 1, 0, 1, 2], [0, 1, 4, 3, 2])  # hug by h, u, g, ug, hug
    >>> alpha, best, back = [1.0, 0.0, 0.0, 0.0], [0.0, -inf, -inf, -inf], [0, 0, 0, 0]
    >>> forward(0, 5, edges, [0.2] * 5, [log(0.2)] * 5, alpha, best, back)
    >>> round(alpha[3], 3), back[3]  # h·u·g + h·ug + hug; the best one is hug
    (0.248, 2)
    """
    target, source, piece = edges
    for edge in range(low, high):
        j, i, k = target[edge], source[edge], piece[edge]
        alpha[j] += alpha[i] * probabilities[k]
        score = best[i] + scores[k]
        if score > best[j]:
            best[j] = score
            back[j] = edge


def forward_logs(
    low: int, high: int, edges: Edges, scores: Float64s, logs: Float64s, best: Float64s, back: Int32s
) -> None:
    """As `forward`, in logarithms where products would be too small: log(e^a + e^b) = max(a, b) + log(1 +
    e^-|a-b|).

    Adds the edges `low` to `high - 1`, in order, to `logs`, which the caller sets to the logarithm of 0;
    `best` and `back` receive the best score of each node and the edge that reaches it.
    """
    target, source, piece = edges
    for edge in range(low, high):
        j, i, k = target[edge], source[edge], piece[edge]
        here, more = logs[j], logs[i] + scores[k]
        logs[j] = max(here, more) + log1p(exp(-abs(here - more)))
        score = best[i] + scores[k]
        if score > best[j]:
            best[j] = score
            back[j] = edge


def likelihood(ends: Int32s, weights: Float64s, alpha: Float64s, logs: bool, flow: Float64s) -> float:
    """The log probability of all strings, Σ weight · log alpha[end]; `flow` takes their weights by node."""
    total = 0.0
    for n in range(len(ends)):
        value = alpha[ends[n]]
        total += weights[n] * (value if logs else log(value))
        flow[ends[n]] = weights[n]
    return total


def count_uses(low: int, high: int, edges: Edges, back: Int32s, flow: Float64s, uses: Float64s) -> None:
    """Add up the counts of pieces in the best segmentations.

    The weight of each node flows back over its best edge.
    """
    for node in range(high - 1, low - 1, -1):
        if flow[node]:
            edge = back[node]
            uses[edges.piece[edge]] += flow[node]
            flow[edges.source[edge]] += flow[node]


def begin(ends: Int32s, weights: Float64s, alpha: Float64s, deep: int, beta: Float64s) -> None:
    """Set the first values of `beta` for `backward`, at the nodes in which strings end.

    The value of a node is weight / alpha; of a node from `deep` on, the weight alone.
    """
    for n in range(len(ends)):
        node = ends[n]
        beta[node] = weights[n] / alpha[node] if node < deep else weights[n]


def backward(
    low: int, high: int, edges: Edges, probabilities: Float64s, alpha: Float64s, beta: Float64s,
    expected: Float64s,
) -> None:
    """Add up the expected counts of pieces by the posterior of each edge.

    The last edge comes first. `begin` sets the first values of `beta`.

        expected[k] = Σ alpha[i] · p(k) · beta[j]       over all edges i → j of the piece k
        beta[i]     = Σ p(k) · beta[j]

    >>> edges = Edges([1, 2, 3, 3, 3], [0, 1, 0, 1, 2], [0, 1, 4, 3, 2])  # hug by h, u, g, ug, hug
    >>> beta, expected = [0.0, 0.0, 0.0, 1 / 0.248], [0.0] * 5
    >>> backward(0, 5, edges, [0.2] * 5, [1.0, 0.2, 0.04, 0.248], beta, expected)
    >>> [round(one, 3) for one in expected]
    [0.194, 0.032, 0.032, 0.161, 0.806]
    """
    target, source, piece = edges
    for edge in range(high - 1, low - 1, -1):
        i, k = source[edge], piece[edge]
        flow = beta[target[edge]] * probabilities[k]
        expected[k] += alpha[i] * flow
        beta[i] += flow


def backward_logs(
    low: int, high: int, edges: Edges, scores: Float64s, alpha: Float64s, logs: Float64s, deep: int,
    beta: Float64s, expected: Float64s,
) -> None:
    """The same in logarithms for nodes from `deep` on; their `beta` is the number of strings that come
    through them."""
    target, source, piece = edges
    for edge in range(high - 1, low - 1, -1):
        i, k = source[edge], piece[edge]
        flow = beta[target[edge]] * exp(logs[i] + scores[k] - logs[target[edge]])
        expected[k] += flow
        beta[i] += flow if i >= deep else flow / alpha[i]


# ---- maximisation and pruning


def first_scores(counts: Float64s, pieces: Int32s, sizes: Int32s, scores: Float64s) -> None:
    """Write the scores of seeds: the logarithm of each one's share of count times length.

    Args:
        counts: The count of each seed, above 0.
        pieces: The number of each seed, by which `sizes` is indexed.
        sizes: The units of each numbered piece.
        scores: Receives the score of each seed, in the order of `pieces`.
    """
    total = 0.0
    for n in range(len(pieces)):
        total += counts[n] * sizes[pieces[n]]
    whole = log(total) if total else 0.0
    for n in range(len(pieces)):
        scores[n] = log(counts[n] * sizes[pieces[n]]) - whole


def credit(
    figures: Float64s, pieces: Int32s, units: int, unknown: float, present: Uint8s, out: Float64s
) -> float:
    """The figure of each piece of a model; those of units that are no pieces, and of what is unknown, go to
    the first piece, as in sentencepiece.

    Args:
        figures: The figure of each seed.
        pieces: The seeds that are pieces.
        units: The first so many seeds are the units.
        unknown: The figure of what no seed stands for.
        present: Room for a flag of each unit.
        out: Takes the figures of the pieces.

    Returns:
        Their sum.
    """
    for n in range(len(pieces)):
        out[n] = figures[pieces[n]]
        if pieces[n] < units:
            present[pieces[n]] = 1
    lost = 0.0
    for unit in range(units):
        if not present[unit]:
            lost += figures[unit]
    total = 0.0
    for n in range(len(pieces)):
        if not n:
            out[n] += lost + unknown
        total += out[n]
    return total


def frequent(counts: Float64s, least: float, kept: Int32s, rare: Int32s) -> int:
    """Part the places of counts into those of at least so many and the others. Returns how many are kept."""
    count = 0
    for n in range(len(counts)):
        if counts[n] >= least:
            kept[count] = n
            count += 1
        else:
            rare[n - count] = n
    return count


def digamma(x: float) -> float:
    """The logarithmic derivative of the gamma function, for x > 0, by its asymptotic series from 8 on.

    >>> round(digamma(1.0), 12)
    -0.577215664902
    """
    value = 0.0
    while x < 8.0:
        value -= 1.0 / x
        x += 1.0
    inverse = 1.0 / (x * x)
    series = inverse * (
        1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse / 132)))
    )
    return value + log(x) - 0.5 / x - series


def maximise(low: int, high: int, counts: Float64s, least: float, total: float, out: Float64s) -> None:
    """The scores by expected counts under a sparse prior: digamma(count) - digamma(all counts), no count
    below `least`."""
    for n in range(low, high):
        out[n] = digamma(max(counts[n], least)) - total


def alternatives(low: int, high: int, edges: Edges, scores: Float64s, found: Others) -> None:
    """The best segmentation of each node's string that is not the string as one piece: `forward` with maxima
    alone, where an edge from the root is kept apart."""
    target, source, piece = edges
    own, best, whole, back, alone = found
    for edge in range(low, high):
        node, up, k = target[edge], source[edge], piece[edge]
        if up:
            score = whole[up] + scores[k]
            if score > best[node]:
                best[node] = score
                back[node] = edge
                whole[node] = max(score, whole[node])
        else:
            own[node] = whole[node] = scores[k]
            alone[node] = edge


def losses(
    low: int, high: int, edges: Edges, other: Others, pieces: Int32s, nodes: Int32s, mine: Float64s,
    total: float, index: Int32s, parts: Int32s, single: Float32s, loss: Float64s, why: Uint8s,
) -> None:
    """By how much the mean log probability of a token falls when a piece is replaced by its best other
    segmentation.

        loss(k) = n(k)/N · ( log n(k)/N  -  Σ log (n(m) + n(k)) / (N + n(k)·(parts - 1)) )     over the parts
        m

    The library has single precision and is rounded like here: many pieces are equally good, which of them
    goes depends on their order, and their order on which were equal before. What is put into `single` is
    rounded.

    Args:
        low, high: The pieces to look at.
        edges, other: The lattice of the pieces themselves, and what `alternatives` found in it.
        pieces, nodes: The pieces of the model, and the node of each seed.
        mine: The count of each piece in the best segmentations of the corpus, n(k).
        total: All of these, N.
        index: The place of each seed in the model.
        parts: Room for the parts of a piece.
        single: Room for a number of single precision.
        loss: Takes the losses; infinite for what nothing can replace.
        why: Takes why a piece goes whatever others are worth.
    """
    for n in range(low, high):
        node, count = nodes[pieces[n]], mine[n]
        if other.best[node] > other.own[node]:
            loss[n], why[n] = -inf, SPLITS
        elif not count:
            why[n] = UNUSED
        elif other.best[node] == -inf:
            loss[n] = inf
        else:
            size, up, edge = 0, node, other.back[node]
            while up:
                parts[size] = index[edges.piece[edge]]
                size += 1
                up = edges.source[edge]
                edge = other.alone[up] if other.own[up] >= other.best[up] else other.back[up]
            single[0] = log(total)
            single[0] = log(count) - single[0]
            now = 0.0 + single[0]
            single[0] = total + count * (size - 1)
            single[0] = log(0.0 + single[0])
            grown = 0.0 + single[0]
            then = 0.0
            for at in range(size - 1, -1, -1):
                single[0] = then + (log(mine[parts[at]] + count) - grown)
                then = 0.0 + single[0]
            single[0] = now - then
            fall = 0.0 + single[0]
            single[0] = count / total
            single[0] = (0.0 + single[0]) * fall
            loss[n] = 0.0 + single[0]
