"""Byte-pair encoding: merge the pair that stands most often, again and again (Gage 1994; Sennrich et al. 2016).

Forward, back and anywhere between, exactly: every number at step k is what a recount from scratch would give. This module keeps
the history of a run; the corpus itself is in `cells`, the choice of the next pair in `frontier`.
"""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn import base as end
from tokentui.learn.barriers import barriers, tokens_of, without
from tokentui.learn.base import Cancel, Candidate, Progress, Step, Stops, Why
from tokentui.learn.bases import BASES, WEIGHTS, parts_of
from tokentui.learn.cells import BOUNDARY, Cells, mapped
from tokentui.learn.filters import FILTERS
from tokentui.learn.frontier import Frontier
from tokentui.learn.standing import Standing
from tokentui.learn.ties import TIES
from tokentui.learn.walking import Walking, look
from tokentui.learn.walking import quiet_collector as quiet_collector
from tokentui.recipe import Recipe, entry
from tokentui.text import patience
from tokentui.text.count import Words
from tokentui.text.patience import asking, in_parts
from tokentui.text.pretokenize import Pretokenizer


class PairTrainer(Walking):
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
        self.number = 0
        self._min_count, self._max_length, self._over = 1, None, {}
        self._index: dict[str, int] | None = None
        self._stood: tuple[tuple[int, int], Standing] | None = None
        with quiet_collector(), asking(cancel) if cancel is not None else nullcontext():
            self._lay_out(specials, first_id, progress, cancel)
            self._frontier = self._new_frontier()

    # ---- the engine: what a subclass may do in another way

    def _lay_out(self, specials: Sequence[str], first_id: int, progress: Progress | None, cancel: Cancel | None) -> None:
        """Make the vocabulary, the cells of the corpus and an empty history."""
        words, weights = self.words, self._weights()
        units_of = Pretokenizer(self.recipe).units
        many, units = patience.PART, list[list[bytes]]()
        for n, word in enumerate(words.words):
            many += len(word) + 1
            if many > patience.PART:
                look(progress, cancel, n, len(words.words))
                many = 0
            units.append(units_of(word))
        found = barriers(units, weights, self.recipe)
        learned = without(units, found)
        self.vocabulary = self._make_vocabulary(learned, weights, specials, first_id)
        symbol_of: Mapping[bytes, int] = self.vocabulary.units
        if found:
            symbol_of = {**symbol_of, **dict.fromkeys(found, BOUNDARY)}
        short = patience.PART
        symbols = ([symbol_of[unit] for unit in word] if len(word) <= short else mapped(word, symbol_of) for word in units)
        self.cells = Cells(symbols, weights, self.vocabulary.base_size)
        look(progress, cancel, len(words.words), len(words.words))
        self.uses: list[int] = [0] * (self.vocabulary.base_size + 1)
        """How often each symbol stands in the corpus at this step, by weight."""
        uses = self.uses
        for part in in_parts(zip(self.cells.symbols, self.cells.weights, strict=True)):
            for symbol, weight in part:
                uses[symbol] += weight
        del self.uses[BOUNDARY]  # which is the last
        self.start_tokens = sum(self.uses) + (tokens_of(found, units, weights, self.recipe) if found else 0)
        """The length of the corpus in units, by weight."""
        self.tokens = self.start_tokens
        """The length of the corpus in tokens at this step, by weight."""
        # The history, one entry a known step.
        self._pair = array("q")
        self._replaced = array("q")
        self._tied = array("q")
        self._tokens = array("q")
        self._first_new = array("q")
        self._log_start = array("q")
        self._left_uses = array("q")
        self._right_uses = array("q")

    def _weights(self) -> list[int]:
        """How often each word counts."""
        return entry(WEIGHTS, "weight", self.recipe.weight)(self.words.counts)

    def _make_vocabulary(
        self, units: list[list[bytes]], weights: list[int], specials: Sequence[str], first_id: int
    ) -> Vocabulary:
        base = entry(BASES, "base", self.recipe.base)(parts_of(units, weights))
        return Vocabulary(self.recipe, base, specials, first_id)

    def _new_frontier(self) -> Frontier:
        key = entry(TIES, "tie", self.recipe.tie)(self.cells, self.vocabulary)
        allowed = entry(FILTERS, "pieces", self.recipe.pieces)
        return Frontier(self.cells, self.vocabulary, key, allowed, self._max_length)

    @property
    def known(self) -> int:
        """The number of steps that have been made, those gone back over too."""
        return len(self._pair)

    @property
    def memory(self) -> int:
        """How many bytes the corpus, its pairs and the history take."""
        return self.cells.memory + 8 * (8 * self.known + len(self.uses))

    def _best(self) -> int:
        """The best pair at the furthest step, 0 where none is left."""
        return self._frontier.best()

    def _choose(self, min_count: int) -> bool:
        """Whether the frontier has a pair that stands at least so often."""
        pair = self._best()
        return bool(pair) and self.cells.counts[pair] >= min_count

    def _forget(self) -> None:
        """Forget the steps past the present one."""
        self.vocabulary = self.vocabulary.copy(self.number)
        del self.uses[len(self.vocabulary.pieces) :], self.cells.length[len(self.vocabulary.pieces) :]
        for history in (
            self._pair, self._replaced, self._tied, self._tokens, self._first_new, self._log_start,
            self._left_uses, self._right_uses,
        ):
            del history[self.number :]

    def _forward(self) -> None:
        """Make the next step: the known one, or the best pair of the frontier."""
        cells, uses, number = self.cells, self.uses, self.number
        known = number < self.known
        pair = self._pair[number] if known else self._frontier.best()
        left, right, count = cells.left[pair], cells.right[pair], cells.counts[pair]
        first_new, log_start = len(cells.counts), len(cells.log_place)
        symbol = self.vocabulary.base_size + number
        if not known:
            tied, left_uses, right_uses = self._frontier.tied(pair), uses[left], uses[right]
            self.vocabulary.add(left, right, count)
            uses.append(0)
        replaced, fell = cells.merge(pair, symbol)
        uses[symbol] = replaced
        uses[left] -= replaced
        uses[right] -= replaced
        self.tokens -= replaced
        if not known:
            self._frontier.moved(pair, count, first_new, fell)
            self._pair.append(pair)
            self._replaced.append(replaced)
            self._tied.append(tied)
            self._tokens.append(self.tokens)
            self._first_new.append(first_new)
            self._log_start.append(log_start)
            self._left_uses.append(left_uses)
            self._right_uses.append(right_uses)
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

    def tokens_at(self, number: int) -> int:
        """The length of the corpus after a known step."""
        return self._tokens[number - 1] if number else self.start_tokens

    def _places_and_ties(self, number: int) -> tuple[int, int]:
        """How many places a known step merged, by weight, and how many pairs were as good as its own."""
        return self._replaced[number - 1], self._tied[number - 1]

    def _standing(self, least: int) -> Standing:
        """The candidates at this step that stand at least so often."""
        when = (self.number, least)
        if self._stood is None or self._stood[0] != when:
            barred = self._frontier.barred
            pairs = [pair for pair, count in enumerate(self.cells.counts) if count >= least]
            if barred:
                pairs = [pair for pair in pairs if pair not in barred]
            key = entry(TIES, "tie", self.recipe.tie)(self.cells, self.vocabulary)
            self._stood = (when, Standing(pairs, self._worths(pairs), key))
        return self._stood[1]

    def _worths(self, pairs: list[int]) -> list[int]:
        """What makes each of these pairs the best: the greatest is."""
        counts = self.cells.counts
        return [counts[pair] for pair in pairs]

    def _last_changes(self) -> tuple[dict[int, int], int]:
        """By how much counts fell in the last step, and the number of pairs before it."""
        if not self.number:
            return {}, len(self.cells.counts)
        index = self.number - 1
        first_new = self._first_new[index]
        return self.cells.changes(self._pair[index], first_new, self._log_start[index]), first_new

    def _touched(self) -> Iterable[int]:
        """The words, by their number, in which the last step merged something."""
        starts = self.cells.starts
        return (bisect.bisect_right(starts, place) - 1 for place in self.cells.log_place[self._log_start[self.number - 1] :])

    def _first_size(self) -> int:
        """The number of ids before the first merge."""
        return self.vocabulary.size(0)

    # ---- where it stands

    @property
    def merges(self) -> int:
        """The number of merges of the vocabulary that count: one a step."""
        return self.number

    @property
    def vocab_size(self) -> int:
        """The number of ids at this step, specials counted."""
        return self.vocabulary.size(self.number)

    @property
    def least_size(self) -> int:
        """The number of ids before the first merge."""
        return self._first_size()

    # ---- walking

    def step(self) -> Step | None:
        """Make the next merge. Returns None where no pair is left."""
        if self.number == self.known and not self._choose(self._min_count):
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

    def end(self, stops: Stops) -> str | None:
        """Why no further step may be made under these stops; None where one may."""
        if stops.merges is not None and self.number >= stops.merges:
            return end.MERGES
        if stops.vocab_size is not None and self.vocab_size >= stops.vocab_size:
            return end.VOCAB_SIZE
        return None if self._goes_on(stops) else self._exhausted()

    def _goes_on(self, stops: Stops) -> bool:
        """Whether there is a next step that the least count allows."""
        if self.number < self.known:
            return self.vocabulary.counts[self.number] >= stops.min_count
        return self._choose(stops.min_count)

    def _exhausted(self) -> str:
        """Why there is no next step."""
        return end.MIN_COUNT if self.number < self.known or self._best() else end.NO_PAIR

    def _least(self, stops: Stops) -> int:
        """The count that a pair must have to be a candidate; a greater least count only ends a run here."""
        return 1

    def bound(self, stops: Stops) -> None:
        """Take other limits on what is a candidate: what was learned past this step under the old ones is forgotten."""
        limits = self._least(stops), stops.max_length
        if limits == (self._min_count, self._max_length):
            return
        self._min_count, self._max_length = limits
        if self.known > self.number:
            self._forget()
        self._frontier = self._new_frontier()
        self._stood = None
        self._over.clear()

    # ---- looking

    def step_at(self, number: int) -> Step:
        """A known step, 1 for the first."""
        vocabulary, index = self.vocabulary, number - 1
        left, right = vocabulary.merges[index]
        symbol = vocabulary.base_size + index
        replaced, tied = self._places_and_ties(number)
        return Step(
            number=number,
            left=vocabulary.pieces[left],
            right=vocabulary.pieces[right],
            token=vocabulary.pieces[symbol],
            id=vocabulary.id_of(symbol, number),
            count=vocabulary.counts[index],
            replaced=replaced,
            score=None,
            tied=tied,
            tokens=self.tokens_at(number),
            vocab_size=vocabulary.size(number),
        )

    def steps(self, first: int = 1) -> Iterator[Step]:
        """The known steps from this one on up to the present step."""
        return (self.step_at(number) for number in range(first, self.number + 1))

    def candidates(self, limit: int = 100, start: int = 0) -> list[Candidate]:
        """The pairs that may be merged next, best first, ties in the order of the tie rule.

        Args:
            limit: How many at most.
            start: How many of the best to leave out.
        """
        best = self._standing(self._min_count).best(start + limit)[start:]
        fell, first_new = self._last_changes()
        return [self._candidate(pair, fell, first_new) for pair in best]

    @property
    def pairs(self) -> int:
        """How many pairs may be merged at this step."""
        return len(self._standing(self._min_count))

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
            left_uses=self.uses[left],
            right_uses=self.uses[right],
        )

    def why(self, stops: Stops | None = None) -> Why:
        """What the next step is and why it is that one, or why there is none."""
        stops = stops or Stops(min_count=self._min_count, max_length=self._max_length)
        standing = self._standing(self._least(stops))
        counts = self.cells.counts
        best = standing.best(2)
        fell, first_new = self._last_changes()
        candidates = [self._candidate(pair, fell, first_new) for pair in best]
        ended: str | None = None
        if not best:
            ended = self._exhausted()
        elif counts[best[0]] < stops.min_count:
            ended = end.MIN_COUNT
        elif stops.merges is not None and self.number >= stops.merges:
            ended = end.MERGES
        elif stops.vocab_size is not None and self.vocab_size >= stops.vocab_size:
            ended = end.VOCAB_SIZE
        return Why(
            best=candidates[0] if candidates else None,
            runner_up=candidates[1] if len(candidates) > 1 else None,
            tied=standing.tied(),
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
        words = self.words.words
        return {words[n] for n in self._touched()}.__contains__

    def last_step(self, stops: Stops) -> int | None:
        """The step that these stops lead to as far as can be said, None where they say nothing."""
        targets = [stops.merges] if stops.merges is not None else []
        if stops.vocab_size is not None:
            targets.append(max(0, stops.vocab_size - self._first_size()))
        return min(targets) if targets else None

    def limits(self, stops: Stops) -> Stops:
        """Of some stops those that say what is a candidate, without those that only end a run."""
        return Stops(min_count=self._least(stops), max_length=stops.max_length)

    def step_with(self, size: int) -> int | None:
        """The first known step with at least so many ids; None where there is none yet."""
        if self.vocabulary.size(self.known) < size:
            return None
        return bisect.bisect_left(range(self.known + 1), size, key=self.vocabulary.size)

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
