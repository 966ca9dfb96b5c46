"""Encoding by longest match: from the left, the whole rest of the word first, then ever shorter (WordPiece)."""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence

from tokentui.encode.segment.parts import MAX_CHARACTERS, Attempt, Marks, Part
from tokentui.encode.vocabulary import Vocabulary

_STOP_AT_UNKNOWN = frozenset({"never", "error", "rest-of-word", "whole-word"})
"""Policies by which nothing behind the first unknown place of a word is looked at."""


class LongestMatch:
    """Looks tokens up by their exact bytes, marks included.

    After the first place of a word only tokens that continue a word are looked for, by the structure of the token and
    not by its spelling. A word of more than 100 characters is given up, unless no unit can be unknown.
    """

    def __init__(self, vocabulary: Vocabulary, merges: int) -> None:
        self._vocabulary = vocabulary
        self._size = vocabulary.base_size + merges
        self._marks = Marks(vocabulary)
        self._stops = vocabulary.recipe.unknown in _STOP_AT_UNKNOWN
        self._never = vocabulary.recipe.unknown == "never"

    def segment(self, units: Sequence[bytes], characters: int) -> list[Part]:
        """Cut a word into parts; each unit at which no token starts is a part of its own."""
        if characters > MAX_CHARACTERS and not self._never:
            return [Part(0, len(units))]
        parts = []
        for start, end, symbol, _ in self._tries(units, bounded=True):
            if symbol is not None:
                parts.append(Part(start, end, symbol))
            elif end == start + 1:
                parts.append(Part(start, len(units) if self._stops else end))
        return parts

    def steps(self, units: Sequence[bytes], characters: int) -> Iterator[Attempt]:
        """Each attempt in order. In words of any length that `never` allows, none is longer than the longest token."""
        if characters > MAX_CHARACTERS and not self._never:
            return
        for start, end, symbol, candidate in self._tries(units, bounded=characters > MAX_CHARACTERS):
            yield Attempt(candidate, start, end, symbol is not None)

    def _tries(self, units: Sequence[bytes], *, bounded: bool) -> Iterator[tuple[int, int, int | None, bytes]]:
        """(start, end, symbol or None, candidate) of each attempt, longest first at each place."""
        firsts, rests, longest = self._index
        prefix = self._marks.prefix
        continued = bool(units) and self._marks.unit_continues(units[0])
        bare = [unit[len(prefix) :] if at or continued else unit for at, unit in enumerate(units)]
        word = b"".join(bare)
        places = [0, *itertools.accumulate(map(len, bare))]
        at = 0
        while at < len(units):
            inside = at > 0 or continued
            mark, table = (prefix, rests) if inside and prefix else (b"", firsts)
            end = len(units)
            if bounded:
                reach = places[at] + longest - len(mark)
                end = min(end, max(bisect.bisect_right(places, reach) - 1, at + 1))
            while end > at:
                candidate = mark + word[places[at] : places[end]]
                symbol = table.get(candidate)
                yield at, end, symbol, candidate
                if symbol is not None:
                    break
                end -= 1
            if end == at and self._stops:
                return
            at = max(end, at + 1)

    @functools.cached_property
    def _index(self) -> tuple[Mapping[bytes, int], Mapping[bytes, int], int]:
        """Tokens that start a word and tokens that continue one, each by its bytes; the length of the longest."""
        firsts: dict[bytes, int] = {}
        rests: dict[bytes, int] = {}
        longest = 1
        base, merges = self._vocabulary.base_size, self._vocabulary.merges
        continues: list[bool] = []
        for symbol in range(self._size):
            piece = self._vocabulary.pieces[symbol]
            # A merge starts as its left part does.
            rest = continues[merges[symbol - base][0]] if symbol >= base else self._marks.unit_continues(piece)
            continues.append(rest)
            (rests if rest else firsts).setdefault(piece, symbol)
            longest = max(longest, len(piece))
        return firsts, rests, longest
