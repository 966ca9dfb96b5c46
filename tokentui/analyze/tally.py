"""The counts that measures are made of: a corpus under one tokenizer, from its distinct words and their
counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tokentui.core.arguments import nearest
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import silent, tick
from tokentui.encode.offsets import Token, WordEncoder
from tokentui.encode.pipeline import ImportedVocabulary
from tokentui.encode.segment.unknown import UNKNOWN
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.count import WordCounts, Words
from tokentui.text.pretokenize import PreToken, Pretokenizer
from tokentui.text.split import SPLITS, to_bytes

WORD_SPLITTERS = tuple(written for name, written in SPLITS.written().items() if not SPLITS[name].keeps_spaces)
"""The splits that tell what a word is: those whose words hold no spaces."""
_LOOK_EVERY = 1024


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
            raise TokentuiError(
                f"no splitter {self.splitter!r} for words", "splitter", nearest(self.splitter, WORD_SPLITTERS)
            )
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
        corpus: The digest of the corpus.
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

    corpus: str
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
    for part, times in _told(parts, 0, total):
        for kind in (cut := encode(part)).kinds:
            counts[kind] += times
        unknowns += times * cut.unknown
    ways = (encode, encode) if as_words else (encoder.spaced, encoder.text)
    spaced, bare = (
        _words(words, way, encoder.given_back, len(parts.words) + n * len(words.words), total)
        for n, way in enumerate(ways)
    )
    return Tally(
        corpus=corpus.sha256,
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


def _told(words: Words, done: int, total: int) -> Iterator[tuple[str, int]]:
    """Words with their counts; the job is told how far they are."""
    for n, found in enumerate(zip(words.words, words.counts, strict=True), done):
        if n % _LOOK_EVERY == 0:
            tick(n, total)
        yield found


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
        unknown = UNKNOWN.of(tokenizer.recipe.unknown)
        self._refuses, self._drops = unknown.refused, unknown.drops

    def pretoken(self, word: str) -> _Cut:
        """A pre-token. Raises TokentuiError where the recipe refuses a unit of it."""
        tokens = self._encoder.word(word)
        unknown = [token for token in tokens if token.unknown]
        if unknown and self._refuses:
            raise self._refusal(word, unknown[0])
        return _cut(tokens, len(unknown) + self._dropped(word))

    def text(self, text: str) -> _Cut:
        """A text. Raises TokentuiError as encoding does."""
        if not self.in_parts:
            with silent():
                encoding = self._tokenizer.encode(text)
            told = zip(encoding.ids, encoding.pieces, strict=True)
            kinds = tuple(piece if number is None else number for number, piece in told)
            dropped = sum(self._dropped(word.text) for word in self._words_of(text))
            return _Cut(encoding.ids, kinds, len(encoding.unknown) + dropped)
        cuts = [self.pretoken(word) for word in self._encoder.pretokenizer.words(text)]
        if len(cuts) == 1:
            return cuts[0]
        ids = tuple(number for cut in cuts for number in cut.ids)
        return _Cut(ids, tuple(kind for cut in cuts for kind in cut.kinds), sum(cut.unknown for cut in cuts))

    def spaced(self, word: str) -> _Cut:
        """A word with a space before it. Raises as `text` does."""
        return self.text(" " + word)

    def given_back(self, cut: _Cut, word: str) -> bool:
        """Return whether decoding gives the word back, with or without a space before it."""
        if None in cut.ids:
            return False
        return self._tokenizer.decode_bytes(cut.ids).removeprefix(b" ") == to_bytes(word)

    def _words_of(self, text: str) -> Iterable[PreToken]:
        if not self._drops:
            return ()
        parts = self._encoder.stretches(text, False)
        return (word for part in parts if isinstance(part, list) for word in part)

    def _dropped(self, word: str) -> int:
        """The number of units of a pre-token that are left out."""
        if not self._drops:
            return 0
        units = self._encoder.pretokenizer.units(word)
        return len(units) - len(self._encoder.kept(units))

    def _refusal(self, word: str, token: Token) -> TokentuiError:
        units = self._encoder.pretokenizer.units(word)
        place = PreToken(word, 0, len(word), 0, len(word), ((0, 0),) * len(units))
        error = self._encoder.refusal(place, token)
        short = word if len(word) <= 20 else word[:20] + "…"
        return TokentuiError(error.what, f"the pre-token {short!r}", error.hint)


def in_parts(vocabulary: Vocabulary) -> bool:
    """Return whether a text may be encoded pre-token by pre-token, and cut in two where its recipe may be.

    Not where a file has tokens that are found in the text by their names, or words that no recipe cuts.
    """
    if not isinstance(vocabulary, ImportedVocabulary):
        return True
    pipeline = vocabulary.pipeline
    return pipeline.stretches is None and type(pipeline.pretokenizer) is Pretokenizer


def _cut(tokens: Iterable[Token], unknown: int) -> _Cut:
    pairs = [(token.id, token.piece if token.id is None else token.id) for token in tokens]
    return _Cut(tuple(number for number, _ in pairs), tuple(kind for _, kind in pairs), unknown)


def _words(
    words: Words, encode: Callable[[str], _Cut], given_back: Callable[[_Cut, str], bool], done: int,
    total: int
) -> WordTally | None:
    tokens = continued = single = lost = 0
    for word, times in _told(words, done, total):
        try:
            cut = encode(word)
        except Cancelled:
            raise
        except TokentuiError:  # a corpus without spaces may leave one unknown
            return None
        size = len(cut.ids)
        tokens += size * times
        continued += times if size > 1 else 0
        single += size == 1
        lost += 0 if given_back(cut, word) else times
    return WordTally(words.occurrences, len(words.words), tokens, continued, single, lost)
