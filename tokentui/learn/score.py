"""WordPiece by score: merge the pair with the greatest c(xy) / (c(x)·c(y)), again and again.

The counts are those of pairs and symbols as they stand in the corpus now (the definition of the Hugging Face course, chapter 6,
and of Wicaksono's slides). Scores are compared exactly. They are not monotone: each merge takes uses away from two symbols, so
the scores of all pairs with one of them change, and most of them rise.
"""

from __future__ import annotations

import dataclasses
import functools
import heapq
from collections.abc import Iterable, Sequence
from typing import Any

from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn import base as end
from tokentui.learn.base import Step, Stops
from tokentui.learn.cells import Cells
from tokentui.learn.filters import FILTERS, Filter
from tokentui.learn.frontier import Frontier
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.ties import TIES, Key
from tokentui.recipe import entry

_SPARE = 1024
"""How many entries that are out of date the heap may hold beside as many as are not."""


class Scores:
    """The scores of pairs as whole numbers that are ordered, and equal, exactly as the fractions are.

    A score n/d becomes floor(n·2^K / d) with 2^K > T⁴, T the length of the corpus in units. No symbol is used more than T times,
    so d ≤ T², and two scores that differ do so by at least 1/(d·d') ≥ 1/T⁴ > 2^-K. Multiplied by 2^K they are more than 1 apart
    and their floors differ in the same direction; equal scores have equal floors. No score is 0, as n·2^K > d.

    Args:
        cells: The corpus.
        uses: How often each symbol stands in it, by weight; kept up to date by its owner.
        tokens: The length of the corpus in units, by weight.
    """

    __slots__ = ("_cells", "_shift", "_uses")

    def __init__(self, cells: Cells, uses: Sequence[int], tokens: int) -> None:
        self._cells = cells
        self._uses = uses
        self._shift = 4 * tokens.bit_length()

    def of(self, pairs: Iterable[int]) -> list[int]:
        """The scores of pairs that stand somewhere, now."""
        cells, uses, shift = self._cells, self._uses, self._shift
        counts, left, right = cells.counts, cells.left, cells.right
        return [(counts[pair] << shift) // (uses[left[pair]] * uses[right[pair]]) for pair in pairs]


class ScoreFrontier(Frontier):
    """The queue of candidates by score.

    A merge of (a, b) changes the uses of a and b alone, and the counts of pairs that touch a place of it, which have a or b in
    them too. So the pairs of a and b are scored anew after it, and the new pairs for the first time; no other score changes. The
    heap is lazy: each pair has one valid entry, and the others are passed over when they come up.

    Args:
        cells, vocabulary, key, allowed, max_length: As in `Frontier`.
        scores: The scores of the trainer, by the present uses.
        min_count: A pair that stands less often is no candidate; its count never grows, so it never will be one.
    """

    def __init__(
        self, cells: Cells, vocabulary: Vocabulary, key: Key, allowed: Filter | None, max_length: int | None,
        scores: Scores, min_count: int,
    ) -> None:
        self._scores = scores
        self._min_count = min_count
        self._scored: list[tuple[int, Any, int, int]] = []
        self._entries: dict[int, tuple[int, Any, int, int]] = {}
        """The valid entry of each candidate: (negated score, key of the tie rule, pair, count)."""
        self._tied: dict[int, int] = {}
        """How many candidates have each (negated) score."""
        self._touching: list[list[int]] = [[] for _ in vocabulary.pieces]
        """The candidates that each symbol is a part of, some dead ones among them."""
        super().__init__(cells, vocabulary, key, allowed, max_length)

    def _fill(self) -> None:
        self._take_in(1)

    def _take_in(self, first: int) -> None:
        """Queue the candidates from this index of the pair table on."""
        counts, left, right, touching = self._cells.counts, self._cells.left, self._cells.right, self._touching
        least, barred = self._min_count, self.barred
        new = [pair for pair in range(first, len(counts)) if counts[pair] >= least and pair not in barred]
        for pair in new:
            touching[left[pair]].append(pair)
            if left[pair] != right[pair]:
                touching[right[pair]].append(pair)
        self._score(new)

    def _score(self, pairs: list[int]) -> None:
        """Give candidates the entry that holds now."""
        counts, entries, tied, heap, key = self._cells.counts, self._entries, self._tied, self._scored, self._key
        for pair, score in zip(pairs, self._scores.of(pairs), strict=True):
            count, was = counts[pair], entries.get(pair)
            if was is None:
                tie = key(pair)
            elif was[3] != count:  # first-seen: a place that held may be gone
                self._leave(was[0])
                tie = key(pair)
            elif was[0] != -score:
                self._leave(was[0])
                tie = was[1]
            else:
                continue
            entries[pair] = entry = (-score, tie, pair, count)
            tied[-score] = tied.get(-score, 0) + 1
            heapq.heappush(heap, entry)

    def _leave(self, value: int) -> None:
        """Count one pair less with this (negated) score."""
        self._tied[value] -= 1
        if not self._tied[value]:
            del self._tied[value]

    def best(self) -> int:
        """The best pair, 0 where none is left."""
        heap, entries = self._scored, self._entries
        while heap:
            entry = heap[0]
            if entries.get(entry[2]) is entry:
                return entry[2]
            heapq.heappop(heap)
        return 0

    def tied(self, pair: int) -> int:
        """How many candidates have exactly the score of this one."""
        return self._tied[self._entries[pair][0]]

    def moved(self, pair: int, count: int, first_new: int, fell: list[int]) -> None:
        """Take in a merge that was just made at the frontier; the uses of the symbols are those after it."""
        counts, entries, touching = self._cells.counts, self._entries, self._touching
        self._bar(first_new)
        touching.append([])
        for symbol in {self._cells.left[pair], self._cells.right[pair]}:
            live = []
            for other in touching[symbol]:
                if counts[other] >= self._min_count:
                    live.append(other)
                elif other in entries:
                    self._leave(entries.pop(other)[0])
            touching[symbol] = live
            self._score(live)
        self._take_in(first_new)
        if len(self._scored) > 2 * len(entries) + _SPARE:
            self._scored = list(entries.values())
            heapq.heapify(self._scored)


class ByScore(PairTrainer):
    """What makes a training by the count of pairs one by their score, whatever its engine.

    The least count is no stop here but says which pairs are candidates: with a least count of 1 the best pairs are those of rare
    symbols that stand nowhere else. Steps are made under one least count, as under one greatest length.
    """

    def _uses_of_step(self, number: int) -> tuple[int, int]:
        """How often the two symbols of a known step's pair stood when it was chosen."""
        return self._left_uses[number - 1], self._right_uses[number - 1]

    def _least(self, stops: Stops) -> int:
        return max(1, stops.min_count)

    def _goes_on(self, stops: Stops) -> bool:
        least = self._least(stops)
        if least != self._min_count:  # asked about stops that the steps are not made under
            return len(self._standing(least)) > 0
        return self.number < self.known or bool(self._best())

    def _exhausted(self) -> str:
        return end.MIN_COUNT if len(self._standing(1)) else end.NO_PAIR

    def step_at(self, number: int) -> Step:
        """A known step, 1 for the first, with the score that its pair had when it was chosen."""
        step = super().step_at(number)
        left, right = self._uses_of_step(number)
        return dataclasses.replace(step, score=step.count / (left * right), left_uses=left, right_uses=right)


class ScoreTrainer(ByScore):
    """Training by the score of pairs, one merge at a time."""

    @functools.cached_property
    def _scores(self) -> Scores:
        return Scores(self.cells, self.uses, self.start_tokens)

    def _new_frontier(self) -> ScoreFrontier:
        key = entry(TIES, "tie", self.recipe.tie)(self.cells, self.vocabulary)
        allowed = entry(FILTERS, "pieces", self.recipe.pieces)
        return ScoreFrontier(self.cells, self.vocabulary, key, allowed, self._max_length, self._scores, self._min_count)

    def _worths(self, pairs: list[int]) -> list[int]:
        return self._scores.of(pairs)
