"""The messages that the program has shown."""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.ui.dialogs import ListDialog
from tokentui.ui.draw.table import Column, TableRow
from tokentui.ui.link import EngineLink


class MessagesScreen(ListDialog[None]):
    """A row for each message, the newest first.

    Args:
        engine: The link to the session.
        messages: The messages as safe text, the newest last.
    """

    HEADING = "Messages"

    def __init__(self, engine: EngineLink, messages: Sequence[str]) -> None:
        super().__init__(engine)
        self._messages = tuple(messages)

    def lay_out(self) -> None:
        """Show the messages, the newest first; without any, one row says so. Fit the height."""
        texts = self._messages[::-1] or ("no messages yet",)
        rows = [TableRow(("message", n), (((text, ""),),)) for n, text in enumerate(texts)]
        self.tell((Column(flex=1),), rows, words=True)
        self.fit_height(len(self.listing.rows))
