"""The second stage of SuperBPE with kernels. Every number is that of the plain engine (`stretches`).

`tokentui.core.native.available` has to have said yes before this module is imported.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any

from tokentui.core.native import COMPILED
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.bases import WEIGHTS
from tokentui.learn.compiled import KernelPairs
from tokentui.learn.kernels import layout
from tokentui.learn.kernels.merges import CLOSES, COLON, HOLDS, OPENS
from tokentui.learn.objectives import Material
from tokentui.learn.stretches import PlainStretches, Stage, spans_of
from tokentui.learn.values import Constraints, History, Merged, Span


def _extent(piece: bytes, units: int) -> tuple[int, int, int]:
    """The row of a symbol: its units, its parts between spaces, and its edges."""
    edges = OPENS * piece.startswith(b" ") | CLOSES * piece.endswith(b" ")
    edges |= COLON * piece.endswith(b":") | HOLDS * (b": " in piece)
    return units, sum(map(bool, piece.split(b" "))), edges


class _Pairs(KernelPairs):
    """The pairs of the stretches; its steps are numbered from the switch on."""

    _per_symbol = ("extents",)

    def __init__(self, material: Material, stage: Stage) -> None:
        self._stage = stage
        uses = array("q", bytes(8 * len(stage.known.pieces)))
        weights = array("q", WEIGHTS.of(material.recipe.weight).of(material.words.counts))
        for symbols, weight in zip(stage.found, weights, strict=True):
            for symbol in symbols:
                uses[symbol] += weight
        super().__init__(material, lambda _: stage.known, layout.Units(
            memoryview(array("i", chain.from_iterable(stage.found))),
            memoryview(array("q", accumulate(map(len, stage.found), initial=0))),
            memoryview(weights), stage.known.pieces.copy(), uses.tolist(),
        ))
        rows = map(_extent, stage.known.pieces, stage.units)
        extents = array("i", chain.from_iterable(rows))
        self._state.extents[: len(extents)] = memoryview(extents)
        self._state = self._state._replace(words=stage.words)

    def _plain(self, steps: History, material: Material) -> PlainStretches:
        return PlainStretches.later(steps, material, self._stage)

    def in_units(self, index: int) -> list[Span]:
        """The present tokens of a stretch, in units of the recipe."""
        units: Any = self._state.extents[::3]
        return spans_of((span.symbol for span in self.word(index, 0, None)), units)


class KernelStretches:
    """The second stage; see `values.PairEngine`.

    Args:
        material: The stretches.
        stage: Their symbols, and what the first stage has learned.
    """

    engine = COMPILED

    def __init__(self, material: Material, stage: Stage) -> None:
        self.at, self._lengths, self._pairs = stage.at, stage.tokens, _Pairs(material, stage)
        self.in_units, self.word, self.memory = self._pairs.in_units, self._pairs.word, self._pairs.memory
        self.best, self.ranked, self.forget = self._pairs.best, self._pairs.ranked, self._pairs.forget

    @property
    def number(self) -> int:
        """The step."""
        return self.at + self._pairs.number

    @property
    def known(self) -> int:
        """The furthest step that is computed."""
        return self.at + self._pairs.known

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of both stages."""
        return self._pairs.vocabulary

    @property
    def uses(self) -> Sequence[int]:
        """The uses of each symbol at this step, by weight."""
        return self._pairs.uses

    def walk(self, goal: int, under: Constraints) -> None:
        """Go towards a step for about a millisecond; the first stage is another's."""
        self._pairs.walk(max(0, goal - self.at), under)

    def merged(self, number: int) -> Merged:
        """The figures of a known step."""
        return self._pairs.merged(number - self.at)

    def tokens_at(self, number: int) -> int:
        """The length of the corpus in tokens after a known step."""
        return self._lengths[number] if number < self.at else self._pairs.tokens_at(number - self.at)

    def size_at(self, number: int) -> int:
        """The number of ids after a known step."""
        return self.vocabulary.sizes[number]

    def words_changed(self) -> list[int]:
        """The stretches, by their number, that the last step changed."""
        return self._pairs.words_changed()

    def fork(self, number: int, material: Material) -> PlainStretches:
        """The same stretches at a known step in plain Python, for a run by another recipe."""
        other = self._pairs.fork(number - self.at, material)
        assert isinstance(other, PlainStretches)
        return other
