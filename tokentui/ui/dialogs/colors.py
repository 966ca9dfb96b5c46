"""The dialog that chooses the colors: the screen below shows the theme under the cursor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType

from tokentui.ui.bindings import HANDLED
from tokentui.ui.dialogs import ListDialog
from tokentui.ui.draw.table import Column, Listing, TableRow, heading
from tokentui.ui.link import EngineLink
from tokentui.ui.settings import theme_groups


class ColorsScreen(ListDialog[None]):
    """Chooses the theme. The theme under the cursor is shown at once; esc restores the one before.

    Args:
        engine: The link to the session.
    """

    HEADING, dims = "Colors", False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", HANDLED, "apply"),
        Binding("T", "leave"),
    ]

    def __init__(self, engine: EngineLink) -> None:
        super().__init__(engine)
        self._before = ""

    def on_mount(self) -> None:
        """List the themes with the cursor on the one in use."""
        self._before = self.app.theme
        self.listing.show(
            tuple(self._rows()), self._before, (Column(flex=1, min_width=12, priority=1), Column(width=5))
        )

    def _rows(self) -> Iterator[TableRow]:
        """Yield the themes in groups with headings, each as dark or light; skip themes that the app does not
        have."""
        themes = self.app.available_themes
        for title, names in theme_groups(themes):
            yield heading(title)
            for name in names:
                if (theme := themes.get(name)) is not None:
                    yield TableRow(name, (((name, ""),), (("dark" if theme.dark else "light", "muted"),)))

    def on_virtual_table_cursor_moved(self, event: Listing.CursorMoved) -> None:
        """Switch the app to the theme under the cursor."""
        if isinstance(event.key, str) and event.key in self.app.available_themes:
            self.app.theme = event.key

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Close, and save the current theme in the settings."""
        self.dismiss(None)
        self.app.user_settings.keep("theme", self.app.theme)

    def action_leave(self) -> None:
        """Restore the theme before, and close."""
        self.app.theme = self._before
        self.dismiss(None)
