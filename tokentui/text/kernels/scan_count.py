"""Kernels: the words of texts by number, and their counts.

Texts are UTF-8 in which a lone surrogate has three bytes, as "surrogatepass" writes it. A word of up to 16
bytes is its two numbers; of a longer one the bytes are compared. So equal means equal, whatever the hashes
are. Words that are common come early, so what is looked at stays near.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tokentui.core.native import (
    BYTES,
    EVENTS,
    HALVES,
    I64,
    INT,
    NOTHING,
    NUMBERS,
    SHORTS,
    SPREAD,
    U64,
    WINDOWS,
    Tuple,
    constants,
    hashed,
    helper,
    inlined,
    kernel,
)
from tokentui.text.kernels.rules import CUT, DROP, START, Split
from tokentui.text.kernels.scan_words import class_of, code_at, width_of, word_end

BLOCK = 4096
"""The number of bytes that are scanned at a time: the events of a block stay in the cache."""
INLINE = 16
"""The longest word, in bytes, that is compared without its bytes being looked at."""

_U = U64
_FIRST = constants([(1 << 8 * min(n, 8)) - 1 for n in range(INLINE + 1)])
_SECOND = constants([(1 << 8 * max(n - 8, 0)) - 1 for n in range(INLINE + 1)])
_SPREAD_SECOND = _U(0xC2B2AE3D27D4EB4F)
_THIRTY_TWO, _ZERO, _ONE = _U(32), _U(0), _U(1)


class _WordTable(NamedTuple):
    """Distinct words in flat arrays.

    Attributes:
        slots: An open-addressing table of the numbers of words plus one.
        shift: 64 less the bits of a place in it.
        rows: Four 64-bit numbers a word in order of first appearance: two that stand for its bytes, its
            length, its count.
        text: The bytes of the words, one after the other.
        ends: Where each word ends in them, a 0 before the first.
        used: The number of words.
    """

    slots: Any
    shift: int
    rows: Any
    text: Any
    ends: Any
    used: Any


class WordTable(_WordTable):
    """The same, with room for what kernels keep of it."""


class Scan(NamedTuple):
    """The texts and tables that a scan reads and fills.

    Attributes:
        data: Texts one after the other, and 16 bytes more.
        split: The split.
        words: The words so far.
        events: Room for a block.
        numbers: Room for the number of each word; empty to count each word instead.
    """

    data: Any
    split: Split
    words: WordTable
    events: Any
    numbers: Any


SPLIT = Tuple((INT, NUMBERS, SHORTS, BYTES, BYTES), "Split", Split)
WORDS = Tuple((EVENTS, INT, HALVES, BYTES, NUMBERS, NUMBERS), "WordTable", WordTable)
SCAN = Tuple((BYTES, SPLIT, WORDS, EVENTS, EVENTS), "Scan", Scan)


@inlined
def place_of(first: Any, second: Any, shift: Any) -> Any:
    """Return where in the table the search for a word begins."""
    mixed = first * SPREAD ^ second * _SPREAD_SECOND
    return hashed(mixed ^ mixed >> _THIRTY_TWO, _U(shift))


@inlined
def number_of(data: Any, windows: Any, start: int, end: int, words: WordTable) -> Any:
    """Return the number of a word, which is taken in if it is new; -1 where there is no room for one more."""
    slots, rows = words.slots, words.rows
    length = end - start
    if length <= INLINE:
        first = windows[start] & _FIRST[length]
        second = windows[start + 8] & _SECOND[length]
    else:
        first, second = long_key(windows, start, end)
    mask = len(slots) - 1
    place = place_of(first, second, words.shift)
    while True:
        number = I64(slots[place]) - 1
        if number < 0:
            return take_in(data, start, length, first, second, place, words)
        at = number << 2
        alike = rows[at] == first and rows[at + 1] == second and I64(rows[at + 2]) == length
        if alike and (length <= INLINE or same(data, start, length, words.text, words.ends[number])):
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
def take_in(data: Any, start: int, length: int, first: Any, second: Any, place: int, words: WordTable) -> Any:
    """Take a new word in. Returns its number, or -1 where there is no room; then nothing has changed."""
    slots, rows, text, ends, used = words.slots, words.rows, words.text, words.ends, words.used
    number = used[0]
    begin = ends[number]
    if 4 * number >= len(slots) or number + 2 > len(ends) or begin + length + INLINE > len(text):
        return I64(-1)
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
    """Return whether the bytes are those of a known word."""
    for n in range(length):  # noqa: SIM110 - Numba has no generators in all()
        if data[start + n] != text[begin + n]:
            return False
    return True


@helper
def find_events(data: Any, at: int, stop: int, before: int, split: Split, events: Any) -> Any:
    """Note where a word may end: for each border of characters that does not join them, its distance from
    `at` and what it is.

    Returns:
        (how many events, where the first character stands that is not yet looked at, the class of the one
        before).
    """
    low, pairs = split.low, split.pairs
    count = 0
    here = at
    while here < stop:
        lead = data[here]
        if lead < 0x80:
            kind = low[lead]
            width = 1
        else:
            kind = class_of(code_at(data, here), split)
            width = width_of(lead)
        event = pairs[before << 4 | kind]
        events[count] = (here - at) << 4 | event
        count += event & 1
        before = kind
        here += width
    return count, here, before


@kernel(Tuple((INT, INT, INT)), SCAN, WINDOWS, NUMBERS, INT, INT, INT)
def scan_texts(
    scan: Scan, windows: Any, bounds: Any, number: int, at: int, filled: int
) -> tuple[int, int, int]:
    """Find the words of texts, from the place `at` in text `number` on, which a word starts at, and count
    them or write their numbers.

    Args:
        scan: What is read and filled.
        windows: Eight bytes at each place of its data.
        bounds: Where the texts end in its data, one after the other, a 0 before the first.
        number: The text to begin with.
        at: The place to begin at, in the data.
        filled: How many numbers are there already.

    Returns:
        (the text and the place to go on at once the table has more room, the number of texts when all is
        done; how many numbers are there now).
    """
    data, split, words, events, numbers = scan.data, scan.split, scan.words, scan.events, scan.numbers
    counting = len(numbers) == 0
    while number < len(bounds) - 1:
        end = bounds[number + 1]
        start = here = at
        before = START
        dropped = False
        while here < end:
            base = here
            count, here, before = find_events(data, base, min(base + BLOCK, end), before, split, events)
            if here == end:
                events[count] = (end - base) << 4 | CUT
                count += 1
            for n in range(count):
                event = events[n]
                place = base + (event >> 4)
                if place < start:
                    continue  # within a word whose end was found by its rule
                if event & 2:
                    place = word_end(data, start, end, split)
                if place > start and not dropped:
                    word = number_of(data, windows, start, place, words)
                    if word < 0:
                        return number, start, filled
                    if counting:
                        words.rows[(word << 2) + 3] += _ONE
                    else:
                        numbers[filled] = word
                        filled += 1
                start = place
                dropped = event & DROP != 0
        number += 1
        at = end
    return number, at, filled


@kernel(INT, BYTES, WINDOWS, NUMBERS, NUMBERS, INT, WORDS)
def add_words(data: Any, windows: Any, bounds: Any, counts: Any, number: int, words: WordTable) -> int:
    """Count words that are counted already, from `number` on.

    Returns:
        The first that the table has no room for; how many there are when all are counted.
    """
    while number < len(counts):
        word = number_of(data, windows, bounds[number], bounds[number + 1], words)
        if word < 0:
            break
        words.rows[(word << 2) + 3] += _U(counts[number])
        number += 1
    return number


@kernel(NOTHING, INT, WORDS)
def fill_slots(count: int, words: WordTable) -> None:
    """Put so many words into slots that are empty."""
    slots, rows = words.slots, words.rows
    mask = len(slots) - 1
    for number in range(count):
        place = place_of(rows[number << 2], rows[(number << 2) + 1], words.shift)
        while slots[place] != 0:
            place = (place + 1) & mask
        slots[place] = number + 1


@kernel(NOTHING, BYTES, NUMBERS)
def places_in_characters(text: Any, ends: Any) -> None:
    """Change places in the bytes of a text, in order, into places in its characters."""
    at: Any = 0
    characters: Any = 0
    for n in range(len(ends)):
        while at < ends[n]:
            characters += I64(text[at] & 0xC0 != 0x80)
            at += 1
        ends[n] = characters
