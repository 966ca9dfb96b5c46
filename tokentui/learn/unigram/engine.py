"""The engine of a unigram training: a corpus laid out, and the passes over it by which one model is made out
of another.

What was found for a model is kept until another model is asked about, so that looking at a step and going on
from it costs the passes once. The passes run as they are written, or compiled; the numbers are the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tokentui.core import jit
from tokentui.core.jobs import tick
from tokentui.learn.kernels.unigram_passes import Others
from tokentui.learn.kernels.unigram_text import Strings, floats
from tokentui.learn.unigram import lattice as lattices
from tokentui.learn.unigram import model as models
from tokentui.learn.unigram.coded import PER_MILLE, code
from tokentui.learn.unigram.lattice import WRITTEN, Lattice, Slices, Survey, finished, other_path
from tokentui.learn.unigram.model import CUT, EM, PRUNE, REASONS, Dropped, Model, Worths
from tokentui.learn.unigram.seeds import lay_out
from tokentui.recipe import Recipe
from tokentui.text.count import Words


class Judged(NamedTuple):
    """The pieces of a model as a pruning sees them.

    Attributes:
        worth: The loss of each, in the order of the model, and why it goes whatever others are worth.
        uses: The count of each seed in the best segmentations.
        order: The places in the model by loss, the least first.
        going: The places that the coming pruning drops, by loss.
        reasons: Why it drops what it drops, by the seed.
        paths: The lattice of the pieces, the other segmentations in it, and the node of each seed; see
            `path`.
    """

    worth: Worths
    uses: Sequence[float]
    order: Sequence[int]
    going: Sequence[int]
    reasons: Mapping[int, str]
    paths: tuple[Lattice, Others, Sequence[int]]

    def path(self, piece: int) -> list[int]:
        """The seeds that stand for a piece when it is gone, in order."""
        lattice, others, nodes = self.paths
        return other_path(lattice, others, nodes[piece])


class Engine:
    """Makes models of a corpus.

    Args:
        words: The counted pre-tokens.
        recipe: The recipe to train by.
        lines: The documents that the words come from, see `coded.code`.
        seed_size: The most seeds of two or more units.
    """

    def __init__(self, words: Words, recipe: Recipe, lines: Sequence[str] | None, seed_size: int) -> None:
        self._run = WRITTEN
        if jit.loaded("unigram"):
            from tokentui.learn.kernels.unigram import PASSES  # needs Numba

            self._run = PASSES
        self._layout = lay_out(code(words, recipe, lines), seed_size, self._run)
        self.seeds = self._layout.seeds
        every = bytearray(b"\1") * len(self.seeds.bytes)
        build = lattices.build(self._layout.ground, self._layout.segments, every, self._run)
        self.words, _ = finished(build, lambda done: tick(int(800 + 200 * done), PER_MILLE))
        self._words: tuple[Model | None, bytearray, Lattice] = (None, every, self.words)
        self._pieces: tuple[bytearray, Lattice, array[int]] | None = None
        self._table: tuple[Model, array[float], array[float]] | None = None
        self._survey: tuple[Model, Survey] | None = None
        self._judged: tuple[Model, int, Judged] | None = None

    @property
    def compiled(self) -> bool:
        """True if the passes are compiled."""
        return self._run is not WRITTEN

    def first(self, max_length: int) -> Model:
        """The model of the seeds, without those longer than so many units."""
        return models.first_model(self.seeds, max_length, self._run)

    def next(self, model: Model, target: int, others: int) -> Slices[Model]:
        """The model after this one, which is not the last.

        Args:
            model: The model.
            target: The number of ids to end with.
            others: The number of them that are no pieces.
        """
        kind, run = model.coming(target), self._run
        if kind == EM:
            known = yield from self.survey(model)
            expected = yield from lattices.expectations(
                (yield from self._lattice(model)), *self._scores(model), known, run
            )
            return (yield from models.maximised(model, self.seeds, expected, run))
        if kind == PRUNE:
            worth, _ = yield from self._worth(model)
            return models.pruned(model, worth, target, run)
        _, other, nodes = yield from self._others(model)
        return models.cut(model, self.seeds, nodes, other, target - others)

    def survey(self, model: Model) -> Slices[Survey]:
        """Return the survey of the corpus by a model."""
        if self._survey is None or self._survey[0] is not model:
            words = yield from self._lattice(model)
            found = yield from lattices.survey(words, *self._scores(model), model.unknown, self._run)
            self._survey = (model, found)
        return self._survey[1]

    def without(self, model: Model, places: Sequence[int]) -> Model:
        """The model without the pieces at these places, for looking at: not one that training goes on
        from."""
        gone = set(places)
        return model.only(array("i", [n for n in range(len(model.pieces)) if n not in gone]), self._run)

    def judge(self, model: Model, target: int, others: int) -> Judged:
        """Judge the pieces of a model by the next pruning, or by the last cut if that is next."""
        if self._judged is None or self._judged[0] is not model or self._judged[1] != target:
            self._judged = (model, target, finished(self._judge(model, target, others)))
        return self._judged[2]

    def _judge(self, model: Model, target: int, others: int) -> Slices[Judged]:
        worth, paths = yield from self._worth(model)
        coming = None
        if model.ready(target):
            coming = models.cut(model, self.seeds, paths[2], paths[1], target - others)
        elif model.coming(target):
            coming = models.pruned(model, worth, target, self._run)
        dropped = coming.dropped if coming else Dropped()
        reasons = {piece: REASONS[why] for piece, why in zip(dropped.pieces, dropped.why, strict=True)}
        order = sorted(range(len(worth.loss)), key=worth.loss.__getitem__)
        drops = model.coming(target) in (PRUNE, CUT)
        going = [n for n in order if drops and model.pieces[n] in reasons]
        return Judged(worth, (yield from self.survey(model)).uses, order, going, reasons, paths)

    def _worth(self, model: Model) -> Slices[tuple[Worths, tuple[Lattice, Others, array[int]]]]:
        uses = (yield from self.survey(model)).uses
        pieces, other, nodes = yield from self._others(model)
        worth = yield from models.losses(model, self.seeds, uses, pieces, nodes, other, self._run)
        return worth, (pieces, other, nodes)

    def _others(self, model: Model) -> Slices[tuple[Lattice, Others, array[int]]]:
        """Return the lattice of a model's pieces, the other segmentations, and the node of each seed."""
        alive = model.alive(self.seeds)
        if self._pieces is None or not _within(alive, self._pieces[0]):
            self._pieces = (alive, *(yield from self._lattice_of_pieces(alive)))
        _, whole, nodes = self._pieces
        pieces = yield from lattices.kept(whole, alive, self._run)
        return pieces, (yield from lattices.alternatives(pieces, self._scores(model)[0], self._run)), nodes

    def _lattice_of_pieces(self, alive: bytearray) -> Slices[tuple[Lattice, array[int]]]:
        """The lattice of these seeds themselves, and the node of each."""
        _, ground, places, _ = self._layout
        chosen = array("i", [n for n, flag in enumerate(alive) if flag])
        starts = self._run.pick(places, chosen)
        ends = array("i", map(int.__add__, starts, self._run.pick(ground.sizes, chosen)))
        lattice, at = yield from lattices.build(
            ground, Strings(starts, ends, floats(len(chosen))), alive, self._run
        )
        nodes = array("i", bytes(4 * len(alive)))
        for seed, node in zip(chosen, at, strict=True):
            nodes[seed] = node
        return lattice, nodes

    def _lattice(self, model: Model) -> Slices[Lattice]:
        """The lattice of the corpus with the edges of a model only."""
        last, flags, words = self._words
        if last is not model:
            alive = model.alive(self.seeds)
            if not _within(alive, flags):
                words = self.words
            words = yield from lattices.kept(words, alive, self._run)
            self._words = (model, alive, words)
        return words

    def _scores(self, model: Model) -> tuple[array[float], array[float]]:
        """The score of each seed, that of the unknown where it is no piece, and the exponentials."""
        if self._table is None or self._table[0] is not model:
            size = len(self.seeds.bytes)
            scores, probabilities = floats(size, model.unknown), floats(size)
            self._run.spread(model.pieces, model.scores, scores, probabilities)
            self._table = (model, scores, probabilities)
        return self._table[1:]


def _within(some: bytearray, others: bytearray) -> bool:
    """True if every flag of the first set is set in the second."""
    return not int.from_bytes(some, "little") & ~int.from_bytes(others, "little")
