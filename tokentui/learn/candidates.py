"""The candidates of an event training, in order: the greatest worth first, equal ones by the tie rule.

`best` keeps the order at the furthest step that was made. `top` works out the best candidates at any step
from the counts, so that a step back updates no order.
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
"""Returns a word after an event, the number of places that changed, and how many symbols at its front and
at its back are surely as before."""


class CandidateTable(Spelling, Protocol):
    """The candidates of a layout, by their numbers from 1 on.

    Attributes:
        counts: The number of places of each, by weight.
        worths: The value that each is ordered by: `counts` itself where that is the count.
        moved: The candidates whose count or worth has changed since the order was brought up to date.
        may: Returns those of some candidates that the rules of the method allow.
    """

    counts: list[int]
    worths: list[int]
    moved: set[int]
    may: Callable[[list[int]], list[int]]

    def add(self, number: int, word: Sequence[int]) -> None: ...
    def replace(self, number: int, old: Sequence[int], new: Sequence[int], start: int, end: int) -> None: ...
    def rewrite(self, event: Event) -> tuple[Iterable[int], Rewrite]: ...
    def falls(self, words: Mapping[int, Sequence[int]]) -> Mapping[int, int]: ...
    def order_by(self, rule: Callable[[Spelling], Key]) -> Key: ...
    def spells(self, candidate: int, parts: tuple[bytes, ...]) -> bool: ...
    def find(self, parts: tuple[bytes, ...]) -> Iterable[int]: ...
    def replaced(self, candidate: int) -> int: ...
    def row(self, candidate: int, before: int | None) -> Pair | NGram: ...
    def forget(self, size: int) -> None: ...
    def over(self, layout: Any) -> Self: ...
    def memory(self) -> int: ...


class Candidates:
    """The candidates of a table under constraints.

    Args:
        table: The table.
        since: Returns the words that changed since the log of the layout had a length, as they were then.
        recipe: Its tie rule and its filter of pieces hold.
        filters: True if constraints on counts decide what `best` chooses, and do not only end a run.
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

    # ---- what may be taken

    def reset(self, under: Constraints | None = None) -> None:
        """Forget the order, and take constraints on what may be taken if there are any."""
        if under is not None:
            self._limits = under.max_length, under.forbidden
        self._judged: dict[int, bool] = {}
        """What `_judge` returned, by candidate."""
        self._queue = self._new_queue(1)

    def _new_queue(self, least: int) -> Queue:
        table = self.table
        table.moved = set(range(1, len(table.counts)))
        return Queue(self, least, by_count=table.worths is table.counts)

    @property
    def counts(self) -> list[int]:
        """The count of each candidate."""
        return self.table.counts

    def values(self, candidates: Sequence[int]) -> list[int]:
        """Return the worths of candidates."""
        worths = self.table.worths
        return [worths[candidate] for candidate in candidates]

    def allowed(self, candidates: Iterable[int]) -> list[int]:
        """Return those of some candidates that may be taken."""
        worths, judged = self.table.worths, self._judged
        found = [candidate for part in in_blocks(candidates) for candidate in part if worths[candidate] > 0]
        if self._allows is not None or self._limits != (None, frozenset()):
            for candidate in found:
                if candidate not in judged:
                    judged[candidate] = self._judge(candidate)
            found = [candidate for candidate in found if judged[candidate]]
        return self.table.may(found)

    def _judge(self, candidate: int) -> bool:
        """Return whether the constraints and the recipe's filter of pieces allow a candidate."""
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
        """Return the best candidate at the furthest step, 0 if none may be taken."""
        if (under.max_length, under.forbidden) != self._limits:
            self.reset(under)
        least = under.min_count if self._filters else 1
        if least != self._queue.least:
            self._queue = self._new_queue(least)
        if self.table.moved:  # a step asks twice: whether there is a candidate, and which
            self._queue.update(self.table.moved, ())
            self.table.moved.clear()
        candidate = self._queue.best()
        if under.forced and (forced := self.find(under.forced)):
            self._queue.force(forced)
            return forced
        return candidate if self.counts[candidate] >= under.min_count else 0

    @property
    def tied(self) -> int:
        """The number of candidates that shared the greatest worth when `best` was asked."""
        return self._queue.tied

    @property
    def was_tied(self) -> bool:
        """True if another candidate was exactly as good as the one that `best` returned."""
        return self._queue.was_tied

    def find(self, parts: tuple[bytes, ...]) -> int:
        """Return the candidate of these parts that occurs, the best one of several; 0 if none does."""
        worths, counts = self.table.worths, self.counts
        found = (candidate for candidate in self.table.find(parts) if counts[candidate])
        return min(found, key=lambda candidate: (-worths[candidate], self.key(candidate)), default=0)

    # ---- at any step

    def row(self, candidate: int) -> Pair | NGram:
        """Return a candidate with its figures at the furthest step."""
        return self.table.row(candidate, self.counts[candidate])

    def top(self, under: Constraints, limit: int, mark: int) -> Ranked:
        """Return the best candidates at the present step in order.

        Args:
            under: The constraints.
            limit: The most candidates that are put in order.
            mark: The length of the layout's log before the last step.
        """
        if (under.max_length, under.forbidden) != self._limits:
            self.reset(under)
        worths, counts, key = self.table.worths, self.counts, self.key
        falls = self.table.falls(self._since(mark))
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
            before = counts[candidate] + falls.get(candidate, 0)
            rows.append(self.table.row(candidate, before or None))
        tied = values.count(max(values, default=0))
        return Ranked(total, tied, self.table.replaced(best[0]) if best else 0, rows, equals)
