"""The rows behind a picture."""

from __future__ import annotations

from tokentui.analyze.report import Section
from tokentui.core.chart import Picture
from tokentui.ui.dialogs import ListDialog
from tokentui.ui.draw.sections import behind, columns_of, screen_cell
from tokentui.ui.draw.table import TableRow
from tokentui.ui.link import EngineLink


class PictureRowsScreen(ListDialog[None]):
    """Lists the values behind a picture; enter closes it.

    Args:
        engine: The link to the session.
        picture: The picture.
    """

    def __init__(self, engine: EngineLink, picture: Picture) -> None:
        super().__init__(engine, picture.title.capitalize())
        self.section = behind(Section(picture=picture))

    def lay_out(self) -> None:
        """Show the values as a table."""
        rows = [TableRow(n, tuple(map(screen_cell, row.cells))) for n, row in enumerate(self.section.rows)]
        self.listing.show(rows, None, columns_of(self.section))

    def on_virtual_table_chosen(self) -> None:
        """Close, and return to the picture."""
        self.dismiss(None)
