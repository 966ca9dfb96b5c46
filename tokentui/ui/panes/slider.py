"""The line of the whole run, which takes clicks and drags of the mouse."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events

from tokentui.session.snapshot import Snapshot
from tokentui.ui.panes.why import scrubber
from tokentui.ui.screen import Band

_CURVE = frozenset({"past", "future", "here"})
"""The styles of the curve."""


class Slider(Band):
    """The step, the curve of the run and the pace. A click, or a drag, on the curve goes to the step there.

    Args:
        shown: Gives the snapshot that is shown.
        of: Returns the sections that it draws.
        goes: Called with a step to go to.
        id: The id of the widget.
    """

    states: Sequence[str] = ()

    def __init__(
        self, shown: Callable[[], Snapshot | None], of: Callable[[Snapshot], object],
        goes: Callable[[int], object], *, id: str,
    ) -> None:
        super().__init__(lambda width, _: scrubber(shown(), width), of, id=id)
        self._shown, self._goes = shown, goes
        self.dragging = False
        """True while a drag goes on from its first step."""
        self._last: int | None = None
        """The step that was gone to last in a drag; None while there is none."""

    def step_at(self, x: int) -> int | None:
        """The step that a column of the terminal stands for; None where there is no curve."""
        now, first, wide = self._shown(), 0, 0
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
        """Begin to drag where the curve is."""
        if (step := self.step_at(event.x)) is not None:
            event.stop()
            self.capture_mouse()
            self._go(step)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Follow the mouse."""
        if self._last is not None and (step := self.step_at(event.x)) is not None:
            self._go(step)

    def on_mouse_up(self) -> None:
        """End the drag."""
        self._last = None
        self.release_mouse()

    def _go(self, step: int) -> None:
        if step != self._last:
            self.dragging, self._last = self._last is not None, step
            self._goes(step)
            self.dragging = False
