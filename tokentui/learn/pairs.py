"""Byte-pair encoding: merge the pair that stands most often, again and again (Gage 1994; Sennrich et al. 2016).

Forward, back and anywhere between, exactly: every number at step k is what a recount from scratch would give. This module keeps
the history of a run; the corpus itself is in `cells`, the choice of the next pair in `frontier`.
"""

from __future__ import annotations

import bisect
import gc
import heapq
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tokentui.errors import Cancelled
from tokentui.learn import base as end
from tokentui.learn.base import Cancel, Candidate, Progress, Step, Stops, Why
from tokentui.learn.bases import BASES
from tokentui.learn.cells import Cells
from tokentui.learn.filters import FILTERS
from tokentui.learn.frontier import Frontier
from tokentui.learn.ties import TIES
from tokentui.recipe import Recipe
from tokentui.text.count import Words
from tokentui.text.pretokenize import Pretokenizer
from tokentui.tokenizer import Tokenizer
from tokentui.vocabulary import Vocabulary

_SLICE_S = 0.01
_LOOK_EVERY = 64


class PairTrainer:
    """Training by the count of pairs, one merge at a time.

    The trainer stands at a step, `number`, and knows all steps up to its frontier, `known`. Going back and forward among known
    steps changes nothing; a step past the frontier chooses the best pair.

    Args:
        words: The counted pre-tokens of the corpus.
        recipe: What to train. Its objective is `count`.
        first_id: The first id given.
        specials: Special tokens, which take the first ids.
        progress: Told (done, total) in words while the start is laid out.
        cancel: Asked meanwhile; true raises `Cancelled`.
    """

    def __init__(
        self,
        words: Words,
        recipe: Recipe,
        *,
        first_id: int = 0,
        specials: Sequence[str] = (),
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> None:
        self.words = words
        self.recipe = recipe
        weights = [1] * len(words.counts) if recipe.weight == "distinct" else list(words.counts)
        units_of = Pretokenizer(recipe).units
        units: list[list[bytes]] = []
        for n, word in enumerate(words.words):
            if n % 4096 == 0:
                _look(progress, cancel, n, len(words.words))
            units.append(units_of(word))
        self.vocabulary = self._make_vocabulary(units, weights, specials, first_id)
        symbol_of = self.vocabulary.units
        self.cells = Cells(([symbol_of[unit] for unit in word] for word in units), weights, self.vocabulary.base_size)
        _look(progress, cancel, len(words.words), len(words.words))
        self.uses: list[int] = [0] * self.vocabulary.base_size
        """How often each symbol stands in the corpus at this step, by weight."""
        for unit_word, weight in zip(units, weights, strict=True):
            for unit in unit_word:
                self.uses[symbol_of[unit]] += weight
        self.start_tokens = sum(self.uses)
        """The length of the corpus in units, by weight."""
        self.number = 0
        self.tokens = self.start_tokens
        """The length of the corpus in tokens at this step, by weight."""
        self._max_length: int | None = None
        # The history, one entry a known step.
        self._pair = array("q")
        self._replaced = array("q")
        self._tied = array("q")
        self._tokens = array("q")
        self._first_new = array("q")
        self._log_start = array("q")
        self._frontier = self._new_frontier()
        self._index: dict[str, int] | None = None
        self._live: tuple[int, list[int]] | None = None
        self._best: tuple[int, list[int], bool] | None = None

    def _make_vocabulary(
        self, units: list[list[bytes]], weights: list[int], specials: Sequence[str], first_id: int
    ) -> Vocabulary:
        return Vocabulary(self.recipe, BASES[self.recipe.base](units, weights), specials, first_id)

    def _new_frontier(self) -> Frontier:
        key = TIES[self.recipe.tie](self.cells, self.vocabulary)
        return Frontier(self.cells, self.vocabulary, key, FILTERS[self.recipe.pieces], self._max_length)

    @property
    def known(self) -> int:
        """The number of steps that have been made, those gone back over too."""
        return len(self._pair)

    @property
    def merges(self) -> int:
        """The number of merges of the vocabulary that count: one a step."""
        return self.number

    @property
    def vocab_size(self) -> int:
        """The number of ids at this step, specials counted."""
        return self.vocabulary.size(self.number)

    # ---- walking

    def step(self) -> Step | None:
        """Make the next merge. Returns None where no pair is left."""
        if self.number == self.known and not self._choose(1):
            return None
        self._forward()
        return self.step_at(self.number)

    def back(self) -> Step | None:
        """Undo the last merge and return it; None at the start."""
        if not self.number:
            return None
        undone = self.step_at(self.number)
        self._backward()
        return undone

    def jump(self, number: int, *, progress: Progress | None = None, cancel: Cancel | None = None) -> int:
        """Go to a step, or as far as pairs last.

        Returns:
            The number of the step arrived at.
        """
        number = max(0, number)
        start, total = self.number, abs(number - self.number)
        while not self.advance(number, Stops(max_length=self._max_length)):
            _look(progress, cancel, abs(self.number - start), total)
        return self.number

    def run(
        self,
        *,
        merges: int | None = None,
        vocab_size: int | None = None,
        min_count: int = 1,
        max_length: int | None = None,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> str:
        """Merge until a stop holds or no pair is left.

        Args:
            merges: Stop at this step.
            vocab_size: Stop at so many ids.
            min_count: Stop before a pair that stands less often.
            max_length: Make no token longer than so many units.
            progress: Told (done, total) in merges; the total is 0 where it is not known.
            cancel: Asked meanwhile; true raises `Cancelled`, and the trainer stays where it is.

        Returns:
            Why it stopped: `merges`, `vocab_size`, `min_count` or `no pair left`.
        """
        stops = Stops(merges, vocab_size, max(1, min_count), max_length)
        total = merges if merges is not None else max(0, (vocab_size or 0) - self.vocabulary.size(0))
        with quiet_collector():
            while not (reason := self.advance(None, stops)):
                _look(progress, cancel, self.number, total)
        return reason

    def advance(self, target: int | None, stops: Stops, seconds: float = _SLICE_S) -> str | None:
        """Walk towards a step, or on to a stop, for a short while.

        Args:
            target: The step to go to, back or forward; None goes on until a stop holds.
            stops: When to stop going forward.
            seconds: About how long to work.

        Returns:
            Why it stopped, `"merges"` at the target; None when time is up and there is more to do.
        """
        self._bound(stops.max_length)
        deadline = time.perf_counter() + seconds
        count = 0
        while True:
            if target is not None:
                if self.number == target:
                    return end.MERGES
                if self.number > target:
                    self._backward()
            if target is None or self.number < target:
                reason = self.end(stops)
                if reason:
                    return reason
                self._forward()
            count += 1
            # The first merges of a large corpus are the long ones: look at the clock after each.
            look = count % _LOOK_EVERY == 0 or self.number < _LOOK_EVERY
            if look and time.perf_counter() > deadline:
                return None

    def end(self, stops: Stops) -> str | None:
        """Why no further step may be made under these stops; None where one may."""
        if stops.merges is not None and self.number >= stops.merges:
            return end.MERGES
        if stops.vocab_size is not None and self.vocab_size >= stops.vocab_size:
            return end.VOCAB_SIZE
        if self.number == self.known and not self._choose(stops.min_count):
            return end.MIN_COUNT if self._frontier.best() else end.NO_PAIR
        if self.number < self.known and self.vocabulary.counts[self.number] < stops.min_count:
            return end.MIN_COUNT
        return None

    def _bound(self, max_length: int | None) -> None:
        """Take another limit on the length of tokens: what was learned past this step under the old one is forgotten."""
        if max_length == self._max_length:
            return
        self._max_length = max_length
        if self.known > self.number:
            self.vocabulary = self.vocabulary.copy(self.number)
            del self.uses[len(self.vocabulary.pieces) :], self.cells.length[len(self.vocabulary.pieces) :]
            for history in (self._pair, self._replaced, self._tied, self._tokens, self._first_new, self._log_start):
                del history[self.number :]
        self._frontier = self._new_frontier()
        self._live = self._best = None

    def _choose(self, min_count: int) -> bool:
        """Whether the frontier has a pair that stands at least so often."""
        pair = self._frontier.best()
        return bool(pair) and self.cells.counts[pair] >= min_count

    def _forward(self) -> None:
        """Make the next step: the known one, or the best pair of the frontier."""
        cells, number = self.cells, self.number
        known = number < self.known
        pair = self._pair[number] if known else self._frontier.best()
        left, right, count = cells.left[pair], cells.right[pair], cells.counts[pair]
        first_new, log_start = len(cells.counts), len(cells.log_place)
        if known:
            symbol = self.vocabulary.base_size + number
            replaced, _ = cells.merge(pair, symbol)
        else:
            tied = self._frontier.tied(count)
            symbol = self.vocabulary.add(left, right, count)
            self.uses.append(0)
            replaced, fell = cells.merge(pair, symbol)
            self._frontier.moved(pair, count, first_new, fell)
            self._pair.append(pair)
            self._replaced.append(replaced)
            self._tied.append(tied)
            self._tokens.append(self.tokens - replaced)
            self._first_new.append(first_new)
            self._log_start.append(log_start)
        self.uses[symbol] = replaced
        self.uses[left] -= replaced
        self.uses[right] -= replaced
        self.tokens -= replaced
        self.number = number + 1

    def _backward(self) -> None:
        number = self.number - 1
        pair, replaced = self._pair[number], self._replaced[number]
        cells = self.cells
        left, right = cells.left[pair], cells.right[pair]
        cells.unmerge(pair, self.vocabulary.counts[number], self._first_new[number], self._log_start[number])
        self.uses[self.vocabulary.base_size + number] = 0
        self.uses[left] += replaced
        self.uses[right] += replaced
        self.tokens += replaced
        self.number = number

    # ---- looking

    def step_at(self, number: int) -> Step:
        """A known step, 1 for the first."""
        vocabulary, index = self.vocabulary, number - 1
        left, right = vocabulary.merges[index]
        symbol = vocabulary.base_size + index
        return Step(
            number=number,
            left=vocabulary.pieces[left],
            right=vocabulary.pieces[right],
            token=vocabulary.pieces[symbol],
            id=vocabulary.id_of(symbol, number),
            count=vocabulary.counts[index],
            replaced=self._replaced[index],
            score=None,
            tied=self._tied[index],
            tokens=self.tokens_at(number),
            vocab_size=vocabulary.size(number),
        )

    def steps(self, first: int = 1) -> Iterator[Step]:
        """The known steps from this one on up to the present step."""
        return (self.step_at(number) for number in range(first, self.number + 1))

    def tokens_at(self, number: int) -> int:
        """The length of the corpus after a known step."""
        return self._tokens[number - 1] if number else self.start_tokens

    def candidates(self, limit: int = 100, start: int = 0) -> list[Candidate]:
        """The pairs that may be merged next, best first, ties in the order of the tie rule.

        Args:
            limit: How many at most.
            start: How many of the best to leave out.
        """
        best = self._ordered(start + limit)[start : start + limit]
        fell, first_new = self._last_changes()
        return [self._candidate(pair, fell, first_new) for pair in best]

    @property
    def pairs(self) -> int:
        """How many pairs may be merged at this step."""
        return len(self._live_pairs())

    def _live_pairs(self) -> list[int]:
        if self._live is None or self._live[0] != self.number:
            barred = self._frontier.barred
            live = [pair for pair, count in enumerate(self.cells.counts) if count > 0]
            self._live = (self.number, [pair for pair in live if pair not in barred] if barred else live)
        return self._live[1]

    def _ordered(self, limit: int) -> list[int]:
        """The best pairs at this step, by count and tie rule."""
        if self._best is not None and self._best[0] == self.number and (len(self._best[1]) >= limit or self._best[2]):
            return self._best[1][:limit]
        counts = self.cells.counts
        live = self._live_pairs()
        every = limit >= len(live)
        key = TIES[self.recipe.tie](self.cells, self.vocabulary)
        last: list[int] = []
        if not every:
            # Late in a run most pairs share the least count: only the first few of those are put in order.
            least = heapq.nlargest(limit, [counts[pair] for pair in live])[-1]
            last = [pair for pair in live if counts[pair] == least]
            live = [pair for pair in live if counts[pair] > least]
        best = sorted(live, key=lambda pair: (-counts[pair], key(pair)))
        best += heapq.nsmallest(limit - len(best), last, key=key)
        self._best = (self.number, best, every)
        return best

    def _last_changes(self) -> tuple[dict[int, int], int]:
        """By how much counts fell in the last step, and the number of pairs before it."""
        if not self.number:
            return {}, len(self.cells.counts)
        index = self.number - 1
        first_new = self._first_new[index]
        return self.cells.changes(self._pair[index], first_new, self._log_start[index]), first_new

    def _candidate(self, pair: int, fell: dict[int, int], first_new: int) -> Candidate:
        cells, vocabulary = self.cells, self.vocabulary
        left, right, count = cells.left[pair], cells.right[pair], cells.counts[pair]
        return Candidate(
            left=vocabulary.pieces[left],
            right=vocabulary.pieces[right],
            token=vocabulary.join(left, right),
            count=count,
            before=count + fell.get(pair, 0) if pair < first_new else None,
            left_symbol=left,
            right_symbol=right,
        )

    def why(self, stops: Stops | None = None) -> Why:
        """What the next step is and why it is that one, or why there is none."""
        stops = stops or Stops(max_length=self._max_length)
        counts = self.cells.counts
        best = self._ordered(2)
        fell, first_new = self._last_changes()
        candidates = [self._candidate(pair, fell, first_new) for pair in best]
        ended: str | None = None
        if not best:
            ended = end.NO_PAIR
        elif counts[best[0]] < stops.min_count:
            ended = end.MIN_COUNT
        elif stops.merges is not None and self.number >= stops.merges:
            ended = end.MERGES
        elif stops.vocab_size is not None and self.vocab_size >= stops.vocab_size:
            ended = end.VOCAB_SIZE
        tied = sum(1 for pair in self._live_pairs() if counts[pair] == counts[best[0]]) if best else 0
        return Why(
            best=candidates[0] if candidates else None,
            runner_up=candidates[1] if len(candidates) > 1 else None,
            tied=tied,
            replaced=self.cells.disjoint(best[0]) if best else 0,
            tie_rule=self.recipe.tie,
            end=ended,
        )

    def word(self, word: str, first: int = 0, units: int | None = None) -> list[tuple[int, int]] | None:
        """How a pre-token of the corpus is cut at this step: its tokens in order.

        Args:
            word: The pre-token.
            first: Start with the token that covers this unit.
            units: Stop after so many units.

        Returns:
            The tokens in order as (unit that it starts with, symbol); None for a pre-token that the corpus does not hold.
        """
        if self._index is None:
            self._index = {known: n for n, known in enumerate(self.words.words)}
        index = self._index.get(word)
        return None if index is None else self.cells.word(index, first, units)

    def length(self, symbol: int) -> int:
        """How many units a symbol covers."""
        return self.cells.length[symbol]

    def newest(self) -> int:
        """The symbol that the last step made, -1 at the start."""
        return self.vocabulary.base_size + self.number - 1 if self.number else -1

    def touched(self) -> Callable[[str], bool]:
        """A test of whether the last step merged something in a pre-token of the corpus."""
        if not self.number:
            return lambda word: False
        starts, words = self.cells.starts, self.words.words
        places = self.cells.log_place[self._log_start[self.number - 1] :]
        return {words[bisect.bisect_right(starts, place) - 1] for place in places}.__contains__

    def last_step(self, stops: Stops) -> int | None:
        """The step that these stops lead to as far as can be said, None where they say nothing."""
        targets = [stops.merges] if stops.merges is not None else []
        if stops.vocab_size is not None:
            targets.append(max(0, stops.vocab_size - self.vocabulary.size(0)))
        return min(targets) if targets else None

    def step_of(self, tokens: frozenset[bytes], first: int = 0) -> int | None:
        """The first known step after `first` that makes one of these tokens, 0 for a base unit; None where none does."""
        pieces, base = self.vocabulary.pieces, self.vocabulary.base_size
        for number in range(first + 1, self.known + 1):
            if pieces[base + number - 1] in tokens:
                return number
        return 0 if not first and any(piece in tokens for piece in pieces[:base]) else None

    def tokenizer(self, run: dict[str, Any] | None = None) -> Tokenizer:
        """The tokenizer of this very step. It shares the vocabulary, which only grows."""
        return Tokenizer(self.vocabulary, self.number, run)


@contextmanager
def quiet_collector() -> Iterator[None]:
    """Keep the garbage collector from walking millions of numbers in the middle of a run."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _look(progress: Progress | None, cancel: Cancel | None, done: int, total: int) -> None:
    if cancel is not None and cancel():
        raise Cancelled
    if progress is not None:
        progress(done, total)
