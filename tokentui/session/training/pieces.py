"""The split of a text: its pieces, the matching branch of the pattern, and a warning of huge pieces."""

from __future__ import annotations

from tokentui.session.snapshot import PiecePart, PiecesView
from tokentui.session.training.training import Training
from tokentui.session.views import CorpusPlace
from tokentui.text.count import Words

OWN_STEPS = "the steps of the file"
"""The label in place of the branches of a split for an opened tokenizer."""
HUGE_CHARS = 2_000
"""The length in characters from which a pre-token counts as huge."""
_TYPED_CHARS = 20_000
_MOST_EMPTY = 1_000
_CELL_BYTES = 120
"""About what a character of the distinct pre-tokens takes in memory: measured 61 at the start, 121 after some
merges."""


def pieces_view(training: Training, typed: str, place: CorpusPlace, chars: int) -> PiecesView:
    """Return the pieces of the typed text, and of a number of characters of the corpus from a place on.

    Args:
        training: The corpus, its counted pre-tokens, and how they are cut.
        typed: What the user typed; the first characters of a very long text.
        place: The first character, moved to the start of its pre-token; after the end of a document, to the
            next one of `_MOST_EMPTY` documents that is not empty.
        chars: The number of characters of the corpus.
    """
    text, words = training.text, training.trainer.words
    names = text.branches.names if text.branches is not None else (OWN_STEPS,)
    where = place
    corpus: tuple[PiecePart, ...] = ()
    if text.documents:
        last = text.documents - 1
        where = CorpusPlace(min(max(0, place.document), last), place.offset)
        furthest = min(where.document + _MOST_EMPTY, last)
        while where.document < furthest and where.offset >= len(text.text(where.document)):
            where = CorpusPlace(where.document + 1)
        corpus = tuple(text.pieces(where, chars))
        if corpus:
            where = CorpusPlace(where.document, corpus[0].start)
    longest = max(map(len, words.words), default=0)
    return PiecesView(
        split=training.recipe.split,
        branches=names,
        typed=tuple(text.typed(typed[:_TYPED_CHARS])),
        place=where,
        corpus=corpus,
        distinct=len(words.words),
        occurrences=words.occurrences,
        longest=longest,
        warning=_warning(words, longest),
    )


def _warning(words: Words, longest: int) -> str:
    """Return a warning of the cost of huge pieces; empty if all have fewer than `HUGE_CHARS` characters."""
    if longest < HUGE_CHARS:
        return ""
    total = sum(map(len, words.words))
    huge = sum(len(word) for word in words.words if len(word) >= HUGE_CHARS)
    return (
        f"the longest piece has {longest:,} characters: merges cross words, so equal words do not share their"
        f" counts, and {huge:,} of {total:,} characters are stored one by one,"
        f" about {_size(total * _CELL_BYTES)} of memory"
    )


def _size(count: int) -> str:
    return f"{count / 1e6:,.0f} MB" if count >= 1_000_000 else f"{max(1, count // 1000):,} kB"
