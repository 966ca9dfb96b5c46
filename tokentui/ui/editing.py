"""Typing into the corpus: the editor comes and goes, and every change of its text is trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokentui.core.errors import TokentuiError
from tokentui.session.commands import CorpusText
from tokentui.session.snapshot import Place

if TYPE_CHECKING:
    from tokentui.ui.app import ExplorerApp
    from tokentui.ui.panes.editor import CorpusEditor


class Editing:
    """The editor of an app, which is loaded when it is first wanted.

    Args:
        app: The app.
    """

    def __init__(self, app: ExplorerApp) -> None:
        self._app = app
        self._editor: CorpusEditor | None = None
        self._edited = False
        """Whether the corpus is what stands in the editor: then the editor is kept while it is not seen."""
        self._opening = 0
        """How many other corpora are being opened."""
        self._offered: tuple[str, int] | None = None
        """The corpus that cannot be edited and in whose place an empty text was offered."""
        self._said = ""

    async def begin(self) -> None:
        """Show the corpus as text to type into, or say why it cannot be; again: an empty text."""
        main = self._app.main
        now = main.snapshot
        if now is None or self._opening or self._app.loads():
            self._app.not_yet()
            return
        corpus = (now.corpus_name, now.corpus_bytes)
        if self._editor is not None and (self._edited or main.corpus.editing):
            await main.open_editor(self._editor)
        elif self._offered == corpus:
            await self._show("")
        else:
            self._app.send(
                CorpusText(),
                lambda text: self._app.call_later(self._show, text, corpus),
                lambda error: self._refuse(error, corpus),
            )

    def _refuse(self, error: BaseException, corpus: tuple[str, int]) -> None:
        self._app.tell(error)
        if isinstance(error, TokentuiError):
            self._offered = corpus
            self._app.say("t again: an empty text, which takes the place of this corpus once something is typed")

    async def _show(self, text: str, corpus: tuple[str, int] = ("", 0)) -> None:
        from tokentui.ui.panes.editor import CorpusEditor, refusal

        main = self._app.main
        if main.corpus.editing or main.snapshot is None:
            return
        if refused := refusal(text):
            self._refuse(TokentuiError(refused, corpus[0]), corpus)
            return
        self._editor, self._edited, self._offered = CorpusEditor(text, self.changed), False, None
        # Of several documents it is not known where they begin in the text, of a normalised one how long it was.
        place, exact = main.text.top_place, not main.snapshot.recipe.normalize
        await main.open_editor(self._editor, place.offset if exact and not place.document else 0)

    def end(self) -> None:
        """Show the corpus as tokens again, where the cursor is."""
        main, editor = self._app.main, self._editor
        exact = main.snapshot is not None and not main.snapshot.recipe.normalize
        typed = editor is not None and self._edited and exact
        main.close_editor(Place(0, editor.line_offset) if editor is not None and typed else None)

    def changed(self) -> None:
        """Train on what stands in the editor now."""
        editor = self._editor
        if editor is not None:
            self._edited = self._app.main.corpus.edited = True
            self._app.retraining.text(lambda: editor.text, self._trained, self._failed)

    def _trained(self) -> None:
        self._said = ""

    def _failed(self, error: BaseException) -> None:
        if self._opening:
            return
        if str(error) != self._said:  # once, and not at every key
            self._said = str(error)
            self._app.tell(error)
        if not self._app.main.corpus.editing:
            # What stands in the editor is not the corpus: the next time the corpus is asked for.
            self._edited = False

    # While another corpus is opened.

    def give_way(self) -> None:
        """Show and train nothing of the editor: another corpus is being opened."""
        self._opening += 1
        self._app.retraining.forget()
        self._app.main.close_editor()
        self._app.main.corpus.edited = False

    async def opened(self) -> None:
        """The other corpus has taken its place."""
        self._opening -= 1
        self._offered, self._editor, self._edited = None, None, False
        await self._app.main.corpus.drop()

    def come_back(self) -> None:
        """The other corpus could not be opened."""
        self._opening -= 1
        if self._edited and not self._opening:
            self.changed()
