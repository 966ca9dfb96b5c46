"""The further figures of pairs that the value of an objective may see, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Protocol

from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.objectives import Objective


class Counted(Protocol):
    """The pairs of a corpus at a step, by their numbers.

    Attributes:
        objective: The objective.
        number: The step.
        vocabulary: The vocabulary.
        left: The left symbol of each pair.
        right: The right symbol of each pair.
        counts: The count of each pair.
        uses: The uses of each symbol, by weight.
        length: The length of each symbol in units.
        apart: By how much there are more tokens than places of pairs: a merge takes one of each.
        tokens_at: The length of the corpus in tokens after a step.
    """

    objective: Objective
    vocabulary: Vocabulary
    left: list[int]
    right: list[int]
    counts: list[int]
    uses: list[int]
    length: list[int]
    apart: int
    number: int

    @property
    def tokens_at(self) -> Callable[[int], int]: ...


def valued(of: Counted, pairs: Sequence[int]) -> list[tuple[int, int]]:
    """The exact values of some pairs, each as numerator and denominator."""
    counts, left, right, uses, value = of.counts, of.left, of.right, of.uses, of.objective.value
    assert value is not None
    seen = further(of, pairs) if of.objective.sees else repeat(())
    return [
        value(counts[pair], uses[left[pair]], uses[right[pair]], *more)
        for pair, more in zip(pairs, seen, strict=False)
    ]


def further(of: Counted, pairs: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The figures of some pairs that the objective sees, in its order; see `objectives.SEEN`."""
    tokens = of.tokens_at(of.number)
    rows: dict[str, Iterable[int]] = {
        "length": (of.length[of.left[pair]] + of.length[of.right[pair]] for pair in pairs),
        "tokens": repeat(tokens, len(pairs)),
        "pairs": repeat(tokens - of.apart, len(pairs)),
    }
    return zip(*(rows[name] for name in of.objective.sees), strict=True)
