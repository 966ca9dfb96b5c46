"""Kernels: the words of texts by number, and their counts.

Distinct words are kept in the flat arrays of a `tables.Table`: their bytes one after the other (`text`, `ends`); `rows`, four
64-bit numbers a word in order of first appearance: two that stand for its bytes, its length, its count; and `slots`, an
open-addressing table of their numbers plus one. A word of up to 16 bytes is its two numbers; of a longer one the bytes are
compared. So equal means equal, whatever the hashes are. Words that are common come early, so what is looked at stays near.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokentui.core.jit.compiling import (
    BYTES,
    EVENTS,
    GIVEN_BYTES,
    GIVEN_NUMBERS,
    GIVEN_SHORTS,
    GIVEN_WINDOWS,
    HALVES,
    NUMBERS,
    helper,
    inlined,
    kernel,
    types,
)
from tokentui.text.kernels.classes import START
from tokentui.text.kernels.rules import BORDER, CUT, DROP
from tokentui.text.kernels.scan_words import class_of, code_at, width_of, word_end

BLOCK = 4096
"""How many bytes are looked over at a time: the events of a block stay near."""
INLINE = 16
"""The longest word, in bytes, that is compared without its bytes being looked at."""

_U = np.uint64
_FIRST = np.array([(1 << 8 * min(n, 8)) - 1 for n in range(INLINE + 1)], _U)
_SECOND = np.array([(1 << 8 * max(n - 8, 0)) - 1 for n in range(INLINE + 1)], _U)
# Odd numbers without a pattern, for multiplicative hashing (Knuth, The Art of Computer Programming, volume 3, section 6.4).
_SPREAD_FIRST, _SPREAD_SECOND = _U(0x9E3779B97F4A7C15), _U(0xC2B2AE3D27D4EB4F)
_THIRTY_TWO, _ZERO, _ONE = _U(32), _U(0), _U(1)


@helper
def place_of(first: Any, second: Any, shift: Any) -> Any:
    """Where in the table the search for a word begins; `shift` leaves as many bits as the table has."""
    mixed = first * _SPREAD_FIRST ^ second * _SPREAD_SECOND
    return np.int64((mixed ^ mixed >> _THIRTY_TWO) * _SPREAD_FIRST >> shift)


@inlined
def number_of(
    data: Any, windows: Any, start: int, end: int, slots: Any, shift: Any, rows: Any, text: Any, ends: Any, used: Any
) -> Any:
    """The number of a word, which is taken in if it is new; -1 where there is no room for one more."""
    length = end - start
    if length <= INLINE:
        first = windows[start] & _FIRST[length]
        second = windows[start + 8] & _SECOND[length]
    else:
        first, second = long_key(windows, start, end)
    mask = len(slots) - 1
    place = place_of(first, second, shift)
    while True:
        number = np.int64(slots[place]) - 1
        if number < 0:
            return take_in(data, start, length, first, second, place, slots, rows, text, ends, used)
        at = number << 2
        alike = rows[at] == first and rows[at + 1] == second and np.int64(rows[at + 2]) == length
        if alike and (length <= INLINE or same(data, start, length, text, ends[number])):
            return number
        place = (place + 1) & mask


@helper
def long_key(windows: Any, start: int, end: int) -> Any:
    """Two numbers for a word of more than eight bytes: the last eight, and a hash of those before."""
    mixed = _ZERO
    for at in range(start, end - 8, 8):
        mixed = (mixed ^ windows[at]) * _SPREAD_SECOND
        mixed ^= mixed >> _THIRTY_TWO
    return windows[end - 8], mixed


@helper
def take_in(
    data: Any, start: int, length: int, first: Any, second: Any, place: int,
    slots: Any, rows: Any, text: Any, ends: Any, used: Any,
) -> Any:
    """Take a new word in. Returns its number, or -1 where there is no room; then nothing has changed."""
    number = used[0]
    begin = ends[number]
    if 4 * number >= len(slots) or number + 2 > len(ends) or begin + length + INLINE > len(text):
        return np.int64(-1)
    for n in range(length):
        text[begin + n] = data[start + n]
    used[0] = number + 1
    ends[number + 1] = begin + length
    at = number << 2
    rows[at] = first
    rows[at + 1] = second
    rows[at + 2] = _U(length)
    rows[at + 3] = _ZERO
    slots[place] = number + 1
    return number


@helper
def same(data: Any, start: int, length: int, text: Any, begin: int) -> bool:
    """Whether the bytes are those of a known word."""
    for n in range(length):  # noqa: SIM110 - Numba has no generators in all()
        if data[start + n] != text[begin + n]:
            return False
    return True


@helper
def find_events(data: Any, at: int, stop: int, before: int, high: Any, low: Any, pairs: Any, events: Any) -> Any:
    """Note where a word may end: for each border of characters that does not join them, its distance from `at` and what it is.

    Returns:
        (how many events, where the first character stands that is not yet looked at, the class of the one before).
    """
    count = 0
    here = at
    while here < stop:
        lead = data[here]
        if lead < 0x80:
            kind = low[lead]
            width = 1
        else:
            kind = class_of(code_at(data, here), high, low)
            width = width_of(lead)
        event = pairs[before << 4 | kind]
        events[count] = (here - at) << 4 | event
        count += event & 1
        before = kind
        here += width
    return count, here, before


@kernel(
    types.UniTuple(types.int64, 2)(
        GIVEN_BYTES, GIVEN_WINDOWS, GIVEN_NUMBERS, types.int64, types.int64,
        types.int64, GIVEN_NUMBERS, GIVEN_SHORTS, GIVEN_BYTES, GIVEN_BYTES,
        EVENTS, EVENTS, types.int64, HALVES, BYTES, NUMBERS, NUMBERS,
    )
)
def count_texts(
    data: Any, windows: Any, bounds: Any, number: int, at: int,
    rule: int, folds: Any, high: Any, low: Any, pairs: Any,
    events: Any, slots: Any, shift: int, rows: Any, text: Any, ends: Any, used: Any,
) -> tuple[int, int]:
    """Count the words of texts, from the place `at` in text `number` on, which a word starts at.

    Args:
        data: The texts one after the other, and 16 bytes more.
        windows: Eight bytes at each place of `data`.
        bounds: Where the texts end, one after the other, a 0 before the first.
        number: The text to begin with.
        at: The place to begin at, in `data`.
        rule: Which `word_end` to run where the table asks.
        folds, high, low, pairs: The tables of the split.
        events: Room for a block.
        slots, shift, rows, text, ends, used: The table.

    Returns:
        The text and place to go on at once the table has more room; (number of texts, 0) when all is counted.
    """
    bits = _U(shift)
    while number < len(bounds) - 1:
        end = bounds[number + 1]
        start = here = at
        before = START
        dropped = False
        while here < end:
            base = here
            count, here, before = find_events(data, base, min(base + BLOCK, end), before, high, low, pairs, events)
            if here == end:
                events[count] = (end - base) << 4 | CUT
                count += 1
            for n in range(count):
                event = events[n]
                place = base + (event >> 4)
                if place < start:
                    continue  # within a word whose end was found by its rule
                if event & 2:
                    place = word_end(rule, data, start, end, folds, high, low)
                if place > start and not dropped:
                    word = number_of(data, windows, start, place, slots, bits, rows, text, ends, used)
                    if word < 0:
                        return number, start
                    rows[(word << 2) + 3] += _ONE
                start = place
                dropped = event & DROP != 0
        number += 1
        at = end
    return number, 0


@kernel(
    types.int64(
        GIVEN_BYTES, GIVEN_WINDOWS, GIVEN_NUMBERS, GIVEN_NUMBERS, types.int64,
        EVENTS, types.int64, HALVES, BYTES, NUMBERS, NUMBERS,
    )
)
def add_words(
    data: Any, windows: Any, bounds: Any, counts: Any, number: int,
    slots: Any, shift: int, rows: Any, text: Any, ends: Any, used: Any,
) -> int:
    """Count words that are counted already, from `number` on.

    Returns:
        The first that the table has no room for; how many there are when all are counted.
    """
    bits = _U(shift)
    while number < len(counts):
        word = number_of(data, windows, bounds[number], bounds[number + 1], slots, bits, rows, text, ends, used)
        if word < 0:
            break
        rows[(word << 2) + 3] += _U(counts[number])
        number += 1
    return number


@kernel(types.void(types.int64, HALVES, EVENTS, types.int64))
def fill_slots(words: int, rows: Any, slots: Any, shift: int) -> None:
    """Put so many words into a table that is empty."""
    mask = len(slots) - 1
    for number in range(words):
        place = place_of(rows[number << 2], rows[(number << 2) + 1], _U(shift))
        while slots[place] != 0:
            place = (place + 1) & mask
        slots[place] = number + 1


@kernel(types.int64(GIVEN_BYTES, types.int64, GIVEN_SHORTS, GIVEN_BYTES, GIVEN_BYTES))
def first_border(data: Any, end: int, high: Any, low: Any, pairs: Any) -> int:
    """The first place after the first character where the text may be cut in two; -1 where there is none."""
    before = START
    here = 0
    while here < end:
        kind = class_of(code_at(data, here), high, low)
        if here > 0 and pairs[before << 4 | kind] & BORDER == BORDER:
            return here
        before = kind
        here += width_of(data[here])
    return -1
