"""A part of a text without the rest: a stretch of a document as an opened tokenizer cuts it, and a typed text
of which a key changes little."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from operator import attrgetter

from tokentui.core.jobs import tick
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.encoding import EncodedToken
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Special, Vocabulary
from tokentui.text.corpus import Corpus, LongText
from tokentui.text.count import CHUNK_CHARS, COVERED, Coverage, Words, count, coverage, coverage_of_text
from tokentui.text.pretokenize import PreToken, Pretokenizer

_CONTEXT = 400
"""The number of characters of context that are read before and after a stretch."""
_MARGIN = 40
"""The number of characters after the start of the context that may be cut unlike in the whole document."""
_LONG = 1 << 25
"""Characters of a document that is cut into words at once: they take ten bytes and more for each."""
_SPACE = re.compile(r"\s")

Item = PreToken | Special
"""A pre-token, or a token that stands in the text by its name; places are characters of the document as
typed."""


class Pretokens:
    """Cuts documents by the steps of a tokenizer.

    Args:
        tokenizer: The tokenizer.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.encoder = tokenizer.encoder
        self._recipe = tokenizer.recipe
        self.staged = type(self.encoder.pretokenizer) is not Pretokenizer
        """True if the file does more to a text than the axes say."""

    def of(self, text: str) -> Iterator[Item]:
        """The items of a whole text."""
        for stretch in self.encoder.stretches(text, False):
            if isinstance(stretch, Special):
                yield stretch
            else:
                yield from stretch

    def within(self, document: str | LongText, start: int, end: int) -> list[Item]:
        """The items of a document that stand in a stretch or across its ends, in order."""
        room = _CONTEXT
        while True:
            begin = _after_space(document, start - room)
            stop = min(len(document), end + room)
            items = [item.moved(begin) if begin else item for item in self.of(document[begin:stop])]
            sure = begin + _MARGIN if begin else 0
            known = [item for item in items if item.start >= sure]
            # A place between two items before the stretch, and one behind it, are the same as in the whole
            # document.
            begun = not begin or any(item.end <= start for item in known)
            if begun and (stop == len(document) or not known or known[-1].start >= end):
                return [item for item in known if item.start < end and (item.end > start or not item.end)]
            room *= 8

    def count(self, corpus: Corpus) -> tuple[Words, dict[str, int]]:
        """The distinct pre-tokens of a corpus with how often each stands, and the tokens that stand in it by
        their names.

        Raises:
            Cancelled: The job is cancelled.
        """
        if corpus.counts is not None or all(map(self.encoder.alike, corpus.documents)):
            return count(corpus, self._recipe), {}
        counts: Counter[str] = Counter()
        named: Counter[str] = Counter()
        done, total = 0, corpus.characters
        for document in corpus.documents:
            for part, size in self._words(document):
                tick(done, total)
                if isinstance(part, Special):
                    named[part.name] += 1
                else:
                    counts.update(part)
                done += size
        return Words.of(counts), dict(named)

    def coverage(self, corpus: Corpus, words: Words, named: Mapping[str, int]) -> Coverage:
        """Return how much of a corpus the pre-tokens that `count` returned hold.

        It is empty where it is not known: a file does more to a text than the axes say, or tokens stand in
        the corpus by their names.
        """
        return COVERED if self.staged or named else coverage(corpus, self._recipe, words)

    def coverage_of_text(self, text: str) -> Coverage:
        """Return how much of one text its pre-tokens hold, as `coverage` does."""
        if self.staged or any(isinstance(item, Special) for item in self.of(text)):
            return COVERED
        return coverage_of_text(text, self._recipe)

    def _words(self, document: str) -> Iterator[tuple[Special | list[str], int]]:
        """The words of a document without places, and the tokens that stand in it by their names; with how
        much of it has been looked at for them."""
        parts = self.encoder.bare(document, False) if len(document) <= _LONG else None
        if parts is None:
            for items, size in self._chunks(document):
                yield [item.text for item in items if isinstance(item, PreToken)], size
                yield from ((item, 0) for item in items if isinstance(item, Special))
            return
        words = self.encoder.pretokenizer.words
        for part in parts:
            yield (words(part) if isinstance(part, str) else part), 0
        yield [], len(document)

    def _chunks(self, document: str) -> Iterator[tuple[list[Item], int]]:
        """The items of a document, each once, with how much of it has been looked at for them."""
        start = reached = 0
        size = CHUNK_CHARS
        while start < len(document):
            end = len(document) if len(document) - start < 2 * size else start + size
            items = [item for item in self.within(document, start, end) if item.start >= start or not start]
            if items and items[0].start < reached:
                # Two looks at one place do not agree: look at all of the rest.
                end = len(document)
                items = [item for item in self.of(document) if item.start >= reached]
            reached = max(reached, items[-1].end) if items else reached
            yield items, end - start
            start = end


def _after_space(document: str | LongText, at: int) -> int:
    """A place near this one that stands behind white space, where there is some; 0 before the document."""
    if at <= 0:
        return 0
    head = document[max(0, at - _CONTEXT) : at]
    spaces = [match.end() for match in _SPACE.finditer(head)]
    return max(0, at - _CONTEXT) + spaces[-1] if spaces else at


class Typed:
    """The tokens of a text that changes, by a vocabulary that grows. They are those of `encode`.

    Each key encodes only the words around the change again.
    """

    def __init__(self) -> None:
        self._encoder: WordEncoder | None = None
        self._text = ""
        self._words: list[PreToken] = []
        self._starts: list[int] = []
        """Where each word stands in the text; the places that it says are those in what it was cut from."""
        self._rows: tuple[EncodedToken, ...] = ()

    def encode(self, vocabulary: Vocabulary, merges: int, text: str) -> tuple[EncodedToken, ...]:
        """Encode a text.

        Args:
            vocabulary: The vocabulary of a trainer, perhaps still growing.
            merges: How many of its merges count.
            text: The text.

        Raises:
            TokentuiError: A unit is not in the vocabulary and the recipe says `error`; it names the unit and
                its place.
        """
        encoder = self._encoder
        if encoder is None or encoder.vocabulary is not vocabulary:
            encoder = WordEncoder(vocabulary, merges)
            self._text, self._words, self._starts, self._rows = "", [], [], ()
        elif encoder.merges != merges:
            encoder = encoder.after(merges)
            self._rows = ()
        self._encoder = None  # until all is done: an error leaves nothing to go on with
        if text != self._text:
            self._retype(encoder, text)
        if not self._rows:
            self._rows = tuple(encoder.rows(self._words, 0, self._starts))
        self._encoder = encoder
        return self._rows

    def _retype(self, encoder: WordEncoder, text: str) -> None:
        """Take another text: cut what changed into words, and encode these where the other tokens are known.
        """
        old, starts, pretokenizer = self._text, self._starts, encoder.pretokenizer
        # The stretch to cut again, which no word crosses: from `start` on, to `end` in the new text. The two
        # characters around a place decide if it is safe. So one with the same two in both texts is safe in
        # both.
        start, end, by = 0, len(text), len(text) - len(old)
        if pretokenizer.in_parts:
            same = _alike(old, text)
            room = min(len(old), len(text)) - same
            tail = _alike(old[: -room - 1 : -1], text[: -room - 1 : -1])
            step = 32
            while not start and step < 2 * same:
                for cut in itertools.takewhile(same.__gt__, pretokenizer.cuts(text, max(1, same - step))):
                    start = cut
                step *= 2
            if tail:
                end = pretokenizer.safe_cut(text, len(text) - tail + 1)
        first, last = (bisect_left(starts, place) for place in (start, end - by))
        found = pretokenizer.analyse(text[start:end]).pretokens
        places = [start + pretoken.start for pretoken in found]
        more = first + len(found) - last
        if rows := self._rows:
            word = attrgetter("word")
            after = rows[bisect_left(rows, last, key=word) :]
            if by or more:
                after = tuple([
                    EncodedToken(number, said, piece, first_at + by, end_at + by, at_word + more)
                    for number, said, piece, first_at, end_at, at_word in after
                ])
            self._rows = (
                *rows[: bisect_left(rows, first, key=word)], *encoder.rows(found, first, places), *after
            )
        self._words[first:last] = found
        starts[first:] = places + ([place + by for place in starts[last:]] if by else starts[last:])
        self._text = text


def _alike(one: str, other: str) -> int:
    """The length of the common prefix of two texts, in characters."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
