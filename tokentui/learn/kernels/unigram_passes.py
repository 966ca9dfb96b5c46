"""Kernels: the passes over a lattice, its edges from `low` up to `high`, and over the pieces of a model.

They do what `tokentui.learn.unigram.lattice` and `model` do, number by number in the same order.
"""

from __future__ import annotations

from math import exp, log, log1p
from typing import Any

import numpy as np

from tokentui.core.jit.compiling import BYTES, helper, kernel, types
from tokentui.learn.kernels.unigram_seeds import INTS

FLOATS = types.Array(types.float64, 1, "C")
_PASS = (INTS, INTS, INTS, types.int64, types.int64)


@kernel(types.int64(*_PASS, BYTES, INTS, INTS, INTS, types.int64))
def keep(
    target: Any, source: Any, piece: Any, low: int, high: int, alive: Any, targets: Any, sources: Any, pieces: Any, count: int
) -> int:
    """Copy the edges of some pieces after `count` others. Returns how many there are then."""
    for edge in range(low, high):
        if alive[piece[edge]]:
            targets[count], sources[count], pieces[count] = target[edge], source[edge], piece[edge]
            count += 1
    return count


@kernel(types.void(FLOATS, FLOATS))
def exponentials(values: Any, out: Any) -> None:
    """e to the power of each."""
    for n in range(len(values)):
        out[n] = exp(values[n])


@kernel(types.void(FLOATS, FLOATS, types.int64, types.int64))
def logarithms(values: Any, out: Any, low: int, high: int) -> None:
    """The natural logarithm of each, minus infinity of 0."""
    for n in range(low, high):
        out[n] = log(values[n]) if values[n] else -np.inf


@kernel(types.void(*_PASS, FLOATS, FLOATS, FLOATS, FLOATS, INTS))
def forward(
    target: Any, source: Any, piece: Any, low: int, high: int,
    probabilities: Any, scores: Any, alpha: Any, best: Any, back: Any,
) -> None:
    """The probability of nodes, and the last edge of their best segmentation."""
    for edge in range(low, high):
        node, up, k = target[edge], source[edge], piece[edge]
        alpha[node] += alpha[up] * probabilities[k]
        score = best[up] + scores[k]
        if score > best[node]:
            best[node] = score
            back[node] = edge


@kernel(types.void(*_PASS, FLOATS, FLOATS, FLOATS, INTS))
def forward_logs(
    target: Any, source: Any, piece: Any, low: int, high: int, scores: Any, logs: Any, best: Any, back: Any
) -> None:
    """The same in logarithms."""
    for edge in range(low, high):
        node, up, k = target[edge], source[edge], piece[edge]
        here, more = logs[node], logs[up] + scores[k]
        logs[node] = max(here, more) + log1p(exp(-abs(here - more)))
        score = best[up] + scores[k]
        if score > best[node]:
            best[node] = score
            back[node] = edge


@kernel(types.float64(INTS, FLOATS, FLOATS, types.boolean, FLOATS))
def likelihood(ends: Any, weights: Any, alpha: Any, logs: bool, flow: Any) -> float:
    """The log probability of all strings; `flow` takes their weights by node."""
    total = 0.0
    for n in range(len(ends)):
        value = alpha[ends[n]]
        total += weights[n] * (value if logs else log(value))
        flow[ends[n]] = weights[n]
    return total


@kernel(types.void(INTS, INTS, INTS, FLOATS, FLOATS, types.int64, types.int64))
def count_uses(source: Any, piece: Any, back: Any, flow: Any, uses: Any, low: int, high: int) -> None:
    """How often pieces stand in the best segmentations, for the nodes from `high` down to `low`, both of them counted."""
    for node in range(high, low - 1, -1):
        if flow[node]:
            edge = back[node]
            uses[piece[edge]] += flow[node]
            flow[source[edge]] += flow[node]


@kernel(types.void(*_PASS, FLOATS, FLOATS, FLOATS, FLOATS))
def backward(
    target: Any, source: Any, piece: Any, low: int, high: int, probabilities: Any, alpha: Any, beta: Any, expected: Any
) -> None:
    """How often pieces are expected, the last edge first."""
    for edge in range(high - 1, low - 1, -1):
        up, k = source[edge], piece[edge]
        flow = beta[target[edge]] * probabilities[k]
        expected[k] += alpha[up] * flow
        beta[up] += flow


@kernel(types.void(*_PASS, FLOATS, FLOATS, FLOATS, types.int64, FLOATS, FLOATS))
def backward_logs(
    target: Any, source: Any, piece: Any, low: int, high: int,
    scores: Any, alpha: Any, logs: Any, deep: int, beta: Any, expected: Any,
) -> None:
    """The same in logarithms, down to the nodes from `deep` on."""
    for edge in range(high - 1, low - 1, -1):
        node, up, k = target[edge], source[edge], piece[edge]
        flow = beta[node] * exp(logs[up] + scores[k] - logs[node])
        expected[k] += flow
        beta[up] += flow if up >= deep else flow / alpha[up]


@kernel(types.void(*_PASS, FLOATS, FLOATS, FLOATS, FLOATS, INTS, INTS))
def alternatives(
    target: Any, source: Any, piece: Any, low: int, high: int,
    scores: Any, whole: Any, own: Any, best: Any, back: Any, alone: Any,
) -> None:
    """The best segmentation of each node's string that is not the string itself."""
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


@helper
def single(value: float) -> float:
    """The nearest number of single precision."""
    return np.float64(np.float32(value))


SPLITS, UNUSED = 1, 2
"""Why a piece goes whatever others are worth: its parts are more probable, or it is in no best segmentation."""


@kernel(
    types.void(
        INTS, INTS, INTS, INTS, FLOATS, types.float64, INTS,
        FLOATS, FLOATS, INTS, INTS, INTS, FLOATS, BYTES, types.int64, types.int64,
    )
)
def losses(
    source: Any, piece: Any, pieces: Any, nodes: Any, mine: Any, total: float, index: Any,
    own: Any, best: Any, back: Any, alone: Any, parts: Any, loss: Any, why: Any, low: int, high: int,
) -> None:
    """The loss of pieces, from number `low` up to `high` of a model.

    Args:
        source, piece: Of the edges of the lattice of the pieces.
        pieces, nodes: The model's, and the node of each seed.
        mine: How often each of the model's stands, in all `total`.
        index: The place of each seed in the model.
        own, best, back, alone: What `alternatives` found.
        parts: Room for the parts of a piece.
        loss, why: Take the losses, and why a piece goes whatever others are worth.
    """
    for n in range(low, high):
        node, count = nodes[pieces[n]], mine[n]
        if best[node] > own[node]:
            loss[n], why[n] = -np.inf, SPLITS
        elif not count:
            why[n] = UNUSED
        elif best[node] == -np.inf:
            loss[n] = np.inf
        else:
            size = 0
            edge = back[node]
            while True:
                parts[size] = index[piece[edge]]
                size += 1
                up = source[edge]
                if not up:
                    break
                edge = alone[up] if own[up] >= best[up] else back[up]
            now = single(log(count) - single(log(total)))
            grown = single(log(single(total + count * (size - 1))))
            then = 0.0
            for at in range(size - 1, -1, -1):
                then = single(then + (log(mine[parts[at]] + count) - grown))
            loss[n] = single(single(count / total) * single(now - then))


@kernel(types.void(FLOATS, types.float64, FLOATS))
def digammas(counts: Any, total: float, out: Any) -> None:
    """The digamma function of each count, less a total."""
    for n in range(len(counts)):
        x = counts[n]
        value = 0.0
        while x < 8.0:
            value -= 1.0 / x
            x += 1.0
        inverse = 1.0 / (x * x)
        series = inverse * (1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse / 132))))
        out[n] = value + log(x) - 0.5 / x - series - total
