"""Making one model of a unigram training out of another: the passes over the corpus that this takes, in slices.

What was found for a model is kept until another model is asked about, so that looking at a step and going on from it
costs the passes once.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tokentui.learn.unigram.lattice import Alternatives, Lattice, Survey, alternatives, build, expectations, survey
from tokentui.learn.unigram.model import EM, PRUNE, Model, Worth, cut, losses, maximised, pruned
from tokentui.learn.unigram.seeds import Seeds

T = TypeVar("T")
Slices = Generator[None, None, T]


@dataclass(frozen=True, slots=True)
class Judged:
    """The pieces of a model as a pruning sees them.

    Attributes:
        worth: The loss of each, in the order of the model, and why it goes whatever others are worth.
        uses: How often each seed stands in the best segmentations.
        path: What would stand for a piece, in order; it and they are numbers of seeds.
        order: The places in the model by loss, least first.
        coming: The model that the next pruning, or the last cut, would leave; None where none is to come.
        reasons: Why it drops what it drops, by the number of the piece.
    """

    worth: Sequence[Worth]
    uses: Sequence[float]
    path: Callable[[int], list[int]]
    order: Sequence[int]
    coming: Model | None
    reasons: Mapping[int, str]


class Maker:
    """The lattices of a corpus, and models in them.

    Args:
        seeds: The seeds.
        words: The lattice of the corpus with all seeds.
        pieces: The lattice of the seeds themselves.
        nodes: The node of each seed in that.
    """

    def __init__(self, seeds: Seeds, words: Lattice, pieces: Lattice, nodes: Sequence[int]) -> None:
        self.seeds = seeds
        self._whole = (words, pieces)
        self._nodes = nodes
        self._laid: tuple[Model | None, bytearray, Lattice, Lattice] = (
            None, bytearray(b"\1") * len(seeds.pieces), words, pieces,
        )
        self._survey: tuple[Model, Survey] | None = None
        self._judged: tuple[Model, int, Judged] | None = None

    @classmethod
    def lay_out(cls, seeds: Seeds) -> Generator[float, None, Maker]:
        """Build both lattices. Yields how much is done, from 0 to 1."""
        ids = {piece: n for n, piece in enumerate(seeds.pieces)}
        longest = max(map(len, seeds.pieces), default=1)
        words, _ = yield from between(0.0, 0.5, build(seeds.segments, ids, longest))
        pieces, nodes = yield from between(0.5, 1.0, build(dict.fromkeys(seeds.pieces, 0), ids, longest))
        return cls(seeds, words, pieces, nodes)

    def next(self, model: Model, target: int, others: int) -> Slices[Model]:
        """The model after this one.

        Args:
            model: One that is not the last.
            target: The number of ids to end with.
            others: How many of them are no pieces.
        """
        kind = model.coming(target)
        if kind == EM:
            known = yield from self.survey(model)
            words, _ = yield from self._lattices(model)
            table, _ = model.table(self.seeds)
            yield
            expected = yield from expectations(words, table, known)
            return (yield from maximised(model, self.seeds, expected))
        if kind == PRUNE:
            worth, _, _ = yield from self._worth(model)
            return pruned(model, worth, target)
        other, _ = yield from self._other(model)
        return cut(model, self.seeds, self._nodes, other, target - others)

    def survey(self, model: Model) -> Slices[Survey]:
        """What a model makes of the corpus."""
        if self._survey is None or self._survey[0] is not model:
            words, _ = yield from self._lattices(model)
            table, least = model.table(self.seeds)
            yield
            self._survey = (model, (yield from survey(words, table, least)))
        return self._survey[1]

    def judge(self, model: Model, target: int, others: int) -> Judged:
        """What the coming pruning would do to a model, or the last cut where that is next."""
        if self._judged is None or self._judged[0] is not model or self._judged[1] != target:
            self._judged = (model, target, drain(self._judge(model, target, others)))
        return self._judged[2]

    def _judge(self, model: Model, target: int, others: int) -> Slices[Judged]:
        worth, other, pieces = yield from self._worth(model)
        coming: Model | None = None
        if model.ready(target):
            coming = cut(model, self.seeds, self._nodes, other, target - others)
        elif model.coming(target):
            coming = pruned(model, worth, target)
        reasons = dict(zip(coming.dropped.pieces, coming.dropped.reasons, strict=True)) if coming else {}
        return Judged(
            worth=worth,
            uses=(yield from self.survey(model)).uses,
            path=lambda piece: other.path(pieces, self._nodes[piece]),
            order=sorted(range(len(worth)), key=lambda n: worth[n].loss),
            coming=coming,
            reasons=reasons,
        )

    def _worth(self, model: Model) -> Slices[tuple[list[Worth], Alternatives, Lattice]]:
        known = yield from self.survey(model)
        other, pieces = yield from self._other(model)
        worth = yield from losses(model, self.seeds, known.uses, pieces, self._nodes, other)
        return worth, other, pieces

    def _other(self, model: Model) -> Slices[tuple[Alternatives, Lattice]]:
        _, pieces = yield from self._lattices(model)
        return (yield from alternatives(pieces, model.table(self.seeds)[0])), pieces

    def _lattices(self, model: Model) -> Slices[tuple[Lattice, Lattice]]:
        """Both lattices with the edges of a model only."""
        last, flags, words, pieces = self._laid
        if last is not model:
            alive = model.alive(self.seeds)
            if any(map(operator.gt, alive, flags)):
                words, pieces = self._whole
            words = yield from words.kept(alive)
            pieces = yield from pieces.kept(alive)
            self._laid = (model, alive, words, pieces)
        return words, pieces


def between(low: float, high: float, work: Generator[float, None, T]) -> Generator[float, None, T]:
    """The same work, what it says is done mapped from 0 … 1 to this range."""
    while True:
        try:
            done = next(work)
        except StopIteration as stop:
            result: T = stop.value
            return result
        yield low + (high - low) * done


def drain(work: Generator[object, None, T]) -> T:
    """Do all of it at once."""
    while True:
        try:
            next(work)
        except StopIteration as stop:
            result: T = stop.value
            return result
