"""The encodings of Compare: a line to type in, or the place of a passage of the corpus, and the rows below
it.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from tokentui.session.snapshot import Aligned
from tokentui.session.views import ColumnSnapshot, Passage
from tokentui.ui.compare.aligned import AlignedRows
from tokentui.ui.draw.figures import number, plural
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.text import Cell
from tokentui.ui.panes.encode import TYPED_LIMIT, TypedLine, sign


def passage_line(passage: Passage | None, size: int) -> Sequence[Cell]:
    """Where in the corpus the text stands that is shown: `corpus  document 1, character 12,345   e what was
    typed`.
    """
    if passage is None:
        return ()
    where = f"document {number(passage.document + 1)}, character {number(passage.start)}"
    return ((
        ("corpus  ", "accent"), (where, ""), (f" · {plural(size, 'byte')}   ", "muted"), ("e", "key"),
        (" what was typed", "muted"),
    ),)


class CompareEncode(Vertical):
    """The line and the rows.

    Args:
        typed: The initial text of the line.
    """

    def __init__(self, typed: str) -> None:
        super().__init__()
        self.line, self.passage, self.rows = TypedLine(), Lines(), AlignedRows()
        self._typed = typed

    def compose(self) -> ComposeResult:
        """The line at the top."""
        yield Horizontal(sign(), self.line, self.passage, classes="typing")
        yield self.rows

    def on_mount(self) -> None:
        """Put the text into the line."""
        self.passage.display = False
        self.line.value = self._typed[:TYPED_LIMIT]

    def show(self, aligned: Aligned, columns: Sequence[ColumnSnapshot], pair: tuple[int, int] | None) -> None:
        """Take encodings, the columns of Compare, and the keys of the two that are looked at."""
        self.passage.display = aligned.passage is not None
        self.line.display = aligned.passage is None
        self.passage.show(lambda *_: passage_line(aligned.passage, aligned.bytes))
        self.rows.take(aligned, columns, pair)
