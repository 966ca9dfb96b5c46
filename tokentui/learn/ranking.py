"""The order of pairs in plain Python: queues that find the best one, the candidates of a step put in order,
and the rules for equal pairs (`TIES`).

A tie rule gives each pair a key; the smallest key wins. Keys of the fixed rules follow from the two symbols
alone. The key of `first-seen` is the first place where the pair still stands, which is the order of a recount
from scratch: words in order of first appearance, then the place in the word. It moves only when the pair's
count falls, so a queue that looks at the count sees it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tokentui.core.choices import Axis, Choice
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.cells import Cells

SPARE = 1024
"""The entries out of date that a heap may hold, beyond as many as are valid."""


class Ranked:
    """The candidates of one step, put in order only as far as is asked. They hold while the step does.

    Args:
        pairs: The candidates by their index in the pair table, ascending.
        worths: The value of each: the greatest is taken first.
        key: The key of the tie rule.
    """

    def __init__(self, pairs: Sequence[int], worths: Sequence[int], key: Key) -> None:
        self._pairs, self._worths, self._key = pairs, worths, key
        self._best: list[int] = []

    def __len__(self) -> int:
        return len(self._pairs)

    def best(self, limit: int) -> list[int]:
        """So many of the best pairs, fewer where there are no more, by value and tie rule."""
        limit = min(limit, len(self._pairs))
        if limit > len(self._best):
            self._best = self._ordered(limit)
        return self._best[:limit]

    def tied(self) -> int:
        """The number of pairs that share the greatest value."""
        return self._worths.count(max(self._worths)) if self._worths else 0

    def _ordered(self, limit: int) -> list[int]:
        key = self._key
        above = list(zip(self._worths, self._pairs, strict=True))
        last: list[int] = []
        if limit < len(above):
            # Late in a run most pairs share the least value: only the first few of those are put in order.
            least = heapq.nlargest(limit, self._worths)[-1]
            last = [pair for worth, pair in above if worth == least]
            above = [one for one in above if one[0] > least]
        above.sort(key=lambda one: (-one[0], key(one[1])))
        best = [pair for _, pair in above]
        return best + heapq.nsmallest(limit - len(best), last, key=key)


class Queue(Protocol):
    """The candidates at the furthest step, best first."""

    def best(self) -> int:
        """The best pair, 0 where none is left."""

    def tied(self, pair: int) -> int:
        """The number of candidates that are exactly as good as the best one."""

    def moved(self, pair: int, first_new: int, fell: Sequence[int]) -> None:
        """Take in a merge of the best pair that was just made.

        Args:
            pair: The pair.
            first_new: The number of pairs before the merge.
            fell: Other candidates that had the pair's count and no longer do.
        """


class CountQueue:
    """The candidates by count.

    The count of a pair only falls once the pair exists. So the pairs with the greatest count wait in a heap
    by the tie rule, and all others in a list for each count that they had when they came; a list is looked
    through when its count is the greatest.

    Args:
        cells: The corpus.
        key: The key of the tie rule.
        barred: Pairs that are no candidates; it grows with the pairs.
    """

    def __init__(self, cells: Cells, key: Key, barred: set[int]) -> None:
        self._counts, self._key, self._barred = cells.counts, key, barred
        self._heap: list[tuple[Any, int]] = []
        self._level = self._alike = 0
        self._waiting: dict[int, list[int]] = {}
        self._levels: list[int] = []
        """The counts that pairs wait by, negated: a heap."""
        self._take_in(1)

    def _take_in(self, first: int) -> None:
        """Queue the candidates from this index of the pair table on."""
        counts, barred, level = self._counts, self._barred, self._level
        for pair in range(first, len(counts)):
            if pair in barred:
                continue
            if level and counts[pair] == level:
                heapq.heappush(self._heap, (self._key(pair), pair))
                self._alike += 1
            else:
                self._wait(pair)

    def _wait(self, pair: int) -> None:
        count = self._counts[pair]
        if count in self._waiting:
            self._waiting[count].append(pair)
        elif count:
            self._waiting[count] = [pair]
            heapq.heappush(self._levels, -count)

    def best(self) -> int:
        """The best pair, 0 where none is left."""
        counts = self._counts
        while True:
            while self._heap:
                pair = self._heap[0][1]
                if counts[pair] == self._level:
                    return pair
                heapq.heappop(self._heap)
                self._wait(pair)
            if not self._levels:
                self._level = 0
                return 0
            self._level = level = -heapq.heappop(self._levels)
            here = []
            for pair in self._waiting.pop(level):
                if counts[pair] == level:
                    here.append((self._key(pair), pair))
                else:
                    self._wait(pair)
            heapq.heapify(here)
            self._heap, self._alike = here, len(here)

    def tied(self, pair: int) -> int:
        """The number of candidates that are exactly as good as the best one."""
        return self._alike

    def moved(self, pair: int, first_new: int, fell: Sequence[int]) -> None:
        """Take in a merge of the best pair that was just made."""
        self._alike -= 1 + sum(other not in self._barred for other in fell)
        self._take_in(first_new)


class ValueQueue:
    """The candidates by a value of their count and the uses of their parts, which may rise.

    A merge of (a, b) changes the uses of a and b alone, and the counts of pairs that touch a place of it,
    which have a or b in them too. So the pairs of a and b are valued anew after it, and the new pairs for the
    first time. The heap is lazy: each pair has one valid entry, and the others are passed over when they come
    up.

    Args:
        cells: The corpus.
        key: The key of the tie rule.
        barred: Pairs that are no candidates; it grows with the pairs.
        order: The values of pairs as whole numbers in the same order.
        least: The least count of a candidate. A count never grows, so a pair below it never becomes one.
        symbols: The number of symbols.
    """

    def __init__(
        self, cells: Cells, key: Key, barred: set[int], order: Callable[[Sequence[int]], list[int]],
        least: int, symbols: int,
    ) -> None:
        self._cells, self._key, self._barred, self._order, self._least = cells, key, barred, order, least
        self._heap: list[tuple[int, Any, int, int]] = []
        self._entries: dict[int, tuple[int, Any, int, int]] = {}
        """The valid entry of each candidate: (negated value, key of the tie rule, pair, count)."""
        self._tied: dict[int, int] = {}
        """The number of candidates with each (negated) value."""
        self._touching: list[list[int]] = [[] for _ in range(symbols)]
        """The candidates that each symbol is a part of, some dead ones among them."""
        self._take_in(1)

    def _take_in(self, first: int) -> None:
        counts, left, right = self._cells.counts, self._cells.left, self._cells.right
        new = [
            pair
            for pair in range(first, len(counts))
            if counts[pair] >= self._least and pair not in self._barred
        ]
        for pair in new:
            for symbol in {left[pair], right[pair]}:
                self._touching[symbol].append(pair)
        self._value(new)

    def _value(self, pairs: Sequence[int]) -> None:
        """Give candidates the entry that holds now."""
        counts, entries, tied = self._cells.counts, self._entries, self._tied
        for pair, value in zip(pairs, self._order(pairs), strict=True):
            count, was = counts[pair], entries.get(pair)
            if was is not None:
                if was[0] == -value and was[3] == count:
                    continue
                self._leave(was[0])
            # The place that first-seen looks at may have gone with the count.
            tie = self._key(pair) if was is None or was[3] != count else was[1]
            entries[pair] = entry = (-value, tie, pair, count)
            tied[-value] = tied.get(-value, 0) + 1
            heapq.heappush(self._heap, entry)

    def _leave(self, value: int) -> None:
        """Count one pair less with this (negated) value."""
        self._tied[value] -= 1
        if not self._tied[value]:
            del self._tied[value]

    def best(self) -> int:
        """The best pair, 0 where none is left."""
        while self._heap:
            entry = self._heap[0]
            if self._entries.get(entry[2]) is entry:
                return entry[2]
            heapq.heappop(self._heap)
        return 0

    def tied(self, pair: int) -> int:
        """The number of candidates that are exactly as good as the best one."""
        return self._tied[self._entries[pair][0]]

    def moved(self, pair: int, first_new: int, fell: Sequence[int]) -> None:
        """Take in a merge of the best pair that was just made; the uses of the symbols are those after it."""
        counts, entries, touching = self._cells.counts, self._entries, self._touching
        touching.append([])
        for symbol in {self._cells.left[pair], self._cells.right[pair]}:
            live = []
            for other in touching[symbol]:
                if counts[other] >= self._least:
                    live.append(other)
                elif other in entries:
                    self._leave(entries.pop(other)[0])
            touching[symbol] = live
            self._value(live)
        self._take_in(first_new)
        if len(self._heap) > 2 * len(entries) + SPARE:
            self._heap = list(entries.values())
            heapq.heapify(self._heap)


# ---- tie rules

Key = Callable[[int], Any]
"""The key of a pair, by its index."""

_INVERT = bytes(range(255, -1, -1))
_AFTER_ALL = "\u0100"


def _first_seen(cells: Cells, vocabulary: Vocabulary) -> Key:
    return cells.first_place


def _largest_pair(cells: Cells, vocabulary: Vocabulary) -> Key:
    # The inverted bytes, then a letter after all of them: a longer string comes before its own beginning.
    inverted: list[str] = []

    def key(pair: int) -> tuple[str, str]:
        new = vocabulary.pieces[len(inverted) :]
        inverted.extend(piece.translate(_INVERT).decode("latin-1") + _AFTER_ALL for piece in new)
        return inverted[cells.left[pair]], inverted[cells.right[pair]]

    return key


def _smallest_pair(cells: Cells, vocabulary: Vocabulary) -> Key:
    pieces = vocabulary.pieces
    return lambda pair: (pieces[cells.left[pair]], pieces[cells.right[pair]])


def _lowest_ids(cells: Cells, vocabulary: Vocabulary) -> Key:
    orders: list[int] = []
    lefts, rights = cells.left, cells.right

    def key(pair: int) -> int:
        left, right = lefts[pair], rights[pair]
        if left >= len(orders) or right >= len(orders):
            orders.extend(map(vocabulary.order_of, range(len(orders), len(vocabulary.pieces))))
        return orders[left] << 40 | orders[right]

    return key


def _shortest(cells: Cells, vocabulary: Vocabulary) -> Key:
    length = cells.length

    def key(pair: int) -> tuple[int, bytes]:
        left, right = cells.left[pair], cells.right[pair]
        return length[left] + length[right], vocabulary.join(left, right)

    return key


@dataclass(frozen=True, slots=True, kw_only=True)
class TieRule(Choice):
    """A rule.

    Attributes:
        why: The words after its name in the sentence that explains a step.
        key: Makes the key of a pair for the corpus as it is cut and its vocabulary; the smallest key wins.
        kernel: True if the kernels of merges have it, under its name; else plain Python trains.
    """

    why: str
    key: Callable[[Cells, Vocabulary], Key]
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
