"""Encoding by longest match (WordPiece): from the left, first the whole rest of the word, then ever shorter
prefixes."""

from __future__ import annotations

import bisect
import copy
import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Self

from tokentui.core.jobs import check
from tokentui.encode.segment import (
    ASKED_EVERY,
    MAX_CHARACTERS,
    UNKNOWN,
    Attempt,
    LimitedTable,
    WordPart,
    in_bytes,
)
from tokentui.encode.vocabulary import Vocabulary

_ONE = (1,)


class LongestMatch:
    """Looks tokens up by their exact bytes, marks included.

    After the start of a word only tokens that continue a word are tried. Their structure decides that, not
    their spelling. A word of more than 100 characters is given up, unless no unit can be unknown.
    """

    def __init__(self, vocabulary: Vocabulary, merges: int) -> None:
        self._vocabulary = vocabulary
        self._size, self._number = vocabulary.base_size + merges, merges
        unknown = UNKNOWN.of(vocabulary.recipe.unknown)
        self._stops = unknown.ignores_rest
        self._most: int | None = None if unknown.never_unknown else MAX_CHARACTERS
        """The most characters of a word that is cut; None for no limit."""
        self._long = MAX_CHARACTERS if unknown.never_unknown else None
        """In words of more characters, no attempt is longer than the longest token; None for no such limit.
        """

    def segment(self, units: Sequence[bytes], characters: int) -> list[WordPart]:
        """Cut a word into parts. Each unit at which no token starts is a part by itself.

        Such a part takes the rest of the word if the recipe ignores it. A word with too many characters is
        one unknown part. There are no parts if there are no units: all may have been dropped.
        """
        if self._most is not None and characters > self._most:
            return [WordPart(0, len(units))] if units else []
        parts = []
        for start, end, symbol, _ in self._tries(units, bounded=True):
            if symbol is not None:
                parts.append(WordPart(start, end, symbol))
            elif end == start + 1:
                parts.append(WordPart(start, len(units) if self._stops else end))
        return parts

    def steps(self, units: Sequence[bytes], characters: int) -> Iterator[Attempt]:
        """Yield each attempt in order; none for a word with too many characters.

        In long words that are not given up, no attempt is longer than the longest token.
        """
        if self._most is not None and characters > self._most:
            return
        bounded = self._long is not None and characters > self._long
        for start, end, symbol, candidate in self._tries(units, bounded=bounded):
            yield Attempt(candidate, start, end, symbol is not None)

    def _tries(
        self, units: Sequence[bytes], *, bounded: bool
    ) -> Iterator[tuple[int, int, int | None, bytes]]:
        """Yield (start, end, symbol or None, candidate) of each attempt, the longest first at each place."""
        firsts, rests, longest = self._index
        prefix = self._vocabulary.prefix
        continued = bool(units) and self._vocabulary.unit_continues(units[0])
        bare = [unit[len(prefix) :] if at or continued else unit for at, unit in enumerate(units)]
        word = b"".join(bare)
        places = [0, *itertools.accumulate(map(len, bare))]
        at, size = 0, len(units)
        while at < size:
            inside = at > 0 or continued
            mark, table = (prefix, rests) if inside and prefix else (b"", firsts)
            start, end = places[at], size
            if bounded and places[end] - start > longest - len(mark):
                reach = start + longest - len(mark)
                end = max(bisect.bisect_right(places, reach) - 1, at + 1)
            while end > at:
                candidate = mark + word[start : places[end]]
                symbol = table.get(candidate)
                yield at, end, symbol, candidate
                if symbol is not None:
                    break
                end -= 1
            if end == at and self._stops:
                return
            at = max(end, at + 1)

    def with_limit(self, step: int, first_steps: Sequence[int]) -> Self:
        """Return a segmenter that uses only the tokens in use at a step."""
        firsts, rests, longest = self._index
        other = copy.copy(self)
        limited = [LimitedTable(table, step, first_steps) for table in (firsts, rests)]
        other._index = limited[0], limited[1], longest
        return other

    @functools.cached_property
    def _index(self) -> tuple[Mapping[bytes, int], Mapping[bytes, int], int]:
        """The tokens that begin a word and those that continue one, each by its bytes, and the length of the
        longest."""
        if self._vocabulary.imported:  # the spelling alone decides which tokens begin a word
            table = self._vocabulary.tokens
            return table, table, max(map(len, table), default=1)
        if self._vocabulary.eventful:  # no step has a symbol for its number, and no token a mark
            pieces = self._vocabulary.pieces
            table = {pieces[symbol]: symbol for symbol in self._vocabulary.symbols(self._number)}
            return table, table, max(map(len, table), default=1)
        firsts: dict[bytes, int] = {}
        rests: dict[bytes, int] = {}
        longest = 1
        base, merges = self._vocabulary.base_size, self._vocabulary.merges
        continues: list[bool] = []
        for symbol in range(self._size):
            piece = self._vocabulary.pieces[symbol]
            # A merge begins or continues a word as its left part does.
            rest = (
                continues[merges[symbol - base][0]] if symbol >= base
                else self._vocabulary.unit_continues(piece)
            )
            continues.append(rest)
            (rests if rest else firsts).setdefault(piece, symbol)
            longest = max(longest, len(piece))
        return firsts, rests, longest


class TableMatch(LongestMatch):
    """Longest match among all tokens of a file. As in BERT's code, the spelling alone decides which tokens
    begin a word.

    Args:
        vocabulary: The vocabulary.
        merges: Unused for a vocabulary without merges.
        limit: The most characters of a word that is cut; None for no limit.
    """

    def __init__(self, vocabulary: Vocabulary, merges: int, *, limit: int | None = MAX_CHARACTERS) -> None:
        super().__init__(vocabulary, merges)
        self._most, self._long = limit, None


class BytesMatch(LongestMatch):
    """Longest match among all tokens of a file whose units are bytes, in words of any length.

    At each place, only the lengths of tokens that begin with the next two bytes are tried, because a document
    without a split is one word.
    """

    def __init__(self, vocabulary: Vocabulary, merges: int) -> None:
        super().__init__(vocabulary, merges)
        self._most, self._long = None, MAX_CHARACTERS
        self._lengths: Mapping[bytes, Sequence[int]] | None = None

    def segment(self, units: Sequence[bytes], characters: int) -> list[WordPart]:
        """Cut a word into parts. A byte at which no token starts is a part by itself, or the rest of the word
        if unknown parts end a word."""
        table, (word, size) = self._index[0], (b"".join(units), len(units))
        lengths = self._lengths_by_head()
        parts: list[WordPart] = []
        at = 0
        while at < size:
            if len(parts) % ASKED_EVERY == 0:
                check()
            for length in lengths.get(word[at : at + 2], _ONE):
                piece = word[at : at + length]
                symbol = table.get(piece)
                if symbol is not None:
                    parts.append(WordPart(at, at + len(piece), symbol))
                    at += len(piece)
                    break
            else:
                end = size if self._stops else at + 1
                parts.append(WordPart(at, end))
                at = end
        return parts

    def with_limit(self, step: int, first_steps: Sequence[int]) -> Self:
        """Return a segmenter that uses only the tokens in use at a step."""
        self._lengths_by_head()
        return super().with_limit(step, first_steps)

    def _lengths_by_head(self) -> Mapping[bytes, Sequence[int]]:
        """Return the lengths of the tokens that begin with each two bytes, longest first, with 1 as the last.
        """
        if self._lengths is None:
            lengths: dict[bytes, set[int]] = {}
            for piece in self._index[0]:
                if len(piece) > 1:
                    lengths.setdefault(piece[:2], {1}).add(len(piece))
            self._lengths = {head: sorted(sizes, reverse=True) for head, sizes in lengths.items()}
        return self._lengths


class WholeWords:
    """Looks a word up as a whole: it is a token, or its byte tokens if all exist, or unknown.

    Args:
        vocabulary: The vocabulary.
        merges: Unused for a vocabulary without merges.
        start: A unit that begins another word inside the word (sentencepiece's ▁); empty for none.
        bytes_: The symbol of each byte-fallback token by its byte.
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int, *, start: bytes = b"",
        bytes_: Mapping[int, int] | None = None,
    ) -> None:
        self._table = vocabulary.tokens
        self._start = start
        self._bytes = bytes_ or {}

    def segment(self, units: Sequence[bytes], characters: int) -> list[WordPart]:
        """Cut a word into the words inside it, each a token, its byte tokens, or unknown."""
        words = [(start, end, b"".join(units[start:end])) for start, end in self._words(units)]
        parts = [WordPart(start, end, self._table.get(word)) for start, end, word in words]
        return in_bytes(parts, units, self._bytes)

    def steps(self, units: Sequence[bytes], characters: int) -> Iterator[Attempt]:
        """Yield each look-up."""
        for start, end in self._words(units):
            word = b"".join(units[start:end])
            yield Attempt(word, start, end, word in self._table)

    def with_limit(self, step: int, first_steps: Sequence[int]) -> WholeWords:
        """Return a segmenter that uses only the words in use at a step."""
        other = copy.copy(self)
        other._table = LimitedTable(self._table, step, first_steps)
        return other

    def _words(self, units: Sequence[bytes]) -> Iterator[tuple[int, int]]:
        starts = [at for at, unit in enumerate(units) if not at or (self._start and unit == self._start)]
        return itertools.pairwise([*starts, len(units)])
