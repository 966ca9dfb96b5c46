"""The output of commands: answers on standard output, all else on standard error, nothing in them that acts
on a terminal."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import TextIO

from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import job
from tokentui.core.safetext import is_safe, safe, safe_line, stand_in, visible
from tokentui.core.table import Table, printed

_HALF = re.compile("[\ud800-\udfff]")


Json = dict[str, object]
"""A row of JSON."""
_LABEL = 12


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is there and is a terminal."""
    return stream is not None and not stream.closed and stream.isatty()


def takes_utf8(stream: TextIO | None) -> bool:
    """Return whether the reader of this stream is told to expect UTF-8."""
    return (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "") == "utf8"


def _ascii_only() -> bool:
    return is_terminal(sys.stdout) and not takes_utf8(sys.stdout)


def write(data: bytes) -> None:
    """Write to standard output at once, so that a reader that waits for a row gets it; to a terminal, nothing
    that acts."""
    if is_terminal(sys.stdout):
        data = _guarded(data.decode("utf-8", "surrogateescape"), sys.stdout).encode("utf-8", "replace")
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _guarded(text: str, stream: TextIO) -> str:
    """The second wall: text that was not made safe for a terminal before is so now, character by character.
    """
    if all(map(is_safe, text.split("\n"))):
        return text
    unknown = "" if takes_utf8(stream) else "?"
    return "".join(char if char == "\n" or is_safe(char) else unknown or stand_in(char) for char in text)


def write_file(data: bytes) -> None:
    """Write the bytes of a file as they are; to a terminal, as a text in which all of them can be seen."""
    if is_terminal(sys.stdout):
        write_text(data.decode("utf-8", "surrogateescape").removesuffix("\n"))
    else:
        write(data)


def write_text(text: str) -> None:
    """Write a text and a line end as UTF-8; to a terminal, line by line, with nothing in it that acts."""
    if is_terminal(sys.stdout):
        text = "\n".join(safe(line, ascii_only=_ascii_only()) for line in text.split("\n"))
    write(text.encode("utf-8", "surrogateescape") + b"\n")


def write_answer(as_json: bool, row: Json, tables: Iterable[Table], between: str = "\n") -> None:
    """Write an answer: as a row of JSON, or as tables for people."""
    if as_json:
        write_json(row)
    else:
        write_text(printed(tables, between))


def fact(name: str, text: str = "", rows: Sequence[Sequence[str]] = (), most: int | None = None) -> Table:
    """A label and its fact in one line, with rows below it."""
    title = f"{name:<{_LABEL}} {text}".rstrip()
    return Table(rows, title, right=(0,), indent=2, most=most, more="more (--json has them)")


def json_row(value: Mapping[str, object]) -> str:
    """A row of JSON, one line without its end. Bytes that are no text stand as U+FFFD: rows are valid UTF-8
    everywhere."""
    return _HALF.sub("\ufffd", json.dumps(value, ensure_ascii=False, allow_nan=False))


def write_json(value: Mapping[str, object]) -> None:
    """Write a row of JSON."""
    write_document(json_row(value) + "\n")


def write_document(text: str) -> None:
    """Write lines of JSON; what a terminal must not get is escaped, which is the same JSON."""
    if is_terminal(sys.stdout):
        ascii_only = _ascii_only()
        text = "".join(
            char if char == "\n" or (
                is_safe(char) and (char.isascii() or not ascii_only)
            ) else json.dumps(char)[1:-1]
            for char in text
        )
    write(text.encode())


def shown(data: bytes | str) -> str:
    """A token or pre-token for people: every character of it can be seen."""
    return "".join(span.text for span in visible(data, ascii_only=_ascii_only()))


def complain(line: str) -> None:
    """One line on standard error, with the program's name in front."""
    if sys.stderr is None or sys.stderr.closed:
        return
    text = safe_line(line, ascii_only=not takes_utf8(sys.stderr))
    sys.stderr.write(f"tokentui: {_guarded(text, sys.stderr)}\n")
    sys.stderr.flush()


def check_target(path: str) -> None:
    """Refuse a file that could not be written in the end, before the work is done for nothing.

    Raises:
        TokentuiError: It is a folder, or there is no such folder, or it must not be written there.
    """
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise TokentuiError("cannot be written: it is a folder", path, "name a file in it")
    if not os.path.isdir(folder):
        raise TokentuiError("cannot be written: no such folder", path, "make it first")
    if not os.access(path if os.path.exists(path) and not os.path.isfile(path) else folder, os.W_OK):
        raise TokentuiError("cannot be written: no permission", path, "name another place")


AFTER_S = 1.0
"""Work that takes less shows no bar."""
_EVERY_S = 0.1


class Bar:
    """A line on standard error that shows how far a work is; none where that is no terminal, or asked for.

    Args:
        quiet: Draw nothing.
        clock: Seconds.
    """

    def __init__(self, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._on = not quiet and is_terminal(sys.stderr)
        self._clock = clock
        self._next = clock() + AFTER_S
        self._width = 0

    def of(self, what: str) -> AbstractContextManager[None]:
        """Draw the progress of the work inside, under a name."""
        return job(lambda done, total: self.draw(what, done, total))

    def draw(self, what: str, done: int, total: int) -> None:
        """Draw the line over the last one, if it is time for it."""
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
def working(quiet: bool = False) -> Iterator[Bar]:
    """Show how far the work inside is, and cancel it at ctrl+c. The line is wiped in the end."""
    bar = Bar(quiet)
    try:
        with interruptible():
            yield bar
    finally:
        bar.close()


@contextmanager
def interruptible() -> Iterator[None]:
    """Cancel the work inside at ctrl+c. A second ctrl+c does not wait.

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
        with job(cancel=lambda: asked):
            yield
    finally:
        signal.signal(signal.SIGINT, before)
