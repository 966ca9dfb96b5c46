"""Measures of a tokenizer on a corpus, each with its formula and its conventions.

`MEASURES` is the one table of them. Ratios are ratios of totals. A ratio over nothing is None, not 0. They
describe; none of them says by itself how well a model would learn.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from tokentui.analyze.results import PartTally, costs
from tokentui.core.errors import TokentuiError, nearest
from tokentui.core.jobs import EACH, each, in_blocks, silent, tick
from tokentui.core.safetext import to_bytes
from tokentui.encode.encoder import WordEncoder, WordToken
from tokentui.encode.segment import UNKNOWN
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import NO_ID, Vocabulary
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.count import WordCounts, Words
from tokentui.text.pretokenize import PreToken, Pretokenizer
from tokentui.text.split import SPACE_MARK, SPLITS

Value = float | int | None
Under = tuple[tuple[str, str], ...]
"""Conventions, as (name, value)."""
Counted = TypeVar("Counted")
Key = TypeVar("Key")

SYMBOLS: Mapping[str, str] = {
    "N": "tokens in the corpus",
    "B": "bytes in the corpus, as UTF-8",
    "C": "characters (code points) in the corpus",
    "V": "ids in the vocabulary, including special tokens",
    "U": "tokens in the vocabulary that occur in the corpus",
    "W": "words in the corpus, as the named splitter counts them",
    "T": "distinct words",
    "|w|": "tokens of a word encoded by itself",
    "p": "share of a token among the tokens in the corpus",
}
"""The meaning of the letters in the formulas."""


@dataclass(frozen=True, slots=True)
class Measure(Generic[Counted]):
    """A measure: one entry of `MEASURES`, or of the measures of two tokenizers.

    Attributes:
        name: Its name in rows for machines.
        title: Its name for people.
        formula: The formula, in the letters of `SYMBOLS`, which docs/reference/measures.md explains; of two
            tokenizers with {a} and {b} for their letters.
        unit: The unit of its values.
        better: `higher` or `lower`, whichever is better for the same corpus; empty if neither is.
        of: Returns its value for a tally; None if it has none.
        under: The conventions that it depends on, of `splitter` and `alpha`.
        fixed: The conventions that it has by itself, such as the denominator.
        digits: The decimals that are shown.
    """

    name: str
    title: str
    formula: str
    unit: str
    better: str
    of: Callable[[Counted], Value]
    under: tuple[str, ...] = ()
    fixed: Under = ()
    digits: int = 4


class Figure(NamedTuple):
    """The value of a measure, and the decimals that are shown of it."""

    value: Value
    digits: int = 4

    @property
    def shown(self) -> str:
        """The value for people, `n/a` for none."""
        return shown(self.value, self.digits)


class MeasureRow(NamedTuple):
    """A measure under some conventions, with one figure per column. A figure is None if the column could not
    be measured."""

    measure: Measure[Tally]
    conventions: Under
    figures: tuple[Figure | None, ...]

    @property
    def under(self) -> str:
        """The conventions in a line."""
        return ", ".join(f"{name} {value}" for name, value in self.conventions)


def shown(value: Value, digits: int = 4) -> str:
    """Format a number with thousands separators and a number of decimals; `n/a` for None."""
    if value is None:
        return "n/a"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"


def entropy(counts: Iterable[int], alpha: float = 1.0) -> float | None:
    """Rényi's entropy of order α of the shares of some counts, in bits: log2(Σ p^α)/(1-α) (Rényi 1961).

    At 1 it is Shannon's, -Σ p·log2 p, at infinity -log2 of the largest share. None without a positive count.
    """
    positive = [count for count in counts if count > 0]
    total = sum(positive)
    if not total:
        return None
    if alpha == 1:
        return max(0.0, math.log2(total) - math.fsum(count * math.log2(count) for count in positive) / total)
    largest = max(positive)
    if math.isinf(alpha):
        return math.log2(total / largest)
    # Σ p^α as the largest share's part times the rest, so that no power of a small share is lost for a large
    # α.
    scaled_sum = math.fsum((count / largest) ** alpha for count in positive)
    return max(0.0, (alpha * math.log2(largest / total) + math.log2(scaled_sum)) / (1 - alpha))


def ratio(above: float, below: float) -> float | None:
    """Return `above` divided by `below`; None if `below` is 0."""
    return above / below if below else None


def efficiency(bits: float | None, size: int) -> float | None:
    """Return an entropy relative to that of a uniform choice among `size`; None if `size` is less than two or
    the entropy is None."""
    return None if bits is None or size < 2 else bits / math.log2(size)


def bits(tokens: int, ids: int) -> float | None:
    """Return the bits of a corpus at a fixed length per token, N·log2 V; None without ids."""
    return tokens * math.log2(ids) if ids else None


def _spaced(value: Callable[[WordTally], Value]) -> Callable[[Tally], Value]:
    """Return a value of the words that have a leading space."""
    return lambda tally: None if tally.spaced is None else value(tally.spaced)


def _bare(value: Callable[[WordTally], Value]) -> Callable[[Tally], Value]:
    """Return a value of the words without a leading space."""
    return lambda tally: None if tally.bare is None else value(tally.bare)


_WORDS = ("splitter",)
_SPACE, _NO_SPACE = (("leading space", "yes"),), (("leading space", "no"),)
_OVER_V, _OVER_U = (("denominator", "log2 V"),), (("denominator", "log2 U"),)
_SHANNON, _RENYI = "(-Σ p·log2 p)", "log2(Σ p^α) / (1-α)"
_SINGLE = "distinct words with |w| = 1 / T"

MEASURES: tuple[Measure[Tally], ...] = (
    Measure("tokens", "tokens", "N", "tokens", "lower", lambda t: t.tokens),
    Measure("bytes_per_token", "bytes per token", "B / N", "bytes", "higher",
            lambda t: ratio(t.bytes, t.tokens)),
    Measure("characters_per_token", "characters per token", "C / N", "characters", "higher",
            lambda t: ratio(t.characters, t.tokens)),
    Measure("fertility", "fertility", "Σ |w| / W", "tokens per word", "lower",
            _spaced(lambda w: ratio(w.tokens, w.words)), _WORDS, _SPACE),
    Measure("continued_words", "continued words", "words with |w| ≥ 2 / W", "share", "lower",
            _spaced(lambda w: ratio(w.continued, w.words)), _WORDS, _SPACE),
    Measure("single_token_words_spaced", "single-token words", _SINGLE, "share", "higher",
            _spaced(lambda w: ratio(w.single, w.distinct)), _WORDS, _SPACE),
    Measure("single_token_words_bare", "single-token words", _SINGLE, "share", "higher",
            _bare(lambda w: ratio(w.single, w.distinct)), _WORDS, _NO_SPACE),
    Measure("shannon_efficiency", "Shannon efficiency", f"{_SHANNON} / log2 V", "share", "higher",
            lambda t: efficiency(entropy(t.counts), t.vocab_size), (), _OVER_V),
    Measure("shannon_efficiency_used", "Shannon efficiency", f"{_SHANNON} / log2 U", "share", "higher",
            lambda t: efficiency(entropy(t.counts), len(t.counts)), (), _OVER_U),
    Measure("renyi_efficiency", "Rényi efficiency", f"{_RENYI} / log2 V", "share", "higher",
            lambda t: efficiency(entropy(t.counts, t.conventions.alpha), t.vocab_size), ("alpha",), _OVER_V),
    Measure("renyi_efficiency_used", "Rényi efficiency", f"{_RENYI} / log2 U", "share", "higher",
            lambda t: efficiency(entropy(t.counts, t.conventions.alpha), len(t.counts)), ("alpha",), _OVER_U),
    Measure("vocabulary_size", "ids", "V", "ids", "", lambda t: t.vocab_size),
    Measure("vocabulary_in_use", "vocabulary in use", "U / V", "share", "higher",
            lambda t: ratio(t.used, t.vocab_size)),
    Measure("dead_tokens", "dead tokens", "V - U", "ids", "lower", lambda t: t.vocab_size - t.used),
    Measure("bits", "bits at a fixed length", "N·log2 V", "bits", "lower",
            lambda t: bits(t.tokens, t.vocab_size), digits=1),
    Measure("unknowns", "unknowns", "unknown tokens and dropped units",
            "tokens", "lower", lambda t: t.unknowns),
    Measure("round_trip_losses", "round-trip losses", "words that differ after decoding",
            "words", "lower", _spaced(lambda w: w.lost), _WORDS, _SPACE),
)
"""The measures in the order in which they are shown. A new one is an entry here."""


def _of_part(n: int, value: Callable[[PartTally], Value]) -> Callable[[Tally], Value]:
    """Return a value of one named corpus."""
    return lambda tally: value(tally.parts[n])


def _cost(n: int) -> Callable[[Tally], Value]:
    """Return the tokens per byte of a named corpus relative to the cheapest one."""
    return lambda tally: costs(tally.parts)[n]


def part_measures(n: int) -> tuple[Measure[Tally], ...]:
    """Return the measures of a named corpus, by its index among the named corpora."""
    return (
        Measure("tokens", "tokens", "N", "tokens", "lower", _of_part(n, lambda tally: tally.tokens)),
        Measure("bytes_per_token", "bytes per token", "B / N", "bytes", "higher",
                _of_part(n, lambda tally: ratio(tally.bytes, tally.tokens))),
        Measure("cost", "cost relative to the cheapest", "N / B relative to the smallest N / B", "times",
                "lower",
                _cost(n)),
    )


def rows_of(tallies: Sequence[Tally | None]) -> tuple[MeasureRow, ...]:
    """Return a row for each measure on one corpus, then the rows of each of its named corpora. Each row has a
    figure for each tally, None for a tally that is None; all tallies have the same conventions. Return an
    empty tuple if no column has a tally."""
    under = next((tally.conventions for tally in tallies if tally), None)
    if under is None:
        return ()
    rows = []
    for measure in MEASURES:
        figures = tuple(Figure(measure.of(tally), measure.digits) if tally else None for tally in tallies)
        rows.append(MeasureRow(measure, measure.fixed + under.labels(measure.under), figures))
    named = next((tally.parts for tally in tallies if tally), ())
    for n, part in enumerate(named):
        for measure in part_measures(n):
            figures = tuple(Figure(measure.of(tally), measure.digits) if tally else None for tally in tallies)
            rows.append(MeasureRow(measure, (("corpus", part.name),), figures))
    return tuple(rows)


# The counts that measures are made of: a corpus under one tokenizer, from its distinct words and their


WORD_SPLITTERS = tuple(written for name, written in SPLITS.written().items() if not SPLITS[name].keeps_spaces)
"""The splits that tell what a word is: those whose words hold no spaces."""


@dataclass(frozen=True, slots=True)
class Conventions:
    """The conventions of numbers about words and shares.

    Args:
        splitter: The split that tells what a word of the corpus is, one of `WORD_SPLITTERS`. The words of a
            counted corpus are those that were counted.
        alpha: The order of Rényi's entropy; 2.5 is what Zouhar et al. (2023) found best.

    Raises:
        TokentuiError: No such splitter, or an order below 0.
    """

    splitter: str = "whitespace"
    alpha: float = 2.5

    def __post_init__(self) -> None:
        if self.splitter not in WORD_SPLITTERS and not self.splitter.startswith("regex:"):
            what = f"no splitter {self.splitter!r} for words"
            raise TokentuiError(what, "splitter", nearest(self.splitter, WORD_SPLITTERS))
        if math.isnan(self.alpha) or self.alpha < 0:
            raise TokentuiError("out of range", f"alpha={self.alpha}", "use 0 or more")
        SPLITS.check(self.splitter)
        Pretokenizer(self.word_recipe())  # a pattern is compiled

    def word_recipe(self) -> Recipe:
        """Return a recipe that only splits text into words."""
        return Recipe(split=self.splitter)

    def labels(self, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
        """Return the label and the value of each named convention, of `splitter` and `alpha`."""
        values = {"splitter": ("words by", self.splitter), "alpha": ("α", f"{self.alpha:g}")}
        return tuple(values[name] for name in names)


@dataclass(frozen=True, slots=True)
class WordTally:
    """The counts of the words of a corpus, each encoded by itself.

    Attributes:
        words: The number of words in the corpus.
        distinct: The number of distinct words.
        tokens: The tokens of all of them.
        continued: The words of two or more tokens.
        single: The distinct words that are one token.
        lost: The words that differ after decoding, whatever becomes of a space before them.
    """

    words: int
    distinct: int
    tokens: int
    continued: int
    single: int
    lost: int


@dataclass(frozen=True, slots=True)
class Tally:
    """A corpus under one tokenizer, in numbers.

    Attributes:
        conventions: The conventions that words and shares were counted under.
        bytes: The bytes of the corpus, as UTF-8.
        characters: Its code points.
        vocab_size: The ids of the vocabulary, special tokens included.
        tokens: The tokens of the corpus.
        counts: The occurrences of each distinct token, in order of first appearance; tokens without an id are
            told apart by their bytes.
        used: The number of ids that occur in the corpus.
        unknowns: Tokens for what the vocabulary lacks, and units that were dropped.
        spaced: The words, each encoded with one space before it, which is in the text or the tokenizer adds;
            None if the tokenizer refuses one of them.
        bare: The words, each encoded alone; None if the tokenizer refuses one of them.
        parts: The named corpora, empty where there are none.
    """

    conventions: Conventions
    bytes: int
    characters: int
    vocab_size: int
    tokens: int
    counts: tuple[int, ...]
    used: int
    unknowns: int
    spaced: WordTally | None
    bare: WordTally | None
    parts: tuple[PartTally, ...] = ()


def tally(
    tokenizer: Tokenizer, corpus: Corpus, conventions: Conventions | None = None,
    counted: WordCounts | None = None
) -> Tally:
    """Count a corpus under a tokenizer. Each distinct pre-token is encoded once, but for files that do more
    than axes can say.

    Args:
        tokenizer: The tokenizer; no special token is added to a text and none is read from it.
        corpus: The corpus; counted words are pre-tokens as they are.
        conventions: The conventions that words and shares are counted under.
        counted: A cache of the pre-tokens of the corpus, to share between tokenizers.

    Raises:
        TokentuiError: The tokenizer refuses a pre-token; the error names the unit. Words that it refuses
            alone give None for `spaced` or `bare`.
        Cancelled: The job is cancelled.
    """
    under, counted = conventions or Conventions(), counted or WordCounts(corpus)
    encoder, as_words = tokenizer.encoder, corpus.counts is not None
    by_words = as_words or in_parts(tokenizer.vocabulary)
    drops = UNKNOWN.of(tokenizer.recipe.unknown).drops_units
    with silent():
        parts = counted.of(tokenizer.recipe) if by_words else _as_words(corpus)
        words = parts if as_words else counted.of(under.word_recipe())
    total = len(parts.words) + 2 * len(words.words)
    counts: Counter[int | bytes | None] = Counter()
    unknowns, sizes = 0, list[int]()
    for part, times in each(zip(parts.words, parts.counts, strict=True), total):
        if by_words:
            tokens, lacks = word_tokens(encoder, part), _dropped(encoder, part) if drops else 0
            encoded = [(token.id, token.piece) for token in tokens]
            unknowns += times * (lacks + sum(token.unknown for token in tokens))
        else:
            with silent():
                encoding = encoder.encode(part)
            encoded = list(zip(encoding.ids, encoding.pieces, strict=True))
            stretches = encoder.stretches(part, False) if drops else ()
            lacks = sum(
                _dropped(encoder, word.text)
                for stretch in stretches if isinstance(stretch, list) for word in stretch
            )
            unknowns += times * (lacks + len(encoding.unknown))
        sizes.append(len(encoded))
        for block in in_blocks(encoded):  # a document as one word may have millions of tokens
            for number, piece in block:
                counts[piece if number is None else number] += times

    no_id = NO_ID if by_words else None

    def ids(texts: Sequence[str]) -> Sequence[Sequence[int | None]]:
        """Return the ids of texts, each encoded alone; `no_id` for a token without an id."""
        if not by_words:
            with silent():
                return [encoding.ids for encoding in tokenizer.encode_batch(texts)]
        cuts = [[text] if as_words else encoder.pretokenizer.words(text) for text in texts]
        return [[number for word in cut for number in encoder.cached_ids(word)] for cut in cuts]

    def word_tally(front: str, done: int) -> WordTally | None:
        """Count the words, each encoded with a text in front; return None if one of them is refused."""
        tokens = continued = single = lost = 0
        for start in range(0, len(words.words), EACH):
            batch = words.words[start : start + EACH]
            tick(done + start, total)
            try:
                encoded = ids([front + word for word in batch])
            except TokentuiError:  # a corpus without spaces may leave one unknown
                return None
            for word, times, numbers in zip(
                batch, words.counts[start : start + EACH], encoded, strict=True
            ):
                tokens += len(numbers) * times
                continued += times if len(numbers) > 1 else 0
                single += len(numbers) == 1
                decoded = None if no_id in numbers else tokenizer.decode_bytes(numbers).removeprefix(b" ")
                lost += 0 if decoded == to_bytes(word) else times
        return WordTally(words.occurrences, len(words.words), tokens, continued, single, lost)

    return Tally(
        conventions=under,
        bytes=corpus.size,
        characters=_characters(corpus),
        vocab_size=tokenizer.vocab_size,
        tokens=sum(counts.values()),
        counts=tuple(counts.values()),
        used=sum(isinstance(kind, int) for kind in counts),
        unknowns=unknowns,
        spaced=word_tally("" if as_words or adds_space(encoder) else " ", len(parts.words)),
        bare=word_tally("", len(parts.words) + len(words.words)),
        parts=_part_tallies(corpus, parts, sizes, by_words),
    )


def tallies(
    columns: Mapping[Key, Tokenizer], corpus: Corpus, conventions: Conventions, counted: WordCounts
) -> dict[Key, Tally | TokentuiError]:
    """Count a corpus under several tokenizers, see `tally`: the counts of each, or why it refuses the corpus.
    """
    counts: dict[Key, Tally | TokentuiError] = {}
    for key, tokenizer in columns.items():
        try:
            counts[key] = tally(tokenizer, corpus, conventions, counted)
        except TokentuiError as error:
            counts[key] = error
    return counts


def adds_space(encoder: WordEncoder) -> bool:
    """Return whether a tokenizer adds a space to a text that has none, as sentencepiece's dummy prefix does.

    A second space in front of a word would be a token by itself there.
    """
    stretches = encoder.stretches("a", False)
    words = next((part for part in stretches if isinstance(part, list) and part), None)
    return words is not None and words[0].text.strip(f" {SPACE_MARK}") != words[0].text


def _as_words(corpus: Corpus) -> Words:
    """Return the documents of a corpus as if each were a word, counted by the weight of its named corpus."""
    times = [named.times for named in corpus.named for _ in named.corpus.texts] or [1] * len(corpus.documents)
    return Words(corpus.documents, times)


def _characters(corpus: Corpus) -> int:
    """Count the code points of a corpus, weighted by the counts of its documents or words."""
    if corpus.named:
        return sum(named.times * _characters(named.corpus) for named in corpus.named)
    return corpus.characters + sum(len(word) * times for word, times in corpus.counts or ())


def _part_tallies(
    corpus: Corpus, counted: Words, sizes: Sequence[int], by_words: bool
) -> tuple[PartTally, ...]:
    """Return the tallies of the named corpora; empty without any.

    Args:
        corpus: The corpus.
        counted: Its words or, if not `by_words`, its documents.
        sizes: The number of tokens of each word or document.
        by_words: True if `counted` has words.
    """
    tallies, start = [], 0
    tokens_of = dict(zip(counted.words, sizes, strict=True)) if by_words and corpus.named else {}
    for n, named in enumerate(corpus.named):
        if by_words:
            words = counted.parts[n].words
            counts = zip(words.words, words.counts, strict=True)
            tokens = sum(tokens_of[word] * times for word, times in counts)
        else:
            size = len(named.corpus.texts)
            tokens, start = named.times * sum(sizes[start : start + size]), start + size
        tallies.append(PartTally(named.name, named.times * named.corpus.size, tokens))
    return tuple(tallies)


def word_tokens(encoder: WordEncoder, word: str) -> tuple[WordToken, ...]:
    """Return the tokens of a pre-token, unknown ones included.

    Raises:
        TokentuiError: The recipe refuses unknown units, and there is one; the error names both.
    """
    tokens = encoder.word(word)
    unknown = next((token for token in tokens if token.unknown), None)
    if unknown is not None and UNKNOWN.of(encoder.vocabulary.recipe.unknown).is_error:
        units = encoder.pretokenizer.units(word)
        pretoken = PreToken(word, 0, len(word), 0, len(word), ((0, 0),) * len(units))
        error = encoder.unknown_error(pretoken, unknown)
        short = word if len(word) <= 20 else word[:20] + "…"
        raise TokentuiError(error.what, f"the pre-token {short!r}", error.hint)
    return tokens


def _dropped(encoder: WordEncoder, word: str) -> int:
    """Count the units of a pre-token that the recipe drops."""
    units = encoder.pretokenizer.units(word)
    return len(units) - len(encoder.kept_indices(units))


def in_parts(vocabulary: Vocabulary) -> bool:
    """Return whether a text can be encoded pre-token by pre-token, and split in two where its recipe allows
    it.

    Not where a file has tokens that are found in the text by their names, or words that no recipe cuts.
    """
    file = vocabulary.file
    return file.sections is None and type(file.pretokenizer) in (Pretokenizer, type(None))
