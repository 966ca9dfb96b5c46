"""A box round a pane: a numbered title at the top, the pane below it."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget

from tokentui.ui.draw.bands import TitleLine


class Pane(Vertical):
    """A box.

    Args:
        title: What stands at the top left.
        bodies: What stands in it; the last one draws the lower edge.
        id: Its id.
    """

    def __init__(self, title: str, *bodies: Widget, id: str) -> None:
        super().__init__(id=id)
        self.title = TitleLine(title)
        self._bodies = bodies

    def compose(self) -> ComposeResult:
        """The title, and what stands below it."""
        yield self.title
        for body in self._bodies:
            body.add_class("body")
            yield body

    def on_descendant_focus(self) -> None:
        """Show that keys go here."""
        self.title.mark(True)

    def on_descendant_blur(self) -> None:
        """Show that keys go elsewhere."""
        self.title.mark(False)
