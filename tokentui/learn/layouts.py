"""The corpus of an event training: distinct words as lists of symbols, and the candidates in them.

`Layout` applies events to the words and undoes them. It passes each change of a word to its table, which
counts candidates: `PairTable` counts pairs of neighbors, `ngrams.NGramTable` n-grams. A changed word takes
its old candidates from the counts and gives its new ones, so every count is that of a recount.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Self

from tokentui.core.jobs import each
from tokentui.encode.events import Event, EventKind, EventVocabulary
from tokentui.learn.bases import BASES, BOUNDARY, WEIGHTS, barriers, tokens_of, totals_of
from tokentui.learn.candidates import Candidates, CandidateTable, Rewrite
from tokentui.learn.engine import Pair
from tokentui.learn.objectives import Material
from tokentui.learn.ranking import Key, Spelling
from tokentui.text.pretokenize import Pretokenizer


class Layout:
    """Distinct words as lists of symbols.

    Args:
        words: The symbols of each word; `BOUNDARY` for a unit that nothing merges with.
        weights: The weight of each word.
        pieces: The exact bytes of each symbol. The list grows with the vocabulary.
        id_of: Returns the id of a symbol.
        length: The units of each symbol.
        barred: The tokens of units that nothing merges with, by weight.
    """

    table: CandidateTable
    vocabulary: EventVocabulary
    """The vocabulary of the symbols; a layout of rows has none."""

    def __init__(
        self, words: list[list[int]], weights: list[int], pieces: list[bytes], id_of: Callable[[int], int],
        length: list[int], barred: int = 0,
    ) -> None:
        self.words, self.weights, self.pieces, self.id_of = words, weights, pieces, id_of
        self.length = length
        self.uses = uses = [0] * len(length)
        """The uses of each symbol, by weight."""
        self.holding: list[set[int]] = [set() for _ in length]
        """The words in which each symbol has occurred."""
        self.log: list[tuple[int, list[int]]] = []
        """Each word that changed, as it was before."""
        adds = [holders.add for holders in self.holding]
        for number, (word, weight) in enumerate(zip(words, weights, strict=True)):
            for symbol in word:
                if symbol >= 0:
                    uses[symbol] += weight
                    adds[symbol](number)
        self.tokens = sum(uses) + barred
        """The length of the corpus in tokens, by weight."""
        sizes = (sum(length[symbol] if symbol >= 0 else 1 for symbol in word) for word in words)
        self._starts = list(accumulate(sizes, initial=0))
        """The first unit of each word, and the end of all."""

    def follow(self, table: CandidateTable) -> None:
        """Count candidates by a table from now on."""
        self.table = table
        for number, word in enumerate(each(self.words, len(self.words))):
            table.add(number, word)

    # ---- events

    def apply(self, event: Event) -> Event:
        """Apply an event to every word. Returns it with the places that it replaced, by weight."""
        numbers: Iterable[int]
        if event.kind in (EventKind.MERGE, EventKind.COVER):
            self.add_symbol(event.symbol, sum(self.length[part] for part in event.parts))
            numbers, rewrite = self.table.rewrite(event)
        elif event.kind in (EventKind.SPLIT, EventKind.BREAK):
            numbers, rewrite = self.holding[event.symbol], partial(_split, event.symbol, event.parts)
        else:
            return event._replace(replaced=0)
        replaced, words, weights, log = 0, self.words, self.weights, self.log
        for number in sorted(numbers):
            old = words[number]
            new, places, start, end = rewrite(old)
            if places:
                replaced += places * weights[number]
                log.append((number, old))
                self._replace(number, new, start, end)
        return event._replace(replaced=replaced)

    def add_symbol(self, symbol: int, length: int) -> None:
        """Make room for a symbol of this number of units, unless it is known."""
        while len(self.length) <= symbol:
            self.length.append(length)
            self.uses.append(0)
            self.holding.append(set())

    def _replace(self, number: int, new: list[int], start: int, end: int) -> None:
        """Replace a word. It differs neither in its first `start` nor in its last `end` symbols."""
        old, weight, uses, holding = self.words[number], self.weights[number], self.uses, self.holding
        for symbol in old[start : len(old) - end]:
            if symbol >= 0:
                uses[symbol] -= weight
        for symbol in new[start : len(new) - end]:
            if symbol >= 0:
                uses[symbol] += weight
                holding[symbol].add(number)
        self.tokens += weight * (len(new) - len(old))
        self.words[number] = new
        self.table.replace(number, old, new, start, end)

    @property
    def mark(self) -> int:
        """The length of the log."""
        return len(self.log)

    def work(self, mark: int) -> int:
        """Return the number of words that changed since the log had the length `mark`."""
        return len(self.log) - mark

    def undo(self, mark: int, events: Sequence[Event] = ()) -> None:
        """Restore the words that changed since the log had the length `mark`."""
        while len(self.log) > mark:
            number, old = self.log.pop()
            new = self.words[number]
            most, start, end = min(len(old), len(new)), 0, 0
            while start < most and old[start] == new[start]:
                start += 1
            while end < most - start and old[-1 - end] == new[-1 - end]:
                end += 1
            self._replace(number, old, start, end)

    def since(self, mark: int) -> dict[int, list[int]]:
        """Return the words that changed since the log had the length `mark`, as they were then."""
        first: dict[int, list[int]] = {}
        for number, old in self.log[mark:]:
            first.setdefault(number, old)
        return first

    def changed(self, mark: int) -> set[int]:
        """Return the numbers of the words that differ from what they were at a length of the log."""
        return {number for number, old in self.since(mark).items() if old != self.words[number]}

    def use_changes(
        self, mark: int, events: Sequence[Event] = (), weights: Sequence[int] = ()
    ) -> Counter[int]:
        """Return by how much the uses of symbols changed since the log had the length `mark`.

        Words count by other weights than their own if there are some.
        """
        changes: Counter[int] = Counter()
        weights = weights or self.weights
        for number, old in self.since(mark).items():
            for symbol in old:
                changes[symbol] -= weights[number]
            for symbol in self.words[number]:
                changes[symbol] += weights[number]
        return changes

    @property
    def shown_uses(self) -> Sequence[int]:
        """The uses of each symbol, by weight."""
        return self.uses

    # ---- places

    def symbols(self, index: int) -> Sequence[int]:
        """Return the symbols of a word."""
        return self.words[index]

    def candidates(self, material: Material) -> Candidates:
        """Return the candidates of the table, in the order that a recipe gives them."""
        return Candidates(self.table, self.since, material.recipe, material.objective.filters)

    def place(self, number: int, at: int) -> int:
        """Return the unit at which a symbol of a word starts, counted through the corpus."""
        ahead = self.words[number][:at]
        return self._starts[number] + sum(self.length[symbol] if symbol >= 0 else 1 for symbol in ahead)

    @property
    def end(self) -> int:
        """The number of units of all words."""
        return self._starts[-1]

    # ---- copies

    def copy(self) -> Layout:
        """Return a layout that changes alone."""
        other = copy.copy(self)
        other.words, other.log = self.words[:], self.log[:]
        other.length, other.uses = self.length[:], self.uses[:]
        other.holding = [set(words) for words in self.holding]
        other.table = self.table.over(other)
        return other

    def forget(self, vocabulary: EventVocabulary) -> None:
        """Take a vocabulary that has lost its newest symbols."""
        self.use_vocabulary(vocabulary)
        size = len(self.pieces)
        del self.uses[size:], self.length[size:], self.holding[size:]
        self.table.forget(size)

    def use_vocabulary(self, vocabulary: EventVocabulary) -> None:
        """Read pieces and ids from a vocabulary."""
        self.vocabulary = vocabulary
        self.pieces, self.id_of = vocabulary.pieces, vocabulary.order.__getitem__

    def memory(self) -> int:
        """Return the size of words, log and table, in numbers of eight bytes."""
        words = sum(len(word) + 7 for word in self.words) + sum(len(old) + 7 for _, old in self.log)
        return words + self.table.memory()


def lay_out(
    material: Material, texts: Sequence[str], weights: Sequence[int]
) -> tuple[EventVocabulary, Layout]:
    """Return the vocabulary of units and the layout of distinct texts. The layout follows no table yet."""
    recipe, run = material.recipe, material.run
    cut = Pretokenizer(recipe).units
    units = [cut(text) for text in each(texts, len(texts))]
    totals = totals_of(units, weights)
    barred = barriers(totals, recipe)
    base = BASES.of(recipe.base).units({unit: totals[unit] for unit in totals if unit not in barred})
    make = material.objective.vocabulary or EventVocabulary
    vocabulary = make(recipe, base, run.specials, run.first_id)
    assert isinstance(vocabulary, EventVocabulary)
    symbol_of = {**vocabulary.units, **dict.fromkeys(barred, BOUNDARY)}
    words = [list(map(symbol_of.__getitem__, word)) for word in units]
    layout = Layout(
        words, list(weights), vocabulary.pieces, vocabulary.order.__getitem__, [1] * vocabulary.base_size,
        tokens_of(barred, units, weights, recipe),
    )
    layout.use_vocabulary(vocabulary)
    return vocabulary, layout


def lay_out_words(material: Material) -> tuple[EventVocabulary, Layout]:
    """Return the vocabulary of units and the layout of the words of a material."""
    words, weigh = material.words, WEIGHTS.of(material.recipe.weight).of
    return lay_out(material, words.words, weigh(words.counts))


class PairTable:
    """The pairs of neighboring symbols of a layout.

    Args:
        layout: The layout; see `Layout.follow`.
        overlapping: True if places that overlap count: in "aaa" the pair of two a occurs twice. Otherwise
            every other place of such a run counts.
    """

    def __init__(self, layout: Layout, overlapping: bool = True) -> None:
        self._layout, self._overlapping = layout, overlapping
        self.left, self.right, self.counts = [BOUNDARY], [BOUNDARY], [0]
        self.worths, self.moved = self.counts, set[int]()
        self.may: Callable[[list[int]], list[int]] = lambda pairs: pairs
        self._numbers: dict[tuple[int, int], int] = {}
        """The number of each pair that has occurred; 0 for a boundary."""
        self._where: list[set[int]] = [set()]
        """The words in which each pair has occurred."""
        self._by_token: dict[bytes, list[int]] | None = None
        """The pairs of each token, once `with_token` was asked for."""
        self._pairs_of: Callable[[Sequence[int]], Iterable[tuple[int, int]]] = (
            pairwise if overlapping else _disjoint_pairs
        )

    # ---- counting

    def add(self, number: int, word: Sequence[int]) -> None:
        """Count the pairs of a word."""
        weight = self._layout.weights[number]
        counts, where, numbers, moved = self.counts, self._where, self._numbers, self.moved
        for parts in self._pairs_of(word):
            pair = numbers.get(parts)
            if pair is None:
                pair = self._new(parts)
            if pair:
                counts[pair] += weight
                where[pair].add(number)
                moved.add(pair)

    def _new(self, parts: tuple[int, int]) -> int:
        """Return the number of a pair that has not occurred; 0 for a boundary."""
        self._numbers[parts] = number = 0 if BOUNDARY in parts else len(self.counts)
        if number:
            self.left.append(parts[0])
            self.right.append(parts[1])
            self.counts.append(0)
            self._where.append(set())
            if self._by_token is not None:
                self._by_token.setdefault(self.token(number), []).append(number)
        return number

    def replace(self, number: int, old: Sequence[int], new: Sequence[int], start: int, end: int) -> None:
        """Count a word that changed: the pairs of unchanged neighbors are as before, if places overlap."""
        if self._overlapping:
            start, end = start - 1 if start else 0, end - 1 if end else 0
            old, new = old[start : len(old) - end], new[start : len(new) - end]
        weight, counts, numbers, moved = self._layout.weights[number], self.counts, self._numbers, self.moved
        for parts in self._pairs_of(old):
            if pair := numbers[parts]:
                counts[pair] -= weight
                moved.add(pair)
        self.add(number, new)

    def rewrite(self, event: Event) -> tuple[Iterable[int], Rewrite]:
        """Return the words that may hold the pair of an event, and the function that merges it there."""
        left, right = event.parts
        return self._where[self._numbers.get((left, right), 0)], partial(_merge, left, right, event.symbol)

    def falls(self, words: Mapping[int, Sequence[int]]) -> Mapping[int, int]:
        """Return by how much counts fell since words, by their numbers, were as they are here."""
        falls: Counter[int] = Counter()
        for number, old in words.items():
            weight = self._layout.weights[number]
            for parts in self._pairs_of(old):
                falls[self._numbers[parts]] += weight
            for parts in self._pairs_of(self._layout.words[number]):
                falls[self._numbers[parts]] -= weight
        return falls

    # ---- what candidates are compared by

    def first_place(self, pair: int) -> int:
        """The first place of a pair; the end of the corpus if it occurs nowhere."""
        parts, words = (self.left[pair], self.right[pair]), self._layout.words
        for number in sorted(self._where[pair]):
            for at, here in enumerate(pairwise(words[number])):
                if here == parts:
                    return self._layout.place(number, at)
        return self._layout.end

    def compared(self, pair: int) -> tuple[bytes, bytes]:
        """The parts of a pair."""
        pieces = self._layout.pieces
        return pieces[self.left[pair]], pieces[self.right[pair]]

    def ids(self, pair: int) -> tuple[int, int]:
        """The ids of the parts."""
        return self._layout.id_of(self.left[pair]), self._layout.id_of(self.right[pair])

    def units(self, pair: int) -> int:
        """The units of both parts."""
        return self._layout.length[self.left[pair]] + self._layout.length[self.right[pair]]

    def token(self, pair: int) -> bytes:
        """The bytes of both parts."""
        pieces = self._layout.pieces
        return pieces[self.left[pair]] + pieces[self.right[pair]]

    # ---- answers

    def order_by(self, rule: Callable[[Spelling], Key]) -> Key:
        """Return the key of a tie rule."""
        return rule(self)

    def spells(self, pair: int, parts: tuple[bytes, ...]) -> bool:
        """Return whether a pair has these parts."""
        return self.compared(pair) == parts

    def find(self, parts: tuple[bytes, ...]) -> Iterable[int]:
        """Return the pairs of these parts: several symbols may be spelled alike."""
        return (pair for pair in range(1, len(self.counts)) if self.compared(pair) == parts)

    def with_token(self, text: bytes) -> Sequence[int]:
        """Return the pairs whose token is a text."""
        if self._by_token is None:
            self._by_token = {}
            for pair in range(1, len(self.counts)):
                self._by_token.setdefault(self.token(pair), []).append(pair)
        return self._by_token.get(text, ())

    def replaced(self, pair: int) -> int:
        """Return the weight of the places that a merge would replace: places do not overlap then."""
        left, right = self.left[pair], self.right[pair]
        if left != right:
            return self.counts[pair]
        words, weights = self._layout.words, self._layout.weights
        return sum(_merge(left, right, left, words[word])[1] * weights[word] for word in self._where[pair])

    def with_symbol(self, symbol: int) -> Iterator[int]:
        """Return the pairs that a symbol is a part of, as far as they occur."""
        for number in self._layout.holding[symbol]:
            for parts in pairwise(self._layout.words[number]):
                if symbol in parts:
                    yield self._numbers[parts]

    def row(self, pair: int, before: int | None) -> Pair:
        """Return a pair with its figures."""
        left, right, uses = self.left[pair], self.right[pair], self._layout.uses
        return Pair(left, right, self.counts[pair], before, uses[left], uses[right])

    def forget(self, size: int) -> None:
        """Forget the pairs of symbols from a number on."""
        stays = [0, *(
            pair for pair in range(1, len(self.counts)) if max(self.left[pair], self.right[pair]) < size
        )]
        if len(stays) == len(self.counts):
            return
        number_of = {pair: number for number, pair in enumerate(stays)}
        self.left, self.right, self.counts = (
            [numbers[pair] for pair in stays] for numbers in (self.left, self.right, self.counts)
        )
        self._where = [self._where[pair] for pair in stays]
        self.worths, self._by_token = self.counts, None
        self._numbers = {
            parts: number_of[pair] for parts, pair in self._numbers.items() if pair in number_of
        }

    def over(self, layout: Layout) -> Self:
        """Return a copy of the table for a copy of its layout."""
        other = copy.copy(self)
        other._layout, other.left, other.right = layout, self.left[:], self.right[:]
        other.counts, other._numbers, other.moved = self.counts[:], dict(self._numbers), set()
        other._by_token = None
        other.worths, other._where = other.counts, [set(words) for words in self._where]
        return other

    def memory(self) -> int:
        """Return the size of the table, in numbers of eight bytes."""
        return sum(8 + 4 * len(words) for words in self._where)


def _disjoint_pairs(word: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Return the places of pairs; of a run of one symbol every other one."""
    last = -2
    for at, pair in enumerate(pairwise(word)):
        if pair[0] == pair[1] and last == at - 1 and word[at - 1] == pair[0]:
            last = -2
            continue
        last = at
        yield pair


def _merge(left: int, right: int, symbol: int, word: list[int]) -> tuple[list[int], int, int, int]:
    """Merge a pair from left to right; a `Rewrite` once the symbols are given."""
    out: list[int] = []
    at, copied, places, start, last = -1, 0, 0, 0, len(word) - 1
    for _ in range(word.count(left)):
        at = word.index(left, at + 1)
        if copied <= at < last and word[at + 1] == right:
            out += word[copied:at]
            out.append(symbol)
            copied, places, start = at + 2, places + 1, start if places else at
    out += word[copied:]
    return out, places, start, len(word) - copied


def _split(symbol: int, parts: tuple[int, ...], word: list[int]) -> tuple[list[int], int, int, int]:
    """Replace a symbol by parts; a `Rewrite` once the symbols are given."""
    places = word.count(symbol)
    if not places:
        return word, 0, 0, 0
    out: list[int] = []
    for other in word:
        if other == symbol:
            out += parts
        else:
            out.append(other)
    at = word.index(symbol)
    return out, places, at, len(word) - at - 1 if places == 1 else 0
