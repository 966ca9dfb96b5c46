"""Checkpoints of a training: the corpus as it stood at a step, copied a part at a time so that no step waits
for all of it."""

from __future__ import annotations

import os
import threading
from typing import Any, NamedTuple

import numpy as np

from tokentui.learn.kernels.layout import CELL, State
from tokentui.learn.kernels.merges import copy_changed

SLICE_CELLS = 1 << 18
"""The number of cells copied after one step, or after a millisecond of steps: some tenths of a millisecond.
"""
_PAGE = 4096
_LEAST_BYTES = 1 << 20
"""For less memory no thread is worth it."""


class Ready:
    """An array, not filled with anything, whose memory is there before it is needed.

    The system finds a page of memory for a process when it is first written to, which may take longer than
    what is then written. A thread has the pages found while kernels are at work on something else.

    Args:
        size: The number of its rows.
        kind: Their type.
    """

    def __init__(self, size: int, kind: Any) -> None:
        self._array = np.empty(size, kind)
        self._thread: threading.Thread | None = None
        if self._array.nbytes >= _LEAST_BYTES and (os.cpu_count() or 1) > 1:
            self._thread = threading.Thread(target=self._touch, name="tokentui memory", daemon=True)
            self._thread.start()

    def _touch(self) -> None:
        self._array.view(np.uint8)[::_PAGE] = 0

    @property
    def there(self) -> bool:
        """True if `take` returns without waiting."""
        return self._thread is None or not self._thread.is_alive()

    def take(self) -> Any:
        """The array, once its memory is there."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        return self._array


class Checkpoint(NamedTuple):
    """The corpus as it stood at a step: its cells, and the counts of the pairs there were."""

    number: int
    cells: Any
    counts: Any


class Copying:
    """A checkpoint under way, copied a part at a time so that no step waits for all of it.

    What merges change in the part that is copied already is copied again after them.

    Args:
        cells: The number of cells of the corpus.
        pairs: The most pairs there will be, as far as is known.
    """

    def __init__(self, cells: int, pairs: int) -> None:
        self._cells = Ready(cells, CELL)
        self._counts = Ready(pairs, np.int64)
        self._size = cells
        self._done = self._number = 0

    def go_on(self, number: int, state: State) -> Checkpoint | None:
        """Copy another part at a known step, none before it if it was called before.

        Returns:
            The checkpoint, which is one of this step, once all is copied.
        """
        if not (self._cells.there and self._counts.there):
            return None
        copy = self._cells.take()
        if self._done:
            copy_changed(self._number, number, copy, state)
        self._number = number
        if self._done < self._size:
            part = slice(self._done, self._done + SLICE_CELLS)
            copy[part] = state.cells[part]
            self._done += SLICE_CELLS
            return None
        counts = state.counts[: state.steps["pairs"][number]]
        kept = self._counts.take()[: len(counts)]
        if len(kept) < len(counts):
            kept = np.empty_like(counts)
        kept[:] = counts
        return Checkpoint(number, copy, kept)
