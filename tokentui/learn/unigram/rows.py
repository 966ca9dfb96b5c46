"""What a unigram training shows of itself: its steps, the pieces by loss, and what a step dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class UnigramStep:
    """One sub-step of a training.

    Attributes:
        number: 1 for the first.
        round: The round, from 1: steps of `em`, then one of `prune`. The final cut belongs to the last round.
        what: `em` or `prune`.
        kept: The number of pieces after it.
        dropped: How many pieces it dropped.
        objective: The mean negative natural log probability of a word of the corpus after it, over all segmentations.
        tokens: The length of the corpus after it, in pieces.
        vocab_size: The number of ids after it.
        final: Whether it is the cut to the size asked for.
    """

    number: int
    round: int
    what: str
    kept: int
    dropped: int
    objective: float
    tokens: int
    vocab_size: int
    final: bool

    @property
    def row(self) -> dict[str, Any]:
        """The row of a trace."""
        return {
            "round": self.round,
            "what": self.what,
            "kept": self.kept,
            "dropped": self.dropped,
            "objective": self.objective,
        }


@dataclass(frozen=True, slots=True)
class PieceRow:
    """A piece as the coming pruning judges it.

    Attributes:
        piece: Its exact bytes.
        probability: Its probability.
        expected: How often it was expected in the corpus when that was last counted; of a seed, how often it stands.
        uses: How often it stands in the best segmentations of the corpus.
        loss: By how much the mean log probability of a token falls without it; infinite for what nothing can replace,
            minus infinity for what is less probable than its parts.
        alternative: The pieces that stand for it when it is gone; a unit that is no piece stands as it is.
        goes: Whether the pruning would drop it.
        reason: Why, empty for one that stays.
        taken: Whether a walk through the pruning has dropped it already.
    """

    piece: bytes
    probability: float
    expected: float
    uses: float
    loss: float
    alternative: tuple[bytes, ...]
    goes: bool
    reason: str
    taken: bool = False


@dataclass(frozen=True, slots=True)
class DroppedRow:
    """A piece that a step dropped.

    `figure` is what it was dropped for: the expected count, the loss, or the score (natural logarithm).
    """

    piece: bytes
    reason: str
    figure: float
