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

    def disjoint(self, pair: int) -> int:
        """The number of places of a pair of twice the same symbol that a merge would replace, by weight."""


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
    counts, left, right = of.counts, of.left, of.right
    tokens = of.tokens_at(of.number)
    rows: list[Iterable[int]] = []
    for name in of.objective.sees:
        if name in ("lefts", "rights"):
            sides = left if name == "lefts" else right
            found = [0] * (len(of.vocabulary.pieces) + 1)  # the last is of no pair: its symbol is -1
            for symbol, count in zip(sides, counts, strict=True):
                found[symbol] += count
            rows.append([found[sides[pair]] for pair in pairs])
        elif name == "length":
            rows.append([of.length[left[pair]] + of.length[right[pair]] for pair in pairs])
        elif name == "apart":
            rows.append([of.disjoint(pair) if left[pair] == right[pair] else counts[pair] for pair in pairs])
        else:
            of_all = {
                "tokens": tokens, "pairs": tokens - of.apart, "types": of.vocabulary.base_size + of.number,
            }
            rows.append(repeat(of_all[name], len(pairs)))
    return zip(*rows, strict=True)
