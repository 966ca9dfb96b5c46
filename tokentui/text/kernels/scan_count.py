"""Kernels that number the words of texts and count them, or number the stretches in which tokens may join.

Texts are UTF-8. A lone surrogate has three bytes, as "surrogatepass" writes it. A word of up to 16 bytes is
stored as two 64-bit numbers and compared by them. Longer words are compared byte by byte, so a collision of
hashes changes no result. All that a scan needs of a known word is in one slot of the table, half a line of
the cache, since most of its time it waits for memory.
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
"""The bytes that are scanned at a time. The events and the words of a block stay in the cache."""
EACH = 5
"""How many numbers `note_word` writes."""
_EACH = U64(EACH)
FOUND = EACH * (BLOCK + 2)
"""The size of a buffer for the words of a block."""
INLINE = 16
"""The most bytes of a word that its two numbers hold exactly."""

_U = U64
_FIRST = constants([(1 << 8 * min(n, 8)) - 1 for n in range(INLINE + 1)])
_SECOND = constants([(1 << 8 * max(n - 8, 0)) - 1 for n in range(INLINE + 1)])
_SPREAD_SECOND = _U(0xC2B2AE3D27D4EB4F)
_THIRTY_TWO, _ZERO, _ONE, _TWO, _THREE, _FOUR = _U(32), _U(0), _U(1), _U(2), _U(3), _U(4)
_EIGHT = _U(8)
_NUMBER = _U((1 << 32) - 1)
BY_NUMBER = _U(3 << 62)
"""What a scan writes for a word without a value, with the number of the word. No other value is as large."""
_CODE_BITS = _U(21)
_SPACE, _MARK = 32, ord(SPACE_MARK)


class _WordTable(NamedTuple):
    """Distinct words in flat arrays.

    Attributes:
        slots: An open-addressing hash table. A slot is four 64-bit numbers: the two of the key of a word; its
            length in bytes, shifted left by 32 bits, and its number plus one; its value, which is its count,
            or says its ids (see `encode/kernels/words.py`). The third is 0 in a free slot.
        shift: 64 minus the number of bits of a slot index.
        places: The index in `slots` of each word, in order of first appearance.
        text: The concatenated bytes of the words.
        ends: A 0, then the offset in `text` where each word ends.
        used: An array of one item, the number of words.
    """

    slots: Uint64s
    shift: int
    places: Int64s
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
        found: A buffer for the words of a block, of `FOUND` numbers.
        values: Receives the value of each word, see `value_at`; empty to count the words instead.
    """

    data: Uint8s
    split: Split
    words: WordTable
    events: Int32s
    found: Uint64s
    values: Uint64s


@inlined
def first_slot(first: Any, second: Any, shift: Any) -> Any:
    """Return the index in `WordTable.slots` at which the search for a word begins."""
    mixed = first * SPREAD ^ second * _SPREAD_SECOND
    return _U(hashed(mixed ^ mixed >> _THIRTY_TWO, _U(shift))) << _TWO


@inlined
def find_slot(
    data: Uint8s, start: int, length: int, first: Any, second: Any, at: Any, words: WordTable
) -> Any:
    """Return the index in `words.slots` of a word by its key and its `first_slot`, or of the free slot where
    it belongs."""
    slots = words.slots
    mask, size = _U(len(slots)) - _ONE, _U(length)
    while slots[at + _TWO] != _ZERO:
        alike = slots[at] == first and slots[at + _ONE] == second and slots[at + _TWO] >> _THIRTY_TWO == size
        if alike and (
            length <= INLINE or same(data, start, length, words.text, words.ends[number_at(slots, at)])
        ):
            break
        at = (at + _FOUR) & mask
    return at


@inlined
def number_at(slots: Uint64s, at: Any) -> Any:
    """Return the number of the word in a slot; -1 if the slot is free."""
    return I64(slots[at + _TWO] & _NUMBER) - 1


@inlined
def value_at(slots: Uint64s, at: Any) -> Any:
    """Return the value of the word in a slot; with the value 0, its number and `BY_NUMBER`."""
    value = slots[at + _THREE]
    return BY_NUMBER | _U(number_at(slots, at)) if value == _ZERO else value


@inlined
def key_of(windows: Windows, start: int, end: int) -> Any:
    """Return the key of a word, two numbers: its bytes if it has at most 16, else see `long_key`."""
    length = end - start
    if length > INLINE:
        return long_key(windows, start, end)
    place, size = _U(start), _U(length)  # without a sign no index is checked for being negative
    return windows[place] & _FIRST[size], windows[place + _EIGHT] & _SECOND[size]


@inlined
def slot_with(
    data: Uint8s, start: int, length: int, first: Any, second: Any, at: Any, words: WordTable
) -> Any:
    """Return the index of a word in `words.slots`. A new word is added; -1 if there is no room. The arguments
    are those of `find_slot`."""
    at = find_slot(data, start, length, first, second, at, words)
    if words.slots[at + _TWO] == _ZERO and not take_in(data, start, length, first, second, at, words):
        return I64(-1)
    return I64(at)


@inlined
def note_word(
    windows: Windows, start: int, end: int, number: int, words: WordTable, found: Uint64s
) -> None:
    """Write a word to `found`: its key, the slot at which the search for it begins, where it starts, and its
    length."""
    first, second = key_of(windows, start, end)
    at = _EACH * _U(number)
    found[at] = first
    found[at + _ONE] = second
    found[at + _TWO] = first_slot(first, second, words.shift)
    found[at + _THREE] = _U(start)
    found[at + _FOUR] = _U(end - start)


@inlined
def take_noted(
    data: Uint8s, count: int, words: WordTable, found: Uint64s, values: Uint64s, filled: int
) -> Any:
    """Count words that `note_word` wrote, or write their values.

    Returns:
        How many there were room for in the table.
    """
    slots, counting = words.slots, len(values) == 0
    seen = _ZERO
    for n in range(count):  # brings the slots into the cache: the processor waits for many at a time
        seen |= slots[found[_EACH * _U(n) + _TWO]]
    found[EACH * count] = seen
    for n in range(count):
        at = _EACH * _U(n)
        first, second, begin = found[at], found[at + _ONE], found[at + _TWO]
        slot = slot_with(
            data, I64(found[at + _THREE]), I64(found[at + _FOUR]), first, second, begin, words
        )
        if slot < 0:
            return I64(n)
        if counting:
            slots[_U(slot) + _THREE] += _ONE
        else:
            values[_U(filled + n)] = value_at(slots, _U(slot))
    return I64(count)


@inlined
def number_of(data: Uint8s, windows: Windows, start: int, end: int, words: WordTable) -> Any:
    """Return the number of a word. A new word is added; -1 if there is no room."""
    first, second = key_of(windows, start, end)
    begin = first_slot(first, second, words.shift)
    at = slot_with(data, start, end - start, first, second, begin, words)
    return at if at < 0 else number_at(words.slots, _U(at))


@helper
def found_number(data: Uint8s, windows: Windows, start: int, end: int, words: WordTable) -> Any:
    """Return the number of a word; -1 for one that the table lacks."""
    first, second = key_of(windows, start, end)
    begin = first_slot(first, second, words.shift)
    return number_at(words.slots, find_slot(data, start, end - start, first, second, begin, words))


@helper
def long_key(windows: Any, start: int, end: int) -> Any:
    """Return the key of a word of more than 16 bytes: its last eight bytes, and a hash of those before."""
    mixed = _ZERO
    for at in range(start, end - 8, 8):
        mixed = (mixed ^ windows[at]) * _SPREAD_SECOND
        mixed ^= mixed >> _THIRTY_TWO
    return windows[end - 8], mixed


@helper
def take_in(data: Any, start: int, length: int, first: Any, second: Any, at: Any, words: WordTable) -> bool:
    """Add a new word in a free slot. Return False without a change if the table has no room."""
    slots, text, ends, used = words.slots, words.text, words.ends, words.used
    number = used[0]
    begin = ends[number]
    if 8 * number >= len(slots) or number + 2 > len(ends) or begin + length + INLINE > len(text):
        return False
    for n in range(length):
        text[begin + n] = data[start + n]
    used[0] = number + 1
    ends[number + 1] = begin + length
    slots[at] = first
    slots[at + _ONE] = second
    slots[at + _TWO] = _U(length) << _THIRTY_TWO | _U(number + 1)
    slots[at + _THREE] = _ZERO
    words.places[number] = I64(at)
    return True


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
        lead = data[_U(here)]
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
    """Find the words of texts, and count them or write their values.

    The scan stops when the table of words is full. The caller makes room, and calls it again with the values
    that it returned.

    Args:
        scan: The texts and tables.
        windows: The eight bytes at each offset of the data, as one number.
        bounds: A 0, then the offset in the data where each text ends.
        stops: Receives how many values are written when each text ends; empty if that is not asked.
        number: The index of the text to begin with.
        at: The offset in the data to begin at. A word starts there.
        filled: How many values are written so far.

    Returns:
        (the text to continue with, or the number of texts if all are done; the offset to continue at; how
        many values are written so far).
    """
    data, split, words, events, found = scan.data, scan.split, scan.words, scan.events, scan.found
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
            noted: Any = 0
            for n in range(count):
                event = events[n]
                place = base + (event >> 4)
                if place < start:
                    continue  # inside a word whose end its rule found
                if event & 2:
                    place = word_end(data, start, end, split)
                if place > start and not dropped:
                    note_word(windows, start, place, noted, words, found)
                    noted += 1
                start = place
                dropped = event & DROP != 0
            done = take_noted(data, noted, words, found, scan.values, filled)
            if len(scan.values) > 0:
                filled += done
            if done < noted:
                return number, I64(found[EACH * done + 3]), filled
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
    events: Int32s, found: Uint64s, values: Uint64s, number: int, at: int, filled: int,
) -> tuple[int, int, int]:
    """Cut texts between two characters that no token has side by side, and write the value of each stretch.

    Args:
        data: The concatenated texts, valid UTF-8 with padding.
        windows, bounds, stops, number, at, filled: As for `find_words`.
        bigrams: The pairs.
        words: The table of stretches. The scan adds new ones.
        events: A buffer for the gaps of a block.
        found: A buffer for the stretches of a block, of `FOUND` numbers.
        values: Receives the value of each stretch, see `value_at`.

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
                note_word(windows, start, place, n, words, found)
                start = place
            done = take_noted(data, count, words, found, values, filled)
            filled += done
            if done < count:
                return number, I64(found[EACH * done + 3]), filled
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
        start, end = bounds[number], bounds[number + 1]
        first, second = key_of(windows, start, end)
        begin = first_slot(first, second, words.shift)
        slot = slot_with(data, start, end - start, first, second, begin, words)
        if slot < 0:
            break
        words.slots[_U(slot) + _THREE] += _U(counts[number])
        number += 1
    return number


@kernel
def move_words(old: Uint64s, words: WordTable) -> None:
    """Fill empty slots with all words from the slots of a smaller table. Both are read and written in order,
    since the first slot of a word is the upper bits of its hash."""
    slots = words.slots
    mask = _U(len(slots)) - _ONE
    for place in range(0, len(old), 4):
        source = _U(place)
        if old[source + _TWO] == _ZERO:
            continue
        at = first_slot(old[source], old[source + _ONE], words.shift)
        while slots[at + _TWO] != _ZERO:
            at = (at + _FOUR) & mask
        slots[at] = old[source]
        slots[at + _ONE] = old[source + _ONE]
        slots[at + _TWO] = old[source + _TWO]
        slots[at + _THREE] = old[source + _THREE]
        words.places[number_at(slots, at)] = I64(at)


@kernel
def read_counts(words: WordTable, counts: Int64s) -> None:
    """Write the value of each word, in order of first appearance."""
    for number in range(words.used[0]):
        counts[number] = I64(words.slots[_U(words.places[number]) + _THREE])


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
