"""Commands for what is shown of a column: the typed text, the rows, and the text of the corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokentui import learn
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import GlyphMode
from tokentui.session.commands.base import Command, Need
from tokentui.session.snapshot import PiecesView
from tokentui.session.views import BETWEEN, MAIN, PARTS, CorpusPlace, Found, Viewport

if TYPE_CHECKING:
    from tokentui.learn.rows import Page
    from tokentui.learn.trainer import Compressed
    from tokentui.session.engine.state import State
    from tokentui.session.training.step_context import StepContext

EDITABLE_BYTES = 1_000_000
"""The size of the largest corpus that can be edited: each key trains on all of it."""


class SetInput(Command[None]):
    """Set the typed text, which the columns encode. A passage of the corpus that was shown in its place
    goes."""

    text: str

    def apply(self, state: State) -> None:
        state.typed, state.passage = self.text, None


class SetViewport(Command[None]):
    """Show other rows, or other sections. Raises if a name in it is unknown."""

    viewport: Viewport

    def apply(self, state: State) -> None:
        """Set the view, from which the next snapshot is made. It stays as it was if a name is unknown.

        Raises:
            TokentuiError: There is no such section or list of tokens.
        """
        view = self.viewport
        if view.tokens is not None and view.tokens.part not in PARTS:
            raise TokentuiError("no such list", view.tokens.part, "one of: " + ", ".join(PARTS))
        for name in view.wants:
            if name not in MAIN and name not in BETWEEN:
                raise TokentuiError("no such section", name, "one of: " + ", ".join((*MAIN, *BETWEEN)))
        state.view = view


class Find(Command[Found | None], need=Need.SHOWN, summary="find ‘{0.text:.40}’"):
    """Find text in a pane, from a row or place on, wrapping around the end.

    Args:
        pane: `corpus`, `pairs` or `vocabulary`.
        text: The text, as typed.
        start: The row to start after (pairs, vocabulary) or the place (corpus).
        backward: True to search backward.
        mode: How data are shown; the text is read the same way.

    Answered by the row or the place, with its number among all matches; None if nothing matches or the text
    is empty. In a filtered list only the listed rows are searched.

    Raises if there is no such pane.
    """

    pane: str
    text: str
    start: int | CorpusPlace
    backward: bool = False
    mode: GlyphMode = "text"

    def answer(self, context: StepContext) -> Found | None:
        """Search the pane from `start`. Return None for an empty text, and if nothing matches.

        Raises:
            TokentuiError: There is no such pane, or `start` is not a place in it.
        """
        from tokentui.session.training import search

        if not self.text:
            return None
        trainer = context.training.trainer
        if self.pane == "corpus" and isinstance(self.start, CorpusPlace):
            return search.find_text(context.training.text, self.text, self.start, self.backward)
        if self.pane == "pairs" and isinstance(self.start, int):
            return search.find_candidate(
                trainer, context.view, self.text, self.start, self.backward, self.mode
            )
        if self.pane == "vocabulary" and isinstance(self.start, int):
            return search.find_entry(trainer, context.view, self.text, self.start, self.backward, self.mode)
        raise TokentuiError("no such pane", self.pane, "one of: corpus, pairs, vocabulary")


class ListRows(Command["Page[Any]"], need=Need.SHOWN):
    """Ask for all rows of the candidates or of the vocabulary, in the order and by the filter that are shown.

    Args:
        section: `candidates` or `vocabulary`.
        most: The maximum number of rows.
        column: The key of the column; the first one if None.

    Raises if there is no such section.
    """

    section: str
    most: int
    column: int | None = None

    def answer(self, context: StepContext) -> Page[Any]:
        """Return the first `most` rows of the section, in its order and by its filter.

        Raises:
            TokentuiError: There is no such section.
        """
        from tokentui.session.training.column import queries_of

        trainer, (listed, entries) = context.training.trainer, queries_of(context.view)
        if self.section == "candidates":
            return learn.candidates(trainer, listed._replace(top=0, rows=self.most))
        if self.section == "vocabulary":
            return learn.entries(trainer, entries._replace(top=0, rows=self.most))
        raise TokentuiError("no such section", self.section, "one of: candidates, vocabulary")


class FindChanged(Command[CorpusPlace | None], need=Need.SHOWN):
    """Find the next place in the corpus that the last step changed, wrapping around the end.

    Answered by the place; None if the step changed none.
    """

    start: CorpusPlace

    def answer(self, context: StepContext) -> CorpusPlace | None:
        from tokentui.session.training.search import find_changed

        return find_changed(context.training, self.start)


class FindTokens(Command[CorpusPlace | None], need=Need.SHOWN):
    """Find the next place in the corpus where tokens of these exact bytes stand side by side, wrapping around
    the end.

    Answered by the place; None if there is none.
    """

    parts: tuple[bytes, ...]
    start: CorpusPlace

    def answer(self, context: StepContext) -> CorpusPlace | None:
        from tokentui.session.training.search import find_tokens

        return find_tokens(context.training, self.parts, self.start)


class CorpusText(Command[str], need=Need.CORPUS):
    """Ask for the text of the corpus for an editor: its documents with line breaks between them.

    Raises if it is larger than `EDITABLE_BYTES`, or counted words and not text.
    """

    def answer(self, context: StepContext) -> str:
        """Return the documents joined by line breaks.

        Raises:
            TokentuiError: The corpus is counted words, or larger than `EDITABLE_BYTES`.
        """
        corpus = context.corpus
        if corpus.counts is not None:
            raise TokentuiError("counted words cannot be edited as a text", corpus.name, "open the text")
        if corpus.size > EDITABLE_BYTES:
            raise TokentuiError(
                f"more than {EDITABLE_BYTES:,} bytes cannot be edited", corpus.name, "open a part of it"
            )
        return "\n".join(corpus.documents)


class Pieces(Command[PiecesView], need=Need.COUNTED):
    """Ask how the split cuts the typed text, and `chars` characters of the corpus from a place on."""

    place: CorpusPlace
    chars: int = 2000

    def answer(self, context: StepContext) -> PiecesView:
        from tokentui.session.training.pieces import pieces_view

        return pieces_view(context.training, context.typed, self.place, self.chars)


class Compress(Command["Compressed"], need=Need.COUNTED):
    """Ask for the state of Gage's compression at this step of the main column: its table of pairs, sizes, and
    a part of the compressed text.

    The part has at most `length` bytes from byte `start` on, counted through all documents; it is empty after
    the end.

    Raises:
        TokentuiError: The objective is not Gage's compression.
    """

    start: int = 0
    length: int = 4000

    def answer(self, context: StepContext) -> Compressed:
        """Return the compressed text of the step, from byte `start` on.

        Raises:
            TokentuiError: The objective is not Gage's compression.
        """
        trainer = context.training.trainer
        if (compression := learn.compression_of(trainer)) is None:
            objective = f"objective={trainer.recipe.objective}"
            raise TokentuiError("only Gage's compression has a compressed text", objective, "choose gage")
        return compression.compressed(self.start, self.length)
