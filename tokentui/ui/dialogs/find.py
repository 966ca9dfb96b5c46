"""What to find in a pane: one line at the foot of the screen."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Static

from tokentui.ui.dialogs.dialog import Dialog
from tokentui.ui.dialogs.field import Field
from tokentui.ui.draw.text import join


class FindScreen(Dialog[str | None]):
    """Asks for text to find. Its result is the text, "" to find nothing any more, None if it was left.

    Args:
        pane: The pane that is searched, as its title has it.
        text: What was looked for last.
    """

    DEFAULT_CSS = """
    FindScreen .bar { dock: bottom; width: 100%; height: 1; background: $surface; color: $foreground; }
    FindScreen .prompt { width: auto; max-width: 60%; color: $text-accent; text-style: bold; }
    """

    def __init__(self, pane: str, text: str = "") -> None:
        super().__init__()
        self._pane = pane
        self._text = text

    def compose(self) -> ComposeResult:
        """The bar."""
        with Horizontal(classes="bar"):
            yield Static(join(((f" find in {self._pane} > ", ""),)), classes="prompt", markup=False)
            yield Field(self._text)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Look for it."""
        self.dismiss(event.value)
