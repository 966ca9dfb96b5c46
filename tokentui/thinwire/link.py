"""An estimate of the bytes that are on their way to the terminal.

Buffers between the program and a slow terminal hold seconds of output, and hide them. Without an estimate the
screen shows old frames for that long after a held key is released. Measured with a key held for 3 s on a line
of 9,600 B/s (`docs/reliability.md`): the screen was up to date 0.4 s after the release; a plain Textual table
needed 17 s.
"""

from __future__ import annotations

import time
from collections.abc import Callable

SLOW = 9_600
"""Bytes per second that are assumed of a line of which nothing is known, while a key is held."""
AHEAD_S = 0.25
"""Seconds of output of such a line that may be on their way."""
AHEAD = 4_000
"""Bytes that may be on their way to a terminal that answers status requests."""
PATIENCE_S = 1.0
"""Seconds after which an answer is not waited for any longer."""
REPEAT_S = 0.12
"""Seconds within which the same key again counts as held."""
_REPEATS = 3
"""Repeats after which a key counts as held."""
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


class LinkEstimator:
    """Estimates how much output the terminal has not taken yet.

    There are three sources. A terminal that answers status requests confirms what it has taken. The duration
    of a write that had to wait gives the speed of the line. If neither is known, the line counts as slow
    while a key is held.

    Args:
        clock: Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._rate = 0.0
        """Bytes per second; 0 while no write has had to wait."""
        self._sent = 0
        """All bytes sent so far."""
        self._ahead = 0.0
        """Bytes on their way, at the time `_ahead_at`."""
        self._ahead_at = clock()
        self._request: tuple[float, int] | None = None
        """When an answer was requested, and the bytes sent until then; None if none is on its way."""
        self._answers: bool | None = None
        """Whether the terminal answers status requests; None if that is not known yet."""
        self._last_key, self._last_key_at, self._repeats = "", 0.0, 0

    @property
    def answer_pending(self) -> bool:
        """True if the terminal's answer to a status request is on its way."""
        return self._request is not None

    def note_key(self, key: str) -> None:
        """Count a key that the user pressed, to know whether one is held."""
        now = self._clock()
        repeats = key == self._last_key and now - self._last_key_at < REPEAT_S
        self._repeats = self._repeats + 1 if repeats else 0
        self._last_key, self._last_key_at = key, now

    def note_sent(self, size: int) -> None:
        """Count `size` bytes as handed to the line."""
        self._advance()
        self._sent += size
        self._ahead += size

    def note_write(self, size: int, seconds: float) -> None:
        """Learn the speed of the line from a write of `size` bytes that took so many seconds."""
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
        if self._request is not None:
            self._answers = True
            self._ahead = float(self._sent - self._request[1])
            self._request = None

    def take_request(self) -> bool:
        """Return whether to send a status request after the output so far; it counts as sent then."""
        needed = self._key_held or self._ahead > AHEAD
        if self._request is not None or self._answers is False or not needed:
            return False
        self._request = self._clock(), self._sent
        return True

    def delay(self) -> float:
        """Return the seconds to wait before the next frame; 0 if it may be sent at once.

        A request without an answer for `PATIENCE_S` is given up here.
        """
        self._advance()
        if self._request is not None and self._ahead_at - self._request[0] > PATIENCE_S:
            self._answers = bool(self._answers)
            self._request = None
        if self._answers and self._request is not None and self._ahead > AHEAD:
            return _POLL_S
        if self._rate:
            return self._ahead / self._rate
        return max(0.0, self._ahead / SLOW - AHEAD_S) if self._key_held and not self._answers else 0.0

    @property
    def _key_held(self) -> bool:
        return self._repeats >= _REPEATS and self._clock() - self._last_key_at < REPEAT_S

    def _advance(self) -> None:
        """Subtract what the line has taken since the last call, except on one that confirms it by answers."""
        now = self._clock()
        if self._rate or not self._answers:
            self._ahead = max(0.0, self._ahead - (now - self._ahead_at) * (self._rate or SLOW))
        self._ahead_at = now
