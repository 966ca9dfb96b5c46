"""Encoding by merges: the pair of the lowest rank first, all its places from left to right."""

from __future__ import annotations

import copy
import heapq
from collections.abc import Iterator, Sequence

from tokentui.core.jobs import check
from tokentui.encode.segment.parts import ASKED_EVERY, MergeStep, Part, RankedPair
from tokentui.encode.vocabulary import Vocabulary

_NONE = -1
"""The symbol of a unit that the vocabulary lacks, and of a place that was merged away: it joins nothing."""


class Merging:
    """Replays the first `merges` merges of a vocabulary on a word.

    A heap of (rank, place) over a linked list of tokens, so a word of n units costs O(n log n). Ranks only
    rise along the way, because a merge's parts are older than the merge: lowest first and leftmost first is
    then the same as replaying the merges in the order they were learned.
    """

    def __init__(self, vocabulary: Vocabulary, merges: int) -> None:
        self._vocabulary = vocabulary
        self._merges = merges

    def segment(self, units: Sequence[bytes], characters: int) -> list[Part]:
        """Cut a word into parts; a unit that the vocabulary lacks is a part of its own."""
        symbols, ends = self._start(units)
        for number, _ in enumerate(self._run(symbols, ends)):
            if number % ASKED_EVERY == 0:
                check()
        parts, at = [], 0
        while at < len(symbols):
            symbol = symbols[at]
            parts.append(Part(at, ends[at], None if symbol == _NONE else symbol))
            at = ends[at]
        return parts

    def steps(self, units: Sequence[bytes], characters: int) -> Iterator[MergeStep]:
        """Each merge in the order applied."""
        symbols, ends = self._start(units)
        pieces, merges = self._vocabulary.pieces, self._vocabulary.merges
        for rank, start, middle in self._run(symbols, ends):
            left, right = merges[rank]
            result = pieces[self._vocabulary.base_size + rank]
            yield MergeStep(rank, pieces[left], pieces[right], result, start, middle, ends[start])

    def pairs(self) -> Iterator[RankedPair]:
        """All pairs that merge."""
        base = self._vocabulary.base_size
        for rank, (left, right) in enumerate(self._vocabulary.merges[: self._merges]):
            yield left, right, rank, base + rank

    def with_limit(self, number: int, made: Sequence[int]) -> Merging:
        """The same with so many merges."""
        other = copy.copy(self)
        other._merges = number
        return other

    def history(self, units: Sequence[bytes]) -> tuple[list[int], list[tuple[int, int, int]]]:
        """The symbols of a word before any merge (-1 for none), and its merges in the order of use.

        Each merge is (left, right, made).
        """
        symbols, ends = self._start(units)
        base, merges = self._vocabulary.base_size, self._vocabulary.merges
        return list(symbols), [(*merges[rank], base + rank) for rank, _, _ in self._run(symbols, ends)]

    def _start(self, units: Sequence[bytes]) -> tuple[list[int], list[int]]:
        known = self._vocabulary.known_units(self._merges)
        return [known.get(unit, _NONE) for unit in units], list(range(1, len(units) + 1))

    def _run(self, symbols: list[int], ends: list[int]) -> Iterator[tuple[int, int, int]]:
        """Merge in place; yields (rank, start, middle) after each merge.

        `symbols[i]` is the token that starts at unit i, `ends[i]` where it ends, which is where the next one
        starts.
        """
        size, limit = len(symbols), self._merges
        base, ranks = self._vocabulary.base_size, self._vocabulary.ranks
        before = list(range(-1, size - 1))
        heap = []
        for at in range(size - 1):
            rank = ranks.get((symbols[at], symbols[at + 1]), limit)
            if rank < limit:
                heap.append(rank * size + at)
        heapq.heapify(heap)
        while heap:
            rank, left = divmod(heapq.heappop(heap), size)
            right = ends[left]
            if right == size or ranks.get((symbols[left], symbols[right])) != rank:
                continue  # one of the two has been merged since
            end = ends[left] = ends[right]
            symbols[left], symbols[right] = base + rank, _NONE
            if end < size:
                before[end] = left
                following = ranks.get((symbols[left], symbols[end]), limit)
                if following < limit:
                    heapq.heappush(heap, following * size + left)
            if left:
                previous = before[left]
                preceding = ranks.get((symbols[previous], symbols[left]), limit)
                if preceding < limit:
                    heapq.heappush(heap, preceding * size + previous)
            yield rank, left, right
