"""Kernels that number the words of texts and count them, or number the stretches in which tokens may join.

Texts are UTF-8. A lone surrogate has three bytes, as "surrogatepass" writes it. A word of up to 16 bytes is
stored as two 64-bit numbers and compared by them. Longer words are compared byte by byte, so a collision of
hashes changes no result. Frequent words get small numbers, so their rows stay in the cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tokentui.core.native import (
    I64,
    SPREAD,
    U64,
    Int32s,
    Int64s,
    Reused,
    Uint8s,
    Uint64s,
    Windows,
    constants,
    hashed,
    helper,
    inlined,
    kernel,
)
from tokentui.text.kernels.rules import CUT, DROP, START, Split
from tokentui.text.kernels.scan_words import class_of, code_at, width_of, word_end
from tokentui.text.split import SPACE_MARK

BLOCK = 4096
"""The bytes that are scanned at a time. The events of a block stay in the cache."""
INLINE = 16
"""The most bytes of a word that its two numbers hold exactly."""

_U = U64
_FIRST = constants([(1 << 8 * min(n, 8)) - 1 for n in range(INLINE + 1)])
_SECOND = constants([(1 << 8 * max(n - 8, 0)) - 1 for n in range(INLINE + 1)])
_SPREAD_SECOND = _U(0xC2B2AE3D27D4EB4F)
_THIRTY_TWO, _ZERO, _ONE = _U(32), _U(0), _U(1)
_CODE_BITS = _U(21)
_SPACE, _MARK = 32, ord(SPACE_MARK)


class _WordTable(NamedTuple):
    """Distinct words in flat arrays.

    Attributes:
        slots: An open-addressing hash table: the number of a word plus one, or 0 for a free slot.
        shift: 64 minus the number of bits of a slot index.
        rows: Four 64-bit numbers for each word, in order of first appearance: the two of its key, its length
            in bytes, its count.
        text: The concatenated bytes of the words.
        ends: A 0, then the offset in `text` where each word ends.
        used: An array of one item, the number of words.
    """

    slots: Int32s
    shift: int
    rows: Uint64s
    text: Uint8s
    ends: Int64s
    used: Int64s


class WordTable(Reused, _WordTable):
    """A `_WordTable` whose argument words are computed once."""


class Bigrams(NamedTuple):
    """The pairs of characters that may be side by side in a token. ▁ and the space count as one character.

    Attributes:
        low: A byte for each pair of ASCII characters, at `left << 7 | right`: 1 if they may be.
        others: The same for all other pairs, at the hash of a pair. Two pairs may share a byte, which then
            joins more than it must.
        shift: 64 minus the number of bits of a place in `others`.
        known: A byte for each code point: 0 for a character that joins with every neighbor. Empty if there is
            none.
    """

    low: Uint8s
    others: Uint8s
    shift: int
    known: Uint8s


class Scan(NamedTuple):
    """The texts and tables that a scan reads and fills.

    Attributes:
        data: The concatenated texts, and 16 bytes of padding.
        split: The tables of the split.
        words: The table of words. The scan adds new words.
        events: A buffer for the events of a block.
        numbers: Receives the number of each word; empty to count the words instead.
    """

    data: Uint8s
    split: Split
    words: WordTable
    events: Int32s
    numbers: Int32s




@inlined
def place_of(first: Any, second: Any, shift: Any) -> Any:
    """Return the slot at which the search for a word begins."""
    mixed = first * SPREAD ^ second * _SPREAD_SECOND
    return hashed(mixed ^ mixed >> _THIRTY_TWO, _U(shift))


@inlined
def find_slot(data: Uint8s, start: int, length: int, first: Any, second: Any, words: WordTable) -> Any:
    """Return the slot of a word by its key, or the free slot where it belongs."""
    slots, rows = words.slots, words.rows
    mask = len(slots) - 1
    place = place_of(first, second, words.shift)
    while slots[place] != 0:
        number = I64(slots[place]) - 1
        at = number << 2
        alike = rows[at] == first and rows[at + 1] == second and I64(rows[at + 2]) == length
        if alike and (length <= INLINE or same(data, start, length, words.text, words.ends[number])):
            break
        place = (place + 1) & mask
    return place


@inlined
def key_of(windows: Windows, start: int, end: int) -> Any:
    """Return the key of a word, two numbers: its bytes if it has at most 16, else see `long_key`."""
    length = end - start
    if length > INLINE:
        return long_key(windows, start, end)
    return windows[start] & _FIRST[length], windows[start + 8] & _SECOND[length]


@inlined
def number_of(data: Uint8s, windows: Windows, start: int, end: int, words: WordTable) -> Any:
    """Return the number of a word. A new word is added; -1 if the table has no room for it."""
    first, second = key_of(windows, start, end)
    place = find_slot(data, start, end - start, first, second, words)
    number = I64(words.slots[place]) - 1
    if number < 0:
        return take_in(data, start, end - start, first, second, place, words)
    return number


@helper
def found_number(data: Uint8s, windows: Windows, start: int, end: int, words: WordTable) -> Any:
    """Return the number of a word; -1 for one that the table lacks."""
    first, second = key_of(windows, start, end)
    return I64(words.slots[find_slot(data, start, end - start, first, second, words)]) - 1


@helper
def long_key(windows: Any, start: int, end: int) -> Any:
    """Return the key of a word of more than 16 bytes: its last eight bytes, and a hash of those before."""
    mixed = _ZERO
    for at in range(start, end - 8, 8):
        mixed = (mixed ^ windows[at]) * _SPREAD_SECOND
        mixed ^= mixed >> _THIRTY_TWO
    return windows[end - 8], mixed


@helper
def take_in(data: Any, start: int, length: int, first: Any, second: Any, place: int, words: WordTable) -> Any:
    """Add a new word and return its number; -1 without a change if the table has no room."""
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
    """Return whether `length` bytes at `start` equal those of the word that begins at `begin` in `text`."""
    for n in range(length):  # noqa: SIM110 - Numba has no generators in all()
        if data[start + n] != text[begin + n]:
            return False
    return True


@helper
def find_events(data: Any, at: int, stop: int, before: int, split: Split, events: Any) -> Any:
    """Write an event for each border between two characters where a word may end, until the character at or
    after `stop` is reached.

    An event is the distance of the border from `at`, shifted left by four bits, and the entry of the pair of
    classes around it. Borders with JOIN give no event.

    Args:
        data: The text in UTF-8, with padding.
        at: The offset of the first character.
        stop: Where to end, an offset.
        before: The class of the character before `at`.
        split: The tables of the split.
        events: Receives the events. It has room for `stop - at + 1`, as one is written past the last.

    Returns:
        (the number of events, the offset of the first character not read, the class of the character before
        it).
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


@inlined
def find_words(
    scan: Scan, windows: Windows, bounds: Int64s, stops: Int64s, number: int, at: int, filled: int
) -> tuple[int, int, int]:
    """Find the words of texts, and count them or write their numbers.

    The scan stops when the table of words is full. The caller makes room, and calls it again with the values
    that it returned.

    Args:
        scan: The texts and tables.
        windows: The eight bytes at each offset of the data, as one number.
        bounds: A 0, then the offset in the data where each text ends.
        stops: Receives how many numbers are written when each text ends; empty if that is not asked.
        number: The index of the text to begin with.
        at: The offset in the data to begin at. A word starts there.
        filled: The numbers of words written so far.

    Returns:
        (the text to continue with, or the number of texts if all are done; the offset to continue at; the
        numbers written so far).
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
                    continue  # inside a word whose end its rule found
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
        if len(stops) > 0:
            stops[number] = filled
        number += 1
        at = end
    return number, at, filled


scan_texts = kernel(find_words)


@inlined
def bigram_code(data: Any, at: int) -> Any:
    """Return the code point of the character at a place, as `Bigrams` counts it."""
    if data[at] < 0x80:
        return data[at]
    code = code_at(data, at)
    return _SPACE if code == _MARK else code


@inlined
def bigram_place(left: int, right: int, shift: int) -> Any:
    """Return the place of a pair in `Bigrams.others`."""
    return hashed(_U(left) << _CODE_BITS | _U(right), _U(shift))


@kernel
def put_bigrams(data: Uint8s, bounds: Int64s, bigrams: Bigrams) -> None:
    """Note the pairs of adjacent characters in each text: their bytes in `bigrams.low` or `bigrams.others`
    become 1.

    Args:
        data: The concatenated texts, as UTF-8 with padding.
        bounds: A 0, then the offset where each text ends.
        bigrams: Receives the pairs. Bytes that are 1 stay.
    """
    for number in range(len(bounds) - 1):
        at, end = bounds[number], bounds[number + 1]
        left = -1
        while at < end:
            code = bigram_code(data, at)
            if left >= 0:
                if left | code < 0x80:
                    bigrams.low[left << 7 | code] = 1
                else:
                    bigrams.others[bigram_place(left, code, bigrams.shift)] = 1
            left = code
            at += width_of(data[at])


@helper
def find_gaps(data: Any, at: int, stop: int, left: int, bigrams: Bigrams, events: Any) -> Any:
    """Write the distance from `at` of each character that never joins with the one before it.

    Returns:
        (the number of distances, the offset of the first character not read, the character before it).
    """
    low, others, known, shift = bigrams.low, bigrams.others, bigrams.known, bigrams.shift
    count = 0
    here = at
    while here < stop:
        lead = data[here]
        if left | lead < 0x80:
            code = I64(lead)
            joined = I64(low[left << 7 | code])
            width = 1
        else:
            code = I64(bigram_code(data, here))
            width = width_of(lead)
            if left | code < 0x80:  # ▁ counts as a space
                joined = I64(low[left << 7 | code])
            else:
                joined = I64(others[bigram_place(left, code, shift)])
                if joined == 0 and len(known) > 0 and (known[left] == 0 or known[code] == 0):
                    joined = 1
        events[count] = here - at
        count += 1 - joined
        left = code
        here += width
    return count, here, left


@inlined
def find_stretches(
    data: Uint8s, windows: Windows, bounds: Int64s, stops: Int64s, bigrams: Bigrams, words: WordTable,
    events: Int32s, numbers: Int32s, number: int, at: int, filled: int,
) -> tuple[int, int, int]:
    """Cut texts between two characters that no token has side by side, and write the number of each stretch.

    Args:
        data: The concatenated texts, valid UTF-8 with padding.
        windows, bounds, stops, number, at, filled: As for `find_words`.
        bigrams: The pairs.
        words: The table of stretches. The scan adds new ones.
        events: A buffer for the gaps of a block.
        numbers: Receives the number of each stretch.

    Returns:
        As `find_words` does.
    """
    while number < len(bounds) - 1:
        end = bounds[number + 1]
        start = here = at
        left = I64(0)
        if at < end:
            left = I64(bigram_code(data, at))
            here = at + width_of(data[at])
        while start < end:
            base = here
            count, here, left = find_gaps(data, base, min(base + BLOCK, end), left, bigrams, events)
            if here >= end:
                events[count] = here - base
                count += 1
            for n in range(count):
                place = base + events[n]
                word = number_of(data, windows, start, place, words)
                if word < 0:
                    return number, start, filled
                numbers[filled] = word
                filled += 1
                start = place
        if len(stops) > 0:
            stops[number] = filled
        number += 1
        at = end
    return number, at, filled


scan_bigrams = kernel(find_stretches)


@kernel
def add_words(
    data: Uint8s, windows: Windows, bounds: Int64s, counts: Int64s, number: int, words: WordTable
) -> int:
    """Add words with their counts, from word `number` on.

    Returns:
        The index of the first word that the table has no room for; the number of words if all are added.
    """
    while number < len(counts):
        word = number_of(data, windows, bounds[number], bounds[number + 1], words)
        if word < 0:
            break
        words.rows[(word << 2) + 3] += _U(counts[number])
        number += 1
    return number


@kernel
def fill_slots(count: int, words: WordTable) -> None:
    """Fill an empty hash table with the first `count` words."""
    slots, rows = words.slots, words.rows
    mask = len(slots) - 1
    for number in range(count):
        place = place_of(rows[number << 2], rows[(number << 2) + 1], words.shift)
        while slots[place] != 0:
            place = (place + 1) & mask
        slots[place] = number + 1


@kernel
def places_in_characters(text: Uint8s, ends: Int64s) -> None:
    """Turn ascending byte offsets in a UTF-8 text into character offsets, in place."""
    at: Any = 0
    characters: Any = 0
    for n in range(len(ends)):
        while at < ends[n]:
            characters += I64(text[at] & 0xC0 != 0x80)
            at += 1
        ends[n] = characters
