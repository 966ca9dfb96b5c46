"""N-grams of neighboring symbols as candidates, not only pairs: for GreedTok and Length-MAX.

An n-gram is known by a key that its kind chooses: its symbols, or the text that they spell. It has a count,
its places in all words by weight, and a worth, by which n-grams are ordered. Tie rules look at the whole of
it: the text if a rule compares texts, the ids in order if it compares ids.
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
from tokentui.learn.candidates import Rewrite
from tokentui.learn.engine import NGram, Pair
from tokentui.learn.event_engine import EventEngine, MethodTraits
from tokentui.learn.layouts import Layout, lay_out_words
from tokentui.learn.objectives import Material
from tokentui.learn.ranking import Key, Spelling
from tokentui.learn.steps import Step


class Share(NamedTuple):
    """Unweighted occurrences of an n-gram in one word, and the tokens that merging them saves."""

    places: int
    saved: int


class NGramKind(Protocol):
    """A kind of n-gram: which ones a word has, where one ends, and what it is worth."""

    traits: MethodTraits

    def shares(self, layout: Layout, word: Sequence[int]) -> Mapping[Any, Share]:
        """Return the share of a word in each of its n-grams, by their keys."""

    def end(self, layout: Layout, key: Any, word: Sequence[int], at: int) -> int:
        """Return where an n-gram ends that starts at a place of a word; 0 if it does not start there."""

    def worth(self, layout: Layout, key: Any, share: Share) -> int:
        """Return the worth of a word's share, without the weight of the word."""

    def text(self, layout: Layout, key: Any) -> bytes:
        """Return the text of an n-gram."""

    def symbols(self, table: NGramTable, ngram: int) -> tuple[int, ...]:
        """Return the symbols of an n-gram; if they differ by place, those of its first place."""

    def key(self, layout: Layout, event: Event) -> Any:
        """Return the key of the n-gram that an event merges."""

    def keys(self, layout: Layout, parts: tuple[bytes, ...]) -> Iterable[Any]:
        """Return the keys of the n-grams that a what-if means by these parts."""

    def outlives(self, key: Any, size: int) -> bool:
        """Return whether a key means the same if symbols from a number on are forgotten."""

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
    """The n-grams of a layout; see `candidates.CandidateTable`.

    Args:
        layout: The layout; see `Layout.follow`.
        kind: The kind of n-gram.
    """

    def __init__(self, layout: Layout, kind: NGramKind) -> None:
        self.layout, self.kind = layout, kind
        self.keys: list[Any] = [()]
        """The key of each n-gram that has occurred, from number 1 on."""
        self.counts, self.worths, self.moved = [0], [0], set[int]()
        self.may: Callable[[list[int]], list[int]] = lambda ngrams: ngrams
        self._number_of: dict[Any, int] = {}
        self._words_of: list[list[int]] = [[]]
        """The words in which each n-gram has occurred."""

    # ---- counting

    def add(self, number: int, word: Sequence[int]) -> None:
        """Count the n-grams of a word."""
        self._add(number, self.kind.shares(self.layout, word), 1)

    def replace(self, number: int, old: Sequence[int], new: Sequence[int], start: int, end: int) -> None:
        """Count a word that changed: n-grams whose share is as before are left alone."""
        before, after = self.kind.shares(self.layout, old), self.kind.shares(self.layout, new)
        self._add(number, {key: share for key, share in before.items() if after.get(key) != share}, -1)
        self._add(number, {key: share for key, share in after.items() if before.get(key) != share}, 1)

    def _add(self, number: int, shares: Mapping[Any, Share], sign: int) -> None:
        """Add a word's shares to the n-grams, or take them away."""
        weight, worth = sign * self.layout.weights[number], self.kind.worth
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
            self.moved.add(ngram)
            if sign > 0 and (not (words := self._words_of[ngram]) or words[-1] != number):
                words.append(number)

    def rewrite(self, event: Event) -> tuple[Iterable[int], Rewrite]:
        """Return the words that may hold the n-gram of an event, and the function that merges it there."""
        key = self.kind.key(self.layout, event)
        return set(self._words_of[self._number_of[key]]), partial(self._merge, key, event.symbol)

    def _merge(self, key: Any, symbol: int, word: Sequence[int]) -> tuple[list[int], int, int, int]:
        """Merge an n-gram from left to right; a `Rewrite` once key and symbol are given."""
        out, at, places = list[int](), 0, 0
        while at < len(word):
            if end := self.kind.end(self.layout, key, word, at):
                out.append(symbol)
                at, places = end, places + 1
            else:
                out.append(word[at])
                at += 1
        return out, places, 0, 0

    def falls(self, words: Mapping[int, Sequence[int]]) -> Mapping[int, int]:
        """Return by how much counts fell since words, by their numbers, were as they are here."""
        falls: Counter[int] = Counter()
        for number, old in words.items():
            weight = self.layout.weights[number]
            for symbols, sign in ((old, weight), (self.layout.words[number], -weight)):
                for key, share in self.kind.shares(self.layout, symbols).items():
                    falls[self._number_of[key]] += sign * share.places
        return falls

    # ---- what candidates are compared by

    def order_by(self, rule: Callable[[Spelling], Key]) -> Key:
        """Return the key of a tie rule, then the symbols: several n-grams may have one text."""
        key = rule(self)
        return lambda ngram: (key(ngram), self.symbols(ngram))

    def first_place(self, ngram: int) -> int:
        """The first place of an n-gram; the end of the corpus if it occurs nowhere."""
        found = self.first_at(ngram)
        return self.layout.end if found is None else self.layout.place(*found)

    def first_at(self, ngram: int) -> tuple[int, int] | None:
        """The word in which an n-gram occurs first, and its place there in symbols."""
        key = self.keys[ngram]
        for number in sorted(set(self._words_of[ngram])):
            word = self.layout.words[number]
            for at in range(len(word)):
                if self.kind.end(self.layout, key, word, at):
                    return number, at
        return None

    def compared(self, ngram: int) -> tuple[bytes, ...]:
        """The text of an n-gram, which tie rules compare as a whole."""
        return (self.token(ngram),)

    def ids(self, ngram: int) -> tuple[int, ...]:
        """The ids of its symbols."""
        return tuple(map(self.layout.id_of, self.symbols(ngram)))

    def units(self, ngram: int) -> int:
        """The number of its units."""
        return sum(self.layout.length[symbol] for symbol in self.symbols(ngram))

    def token(self, ngram: int) -> bytes:
        """The text of an n-gram."""
        return self.kind.text(self.layout, self.keys[ngram])

    def symbols(self, ngram: int) -> tuple[int, ...]:
        """The symbols of an n-gram; if they differ by place, those of its first place."""
        return self.kind.symbols(self, ngram)

    # ---- answers

    def spells(self, ngram: int, parts: tuple[bytes, ...]) -> bool:
        """Return whether a what-if means an n-gram by these parts."""
        return self.keys[ngram] in self.kind.keys(self.layout, parts)

    def find(self, parts: tuple[bytes, ...]) -> Iterator[int]:
        """Return the n-grams that a what-if means by these parts."""
        for key in self.kind.keys(self.layout, parts):
            if key in self._number_of:
                yield self._number_of[key]

    def replaced(self, ngram: int) -> int:
        """Return by how many tokens the corpus becomes shorter if an n-gram is merged."""
        key, saved = self.keys[ngram], 0
        for number in set(self._words_of[ngram]):
            word = self.layout.words[number]
            saved += self.layout.weights[number] * (len(word) - len(self._merge(key, BOUNDARY, word)[0]))
        return saved

    def row(self, ngram: int, before: int | None) -> NGram:
        """Return an n-gram with its figures."""
        return NGram(self.symbols(ngram), self.counts[ngram], before, self.worths[ngram])

    def forget(self, size: int) -> None:
        """Forget the n-grams of symbols from a number on: others may get their keys."""
        for key in [key for key in self._number_of if not self.kind.outlives(key, size)]:
            del self._number_of[key]

    def over(self, layout: Layout) -> Self:
        """Return a copy of the table for a copy of its layout."""
        other = copy.copy(self)
        other.layout, other.keys, other.moved = layout, self.keys[:], set()
        other.counts, other.worths, other._number_of = self.counts[:], self.worths[:], dict(self._number_of)
        other._words_of = [words[:] for words in self._words_of]
        return other

    def memory(self) -> int:
        """Return the size of the table, in numbers of eight bytes."""
        return 24 * len(self.counts) + sum(map(len, self._words_of))


def segments(word: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each part of a word between units that nothing merges with."""
    first = 0
    for at, symbol in enumerate((*word, BOUNDARY)):
        if symbol == BOUNDARY:
            if at > first:
                yield first, at
            first = at + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class NGramStep(Step):
    """An n-gram of tokens that became one, as it was made.

    Attributes:
        parts: The exact bytes of its tokens; if they differ by place, those of the first place.
        token: The exact bytes of the token that it made.
        id: The id of that token.
        count: The number of places where it occurred, by weight.
        replaced: The number of them that changed.
        worth: The value that it was taken for.
        saved: By how many tokens the corpus became shorter.
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
        """The tokens that it made one."""
        return self.parts

    @property
    def row(self) -> dict[str, Any]:
        """Its row in a trace for machines."""
        return {
            "step": self.number, "kind": self.kind,
            "hex": [*(part.hex() for part in self.parts), self.token.hex()],
            "parts": [part.decode("utf-8", "replace") for part in self.parts],
            "token": self.token.decode("utf-8", "replace"), "id": self.id, "count": self.count,
            "replaced": self.replaced, "score": self.worth, "saved": self.saved, "tied": self.tied,
            "tokens": self.tokens, "vocab_size": self.vocab_size,
        }
