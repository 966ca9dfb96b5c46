"""The queue of candidates at the furthest step that training has come to.

A pair's count only falls once it exists, so a heap may be lazy: an entry that says more than the count is out of date and
goes back with the true one. Pairs below a threshold are not queued at all; when the queue runs empty the threshold falls and
the pair table is read once. A histogram of counts says how many pairs are tied.

The queue belongs to the frontier alone. Going back and forward among known merges restores the very state that it describes, so
it is not touched by either.
"""

from __future__ import annotations

import heapq
from typing import Any

from tokentui.learn.cells import Cells
from tokentui.learn.filters import Filter
from tokentui.learn.ties import Key
from tokentui.vocabulary import Vocabulary

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
        self._tied: dict[int, int] = {}
        self._heap: list[tuple[int, Any, int]] = []
        self._threshold = 1
        self._bar(1)
        self._fill()

    def _fill(self) -> None:
        """Take in the pairs that there are at the start."""
        counts = self._cells.counts
        for pair in range(1, len(counts)):
            if pair not in self.barred:
                self._tied[counts[pair]] = self._tied.get(counts[pair], 0) + 1
        self._threshold = max(self._tied, default=0) + 1
        self._refill()

    def _bar(self, first: int) -> None:
        """Bar the pairs from this index on whose token may not be made."""
        if not self._filtered:
            return
        cells, join, longest, allowed = self._cells, self._vocabulary.join, self._max_length, self._allowed
        for pair in range(first, len(cells.counts)):
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
        """How many candidates are exactly as good as this one."""
        return self._tied.get(self._cells.counts[pair], 0)

    def moved(self, pair: int, count: int, first_new: int, fell: dict[int, int]) -> None:
        """Take in a merge that was just made at the frontier.

        Args:
            pair: The pair that was merged, and `count`, what its count was.
            first_new: The number of pairs before the merge.
            fell: By how much the counts of other pairs fell.
        """
        counts, tied, heap, barred = self._cells.counts, self._tied, self._heap, self.barred
        tied[count] -= 1
        if not tied[count]:
            del tied[count]
        for other, weight in fell.items():
            if other < first_new and other not in barred:
                now = counts[other]
                was = now + weight
                if tied[was] == 1:
                    del tied[was]
                else:
                    tied[was] -= 1
                if now:
                    tied[now] = tied.get(now, 0) + 1
        self._bar(first_new)
        threshold, key = self._threshold, self._key
        for new in range(first_new, len(counts)):
            now = counts[new]
            if now and new not in barred:
                tied[now] = tied.get(now, 0) + 1
                if now >= threshold:
                    heapq.heappush(heap, (-now, key(new), new))
