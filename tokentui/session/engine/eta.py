"""Estimate the time that long work still takes, from its progress so far."""

from __future__ import annotations

import math
from dataclasses import replace

from tokentui.session.views import Busy

FIRST_S = 1.0
"""The seconds that a work runs before its time left is shown."""
_LOOK_S = 0.1
"""The least time in seconds between two updates of the estimate."""
_MEAN_S = 15.0
"""The age in seconds at which progress weighs a third of recent progress."""
_CALM_S = 2.0
"""The time in seconds in which the estimate covers most of the distance to a new value."""


class TimeLeft:
    """Estimates the seconds left of one work at a time. Callers pass the current time to each call.

    The estimate follows the mean speed, in which older progress weighs less, and changes gradually. The
    seconds shown rise only by two or more, so that they do not flicker.
    """

    def __init__(self) -> None:
        self._work: tuple[str, int] | None = None
        """The name of the work, and its total."""
        self._began, self._first = 0.0, 0
        """The time when the work was first seen, and how much was done then."""
        self._looked = 0.0
        """The time of the last update of the estimate."""
        self._changed, self._last = 0.0, 0
        """The time when progress was last seen, and how much was done then."""
        self._done = self._spent = 0.0
        """The units done, and the seconds that they took, both weighted by age."""
        self._end: float | None = None
        """The estimated time at which the work ends."""
        self._shown_seconds: int | None = None
        """The seconds left as last shown; None before there is an estimate."""

    def with_time_left(self, busy: Busy, now: float) -> Busy:
        """Return a copy of a work with the seconds left, or the work itself while there is no estimate.

        Updates the estimate. Another name or total, or progress that went back past the start, begins a new
        one.

        Args:
            busy: The work.
            now: The time in seconds, by a clock that never goes back.
        """
        work = busy.what, busy.total
        if work != self._work or self._is_before_start(busy):
            self._work, self._began, self._looked, self._changed = work, now, now, now
            self._first = self._last = busy.done
            self._done = self._spent = 0.0
            self._end = self._shown_seconds = None
        elif now - self._looked >= _LOOK_S:
            self._update_estimate(busy, now)
        return busy if self._shown_seconds is None else replace(busy, left=self._shown_seconds)

    def _is_before_start(self, busy: Busy) -> bool:
        """Return whether progress is before the point where the work was first seen: the work has started
        again."""
        return (busy.done - self._first) * (busy.total - self._first) < 0

    def _update_estimate(self, busy: Busy, now: float) -> None:
        """Update the estimated end from the progress at `now`, in seconds, by the recent mean speed, smoothed
        over time. The seconds left are known `FIRST_S` seconds after the start, and rise only by more than
        one."""
        since, waited = now - self._looked, now - self._changed
        self._looked = now
        if busy.done != self._last:
            older = math.exp(-waited / _MEAN_S)
            self._done = self._done * older + busy.done - self._last
            self._spent = self._spent * older + waited
            self._changed, self._last, waited = now, busy.done, 0.0
        if busy.total <= 0 or not self._done or now - self._began < FIRST_S:
            return
        # Work of few units stands still between two of them, and is late only after the time of one.
        each = abs(self._spent / self._done)
        spent = self._spent + max(0.0, waited - each)
        end = self._changed + abs((busy.total - busy.done) * spent / self._done)
        if self._end is not None:
            end = self._end + (end - self._end) * (1 - math.exp(-since / _CALM_S))
        self._end = end
        left = max(1, math.ceil(end - now))
        if self._shown_seconds is None or left < self._shown_seconds or left > self._shown_seconds + 1:
            self._shown_seconds = left
