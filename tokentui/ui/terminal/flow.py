"""The limit on output that is on its way: buffers hold seconds of a slow line, and hide them.

A terminal that is asked for its state answers after it has taken all earlier output. While a key is held
down, a terminal that does not answer counts as a slow line. Frames then come faster than any eye follows, and
each frame left out shortens the delay of the screen after the key is released.
"""

from __future__ import annotations

from collections.abc import Callable

SLOW = 9_600
"""Bytes a second of a line of which nothing is known."""
AHEAD_S = 0.25
"""The seconds of a slow line's time that may be on their way while a key is held."""
AHEAD = 4_000
"""Bytes that may be on their way to a terminal that answers."""
PATIENCE_S = 1.0
"""The longest wait in seconds for an answer."""
REPEAT_S = 0.12
"""A key that comes again within this time is held down."""
_REPEATS = 3
ASK = "\x1b[5n"
"""Device status report: the request that a terminal answers with "ready"."""
ANSWER = "\x1b[0n"


class Flow:
    """The state of the line.

    Args:
        clock: Tells the time in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._sent = 0
        self._ahead = 0.0
        self._at = clock()
        self._asked: tuple[float, int] | None = None
        self._answers: bool | None = None
        self._key = ""
        self._key_at = 0.0
        self._repeats = 0

    @property
    def waits(self) -> bool:
        """True if an answer is on its way."""
        return self._asked is not None

    def key(self, key: str) -> None:
        """A key came."""
        now = self._clock()
        self._repeats = self._repeats + 1 if key == self._key and now - self._key_at < REPEAT_S else 0
        self._key, self._key_at = key, now

    def sent(self, size: int) -> None:
        """So many bytes were written."""
        self._drain()
        self._sent += size
        self._ahead += size

    def answered(self) -> None:
        """The terminal has taken everything up to the last question."""
        if self._asked is not None:
            self._answers = True
            self._ahead = float(self._sent - self._asked[1])
            self._asked = None

    def asks(self) -> bool:
        """True if it is time to ask the terminal; the request follows the output written so far."""
        if self._asked is not None or self._answers is False or not (self._held or self._ahead > AHEAD):
            return False
        self._asked = self._clock(), self._sent
        return True

    def wait(self) -> float:
        """Return the number of seconds before the next frame; 0 if it may go at once."""
        now = self._clock()
        self._drain()
        if self._asked is not None and now - self._asked[0] > PATIENCE_S:
            self._answers = False if self._answers is None else self._answers
            self._asked = None
        if self._answers:
            return 0.02 if self._asked is not None and self._ahead > AHEAD else 0.0
        if not self._held:
            return 0.0
        return max(0.0, self._ahead / SLOW - AHEAD_S)

    @property
    def _held(self) -> bool:
        return self._repeats >= _REPEATS and self._clock() - self._key_at < REPEAT_S

    def _drain(self) -> None:
        now = self._clock()
        if not self._answers:
            self._ahead = max(0.0, self._ahead - (now - self._at) * SLOW)
        self._at = now
