"""The text of each id in flat arrays, from which a kernel decodes many ids at once.

The table is for decoders that turn each token into a text alone. The first and the last token of a text may
have other texts than those between. What the kernel cannot decode, plain Python decodes: `Decoder`.
"""

from __future__ import annotations

import contextlib
import itertools
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tokentui.core.arrays import flat
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check

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
LISTED = 1 << 20
"""The items of a list that are read between two checks of the job. To slice a shorter list takes longer than
to read it."""
_KIND = 0xFF
"""The kind of a row."""
_ROOM = 6
"""Bytes of room for each id at first, more than most texts have."""


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
        from tokentui.encode.kernels.decode import BYTE, KIND_BITS, LEFT, Texts, put_texts

        ids = spelling.ids
        if len(ids) < 2 or min(ids) < 0 or max(ids) >= min(_MOST_ROWS, 64 * len(ids) + (1 << 16)):
            return None
        found = None
        with contextlib.suppress(TokentuiError):  # of a name that no text may have: all in a row raise it
            found = spelling.texts([ids[0], *ids, ids[0]])
        if found is None:
            return None
        found = found[1:-1]
        if None in found:
            ids = [number for number, text in zip(ids, found, strict=True) if text is not None]
        known = [text for text in found if text is not None]
        ends = array("q", itertools.accumulate(map(len, known), initial=0))
        texts = Texts(flat("uint64", 2 * max(spelling.ids) + 2), ends, b"".join(known) + bytes(16))
        put_texts(array("q", ids), texts)
        for number, value in spelling.bytes_.items():
            if texts.rows[2 * number] & _KIND != LEFT:
                texts.rows[2 * number] = value << KIND_BITS | BYTE
        return cls(spelling, texts)

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
        from tokentui.encode.kernels.decode import NOT_FOUND, gather

        numbers = numbers_in(ids)
        if numbers is None or numbers.size < FEW:
            return None
        ends = self._ends(numbers)
        if ends is None:
            return None
        front, back, start, stop = ends
        out, filled = _room(_ROOM * numbers.size), 0
        while start < stop:
            check()
            last = min(start + PIECE, stop)
            start, filled = gather(numbers, start, last, self._texts, int(every), out, filled)
            if start == NOT_FOUND:
                return None
            if start < last:
                out, full = _room(2 * len(out)), out
                out[:filled] = full[:filled]
        if front or back:
            return memoryview(b"".join((front, out[:filled], back)))
        return out[:filled]

    def _ends(self, numbers: Numbers) -> tuple[bytes, bytes, int, int] | None:
        """Return the texts of the first and the last id that differ from those in the table, and the range of
        the other ids; None if plain Python has to decode them."""
        pair = [_number_at(numbers, at) for at in (0, numbers.size - 1)]
        between = list(map(self._text, pair))
        ends = None if None in between else self.spelling.texts(pair)
        if ends is None or None in ends:
            return None
        start, stop, apart = 0, numbers.size, [b"", b""]
        for side, (number, end, text) in enumerate(zip(pair, ends, between, strict=True)):
            if end is not None and end != text and number not in self.spelling.bytes_:
                apart[side] = end
                start, stop = start + (not side), stop - side
        return apart[0], apart[1], start, stop

    def _text(self, number: int) -> bytes | None:
        """Return the text of an id; None if the table has none."""
        from tokentui.encode.kernels.decode import BYTE, KIND_BITS, LEFT, LONG, SHORT

        rows, ends, text = self._texts
        row: int = rows[2 * number] if 2 * number < len(rows) else LEFT
        kind, value = row & _KIND, row >> KIND_BITS
        if kind == LEFT:
            return None
        if kind == LONG:
            return bytes(text[ends[value] : ends[value + 1]])
        if kind == BYTE:
            return bytes((value,))
        rest: int = rows[2 * number + 1]
        return (value | rest << 56).to_bytes(SHORT, "little")[:kind]


def numbers_in(ids: object) -> Numbers | None:
    """Return the whole numbers of a list or buffer as a kernel reads them; None if it is neither, or other
    values are in it."""
    from tokentui.encode.kernels.decode import Numbers

    if isinstance(ids, list | tuple):
        values = _listed(ids)
        return None if values is None else Numbers(values, values.itemsize, len(values))
    if not hasattr(ids, "tolist"):  # bytes are no ids
        return None
    try:
        view = memoryview(ids)  # type: ignore[arg-type]
        width = _WIDTHS.get(view.format)
    except (TypeError, ValueError, BufferError):
        return None
    if width != view.itemsize or view.ndim != 1:
        return None
    return Numbers(view if view.c_contiguous else view.tobytes(), width, len(view))


def _listed(ids: list[int] | tuple[int, ...]) -> array[int] | None:
    """Return the ids of a list; None if there are other values among them, or one below 0.

    `array` takes three times as long for the type code of numbers with a sign.
    """
    from tokentui.encode.kernels.decode import find_flags

    values = array("I")
    for start in range(0, len(ids), LISTED):
        check()
        part = ids if len(ids) <= LISTED else ids[start : start + LISTED]
        try:
            read = array("I", part)
        except Exception:  # plain Python raises it again
            return None
        places = flat("int32", len(read))
        flags = places[: find_flags(read, places)]
        if bool in map(type, map(part.__getitem__, flags)):  # `array` takes True for 1
            return None
        if values:
            values += read
        else:
            values = read
    return values


def _room(size: int) -> memoryview:
    """Return memory for a text. The memory of an earlier one is used again, as pages would not be."""
    return memoryview(bytearray(size + 8))


def _number_at(numbers: Numbers, at: int) -> int:
    """Return an id, without its sign."""
    data, start = memoryview(numbers.data).cast("B"), at * numbers.width
    return int.from_bytes(data[start : start + numbers.width], "little")
