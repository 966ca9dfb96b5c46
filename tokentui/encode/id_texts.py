"""The text of each id in flat arrays, from which a kernel decodes many ids at once.

The table is for decoders that turn each token into a text alone. The first and the last token of a text may
have other texts than those between. What the kernel cannot decode, plain Python decodes: `Decoder`.
"""

from __future__ import annotations

import contextlib
import itertools
import marshal
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tokentui.core.arrays import flat
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check, in_blocks

if TYPE_CHECKING:
    from tokentui.encode.kernels.decode import Numbers, Texts

FEW = 32
"""Fewer ids than this are decoded in plain Python, which is as fast."""
_WIDTHS = {"H": 2, "i": 4, "I": 4, "l": 8, "L": 8, "q": 8, "Q": 8}
"""The bytes of an id in a buffer, by its format letter on systems with kernels. Numbers of 16 bits with a
sign are not among them: -1 would be 65,535."""
_MOST_ROWS = 1 << 26
"""The most rows of a table. Ids of a file may be any numbers, and a row for each up to the largest is room
for many that do not exist."""
PIECE = 1 << 17
"""The ids that are decoded between two checks of the job. A run of byte tokens is not cut."""
_HEAD, _ITEM, _TAG = 5, 5, ord("i")
"""The bytes before the items of a list in format 2 of `marshal`, and those of a whole number: its tag and 32
bits."""


class Spelling(NamedTuple):
    """How a decoder turns each token alone into a text.

    Attributes:
        ids: All ids, without repetition.
        texts: Returns the text of each id of a list, the first and the last of which begin and end a text.
            None for an id that is left to plain Python.
        bytes_: The byte of each byte token, for a decoder that decodes a run of them as a whole.
    """

    ids: Sequence[int]
    texts: Callable[[Sequence[int]], Sequence[bytes | None] | None]
    bytes_: Mapping[int, int]


class IdTexts:
    """The text of each id between two others.

    Attributes:
        spelling: How the decoder turns tokens into texts.
    """

    def __init__(self, spelling: Spelling, texts: Texts) -> None:
        self.spelling = spelling
        self._texts = texts

    @classmethod
    def of(cls, spelling: Spelling) -> IdTexts | None:
        """Return the table; None if the decoder does not turn each token alone into a text, or an id is too
        large."""
        from tokentui.encode.kernels.decode import BYTE, KIND_BITS, LEFT, Texts

        ids = spelling.ids
        if len(ids) < 2 or min(ids) < 0 or max(ids) >= min(_MOST_ROWS, 64 * len(ids) + (1 << 16)):
            return None
        found = None
        with contextlib.suppress(TokentuiError):  # of a name that no text may have: all in a row raise it
            found = spelling.texts([ids[0], *ids, ids[0]])
        if found is None:
            return None
        texts: list[bytes] = [b""] * (max(ids) + 1)
        kinds = bytearray([LEFT]) * len(texts)
        for rows_of in in_blocks(zip(ids, found[1:-1], strict=True)):
            for number, text in rows_of:
                if text is not None:
                    texts[number], kinds[number] = text, 0
        for number, value in spelling.bytes_.items():
            if kinds[number] != LEFT:
                texts[number], kinds[number] = bytes((value,)), BYTE
        places = itertools.accumulate(map(len, texts), initial=0)
        rows = array("Q", [
            place << KIND_BITS | kind
            for place, kind in zip(places, itertools.chain(kinds, (0,)), strict=True)
        ])
        return cls(spelling, Texts(rows, b"".join(texts) + bytes(8)))

    def joined(self, ids: object, *, every: bool) -> memoryview | None:
        """Return the texts of ids one after the other.

        Args:
            ids: The ids.
            every: In a run of byte tokens that is not UTF-8 as a whole, True to give U+FFFD for each; False
                to keep the bytes from 128 on.

        Returns:
            The bytes; None if plain Python has to decode the ids, or to find what is wrong with them.

        Raises:
            Cancelled: The job is cancelled.
        """
        from tokentui.encode.kernels.decode import NOT_FOUND, gather, measure

        numbers = numbers_in(ids)
        if numbers is None or numbers.size < FEW:
            return None
        ends = self._ends(numbers)
        if ends is None:
            return None
        front, back, rest = ends
        pieces, size = list(self._pieces(rest)), 0
        for piece in pieces:
            check()
            if (more := measure(piece, self._texts)) == NOT_FOUND:
                return None
            size += more
        out: memoryview = flat("uint8", size + 8)
        size = 0
        for piece in pieces:
            check()
            size += gather(piece, self._texts, int(every), out[size:])
        if front or back:
            return memoryview(b"".join((front, out[:size], back)))
        return out[:size]

    def _pieces(self, numbers: Numbers) -> Iterator[Numbers]:
        """Yield ids in pieces that end after a token that is no byte token."""
        start, last = 0, numbers.size
        while start < last:
            end = min(start + PIECE, last)
            while end < last and _number_at(numbers, end - 1) in self.spelling.bytes_:
                end += 1
            yield numbers._replace(start=numbers.start + start * numbers.stride, size=end - start)
            start = end

    def _ends(self, numbers: Numbers) -> tuple[bytes, bytes, Numbers] | None:
        """Return the texts of the first and the last id that differ from those in the table, and the other
        ids; None if plain Python has to decode them."""
        pair = [_number_at(numbers, at) for at in (0, numbers.size - 1)]
        between = list(map(self._text, pair))
        ends = None if None in between else self.spelling.texts(pair)
        if ends is None or None in ends:
            return None
        start, count, apart = numbers.start, numbers.size, [b"", b""]
        for side, (number, end, text) in enumerate(zip(pair, ends, between, strict=True)):
            if end is not None and end != text and number not in self.spelling.bytes_:
                apart[side] = end
                start, count = start + (0 if side else numbers.stride), count - 1
        return apart[0], apart[1], numbers._replace(start=start, size=count)

    def _text(self, number: int) -> bytes | None:
        """Return the text of an id; None if the table has none."""
        from tokentui.encode.kernels.decode import KIND_BITS, LEFT

        rows = self._texts.rows
        if number >= len(rows) - 1 or rows[number] & ((1 << KIND_BITS) - 1) == LEFT:
            return None
        text: bytes = self._texts.text[rows[number] >> KIND_BITS : rows[number + 1] >> KIND_BITS]
        return text


def numbers_in(ids: object) -> Numbers | None:
    """Return the whole numbers of a list or buffer as a kernel reads them; None if it is neither, or other
    values are in it.

    `marshal` writes a list in less time than `array` takes to read it, and tells True from 1: 5.4 ms for
    half a million ids, 7.6 with `array`.
    """
    from tokentui.encode.kernels.decode import Numbers

    if isinstance(ids, list | tuple):
        count = len(ids)
        try:
            if count <= PIECE:
                data = marshal.dumps(ids, 2)
            else:  # a call for all would hold the lock of the interpreter for long
                parts = [bytes(_HEAD)]
                for start in range(0, count, PIECE):
                    check()
                    parts.append(marshal.dumps(ids[start : start + PIECE], 2)[_HEAD:])
                data = b"".join(parts)
        except ValueError:  # objects of another kind
            return None
        return Numbers(data, _HEAD + 1, _ITEM, 4, count, _TAG) if len(data) == _HEAD + _ITEM * count else None
    if not hasattr(ids, "tolist"):  # bytes are no ids
        return None
    try:
        view = memoryview(ids)  # type: ignore[arg-type]
        width = _WIDTHS.get(view.format)
    except (TypeError, ValueError, BufferError):
        return None
    if width != view.itemsize or view.ndim != 1:
        return None
    return Numbers(view if view.c_contiguous else view.tobytes(), 0, width, width, len(view), -1)


def _number_at(numbers: Numbers, at: int) -> int:
    """Return an id, without its sign."""
    start = numbers.start + at * numbers.stride
    return int.from_bytes(memoryview(numbers.data).cast("B")[start : start + numbers.width], "little")
