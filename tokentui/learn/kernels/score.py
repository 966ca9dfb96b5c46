"""The corpus and the history of a training by score, in flat arrays: those of `pairs`, with another way to find the best pair.

`tokentui.core.jit.load` has to have said yes before this module is imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tokentui.learn.kernels import score_run
from tokentui.learn.kernels.pairs import SLICE, CompiledCells, Units
from tokentui.learn.kernels.pairs_fields import LEVEL, NO_LIMIT
from tokentui.learn.kernels.score_columns import COLUMN, LINK, QUEUE, WINNER


class ScoredCells(CompiledCells):
    """Compiled cells: `cells.Cells`, `score.ScoreFrontier` and the history of `ScoreTrainer` in one.

    The arguments are those of `CompiledCells`.
    """

    def __init__(
        self, units: Units, symbols: Sequence[int], pieces: Sequence[bytes], tie: str, prefix: int, base_last: bool
    ) -> None:
        super().__init__(units, symbols, pieces, tie, prefix, base_last)
        self._least = 1
        self._queue = np.zeros(QUEUE, np.int64)
        self._mark = np.zeros(1)

    def fill(self, longest: int | None, least: int = 1) -> None:
        """Find the candidates anew; no token is longer than so many units, and what stands less often is none."""
        self._longest = NO_LIMIT if longest is None else min(longest, NO_LIMIT)
        self._least = least
        size = len(self._symbols)
        self._columns, self._links = np.zeros(size, COLUMN), np.zeros(len(self._table), LINK)
        self._scores, self._room = np.zeros(size), np.empty(size)
        self._leaders, self._changed = np.empty(size, np.int32), np.empty(size, np.int32)
        score_run.fill(
            int(self._steps["pairs"][self.known]), self.base + self.known, least, self._longest, self._rule, self._prefix,
            self._queue, self._mark, self._leaders, self._columns, self._scores, self._room, self._links,
            self._cells, self._places, self._table, self._counts, self._symbols, self._uses, self._text, self._ends,
        )

    def _run(self, goal: int, least: int) -> int:
        known: int = score_run.run(
            self.known, goal, self._least, SLICE, self.base, self._longest, self._rule, self._prefix,
            self._steps, self._queue, self._mark, self._leaders, self._changed, self._columns, self._scores, self._room,
            self._links,
            self._cells, self._places, self._log, self._table, self._counts, self._symbols, self._uses, self._text, self._ends,
        )
        return known

    def best(self) -> int:
        """The best pair at the frontier, 0 where none is left."""
        winner = int(self._queue[WINNER])
        return int(self._columns["pair"][winner]) if winner >= 0 else 0

    def greatest(self) -> int:
        """The count of the best pair at the frontier, 0 where none is left."""
        return int(self._queue[LEVEL])

    def _make_room(self) -> None:
        super()._make_room()
        self._links = _with_room(self._links, len(self._table))
        size = len(self._symbols)
        self._columns, self._scores = _with_room(self._columns, size), _with_room(self._scores, size)
        self._leaders = _with_room(self._leaders, size)
        if size > len(self._room):
            self._room, self._changed = np.empty(size), np.empty(size, np.int32)

    def standing(self, limit: int, least: int) -> tuple[int, int, list[int]]:
        """Return the number of candidates, the number with the greatest score, and the best in order.

        Args:
            limit: The most candidates to return.
            least: The least count of a candidate.
        """
        pairs = self.pairs
        limit = min(limit, pairs)
        rows = np.empty(max(1, limit), score_run.SCORED)
        found, tied, size = score_run.standing(
            pairs, limit, max(1, least), self._longest, self._rule, self._prefix, rows,
            self._cells, self._places, self._table, self._counts, self._symbols, self._uses, self._text, self._ends,
        )
        return found, tied, rows["pair"][:size].tolist()

    @property
    def memory(self) -> int:
        """The size of the corpus, its pairs, the history and the checkpoints in bytes."""
        own = (self._columns, self._links, self._scores, self._room, self._leaders, self._changed)
        return super().memory + sum(array.nbytes for array in own)


def _with_room(array: Any, size: int) -> Any:
    """An array with at least so many rows that begins with those of another."""
    return array if len(array) >= size else np.concatenate((array, np.zeros(size - len(array), array.dtype)))
