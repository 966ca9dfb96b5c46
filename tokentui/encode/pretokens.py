"""The pre-tokens of a corpus as an opened tokenizer cuts it, by its own steps, a stretch of a document at a
time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from tokentui.core.jobs import tick
from tokentui.encode.offsets import WordEncoder
from tokentui.encode.pipeline import Special
from tokentui.encode.tokenizer import Tokenizer
from tokentui.text.corpus import Corpus
from tokentui.text.count import CHUNK_CHARS, Words, count, words_of
from tokentui.text.documents import LongText
from tokentui.text.pretokenize import PreToken, Pretokenizer

_CONTEXT = 400
"""The number of characters of context that are read before and after a stretch."""
_MARGIN = 40
"""The number of characters after the start of the context that may be cut unlike in the whole document."""
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
        self._encoder = WordEncoder(tokenizer.vocabulary, tokenizer.merges)
        self._recipe = tokenizer.recipe
        self.staged = type(self._encoder.pretokenizer) is not Pretokenizer
        """True if the file does more to a text than the axes say."""

    def of(self, text: str) -> Iterator[Item]:
        """The items of a whole text."""
        for stretch in self._encoder.stretches(text, False):
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
            items = [_moved(item, begin) for item in self.of(document[begin:stop])]
            sure = begin + _MARGIN if begin else 0
            known = [item for item in items if item.start >= sure]
            # A place between two items before the stretch, and one behind it, are the same as in the whole
            # document.
            begun = not begin or any(item.end <= start for item in known)
            if begun and (stop == len(document) or not known or known[-1].start >= end):
                return [item for item in known if item.start < end and (item.end > start or not item.end)]
            room *= 8

    def count(
        self, corpus: Corpus
    ) -> tuple[Words, dict[str, int]]:
        """The distinct pre-tokens of a corpus with how often each stands, and the tokens that stand in it by
        their names.

        Raises:
            Cancelled: The job is cancelled.
        """
        if corpus.counts is not None:
            return Words(
                tuple(word for word, _ in corpus.counts), tuple(times for _, times in corpus.counts)
            ), {}
        if not self.staged and not any(map(self.does_more, corpus.documents)):
            return count(corpus, self._recipe), {}
        counts: Counter[str] = Counter()
        named: Counter[str] = Counter()
        done, total = 0, corpus.characters
        for document in corpus.documents:
            for items, size in self._chunks(document):
                tick(done, total)
                counts.update(item.text for item in items if isinstance(item, PreToken))
                named.update(item.name for item in items if isinstance(item, Special))
                done += size
        return words_of(counts), dict(named)

    def does_more(self, text: str) -> bool:
        """True if more is done to a text than the recipe says.

        The steps of the file do more, and so do the names of special tokens in the text.
        """
        return self.staged or self._encoder.texts(text, False) is None

    def _chunks(self, document: str) -> Iterator[tuple[list[Item], int]]:
        """The items of a document, each once, with how much of it has been looked at for them."""
        start = reached = 0
        size = CHUNK_CHARS // 4
        while start < len(document):
            end = len(document) if len(document) - start < 2 * size else start + size
            items = [item for item in self.within(document, start, end) if item.start >= start or not start]
            if items and items[
                0
            ].start < reached:  # two looks at one place do not agree: look at all of the rest
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


def _moved(item: Item, by: int) -> Item:
    if not by:
        return item
    return item.moved(by) if isinstance(item, PreToken) else Special(
        item.name, item.start + by, item.end + by
    )
