"""What every way of learning a vocabulary has in common: its steps, its candidates and its stops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Progress = Callable[[int, int], None]
"""Called with (done, total) from time to time by a long call."""
Cancel = Callable[[], bool]
"""Asked from time to time by a long call; true stops it with `Cancelled`."""

MERGES = "merges"
VOCAB_SIZE = "vocab_size"
MIN_COUNT = "min_count"
NO_PAIR = "no pair left"
INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Stops:
    """When a run ends. Any of them together; "no pair left" always ends it.

    Args:
        merges: The number of merges in all, from the start of the training.
        vocab_size: The number of ids, specials counted.
        min_count: A pair that stands less often is not merged.
        max_length: No token is longer than so many units.
    """

    merges: int | None = None
    vocab_size: int | None = None
    min_count: int = 1
    max_length: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One merge, as it was made.

    `left`, `right` and `token` are exact bytes with their marks. `count` is the number of places where the pair stood
    (overlapping ones too), `replaced` how many were merged, `tied` how many pairs shared the best value, `tokens` the
    length of the corpus after the step, `vocab_size` the number of ids after it.
    """

    number: int
    left: bytes
    right: bytes
    token: bytes
    id: int
    count: int
    replaced: int
    score: float | None
    tied: int
    tokens: int
    vocab_size: int

    @property
    def hex(self) -> list[str]:
        """The three byte strings in lower-case hex: the exact form of the rows for machines."""
        return [self.left.hex(), self.right.hex(), self.token.hex()]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair that may be merged next.

    `before` is its count before the last step, None for a pair that the last step made. `left_symbol` and `right_symbol`
    are its place in the vocabulary.
    """

    left: bytes
    right: bytes
    token: bytes
    count: int
    before: int | None
    left_symbol: int
    right_symbol: int

    @property
    def change(self) -> int:
        """How much the count changed with the last step; 0 for a pair that is new."""
        return 0 if self.before is None else self.count - self.before


@dataclass(frozen=True, slots=True)
class Why:
    """Why the next step is what it is.

    `tied` counts the pairs that share the best count, `best` among them; `replaced` is how many places will be merged;
    `runner_up` is the pair that is taken if the best one were not there. `best` is None at the end.
    """

    best: Candidate | None
    runner_up: Candidate | None
    tied: int
    replaced: int
    tie_rule: str
    end: str | None = None
    facts: tuple[str, ...] = field(default=())
