"""The candidates of a merge with their figures: pairs, and n-grams of two or more symbols."""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """A pair of neighboring symbols, with its figures at a step.

    Attributes:
        left: The left symbol.
        right: The right symbol.
        places: The number of places where the pair occurs, by weight.
        before: The same before the last step, None for a pair that the last step made.
        left_uses: The uses of the left symbol in the corpus, by weight.
        right_uses: The uses of the right symbol.
    """

    left: int
    right: int
    places: int
    before: int | None
    left_uses: int
    right_uses: int

    @property
    def symbols(self) -> tuple[int, int]:
        """The symbols of the pair, as `NGram.symbols`."""
        return self.left, self.right


class NGram(NamedTuple):
    """Two or more neighboring symbols that may become one, with their figures at a step.

    Attributes:
        symbols: The symbols; if they differ by place, those of the first place.
        places: The number of places where they occur, by weight.
        before: The same before the last step, None if the last step made the n-gram.
        worth: The value that n-grams are ordered by.
    """

    symbols: tuple[int, ...]
    places: int
    before: int | None
    worth: int
