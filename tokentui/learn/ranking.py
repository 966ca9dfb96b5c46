"""The order of candidates in plain Python: `Queue` finds the best one, `TIES` has the rules for equal ones.

A rule gives each candidate a key, and the smallest key wins. The keys of most rules follow from the symbols
of the candidate alone. The key of `first-seen` is the first place where it still occurs: words in order of
first appearance, then the place in the word, as in a recount from scratch. That place changes only when the
count of the candidate falls, so a queue that notices changed counts notices it too.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from tokentui.core.choices import Axis, Choice
from tokentui.core.records import dataclass

_FALL = 4
"""The floor of a queue is divided by this when no candidate above it is left."""
SPARE = 1024
"""The outdated values that a queue may keep, beyond twice the number of valid ones."""

Key = Callable[[int], Any]
"""Returns the key of a candidate, by its number. Of equal candidates the smallest key wins."""


class Spelling(Protocol):
    """What tie rules read of candidates, which are pairs of symbols or n-grams, by their numbers."""

    def first_place(self, candidate: int) -> int:
        """Return the first place of a candidate in the corpus, as a number that orders places."""

    def compared(self, candidate: int) -> tuple[bytes, ...]:
        """Return the texts that rules compare: the parts of a pair, the whole text of an n-gram."""

    def ids(self, candidate: int) -> tuple[int, ...]:
        """Return the ids of the symbols of a candidate, left to right."""

    def units(self, candidate: int) -> int:
        """Return the units of the token that a candidate would make."""

    def token(self, candidate: int) -> bytes:
        """Return the bytes of the token that a candidate would make."""


class Valued(Protocol):
    """What a queue reads of candidates, by their numbers.

    Attributes:
        key: Returns the key of the tie rule.
    """

    key: Key

    @property
    def counts(self) -> list[int]:
        """The places of each candidate by weight, by its number; 0 for one that occurs nowhere now."""

    @property
    def allowed(self) -> Callable[[Iterable[int]], list[int]]:
        """Returns those of some candidates that may be chosen."""

    def values(self, candidates: Sequence[int]) -> list[int]:
        """Return the values of candidates, as whole numbers that compare as the values do."""


class Queue:
    """The candidates at the furthest step: the candidates of each value, and a heap of the values.

    Only the candidates of the greatest value are ordered by the tie rule: they lie in a heap by their keys. A
    key that has grown since then is corrected when its candidate comes up.

    If the value is the count, which never grows, only candidates above a floor are kept: most pairs that a
    merge changes are rare. The floor falls when nothing above it is left.

    A merge of (a, b) changes the counts of the pairs at its places, and the uses of a and b. If the value
    depends on uses, the values of all pairs with a or b are computed anew.

    Args:
        candidates: The candidates.
        least: The least count of a candidate.
        by_count: Whether the value is the count.
        parts: The left and the right symbol of each candidate, if its value depends on their uses. They are
            lists: a call for each candidate would cost a tenth of the training.
    """

    def __init__(
        self, candidates: Valued, least: int, by_count: bool,
        parts: tuple[Sequence[int], Sequence[int]] | None = None,
    ) -> None:
        self._candidates, self.least, self._parts = candidates, least, parts
        self._floor = least
        """The least count of a candidate that is kept."""
        if by_count:  # with another value a rare candidate may be the best
            self._floor = max(least, max(candidates.counts) // _FALL)
        self.tied = 0
        """The number of candidates that share the greatest value; set by `best`."""
        self.was_tied = False
        """True if another candidate has the value of the chosen one; set by `best` and `force`."""
        self._value: dict[int, int] = {}
        """The value of each candidate."""
        self._with_value: dict[int, set[int]] = {}
        """The candidates of each value."""
        self._values: list[int] = []
        """A heap of the negated values. Some belong to no candidate any more."""
        self._ordered: dict[int, list[tuple[Any, int]]] = {}
        """For each value that was the greatest a heap of (key, candidate). Some candidates have left it."""
        self._touching: dict[int, list[int]] = {}
        """The candidates whose value depends on each symbol. Some are no candidates any more."""

    def update(self, moved: set[int], merged: Iterable[int]) -> None:
        """Update the values of candidates.

        Args:
            moved: The candidates that are new or have another count.
            merged: The symbols whose uses changed.
        """
        source, counts = self._candidates, self._candidates.counts
        value_of, with_value = self._value, self._with_value
        left, right = self._parts or ((), ())
        if self._parts:
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
                if value in self._ordered:  # counts that also grow may have moved its first place ahead
                    heapq.heappush(self._ordered[value], (source.key(candidate), candidate))
                continue
            if was is not None:
                with_value[was].remove(candidate)
                if not with_value[was]:
                    del with_value[was]
                    self._ordered.pop(was, None)
            elif left:
                for symbol in {left[candidate], right[candidate]}:
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
        """Remove the greatest values that belong to no candidate any more. Return whether a value is left."""
        while self._values and -self._values[0] not in self._with_value:
            heapq.heappop(self._values)
        return bool(self._values)

    def _lower(self, floor: int) -> None:
        """Lower the floor, and add the candidates between the old one and the new one."""
        above, self._floor = self._floor, max(self.least, floor)
        low = self._floor
        counts = self._candidates.counts
        self.update({candidate for candidate, count in enumerate(counts) if low <= count < above}, ())

    def force(self, candidate: int) -> None:
        """Choose a candidate whatever its value is: set `was_tied`, False for one that may not be chosen."""
        if self._candidates.counts[candidate] < self._floor:
            self._lower(self._candidates.counts[candidate])
        self.was_tied = candidate in self._value and len(self._with_value[self._value[candidate]]) > 1


def best_in_order(
    candidates: Sequence[int], values: Sequence[int], key: Key, limit: int, forced: int
) -> tuple[list[int], int, int | None]:
    """Rank the candidates of a step.

    Args:
        candidates: The candidates that may be chosen.
        values: The value of each.
        key: Returns what the tie rule compares of a candidate; the smallest key wins.
        limit: The most candidates to return, without the forced one.
        forced: The candidate that is chosen whatever its value is; 0 for none.

    Returns:
        The best candidates in order, after the forced one; how many may be chosen, with the forced one; and
        how many others have the value of the forced one, None without one.
    """
    # Late in a run most share the least value: no key is made for those that are further below.
    least = min(heapq.nlargest(limit, values), default=0)
    valued = zip(values, candidates, strict=True)
    ordered = ((-value, key(candidate), candidate) for value, candidate in valued if value >= least)
    best = [candidate for _, _, candidate in heapq.nsmallest(limit, ordered)]
    if not forced:
        return best, len(candidates), None
    best = [forced, *(candidate for candidate in best if candidate != forced)]
    if forced not in candidates:
        return best, len(candidates) + 1, 0
    return best, len(candidates), values.count(values[candidates.index(forced)]) - 1


# ---- tie rules

_INVERT = bytes(range(255, -1, -1))
_AFTER_ALL = "\u0100"


def _first_seen(candidates: Spelling) -> Key:
    return candidates.first_place


def _largest_pair(candidates: Spelling) -> Key:
    """Return a key that is smallest for the pair of the largest texts.

    Inverted bytes reverse the order. The letter after them puts a longer string before its own beginning.
    """
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
    """A tie rule.

    Attributes:
        why: What the rule does, as the end of a sentence such as "first-seen takes the one …".
        key: Makes the function that returns the key of a candidate; the smallest key wins.
        kernel: True if the kernels of merges have the rule under its name. Otherwise plain Python trains.
    """

    why: str
    key: Callable[[Spelling], Key]
    kernel: bool = False


TIES = Axis(
    "tie", "which of several equally good pairs wins",
    TieRule(
        "first-seen", "the one that occurs first in the corpus",
        why="takes the one that occurs first in the corpus", key=_first_seen, kernel=True,
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
        why="takes the one with the smallest ids", key=_lowest_ids, kernel=True,
    ),
    TieRule(
        "shortest", "the one with fewer characters, then alphabetical",
        why="takes the one with fewer characters, then the first in alphabetical order", key=_shortest,
        kernel=True,
    ),
)
"""The tie rules, by name."""
