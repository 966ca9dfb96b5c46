"""A unigram model at one step of its training, and the four ways from one to the next.

Source: sentencepiece 0.2.3, `unigram_model_trainer.cc` (Kudo 2018), in double precision. What it does with units that have
fallen out of a model is kept, since scores depend on it: such a unit scores ten less than the least piece, and what is
expected of it is credited to the first piece of the model.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import inf, log
from typing import NamedTuple

from tokentui.learn.unigram.lattice import Alternatives, Lattice
from tokentui.learn.unigram.seeds import Seeds
from tokentui.text.patience import in_parts

SUB_ROUNDS = 2
"""Rounds of expectation and maximisation before each pruning."""
SHRINK = 0.75
"""How much of a model a pruning keeps at least."""
SPARE = 1.1
"""Pruning ends at so many times the size asked for."""
LEAST_EXPECTED = 0.5
"""A piece that is expected less often in the whole corpus is dropped."""
LEAST_COUNT = 1e-3
"""A piece that is not dropped is taken as expected so often at least."""
UNKNOWN_PENALTY = 10.0
"""By how much a unit that is no piece scores less than the least piece."""
_REQUIRED_STEP = 0.0001
_LOOK_EVERY = 512

EM, PRUNE, CUT = "em", "prune", "cut"
"""The kinds of steps; the cut to the size asked for is shown as a pruning."""

RARE = "expected < 0.5"
"""Why a piece was dropped: it is not expected even once, rounded."""
SPLITS = "own best path splits"
"""Its parts together are more probable than it is."""
UNUSED = "in no best segmentation"
"""No word of the corpus has it in its best segmentation."""
LOW_LOSS = "low loss"
"""The corpus is hardly less probable without it."""
LOW_SCORE = "low score"
"""Others are more probable, and the vocabulary is full."""


class Worths(NamedTuple):
    """The loss of each piece of a model, in its order, and why it goes whatever others are worth, or nothing."""

    loss: array[float]
    goes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Dropped:
    """The pieces that a step dropped: their numbers, why, and the figure that it was for.

    The figure is the expected count, the loss, or the score; for `SPLITS` the score.
    """

    pieces: array[int] = field(default_factory=lambda: array("i"))
    reasons: list[str] = field(default_factory=list)
    figures: array[float] = field(default_factory=lambda: array("d"))

    def add(self, piece: int, reason: str, figure: float) -> None:
        """Note one."""
        self.pieces.append(piece)
        self.reasons.append(reason)
        self.figures.append(figure)


@dataclass(frozen=True, slots=True)
class Model:
    """The pieces of one step, in the order of the model, which is not that of the ids.

    Attributes:
        pieces: The numbers of the pieces among the seeds. The first one is credited with what is unknown.
        scores: Their natural log probabilities.
        expected: How often each was expected in the corpus when it was last counted; of the seeds, how often they
            stand.
        what: The step that led here: `em`, `prune`, or empty for the seeds.
        round: The round of that step, from 1.
        rest: How many steps of `em` the round still has.
        final: Whether the training ends here.
        dropped: What the step dropped.
    """

    pieces: array[int]
    scores: array[float]
    expected: array[float]
    what: str = ""
    round: int = 1
    rest: int = SUB_ROUNDS
    final: bool = False
    dropped: Dropped = field(default_factory=Dropped)

    def table(self, seeds: Seeds) -> tuple[Sequence[float], float]:
        """A score for each seed, that of the unknown where it is no piece, and the least score of all."""
        unknown = self.unknown
        table = [unknown] * len(seeds.bytes)
        for piece, score in zip(self.pieces, self.scores, strict=True):
            table[piece] = score
        return table, unknown

    def coming(self, target: int) -> str:
        """The kind of the next step on the way to a vocabulary of `target` ids, empty at the end."""
        if self.final or not self.pieces:
            return ""
        if self.rest:
            return EM
        if self.what == EM:
            return PRUNE
        return CUT if self.ready(target) else EM

    def ready(self, target: int) -> bool:
        """Whether pruning is over and only the last cut is to come."""
        return self.what == PRUNE and not self.final and len(self.pieces) <= int(target * SPARE)

    @property
    def unknown(self) -> float:
        """The score of a unit that is no piece."""
        return min(self.scores, default=0.0) - UNKNOWN_PENALTY

    def after_em(self, pieces: array[int], scores: array[float], expected: array[float], dropped: Dropped) -> Model:
        """The model that follows by a round of EM."""
        turn, rest = (self.round, self.rest) if self.rest else (self.round + 1, SUB_ROUNDS)
        return Model(pieces, scores, expected, EM, turn, rest - 1, dropped=dropped)

    def after_pruning(self, pieces: array[int], scores: array[float], expected: array[float], dropped: Dropped) -> Model:
        """The model that follows by a pruning."""
        return Model(pieces, scores, expected, PRUNE, self.round, 0, dropped=dropped)

    def without(self, places: Sequence[int]) -> Model:
        """The model without the pieces at these places, for looking at: not one that training goes on from."""
        gone = set(places)
        pieces, scores, expected = _chosen(self, [n for n in range(len(self.pieces)) if n not in gone])
        return replace(self, pieces=pieces, scores=scores, expected=expected, dropped=Dropped())

    def alive(self, seeds: Seeds) -> bytearray:
        """Which seeds have edges in a lattice: the pieces, and every unit, known or not."""
        flags = bytearray(b"\1") * seeds.units + bytearray(len(seeds.bytes) - seeds.units)
        for piece in self.pieces:
            flags[piece] = 1
        return flags


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
    series = inverse * (1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse / 132))))
    return value + log(x) - 0.5 / x - series


def first_model(seeds: Seeds, max_length: int) -> Model:
    """The model of the seeds: each one's share of count times length."""
    sizes = chain.from_iterable(in_parts(enumerate(seeds.sizes)))
    chosen = [n for n, size in sizes if size <= max_length or n < seeds.units]
    worth = [seeds.counts[n] * seeds.sizes[n] for n in chain.from_iterable(in_parts(chosen))]
    total = log(sum(worth)) if worth else 0.0
    counts = array("d", (seeds.counts[n] for n in chosen))
    return Model(array("i", chosen), array("d", (log(one) - total for one in worth)), counts)


def credited(model: Model, seeds: Seeds, figures: Sequence[float]) -> array[float]:
    """A figure for each piece of the model, in its order; those of what is unknown go to the first, as sentencepiece has it."""
    out = array("d", (figures[piece] for piece in model.pieces))
    if out:
        known = set(model.pieces)
        out[0] += sum(figures[unit] for unit in range(seeds.units) if unit not in known) + seeds.unknown
    return out


def maximised(model: Model, seeds: Seeds, expected: Sequence[float]) -> Generator[None, None, Model]:
    """The model that expected counts lead to: rare pieces out, and a sparse prior by the digamma function.

    Source of the prior: Liang and Klein 2007, variational Bayes for probabilistic grammars.
    """
    counts = credited(model, seeds, expected)
    dropped = Dropped()
    yield
    kept = [n for n, count in enumerate(counts) if count >= LEAST_EXPECTED]
    if kept:
        for n, count in enumerate(counts):
            if count < LEAST_EXPECTED:
                dropped.add(model.pieces[n], RARE, count)
    else:  # a corpus of a few words may expect nothing: there is nothing to choose by
        kept = list(range(len(counts)))
    total = digamma(sum(counts[n] for n in kept))
    scores = array("d")
    for at, n in enumerate(kept):
        if at % _LOOK_EVERY == 0:
            yield
        scores.append(digamma(max(counts[n], LEAST_COUNT)) - total)
    pieces, expectation = array("i", (model.pieces[n] for n in kept)), array("d", (counts[n] for n in kept))
    return model.after_em(pieces, scores, expectation, dropped)


def losses(
    model: Model, seeds: Seeds, uses: Sequence[float], lattice: Lattice, nodes: Sequence[int], other: Alternatives
) -> Generator[None, None, Worths]:
    """What each piece of a model is worth, in its order.

    The loss is how much the log probability of a token of the corpus falls, on average, when every use of the piece is
    replaced by its best other segmentation. It is infinite where there is none.

    Args:
        model: The model.
        seeds: The seeds that its pieces are numbers of.
        uses: How often each seed stands in the best segmentations of the corpus.
        lattice: The lattice of the pieces, by this model.
        nodes: The node of each seed in it.
        other: The other segmentations in it.
    """
    mine = credited(model, seeds, uses)
    total = sum(mine)
    index = {piece: n for n, piece in enumerate(model.pieces)}
    yield
    loss, goes = array("d", bytes(8 * len(mine))), [""] * len(mine)
    for n, piece in enumerate(model.pieces):
        if n % _LOOK_EVERY == 0:
            yield
        node, count = nodes[piece], mine[n]
        if other.best[node] > other.own[node]:
            loss[n], goes[n] = -inf, SPLITS
        elif not count:
            goes[n] = UNUSED
        elif other.best[node] == -inf:
            loss[n] = inf
        else:
            loss[n] = _loss(count, total, [mine[index.get(k, 0)] for k in other.path(lattice, node)])
    return Worths(loss, goes)


def _loss(count: float, total: float, others: Sequence[float]) -> float:
    """The loss of a piece that stands so often, when so many of each of the others take its place.

    It is rounded where the library rounds, which has single precision: many pieces are equally good, which of them goes
    depends on their order, and their order on which were equal before.
    """
    now = _single(log(count) - _single(log(total)))
    grown = _single(log(_single(total + count * (len(others) - 1))))
    then = 0.0
    for other in others:
        then = _single(then + (log(other + count) - grown))
    return _single(_single(count / total) * _single(now - then))


def _single(value: float) -> float:
    """The nearest number of single precision."""
    return _FLOAT.unpack(_FLOAT.pack(value))[0]  # type: ignore[no-any-return]


_FLOAT = struct.Struct("f")


def pruned_size(size: int, target: int) -> int:
    """How many pieces a pruning of so many keeps, for a vocabulary of `target` ids."""
    return max(int(target * SPARE), int(SHRINK * size))


def pruned(model: Model, worth: Worths, target: int) -> Model:
    """The model without the pieces of the least loss."""
    loss, goes = worth
    must = [n for n, one in enumerate(loss) if one == inf]
    may = [n for n, why in enumerate(goes) if not why and loss[n] != inf]
    may.sort(key=loss.__getitem__, reverse=True)
    room = max(0, pruned_size(len(loss), target) - len(must))
    kept = must + may[:room]
    dropped = Dropped()
    for n, why in enumerate(goes):
        if why:
            dropped.add(model.pieces[n], why, model.scores[n] if why == SPLITS else loss[n])
    for n in may[room:]:
        dropped.add(model.pieces[n], LOW_LOSS, loss[n])
    pieces, scores, expected = _chosen(model, kept)
    return model.after_pruning(pieces, scores, expected, dropped)


def cut(model: Model, seeds: Seeds, nodes: Sequence[int], other: Alternatives, size: int) -> Model:
    """The model cut to its size: every unit, then the most probable pieces that are not less probable than their parts.

    Args:
        model: The model.
        seeds: The seeds that its pieces are numbers of.
        nodes: The node of each seed in the lattice of the pieces.
        other: The other segmentations in it.
        size: How many pieces to keep, if there are so many.
    """
    dropped = Dropped()
    reachable: list[int] = []
    for n, piece in enumerate(model.pieces):
        if other.best[nodes[piece]] > other.own[nodes[piece]]:
            dropped.add(piece, SPLITS, model.scores[n])
        else:
            reachable.append(n)
    scores = {model.pieces[n]: model.scores[n] for n in reachable}
    expected = dict(zip(model.pieces, model.expected, strict=True))
    least = min(scores.values(), default=0.0)
    chosen: dict[int, float] = {}
    missing = 0
    for unit in range(seeds.units):
        if unit in scores:
            chosen[unit] = scores[unit]
        else:
            chosen[unit] = min(0.0, least + missing * _REQUIRED_STEP)
            missing += 1

    def order(piece: int) -> tuple[float, bytes]:
        return -scores[piece], seeds.bytes[piece]

    for piece in sorted((piece for piece in scores if piece >= seeds.units), key=order):
        if len(chosen) < size:
            chosen[piece] = scores[piece]
        else:
            dropped.add(piece, LOW_SCORE, scores[piece])
    pieces = sorted(chosen, key=lambda piece: (-chosen[piece], seeds.bytes[piece]))
    return Model(
        array("i", pieces), array("d", (chosen[piece] for piece in pieces)),
        array("d", (expected.get(piece, 0.0) for piece in pieces)), PRUNE, model.round, 0, True, dropped,
    )


def _chosen(model: Model, which: Sequence[int]) -> tuple[array[int], array[float], array[float]]:
    return (
        array("i", [model.pieces[n] for n in which]),
        array("d", [model.scores[n] for n in which]),
        array("d", [model.expected[n] for n in which]),
    )
