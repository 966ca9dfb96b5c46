"""The pre-tokens of a document by the steps of a tokenizer: all, those in a range, or their counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import cast

from tokentui.core.jobs import tick
from tokentui.encode.names import Special
from tokentui.encode.tokenizer import Tokenizer
from tokentui.text.corpus import Corpus, LongText
from tokentui.text.count import COVERED, Coverage, Words, count, coverage, coverage_of_text
from tokentui.text.pretokenize import PreToken, Pretokenizer

_CONTEXT = 400
"""Characters of context that are read before and after a range."""
_MARGIN = 40
"""Characters after the start of the context that may be cut differently than in the whole document."""
_PIECE = 1 << 15
"""About how many characters of a document are split at once. A screen waits for that."""
_TRIES = 64
"""Runs of whitespace that are tried as the border of a piece."""
_SPACE = re.compile(r"\s")
_SPACES = re.compile(r"\s+")

Item = PreToken | Special
"""A pre-token, or a special token that a text contains by name. Places are in characters of the text as
typed."""


class Pretokens:
    """Cuts documents into pre-tokens by the steps of a tokenizer.

    Args:
        tokenizer: The tokenizer.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.encoder = tokenizer.encoder
        self._recipe = tokenizer.recipe
        self.staged = type(self.encoder.pretokenizer) is not Pretokenizer
        """True if the steps of the tokenizer do more than the axes of the recipe describe."""

    def of(self, text: str) -> Iterator[Item]:
        """Yield the items of a text."""
        for stretch in self.encoder.stretches(text, False):
            if isinstance(stretch, Special):
                yield stretch
            else:
                yield from stretch

    def overlapping(self, document: str | LongText, start: int, end: int) -> list[Item]:
        """Return the items that overlap a range of a document, in order, without reading all of it.

        Reads context around the range, and more of it until the items are those of the whole document. Places
        are those in the document. An item without width at its start counts as overlapping.

        Args:
            document: The document.
            start: The first character of the range.
            end: The character after the range.
        """
        room = _CONTEXT
        while True:
            begin = _after_space(document, start - room)
            stop = min(len(document), end + room)
            items = [item.moved(begin) if begin else item for item in self.of(document[begin:stop])]
            sure = begin + _MARGIN if begin else 0
            known = [item for item in items if item.start >= sure]
            # A border between two items before the range, and one after it, are the same in the whole
            # document.
            begun = not begin or any(item.end <= start for item in known)
            if begun and (stop == len(document) or not known or known[-1].start >= end):
                return [item for item in known if item.start < end and (item.end > start or not item.end)]
            room *= 8

    def count(self, corpus: Corpus) -> tuple[Words, dict[str, int]]:
        """Count the distinct pre-tokens of a corpus, and the special tokens that it contains by name.

        The second is empty for a corpus of counted words. Ticks the job in characters.

        Raises:
            Cancelled: The job is cancelled.
        """
        if corpus.counts is not None or all(map(self.encoder.splits_plainly, corpus.documents)):
            return count(corpus, self._recipe), {}
        counts: Counter[str | Special] = Counter()
        done, total = 0, corpus.characters
        for document in corpus.documents:
            for items, size in self._pieces(document):
                tick(done, total)
                counts.update(items)
                done += size
        named: Counter[str] = Counter()
        for special in [item for item in counts if isinstance(item, Special)]:
            named[special.name] += counts.pop(special)
        return Words.of(cast("Counter[str]", counts)), dict(named)

    def coverage(self, corpus: Corpus, words: Words, named: Mapping[str, int]) -> Coverage:
        """Return how much of a corpus the pre-tokens that `count` returned cover.

        `COVERED` if that is unknown: the tokenizer does more than the axes describe, or the corpus contains
        special tokens by name.

        Args:
            corpus: The corpus.
            words: Its pre-tokens.
            named: The counts of its special tokens.
        """
        return COVERED if self.staged or named else coverage(corpus, self._recipe, words)

    def coverage_of_text(self, text: str) -> Coverage:
        """Return how much of one text its pre-tokens cover. Like `coverage`, `COVERED` if that is unknown."""
        if self.staged or any(isinstance(item, Special) for item in self.of(text)):
            return COVERED
        return coverage_of_text(text, self._recipe)

    def _pieces(self, document: str) -> Iterator[tuple[list[str | Special], int]]:
        """Yield the words of a document without places, and the special tokens that it contains by name, in
        pieces with the number of characters read for each. A step over a whole document would keep all other
        threads waiting."""
        start = 0
        for end in self._borders(document):
            before, begin = self._before(document, start)
            yield self._items(document[begin:end])[len(before) :], end - start
            start = end

    def _borders(self, document: str) -> Iterator[int]:
        """Yield the ends of the pieces of a document, at whitespace. Without a border for long, the rest is
        one piece."""
        at = 0
        while len(document) - at > 2 * _PIECE:
            spaces = islice(_SPACES.finditer(document, at + _PIECE), _TRIES)
            places = (place for run in spaces for place in run.span())
            found = next((place for place in places if self._is_border(document, place)), None)
            if found is None:
                break
            yield found
            at = found
        yield len(document)

    def _is_border(self, document: str, at: int) -> bool:
        """Return whether the text after an offset leaves the items before it as they are."""
        before, begin = self._before(document, at)
        return self._items(document[begin : at + _CONTEXT])[: len(before)] == before

    def _before(self, document: str, at: int) -> tuple[list[str | Special], int]:
        """Return the items of the context before an offset, and where it begins."""
        begin = _after_space(document, at - _CONTEXT)
        return self._items(document[begin:at]), begin

    def _items(self, text: str) -> list[str | Special]:
        """Return the words of a text without places, and the special tokens that it contains by name."""
        items: list[str | Special] = []
        for part in self.encoder.word_parts(text):
            items += [part] if isinstance(part, Special) else part
        return items


def _after_space(document: str | LongText, at: int) -> int:
    """Return the nearest place at or before an offset that follows whitespace; the offset itself if none of
    the `_CONTEXT` characters before it is whitespace; 0 for negative offsets."""
    if at <= 0:
        return 0
    head = document[max(0, at - _CONTEXT) : at]
    spaces = [match.end() for match in _SPACE.finditer(head)]
    return max(0, at - _CONTEXT) + spaces[-1] if spaces else at
