"""The cost of the same text in many languages under one tokenizer.

The cost of a language is its tokens over what they are counted by. Over that of the cheapest language it is
the tokenization premium of Petrov et al., "Language Model Tokenizers Introduce Unfairness Between Languages"
(2023), where it is counted by the same sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from tokentui.analyze.metrics import Conventions, Tally, ratio, tally
from tokentui.core.errors import TokentuiError, name_of, nearest
from tokentui.core.jobs import each, silent
from tokentui.encode.tokenizer import Tokenizer
from tokentui.text.corpus import Corpus
from tokentui.text.count import WordCounts
from tokentui.text.read import read
from tokentui.text.sources import parallel


class Basis(NamedTuple):
    """The unit that a cost is counted by: one entry of `BASES`.

    Attributes:
        name: Its name.
        about: The same in a few words.
        unit: One of what is counted.
        of: The number of these in a language.
    """

    name: str
    about: str
    unit: str
    of: Callable[[LanguageCost], int]


@dataclass(frozen=True, slots=True)
class LanguageCost:
    """A language under a tokenizer.

    Attributes:
        language: The name of the language.
        bytes: The bytes of its text, as UTF-8.
        characters: Its code points.
        words: Its words, by the named splitter.
        sentences: Its documents, a sentence each in a parallel text.
        tokens: Its tokens; None where the tokenizer refuses the text.
        unknowns: Tokens for what the vocabulary lacks, and units that are dropped.
        bytes_per_token: Bytes over tokens; None for no token.
        characters_per_token: Characters over tokens; None for no token.
        cost: Tokens over what they are counted by; None where that is nothing.
        times: The cost over that of the cheapest language; None where one of the two is not known.
        error: Why the tokenizer refuses the text; empty where it does not.
    """

    language: str
    bytes: int
    characters: int
    words: int
    sentences: int
    tokens: int | None = None
    unknowns: int = 0
    bytes_per_token: float | None = None
    characters_per_token: float | None = None
    cost: float | None = None
    times: float | None = None
    error: str = ""


BASES: dict[str, Basis] = {one.name: one for one in (
    Basis("sentences", "the same sentences", "sentence", lambda one: one.sentences),
    Basis("bytes", "bytes", "byte", lambda one: one.bytes),
    Basis("characters", "characters", "character", lambda one: one.characters),
    Basis("words", "words", "word", lambda one: one.words),
)}
"""The units that a cost is counted by, by name. A new one is an entry here."""


@dataclass(frozen=True, slots=True)
class Languages:
    """The costs of languages under one tokenizer.

    Attributes:
        by: What they are counted by, one of `BASES`.
        splitter: The split that tells what a word is.
        rows: The languages, the cheapest first; those that are refused last.
        cheapest: The language of the least cost among those without an unknown token; among all where each
            has one. A language that becomes unknown tokens costs little and says nothing. Empty where every
            text is refused.
    """

    by: str
    splitter: str
    rows: tuple[LanguageCost, ...]
    cheapest: str

    @property
    def counted_by(self) -> str:
        """The basis of the costs, in words."""
        counts = {one.sentences for one in self.rows}
        about = BASES[self.by].about
        if self.by == "words":
            return f"{about}, by {self.splitter}"
        return f"{about}, {counts.pop():,} in each language" if self.by == "sentences" else about


def parallel_corpora() -> dict[str, Corpus]:
    """The built-in parallel set: the same sentences in twelve languages, a document a sentence."""
    return {one.title: read(f"sample:{one.name}") for one in parallel()}


def costs(
    tokenizer: Tokenizer, corpora: Mapping[str, Corpus], by: str = "bytes", splitter: str = "whitespace",
    counted: Mapping[str, WordCounts] | None = None,
) -> Languages:
    """The costs of languages under a tokenizer.

    Args:
        tokenizer: The tokenizer; no special token is added to a text and none is read from it.
        corpora: The texts by the names of their languages. For `sentences` line by line of one meaning: a
            document a sentence.
        by: What they are counted by, one of `BASES`.
        splitter: The split that tells what a word is, see `Conventions`.
        counted: The pre-tokens of the texts, where several tokenizers share them.

    Raises:
        TokentuiError: There is no text, no such basis or splitter, or the texts are not parallel. A text that
            the tokenizer refuses is no error here; its row says so.
    """
    if name_of(by, "by") not in BASES:
        raise TokentuiError(f"costs are not counted by {by!r}", "by", nearest(by, BASES))
    if not corpora:
        raise TokentuiError("no text of a language is named", "languages", "name one or more")
    under = Conventions(name_of(splitter, "words"))
    if by == "sentences":
        _check_parallel(corpora)
    rows = []
    for name, corpus in each(corpora.items(), len(corpora)):
        words = WordCounts(corpus) if counted is None else counted[name]
        with silent():
            rows.append(_row(name, tokenizer, corpus, under, words))
    basis = BASES[by].of
    rows = [one if one.tokens is None else replace(one, cost=ratio(one.tokens, basis(one))) for one in rows]
    known = [one for one in rows if one.cost is not None]
    whole = [one for one in known if not one.unknowns] or known
    least = min(whole, key=_dearness, default=None)
    if least is not None and least.cost:
        rows = [one if one.cost is None else replace(one, times=one.cost / least.cost) for one in rows]
    rows.sort(key=_dearness)
    return Languages(by, under.splitter, tuple(rows), "" if least is None else least.language)


def _check_parallel(corpora: Mapping[str, Corpus]) -> None:
    """Refuse texts that cannot be the same sentences.

    Raises:
        TokentuiError: They have unlike numbers of sentences, or are counted words.
    """
    first = ""
    for name, corpus in corpora.items():
        if corpus.counts is not None:
            raise TokentuiError("counted words are no sentences", name, "take --by bytes")
        first = first or name
        if len(corpus.documents) != len(corpora[first].documents):
            what = f"{len(corpus.documents):,} sentences, and {first} has {len(corpora[first].documents):,}"
            hint = "the same sentences stand line by line; or take --by bytes"
            raise TokentuiError(what, name, hint)


def _row(
    name: str, tokenizer: Tokenizer, corpus: Corpus, under: Conventions, counted: WordCounts
) -> LanguageCost:
    """A language, without its cost."""
    found: Tally | None = None
    error = ""
    try:
        found = tally(tokenizer, corpus, under, counted)
    except TokentuiError as refused:
        error = str(refused)
    words = counted.of(under.word_recipe()).occurrences
    characters = corpus.characters + sum(len(word) * times for word, times in corpus.counts or ())
    plain = LanguageCost(name, corpus.size, characters, words, len(corpus.documents), error=error)
    if found is None:
        return plain
    return replace(
        plain, tokens=found.tokens, unknowns=found.unknowns,
        bytes_per_token=ratio(found.bytes, found.tokens),
        characters_per_token=ratio(found.characters, found.tokens),
    )


def _dearness(one: LanguageCost) -> tuple[bool, float]:
    """Sorts the cheapest language first, and last those of no cost."""
    return one.cost is None, one.cost or 0.0
