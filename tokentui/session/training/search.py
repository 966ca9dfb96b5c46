"""Search of the corpus and of lists for a text, or for what a step changed."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence

from tokentui import learn
from tokentui.core.safetext import GlyphMode
from tokentui.learn.rows import Query
from tokentui.learn.steps import Word
from tokentui.learn.trainer import Trainer
from tokentui.session.training.column import needles
from tokentui.session.training.corpus_view import RunningText
from tokentui.session.training.token_places import tokens_of
from tokentui.session.training.training import Training
from tokentui.session.views import CorpusPlace, Found, Viewport, next_place
from tokentui.text.count import matches_in

COUNTED_CHARS = 20_000_000
"""The longest corpus of which matches are counted; a tenth of it if it is normalized: keys would wait."""


def find_candidate(
    trainer: Trainer, view: Viewport, text: str, start: int, backward: bool, mode: GlyphMode
) -> Found | None:
    """Return the next row of the list of candidates that contains a text, wrapping around the end; None if no
    row does. Rows are counted in the filtered list.

    Args:
        trainer: The training.
        view: The order of the list, and the filter on it.
        text: The text, as typed.
        start: The row to start after.
        backward: True to search backward.
        mode: How data are shown; the text is read the same way.
    """
    order = view.candidates_order
    places = learn.candidates(trainer, Query(0, 0, order, needles(text, mode))).places
    only = needles(view.candidates_only, view.mode) if view.candidates_only else ()
    left = learn.candidates(trainer, Query(0, 0, order, only)).places if only else None
    return next_place(_within(places, left), start, backward)


def find_entry(
    trainer: Trainer, view: Viewport, text: str, start: int, backward: bool, mode: GlyphMode
) -> Found | None:
    """Return the next row of the vocabulary that contains a text; see `find_candidate`."""
    order, among = view.vocabulary_order, view.vocabulary_among
    places = learn.entries(trainer, Query(0, 0, order, needles(text, mode), among=among)).places
    only = needles(view.vocabulary_only, view.mode) if view.vocabulary_only else ()
    left = learn.entries(trainer, Query(0, 0, order, only, among=among)).places if only else None
    return next_place(_within(places, left), start, backward)


def find_text(window: RunningText, text: str, start: CorpusPlace, backward: bool) -> Found | None:
    """Return the next place of the corpus that contains a text, wrapping around the end; None if there is
    none.

    In a corpus of more than `COUNTED_CHARS` characters the matches are not counted: their numbers are 0.
    """
    match = window.find(text, start, backward) if window.documents else None
    if match is None:
        return None
    document, offset = match
    if window.characters > COUNTED_CHARS // (10 if window.normalizes else 1):
        return Found(CorpusPlace(*match), 0, 0)
    counts = window.matches(text)
    before = sum(counts[:document]) + matches_in(window.text(document), text, offset)
    return Found(CorpusPlace(*match), before + 1, sum(counts))


def _within(places: Sequence[int], left: Sequence[int] | None) -> Sequence[int]:
    """Return the numbers, in the filtered list `left`, of the rows at `places`; `places` itself if there is
    no filter (None)."""
    if left is None:
        return places
    positions = set(places)
    return [number for number, row in enumerate(left) if row in positions]


def find_tokens(training: Training, parts: tuple[bytes, ...], start: CorpusPlace) -> CorpusPlace | None:
    """Return the next place where tokens of these exact bytes stand side by side in a pre-token, wrapping
    around the end; None if there is none."""
    window, trainer = training.text, training.trainer
    if not window.documents:
        return None
    pieces, count = trainer.inventory().vocabulary.pieces, len(parts)

    def meet(tokens: Iterable[tuple[int, int]]) -> Iterator[int]:
        """Yield the start of each place where the tokens `parts` stand side by side, given the symbol and
        start of each token. Places do not overlap."""
        last: list[tuple[bytes, int]] = []
        for symbol, begin in tokens:
            last = [*last[1 - count :], (pieces[symbol] if symbol >= 0 else b"", begin)]
            if tuple([piece for piece, _ in last]) == parts:
                yield last[0][1]
                last = []

    @functools.cache
    def wanted(word: str) -> bool:
        spans = trainer.segment(Word(word))
        return next(meet((span.symbol, span.start) for span in spans), None) is not None

    found = window.find_word(wanted, start)
    if found is None:
        return None
    document, at = found
    inside = start.offset - at if document == start.document else -1
    for cut in window.cuts(document, at, at + 1):
        if cut.start == at and cut.word is not None:
            # A long pre-token may have a place behind the one where the search begins.
            for past in (inside, -1) if 0 <= inside < cut.end - at else (-1,):
                tokens = ((symbol, begin) for symbol, begin, _ in tokens_of(cut, trainer, past))
                within = next((begin for begin in meet(tokens) if begin > past), None)
                if within is not None:
                    return CorpusPlace(document, at + within)
    return CorpusPlace(document, at)


def find_changed(training: Training, start: CorpusPlace) -> CorpusPlace | None:
    """Return the next place of a word that the last step changed, wrapping around the end; None if there
    is none."""
    window, trainer = training.text, training.trainer
    if not window.documents:
        return None
    changed = trainer.changed()
    if (differs := changed.differs) is None:
        words = trainer.words.words
        differs = {words[number] for number in changed.words}.__contains__
    place = window.find_word(differs, start)
    return place and CorpusPlace(*place)
