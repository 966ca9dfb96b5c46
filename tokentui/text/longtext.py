"""A long document as the UTF-8 that it was read as: kernels take its bytes, all others decode what they look at.

Python's own text takes up to four bytes a character for the sake of a single one, and to decode a large file in one call holds up
every other thread.
"""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import overload

LONG_BYTES = 1 << 18
"""A shorter document is better kept as text."""
_BLOCK = 1 << 14
_STRIDE = 1 << 18


class LongText:
    """A document of valid UTF-8. It is measured and sliced in characters, as text is.

    Args:
        data: The bytes of a file, which are not changed from now on.
        start: Where the text begins in them: after a byte order mark.
        check: Called now and then; what it raises ends the work.

    Raises:
        UnicodeDecodeError: It is not valid UTF-8.
    """

    __slots__ = ("_before", "_borders", "_start", "_stop", "_whole", "data")

    def __init__(self, data: bytes | memoryview, start: int = 0, check: Callable[[], object] = bool) -> None:
        self.data = memoryview(data)
        self._start, self._stop = start, len(data)
        self._whole: str | None = None
        # The borders of blocks, in bytes, and how many characters stand before each.
        self._borders, self._before = array("q", [0]), array("q", [0])
        at = characters = 0
        while at < self.size:
            end = self.border(at + _BLOCK)
            block = bytes(self.data[start + at : start + end])
            characters += len(block) if block.isascii() else len(block.decode())
            at = end
            self._borders.append(at)
            self._before.append(characters)
            if len(self._before) % 64 == 0:
                check()

    def __reduce__(self) -> tuple[type[LongText], tuple[bytes, int]]:
        return LongText, (bytes(self.data), self._start)

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self._stop - self._start

    def utf8(self, start: int, stop: int) -> memoryview:
        """The bytes from one place, in bytes, up to another."""
        return self.data[self._start + start : self._start + min(stop, self.size)]

    def border(self, at: int) -> int:
        """The place, in bytes, where the character begins to which the byte at a place belongs; the end for one past it."""
        if at >= self.size:
            return self.size
        for place in range(at, max(at - 4, 0), -1):
            if self.data[self._start + place] & 0xC0 != 0x80:
                return place
        return at if at > 3 else 0  # not UTF-8, as decoding will tell

    def whole(self) -> str:
        """The text in one piece, which is kept."""
        if self._whole is None:
            self._whole = str(self.utf8(0, self.size), "utf-8")
        return self._whole

    def __len__(self) -> int:
        return self._before[-1]

    def __getitem__(self, wanted: slice) -> str:
        start, stop, _ = wanted.indices(len(self))
        if start >= stop:
            return ""
        first, last = bisect.bisect_right(self._before, start) - 1, bisect.bisect_left(self._before, stop)
        text = str(self.utf8(self._borders[first], self._borders[last]), "utf-8")
        return text[start - self._before[first] : stop - self._before[first]]

    def find(self, text: str, start: int = 0) -> int:
        """As `str.find`."""
        for at in range(start, len(self) + 1, _STRIDE):
            found = self[at : at + _STRIDE + len(text) - 1].find(text)
            if found >= 0:
                return at + found
        return -1

    def rfind(self, text: str, start: int = 0, stop: int | None = None) -> int:
        """As `str.rfind`, without places counted from the end."""
        end = len(self) if stop is None else min(stop, len(self))
        while start <= end:
            at = max(start, end - _STRIDE)
            found = self[at:end].rfind(text)
            if found >= 0:
                return at + found
            if at == start:
                break
            end = min(end, at + len(text) - 1)  # the part of one that begins before is looked at again
        return -1


class Documents(Sequence[str]):
    """The texts of documents, of which a long one is decoded as a whole when it is asked for."""

    def __init__(self, texts: Sequence[str | LongText]) -> None:
        self.texts = tuple(texts)

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...

    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        chosen = self.texts[index]
        return tuple(map(whole, chosen)) if isinstance(chosen, tuple) else whole(chosen)

    def __iter__(self) -> Iterator[str]:
        return map(whole, self.texts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


def safe_cut(text: str | LongText, at: int, cut: Callable[[str, int], int]) -> int:
    """What `cut(text, at)` says: the first safe place from `at` on, for which it looks at the characters beside a place alone."""
    if isinstance(text, str):
        return cut(text, at)
    start, window = max(at - 1, 0), 256
    place = cut(text[start : start + window], at - start)
    while place == window and start + window < len(text):
        start += window - 1
        window *= 2
        place = cut(text[start : start + window], 1)
    return min(start + place, len(text))


def whole(text: str | LongText) -> str:
    """A document as text."""
    return text if isinstance(text, str) else text.whole()
