"""The help of a dialog: its keys, each with its effect. Enter presses one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from tokentui.core.safetext import safe
from tokentui.ui.bindings import HANDLED, BoundAction
from tokentui.ui.dialogs import ListDialog
from tokentui.ui.draw.table import Column, Listing, TableRow
from tokentui.ui.link import EngineLink


class KeysScreen(ListDialog[None]):
    """Lists the keys of a dialog.

    Args:
        engine: The link to the session.
        title: The title of the dialog.
        actions: The actions of its keys.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", HANDLED, "press"), Binding("question_mark", "leave"),
    ]

    def __init__(self, engine: EngineLink, title: str, actions: Sequence[BoundAction]) -> None:
        super().__init__(engine, f"Keys · {title}")
        self._actions = [action for action in actions if action.keys]

    def on_mount(self) -> None:
        """List them."""
        super().on_mount()
        self.lay_out()

    def lay_out(self) -> None:
        """Show a row for each key."""
        rows = [
            TableRow(n, (((action.shown_key, "key"),), ((safe(action.help or action.label, limit=200), ""),)))
            for n, action in enumerate(self._actions)
        ]
        width = max(len(action.shown_key) for action in self._actions)
        self.tell((Column(width=width, priority=2), Column(flex=1, priority=1)), rows, words=True,
            keep=self.listing.cursor_key)
        self.fit_height(len(self.listing.rows))

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Leave, and press the key."""
        place = event.key[0] if isinstance(event.key, tuple) else event.key
        self.dismiss(None)
        if isinstance(place, int):
            self.app.simulate_key(self._actions[place].keys[0])
