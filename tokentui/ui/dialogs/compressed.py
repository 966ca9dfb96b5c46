"""Gage's compression at a step: the compressed text with letters for its placeholders, the table that expands
it, the sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from rich.style import Style as RichStyle
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from tokentui.session.commands import Compress
from tokentui.session.snapshot import CompressedView
from tokentui.ui.dialogs.dialog import LEAVE, Dialog
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.listing import Listing, wrap
from tokentui.ui.draw.table import TableRow
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.face import Face, has, loads, not_yet
from tokentui.ui.keys import Action

EXPANSION_SHOWN = 64
"""The most characters of what a placeholder stands for in the end."""

_LETTER = "key"
_TABLE = (
    Column("", width=3, priority=4),
    Column("byte", width=4, priority=1),
    Column("stands for", width=10, priority=3),
    Column("spelled", flex=1, min_width=8, priority=2),
)


def text(view: CompressedView) -> Cell:
    """The compressed bytes: a placeholder as its letter, what is between two as the text that it is."""
    out: list[Run] = []
    for letter, group in groupby(view.parts, key=lambda part: part[1]):
        values = [value for value, _ in group]
        out += [(letter, _LETTER)] * len(values) if letter else ui_text.runs(bytes(values))
    return tuple(out)


def table(view: CompressedView) -> Iterator[TableRow]:
    """The rows of the table: letter, byte, the pair that it stands for, what that is in the end."""
    letters = {placeholder: letter for letter, placeholder, *_ in view.table}
    for letter, placeholder, left, right, expansion in view.table:
        pair = (*_side(left, letters), ("+", "muted"), *_side(right, letters))
        byte: Cell = ((f"{placeholder:02X}", "muted"),)
        yield TableRow(placeholder, (((letter, _LETTER),), byte, pair,
            ui_text.runs(expansion, limit=EXPANSION_SHOWN)))


def _side(byte: int, letters: Mapping[int, str]) -> Cell:
    return ((letters[byte], _LETTER),) if byte in letters else ui_text.runs(bytes((byte,)))


def sizes(view: CompressedView) -> str:
    """`text 5 B + table 9 B = 14 B of 11 B (127.3 %)`."""
    whole = view.text_bytes + view.table_bytes
    share = f" ({100 * whole / view.original_bytes:.1f} %)" if view.original_bytes else ""
    parts = f"text {number(view.text_bytes)} B + table {number(view.table_bytes)} B"
    return f"{parts} = {number(whole)} B of {number(view.original_bytes)} B{share}"


class _Lines(Listing):
    """Lines of text: the cursor is no more than the sign in the margin, so that letters keep their colours."""

    DEFAULT_CSS = """
    _Lines:focus > .virtual-table--cursor, _Lines > .virtual-table--cursor { text-style: none; }
    """

    def _style(self, name: str, style: RichStyle, line: Any) -> RichStyle:
        return super()._style(name, style, line if line is None else line._replace(cursor=False))


def show_compressed(face: Face) -> None:
    """Show the text as it is compressed at this step, where there is such a text."""
    if not has(face.snapshot, "compression"):
        face.say("only Gage's compression has a compressed text: choose it with a")
    elif loads(face.snapshot):
        not_yet(face)
    else:
        face.send(Compress(), lambda view: face.push(CompressedScreen(face, view)))


class CompressedScreen(Dialog[None]):
    """Shows the compressed text in parts, and the table.

    Args:
        face: The program.
        view: The first part.
        length: The bytes of a part; what is shorter is the last one.
    """

    HEADING = "Compressed"
    ACTIONS = (
        Action(("up", "down"), "scroll", keys_shown=2),
        Action(("tab", "shift+tab"), "text or table", lambda it: it.turn()),
        Action(("right_square_bracket",), "next part", lambda it: it.part(1)),
        Action(("left_square_bracket",), "part before", lambda it: it.part(-1)), LEAVE,
    )
    DEFAULT_CSS = """
    CompressedScreen .heading { height: 1; color: $foreground-muted; }
    CompressedScreen .sides { height: 1fr; }
    CompressedScreen #compressed-text { width: 3fr; }
    CompressedScreen #compressed-table { width: 2fr; padding-left: 1; }
    CompressedScreen.-narrow .sides { layout: vertical; }
    CompressedScreen.-narrow .sides > Vertical { width: 1fr; height: 1fr; padding: 0; }
    """

    def __init__(self, face: Face, view: CompressedView, length: int = Compress().length) -> None:
        super().__init__(face)
        self._view = view
        self._length = length
        self._start = 0
        self._waiting = False
        self.where = Static("", classes="heading", markup=False)
        self.lines, self.table = _Lines((Column(flex=1),), id="text"), Listing(_TABLE, id="table")

    def compose_box(self) -> ComposeResult:
        """Yield the sizes, and below them the text and the table."""
        yield self.notice
        with Horizontal(classes="sides"):
            yield Vertical(self.where, self.lines, id="compressed-text")
            yield Vertical(self.table, id="compressed-table")

    def on_mount(self) -> None:
        """Begin in the text."""
        self.set_focus(self.lines)

    def turn(self) -> None:
        """Go to the table, or back to the text."""
        self.set_focus(self.lines if self.table.has_focus else self.table)

    def part(self, by: int) -> None:
        """Show the next part of the text, or the one before."""
        start = self._start + by * self._length
        if self._waiting or start < 0 or (by > 0 and len(self._view.parts) < self._length):
            return
        self._waiting = True

        def answered(view: CompressedView) -> None:
            self._waiting = False
            if self.is_mounted and (view.parts or start <= self._start):
                self._view, self._start = view, start
                self.lines.move_to(0)
                self.lay_out()

        self.face.send(Compress(start, self._length), answered)

    def lay_out(self) -> None:
        """Break the text for the room there is."""
        view = self._view
        self.notice.say(sizes(view), "strong")
        end = self._start + len(view.parts)
        where = f"bytes {number(self._start)} to {number(end)} of the text" if view.parts else "no text"
        self.where.update(ui_text.join(((where, ""),)))
        width = self.lines.size.width - 3  # the margin, the bar
        self.lines.show([TableRow(n, (line,)) for n, line in enumerate(wrap(text(view), width))])
        self.table.show(list(table(view)))
