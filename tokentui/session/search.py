"""Questions that are answered at once: where a text stands, what the last step changed, the compressed text."""

from __future__ import annotations

from tokentui.core.errors import TokentuiError
from tokentui.learn.trainer import Trainer
from tokentui.learn.values import Query
from tokentui.session import commands as do
from tokentui.session.prepared import Prepared
from tokentui.session.sections import needles, next_place
from tokentui.session.snapshot import CompressedView
from tokentui.session.views import BETWEEN, MAIN, PARTS, CorpusPlace, Viewport


def find(prepared: Prepared, order: str, asked: do.Find) -> int | CorpusPlace | None:
    """The next row, or place of the corpus, that shows a text, round the end.

    Args:
        prepared: What is open.
        order: The order in which the vocabulary is listed.
        asked: The text, and where to begin.

    Raises:
        TokentuiError: There is no such pane.
    """
    pane, text, start, backward = asked.pane, asked.text, asked.start, asked.backward
    if not text:
        return None
    trainer, window = prepared.trainer, prepared.text
    if pane == "corpus" and isinstance(start, CorpusPlace):
        found = window.find(text, start, backward) if window.documents else None
        return found and CorpusPlace(*found)
    if pane == "pairs" and isinstance(start, int):
        query = Query(0, 0, match=needles(text, asked.mode))
        page = trainer.candidates(query)
        if not page.total and trainer.traits.replay is not None:
            page = trainer.candidates(query._replace(order="made"))
        return next_place(page.places, start, backward)
    if pane == "vocabulary" and isinstance(start, int):
        query = Query(0, 0, order, needles(text, asked.mode))
        return next_place(trainer.entries(query).places, start, backward)
    raise TokentuiError("no such pane", pane, "one of: corpus, pairs, vocabulary")


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


def compressed(trainer: Trainer, start: int, length: int) -> CompressedView:
    """A part of the compressed text.

    Raises:
        TokentuiError: There is none.
    """
    if (compression := trainer.traits.compression) is None:
        objective = f"objective={trainer.recipe.objective}"
        raise TokentuiError("only Gage's compression has a compressed text", objective, "take gage")
    view = compression.compressed(start, length)
    names = view.names
    return CompressedView(
        parts=tuple((value, names.get(value, "")) for value in view.compressed),
        table=tuple((names[one], one, left, right, whole) for one, left, right, whole in view.table),
        text_bytes=view.text_bytes,
        table_bytes=view.table_bytes,
        original_bytes=view.original_bytes,
    )


def check_view(view: Viewport) -> None:
    """Refuse what looks at something that is not there.

    Raises:
        TokentuiError: There is no such list, or no such section.
    """
    if view.tokens is not None and view.tokens.part not in PARTS:
        raise TokentuiError("no such list", view.tokens.part, "one of: " + ", ".join(PARTS))
    for name in view.wants:
        if name not in MAIN and name not in BETWEEN:
            raise TokentuiError("no such section", name, "one of: " + ", ".join((*MAIN, *BETWEEN)))
