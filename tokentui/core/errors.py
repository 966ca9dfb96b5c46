"""The errors that a user reads, one clear line each, and the checks of arguments that raise them.

A check gives the value back, or raises a `TokentuiError` that names it.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from typing import TypeVar

_T = TypeVar("_T")
_SHOWN = 40


class TokentuiError(Exception):
    """Something a user can mend: bad input, a missing file, a recipe that cannot be.

    Args:
        what: What is wrong, in a few words ("no such file").
        where: The thing it is wrong with: a path, an axis, a place in a file. May be empty.
        hint: What would do instead. May be empty.
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
    """A long call was asked to stop, by its `cancel` callable.

    Attributes:
        phase: The phase of the work that was cancelled, such as `counting`; empty if it has no name.
    """

    phase = ""

    def __str__(self) -> str:
        """Return `while counting` and the like; empty if the phase has no name."""
        return f"while {self.phase}" if self.phase else ""


def in_words(error: BaseException) -> str:
    """Return an error in one line; any other than a `TokentuiError` is a fault of the program."""
    if isinstance(error, TokentuiError):
        return str(error)
    return f"this should not happen: {type(error).__name__}: {error}"


def shown(value: object) -> str:
    """Return a value for an error, short."""
    try:
        written = repr(value)
    except Exception:  # a class of the caller's, or an integer of more digits than Python prints
        return f"a value of type {type(value).__name__}"
    return written if len(written) <= _SHOWN else written[:_SHOWN] + "…"


def shown_path(path: str) -> str:
    """Return a path for one line of text, escaped if it is not printable, `''` if it is empty."""
    return path if path and path.isprintable() else repr(path)[1:-1] or "''"


def text_of(value: object, where: str = "text") -> str | bytes:
    """Return a text, as str or bytes."""
    if isinstance(value, str | bytes):
        return value
    raise TokentuiError(f"a text belongs here, not {shown(value)}", where, "hand in str or bytes")


def name_of(value: object, where: str) -> str:
    """Check that a value is str, and return it."""
    if isinstance(value, str):
        return value
    raise TokentuiError(f"a text belongs here, not {shown(value)}", where, "hand in str")


def path_of(value: object, where: str) -> str:
    """Return a path, as str."""
    if isinstance(value, str | os.PathLike) and isinstance(path := os.fspath(value), str):
        return path
    raise TokentuiError(f"a path belongs here, not {shown(value)}", where, "hand in str or a path object")


def whole(value: object, where: str, least: int | None = None, hint: str = "such as 1000") -> int:
    """Return a whole number, NumPy's too; no truth value, no fraction."""
    try:
        number = operator.index(value) if not isinstance(value, bool) else None  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None:
        raise TokentuiError(f"not a whole number: {shown(value)}", where, hint)
    if least is not None and number < least:
        raise TokentuiError("out of range", f"{where}={shown(number)}", f"take {least} or more")
    return number


def each_of(values: Iterable[_T], where: str, hint: str) -> list[_T]:
    """Return the values of a list or of anything like it; a text is none."""
    if isinstance(values, str | bytes):
        raise TokentuiError("a list belongs here, not a text", where, hint)
    try:
        return list(values)
    except TypeError:
        raise TokentuiError(f"a list belongs here, not {shown(values)}", where, hint) from None


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown word: the nearest known one, or all of them."""
    names = list(known)
    import difflib  # only where a user is wrong

    close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    return f"did you mean {close[0]}?" if close else "one of: " + ", ".join(names)
