"""The corpus of an event training: distinct words as lists of symbols, and the candidates in them.

`Layout` applies events to the words and undoes them. For each word that changes it subtracts the candidates
of the old word from its counts and adds those of the new one, so that every count equals that of a recount.
What a candidate is says an `NGrams`: a pair (`Pairs`), a run of tokens or a text (`length_max`, `greedtok`).
The candidate of the greatest worth comes first, and equal ones in the order of the tie rule. `Layout.best`
keeps that order at the furthest step that was made. `Layout.top` sorts the counts of any step anew, so that a
step back has no order to update. Words are known by their index in order of first appearance.
"""

from __future__ import annotations

import copy
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

from tokentui.core.jobs import each, in_blocks
from tokentui.encode.events import Event, EventKind, EventVocabulary
from tokentui.learn.bases import BOUNDARY, FILTERS, WEIGHTS, barriers, base_units, tokens_of, totals_of
from tokentui.learn.engine import Constraints, Ranked
from tokentui.learn.ngrams import NGram, Pair
from tokentui.learn.objectives import Material
from tokentui.learn.ranking import TIES, Key, Queue, best_in_order
from tokentui.text.pretokenize import Pretokenizer

Share = tuple[int, int]
"""The part of one word in the figures of a candidate, without the weight of the word: the number of its
places, and its worth."""
Rewritten = tuple[list[int], int, int, int]
"""A word after an event: its symbols, the number of places that the event replaced, and how many symbols at
the front and at the back are known to be unchanged."""


class NGrams:
    """What the candidates of a layout are: n-grams of two or more neighboring symbols of a word.

    A candidate is known by a key, here the tuple of its symbols. A subclass says in `shares` which n-grams a
    word has. One whose keys are no symbols says also what a key means. Tie rules compare an n-gram as a
    whole: its text if they compare texts, all of its ids if they compare ids.
    """

    by_count = False
    """True if the worth of a candidate is its count, and no two candidates have one text."""

    def shares(self, layout: Layout, word: Sequence[int]) -> Mapping[Any, Share]:
        """Return the share of a word in each n-gram that occurs in it, by the key of the n-gram."""
        raise NotImplementedError

    def recount(
        self, layout: Layout, index: int, old: Sequence[int], new: Sequence[int], start: int = 0, end: int = 0
    ) -> None:
        """Subtract the candidates of a word as it was from the counts, and add those of the word as it is.

        Args:
            layout: The layout.
            index: The index of the word.
            old, new: Its symbols before and now.
            start, end: How many symbols at its front and at its back are the same in both.
        """
        before, after = self.shares(layout, old), self.shares(layout, new)
        layout.add(index, {key: share for key, share in before.items() if after.get(key) != share}, -1)
        layout.add(index, {key: share for key, share in after.items() if before.get(key) != share}, 1)

    def end(self, layout: Layout, key: Any, word: Sequence[int], at: int) -> int:
        """Return the place after an n-gram in a word, 0 if the n-gram does not start at `at`."""
        end = at + len(key)
        return end if word[at] == key[0] and tuple(word[at:end]) == key else 0

    def merge(self, layout: Layout, key: Any, symbol: int, word: list[int]) -> Rewritten:
        """Merge an n-gram into a symbol everywhere in a word, from left to right."""
        out, at, places = list[int](), 0, 0
        while at < len(word):
            if end := self.end(layout, key, word, at):
                out.append(symbol)
                at, places = end, places + 1
            else:
                out.append(word[at])
                at += 1
        return out, places, 0, 0

    def text(self, layout: Layout, key: Any) -> bytes:
        """Return the text that the tokens of an n-gram spell one after another."""
        return b"".join([layout.pieces[symbol] for symbol in key])

    def compared(self, layout: Layout, key: Any) -> tuple[bytes, ...]:
        """Return the texts that tie rules compare."""
        return (self.text(layout, key),)

    def symbols(self, layout: Layout, candidate: int) -> tuple[int, ...]:
        """Return the symbols of a candidate: if they differ by place, those of its first place."""
        symbols: tuple[int, ...] = layout.keys[candidate]
        return symbols

    def key(self, layout: Layout, event: Event) -> Any:
        """Return the key of the n-gram that an event makes a token of."""
        return event.parts

    def spells(self, layout: Layout, key: Any, parts: tuple[bytes, ...]) -> bool:
        """Return whether a what-if that names these parts means an n-gram."""
        return tuple([layout.pieces[symbol] for symbol in key]) == parts

    def outlives(self, key: Any, size: int) -> bool:
        """Return whether a key stays valid when the symbols numbered `size` or more are forgotten."""
        return all(symbol < size for symbol in key)

    def row(self, layout: Layout, candidate: int, before: int | None) -> Pair | NGram:
        """Return a candidate with its figures. `before` is its count before the last step."""
        return NGram(layout.parts(candidate), layout.counts[candidate], before, layout.worths[candidate])


class Pairs(NGrams):
    """Pairs of neighboring symbols, by their counts.

    Args:
        overlapping: Whether overlapping places count: in "aaa" the pair of two a then occurs twice. Otherwise
            every other place of such a run counts.
    """

    by_count = True

    def __init__(self, overlapping: bool = True) -> None:
        self._overlapping = overlapping
        self._pairs_of: Callable[[Sequence[int]], Iterable[tuple[int, int]]] = (
            pairwise if overlapping else _disjoint_pairs
        )

    def shares(self, layout: Layout, word: Sequence[int]) -> Mapping[tuple[int, int], Share]:
        """Return the number of places of each pair in a word, which is its worth too."""
        places = Counter(self._pairs_of(word))
        return {pair: (count, count) for pair, count in places.items() if BOUNDARY not in pair}

    def recount(
        self, layout: Layout, index: int, old: Sequence[int], new: Sequence[int], start: int = 0, end: int = 0
    ) -> None:
        """Subtract the pairs of a word as it was from the counts, and add those of the word as it is."""
        if self._overlapping:  # the pairs of unchanged symbols stay the same
            start, end = start - 1 if start else 0, end - 1 if end else 0
            old, new = old[start : len(old) - end], new[start : len(new) - end]
        weight, number_of, changed = layout.weights[index], layout.number_of, layout.changed
        counts, words_of = layout.counts, layout.words_of
        for pair in self._pairs_of(old):
            if number := number_of.get(pair):
                counts[number] -= weight
                changed.add(number)
        for pair in self._pairs_of(new):
            number = number_of.get(pair)
            if number is None:
                if BOUNDARY in pair:
                    continue
                number = layout.number(pair)
            counts[number] += weight
            changed.add(number)
            words = words_of[number]
            if not words or words[-1] < index:
                words.append(index)
            elif words[-1] != index and words[at := bisect_left(words, index)] != index:
                words.insert(at, index)

    def merge(self, layout: Layout, key: tuple[int, int], symbol: int, word: list[int]) -> Rewritten:
        """Merge a pair into a symbol everywhere in a word, from left to right."""
        (left, right), out = key, list[int]()
        at, copied, places, start, last = -1, 0, 0, 0, len(word) - 1
        for _ in range(word.count(left)):
            at = word.index(left, at + 1)
            if copied <= at < last and word[at + 1] == right:
                out += word[copied:at]
                out.append(symbol)
                copied, places, start = at + 2, places + 1, start if places else at
        out += word[copied:]
        return out, places, start, len(word) - copied

    def compared(self, layout: Layout, key: tuple[int, int]) -> tuple[bytes, bytes]:
        """Return the parts of a pair, which tie rules compare."""
        return layout.pieces[key[0]], layout.pieces[key[1]]

    def row(self, layout: Layout, candidate: int, before: int | None) -> Pair:
        """Return a pair with its figures. `before` is its count before the last step."""
        left, right = layout.keys[candidate]
        return Pair(left, right, layout.counts[candidate], before, layout.uses[left], layout.uses[right])


class Layout:
    """Distinct words as lists of symbols, and their candidates, which are numbered from 1.

    Args:
        material: The recipe gives the tie rule and the filter of pieces, and its objective whether a least
            count decides what `best` chooses, rather than only ending the run.
        kind: What is a candidate.
        words: The symbols of each word; `BOUNDARY` for a unit that nothing merges with.
        weights: The weight of each word.
        pieces: The exact bytes of each symbol. The list grows with the vocabulary.
        id_of: Returns the id of a symbol.
        length: The units of each symbol.
        barred: The number of tokens of units that nothing merges with, by weight.
    """

    vocabulary: EventVocabulary
    """The vocabulary of the symbols; a layout of rows has none."""
    key: Key
    """Returns what the tie rule compares of a candidate."""
    _queue: Queue | None
    """The candidates at the furthest step; None until they are asked for."""
    _within_limits: dict[int, bool]
    """What `_meets_limits` returned, by candidate."""

    def __init__(
        self, material: Material, kind: NGrams, words: list[list[int]], weights: list[int],
        pieces: list[bytes], id_of: Callable[[int], int], length: list[int], barred: int = 0,
    ) -> None:
        self.kind, self._filters = kind, material.objective.filters
        self._rule, self._allows = TIES.of(material.recipe.tie).key, FILTERS.of(material.recipe.pieces).allows
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
        self.keys: list[Any] = [()]
        """The key of each candidate that has occurred."""
        self.counts = [0]
        """The places of each candidate by weight; 0 for one that occurs nowhere now."""
        self.worths = self.counts if kind.by_count else [0]
        """The value that each candidate is ordered by."""
        self.changed = set[int]()
        """The candidates whose count or worth has changed since `best` has read them."""
        self.method_allows: Callable[[list[int]], list[int]] = lambda candidates: candidates
        """Returns those of some candidates that the method allows at present."""
        self.number_of: dict[Any, int] = {}
        self.words_of: list[list[int]] = [[]]
        """The indexes of the words in which each candidate has occurred, ascending."""
        self._by_token: dict[bytes, list[int]] | None = None
        """The candidates that make each token; None before the first call of `making`."""
        self._limits: tuple[int | None, frozenset[tuple[bytes, ...]]] = (None, frozenset())
        for index, word in enumerate(each(words, len(words))):
            kind.recount(self, index, (), word)
        self.reorder()

    # ---- events

    def apply(self, event: Event) -> Event:
        """Apply an event to every word, and log the words that change.

        A merge adds its symbol. Events that are no merge, cover, split or break change nothing.

        Returns the event with the number of places that it replaced, by weight.
        """
        indexes: Iterable[int]
        rewrite: Callable[[list[int]], Rewritten]
        if event.kind in (EventKind.MERGE, EventKind.COVER):
            self.add_symbol(event.symbol, sum(self.length[part] for part in event.parts))
            key = self.kind.key(self, event)
            indexes = self.words_of[self.number_of.get(key, 0)].copy()
            rewrite = partial(self.kind.merge, self, key, event.symbol)
        elif event.kind in (EventKind.SPLIT, EventKind.BREAK):
            indexes, rewrite = sorted(self.holding[event.symbol]), partial(_split, event.symbol, event.parts)
        else:
            return event._replace(replaced=0)
        replaced, words, weights, log = 0, self.words, self.weights, self.log
        for index in indexes:
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
        self.kind.recount(self, index, old, new, start, end)

    def add(self, index: int, shares: Mapping[Any, Share], sign: int) -> None:
        """Add the shares of a word to the counts and worths, or subtract them if `sign` is -1."""
        weight, number_of, words_of = sign * self.weights[index], self.number_of, self.words_of
        counts, worths, changed = self.counts, self.worths, self.changed
        for key, (places, worth) in shares.items():
            number = number_of.get(key)
            if number is None:
                number = self.number(key)
            counts[number] += weight * places
            if worths is not counts:
                worths[number] += weight * worth
            changed.add(number)
            if sign > 0:
                words = words_of[number]
                if not words or words[-1] < index:
                    words.append(index)
                elif words[at := bisect_left(words, index)] != index:
                    words.insert(at, index)

    def number(self, key: Any) -> int:
        """Give a candidate that has not occurred before a number. Return it."""
        self.number_of[key] = number = len(self.keys)
        self.keys.append(key)
        self.counts.append(0)
        if self.worths is not self.counts:
            self.worths.append(0)
        self.words_of.append([])
        if self._by_token is not None:
            self._by_token.setdefault(self.token(number), []).append(number)
        return number

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

    def changed_words(self, mark: int) -> set[int]:
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

    def symbols(self, index: int) -> Sequence[int]:
        """Return the present symbols of a word, by its index; `BOUNDARY` for a unit that nothing merges
        with."""
        return self.words[index]

    # ---- what a tie rule compares

    def first_place(self, candidate: int) -> int:
        """Return the first place of a candidate, in units from the start of the corpus; the end of the corpus
        if it occurs nowhere."""
        first = self.first_word(candidate)
        if first is None:
            return self._starts[-1]
        index, at = first
        ahead = self.words[index][:at]
        return self._starts[index] + sum(self.length[symbol] if symbol >= 0 else 1 for symbol in ahead)

    def first_word(self, candidate: int) -> tuple[int, int] | None:
        """Return the index of the first word with a candidate, and the place there. None if it never
        occurs."""
        key, end = self.keys[candidate], self.kind.end
        for index in self.words_of[candidate]:
            word = self.words[index]
            for at in range(len(word)):
                if end(self, key, word, at):
                    return index, at
        return None

    def compared(self, candidate: int) -> tuple[bytes, ...]:
        """Return the texts that tie rules compare: the parts of a pair, the whole text of an n-gram."""
        return self.kind.compared(self, self.keys[candidate])

    def ids(self, candidate: int) -> tuple[int, ...]:
        """Return the ids of the symbols of a candidate."""
        return tuple(map(self.id_of, self.parts(candidate)))

    def units(self, candidate: int) -> int:
        """Return the number of units of the token that a candidate makes."""
        return sum(self.length[symbol] for symbol in self.parts(candidate))

    def token(self, candidate: int) -> bytes:
        """Return the bytes of the token that a candidate makes."""
        return self.kind.text(self, self.keys[candidate])

    def parts(self, candidate: int) -> tuple[int, ...]:
        """Return the symbols of a candidate: if they differ by place, those of its first place."""
        return self.kind.symbols(self, candidate)

    # ---- which candidates may be chosen

    def reorder(self, under: Constraints | None = None) -> None:
        """Order all candidates anew, under other constraints if there are any."""
        if under is not None:
            self._limits = under.max_length, under.forbidden
        self._within_limits, self._queue = {}, None
        self.key = key = self._rule(self)
        if not self.kind.by_count:
            self.key = lambda candidate: (key(candidate), self.parts(candidate))

    def values(self, candidates: Sequence[int]) -> list[int]:
        """Return what candidates are ordered by at the furthest step, the greatest first."""
        worths = self.worths
        return [worths[candidate] for candidate in candidates]

    def allowed(self, candidates: Iterable[int]) -> list[int]:
        """Return those of some candidates that have a worth and that recipe, limits and method allow."""
        worths, within = self.worths, self._within_limits
        allowed = [candidate for part in in_blocks(candidates) for candidate in part if worths[candidate] > 0]
        if self._allows is not None or self._limits != (None, frozenset()):
            for candidate in allowed:
                if candidate not in within:
                    within[candidate] = self._meets_limits(candidate)
            allowed = [candidate for candidate in allowed if within[candidate]]
        return self.method_allows(allowed)

    def _meets_limits(self, candidate: int) -> bool:
        """Return whether the recipe's filter of pieces and the constraints allow a candidate."""
        longest, forbidden = self._limits
        if longest is not None and self.units(candidate) > longest:
            return False
        if self._allows is None and not forbidden:
            return True
        token = self.token(candidate)
        return (
            (self._allows is None or self._allows(token))
            and (token,) not in forbidden
            and not any(self.spells(candidate, parts) for parts in forbidden if len(parts) > 1)
        )

    def spells(self, candidate: int, parts: tuple[bytes, ...]) -> bool:
        """Return whether a what-if that names these parts means a candidate."""
        return self.kind.spells(self, self.keys[candidate], parts)

    def find(self, parts: tuple[bytes, ...]) -> int:
        """Return the best candidate that occurs and that a what-if means which names these parts; 0 if there
        is none."""
        worths, counts = self.worths, self.counts
        matching = (number for number, count in enumerate(counts) if count and self.spells(number, parts))
        return min(matching, key=lambda candidate: (-worths[candidate], self.key(candidate)), default=0)

    def making(self, text: bytes) -> Sequence[int]:
        """Return the candidates, among all that have occurred, that make a token of these bytes."""
        if self._by_token is None:
            self._by_token = {}
            for candidate in range(1, len(self.keys)):
                self._by_token.setdefault(self.token(candidate), []).append(candidate)
        return self._by_token.get(text, ())

    # ---- the best candidates

    def best(self, under: Constraints) -> int:
        """Return the forced candidate if it occurs, otherwise the best one at the furthest step.

        Returns 0 if none may be chosen.
        """
        if (under.max_length, under.forbidden) != self._limits:
            self.reorder(under)
        least = under.min_count if self._filters else 1
        if self._queue is None or least != self._queue.least:
            self.changed = set(range(1, len(self.counts)))
            self._queue = Queue(self, least, by_count=self.kind.by_count)
        if self.changed:  # a step asks twice: whether there is a candidate, and which
            self._queue.update(self.changed, ())
            self.changed.clear()
        candidate = self._queue.best()
        if under.forced and (forced := self.find(under.forced)):
            self._queue.force(forced)
            return forced
        return candidate if self.counts[candidate] >= under.min_count else 0

    @property
    def tied(self) -> int:
        """The number of candidates that shared the greatest worth at the last call of `best`."""
        return 0 if self._queue is None else self._queue.tied

    @property
    def was_tied(self) -> bool:
        """True if another candidate had the same worth as the one that `best` returned last."""
        return self._queue is not None and self._queue.was_tied

    def row(self, candidate: int) -> Pair | NGram:
        """Return a candidate with its figures before the step that takes it."""
        return self.kind.row(self, candidate, self.counts[candidate])

    def top(self, under: Constraints, limit: int, mark: int) -> Ranked:
        """Return the best candidates at the current step, in order.

        Args:
            under: The constraints.
            limit: The most candidates to return.
            mark: The length of the log before the last step.
        """
        if (under.max_length, under.forbidden) != self._limits:
            self.reorder(under)
        counts = self.counts
        allowed = self.allowed([
            candidate for candidate, count in enumerate(counts) if candidate and count >= under.min_count
        ])
        values = self.values(allowed)
        forced = self.find(under.forced) if under.forced else 0
        best, total, equals = best_in_order(allowed, values, self.key, limit, forced)
        falls = self._falls(mark)
        rows = [self.kind.row(self, number, counts[number] + falls[number] or None) for number in best]
        tied = values.count(max(values, default=0))
        return Ranked(total, tied, self._replaced(best[0]) if best else 0, rows, equals)

    def _falls(self, mark: int) -> Counter[int]:
        """Return by how much the count of each candidate fell since a mark; negative if it rose."""
        falls: Counter[int] = Counter()
        for index, old in self.since(mark).items():
            weight = self.weights[index]
            for symbols, sign in ((old, weight), (self.words[index], -weight)):
                for key, (places, _) in self.kind.shares(self, symbols).items():
                    falls[self.number_of[key]] += sign * places
        return falls

    def _replaced(self, candidate: int) -> int:
        """Return by how many tokens a step of a candidate would make the corpus shorter."""
        key, merge = self.keys[candidate], partial(self.kind.merge, self, self.keys[candidate], BOUNDARY)
        if self.kind.by_count and key[0] != key[1]:  # no places overlap
            return self.counts[candidate]
        words = ((self.words[index], self.weights[index]) for index in self.words_of[candidate])
        return sum(weight * (len(word) - len(merge(word)[0])) for word, weight in words)

    # ---- copies

    def copy(self) -> Layout:
        """Return an independent copy of the layout, whose candidates are ordered when they are asked for."""
        other = copy.copy(self)
        other.words, other.log = self.words[:], self.log[:]
        other.length, other.uses = self.length[:], self.uses[:]
        other.holding = [set(words) for words in self.holding]
        other.keys, other.counts, other.changed = self.keys[:], self.counts[:], set()
        other.worths = other.counts if self.kind.by_count else self.worths[:]
        other.number_of, other._by_token = dict(self.number_of), None
        other.words_of = [words[:] for words in self.words_of]
        other.reorder()
        return other

    def forget(self, vocabulary: EventVocabulary) -> None:
        """Use this vocabulary from now on, and drop the symbols that it does not have, the newest, with their
        candidates. The others get new numbers in the same order."""
        self.use_vocabulary(vocabulary)
        size = len(self.pieces)
        del self.uses[size:], self.length[size:], self.holding[size:]
        outlives = self.kind.outlives
        kept = [0, *(number for number in range(1, len(self.keys)) if outlives(self.keys[number], size))]
        if len(kept) < len(self.keys):
            self.keys = [self.keys[number] for number in kept]
            self.words_of = [self.words_of[number] for number in kept]
            self.counts, worths = ([row[number] for number in kept] for row in (self.counts, self.worths))
            self.worths = self.counts if self.kind.by_count else worths
            self.number_of = {key: number for number, key in enumerate(self.keys) if number}
            self._by_token = None
        self.reorder()

    def use_vocabulary(self, vocabulary: EventVocabulary) -> None:
        """Read pieces and ids from this vocabulary from now on."""
        self.vocabulary = vocabulary
        self.pieces, self.id_of = vocabulary.pieces, vocabulary.order.__getitem__

    def memory(self) -> int:
        """Return the size of words, log and counts, in numbers of eight bytes."""
        words = sum(len(word) + 7 for word in self.words) + sum(len(old) + 7 for _, old in self.log)
        return words + 24 * len(self.counts) + sum(map(len, self.words_of))


def lay_out(
    material: Material, kind: NGrams, texts: Sequence[str] | None = None, weights: Sequence[int] = ()
) -> tuple[EventVocabulary, Layout]:
    """Return a vocabulary of units, and a layout of distinct texts in them.

    Args:
        material: Its recipe and run make the vocabulary.
        kind: What is a candidate.
        texts: The distinct texts; None for the words of the material.
        weights: The weight of each of the texts.
    """
    recipe, run = material.recipe, material.run
    if texts is None:
        texts, weights = material.words.words, WEIGHTS.of(recipe.weight).of(material.words.counts)
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
        material, kind, words, list(weights), vocabulary.pieces, vocabulary.order.__getitem__,
        [1] * vocabulary.base_size, tokens_of(barred, units, weights, recipe),
    )
    layout.use_vocabulary(vocabulary)
    return vocabulary, layout


def _split(symbol: int, parts: tuple[int, ...], word: list[int]) -> Rewritten:
    """Replace each place of a symbol by parts. Without a place it returns `word` itself."""
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


def _disjoint_pairs(word: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of neighbors in a word; of a run of one symbol only every other pair."""
    last = -2
    for at, pair in enumerate(pairwise(word)):
        if pair[0] == pair[1] and last == at - 1 and word[at - 1] == pair[0]:
            last = -2
            continue
        last = at
        yield pair


def segments(word: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield start and end of each longest part of a word without a boundary."""
    first = 0
    for at, symbol in enumerate((*word, BOUNDARY)):
        if symbol == BOUNDARY:
            if at > first:
                yield first, at
            first = at + 1
