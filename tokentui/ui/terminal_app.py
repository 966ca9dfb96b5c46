"""The process of the explorer: exit codes, signals, failures, and a terminal that is given back."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from types import FrameType

from rich.console import RenderableType
from textual import events

from tokentui.core.children import DOWNLOADS
from tokentui.core.errors import SHORT_OF_MEMORY, Cancelled, is_short_of_memory
from tokentui.core.runtime import Watchdog
from tokentui.core.safetext import safe
from tokentui.thinwire import ThinWireApp, ThinWireDriver
from tokentui.ui.draw.text import SAFE_TEXT
from tokentui.ui.guard import EXPECTED, GuardedApp

QUIT_S = 3.0
"""Seconds that a requested exit may take; an exit by a signal has `END_S`."""
CRASHED, SHORT = 70, 2
"""The exit codes after a crash (an internal error, in the words of sysexits.h) and for lack of memory."""
_WIDEST = 300


class TerminalApp(ThinWireApp[None], GuardedApp):
    """An app that always ends in order and restores the terminal: after a key, a signal, or a failure."""

    def __init__(self) -> None:
        self._watchdog: Watchdog | None = None
        self._requested_code: int | None = None
        """The exit code of the first request to leave; None before one."""
        self.after_input: Callable[[], object] | None = None
        """Called after each key and each event of the mouse."""
        super().__init__(SAFE_TEXT, _driver_class())

    async def on_event(self, event: events.Event) -> None:
        """Handle an event; then call `after_input` if it is a key or an event of the mouse."""
        await super().on_event(event)
        if self.after_input is not None and isinstance(event, events.InputEvent):
            self.after_input()

    # How it ends.

    def run_on_terminal(self) -> int:
        """Run on the terminal of the process until the user, a signal or a failure ends it.

        Returns:
            The exit code: 128 and the signal's number after a signal, `SHORT` for lack of memory and
                `CRASHED` after another failure. The message of a failure is written to standard error.
        """
        self._watchdog = Watchdog()
        # Under nohup SIGHUP is ignored, but a screen without a terminal is of no use to anybody.
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT):
            signal.signal(number, self._signalled)
        threading.excepthook = lambda args: self._in_loop(self._failed, None, {"exception": args.exc_value})
        try:
            self.run()
        except Exception as error:
            self._handle_exception(error)
        if self._exception is not None:
            code = _code_of(self._exception)
            words = self._watchdog.words or _crash_message(self._exception)
            self._watchdog.words = ""  # written once
            if sys.stderr is not None:  # it may be closed
                sys.stderr.write(words)
                sys.stderr.flush()
        else:
            code = self._requested_code or 0
        # A reader that hangs on a device would hold up the end of the interpreter.
        self._watchdog.watch(code)
        return code

    def hang_up(self) -> None:
        """Exit because the terminal is gone."""
        self._end(128 + signal.SIGHUP)

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """Exit, by force after `QUIT_S` seconds. A later request changes neither the exit code nor the time.
        """
        if self._requested_code is None:
            self._requested_code = return_code
        if self._watchdog is not None:
            self._watchdog.watch(self._requested_code, QUIT_S)
        super().exit(result, self._requested_code, message)

    @property
    def left(self) -> bool:
        """True if the user ended the program: no signal, no dropped line, no failure."""
        return self._exception is None and not self._requested_code

    def _end(self, code: int) -> None:
        if self._watchdog is not None:
            self._watchdog.watch(code)
        self.exit(return_code=code)

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        """Exit with code 128 + the signal, unless a code was requested before. Without a running loop the
        process ends at once."""
        code = 128 + number if self._requested_code is None else self._requested_code
        if self._watchdog is not None:
            self._watchdog.watch(code)
            if not self._in_loop(self._end, code):
                self._watchdog.end(code)  # nothing is open yet, or all of it is closed

    def _in_loop(self, call: Callable[..., object], *args: object) -> bool:
        """Schedule a call in the event loop, from a thread or a signal. Return False if no loop runs."""
        if self._loop is None or not self.is_running:
            return False
        self._loop.call_soon_threadsafe(call, *args)
        return True

    def watch_failures(self) -> None:
        """Let the app end if a task that nobody awaits fails."""
        if self._watchdog is not None:
            asyncio.get_running_loop().set_exception_handler(self._failed)

    def _failed(self, loop: object, context: Mapping[str, object]) -> None:
        """End the app because a thread or a task failed; ignore `Cancelled`."""
        error = context.get("exception")
        if isinstance(error, Exception) and not isinstance(error, Cancelled):
            self._handle_exception(error)

    def _handle_exception(self, error: Exception) -> None:
        """End the app with a failure; after a request to exit, only write it to a file."""
        from tokentui.session.persist.session_file import keep_account

        if self._requested_code is None:
            super()._handle_exception(error)
        elif not isinstance(error, EXPECTED):
            keep_account(error)

    def _fatal_error(self) -> None:
        """Close after a failure, by force if that takes long. The message, without local variables, is
        written to the restored terminal."""
        if self._watchdog is not None:
            if self._exception is not None and not self._watchdog.words:
                self._watchdog.words = _crash_message(self._exception)
            self._watchdog.watch(_code_of(self._exception))
        self._close_messages_no_wait()

    def _print_error_renderables(self) -> None:
        """Print nothing: Textual would print values of variables, which may be parts of the corpus."""
        self._exit_renderables.clear()


def _driver_class() -> type[ThinWireDriver]:
    """Return the driver for a terminal, or for one in a browser of `serve`, which gets files by a pipe."""
    if DOWNLOADS not in os.environ:
        return ThinWireDriver
    from tokentui.ui.browser_driver import BrowserDriver

    return BrowserDriver


def _code_of(error: BaseException | None) -> int:
    """Return the exit code after a failure."""
    return SHORT if is_short_of_memory(error) else CRASHED


def _crash_message(error: BaseException) -> str:
    """Return some safe lines about a failure, and write its traceback to a file that they name. For lack of
    memory, return one line."""
    from tokentui.session.persist.session_file import keep_account

    if is_short_of_memory(error):
        return f"tokentui: {SHORT_OF_MEMORY}\n"
    frames = traceback.extract_tb(error.__traceback__)
    where = next((f for f in reversed(frames) if f"{os.sep}tokentui{os.sep}" in f.filename),
        frames[-1] if frames else None)
    lines = [f"tokentui: this should not have happened: {type(error).__name__}: {error}"]
    if where is not None:
        lines.append(f"  in {os.path.basename(where.filename)}, line {where.lineno}, {where.name}")
    kept = keep_account(error)
    if kept is not None:
        lines.append(f"  the whole account is in {kept}")
    return "".join(safe(line, limit=_WIDEST) + "\n" for line in lines)
