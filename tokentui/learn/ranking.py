"""The order of pairs in plain Python: a queue that finds the best one, and the rules for equal pairs
(`TIES`).

A rule gives each pair a key, and the smallest key wins. The keys of most rules follow from the two symbols
alone. The key of `first-seen` is the first place where the pair still stands, which is the order of a recount
from scratch: words in order of first appearance, then the place in the word. It moves only when the pair's
count falls, so a queue that looks at the count sees it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tokentui.core.choices import Axis, Choice
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.objectives import Objective

SPARE = 1024
"""The entries out of date that a queue may hold, beyond as many as are valid."""

Key = Callable[[int], Any]
"""The key of a pair, by its number."""


Entry = tuple[int, Any, int, int]
"""A pair in a queue: its negated value, its key, its number and its count."""
_NONE = 0, 0, None


class Pairs(Protocol):
    """The pairs of a corpus by their numbers, as the queue and the rules see them.

    Attributes:
        objective: The value of a pair.
        vocabulary: The vocabulary at the furthest step.
        left: The symbol of the left part of each pair.
        right: That of the right part.
        counts: The count of each pair.
        length: The length of each symbol in units.
        barred: The pairs that are no candidates.
        key: The key of the tie rule.
    """

    objective: Objective
    vocabulary: Vocabulary
    left: list[int]
    right: list[int]
    counts: list[int]
    length: list[int]
    barred: set[int]
    key: Key

    def values(self, pairs: Sequence[int]) -> list[int]:
        """The values of pairs as whole numbers in the same order."""

    def first_place(self, pair: int) -> int:
        """The first place where a pair stands."""


class Queue:
    """The candidates at the furthest step, the best first.

    The heap is lazy. A value that rises, or a key that may have moved, is pushed at once; a value that fell
    is corrected when the pair comes up. A merge of (a, b) changes the counts of pairs at its places alone,
    and the uses of a and b: where they matter, all pairs of a and b are valued anew.

    Args:
        pairs: The pairs.
        least: The least count of a candidate. A count never grows, so a pair below it never becomes one.
    """

    def __init__(self, pairs: Pairs, least: int) -> None:
        self._pairs, self.least = pairs, least
        self._heap: list[Entry] = []
        self._now: dict[int, tuple[int, int, Any]] = {}
        """The value, the count and the key of each candidate, None for a key that is not known."""
        self._alike: dict[int, int] = {}
        """The number of candidates with each value."""
        self._touching: dict[int, list[int]] = {}
        """The candidates that each symbol is a part of, some that are none any more among them."""

    def take(self, moved: set[int], parts: Iterable[int]) -> None:
        """Take in what merges changed.

        Args:
            moved: The pairs that have come, or whose count fell.
            parts: The symbols that were merged.
        """
        pairs, counts, now, alike, key = (
            self._pairs, self._pairs.counts, self._now, self._alike, self._pairs.key,
        )
        valued = pairs.objective.value is not None
        if valued:
            for symbol in parts:
                self._touching[symbol] = live = [one for one in self._touching.get(symbol, ()) if one in now]
                moved = moved.union(live)
        live = [pair for pair in moved if counts[pair] >= self.least and pair not in pairs.barred]
        for pair in moved.difference(live):
            if pair in now:
                self._leave(now.pop(pair)[0])
        for pair, value in zip(live, pairs.values(live), strict=True):
            count, was, tie = counts[pair], now.get(pair), None
            if was is not None:
                if was[1] == count:
                    if was[0] == value:
                        continue
                    tie = was[2]  # the place that first-seen looks at goes with the count alone
                self._leave(was[0])
            elif valued:
                for symbol in {pairs.left[pair], pairs.right[pair]}:
                    self._touching.setdefault(symbol, []).append(pair)
            if was is None or value >= was[0]:
                tie = key(pair) if tie is None else tie
                heapq.heappush(self._heap, (-value, tie, pair, count))
            now[pair] = value, count, tie
            alike[value] = alike.get(value, 0) + 1
        if len(self._heap) > 2 * len(now) + SPARE:
            self._heap = [one for one in self._heap if 0 < now.get(one[2], _NONE)[0] <= -one[0]]
            heapq.heapify(self._heap)

    def _leave(self, value: int) -> None:
        """Count one candidate less with this value."""
        self._alike[value] -= 1
        if not self._alike[value]:
            del self._alike[value]

    def best(self) -> int:
        """The best pair, 0 where none is left."""
        while self._heap:
            value, _, pair, count = self._heap[0]
            now = self._now.get(pair, _NONE)
            if now[0] == -value and now[1] == count:
                return pair
            if 0 < now[0] < -value:
                heapq.heapreplace(self._heap, (-now[0], self._pairs.key(pair), pair, now[1]))
            else:
                heapq.heappop(self._heap)
        return 0

    def tied(self, pair: int) -> int:
        """The number of candidates that are as good as a pair, 1 for one that is forced and no candidate."""
        return self._alike.get(self._now.get(pair, _NONE)[0], 1)


# ---- tie rules

_INVERT = bytes(range(255, -1, -1))
_AFTER_ALL = "\u0100"


def _first_seen(pairs: Pairs) -> Key:
    return pairs.first_place


def _largest_pair(pairs: Pairs) -> Key:
    # The inverted bytes, then a letter after all of them: a longer string comes before its own beginning.
    inverted: list[str] = []

    def key(pair: int) -> tuple[str, str]:
        new = pieces[len(inverted) :]
        inverted.extend(piece.translate(_INVERT).decode("latin-1") + _AFTER_ALL for piece in new)
        return inverted[left[pair]], inverted[right[pair]]

    pieces, left, right = pairs.vocabulary.pieces, pairs.left, pairs.right
    return key


def _smallest_pair(pairs: Pairs) -> Key:
    pieces, left, right = pairs.vocabulary.pieces, pairs.left, pairs.right
    return lambda pair: (pieces[left[pair]], pieces[right[pair]])


def _lowest_ids(pairs: Pairs) -> Key:
    order_of, left, right = pairs.vocabulary.order_of, pairs.left, pairs.right
    return lambda pair: (order_of(left[pair]), order_of(right[pair]))


def _shortest(pairs: Pairs) -> Key:
    join, length, left, right = pairs.vocabulary.join, pairs.length, pairs.left, pairs.right
    return lambda pair: (length[left[pair]] + length[right[pair]], join(left[pair], right[pair]))


@dataclass(frozen=True, slots=True, kw_only=True)
class TieRule(Choice):
    """A rule.

    Attributes:
        why: The words after its name in the sentence that explains a step.
        key: Makes the key of the pairs of a corpus; the smallest key wins.
        kernel: True if the kernels of merges have it, under its name; else plain Python trains.
    """

    why: str
    key: Callable[[Pairs], Key]
    kernel: bool = False


TIES = Axis(
    "tie", "which of several equal pairs is taken",
    TieRule(
        "first-seen", "the one that stands first in the corpus",
        why="takes the one that stands first in the corpus", key=_first_seen, kernel=True,
    ),
    TieRule(
        "largest-pair", "the last in alphabetical order of (left, right)",
        why="takes the last in alphabetical order", key=_largest_pair, kernel=True,
    ),
    TieRule(
        "smallest-pair", "the first in alphabetical order of (left, right)",
        why="takes the first in alphabetical order", key=_smallest_pair, kernel=True,
    ),
    TieRule(
        "lowest-ids", "the one with the smallest (left id, right id)",
        why="takes the one of the smallest ids", key=_lowest_ids, kernel=True,
    ),
    TieRule(
        "shortest", "the one with fewer characters, then alphabetical",
        why="takes the one of fewer characters, then the first in alphabetical order", key=_shortest,
        kernel=True,
    ),
)
"""The rules, by name."""
