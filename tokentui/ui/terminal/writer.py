"""A thread that writes to the terminal, so that a line that stalls holds up nothing else."""

from __future__ import annotations

import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable

_STALL_S = 0.02
"""A write that takes longer had to wait for the line."""
_TELLING = 256
"""Bytes of a write below which its time says little about the line."""
_BUFFER = 4096
"""The number of bytes that a pseudo-terminal holds when a write has to wait."""
_FAST = 200_000
"""Bytes a second above which a line needs no care."""
_LONGEST_PAUSE_S = 0.4


class Line:
    """An estimate of the speed of a line.

    It keeps the output in the buffers of the line, which cannot be inspected, to a frame at most.
    """

    def __init__(self) -> None:
        self.rate = 0.0
        """Bytes a second, 0 while nothing has had to wait."""
        self.free_at = 0.0
        """When the line should have taken what it was given."""

    def took(self, size: int, begun: float, ended: float) -> None:
        """Learn from a write."""
        if ended - begun > _STALL_S:
            if size >= _TELLING:
                measured = size / (ended - begun)
                self.rate = (self.rate + measured) / 2 if self.rate else measured
            if self.rate:
                self.free_at = ended + min(_LONGEST_PAUSE_S, _BUFFER / self.rate)
        elif self.rate:
            self.free_at = min(max(self.free_at, begun) + size / self.rate, ended + _LONGEST_PAUSE_S)
            self.rate *= 1.05  # it may have become faster; the next wait tells
            if self.rate > _FAST:
                self.rate = self.free_at = 0.0


class Writer:
    """Writes in order, and says when it has nothing left and the line is free.

    Args:
        descriptor: Where to.
        idle: Called in the writer's thread whenever all of it is written and should have arrived.
    """

    def __init__(self, descriptor: int, idle: Callable[[], object]) -> None:
        self.total = 0
        """The total number of bytes handed in."""
        self._descriptor = descriptor
        self._idle = idle
        self._waiting: deque[bytes] = deque()
        self._changed = threading.Condition()
        self._writing = False
        self._closing = False
        self._line = Line()
        self.broken = False
        """True if the other end has gone."""
        self._thread = threading.Thread(target=self._run, name="tokentui-terminal", daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """True if output is on its way."""
        return self._writing or bool(self._waiting)

    def write(self, data: bytes) -> None:
        """Hand in bytes. Never waits."""
        with self._changed:
            self.total += len(data)
            if not self.broken and not self._closing:
                self._waiting.append(data)
                self._changed.notify_all()

    def close(self, seconds: float) -> bool:
        """Write what is left, for so long at most.

        Returns:
            Whether all of it is written; a line that stalls keeps its thread, which ends with the process.
        """
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._writing = False
                while not self._waiting and not self._closing:
                    self._changed.wait()
                if not self._waiting:
                    return
                data = b"".join(self._waiting)
                self._waiting.clear()
                self._writing = True
            begun = time.monotonic()
            self._send(data)
            self._line.took(len(data), begun, time.monotonic())
            with self._changed:
                while not self._waiting and not self._closing and (
                        rest := self._line.free_at - time.monotonic()) > 0:
                    self._changed.wait(rest)
                self._writing = False
                idle = not self._waiting and not self._closing
            if idle:
                self._idle()

    def _send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._descriptor, view) :]
            except BlockingIOError:
                # until a descriptor in non-blocking mode takes more
                select.select([], [self._descriptor], [])
            except OSError:
                self.broken = True  # the reader has gone: the rest has no reader either
                return


# The limit on output that is on its way: buffers hold seconds of a slow line, and hide them.


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
