"""The program in a pseudo-terminal, with a terminal in memory that draws what it writes."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyte

PATIENCE_S = 60.0
"""How long a state may take to come; a test ends at once when it does."""


class Screen(pyte.Screen):
    """A terminal in memory that clears in the color of the pen, all of it, as xterm does; pyte clears only
    what was drawn to."""

    def erase_in_display(self, how: int = 0, *words: Any, **more: Any) -> None:
        """Clear."""
        super().erase_in_display(how, *words, **more)
        if how == 2:
            for y in range(self.lines):
                for x in range(self.columns):
                    self.buffer[y][x] = self.cursor.attrs


def seen(cell: pyte.screens.Char) -> tuple[object, ...]:
    """All that is seen of a cell: of a blank one without a line and not in reverse, its ground."""
    if cell.data == " " and not (cell.underscore or cell.reverse or cell.strikethrough):
        return " ", cell.bg
    return tuple(cell)


class Terminal:
    """A program in a pseudo-terminal.

    Args:
        arguments: What follows `python -m tokentui`, or the program.
        columns: The width of the terminal; `rows` its height.
        environment: What is added to the environment.
        program: What Python runs, instead of the program as it is.
        ignored: Signals that it is started with as ignored, as under nohup.
        folder: Where it runs; here if None.
        errors: The file that standard error is; empty for closed, the terminal if None.
    """

    def __init__(
        self, *arguments: str, columns: int = 80, rows: int = 24,
        environment: Mapping[str, str] | None = None, program: Sequence[str] = ("-m", "tokentui"),
        ignored: Sequence[signal.Signals] = (), folder: Path | None = None, errors: str | None = None,
    ) -> None:
        self.screen = Screen(columns, rows)
        self.draw: Callable[[bytes], object] = pyte.ByteStream(self.screen).feed
        """Takes what the program writes."""
        self.written = bytearray()
        """Every byte that the program has written."""
        self._master, self.slave = pty.openpty()
        self._resize(columns, rows)
        self.attributes = termios.tcgetattr(self.slave)
        """The settings of the terminal before the program began."""
        self._environment, self._ignored, self._folder = dict(environment or {}), tuple(ignored), folder
        self._errors = errors
        self.begin(*arguments, program=program)

    def begin(self, *arguments: str, program: Sequence[str] = ("-m", "tokentui")) -> None:
        """Begin a program, the first or the one after it."""
        command = [sys.executable, *program, *arguments]
        self.status: int | None = None
        self.process = os.fork()
        if self.process == 0:
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
            for descriptor in (0, 1, 2):
                os.dup2(self.slave, descriptor)
            os.closerange(3, 64)
            if self._errors is not None:
                os.close(2)
            if self._errors:
                os.open(self._errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)  # the tests themselves may run under nohup
            for number in self._ignored:
                signal.signal(number, signal.SIG_IGN)
            if self._folder is not None:
                os.chdir(self._folder)
            own = {"TERM": "xterm-256color", "TOKENTUI_KERNELS": "off"}
            os.execve(command[0], command, {**os.environ, **own, **self._environment})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.status is None:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        for descriptor in (self._master, self.slave):
            if descriptor >= 0:
                os.close(descriptor)

    def hang_up(self) -> None:
        """Drop the line: nobody holds the other end any more."""
        os.close(self.slave)
        os.close(self._master)
        self._master = self.slave = -1

    def wait(self) -> int:
        """Wait until the program has ended, without reading what it writes.

        Returns its exit code, minus a signal's number.
        """
        deadline = time.monotonic() + PATIENCE_S
        while self.status is None:
            assert time.monotonic() < deadline, "it does not end"
            process, status = os.waitpid(self.process, os.WNOHANG)
            if process:
                self.status = status
            else:
                time.sleep(0.01)
        return os.waitstatus_to_exitcode(self.status)

    def press(self, keys: str | bytes) -> None:
        """Type."""
        os.write(self._master, keys.encode() if isinstance(keys, str) else keys)

    def until_stopped(self) -> None:
        """Read until the program has stopped itself, as ctrl+z asks for."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            assert time.monotonic() < deadline, "it does not stop"
            self._drain(0.1)
            process, status = os.waitpid(self.process, os.WNOHANG | os.WUNTRACED)
            if process:
                assert os.WIFSTOPPED(status), "it ended"
                break
        while self._drain(0.0):
            pass

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal, as a window manager does."""
        self.screen.resize(rows, columns)
        self._resize(columns, rows)
        os.kill(self.process, signal.SIGWINCH)

    def _resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def text(self) -> str:
        """What stands on the screen."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    def until(self, holds: Callable[[str], bool]) -> str:
        """Read until something holds for the text on the screen."""
        deadline = time.monotonic() + PATIENCE_S
        while not holds(self.text()):
            assert time.monotonic() < deadline, f"it never came; the screen is:\n{self.text()}"
            assert self.read(0.5) or self.status is None, (
                f"the program ended with {self.status}:\n{self.text()}"
            )
        return self.text()

    def end(self) -> int:
        """Read until the program has ended. Returns its exit code, minus the signal that ended it."""
        deadline = time.monotonic() + PATIENCE_S
        while self.status is None:
            assert time.monotonic() < deadline, "it does not end"
            self.read(0.1)
        # The kernel hands on what was written a little later: the end has come where a mark behind it has.
        while self._drain(0.0):
            pass
        os.write(self.slave, b"\0")
        while not self.written.endswith(b"\0"):
            assert self._drain(PATIENCE_S), "the end of what it wrote never came"
        del self.written[-1]
        return os.waitstatus_to_exitcode(self.status)

    def _drain(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], seconds)
        if ready:
            data = os.read(self._master, 65536)
            self.written += data
            self.draw(data)
        return bool(ready)

    def read(self, seconds: float) -> bool:
        """Take what the program has written within some seconds. Returns whether it wrote."""
        if self._drain(seconds):
            return True
        if self.status is None:
            process, status = os.waitpid(self.process, os.WNOHANG)
            if process:
                self.status = status
        return False


FORKS = """
import json, os, sys
from tokentui.__main__ import main
import tokentui.cli.commands.explore, tokentui.session.engine.driver, tokentui.ui.app
for line in json.loads(sys.argv.pop(1)):
    sys.stdin.readline()
    if os.fork() == 0:
        exec(line)
        print("process", os.getpid(), flush=True)
        sys.exit(main())
    print("======== code", os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
"""


class Forks(Terminal):
    """A program that runs several times, in processes of one that has imported it: what imports cost is not
    what is tested.

    Args:
        arguments: What follows `python -m tokentui`.
        lines: A line of Python for each run, which it begins with.
        environment: What is added to the environment.
    """

    def __init__(
        self, *arguments: str, lines: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(*arguments, environment=environment, program=("-c", FORKS, json.dumps(lines)))
        self.run = 0
        """The process of the run."""

    def next(self) -> None:
        """Begin the next run."""
        self.written.clear()
        self.screen.reset()
        self.press("\n")
        self.run = self._number(rb"^process (\d+)\r?$")

    def code(self) -> int:
        """Read until the run has ended. Returns its exit code, minus a signal's number."""
        return self._number(rb"======== code (-?\d+)\r?\n")

    def _number(self, pattern: bytes) -> int:
        self.until(lambda _: re.search(pattern, self.written, re.MULTILINE) is not None)
        found = re.search(pattern, self.written, re.MULTILINE)
        assert found is not None
        return int(found[1])


_SET = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")


def modes_left_on(written: bytes) -> set[bytes]:
    """The private modes that were switched on and never off."""
    on: set[bytes] = set()
    for numbers, way in _SET.findall(written):
        for number in numbers.split(b";"):
            if way == b"h":
                on.add(number)
            else:
                on.discard(number)
    return on - {b"25", b"7"}  # the cursor and line wrap are on in a terminal at rest


def assert_restored(terminal: Terminal) -> None:
    """The terminal is as it was before the program began."""
    written = bytes(terminal.written)
    assert modes_left_on(written) == set()
    for mode in (b"25", b"7"):
        last = [way for number, way in _SET.findall(written) if number == mode]
        assert not last or last[-1] == b"h", f"mode {mode!r} is left off"
    assert termios.tcgetattr(terminal.slave)[:4] == terminal.attributes[:4]
