"""Texts and words that are kept as UTF-8 and decoded where they are looked at, and documents cut into pieces.

Python's own text takes up to four bytes a character for the sake of a single one, and to decode a large file
in one call holds up every other thread.
"""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, overload

from tokentui.core.jobs import check

_BLOCK = 1 << 14
_STRIDE = 1 << 18
WINDOW = 1 << 8
"""Bytes of a long text that a safe cut is looked for in at first."""

Place = tuple[int, int]
"""A document by its number, and a character in it; in a long text a byte."""


class LongText:
    """A document of valid UTF-8. It is measured and sliced in characters, as text is.

    Args:
        data: The bytes of a file, which are not changed from now on.
        start: Where the text begins in them: after a byte order mark.

    Raises:
        UnicodeDecodeError: It is not valid UTF-8.
        Cancelled: The job is cancelled.
    """

    __slots__ = ("_before", "_borders", "_start", "_stop", "_whole", "data")

    def __init__(self, data: bytes | memoryview, start: int = 0) -> None:
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
        """The number of bytes."""
        return self._stop - self._start

    def utf8(self, start: int, stop: int) -> memoryview:
        """The bytes from one place, in bytes, up to another."""
        return self.data[self._start + start : self._start + min(stop, self.size)]

    def border(self, at: int) -> int:
        """The place, in bytes, where the character begins to which the byte at a place belongs; the end for
        one past it."""
        if at >= self.size:
            return self.size
        for place in range(at, max(at - 4, 0), -1):
            if self.data[self._start + place] & 0xC0 != 0x80:
                return place
        return at if at > 3 else 0  # not UTF-8, as decoding will tell

    def part(self, start: int, stop: int) -> str:
        """The text from one place, in bytes, up to another."""
        return str(self.utf8(start, stop), "utf-8")

    def whole(self) -> str:
        """The text in one piece, which is kept."""
        if self._whole is None:
            self._whole = self.part(0, self.size)
        return self._whole

    def __len__(self) -> int:
        return self._before[-1]

    def __getitem__(self, wanted: slice) -> str:
        start, stop, _ = wanted.indices(len(self))
        if start >= stop:
            return ""
        first, last = bisect.bisect_right(self._before, start) - 1, bisect.bisect_left(self._before, stop)
        text = self.part(self._borders[first], self._borders[last])
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
        return tuple(map(whole_text, chosen)) if isinstance(chosen, tuple) else whole_text(chosen)

    def __iter__(self) -> Iterator[str]:
        return map(whole_text, self.texts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


def whole_text(text: str | LongText) -> str:
    """Return a document as one text."""
    return text if isinstance(text, str) else text.whole()


def size_of(document: str | LongText) -> int:
    """The length of a document in the unit of its places: characters, or bytes of a long text."""
    return document.size if isinstance(document, LongText) else len(document)


def safe_cut(document: str | LongText, at: int, cut: Callable[[str, int], int]) -> int:
    """The first place from `at` on, 0 excluded, before which a document may be cut; its size where there is
    none.

    Args:
        document: The document.
        at: A place in it.
        cut: The same for a text. It decides on a place by the characters before and after it.
    """
    if isinstance(document, str):
        return cut(document, at)
    start, window = document.border(max(at - 1, 0)), WINDOW
    while start < document.size:
        stop = document.border(start + window)
        text = document.part(start, stop)
        place = cut(text, 1)
        if place < len(text) or stop == document.size:
            return start + len(text[:place].encode())
        start = document.border(max(start, stop - 1))
        window *= 2
    return document.size


def pieces(
    documents: Sequence[str | LongText],
    cut: Callable[[str, int], int],
    size: int,
    start: Place = (0, 0),
    end: Place | None = None,
) -> Iterator[tuple[str | LongText, int, int]]:
    """The documents between two places in pieces: (document, its first place, the place of its end).

    Args:
        documents: The documents.
        cut: See `safe_cut`.
        size: About how long the pieces of a long document are.
        start: Where to begin.
        end: Where to end; after the last document where None.
    """
    number, at = start
    last = (len(documents), 0) if end is None else end
    while (number, at) < last:
        document = documents[number]
        length = size_of(document)
        stop = last[1] if number == last[0] else length
        if stop - at > 2 * size:
            stop = min(stop, safe_cut(document, at + size, cut))
        if stop > at:
            yield document, at, stop
        number, at = (number, stop) if stop < length else (number + 1, 0)


class CountedWords(Sequence[str]):
    """Distinct words in order of first appearance, in flat arrays. A trainer that is compiled takes these.

    Args:
        text: The words one after the other: UTF-8, a lone surrogate in three bytes.
        ends: Where each word ends in it, a 0 before the first: an array of int64.
        counts: How often each stands: an array of int64.
    """

    def __init__(self, text: bytes, ends: Any, counts: Any) -> None:
        self.text, self.ends, self.counts = text, ends, counts
        self._words: tuple[str, ...] | None = None

    def _made(self) -> tuple[str, ...]:
        if self._words is None:
            import numpy as np  # whoever made the arrays has it; a trainer without kernels has not

            text = self.text.decode("utf-8", "surrogatepass")
            ends = self.ends
            if len(text) < len(self.text):  # places in characters: count those bytes that go not on with one
                starts = np.cumsum((np.frombuffer(self.text, np.uint8) & 0xC0) != 0x80, dtype=np.int64)
                ends = np.concatenate((ends[:1], starts[ends[1:] - 1]))
            self._words = tuple([text[start:end] for start, end in pairwise(ends.tolist())])
        return self._words

    def __len__(self) -> int:
        return len(self.counts)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...

    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        return self._made()[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._made() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._made())
