"""The types that all segmenters share: parts of a word, roles of its marks, the protocol of a segmenter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

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
        """True if the vocabulary lacks the part."""
        return self.symbol is None and self.byte is None


def byte_parts(part: Part, units: Sequence[bytes], bytes_: Mapping[int, int]) -> list[Part]:
    """An unknown part as the tokens of its bytes; as one unknown part where a byte has no token.

    Args:
        part: The part.
        units: The units of the word.
        bytes_: The symbol of each byte-fallback token by its byte.
    """
    run = units[part.start : part.end]
    if not bytes_ or not all(value in bytes_ for unit in run for value in unit):
        return [part._replace(symbol=None)]
    return [Part(at, at + 1, bytes_[value]) for at, unit in enumerate(run, part.start) for value in unit]


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
    """A word has an unknown unit, and the recipe refuses that: the text has to be encoded with its places to
    say where."""


RankedPair = tuple[int, int, int, int]
"""A pair of symbols that merges: left, right, rank, and what they make. Of all in a word the one of least
rank goes first, of equals the leftmost."""


class Segmenter(Protocol):
    """A way of encoding, ready for one vocabulary at one number of merges."""

    def segment(self, units: Sequence[bytes], characters: int) -> list[Part]:
        """Cut a word of so many characters into parts that cover its units, before any policy for unknown
        ones."""
        ...

    def steps(self, units: Sequence[bytes], characters: int) -> Iterator[Step]:
        """The steps of `segment` to its result, in order."""
        ...

    def with_limit(self, number: int, made: Sequence[int]) -> Segmenter:
        """This way of encoding with the tokens only that are in use at a step. All tables are shared.

        Args:
            number: The step: how many merges count, or how many tokens have come into use.
            made: The step at which each symbol comes into use, 0 for what is there from the start.
        """
        ...
