"""The candidates of an event training, in order: the greatest worth first, equal ones by the tie rule.

`Candidates.best` keeps the order at the furthest step that was made. `Candidates.top` sorts the counts of any
step anew, so that a step back has no order to update.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, Self

from tokentui.core.jobs import in_blocks
from tokentui.encode.events import Event
from tokentui.learn.bases import FILTERS
from tokentui.learn.engine import Constraints, NGram, Pair, Ranked
from tokentui.learn.ranking import TIES, Key, Queue, Spelling
from tokentui.recipe import Recipe

Rewrite = Callable[[list[int]], tuple[list[int], int, int, int]]
"""Takes the symbols of a word and applies an event to them.

Returns the new symbols, the number of places that the event replaced, and how many symbols at the front and
at the back of the word are known to be unchanged.
"""


class CandidateTable(Spelling, Protocol):
    """The candidates of a layout with their counts, numbered from 1.

    Attributes:
        counts: The number of places of each candidate, by weight.
        worths: The value that each is ordered by: the list `counts` itself if that is the count.
        changed: The candidates whose count or worth has changed since `Candidates` has read them.
        method_allows: Returns those of some candidates that the method allows at present.
    """

    counts: list[int]
    worths: list[int]
    changed: set[int]
    method_allows: Callable[[list[int]], list[int]]

    def add(self, index: int, word: Sequence[int]) -> None:
        """Add the candidates in a word to the counts."""

    def replace(self, index: int, old: Sequence[int], new: Sequence[int], start: int, end: int) -> None:
        """Subtract the candidates of a word as it was, and add those of the word as it is.

        Args:
            index: The index of the word.
            old, new: Its symbols before and now.
            start, end: How many symbols at its front and at its back are the same in both.
        """

    def rewrite(self, event: Event) -> tuple[Iterable[int], Rewrite]:
        """Return the indexes of the words that an event may change, and the function that changes a word."""

    def count_drops(self, words: Mapping[int, Sequence[int]]) -> Mapping[int, int]:
        """Return by how much each count is lower than with the earlier symbols of some words, by index."""

    def order_by(self, rule: Callable[[Spelling], Key]) -> Key:
        """Return the key by which a tie rule orders candidates."""

    def spells(self, candidate: int, parts: tuple[bytes, ...]) -> bool:
        """Return whether a what-if that names these parts means a candidate."""

    def find(self, parts: tuple[bytes, ...]) -> Iterable[int]:
        """Return the candidates that a what-if means which names these parts."""

    def replaced(self, candidate: int) -> int:
        """Return how many places the step of a candidate would replace, by weight."""

    def row(self, candidate: int, before: int | None) -> Pair | NGram:
        """Return a candidate with its figures. `before` is its count before the last step."""

    def forget(self, size: int) -> None:
        """Forget the candidates of symbols numbered `size` or more."""

    def copy_for(self, layout: Any) -> Self:
        """Return an independent copy, which counts the words of another layout."""

    def memory(self) -> int:
        """Return the size of the table, in numbers of eight bytes."""


class Candidates:
    """The candidates of a table that constraints allow, in order.

    Args:
        table: The table.
        since: Returns the words that changed since the layout's log had a length; see `Layout.since`.
        recipe: The recipe, of which the tie rule and the filter of pieces hold.
        filters: Whether a least count decides what `best` chooses, rather than only ending the run.
    """

    def __init__(
        self, table: CandidateTable, since: Callable[[int], Mapping[int, Sequence[int]]], recipe: Recipe,
        filters: bool,
    ) -> None:
        self.table, self._since, self._filters = table, since, filters
        self._allows = FILTERS.of(recipe.pieces).allows
        self.key: Key = self.table.order_by(TIES.of(recipe.tie).key)
        self._limits: tuple[int | None, frozenset[tuple[bytes, ...]]] = (None, frozenset())
        self.reset()

    # ---- what may be chosen

    def reset(self, under: Constraints | None = None) -> None:
        """Order all candidates anew, under other constraints if there are any."""
        if under is not None:
            self._limits = under.max_length, under.forbidden
        self._within_limits: dict[int, bool] = {}
        """What `_meets_limits` returned, by candidate."""
        self._queue = self._new_queue(1)

    def _new_queue(self, least: int) -> Queue:
        table = self.table
        table.changed = set(range(1, len(table.counts)))
        return Queue(self, least, by_count=table.worths is table.counts)

    @property
    def counts(self) -> list[int]:
        """The places of each candidate by weight, by its number; 0 for one that occurs nowhere now."""
        return self.table.counts

    def values(self, candidates: Sequence[int]) -> list[int]:
        """Return what candidates are ordered by at the furthest step, the greatest first."""
        worths = self.table.worths
        return [worths[candidate] for candidate in candidates]

    def allowed(self, candidates: Iterable[int]) -> list[int]:
        """Return those of some candidates that have a worth and that recipe, limits and method allow."""
        worths, within = self.table.worths, self._within_limits
        allowed = [candidate for part in in_blocks(candidates) for candidate in part if worths[candidate] > 0]
        if self._allows is not None or self._limits != (None, frozenset()):
            for candidate in allowed:
                if candidate not in within:
                    within[candidate] = self._meets_limits(candidate)
            allowed = [candidate for candidate in allowed if within[candidate]]
        return self.table.method_allows(allowed)

    def _meets_limits(self, candidate: int) -> bool:
        """Return whether the recipe's filter of pieces and the constraints allow a candidate."""
        table, (longest, forbidden) = self.table, self._limits
        if longest is not None and table.units(candidate) > longest:
            return False
        if self._allows is None and not forbidden:
            return True
        token = table.token(candidate)
        return (
            (self._allows is None or self._allows(token))
            and (token,) not in forbidden
            and not any(table.spells(candidate, parts) for parts in forbidden if len(parts) > 1)
        )

    # ---- at the furthest step

    def best(self, under: Constraints) -> int:
        """Return the forced candidate if it occurs, otherwise the best one at the furthest step.

        Returns 0 if none may be chosen.
        """
        if (under.max_length, under.forbidden) != self._limits:
            self.reset(under)
        least = under.min_count if self._filters else 1
        if least != self._queue.least:
            self._queue = self._new_queue(least)
        if self.table.changed:  # a step asks twice: whether there is a candidate, and which
            self._queue.update(self.table.changed, ())
            self.table.changed.clear()
        candidate = self._queue.best()
        if under.forced and (forced := self.find(under.forced)):
            self._queue.force(forced)
            return forced
        return candidate if self.counts[candidate] >= under.min_count else 0

    @property
    def tied(self) -> int:
        """The number of candidates that shared the greatest worth at the last call of `best`."""
        return self._queue.tied

    @property
    def was_tied(self) -> bool:
        """True if another candidate had the same worth as the one that `best` returned last."""
        return self._queue.was_tied

    def find(self, parts: tuple[bytes, ...]) -> int:
        """Return the best candidate that occurs and has parts of these bytes; 0 if none does."""
        worths, counts = self.table.worths, self.counts
        matching = (candidate for candidate in self.table.find(parts) if counts[candidate])
        return min(matching, key=lambda candidate: (-worths[candidate], self.key(candidate)), default=0)

    # ---- at any step

    def row(self, candidate: int) -> Pair | NGram:
        """Return a candidate with its figures at the furthest step."""
        return self.table.row(candidate, self.counts[candidate])

    def top(self, under: Constraints, limit: int, mark: int) -> Ranked:
        """Return the best candidates at the current step, in order.

        Args:
            under: The constraints.
            limit: The most candidates to return.
            mark: The length of the layout's log before the last step.
        """
        if (under.max_length, under.forbidden) != self._limits:
            self.reset(under)
        worths, counts, key = self.table.worths, self.counts, self.key
        drops = self.table.count_drops(self._since(mark))
        allowed = self.allowed([
            candidate for candidate, count in enumerate(counts) if candidate and count >= under.min_count
        ])
        values = [worths[candidate] for candidate in allowed]
        # Late in a run most candidates share the least worth: those that are below it need no key.
        least = min(heapq.nlargest(limit, values), default=0)
        first = (candidate for candidate in allowed if worths[candidate] >= least)
        ordered = ((-worths[candidate], key(candidate), candidate) for candidate in first)
        best = [candidate for _, _, candidate in heapq.nsmallest(limit, ordered)]
        total, equals = len(allowed), None
        if under.forced and (forced := self.find(under.forced)):
            may = forced in allowed
            total += not may
            equals = values.count(worths[forced]) - 1 if may else 0
            best = [forced, *(candidate for candidate in best if candidate != forced)]
        rows = []
        for candidate in best:
            before = counts[candidate] + drops.get(candidate, 0)
            rows.append(self.table.row(candidate, before or None))
        tied = values.count(max(values, default=0))
        return Ranked(total, tied, self.table.replaced(best[0]) if best else 0, rows, equals)
