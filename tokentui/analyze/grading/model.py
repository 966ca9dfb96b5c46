"""A training of merges in plain Python that can be wrong on purpose.

`Method` says how a student trains: where the text comes from, how pairs are counted, which pair wins a tie,
how a pair is replaced. `Method()` is the right way, and each mistake in `faults.py` is another value of one
or two of its fields. Mistakes that the axes of a recipe can express are values of these axes. `merges_of`
trains.

Counts are kept for each word, and a merge counts again the words that it changes. Nothing here is shared with
the engines of the program.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from tokentui.core.jobs import check, silent
from tokentui.learn.bases import WEIGHTS, base_units, byte_order_of_gpt2, totals_of
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.count import count
from tokentui.text.pretokenize import Pretokenizer

LETTERS = "end-letters"
"""The mark that is a wrong one only: the mark of the recipe, cut into its own characters."""
Pair = tuple[int, int]
Word = list[int]
Counts = dict[Pair, int]


@dataclass(frozen=True)
class Method:
    """A way to train. The defaults are right.

    Attributes:
        text: What happens to the text first, a name of `TEXTS`; empty for nothing.
        specials: What happens at special tokens, a name of `SPECIALS`: `border` cuts the text there.
        split: A value of the axis `split`; empty for that of the recipe. So are `unit`, `mark`, `base`,
            `weight`.
        cross: True if pairs are counted from one pre-token to the next.
        tie: Which of equal pairs wins, a name of `TIES`; empty for the rule of the recipe.
        value: What pairs are ordered by, a name of `VALUES`; empty for the objective of the recipe.
        count: How the pairs of a word are counted, a name of `COUNTS`.
        update: How counts follow a merge, a name of `UPDATES`.
        replace: How a pair is replaced in a word, a name of `REPLACES`.
        words: What happens to each pre-token, a name of `WORDS`.
        same: True if two tokens with the same text are one.
        output: How the merges are written: `reversed` writes the right part first.
    """

    text: str = ""
    specials: str = "border"
    split: str = ""
    unit: str = ""
    mark: str = ""
    base: str = ""
    weight: str = ""
    cross: bool = False
    tie: str = ""
    value: str = ""
    count: str = "overlapping"
    update: str = "exact"
    replace: str = "left"
    words: str = ""
    same: bool = False
    output: str = ""

    def axes(self) -> dict[str, str]:
        """Return the axes of a recipe that this way changes, with their values."""
        names = ("split", "unit", "mark", "base", "weight")
        axes = {name: getattr(self, name) for name in names if getattr(self, name)}
        return axes | ({"mark": "none"} if self.mark == LETTERS else {})


class Step(NamedTuple):
    """A merge of the model: both parts, as bytes, and the count that it was chosen by."""

    left: bytes
    right: bytes
    places: int


# ---- the text


def _lines(documents: Sequence[str]) -> list[str]:
    return [line for document in documents for line in document.splitlines()]


def _each(change: Callable[[str], str]) -> Callable[[Sequence[str]], list[str]]:
    return lambda documents: [change(document) for document in documents]


def _newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


TEXTS: Mapping[str, Callable[[Sequence[str]], list[str]]] = {
    "": list,
    "lower": _each(str.lower),
    "casefold": _each(str.casefold),
    "newlines": _each(_newlines),
    "no-lf": _each(lambda text: text.replace("\n", "")),
    "strip": _each(str.strip),
    "lines": _lines,
    "stripped-lines": lambda documents: [line.strip() for line in _lines(documents)],
    "no-newlines": _each(lambda text: re.sub(r"[\r\n]+", " ", text)),
    "one-space": _each(lambda text: " ".join(text.split())),
    "no-punctuation": _each(lambda text: re.sub(r"[^\w\s]", "", text)),
    "ascii": _each(lambda text: text.encode("ascii", "ignore").decode()),
    "leading-space": _each(lambda text: f" {text}"),
    "no-line-ends": _each(lambda text: text.replace("\r", "").replace("\n", "")),
    "first-line": lambda documents: [line for text in documents[:1] for line in text.splitlines(True)[:1]],
    "latin-1": _each(lambda text: text.encode("utf-8", "surrogateescape").decode("latin-1")),
    "ascii-replaced": _each(lambda text: text.encode("utf-8", "surrogateescape").decode("ascii", "replace")),
    "nfc": _each(lambda text: unicodedata.normalize("NFC", text)),
    "nfd": _each(lambda text: unicodedata.normalize("NFD", text)),
    "nfkc": _each(lambda text: unicodedata.normalize("NFKC", text)),
    "first-document": lambda documents: list(documents[:1]),
    "last-document-lost": lambda documents: list(documents[:-1]),
}
"""What happens to the documents before they are cut at special tokens, by name."""


def _unescaped(text: str, specials: Sequence[str]) -> list[str]:
    """Return the parts of a text that is cut by the special tokens as patterns, not as texts."""
    try:
        return [part for part in re.split("|".join(specials), text) if part]
    except re.error:
        return [text]


def _cut(text: str, specials: Sequence[str]) -> list[str]:
    return re.split("|".join(map(re.escape, sorted(specials, key=len, reverse=True))), text)


SPECIALS: Mapping[str, Callable[[str, Sequence[str]], list[str]]] = {
    "border": _cut,
    "text": lambda text, specials: [text],
    "removed": lambda text, specials: ["".join(_cut(text, specials))],
    "spaced": lambda text, specials: [" ".join(_cut(text, specials))],
    "newlined": lambda text, specials: ["\n".join(_cut(text, specials))],
    "counted": lambda text, specials: re.split(f"({'|'.join(map(re.escape, specials))})", text),
    "first-lost": lambda text, specials: _cut(text, specials)[1:] or [text],
    "unescaped": _unescaped,
    "first": lambda text, specials: _cut(text, specials)[:1],
    "stripped": lambda text, specials: [part.strip() for part in _cut(text, specials)],
    "last-lost": lambda text, specials: _cut(text, specials)[:-1] or [text],
}
"""What happens at special tokens, by name. Each function returns the texts that are counted apart."""


WORDS: Mapping[str, Callable[[str], str]] = {
    "": str, "strip": str.strip, "lower": str.lower, "casefold": str.casefold,
}
"""What happens to each pre-token, by name."""


# ---- which pair


@dataclass
class State:
    """A training between two merges.

    Attributes:
        words: The distinct words, as symbols.
        weights: How often each counts.
        pieces: The bytes of each symbol.
        counts: The counts that the next pair is chosen by. Pairs stay where they were first seen.
        prefix: The bytes that a right part loses when it is joined.
        lengths: The units of each symbol.
        known: The symbol of each piece, where tokens of the same text are one.
    """

    words: list[Word]
    weights: list[int]
    pieces: list[bytes]
    prefix: int
    counts: Counts = field(default_factory=dict)
    lengths: list[int] = field(default_factory=list)
    known: dict[bytes, int] = field(default_factory=dict)

    def join(self, pair: Pair) -> bytes:
        """Return the bytes of the token that a pair makes."""
        return self.pieces[pair[0]] + self.pieces[pair[1]][self.prefix:]

    def text(self, pair: Pair) -> tuple[bytes, bytes]:
        """Return the bytes of both parts."""
        return self.pieces[pair[0]], self.pieces[pair[1]]


def _letters(piece: bytes) -> str:
    """Return a token in the letters that GPT-2 writes bytes as."""
    return "".join(map(_LETTER.__getitem__, piece))


_ORDER = byte_order_of_gpt2()
_LETTER = {byte: chr(byte if rank < 188 else 256 + rank - 188) for rank, byte in enumerate(_ORDER)}


def _seen(state: State, tied: list[Pair]) -> Iterator[Pair]:
    """Yield tied pairs in the order in which they occur in the words."""
    left = set(tied)
    for word in state.words:
        for pair in pairwise(word):
            if pair in left:
                yield pair
                left.remove(pair)
    yield from (pair for pair in tied if pair in left)  # a stale count has no place


def _last(state: State, tied: list[Pair]) -> Pair:
    *_, pair = _seen(state, tied)
    return pair


TIES: Mapping[str, Callable[[State, list[Pair]], Pair]] = {
    "first-seen": lambda state, tied: next(_seen(state, tied)),
    "last-seen": _last,
    "first-found": lambda state, tied: tied[0],
    "last-found": lambda state, tied: tied[-1],
    "largest-pair": lambda state, tied: max(tied, key=state.text),
    "smallest-pair": lambda state, tied: min(tied, key=state.text),
    "lowest-ids": lambda state, tied: min(tied),
    "highest-ids": lambda state, tied: max(tied),
    "largest-token": lambda state, tied: max(tied, key=lambda pair: (state.join(pair), state.text(pair))),
    "smallest-token": lambda state, tied: min(tied, key=lambda pair: (state.join(pair), state.text(pair))),
    "largest-letters": lambda state, tied: max(tied, key=lambda pair: tuple(map(_letters, state.text(pair)))),
    "smallest-letters": lambda state, tied: min(tied, key=lambda pair: tuple(map(_letters,
        state.text(pair)))),
    "right-part": lambda state, tied: max(tied, key=lambda pair: state.text(pair)[::-1]),
    "left-part": lambda state, tied: max(_seen(state, tied), key=lambda pair: state.text(pair)[0]),
    "as-text": lambda state, tied: max(tied, key=lambda pair: str(state.text(pair))),
    "decoded": lambda state, tied: max(_seen(state, tied), key=lambda pair: [
        part.decode("utf-8", "replace") for part in state.text(pair)]),
    "longest-largest": lambda state, tied: max(tied, key=lambda pair: (_units(state, pair),
        state.text(pair))),
    "shortest-largest": lambda state, tied: max(tied, key=lambda pair: (-_units(state, pair),
        state.text(pair))),
    "shortest": lambda state, tied: min(tied, key=lambda pair: (_units(state, pair), state.join(pair))),
    "longest": lambda state, tied: min(tied, key=lambda pair: (-_units(state, pair), state.join(pair))),
}
"""Which of the pairs with the best value is merged, by name. `first-seen` is the first place in the corpus
as it is; `first-found` is the order in which the pairs came into the table of counts."""


def _units(state: State, pair: Pair) -> int:
    return state.lengths[pair[0]] + state.lengths[pair[1]]


def _scores(state: State, *, summed: bool = False) -> dict[Pair, Fraction | int]:
    """Return count(xy) / (count(x) · count(y)) of each pair in use; divided by their sum if `summed`."""
    uses: Counter[int] = Counter()
    for word, weight in zip(state.words, state.weights, strict=True):
        for symbol in word:
            uses[symbol] += weight
    return {
        pair: Fraction(times, uses[pair[0]] + uses[pair[1]] if summed else uses[pair[0]] * uses[pair[1]])
        for pair, times in state.counts.items() if times > 0 and uses[pair[0]] and uses[pair[1]]
    }


Values = Mapping[Pair, "int | Fraction"]
VALUES: Mapping[str, Callable[[State], Values]] = {
    "count": lambda state: state.counts,
    "score": _scores,
    "sum-score": lambda state: _scores(state, summed=True),
    "least": lambda state: {pair: -times for pair, times in state.counts.items() if times > 0},
    "length": lambda state: {pair: times * _units(state, pair) for pair, times in state.counts.items()},
}
"""What the best pair has most of, by name."""


# ---- counting


def _apart(word: Word) -> Counter[Pair]:
    """Count pairs so that no symbol is in two equal ones: aaa has one aa."""
    counts: Counter[Pair] = Counter()
    end: dict[Pair, int] = {}
    for place, pair in enumerate(pairwise(word)):
        if end.get(pair, -1) != place:
            counts[pair] += 1
            end[pair] = place + 1
        else:
            end.pop(pair)
    return counts


COUNTS: Mapping[str, Callable[[Word], Counter[Pair]]] = {
    "overlapping": lambda word: Counter(pairwise(word)),
    "apart": _apart,
    "two-by-two": lambda word: Counter(zip(word[::2], word[1::2], strict=False)),
    "once": lambda word: Counter(dict.fromkeys(pairwise(word), 1)),
    "but-last": lambda word: Counter(pairwise(word[:-1])),
    "but-first": lambda word: Counter(pairwise(word[1:])),
}
"""How the pairs of a word are counted, by name."""


def _exact(counts: Counts, old: Counter[Pair], new: Counter[Pair], weight: int, pair: Pair) -> None:
    """Subtract the pairs of the word before the merge, and add those after it: the right way."""
    for other in new:
        counts[other] = counts.get(other, 0) + weight * new[other]
    for other in old:
        counts[other] -= weight * old[other]


def _exact_once(counts: Counts, old: Counter[Pair], new: Counter[Pair], weight: int, pair: Pair) -> None:
    """Count a pair once, even if it occurs twice in the word."""
    for other in new:
        counts[other] = counts.get(other, 0) + weight
    for other in old:
        counts[other] -= weight


def _stale(counts: Counts, old: Counter[Pair], new: Counter[Pair], weight: int, pair: Pair) -> None:
    for other in new:
        if new[other] > old[other]:
            counts[other] = counts.get(other, 0) + weight * (new[other] - old[other])


def _lowered(
    counts: Counts, old: Counter[Pair], new: Counter[Pair], weight: int, pair: Pair,
    which: Callable[[Pair], bool] = lambda other: True,
) -> None:
    """Lower the pairs that there are less of, of those that are among `which`."""
    for other in filter(which, old):
        counts[other] = counts.get(other, 0) - weight * max(old[other] - new[other], 0)


def _only_left(counts: Counts, old: Counter[Pair], new: Counter[Pair], weight: int, pair: Pair) -> None:
    """Lower the pairs that end with the left part, not those that start with the right part."""
    _stale(counts, old, new, weight, pair)
    _lowered(counts, old, new, weight, pair, lambda other: other[1] == pair[0] and other != pair)


def _only_right(counts: Counts, old: Counter[Pair], new: Counter[Pair], weight: int, pair: Pair) -> None:
    _stale(counts, old, new, weight, pair)
    _lowered(counts, old, new, weight, pair, lambda other: other[0] == pair[1] and other != pair)


UPDATES: Mapping[str, Callable[[Counts, Counter[Pair], Counter[Pair], int, Pair], None] | None] = {
    "exact": _exact,
    "deleted": _exact,  # and the merged pair is forgotten, as after all but an exact update
    "exact-once": _exact_once,
    "stale": _stale,
    "stale-right": _only_left,
    "stale-left": _only_right,
    "no-new-pairs": _lowered,
    "never": None,
}
"""How counts follow a change of a word, by name; None if they are not changed after the start."""


# ---- replacing


def _left(word: Word, pair: Pair, new: int, state: State) -> Word:
    """Return the word with each occurrence of the pair replaced by `new`, from the left."""
    out, at = [], 0
    while at < len(word):
        if tuple(word[at:at + 2]) == pair:
            out.append(new)
            at += 2
        else:
            out.append(word[at])
            at += 1
    return out


def _overlapping(word: Word, pair: Pair, new: int, state: State) -> Word:
    """Replace also places that share a symbol, so that aaa becomes two tokens aa."""
    places = {at for at in range(len(word) - 1) if tuple(word[at:at + 2]) == pair}
    return [new if at in places else symbol for at, symbol in enumerate(word)
            if at in places or at - 1 not in places]


def _advances_by_one(word: Word, pair: Pair, new: int, state: State) -> Word:
    """Replace each place and go on by one symbol, so that the right part stays: ab becomes ab, b."""
    return [new if tuple(word[at:at + 2]) == pair else word[at] for at in range(len(word))]


def _first(word: Word, pair: Pair, new: int, state: State) -> Word:
    """Replace only the first place of the pair in the word."""
    for at in range(len(word) - 1):
        if tuple(word[at:at + 2]) == pair:
            return [*word[:at], new, *word[at + 2:]]
    return word


def _right_to_left(word: Word, pair: Pair, new: int, state: State) -> Word:
    return _left(word[::-1], pair[::-1], new, state)[::-1]


def _text_replace(word: Word, pair: Pair, new: int, state: State) -> Word:
    """Replace the pair as text in the word written with spaces, a common mistake: it also matches the end of
    a longer token and the start of another, which become a new token."""
    left, right = state.text(pair)
    out, at = [], 0
    while at < len(word):
        here = state.pieces[word[at]]
        if at + 1 < len(word) and here.endswith(left) and state.pieces[word[at + 1]].startswith(right):
            joined = here + state.pieces[word[at + 1]][state.prefix:]
            out.append(new if word[at:at + 2] == list(pair) else _symbol(state, joined))
            at += 2
        else:
            out.append(word[at])
            at += 1
    return out


def _symbol(state: State, piece: bytes) -> int:
    """Return the symbol of a text, a new one if there is none."""
    if piece not in state.known:
        state.known[piece] = len(state.pieces)
        state.pieces.append(piece)
        state.lengths.append(len(piece))
    return state.known[piece]


def _loses_last(word: Word, pair: Pair, new: int, state: State) -> Word:
    """Stop before the last symbol, which is lost unless it is merged."""
    out, at = [], 0
    while at < len(word) - 1:
        merged = tuple(word[at:at + 2]) == pair
        out.append(new if merged else word[at])
        at += 1 + merged
    return out


def _but_last(word: Word, pair: Pair, new: int, state: State) -> Word:
    """Never look at the last pair."""
    return [*_left(word[:-1], pair, new, state), *word[-1:]]


REPLACES: Mapping[str, Callable[[Word, Pair, int, State], Word]] = {
    "left": _left,
    "overlapping": _overlapping,
    "keeps-right": _advances_by_one,
    "first": _first,
    "right-to-left": _right_to_left,
    "text": _text_replace,
    "loses-last": _loses_last,
    "but-last": _but_last,
}
"""How a pair is replaced in a word, by name."""


# ---- training


class Material:
    """The corpus of an exercise, cut into words by any method. What was counted is kept.

    Args:
        corpus: The corpus.
        recipe: The recipe of the exercise, without symbols.
        specials: The special tokens that are borders.
    """

    def __init__(self, corpus: Corpus, recipe: Recipe, specials: Sequence[str]) -> None:
        self.corpus, self.recipe, self.specials = corpus, recipe, tuple(specials)
        self._known: dict[tuple[object, ...], tuple[list[Word], list[int], list[bytes], int]] = {}

    def start(self, method: Method) -> State:
        """Return the state before the first merge.

        Raises:
            TokentuiError: The text cannot be cut in this way.
        """
        key = (method.text, method.specials, method.cross, method.mark, method.words,
            tuple(method.axes().items()))
        if key not in self._known:
            self._known[key] = self._laid_out(method)
        words, weights, pieces, prefix = self._known[key]
        state = State([list(word) for word in words], weights, list(pieces), prefix,
            lengths=[1] * len(pieces))
        if method.same or method.replace == "text":
            state.known = {piece: symbol for symbol, piece in reversed(list(enumerate(pieces)))}
        return state

    def recipe_by(self, method: Method) -> Recipe:
        """Return the recipe that a method trains by."""
        return replace(self.recipe, **method.axes())  # type: ignore[arg-type]

    def _laid_out(self, method: Method) -> tuple[list[Word], list[int], list[bytes], int]:
        """Return the words in symbols, their weights, the base pieces, and the bytes of a continuation mark.

        Each choice of `method` is applied: how documents, special tokens, words and marks are read. With
        `cross`, each document is one word of weight 1, and counted words are left out.
        """
        recipe, corpus = self.recipe_by(method), self.corpus
        if corpus.counts is None:
            documents = TEXTS[method.text](list(map(str, corpus.documents)))
            if self.specials:
                documents = [part for text in documents for part in SPECIALS[method.specials](text,
                    self.specials)]
            corpus = Corpus(corpus.name, tuple(documents))
        elif method.text == "lower":
            corpus = replace(corpus, counts=tuple((word.lower(), times) for word, times in corpus.counts))
        with silent():
            counted = count(corpus, recipe)
        cutter = Pretokenizer(recipe)
        if method.cross:
            cut = [[unit for word in cutter.words(text) for unit in cutter.units(word)]
                   for text in map(str, corpus.documents if corpus.counts is None else ())]
            weights = [1] * len(cut)
        else:
            listed = list(map(WORDS[method.words], counted.words))
            cut = [cutter.units(word) if word else [] for word in listed]
            weights = WEIGHTS.of(recipe.weight).of(counted.counts)
        if method.mark == LETTERS:
            letters = self.recipe.mark_text if len(self.recipe.mark_text) > 1 else "</w>"
            cut = [[*word, *cutter.units(letters)] for word in cut]
        pieces = base_units(recipe, totals_of(cut, weights))
        symbol_of = {piece: symbol for symbol, piece in enumerate(pieces)}
        prefix = len(recipe.mark_text.encode()) if recipe.mark_kind == "prefix" else 0
        return [[symbol_of[unit] for unit in word] for word in cut], weights, pieces, prefix


def merges_of(material: Material, method: Method) -> Iterator[Step]:
    """Train by a method, without a stop: yield merges until no pair is left.

    Raises:
        TokentuiError: The text cannot be cut in this way.
        Cancelled: The job is cancelled, checked before each merge.
    """
    state, recipe = material.start(method), material.recipe_by(method)
    tie, value = TIES[method.tie or recipe.tie], VALUES[method.value or recipe.objective]
    pairs_of, follow, replaced = COUNTS[method.count], UPDATES[method.update], REPLACES[method.replace]
    per_word = [pairs_of(word) for word in state.words]
    for pairs, weight in zip(per_word, state.weights, strict=True):
        for pair, times in pairs.items():
            state.counts[pair] = state.counts.get(pair, 0) + weight * times
    while True:
        check()
        values = value(state)
        best = max((values[pair] for pair in values if state.counts[pair] > 0), default=None)
        if best is None:
            return
        tied = [pair for pair, worth in values.items() if worth == best and state.counts[pair] > 0]
        pair = tied[0] if len(tied) == 1 else tie(state, tied)
        parts = state.text(pair)
        yield Step(*(parts[::-1] if method.output == "reversed" else parts), state.counts[pair])
        new = len(state.pieces)
        if method.same and state.join(pair) in state.known:
            new = state.known[state.join(pair)]
        else:
            state.known[state.join(pair)] = new
            state.pieces.append(state.join(pair))
            state.lengths.append(_units(state, pair))
        left, right = pair
        for n, word in enumerate(state.words):
            if (left in word and right in word) or method.replace in ("text", "loses-last"):
                after = replaced(word, pair, new, state)
                if after != word:
                    state.words[n] = after
                    now = pairs_of(after)
                    if follow is not None:
                        follow(state.counts, per_word[n], now, state.weights[n], pair)
                    per_word[n] = now
        if method.update != "exact":
            state.counts[pair] = 0
