"""A table of rows, run by `python table_app.py thin` on this package, or `plain` on Textual's own driver."""

from __future__ import annotations

import sys

from textual.app import App, ComposeResult
from textual.widgets import DataTable, Header, Label

from tokentui.thinwire import ThinWireApp


class Table:
    """What both apps show."""

    def compose(self) -> ComposeResult:
        yield Header()
        yield DataTable[str](cursor_type="row")
        yield Label("row -", markup=False)

    def on_mount(self) -> None:
        assert isinstance(self, App)
        table = self.query_one(DataTable)
        table.add_columns("id", "token", "uses")
        table.add_rows((str(n), f"token {n}", str(n * n)) for n in range(100))
        table.styles.height = "1fr"
        self.query_one(Label).styles.width = "100%"
        table.focus()

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        assert isinstance(self, App)
        self.query_one(Label).update(f"row {event.cursor_row}.")


class Thin(Table, ThinWireApp[None]):
    """The table on this package."""


class Plain(Table, App[None]):
    """The table on Textual's own driver."""


if __name__ == "__main__":
    {"thin": Thin, "plain": Plain}[sys.argv[1]]().run()
