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

_FALL = 4
"""The part of itself that the floor of a queue falls to, as a divisor."""
SPARE = 1024
"""The values out of date that a queue may hold, beyond twice as many as are valid."""

Key = Callable[[int], Any]
"""The key of a candidate, by its number."""


class Spelling(Protocol):
    """Candidates by their numbers, as tie rules see them: pairs of symbols, or runs of them."""

    def first_place(self, candidate: int) -> int:
        """Return the first place of a candidate in the corpus, as a number that orders places."""

    def compared(self, candidate: int) -> tuple[bytes, ...]:
        """Return the texts that rules compare: the parts of a pair, the whole text of a run."""

    def ids(self, candidate: int) -> tuple[int, ...]:
        """Return the ids of its symbols."""

    def units(self, candidate: int) -> int:
        """Return the number of its units."""

    def token(self, candidate: int) -> bytes:
        """Return the bytes of the token that it would make."""


class Valued(Protocol):
    """Candidates by their numbers, as the queue sees them.

    Attributes:
        key: The key of the tie rule.
    """

    key: Key

    @property
    def counts(self) -> list[int]:
        """The count of each candidate."""

    @property
    def allowed(self) -> Callable[[Iterable[int]], list[int]]:
        """Returns those of some candidates that may be taken."""

    def values(self, candidates: Sequence[int]) -> list[int]:
        """Return the values of candidates as whole numbers in the same order."""


class Queue:
    """The candidates at the furthest step: those of each value, and the values in a heap, the greatest first.

    The tie rule is asked where a value is the greatest: its candidates then lie in a heap by their keys. A
    key that has grown since is corrected when its pair comes up.

    Where the value is the count, which never grows, only candidates above a floor are held: most pairs that a
    merge changes are rare. The floor falls to a part of itself once nothing above it is left.

    A merge of (a, b) changes the counts of pairs at its places alone, and the uses of a and b: where the
    value depends on them, all pairs of a and b are valued anew.

    Args:
        candidates: The candidates.
        least: The least count of a candidate.
        by_count: True if the value is the count.
        symbols_of: Returns the symbols whose uses the value of a candidate depends on; None if it depends on
            no uses.
    """

    def __init__(
        self, candidates: Valued, least: int, by_count: bool,
        symbols_of: Callable[[int], set[int]] | None = None,
    ) -> None:
        self._candidates, self.least, self._symbols_of = candidates, least, symbols_of
        self._floor = least
        """The least count of a candidate that is held."""
        if by_count:  # else a rare one may be the best
            self._floor = max(least, max(candidates.counts) // _FALL)
        self.tied = 0
        """The number of candidates that share the greatest value."""
        self.was_tied = False
        """True if another candidate is exactly as good as the pair that was chosen."""
        self._value: dict[int, int] = {}
        """The value of each candidate."""
        self._with_value: dict[int, set[int]] = {}
        """The candidates of each value."""
        self._values: list[int] = []
        """A heap of these values, negated, some that no candidate has any more among them."""
        self._ordered: dict[int, list[tuple[Any, int]]] = {}
        """Of each value that was the greatest: a heap of (key, candidate), some that have left among them."""
        self._touching: dict[int, list[int]] = {}
        """The candidates that each symbol is a part of, some that are none any more among them."""

    def update(self, moved: set[int], merged: Iterable[int]) -> None:
        """Take in what merges changed.

        Args:
            moved: The candidates that are new, or have another count.
            merged: The symbols that were merged.
        """
        source, counts = self._candidates, self._candidates.counts
        value_of, with_value, symbols_of = self._value, self._with_value, self._symbols_of
        if symbols_of:
            for symbol in merged:
                self._touching[symbol] = live = [
                    candidate for candidate in self._touching.get(symbol, ()) if candidate in value_of
                ]
                moved = moved.union(live)
        floor = self._floor
        live = source.allowed([candidate for candidate in moved if counts[candidate] >= floor])
        values = dict(zip(live, source.values(live), strict=True))
        for candidate in moved:
            value, was = values.get(candidate), value_of.get(candidate)
            if value == was:
                if value in self._ordered:  # its place may be an earlier one where counts grow too
                    heapq.heappush(self._ordered[value], (source.key(candidate), candidate))
                continue
            if was is not None:
                with_value[was].remove(candidate)
                if not with_value[was]:
                    del with_value[was]
                    self._ordered.pop(was, None)
            elif symbols_of:
                for symbol in symbols_of(candidate):
                    self._touching.setdefault(symbol, []).append(candidate)
            if value is None:
                del value_of[candidate]
                continue
            value_of[candidate] = value
            if value in with_value:
                with_value[value].add(candidate)
            else:
                with_value[value] = {candidate}
                heapq.heappush(self._values, -value)
            if value in self._ordered:
                heapq.heappush(self._ordered[value], (source.key(candidate), candidate))
        if len(self._values) > 2 * len(with_value) + SPARE:
            self._values = [-value for value in with_value]
            heapq.heapify(self._values)

    def best(self) -> int:
        """Return the best candidate, 0 if none is left."""
        while not self._prune():
            if self._floor <= self.least:
                self.tied, self.was_tied = 0, False
                return 0
            self._lower(self._floor // _FALL)
        key, best = self._candidates.key, self._with_value[-self._values[0]]
        self.tied, self.was_tied = len(best), len(best) > 1
        ordered = self._ordered.get(-self._values[0])
        if ordered is None:
            ordered = self._ordered[-self._values[0]] = [(key(candidate), candidate) for candidate in best]
            heapq.heapify(ordered)
        while True:
            was, candidate = ordered[0]
            if candidate not in best:
                heapq.heappop(ordered)
            elif (now := key(candidate)) != was:
                heapq.heapreplace(ordered, (now, candidate))
            else:
                return candidate

    def _prune(self) -> bool:
        """Leave out greatest values that no candidate has any more. Returns whether one is left."""
        while self._values and -self._values[0] not in self._with_value:
            heapq.heappop(self._values)
        return bool(self._values)

    def _lower(self, floor: int) -> None:
        """Take in the candidates between a lower floor and the present one."""
        above, self._floor = self._floor, max(self.least, floor)
        low = self._floor
        counts = self._candidates.counts
        self.update({candidate for candidate, count in enumerate(counts) if low <= count < above}, ())

    def force(self, candidate: int) -> None:
        """Choose a candidate whatever its value is. One that may not be taken is tied with none."""
        if self._candidates.counts[candidate] < self._floor:
            self._lower(self._candidates.counts[candidate])
        self.was_tied = candidate in self._value and len(self._with_value[self._value[candidate]]) > 1


# ---- tie rules

_INVERT = bytes(range(255, -1, -1))
_AFTER_ALL = "\u0100"


def _first_seen(candidates: Spelling) -> Key:
    return candidates.first_place


def _largest_pair(candidates: Spelling) -> Key:
    # The inverted bytes, then a letter after all of them: a longer string comes before its own beginning.
    def inverted(piece: bytes) -> str:
        return piece.translate(_INVERT).decode("latin-1") + _AFTER_ALL

    return lambda candidate: tuple(map(inverted, candidates.compared(candidate)))


def _smallest_pair(candidates: Spelling) -> Key:
    return candidates.compared


def _lowest_ids(candidates: Spelling) -> Key:
    return candidates.ids


def _shortest(candidates: Spelling) -> Key:
    return lambda candidate: (candidates.units(candidate), candidates.token(candidate))


@dataclass(frozen=True, slots=True, kw_only=True)
class TieRule(Choice):
    """A rule.

    Attributes:
        why: The words after its name in the sentence that explains a step.
        key: Makes the function that returns the key of a candidate; the smallest key wins.
        kernel: True if the kernels of merges have it, under its name; else plain Python trains.
    """

    why: str
    key: Callable[[Spelling], Key]
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
