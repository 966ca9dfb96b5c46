"""Find a text in the corpus or in a list, with the number of the match; find what a step changed."""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.core.errors import TokentuiError
from tokentui.learn.rows import Query
from tokentui.session import commands as do
from tokentui.session.column import needles
from tokentui.session.opening import Prepared
from tokentui.session.views import CorpusPlace, Found, Viewport, next_place
from tokentui.session.window import RunningText
from tokentui.text.count import matches_in

COUNTED_CHARS = 20_000_000
"""Of a longer corpus matches are not counted; of one that is normalised, a tenth of it: keys would wait."""


def find(prepared: Prepared, view: Viewport, asked: do.Find) -> Found | None:
    """The next row, or place of the corpus, that shows a text, round the end.

    Args:
        prepared: What is open.
        view: The lists as they are shown: the order of the vocabulary, the rows that are left.
        asked: The text, and where to begin.

    Raises:
        TokentuiError: There is no such pane.
    """
    pane, text, start, backward = asked.pane, asked.text, asked.start, asked.backward
    if not text:
        return None
    trainer, wanted = prepared.trainer, needles(text, asked.mode)
    if pane == "corpus" and isinstance(start, CorpusPlace):
        return _find_text(prepared.text, text, start, backward) if prepared.text.documents else None
    if pane == "pairs" and isinstance(start, int):
        order = view.candidates_order
        places = trainer.candidates(Query(0, 0, order, wanted)).places
        only = needles(view.candidates_only, view.mode) if view.candidates_only else ()
        left = trainer.candidates(Query(0, 0, order, only)).places if only else None
        return next_place(_within(places, left), start, backward)
    if pane == "vocabulary" and isinstance(start, int):
        order = view.vocabulary_order
        among = view.vocabulary_among
        places = trainer.entries(Query(0, 0, order, wanted, among=among)).places
        only = needles(view.vocabulary_only, view.mode) if view.vocabulary_only else ()
        left = trainer.entries(Query(0, 0, order, only, among=among)).places if only else None
        return next_place(_within(places, left), start, backward)
    raise TokentuiError("no such pane", pane, "one of: corpus, pairs, vocabulary")


def _within(places: Sequence[int], left: Sequence[int] | None) -> Sequence[int]:
    """The rows of a list as they are numbered among those that are left of it."""
    if left is None:
        return places
    wanted = set(places)
    return [number for number, row in enumerate(left) if row in wanted]


def _find_text(window: RunningText, text: str, start: CorpusPlace, backward: bool) -> Found | None:
    found = window.find(text, start, backward)
    if found is None:
        return None
    document, offset = found
    if window.characters > COUNTED_CHARS // (10 if window.normalizes else 1):
        return Found(CorpusPlace(*found), 0, 0)
    counts = window.matches(text)
    before = sum(counts[:document]) + matches_in(window.text(document), text, offset)
    return Found(CorpusPlace(*found), before + 1, sum(counts))


def find_changed(prepared: Prepared, start: CorpusPlace) -> CorpusPlace | None:
    """The next place of a word that the last step changed, round the end."""
    window, trainer = prepared.text, prepared.trainer
    if not window.documents:
        return None
    changed = trainer.changed()
    if (differs := changed.differs) is None:
        words = trainer.words.words
        differs = {words[number] for number in changed.words}.__contains__
    found = window.find_word(differs, start)
    return found and CorpusPlace(*found)
