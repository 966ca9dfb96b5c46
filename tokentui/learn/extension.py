"""Byte-pair encoding that goes on where the tokens of a file end.

A file says in which order its pairs merge, and not how they were chosen. Here the pair that stands in most
places is merged next; of equals the one whose token is shorter, then first in order of its bytes. A merge
that is added comes after all merges of the file, so that a word is first what the file makes of it.

Two ways to encode by merges differ in what one merge is (`tokentui.encode.segment.merges`): by rows it is one
pair; by what neighbours spell it is every two neighbours that spell the token. What is counted is what is
merged.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from tokentui.core.jobs import check

Spelled = Callable[[bytes], tuple[int, int] | None]
"""The rank and the symbol of a token of the file that two neighbours spell; None where they spell none."""

_BEHIND = 1 << 40
"""The ranks of a file lie so far in front of those that are added."""


class Grown(NamedTuple):
    """A merge that was added.

    Attributes:
        left, right: The symbols of the pair: those of the file, then one for each merge that was added.
        piece: The exact bytes of the token.
        places: The places of the pair, or of all pairs that spell the token.
    """

    left: int
    right: int
    piece: bytes
    places: int


class Continued:
    """Words that are merged on.

    Args:
        words: The symbols of each word as the file cuts it; None for a part that joins nothing.
        counts: How often each word stands.
        pieces: The exact bytes of each symbol.
        join: The bytes of the token that two pieces make.
        spelled: For a file that merges what neighbours spell; None for one that merges by rows.
        frozen: Symbols that join nothing.
        whole: True if a word that is spelled as a token is that token.

    >>> words = Continued([[0, 1, 2], [0, 1]], [1, 2], [b"h", b"u", b"g"], lambda left, right: left + right)
    >>> [(made.piece, made.places) for made in words.merges(5)]
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
        """The symbols of each word, None for a part that joins nothing."""
        self._counts, self._pieces, self._known = counts, list(pieces), set(pieces)
        self._join, self._spelled, self._frozen = join, spelled, frozen
        self._added: dict[bytes, tuple[int, int]] = {}
        """The rank and the symbol of each token that was added, where what neighbours spell merges."""
        self._places: Counter[tuple[int, int] | bytes] = Counter()
        self._where: dict[tuple[int, int] | bytes, set[int]] = {}
        self._first: dict[tuple[int, int] | bytes, tuple[int, int]] = {}
        """A pair of each candidate."""
        self._heap: list[tuple[int, int, bytes, tuple[int, int]]] = []
        self._spelled_so: dict[bytes, list[int]] = {}
        """The words that are spelled so, where a word that is spelled as a token is that token."""
        for number, word in enumerate(self.words):
            self._count(number, 1)
            if whole and None not in word:
                text = b"".join(self._pieces[one] for one in word if one is not None)
                self._spelled_so.setdefault(text, []).append(number)
        for key in self._places:
            self._push(key)

    def merges(self, most: int) -> Iterator[Grown]:
        """Make so many merges at most; fewer where no pair is left."""
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
        return (left, right) if self._spelled is None else self._join(self._pieces[left], self._pieces[right])

    def _push(self, key: tuple[int, int] | bytes) -> None:
        pair, places = self._first[key], self._places[key]
        piece = self._join(*(self._pieces[symbol] for symbol in pair))
        if places > 0 and piece not in self._known:
            heapq.heappush(self._heap, (-places, len(piece), piece, pair))

    def _count(self, number: int, sign: int) -> set[tuple[int, int] | bytes]:
        """Add the pairs of a word to the counts, or take them away. Returns them."""
        keys, times = set(), sign * self._counts[number]
        for left, right in pairwise(self.words[number]):
            if left is None or right is None or left in self._frozen or right in self._frozen:
                continue
            key = self._key(left, right)
            self._places[key] += times
            self._first.setdefault(key, (left, right))
            keys.add(key)
        for key in keys:
            held = self._where.setdefault(key, set())
            held.add(number) if sign > 0 else held.discard(number)
        return keys

    def _merge(self, pair: tuple[int, int], piece: bytes, count: int) -> Grown:
        """Add a merge, and make it in each word."""
        made, key = len(self._pieces), self._key(*pair)
        self._pieces.append(piece)
        self._known.add(piece)
        if self._spelled is not None:
            self._added[piece] = made, made
        touched: set[tuple[int, int] | bytes] = set()
        whole = self._spelled_so.get(piece, ())
        for number in sorted({*self._where.get(key, ()), *whole}):
            touched |= self._count(number, -1)
            word = self.words[number]
            if number in whole:
                self.words[number] = [made]
            elif self._spelled is None:
                self.words[number] = _joined(word, pair, made)
            else:
                self.words[number] = self._again(word)
            touched |= self._count(number, 1)
        for one in touched:
            self._push(one)
        return Grown(*pair, piece, count)

    def _again(self, word: list[int | None]) -> list[int | None]:
        """A word merged by what neighbours spell: the least rank first, of equals the leftmost."""
        word = list(word)
        while found := [
            (*ranked, at) for at, pair in enumerate(pairwise(word)) if (ranked := self._of(*pair)) is not None
        ]:
            _, symbol, at = min(found, key=lambda one: (one[0], one[2]))
            word[at : at + 2] = [symbol]
        return word

    def _of(self, left: int | None, right: int | None) -> tuple[int, int] | None:
        """The rank of two neighbours and what they make; those that were added rank behind the others."""
        if left is None or right is None or left in self._frozen or right in self._frozen:
            return None
        piece = self._join(self._pieces[left], self._pieces[right])
        assert self._spelled is not None
        old = self._spelled(piece)
        if old is not None:
            return old[0] - _BEHIND, old[1]
        return self._added.get(piece)


def _joined(word: Sequence[int | None], pair: tuple[int, int], made: int) -> list[int | None]:
    """A word with all places of a pair merged, from the left."""
    found: list[int | None] = []
    for symbol in word:
        if found and (found[-1], symbol) == pair:
            found[-1] = made
        else:
            found.append(symbol)
    return found
