"""One token or pair, exactly: its bytes, its code points with their names, its text in every way it can be written."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.app import ComposeResult

from tokentui.safetext import GLYPH_MODES, safe
from tokentui.snapshot import PairRow, TokenRow
from tokentui.ui import text as ui_text
from tokentui.ui.screens.dialog import Dialog, Hint
from tokentui.ui.screens.listing import Listing, wrap
from tokentui.ui.table import Column, TableRow
from tokentui.ui.text import Cell
from tokentui.ui.widgets.figures import number, signed

MOST_SHOWN = 2048
"""The most bytes of a piece that are written out; a longer one ends in an ellipsis."""

_LABEL = 10
_COLUMNS = (Column(width=_LABEL, priority=1), Column(flex=1, min_width=12, priority=2))
_UNNAMED = {
    "Cc": "a control character",
    "Cf": "a formatting character",
    "Cn": "not assigned",
    "Co": "for private use",
    "Cs": "half of a surrogate pair",
}


def facts(row: TokenRow | PairRow, parents: Sequence[bytes] = ()) -> Iterator[tuple[str, Cell]]:
    """What is known of a row, as (label, cell), but for its code points."""
    if isinstance(row, TokenRow):
        piece = row.piece
        yield "id", ((number(row.id), "strong"), (f"  {row.kind}", "muted"))
        if row.step is not None:
            counted = "" if row.count is None else f", from {number(row.count)} pairs"
            yield "born", ((f"step {number(row.step)}{counted}", ""),)
        uses = "not counted" if row.uses is None else "not used" if not row.uses else f"{number(row.uses)} times"
        yield "uses now", ((uses, "muted" if not row.uses else ""),)
    else:
        piece, parents = row.token, (row.left, row.right)
        change = "new" if row.new else signed(row.change)
        yield "count", ((number(row.count), "strong"), (f"  {change} with the last step" if change else "", "muted"))
        if row.tied:
            yield "tied", (("another pair has the same count", ""),)
    if parents:
        joined: list[ui_text.Run] = []
        for parent in parents:
            joined += [(" + ", "muted")] if joined else []
            joined += ui_text.runs(parent, limit=MOST_SHOWN)
        yield "parents", tuple(joined)
    for mode in GLYPH_MODES:
        if mode != "hex":
            yield mode, ui_text.runs(piece, mode=mode, limit=4 * MOST_SHOWN)
    plural = "byte" if len(piece) == 1 else "bytes"
    rest = " …" if len(piece) > MOST_SHOWN else ""
    yield "hex", ((piece[:MOST_SHOWN].hex(" ") + rest, ""), (f"  {number(len(piece))} {plural}", "muted"))


def code_points(piece: bytes) -> Iterator[tuple[str, Cell]]:
    """The characters of a piece with their names; bytes that are no whole character stand for themselves."""
    for char in piece[:MOST_SHOWN].decode("utf-8", "surrogateescape"):
        if "\udc80" <= char <= "\udcff":
            yield f"<{ord(char) - 0xDC00:02X}>", (("a byte that is no whole character", "muted"),)
            continue
        name = unicodedata.name(char, "") or _UNNAMED.get(unicodedata.category(char), "without a name")
        yield f"U+{ord(char):04X}", (*ui_text.runs(char), (f"  {name}", "muted"))


class InspectScreen(Dialog[None]):
    """Shows a row of the vocabulary or of the pairs.

    Args:
        row: The row.
        parents: The pieces that a token was made of, where they are known; a pair brings its own.
    """

    HINTS: ClassVar[Sequence[Hint]] = (("↑↓", "scroll"), ("esc", "leave"))
    HEADING = "Inspect"

    def __init__(self, row: TokenRow | PairRow, parents: Sequence[bytes] = ()) -> None:
        super().__init__()
        self._piece = row.piece if isinstance(row, TokenRow) else row.token
        self._facts = tuple(facts(row, parents))
        self._points = tuple(code_points(self._piece))

    def compose_box(self) -> ComposeResult:
        """The list of facts."""
        yield Listing(_COLUMNS)

    def on_mount(self) -> None:
        """Name what is inspected."""
        shown = safe(self._piece, limit=30)
        self.box.border_title = ui_text.join(((f"{self.HEADING} ‘{shown}’", ""),))
        self.set_focus(self.query_one(Listing))

    def on_resize(self) -> None:
        """Break long values anew."""
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        listing = self.query_one(Listing)
        width = listing.size.width - 2 - _LABEL - 1 - 1  # the margin, the gap, the bar
        listing.show(list(_rows((*self._facts, ("", ()), *self._points), width)))


def _rows(listed: Sequence[tuple[str, Cell]], width: int) -> Iterator[TableRow]:
    for place, (label, cell) in enumerate(listed):
        for line, part in enumerate(wrap(cell, width)):
            yield TableRow((place, line), (((label if not line else "", "muted"),), part))
