"""How much may be on its way to the terminal: buffers between here and there hold seconds of a slow line, and hide them.

A terminal that is asked for its state answers when it has taken all that came before. One that does not answer is taken for a
slow line while a key is held down: then frames come faster than any eye follows, and each that is left out is none that the
screen runs behind when the key is let go.
"""

from __future__ import annotations

from collections.abc import Callable

SLOW = 9_600
"""Bytes a second of a line of which nothing is known."""
AHEAD_S = 0.25
"""How much of a slow line's time may be on its way while a key is held."""
AHEAD = 4_000
"""Bytes that may be on their way to a terminal that answers."""
PATIENCE_S = 1.0
"""How long an answer is waited for."""
REPEAT_S = 0.12
"""A key that comes again within this time is held down."""
_REPEATS = 3
ASK = "\x1b[5n"
"""Device status report: a terminal says that all is well."""
ANSWER = "\x1b[0n"


class Flow:
    """What is known of the line.

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
        """Whether an answer is on its way."""
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
        """Whether to ask the terminal now; the question goes behind what was written."""
        if self._asked is not None or self._answers is False or not (self._held or self._ahead > AHEAD):
            return False
        self._asked = self._clock(), self._sent
        return True

    def wait(self) -> float:
        """How many seconds the next frame should wait; 0 where it may go at once."""
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
