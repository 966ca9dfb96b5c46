"""A unigram model at one step of its training, and the four ways from one to the next (Kudo 2018).

    seeds       each piece's share of count · length
    EM          p(k) from the expected counts of all segmentations; pieces that are expected less than 0.5
    times go
    pruning     three quarters of the pieces stay: those whose loss is greatest
    last cut    the most probable pieces, and every unit

Source: sentencepiece 0.2.3, `unigram_model_trainer.cc`, in double precision. What it does with units that
have fallen out of a model
is kept, since scores depend on it: such a unit scores ten less than the least piece, and what is expected of
it is credited to the first piece of the model.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tokentui.core.jobs import in_blocks
from tokentui.learn.kernels.unigram_passes import SPLITS, Others, digamma
from tokentui.learn.kernels.unigram_text import floats, ints
from tokentui.learn.unigram.lattice import Lattice, Passes, Slices, blocks
from tokentui.learn.unigram.seeds import Seeds

SUB_ROUNDS = 2
"""Rounds of expectation and maximisation before each pruning."""
SHRINK = 0.75
"""The share of a model that a pruning keeps at least."""
SPARE = 1.1
"""Pruning ends at so many times the size asked for."""
LEAST_EXPECTED = 0.5
"""A piece that is expected less often in the whole corpus is dropped."""
LEAST_COUNT = 1e-3
"""A piece that is not dropped is taken as expected so often at least."""
UNKNOWN_PENALTY = 10.0
"""By how much a unit that is no piece scores less than the least piece."""
_REQUIRED_STEP = 0.0001

EM, PRUNE, CUT = "em", "prune", "cut"
"""The kinds of steps; the cut to the size asked for is shown as a pruning."""

RARE, LOW_LOSS, LOW_SCORE = 3, 4, 5
REASONS = ("", "own best path splits", "in no best segmentation", "expected < 0.5", "low loss", "low score")
"""Why a piece is dropped: its parts together are more probable (`SPLITS`); no word of the corpus has it in
its best segmentation (`UNUSED`); it is not expected even once, rounded (`RARE`); the corpus is hardly less
probable without it (`LOW_LOSS`); others are more probable, and the vocabulary is full (`LOW_SCORE`)."""


class Worths(NamedTuple):
    """The loss of each piece of a model, in its order, and why it goes whatever others are worth (0: it need
    not)."""

    loss: array[float]
    why: bytearray


class Dropped(NamedTuple):
    """The pieces that a step dropped: their seeds, why, and the figure that it was for.

    The figure is the expected count, the loss, or the score; for `SPLITS` the score.
    """

    pieces: array[int] = array("i")
    why: bytes = b""
    figures: array[float] = array("d")


@dataclass(frozen=True, slots=True)
class Model:
    """The pieces of one step, in the order of the model, which is not that of the ids.

    Attributes:
        pieces: The seeds that are pieces. The first one is credited with what is unknown.
        scores: Their natural log probabilities.
        expected: The expected count of each in the corpus when last computed; of the seeds, their
            counts in the corpus.
        what: The step that led here: `em`, `prune`, or empty for the seeds.
        round: The round of that step, from 1.
        rest: The number of `em` steps left in the round.
        final: True if the training ends here.
        dropped: The pieces that the step dropped.
    """

    pieces: array[int]
    scores: array[float]
    expected: array[float]
    what: str = ""
    round: int = 1
    rest: int = SUB_ROUNDS
    final: bool = False
    dropped: Dropped = field(default_factory=Dropped)

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
        """True if pruning is over and only the last cut remains."""
        return self.what == PRUNE and not self.final and len(self.pieces) <= int(target * SPARE)

    @property
    def unknown(self) -> float:
        """The score of a unit that is no piece."""
        return min(self.scores, default=0.0) - UNKNOWN_PENALTY

    def only(self, which: array[int], run: Passes) -> Model:
        """The model with the pieces at these places, in this order, for looking at."""
        pieces, scores, expected = (
            run.pick(values, which) for values in (self.pieces, self.scores, self.expected)
        )
        return replace(self, pieces=pieces, scores=scores, expected=expected, dropped=Dropped())

    def alive(self, seeds: Seeds) -> bytearray:
        """Which seeds have edges in a lattice: the pieces, and every unit, known or not."""
        flags = bytearray(b"\1") * seeds.units + bytearray(len(seeds.bytes) - seeds.units)
        for piece in self.pieces:
            flags[piece] = 1
        return flags


def first_model(seeds: Seeds, max_length: int, run: Passes) -> Model:
    """The model of the seeds: each one's share of count times length."""
    pieces, counts = array("i"), array("d")
    for part in in_blocks(range(len(seeds.bytes))):
        chosen = [n for n in part if seeds.sizes[n] <= max_length or n < seeds.units]
        pieces.extend(chosen)
        counts.extend([seeds.counts[n] for n in chosen])
    scores = floats(len(pieces))
    run.first_scores(counts, pieces, seeds.sizes, scores)
    return Model(pieces, scores, counts)


def credited(model: Model, seeds: Seeds, figures: array[float], run: Passes) -> tuple[array[float], float]:
    """A figure for each piece of the model, in its order, and their sum; those of what is unknown go to the
    first piece."""
    out = floats(len(model.pieces))
    total = run.credit(figures, model.pieces, seeds.units, float(seeds.unknown), bytearray(seeds.units), out)
    return out, total


def maximised(model: Model, seeds: Seeds, expected: array[float], run: Passes) -> Slices[Model]:
    """The model that expected counts lead to: rare pieces out, and a sparse prior by the digamma function.

        log p(k) = digamma(c(k)) - digamma(Σ c)

    Source of the prior: Liang and Klein 2007, variational Bayes for probabilistic grammars.
    """
    counts, _ = credited(model, seeds, expected, run)
    kept, rare = ints(len(counts)), ints(len(counts))
    yield 0.0
    size = run.frequent(counts, LEAST_EXPECTED, kept, rare)
    if not size:  # a corpus of a few words may expect nothing: there is nothing to choose by
        size = run.frequent(counts, 0.0, kept, rare)
    kept, rare = kept[:size], rare[: len(counts) - size]
    left = run.pick(counts, kept)
    scores, total = floats(size), digamma(sum(left)) if left else 0.0
    for low, high in blocks(0, size, run.CHUNK):
        run.maximise(left, LEAST_COUNT, low, high, total, scores)
        yield 0.0
    dropped = Dropped(run.pick(model.pieces, rare), bytes((RARE,)) * len(rare), run.pick(counts, rare))
    turn, rest = (model.round, model.rest) if model.rest else (model.round + 1, SUB_ROUNDS)
    return Model(run.pick(model.pieces, kept), scores, left, EM, turn, rest - 1, dropped=dropped)


def losses(
    model: Model, seeds: Seeds, uses: array[
        float
    ], lattice: Lattice, nodes: array[int], other: Others, run: Passes
) -> Slices[Worths]:
    """Return the loss of each piece of a model, in its order.

    The loss is how much the log probability of a token of the corpus falls, on average, when every use of the
    piece is replaced by its best other segmentation. It is infinite if there is no other segmentation.

    Args:
        model: The model.
        seeds: The seeds.
        uses: The count of each seed in the best segmentations of the corpus.
        lattice: The lattice of the pieces, by this model.
        nodes: The node of each seed in it.
        other: The other segmentations in it.
        run: The passes.
    """
    size = len(model.pieces)
    mine, total = credited(model, seeds, uses, run)
    index, loss, why = ints(len(seeds.bytes)), floats(size), bytearray(size)
    run.rank(model.pieces, 0, size, index)
    parts, single = ints(max(seeds.sizes, default=1) + 1), array("f", [0.0])
    yield 0.0
    for low, high in blocks(0, size, max(1, run.CHUNK >> 4)):
        run.losses(
            lattice.edges, other, model.pieces, nodes, mine, total, index, low, high, parts, single, loss, why
        )
        yield 0.0
    return Worths(loss, why)


def pruned_size(size: int, target: int) -> int:
    """The number of pieces that a pruning of `size` pieces keeps, for a vocabulary of `target` ids."""
    return max(int(target * SPARE), int(SHRINK * size))


def steps_left(model: Model, target: int) -> int:
    """About how many steps lead from a model to a vocabulary of `target` ids."""
    size = len(model.pieces)
    if model.final or not size:
        return 0
    steps = 1
    if model.what != PRUNE or not model.ready(target):
        steps += model.rest if model.what != PRUNE else SUB_ROUNDS
        while True:
            steps += 1
            size = pruned_size(size, target)
            if size <= int(target * SPARE):
                break
            steps += SUB_ROUNDS
    return steps


def pruned(model: Model, worth: Worths, target: int, run: Passes) -> Model:
    """The model without the pieces of the least loss."""
    size, sizes = len(worth.loss), array("q", bytes(24))
    may, must, going = ints(size), ints(size), ints(size)
    run.weigh(worth.loss, worth.why, may, must, going, sizes)
    may, must, going = may[: sizes[0]], must[: sizes[1]], going[: sizes[2]]
    may = run.descending(worth.loss, may)
    room = max(0, pruned_size(size, target) - len(must))
    low = may[room:]
    why = bytes([worth.why[n] for n in going]) + bytes((LOW_LOSS,)) * len(low)
    figures = array("d", [model.scores[n] if worth.why[n] == SPLITS else worth.loss[n] for n in going])
    dropped = Dropped(run.pick(model.pieces, going + low), why, figures + run.pick(worth.loss, low))
    return replace(model.only(must + may[:room], run), what=PRUNE, rest=0, dropped=dropped)


def cut(model: Model, seeds: Seeds, nodes: array[int], other: Others, size: int) -> Model:
    """The model cut to its size: every unit, then the most probable pieces that are not less probable than
    their parts.

    Args:
        model: The model.
        seeds: The seeds.
        nodes: The node of each seed in the lattice of the pieces.
        other: The other segmentations in it.
        size: The number of pieces to keep, if there are so many.
    """
    splits = {piece for piece in model.pieces if other.best[nodes[piece]] > other.own[nodes[piece]]}
    scores = {
        piece: score for piece, score in zip(model.pieces, model.scores, strict=True) if piece not in splits
    }
    least, missing = min(scores.values(), default=0.0), 0
    chosen: dict[int, float] = {}
    for unit in range(seeds.units):
        chosen[unit] = scores[unit] if unit in scores else min(0.0, least + missing * _REQUIRED_STEP)
        missing += unit not in scores
    several = sorted(
        (piece for piece in scores if piece >= seeds.units),
        key=lambda piece: (-scores[piece], seeds.bytes[piece])
    )
    room = max(0, size - len(chosen))
    chosen |= {piece: scores[piece] for piece in several[:room]}
    gone = [
        (piece, score, SPLITS) for piece, score in zip(model.pieces, model.scores, strict=True)
        if piece in splits
    ]
    gone += [(piece, scores[piece], LOW_SCORE) for piece in several[room:]]
    dropped = Dropped(
        array("i", [piece for piece, _, _ in gone]), bytes(why for _, _, why in gone),
        array("d", [figure for _, figure, _ in gone]),
    )
    pieces = sorted(chosen, key=lambda piece: (-chosen[piece], seeds.bytes[piece]))
    expected = dict(zip(model.pieces, model.expected, strict=True))
    return Model(
        array("i", pieces), array("d", map(chosen.__getitem__, pieces)),
        array("d", [expected.get(piece, 0.0) for piece in pieces]), PRUNE, model.round, 0, True, dropped,
    )
