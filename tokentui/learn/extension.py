"""Byte-pair encoding that continues after the merges of a tokenizer file.

A file says in which order its pairs merge, but not how they were chosen. Here the pair with most places is
merged next; of several the one whose token is shorter, then the one whose token comes first by its bytes. An
added merge comes after all merges of the file, so that a word is first cut as the file does.

Files differ in what one merge is (`tokentui.encode.segment.merges`): in some it is one pair of symbols, in
others all neighbors that spell the token together. Places are counted by what is merged.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from tokentui.core.jobs import check

Spelled = Callable[[bytes], tuple[int, int] | None]
"""Returns the rank and the symbol of the token of the file that has these bytes, None if there is none."""

_FILE_FIRST = 1 << 40
"""Subtracted from the ranks of the file, so that they are less than those of added merges."""


class AddedMerge(NamedTuple):
    """A merge that was added.

    Attributes:
        left, right: The symbols of the pair. Symbols of the file come first, then one for each added merge.
        piece: The exact bytes of the token.
        places: The number of places of the pair, or of all pairs that spell the token, by weight.
    """

    left: int
    right: int
    piece: bytes
    places: int


class ExtendedWords:
    """The words of a corpus, to which merges are added after those of a file.

    Args:
        words: The symbols of each word as the file cuts it; None for a part that is merged with nothing.
        counts: The weight of each word.
        pieces: The exact bytes of each symbol.
        join: Returns the bytes of the token that two pieces make.
        spelled: Finds a token of the file by its bytes, if a merge is all neighbors that spell a token. None
            if a merge is one pair.
        frozen: Symbols that are merged with nothing.
        whole: Whether a word that is spelled as a token becomes that token.

    >>> pieces = [b"h", b"u", b"g"]
    >>> words = ExtendedWords([[0, 1, 2], [0, 1]], [1, 2], pieces, lambda left, right: left + right)
    >>> [(made.piece, made.places) for made in words.add_merges(5)]
    [(b'hu', 3), (b'hug', 1)]
    >>> words.words
    [[4], [3]]
    """

    def __init__(
        self, words: Sequence[Sequence[int | None]], counts: Sequence[int], pieces: Sequence[bytes],
        join: Callable[[bytes, bytes], bytes], spelled: Spelled | None = None,
        frozen: frozenset[int] = frozenset(), whole: bool = False,
    ) -> None:
        self.words = [list(word) for word in words]
        """The current symbols of each word; None for a part that is merged with nothing."""
        self._counts, self._pieces, self._known = counts, list(pieces), set(pieces)
        self._join, self._spelled, self._frozen = join, spelled, frozen
        self._added: dict[bytes, tuple[int, int]] = {}
        """The rank and the symbol of each added token, if merges go by what neighbors spell."""
        self._places: Counter[tuple[int, int] | bytes] = Counter()
        self._where: dict[tuple[int, int] | bytes, set[int]] = {}
        self._first: dict[tuple[int, int] | bytes, tuple[int, int]] = {}
        """For each key the first pair of symbols that was counted under it."""
        self._heap: list[tuple[int, int, bytes, tuple[int, int]]] = []
        self._spelled_so: dict[bytes, list[int]] = {}
        """The indexes of the words by their text, if `whole`."""
        for number, word in enumerate(self.words):
            self._count(number, 1)
            if whole and None not in word:
                text = b"".join(self._pieces[symbol] for symbol in word if symbol is not None)
                self._spelled_so.setdefault(text, []).append(number)
        for key in self._places:
            self._push(key)

    def add_merges(self, most: int) -> Iterator[AddedMerge]:
        """Add at most `most` merges, each of the pair with the most places, and yield each after it is made.

        Of equals, the shorter token comes first, then the smaller bytes. A token that exists is not made
        again. It ends when no pair is left.
        """
        for _ in range(most):
            check()
            while self._heap:
                less, _, piece, pair = heapq.heappop(self._heap)
                if piece not in self._known and self._places[self._key(*pair)] == -less:
                    break
            else:
                return
            yield self._merge(pair, piece, -less)

    def _key(self, left: int, right: int) -> tuple[int, int] | bytes:
        """Return what the places of a pair are counted by: the pair, or the text that it spells."""
        return (left, right) if self._spelled is None else self._join(self._pieces[left], self._pieces[right])

    def _push(self, key: tuple[int, int] | bytes) -> None:
        """Put a candidate into the heap with its present count, unless its token is known or it is gone."""
        pair, places = self._first[key], self._places[key]
        piece = self._join(*(self._pieces[symbol] for symbol in pair))
        if places > 0 and piece not in self._known:
            heapq.heappush(self._heap, (-places, len(piece), piece, pair))

    def _count(self, number: int, sign: int) -> set[tuple[int, int] | bytes]:
        """Add the pairs of a word to the counts, or subtract them if `sign` is -1. Return their keys."""
        keys, times = set(), sign * self._counts[number]
        for left, right in pairwise(self.words[number]):
            if left is None or right is None or left in self._frozen or right in self._frozen:
                continue
            key = self._key(left, right)
            self._places[key] += times
            self._first.setdefault(key, (left, right))
            keys.add(key)
        for key in keys:
            words = self._where.setdefault(key, set())
            words.add(number) if sign > 0 else words.discard(number)
        return keys

    def _merge(self, pair: tuple[int, int], piece: bytes, count: int) -> AddedMerge:
        """Add the merge of a pair with `count` places, and merge it in each word."""
        symbol, key = len(self._pieces), self._key(*pair)
        self._pieces.append(piece)
        self._known.add(piece)
        if self._spelled is not None:
            self._added[piece] = symbol, symbol
        touched: set[tuple[int, int] | bytes] = set()
        whole = self._spelled_so.get(piece, ())
        for number in sorted({*self._where.get(key, ()), *whole}):
            touched |= self._count(number, -1)
            word = self.words[number]
            if number in whole:
                self.words[number] = [symbol]
            elif self._spelled is None:
                self.words[number] = _joined(word, pair, symbol)
            else:
                self.words[number] = self._merge_by_spelling(word)
            touched |= self._count(number, 1)
        for key in touched:
            self._push(key)
        return AddedMerge(*pair, piece, count)

    def _merge_by_spelling(self, word: list[int | None]) -> list[int | None]:
        """Return a word with all neighbors merged that spell a token: the least rank first, then leftmost."""
        word = list(word)
        while merges := [
            (rank_and_symbol[0], at, rank_and_symbol[1]) for at, pair in enumerate(pairwise(word))
            if (rank_and_symbol := self._token_of(*pair)) is not None
        ]:
            _, at, symbol = min(merges)
            word[at : at + 2] = [symbol]
        return word

    def _token_of(self, left: int | None, right: int | None) -> tuple[int, int] | None:
        """Return the rank and the symbol of the token that two neighbors spell, None if they spell none.

        A None or frozen symbol spells none. Added tokens rank after those of the file.
        """
        if left is None or right is None or left in self._frozen or right in self._frozen:
            return None
        piece = self._join(self._pieces[left], self._pieces[right])
        assert self._spelled is not None
        old = self._spelled(piece)
        if old is not None:
            return old[0] - _FILE_FIRST, old[1]
        return self._added.get(piece)


def _joined(word: Sequence[int | None], pair: tuple[int, int], symbol_of_pair: int) -> list[int | None]:
    """Return a word with all places of a pair merged, from left to right."""
    merged: list[int | None] = []
    for symbol in word:
        if merged and (merged[-1], symbol) == pair:
            merged[-1] = symbol_of_pair
        else:
            merged.append(symbol)
    return merged
