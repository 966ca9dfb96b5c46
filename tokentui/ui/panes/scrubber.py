"""The scrubber: a line with the step and the curve of the whole run, which takes clicks and drags."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events

from tokentui.session.snapshot import Snapshot
from tokentui.session.views import SPEEDS, ColumnSnapshot, Viewport
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import between, number, place_of, upright
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.panes.pane import StatusBand

_CURVE = frozenset({"past", "future", "here"})
"""The styles of the curve."""


class Scrubber(StatusBand):
    """The step, the curve of the run and the speed. A click or a drag on the curve goes to the step there.

    Args:
        go_to: Called with a step to go to.
        id: The id of the widget.
    """

    def __init__(self, go_to: Callable[[int], object], *, id: str) -> None:
        super().__init__(lambda width, _: scrubber(self.snapshot, width), _sections, id=id)
        self._go_to = go_to
        self.dragging = False
        """True while a drag goes to a step after its first one."""
        self._last: int | None = None
        """The step that the current drag went to last; None while there is no drag."""

    def step_at(self, x: int) -> int | None:
        """Return the step at a column of the widget, limited to the ends of the curve; None if no curve is
        shown."""
        now, first, wide = self.snapshot, 0, 0
        for text, style in self._painted[0] if self._painted else ():
            if style in _CURVE:
                wide += len(text)
            elif not wide:
                first += len(text)
        if now is None or wide < 2:
            return None
        end = max(now.main.curve.end, now.main.at.step)
        return round(min(max(0, x - first), wide - 1) / (wide - 1) * end)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Start a drag, and go to the step at the mouse; do nothing without a curve."""
        if (step := self.step_at(event.x)) is not None:
            event.stop()
            self.capture_mouse()
            self._drag_to(step)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Go to the step at the mouse during a drag."""
        if self._last is not None and (step := self.step_at(event.x)) is not None:
            self._drag_to(step)

    def on_mouse_up(self) -> None:
        """End the drag."""
        self._last = None
        self.release_mouse()

    def _drag_to(self, step: int) -> None:
        """Go to a step unless the drag went there last."""
        if step != self._last:
            self.dragging, self._last = self._last is not None, step
            self._go_to(step)
            self.dragging = False


def _sections(snapshot: Snapshot) -> object:
    main = snapshot.main
    return main.at, main.curve, main.partial, main.why, snapshot.corpus, snapshot.running, snapshot.speed


_LEAST_CURVE = 10
_PIECES_WIDTH = len("100,000")
_RATIO_WIDTH = len(" (10.00 B/token)")
_SPEED_WIDTH = max(len(f"{number(speed)}/s") for speed in SPEEDS if speed is not None)


def pace(now: Snapshot) -> Cell:
    """Return whether the columns run and how fast, as in `▶ 60/s`, in a fixed width."""
    mark: Run = ("▶ ", "accent") if now.running else ("■ ", "muted")
    speed = "max" if now.speed is None else f"{number(now.speed)}/s"
    return mark, (speed.ljust(_SPEED_WIDTH), "" if now.running else "muted")


def curve(column: ColumnSnapshot, width: int) -> Cell:
    """Return the curve of tokens over the steps of the run, with the current step marked, `width` columns
    wide; steps that are not trained yet are dots."""
    at, points = column.at, column.curve.points
    if width <= 0:
        return ()
    end = max(column.curve.end, at.step)
    # Pieces that are dropped make the corpus longer.
    most = max((at.start_tokens, *points)) if column.why.round is not None else at.start_tokens
    here = round(at.step / end * (width - 1)) if end else 0
    spacing = max(1, Viewport().curve_points - 1)
    values = between(range(len(points)), points, [x * spacing / max(1, width - 1) for x in range(width)])
    known = upright([value for value in values if value is not None], most)
    past, line = min(here, len(known)), known.ljust(width, "·")
    return (line[:past], "past"), (line[past:here], "future"), ("┃", "here"), (line[here + 1 :], "future")


def scrubber(now: Snapshot | None, width: int) -> Sequence[Cell]:
    """Return the line of the scrubber: the curve, the step and, as far as they fit, the tokens now and at the
    start. Nothing if nothing is open."""
    if now is None or now.corpus.nothing_open:
        return ()
    here, training = now.main.at, now.main.why.round
    whole = here.end.step if here.end.step is not None else here.computed
    place: Cell = (
        ("step ", "muted"), (number(here.step).rjust(len(number(max(whole, here.step)))), "strong"),
        (f"{place_of(here.step, here.computed, here.end)} ", "muted"), *pace(now),
    )
    pieces: Cell = ()
    if training is not None:
        pieces = (number(training.pieces).rjust(_PIECES_WIDTH), "strong"), (" pieces", "muted"), ("   ", "")
    # While a part of the corpus is counted its bytes and its tokens are not of the same text.
    known = here.tokens and not now.main.partial
    bytes_per_token = f" ({now.corpus.bytes / here.tokens:,.2f} B/token)" if known else ""
    tokens: Cell = (
        (number(here.tokens).rjust(len(number(max(here.start_tokens, here.tokens)))), "strong"),
        (bytes_per_token.ljust(_RATIO_WIDTH), "muted"), ("   ", ""),
    )
    title: Cell = ((" Tokens ", "muted"),)
    room, right = width - ui_text.width(place) - 2, place
    for part in (pieces, tokens, ((f"{number(here.start_tokens)} → ", "muted"),)):
        if room - ui_text.width(part) < _LEAST_CURVE + ui_text.width(title):
            return (((" ", ""), *curve(now.main, max(0, room - 1)), (" ", ""), *right),)
        right = (*part, *right)
        room -= ui_text.width(part)
    return ((*title, *curve(now.main, room - ui_text.width(title) - 2), ("  ", ""), *right),)
