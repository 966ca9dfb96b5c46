"""Stretches of the corpus that are shown encoded: where they begin and end, and the next one that columns cut otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokentui.analyze.agreement import cuts, disagreements
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check
from tokentui.encode.tokenizer import Tokenizer
from tokentui.session.views import Passage
from tokentui.text.corpus import Corpus, LongText

MOST = 2_000
"""The longest passage in characters."""
_NEAR = 40


def _count(corpus: Corpus) -> int:
    """The number of texts to cut passages from: documents, or counted words."""
    return len(corpus.texts if corpus.counts is None else corpus.counts)


def _text(corpus: Corpus, document: int) -> str | LongText:
    return corpus.texts[document] if corpus.counts is None else corpus.counts[document][0]


def fitted(corpus: Corpus, wanted: Passage) -> Passage:
    """A passage inside the corpus that begins behind white space and ends before it, where there is some near."""
    count = _count(corpus)
    if not count:
        return Passage(0, 0, 0)
    document = min(max(0, wanted.document), count - 1)
    text = _text(corpus, document)
    if corpus.counts is not None:
        return Passage(document, 0, len(text))
    length = min(max(1, wanted.length), MOST)
    start = min(max(0, wanted.start), len(text))
    if start == len(text):
        start = max(0, len(text) - length)
    before = text[max(0, start - _NEAR) : start]
    spaces = [place for place, char in enumerate(before) if char.isspace()]
    if spaces:
        start -= len(before) - spaces[-1] - 1
    return Passage(document, start, _end(text, start, length) - start)


def _end(text: str | LongText, start: int, length: int) -> int:
    """Where a passage ends: before the last white space in it, or the first behind it."""
    end = start + length
    if end >= len(text):
        return len(text)
    behind = text[end : end + _NEAR]
    if behind[0].isspace():
        return end
    inside = text[max(start + 1, end - _NEAR) : end]
    spaces = [place for place, char in enumerate(inside) if char.isspace()]
    if spaces:
        return end - len(inside) + spaces[-1]
    return end + next((place for place, char in enumerate(behind) if char.isspace()), 0)


def text_of(corpus: Corpus, passage: Passage) -> str:
    """The text of a passage."""
    if not _count(corpus):
        return ""
    return _text(corpus, passage.document)[passage.start : passage.start + passage.length]


def next_parting(
    corpus: Corpus, tokenizers: Sequence[Tokenizer], here: Passage | None, length: int, backward: bool
) -> Passage | None:
    """The next passage, or the one before, that the tokenizers do not all cut alike.

    Args:
        corpus: The corpus.
        tokenizers: Two or more; a passage that one of them refuses is passed over.
        here: The passage to look from; None looks from an end of the corpus.
        length: How long passages are.
        backward: Look the other way.

    Returns:
        None where there is none, all round.
    """
    for passage in _passages(corpus, here, length, backward):
        check()
        text = text_of(corpus, passage)
        try:
            ways = [cuts(one.encode(text)) for one in tokenizers]
        except TokentuiError:
            continue
        if any(disagreements(ways)):
            return passage
    return None


def _passages(corpus: Corpus, here: Passage | None, length: int, backward: bool) -> Iterator[Passage]:
    """The passages of the corpus from one on, round the end, itself last."""
    count = _count(corpus)
    if not count:
        return
    if here is None:
        here = Passage(0, 0, 0) if not backward else Passage(count - 1, len(_text(corpus, count - 1)), 0)
    for turn in range(count + 1):
        number = (here.document + (-turn if backward else turn)) % count
        size = len(_text(corpus, number))
        start, end = 0, size
        if turn == 0:
            start, end = (0, here.start) if backward else (here.start + here.length, size)
        elif turn == count:
            start, end = (here.start, size) if backward else (0, here.start + here.length)
        yield from _cut(corpus, number, start, end, length, backward)


def _cut(corpus: Corpus, document: int, start: int, end: int, length: int, backward: bool) -> Iterator[Passage]:
    """The passages of a stretch of a document."""
    text = _text(corpus, document)
    if corpus.counts is not None:
        if start < end:
            yield Passage(document, 0, len(text))
        return
    while start < end:
        if backward:
            begin = fitted(corpus, Passage(document, max(start, end - length), length)).start
            begin = begin if start <= begin < end else max(start, end - length)
            yield Passage(document, begin, end - begin)
            end = begin
        else:
            stop = max(start + 1, min(end, _end(text, start, length)))
            yield Passage(document, start, stop - start)
            start = stop
