"""Stretches of words in the tokens of SuperBPE's first stage, from which its second stage goes on."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple


class Superwords(NamedTuple):
    """Words laid out in symbols of a vocabulary that has merges, and the rule for the tokens of their merges.

    Attributes:
        words: The symbols of each word.
        units: The units of each symbol.
        most: The most parts between spaces that a token may have.
        cut: Cuts a text into units.
    """

    words: Sequence[Sequence[int]]
    units: Sequence[int]
    most: int
    cut: Callable[[str], Sequence[bytes]]

    def allows(self, token: bytes, longest: int | None) -> bool:
        """Return whether a token may be made: it has few enough words and units, and no ": " in it."""
        if b": " in token or sum(map(bool, token.split(b" "))) > self.most:
            return False
        return longest is None or len(self.cut(token.decode("utf-8", "surrogateescape"))) <= longest

    def uses(self, weights: Sequence[int]) -> list[int]:
        """Return the uses of each symbol, by the weights of the words."""
        uses = [0] * len(self.units)
        for symbols, weight in zip(self.words, weights, strict=True):
            for symbol in symbols:
                uses[symbol] += weight
        return uses

    def extents(self, pieces: Sequence[bytes]) -> array[int]:
        """Return what kernels know of each symbol: its units, its parts between spaces, and its edges."""
        from tokentui.learn.kernels.merges import CLOSES, COLON, HOLDS, OPENS

        def extent(piece: bytes, units: int) -> tuple[int, int, int]:
            edges = OPENS * piece.startswith(b" ") | CLOSES * piece.endswith(b" ")
            edges |= COLON * piece.endswith(b":") | HOLDS * (b": " in piece)
            return units, sum(map(bool, piece.split(b" "))), edges

        return array("i", chain.from_iterable(map(extent, pieces, self.units)))
