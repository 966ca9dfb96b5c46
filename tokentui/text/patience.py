"""Patterns that may take for ever, given only so long, and given up at once where the caller is asked to stop.

A match of the `regex` library cannot be interrupted from outside, but it can be given a time, and other threads run meanwhile.
So one that is not quick is looked for in a thread of its own, which is left behind where the caller is asked to stop: it ends
by its time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, TypeVar

from tokentui.core import limits
from tokentui.core.errors import Cancelled, TokentuiError

AT_ONCE = 0.05
"""Seconds that a match may take before the caller is asked whether to go on."""
_POLL_S = 0.02
PART = 1 << 16
"""How many units, cells or characters are gone through in plain Python before the caller is asked whether to go on."""

_T = TypeVar("_T")


class _Asked(threading.local):
    """Whom this thread asks whether to stop."""

    cancel: Callable[[], bool] | None = None
    seconds: float | None = None
    """What a pattern may take here, where that is less than elsewhere: only something to be looked at depends on it."""


_asked = _Asked()


class TakesTooLong(TokentuiError):
    """A pattern took longer over one match than `limits.Limits.pattern_seconds`, or all memory."""


@contextmanager
def asking(cancel: Callable[[], bool], seconds: float | None = None) -> Iterator[None]:
    """Whom long work asks in this thread whether to stop.

    Args:
        cancel: Says whether to stop.
        seconds: Where what is done is only to be looked at: what one match may take. Then patterns alone ask.
    """
    before = _asked.cancel, _asked.seconds
    _asked.cancel, _asked.seconds = cancel, seconds
    try:
        yield
    finally:
        _asked.cancel, _asked.seconds = before


def find_all(pattern: Any, text: str, where: str) -> list[str]:
    """What `pattern.findall(text)` gives of a pattern without groups.

    Raises:
        TakesTooLong: One match takes longer than a pattern may.
        Cancelled: Whoever `asking` names said so.
    """
    try:
        found: list[str] = pattern.findall(text, timeout=AT_ONCE)
        return found
    except TimeoutError:
        return [match.group() for match in find(pattern, text, where)]


def find(pattern: Any, text: str, where: str, start: int = 0, limit: str = "pattern-seconds") -> Iterator[Any]:
    """What `pattern.finditer(text, start)` gives; the time is that of each match, by the limit of a name.

    Raises:
        As `find_all`.
    """
    at, given = start, None
    while True:
        before = at, given
        try:
            for match in pattern.finditer(text, at, timeout=AT_ONCE):
                if match.span() != given:
                    at, given = match.end(), _if_empty(match)
                    yield match
            return
        except TimeoutError:
            _check()
        except MemoryError:
            raise _refusal("needs too much memory", text, at, where, limit) from None
        if (at, given) == before:
            match = _next(pattern, text, at, given, where, limit)
            if match is None:
                return
            at, given = match.end(), _if_empty(match)
            yield match


def find_apart(pattern: Any, text: str, where: str) -> Iterator[Any]:
    """As `find` for a pattern of a tokenizer file, but for empty matches, which are as the `onig` library gives them.

    None stands where the match before it ends, and nothing that begins where one stands is found.

    Raises:
        As `find_all`.
    """
    at, last = 0, -1
    while at <= len(text):
        for match in find(pattern, text, where, at, "file-pattern-seconds"):
            start, end = match.span()
            if start < end or end != last:
                yield match
            last = end
            if start == end:
                at = end + 1
                break
        else:
            return


def _if_empty(match: Any) -> tuple[int, int] | None:
    """The place of an empty match: looking on from there finds it again."""
    span: tuple[int, int] = match.span()
    return span if span[0] == span[1] else None


def check() -> None:
    """Raise `Cancelled` where whoever `asking` names says so. To be called now and then by what works long on one thing."""
    if _asked.seconds is None:
        _check()


def in_parts(items: Iterable[_T]) -> Iterator[Iterator[_T]]:
    """Many items, some at a time; between two parts whoever `asking` names may stop it.

    Each part is to be used up before the next one is taken: so a loop inside costs no more than one without parts.
    """
    items = iter(items)
    for first in items:
        check()
        yield chain((first,), islice(items, PART - 1))


def find_short(pattern: Any, text: str, at: int) -> Iterator[Any]:
    """What `pattern.finditer(text, at)` gives of a pattern that looks at two characters, and no further.

    Raises:
        Cancelled: Whoever `asking` names said so.
    """
    while at < len(text):
        check()
        yield from pattern.finditer(text, at, at + PART + 1)
        at += PART


def _check() -> None:
    if _asked.cancel is not None and _asked.cancel():
        raise Cancelled


def _next(pattern: Any, text: str, at: int, given: tuple[int, int] | None, where: str, limit: str) -> Any:
    """The next match from a place on, which is known to take its time; not the one that was given."""
    most: float = getattr(limits.now(), limit.replace("-", "_"))
    seconds = most if _asked.seconds is None else min(most, _asked.seconds)

    def look() -> Any:
        matches = pattern.finditer(text, at, timeout=seconds)
        return next((match for match in matches if match.span() != given), None)

    try:
        return _beside(look)
    except TimeoutError:
        raise _refusal("takes too long", text, at, where, limit) from None
    except MemoryError:
        raise _refusal("needs too much memory", text, at, where, limit) from None


def _beside(work: Callable[[], _T]) -> _T:
    """What a work gives, done in a thread that is left behind where the caller is asked to stop."""
    if _asked.cancel is None:
        return work()
    answer: list[_T] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            answer.append(work())
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="tokentui pattern", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_POLL_S)
        _check()
    if errors:
        raise errors[0]
    return answer[0]


def _refusal(what: str, text: str, at: int, where: str, limit: str) -> TakesTooLong:
    shown = ascii(text[at : at + 40])
    place = f"{where} at {shown if len(shown) <= 40 else shown[:39] + '…'}"
    instead = "write one that backtracks less"
    hint = instead if _asked.seconds is not None else limits.reading(limit, instead)
    return TakesTooLong(f"the pattern {what}", place, hint)
