"""Encoding by long tokens: the longest at the end of a word, or anywhere in it.

`longest` has the longest token at the start. A unit that is no token is a part by itself. Words of any length
are cut.

Source: O. Uzan et al., Greed is All You Need (2024); for the longest token anywhere, with any number of
pieces, also V. Hofmann et al., FLOTA (2022).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence

from tokentui.core.jobs import check
from tokentui.encode.segment import ASKED_EVERY, MAX_CHARACTERS, Attempt, WordPart, in_bytes
from tokentui.encode.segment.longest import LongestMatch
from tokentui.encode.vocabulary import Vocabulary
from tokentui.text.pretokenize import UNITS

Look = Callable[[int, int], tuple[bytes, int | None]]
"""Returns the spelling of the units `start` to `end`, and the symbol of the token with it, or None."""


class SubstringMatch(LongestMatch):
    """Looks up substrings of a word. Tokens that begin a word and tokens that continue one are kept apart.

    Args:
        vocabulary: The vocabulary.
        merges: The number of its merges that count.
    """

    def __init__(self, vocabulary: Vocabulary, merges: int) -> None:
        super().__init__(vocabulary, merges)
        self._bytes = vocabulary.byte_symbols

    @functools.cached_property
    def widest(self) -> int:
        """The largest number of units of a token, or a slightly larger bound if tokens have marks."""
        vocabulary, (firsts, rests, _) = self._vocabulary, self._index
        pieces = {*firsts, *rests}
        if UNITS.of(vocabulary.recipe.unit).is_byte:
            return max(map(len, pieces), default=1)
        # A character has at least one unit. A mark makes the bound a little too large, which only costs
        # attempts.
        return max((len(piece.decode("utf-8", "replace")) for piece in pieces), default=1)

    def look(self, units: Sequence[bytes]) -> Look:
        """Return the function that looks up the substrings of a word."""
        firsts, rests, _ = self._index
        prefix = self._vocabulary.prefix
        continued = bool(units) and self._vocabulary.unit_continues(units[0])
        bare = [unit[len(prefix) :] if at or continued else unit for at, unit in enumerate(units)]
        word, places = b"".join(bare), [0, *itertools.accumulate(map(len, bare))]

        def look(start: int, end: int) -> tuple[bytes, int | None]:
            inside = bool(prefix) and (start > 0 or continued)
            spelled = (prefix if inside else b"") + word[places[start] : places[end]]
            return spelled, (rests if inside else firsts).get(spelled)

        return look

    def segment(self, units: Sequence[bytes], characters: int) -> list[WordPart]:
        """Cut a word into parts. Each unit at which no token is found is a part by itself."""
        parts: list[WordPart] = []
        for start, end, _, symbol in self.looks(units, self.widest):
            if symbol is not None or end == start + 1:
                parts.append(WordPart(start, end, symbol))
        return in_bytes(sorted(parts, key=lambda part: part.start), units, self._bytes)

    def steps(self, units: Sequence[bytes], characters: int) -> Iterator[Attempt]:
        """Yield each attempt in order. In long words, no attempt is wider than the widest token."""
        widest = self.widest if len(units) > MAX_CHARACTERS else len(units)
        for start, end, spelled, symbol in self.looks(units, widest):
            yield Attempt(spelled, start, end, symbol is not None)

    def looks(self, units: Sequence[bytes], widest: int) -> Iterator[tuple[int, int, bytes, int | None]]:
        """Yield each attempt (start, end, spelling, symbol or None), of at most `widest` units. A found token
        is used."""
        raise NotImplementedError


class LongestSuffix(SubstringMatch):
    """The longest token at the end of a word, then at the end of what is left.

    >>> from tokentui.recipe import Recipe
    >>> recipe = Recipe(split="none", unit="char", encode="longest-suffix")
    >>> vocabulary = Vocabulary(recipe, [b"a", b"b", b"c"])
    >>> vocabulary.extend([(0, 1), (1, 2)], [2, 1])  # ab, bc
    >>> units = [b"a", b"b", b"c"]
    >>> [vocabulary.pieces[part.symbol] for part in LongestSuffix(vocabulary, 2).segment(units, 3)]
    [b'a', b'bc']
    """

    def looks(self, units: Sequence[bytes], widest: int) -> Iterator[tuple[int, int, bytes, int | None]]:
        """Yield attempts from the right, the longest substring first."""
        look, end = self.look(units), len(units)
        while end:
            check()
            for start in range(max(0, end - widest), end):
                spelled, symbol = look(start, end)
                yield start, end, spelled, symbol
                if symbol is not None:
                    break
            end = start


class LongestToken(SubstringMatch):
    """The longest token anywhere in a word, of equal lengths the leftmost; then the same in what is left on
    both sides.

    Substrings are tried from the widest to the narrowest, and from left to right, where no token is placed
    yet. That gives the same result.

    >>> from tokentui.recipe import Recipe
    >>> recipe = Recipe(split="none", unit="char", encode="longest-token")
    >>> vocabulary = Vocabulary(recipe, [b"a", b"b", b"c"])
    >>> vocabulary.extend([(0, 1), (1, 2), (4, 0)], [2, 1, 1])  # ab, bc, bca
    >>> units = [b"a", b"b", b"c", b"a"]
    >>> [vocabulary.pieces[part.symbol] for part in LongestToken(vocabulary, 3).segment(units, 4)]
    [b'a', b'bca']
    """

    def looks(self, units: Sequence[bytes], widest: int) -> Iterator[tuple[int, int, bytes, int | None]]:
        """Yield attempts from the widest substrings to the narrowest, each width from the left."""
        look = self.look(units)
        free = [(0, len(units))] if units else []
        for width in range(min(widest, len(units)), 0, -1):
            left: list[tuple[int, int]] = []
            for first, last in free:
                at = first
                while at + width <= last:
                    if at % ASKED_EVERY == 0:
                        check()
                    spelled, symbol = look(at, at + width)
                    yield at, at + width, spelled, symbol
                    if symbol is None:
                        at += 1
                        continue
                    if first < at:
                        left.append((first, at))
                    first = at = at + width
                if first < last:
                    left.append((first, last))
            free = left
