"""The corpus of an event training: distinct words as lists of symbols, and the candidates in them.

`Layout` applies events to the words and undoes them. It passes each change of a word to its table, which
counts candidates: `PairTable` counts pairs of neighbors, `ngrams.NGramTable` n-grams. A table subtracts the
candidates of the old word from its counts and adds those of the new one, so that every count equals that of a
recount. Words are known by their index in order of first appearance.
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
from tokentui.learn.bases import BOUNDARY, WEIGHTS, barriers, base_units, tokens_of, totals_of
from tokentui.learn.engine import Pair
from tokentui.learn.event_candidates import Candidates, CandidateTable, Rewrite
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
        barred: The number of tokens of units that nothing merges with, by weight.
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
        """The indexes of the words in which each symbol has occurred."""
        self.log: list[tuple[int, list[int]]] = []
        """Each change of a word: its index, and its symbols before."""
        adds = [holders.add for holders in self.holding]
        for index, (word, weight) in enumerate(zip(words, weights, strict=True)):
            for symbol in word:
                if symbol >= 0:
                    uses[symbol] += weight
                    adds[symbol](index)
        self.tokens = sum(uses) + barred
        """The length of the corpus in tokens, by weight."""
        sizes = (sum(length[symbol] if symbol >= 0 else 1 for symbol in word) for word in words)
        self._starts = list(accumulate(sizes, initial=0))
        """The place of the first unit of each word in the corpus, in units, and the end of the corpus."""

    def follow(self, table: CandidateTable) -> None:
        """Count the candidates of all words into a table, and keep it up to date from now on."""
        self.table = table
        for index, word in enumerate(each(self.words, len(self.words))):
            table.add(index, word)

    # ---- events

    def apply(self, event: Event) -> Event:
        """Apply an event to every word, and log the words that change.

        A merge adds its symbol. Events that are no merge, cover, split or break change nothing.

        Returns the event with the number of places that it replaced, by weight.
        """
        indexes: Iterable[int]
        if event.kind in (EventKind.MERGE, EventKind.COVER):
            self.add_symbol(event.symbol, sum(self.length[part] for part in event.parts))
            indexes, rewrite = self.table.rewrite(event)
        elif event.kind in (EventKind.SPLIT, EventKind.BREAK):
            indexes, rewrite = self.holding[event.symbol], partial(_split, event.symbol, event.parts)
        else:
            return event._replace(replaced=0)
        replaced, words, weights, log = 0, self.words, self.weights, self.log
        for index in sorted(indexes):
            old = words[index]
            new, places, start, end = rewrite(old)
            if places:
                replaced += places * weights[index]
                log.append((index, old))
                self._replace(index, new, start, end)
        return event._replace(replaced=replaced)

    def add_symbol(self, symbol: int, length: int) -> None:
        """Add a symbol of `length` units without any uses. Does nothing if the symbol is known."""
        while len(self.length) <= symbol:
            self.length.append(length)
            self.uses.append(0)
            self.holding.append(set())

    def _replace(self, index: int, new: list[int], start: int, end: int) -> None:
        """Replace the symbols of a word. Its first `start` and its last `end` symbols stay as they were."""
        old, weight, uses, holding = self.words[index], self.weights[index], self.uses, self.holding
        for symbol in old[start : len(old) - end]:
            if symbol >= 0:
                uses[symbol] -= weight
        for symbol in new[start : len(new) - end]:
            if symbol >= 0:
                uses[symbol] += weight
                holding[symbol].add(index)
        self.tokens += weight * (len(new) - len(old))
        self.words[index] = new
        self.table.replace(index, old, new, start, end)

    @property
    def mark(self) -> int:
        """The length of the log, to go back to with `undo`."""
        return len(self.log)

    def work(self, mark: int) -> int:
        """Return the number of changes of words since the log had the length `mark`."""
        return len(self.log) - mark

    def undo(self, mark: int, events: Sequence[Event] = ()) -> None:
        """Undo the changes of words since the log had the length `mark`, the last one first.

        The symbols that events added stay. `events` is ignored; other corpora need them.
        """
        while len(self.log) > mark:
            index, old = self.log.pop()
            new = self.words[index]
            most, start, end = min(len(old), len(new)), 0, 0
            while start < most and old[start] == new[start]:
                start += 1
            while end < most - start and old[-1 - end] == new[-1 - end]:
                end += 1
            self._replace(index, old, start, end)

    def since(self, mark: int) -> dict[int, list[int]]:
        """Return the words that changed since the log had the length `mark`: their symbols then, by index."""
        first: dict[int, list[int]] = {}
        for index, old in self.log[mark:]:
            first.setdefault(index, old)
        return first

    def changed(self, mark: int) -> set[int]:
        """Return the indexes of the words that differ now from when the log had the length `mark`."""
        return {index for index, old in self.since(mark).items() if old != self.words[index]}

    def use_changes(
        self, mark: int, events: Sequence[Event] = (), weights: Sequence[int] = ()
    ) -> Counter[int]:
        """Return by how much the uses of each symbol changed since the log had the length `mark`.

        Args:
            mark: The length of the log.
            events: Ignored; other corpora need them.
            weights: The weight of each word; empty for the layout's own weights.
        """
        changes: Counter[int] = Counter()
        weights = weights or self.weights
        for index, old in self.since(mark).items():
            for symbol in old:
                changes[symbol] -= weights[index]
            for symbol in self.words[index]:
                changes[symbol] += weights[index]
        return changes

    @property
    def shown_uses(self) -> Sequence[int]:
        """The uses of each symbol as people see them, by weight: here the same as `uses`."""
        return self.uses

    # ---- places

    def symbols(self, index: int) -> Sequence[int]:
        """Return the present symbols of a word, by its index; `BOUNDARY` for a unit that nothing merges
        with."""
        return self.words[index]

    def candidates(self, material: Material) -> Candidates:
        """Return the candidates of the table, in the order that a recipe gives them."""
        return Candidates(self.table, self.since, material.recipe, material.objective.filters)

    def place(self, index: int, at: int) -> int:
        """Return where the symbol at a place of a word starts, in units from the start of the corpus."""
        ahead = self.words[index][:at]
        return self._starts[index] + sum(self.length[symbol] if symbol >= 0 else 1 for symbol in ahead)

    @property
    def end(self) -> int:
        """The end of the corpus: the number of units of all words."""
        return self._starts[-1]

    # ---- copies

    def copy(self) -> Layout:
        """Return an independent copy of the layout and its table."""
        other = copy.copy(self)
        other.words, other.log = self.words[:], self.log[:]
        other.length, other.uses = self.length[:], self.uses[:]
        other.holding = [set(words) for words in self.holding]
        other.table = self.table.copy_for(other)
        return other

    def forget(self, vocabulary: EventVocabulary) -> None:
        """Use this vocabulary from now on, and drop the symbols that it does not have: the newest."""
        self.use_vocabulary(vocabulary)
        size = len(self.pieces)
        del self.uses[size:], self.length[size:], self.holding[size:]
        self.table.forget(size)

    def use_vocabulary(self, vocabulary: EventVocabulary) -> None:
        """Read pieces and ids from this vocabulary from now on."""
        self.vocabulary = vocabulary
        self.pieces, self.id_of = vocabulary.pieces, vocabulary.order.__getitem__

    def memory(self) -> int:
        """Return the size of words, log and table, in numbers of eight bytes."""
        words = sum(len(word) + 7 for word in self.words) + sum(len(old) + 7 for _, old in self.log)
        return words + self.table.memory()


def lay_out(
    material: Material, texts: Sequence[str], weights: Sequence[int]
) -> tuple[EventVocabulary, Layout]:
    """Return a vocabulary of units, and a layout of distinct texts in them that has no table yet.

    Args:
        material: Its recipe and run make the vocabulary. Its words are not used.
        texts: The distinct texts.
        weights: The weight of each.
    """
    recipe, run = material.recipe, material.run
    cut = Pretokenizer(recipe).units
    units = [cut(text) for text in each(texts, len(texts))]
    totals = totals_of(units, weights)
    barred = barriers(totals, recipe)
    base = base_units(recipe, {unit: totals[unit] for unit in totals if unit not in barred})
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
    """Return a vocabulary of units, and a layout of the words of a material that has no table yet."""
    words, weigh = material.words, WEIGHTS.of(material.recipe.weight).of
    return lay_out(material, words.words, weigh(words.counts))


class PairTable:
    """The counts of the pairs of neighboring symbols of a layout; see `candidates.CandidateTable`.

    Pairs are numbered from 1 in the order in which they first occur.

    Args:
        layout: The layout, which has to `follow` the table.
        overlapping: Whether overlapping places count: in "aaa" the pair of two a then occurs twice. Otherwise
            every other place of such a run counts.
    """

    def __init__(self, layout: Layout, overlapping: bool = True) -> None:
        self._layout, self._overlapping = layout, overlapping
        self.left, self.right, self.counts = [BOUNDARY], [BOUNDARY], [0]
        self.worths, self.changed = self.counts, set[int]()
        self.method_allows: Callable[[list[int]], list[int]] = lambda pairs: pairs
        self._numbers: dict[tuple[int, int], int] = {}
        """The number of each pair that has occurred; 0 for a pair with a boundary."""
        self._where: list[set[int]] = [set()]
        """The indexes of the words in which each pair has occurred."""
        self._by_token: dict[bytes, list[int]] | None = None
        """The pairs that make each token; None before the first call of `pairs_making`."""
        self._pairs_of: Callable[[Sequence[int]], Iterable[tuple[int, int]]] = (
            pairwise if overlapping else _disjoint_pairs
        )

    # ---- counting

    def add(self, index: int, word: Sequence[int]) -> None:
        """Add the pairs of a word to the counts."""
        weight = self._layout.weights[index]
        counts, where, numbers, changed = self.counts, self._where, self._numbers, self.changed
        for parts in self._pairs_of(word):
            pair = numbers.get(parts)
            if pair is None:
                pair = self._new(parts)
            if pair:
                counts[pair] += weight
                where[pair].add(index)
                changed.add(pair)

    def _new(self, parts: tuple[int, int]) -> int:
        """Give a pair that has not occurred before a number. Return it; 0 for a pair with a boundary."""
        self._numbers[parts] = pair = 0 if BOUNDARY in parts else len(self.counts)
        if pair:
            self.left.append(parts[0])
            self.right.append(parts[1])
            self.counts.append(0)
            self._where.append(set())
            if self._by_token is not None:
                self._by_token.setdefault(self.token(pair), []).append(pair)
        return pair

    def replace(self, index: int, old: Sequence[int], new: Sequence[int], start: int, end: int) -> None:
        """Subtract the pairs of the old symbols of a word from the counts, and add those of the new ones.

        Args:
            index: The index of the word.
            old, new: Its symbols before and now.
            start, end: How many symbols at its front and at its back are the same in both.
        """
        if self._overlapping:  # the pairs of unchanged symbols stay the same
            start, end = start - 1 if start else 0, end - 1 if end else 0
            old, new = old[start : len(old) - end], new[start : len(new) - end]
        weight, counts = self._layout.weights[index], self.counts
        numbers, changed = self._numbers, self.changed
        for parts in self._pairs_of(old):
            if pair := numbers[parts]:
                counts[pair] -= weight
                changed.add(pair)
        self.add(index, new)

    def rewrite(self, event: Event) -> tuple[Iterable[int], Rewrite]:
        """Return the indexes of the words that may contain the pair of an event, and the function that
        merges it.

        There are no words if the pair has never occurred.
        """
        left, right = event.parts
        return self._where[self._numbers.get((left, right), 0)], partial(_merge, left, right, event.symbol)

    def count_drops(self, words: Mapping[int, Sequence[int]]) -> Mapping[int, int]:
        """Return by how much the count of each pair fell since some words changed; negative if it rose.

        Args:
            words: The earlier symbols of each word that changed, by its index.
        """
        drops: Counter[int] = Counter()
        for index, old in words.items():
            weight = self._layout.weights[index]
            for parts in self._pairs_of(old):
                drops[self._numbers[parts]] += weight
            for parts in self._pairs_of(self._layout.words[index]):
                drops[self._numbers[parts]] -= weight
        return drops

    # ---- what candidates are compared by

    def first_place(self, pair: int) -> int:
        """Return the first place of a pair; the end of the corpus if it occurs nowhere."""
        parts, words = (self.left[pair], self.right[pair]), self._layout.words
        for index in sorted(self._where[pair]):
            for at, here in enumerate(pairwise(words[index])):
                if here == parts:
                    return self._layout.place(index, at)
        return self._layout.end

    def compared(self, pair: int) -> tuple[bytes, bytes]:
        """Return the parts of a pair, which tie rules compare."""
        pieces = self._layout.pieces
        return pieces[self.left[pair]], pieces[self.right[pair]]

    def ids(self, pair: int) -> tuple[int, int]:
        """Return the ids of the parts of a pair."""
        return self._layout.id_of(self.left[pair]), self._layout.id_of(self.right[pair])

    def units(self, pair: int) -> int:
        """Return the number of units of the token that a pair makes."""
        return self._layout.length[self.left[pair]] + self._layout.length[self.right[pair]]

    def token(self, pair: int) -> bytes:
        """Return the bytes of the token that a pair makes."""
        pieces = self._layout.pieces
        return pieces[self.left[pair]] + pieces[self.right[pair]]

    # ---- answers

    def order_by(self, rule: Callable[[Spelling], Key]) -> Key:
        """Return the key by which a tie rule orders pairs."""
        return rule(self)

    def spells(self, pair: int, parts: tuple[bytes, ...]) -> bool:
        """Return whether the parts of a pair have these bytes."""
        return self.compared(pair) == parts

    def find(self, parts: tuple[bytes, ...]) -> Iterable[int]:
        """Return the pairs, among all that have occurred, whose parts have these bytes.

        Several symbols may have the same bytes.
        """
        return (pair for pair in range(1, len(self.counts)) if self.compared(pair) == parts)

    def pairs_making(self, text: bytes) -> Sequence[int]:
        """Return the pairs, among all that have occurred, that make a token of these bytes."""
        if self._by_token is None:
            self._by_token = {}
            for pair in range(1, len(self.counts)):
                self._by_token.setdefault(self.token(pair), []).append(pair)
        return self._by_token.get(text, ())

    def replaced(self, pair: int) -> int:
        """Return how many places a merge of a pair would replace, by weight. Overlapping ones count once."""
        left, right = self.left[pair], self.right[pair]
        if left != right:
            return self.counts[pair]
        words, weights = self._layout.words, self._layout.weights
        return sum(_merge(left, right, left, words[word])[1] * weights[word] for word in self._where[pair])

    def pairs_containing(self, symbol: int) -> Iterator[int]:
        """Yield the pair of each place in the corpus that has a symbol as one of its parts.

        A pair is repeated for each of its places. It is 0 if the other part is a boundary.
        """
        for index in self._layout.holding[symbol]:
            for parts in pairwise(self._layout.words[index]):
                if symbol in parts:
                    yield self._numbers[parts]

    def row(self, pair: int, before: int | None) -> Pair:
        """Return a pair with its figures. `before` is its count before the last step."""
        left, right, uses = self.left[pair], self.right[pair], self._layout.uses
        return Pair(left, right, self.counts[pair], before, uses[left], uses[right])

    def forget(self, size: int) -> None:
        """Drop the pairs of symbols numbered `size` or more, and renumber the others in the same order."""
        kept = [0, *(
            pair for pair in range(1, len(self.counts)) if max(self.left[pair], self.right[pair]) < size
        )]
        if len(kept) == len(self.counts):
            return
        number_of = {pair: number for number, pair in enumerate(kept)}
        self.left, self.right, self.counts = (
            [numbers[pair] for pair in kept] for numbers in (self.left, self.right, self.counts)
        )
        self._where = [self._where[pair] for pair in kept]
        self.worths, self._by_token = self.counts, None
        self._numbers = {
            parts: number_of[pair] for parts, pair in self._numbers.items() if pair in number_of
        }

    def copy_for(self, layout: Layout) -> Self:
        """Return an independent copy of the table, which counts the words of another layout."""
        other = copy.copy(self)
        other._layout, other.left, other.right = layout, self.left[:], self.right[:]
        other.counts, other._numbers, other.changed = self.counts[:], dict(self._numbers), set()
        other._by_token = None
        other.worths, other._where = other.counts, [set(words) for words in self._where]
        return other

    def memory(self) -> int:
        """Return the size of the table, in numbers of eight bytes."""
        return sum(8 + 4 * len(words) for words in self._where)


def _disjoint_pairs(word: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of neighbors in a word; of a run of one symbol only every other pair."""
    last = -2
    for at, pair in enumerate(pairwise(word)):
        if pair[0] == pair[1] and last == at - 1 and word[at - 1] == pair[0]:
            last = -2
            continue
        last = at
        yield pair


def _merge(left: int, right: int, symbol: int, word: list[int]) -> tuple[list[int], int, int, int]:
    """Merge a pair into a symbol, from left to right. With all but `word` bound it is a `Rewrite`.

    Returns a new list, the number of merged places, and how many symbols at the front and at the back did not
    change. If no place was merged, the last two mean nothing.
    """
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
    """Replace each place of a symbol by parts. With all but `word` bound it is a `Rewrite`.

    Returns the new list, the number of replaced places, and how many symbols at the front and at the back did
    not change; at the back 0 if there are several places. Without a place it returns `word` itself.
    """
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
