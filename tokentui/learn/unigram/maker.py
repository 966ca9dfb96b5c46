"""Making one model of a unigram training out of another: the passes over the corpus that this takes, in slices.

What was found for a model is kept until another model is asked about, so that looking at a step and going on from it
costs the passes once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tokentui.learn.unigram.lattice import Alternatives, Lattice, Survey
from tokentui.learn.unigram.model import EM, PRUNE, Model, Worths, cut
from tokentui.learn.unigram.plain import Engine, Slices, drain


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

    worth: Worths
    uses: Sequence[float]
    path: Callable[[int], list[int]]
    order: Sequence[int]
    coming: Model | None
    reasons: Mapping[int, str]


class Maker:
    """Makes models by an engine that a corpus is laid out in."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.seeds = engine.seeds
        every = bytearray(b"\1") * len(self.seeds.bytes)
        self._words: tuple[Model | None, bytearray, Lattice] = (None, every, engine.words)
        self._pieces: tuple[bytearray, Lattice, Sequence[int]] | None = None
        self._survey: tuple[Model, Survey] | None = None
        self._judged: tuple[Model, int, Judged] | None = None

    def next(self, model: Model, target: int, others: int) -> Slices[Model]:
        """The model after this one.

        Args:
            model: One that is not the last.
            target: The number of ids to end with.
            others: How many of them are no pieces.
        """
        kind = model.coming(target)
        engine = self.engine
        if kind == EM:
            known = yield from self.survey(model)
            expected = yield from engine.expected((yield from self._lattice(model)), model, known)
            return (yield from engine.maximised(model, expected))
        if kind == PRUNE:
            worth, _, _, _ = yield from self._worth(model)
            return engine.pruned(model, worth, target)
        other, _, nodes = yield from self._other(model)
        return cut(model, self.seeds, nodes, other, target - others)

    def survey(self, model: Model) -> Slices[Survey]:
        """What a model makes of the corpus."""
        if self._survey is None or self._survey[0] is not model:
            words = yield from self._lattice(model)
            self._survey = (model, (yield from self.engine.survey(words, model)))
        return self._survey[1]

    def judge(self, model: Model, target: int, others: int) -> Judged:
        """What the coming pruning would do to a model, or the last cut where that is next."""
        if self._judged is None or self._judged[0] is not model or self._judged[1] != target:
            self._judged = (model, target, drain(self._judge(model, target, others)))
        return self._judged[2]

    def _judge(self, model: Model, target: int, others: int) -> Slices[Judged]:
        worth, other, pieces, nodes = yield from self._worth(model)
        coming: Model | None = None
        if model.ready(target):
            coming = cut(model, self.seeds, nodes, other, target - others)
        elif model.coming(target):
            coming = self.engine.pruned(model, worth, target)
        reasons = dict(zip(coming.dropped.pieces, coming.dropped.reasons, strict=True)) if coming else {}
        return Judged(
            worth=worth,
            uses=(yield from self.survey(model)).uses,
            path=lambda piece: other.path(pieces, nodes[piece]),
            order=sorted(range(len(worth.loss)), key=worth.loss.__getitem__),
            coming=coming,
            reasons=reasons,
        )

    def _worth(self, model: Model) -> Slices[tuple[Worths, Alternatives, Lattice, Sequence[int]]]:
        known = yield from self.survey(model)
        other, pieces, nodes = yield from self._other(model)
        worth = yield from self.engine.losses(model, known.uses, pieces, nodes, other)
        return worth, other, pieces, nodes

    def _other(self, model: Model) -> Slices[tuple[Alternatives, Lattice, Sequence[int]]]:
        """How the pieces of a model would be cut, in their lattice."""
        alive = model.alive(self.seeds)
        if self._pieces is None or not _within(alive, self._pieces[0]):
            self._pieces = (alive, *(yield from self.engine.pieces(alive)))
        _, whole, nodes = self._pieces
        pieces = yield from self.engine.kept(whole, alive)
        return (yield from self.engine.alternatives(pieces, model)), pieces, nodes

    def _lattice(self, model: Model) -> Slices[Lattice]:
        """The lattice of the corpus with the edges of a model only."""
        last, flags, words = self._words
        if last is not model:
            alive = model.alive(self.seeds)
            if not _within(alive, flags):
                words = self.engine.words
            words = yield from self.engine.kept(words, alive)
            self._words = (model, alive, words)
        return words


def _within(some: bytearray, others: bytearray) -> bool:
    """Whether all that is flagged is flagged there too."""
    return not int.from_bytes(some, "little") & ~int.from_bytes(others, "little")
