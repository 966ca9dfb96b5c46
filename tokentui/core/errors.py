"""The errors that a user reads, one clear line each, and the checks of arguments that raise them.

A check gives the value back, or raises a `TokentuiError` that names it.
"""

from __future__ import annotations

import errno
import operator
import os
import re
from collections.abc import Iterable
from typing import TypeVar

_T = TypeVar("_T")
_SHOWN = 40
_NO_ROOM = re.compile("can't start new thread|cannot allocate memory|failed to map segment", re.IGNORECASE)
SHORT_OF_MEMORY = "not enough memory (use a smaller input, or a higher limit such as ulimit -v)"
"""The line about a process that got no memory."""


class TokentuiError(Exception):
    """An error that a user can fix: bad input, a missing file, an invalid recipe.

    Args:
        what: What is wrong, in a few words ("no such file").
        where: Where: a path, an axis, a place in a file. May be empty.
        hint: What to do instead. May be empty.
    """

    def __init__(self, what: str, where: str = "", hint: str = "") -> None:
        super().__init__(what, where, hint)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        """One line, `where: what (hint)`. Not yet safe for a terminal: see `tokentui.core.safetext`."""
        line = f"{self.where}: {self.what}" if self.where else self.what
        return f"{line} ({self.hint})" if self.hint else line


class Cancelled(Exception):
    """The `cancel` callable of a job asked the work to stop.

    Attributes:
        phase: The phase of the work that was cancelled, such as `counting`; empty if it has no name.
    """

    phase = ""

    def __str__(self) -> str:
        """Return a phrase such as `while counting`; empty if the phase has no name."""
        return f"while {self.phase}" if self.phase else ""


def in_words(error: BaseException) -> str:
    """Return an error as one line. An error that is neither a `TokentuiError` nor a lack of memory is
    described as a fault of the program."""
    if isinstance(error, TokentuiError):
        return str(error)
    if isinstance(error, Exception) and is_short_of_memory(error):
        return SHORT_OF_MEMORY
    return f"internal error: {type(error).__name__}: {error}"


def is_short_of_memory(error: BaseException | None) -> bool:
    """Return whether an exception means that the process got no memory: also for a thread, a file or a
    library, which Python reports by other exceptions than `MemoryError`."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError | ImportError) and _NO_ROOM.search(str(error)) is not None
    )


def shown(value: object) -> str:
    """Return a short representation of a value for an error message."""
    try:
        written = repr(value)
    except Exception:  # a class of the caller's, or an integer of more digits than Python prints
        return f"a value of type {type(value).__name__}"
    return written if len(written) <= _SHOWN else written[:_SHOWN] + "…"


def shown_path(path: str) -> str:
    """Return a path for one line of text: escaped if it is not printable, `''` if it is empty."""
    return path if path and path.isprintable() else repr(path)[1:-1] or "''"


def text_of(value: object, where: str = "text") -> str | bytes:
    """Check that a value is str or bytes, and return it.

    Raises:
        TokentuiError: It is of another type.
    """
    if isinstance(value, str | bytes):
        return value
    raise TokentuiError(f"expected a text, not {shown(value)}", where, "pass str or bytes")


def name_of(value: object, where: str) -> str:
    """Check that a value is str, and return it.

    Raises:
        TokentuiError: It is of another type.
    """
    if isinstance(value, str):
        return value
    raise TokentuiError(f"expected a text, not {shown(value)}", where, "pass str")


def path_of(value: object, where: str) -> str:
    """Check that a value is a path, and return it as str.

    Raises:
        TokentuiError: It is of another type.
    """
    if isinstance(value, str | os.PathLike) and isinstance(path := os.fspath(value), str):
        return path
    raise TokentuiError(f"expected a path, not {shown(value)}", where, "pass str or a path object")


def whole(value: object, where: str, least: int | None = None, hint: str = "for example 1000") -> int:
    """Check that a value is a whole number, and return it as int. NumPy integers are accepted; bool and float
    are not.

    Args:
        value: The value.
        where: The name of the argument, for the error.
        least: The smallest valid number; None for any.
        hint: The hint of the error.

    Raises:
        TokentuiError: It is of another type, or less than `least`.
    """
    try:
        number = operator.index(value) if not isinstance(value, bool) else None  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None:
        raise TokentuiError(f"not a whole number: {shown(value)}", where, hint)
    if least is not None and number < least:
        raise TokentuiError("out of range", f"{where}={shown(number)}", f"use {least} or more")
    return number


def each_of(values: Iterable[_T], where: str, hint: str) -> list[_T]:
    """Return the items of an iterable as a list. A str or bytes is an error, although it is iterable.

    Raises:
        TokentuiError: It is not iterable, or a text.
    """
    if isinstance(values, str | bytes):
        raise TokentuiError("expected a list, not a text", where, hint)
    try:
        return list(values)
    except TypeError:
        raise TokentuiError(f"expected a list, not {shown(values)}", where, hint) from None


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown word: the nearest known word, or all of them if none is near."""
    names = list(known)
    import difflib  # only where a user is wrong

    close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    return f"did you mean {close[0]}?" if close else "one of: " + ", ".join(names)
