"""The split of a text: its pieces, the matching branch of the pattern, and a warning for huge ones."""

from __future__ import annotations

from collections.abc import Iterator

from tokentui.recipe import Recipe
from tokentui.session.replay_window import OpenedText, typed_pieces
from tokentui.session.snapshot import PiecePart, PiecesView
from tokentui.session.views import CorpusPlace
from tokentui.session.window import RunningText
from tokentui.text.branches import Branches, branches
from tokentui.text.count import Words
from tokentui.text.pretokenize import Pretokenizer

OWN_STEPS = "the steps of the file"
"""The label in place of the branches of a split for an opened tokenizer."""
HUGE_CHARS = 2_000
"""A pre-token of so many characters is no word any more."""
_TYPED_CHARS = 20_000
_CELL_BYTES = 120
"""About what a character of the distinct pre-tokens takes in memory: measured 61 at the start, 121 after some merges."""


def pieces_view(text: RunningText, words: Words, recipe: Recipe, typed: str, place: CorpusPlace, chars: int) -> PiecesView:
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
        f"the longest piece has {longest:,} characters: merges cross words, no count is shared between equal words,"
        f" and {huge:,} of {total:,} characters are laid out one by one, about {_size(total * _CELL_BYTES)} of memory"
    )


def _size(count: int) -> str:
    return f"{count / 1e6:,.0f} MB" if count >= 1_000_000 else f"{max(1, count // 1000):,} kB"
