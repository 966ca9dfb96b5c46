"""A unigram model at one step of its training, and the four ways to make the next one (Kudo 2018).

    seeds       the share of each piece in the sum of count · length
    EM          p(k) from the expected counts of all segmentations; pieces expected less than 0.5 times go
    pruning     three quarters of the pieces stay: those of the greatest loss
    last cut    every unit and the most probable pieces

Source: sentencepiece 0.2.3, `unigram_model_trainer.cc`, in double precision. Its treatment of units that are
no piece any more is kept, since scores depend on it: such a unit scores ten less than the least piece, and
its expected count is added to the first piece of the model.
"""

from __future__ import annotations

import functools
import operator
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from math import inf
from typing import Any, NamedTuple, TypeVar

import tokentui.learn.unigram.lattice as lattices
from tokentui.core import engines
from tokentui.core.jobs import check, in_blocks, tick
from tokentui.learn.kernels.unigram_passes import SPLITS, Others, digamma
from tokentui.learn.kernels.unigram_text import Strings, floats, ints
from tokentui.learn.unigram.corpus import PER_MILLE, code, lay_out
from tokentui.learn.unigram.lattice import WRITTEN, Lattice, Slices, Survey, finished, other_path, over
from tokentui.recipe import Recipe
from tokentui.text.count import Words

SUB_ROUNDS = 2
"""Rounds of expectation and maximization before each pruning."""
SHRINK = 0.75
"""The least share of the pieces that a pruning keeps."""
SPARE = 1.1
"""Pruning ends at this multiple of the size asked for."""
LEAST_EXPECTED = 0.5
"""The expected count in the whole corpus below which a piece is dropped."""
LEAST_COUNT = 1e-3
"""The least expected count that the score of a piece is computed from."""
UNKNOWN_PENALTY = 10.0
"""How much less than the least piece a unit that is no piece scores."""
_REQUIRED_STEP = 0.0001
_STAYS = b"\1" + bytes(255)
"""A translation table from reasons to flags: 1 for no reason to go."""

EM, PRUNE, CUT = "em", "prune", "cut"
"""The kinds of steps. The last cut is recorded as a pruning."""

RARE, LOW_LOSS, LOW_SCORE = 3, 4, 5
REASONS = ("", "own best path splits", "in no best segmentation", "expected < 0.5", "low loss", "low score")
"""Why a piece is dropped: its parts together are more probable (`SPLITS`); no word of the corpus has it in
its best segmentation (`UNUSED`); it is not expected even once, rounded (`RARE`); the corpus is hardly less
probable without it (`LOW_LOSS`); others are more probable, and the vocabulary is full (`LOW_SCORE`)."""


T = TypeVar("T")


class Dropped(NamedTuple):
    """The pieces that a step dropped.

    Attributes:
        pieces: The number of each among the seeds.
        why: The index in `REASONS` for each.
        figures: The figure that decided for each: the expected count, the loss, or the score (also for
            `SPLITS`).
    """

    pieces: array[int] = array("i")
    why: bytes = b""
    figures: array[float] = array("d")


@dataclass(frozen=True, slots=True)
class Model:
    """The pieces of one step, in an order of their own, which is not that of the ids.

    Attributes:
        pieces: The numbers of the pieces among the seeds. The counts of unknown units go to the first piece.
        scores: Their natural log probabilities.
        expected: The expected count of each in the corpus, from the last EM step; for the model of the seeds
            their counts in the corpus.
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

    def next_kind(self, target: int) -> str:
        """Return the kind of the next step toward a vocabulary of `target` ids; empty at the end."""
        if self.final or not self.pieces:
            return ""
        if self.rest:
            return EM
        if self.what == EM:
            return PRUNE
        return CUT if self.ready(target) else EM

    def ready(self, target: int) -> bool:
        """Return whether pruning is over: the last step was a pruning, and few enough pieces are left."""
        return self.what == PRUNE and not self.final and len(self.pieces) <= int(target * SPARE)

    @property
    def unknown(self) -> float:
        """The score of a unit that is no piece."""
        return min(self.scores, default=0.0) - UNKNOWN_PENALTY

    def steps_left(self, target: int) -> int:
        """Estimate the number of steps that remain to a vocabulary of `target` ids."""
        size = len(self.pieces)
        if self.final or not size:
            return 0
        steps = 1
        if self.what != PRUNE or not self.ready(target):
            steps += self.rest if self.what != PRUNE else SUB_ROUNDS
            while True:
                steps += 1
                size = pruned_size(size, target)
                if size <= int(target * SPARE):
                    break
                steps += SUB_ROUNDS
        return steps


def pruned_size(size: int, target: int) -> int:
    """Return how many of `size` pieces a pruning keeps, for a vocabulary of `target` ids."""
    return max(int(target * SPARE), int(SHRINK * size))


class Worths(NamedTuple):
    """The loss of each piece of a model, in the order of the model.

    Attributes:
        loss: The losses.
        why: The index in `REASONS` of each piece that a pruning drops whatever its loss is, else 0.
    """

    loss: array[float]
    why: bytearray


class Alternatives(NamedTuple):
    """The segmentations of the pieces themselves into other pieces.

    Attributes:
        lattice: The lattice of the pieces as strings.
        nodes: The node at the end of each seed's string.
        others: The best other segmentation of the string of each node.
    """

    lattice: Lattice
    nodes: array[int]
    others: Others


class Judgment(NamedTuple):
    """The pieces of a model as the next pruning judges them.

    Attributes:
        worth: The loss of each piece.
        uses: The uses of each seed in the best segmentations, by weight.
        order: The indexes of the pieces in the model, the least loss first.
        going: The indexes of the pieces that the pruning drops, the least loss first.
        reasons: Why it drops each, by the number of the seed.
        alternatives: The segmentations of the pieces into other pieces.
    """

    worth: Worths
    uses: Sequence[float]
    order: Sequence[int]
    going: Sequence[int]
    reasons: Mapping[int, str]
    alternatives: Alternatives

    def path(self, piece: int) -> list[int]:
        """Return the seeds that replace a piece when it is dropped, in order; empty if nothing can."""
        lattice, nodes, others = self.alternatives
        return other_path(lattice, others, nodes[piece])


def _cached(work: Callable[..., Slices[T]]) -> Callable[..., Slices[T]]:
    """Decorate a method of `Models` to keep its last result, until it is called for another model.

    So showing a step and going on from it make the passes over the corpus once.
    """

    @functools.wraps(work)
    def cached(self: Models, model: Model, *more: int) -> Slices[T]:
        """Do the work if its result for this model and these arguments is not the last one."""
        last = self.results.get(work.__name__)
        if last is None or last[0] is not model or last[1] != more:
            last = self.results[work.__name__] = model, more, (yield from work(self, model, *more))
        value: T = last[2]
        return value

    return cached


class Models:
    """The models of a corpus. The passes over it are plain Python or compiled, with the same results.

    Args:
        words: The counted pre-tokens.
        recipe: The recipe to train by.
        lines: The documents that the words come from, None if they are not known; see `corpus.code`.
        seed_size: The most seeds of two or more units.
    """

    def __init__(self, words: Words, recipe: Recipe, lines: Sequence[str] | None, seed_size: int) -> None:
        self.run = WRITTEN
        if engines.available():
            from tokentui.learn.kernels.unigram import PASSES

            self.run = PASSES
        self.results: dict[str, tuple[Model, tuple[int, ...], Any]] = {}
        """The model, the further arguments and the last result of each cached method, by its name."""
        self.seeds = seeds = lay_out(code(words, recipe, lines), seed_size, self.run)
        every = bytearray(b"\1") * len(seeds.bytes)
        build = lattices.build(seeds.ground, seeds.segments, every, self.run, lattices.MOST_EDGES)
        self.words, _ = finished(
            build, lambda done: tick(int(800 + 200 * done), PER_MILLE) if done else check()
        )
        self._words = every, self.words
        self._pieces: tuple[bytearray, Lattice, array[int]] | None = None

    # ---- the four ways

    def first(self, max_length: int) -> Model:
        """Return the model of the seeds of at most `max_length` units: each one's share of count · length."""
        seeds, pieces, counts = self.seeds, array("i"), array("d")
        for part in in_blocks(range(len(seeds.bytes))):
            chosen = [n for n in part if seeds.sizes[n] <= max_length or n < seeds.units]
            pieces.extend(chosen)
            counts.extend([seeds.counts[n] for n in chosen])
        scores = floats(len(pieces))
        self.run.first_scores(counts, pieces, seeds.sizes, scores)
        return Model(pieces, scores, counts)

    def next(self, model: Model, target: int, others: int) -> Slices[Model]:
        """Make the next model, in slices. The model must not be the last one.

        Args:
            model: The model.
            target: The number of ids to end with.
            others: How many of these ids are no pieces.
        """
        kind = model.next_kind(target)
        if kind == EM:
            return (yield from self.maximized(model, (yield from self.expected(model))))
        if kind == PRUNE:
            return self._pruned(model, (yield from self.worth(model)), target)
        return self._cut(model, (yield from self.alternatives(model)), target - others)

    def expected(self, model: Model) -> Slices[array[float]]:
        """Return the expected count of each seed in the corpus, by weight."""
        known = yield from self.survey(model)
        words = yield from self.lattice(model)
        return (yield from lattices.expectations(words, *(yield from self.tables(model)), known, self.run))

    def maximized(self, model: Model, expected: array[float]) -> Slices[Model]:
        """Make the next model of expected counts: drop rare pieces, and score the others by a sparse prior.

            log p(k) = digamma(c(k)) - digamma(Σ c)

        Source of the prior: Liang and Klein 2007, variational Bayes for probabilistic grammars.
        """
        run = self.run
        counts, _ = self._credited(model, expected)
        kept, rare = ints(len(counts)), ints(len(counts))
        size = run.frequent(counts, LEAST_EXPECTED, kept, rare)
        if not size:  # a corpus of a few words may expect nothing: there is nothing to choose by
            size = run.frequent(counts, 0.0, kept, rare)
        kept, rare = kept[:size], rare[: len(counts) - size]
        left, scores = run.pick(counts, kept), floats(size)
        # From left to right: `sum` compensates rounding from Python 3.12 on, and gives other last bits.
        total = digamma(functools.reduce(operator.add, left)) if left else 0.0
        yield from over(run.maximise, 0, size, run.CHUNK, left, LEAST_COUNT, total, scores)
        dropped = Dropped(run.pick(model.pieces, rare), bytes((RARE,)) * len(rare), run.pick(counts, rare))
        turn, rest = (model.round, model.rest) if model.rest else (model.round + 1, SUB_ROUNDS)
        return Model(run.pick(model.pieces, kept), scores, left, EM, turn, rest - 1, dropped=dropped)

    def _pruned(self, model: Model, worth: Worths, target: int) -> Model:
        """Return the model after a pruning, with what it dropped.

        Pieces with a reason to go whatever their loss is go first, then those of the least loss.
        """
        loss, why, run = worth.loss, worth.why, self.run
        going = list(compress(range(len(loss)), why))
        order = run.descending(loss, list(compress(range(len(loss)), why.translate(_STAYS))))
        # nothing replaces what has an infinite loss
        room = max(pruned_size(len(loss), target), loss.count(inf))
        low = order[room:]
        figures = array("d", [model.scores[n] if why[n] == SPLITS else loss[n] for n in going])
        dropped = Dropped(
            run.pick(model.pieces, [*going, *low]),
            bytes([why[n] for n in going]) + bytes((LOW_LOSS,)) * len(low),
            figures + run.pick(loss, low),
        )
        return replace(self._only(model, order[:room]), what=PRUNE, rest=0, dropped=dropped)

    def _cut(self, model: Model, alternatives: Alternatives, size: int) -> Model:
        """Return the last model, of `size` pieces: every unit, then the most probable other pieces.

        A piece that is less probable than its parts together is left out. There may be more pieces if there
        are more units, and fewer if too few pieces are left.
        """
        nodes, others, exact = alternatives.nodes, alternatives.others, self.seeds.bytes
        scores = dict(zip(model.pieces, model.scores, strict=True))
        gone = [
            (piece, scores.pop(piece), SPLITS) for piece in model.pieces
            if others.best[nodes[piece]] > others.own[nodes[piece]]
        ]
        least, missing = min(scores.values(), default=0.0), 0
        chosen: dict[int, float] = {}
        for unit in range(self.seeds.units):
            chosen[unit] = scores[unit] if unit in scores else min(0.0, least + missing * _REQUIRED_STEP)
            missing += unit not in scores
        several = sorted(
            (piece for piece in scores if piece not in chosen),
            key=lambda piece: (-scores[piece], exact[piece]),
        )
        room = max(0, size - len(chosen))
        chosen |= {piece: scores[piece] for piece in several[:room]}
        gone += [(piece, scores[piece], LOW_SCORE) for piece in several[room:]]
        dropped = Dropped(
            array("i", [piece for piece, _, _ in gone]), bytes(why for _, _, why in gone),
            array("d", [figure for _, figure, _ in gone]),
        )
        pieces = sorted(chosen, key=lambda piece: (-chosen[piece], exact[piece]))
        expected = dict(zip(model.pieces, model.expected, strict=True))
        return Model(
            array("i", pieces), array("d", map(chosen.__getitem__, pieces)),
            array("d", [expected.get(piece, 0.0) for piece in pieces]), PRUNE, model.round, 0, True, dropped,
        )

    # ---- figures of a model

    @_cached
    def survey(self, model: Model) -> Slices[Survey]:
        """Return the likelihood of the corpus by a model and the uses of each seed, in slices."""
        words = yield from self.lattice(model)
        return (yield from lattices.survey(words, *(yield from self.tables(model)), model.unknown, self.run))

    @_cached
    def judge(self, model: Model, target: int, others: int) -> Slices[Judgment]:
        """Judge the pieces of a model as the next pruning does, or as the last cut if that is next.

        At the end of the training nothing is dropped.
        """
        worth, paths = (yield from self.worth(model)), (yield from self.alternatives(model))
        kind, dropped = model.next_kind(target), Dropped()
        if kind == CUT:
            dropped = self._cut(model, paths, target - others).dropped
        elif kind:
            dropped = self._pruned(model, worth, target).dropped
        reasons = {piece: REASONS[why] for piece, why in zip(dropped.pieces, dropped.why, strict=True)}
        order = sorted(range(len(worth.loss)), key=worth.loss.__getitem__)
        going = [n for n in order if kind in (PRUNE, CUT) and model.pieces[n] in reasons]
        return Judgment(worth, (yield from self.survey(model)).uses, order, going, reasons, paths)

    def without(self, model: Model, places: Iterable[int]) -> Model:
        """Return a model without the pieces at some indexes, to look at; training does not go on from it."""
        gone = set(places)
        return self._only(model, array("i", [n for n in range(len(model.pieces)) if n not in gone]))

    def _only(self, model: Model, which: array[int]) -> Model:
        """Return a model of the pieces at some indexes, in this order."""
        pieces, scores, expected = (
            self.run.pick(values, which) for values in (model.pieces, model.scores, model.expected)
        )
        return replace(model, pieces=pieces, scores=scores, expected=expected, dropped=Dropped())

    @_cached
    def worth(self, model: Model) -> Slices[Worths]:
        """Compute the loss of each piece of a model.

        The loss is how much the log probability of a token of the corpus falls, on average, when every use of
        the piece is replaced by its best other segmentation. It is infinite if there is no other
        segmentation.
        """
        seeds, run, size = self.seeds, self.run, len(model.pieces)
        lattice, nodes, other = yield from self.alternatives(model)
        mine, total = self._credited(model, (yield from self.survey(model)).uses)
        index, loss, why = ints(len(seeds.bytes)), floats(size), bytearray(size)
        run.rank(model.pieces, 0, size, index)
        parts, single = ints(max(seeds.sizes, default=1) + 1), array("f", [0.0])
        tables = lattice.edges, other, model.pieces, nodes, mine, total, index, parts, single
        yield from over(run.losses, 0, size, max(1, run.CHUNK >> 4), *tables, loss, why)
        return Worths(loss, why)

    @_cached
    def alternatives(self, model: Model) -> Slices[Alternatives]:
        """Find the best segmentation of each piece of a model into other pieces."""
        alive = self._alive(model)
        if self._pieces is None or not _within(alive, self._pieces[0]):
            self._pieces = alive, *(yield from self._lattice_of_pieces(alive))
        _, whole, nodes = self._pieces
        lattice = yield from lattices.kept(whole, alive, self.run)
        scores, _ = yield from self.tables(model)
        return Alternatives(lattice, nodes, (yield from lattices.alternatives(lattice, scores, self.run)))

    def _lattice_of_pieces(self, alive: bytearray) -> Slices[tuple[Lattice, array[int]]]:
        """Build the lattice of some seeds as strings. Return it with the node of each seed."""
        ground, chosen = self.seeds.ground, array("i", compress(range(len(alive)), alive))
        starts = self.run.pick(self.seeds.places, chosen)
        ends = array("i", map(int.__add__, starts, self.run.pick(ground.sizes, chosen)))
        lattice, at = yield from lattices.build(
            ground, Strings(starts, ends, floats(len(chosen))), alive, self.run
        )
        nodes = ints(len(alive))
        for seed, node in zip(chosen, at, strict=True):
            nodes[seed] = node
        return lattice, nodes

    @_cached
    def lattice(self, model: Model) -> Slices[Lattice]:
        """Return the lattice of the corpus with only the edges of a model's pieces and units."""
        alive = self._alive(model)
        flags, words = self._words
        words = yield from lattices.kept(words if _within(alive, flags) else self.words, alive, self.run)
        self._words = alive, words
        return words

    @_cached
    def tables(self, model: Model) -> Slices[tuple[array[float], array[float]]]:
        """Return the score of each seed, and its exponential. A seed that is no piece scores as unknown."""
        size = len(self.seeds.bytes)
        scores, probabilities = floats(size, model.unknown), floats(size)
        self.run.spread(model.pieces, model.scores, scores, probabilities)
        yield 0.0
        return scores, probabilities

    def _alive(self, model: Model) -> bytearray:
        """Return a new array of flags, one per seed: 1 for the pieces and for every unit, which have
        edges."""
        flags = bytearray(b"\1") * self.seeds.units + bytearray(len(self.seeds.bytes) - self.seeds.units)
        for piece in model.pieces:
            flags[piece] = 1
        return flags

    def _credited(self, model: Model, figures: array[float]) -> tuple[array[float], float]:
        """Return the figure of each piece of a model, and their sum.

        The figures of units that are no piece, and of unknown texts, are added to the first piece.
        """
        units, out = self.seeds.units, floats(len(model.pieces))
        total = self.run.credit(
            figures, model.pieces, units, float(self.seeds.unknown), bytearray(units), out
        )
        return out, total


def _within(some: bytearray, others: bytearray) -> bool:
    """Return whether every flag that is set in `some` is set in `others`."""
    return not int.from_bytes(some, "little") & ~int.from_bytes(others, "little")
