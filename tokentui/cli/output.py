"""What the commands write: answers on standard output, all else on standard error, nothing in them that acts on a terminal."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from typing import Any, TextIO

from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import is_safe, safe, safe_line, stand_in, visible

_HALF = re.compile("[\ud800-\udfff]")


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is there and is a terminal."""
    return stream is not None and not stream.closed and stream.isatty()


def takes_utf8(stream: TextIO | None) -> bool:
    """Whether what reads this stream is told to expect UTF-8."""
    return (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "") == "utf8"


def _ascii_only() -> bool:
    return is_terminal(sys.stdout) and not takes_utf8(sys.stdout)


def write(data: bytes) -> None:
    """Write to standard output at once, so that a reader that waits for a row gets it; to a terminal, nothing that acts."""
    if is_terminal(sys.stdout):
        data = _guarded(data.decode("utf-8", "surrogateescape"), sys.stdout).encode("utf-8", "replace")
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _guarded(text: str, stream: TextIO) -> str:
    """The second wall: text that was not made safe for a terminal before is so now, character by character."""
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


def json_row(value: Mapping[str, Any]) -> str:
    """A row of JSON, one line without its end. Bytes that are no text stand as U+FFFD: rows are valid UTF-8 everywhere."""
    return _HALF.sub("\ufffd", json.dumps(value, ensure_ascii=False, allow_nan=False))


def write_json(value: Mapping[str, Any]) -> None:
    """Write a row of JSON."""
    write_document(json_row(value) + "\n")


def write_document(text: str) -> None:
    """Write lines of JSON; what a terminal must not get is escaped, which is the same JSON."""
    if is_terminal(sys.stdout):
        ascii_only = _ascii_only()
        text = "".join(
            char if char == "\n" or (is_safe(char) and (char.isascii() or not ascii_only)) else json.dumps(char)[1:-1]
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
