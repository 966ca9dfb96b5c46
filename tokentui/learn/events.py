"""A training whose steps are events: a merge, and what follows from it.

`EventPairs` is the engine, `PlainPairs` with other ways to lay the corpus out, to make a step and to undo
one. The choice of a pair is the same: counts, tie rules, filters and constraints. Each distinct word is a
list of symbols. A pair knows the words in which it has stood; these are all that an event looks at. A word
that changes takes its old pairs from the counts and gives its new ones, so every count at every step is that
of a recount. A kind of training says what follows from a merge (`EventPairs.following`) and, where the merge
is no plain one, how it begins (`EventPairs.first`).
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple, Self

from tokentui.core.jobs import check, each
from tokentui.encode.events import Event, EventVocabulary, Kind
from tokentui.learn.bases import BASES, BOUNDARY, FILTERS, WEIGHTS, barriers, tokens_of, totals_of
from tokentui.learn.bpe import PlainPairs
from tokentui.learn.objectives import Material
from tokentui.learn.ranking import TIES
from tokentui.learn.values import Constraints, Merged, Pair, Span
from tokentui.text.pretokenize import Pretokenizer

_A_WORD = 4
"""The places that a changed word costs, next to those of `bpe`."""


class Done(NamedTuple):
    """A step that was made.

    Attributes:
        pair: The pair that it took, by its number.
        logged: The length of the log before it.
        figures: The figures of the pair.
        events: What happened, in order.
    """

    pair: int
    logged: int
    figures: Merged
    events: tuple[Event, ...]


class EventPairs(PlainPairs):
    """The pairs of a corpus and the steps made of them. At step `number` it knows the steps up to `known`.

    Args:
        material: The counted words, the recipe and the run.
    """

    vocabulary: EventVocabulary
    words_merged = None  # type: ignore[assignment]  # a step is more than a merge: see `values.Merges`
    local = True
    """True if the pairs of a word are those of any two neighbours, whatever stands elsewhere."""

    def __init__(self, material: Material) -> None:
        recipe = material.recipe
        self.material, self.objective = material, material.objective
        self._allows, self._rule = FILTERS.of(recipe.pieces).allows, TIES.of(recipe.tie).key
        self.parameters: Mapping[str, object] = self.objective.arguments(recipe.objective)
        texts, weights = self.lay_out(material)
        cut = Pretokenizer(recipe).units
        units = [cut(word) for word in each(texts, len(texts))]
        totals = totals_of(units, weights)
        apart = barriers(totals, recipe)
        base = BASES.of(recipe.base).units({unit: totals[unit] for unit in totals if unit not in apart})
        make = self.objective.vocabulary or EventVocabulary
        made = make(recipe, base, material.run.specials, material.run.first_id)
        assert isinstance(made, EventVocabulary)
        self.vocabulary = made
        symbol_of = {**self.vocabulary.units, **dict.fromkeys(apart, BOUNDARY)}
        self.words = [list(map(symbol_of.__getitem__, word)) for word in units]
        """The symbols of each distinct word; `BOUNDARY` for a unit that nothing merges with."""
        self.weights = list(weights)
        self.length = [1] * self.vocabulary.base_size
        self.left, self.right, self.counts = [BOUNDARY], [BOUNDARY], [0]
        self._numbers: dict[tuple[int, int], int] = {}
        """The number of each pair that has stood somewhere."""
        self._where: list[set[int]] = [set()]
        """The words in which each pair has stood."""
        self._holding: list[set[int]] = [set() for _ in range(self.vocabulary.base_size)]
        """The words in which each symbol has stood."""
        self.uses = [0 if piece in apart else totals.get(piece, 0) for piece in self.vocabulary.pieces]
        self._tokens = [sum(self.uses) + tokens_of(apart, units, weights, recipe)]
        self.tokens_at = self._tokens.__getitem__
        self._bits = 2 * self._tokens[0].bit_length()
        self._log: list[tuple[int, list[int]]] = []
        """Each word that a step changed, as it was before."""
        self._moved, self._parts = set[int](), set[int]()
        for number, word in enumerate(each(self.words, len(self.words))):
            self._count_word(number, word, self.weights[number])
        self.number = self.known = 0
        self._made: list[Done] = []  # type: ignore[assignment]  # undone otherwise
        self._choose_anew(Constraints())

    def lay_out(self, material: Material) -> tuple[Sequence[str], Sequence[int]]:
        """The distinct texts in which merges are made, and the weight of each."""
        return material.words.words, WEIGHTS.of(material.recipe.weight).of(material.words.counts)

    # ---- what a kind of training adds

    def first(self, pair: int) -> Event:
        """The event that a step begins with: the merge of its pair."""
        left, right = self.left[pair], self.right[pair]
        symbol = self.vocabulary.named(self.vocabulary.join(left, right))
        return Event(Kind.MERGE, symbol, (left, right), self.counts[pair])

    def following(self, merge: Event, uses: tuple[int, int]) -> Iterator[Event]:
        """The events that follow from a merge. Each event is applied before the next is asked for.

        Args:
            merge: The merge, with the places that it replaced.
            uses: The uses of its parts before it.
        """
        return iter(())

    def kind(self, events: Sequence[Event]) -> str:
        """The name of a step of these events, for people."""
        return "merge"

    def facts(self, best: Pair, replaced: int) -> list[str]:
        """Sentences on what the step to come does beyond its merge, which changes so many places."""
        return []

    def noted(self, event: Event) -> None:
        """Take in an event that was applied, now or again."""

    def undone(self, event: Event) -> None:
        """Take back an event; the latest first."""

    # ---- words and pairs

    def pairs_of(self, word: Sequence[int]) -> Iterable[tuple[int, int]]:
        """The places of pairs in a word; those that overlap count too."""
        return pairwise(word)

    def number_of(self, parts: tuple[int, int]) -> int:
        """The number of a pair, a new one where it never stood anywhere; 0 for a boundary."""
        number = self._numbers.get(parts)
        if number is None:
            if BOUNDARY in parts:
                self._numbers[parts] = 0
                return 0
            self._numbers[parts] = number = len(self.counts)
            self.left.append(parts[0])
            self.right.append(parts[1])
            self.counts.append(0)
            self._where.append(set())
        return number

    def _count_word(self, number: int, word: Sequence[int], weight: int) -> None:
        """Give the pairs of a word to the counts."""
        counts, where, numbers, moved, holding = (
            self.counts, self._where, self._numbers, self._moved, self._holding
        )
        for parts in self.pairs_of(word):
            pair = numbers.get(parts)
            if pair is None:
                pair = self.number_of(parts)
            if pair:
                counts[pair] += weight
                where[pair].add(number)
                moved.add(pair)
        for symbol in word:
            if symbol >= 0:
                holding[symbol].add(number)

    def _replace(self, number: int, word: list[int]) -> None:
        """Put other symbols in the place of a word's."""
        weight, counts, uses, numbers, moved = (
            self.weights[number], self.counts, self.uses, self._numbers, self._moved
        )
        old, new = self.words[number], word
        if self.local:  # what stands before and behind the change has the pairs that it had
            least, first, end = min(len(old), len(new)), 0, 0
            while first < least and old[first] == new[first]:
                first += 1
            while end < least - first and old[-1 - end] == new[-1 - end]:
                end += 1
            first, last = max(0, first - 1), 1 - end
            old, new = old[first : len(old) + last], new[first : len(new) + last]
        for parts in self.pairs_of(old):
            if pair := numbers[parts]:
                counts[pair] -= weight
                moved.add(pair)
        for symbol in old:
            if symbol >= 0:
                uses[symbol] -= weight
        self._count_word(number, new, weight)
        for symbol in new:
            if symbol >= 0:
                uses[symbol] += weight
        self.words[number] = word

    def _merge_once(self, number: int, word: list[int], was: list[int], symbol: int) -> None:
        """`_replace` where one place was merged into a symbol: the pair and its neighbours."""
        weight, counts, uses, numbers, moved, where = (
            self.weights[number], self.counts, self.uses, self._numbers, self._moved, self._where
        )
        at = next(at for at, (one, other) in enumerate(zip(word, was, strict=False)) if one != other)
        left, right = was[at], was[at + 1]
        uses[left] -= weight
        uses[right] -= weight
        uses[symbol] += weight
        pair = numbers[left, right]
        counts[pair] -= weight
        moved.add(pair)
        beside = []
        if at:
            before = was[at - 1]
            beside.append(((before, left), (before, symbol)))
        if at + 2 < len(was):
            after = was[at + 2]
            beside.append(((right, after), (symbol, after)))
        for old, new in beside:
            if pair := numbers[old]:
                counts[pair] -= weight
                moved.add(pair)
            found = numbers.get(new)
            if pair := self.number_of(new) if found is None else found:
                counts[pair] += weight
                where[pair].add(number)
                moved.add(pair)
        self._holding[symbol].add(number)
        self.words[number] = word

    def apply(self, event: Event) -> Event:
        """Do an event to every word. Returns it with the places that it replaced, by weight."""
        replaced, symbol, words, weights = 0, event.symbol, self.words, self.weights
        if event.kind is Kind.MERGE:
            while len(self.length) <= symbol:
                self.length.append(self.length[event.parts[0]] + self.length[event.parts[1]])
                self.uses.append(0)
                self._holding.append(set())
            left, right = event.parts
            for number in sorted(self._where[self.number_of((left, right))]):
                was = words[number]
                if left not in was:  # no more
                    continue
                now, made = _merged(was, left, right, symbol)
                if made:
                    replaced += made * weights[number]
                    self._log.append((number, was))
                    if made == 1 and self.local:
                        self._merge_once(number, now, was, symbol)
                    else:
                        self._replace(number, now)
        elif event.kind in (Kind.SPLIT, Kind.BREAK):
            for number in sorted(self._holding[symbol]):
                was = words[number]
                if made := was.count(symbol):
                    replaced += made * weights[number]
                    self._log.append((number, was))
                    self._replace(number, _split(was, symbol, event.parts))
        event = event._replace(replaced=replaced)
        self.noted(event)
        return event

    # ---- steps

    def _make(self, pair: int) -> int:
        """Make a step of a pair for the first time and note it. Returns about the places that it cost."""
        left, right, places = self.left[pair], self.right[pair], self.counts[pair]
        uses, logged = (self.uses[left], self.uses[right]), len(self._log)
        tied, alike = self._queue.tied, self._queue.alike
        self.known += 1
        self.number += 1
        done: list[Event] = []

        def events() -> Iterator[Event]:
            merge = self.apply(self.first(pair))
            done.append(merge)
            yield merge
            for event in self.following(merge, uses):
                done.append(self.apply(event))
                yield done[-1]

        self.vocabulary.step(events())
        self._parts.update((left, right))
        apart = (event for event in done if event.kind in (Kind.SPLIT, Kind.BREAK))
        longer = sum(event.replaced * (len(event.parts) - 1) for event in apart)
        self._tokens.append(self._tokens[-1] - done[0].replaced + longer)
        figures = Merged(Pair(left, right, places, places, *uses), done[0].replaced, tied, alike)
        self._made.append(Done(pair, logged, figures, tuple(done)))
        return _A_WORD * (len(self._log) - logged)

    def _merge(self, pair: int) -> int:
        """Make the next known step again. Returns about the places that it cost."""
        logged, done = len(self._log), self.done(self.number + 1)
        self.number += 1
        for event in done.events:
            self.apply(event)
        return _A_WORD * (len(self._log) - logged)

    def _unmerge(self) -> int:
        """Undo the last step, exactly. Returns about the places that it cost."""
        done, size = self.done(self.number), len(self._log)
        while len(self._log) > done.logged:
            self._replace(*self._log.pop())
        for event in reversed(done.events):
            self.undone(event)
        self.number -= 1
        return _A_WORD * (size - done.logged)

    def done(self, number: int) -> Done:
        """A known step."""
        made: Sequence[object] = self._made
        found = made[number - 1]
        assert isinstance(found, Done)
        return found

    def forget(self) -> None:
        """Forget the steps past the present one."""
        self.vocabulary = self.vocabulary.copy(self.number)
        del self._made[self.number :], self._tokens[self.number + 1 :]
        self.known = self.number
        # Symbols that are forgotten may come again of other parts: pairs of them are other pairs then.
        size = len(self.vocabulary.pieces)
        del self.uses[size:], self.length[size:], self._holding[size:]
        gone = [pair for pair in range(1, len(self.counts)) if max(self.left[pair], self.right[pair]) >= size]
        if gone:
            stays = [pair for pair in range(len(self.counts)) if not pair or (
                max(self.left[pair], self.right[pair]) < size
            )]
            anew = {pair: number for number, pair in enumerate(stays)}
            for name in ("left", "right", "counts", "_where"):
                setattr(self, name, [getattr(self, name)[pair] for pair in stays])
            self._numbers = {parts: anew[pair] for parts, pair in self._numbers.items() if pair in anew}
            self._made[:] = [
                one._replace(pair=anew.get(one.pair, one.pair)) for one in self._made
            ]
        self._choose_anew()

    def fork(self, number: int, material: Material) -> Self:
        """The same corpus at a known step, for a run by another recipe."""
        other = copy.copy(self)
        for name, one in vars(self).items():
            if isinstance(one, list | dict | set):
                setattr(other, name, copy.copy(one))
        other._where, other._holding = [set(one) for one in self._where], [set(one) for one in self._holding]
        other.words = list(self.words)
        other.tokens_at, other._moved, other._parts = other._tokens.__getitem__, set(), set()
        other.forked()
        while other.number != number:
            check()
            other.walk(number, Constraints())
        other.forget()
        other.material, other.vocabulary.recipe = material, material.recipe
        return other

    def forked(self) -> None:
        """Take copies of what a step changes and is no list, dict or set of its own."""

    # ---- the figures

    def _falls(self) -> tuple[Mapping[int, int | None], int]:
        return self._falls_since(self.done(self.number).logged if self.number else len(self._log))

    def _first(self, mark: int) -> dict[int, list[int]]:
        """The words that changed after a mark in the log, as they were then."""
        first: dict[int, list[int]] = {}
        for number, was in self._log[mark:]:
            first.setdefault(number, was)
        return first

    def _falls_since(self, mark: int) -> tuple[Mapping[int, int | None], int]:
        """The falls of the counts of pairs since a mark in the log, None for one that stood nowhere then; and
        the number of pairs."""
        changes: Counter[int] = Counter()
        for number, was in self._first(mark).items():
            weight = self.weights[number]
            for parts in self.pairs_of(was):
                changes[self._numbers[parts]] += weight
            for parts in self.pairs_of(self.words[number]):
                changes[self._numbers[parts]] -= weight
        counts = self.counts
        return {pair: fell if counts[pair] + fell else None for pair, fell in changes.items()}, len(counts)

    def disjoint(self, pair: int) -> int:
        """The number of places of a pair of twice the same symbol that a merge would replace, by weight."""
        left, right = self.left[pair], self.right[pair]
        return sum(
            _merged(self.words[number], left, right, left)[1] * self.weights[number]
            for number in self._where[pair]
        )

    def first_place(self, pair: int) -> int:
        """The first place of a pair: its word, then the unit in it, as one number that is ordered so."""
        parts = self.left[pair], self.right[pair]
        for number in sorted(self._where[pair]):
            word = self.words[number]
            for at, here in enumerate(pairwise(word)):
                if here == parts:
                    ahead = sum(self.length[one] if one >= 0 else 1 for one in word[:at])
                    return self._starts[number] + ahead
        return self._starts[-1]

    @property
    def _starts(self) -> list[int]:
        """The first unit of each word, and the end of all."""
        found = vars(self).get("_starts_kept")
        if found is None:
            sizes = [sum(self.length[one] if one >= 0 else 1 for one in word) for word in self.words]
            found = self._starts_kept = list(accumulate(sizes, initial=0))
        kept: list[int] = found
        return kept

    def memory(self) -> int:
        """The bytes that the corpus, its pairs and the history take, about eight a number."""
        lists = (self.words, (was for _, was in self._log))
        size = sum(len(word) + 7 for part in lists for word in part)
        return 8 * (size + sum(8 + 4 * len(one) for one in self._where) + 12 * self.known)

    def merged(self, number: int) -> Merged:
        """The figures of a known step."""
        return self.done(number).figures

    def words_changed(self) -> set[int]:
        """The words, by their number, that the last step changed."""
        if not self.number:
            return set()
        first = self._first(self.done(self.number).logged)
        return {number for number, was in first.items() if was != self.words[number]}

    def symbols_of(self, index: int) -> Sequence[int]:
        """The symbols of a word of the material."""
        return self.words[index]

    def word(self, index: int, first: int, units: int | None) -> list[Span]:
        """The present tokens of a word, from the one that covers a unit on, for so many units; None for all.
        """
        at, out = 0, list[Span]()
        stop = None if units is None else first + units
        for symbol in self.symbols_of(index):
            end = at + (self.length[symbol] if symbol >= 0 else 1)
            if stop is not None and at >= stop:
                break
            if symbol >= 0 and end > first:
                out.append(Span(at, end, symbol))
            at = end
        return out


def _merged(word: list[int], left: int, right: int, symbol: int) -> tuple[list[int], int]:
    """A word with a pair merged from left to right, and in how many places that was."""
    out: list[int] = []
    at, last, made = 0, len(word) - 1, 0
    while at < last:
        if word[at] == left and word[at + 1] == right:
            out.append(symbol)
            at += 2
            made += 1
        else:
            out.append(word[at])
            at += 1
    if at == last:
        out.append(word[at])
    return out, made


def _split(word: list[int], symbol: int, parts: tuple[int, ...]) -> list[int]:
    """A word with parts in the place of a symbol."""
    out: list[int] = []
    for one in word:
        if one == symbol:
            out += parts
        else:
            out.append(one)
    return out
