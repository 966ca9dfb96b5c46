"""The protocol of an engine that merges, and the values that pass between it and a trainer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.steps import Span


class Constraints(NamedTuple):
    """The conditions on a candidate at a step: often enough, short enough, not forbidden; or the one that is
    forced.

    Attributes:
        number: The step before it. A method that follows another rule in early steps looks here and keeps
            no counter of its own.
        min_count: The least count, 1 or more.
        max_length: The greatest number of units.
        forbidden: The parts of candidates that are not taken; one of a single part stands for all that make
            this token.
        forced: The parts of the candidate that is taken whatever its value is; empty for none.
    """

    number: int = 0
    min_count: int = 1
    max_length: int | None = None
    forbidden: frozenset[tuple[bytes, ...]] = frozenset()
    forced: tuple[bytes, ...] = ()


class Pair(NamedTuple):
    """A pair that may be merged.

    Attributes:
        left: The symbol of its left part.
        right: The symbol of its right part.
        places: The number of places where it stands, by weight.
        before: Its count before the last step, None for a pair that the last step made.
        left_uses: The uses of its left part in the corpus.
        right_uses: The uses of its right part.
        features: The features of `Objective.features`, in that order.
    """

    left: int
    right: int
    places: int
    before: int | None
    left_uses: int
    right_uses: int
    features: tuple[int, ...] = ()

    @property
    def symbols(self) -> tuple[int, int]:
        """Both parts."""
        return self.left, self.right


class NGram(NamedTuple):
    """Two or more neighboring symbols that may become one.

    Attributes:
        symbols: The symbols; if they differ from place to place, those of the first place.
        places: The number of places where they occur, by weight.
        before: Their count before the last step, None if the last step made it.
        worth: The value that n-grams are ordered by.
    """

    symbols: tuple[int, ...]
    places: int
    before: int | None
    worth: int


class Merged(NamedTuple):
    """A merge that was made.

    Attributes:
        pair: The pair or n-gram, with the figures that it had then.
        replaced: The number of places that were merged, by weight.
        tied: The number of candidates that shared the best value.
        was_tied: True if another candidate was exactly as good as the pair. A forced pair need not have the
            best value.
    """

    pair: Pair | NGram
    replaced: int
    tied: int
    was_tied: bool


class Ranked(NamedTuple):
    """The candidates of a step.

    Attributes:
        total: The number of all.
        tied: The number of those that share the greatest value.
        replaced: The weight of the places of the best one that a merge replaces.
        rows: The best ones in order, after the one that is forced.
        forced: The number of candidates that are as good as the forced one, itself not counted; None where
            none is forced.
    """

    total: int
    tied: int
    replaced: int
    rows: Sequence[Pair | NGram]
    forced: int | None = None


class PlainState(NamedTuple):
    """The corpus as an engine has laid it out, and the steps that led there; see `bpe.PlainPairs`.

    Attributes:
        vocabulary: The vocabulary, with the merges of these steps alone.
        symbols: The symbol of each cell.
        pair_at: The pair of each cell.
        starts: The first cell of each word.
        length: The cells that each symbol covers.
        left: The left symbol of each pair.
        right: The right symbol of each pair.
        counts: The count of each pair.
        places: The places of each pair.
        log_place: The place of each merge.
        log_left: The pair at its left before it.
        uses: The uses of each symbol, by weight.
        tokens: The corpus in tokens after each step, the start first.
        made: Of each step the pair, the number of pairs before it and the length of the log before it.
        figures: The figures of each step.
    """

    vocabulary: Vocabulary
    symbols: list[int]
    pair_at: list[int]
    starts: list[int]
    length: list[int]
    left: list[int]
    right: list[int]
    counts: list[int]
    places: list[list[int]]
    log_place: list[int]
    log_left: list[int]
    uses: list[int]
    tokens: list[int]
    made: tuple[list[int], list[int], list[int]]
    figures: list[Merged]


class PairEngine(Protocol):
    """The pairs of a corpus and the merges made of them: plain Python (`bpe`) or kernels (`compiled`).

    It stands at the step `number` and knows the steps up to `computed`.
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
    def memory(self) -> int: ...
    def walk(self, goal: int, under: Constraints) -> None: ...
    def best(self, under: Constraints) -> int: ...
    def top(self, under: Constraints, limit: int) -> Ranked: ...
    def forget(self) -> None: ...
    def merged(self, number: int) -> Merged: ...
    def tokens_at(self, number: int) -> int: ...
    def size_at(self, number: int) -> int: ...
    def words_changed(self) -> Iterable[int]: ...
    def word(self, index: int, first: int, units: int | None) -> list[Span]: ...


@runtime_checkable
class MergeEngine(Protocol):
    """An engine whose steps are one merge each, and shorten each word by a token a place."""

    def words_merged(self, number: int) -> Sequence[int]: ...


def disjoint(places: Iterable[int], weights: Iterable[int], size: int) -> int:
    """The weight of the places in which a pair of twice the same symbol is merged.

    A place that overlaps an earlier merged one stays, and does not count.

    Args:
        places: The places where it stands, ascending.
        weights: The weight of each.
        size: The length of the pair in units.
    """
    replaced = free = 0
    for place, weight in zip(places, weights, strict=True):
        if place >= free:
            replaced += weight
            free = place + size
    return replaced
