"""Stretches of the corpus that are shown encoded: where they begin and end, and the next one that columns cut
otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokentui.analyze.agreement import cuts, disagreements
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check
from tokentui.encode.tokenizer import Tokenizer
from tokentui.recipe import Recipe
from tokentui.session.replay_window import OpenedText, typed_pieces
from tokentui.session.snapshot import PiecePart, PiecesView
from tokentui.session.views import CorpusPlace, Passage
from tokentui.session.window import RunningText
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words
from tokentui.text.documents import LongText
from tokentui.text.patterns import Branches
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import branches

MOST = 2_000
"""The longest passage in characters."""
_NEAR = 40


def _count(corpus: Corpus) -> int:
    """The number of texts to cut passages from: documents, or counted words."""
    return len(corpus.texts if corpus.counts is None else corpus.counts)


def _text(corpus: Corpus, document: int) -> str | LongText:
    return corpus.texts[document] if corpus.counts is None else corpus.counts[document][0]


def fitted(corpus: Corpus, wanted: Passage) -> Passage:
    """A passage inside the corpus that begins behind white space and ends before it, where there is some
    near."""
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


def _cut(
    corpus: Corpus, document: int, start: int, end: int, length: int, backward: bool
) -> Iterator[Passage]:
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


# The split of a text: its pieces, the matching branch of the pattern, and a warning for huge ones.


OWN_STEPS = "the steps of the file"
"""The label in place of the branches of a split for an opened tokenizer."""
HUGE_CHARS = 2_000
"""A pre-token of so many characters is no word any more."""
_TYPED_CHARS = 20_000
_CELL_BYTES = 120
"""About what a character of the distinct pre-tokens takes in memory: measured 61 at the start, 121 after some
merges."""


def pieces_view(
    text: RunningText, words: Words, recipe: Recipe, typed: str, place: CorpusPlace, chars: int
) -> PiecesView:
    """Split the typed text, and a number of characters of the corpus from a place on.

    Args:
        text: The corpus under the recipe.
        words: Its counted pre-tokens.
        recipe: Its normalisation and split.
        typed: What the user typed; the first characters of a very long text.
        place: The first character, moved to the start of its pre-token.
        chars: The number of characters of the corpus.
    """
    own = text.pretokens if isinstance(text, OpenedText) else None
    known = text.branches() if isinstance(text, OpenedText) else branches(recipe.split)
    names = known.names if known is not None else (OWN_STEPS,)
    where = place
    corpus: tuple[PiecePart, ...] = ()
    if text.documents:
        where = CorpusPlace(min(max(0, place.document), text.documents - 1), place.offset)
        corpus = tuple(text.pieces(where, chars, known))
        if corpus:
            where = CorpusPlace(where.document, corpus[0].start)
    longest = max(map(len, words.words), default=0)
    return PiecesView(
        split=recipe.split,
        branches=names,
        typed=tuple(_typed(typed[:_TYPED_CHARS], recipe, known) if own is None and known is not None
                    else typed_pieces(own, typed[:_TYPED_CHARS], known) if own is not None else ()),
        place=where,
        corpus=corpus,
        distinct=len(words.words),
        occurrences=words.occurrences,
        longest=longest,
        warning=_warning(words, longest),
    )


def _typed(typed: str, recipe: Recipe, known: Branches) -> Iterator[PiecePart]:
    """The pieces of the typed text, in characters of its prepared form."""
    analysis = Pretokenizer(recipe).analyse(typed)
    text, at = analysis.prepared, 0
    for word in analysis.pretokens:
        start, end = word.prepared_start, word.prepared_end
        if start > at:
            yield PiecePart(text[at:start], at, start, None)
        yield PiecePart(word.text, start, end, known.of(text, start, word.text))
        at = max(at, end)
    if at < len(text):
        yield PiecePart(text[at:], at, len(text), None)


def _warning(words: Words, longest: int) -> str:
    """A warning of the cost of huge pieces, empty if there are none."""
    if longest < HUGE_CHARS:
        return ""
    total = sum(map(len, words.words))
    huge = sum(len(word) for word in words.words if len(word) >= HUGE_CHARS)
    return (
        f"the longest piece has {longest:,} characters: merges cross words, no count is shared between equal"
        f" words, and {huge:,} of {total:,} characters are laid out one by one,"
        f" about {_size(total * _CELL_BYTES)} of memory"
    )


def _size(count: int) -> str:
    return f"{count / 1e6:,.0f} MB" if count >= 1_000_000 else f"{max(1, count // 1000):,} kB"
