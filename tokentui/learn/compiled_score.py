"""Training by the score of pairs with compiled kernels: `ScoreTrainer` with another engine. Every number is the same.

`tokentui.core.jit.load` has to have said yes before a `CompiledScoreTrainer` is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokentui.learn.compiled import CompiledTrainer
from tokentui.learn.score import ByScore

if TYPE_CHECKING:
    from tokentui.learn.kernels.score import ScoredCells


class CompiledScoreTrainer(ByScore, CompiledTrainer):
    """Training by the score of pairs, with kernels that make many merges in one call."""

    cells: ScoredCells

    @staticmethod
    def _kind_of_cells() -> type[ScoredCells]:
        from tokentui.learn.kernels.score import ScoredCells

        return ScoredCells

    def _new_frontier(self) -> Any:
        self.cells.fill(self._max_length, self._min_count)
        return None

    def _uses_of_step(self, number: int) -> tuple[int, int]:
        return self.cells.uses_of_step(number)
