"""Encoding by merges with the longest result first: any two neighbors merge that spell a token together.

Of results with equal numbers of units the token of lower rank comes first; of one token, the leftmost place.
The rank is the order in which merges make the tokens, or without merges the order of ids. Source: the second
reading of Lian et al., LBPE (2024), by its abstract.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Sequence
from typing import Self

from tokentui.encode.segment.longest import LongestMatch
from tokentui.encode.segment.merges import Merging
from tokentui.encode.vocabulary import Vocabulary
from tokentui.text.pretokenize import UNITS

_WIDEST = 1 << 32
"""Larger than the number of units of any token."""


class MergesByLength(Merging):
    """Merges the neighbors that spell the longest token.

    >>> from tokentui.recipe import Recipe
    >>> vocabulary = Vocabulary(Recipe(split="none", unit="char"), [b"a", b"b", b"c"])
    >>> vocabulary.extend([(0, 1), (1, 2), (1, 4)], [3, 2, 1])  # ab, bc, bbc
    >>> units = [b"a", b"b", b"b", b"c"]
    >>> [vocabulary.pieces[part.symbol] for part in MergesByLength(vocabulary, 3).segment(units, 4)]
    [b'ab', b'bc']

    Args:
        vocabulary: The vocabulary.
        merges: The number of its merges that count.
    """

    def __init__(self, vocabulary: Vocabulary, merges: int) -> None:
        super().__init__(vocabulary, merges, fallback=vocabulary.byte_symbols)
        self._looked = LongestMatch(vocabulary, merges)
        self._firsts, self._rests, _ = self._looked._index
        self._lengths: dict[int, int] = {}
        self._in_bytes = UNITS.of(vocabulary.recipe.unit).is_byte

    ordered = None

    def with_limit(self, step: int, first_steps: Sequence[int]) -> Self:
        """Return a segmenter that uses only the tokens in use at a step."""
        other = copy.copy(self)
        limited = self._looked.with_limit(step, first_steps)
        other._firsts, other._rests, _ = limited._index
        return other

    def _rank(self, symbol: int) -> int:
        """Return the rank of a token to show."""
        return max(0, self._ranked[symbol] - (self._base if self._vocabulary.merges else 0))

    def _merged(self, left: int, right: int) -> tuple[int, int] | None:
        """Return the rank and symbol of two joined symbols, None if no token has their bytes.

        Longer tokens rank first, then those of lower order. After a prefix the continuing tokens are meant.
        """
        vocabulary = self._vocabulary
        inside = bool(vocabulary.prefix) and self._continues(left)
        symbol = (self._rests if inside else self._firsts).get(vocabulary.join(left, right))
        if symbol is None:
            return None
        return (_WIDEST - self._length(symbol)) * len(self._ranked) + self._ranked[symbol], symbol

    def _continues(self, symbol: int) -> bool:
        """Return whether a token continues a word."""
        vocabulary = self._vocabulary
        if vocabulary.imported:
            return vocabulary.unit_continues(vocabulary.pieces[symbol])
        return vocabulary.mark_sizes(symbol)[0] > 0

    def _length(self, symbol: int) -> int:
        """Return the number of units of a token."""
        length = self._lengths.get(symbol)
        if length is None:
            vocabulary = self._vocabulary
            if parts := vocabulary.parts(symbol):
                length = sum(map(self._length, parts))
            elif vocabulary.imported or vocabulary.scores:
                bare = vocabulary.bare(vocabulary.pieces[symbol])
                length = len(bare if self._in_bytes else bare.decode("utf-8", "replace"))
            else:
                length = 1
            self._lengths[symbol] = length
        return length

    @functools.cached_property
    def _ranked(self) -> Sequence[int]:
        """Return the rank of each symbol: the symbol itself if merges make the tokens, else its id."""
        vocabulary = self._vocabulary
        if vocabulary.merges or not vocabulary.imported:
            return range(len(vocabulary.pieces) + 1)
        size = len(vocabulary.pieces)
        ranks = [0] * (size + 1)
        for rank, symbol in enumerate(sorted(range(size), key=vocabulary.order.__getitem__)):
            ranks[symbol] = rank
        return ranks
