"""A line to type in: one row high, and safe to show whatever was pasted into it."""

from __future__ import annotations

from textual import events
from textual.suggester import Suggester

from tokentui.ui.draw.text import StandIns
from tokentui.ui.typed import ClusterInput, typed_beyond

MOST_TYPED = 4096
"""The most characters a line holds; paths may be that long."""


class Field(ClusterInput):
    """A line to type in.

    Args:
        value: What it holds at first.
        placeholder: What it shows while it holds nothing.
        select: Whether what it holds is selected when it gets the focus, so that typing replaces it.
        suggester: Completes what is typed.
    """

    DEFAULT_CSS = """
    Field { width: 1fr; background: $surface; }
    Field:focus { background: $surface; background-tint: transparent; }
    """

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str = "",
        select: bool = True,
        suggester: Suggester | None = None,
        id: str | None = None,
    ) -> None:
        super().__init__(
            value,
            placeholder=placeholder,
            highlighter=StandIns(),
            suggester=suggester,
            max_length=MOST_TYPED,
            select_on_focus=select,
            compact=True,
            id=id,
        )
        self.cursor_blink = False

    def on_key(self, event: events.Key) -> None:
        """Take what the base class would leave out."""
        if typed := typed_beyond(event):
            self.replace(typed, *sorted(self.selection))
