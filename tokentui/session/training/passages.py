"""Passages: stretches of the corpus that are shown encoded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokentui.analyze.compare import cuts, disagreements
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check
from tokentui.encode.tokenizer import Tokenizer
from tokentui.session.views import Passage
from tokentui.text.corpus import Corpus, LongText

MOST_CHARS = 2_000
"""The longest passage in characters."""
_NEAR = 40


def fitted(corpus: Corpus, wanted: Passage) -> Passage:
    """Return the passage moved into the corpus, beginning after whitespace and ending before it if any is
    near.

    It has at least a character and about `MOST_CHARS` at most. A document of counted words is one passage. An
    empty corpus has an empty passage.
    """
    count = len(corpus.parts)
    if not count:
        return Passage(0, 0, 0)
    document = min(max(0, wanted.document), count - 1)
    text = corpus.parts[document]
    if corpus.counts is not None:
        return Passage(document, 0, len(text))
    length = min(max(1, wanted.length), MOST_CHARS)
    start = min(max(0, wanted.start), len(text))
    if start == len(text):
        start = max(0, len(text) - length)
    before = text[max(0, start - _NEAR) : start]
    spaces = [place for place, char in enumerate(before) if char.isspace()]
    if spaces:
        start -= len(before) - spaces[-1] - 1
    return Passage(document, start, _end(text, start, length) - start)


def _end(text: str | LongText, start: int, length: int) -> int:
    """Return the end of a passage: at near whitespace before `start + length`, else after it, else there.

    At most the end of the text.
    """
    end = start + length
    if end >= len(text):
        return len(text)
    after = text[end : end + _NEAR]
    if after[0].isspace():
        return end
    inside = text[max(start + 1, end - _NEAR) : end]
    spaces = [place for place, char in enumerate(inside) if char.isspace()]
    if spaces:
        return end - len(inside) + spaces[-1]
    return end + next((place for place, char in enumerate(after) if char.isspace()), 0)


def text_of(corpus: Corpus, passage: Passage) -> str:
    """Return the text of a passage; empty for an empty corpus."""
    if not corpus.parts:
        return ""
    return corpus.parts[passage.document][passage.start : passage.start + passage.length]


def next_disagreement(
    corpus: Corpus, tokenizers: Sequence[Tokenizer], here: Passage | None, length: int, backward: bool
) -> Passage | None:
    """Return the next passage that the tokenizers do not all cut alike, wrapping around the end of the
    corpus.

    Args:
        corpus: The corpus.
        tokenizers: Two or more; a passage that one of them refuses is skipped.
        here: The passage to start after; None starts at an end of the corpus.
        length: The length of passages in characters.
        backward: True to search backward.

    Returns:
        The passage; None if they agree on all passages, `here` included.

    Raises:
        Cancelled: The job is cancelled, checked before each passage.
    """
    for passage in _passages(corpus, here, length, backward):
        check()
        text = text_of(corpus, passage)
        try:
            ways = [cuts(tokenizer.encode(text)) for tokenizer in tokenizers]
        except TokentuiError:
            continue
        if any(disagreements(ways)):
            return passage
    return None


def _passages(corpus: Corpus, here: Passage | None, length: int, backward: bool) -> Iterator[Passage]:
    """Yield the passages of the corpus after one, wrapping around the end; the passage itself is the last.

    None of an empty corpus. Without a passage they begin at the start, or backward at the end.
    """
    count = len(corpus.parts)
    if not count:
        return
    if here is None:
        here = Passage(0, 0, 0) if not backward else Passage(count - 1, len(corpus.parts[count - 1]), 0)
    for turn in range(count + 1):
        number = (here.document + (-turn if backward else turn)) % count
        size = len(corpus.parts[number])
        start, end = 0, size
        if turn == 0:
            start, end = (0, here.start) if backward else (here.start + here.length, size)
        elif turn == count:
            start, end = (here.start, size) if backward else (0, here.start + here.length)
        yield from _cut(corpus, number, start, end, length, backward)


def _cut(
    corpus: Corpus, document: int, start: int, end: int, length: int, backward: bool
) -> Iterator[Passage]:
    """Yield the passages of a stretch of a document, from its end if `backward`; a counted word is one."""
    text = corpus.parts[document]
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
