"""Find from a pattern where a text may be cut in two without changing any match.

A pattern is read as *positions* (Glushkov's automaton): each character, class or dot in it, and which of them
may follow which. No match spans two neighboring characters if no position that fits the first is followed by
one that fits the second. The characters after such a border change no match before it, and patterns with
lookbehinds are not read. So the parts have the same words as the whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from typing import NamedTuple

from tokentui.core.records import dataclass

_SCOPED = re.compile(r"\(\?([is]*)(?:-([is]*))?:")
_GLOBAL = re.compile(r"\(\?([is]+)\)")
_OPENING = re.compile(r"\((?:\?(?::|>|P?<[A-Za-z_]\w*>))?(?![?*])")
_LOOKING = re.compile(r"\(\?[=!]")
_REPEATED = re.compile(r"(?:[*+?]|\{(\d+)(?:,\d*)?\}|\{,\d+\})[?+]?")
_ESCAPED = re.compile(
    r"\\(?:[sSdDwWrntfva]|[pP](?:\{[^{}]+\}|[CLMNPSZ])"
    r"|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[^\w\s<>]|[ _])"
)
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_DEPTH = 50
_MOST = 200
_ANY = "(?s:.)"


class _Unread(Exception):
    """The pattern contains syntax that this module does not read."""


class _Subpattern(NamedTuple):
    """A part of a pattern: whether it may match the empty text, and the positions that it may begin and end
    with."""

    empty: bool = True
    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()


@dataclass
class _PositionReader:
    """Reads the positions of a pattern. Methods raise `_Unread` for syntax that this module does not read.

    Attributes:
        pattern: The pattern.
        far: True to accept lookaheads of more than one character.
        at: The offset that is read next.
        places: The source text of each position.
        after: The positions that may follow each position.
        ends: True if the pattern has an anchor for the end of the text or of its last line.
    """

    pattern: str
    far: bool
    at: int
    places: list[str] = field(default_factory=list)
    after: list[set[int]] = field(default_factory=list)
    ends: bool = False

    def alternatives(self, flags: str, depth: int = 0) -> _Subpattern:
        """Read alternatives up to the closing parenthesis, which is not read, or the end.

        Moves `at` there. Raises `_Unread` for groups too deep in one another.
        """
        if depth > _DEPTH:
            raise _Unread
        empty, first, last = False, frozenset[int](), frozenset[int]()
        while True:
            sequence = self._sequence(flags, depth)
            empty, first, last = empty or sequence.empty, first | sequence.first, last | sequence.last
            if not self.pattern.startswith("|", self.at):
                return _Subpattern(empty, first, last)
            self.at += 1

    def _sequence(self, flags: str, depth: int) -> _Subpattern:
        whole = _Subpattern()
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            whole = self._joined(whole, self._repeated(self._atom(flags, depth)))
        return whole

    def _joined(self, left: _Subpattern, right: _Subpattern) -> _Subpattern:
        """Return two parts in a row. Notes in `after` what may follow each last place of the left one."""
        for place in left.last:
            self.after[place] |= right.first
        return _Subpattern(
            left.empty and right.empty,
            left.first | right.first if left.empty else left.first,
            left.last | right.last if right.empty else right.last,
        )

    def _repeated(self, part: _Subpattern) -> _Subpattern:
        """Read the repetitions behind a part, and move `at` past them. Return the part, which may be empty.

        Raises:
            _Unread: A brace is no repetition.
        """
        while match := _REPEATED.match(self.pattern, self.at):
            self.at = match.end()
            self._joined(part, part)
            if match.group()[0] in "*?" or (match.group()[0] == "{" and not int(match[1] or 0)):
                part = part._replace(empty=True)
        if self.pattern.startswith("{", self.at):
            raise _Unread
        return part

    def _atom(self, flags: str, depth: int) -> _Subpattern:
        """Read a character, a class, a group, a lookahead or an end anchor, and move `at` past it.

        Raises `_Unread` for all else.
        """
        sign = self.pattern[self.at]
        if sign == "(":
            return self._group(flags, depth)
        if sign == "$" or self.pattern.startswith(r"\Z", self.at):
            self.at += 1 if sign == "$" else 2
            self.ends = self.ends or sign == "$"
            return _Subpattern(True, self._place(_ANY, "").first)
        if sign in "^*+?{":
            raise _Unread
        match = _ESCAPED.match(self.pattern, self.at) if sign == "\\" else None
        match = _CLASS.match(self.pattern, self.at) if sign == "[" else match
        if (sign in "\\[" and match is None) or (sign == "[" and match and "[:" in match.group()):
            raise _Unread
        source = match.group() if match else sign
        self.at += len(source)
        return self._place("[^\\n]" if source == "." and "s" not in flags else source, flags)

    def _place(self, source: str, flags: str) -> _Subpattern:
        """Add a place for one character of the pattern, with flags. Raises `_Unread` beyond _MOST places."""
        if len(self.places) == _MOST:
            raise _Unread
        self.places.append(f"(?{flags}:{source})" if flags else source)
        self.after.append(set())
        ends = frozenset({len(self.places) - 1})
        return _Subpattern(False, ends, ends)

    def _group(self, flags: str, depth: int) -> _Subpattern:
        """Read a group. A lookaround matches nothing, and what it looks at must be one character.

        Raises:
            _Unread: It is a group whose cuts are not known.
        """
        match = _SCOPED.match(self.pattern, self.at)
        if match:
            flags = "".join(sorted((set(flags) | set(match[1])) - set(match[2] or "")))
        looking = match is None and _LOOKING.match(self.pattern, self.at)
        match = match or looking or _OPENING.match(self.pattern, self.at)
        if not match:
            raise _Unread
        self.at = match.end()
        part = self.alternatives(flags, depth + 1)
        if not self.pattern.startswith(")", self.at):
            raise _Unread
        self.at += 1
        if not looking:
            return part
        longer = part.empty or part.first != part.last or any(self.after[place] for place in part.first)
        if longer and not self.far:
            raise _Unread  # it looks at more than the next character
        return _Subpattern(True, part.first)


def _read(pattern: str, far: bool = False) -> tuple[_PositionReader, _Subpattern]:
    """Read a whole pattern with its global flags. Raises `_Unread` for what cannot be read to the end."""
    match = _GLOBAL.match(pattern)
    reader = _PositionReader(pattern, far, match.end() if match else 0)
    whole = reader.alternatives("".join(sorted(set(match[1]))) if match else "")
    if reader.at < len(pattern):
        raise _Unread
    return reader, whole


def cut_of(pattern: str) -> str:
    """Return the pattern of the safe cuts of a split pattern, as in `Split.cut`; empty if none is known.

    >>> cut_of("a+|bc")
    '(?s)(?!a(?:a)|b(?:c)).(?=.)'
    """
    try:
        reader, whole = _read(pattern)
    except _Unread:
        return ""
    if whole.empty:
        return ""  # an empty match at the end of a part is none in the whole
    followers: dict[str, set[str]] = {}
    for source, after in zip(reader.places, reader.after, strict=True):
        followers.setdefault(source, set()).update(reader.places[place] for place in after)
    if reader.ends:
        followers.setdefault(r"\n", set()).add(_ANY)  # $ also matches before a last line end
    if _ANY in followers.get(_ANY, ()):
        return ""  # it may go on everywhere
    crossings = [f"{source}(?:{'|'.join(sorted(after))})" for source, after in followers.items() if after]
    if sum(map(len, followers.values())) > _MOST:
        return ""
    return f"(?s)(?!{'|'.join(crossings)}).(?=.)" if crossings else "(?s).(?=.)"


def places(pattern: str) -> Iterator[str]:
    """Yield each distinct character and class in a pattern that `cut_of` returned, which must not be
    empty."""
    yield from dict.fromkeys(_read(pattern, far=True)[0].places)
