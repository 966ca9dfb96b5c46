"""Cost of the same text in many languages under one tokenizer.

The cost of a language is its tokens divided by a number of units, such as bytes or sentences. On the same
sentences, the cost relative to that of the cheapest language is the tokenization premium of Petrov et al.,
"Language Model Tokenizers Introduce Unfairness Between Languages" (2023).
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
        about: The name in a few words.
        unit: The unit, singular.
        of: Returns the number of units in the text of a language.
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
        tokens: Its tokens; None if the tokenizer cannot encode the text.
        unknowns: Unknown tokens, and units that are dropped.
        bytes_per_token: Bytes over tokens; None without tokens.
        characters_per_token: Characters over tokens; None without tokens.
        cost: Tokens per unit of the basis; None without tokens or units.
        times: The cost relative to the cheapest language; None if one of the two is None, the cheapest is 0,
            or most tokens are unknown.
        error: Why the tokenizer cannot encode the text; empty if it can.
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

    @property
    def mostly_unknown(self) -> bool:
        """True if more than half of the tokens are unknown: they cost little and say nothing."""
        return 2 * self.unknowns > (self.tokens or 0)


BASES: dict[str, Basis] = {basis.name: basis for basis in (
    Basis("sentences", "the same sentences", "sentence", lambda language: language.sentences),
    Basis("bytes", "bytes", "byte", lambda language: language.bytes),
    Basis("characters", "characters", "character", lambda language: language.characters),
    Basis("words", "words", "word", lambda language: language.words),
)}
"""The units that a cost is counted by, by name. A new one is an entry here."""


@dataclass(frozen=True, slots=True)
class Languages:
    """The costs of languages under one tokenizer.

    Attributes:
        by: The basis of the costs, one of `BASES`.
        splitter: The split that defines words.
        rows: The languages, the cheapest first; then those of mostly unknown tokens, and those that are
            refused last.
        cheapest: The language with the least cost among those without unknown tokens. If each has some, it is
            among those that are not mostly unknown tokens. Empty if there is none.
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
    return {sample.title: read(f"sample:{sample.name}") for sample in parallel()}


def costs(
    tokenizer: Tokenizer, corpora: Mapping[str, Corpus], by: str = "bytes", splitter: str = "whitespace",
    counted: Mapping[str, WordCounts] | None = None,
) -> Languages:
    """Compute the costs of languages under a tokenizer.

    Args:
        tokenizer: The tokenizer; no special token is added to a text and none is read from it.
        corpora: The texts by the names of their languages. By `sentences`, each document is a sentence, and
            the texts have the same sentences in the same order.
        by: The basis of the costs, one of `BASES`.
        splitter: The split that defines words, see `Conventions`.
        counted: Caches of the pre-tokens of the texts, by language, to share between tokenizers.

    Raises:
        TokentuiError: There is no text, no such basis or splitter, or, by sentences, the texts have different
            numbers of sentences or are counted words. A text that the tokenizer refuses is no error; the
            `error` of its row says why.
    """
    if name_of(by, "by") not in BASES:
        raise TokentuiError(f"costs cannot be counted by {by!r}", "by", nearest(by, BASES))
    if not corpora:
        raise TokentuiError("no language texts are given", "languages", "pass one or more")
    under = Conventions(name_of(splitter, "words"))
    if by == "sentences":
        _check_parallel(corpora)
    rows = []
    for name, corpus in each(corpora.items(), len(corpora)):
        words = WordCounts(corpus) if counted is None else counted[name]
        with silent():
            rows.append(_row(name, tokenizer, corpus, under, words))
    basis = BASES[by].of
    rows = [row if row.tokens is None else replace(row, cost=ratio(row.tokens, basis(row))) for row in rows]
    known = [row for row in rows if row.cost is not None]
    known = [row for row in known if not row.mostly_unknown]
    whole = [row for row in known if not row.unknowns] or known
    least = min(whole, key=_cost_order, default=None)
    if least is not None and least.cost:
        rows = [replace(row, times=row.cost / least.cost) if row in known and row.cost is not None else row
                for row in rows]
    rows.sort(key=_cost_order)
    return Languages(by, under.splitter, tuple(rows), "" if least is None else least.language)


def _check_parallel(corpora: Mapping[str, Corpus]) -> None:
    """Check that the texts have the same number of sentences.

    Raises:
        TokentuiError: The numbers differ, or a text is counted words.
    """
    first = ""
    for name, corpus in corpora.items():
        if corpus.counts is not None:
            raise TokentuiError("counted words are not sentences", name, "use --by bytes")
        first = first or name
        if len(corpus.documents) != len(corpora[first].documents):
            what = f"{len(corpus.documents):,} sentences, and {first} has {len(corpora[first].documents):,}"
            hint = "line N must mean the same in each; or use --by bytes"
            raise TokentuiError(what, name, hint)


def _row(
    name: str, tokenizer: Tokenizer, corpus: Corpus, under: Conventions, counted: WordCounts
) -> LanguageCost:
    """Return the counts of a language, without its cost; without tokens, but with an error, if the tokenizer
    refuses the text."""
    counts: Tally | None = None
    error = ""
    try:
        counts = tally(tokenizer, corpus, under, counted)
    except TokentuiError as refusal:
        error = str(refusal)
    words = counted.of(under.word_recipe()).occurrences
    characters = corpus.characters + sum(len(word) * times for word, times in corpus.counts or ())
    plain = LanguageCost(name, corpus.size, characters, words, len(corpus.documents), error=error)
    if counts is None:
        return plain
    return replace(
        plain, tokens=counts.tokens, unknowns=counts.unknowns,
        bytes_per_token=ratio(counts.bytes, counts.tokens),
        characters_per_token=ratio(counts.characters, counts.tokens),
    )


def _cost_order(language: LanguageCost) -> tuple[bool, bool, float]:
    """Return a sort key: cheapest language first, then mostly unknown ones, languages without a cost last."""
    return language.cost is None, language.mostly_unknown, language.cost or 0.0


def _columns(basis: Basis) -> tuple[Column, ...]:
    return (
        Column("language", priority=6, flex=True), Column("tokens", "right", 4),
        Column("bytes/token", "right", 1), Column("chars/token", "right"),
        Column(f"tokens/{basis.unit}", "right", 2), Column("x cheapest", "right", 5),
        Column("unknown", "right", 3), Column(priority=4),
    )


def report(
    found: Sequence[Languages], names: Sequence[str], tokenizers: Sequence[Tokenizer] = (),
    corpora: Mapping[str, Corpus] | None = None,
) -> Report:
    """Report on the costs of languages: a table for each tokenizer, and one that compares several.

    Args:
        found: The costs under each tokenizer, all on the same basis.
        names: The names of the tokenizers.
        tokenizers: The tokenizers, for the titles and JSON; without them, JSON lists none.
        corpora: The texts by the names of their languages, for JSON.
    """
    basis = BASES[found[0].by]
    abouts = [f"{label(tokenizer.recipe)}, {tokenizer.vocab_size:,} ids" for tokenizer in tokenizers]
    abouts = abouts or [""] * len(found)
    sections = [Section(f"cost: tokens per {basis.unit}{found[0].basis_detail}")]
    sections += [
        _section(f"{n} {name}", about, languages)
        for n, (name, about, languages) in enumerate(zip(names, abouts, found, strict=True), 1)
    ]
    if len(found) > 1:
        sections.append(_compared(found))
    value = {
        "by": found[0].by, "unit": basis.unit, "words_by": found[0].splitter,
        "languages": [
            {"name": name, "corpus": corpus.name, "bytes": corpus.size, "sha256": corpus.sha256}
            for name, corpus in (corpora or {}).items()
        ],
        "tokenizers": [
            {
                "name": name, "recipe": tokenizer.recipe.to_dict() | tokenizer.recipe.shape,
                "vocab_size": tokenizer.vocab_size, "cheapest": languages.cheapest or None,
                "costs": [_json(cost) for cost in languages.rows],
            }
            for name, tokenizer, languages in zip(names, tokenizers, found, strict=False)
        ],
    }
    return Report("Languages", tuple(sections), value, sections[0].name)


def _section(name: str, about: str, found: Languages) -> Section:
    """Return the table of one tokenizer, with bars up to the dearest language and the cheapest named.

    `about` takes the place of the unit as the summary.
    """
    most = max((cost.times or 0 for cost in found.rows), default=0)
    cheapest = f"cheapest: {found.cheapest}" if found.cheapest else "no text can be encoded"
    if not found.cheapest and any(cost.tokens for cost in found.rows):
        cheapest = "no language is the cheapest: most tokens are unknown"
    rows = tuple(_cells(cost, most, cost.language == found.cheapest) for cost in found.rows)
    summary = about or f"tokens per {BASES[found.by].unit}{found.basis_detail}"
    return Section(name, summary, rows, _columns(BASES[found.by]), notes=(cheapest,))


def _cells(cost: LanguageCost, most: float, cheapest: bool) -> Row:
    """Return the row of a language, with its error if it cannot be encoded. `most` is the longest bar."""
    name = Span(cost.language, "success" if cheapest else "")
    if cost.tokens is None:
        return Row(((name, "  ", Span(cost.error, "error")),))
    unknowns: Cell = warning(f"{cost.unknowns:,}") if cost.unknowns else "0"
    last: Cell | Bar = Bar((cost.times or 0) / most if most else 0)
    return Row((
        name, f"{cost.tokens:,}", shown(cost.bytes_per_token, 2), shown(cost.characters_per_token, 2),
        shown(cost.cost, 2), shown(cost.times, 2), unknowns,
        warning("mostly unknown") if cost.mostly_unknown else last,
    ))


def _compared(found: Sequence[Languages]) -> Section:
    """Return a table of the costs relative to the cheapest language, with a column for each tokenizer."""
    times = [{cost.language: cost.times for cost in languages.rows} for languages in found]
    rows = tuple(
        Row((cost.language, *(shown(column[cost.language], 2) for column in times))) for cost in found[0].rows
    )
    numbers = (Column(str(n), "right") for n in range(1, len(found) + 1))
    return Section("x cheapest", "", rows, (Column("language", priority=1, flex=True), *numbers))


def _json(cost: LanguageCost) -> Json:
    return as_row(cost) | {"error": cost.error or None}
