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
from typing import Any, Protocol

from tokentui.core.choices import Axis, Choice
from tokentui.core.records import dataclass
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.objectives import Objective

_FALL = 4
"""The part of itself that the floor of a queue falls to, as a divisor."""
SPARE = 1024
"""The values out of date that a queue may hold, beyond twice as many as are valid."""

Key = Callable[[int], Any]
"""The key of a pair, by its number."""


class Pairs(Protocol):
    """The pairs of a corpus by their numbers, as the queue and the rules see them.

    Attributes:
        objective: The value of a pair.
        vocabulary: The vocabulary at the furthest step.
        left: The symbol of the left part of each pair.
        right: That of the right part.
        counts: The count of each pair.
        length: The length of each symbol in units.
        fit: Returns those of some pairs that may be merged.
        key: The key of the tie rule.
        own_worths: True if they are ordered by worths of their own, which no objective gives.
    """

    objective: Objective
    vocabulary: Vocabulary
    left: list[int]
    right: list[int]
    counts: list[int]
    length: list[int]
    fit: Callable[[Iterable[int]], list[int]]
    key: Key
    own_worths: bool

    def values(self, pairs: Sequence[int]) -> list[int]:
        """The values of pairs as whole numbers in the same order."""

    def first_place(self, pair: int) -> int:
        """The first place where a pair stands."""


class Queue:
    """The candidates at the furthest step: those of each value, and the values in a heap, the greatest first.

    The tie rule is asked where a value is the greatest: its candidates then lie in a heap by their keys. A
    key that has grown since is corrected when its pair comes up.

    Where the value is the count, which never grows, only candidates above a floor are held: most pairs that a
    merge changes are rare. The floor falls to a part of itself once nothing above it is left.

    A merge of (a, b) changes the counts of pairs at its places alone, and the uses of a and b: where they
    matter, all pairs of a and b are valued anew.

    Args:
        pairs: The pairs.
        least: The least count of a candidate.
    """

    def __init__(self, pairs: Pairs, least: int) -> None:
        self._pairs, self.least = pairs, least
        self._floor = least
        """The least count of a candidate that is held."""
        if pairs.objective.value is None and not pairs.own_worths:  # else a rare one may be the best
            self._floor = max(least, max(pairs.counts) // _FALL)
        self.tied = 0
        """The number of candidates that share the greatest value."""
        self.alike = False
        """True if another candidate is exactly as good as the pair that was chosen."""
        self._value: dict[int, int] = {}
        """The value of each candidate."""
        self._alike: dict[int, set[int]] = {}
        """The candidates of each value."""
        self._values: list[int] = []
        """A heap of these values, negated, some that no candidate has any more among them."""
        self._ordered: dict[int, list[tuple[Any, int]]] = {}
        """Of each value that was the greatest: a heap of (key, candidate), some that have left among them."""
        self._touching: dict[int, list[int]] = {}
        """The candidates that each symbol is a part of, some that are none any more among them."""

    def take(self, moved: set[int], parts: Iterable[int]) -> None:
        """Take in what merges changed.

        Args:
            moved: The pairs that have come, or whose count changed.
            parts: The symbols that were merged.
        """
        pairs, counts, value_of, alike = self._pairs, self._pairs.counts, self._value, self._alike
        valued = pairs.objective.value is not None
        if valued:
            for symbol in parts:
                self._touching[symbol] = live = [
                    one for one in self._touching.get(symbol, ()) if one in value_of
                ]
                moved = moved.union(live)
        floor = self._floor
        live = pairs.fit([pair for pair in moved if counts[pair] >= floor])
        values = dict(zip(live, pairs.values(live), strict=True))
        for pair in moved:
            value, was = values.get(pair), value_of.get(pair)
            if value == was:
                if value in self._ordered:  # its place may be an earlier one where counts grow too
                    heapq.heappush(self._ordered[value], (pairs.key(pair), pair))
                continue
            if was is not None:
                alike[was].remove(pair)
                if not alike[was]:
                    del alike[was]
                    self._ordered.pop(was, None)
            elif valued:
                for symbol in {pairs.left[pair], pairs.right[pair]}:
                    self._touching.setdefault(symbol, []).append(pair)
            if value is None:
                del value_of[pair]
                continue
            value_of[pair] = value
            if value in alike:
                alike[value].add(pair)
            else:
                alike[value] = {pair}
                heapq.heappush(self._values, -value)
            if value in self._ordered:
                heapq.heappush(self._ordered[value], (pairs.key(pair), pair))
        if len(self._values) > 2 * len(alike) + SPARE:
            self._values = [-value for value in alike]
            heapq.heapify(self._values)

    def best(self) -> int:
        """The best pair, 0 where none is left."""
        while not self._prune():
            if self._floor <= self.least:
                self.tied, self.alike = 0, False
                return 0
            self._lower(self._floor // _FALL)
        key, alike = self._pairs.key, self._alike[-self._values[0]]
        self.tied, self.alike = len(alike), len(alike) > 1
        ordered = self._ordered.get(-self._values[0])
        if ordered is None:
            ordered = self._ordered[-self._values[0]] = [(key(pair), pair) for pair in alike]
            heapq.heapify(ordered)
        while True:
            was, pair = ordered[0]
            if pair not in alike:
                heapq.heappop(ordered)
            elif (now := key(pair)) != was:
                heapq.heapreplace(ordered, (now, pair))
            else:
                return pair

    def _prune(self) -> bool:
        """Leave out greatest values that no candidate has any more. Returns whether one is left."""
        while self._values and -self._values[0] not in self._alike:
            heapq.heappop(self._values)
        return bool(self._values)

    def _lower(self, floor: int) -> None:
        """Take in the candidates between a lower floor and the present one."""
        above, self._floor = self._floor, max(self.least, floor)
        low = self._floor
        self.take({pair for pair, count in enumerate(self._pairs.counts) if low <= count < above}, ())

    def force(self, pair: int) -> None:
        """Choose a pair whatever its value is; one that is no candidate is like no other."""
        if self._pairs.counts[pair] < self._floor:
            self._lower(self._pairs.counts[pair])
        self.alike = pair in self._value and len(self._alike[self._value[pair]]) > 1


# ---- tie rules

_INVERT = bytes(range(255, -1, -1))
_AFTER_ALL = "\u0100"


def _first_seen(pairs: Pairs) -> Key:
    return pairs.first_place


def _largest_pair(pairs: Pairs) -> Key:
    # The inverted bytes, then a letter after all of them: a longer string comes before its own beginning.
    def inverted(symbol: int) -> str:
        return pieces[symbol].translate(_INVERT).decode("latin-1") + _AFTER_ALL

    pieces, left, right = pairs.vocabulary.pieces, pairs.left, pairs.right
    return lambda pair: (inverted(left[pair]), inverted(right[pair]))


def _smallest_pair(pairs: Pairs) -> Key:
    pieces, left, right = pairs.vocabulary.pieces, pairs.left, pairs.right
    return lambda pair: (pieces[left[pair]], pieces[right[pair]])


def _lowest_ids(pairs: Pairs) -> Key:
    order, left, right = pairs.vocabulary.order, pairs.left, pairs.right
    return lambda pair: (order[left[pair]], order[right[pair]])


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
