"""The scrubber: the whole run as a curve, where in it one is, and how fast it plays."""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.session.commands import SPEEDS
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import ColumnSnapshot, Viewport
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import at as between
from tokentui.ui.draw.figures import column as column_of
from tokentui.ui.draw.figures import number, place_of
from tokentui.ui.draw.text import Cell, Run

_LEAST_CURVE = 10
_PIECES_WIDTH = len("100,000")
_RATIO_WIDTH = len(" (10.00 B/token)")
_SPEED_WIDTH = max(len(f"{number(speed)}/s") for speed in SPEEDS if speed is not None)


def _speed(speed: int | None) -> str:
    return ("max" if speed is None else f"{number(speed)}/s").ljust(_SPEED_WIDTH)


def curve(column: ColumnSnapshot, width: int) -> Cell:
    """Tokens over the steps of the run: what lies before the present step, the step, what lies after it."""
    at, points = column.at, column.curve.points
    end = max(column.curve.end, at.step)
    # Pieces that are dropped make the corpus longer.
    most = max((at.start_tokens, *points)) if column.why.round is not None else at.start_tokens
    here = round(at.step / end * (width - 1)) if end else 0
    spacing = max(1, Viewport().curve_points - 1)
    known = min(1.0, (len(points) - 1) / spacing) if points else 0.0
    cells: list[Run] = []
    for x in range(width):
        share = x / (width - 1) if width > 1 else 0.0
        if x == here:
            cells.append(("┃", "here"))
        elif share <= known:
            value = between(points, len(points) - 1, share * spacing)
            cells.append((column_of(value, most), "past" if x < here else "future"))
        else:
            cells.append(("·", "future"))
    return tuple(cells)


def scrubber(now: Snapshot, width: int) -> Sequence[Cell]:
    """Where one is; before it, as far as there is room, the tokens now, the curve, the tokens at the start."""
    if now.nothing:
        return ()
    here, training = now.main.at, now.main.why.round
    whole = here.target if here.target is not None else here.computed
    digits = max(len(number(whole)), len(number(here.step)))
    mark: Run = ("▶ ", "accent") if now.running else ("■ ", "muted")
    of = f"{place_of(here.step, here.computed, here.end)} "
    pieces: Cell = ()
    if training is not None:
        pieces = ((number(training.pieces).rjust(_PIECES_WIDTH), "strong"), (" pieces", "muted"))
    place: Cell = (
        ("step " if now.main.opened is None else "birth ", "muted"),
        (number(here.step).rjust(digits), "strong"),
        (of, "muted"), mark, (_speed(now.speed), "" if now.running else "muted"),
    )
    ratio = now.corpus.bytes / here.tokens if here.tokens else 0.0
    tokens: Cell = (
        (number(here.tokens).rjust(len(number(max(here.start_tokens, here.tokens)))), "strong"),
        # While a part of the corpus is counted its bytes and its tokens are not of the same text.
        ((f" ({ratio:.2f} B/token)" if not now.main.partial else "").ljust(_RATIO_WIDTH), "muted"),
    )
    start: Cell = ((f"{number(here.start_tokens)} → ", "muted"),)
    title: Cell = ((" Tokens ", "muted"),)
    room = width - ui_text.width(place) - 2
    right: Cell = place
    for part, gap in ((pieces, "   " if pieces else ""), (tokens, "   "), (start, "")):
        needed = ui_text.width(part) + len(gap)
        if room - needed < _LEAST_CURVE + ui_text.width(title):
            break
        right = (*part, (gap, ""), *right)
        room -= needed
    else:
        room -= ui_text.width(title)
        return ((*title, *curve(now.main, room - 2), ("  ", ""), *right),)
    return (((" ", ""), *curve(now.main, max(0, room - 1)), (" ", ""), *right),)
