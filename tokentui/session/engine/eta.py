"""The time that a long work still takes, by what it has done so far."""

from __future__ import annotations

import math
from dataclasses import replace

from tokentui.session.views import Busy

FIRST_S = 1.0
"""The seconds that a work runs before its time left is shown."""
_LOOK_S = 0.1
"""The least time in seconds between two looks."""
_MEAN_S = 15.0
"""The age in seconds at which work counts a third of that just done."""
_CALM_S = 2.0
"""The time in seconds in which an estimate comes most of the way to a new one."""


class TimeLeft:
    """Tells the time left of one work after the other. It knows the time only as it is told.

    The estimate is that of the mean speed, in which what was done long ago counts less, and it changes little
    by little. The seconds told do not rise by less than two, so that a figure does not go to and fro.
    """

    def __init__(self) -> None:
        self._work: tuple[str, int] | None = None
        """The name of the work, and its total."""
        self._began, self._first = 0.0, 0
        """The time when that was seen first, and what was done then."""
        self._looked = 0.0
        """The time of the last look."""
        self._changed, self._last = 0.0, 0
        """The time when more was done last, and what was done then."""
        self._done = self._spent = 0.0
        """Units, and the seconds that they took, each weighed by its age."""
        self._end: float | None = None
        """The time at which it is thought to end."""
        self._told: int | None = None

    def with_time_left(self, busy: Busy, now: float) -> Busy:
        """Return a work with the seconds that it still takes.

        Args:
            busy: The work.
            now: The time in seconds, by a clock that never goes back.
        """
        work = busy.what, busy.total
        if work != self._work or self._before(busy):
            self._work, self._began, self._looked, self._changed = work, now, now, now
            self._first = self._last = busy.done
            self._done = self._spent = 0.0
            self._end = self._told = None
        elif now - self._looked >= _LOOK_S:
            self._look(busy, now)
        return busy if self._told is None else replace(busy, left=self._told)

    def _before(self, busy: Busy) -> bool:
        """True if less is done than at first: it has begun again."""
        return (busy.done - self._first) * (busy.total - self._first) < 0

    def _look(self, busy: Busy, now: float) -> None:
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
        if self._told is None or left < self._told or left > self._told + 1:
            self._told = left
