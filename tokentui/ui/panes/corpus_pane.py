"""The box of the corpus: its text in tokens, or in their place an editor whose every change is trained on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.widget import Widget

from tokentui.core.errors import TokentuiError
from tokentui.session.commands import CorpusText as WholeText
from tokentui.session.commands import TrainOnText
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import CorpusPlace
from tokentui.ui.draw.pane import Pane
from tokentui.ui.draw.text import Cell
from tokentui.ui.face import Face, loads, not_yet
from tokentui.ui.panes.corpus import CorpusText

if TYPE_CHECKING:  # loaded when it is first wanted
    from tokentui.ui.panes.editor import CorpusEditor


class CorpusPane(Pane):
    """The box.

    Args:
        face: The program.
        text: The text in tokens.
        turned: Called when the editor has come or gone.
    """

    def __init__(self, face: Face, text: CorpusText, turned: Callable[[], object]) -> None:
        super().__init__("1 Corpus", text, id="corpus")
        self.face = face
        self.text = text
        self.edited = False
        """True if the corpus is the text of the editor. The editor is then kept while it is hidden."""
        self._turned = turned
        self._editor: CorpusEditor | None = None
        self._opening = 0
        """The number of other corpora that are being opened."""
        self._was_edited = False
        """True if the corpus was the text of the editor when the first of them was requested."""
        self._offered: tuple[str, int] | None = None
        """The corpus that cannot be edited and in whose place an empty text was offered."""
        self._said = ""

    @property
    def editing(self) -> bool:
        """True if the editor is visible."""
        return self._editor is not None and self._editor.is_attached and self._editor.display

    @property
    def focused_body(self) -> Widget:
        """The widget that gets the keys."""
        return self._editor if self._editor is not None and self.editing else self.text

    def names(self) -> tuple[str, str]:
        """Its title, and a short one: they say whether one types, and whether the corpus was typed."""
        state = "editing" if self.editing else "scratch" if self.edited else ""
        return (f"1 Corpus · {state}", f"1 {state.capitalize()}") if state else ("1 Corpus", "1 Corpus")

    def note(self, now: Snapshot) -> Cell:
        """Where in the text one is."""
        if self._editor is not None and self.editing:
            return ((self._editor.position, "muted"),)
        if now.nothing:
            return ()
        return ((f"{100 * self.text.position:3.0f} %", "muted"),
            ) if now.main.at.start_tokens else (("empty", "muted"),)

    # Typing into it.

    async def begin(self) -> None:
        """Show the corpus as text to type into, or say why it cannot be; again: an empty text."""
        now = self.face.snapshot
        if now is None or self._opening or loads(now):
            not_yet(self.face)
            return
        corpus = (now.corpus.name, now.corpus.bytes)
        if self._editor is not None and (self.edited or self.editing):
            await self._open(self._editor)
        elif self._offered == corpus:
            await self._show("")
        else:
            self.face.send(
                WholeText(), lambda text: self.call_later(self._show, text, corpus),
                lambda error: self._refuse(error, corpus)
            )

    def _refuse(self, error: BaseException, corpus: tuple[str, int]) -> None:
        self.face.tell(error)
        if isinstance(error, TokentuiError):
            self._offered = corpus
            self.face.say("t again: an empty text, which takes the place of this corpus once something is typed")

    async def _show(self, text: str, corpus: tuple[str, int] = ("", 0)) -> None:
        from tokentui.ui.panes.editor import CorpusEditor, refusal

        now = self.face.snapshot
        if self.editing or now is None:
            return
        if refused := refusal(text):
            self._refuse(TokentuiError(refused, corpus[0]), corpus)
            return
        self.edited, self._offered = False, None
        # Of several documents it is not known where they begin in the text, of a normalised one how long it
        # was.
        place, exact = self.text.top_place, not now.main.recipe.normalize
        await self._open(CorpusEditor(text, self.changed),
            place.offset if exact and not place.document else 0)

    async def _open(self, editor: CorpusEditor, offset: int = 0) -> None:
        """Show an editor; a new one with its cursor behind so many characters."""
        if editor is not self._editor:
            await self._drop()
            self._editor = editor
            await self.mount(editor)
            self.call_after_refresh(editor.go_to, offset)
        editor.display, self.text.display = True, False
        self._turned()

    def end(self) -> None:
        """Show the corpus as tokens again, where the cursor is."""
        now = self.face.snapshot
        typed = self._editor is not None and self.edited and now is not None and not now.main.recipe.normalize
        self._close(CorpusPlace(0, self._editor.line_offset) if self._editor is not None and typed else None)

    def _close(self, place: CorpusPlace | None = None) -> None:
        """Show the text in tokens again, round a place or where it was; the editor keeps what was typed."""
        if self._editor is not None and self.editing:
            self.text.display, self._editor.display = True, False
            self.text.begin_again(place)
            self._turned()

    async def _drop(self) -> None:
        """Do without the editor."""
        self._close()
        editor, self._editor = self._editor, None
        if editor is not None:
            await editor.remove()

    def changed(self) -> None:
        """Train on what stands in the editor now."""
        if self._editor is not None:
            self.edited = True
            self.face.send(TrainOnText(self._editor.text), lambda _: self._trained(), self._failed)

    def _trained(self) -> None:
        self._said = ""

    def _failed(self, error: BaseException) -> None:
        if self._opening:
            return
        if str(error) != self._said:  # once, and not at every key
            self._said = str(error)
            self.face.tell(error)
        if not self.editing:
            # What stands in the editor is not the corpus: the next time the corpus is asked for.
            self.edited = False

    # While another corpus is opened.

    def give_way(self) -> None:
        """Show and train nothing of the editor: another corpus is being opened."""
        self._was_edited = self.edited or (self._opening > 0 and self._was_edited)
        self._opening += 1
        self._close()
        self.edited = False

    async def opened(self) -> None:
        """The other corpus has taken its place."""
        self._opening -= 1
        self._offered, self.edited = None, False
        await self._drop()

    def come_back(self) -> None:
        """The other corpus could not be opened."""
        self._opening -= 1
        if self._was_edited and not self._opening:
            self.changed()
