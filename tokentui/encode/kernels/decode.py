"""Kernels that write the texts of ids one after the other."""

from __future__ import annotations

from typing import Any, NamedTuple

from tokentui.core.native import (
    I64,
    U64,
    Int32s,
    Int64s,
    Reused,
    Uint8s,
    Uint64s,
    Windows,
    helper,
    inlined,
    kernel,
)

SHORT = 15
"""The most bytes of a text that is in its row."""
LONG, BYTE, LEFT = 16, 17, 18
"""The kinds of a row beside the sizes of short texts: a text of more bytes, the byte of a byte token, and an
id that is left to plain Python."""
KIND_BITS = 8
"""The low bits of the first number of a row, which are its kind. The others are a short text, the first byte
lowest, whose last 8 bytes are the second number; the number of a long text; or the byte of a byte token."""
NOT_FOUND = -1
"""The result of `gather` for ids that the table does not have."""

_U = U64
_ONE, _TWO, _THREE, _FOUR, _FIVE, _SIX, _SEVEN = map(_U, range(1, 8))
_WORD, _INT = _U(2), _U(4)
_EIGHT, _SIXTEEN, _TWENTY_FOUR, _THIRTY_TWO = _U(8), _U(16), _U(24), _U(32)
_FORTY, _FORTY_EIGHT, _FIFTY_SIX = _U(40), _U(48), _U(56)
_LOW, _KIND_BITS = _U(0xFF), _U(KIND_BITS)
_FFFD = _U(0xBDBFEF)  # its bytes EF BF BD, the first one lowest


class Numbers(NamedTuple):
    """Ids in memory.

    Attributes:
        data: The bytes, the lowest byte of a number first.
        width: The bytes of an id: 2, 4 or 8.
        size: How many ids.
    """

    data: Uint8s
    width: int
    size: int


class _Texts(NamedTuple):
    """The text of each id.

    Attributes:
        rows: The row of each id, two numbers: its kind, and its text or where that is.
        ends: A 0, then where each text ends.
        text: The texts one after the other, with 16 bytes more.
    """

    rows: Uint64s
    ends: Int64s
    text: Windows


class Texts(Reused, _Texts):
    """A `_Texts` whose argument words are computed once."""


@kernel
def put_texts(ids: Int64s, texts: Texts) -> None:
    """Write the rows of a table. The other ids are left to plain Python.

    Args:
        ids: The ids of the texts.
        texts: The table, whose rows are written.
    """
    rows, ends, text = texts.rows, texts.ends, texts.text
    rows[:] = _U(LEFT)
    for n in range(len(ids)):
        place, row = _U(ends[n]), _U(ids[n]) << _ONE
        size = ends[n + 1] - ends[n]
        if size <= SHORT:
            rows[row] = text[place] << _KIND_BITS | _U(size)
            rows[row + _ONE] = text[place + _SEVEN]
        else:
            rows[row] = _U(n) << _KIND_BITS | _U(LONG)


@kernel
def find_flags(values: Int32s, places: Int32s) -> int:
    """Write where numbers are 0 or 1. Return how many are."""
    count = 0
    for n in range(len(values)):
        if values[n] >> 1 == 0:
            places[count] = n
            count += 1
    return count


@inlined
def number_at(data: Any, at: Any, width: Any) -> Any:
    """Return the number of 2, 4 or 8 bytes at a place, the low byte first."""
    value = _U(data[at]) | _U(data[at + _ONE]) << _EIGHT
    if width != _WORD:
        value |= _U(data[at + _TWO]) << _SIXTEEN | _U(data[at + _THREE]) << _TWENTY_FOUR
        if width != _INT:
            value |= _U(data[at + _FOUR]) << _THIRTY_TWO | _U(data[at + _FIVE]) << _FORTY
            value |= _U(data[at + _SIX]) << _FORTY_EIGHT | _U(data[at + _SEVEN]) << _FIFTY_SIX
    return value


@kernel
def gather(
    numbers: Numbers, first: int, last: int, texts: Texts, every: int, out: Windows, filled: int
) -> tuple[int, int]:
    """Write the texts of ids, until the room is full. In a run of byte tokens that is not UTF-8 as a whole,
    each gives U+FFFD.

    Args:
        numbers: The ids.
        first, last: The range of ids to write. A run of byte tokens is written to its end.
        texts: The table.
        every: 0 to keep the bytes from 128 on in such a run, so that only those below give U+FFFD.
        out: Receives the texts.
        filled: The bytes written so far.

    Returns:
        (the id to continue with, less than `last` if the room is full; the bytes written so far).
        `NOT_FOUND` as the first if an id has no text in the table.
    """
    data, width, rows, ends, text = numbers.data, _U(numbers.width), texts.rows, texts.ends, texts.text
    known, room, at = _U(len(rows) // 2), _U(len(out)), _U(first) * _U(numbers.width)
    here = begin = _U(filled)  # the run of byte tokens that ends here begins there
    n = first
    while n < last or (begin != here and n < numbers.size):
        number = number_at(data, at, width)
        if number >= known:
            return NOT_FOUND, 0
        row = rows[number << _ONE]
        kind = row & _LOW
        if kind >= LONG:
            if kind == BYTE:
                if begin + _THREE * (here + _ONE - begin) >= room:
                    return n - I64(here - begin), I64(begin)
                out[here] = row >> _KIND_BITS
                here += _ONE
                at += width
                n += 1
                continue
            if kind == LEFT:
                return NOT_FOUND, 0
        if begin != here:
            here = checked(out, begin, here, every)
            begin = here
        if kind <= SHORT:
            if here + _SIXTEEN > room:
                break
            out[here] = row >> _KIND_BITS
            out[here + _SEVEN] = rows[(number << _ONE) + _ONE]
            here += kind
        else:
            place, end = _U(ends[row >> _KIND_BITS]), _U(ends[(row >> _KIND_BITS) + _ONE])
            end = here + end - place
            if end >= room:
                break
            while here < end:
                out[here] = text[place]
                here += _EIGHT
                place += _EIGHT
            here = end
        begin = here
        at += width
        n += 1
    if begin != here:
        here = checked(out, begin, here, every)
    return n, I64(here)


@helper
def checked(out: Any, begin: Any, end: Any, every: int) -> Any:
    """Replace the bytes of a run that is not UTF-8. Return where it ends then."""
    if is_utf8(out, begin, end):
        return end
    replaced = _U(0)
    for n in range(I64(begin), I64(end)):
        if every or out[_U(n)] & _LOW < 0x80:
            replaced += _ONE
    last = end + replaced * _TWO
    to = last
    for n in range(I64(end) - 1, I64(begin) - 1, -1):  # backward, since there are more bytes than before
        byte = out[_U(n)] & _LOW
        size = _THREE if every or byte < 0x80 else _ONE
        to -= size
        put(out, to, _FFFD if size == _THREE else byte, size)
    return last


@helper
def put(out: Any, at: Any, value: Any, size: Any) -> None:
    """Write the lowest bytes of a number, and nothing after them."""
    kept = ~_U(0) << size * _EIGHT
    out[at] = out[at] & kept | value


@helper
def is_utf8(out: Any, begin: Any, end: Any) -> bool:
    """Return whether bytes are UTF-8 (Unicode 15, table 3-7)."""
    at = begin
    while at < end:
        lead = out[at] & _LOW
        if lead < 0x80:
            at += _ONE
            continue
        if lead < 0xC2 or lead > 0xF4:
            return False
        size = _TWO if lead < 0xE0 else _THREE if lead < 0xF0 else _FOUR
        if at + size > end:
            return False
        second = out[at + _ONE] & _LOW
        least = 0xA0 if lead == 0xE0 else 0x90 if lead == 0xF0 else 0x80
        most = 0x9F if lead == 0xED else 0x8F if lead == 0xF4 else 0xBF
        if second < least or second > most:
            return False
        at += _TWO
        for _ in range(I64(size) - 2):
            if out[at] & _U(0xC0) != 0x80:
                return False
            at += _ONE
    return True
