"""The protocol of an engine that merges, and the values that pass between it and a trainer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, runtime_checkable

from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.ngrams import NGram, Pair
from tokentui.learn.steps import Span

if TYPE_CHECKING:
    from tokentui.learn.objectives import Material


class Constraints(NamedTuple):
    """What the next step may merge.

    Attributes:
        min_count: The least count of a candidate, 1 or more.
        max_length: The most units of the token that a candidate makes; None for no limit.
        forbidden: The candidates that are not merged, by the bytes of their parts. A single part forbids all
            candidates that make this token.
        forced: The parts of the candidate that is merged whatever its value is; empty for none.
    """

    min_count: int = 1
    max_length: int | None = None
    forbidden: frozenset[tuple[bytes, ...]] = frozenset()
    forced: tuple[bytes, ...] = ()


class Merge(NamedTuple):
    """A merge that was made.

    Attributes:
        pair: The pair or n-gram, with its figures before the merge.
        replaced: The number of places that were merged, by weight.
        tied: The number of candidates that shared the best value.
        was_tied: True if another candidate had the same value as this one, which is not the best value if it
            was forced.
        tokens: The length of the corpus in tokens after it, by weight.
        chosen: The number of the pair in its engine, 0 for a pair that occurred nowhere.
        pairs: The number of pairs that the engine had before it, pair 0 included.
        logged: The length of the log of the engine before it.
    """

    pair: Pair | NGram
    replaced: int
    tied: int
    was_tied: bool
    tokens: int
    chosen: int = 0
    pairs: int = 0
    logged: int = 0


class Ranked(NamedTuple):
    """The best candidates of the next step.

    Attributes:
        total: The number of all candidates.
        tied: The number of candidates that share the greatest value.
        replaced: The number of places that merging the first of `rows` would replace, by weight.
        rows: The best candidates in order, after the forced one if there is one.
        forced: The number of other candidates with the value of the forced one; None if none is forced.
    """

    total: int
    tied: int
    replaced: int
    rows: Sequence[Pair | NGram]
    forced: int | None = None


class PairEngine(Protocol):
    """The pairs of a corpus and the merges made of them: in plain Python (`bpe`) or by kernels (`compiled`).

    Attributes:
        engine: `engines.PLAIN` or `engines.COMPILED`.
        number: The current step.
        computed: The furthest step that was made; steps up to it are made again without choosing.
        vocabulary: The vocabulary, with the merges of all computed steps.
        uses: The uses of each symbol in the corpus at the current step, by weight.
    """

    engine: str

    @property
    def number(self) -> int: ...
    @property
    def computed(self) -> int: ...
    @property
    def vocabulary(self) -> Vocabulary: ...
    @property
    def uses(self) -> Sequence[int]: ...
    def memory(self) -> int:
        """Return the bytes that the corpus and the history take."""

    def walk(self, goal: int, under: Constraints) -> None:
        """Go toward a step for some milliseconds, forward until no pair may be merged."""

    def best(self, under: Constraints) -> int:
        """Return the number of the pair that the step after the furthest one merges, 0 if there is none.

        That is the forced pair if it occurs, otherwise the best one.
        """

    def top(self, under: Constraints, limit: int) -> Ranked:
        """Return the best candidates at the current step, `limit` of them at most."""

    def forget(self) -> None:
        """Drop the computed steps after the current one."""

    def fork(self, number: int, material: Material) -> Self:
        """Return an engine at a computed step, for a run by another recipe."""

    def merged(self, number: int) -> Merge:
        """Return the merge of a computed step."""

    def tokens_at(self, number: int) -> int:
        """Return the length of the corpus in tokens after a computed step, by weight."""

    def size_at(self, number: int) -> int:
        """Return the number of ids after a computed step."""

    def words_changed(self) -> Iterable[int]:
        """Return the indexes of the words that the last step changed."""

    def word(self, index: int, first: int, units: int | None) -> list[Span]:
        """Return the current tokens of a word that cover some of its units.

        Args:
            index: The index of the word.
            first: The index of the first of these units.
            units: The number of units; None for all from there on.
        """


@runtime_checkable
class MergeEngine(Protocol):
    """An engine of which each step is one merge, which takes one token from a word for each place in it."""

    def words_merged(self, number: int) -> Sequence[int]:
        """Return the index of the word of each place that a step up to the current one merged."""


def disjoint(places: Iterable[int], weights: Iterable[int], size: int) -> int:
    """Return the weight of the places at which a pair of twice the same symbol is merged.

    A place that overlaps an earlier merged one is not merged.

    Args:
        places: The places where the pair occurs, ascending.
        weights: The weight of each.
        size: The length of the pair in units.
    """
    replaced = free = 0
    for place, weight in zip(places, weights, strict=True):
        if place >= free:
            replaced += weight
            free = place + size
    return replaced
