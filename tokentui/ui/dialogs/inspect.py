"""One token or pair, exactly: its bytes, its code points with their names, its text in every way it can be
written.
"""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from textual.app import ComposeResult

from tokentui.core.safetext import GLYPH_MODES, safe
from tokentui.recipe import Recipe
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import BirthRow, LossRow, PairRow, TokenRow
from tokentui.ui.dialogs.dialog import LEAVE, Dialog
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.figures import amount, number, plural, signed
from tokentui.ui.draw.listing import Listing, wrap
from tokentui.ui.draw.table import TableRow
from tokentui.ui.draw.text import Cell
from tokentui.ui.face import Face, loads
from tokentui.ui.keys import Action

MOST_SHOWN = 2048
"""The most bytes of a piece that are written out; a longer one ends in an ellipsis."""

Row: TypeAlias = TokenRow | PairRow | LossRow
"""A row that can be inspected."""

_REASON_SHOWN = 300
_LABEL = 10
_COLUMNS = (Column(width=_LABEL, priority=1), Column(flex=1, min_width=12, priority=2))
_UNNAMED = {
    "Cc": "a control character",
    "Cf": "a formatting character",
    "Cn": "not assigned",
    "Co": "for private use",
    "Cs": "half of a surrogate pair",
}


def facts(row: Row) -> Iterator[tuple[str, Cell]]:
    """Yield the facts about a row as (label, cell), without its code points."""
    piece, parents = piece_of(row), tuple[bytes, ...]()
    if isinstance(row, BirthRow):
        yield "id", ((number(row.id), "strong"), ("" if row.born else "  not born yet", "muted"))
        yield "born", ((f"birth {number(row.number)}, {safe(row.place, limit=_REASON_SHOWN)} in the file",
            ""),)
        yield "places", ((f"{number(row.count)} in {number(row.words)} distinct words", ""),
            ("  as soon as it is born", "muted"))
        parents = row.parts
    elif isinstance(row, TokenRow):
        yield "id", (("–" if row.id is None else number(row.id), "strong"), (f"  {row.kind}", "muted"))
        if row.step is not None:
            counted = "" if row.count is None else f", from {number(row.count)} pairs"
            what = "birth" if row.count is None else "step"
            yield "born", ((f"{what} {number(row.step)}{counted}", ""),)
        if row.kind == "left":
            figure = "" if row.score is None else f"  {_figure(row.score)}"
            yield "left for", ((safe(row.reason, limit=_REASON_SHOWN), ""), (figure, "muted"))
        else:
            uses = "not counted" if row.uses is None else "not used" if not row.uses else plural(row.uses,
                "time")
            yield "uses now", ((uses, "muted" if not row.uses else ""),)
            if row.reason:
                yield "never", ((safe(row.reason, limit=_REASON_SHOWN), "warning"),
                    ("  no text becomes it", "muted"))
            if row.score is not None:
                yield "score", ((_figure(row.score), ""),
                    (f"  the natural log of {_figure(math.exp(row.score))}", "muted"))
        parents = row.parents
    elif isinstance(row, LossRow):
        yield from _judged(row)
    else:
        parents = (row.left, row.right)
        change = "new" if row.new else signed(row.change)
        yield "count", ((number(row.count), "strong"),
            (f"  {change} with the last step" if change else "", "muted"))
        if row.score:
            uses = f"{number(row.left_uses)} and {number(row.right_uses)} times"
            yield "its sides", ((uses, ""),)
            yield "score", ((_figure(row.score), "strong"), ("  count over the product of these", "muted"))
        if row.tied:
            yield "tied", (("another pair is exactly as good" if row.score
                else "another pair has the same count", ""),)
        if row.spelled:
            yield "stands for", ui_text.runs(row.spelled, limit=MOST_SHOWN)
    if parents:
        yield "parents", _joined(parents)
    front, end = marks_of(row)
    if front:
        yield "mark", (*ui_text.runs(piece[:front]), ("  in front: it goes on with a word", "muted"))
    if end:
        yield "mark", (*ui_text.runs(piece[len(piece) - end :]),
            ("  at the end: a word ends with it", "muted"))
    piece = bare_of(row)
    for mode in GLYPH_MODES:
        if mode != "hex":
            yield mode, ui_text.runs(piece, mode=mode, limit=4 * MOST_SHOWN)
    rest = " …" if len(piece) > MOST_SHOWN else ""
    yield "hex", ((piece[:MOST_SHOWN].hex(" ") + rest, ""), (f"  {plural(len(piece), 'byte')}", "muted"))
    if rest:
        yield "sha256", ((hashlib.sha256(piece).hexdigest(), ""), ("  of all bytes", "muted"))


def piece_of(row: Row) -> bytes:
    """The exact bytes that a row is about."""
    return row.token if isinstance(row, PairRow) else row.piece


def marks_of(row: Row) -> tuple[int, int]:
    """Return the number of bytes at the front and at the end of a row's piece that are the recipe's mark."""
    return (0, 0) if isinstance(row, LossRow) else row.marks


def spelled_marks(piece: bytes, recipe: Recipe) -> tuple[int, int]:
    """Return the number of bytes of a piece that are the recipe's mark, by its spelling.

    It is used where no vocabulary gives the exact number.
    """
    mark, kind = recipe.mark_text.encode(), recipe.mark_kind
    front = kind == "prefix" and piece.startswith(mark) and len(piece) > len(mark)
    end = kind.startswith("end-") and piece.endswith(mark)
    return len(mark) if front else 0, len(mark) if end else 0


def bare_of(row: Row) -> bytes:
    """The bytes of a row's piece without its mark."""
    front, end = marks_of(row)
    piece = piece_of(row)
    return piece[front : len(piece) - end]


def _named(row: Row) -> tuple[object, ...]:
    """Return the identity of a row: equal for the same row at another time."""
    return (row.left, row.right) if isinstance(row, PairRow) else (row.piece, getattr(row, "id", None))


def _judged(row: LossRow) -> Iterator[tuple[str, Cell]]:
    """Yield the facts about a piece from the next pruning."""
    yield "p", ((_figure(row.probability), "strong"),)
    yield "expected", ((f"{amount(row.expected)} times", ""), ("  over all segmentations", "muted"))
    yield "uses now", ((f"{number(row.uses)} times", ""), ("  in the best segmentations", "muted"))
    yield "loss", ((_figure(row.loss), ""), ("  of the mean log probability of a token, without it", "muted"))
    yield "instead", _joined(row.alternative) if row.alternative else (("nothing", "muted"),)
    if row.taken:
        fate = "dropped"
    else:
        fate = "goes" if row.goes else "stays"
    yield "pruning", ((fate, "warning" if row.goes else ""),
        (f"  {safe(row.reason, limit=_REASON_SHOWN)}", "muted"))


def _joined(pieces: Sequence[bytes]) -> Cell:
    joined: list[ui_text.Run] = []
    for piece in pieces:
        joined += [(" + ", "muted")] if joined else []
        joined += ui_text.runs(piece, limit=MOST_SHOWN)
    return tuple(joined)


def _figure(value: float) -> str:
    """A figure with as many digits as a reader wants."""
    return ("∞" if math.isinf(value) else f"{value:.6g}") if value >= 0 else "−" + _figure(-value)


def code_points(piece: bytes) -> Iterator[tuple[str, Cell]]:
    """The characters of a piece with their names; bytes that are no whole character stand for themselves."""
    for char in piece[:MOST_SHOWN].decode("utf-8", "surrogateescape"):
        if "\udc80" <= char <= "\udcff":
            yield f"<{ord(char) - 0xDC00:02X}>", (("a byte that is no whole character", "muted"),)
            continue
        name = unicodedata.name(char, "") or _UNNAMED.get(unicodedata.category(char), "without a name")
        yield f"U+{ord(char):04X}", (*ui_text.runs(char), (f"  {name}", "muted"))


class InspectScreen(Dialog[None]):
    """Shows a row of the vocabulary, of the pairs or of the pieces by loss.

    While the corpus is loaded it follows the row, whose figures still grow.

    Args:
        face: The program.
        row: The row.
    """

    HEADING = "Inspect"
    ACTIONS = (Action(("up", "down"), "scroll", keys_shown=2), LEAVE)

    def __init__(self, face: Face, row: Row) -> None:
        super().__init__(face, f"{self.HEADING} ‘{safe(piece_of(row), limit=30)}’")
        self._row, self._follows = row, loads(face.snapshot)
        self.listing = Listing(_COLUMNS)

    def compose_box(self) -> ComposeResult:
        """The list of facts."""
        yield self.listing

    def follow(self, snapshot: Snapshot | None) -> None:
        """Take the figures of the row as they are now, where it is seen."""
        super().follow(snapshot)
        if snapshot is None or not self._follows or not self.is_mounted:
            return
        rows: tuple[Row, ...] = (*snapshot.main.candidates.rows, *snapshot.main.vocabulary.rows)
        same = [row for row in rows if type(row) is type(self._row) and _named(row) == _named(self._row)]
        if same and same[0] != self._row:
            self._row = same[0]
            self.lay_out()

    def on_mount(self) -> None:
        """Begin in the list."""
        self.set_focus(self.listing)

    def lay_out(self) -> None:
        """Break long values for the room there is."""
        width = self.listing.size.width - 2 - _LABEL - 1 - 1  # the margin, the gap, the bar
        told = (*facts(self._row), ("", ()), *code_points(bare_of(self._row)))
        self.listing.show(list(_rows(told, width)))


def _rows(listed: Sequence[tuple[str, Cell]], width: int) -> Iterator[TableRow]:
    for place, (label, cell) in enumerate(listed):
        for line, part in enumerate(wrap(cell, width)):
            yield TableRow((place, line), (((label if not line else "", "muted"),), part))
