"""The second stage of SuperBPE: stretches of words in tokens of the first stage, in plain Python.

Its steps are numbered as those of both stages are. `compiled_stretches` is the same with kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.bpe import PlainPairs
from tokentui.learn.objectives import Material
from tokentui.learn.values import Constraints, History, PairEngine, Span
from tokentui.text.pretokenize import Pretokenizer


def superword(piece: bytes, words: int) -> bool:
    """True if the second stage may make a token: at most so many parts between spaces, and no ": " in it."""
    return b": " not in piece and sum(map(bool, piece.split(b" "))) <= words


class Stage(NamedTuple):
    """The stretches as the first stage leaves them.

    Attributes:
        known: The vocabulary with the merges of the first stage.
        at: The number of these merges.
        tokens: The length of the corpus after each step before the switch.
        words: The most words of a token.
        found: The symbols of each stretch.
    """

    known: Vocabulary
    at: int
    tokens: Sequence[int]
    words: int
    found: Sequence[Sequence[int]]

    @property
    def units(self) -> list[int]:
        """The units of the recipe that each symbol covers."""
        units = [1] * self.known.base_size
        for left, right in self.known.merges[: self.at]:
            units.append(units[left] + units[right])
        return units


class SecondStage(PairEngine, Protocol):
    """The engine of the second stage."""

    def in_units(self, index: int) -> list[Span]: ...
    def fork(self, number: int, material: Material) -> PlainStretches: ...


def spans_of(symbols: Iterable[int], units: Sequence[int]) -> list[Span]:
    """Tokens that follow each other, in units of the recipe.

    Args:
        symbols: Their symbols.
        units: The units of each symbol.
    """
    out, at = list[Span](), 0
    for symbol in symbols:
        out.append(Span(at, at + units[symbol], symbol))
        at += units[symbol]
    return out


class PlainStretches(PlainPairs):
    """The second stage.

    Args:
        material: The stretches.
        stage: Their symbols, and what the first stage has learned.
    """

    def __init__(self, material: Material, stage: Stage) -> None:
        self._take(material, stage)
        numbers = {text: n for n, text in enumerate(material.words.words)}
        super().__init__(
            material, lambda _: stage.known,
            lambda text: [b"%d" % symbol for symbol in stage.found[numbers[text]]],
        )
        self._begin_later(stage)

    def _take(self, material: Material, stage: Stage) -> None:
        self.at, self._words, self._cut = stage.at, stage.words, Pretokenizer(material.recipe).units
        self.units_of_symbol = stage.units
        """The units of the recipe that each symbol covers."""

    def _begin_later(self, stage: Stage) -> None:
        """Number the steps from the switch on."""
        self._tokens[:0] = stage.tokens
        self._made[:0] = [None] * self.at  # type: ignore[list-item]  # they are those of the first stage
        self.number = self.known = len(self._made)
        self._choose_anew(Constraints())

    @classmethod
    def later(cls, steps: History, material: Material, stage: Stage) -> PlainStretches:
        """The same stretches after the steps of another engine of this stage; see `PlainPairs.after`."""
        self = cls.__new__(cls)
        self._take(material, stage)
        self._after(steps, material)
        for left, right in self.vocabulary.merges[self.at :]:
            self.units_of_symbol.append(self.units_of_symbol[left] + self.units_of_symbol[right])
        self._begin_later(stage)
        return self

    def _symbols(self) -> dict[bytes, int]:
        # two symbols of the first stage may be spelled alike: a unit here is the number of one
        return {b"%d" % symbol: symbol for symbol in range(len(self.vocabulary.pieces))}

    def _choose_anew(self, under: Constraints | None = None) -> None:
        limits = self._limits if under is None else (under.max_length, under.forbidden)
        longest, most = limits[0], self._words

        def allows(piece: bytes) -> bool:
            if not superword(piece, most):
                return False
            return longest is None or len(self._cut(piece.decode("utf-8", "surrogateescape"))) <= longest

        self._allows = allows
        super()._choose_anew(Constraints(forbidden=limits[1]))
        self._limits = limits

    def _make(self, pair: int) -> int:
        units = self.units_of_symbol
        units.append(units[self.left[pair]] + units[self.right[pair]])
        return super()._make(pair)

    def _falls(self) -> tuple[Mapping[int, int | None], int]:
        return ({}, len(self.counts)) if self.number == self.at else super()._falls()

    def words_changed(self) -> set[int]:
        return super().words_changed() if self.number > self.at else set()

    def fork(self, number: int, material: Material) -> PlainStretches:
        other = super().fork(number, material)
        assert isinstance(other, PlainStretches)
        return other

    def forget(self) -> None:
        super().forget()
        del self.units_of_symbol[len(self.vocabulary.pieces) :]

    def in_units(self, index: int) -> list[Span]:
        """The present tokens of a stretch, in units of the recipe."""
        return spans_of((span.symbol for span in self.word(index, 0, None)), self.units_of_symbol)
