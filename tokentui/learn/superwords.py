"""Stretches of words in the tokens of SuperBPE's first stage: what its second stage starts from."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple


class Superwords(NamedTuple):
    """Stretches in symbols of a vocabulary with merges, and the rule for the tokens of further merges.

    Attributes:
        words: The symbols of each stretch.
        units: The units of each symbol.
        most: The most parts between spaces that a token may have.
        cut: Cuts a text into units.
    """

    words: Sequence[Sequence[int]]
    units: Sequence[int]
    most: int
    cut: Callable[[str], Sequence[bytes]]

    def allows(self, token: bytes, longest: int | None) -> bool:
        """Return whether a merge may make a token: at most `most` parts and `longest` units, and no ": "."""
        if b": " in token or sum(map(bool, token.split(b" "))) > self.most:
            return False
        return longest is None or len(self.cut(token.decode("utf-8", "surrogateescape"))) <= longest

    def uses(self, weights: Sequence[int]) -> list[int]:
        """Return the uses of each symbol, by the weights of the stretches."""
        uses = [0] * len(self.units)
        for symbols, weight in zip(self.words, weights, strict=True):
            for symbol in symbols:
                uses[symbol] += weight
        return uses

    def extents(self, pieces: Sequence[bytes]) -> array[int]:
        """Return three numbers for each symbol, for kernels: its units, its parts between spaces, its edges.

        The edges are flags of `kernels.merges`: a space at the start or at the end, a colon at the end, and a
        colon with a space inside.
        """
        from tokentui.learn.kernels.merges import CLOSES, COLON, HOLDS, OPENS

        def extent(piece: bytes, units: int) -> tuple[int, int, int]:
            edges = OPENS * piece.startswith(b" ") | CLOSES * piece.endswith(b" ")
            edges |= COLON * piece.endswith(b":") | HOLDS * (b": " in piece)
            return units, sum(map(bool, piece.split(b" "))), edges

        return array("i", chain.from_iterable(map(extent, pieces, self.units)))
