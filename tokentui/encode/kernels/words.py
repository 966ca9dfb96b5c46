"""Kernels that encode words by merges, and texts by the values of their words.

Words are numbered by the table of `scan_count`. The ids of word n are `ids[starts[n]:starts[n + 1]]`. A word
is merged once, when it is new; later its ids are copied. Its value in the table has its ids if it has one or
two, so that a scan reads them when it finds the word; else it has the number of the word.
"""

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
    hashed,
    helper,
    inlined,
    kernel,
)
from tokentui.text.kernels.scan_count import (
    BY_NUMBER,
    Bigrams,
    Scan,
    WordTable,
    find_stretches,
    find_words,
    found_number,
)
from tokentui.text.kernels.scan_words import code_at, width_of

SYMBOL_BITS = 21
"""Bits of a symbol. A pair and its rank must fit into 64 bits; no vocabulary has two million symbols."""
NONE = 1 << SYMBOL_BITS
"""The rank of two adjacent symbols that do not merge."""
SHORT = 48
"""For words of up to this many units each merge scans the whole word; longer words use a heap."""

_U = U64
_EMPTY = _U(0xFFFFFFFFFFFFFFFF)
LEFT = -1
"""The result of a short text that has to be encoded otherwise."""
_ONE, _TWO, _THREE, _SECOND, _SIZE, _FIRST = _U(1), _U(2), _U(3), _U(31), _U(62), _U((1 << 31) - 1)
_BITS, _RANK, _HIGH = _U(SYMBOL_BITS), _U(NONE - 1), _U(2 * SYMBOL_BITS)


class MergeTables(NamedTuple):
    """The merges of a vocabulary of bytes or characters.

    Attributes:
        units: The symbol of each of the 256 bytes; -1 for none.
        characters: For each code point, one more than its symbol; 0 for one that is replaced by its bytes, -1
            for one that kernels cannot encode. Empty if the units are bytes.
        slots: A hash table of the pairs that merge, each with its rank, of 64 bits.
        makes: The result of each rank.
        numbered: The id of each symbol.
    """

    units: Int64s
    characters: Int32s
    slots: Uint64s
    makes: Int64s
    numbered: Int64s




@helper
def slot_of(key: Any, slots: Any) -> Any:
    """Return the slot of a pair in the table of merges, or the free slot where it belongs. `key` is the pair
    with rank 0."""
    mask = len(slots) - 1
    place = hashed(key, _HIGH) & mask
    while slots[place] != _EMPTY and slots[place] & ~_RANK != key:
        place = (place + 1) & mask
    return place


@inlined
def rank_of(left: int, right: int, slots: Any) -> Any:
    """Return the rank of two adjacent symbols, `NONE` if they do not merge."""
    found = slots[slot_of(_U(left) << _U(2 * SYMBOL_BITS) | _U(right) << _BITS, slots)]
    return NONE if found == _EMPTY else I64(found & _RANK)


@kernel
def put_pairs(
    keys: Int64s, ranks: Int64s, makes: Int64s, width: int, limit: int, lengths: Int64s, slots: Uint64s
) -> int:
    """Fill the table of merges. Its length is a power of two, more than the number of pairs.

    Args:
        keys: Each pair, as `left * width + right`.
        ranks: The rank of each pair.
        makes: The result of each rank.
        width: See `keys`.
        limit: Pairs are left out if a part or the result is not below it.
        lengths: The length of each symbol, in bytes.
        slots: Receives the table. Of equal pairs the first one counts.

    Returns:
        The number of pairs whose result is not as long as both parts together.
    """
    slots[:] = _EMPTY
    odd = 0
    for n in range(len(ranks)):
        left, right, made = keys[n] // width, keys[n] % width, makes[ranks[n]]
        if left >= limit or right >= limit or made >= limit:
            continue
        odd += I64(lengths[left] + lengths[right] != lengths[made])
        key = _U(left) << _U(2 * SYMBOL_BITS) | _U(right) << _BITS
        place = slot_of(key, slots)
        if slots[place] == _EMPTY:
            slots[place] = key | _U(ranks[n])
    return odd


@kernel
def spell_pairs(
    data: Uint8s, windows: Windows, bounds: Int64s, pieces: WordTable, symbols: Int64s, width: int,
    keys: Int64s, made: Int64s,
) -> int:
    """Find the pairs of tokens that spell a token.

    Args:
        data: The concatenated tokens, with padding.
        windows: The eight bytes at each offset of the data, as one number.
        bounds: A 0, then the offset where each token ends.
        pieces: The table of the tokens, in this order.
        symbols: The symbol of each token.
        width: See `put_pairs`.
        keys: Receives each pair, as `put_pairs` takes it.
        made: Receives the symbol that each pair spells.

    Returns:
        The number of pairs. They are in the order of the tokens, those of one token by the length of the left
        part.
    """
    filled = 0
    for number in range(len(bounds) - 1):
        start, end = bounds[number], bounds[number + 1]
        for middle in range(start + 1, end):
            left = found_number(data, windows, start, middle, pieces)
            if left < 0:
                continue
            right = found_number(data, windows, middle, end, pieces)
            if right >= 0:
                keys[filled] = symbols[left] * width + symbols[right]
                made[filled] = symbols[number]
                filled += 1
    return filled


@helper
def merge_short(cells: Any, ranks: Any, size: int, slots: Any, makes: Any) -> int:
    """Merge a word in place, the leftmost pair of lowest rank first. Return how many symbols remain."""
    for n in range(size - 1):
        ranks[n] = rank_of(cells[n], cells[n + 1], slots)
    while size > 1:
        best, at = NONE, 0
        for n in range(size - 1):
            if ranks[n] < best:
                best, at = ranks[n], n
        if best == NONE:
            break
        cells[at] = makes[best]
        size -= 1
        for n in range(at + 1, size):
            cells[n] = cells[n + 1]
            ranks[n] = ranks[n + 1]
        if at + 1 < size:
            ranks[at] = rank_of(cells[at], cells[at + 1], slots)
        if at > 0:
            ranks[at - 1] = rank_of(cells[at - 1], cells[at], slots)
    return size


@helper
def push(heap: Any, count: int, entry: int) -> int:
    """Put an entry on the heap, whose smallest entry is first. Return the new number of entries."""
    at = count
    while at > 0 and heap[(at - 1) >> 1] > entry:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = entry
    return count + 1


@helper
def drop_first(heap: Any, count: int) -> int:
    """Remove the first entry from the heap. Return the new number of entries."""
    count -= 1
    entry = heap[count]
    at, child = 0, 1
    while child < count:
        if child + 1 < count and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= entry:
            break
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    heap[at] = entry
    return count


@helper
def merge_long(cells: Any, ranks: Any, links: Any, heap: Any, size: int, slots: Any, makes: Any) -> int:
    """Merge as `merge_short` does, in nearly linear time: with a heap of (rank, place) and a linked list."""
    count = 0
    for n in range(size):
        links[2 * n] = n - 1
        links[2 * n + 1] = n + 1
        ranks[n] = NONE
        if n + 1 < size:
            ranks[n] = rank_of(cells[n], cells[n + 1], slots)
            if ranks[n] < NONE:
                count = push(heap, count, ranks[n] << 32 | n)
    while count > 0:
        rank, at = heap[0] >> 32, heap[0] & 0xFFFFFFFF
        count = drop_first(heap, count)
        if ranks[at] != rank:
            continue  # one of the two has been merged since
        right = links[2 * at + 1]
        ranks[right] = NONE
        after = links[2 * at + 1] = links[2 * right + 1]
        cells[at] = makes[rank]
        ranks[at] = NONE
        if after < size:
            links[2 * after] = at
            ranks[at] = rank_of(cells[at], cells[after], slots)
            if ranks[at] < NONE:
                count = push(heap, count, ranks[at] << 32 | at)
        before = links[2 * at]
        if before >= 0:
            ranks[before] = rank_of(cells[before], cells[at], slots)
            if ranks[before] < NONE:
                count = push(heap, count, ranks[before] << 32 | before)
    left = at = 0
    while at < size:
        cells[left] = cells[at]
        left += 1
        at = links[2 * at + 1]
    return left


@helper
def merge_word(room: Any, size: int, slots: Any, makes: Any) -> int:
    """Merge the symbols of a word in place. They are at the start of `room`, which has seven times as many
    numbers. Return how many symbols remain."""
    if size <= SHORT:
        return merge_short(room, room[size:], size, slots, makes)
    return merge_long(room, room[size:], room[2 * size :], room[4 * size :], size, slots, makes)


@helper
def spell(text: Any, at: int, end: int, room: Any, merges: MergeTables) -> Any:
    """Write the symbols of the units of a word to the start of `room`: of its characters, or of its bytes if
    `merges.characters` is empty. A character that `characters` says to spell by bytes gets the symbols of its
    bytes.

    Returns:
        The number of symbols; -1 if a unit has none, or is half of a surrogate pair.
    """
    units, characters = merges.units, merges.characters
    by_bytes = len(characters) == 0
    size: Any = 0
    while at < end:
        value = text[at]
        width = 1
        symbol: Any = 0
        if not by_bytes:
            width = width_of(value)
            symbol = I64(characters[code_at(text, at)])
        if symbol < 0 or (value == 0xED and text[at + 1] >= 0xA0):
            return -1
        if symbol > 0:
            room[size] = symbol - 1
            size += 1
        else:
            for n in range(width):
                room[size] = units[text[at + n]]
                if room[size] < 0:
                    return -1
                size += 1
        at += width
    return size


@helper
def merge_each(
    words: WordTable, number: int, last: int, room: Int64s, starts: Int64s, ids: Int32s, merges: MergeTables
) -> int:
    """Encode the words from `number` up to `last`.

    Args:
        words: The table of words.
        number, last: The range of words.
        room: A work array, seven numbers for each byte of the longest of these words.
        starts, ids: Receive the ids, at most one for each byte.
        merges: The merges.

    Returns:
        The first word that contains a unit without a symbol, or a surrogate; `last` if all are encoded.
    """
    ends, slots, makes = words.ends, merges.slots, merges.makes
    filled = starts[number]
    while number < last:
        size = spell(words.text, ends[number], ends[number + 1], room, merges)
        if size < 0:
            return number
        size = merge_word(room, size, slots, makes)
        for n in range(size):
            ids[filled + n] = merges.numbered[room[n]]
        filled += size
        number += 1
        starts[number] = filled
    return number


merge_words = kernel(merge_each)


@kernel
def merge_symbols(
    symbols: Int32s, bounds: Int64s, room: Int64s, starts: Int64s, ids: Int32s, merges: MergeTables
) -> None:
    """Encode words whose units are given as symbols.

    Args:
        symbols: The concatenated symbols of the words; -1 for a unit without a symbol.
        bounds: The offset where each word starts, and the end.
        room: A work array, seven numbers for each unit of the longest word.
        starts, ids: Receive the ids, at most one for each unit. A word with a unit without a symbol gets the
            single id -1.
        merges: The merges.
    """
    filled = 0
    for number in range(len(bounds) - 1):
        start = bounds[number]
        size = bounds[number + 1] - start
        known = True
        for n in range(size):
            room[n] = symbols[start + n]
            known = known and room[n] >= 0
        if known:
            size = merge_word(room, size, merges.slots, merges.makes)
            for n in range(size):
                ids[filled + n] = merges.numbered[room[n]]
            filled += size
        else:
            ids[filled] = -1
            filled += 1
        starts[number + 1] = filled


@helper
def note_each(number: int, last: int, starts: Int64s, ids: Int32s, words: WordTable) -> None:
    """Write the values of the words from `number` up to `last`: how many ids a word has, and the ids, if they
    are one or two; else `BY_NUMBER` and the number of the word."""
    while number < last:
        start = starts[number]
        size = starts[number + 1] - start
        first, second = ids[start], ids[start + 1]
        value = BY_NUMBER | _U(number)
        if size == 1 and first >= 0:
            value = _ONE << _SIZE | _U(first)
        elif size == 2 and first >= 0 and second >= 0:
            value = _TWO << _SIZE | _U(second) << _SECOND | _U(first)
        words.slots[_U(words.places[number]) + _THREE] = value
        number += 1


note_ids = kernel(note_each)


@inlined
def size_of(value: Any, starts: Int64s) -> Any:
    """Return the number of ids of a word by its value."""
    if value >= BY_NUMBER:
        word = I64(value ^ BY_NUMBER)
        return starts[word + 1] - starts[word]
    return I64(value >> _SIZE)


@helper
def copy_each(
    values: Uint64s, number: int, count: int, starts: Int64s, ids: Int32s, out: Int32s, filled: int
) -> tuple[int, int]:
    """Write the ids of the words of texts to `out`, until it is full.

    Args:
        values: The value of each word of the texts, as a scan wrote it.
        number: The index in `values` to begin with.
        count: The number of words of the texts.
        starts, ids: The ids of the words of the table.
        out: Receives the ids.
        filled: The ids written so far.

    Returns:
        (the index to continue with, or `count` if all words are written; the ids written so far).
    """
    while number < count:
        if filled + 2 > len(out):
            break
        value, place = values[_U(number)], _U(filled)
        # Always write both ids: the second one is overwritten if the word has only one.
        out[place] = I64(value & _FIRST)
        out[place + _ONE] = I64(value >> _SECOND & _FIRST)
        size: Any = size_of(value, starts)
        if value >= BY_NUMBER:
            start = starts[value ^ BY_NUMBER]
            if filled + size > len(out):
                break
            for n in range(size):
                out[filled + n] = ids[start + n]
        filled += size
        number += 1
    return number, filled


write_ids = kernel(copy_each)


@kernel
def end_texts(values: Uint64s, starts: Int64s, stops: Int64s) -> None:
    """Find where the ids of each of many texts end.

    Args:
        values: The value of each word of the texts, as a scan wrote it.
        starts: The offset where the ids of each word of the table start, and the end.
        stops: How many words are before the end of each text. Receives how many ids are.
    """
    written = done = 0
    for text in range(len(stops)):
        while done < stops[text]:
            written += size_of(values[done], starts)
            done += 1
        stops[text] = written


class Coding(NamedTuple):
    """What the words of a short text are encoded with.

    Attributes:
        windows: The eight bytes at each offset of the text, as one number.
        bounds: A 0, and room for the size of the text.
        words: The table of words.
        values: Receives the value of each word.
        known: An array of one item: how many words of the table have ids.
        starts, ids: The ids of these words, as `merge_each` writes them.
        room: A work array, see `merge_each`.
        merges: The merges; without symbols if plain Python encodes new words.
        out: Receives the ids of the text.
    """

    windows: Windows
    bounds: Int64s
    words: WordTable
    values: Uint64s
    known: Int64s
    starts: Int64s
    ids: Int32s
    room: Int64s
    merges: MergeTables
    out: Int32s


class _ShortText(NamedTuple):
    """A short text that is cut by a split, with the arrays to encode it. `scan` has the same table of words
    and the same values as `coding`."""

    scan: Scan
    coding: Coding


class ShortText(Reused, _ShortText):
    """A `_ShortText` whose argument words are computed once."""


class _ShortStretches(NamedTuple):
    """A short text that is cut between characters, with the arrays to encode it."""

    data: Uint8s
    bigrams: Bigrams
    events: Int32s
    found: Uint64s
    coding: Coding


class ShortStretches(Reused, _ShortStretches):
    """A `_ShortStretches` whose argument words are computed once."""


@helper
def ids_of_values(count: int, coding: Coding) -> Any:
    """Encode the words that are new to the table, and write the ids of the first `count` words in
    `coding.values` to `coding.out`.

    Returns:
        The number of ids; `LEFT` if something is left to the caller: new words, or more room for ids.
    """
    words, starts, ids = coding.words, coding.starts, coding.ids
    known, last = coding.known[0], words.used[0]
    if known < last:
        ends = words.ends
        longest: Any = 0
        for number in range(known, last):
            longest = max(longest, ends[number + 1] - ends[number])
        filled = starts[known] + ends[last] - ends[known]
        if last >= len(starts) or filled >= len(ids) or 7 * longest > len(coding.room):
            return I64(LEFT)
        if len(coding.merges.numbered) == 0 or last > merge_each(
            words, known, last, coding.room, starts, ids, coding.merges
        ):
            return I64(LEFT)
        note_each(known, last, starts, ids, words)
        coding.known[0] = last
    done, filled = copy_each(coding.values, 0, count, starts, ids, coding.out, 0)
    return filled if done == count else I64(LEFT)


@kernel
def encode_text(text: ShortText, size: int) -> int:
    """Encode a short text that is cut by a split.

    Args:
        text: The text, with padding, and the tables.
        size: Its length in bytes.

    Returns:
        As `ids_of_values` does. `LEFT` also if the table of words has no room.
    """
    coding = text.coding
    coding.bounds[1] = size
    number, _, count = find_words(text.scan, coding.windows, coding.bounds, coding.bounds[2:], 0, 0, 0)
    return ids_of_values(count, coding) if number == 1 else LEFT


@kernel
def encode_stretches(text: ShortStretches, size: int) -> int:
    """Encode a short text that is cut between two characters that no token has side by side. The arguments
    and the result are those of `encode_text`."""
    coding = text.coding
    coding.bounds[1] = size
    number, _, count = find_stretches(
        text.data, coding.windows, coding.bounds, coding.bounds[2:], text.bigrams, coding.words, text.events,
        text.found, coding.values, 0, 0, 0,
    )
    return ids_of_values(count, coding) if number == 1 else LEFT
