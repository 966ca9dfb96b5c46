"""The encodings of Compare: a line to type in, or the place of a passage of the corpus, and the rows below it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from tokentui.session.compared import Aligned, ColumnView, Passage
from tokentui.ui.compare.aligned import AlignedRows
from tokentui.ui.draw.figures import number, plural
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.text import Cell
from tokentui.ui.panes.encode import TYPED_LIMIT, Prompt, TypedLine


class PassageLine(Lines):
    """Where in the corpus the text stands that is shown."""

    passage: Passage | None = None
    bytes = 0

    def show(self, passage: Passage | None, size: int) -> None:
        """Take a passage and its bytes."""
        self.passage, self.bytes = passage, size
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """`corpus  document 1, character 12,345   e: the typed text`."""
        if self.passage is None:
            return ()
        where = f"document {number(self.passage.document + 1)}, character {number(self.passage.start)}"
        return ((
            ("corpus  ", "accent"), (where, ""), (f" · {plural(self.bytes, 'byte')}   ", "muted"), ("e", "key"),
            (" what was typed", "muted"),
        ),)


class CompareEncode(Vertical):
    """The line and the rows.

    Args:
        typed: What stands in the line at first.
    """

    def __init__(self, typed: str) -> None:
        super().__init__()
        self.line, self.passage, self.rows = TypedLine(), PassageLine(), AlignedRows()
        self._typed = typed

    def compose(self) -> ComposeResult:
        """The line at the top."""
        with Horizontal(classes="typing"):
            yield Prompt()
            yield self.line
            yield self.passage
        yield self.rows

    def on_mount(self) -> None:
        """Put the text into the line."""
        self.passage.display = False
        self.line.value = self._typed[:TYPED_LIMIT]

    def show(self, aligned: Aligned, columns: Sequence[ColumnView], pair: tuple[int, int] | None) -> None:
        """Take encodings, the columns of Compare, and the keys of the two that are looked at."""
        self.passage.display = aligned.passage is not None
        self.line.display = aligned.passage is None
        self.passage.show(aligned.passage, aligned.bytes)
        self.rows.show(aligned, columns, pair)
