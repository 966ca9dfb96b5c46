"""Long work at the command line: a bar that shows how far it is, and ctrl+c that stops it at a whole step."""

from __future__ import annotations

import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from tokentui.cli.output import is_terminal
from tokentui.text.patience import asking

AFTER_S = 1.0
"""Work that takes less shows no bar."""
_EVERY_S = 0.1


class Bar:
    """A line on standard error that is drawn over and wiped in the end; none where that is no terminal, or asked for.

    Args:
        quiet: Draw nothing.
        clock: Seconds.
    """

    def __init__(self, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._on = not quiet and is_terminal(sys.stderr)
        self._clock = clock
        self._next = clock() + AFTER_S
        self._width = 0

    def of(self, what: str) -> Callable[[int, int], None]:
        """What to hand on as `progress` for one kind of work."""
        return lambda done, total: self._draw(what, done, total)

    def _draw(self, what: str, done: int, total: int) -> None:
        if not self._on or (now := self._clock()) < self._next:
            return
        self._next = now + _EVERY_S
        room = max(0, shutil.get_terminal_size().columns - 1)
        line = f"{what} {done:,}"
        if total:
            line = f"{what} {done:,} of {total:,}, {100 * min(done, total) // total} %"
        line = line[:room]
        sys.stderr.write("\r" + line.ljust(min(self._width, room)))
        sys.stderr.flush()
        self._width = len(line)

    def close(self) -> None:
        """Wipe the line."""
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._width = 0


@contextmanager
def bar(quiet: bool = False) -> Iterator[Bar]:
    """A bar that is wiped whatever happens."""
    drawn = Bar(quiet)
    try:
        yield drawn
    finally:
        drawn.close()


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """What to hand on as `cancel`: true after ctrl+c. A second ctrl+c does not wait.

    Where the program was started to ignore ctrl+c, it goes on doing so.
    """
    asked = False

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, ask)
    try:
        with asking(lambda: asked):
            yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)
