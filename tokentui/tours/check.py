"""Check the claims of a tour against the engine, without a screen."""

from __future__ import annotations

from collections.abc import Iterator

from tokentui import learn
from tokentui.session.training.column import Column
from tokentui.session.training.training import Training, open_corpus, prepare
from tokentui.session.views import ColumnSnapshot, ColumnWanted, Viewport
from tokentui.text.corpus import Corpus
from tokentui.tours.facts import Place, failures
from tokentui.tours.parser import Tour

_ALL = 1 << 30


def false_claims(tour: Tour) -> Iterator[str]:
    """Yield a line for each claim of a tour that is not true.

    Raises:
        TokentuiError: A place of it cannot be opened or trained.
    """
    known: dict[tuple[object, ...], Training] = {}
    for number, stop in enumerate(tour.stops, 1):
        for line in failures(stop.claims, column_at(stop.place, known)):
            yield f"stop {number}: {line}"


def column_at(place: Place, known: dict[tuple[object, ...], Training] | None = None) -> ColumnSnapshot:
    """The column at a place, with all entries of its vocabulary.

    Args:
        place: The place.
        known: What was laid out before; the rest is added.
    """
    key = place.source, place.text, place.recipe, place.run
    known = {} if known is None else known
    if key not in known:
        typed = place.text is not None
        corpus = Corpus.from_text(place.text or "") if typed else open_corpus(place.source, None, "text")
        known[key] = prepare(corpus, place.recipe, place.run)
    column = Column(1, ColumnWanted(place.recipe, place.run))
    column.set_training(known[key])
    if place.step is None:
        learn.run(column.trainer, place.run.stops)
    else:
        learn.jump(column.trainer, place.step)
    wants = ("why", "vocabulary", "encoding")
    return column.snapshot(Viewport(wants=wants, vocabulary_rows=_ALL), place.typed, alone=True)
