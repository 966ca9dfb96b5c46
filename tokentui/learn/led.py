"""Merges of pairs that another one chooses: the part of the plain engine that follows, where several texts
merge the same pairs (see `parity`)."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tokentui.learn.values import Merged, PairEngine

if TYPE_CHECKING:
    from tokentui.encode.vocabulary import Vocabulary
    from tokentui.learn.objectives import Material


class Best(NamedTuple):
    """The pair that an engine would merge: its two symbols and its count."""

    left: int
    right: int
    places: int


class Made(NamedTuple):
    """A merge that was made, with what takes it back.

    Attributes:
        pair: The pair, by its number.
        pairs: The number of pairs before it.
        logged: The length of the log before it.
        figures: Its figures.
    """

    pair: int
    pairs: int
    logged: int
    figures: Merged


class LedEngine(PairEngine, Protocol):
    """An engine that can be told which pair it merges next."""

    def chosen(self, pair: int) -> Best: ...
    def take(self, left: int, right: int, said: int) -> int: ...
    def share(self, vocabulary: Vocabulary) -> None: ...
    def replaces(self, left: int, right: int) -> int: ...
    def words_merged(self, number: int) -> Sequence[int]: ...
    def fork(self, number: int, material: Material) -> LedEngine: ...


def words_at(places: Sequence[int], starts: Sequence[int]) -> list[int]:
    """The number of the word at each of some places, which are in order.

    Args:
        places: The cells.
        starts: The first cell of each word.
    """
    return [bisect.bisect_right(starts, place) - 1 for place in places]


class LedPairs:
    """The part of `bpe.PlainPairs` that merges a pair it is told.

    A pair that stands nowhere is pair 0: its merge changes nothing, and makes the symbol all the same.
    """

    vocabulary: Vocabulary
    left: list[int]
    right: list[int]
    counts: list[int]
    starts: list[int]
    _made: list[Made]
    _log_place: list[int]
    _first_pairs: dict[tuple[int, int], int] | None = None
    """The pairs that stood before the first step, by their symbols."""

    def chosen(self, pair: int) -> Best:
        """A pair by its number."""
        return Best(self.left[pair], self.right[pair], self.counts[pair])

    def take(self, left: int, right: int, said: int) -> int:
        """Merge a pair of symbols as the step after the furthest one, wherever it stands, if anywhere.

        Args:
            left: The left symbol.
            right: The right symbol.
            said: The count that the vocabulary notes: what it was chosen for.

        Returns:
            How many places were merged, by weight.
        """
        return self._merge_as(self._of_symbols(left, right), (left, right), said)

    def share(self, vocabulary: Vocabulary) -> None:
        """Nothing: each plain engine keeps a vocabulary of its own."""

    def replaces(self, left: int, right: int) -> int:
        """The weight of the places that a merge of two symbols replaces at this step."""
        pair = self._of_symbols(left, right)
        return self.disjoint(pair) if left == right else self.counts[pair]

    def words_merged(self, number: int) -> list[int]:
        """The word of each place that a step merged, by its number in order; the step is this one or before.
        """
        last = self._made[number].logged if number < len(self._made) else len(self._log_place)
        return words_at(self._log_place[self._made[number - 1].logged : last], self.starts)

    def _of_symbols(self, left: int, right: int) -> int:
        """The pair of two symbols, 0 where it never stood anywhere. A pair comes with its younger symbol."""
        step = max(left, right) - self.vocabulary.base_size
        made, size = self._made, len(self.counts)
        if step < 0:
            if self._first_pairs is None:
                first = range(1, made[0].pairs if made else size)
                self._first_pairs = {(self.left[pair], self.right[pair]): pair for pair in first}
            return self._first_pairs.get((left, right), 0)
        end = made[step + 1].pairs if step + 1 < len(made) else size
        pairs = range(made[step].pairs, min(end, size))
        return next((one for one in pairs if self.left[one] == left and self.right[one] == right), 0)

    def _merge_as(self, pair: int, parts: tuple[int, int], said: int) -> int:
        raise NotImplementedError

    def disjoint(self, pair: int) -> int:
        raise NotImplementedError
