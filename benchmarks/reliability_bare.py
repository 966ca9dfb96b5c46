"""A Textual app with a table of rows, as its documents show one: what Textual itself sends and takes."""

from __future__ import annotations

import sys

from textual.app import App, ComposeResult
from textual.widgets import DataTable, Footer, Header


class Bare(App[None]):
    """A table."""

    def compose(self) -> ComposeResult:
        """With a header and a footer."""
        yield Header()
        yield DataTable(cursor_type="row")
        yield Footer()

    def on_mount(self) -> None:
        """Fill it."""
        table = self.query_one(DataTable)
        table.add_columns("id", "token", "uses")
        table.add_rows((str(n), f"row {n}", str(n * n)) for n in range(int(sys.argv[1])))
        table.focus()


if __name__ == "__main__":
    Bare().run()
