"""The candidates of one step in order: how each stands, the best first."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from tokentui.learn.ties import Key


class Standing:
    """Pairs and their worth at one step, put in order only as far as is asked. It holds while the step does.

    Args:
        pairs: The candidates by their index in the pair table, ascending.
        worths: What each is worth, exactly: the greatest is taken first.
        key: The key of the tie rule.
    """

    __slots__ = ("_best", "_key", "_worths", "pairs")

    def __init__(self, pairs: Sequence[int], worths: Sequence[int], key: Key) -> None:
        self.pairs = pairs
        self._worths = worths
        self._key = key
        self._best: list[int] = []

    def __len__(self) -> int:
        return len(self.pairs)

    def best(self, limit: int) -> list[int]:
        """So many of the best pairs, fewer where there are no more, by worth and tie rule."""
        limit = min(limit, len(self.pairs))
        if limit > len(self._best):
            self._best = self._ordered(limit)
        return self._best[:limit]

    def tied(self) -> int:
        """How many pairs share the greatest worth."""
        worths = self._worths
        return worths.count(max(worths)) if worths else 0

    def _ordered(self, limit: int) -> list[int]:
        key = self._key
        above = list(zip(self._worths, self.pairs, strict=True))
        last: list[int] = []
        if limit < len(above):
            # Late in a run most pairs share the least worth: only the first few of those are put in order.
            least = heapq.nlargest(limit, self._worths)[-1]
            last = [pair for worth, pair in above if worth == least]
            above = [entry for entry in above if entry[0] > least]
        above.sort(key=lambda entry: (-entry[0], key(entry[1])))
        best = [pair for _, pair in above]
        return best + heapq.nsmallest(limit - len(best), last, key=key)
