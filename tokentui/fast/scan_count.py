"""Kernels: count the words of texts.

Distinct words are kept in the flat arrays of a `tables.Table`: their bytes one after the other (`text`, `ends`), and an
open-addressing table (`slots`) with four 64-bit numbers a place: two that stand for the bytes, number and length, count. A word
of up to 16 bytes is these two; of a longer one the bytes are compared. So equal means equal, whatever the hashes are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokentui.fast.classes import START
from tokentui.fast.compiling import (
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
from tokentui.fast.rules import BORDER, CUT, DROP
from tokentui.fast.scan_words import class_of, code_at, width_of, word_end

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
def find(data: Any, windows: Any, start: int, end: int, slots: Any, shift: Any, text: Any, ends: Any) -> Any:
    """Look a word up.

    Returns:
        (its place in the table or that of the free slot where it belongs, the two numbers that stand for its bytes).
    """
    length = end - start
    if length <= INLINE:
        first = windows[start] & _FIRST[length]
        second = windows[start + 8] & _SECOND[length]
    else:
        first, second = long_key(windows, start, end)
    mask = (len(slots) >> 2) - 1
    place = place_of(first, second, shift)
    while True:
        slot = place << 2
        meta = slots[slot + 2]
        if meta == _ZERO:
            break
        known = slots[slot] == first and slots[slot + 1] == second and np.int64(meta) & 0xFFFFFFFF == length
        if known and (length <= INLINE or same(data, start, length, text, ends[np.int64(meta >> _THIRTY_TWO) - 1])):
            break
        place = (place + 1) & mask
    return slot, first, second


@helper
def long_key(windows: Any, start: int, end: int) -> Any:
    """Two numbers for a word of more than eight bytes: the last eight, and a hash of those before."""
    mixed = _ZERO
    for at in range(start, end - 8, 8):
        mixed = (mixed ^ windows[at]) * _SPREAD_SECOND
        mixed ^= mixed >> _THIRTY_TWO
    return windows[end - 8], mixed


@helper
def insert(data: Any, start: int, length: int, slot: int, slots: Any, text: Any, ends: Any, used: Any) -> bool:
    """Take a new word in and give its slot its number. False where there is no room for one more; then nothing has changed."""
    number = used[0]
    begin = ends[number]
    if 8 * number >= len(slots) or number + 2 > len(ends) or begin + length + INLINE > len(text):
        return False
    for n in range(length):
        text[begin + n] = data[start + n]
    used[0] = number + 1
    ends[number + 1] = begin + length
    slots[slot + 2] = _U(number + 1) << _THIRTY_TWO | _U(length)
    return True


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
        EVENTS, HALVES, types.int64, BYTES, NUMBERS, NUMBERS,
    )
)
def count_texts(
    data: Any, windows: Any, bounds: Any, number: int, at: int,
    rule: int, folds: Any, high: Any, low: Any, pairs: Any,
    events: Any, slots: Any, shift: int, text: Any, ends: Any, used: Any,
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
        slots, shift, text, ends, used: The table.

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
                    slot, first, second = find(data, windows, start, place, slots, bits, text, ends)
                    if slots[slot + 2] == _ZERO:
                        if not insert(data, start, place - start, slot, slots, text, ends, used):
                            return number, start
                        slots[slot] = first
                        slots[slot + 1] = second
                    slots[slot + 3] += _ONE
                start = place
                dropped = event & DROP != 0
        number += 1
        at = end
    return number, 0


@kernel(
    types.int64(
        GIVEN_BYTES, GIVEN_WINDOWS, GIVEN_NUMBERS, GIVEN_NUMBERS, types.int64, HALVES, types.int64, BYTES, NUMBERS, NUMBERS
    )
)
def add_words(
    data: Any, windows: Any, bounds: Any, counts: Any, number: int, slots: Any, shift: int, text: Any, ends: Any, used: Any
) -> int:
    """Count words that are counted already, from `number` on.

    Returns:
        The first that the table has no room for; how many there are when all are counted.
    """
    bits = _U(shift)
    while number < len(counts):
        start, end = bounds[number], bounds[number + 1]
        slot, first, second = find(data, windows, start, end, slots, bits, text, ends)
        if slots[slot + 2] == _ZERO:
            if not insert(data, start, end - start, slot, slots, text, ends, used):
                break
            slots[slot] = first
            slots[slot + 1] = second
        slots[slot + 3] += _U(counts[number])
        number += 1
    return number


@kernel(types.void(HALVES, HALVES, types.int64))
def move_slots(slots: Any, larger: Any, shift: int) -> None:
    """Put the words into a larger table."""
    mask = (len(larger) >> 2) - 1
    for slot in range(0, len(slots), 4):
        if slots[slot + 2] != _ZERO:
            place = place_of(slots[slot], slots[slot + 1], _U(shift))
            while larger[(place << 2) + 2] != _ZERO:
                place = (place + 1) & mask
            for n in range(4):
                larger[(place << 2) + n] = slots[slot + n]


@kernel(types.void(HALVES, NUMBERS))
def read_counts(slots: Any, counts: Any) -> None:
    """The count of each word, by its number."""
    for slot in range(0, len(slots), 4):
        meta = slots[slot + 2]
        if meta != _ZERO:
            counts[np.int64(meta >> _THIRTY_TWO) - 1] = np.int64(slots[slot + 3])


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
