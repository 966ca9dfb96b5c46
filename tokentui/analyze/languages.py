"""Cost of the same text in many languages under one tokenizer.

The cost of a language is its tokens over what they are counted by. Over that of the cheapest language it is
the tokenization premium of Petrov et al., "Language Model Tokenizers Introduce Unfairness Between Languages"
(2023), where it is counted by the same sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tokentui.analyze.metrics import Conventions, Tally, ratio, shown, tally
from tokentui.analyze.report import (
    Bar,
    Cell,
    Column,
    Json,
    Report,
    Row,
    Section,
    Span,
    as_row,
    warning,
)
from tokentui.axes import label
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
        tokens: Its tokens; None where the tokenizer cannot encode the text.
        unknowns: Tokens for what the vocabulary lacks, and units that are dropped.
        bytes_per_token: Bytes over tokens; None for no token.
        characters_per_token: Characters over tokens; None for no token.
        cost: Tokens over what they are counted by; None where that is nothing.
        times: The cost over that of the cheapest language; None where one of the two is not known.
        error: Why the tokenizer cannot encode the text; empty where it does not.
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
    def basis_detail(self) -> str:
        """The part of the title that follows the unit: the number of sentences, or how words are split."""
        if self.by == "words":
            return f", words split by {self.splitter}"
        if self.by == "sentences":
            return f", on the same {self.rows[0].sentences:,} sentences" if self.rows else ""
        return ""


def parallel_corpora() -> dict[str, Corpus]:
    """Return the built-in parallel set by language: the same sentences in twelve languages, one document per
    sentence."""
    return {one.title: read(f"sample:{one.name}") for one in parallel()}


def costs(
    tokenizer: Tokenizer, corpora: Mapping[str, Corpus], by: str = "bytes", splitter: str = "whitespace",
    counted: Mapping[str, WordCounts] | None = None,
) -> Languages:
    """Compute the costs of languages under a tokenizer.

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
    """Raise if the texts do not have the same number of sentences.

    Raises:
        TokentuiError: They have unlike numbers of sentences, or are counted words.
    """
    first = ""
    for name, corpus in corpora.items():
        if corpus.counts is not None:
            raise TokentuiError("counted words are not sentences", name, "take --by bytes")
        first = first or name
        if len(corpus.documents) != len(corpora[first].documents):
            what = f"{len(corpus.documents):,} sentences, and {first} has {len(corpora[first].documents):,}"
            hint = "line N must mean the same in each; or use --by bytes"
            raise TokentuiError(what, name, hint)


def _row(
    name: str, tokenizer: Tokenizer, corpus: Corpus, under: Conventions, counted: WordCounts
) -> LanguageCost:
    """Return the counts of a language, without its cost."""
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
    """Return a sort key: cheapest language first, languages without a cost last."""
    return one.cost is None, one.cost or 0.0


_TITLED = (
    Column("language", priority=6, flex=True), Column("tokens", "right", 4),
    Column("bytes/token", "right", 2), Column("chars/token", "right", 1), Column("cost", "right", 3),
    Column("x cheapest", "right", 5), Column("unknown", "right"), Column(),
)


def report(
    found: Sequence[Languages], names: Sequence[str], tokenizers: Sequence[Tokenizer] = (),
    corpora: Mapping[str, Corpus] | None = None,
) -> Report:
    """Report on the costs of languages: a table for each tokenizer, and one that compares several.

    Args:
        found: The costs under each tokenizer, all on the same basis.
        names: The names of the tokenizers.
        tokenizers: The tokenizers, which say more in the titles and in JSON.
        corpora: The texts by the names of their languages, for JSON.
    """
    basis = BASES[found[0].by]
    abouts = [f"{label(one.recipe)}, {one.vocab_size:,} ids" for one in tokenizers] or [""] * len(found)
    sections = [Section(f"cost: tokens per {basis.unit}{found[0].basis_detail}")]
    sections += [
        _section(f"{n} {name}", about, one)
        for n, (name, about, one) in enumerate(zip(names, abouts, found, strict=True), 1)
    ]
    if len(found) > 1:
        sections.append(_compared(found))
    value = {
        "by": found[0].by, "unit": basis.unit, "words_by": found[0].splitter,
        "languages": [
            {"name": name, "corpus": one.name, "bytes": one.size, "sha256": one.sha256}
            for name, one in (corpora or {}).items()
        ],
        "tokenizers": [
            {
                "name": name, "recipe": tokenizer.recipe.to_dict() | tokenizer.recipe.shape,
                "vocab_size": tokenizer.vocab_size, "cheapest": one.cheapest or None,
                "costs": [_json(cost) for cost in one.rows],
            }
            for name, tokenizer, one in zip(names, tokenizers, found, strict=False)
        ],
    }
    return Report("Languages", tuple(sections), value, sections[0].name)


def _section(name: str, about: str, found: Languages) -> Section:
    most = max((cost.times or 0 for cost in found.rows), default=0)
    cheapest = f"cheapest: {found.cheapest}" if found.cheapest else "no text can be encoded"
    rows = tuple(_cells(cost, most, cost.language == found.cheapest) for cost in found.rows)
    summary = about or f"tokens per {BASES[found.by].unit}{found.basis_detail}"
    return Section(name, summary, rows, _TITLED, notes=(cheapest,))


def _cells(cost: LanguageCost, most: float, cheapest: bool) -> Row:
    name = Span(cost.language, "success" if cheapest else "")
    if cost.tokens is None:
        return Row(((name, "  ", Span(cost.error, "error")),))
    unknowns: Cell = warning(f"{cost.unknowns:,}") if cost.unknowns else "0"
    return Row((
        name, f"{cost.tokens:,}", shown(cost.bytes_per_token, 2), shown(cost.characters_per_token, 2),
        shown(cost.cost), shown(cost.times, 2), unknowns, Bar((cost.times or 0) / most if most else 0),
    ))


def _compared(found: Sequence[Languages]) -> Section:
    """Return the costs over the cheapest under several tokenizers, a column for each."""
    times = [{cost.language: cost.times for cost in one.rows} for one in found]
    rows = tuple(
        Row((cost.language, *(shown(one[cost.language], 2) for one in times))) for cost in found[0].rows
    )
    numbers = (Column(str(n), "right") for n in range(1, len(found) + 1))
    return Section("x cheapest", "", rows, (Column("language", priority=1, flex=True), *numbers))


def _json(cost: LanguageCost) -> Json:
    return as_row(cost) | {"error": cost.error or None}
