"""The counts that measures are made of: a corpus under one tokenizer, from its distinct words and their
counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tokentui.core.errors import Cancelled, TokentuiError, nearest
from tokentui.core.jobs import each, silent
from tokentui.encode.offsets import WordEncoder
from tokentui.encode.pipeline import ImportedVocabulary
from tokentui.encode.segment.ways import UNKNOWN
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.count import WordCounts, Words
from tokentui.text.pretokenize import PreToken, Pretokenizer
from tokentui.text.split import SPLITS, to_bytes

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
            raise TokentuiError("out of range", f"alpha={self.alpha}", "take 0 or more")
        SPLITS.check(self.splitter)
        Pretokenizer(self.word_recipe())  # a pattern is compiled

    def word_recipe(self) -> Recipe:
        """A recipe that splits as this says and changes nothing."""
        return Recipe(split=self.splitter)

    def said(self, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
        """Some of them as (name, value)."""
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
        lost: The words that decoding their ids does not give back, whatever becomes of a space before them.
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
        vocab_size: The ids of the vocabulary, specials counted.
        tokens: The tokens of the corpus.
        counts: The count of each kind of token, in order of first appearance; a token without an id counts by
            its bytes.
        used: The number of ids that occur in the corpus.
        unknowns: Tokens for what the vocabulary lacks, and units that were dropped.
        spaced: The words with a space before each; None where the tokenizer refuses one of them.
        bare: The words without.
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
        counted: The pre-tokens of the corpus, where several tokenizers share them.

    Raises:
        TokentuiError: The corpus holds what the tokenizer refuses; it names the unit and a pre-token that
            holds it.
    """
    under, counted = conventions or Conventions(), counted or WordCounts(corpus)
    encoder = _Encoder(tokenizer)
    as_words = corpus.counts is not None
    parts = Words(corpus.documents, (1,) * len(corpus.documents))
    encode: Callable[[str], _Cut] = encoder.text
    with silent():
        if as_words or encoder.in_parts:
            parts, encode = counted.of(tokenizer.recipe), encoder.pretoken
        words = parts if as_words else counted.of(under.word_recipe())
    total = len(parts.words) + 2 * len(words.words)
    counts: Counter[int | bytes | None] = Counter()
    unknowns = 0
    for part, times in each(zip(parts.words, parts.counts, strict=True), total):
        for kind in (cut := encode(part)).kinds:
            counts[kind] += times
        unknowns += times * cut.unknown
    spaced, bare = (
        encoder.tally(encode if as_words else encoder.text, words, "" if as_words else front,
                      len(parts.words) + n * len(words.words), total)
        for n, front in enumerate((" ", ""))
    )
    return Tally(
        conventions=under,
        bytes=corpus.size,
        characters=corpus.characters + sum(len(word) * times for word, times in corpus.counts or ()),
        vocab_size=tokenizer.vocab_size,
        tokens=sum(counts.values()),
        counts=tuple(counts.values()),
        used=sum(isinstance(kind, int) for kind in counts),
        unknowns=unknowns,
        spaced=spaced,
        bare=bare,
    )


class _Cut(NamedTuple):
    """An encoded text: ids, the kind of each token (its id, else its bytes), and how much of it the
    vocabulary lacks."""

    ids: tuple[int | None, ...]
    kinds: tuple[int | bytes | None, ...]
    unknown: int


class _Encoder:
    """Encodes pre-tokens, and texts that stand alone."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.in_parts = in_parts(tokenizer.vocabulary)
        self._tokenizer = tokenizer
        self._encoder = WordEncoder(tokenizer.vocabulary, tokenizer.merges)
        self._unknown = UNKNOWN.of(tokenizer.recipe.unknown)

    def pretoken(self, word: str) -> _Cut:
        """A pre-token. Raises TokentuiError where the recipe refuses a unit of it."""
        tokens = self._encoder.word(word)
        unknown = [token for token in tokens if token.unknown]
        if unknown and self._unknown.refused:
            units = self._encoder.pretokenizer.units(word)
            place = PreToken(word, 0, len(word), 0, len(word), ((0, 0),) * len(units))
            error = self._encoder.refusal(place, unknown[0])
            short = word if len(word) <= 20 else word[:20] + "…"
            raise TokentuiError(error.what, f"the pre-token {short!r}", error.hint)
        return _cut([token.id for token in tokens], [token.piece for token in tokens],
                    len(unknown) + self._dropped(word))

    def text(self, text: str) -> _Cut:
        """A text. Raises TokentuiError as encoding does."""
        if self.in_parts:
            cuts = [self.pretoken(word) for word in self._encoder.pretokenizer.words(text)]
            ids, kinds = (one for cut in cuts for one in cut.ids), (one for cut in cuts for one in cut.kinds)
            return _Cut(tuple(ids), tuple(kinds), sum(cut.unknown for cut in cuts))
        with silent():
            encoding = self._tokenizer.encode(text)
        parts = self._encoder.stretches(text, False) if self._unknown.drops else ()
        words = (word.text for part in parts if isinstance(part, list) for word in part)
        return _cut(encoding.ids, encoding.pieces, len(encoding.unknown) + sum(map(self._dropped, words)))

    def tally(
        self, encode: Callable[[str], _Cut], words: Words, front: str, done: int, total: int
    ) -> WordTally | None:
        """Count words with a text in front of each; None where one of them is refused."""
        tokens = continued = single = lost = 0
        for word, times in each(zip(words.words, words.counts, strict=True), total, done):
            try:
                ids = encode(front + word).ids
            except Cancelled:
                raise
            except TokentuiError:  # a corpus without spaces may leave one unknown
                return None
            tokens += len(ids) * times
            continued += times if len(ids) > 1 else 0
            single += len(ids) == 1
            back = None if None in ids else self._tokenizer.decode_bytes(ids).removeprefix(b" ")
            lost += 0 if back == to_bytes(word) else times
        return WordTally(words.occurrences, len(words.words), tokens, continued, single, lost)

    def _dropped(self, word: str) -> int:
        """The number of units of a pre-token that are left out."""
        if not self._unknown.drops:
            return 0
        units = self._encoder.pretokenizer.units(word)
        return len(units) - len(self._encoder.kept(units))


def _cut(ids: Sequence[int | None], pieces: Sequence[bytes | None], unknown: int) -> _Cut:
    kinds = (piece if number is None else number for number, piece in zip(ids, pieces, strict=True))
    return _Cut(tuple(ids), tuple(kinds), unknown)


def in_parts(vocabulary: Vocabulary) -> bool:
    """Return whether a text may be encoded pre-token by pre-token, and cut in two where its recipe may be.

    Not where a file has tokens that are found in the text by their names, or words that no recipe cuts.
    """
    if not isinstance(vocabulary, ImportedVocabulary):
        return True
    pipeline = vocabulary.pipeline
    return pipeline.stretches is None and type(pipeline.pretokenizer) is Pretokenizer
