"""The unigram model's engine in plain Python: a corpus laid out for it, and the passes that a training takes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import compress
from typing import Protocol, TypeVar

from tokentui.learn.unigram import lattice as lattices
from tokentui.learn.unigram import model as models
from tokentui.learn.unigram.coded import code
from tokentui.learn.unigram.lattice import Alternatives, Lattice, Survey
from tokentui.learn.unigram.model import Model, Worths
from tokentui.learn.unigram.seeds import Found, Seeds, find_seeds
from tokentui.recipe import Recipe
from tokentui.text.count import Words
from tokentui.text.patience import check

T = TypeVar("T")
Slices = Generator[None, None, T]


class Engine(Protocol):
    """What a training asks of an engine. All engines give the same numbers."""

    seeds: Seeds
    words: Lattice
    """The corpus with all seeds."""

    @classmethod
    def lay_out(
        cls, words: Words, recipe: Recipe, lines: Sequence[str] | None, size: int
    ) -> Generator[float, None, Engine]:
        """Lay a corpus out; the arguments are those of `coded.code` and `seeds.find_seeds`.

        Yields:
            How much is done, from 0 to 1.
        """

    def pieces(self, alive: bytearray) -> Slices[tuple[Lattice, Sequence[int]]]:
        """The lattice of these seeds themselves, with edges for these seeds, and the node of each."""

    def kept(self, lattice: Lattice, alive: bytearray) -> Slices[Lattice]:
        """The same lattice with the edges of these seeds only."""

    def first(self, max_length: int) -> Model:
        """The model of the seeds, without those longer than so many units."""

    def survey(self, lattice: Lattice, model: Model) -> Slices[Survey]:
        """What a model makes of a lattice."""

    def expected(self, lattice: Lattice, model: Model, known: Survey) -> Slices[Sequence[float]]:
        """How often a model expects each seed in a lattice, after a survey."""

    def maximised(self, model: Model, expected: Sequence[float]) -> Slices[Model]:
        """The model that expected counts lead to."""

    def alternatives(self, lattice: Lattice, model: Model) -> Slices[Alternatives]:
        """The other segmentations in a lattice of seeds."""

    def losses(
        self, model: Model, uses: Sequence[float], lattice: Lattice, nodes: Sequence[int], other: Alternatives
    ) -> Slices[Worths]:
        """What each piece of a model is worth."""

    def pruned(self, model: Model, worth: Worths, target: int) -> Model:
        """The model without the pieces of the least loss."""


class Plain:
    """The engine that is always there. `Engine` says what its methods do."""

    def __init__(self, found: Found, ids: dict[str, int], words: Lattice) -> None:
        self.seeds, self.words = found.seeds, words
        self._names, self._ids = found.pieces, ids

    @classmethod
    def lay_out(
        cls, words: Words, recipe: Recipe, lines: Sequence[str] | None, size: int
    ) -> Generator[float, None, Plain]:
        coded = yield from between(0.0, 0.1, code(words, recipe, lines))
        found = yield from between(0.1, 0.7, find_seeds(coded, size))
        ids = {piece: n for n, piece in enumerate(found.pieces)}
        lattice, _ = yield from between(0.7, 1.0, lattices.build(found.segments, ids, max(found.seeds.sizes, default=1)))
        return cls(found, ids, lattice)

    def pieces(self, alive: bytearray) -> Slices[tuple[Lattice, Sequence[int]]]:
        chosen = list(compress(range(len(alive)), alive))
        ids = {self._names[n]: n for n in chosen}
        longest = max((self.seeds.sizes[n] for n in chosen), default=1)
        lattice, at = yield from quietly(lattices.build(dict.fromkeys(ids, 0), ids, longest))
        nodes = [0] * len(alive)
        for n, node in zip(chosen, at, strict=True):
            nodes[n] = node
        return lattice, nodes

    def kept(self, lattice: Lattice, alive: bytearray) -> Slices[Lattice]:
        return lattice.kept(alive)

    def first(self, max_length: int) -> Model:
        return models.first_model(self.seeds, max_length)

    def survey(self, lattice: Lattice, model: Model) -> Slices[Survey]:
        table, least = model.table(self.seeds)
        yield
        return (yield from lattices.survey(lattice, table, least))

    def expected(self, lattice: Lattice, model: Model, known: Survey) -> Slices[Sequence[float]]:
        table, _ = model.table(self.seeds)
        yield
        return (yield from lattices.expectations(lattice, table, known))

    def maximised(self, model: Model, expected: Sequence[float]) -> Slices[Model]:
        return models.maximised(model, self.seeds, expected)

    def alternatives(self, lattice: Lattice, model: Model) -> Slices[Alternatives]:
        return lattices.alternatives(lattice, model.table(self.seeds)[0])

    def losses(
        self, model: Model, uses: Sequence[float], lattice: Lattice, nodes: Sequence[int], other: Alternatives
    ) -> Slices[Worths]:
        return models.losses(model, self.seeds, uses, lattice, nodes, other)

    def pruned(self, model: Model, worth: Worths, target: int) -> Model:
        return models.pruned(model, worth, target)


def between(low: float, high: float, work: Generator[float, None, T]) -> Generator[float, None, T]:
    """The same work, what it says is done mapped from 0 … 1 to this range."""
    while True:
        try:
            done = next(work)
        except StopIteration as stop:
            result: T = stop.value
            return result
        yield low + (high - low) * done


def quietly(work: Generator[object, None, T]) -> Slices[T]:
    """The same work without what it says."""
    while True:
        try:
            next(work)
        except StopIteration as stop:
            result: T = stop.value
            return result
        yield


def drain(work: Generator[object, None, T]) -> T:
    """Do all of it at once; somebody may stop it."""
    while True:
        try:
            check()
            next(work)
        except StopIteration as stop:
            result: T = stop.value
            return result
