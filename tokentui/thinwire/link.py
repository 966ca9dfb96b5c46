"""An estimate of the bytes that are on their way to the terminal.

Buffers between the program and a slow terminal hold seconds of output, and hide them. Without an estimate the
screen shows old frames for that long after a held key is released (`docs/reliability.md`, "A key held down on
a slow line").
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

SLOW = 900
"""Bytes per second that are assumed, while a key is held, of a terminal that has never answered. It is a
little less than a line of 9,600 baud carries, so that errors of the estimate shrink."""
AHEAD_S = 0.05
"""Seconds of output that may be on their way besides what the line needs to be busy until an answer comes."""
LONGEST_TRIP_S = 0.5
"""Seconds above which the time of an answer is no reason to send more ahead."""
AHEAD = 6_000
"""Bytes that may be on their way to a terminal that answers status requests, on a fast line."""
PATIENCE_S = 1.0
"""Seconds after the time that a slow line needs when an answer counts as lost."""
REPEAT_S = 0.12
"""Seconds within which the same key again counts as held."""
_REPEATS, _FIRST_REPEAT = 3, 1
"""Repeats after which a key counts as held, and after which it may be: the speed of the line is asked for."""
STATUS_REQUEST = "\x1b[5n"
"""The device status report: terminals that know it answer `STATUS_ANSWER` when they have drawn what came
before."""
STATUS_ANSWER = "\x1b[0n"
_STALL_S = 0.02
"""Seconds above which a write had to wait for the line."""
_LEAST_MEASURED = 256
"""Bytes of a write below which its duration says little about the line."""
_BUFFER = 4096
"""Bytes that a pseudo-terminal holds when a write has to wait."""
_FAST = 200_000
"""Bytes per second above which a line needs no care."""
_LONGEST_PAUSE_S = 0.4
_POLL_S = 0.02


class _Request(NamedTuple):
    """A status request whose answer is on its way."""

    asked_at: float
    sent: int
    """All bytes sent until then."""
    busy_since: float
    """Since when output was on its way, or when the last answer came."""
    busy_from: int
    """The bytes that the terminal had taken at `busy_since`."""


class LinkEstimator:
    """Estimates how much output the terminal has not taken yet.

    A terminal that answers status requests confirms what it has taken, and the times of its answers give the
    speed of the line, however late they come. A terminal that has never answered is asked once.

    Until the first answer, the duration of a write that had to wait gives the speed of the line. If no write
    had to wait either, the line counts as slow while a key is held.

    Args:
        clock: Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._rate = 0.0
        """Bytes per second; 0 if not known."""
        self._trip = math.inf
        """The shortest time from a request to its answer, in seconds."""
        self._sent = 0
        """All bytes sent so far."""
        self._ahead = 0.0
        """Bytes on their way, at the time `_ahead_at`."""
        self._ahead_at = clock()
        self._requests = deque[_Request]()
        """The requests whose answers are on their way, the oldest first."""
        self._answers = False
        """Whether the terminal has answered a status request."""
        self._busy_since, self._busy_from = self._ahead_at, 0
        """Since when output is on its way, and how many bytes the terminal had taken then."""
        self._waited = False
        """Whether a frame had to wait since the last answer: the line was busy all the time."""
        self._last_key, self._last_key_at, self._repeats = "", 0.0, 0

    @property
    def answer_pending(self) -> bool:
        """True if the terminal's answer to a status request is on its way, as far as is known."""
        if not self._requests:
            return False
        return self._answers or self._clock() - self._requests[0].asked_at < PATIENCE_S

    def note_key(self, key: str) -> None:
        """Count a key that the user pressed, to know whether one is held."""
        now = self._clock()
        repeats = key == self._last_key and now - self._last_key_at < REPEAT_S
        self._repeats = self._repeats + 1 if repeats else 0
        self._last_key, self._last_key_at = key, now

    def note_sent(self, size: int) -> None:
        """Count `size` bytes as handed to the line."""
        self._advance()
        if not self._ahead and not self._requests:
            self._busy_since, self._busy_from = self._ahead_at, self._sent
        self._sent += size
        self._ahead += size
        if not self._answers:
            self._ahead = min(self._ahead, max(AHEAD, size))

    def note_write(self, size: int, seconds: float) -> None:
        """Learn the speed of the line from a write of `size` bytes that took so many seconds.

        Does nothing once the terminal has answered: answers tell more.
        """
        if self._answers:
            return
        if seconds > _STALL_S:
            if size >= _LEAST_MEASURED:
                self._rate = (self._rate + size / seconds) / 2 if self._rate else size / seconds
            if self._rate:
                self._ahead = min(_BUFFER, self._rate * _LONGEST_PAUSE_S)
        elif self._rate:
            self._ahead = min(self._ahead, self._rate * _LONGEST_PAUSE_S)
            self._rate *= 1.05  # the line may have become faster; the next write that waits corrects this
            if self._rate > _FAST:
                self._rate = 0.0

    def note_answer(self) -> None:
        """Take an answer of the terminal: everything up to the status request has arrived."""
        if not self._requests:
            return
        now, request = self._clock(), self._requests.popleft()
        # The line carries at least this: it may have been idle for a part of the time.
        rate = (request.sent - request.busy_from) / max(now - request.busy_since, 1e-6)
        if not self._answers or self._waited or rate > self._rate:
            self._rate = rate
        self._trip = min(self._trip, now - request.asked_at)
        self._answers, self._waited = True, False
        self._ahead, self._ahead_at = float(self._sent - request.sent), now
        self._busy_since, self._busy_from = now, request.sent

    def take_request(self) -> bool:
        """Return whether to send a status request after the output so far; it counts as sent then."""
        if self._requests and not self._answers:
            return False
        if not self._repeated(_FIRST_REPEAT) and self._ahead < self._most_ahead():
            return False
        self._requests.append(_Request(self._clock(), self._sent, self._busy_since, self._busy_from))
        return True

    def delay(self) -> float:
        """Return the seconds to wait before the next frame; 0 if it may be sent at once.

        A line may always get one frame, whatever its size. A request whose answer is lost is given up here.
        """
        self._advance()
        if self._answers:
            if not self._requests or self._ahead <= self._most_ahead():
                return 0.0
            expected = self._ahead / min(SLOW, self._rate / 2)
            if self._ahead_at - self._requests[0].asked_at > expected + PATIENCE_S:
                self._requests.clear()
                return 0.0
            self._waited = True
            return _POLL_S
        if self._rate:
            return self._ahead / self._rate
        if not self._repeated(_REPEATS) or not self._requests:
            return 0.0  # the next frame carries the request
        return min(REPEAT_S, self._ahead / SLOW)

    def _most_ahead(self) -> float:
        """Return the bytes on their way above which the next frame waits."""
        if not self._answers:
            return AHEAD
        rate = self._rate
        if self._requests:
            # An answer that is late shows already that the line has become slower.
            request = self._requests[0]
            seconds = self._clock() - request.busy_since - self._trip
            if seconds > 0:
                rate = min(rate, (request.sent - request.busy_from) / seconds)
        return min(AHEAD, rate * (min(self._trip, LONGEST_TRIP_S) + AHEAD_S))

    def _repeated(self, times: int) -> bool:
        """Return whether the key that was pressed last has just come again, so many times."""
        return self._repeats >= times and self._clock() - self._last_key_at < REPEAT_S

    def _advance(self) -> None:
        """Subtract what the line has taken since the last call, except if an answer will confirm it."""
        now = self._clock()
        if not self._answers or not self._requests:
            self._ahead = max(0.0, self._ahead - (now - self._ahead_at) * (self._rate or SLOW))
        self._ahead_at = now
