"""Places of tokens in the corpus: the token over a character, and the places of a token one by one."""

from __future__ import annotations

from collections.abc import Iterator

from tokentui.core.safetext import to_bytes
from tokentui.learn.steps import Word
from tokentui.learn.trainer import Trainer
from tokentui.recipe import Recipe
from tokentui.session.training.corpus_view import Cut, RunningText, unit_spans
from tokentui.session.training.token_values import Context, TokenAt
from tokentui.session.views import CorpusPlace
from tokentui.text.corpus import LongText
from tokentui.text.pretokenize import MARKS
from tokentui.text.split import SPACE_MARK, SPLITS

_STRETCH = 1 << 16
_UNITS = 20_000
"""A longer pre-token is looked at in stretches."""
_NEAR = 60
"""The characters that are shown before a token and after it."""


def token_at(window: RunningText, place: CorpusPlace, within: int, trainer: Trainer) -> TokenAt | None:
    """Return the token over a character of the corpus; None if no token covers it.

    Args:
        window: The corpus.
        place: The place of a pre-token, or of a part of one.
        within: The offset of the character from there.
        trainer: The training.
    """
    if place.document >= window.documents:
        return None
    for cut in window.cuts(place.document, place.offset, place.offset + 1):
        if cut.start <= place.offset < cut.end:
            inside = place.offset - cut.start + within
            for symbol, start, end in tokens_of(cut, trainer, inside - 1):
                if start <= inside < end:
                    at = place._replace(offset=cut.start + start)
                    shown = cut.text[start:end]
                    return TokenAt(symbol if symbol >= 0 else None, at, shown, _typed(cut, trainer.recipe))
    return None


def contexts(
    window: RunningText, symbol: int, data: bytes, after: CorpusPlace | None, trainer: Trainer
) -> Iterator[Context]:
    """Yield the places of a token in the order of the corpus, with the text around each. Does not wrap
    around.

    Args:
        window: The corpus.
        symbol: The token.
        data: Bytes that each word with the token has.
        after: The place after which the search begins; None for the beginning of the corpus.
        trainer: The training.
    """
    first = after or CorpusPlace(0, -1)
    for document in range(first.document, window.documents):
        text, same = window.text(document), document == first.document
        begin = initial = max(0, first.offset) if same else 0
        while begin <= len(text):
            end = begin + _STRETCH
            for cut in window.cuts(document, begin, end):
                # A pre-token that begins before this stretch was searched with the previous one, if any.
                if cut.start >= end or (cut.start < begin != initial) or cut.word is None:
                    continue
                if data not in to_bytes(cut.word):
                    continue
                past = first.offset - cut.start if same else -1
                for token_symbol, start, stop in tokens_of(cut, trainer, past):
                    if token_symbol == symbol and start > past:
                        yield _context(text, CorpusPlace(document, cut.start + start), cut, start, stop)
            begin = end


def tokens_of(cut: Cut, trainer: Trainer, past: int) -> Iterator[tuple[int, int, int]]:
    """Yield (symbol, start, end) of the tokens of a pre-token, in characters from the start of the word.

    An enormous one is segmented stretch by stretch, and stretches that end before `past` are left out. A
    special token or symbol has the symbol -1.
    """
    word, recipe, first = cut.word, trainer.recipe, 0
    if word is None or word in recipe.symbols:
        yield -1, 0, cut.end - cut.start
        return
    mark = recipe.mark_text if MARKS.of(recipe.mark).ends_word else ""
    size = _UNITS if cut.units is None else max(1, len(word))
    for skip in range(0, len(word), size):
        piece = word[skip : skip + size]
        units = unit_spans(recipe, piece, mark if skip + size >= len(word) else "")
        units = units if cut.units is None else cut.units
        if skip + len(piece) + len(mark) > past:
            for token in trainer.segment(Word(word, first, len(units))):
                if first <= token.start < first + len(units):
                    stop = min(token.end - first, len(units))
                    yield token.symbol, skip + units[token.start - first][0], skip + units[stop - 1][1]
        first += len(units)


def _typed(cut: Cut, recipe: Recipe) -> str:
    """Return the text to type for a pre-token of the corpus."""
    if not SPLITS.of(recipe.split).marks_spaces or cut.units is not None or cut.word is None:
        return cut.text
    return cut.text.removeprefix(SPACE_MARK).replace(SPACE_MARK, " ")


def _context(text: str | LongText, place: CorpusPlace, cut: Cut, start: int, stop: int) -> Context:
    """Return a token of a pre-token with the text around it.

    `start` and `stop` are places in the pre-token, which may begin with a ▁ that the document does not have.
    """
    before = cut.text[max(0, start - _NEAR) : start]
    after = cut.text[stop : stop + _NEAR]
    return Context(
        place, (text[max(0, cut.start - _NEAR) : cut.start] + before)[-_NEAR:], cut.text[start:stop],
        (after + text[cut.end : cut.end + _NEAR])[:_NEAR],
    )
