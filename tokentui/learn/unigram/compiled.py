"""The unigram model's engine with compiled kernels; its numbers are those of `plain.Plain`.

`tokentui.core.jit.load` has to have said yes before this module is imported.
"""

from __future__ import annotations

from array import array
from collections.abc import Generator, Iterable, Sequence
from math import inf, log
from typing import Any

import numpy as np

from tokentui.learn.kernels import unigram_lattice, unigram_passes
from tokentui.learn.unigram import model as models
from tokentui.learn.unigram.coded import MAX_LENGTH, code
from tokentui.learn.unigram.compiled_seeds import Ground, find_seeds
from tokentui.learn.unigram.lattice import Alternatives, Lattice, Survey
from tokentui.learn.unigram.model import Dropped, Model, Worths, digamma
from tokentui.learn.unigram.plain import Slices, between, quietly
from tokentui.recipe import Recipe
from tokentui.text.count import Words

CHUNK = 1 << 16
"""How many edges are handled between two looks at the clock: less than a millisecond."""
_STRINGS = 1 << 13


class Compiled:
    """The engine where kernels are loaded. `plain.Engine` says what its methods do."""

    def __init__(self, ground: Ground, words: Lattice) -> None:
        self.seeds, self.words = ground.seeds, words
        self._ground = ground
        self._table: tuple[Model | None, Any, Any, float] = (None, None, None, 0.0)

    @classmethod
    def lay_out(
        cls, words: Words, recipe: Recipe, lines: Sequence[str] | None, size: int
    ) -> Generator[float, None, Compiled]:
        coded = yield from between(0.0, 0.3, code(words, recipe, lines))
        ground = yield from between(0.3, 0.8, find_seeds(coded, size))
        every = np.ones(len(ground.seeds.bytes), np.uint8)
        lattice, _ = yield from between(0.8, 1.0, _build(ground, ground.starts, ground.ends, ground.weights, every))
        return cls(ground, lattice)

    def pieces(self, alive: bytearray) -> Slices[tuple[Lattice, Sequence[int]]]:
        ground = self._ground
        flags = np.asarray(alive)
        chosen = np.flatnonzero(flags)
        starts = ground.places[chosen]
        none = np.zeros(len(chosen))
        lattice, at = yield from quietly(_build(ground, starts, starts + ground.sizes[chosen], none, flags))
        nodes, filled = _new("i", len(alive))
        filled[chosen] = at
        return lattice, nodes

    def kept(self, lattice: Lattice, alive: bytearray) -> Slices[Lattice]:
        flags = np.asarray(alive)
        target, source, piece = _edges(lattice)
        left = int(np.count_nonzero(flags[piece]))
        (targets, target_), (sources, source_), (pieces, piece_) = (_new("i", left) for _ in range(3))
        yield
        count = 0
        for low, high in _chunks(0, len(target)):
            count = unigram_passes.keep(target, source, piece, low, high, flags, target_, source_, piece_, count)
            yield
        return lattice._replace(target=targets, source=sources, piece=pieces)

    def first(self, max_length: int) -> Model:
        seeds = self.seeds
        sizes = np.array(seeds.sizes, np.int64)
        chosen = np.flatnonzero((sizes <= max_length) | (np.arange(len(sizes)) < seeds.units))
        counts = np.array(seeds.counts, np.int64)[chosen]
        worth = counts * sizes[chosen]
        scores = np.empty(len(chosen))
        unigram_passes.logarithms(worth.astype(np.float64), scores, 0, len(scores))
        total = log(int(worth.sum())) if len(worth) else 0.0
        return Model(_array("i", chosen), _array("d", scores - total), _array("d", counts))

    def survey(self, lattice: Lattice, model: Model) -> Slices[Survey]:
        scores, probabilities, least = self._scores(model)
        target, source, piece = _edges(lattice)
        count, shallow = lattice.nodes, lattice.shallow(least)
        alpha, best, back, flow = _zeros(count), np.full(count, -inf), np.zeros(count, np.int32), np.zeros(count)
        alpha[0], best[0] = 1.0, 0.0
        yield
        for low, high in _chunks(0, shallow):
            unigram_passes.forward(target, source, piece, low, high, probabilities, scores, alpha, best, back)
            yield
        logs = _zeros(0)
        if shallow < len(target):
            logs = _zeros(count)
            for low, high in _chunks(0, count):
                unigram_passes.logarithms(alpha, logs, low, high)
                yield
        for low, high in _chunks(shallow, len(target)):
            unigram_passes.forward_logs(target, source, piece, low, high, scores, logs, best, back)
            yield
        ends, weights = np.asarray(lattice.ends), np.asarray(lattice.weights)
        likelihood = unigram_passes.likelihood(ends, weights, logs if len(logs) else alpha, len(logs) > 0, flow)
        uses, filled = _new("d", len(scores))
        yield
        for low, high in reversed(list(_chunks(1, count))):
            unigram_passes.count_uses(source, piece, back, flow, filled, low, high - 1)
            yield
        return Survey(alpha, logs, shallow, likelihood, uses)

    def expected(self, lattice: Lattice, model: Model, known: Survey) -> Slices[Sequence[float]]:
        scores, probabilities, _ = self._scores(model)
        target, source, piece = _edges(lattice)
        alpha: Any = known.alpha
        shallow, count = known.shallow, len(lattice.target)
        deep = lattice.target[shallow] if shallow < count else lattice.nodes
        ends, weights = np.asarray(lattice.ends), np.asarray(lattice.weights)
        beta = np.zeros(lattice.nodes)
        expected: Sequence[float]
        expected, filled = _new("d", len(scores))
        early = ends < deep
        beta[ends[~early]] = weights[~early]
        beta[ends[early]] = weights[early] / alpha[ends[early]]
        yield
        for low, high in reversed(list(_chunks(shallow, count))):
            unigram_passes.backward_logs(target, source, piece, low, high, scores, alpha, known.log_alpha, deep, beta, filled)
            yield
        for low, high in reversed(list(_chunks(0, shallow))):
            unigram_passes.backward(target, source, piece, low, high, probabilities, alpha, beta, filled)
            yield
        return expected

    def maximised(self, model: Model, expected: Sequence[float]) -> Slices[Model]:
        counts = self._credited(model, expected)
        yield
        rare = counts < models.LEAST_EXPECTED
        if rare.all():
            rare[:] = False
        pieces = np.asarray(model.pieces)
        kept, left = counts[~rare], counts[rare]
        scores, filled = _new("d", len(kept))
        unigram_passes.digammas(np.maximum(kept, models.LEAST_COUNT), digamma(sum(kept.tolist())), filled)
        dropped = Dropped(_array("i", pieces[rare]), [models.RARE] * len(left), _array("d", left))
        return model.after_em(_array("i", pieces[~rare]), scores, _array("d", kept), dropped)

    def alternatives(self, lattice: Lattice, model: Model) -> Slices[Alternatives]:
        scores, _, _ = self._scores(model)
        target, source, piece = _edges(lattice)
        whole = np.full(lattice.nodes, -inf)
        (own, own_), (best, best_), (back, back_), (alone, alone_) = (_new(kind, lattice.nodes) for kind in "ddii")
        own_[:] = best_[:] = -inf
        yield
        for low, high in _chunks(0, len(lattice.target)):
            unigram_passes.alternatives(target, source, piece, low, high, scores, whole, own_, best_, back_, alone_)
            yield
        return Alternatives(own, best, back, alone)

    def losses(
        self, model: Model, uses: Sequence[float], lattice: Lattice, nodes: Sequence[int], other: Alternatives
    ) -> Slices[Worths]:
        mine = self._credited(model, uses)
        pieces = np.asarray(model.pieces)
        index = np.zeros(len(self.seeds.bytes), np.int32)
        index[pieces] = np.arange(len(pieces))
        loss, filled = _new("d", len(pieces))
        why, parts = np.zeros(len(pieces), np.uint8), np.empty(MAX_LENGTH, np.int32)
        _, source, piece = _edges(lattice)
        own, best, back, alone = (np.asarray(one) for one in other)
        total = sum(mine.tolist())
        yield
        for low, high in _chunks(0, len(pieces), CHUNK >> 4):
            unigram_passes.losses(
                source, piece, pieces, np.asarray(nodes), mine, total, index,
                own, best, back, alone, parts, filled, why, low, high,
            )
            yield
        return Worths(loss, [_REASONS[one] for one in why.tolist()])

    def pruned(self, model: Model, worth: Worths, target: int) -> Model:
        loss, goes = np.asarray(worth.loss), worth.goes
        going = np.fromiter(map(bool, goes), bool, len(goes))
        may = np.flatnonzero(~going & (loss != inf))
        may = may[np.argsort(-loss[may], kind="stable")]
        must = np.flatnonzero(loss == inf)
        room = max(0, models.pruned_size(len(loss), target) - len(must))
        kept, low, first = np.concatenate((must, may[:room])), may[room:], np.flatnonzero(going)
        pieces, scores, expected = (np.asarray(one) for one in (model.pieces, model.scores, model.expected))
        splits = loss[first] == -inf
        dropped = Dropped(
            _array("i", np.concatenate((pieces[first], pieces[low]))),
            [goes[n] for n in first.tolist()] + [models.LOW_LOSS] * len(low),
            _array("d", np.concatenate((np.where(splits, scores[first], loss[first]), loss[low]))),
        )
        return model.after_pruning(_array("i", pieces[kept]), _array("d", scores[kept]), _array("d", expected[kept]), dropped)

    def _scores(self, model: Model) -> tuple[Any, Any, float]:
        """Of each seed the score and its exponential, that of the unknown where it is no piece, and the least score."""
        if self._table[0] is not model:
            unknown = model.unknown
            scores = np.full(len(self.seeds.bytes), unknown)
            scores[np.asarray(model.pieces)] = np.asarray(model.scores)
            probabilities = np.empty(len(scores))
            unigram_passes.exponentials(scores, probabilities)
            self._table = (model, scores, probabilities, unknown)
        return self._table[1:]

    def _credited(self, model: Model, figures: Sequence[float]) -> Any:
        """As `model.credited`."""
        all_, pieces = np.asarray(figures), np.asarray(model.pieces)
        out = all_[pieces]
        if len(out):
            missing = np.ones(self.seeds.units, bool)
            missing[pieces[pieces < self.seeds.units]] = False
            out[0] += sum(all_[: self.seeds.units][missing].tolist()) + self.seeds.unknown
        return out


_REASONS = {0: "", unigram_passes.SPLITS: models.SPLITS, unigram_passes.UNUSED: models.UNUSED}


def _build(ground: Ground, starts: Any, ends: Any, weights: Any, alive: Any) -> Generator[float, None, tuple[Lattice, Any]]:
    """Lay out the lattice of strings of the text; the arguments and what is returned are those of `lattice.build`."""
    most = int((ends - starts).sum()) + 1
    bits = max(4, (2 * most).bit_length())
    keys, values = np.zeros(1 << bits, np.uint64), np.empty(1 << bits, np.int32)
    parents, depths, spots = (np.zeros(most, np.int32) for _ in range(3))
    at = np.empty(len(starts), np.int32)
    count = 1
    for low, high in _chunks(0, len(starts), _STRINGS):
        count = unigram_lattice.grow(
            ground.text, starts, ends, low, high, keys, values, 64 - bits, parents, depths, spots, count, at
        )
        yield 0.6 * high / len(starts)
    parents, depths, spots = parents[:count], depths[:count], spots[:count]
    levels = np.concatenate(([0], np.cumsum(np.bincount(depths))))
    numbers = np.empty(count, np.int32)
    unigram_lattice.number(depths, count, levels.copy(), numbers)
    ordered = np.argsort(numbers)
    parents, depths, spots, at = numbers[parents[ordered]], depths[ordered], spots[ordered], numbers[at]
    yield 0.7
    fixed = (ground.text, spots, depths, parents, ground.units, ground.lengths, ground.deepest, ground.links, ground.sizes, alive)
    way, none = np.empty(MAX_LENGTH + 1, np.int32), np.empty(0, np.int32)
    total = unigram_lattice.edges(*fixed, 1, count, way, none, none, none)
    yield 0.8
    arrays, filled = zip(*(_new("i", total) for _ in range(3)), strict=True)
    done = 0
    for low, high in _chunks(1, count):
        done += unigram_lattice.edges(*fixed, low, high, way, *(one[done:] for one in filled))
        yield 0.8 + 0.2 * high / count
    # The nodes that strings end in, in the order of the strings.
    sums = np.bincount(at, weights, count)
    first = np.empty(count, np.int32)
    first[at[::-1]] = np.arange(len(at) - 1, -1, -1)
    last = at[(first[at] == np.arange(len(at))) & (sums[at] > 0)]
    return Lattice(levels.tolist(), _array("i", last), _array("d", sums[last]), *arrays), at


def _edges(lattice: Lattice) -> tuple[Any, Any, Any]:
    return np.asarray(lattice.target), np.asarray(lattice.source), np.asarray(lattice.piece)


def _zeros(size: int) -> Any:
    return np.zeros(size)


def _chunks(low: int, high: int, size: int = CHUNK) -> Iterable[tuple[int, int]]:
    return ((at, min(at + size, high)) for at in range(low, high, size))


def _new(kind: str, size: int) -> tuple[Any, Any]:
    """An array of zeros, and NumPy's view of it."""
    made = array(kind, bytes(array(kind).itemsize * size))
    return made, np.asarray(made)


def _array(kind: str, values: Any) -> Any:
    made, filled = _new(kind, len(values))
    filled[:] = values
    return made
