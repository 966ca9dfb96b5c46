"""What every way of encoding shares: the parts of a word, the roles of its marks, the shape of a segmenter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from tokentui.encode.vocabulary import Vocabulary

MAX_CHARACTERS = 100
"""Longest match gives up a word of more characters than this."""
ASKED_EVERY = 4096
"""After so many merges or units of one word whoever waits is asked whether to go on."""


class Part(NamedTuple):
    """A stretch of a word's units and what it became.

    A part with neither symbol nor byte is one that the vocabulary lacks.
    """

    start: int
    end: int
    symbol: int | None = None
    byte: int | None = None

    @property
    def unknown(self) -> bool:
        """Whether the vocabulary lacks it."""
        return self.symbol is None and self.byte is None


@dataclass(frozen=True, slots=True)
class MergeStep:
    """One merge as it was applied to a word; places are indices of the word's units."""

    rank: int
    left: bytes
    right: bytes
    result: bytes
    start: int
    middle: int
    end: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of longest match: the units from `start` to `end`, spelled as a token there would be."""

    candidate: bytes
    start: int
    end: int
    found: bool


Step = MergeStep | Attempt


class Refused(Exception):
    """A word has an unknown unit, and the recipe refuses that: the text has to be encoded with its places to say where."""


RankedPair = tuple[int, int, int, int]
"""A pair of symbols that merges: left, right, rank, and what they make. Of all in a word the one of least rank goes first, of
equals the leftmost."""


class Segmenter(Protocol):
    """A way of encoding, ready for one vocabulary at one number of merges."""

    def segment(self, units: Sequence[bytes], characters: int) -> list[Part]:
        """Cut a word of so many characters into parts that cover its units, before any policy for unknown ones."""
        ...

    def steps(self, units: Sequence[bytes], characters: int) -> Iterator[Step]:
        """How `segment` comes to its result, in order."""
        ...


class Marks:
    """Which tokens continue a word and which end one.

    Judged by the outermost base unit, not by the spelling of the token: a text that spells a mark literally
    (`##`, `</w>`) makes tokens that look marked and are not.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._kind = vocabulary.recipe.mark_kind
        self.mark = vocabulary.recipe.mark_text.encode()

    @property
    def prefix(self) -> bytes:
        """The mark that continues a word, empty where the recipe has none."""
        return self.mark if self._kind == "prefix" else b""

    def unit_continues(self, unit: bytes) -> bool:
        """Whether a unit carries the mark of a continuation."""
        return self._kind == "prefix" and len(unit) > len(self.mark) and unit.startswith(self.mark)

    def continues(self, symbol: int) -> bool:
        """Whether a token starts with the mark of a continuation."""
        return self._kind == "prefix" and self.unit_continues(self._vocabulary.pieces[self._outermost(symbol, 0)])

    def ends(self, symbol: int) -> bool:
        """Whether a token ends with the mark of a word's end."""
        if not self._kind.startswith("end-"):
            return False
        unit = self._vocabulary.pieces[self._outermost(symbol, 1)]
        glued = self._kind == "end-suffix"
        return unit.endswith(self.mark) and len(unit) > len(self.mark) if glued else unit == self.mark

    def sizes(self, left: int, right: int | None = None) -> tuple[int, int]:
        """How many bytes at the front and at the end of a token are its mark; of a pair's token, by its two symbols."""
        front, end = self.continues(left), self.ends(left if right is None else right)
        return len(self.mark) if front else 0, len(self.mark) if end else 0

    def bare(self, unit: bytes) -> bytes:
        """A unit without its mark."""
        if self.unit_continues(unit):
            return unit[len(self.mark) :]
        if self._kind == "end-suffix" and len(unit) > len(self.mark):
            return unit.removesuffix(self.mark)
        return unit

    def _outermost(self, symbol: int, side: int) -> int:
        base, merges = self._vocabulary.base_size, self._vocabulary.merges
        while symbol >= base:
            symbol = merges[symbol - base][side]
        return symbol
