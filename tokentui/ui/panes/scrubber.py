"""The scrubber: a line with the step and the curve of the whole run, which takes clicks and drags."""

from __future__ import annotations

from collections.abc import Callable

from textual import events

from tokentui.session.snapshot import Snapshot
from tokentui.ui.panes.pane import StatusBand
from tokentui.ui.panes.why import scrubber

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
        """Return the step at a column of the widget, rounded to the ends of the curve; None if no curve is
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
        """Begin to drag if there is a curve."""
        if (step := self.step_at(event.x)) is not None:
            event.stop()
            self.capture_mouse()
            self._drag_to(step)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Follow the mouse."""
        if self._last is not None and (step := self.step_at(event.x)) is not None:
            self._drag_to(step)

    def on_mouse_up(self) -> None:
        """End the drag."""
        self._last = None
        self.release_mouse()

    def _drag_to(self, step: int) -> None:
        if step != self._last:
            self.dragging, self._last = self._last is not None, step
            self._go_to(step)
            self.dragging = False


def _sections(snapshot: Snapshot) -> object:
    main = snapshot.main
    return main.at, main.curve, main.partial, main.why, snapshot.corpus, snapshot.running, snapshot.speed
