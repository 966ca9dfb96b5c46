"""Which branch of a split matched a word: a pattern's alternatives, tried in order as the pattern itself tries them."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

import regex

from tokentui.recipe import compile_pattern
from tokentui.text.split import SPLITS

_MEANINGS = {
    r"'(?:[sdmt]|ll|ve|re)": "a contraction",
    r"'(?i:[sdmt]|ll|ve|re)": "a contraction, of either case",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)": "a contraction, of either case",
    r" ?\p{L}++": "letters, with a space in front",
    r"[^\r\n\p{L}\p{N}]?+\p{L}++": "letters, with one sign or space in front",
    r"[^\r\n\p{L}\p{N}]?+\p{L}+": "letters, with one sign or space in front",
    r"[^\r\n\p{L}\p{N}]?\p{L}+": "letters, with one sign or space in front",
    r" ?\p{N}++": "digits, with a space in front",
    r"\p{N}{1,3}+": "up to three digits",
    r"\p{N}{1,3}": "up to three digits",
    r" ?[^\s\p{L}\p{N}]++": "signs, with a space in front",
    r" ?[^\s\p{L}\p{N}]++[\r\n]*+": "signs and the line ends after them",
    r" ?[^\s\p{L}\p{N}]++[\r\n]*": "signs and the line ends after them",
    r" ?[^\s\p{L}\p{N}]+[\r\n]*": "signs and the line ends after them",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*": "signs and the line ends and slashes after them",
    r"\s++$": "white space at the end of the text",
    r"\s*[\r\n]": "white space up to a line end",
    r"\s*[\r\n]+": "white space up to line ends",
    r"\s+(?!\S)": "white space, but for the last one before a word",
    r"\s": "one white space",
    r"\s+": "white space",
    r"(?s).+": "all of it",
    r"\S+": "what stands between white space",
    r"[^ ]+": "what stands between spaces",
    r"\w+": "letters, digits and underscores",
    r"[^\w\s]+": "signs",
    r"[\s\p{P}][^\s\p{P}]*": "a space or a punctuation mark, and what follows up to the next",
    r"[^\s\p{P}]+": "a beginning with neither space nor punctuation",
    "▁[^▁]*": "a space and the word after it",
    "[^▁]+": "a beginning without a space",
}
_LOWER = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
_UPPER = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
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
        """The branch that matched a word which stands at a place of a text; None where that cannot be told."""
        if self.alone:
            text, at = word, 0
        for n, pattern in enumerate(self._patterns):
            if pattern.match(text, at):
                return n
        return None


BETWEEN = "what no branch matches"
"""What stands between two matches of a pattern and is kept."""


def kept(found: Branches) -> Branches:
    """Branches with one more for what none of them matches and is a word all the same."""
    return Branches((*found.names, BETWEEN), found.alone, (*found._patterns, re.compile("")))


@functools.lru_cache(maxsize=64)
def branches(split: str) -> Branches:
    """The branches of a value of the axis.

    Raises:
        TokentuiError: A pattern that cannot be compiled.
    """
    name, colon, own = split.partition(":")
    if colon:
        whole = compile_pattern(own)
        try:
            compiled = [regex.compile(part) for part in alternatives(own)]
        except regex.error:  # a branch that refers to a group of another one
            return Branches((own,), False, (whole,))
        return Branches(tuple(alternatives(own)), False, tuple(compiled))
    if name == "bert":
        return Branches(("letters, digits and signs", "one punctuation mark"), False, tuple(
            re.compile(part) for part in alternatives(SPLITS[name].pattern)
        ))
    parts = alternatives(SPLITS[name].pattern)
    if name == "falcon":
        parts = ["[0-9]{3}", *parts]
    return Branches(tuple(map(_named, parts)), name in ("falcon", "metaspace"), tuple(map(regex.compile, parts)))


def _named(part: str) -> str:
    meaning = _MEANINGS.get(part)
    if part.startswith(_LOWER):
        meaning = "letters that end in lower case, with one sign or space in front"
    elif part.startswith(_UPPER):
        meaning = "letters that begin in upper case, with one sign or space in front"
    elif part == "[0-9]{3}":
        meaning = "three digits"
    return f"{meaning}  {part}" if meaning else part
