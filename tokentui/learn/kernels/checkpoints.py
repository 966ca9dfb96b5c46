"""Checkpoints of a training: the corpus as it stood at a step, copied a part at a time so that no step waits for all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tokentui.learn.kernels import pairs_walk
from tokentui.learn.kernels.memory import Ready
from tokentui.learn.kernels.pairs_fields import CELL

SLICE_CELLS = 1 << 18
"""The number of cells copied after one step, or after a millisecond of steps.

The copy takes some tenths of a millisecond.
"""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The cells at a step, and the counts of the pairs there were."""

    number: int
    cells: Any
    counts: Any


class Copying:
    """A checkpoint under way. What merges change in the part that is copied already is copied again after them.

    Args:
        cells: The number of cells of the corpus.
        pairs: The most pairs there will be, as far as is known.
    """

    def __init__(self, cells: int, pairs: int) -> None:
        self._cells = Ready(cells, CELL)
        self._counts = Ready(pairs, np.int64)
        self._size = cells
        self._done = 0
        self._number = 0

    def go_on(
        self, number: int, base: int, steps: Any, cells: Any, log: Any, table: Any, counts: Any, symbols: Any
    ) -> Checkpoint | None:
        """Copy another part at a known step, none before it if it was called before.

        Args:
            number: The step.
            base: The number of base symbols.
            steps, cells, log, table, counts, symbols: The arrays of the training, `counts` of the pairs that there are.

        Returns:
            The checkpoint, which is one of this step, once all is copied.
        """
        if not (self._cells.there and self._counts.there):
            return None
        copy, kept = self._cells.take(), self._counts.take()
        if self._done:
            pairs_walk.copy_changed(self._number, number, base, steps, cells, copy, log, table, symbols)
        self._number = number
        if self._done < self._size:
            part = slice(self._done, self._done + SLICE_CELLS)
            copy[part] = cells[part]
            self._done += SLICE_CELLS
            return None
        kept = kept[: len(counts)] if len(counts) <= len(kept) else np.empty_like(counts)
        kept[:] = counts
        return Checkpoint(number, copy, kept)
