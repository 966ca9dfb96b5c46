"""The queue of candidates at the furthest step that training has come to.

A pair's count only falls once it exists, so a heap may be lazy: an entry that says more than the count is out of date and
goes back with the true one. Pairs below a threshold are not queued at all; when the queue runs empty the threshold falls and
the pair table is read once. All pairs that stand as often as the best one are queued with their true counts, so that they are
counted once where a count is come to, and afterwards as merges take and make them.

The queue belongs to the frontier alone. Going back and forward among known merges restores the very state that it describes, so
it is not touched by either.
"""

from __future__ import annotations

import heapq
from itertools import chain
from typing import Any

from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.cells import Cells
from tokentui.learn.filters import Filter
from tokentui.learn.ties import Key
from tokentui.text import patience
from tokentui.text.patience import in_parts

_FALL = 4
"""The threshold falls to a quarter each time the queue is empty."""


class Frontier:
    """The pairs that may be merged next, best first.

    Args:
        cells: The corpus at the frontier.
        vocabulary: The vocabulary at the frontier.
        key: The key of the tie rule.
        allowed: The filter of the tokens that may be made, None for all.
        max_length: The longest token in units, None for any.
    """

    def __init__(self, cells: Cells, vocabulary: Vocabulary, key: Key, allowed: Filter | None, max_length: int | None) -> None:
        self._cells = cells
        self._vocabulary = vocabulary
        self._key = key
        self._allowed = allowed
        self._max_length = max_length
        self._filtered = allowed is not None or max_length is not None
        self.barred: set[int] = set()
        """Pairs that may never be merged."""
        self._alike = (0, 0)
        """A count, and how many candidates have it."""
        self._heap: list[tuple[int, Any, int]] = []
        self._threshold = 1
        self._bar(1)
        self._fill()

    def _fill(self) -> None:
        """Take in the pairs that there are at the start."""
        self._threshold = max((n for pair, n in enumerate(self._cells.counts) if pair not in self.barred), default=0) + 1
        self._refill()

    def _bar(self, first: int) -> None:
        """Bar the pairs from this index on whose token may not be made."""
        if not self._filtered:
            return
        cells, join, longest, allowed = self._cells, self._vocabulary.join, self._max_length, self._allowed
        pairs = range(first, len(cells.counts))
        for pair in chain.from_iterable(in_parts(pairs)) if len(pairs) > patience.PART else pairs:
            left, right = cells.left[pair], cells.right[pair]
            long = longest is not None and cells.length[left] + cells.length[right] > longest
            if long or (allowed is not None and not allowed(join(left, right))):
                self.barred.add(pair)

    def _refill(self) -> None:
        """Lower the threshold until something is queued or nothing is left."""
        counts, barred = self._cells.counts, self.barred
        while not self._heap and self._threshold > 1:
            above, self._threshold = self._threshold, max(1, self._threshold // _FALL)
            low, key = self._threshold, self._key
            self._heap = [(-n, key(pair), pair) for pair, n in enumerate(counts) if low <= n < above and pair not in barred]
            heapq.heapify(self._heap)

    def best(self) -> int:
        """The best pair, 0 where none is left."""
        counts = self._cells.counts
        while True:
            heap = self._heap
            while heap:
                count, _, pair = heap[0]
                now = counts[pair]
                if now == -count:
                    return pair
                if now >= self._threshold:
                    heapq.heapreplace(heap, (-now, self._key(pair), pair))
                else:
                    heapq.heappop(heap)
            if self._threshold == 1:
                return 0
            self._refill()

    def tied(self, pair: int) -> int:
        """How many candidates are exactly as good as this one, which is the best."""
        count = self._cells.counts[pair]
        if self._alike[0] != count:
            self._alike = (count, self._count_queued(count))
        return self._alike[1]

    def _count_queued(self, count: int) -> int:
        """How many candidates have this count, that of the best: those in the heap with it whose count is true."""
        heap, counts = self._heap, self._cells.counts
        found = 0
        ahead = [0]
        for at in ahead:  # which grows: an entry's own two are no better than it is
            if at < len(heap) and heap[at][0] == -count:
                found += counts[heap[at][2]] == count
                ahead += (2 * at + 1, 2 * at + 2)
        return found

    def moved(self, pair: int, count: int, first_new: int, fell: list[int]) -> None:
        """Take in a merge that was just made at the frontier.

        Args:
            pair: The pair that was merged, and `count`, what its count was.
            first_new: The number of pairs before the merge.
            fell: Other pairs that had this count too and no longer do.
        """
        counts, heap, barred = self._cells.counts, self._heap, self.barred
        self._bar(first_new)
        threshold, key = self._threshold, self._key
        alike = -1 - len(fell) + sum(other in barred for other in fell) if fell else -1
        for new in range(first_new, len(counts)):
            now = counts[new]
            if now >= threshold and new not in barred:
                alike += now == count
                heapq.heappush(heap, (-now, key(new), new))
        if self._alike[0] == count:
            self._alike = (count, self._alike[1] + alike)
