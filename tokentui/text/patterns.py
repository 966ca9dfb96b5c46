"""Match patterns with a time limit for each match, and list the branches of a pattern.

A match of the `regex` library cannot be interrupted, but it accepts a timeout, and other threads run
meanwhile. So a slow match runs in its own thread. If the job is cancelled, the thread is abandoned and ends
at its timeout.
"""

from __future__ import annotations

import itertools
import math
import re
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from tokentui.core import jobs, limits
from tokentui.core.errors import TokentuiError
from tokentui.core.records import dataclass
from tokentui.text import sets

if TYPE_CHECKING:
    import regex

AT_ONCE = 0.05
"""Seconds of a match after which the job is checked for cancellation."""
_POLL_S = 0.02
_TOGETHER = 1024
"""Matches that are collected before the position is saved. After a timeout, the search resumes at the last
saved position."""
_FLAGS = re.compile(r"\(\?[a-zA-Z01]+\)")

_T = TypeVar("_T")


class TakesTooLong(TokentuiError):
    """One match of a pattern took longer than the limit, or all memory."""


def find_all(
    pattern: regex.Pattern[str], text: str, where: str, limit: str = "pattern-seconds"
) -> list[str]:
    """Return `pattern.findall(text)` of a pattern without groups, with a time limit for each match.

    Args:
        pattern: The pattern.
        text: The text.
        where: The source of the pattern, for errors.
        limit: The name of the limit, in seconds.

    Raises:
        TakesTooLong: One match takes longer than the limit.
        Cancelled: The job is cancelled.
    """
    texts: list[str] = []
    at = 0
    while True:
        before, matches = at, pattern.finditer(text, at, timeout=AT_ONCE)
        try:
            while block := list(itertools.islice(matches, _TOGETHER)):
                texts += [match.group() for match in block]
                at = block[-1].end()
                if block[-1].start() == at:  # an empty one would be found there again
                    return [match.group() for match in find(pattern, text, where, 0, limit)]
            return texts
        except (TimeoutError, MemoryError):
            jobs.check_match()
        if at == before:
            return texts + [match.group() for match in find(pattern, text, where, at, limit)]


def find(
    pattern: regex.Pattern[str], text: str, where: str, start: int = 0, limit: str = "pattern-seconds"
) -> Iterator[regex.Match[str]]:
    """Yield `pattern.finditer(text, start)`, with a time limit for each match. The arguments are those of
    `find_all`.

    Raises:
        As `find_all`.
    """
    at, last_empty = start, None
    while True:
        before = at, last_empty
        try:
            for match in pattern.finditer(text, at, timeout=AT_ONCE):
                if match.span() != last_empty:
                    at, last_empty = match.end(), _if_empty(match)
                    yield match
            return
        except TimeoutError:
            jobs.check_match()
        except MemoryError:
            raise _refusal("needs too much memory", text, at, where, limit) from None
        if (at, last_empty) == before:
            match = _next(pattern, text, at, last_empty, where, limit)
            if match is None:
                return
            at, last_empty = match.end(), _if_empty(match)
            yield match


def find_apart(pattern: regex.Pattern[str], text: str, where: str) -> Iterator[regex.Match[str]]:
    """Yield matches as `find` does, for a pattern of a tokenizer file. Empty matches follow the `onig`
    library.

    An empty match at the end of the previous match is skipped. After an empty match the search goes on one
    character later, so a match that begins there is skipped too. The limit is `file-pattern-seconds`.

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


def find_short(pattern: regex.Pattern[str], text: str, at: int) -> Iterator[regex.Match[str]]:
    """Yield `pattern.finditer(text, at)` of a pattern that looks at only two characters, without a time
    limit.

    Raises:
        Cancelled: The job is cancelled.
    """
    while at < len(text):
        jobs.check()
        yield from pattern.finditer(text, at, at + jobs.BLOCK + 1)
        at += jobs.BLOCK


def _if_empty(match: regex.Match[str]) -> tuple[int, int] | None:
    """Return the span of an empty match, else None. Searching from its end would find it again."""
    span: tuple[int, int] = match.span()
    return span if span[0] == span[1] else None


def _next(
    pattern: regex.Pattern[str], text: str, at: int, last_empty: tuple[int, int] | None, where: str,
    limit: str
) -> regex.Match[str] | None:
    """Return the next match from a place on, other than an empty match at `last_empty`. It runs in a thread,
    since it is slow.

    Raises:
        TakesTooLong: The match takes longer than the limit, or all memory.
    """
    seconds = min(limits.value(limit), jobs.match_seconds() or math.inf)

    def look() -> regex.Match[str] | None:
        matches = pattern.finditer(text, at, timeout=seconds)
        return next((match for match in matches if match.span() != last_empty), None)

    try:
        return _in_thread(look)
    except TimeoutError:
        raise _refusal("takes too long", text, at, where, limit) from None
    except MemoryError:
        raise _refusal("needs too much memory", text, at, where, limit) from None


def _in_thread(work: Callable[[], _T]) -> _T:
    """Run a function in a thread, wait, and return its result or raise its exception.

    The thread is abandoned if the job is cancelled. If the job cannot be cancelled, no thread is started.
    """
    if not jobs.can_be_cancelled():
        return work()
    from concurrent.futures import Future, wait  # few patterns are slow

    answer: Future[_T] = Future()

    def run() -> None:
        try:
            answer.set_result(work())
        except Exception as error:
            answer.set_exception(error)

    threading.Thread(target=run, name="tokentui pattern", daemon=True).start()
    while wait([answer], _POLL_S).not_done:
        jobs.check_match()
    return answer.result()


def _refusal(what: str, text: str, at: int, where: str, limit: str) -> TakesTooLong:
    """Return, not raise, the error of a slow pattern, with 40 characters of the text from `at`.

    The hint names the limit to raise, unless the seconds of a match are set for this job.
    """
    shown = ascii(text[at : at + 40])
    place = f"{where} at {shown if len(shown) <= 40 else shown[:39] + '…'}"
    instead = "write one that backtracks less"
    hint = instead if jobs.match_seconds() is not None else limits.reading(limit, instead)
    return TakesTooLong(f"the pattern {what}", place, hint)


# ---- the branches of a pattern: its alternatives, tried in the same order as the pattern tries them


def alternatives(pattern: str) -> list[str]:
    """Return the top-level alternatives of a pattern. Flags at the start of the pattern apply to each.

    >>> alternatives(r"(?i)a(b|c)|[|]|\\||")
    ['(?i)a(b|c)', '(?i)[|]', '(?i)\\\\|', '(?i)']
    """
    flags = _FLAGS.match(pattern)
    head = flags.group() if flags else ""
    parts, start, at, depth = [], len(head), len(head), 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            at += 1
        elif sign == "[":
            at = sets.class_end(pattern, at) - 1
        elif sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
        elif sign == "|" and not depth:
            parts.append(pattern[start:at])
            start = at + 1
        at += 1
    return [head + part for part in (*parts, pattern[start:])]


@dataclass(frozen=True, slots=True)
class Branches:
    """The branches of a split.

    Attributes:
        names: The label of each: what it matches, if that is known, and its pattern.
        alone: True to match a word by itself, without its context.
    """

    names: tuple[str, ...]
    alone: bool
    _patterns: tuple[regex.Pattern[str] | re.Pattern[str], ...]
    _seen: Callable[[str], str] = str

    def of(self, text: str, at: int, word: str) -> int | None:
        """Return the index of the first branch that matches at an offset of a text, or None if none does.

        With `alone` the branch is matched at the start of `word`. Otherwise `word` is ignored.
        """
        if self.alone:
            text, at = word, 0
        text = self._seen(text)
        for n, pattern in enumerate(self._patterns):
            if pattern.match(text, at):
                return n
        return None


BETWEEN = "what no branch matches"
"""The label of text between two matches of a pattern that is a word too."""


def with_unmatched(branches: Branches) -> Branches:
    """Return branches with one more, for words between the matches."""
    return Branches((*branches.names, BETWEEN), branches.alone, (*branches._patterns, re.compile("")),
                    branches._seen)
