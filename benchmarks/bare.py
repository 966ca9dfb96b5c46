"""A Textual app with the panes of the explorer, and nothing in them: what Textual itself takes until its
first paint."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Input, Static


class Pane(Vertical):
    """A box with a title."""

    def __init__(self, title: str, *bodies: Widget, id: str) -> None:
        super().__init__(id=id)
        self._title, self._bodies = title, bodies

    def compose(self) -> ComposeResult:
        """The title and what stands below it."""
        yield Static(self._title, classes="title")
        yield from self._bodies


class Bare(App[None]):
    """The panes of the main screen, empty."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #header, #scrubber, #footer, .title { height: 1; }
    #panes, Pane { width: 1fr; height: 1fr; }
    .body { border: solid gray; border-top: none; height: 1fr; }
    #why { height: 4; }
    #encode { height: 7; }
    Input, Input:focus { width: 1fr; height: 1; border: none; }
    .line { height: 1; }
    """

    def compose(self) -> ComposeResult:
        """From top to bottom, as the main screen has them."""
        yield Static(" tokentui", id="header")
        with Horizontal(id="panes"):
            for title in ("1 Corpus", "2 Pairs", "3 Vocabulary"):
                yield Pane(title, Static(classes="body"), id=title.rpartition(" ")[2].lower())
        yield Pane("Why", Static(classes="body"), id="why")
        yield Pane(
            "4 Encode", Horizontal(Static("> "), Input(), Static(), classes="line"), Static(classes="body"),
            id="encode",
        )
        yield Static(id="scrubber")
        yield Static("n next  b back", id="footer")


if __name__ == "__main__":
    Bare().run()
