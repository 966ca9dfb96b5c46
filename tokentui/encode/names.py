"""Special tokens that a text contains by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tokentui.core.records import dataclass

_FEW = 8
"""The most characters that are searched one by one."""


@dataclass(frozen=True, slots=True)
class Special:
    """A special token that a text contains by name, with its place."""

    name: str
    start: int
    end: int

    def moved(self, by: int) -> Special:
        """Return the token with its place moved by `by` characters."""
        return Special(self.name, self.start + by, self.end + by)


class NameFinder:
    """Finds names in a text: the leftmost, and of those the longest.

    Its time does not depend on the number of names, but on the number of different lengths among names with
    the same first two characters.

    >>> list(NameFinder(["<s>", "<s>>"]).spans("a<s>><s>"))
    [(1, 5), (5, 8)]

    Args:
        names: The names. An empty name is ignored.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(filter(None, names))
        lengths: dict[str, set[int]] = {}
        for name in self.names:
            lengths.setdefault(name[:2], set()).add(len(name))
        self._lengths = {head: sorted(sizes, reverse=True) for head, sizes in lengths.items()}
        self._firsts = {name[0] for name in self.names}
        self._heads = re.compile(f"[{''.join(map(re.escape, self._firsts))}]") if self._firsts else None

    def length_at(self, text: str, start: int) -> int:
        """Return the length of the longest name at an offset, 0 for none."""
        for length in self._lengths.get(text[start : start + 2], ()):
            name = text[start : start + length]  # shorter at the end of the text
            if name in self.names:
                return len(name)
        return int(text[start : start + 1] in self.names)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the (start, end) of names, without overlap."""
        end = 0
        for match in self._heads.finditer(text) if self._heads else ():
            start = match.start()
            if start >= end and (length := self.length_at(text, start)):
                end = start + length
                yield start, end

    def is_in(self, text: str) -> bool:
        """Return whether a text contains a name."""
        if len(self._firsts) <= _FEW:  # one by one: a pattern takes ten times as long
            for first in self._firsts:
                if first in text:
                    break
            else:
                return False
        return next(self.spans(text), None) is not None

    def cut(self, text: str) -> Iterator[tuple[int, str | Special]]:
        """Yield (start, part) of each name that a text contains, as a special token, and of the text between
        them."""
        at = 0
        for start, end in self.spans(text):
            if start > at:
                yield at, text[at:start]
            yield start, Special(text[start:end], start, end)
            at = end
        if at < len(text):
            yield at, text[at:]


NO_NAMES = NameFinder(())
"""Finds nothing."""
