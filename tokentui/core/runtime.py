"""The process: its garbage collector and threads while it works, and its terminal when it ends."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` makes an enumeration of each handler
import contextlib
import gc
import os
import signal
import sys
import termios
import threading
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tokentui.core.errors import Cancelled
from tokentui.core.jobs import cancels

Attributes = list[int | list[bytes | int]]
"""Settings of a terminal, as `termios.tcgetattr` returns them."""
_SIGINT = int(signal.SIGINT)
KEY_S = 0.03
"""The most seconds for which background threads wait after a key. A key may change nothing on the screen."""
SWITCH_S = 0.0005
"""Seconds between thread switches while a screen runs. The default is ten times longer, and keys would wait.
"""


@contextmanager
def quiet_collector() -> Iterator[None]:
    """Turn off garbage collection during the work inside, which would walk millions of objects."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@contextmanager
def responsive() -> Iterator[None]:
    """Keep a screen responsive while other threads work.

    Threads switch at short intervals, and garbage is collected only on request: a collection among millions
    of objects delays keys by tens of milliseconds.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_S)
    try:
        with quiet_collector():
            yield
    finally:
        sys.setswitchinterval(before)


class Turns:
    """Lets the screen run alone while it acts on a key.

    Without this, the screen shares the interpreter lock with each thread that runs plain Python, and waits
    for the lock several times a frame. All methods are thread-safe.
    """

    def __init__(self) -> None:
        self._free = threading.Event()
        self._free.set()
        self._until = 0.0

    def begin(self) -> None:
        """Make background threads wait: a key has arrived."""
        self._until = time.monotonic() + KEY_S
        self._free.clear()

    def end(self) -> None:
        """Let background threads run: the screen has drawn."""
        self._free.set()

    def wait(self) -> None:
        """Wait until the screen has drawn, at most `KEY_S`. Background threads call this."""
        if not self._free.is_set():
            self._free.wait(max(0.0, self._until - time.monotonic()))
            self._free.set()


turns = Turns()
"""The turns of this process, which has one screen."""


# ---- restore the terminal and end the process, even if something blocks


RESTORE = (
    b"\x18"  # give up a sequence that was cut off
    b"\x1b[?2026l\x1b[?2004l\x1b[?2048l\x1b[?1016l\x1b[?1000l"
    b"\x1b[?1002l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1004l"
    b"\x1b[<u\x1b[r\x1b[0m\x1b[?7h\x1b[?1049l\x1b[?25h"
)
"""Control sequences that turn off everything that a screen may have turned on: synchronized output, bracketed
paste, size, mouse and focus reports, the keyboard protocol, margins, colors, the alternate screen, a hidden
cursor."""
END_S = 0.8
"""Seconds within which the process must end by itself."""


def restore(descriptor: int, attributes: Attributes | None, words: bytes = b"") -> None:
    """Restore a terminal without ever blocking on it.

    Args:
        descriptor: The file descriptor of the terminal.
        attributes: Its earlier settings; None if they are unknown.
        words: Bytes to write afterwards.
    """
    with contextlib.suppress(OSError, termios.error):
        # Pending output on a stalled line would keep these words from being written.
        termios.tcflush(descriptor, termios.TCOFLUSH)
    with contextlib.suppress(OSError):
        # A new file description: making the old one non-blocking would also affect the shell.
        own = os.open(os.ttyname(descriptor), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        with contextlib.suppress(OSError):
            os.write(own, RESTORE + words)
        os.close(own)
    if attributes is not None:
        with contextlib.suppress(OSError, termios.error):
            termios.tcsetattr(descriptor, termios.TCSANOW, attributes)


def mend() -> None:
    """Restore the terminal after a program that used it was killed: modes, colors and keyboard settings.

    Raises:
        OSError: The process has no terminal.
    """
    descriptor = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    try:
        os.write(descriptor, RESTORE + b"\r")
        attributes = termios.tcgetattr(descriptor)
        # A screen switches these flags off; all others are as the user had them.
        attributes[tty.IFLAG] |= termios.ICRNL | termios.IXON
        attributes[tty.IFLAG] &= ~(termios.INLCR | termios.IGNCR)
        attributes[tty.OFLAG] |= termios.OPOST | termios.ONLCR
        attributes[tty.LFLAG] |= termios.ECHO | termios.ICANON | termios.ISIG | termios.IEXTEN
        termios.tcsetattr(descriptor, termios.TCSANOW, attributes)
        termios.tcflush(descriptor, termios.TCIFLUSH)  # reports of the mouse that are read no more
    finally:
        os.close(descriptor)


@contextmanager
def interrupts_end() -> Iterator[None]:
    """Let SIGINT end the process at once while modules are imported.

    A `KeyboardInterrupt` could be lost: Python drops exceptions in callbacks of weak references, and imports
    run such callbacks.
    """
    handler = signal.getsignal(signal.SIGINT)
    if handler is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield  # it is ignored, or another handler has it
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


class Terminated(SystemExit):
    """SIGTERM or SIGHUP asked the process to end. asyncio would keep another exception in the task or
    callback that it was raised in.

    Attributes:
        code: The exit code: 128 plus the number of the signal.
    """

    code: int

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)


@contextmanager
def terminations_raise() -> Iterator[None]:
    """Raise `Terminated` in the work inside on SIGTERM or SIGHUP, so that it removes its temporary files.

    A signal that is ignored, as SIGHUP under nohup, or that has another handler is left unchanged. A second
    signal ends the process at once.
    """
    numbers = [number for number in (signal.SIGTERM, signal.SIGHUP)
               if signal.getsignal(number) == signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        numbers = []

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        raise Terminated(number)

    for number in numbers:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in numbers:
            if signal.getsignal(number) is end:  # the work may have set another handler
                signal.signal(number, signal.SIG_DFL)


class interrupts_cancel:  # a context of its own kind, since a single step of a training opens it too
    """Cancel the work inside on SIGINT, at a point where its state is consistent. A second SIGINT raises at
    once.

    If SIGINT is ignored or has another handler, that is left unchanged.

    Raises:
        KeyboardInterrupt: SIGINT came, and the work ended with an error.
    """

    _asked = _at_end = False

    def _was_asked(self) -> bool:
        return self._asked

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True

    def __enter__(self) -> None:
        before = self._before = _signal.getsignal(_SIGINT)
        self._ours = before is signal.default_int_handler
        if self._ours:
            try:
                _signal.signal(_SIGINT, self._ask)
            except ValueError:  # only the main thread may
                self._ours = False
        self._token = cancels.set((*cancels.get(), self._was_asked))

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        cancels.reset(self._token)
        # the work may have set another handler
        if self._ours and _signal.getsignal(_SIGINT) == self._ask:
            _signal.signal(_SIGINT, self._before)
        if not self._asked:
            return
        if isinstance(error, Exception):
            if isinstance(error, Cancelled):
                raise KeyboardInterrupt(*filter(None, [str(error)])) from None
            raise KeyboardInterrupt from error
        if error is None and self._at_end:
            raise KeyboardInterrupt


class interrupts_raise(interrupts_cancel):
    """Cancel the work inside on SIGINT, and raise `KeyboardInterrupt` even if the work completed."""

    _at_end = True


class Watchdog:
    """Ends the process if it does not end by itself.

    Args:
        descriptor: The file descriptor of the terminal to restore.
    """

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._attributes: Attributes | None = None
        with contextlib.suppress(OSError, termios.error):
            self._attributes = termios.tcgetattr(descriptor)
        self._timer: threading.Timer | None = None
        self.words = ""
        """Lines written at a forced end."""

    def watch(self, code: int, seconds: float = END_S) -> None:
        """End the process with this exit code after a number of seconds unless `rest` is called before. Later
        calls do nothing."""
        if self._timer is not None:
            return
        self._timer = threading.Timer(seconds, self.end, (code,))
        self._timer.daemon = True
        try:
            self._timer.start()
        except RuntimeError:  # there is no memory for a thread
            with contextlib.suppress(ValueError):  # in the main thread only
                signal.signal(signal.SIGALRM, lambda *_: self.end(code))
                signal.setitimer(signal.ITIMER_REAL, seconds)

    def rest(self) -> None:
        """Cancel the pending forced exit."""
        if self._timer is not None:
            self._timer.cancel()
            with contextlib.suppress(ValueError):
                signal.setitimer(signal.ITIMER_REAL, 0)

    def end(self, code: int) -> None:
        """Restore the terminal and end the process now."""
        restore(
            self._descriptor, self._attributes, self.words.replace("\n", "\r\n").encode("utf-8", "replace")
        )
        os._exit(code)
