"""N-grams of neighboring symbols as candidates, for GreedTok and Length-MAX.

An n-gram is known by a key, which its kind chooses: its symbols, or the text that they spell. It has a count,
which is the number of its places by weight, and a worth, by which n-grams are ordered. Tie rules look at an
n-gram as a whole: at its text if the rule compares texts, at all of its ids if it compares ids.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, Self

from tokentui.encode.events import Event, EventVocabulary
from tokentui.learn.bases import BOUNDARY
from tokentui.learn.engine import NGram, Pair
from tokentui.learn.event_candidates import Rewrite
from tokentui.learn.event_engine import EventEngine, MethodTraits
from tokentui.learn.layouts import Layout, lay_out_words
from tokentui.learn.objectives import Material
from tokentui.learn.ranking import Key, Spelling
from tokentui.learn.steps import Step


class Share(NamedTuple):
    """The part of one word in the figures of an n-gram, without the weight of the word.

    Attributes:
        places: The number of places in the word.
        saved: The number of tokens that merging them saves.
    """

    places: int
    saved: int


class NGramKind(Protocol):
    """A kind of n-gram: which ones a word has, where one ends, and what it is worth."""

    traits: MethodTraits

    def shares(self, layout: Layout, word: Sequence[int]) -> Mapping[Any, Share]:
        """Return the share of a word in each n-gram that occurs in it, by the key of the n-gram."""

    def end(self, layout: Layout, key: Any, word: Sequence[int], at: int) -> int:
        """Return the place after an n-gram in a word, 0 if the n-gram does not start at `at`."""

    def worth(self, layout: Layout, key: Any, share: Share) -> int:
        """Return how much a share adds to the worth of an n-gram, without the weight of the word."""

    def text(self, layout: Layout, key: Any) -> bytes:
        """Return the text that the tokens of an n-gram spell one after another."""

    def symbols(self, table: NGramTable, ngram: int) -> tuple[int, ...]:
        """Return the symbols of an n-gram: if they differ by place, those of its first place."""

    def key(self, layout: Layout, event: Event) -> Any:
        """Return the key of the n-gram that an event makes a token of."""

    def keys(self, layout: Layout, parts: tuple[bytes, ...]) -> Iterable[Any]:
        """Return the keys of the n-grams that match a what-if that names these parts."""

    def outlives(self, key: Any, size: int) -> bool:
        """Return whether a key stays valid when the symbols numbered `size` or more are forgotten."""

    def fact(self, best: NGram) -> str:
        """Return a sentence on the figures of the n-gram that the next step makes a token."""


class NGramMethod:
    """A method whose step makes a token of one n-gram, and nothing else; see `event_engine.Method`.

    Args:
        kind: The kind of n-gram.
    """

    def __init__(self, kind: NGramKind) -> None:
        self._kind, self.traits = kind, kind.traits

    def lay_out(self, material: Material) -> tuple[EventVocabulary, Layout]:
        """Lay out the words, and count the n-grams in them."""
        vocabulary, layout = lay_out_words(material)
        layout.follow(NGramTable(layout, self._kind))
        return vocabulary, layout

    def following(self, engine: EventEngine, merge: Event, taken: Pair | NGram) -> Iterator[Event]:
        """Return no events: a step is one event."""
        return iter(())

    def kind(self, events: Sequence[Event]) -> str:
        """Return the word for a step of this kind of n-gram."""
        return self.traits.step

    def facts(self, engine: EventEngine, best: Pair | NGram, replaced: int) -> list[str]:
        """Return a sentence on the best n-gram."""
        assert isinstance(best, NGram)
        return [self._kind.fact(best)]


class NGramTable:
    """The counts of the n-grams of a layout; see `candidates.CandidateTable`.

    Args:
        layout: The layout, which has to `follow` the table.
        kind: The kind of n-gram.
    """

    def __init__(self, layout: Layout, kind: NGramKind) -> None:
        self.layout, self.kind = layout, kind
        self.keys: list[Any] = [()]
        """The key of each n-gram that has occurred, by its number. Numbers start at 1."""
        self.counts, self.worths, self.changed = [0], [0], set[int]()
        self.method_allows: Callable[[list[int]], list[int]] = lambda ngrams: ngrams
        self._number_of: dict[Any, int] = {}
        self._words_of: list[list[int]] = [[]]
        """The indexes of the words in which each n-gram has occurred."""

    # ---- counting

    def add(self, index: int, word: Sequence[int]) -> None:
        """Add the n-grams of a word to the counts."""
        self._add(index, self.kind.shares(self.layout, word), 1)

    def replace(self, index: int, old: Sequence[int], new: Sequence[int], start: int, end: int) -> None:
        """Update the counts for a word that changed from `old` to `new`. `start` and `end` are ignored."""
        before, after = self.kind.shares(self.layout, old), self.kind.shares(self.layout, new)
        self._add(index, {key: share for key, share in before.items() if after.get(key) != share}, -1)
        self._add(index, {key: share for key, share in after.items() if before.get(key) != share}, 1)

    def _add(self, index: int, shares: Mapping[Any, Share], sign: int) -> None:
        """Add the shares of a word to the counts and worths, or subtract them if `sign` is -1."""
        weight, worth = sign * self.layout.weights[index], self.kind.worth
        counts, worths = self.counts, self.worths
        for key, share in shares.items():
            ngram = self._number_of.get(key)
            if ngram is None:
                self._number_of[key] = ngram = len(counts)
                self.keys.append(key)
                worths.append(0)
                self._words_of.append([])
                counts.append(0)
            counts[ngram] += weight * share.places
            worths[ngram] += weight * worth(self.layout, key, share)
            self.changed.add(ngram)
            if sign > 0 and (not (words := self._words_of[ngram]) or words[-1] != index):
                words.append(index)

    def rewrite(self, event: Event) -> tuple[Iterable[int], Rewrite]:
        """Return the words that may contain the n-gram of an event, and the function that merges it there.

        Raises:
            KeyError: The n-gram has never occurred.
        """
        key = self.kind.key(self.layout, event)
        return set(self._words_of[self._number_of[key]]), partial(self._merge, key, event.symbol)

    def _merge(self, key: Any, symbol: int, word: Sequence[int]) -> tuple[list[int], int, int, int]:
        """Merge an n-gram into a symbol, from left to right. With key and symbol bound it is a `Rewrite`.

        Returns a new list, the number of merged places, and 0, 0: no symbols are known to be unchanged.
        """
        out, at, places = list[int](), 0, 0
        while at < len(word):
            if end := self.kind.end(self.layout, key, word, at):
                out.append(symbol)
                at, places = end, places + 1
            else:
                out.append(word[at])
                at += 1
        return out, places, 0, 0

    def count_drops(self, words: Mapping[int, Sequence[int]]) -> Mapping[int, int]:
        """Return by how much the count of each n-gram fell since some words changed; negative if it rose.

        Args:
            words: The earlier symbols of each word that changed, by its index.
        """
        drops: Counter[int] = Counter()
        for index, old in words.items():
            weight = self.layout.weights[index]
            for symbols, sign in ((old, weight), (self.layout.words[index], -weight)):
                for key, share in self.kind.shares(self.layout, symbols).items():
                    drops[self._number_of[key]] += sign * share.places
        return drops

    # ---- what candidates are compared by

    def order_by(self, rule: Callable[[Spelling], Key]) -> Key:
        """Return the key of a tie rule, followed by the symbols: several n-grams may have one text."""
        key = rule(self)
        return lambda ngram: (key(ngram), self.symbols(ngram))

    def first_place(self, ngram: int) -> int:
        """Return the first place of an n-gram; the end of the corpus if it occurs nowhere."""
        first = self.first_word(ngram)
        return self.layout.end if first is None else self.layout.place(*first)

    def first_word(self, ngram: int) -> tuple[int, int] | None:
        """Return the index of the first word with an n-gram, and the place there. None if it never occurs."""
        key = self.keys[ngram]
        for index in sorted(set(self._words_of[ngram])):
            word = self.layout.words[index]
            for at in range(len(word)):
                if self.kind.end(self.layout, key, word, at):
                    return index, at
        return None

    def compared(self, ngram: int) -> tuple[bytes, ...]:
        """Return the text of an n-gram, which tie rules compare as a whole."""
        return (self.token(ngram),)

    def ids(self, ngram: int) -> tuple[int, ...]:
        """Return the ids of the symbols of an n-gram."""
        return tuple(map(self.layout.id_of, self.symbols(ngram)))

    def units(self, ngram: int) -> int:
        """Return the number of units of an n-gram."""
        return sum(self.layout.length[symbol] for symbol in self.symbols(ngram))

    def token(self, ngram: int) -> bytes:
        """Return the bytes that the token of an n-gram would have: the text that its kind gives it."""
        return self.kind.text(self.layout, self.keys[ngram])

    def symbols(self, ngram: int) -> tuple[int, ...]:
        """Return the symbols of an n-gram: if they differ by place, those of its first place."""
        return self.kind.symbols(self, ngram)

    # ---- answers

    def spells(self, ngram: int, parts: tuple[bytes, ...]) -> bool:
        """Return whether an n-gram matches a what-if that names these parts."""
        return self.keys[ngram] in self.kind.keys(self.layout, parts)

    def find(self, parts: tuple[bytes, ...]) -> Iterator[int]:
        """Yield the n-grams, among all that have occurred, that match a what-if that names these parts."""
        for key in self.kind.keys(self.layout, parts):
            if key in self._number_of:
                yield self._number_of[key]

    def replaced(self, ngram: int) -> int:
        """Return by how many tokens the corpus becomes shorter if an n-gram is merged."""
        key, saved = self.keys[ngram], 0
        for index in set(self._words_of[ngram]):
            word = self.layout.words[index]
            saved += self.layout.weights[index] * (len(word) - len(self._merge(key, BOUNDARY, word)[0]))
        return saved

    def row(self, ngram: int, before: int | None) -> NGram:
        """Return an n-gram with its figures. `before` is its count before the last step."""
        return NGram(self.symbols(ngram), self.counts[ngram], before, self.worths[ngram])

    def forget(self, size: int) -> None:
        """Forget the keys of symbols numbered `size` or more, since other symbols may get these numbers.

        The n-grams keep their numbers and counts, but are no longer found by key.
        """
        for key in [key for key in self._number_of if not self.kind.outlives(key, size)]:
            del self._number_of[key]

    def copy_for(self, layout: Layout) -> Self:
        """Return an independent copy of the table, which counts the words of another layout."""
        other = copy.copy(self)
        other.layout, other.keys, other.changed = layout, self.keys[:], set()
        other.counts, other.worths, other._number_of = self.counts[:], self.worths[:], dict(self._number_of)
        other._words_of = [words[:] for words in self._words_of]
        return other

    def memory(self) -> int:
        """Return the size of the table, in numbers of eight bytes."""
        return 24 * len(self.counts) + sum(map(len, self._words_of))


def segments(word: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield start and end of each longest part of a word without a boundary."""
    first = 0
    for at, symbol in enumerate((*word, BOUNDARY)):
        if symbol == BOUNDARY:
            if at > first:
                yield first, at
            first = at + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class NGramStep(Step):
    """A step that made one token of an n-gram of tokens.

    Attributes:
        parts: The exact bytes of the tokens; if they differ by place, those of the first place.
        token: The exact bytes of the token that it made.
        id: The id of that token.
        count: The number of places where the n-gram occurred, by weight.
        replaced: The number of places that changed, by weight.
        worth: The value that it was chosen for.
        saved: The number of tokens that the corpus lost.
    """

    parts: tuple[bytes, ...]
    token: bytes
    id: int
    count: int
    replaced: int
    worth: int
    saved: int

    @property
    def decision(self) -> tuple[bytes, ...]:
        """The tokens that were merged into one token, by which two trainings are compared."""
        return self.parts

    @property
    def row(self) -> dict[str, Any]:
        """The row of the step in a trace, as JSON values."""
        return {
            "step": self.number, "kind": self.kind,
            "hex": [*(part.hex() for part in self.parts), self.token.hex()],
            "parts": [part.decode("utf-8", "replace") for part in self.parts],
            "token": self.token.decode("utf-8", "replace"), "id": self.id, "count": self.count,
            "replaced": self.replaced, "score": self.worth, "saved": self.saved, "tied": self.tied,
            "tokens": self.tokens, "vocab_size": self.vocab_size,
        }
