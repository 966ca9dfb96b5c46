"""Kernels that write the texts of ids one after the other.

Ids are read where they are: in an array of whole numbers, or in what `marshal` makes of a list.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tokentui.core.native import I64, U64, Reused, Uint8s, Uint64s, Windows, helper, inlined, kernel

PLAIN, BYTE, LEFT = 0, 1, 2
"""The kinds of a row: a text, the byte of a byte token, and an id that is left to plain Python."""
KIND_BITS = 2
"""The low bits of a row, which are its kind. The others are the place of its text."""
NOT_FOUND = -1
"""The result of `measure` for ids that the table does not have."""
_REPLACED = 3
"""The bytes of U+FFFD."""

_U = U64
_ONE, _TWO, _THREE, _FOUR, _FIVE, _SIX, _SEVEN = map(_U, range(1, 8))
_SHORT, _INT = _U(2), _U(4)
_EIGHT, _SIXTEEN, _TWENTY_FOUR, _THIRTY_TWO = _U(8), _U(16), _U(24), _U(32)
_FORTY, _FORTY_EIGHT, _FIFTY_SIX = _U(40), _U(48), _U(56)
_KIND, _LOW = _U(3), _U(0xFF)
_FFFD = _U(0xBDBFEF)  # its bytes EF BF BD, the first one lowest


class Numbers(NamedTuple):
    """Ids in memory.

    Attributes:
        data: The bytes.
        start: The offset of the first id.
        stride: The bytes from one id to the next.
        width: The bytes of an id: 2, 4 or 8.
        size: How many ids.
        tag: The byte that is before each id; -1 for none.
    """

    data: Uint8s
    start: int
    stride: int
    width: int
    size: int
    tag: int


class _Texts(NamedTuple):
    """The text of each id.

    Attributes:
        rows: The place of each text, shifted left by `KIND_BITS`, and its kind; and the place after the last.
        text: The texts one after the other, with 8 bytes more.
    """

    rows: Uint64s
    text: Windows


class Texts(Reused, _Texts):
    """A `_Texts` whose argument words are computed once."""




@inlined
def number_at(data: Any, at: Any, width: Any) -> Any:
    """Return the number of 2, 4 or 8 bytes at a place, the low byte first."""
    value = _U(data[at]) | _U(data[at + _ONE]) << _EIGHT
    if width != _SHORT:
        value |= _U(data[at + _TWO]) << _SIXTEEN | _U(data[at + _THREE]) << _TWENTY_FOUR
        if width != _INT:
            value |= _U(data[at + _FOUR]) << _THIRTY_TWO | _U(data[at + _FIVE]) << _FORTY
            value |= _U(data[at + _SIX]) << _FORTY_EIGHT | _U(data[at + _SEVEN]) << _FIFTY_SIX
    return value


@kernel
def measure(numbers: Numbers, texts: Texts) -> int:
    """Return how many bytes `gather` may write; `NOT_FOUND` if an id has no text in the table, or another tag
    is before it."""
    data, rows, width = numbers.data, texts.rows, _U(numbers.width)
    at, stride, known = _U(numbers.start), _U(numbers.stride), _U(len(rows) - 1)
    total = I64(0)
    for _ in range(numbers.size):
        if numbers.tag >= 0 and data[at - _ONE] != numbers.tag:
            return NOT_FOUND
        number = number_at(data, at, width)
        if number >= known:
            return NOT_FOUND
        row = rows[number]
        kind = I64(row & _KIND)
        if kind == LEFT:
            return NOT_FOUND
        total += I64(_REPLACED) if kind == BYTE else I64((rows[number + _ONE] >> _TWO) - (row >> _TWO))
        at += stride
    return int(total)


@kernel
def gather(numbers: Numbers, texts: Texts, every: int, out: Windows) -> int:
    """Write the texts of ids. In a run of byte tokens that is not UTF-8 as a whole, each gives U+FFFD.

    Args:
        numbers: The ids, which `measure` has found.
        texts: The table.
        every: 0 to keep the bytes from 128 on in such a run, so that only those below give U+FFFD.
        out: Room for as many bytes as `measure` says, and 8 more.

    Returns:
        How many bytes are written.
    """
    data, rows, text, width = numbers.data, texts.rows, texts.text, _U(numbers.width)
    at, stride = _U(numbers.start), _U(numbers.stride)
    here = _U(0)
    begin = here  # of the run of byte tokens that ends here
    for _ in range(numbers.size):
        number = number_at(data, at, width)
        at += stride
        row = rows[number]
        place = row >> _TWO
        if row & _KIND:
            out[here] = text[place] & _LOW
            here += _ONE
            continue
        if begin != here:
            here = checked(out, begin, here, every)
        end = here + (rows[number + _ONE] >> _TWO) - place
        while here < end:
            out[here] = text[place]
            here += _EIGHT
            place += _EIGHT
        here = end
        begin = here
    if begin != here:
        here = checked(out, begin, here, every)
    return int(here)


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
