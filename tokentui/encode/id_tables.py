"""Words to ids, without places. Each encoder has one table, chosen by what the tokens of a word depend on.

- `WordIdTable`: on the word alone. Kernels take a long text as a whole if its split has a rule, or if its
  stretches are encoded one by one (`text/stretching.py`). All other words are looked up in one cache, which
  kernels fill many words at a time.
- `DocumentIdTable`: on the words before it too (`SingleViterbi`). Kernels take the words of a text in order.

What kernels cannot encode, plain Python encodes: `WordEncoder.word_ids`, one word at a time.

| cache | key and value | bound |
|---|---|---|
| `WordEncoder.tokens` | a word, its tokens with places | `memo.KEPT` words |
| `known` | a word, its ids | `memo.KEPT` words |
| `SingleViterbi` | a word, its parts at the start of a text | `memo.KEPT` words |
| `Compiled`, one a thread | the bytes of a word, its ids, in flat arrays | `KEPT_WORDS`, `KEPT_BYTES` |

A word of more than `memo.LONGEST` characters is in neither of the first two.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, cast

from tokentui.core import engines, memo
from tokentui.core.jobs import check, tick
from tokentui.core.memo import Memo
from tokentui.core.safetext import SURROGATE
from tokentui.encode.encoding import joined, packed
from tokentui.encode.segment import EncodingWay, Follower, Segmenter, WordPart
from tokentui.encode.vocabulary import Sections, Vocabulary
from tokentui.text.count import chunks
from tokentui.text.pretokenize import Pretokenizer

if TYPE_CHECKING:
    from tokentui.encode.kernels.batch import Following, Many
    from tokentui.encode.kernels.encode import Compiled

KERNEL_CHARS = 4096
"""Texts with fewer characters are encoded in plain Python, because building the tables of the kernels takes
longer."""
MANY_CHARS = 1 << 19
"""The tables are built once short texts have this many characters in all."""
MANY_WORDS = 1024
"""Until this many words were encoded, plain Python encodes them, because building the tables of the kernels
takes longer."""
_BLOCK_WORDS = 1 << 14
"""Words between two checks of the job."""


class EncoderParts(Protocol):
    """The attributes and methods of `WordEncoder` that a table uses."""

    vocabulary: Vocabulary
    merges: int
    pretokenizer: Pretokenizer
    way: EncodingWay
    segmenter: Segmenter
    drops_units: bool
    sections: Sections | None

    def word_ids(self, word: str, parts: list[WordPart] | None = None) -> list[int]: ...
    def follower(self) -> Callable[[str], list[WordPart] | None]: ...


class IdTable:
    """Encodes words by one vocabulary at one number of merges; here without kernels."""

    def __init__(self, encoder: EncoderParts) -> None:
        self.known: Memo[list[int]] = Memo(encoder.word_ids)
        """The ids of each word alone. The lists must not change."""
        self._encoder = encoder

    def ids(self, part: str | list[str], threads: int | None = None) -> array[int]:
        """Return the ids of a text that the recipe alone cuts into words, or of the words of a text in order.

        Args:
            part: The text, or the words.
            threads: How many threads the kernels use; by default as many as pay off for the text.

        Raises:
            UnknownUnit: A unit is unknown and the recipe refuses it.
            Cancelled: The job is cancelled.
        """
        raise NotImplementedError

    @property
    def takes_short(self) -> bool:
        """True if `ids_by_kernels` takes short texts."""
        return False

    def ids_by_kernels(self, text: str, threads: int | None = None) -> array[int] | None:
        """Return the ids of a text as typed, with the tokens in it that are cut out of any text. None if
        kernels do not take it as a whole. The arguments and errors are those of `ids`."""
        return None

    def ids_of_texts(self, texts: Sequence[str]) -> tuple[array[int], array[int]] | None:
        """Return the ids of many short texts by one call of the kernels; and a 0, then where those of each
        text end. None if they cannot.

        Raises:
            UnknownUnit: As `ids` does.
        """
        return None

    def threads(self, characters: int) -> int:
        """Return how many threads speed up the encoding of texts of this total length. 0 without kernels."""
        return 0


def table_of(encoder: EncoderParts) -> IdTable:
    """Return an empty table for an encoder."""
    return WordIdTable(encoder) if encoder.way.scope == "word" else DocumentIdTable(encoder)


class WordIdTable(IdTable):
    """Encodes words whose tokens depend on nothing else."""

    _text_kernels: Compiled | None = None
    _short_chars = 0

    def __init__(self, encoder: EncoderParts) -> None:
        super().__init__(encoder)
        self._many = _ManyWords(encoder, self.known)

    def ids(self, part: str | list[str], threads: int | None = None) -> array[int]:
        """Return the ids of a text, or of words, by kernels if they take the text as a whole."""
        if isinstance(part, str):
            if (by_kernels := self.ids_by_kernels(part, threads)) is not None:
                return by_kernels
            if len(part) < KERNEL_CHARS:  # blocks take longer than the words of a line
                check()
                words = self._encoder.pretokenizer.words(part)
                known = list(map(self.known.get, words))
                if None not in known:
                    return packed(itertools.chain.from_iterable(cast("list[list[int]]", known)))
        ids = array("i")
        for words in _blocks(part, self._encoder.pretokenizer):
            self._many.add(words)
            ids = joined(ids, packed(itertools.chain.from_iterable(map(self.known.__getitem__, words))))
        return ids

    @property
    def takes_short(self) -> bool:
        """True if the tables of the kernels are built, so that they may take short texts too."""
        return self._text_kernels is not None and self._text_kernels.knows

    def ids_by_kernels(self, text: str, threads: int | None = None) -> array[int] | None:
        """Return the ids of a text as typed, if kernels split it or encode its stretches: of a long one, or
        if `takes_short`."""
        short = len(text) < KERNEL_CHARS
        if short and not self.takes_short:
            self._short_chars += len(text)
            if self._text_kernels is not None or self._short_chars < MANY_CHARS:
                return None
        if engines.available():
            with engines.rescued():
                kernels = self.text_kernels()
                if short:
                    check()
                    return kernels.encode_short(text)
                if kernels.knows:
                    return kernels.encode(text, threads)
        return None

    def ids_of_texts(self, texts: Sequence[str]) -> tuple[array[int], array[int]] | None:
        """Return the ids of many short texts, and their borders. Kernels must be available."""
        return self.text_kernels().encode_each(texts)

    def threads(self, characters: int) -> int:
        """Return how many threads kernels use for texts that they take as a whole, 0 for others."""
        if characters < KERNEL_CHARS or not engines.available():
            return 0
        threads = 1
        with engines.rescued():
            from tokentui.text.kernels.count import threads_for

            if self.text_kernels().knows:
                threads = threads_for(characters)
        return threads

    def text_kernels(self) -> Compiled:
        """Return the kernels that split and encode texts, made once. Kernels must be available."""
        if self._text_kernels is None:
            check()
            from tokentui.encode.kernels.encode import Compiled  # not worth it for what is typed

            check()
            encoder = self._encoder
            self._text_kernels = Compiled(
                encoder.vocabulary, encoder.merges, encoder.pretokenizer,
                encoder.segmenter if encoder.way.kernel else None, encoder.sections, self._many.ids_of_each,
            )
        return self._text_kernels


class _ManyWords:
    """Encodes many words at once, by kernels if there are enough.

    Args:
        encoder: Encodes a word.
        known: The ids of each word alone.
    """

    _word_kernels: Many | None = None

    def __init__(self, encoder: EncoderParts, known: Memo[list[int]]) -> None:
        self._encoder, self._known = encoder, known

    def ids_of_each(self, words: list[str]) -> list[list[int]]:
        """Return the ids of each of some words. The lists must not change."""
        self.add(words)
        return list(map(self._known.__getitem__, words))

    def add(self, words: list[str]) -> None:
        """Add new words to `known` by kernels if enough words were encoded, clearing it first if it is full.

        Words with unknown units are not added; `known` encodes them in plain Python when they are looked up.
        """
        known, encoder = self._known, self._encoder
        new = [word for word in dict.fromkeys(words) if word not in known and len(word) <= memo.LONGEST]
        if not new or len(known) + len(new) < MANY_WORDS or not engines.available():
            return
        with engines.rescued():
            if self._word_kernels is None:
                from tokentui.encode.kernels.batch import batch

                check()
                unit, way = encoder.pretokenizer.plain_unit, encoder.way
                encode_words = batch(
                    encoder.vocabulary, encoder.merges, encoder.segmenter, unit, drops=encoder.drops_units
                ) if unit and (way.kernel or way.needs == "scores") else None
                self._word_kernels = encode_words or (lambda words: [None] * len(words))
                check()
            symbols = encoder.pretokenizer.symbols
            if symbols or SURROGATE.search("".join(new)):
                new = [word for word in new if word not in symbols and not SURROGATE.search(word)]
            if len(known) + len(new) > memo.KEPT:
                known.clear()
            ids_of_new = zip(new, self._word_kernels(new), strict=True)
            known.update([(word, ids) for word, ids in ids_of_new if ids is not None])


class DocumentIdTable(IdTable):
    """Encodes words whose tokens depend on the words before them in a text. Threads do not speed that up."""

    _kernels: Following | None = None

    def ids(self, part: str | list[str], threads: int | None = None) -> array[int]:
        """Return the ids of a text, or of words in order, in one thread."""
        characters = len(part) if isinstance(part, str) else sum(map(len, part))
        if characters >= KERNEL_CHARS and engines.available():
            with engines.rescued():
                if (by_kernels := self._ids_by_kernels(part)) is not None:
                    return by_kernels
        known, encoder = self.known, self._encoder
        follower, symbols = encoder.follower(), encoder.pretokenizer.symbols

        def ids_of(word: str) -> list[int]:
            parts = None if word in symbols else follower(word)
            return known[word] if parts is None else encoder.word_ids(word, parts)

        ids = array("i")
        for words in _blocks(part, encoder.pretokenizer):
            ids = joined(ids, packed(itertools.chain.from_iterable(map(ids_of, words))))
        return ids

    def _ids_by_kernels(self, part: str | list[str]) -> array[int] | None:
        """Return the ids of words in order. None if the kernels cannot encode them."""
        encoder = self._encoder
        if self._kernels is None:
            from tokentui.encode.kernels.batch import follow

            pretokenizer = encoder.pretokenizer
            after, units = cast("Follower", encoder.segmenter).after, pretokenizer.units
            takes = pretokenizer.plain_unit == "char" and not (encoder.drops_units or pretokenizer.symbols)
            self._kernels = (follow(
                encoder.vocabulary, encoder.merges, encoder.segmenter,
                lambda word, before: encoder.word_ids(word, after(units(word), before)),
            ) if takes else None) or (lambda words, before: None)
        ids, log_probability = array("i"), 0.0
        for words in _blocks(part, encoder.pretokenizer):
            block = self._kernels(words, log_probability)
            if block is None:
                return None
            block_ids, log_probability = block
            ids += block_ids
        return ids


def _blocks(part: str | list[str], pretokenizer: Pretokenizer) -> Iterator[list[str]]:
    """Yield the words of a text, or a list of words, block by block. Report the progress of long ones: in
    characters of a text, in words of a list."""
    if isinstance(part, str) and pretokenizer.beyond_axes:
        part = pretokenizer.words(part)
    if isinstance(part, list):
        for start in range(0, len(part), _BLOCK_WORDS):
            tick(start, len(part)) if len(part) > _BLOCK_WORDS else check()
            yield part[start : start + _BLOCK_WORDS]
        return
    done = 0
    for text, first in chunks([part], pretokenizer):
        tick(done, len(part)) if len(text) < len(part) else check()
        yield pretokenizer.words(text, first=first)
        done += len(text)
