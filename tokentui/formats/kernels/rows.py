"""Kernels that read the tokens and the merges of a `tokenizer.json`: from JSON to names and their numbers.

They stop at what is no such table, and at what they do not read: half a surrogate pair, for example. Then
plain Python reads the document.
"""

from __future__ import annotations

from typing import Any

from tokentui.core.native import I64, U64, Int64s, Uint8s, Windows, hashed, helper, inlined, kernel
from tokentui.text.kernels.scan_count import WordTable, number_of

ROOM = 1 << 12
"""The most bytes of the two names of a row."""
PADDING = 16
"""Bytes of the buffer for names that are looked at but not filled."""
OTHER = -1
"""In place of an offset: it is no such table."""

_QUOTE, _SLASH, _COMMA, _COLON, _LETTER_U = 0x22, 0x5C, 0x2C, 0x3A, 0x75
_OPEN, _CLOSE, _CLOSE_OBJECT = 0x5B, 0x5D, 0x7D
_MOST_DIGITS = 10
_VERSION = U64(int.from_bytes(b"#version", "little"))


@inlined
def byte_at(data: Any, at: Any) -> Any:
    """Return the byte at an offset; 0 after the end."""
    return I64(data[at]) if at < len(data) else I64(0)


@inlined
def after_spaces(data: Any, at: Any) -> Any:
    """Return the place of the first byte from `at` on that is no white space of JSON."""
    byte = byte_at(data, at)
    while byte == 0x20 or byte == 0x0A or byte == 0x0D or byte == 0x09:
        at += 1
        byte = byte_at(data, at)
    return at


@helper
def hex_at(data: Any, at: int) -> Any:
    """Return the value of four hexadecimal digits; -1 if there are none."""
    value = I64(0)
    for n in range(4):
        byte = byte_at(data, at + n)
        if 0x30 <= byte <= 0x39:
            value = value << 4 | byte - 0x30
        elif 0x41 <= byte <= 0x46 or 0x61 <= byte <= 0x66:
            value = value << 4 | (byte & 0xF) + 9
        else:
            return I64(-1)
    return value


@helper
def unescaped(data: Any, at: int, out: Any, to: int, most: int) -> Any:
    """Write the text that begins at a quote.

    Args:
        data: The JSON.
        at: The place of the quote.
        out: Receives the text in UTF-8.
        to: Where in `out` it begins.
        most: Where in `out` it ends at the latest. There is room for three bytes behind.

    Returns:
        (the place after the closing quote, or `OTHER`; the place after the written text).
    """
    if byte_at(data, at) != _QUOTE:
        return I64(OTHER), to
    at += 1
    byte = byte_at(data, at)
    while byte != _QUOTE:
        if byte < 0x20 or to >= most:
            return I64(OTHER), to
        code = byte
        if byte == _SLASH:
            at += 1
            byte = byte_at(data, at)
            code = byte
            if byte == 0x6E:
                code = I64(0x0A)
            elif byte == 0x74:
                code = I64(0x09)
            elif byte == 0x72:
                code = I64(0x0D)
            elif byte == 0x62:
                code = I64(0x08)
            elif byte == 0x66:
                code = I64(0x0C)
            elif byte == _LETTER_U:
                code = hex_at(data, at + 1)
                at += 4
                if 0xD800 <= code < 0xDC00 and byte_at(data, at + 1) == _SLASH:
                    low = hex_at(data, at + 3) if byte_at(data, at + 2) == _LETTER_U else I64(-1)
                    if 0xDC00 <= low < 0xE000:
                        code = 0x10000 + (code - 0xD800 << 10) + low - 0xDC00
                        at += 6
                if code < 0 or 0xD800 <= code < 0xE000:
                    return I64(OTHER), to
            elif byte != _QUOTE and byte != _SLASH and byte != 0x2F:
                return I64(OTHER), to
            if code >= 0x80:
                if code < 0x800:
                    out[to] = 0xC0 | code >> 6
                else:
                    if code < 0x10000:
                        out[to] = 0xE0 | code >> 12
                    else:
                        out[to] = 0xF0 | code >> 18
                        to += 1
                        out[to] = 0x80 | code >> 12 & 0x3F
                    to += 1
                    out[to] = 0x80 | code >> 6 & 0x3F
                to += 1
                code = 0x80 | code & 0x3F
        out[to] = code
        to += 1
        at += 1
        byte = byte_at(data, at)
    return at + 1, to


@kernel
def read_tokens(
    data: Uint8s, at: int, text: Uint8s, ends: Int64s, lengths: Int64s, ids: Int64s
) -> tuple[int, int]:
    """Read an object of ids: `"NAME": ID`, with commas between them.

    Args:
        data: JSON that has the end of the object.
        at: The place after the opening brace.
        text: Receives the names, one after the other.
        ends: Receives a 0, then where each name ends in `text`.
        lengths: Receives the characters of each name.
        ids: Receives the ids.

    Returns:
        (the place after the closing brace, or `OTHER`; how many names there are).
    """
    count = to = I64(0)
    ends[0] = 0
    most = len(text) - 4
    at = after_spaces(data, at)
    while True:
        if count >= len(ids):
            return OTHER, count
        begin = to
        at, to = unescaped(data, at, text, to, most)
        if at < 0:
            return OTHER, count
        at = after_spaces(data, at)
        if byte_at(data, at) != _COLON:
            return OTHER, count
        at = after_spaces(data, at + 1)
        first, number = at, I64(0)
        byte = byte_at(data, at)
        while 0x30 <= byte <= 0x39 and at - first < _MOST_DIGITS:
            number = 10 * number + byte - 0x30
            at += 1
            byte = byte_at(data, at)
        if at == first or (byte_at(data, first) == 0x30 and at > first + 1):
            return OTHER, count
        at = after_spaces(data, at)
        byte = byte_at(data, at)
        if byte != _COMMA and byte != _CLOSE_OBJECT:
            return OTHER, count
        characters = I64(0)
        for n in range(begin, to):
            characters += I64(text[n] & 0xC0 != 0x80)
        ids[count] = number
        lengths[count] = characters
        count += 1
        ends[count] = to
        if byte == _CLOSE_OBJECT:
            return at + 1, count
        at = after_spaces(data, at + 1)


@helper
def without_space(buffer: Any, windows: Any, end: int) -> Any:
    """Take the only space out of the first `end` bytes, and return where it was; -1 if there is not exactly
    one, or if they begin with `#version`."""
    middle = I64(-1)
    if windows[0] == _VERSION and end >= 8:
        return middle
    for n in range(end):
        if buffer[n] == 0x20:
            if middle >= 0:
                return I64(-1)
            middle = n
        elif middle >= 0:
            buffer[n - 1] = buffer[n]
    return middle


@kernel
def read_rows(
    data: Uint8s, at: int, names: WordTable, buffer: Uint8s, windows: Windows, lefts: Int64s, rights: Int64s,
    makes: Int64s,
) -> tuple[int, int]:
    """Read rows of a list, with commas between them, as numbers of names. All are `["LEFT", "RIGHT"]`, or all
    are `"LEFT RIGHT"`.

    Args:
        data: JSON that has the end of the list.
        at: The place after the opening bracket.
        names: A table of names without room for more.
        buffer: Room for the names of a row.
        windows: The same, as overlapping numbers.
        lefts, rights, makes: Receive the number of the left name, of the right name, and of both as one; the
            last is -1 if that is no name. A row with another unknown name is `OTHER`.

    Returns:
        (the place after the list, or `OTHER`; how many rows there are).
    """
    filled = I64(0)
    at = after_spaces(data, at)
    paired = byte_at(data, at) == _OPEN
    while True:
        if filled >= len(lefts):
            return OTHER, filled
        if paired:
            if byte_at(data, at) != _OPEN:
                return OTHER, filled
            at, middle = unescaped(data, after_spaces(data, at + 1), buffer, 0, ROOM)
            if at < 0:
                return OTHER, filled
            at = after_spaces(data, at)
            if byte_at(data, at) != _COMMA:
                return OTHER, filled
            at, last = unescaped(data, after_spaces(data, at + 1), buffer, middle, ROOM)
            if at < 0:
                return OTHER, filled
            at = after_spaces(data, at)
            if byte_at(data, at) != _CLOSE:
                return OTHER, filled
            at += 1
        else:
            at, last = unescaped(data, at, buffer, 0, ROOM)
            if at < 0:
                return OTHER, filled
            middle = without_space(buffer, windows, last)
            if middle < 0:
                return OTHER, filled
            last -= 1
        left = number_of(buffer, windows, 0, middle, names)
        right = number_of(buffer, windows, middle, last, names)
        if left < 0 or right < 0:
            return OTHER, filled
        lefts[filled] = left
        rights[filled] = right
        makes[filled] = number_of(buffer, windows, 0, last, names)
        filled += 1
        at = after_spaces(data, at)
        byte = byte_at(data, at)
        if byte == _CLOSE:
            return at + 1, filled
        if byte != _COMMA:
            return OTHER, filled
        at = after_spaces(data, at + 1)


@kernel
def distinct_pairs(lefts: Int64s, rights: Int64s, slots: Int64s, shift: int) -> int:
    """Return how many different pairs there are.

    Args:
        lefts, rights: The two numbers of each pair, below 2 ** 31.
        slots: An empty hash table with more slots than there are pairs.
        shift: 64 minus the number of bits of a slot index.
    """
    mask = len(slots) - 1
    count = I64(0)
    for n in range(len(lefts)):
        key = (I64(lefts[n]) << 31 | I64(rights[n])) + 1
        place = hashed(U64(key), U64(shift))
        while slots[place] != 0 and slots[place] != key:
            place = (place + 1) & mask
        count += I64(slots[place] == 0)
        slots[place] = key
    return count  # type: ignore[no-any-return]  # a number of Numba


EXISTS, UNIT, WAITED_FOR, MADE = 0, 1, 2, 3
"""The state of a token: it exists from the start, as a unit it does so even if a row makes it, no row has
made it yet, or a row has."""


@kernel
def first_makers(
    lefts: Int64s, rights: Int64s, makes: Int64s, states: Uint8s, makers: Int64s, waiting: Int64s,
    after: Int64s,
) -> tuple[int, int]:
    """Find the first row that makes each token whose parts exist. A row waits for a part that a later row
    makes.

    Args:
        lefts, rights, makes: The two parts and the result of each row.
        states: `UNIT` for each unit, `EXISTS` for other tokens. Receives the states in the end.
        makers: Receives the rows that make a token, in order.
        waiting: A 0 for each token.
        after: Room for as many rows as there are, and as many again.

    Returns:
        (how many tokens are made, how many of them by a row that waited).
    """
    count = late = I64(0)
    for row in range(len(makes)):
        if states[makes[row]] == EXISTS:
            states[makes[row]] = WAITED_FOR
    stack = len(makes)  # the second half of `after`, where the rows are that may be ready
    for first in range(len(makes)):
        after[stack] = first
        top = stack + 1
        while top > stack:
            top -= 1
            row = after[top]
            made = makes[row]
            if states[made] != WAITED_FOR:
                continue
            missing = lefts[row]
            if states[missing] != WAITED_FOR:
                missing = rights[row]
            if states[missing] == WAITED_FOR:  # the last that waits is the first in the list
                after[row] = waiting[missing]
                waiting[missing] = row + 1
                continue
            states[made] = MADE
            makers[count] = row
            count += 1
            late += I64(row != first)
            ready = waiting[made]
            waiting[made] = 0
            while ready > 0:  # so the first that waited comes first
                after[top] = ready - 1
                top += 1
                ready = after[ready - 1]
    return count, late


@kernel
def pick(values: Int64s, places: Int64s, out: Int64s) -> None:
    """Write the value at each place, in order."""
    for n in range(len(places)):
        out[n] = values[places[n]]


@kernel
def invert(order: Int64s, out: Int64s) -> None:
    """Write the place of each number in an order of all numbers from 0."""
    for n in range(len(order)):
        out[order[n]] = n
