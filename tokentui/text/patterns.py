"""Patterns: matches that may take for ever, of which each gets a limited time, and the branches of a pattern.

A match of the `regex` library cannot be interrupted from outside, but it can be given a time, and other
threads run meanwhile. So a match that is not quick is looked for in a thread of its own. A cancelled job
leaves that thread behind; it ends by its time.
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
"""Seconds that a match may take before the job is asked whether it is cancelled."""
_POLL_S = 0.02
_TOGETHER = 1024
"""Matches that are taken before what they are is kept: those after the last that was kept are found again."""
_FLAGS = re.compile(r"\(\?[a-zA-Z01]+\)")

_T = TypeVar("_T")


class TakesTooLong(TokentuiError):
    """A pattern took longer over one match than `limits.Limits.pattern_seconds`, or all memory."""


def find_all(
    pattern: regex.Pattern[str], text: str, where: str, limit: str = "pattern-seconds"
) -> list[str]:
    """Return what `pattern.findall(text)` gives of a pattern without groups.

    The time is that of each match, by the limit of a name.

    Raises:
        TakesTooLong: One match takes longer than a pattern may.
        Cancelled: The job is cancelled.
    """
    found: list[str] = []
    at = 0
    while True:
        before, matches = at, pattern.finditer(text, at, timeout=AT_ONCE)
        try:
            while block := list(itertools.islice(matches, _TOGETHER)):
                found += [match.group() for match in block]
                at = block[-1].end()
                if block[-1].start() == at:  # an empty one would be found there again
                    return [match.group() for match in find(pattern, text, where, 0, limit)]
            return found
        except (TimeoutError, MemoryError):
            jobs.check_match()
        if at == before:
            return found + [match.group() for match in find(pattern, text, where, at, limit)]


def find(
    pattern: regex.Pattern[str], text: str, where: str, start: int = 0, limit: str = "pattern-seconds"
) -> Iterator[regex.Match[str]]:
    """Yield what `pattern.finditer(text, start)` gives. The time is that of each match, by the limit of a
    name.

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
            jobs.check_match()
        except MemoryError:
            raise _refusal("needs too much memory", text, at, where, limit) from None
        if (at, given) == before:
            match = _next(pattern, text, at, given, where, limit)
            if match is None:
                return
            at, given = match.end(), _if_empty(match)
            yield match


def find_apart(pattern: regex.Pattern[str], text: str, where: str) -> Iterator[regex.Match[str]]:
    """Find matches as `find` does, for a pattern of a tokenizer file. Empty matches follow the `onig`
    library.

    None lies where the match before it ends, and nothing that begins where one lies is found.

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
    """Yield what `pattern.finditer(text, at)` gives of a pattern that looks at two characters, and no
    further.

    Raises:
        Cancelled: The job is cancelled.
    """
    while at < len(text):
        jobs.check()
        yield from pattern.finditer(text, at, at + jobs.BLOCK + 1)
        at += jobs.BLOCK


def _if_empty(match: regex.Match[str]) -> tuple[int, int] | None:
    """Return the span of an empty match; searching from its end would find it again."""
    span: tuple[int, int] = match.span()
    return span if span[0] == span[1] else None


def _next(
    pattern: regex.Pattern[str], text: str, at: int, given: tuple[int, int] | None, where: str, limit: str
) -> regex.Match[str] | None:
    """Return the next match from a place on, which is known to take its time; not the one that was given."""
    seconds = min(limits.value(limit), jobs.match_seconds() or math.inf)

    def look() -> regex.Match[str] | None:
        matches = pattern.finditer(text, at, timeout=seconds)
        return next((match for match in matches if match.span() != given), None)

    try:
        return _in_thread(look)
    except TimeoutError:
        raise _refusal("takes too long", text, at, where, limit) from None
    except MemoryError:
        raise _refusal("needs too much memory", text, at, where, limit) from None


def _in_thread(work: Callable[[], _T]) -> _T:
    """Run a function in a thread, which is abandoned if the job is cancelled."""
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
    shown = ascii(text[at : at + 40])
    place = f"{where} at {shown if len(shown) <= 40 else shown[:39] + '…'}"
    instead = "write one that backtracks less"
    hint = instead if jobs.match_seconds() is not None else limits.reading(limit, instead)
    return TakesTooLong(f"the pattern {what}", place, hint)


# ---- the branches of a pattern: its alternatives, tried in the same order as the pattern tries them


def alternatives(pattern: str) -> list[str]:
    """Return the alternatives of a pattern at its outermost level; flags in front of all belong to each.

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
        names: What each matches, in words where it is one that the project knows, then the pattern.
        alone: Whether a word is to be matched by itself, not where it stands.
    """

    names: tuple[str, ...]
    alone: bool
    _patterns: tuple[regex.Pattern[str] | re.Pattern[str], ...]

    def of(self, text: str, at: int, word: str) -> int | None:
        """Return the index of the branch that matched a word at a place of a text, or None if unknown."""
        if self.alone:
            text, at = word, 0
        for n, pattern in enumerate(self._patterns):
            if pattern.match(text, at):
                return n
        return None


BETWEEN = "what no branch matches"
"""The label of kept text between two matches of a pattern."""


def kept(found: Branches) -> Branches:
    """Branches with one more for what none of them matches and is a word all the same."""
    return Branches((*found.names, BETWEEN), found.alone, (*found._patterns, re.compile("")))
