"""The scrubber: the whole run as a curve, where in it one is, and how fast it plays."""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.session.commands import SPEEDS
from tokentui.session.snapshot import Look, Snapshot
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import at, column, number, place_of
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.text import Cell, Run

_LEAST_CURVE = 10
_PIECES_WIDTH = len("100,000")
_RATIO_WIDTH = len(" (10.00 B/token)")
_SPEED_WIDTH = max(len(f"{number(speed)}/s") for speed in SPEEDS if speed is not None)


def _speed(speed: int | None) -> str:
    return ("max" if speed is None else f"{number(speed)}/s").ljust(_SPEED_WIDTH)


def curve(snapshot: Snapshot, width: int) -> Cell:
    """Tokens over the steps of the run: what lies before the present step, the step, what lies after it."""
    end = max(snapshot.curve_end, snapshot.step)
    # Pieces that are dropped make the corpus longer.
    most = max((snapshot.start_tokens, *snapshot.curve)) if snapshot.why.round is not None else snapshot.start_tokens
    here = round(snapshot.step / end * (width - 1)) if end else 0
    spacing = max(1, Look().curve_points - 1)
    known = min(1.0, (len(snapshot.curve) - 1) / spacing) if snapshot.curve else 0.0
    cells: list[Run] = []
    for x in range(width):
        share = x / (width - 1) if width > 1 else 0.0
        if x == here:
            cells.append(("┃", "here"))
        elif share <= known:
            value = at(snapshot.curve, len(snapshot.curve) - 1, share * spacing)
            cells.append((column(value, most), "past" if x < here else "future"))
        else:
            cells.append(("·", "future"))
    return tuple(cells)


class Scrubber(Lines):
    """The line above the footer."""

    snapshot: Snapshot | None = None

    def show(self, snapshot: Snapshot) -> None:
        """Take what a snapshot says."""
        self.snapshot = snapshot
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """Where one is; before it, as far as there is room, the tokens now, the curve, the tokens at the start."""
        now = self.snapshot
        if now is None or now.nothing:
            return ()
        whole = now.target if now.target is not None else now.known
        digits = max(len(number(whole)), len(number(now.step)))
        mark: Run = ("▶ ", "accent") if now.running else ("■ ", "muted")
        of = f"{place_of(now.step, now.known, now.end)} "
        training = now.why.round
        pieces: Cell = ()
        if training is not None:
            pieces = ((number(training.pieces).rjust(_PIECES_WIDTH), "strong"), (" pieces", "muted"))
        place: Cell = (
            ("step " if now.opened is None else "birth ", "muted"), (number(now.step).rjust(digits), "strong"), (of, "muted"),
            mark, (_speed(now.speed), "" if now.running else "muted"),
        )
        tokens: Cell = (
            (number(now.tokens).rjust(len(number(max(now.start_tokens, now.tokens)))), "strong"),
            # While a part of the corpus is counted its bytes and its tokens are not of the same text.
            ((f" ({now.bytes_per_token:.2f} B/token)" if not now.partial else "").ljust(_RATIO_WIDTH), "muted"),
        )
        start: Cell = ((f"{number(now.start_tokens)} → ", "muted"),)
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
            return ((*title, *curve(now, room - 2), ("  ", ""), *right),)
        return (((" ", ""), *curve(now, max(0, room - 1)), (" ", ""), *right),)
