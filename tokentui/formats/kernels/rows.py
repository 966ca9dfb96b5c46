"""Kernels that read the merges of a `tokenizer.json`: from JSON to the numbers of names."""

from __future__ import annotations

from typing import Any

from tokentui.core.native import I64, Int64s, Uint8s, Windows, helper, inlined, kernel
from tokentui.text.kernels.scan_count import WordTable, number_of

DONE, ASKS, OTHER = 0, 1, 2
"""Why `read_rows` stops: at the end of the list, at a row that plain Python reads, and at what is no such
row."""
ROOM = 1 << 12
"""The most bytes of the two names of a row."""
PADDING = 16
"""Bytes of the buffer for names that are looked at but not filled."""

_QUOTE, _SLASH, _COMMA, _OPEN, _CLOSE = 0x22, 0x5C, 0x2C, 0x5B, 0x5D


@inlined
def after_spaces(data: Any, at: Any) -> Any:
    """Return the place of the first byte from `at` on that is no white space of JSON."""
    while data[at] == 0x20 or data[at] == 0x0A or data[at] == 0x0D or data[at] == 0x09:
        at += 1
    return at


@helper
def unescaped(data: Any, at: int, out: Any, to: int) -> Any:
    """Write the text that begins at a quote.

    Returns:
        (the place after the closing quote, the place after the written text, why it stopped: `DONE`; `OTHER`
        without a quote or at a control character; `ASKS` at another escape or if `out` is full).
    """
    if data[at] != _QUOTE:
        return at, to, I64(OTHER)
    at += 1
    while data[at] != _QUOTE:
        byte = data[at]
        if byte < 0x20:
            return at, to, I64(OTHER)
        if to >= ROOM:
            return at, to, I64(ASKS)
        if byte == _SLASH:
            at += 1
            byte = data[at]
            if byte == 0x6E:
                byte = 0x0A
            elif byte == 0x74:
                byte = 0x09
            elif byte == 0x72:
                byte = 0x0D
            elif byte != _QUOTE and byte != _SLASH:
                return at, to, I64(ASKS)
        out[to] = byte
        to += 1
        at += 1
    return at + 1, to, I64(DONE)


@kernel
def read_rows(
    data: Uint8s, at: int, names: WordTable, buffer: Uint8s, windows: Windows, lefts: Int64s, rights: Int64s,
    makes: Int64s, filled: int,
) -> tuple[int, int, int]:
    """Read rows `["LEFT", "RIGHT"]` of a list, with commas between them, as numbers of names.

    Args:
        data: JSON that has the end of the list.
        at: The place where a row or the end of the list begins.
        names: A table of names without room for more.
        buffer: Room for the names of a row.
        windows: The same, as overlapping numbers.
        lefts, rights, makes: Receive the number of the left name, of the right name, and of both as one; the
            last is -1 if that is no name. A row with another unknown name is `OTHER`.
        filled: The rows in them.

    Returns:
        (the place after the list, or that of the row it stops at; the rows that are read now; why it stops).
    """
    while True:
        at = after_spaces(data, at)
        row = at
        if data[at] != _OPEN or filled >= len(lefts):
            return row, filled, OTHER
        at, middle, state = unescaped(data, after_spaces(data, at + 1), buffer, 0)
        if state == DONE:
            at = after_spaces(data, at)
            if data[at] != _COMMA:
                return row, filled, OTHER
            at, last, state = unescaped(data, after_spaces(data, at + 1), buffer, middle)
        if state != DONE:
            return row, filled, state
        at = after_spaces(data, at)
        if data[at] != _CLOSE:
            return row, filled, OTHER
        left = number_of(buffer, windows, 0, middle, names)
        right = number_of(buffer, windows, middle, last, names)
        if left < 0 or right < 0:
            return row, filled, OTHER
        lefts[filled] = left
        rights[filled] = right
        makes[filled] = number_of(buffer, windows, 0, last, names)
        filled += 1
        at = after_spaces(data, at + 1)
        if data[at] == _CLOSE:
            return at + 1, filled, DONE
        if data[at] != _COMMA:
            return row, filled, OTHER
        at += 1


@kernel
def first_makers(
    lefts: Int64s, rights: Int64s, makes: Int64s, present: Uint8s, makers: Int64s, waiting: Int64s,
    after: Int64s,
) -> tuple[int, int]:
    """Find the first row that makes each token whose parts exist. A row waits for a part that a later row
    makes.

    Args:
        lefts, rights, makes: The two parts and the result of each row.
        present: 1 for each token that exists from the start, else 0. It is changed.
        makers: Receives the rows that make a token, in order.
        waiting: A 0 for each token.
        after: Room for as many rows as there are, and as many again.

    Returns:
        (how many tokens are made, how many of them by a row that waited).
    """
    count = late = I64(0)
    stack = len(makes)  # the second half of `after`, where the rows are that may be ready
    for first in range(len(makes)):
        after[stack] = first
        top = stack + 1
        while top > stack:
            top -= 1
            row = after[top]
            made = makes[row]
            if present[made]:
                continue
            missing = lefts[row]
            if present[missing]:
                missing = rights[row]
            if not present[missing]:  # the last that waits is the first in the list
                after[row] = waiting[missing]
                waiting[missing] = row + 1
                continue
            present[made] = 1
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
