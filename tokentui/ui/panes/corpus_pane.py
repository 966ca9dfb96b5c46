"""The box of the corpus: its text in tokens, or in their place an editor to type into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widget import Widget

from tokentui.session.snapshot import Snapshot
from tokentui.ui.draw.pane import Pane
from tokentui.ui.draw.text import Cell
from tokentui.ui.panes.corpus import CorpusText

if TYPE_CHECKING:
    from tokentui.ui.panes.editor import CorpusEditor


class CorpusPane(Pane):
    """The box.

    Args:
        title: What stands at the top left.
        text: The text in tokens.
        id: Its id.
    """

    def __init__(self, title: str, text: CorpusText, id: str) -> None:
        super().__init__(title, text, id=id)
        self.text = text
        self.edited = False
        """Whether the corpus is what was typed into the editor."""
        self._title = title
        self._editor: CorpusEditor | None = None

    @property
    def editing(self) -> bool:
        """Whether the editor is seen."""
        return self._editor is not None and self._editor.display

    @property
    def focused_body(self) -> Widget:
        """What keys go to."""
        return self._editor if self._editor is not None and self.editing else self.text

    def names(self) -> tuple[str, str]:
        """Its title, and a short one: they say whether one types, and whether the corpus was typed."""
        number, _, name = self._title.partition(" ")
        state = "editing" if self.editing else "scratch" if self.edited else ""
        return (f"{self._title} · {state}", f"{number} {state.capitalize()}") if state else (self._title, f"{number} {name}")

    def note(self, now: Snapshot) -> Cell:
        """Where in the text one is."""
        if self._editor is not None and self.editing:
            return ((self._editor.position, "muted"),)
        if now.nothing:
            return ()
        return ((f"{100 * self.text.position:3.0f} %", "muted"),) if now.start_tokens else (("empty", "muted"),)

    async def open(self, editor: CorpusEditor, offset: int = 0) -> None:
        """Show an editor; a new one with its cursor behind so many characters."""
        if editor is not self._editor:
            await self.drop()
            self._editor = editor
            await self.mount(editor)
            self.call_after_refresh(editor.go_to, offset)
        editor.display, self.text.display = True, False

    def close(self) -> None:
        """Show the text in tokens again; the editor keeps what was typed."""
        if self._editor is not None:
            self.text.display, self._editor.display = True, False

    async def drop(self) -> None:
        """Do without the editor."""
        self.close()
        editor, self._editor = self._editor, None
        if editor is not None:
            await editor.remove()
