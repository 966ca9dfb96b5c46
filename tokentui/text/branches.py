"""The branch of a split that matched a word.

Branches are the alternatives of a pattern, tried in the same order as the pattern tries them.
"""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass
from typing import Any

from tokentui.core.errors import TokentuiError
from tokentui.text.split import SPLITS, compile_pattern

_READABLE = 200  # characters of a pattern
_FLAGS = re.compile(r"\(\?[a-zA-Z01]+\)")


def alternatives(pattern: str) -> list[str]:
    """The alternatives of a pattern at its outermost level; flags in front of all belong to each.

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
            at = _class_end(pattern, at)
        elif sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
        elif sign == "|" and not depth:
            parts.append(pattern[start:at])
            start = at + 1
        at += 1
    return [head + part for part in (*parts, pattern[start:])]


def _class_end(pattern: str, at: int) -> int:
    """The place of the bracket that closes the class which opens here."""
    at += 1
    if pattern.startswith("^", at):
        at += 1
    if pattern.startswith("]", at):
        at += 1
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at


@dataclass(frozen=True, slots=True)
class Branches:
    """The branches of a split.

    Attributes:
        names: What each matches, in words where it is one that the project knows, then the pattern.
        alone: Whether a word is to be matched by itself, not where it stands.
    """

    names: tuple[str, ...]
    alone: bool
    _patterns: tuple[Any, ...]

    def of(self, text: str, at: int, word: str) -> int | None:
        """The branch that matched the word at a place of a text; None where it is unknown."""
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


@functools.lru_cache(maxsize=64)
def branches(split: str) -> Branches:
    """The branches of a value of the axis.

    Raises:
        TokentuiError: A pattern that cannot be compiled.
    """
    record = SPLITS.of(split)
    pattern = record.told or record.pattern or split.partition(":")[2]
    compiled = re.compile if record.plain else compile_pattern
    whole, parts = compiled(pattern), alternatives(pattern)
    try:
        patterns = tuple(map(compiled, parts))
    except TokentuiError:  # a branch that refers to a group of another one
        return Branches((pattern,), record.alone, (whole,))
    meanings = itertools.chain(record.branches, itertools.repeat(""))
    return Branches(tuple(map(_named, parts, meanings)), record.alone, patterns)


def _named(part: str, meaning: str) -> str:
    """A branch in words, and its pattern where that can be read."""
    if not meaning:
        return part
    return meaning if len(part) > _READABLE else f"{meaning}  {part}"
