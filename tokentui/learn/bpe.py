"""Byte-pair encoding (Gage 1994; Sennrich et al. 2016) in plain Python: the engine that one reads.

Count the pairs of neighbouring symbols, choose the best one, merge it everywhere, note the merge; again and
again:

    while pairs.number < goal and (pair := pairs.best(under)):  # choose
        pairs._make(pair)                                       # merge, count what changes, note

`PlainPairs.walk` is that loop, and the way back. The counts of all pairs are kept up to date by `cells`, so
that no word is counted twice. The best pair is the one of the greatest value: its count, or a value of its
count and of the uses of its parts. Every number at step k is what a recount from scratch gives, whichever way
led there. Pages of candidates and the vocabulary are in `pairs`, walking to a step or a stop is in `stepped`.

>>> from tokentui.learn import start
>>> from tokentui.learn.walk import run, steps
>>> from tokentui.recipe import Recipe, Stops
>>> from tokentui.text.corpus import Corpus
>>> corpus = Corpus.from_counts([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)])
>>> recipe = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")
>>> trainer = start(corpus, recipe)
>>> print(run(trainer, Stops(merges=3)))
merges
>>> for step in steps(trainer):
...     print(step.left, step.right, "->", step.id, "count", step.count)
b'u' b'g' -> 7 count 20
b'u' b'n' -> 8 count 16
b'h' b'ug' -> 9 count 15
>>> trainer.tokenizer().encode("hugs bun").ids
(9, 5, 0, 8)
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tokentui.core import jobs
from tokentui.core.jit import PLAIN
from tokentui.core.jobs import in_blocks, tick
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.bases import FILTERS, WEIGHTS, Weighted, barriers, parts_of, tokens_of, without
from tokentui.learn.cells import BOUNDARY, Cells
from tokentui.learn.objectives import Material, Objective
from tokentui.learn.pairs import Merged
from tokentui.learn.ranking import TIES, CountQueue, Key, Queue, Ranked, ValueQueue
from tokentui.learn.stepped import Constraints
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer

_SLICE, _A_STEP = 2048, 32
"""The places that are merged between two looks at the clock, and the places that a step costs beyond its own.
"""


class Made(NamedTuple):
    """A merge that was made, with what takes it back.

    Attributes:
        pair: The pair, by its index in the pair table.
        tokens: The length of the corpus in tokens after it.
        pairs: The number of pairs before it.
        logged: The length of the log of the cells before it.
        figures: Its figures.
    """

    pair: int
    tokens: int
    pairs: int
    logged: int
    figures: Merged


class PlainPairs:
    """The pairs of a corpus and the merges made of them. At step `number` it knows the steps up to `known`.

    Args:
        cells: The corpus.
        vocabulary: The vocabulary, without a merge.
        recipe: The tie rule and the filter of the tokens that may be made.
        objective: The value of the pairs.
        apart: The number of tokens of the corpus that no merge touches, by weight.
    """

    engine = PLAIN

    def __init__(
        self, cells: Cells, vocabulary: Vocabulary, recipe: Recipe, objective: Objective, apart: int
    ) -> None:
        self.cells, self.vocabulary, self.objective = cells, vocabulary, objective
        self.left, self.right, self.counts, self.length = cells.left, cells.right, cells.counts, cells.length
        self.disjoint, self.word = cells.disjoint, cells.word
        self.number = 0
        self.uses: list[int] = [0] * (vocabulary.base_size + 1)
        """The uses of each symbol at this step, by weight."""
        for part in in_blocks(zip(cells.symbols, cells.weights, strict=True)):
            for symbol, weight in part:
                self.uses[symbol] += weight
        del self.uses[BOUNDARY]  # which is the last
        self._start_tokens = sum(self.uses) + apart
        self._tie, self._allowed = recipe.tie, FILTERS.of(recipe.pieces).allows
        self._made: list[Made] = []
        self._barred: set[int] = set()
        self._judged = 1
        """The pairs before this one were looked at: they are barred, or may be merged."""
        self._longest: int | None = None
        self._forbidden: frozenset[tuple[bytes, ...]] = frozenset()
        self._key: tuple[Vocabulary, Key] | None = None
        self._queue: Queue | None = None
        """The candidates at the furthest step, made when they are asked for; `_least` is the least count in
        it."""
        self._least = 1

    # ---- count, choose, merge, note

    def walk(self, goal: int, under: Constraints) -> None:
        """Go towards a step for some milliseconds, forward no further than there is a pair.

        Args:
            goal: The step.
            under: The constraints on new steps.
        """
        work = _SLICE
        while self.number > goal and work > 0:
            work -= self._unmerge()
        while self.number < min(goal, self.known) and work > 0:
            work -= self._merge(self._made[self.number].pair)[0] + _A_STEP
        while self.number < goal and work > 0 and (pair := self.best(under)):  # choose
            work -= self._make(pair) + _A_STEP  # merge, count, note

    def best(self, under: Constraints) -> int:
        """The best pair at the furthest step, 0 where no pair may be merged."""
        self._limit(under)
        if under.forced and (forced := self._pair_of(under.forced)):
            self._queue = None  # it knows only the merges of the best pairs
            return forced
        least = max(1, under.min_count)
        if self._queue is None or (self.objective.filters and least != self._least):
            self._queue, self._least = self._new_queue(least), least
        pair = self._queue.best()
        return pair if self.cells.counts[pair] >= least else 0

    def _make(self, pair: int) -> int:
        """Merge a pair for the first time and note it. Returns how many places were merged, by weight."""
        cells, uses = self.cells, self.uses
        left, right, places = cells.left[pair], cells.right[pair], cells.counts[pair]
        left_uses, right_uses, pairs, logged = (
            uses[left], uses[right], len(cells.counts), len(cells.log_place),
        )
        tied = self._queue.tied(pair) if self._queue is not None else 1
        tokens = self.tokens_at(self.number)
        self.vocabulary.add(left, right, places)
        uses.append(0)
        replaced, fell = self._merge(pair)
        self._made.append(
            Made(
                pair, tokens - replaced, pairs, logged, Merged(places, replaced, tied, left_uses, right_uses)
            )
        )
        self._bar()
        if self._queue is not None:
            self._queue.moved(pair, pairs, fell)
        return replaced

    def _merge(self, pair: int) -> tuple[int, list[int]]:
        """Merge a pair everywhere.

        Returns how many places were merged, by weight, and the pairs that fell with it.
        """
        symbol = self.vocabulary.base_size + self.number
        replaced, fell = self.cells.merge(pair, symbol)
        self.uses[symbol] = replaced
        self.uses[self.cells.left[pair]] -= replaced
        self.uses[self.cells.right[pair]] -= replaced
        self.number += 1
        return replaced, fell

    def _unmerge(self) -> int:
        """Undo the last merge. Returns the work that it was."""
        self.number -= 1
        made, cells = self._made[self.number], self.cells
        cells.unmerge(made.pair, made.figures.places, made.pairs, made.logged)
        self.uses[self.vocabulary.base_size + self.number] = 0
        self.uses[cells.left[made.pair]] += made.figures.replaced
        self.uses[cells.right[made.pair]] += made.figures.replaced
        return made.figures.replaced + _A_STEP

    def forget(self) -> None:
        """Forget the steps past the present one."""
        self.vocabulary = self.vocabulary.copy(self.number)
        del self.uses[len(self.vocabulary.pieces) :], self.cells.length[len(self.vocabulary.pieces) :]
        del self._made[self.number :]
        self._barred = {pair for pair in self._barred if pair < len(self.cells.counts)}
        self._judged = min(self._judged, len(self.cells.counts))
        self._queue = None

    # ---- the pairs that may be merged

    def _limit(self, under: Constraints) -> None:
        """Take constraints: under others than before all pairs are judged and queued anew."""
        if (under.max_length, under.forbidden) != (self._longest, self._forbidden):
            self._longest, self._forbidden = under.max_length, under.forbidden
            self._barred, self._judged, self._queue = set(), 1, None
        self._bar()

    def _bar(self) -> None:
        """Judge the pairs that have come since."""
        cells, vocabulary, first = self.cells, self.vocabulary, self._judged
        self._judged = max(first, len(cells.counts))
        if self._longest is None and self._allowed is None and not self._forbidden:
            return
        for part in in_blocks(range(first, len(cells.counts))):
            for pair in part:
                left, right = cells.left[pair], cells.right[pair]
                if (
                    (self._longest is not None and cells.length[left] + cells.length[right] > self._longest)
                    or (self._allowed is not None and not self._allowed(vocabulary.join(left, right)))
                    or (vocabulary.pieces[left], vocabulary.pieces[right]) in self._forbidden
                ):
                    self._barred.add(pair)

    def _new_queue(self, least: int) -> Queue:
        key = self._tie_key()
        if self.objective.value is None:
            return CountQueue(self.cells, key, self._barred)
        return ValueQueue(self.cells, key, self._barred, self._ordered, least, len(self.vocabulary.pieces))

    def _tie_key(self) -> Key:
        """The key of the tie rule, made once for a vocabulary."""
        if self._key is None or self._key[0] is not self.vocabulary:
            self._key = self.vocabulary, TIES.of(self._tie).key(self.cells, self.vocabulary)
        return self._key[1]

    def _ordered(self, pairs: Sequence[int]) -> list[int]:
        """The values of pairs that stand somewhere as whole numbers, which are ordered, and equal, exactly as
        the values are.

        A value n/d becomes floor(n·2^K / d) with 2^K > T⁴, T the length of the corpus in units. No symbol is
        used more than T times, so d ≤ T², and two values that differ do so by at least 1/(d·d') ≥ 1/T⁴ >
        2^-K. Multiplied by 2^K they are more than 1 apart and their floors differ in the same direction;
        equal values have equal floors. No value is 0, as n·2^K > d.
        """
        counts, left, right, uses, value = (
            self.cells.counts, self.cells.left, self.cells.right, self.uses, self.objective.value,
        )
        if value is None:
            return [counts[pair] for pair in pairs]
        shift = 4 * self._start_tokens.bit_length()
        values = (value(counts[pair], uses[left[pair]], uses[right[pair]]) for pair in pairs)
        return [(one.numerator << shift) // one.denominator for one in values]

    def _pair_of(self, parts: tuple[bytes, ...]) -> int:
        """The pair of these parts that stands somewhere, 0 where none does."""
        cells, pieces = self.cells, self.vocabulary.pieces
        found = (
            pair for pair in range(1, len(cells.counts))
            if cells.counts[pair] and (pieces[cells.left[pair]], pieces[cells.right[pair]]) == parts
        )
        return next(found, 0)

    def ranked(self, under: Constraints) -> Ranked:
        """The candidates at this step in their order."""
        self._limit(under)
        counts, barred = self.cells.counts, self._barred
        pairs = [
            pair
            for pair, count in enumerate(counts)
            if count >= max(1, under.min_count) and pair not in barred
        ]
        return Ranked(pairs, self._ordered(pairs), self._tie_key())

    # ---- the figures

    @property
    def known(self) -> int:
        """The furthest step that has been made."""
        return len(self._made)

    @property
    def memory(self) -> int:
        """The bytes that the corpus, its pairs and the history take."""
        return self.cells.memory + 8 * (9 * self.known + len(self.uses))

    def merged(self, number: int) -> Merged:
        """The figures of a known step."""
        return self._made[number - 1].figures

    def tokens_at(self, number: int) -> int:
        """The length of the corpus in tokens after a known step."""
        return self._made[number - 1].tokens if number else self._start_tokens

    def last_with(self, least: int) -> int:
        """The furthest known step that is reached from here by merges of pairs with at least such a count."""
        fewer = (
            number for number in range(self.number, self.known) if self._made[number].figures.places < least
        )
        return next(fewer, self.known)

    def changes(self) -> tuple[dict[int, int], int]:
        """The falls of the counts of older pairs in the last step, and the number of pairs before it."""
        if not self.number:
            return {}, len(self.cells.counts)
        made = self._made[self.number - 1]
        return self.cells.changes(made.pair, made.pairs, made.logged), made.pairs

    def words_changed(self) -> set[int]:
        """The words, by their number, in which the last step merged something."""
        if not self.number:
            return set()
        places = self.cells.log_place[self._made[self.number - 1].logged :]
        return {bisect.bisect_right(self.cells.starts, place) - 1 for place in places}


def lay_out(material: Material, vocabulary_of: Callable[[Weighted], Vocabulary]) -> PlainPairs:
    """Lay counted words out as cells.

    Args:
        material: The counted words and the recipe.
        vocabulary_of: Makes the vocabulary from the units of the words and their weights.
    """
    words, recipe = material.words, material.recipe
    weights = WEIGHTS.of(recipe.weight).of(words.counts)
    units_of = Pretokenizer(recipe).units
    many, units = jobs.BLOCK, list[list[bytes]]()
    for n, word in enumerate(words.words):
        many += len(word) + 1
        if many > jobs.BLOCK:
            tick(n, len(words.words))
            many = 0
        units.append(units_of(word))
    found = barriers(units, weights, recipe)
    vocabulary = vocabulary_of(parts_of(without(units, found), weights))
    symbol_of: Mapping[bytes, int] = vocabulary.units
    if found:
        symbol_of = {**symbol_of, **dict.fromkeys(found, BOUNDARY)}
    cells = Cells((map(symbol_of.__getitem__, word) for word in units), weights, vocabulary.base_size)
    tick(len(words.words), len(words.words))
    return PlainPairs(
        cells, vocabulary, recipe, material.objective,
        tokens_of(found, units, weights, recipe) if found else 0,
    )
