"""sentencepiece's precompiled normalisation: a trie of sequences and what each becomes.

The blob is the size of the trie in bytes, the trie as units of a double array (the format of Darts-clone), then the results, each
ended by a zero byte.
"""

from __future__ import annotations

import array
import struct
import sys
from collections.abc import Iterator

import regex

from tokentui.formats.checking import Place
from tokentui.formats.limits import LONGEST_RESULT

_GRAPHEME = regex.compile(r"\X")
_MOST_RESULTS = 32
_SHORT = 6
"""Hugging Face's library looks up a whole grapheme only below so many bytes."""


class Charsmap:
    """The rules of a blob.

    Args:
        blob: The bytes as the file has them.
        place: Where they stand, for errors.

    Raises:
        TokentuiError: The sizes do not fit.
    """

    def __init__(self, blob: bytes, place: Place) -> None:
        if len(blob) < 4:
            raise place.error("the normalisation rules are cut off")
        (size,) = struct.unpack_from("<I", blob)
        if size % 4 or size >= len(blob) - 3 or not size:
            raise place.error("the normalisation rules are damaged: the size of their trie does not fit")
        self._units = array.array("I", blob[4 : 4 + size])
        if sys.byteorder == "big":
            self._units.byteswap()
        self._results = blob[4 + size :]
        if max(map(len, self._results.split(b"\0"))) > LONGEST_RESULT:
            raise place.error("the normalisation rules are damaged: one makes too long a text")
        if not self._results.endswith(b"\0"):
            raise place.error("the normalisation rules are damaged: the last result has no end")
        if not _fits(self._units, len(self._results)):
            raise place.error("the normalisation rules are damaged: one points outside of them")
        self._known: dict[str, str | None] = {}

    def matches(self, key: bytes, start: int = 0) -> list[tuple[int, bytes]]:
        """(length, result) of each rule for what the key has from `start` on, the shortest first."""
        units, size = self._units, len(self._units)
        found: list[tuple[int, bytes]] = []
        node = _offset(units[0])
        for at in range(start, len(key)):
            node ^= key[at]
            if node >= size:
                break
            unit = units[node]
            if unit & 0x800000FF != key[at]:  # the label, and that it is no leaf
                break
            node ^= _offset(unit)
            if unit & 0x100:  # it has a leaf: a rule ends here
                if node >= size:
                    break
                place = units[node] & 0x7FFFFFFF
                end = self._results.find(b"\0", place)
                found.append((at + 1 - start, self._results[place : end if end >= 0 else len(self._results)]))
                if len(found) == _MOST_RESULTS:
                    break
        return found

    def longest(self, key: bytes, start: int) -> tuple[int, bytes] | None:
        """The longest rule, as sentencepiece takes it."""
        found = self.matches(key, start)
        return found[-1] if found else None

    def by_grapheme(self, text: str) -> Iterator[tuple[str, int, int]]:
        """(made, start, end) of each piece, as Hugging Face's library does it: short graphemes whole, else by character.

        It takes the shortest rule that matches and gives its result for the whole of what was looked up.
        """
        at = 0
        for grapheme in text if text.isascii() else _GRAPHEME.findall(text):
            end = at + len(grapheme)
            made = self._made(grapheme) if len(grapheme) == 1 or len(grapheme.encode("utf-8", "surrogatepass")) < _SHORT else None
            if made is not None:
                yield made, at, end
            elif len(grapheme) == 1:
                yield grapheme, at, end
            else:
                for n, character in enumerate(grapheme, at):
                    one = self._made(character)
                    yield character if one is None else one, n, n + 1
            at = end

    def _made(self, text: str) -> str | None:
        if text not in self._known:
            if len(self._known) > 1 << 16:
                self._known.clear()
            found = self.matches(text.encode("utf-8", "surrogatepass"))
            self._known[text] = found[0][1].decode("utf-8", "replace") if found else None
        return self._known[text]


def _fits(units: array.array[int], results: int) -> bool:
    """Whether each leaf of a trie points into the results, and each other unit into the trie."""
    size = len(units)
    if max((unit & 0x7FFFFFFF for unit in units if unit >> 31), default=0) >= results:
        return False
    return all(unit >> 31 or at ^ (unit >> 10) << ((unit & 0x200) >> 6) < size for at, unit in enumerate(units))


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)
