"""Kernels that find the most probable segmentation of words (Viterbi).

The tokens are a trie of bytes. A hash table maps a node and a byte to the next node. The node where a token
ends has its symbol.
"""

from __future__ import annotations

from math import inf
from typing import Any

from tokentui.core.native import (
    I64,
    U64,
    Float32s,
    Float64s,
    Int32s,
    Int64s,
    Uint8s,
    Uint64s,
    hashed,
    helper,
    kernel,
)

NODES = 1 << 24
"""The limit for the nodes of a trie. A node and a byte must fit into 32 bits."""
LARGEST_SUM = 1e5
"""In single precision, a sum beyond this is subtracted from all sums that are still open."""

_U = U64
_BYTE, _HALF, _FREE, _LOW = _U(8), _U(32), _U(0), _U(0xFFFFFFFF)


@helper
def place_after(node: int, value: int, slots: Any) -> Any:
    """Return the slot of the node that follows a node by a byte, or the free slot where it belongs."""
    key = _U(node) << _BYTE | _U(value)
    mask = len(slots) - 1
    place = hashed(key, _HALF) & mask
    while slots[place] != _FREE and slots[place] >> _HALF != key:
        place = (place + 1) & mask
    return place


@kernel
def put_tokens(text: Uint8s, bounds: Int64s, symbols: Int32s, slots: Uint64s, ends: Int32s) -> int:
    """Fill a trie.

    Args:
        text: The concatenated tokens.
        bounds: The offset where each token starts, and the end.
        symbols: The symbol of each token.
        slots: The hash table, zeroed. Its length is a power of two, greater than the number of bytes.
        ends: Receives the symbol of each node. Filled with -1; one item more than there are bytes.

    Returns:
        The number of nodes.
    """
    count = 1
    for number in range(len(symbols)):
        node = 0
        for at in range(bounds[number], bounds[number + 1]):
            place = place_after(node, text[at], slots)
            if slots[place] == _FREE:
                slots[place] = (_U(node) << _BYTE | _U(text[at])) << _HALF | _U(count)
                count += 1
            node = I64(slots[place] & _LOW)
        ends[node] = symbols[number]
    return count


@helper
def unit_end(text: Any, at: int, stop: int, characters: int) -> int:
    """Return the end of the unit that starts at a place: of a character of UTF-8, or of a byte."""
    at += 1
    while characters > 0 and at < stop and text[at] & 0xC0 == 0x80:
        at += 1
    return at


@helper
def relax(
    text: Any, base: int, start: int, size: int, characters: int, slots: Any, ends: Any, scores: Any,
    unknown: float, best: Any, last: Any,
) -> None:
    """Extend the best path to an offset of a word by each token that starts there. If the unit there is no
    token, extend it by the unit as unknown.

    `best` has the score of the best path to each offset. `last` has the start of the last token of that path,
    and its symbol, -1 for unknown.
    """
    here, alone, known = best[start], unit_end(text, base + start, base + size, characters) - base, False
    node = 0
    for at in range(start, size):
        found = slots[place_after(node, text[base + at], slots)]
        if found == _FREE:
            break
        node = I64(found & _LOW)
        end, symbol = at + 1, ends[node]
        if symbol < 0 or (characters > 0 and end < size and text[base + end] & 0xC0 == 0x80):
            continue
        known = known or end == alone
        score = scores[symbol] + here
        if score > best[end]:
            best[end] = score
            last[2 * end], last[2 * end + 1] = start, symbol
    if not known and here + unknown > best[alone]:
        best[alone] = here + unknown
        last[2 * alone], last[2 * alone + 1] = start, -1


@helper
def write_path(size: int, last: Int64s, numbered: Int64s, ids: Int32s, filled: int) -> int:
    """Write the ids of the best path to the end of a word of `size` bytes, from index `filled` on. Return the
    index after them."""
    at = size
    while at > 0:
        filled += 1
        at = last[2 * at]
    place = filled
    at = size
    while at > 0:
        place -= 1
        symbol = last[2 * at + 1]
        ids[place] = -1 if symbol < 0 else numbered[symbol]
        at = last[2 * at]
    return filled


@kernel
def cut_words(
    text: Uint8s, bounds: Int64s, characters: int, slots: Uint64s, ends: Int32s, scores: Float64s,
    unknown: float, numbered: Int64s, best: Float64s, last: Int64s, starts: Int64s, ids: Int32s,
) -> None:
    """Cut words into the tokens of their most probable segmentations. Of segmentations with equal scores, the
    one whose last token is longest counts; then the one before it, and so on.

    Args:
        text: The concatenated words.
        bounds: The offset where each word starts, and the end.
        characters: 1 if the units are characters, 0 if they are bytes.
        slots, ends: The trie of the tokens.
        scores: The score of each symbol.
        unknown: The score of a unit that is no token.
        numbered: The id of each symbol.
        best, last: Work arrays: an item for each byte of the longest word and one more; two items each.
        starts, ids: Receive the ids, at most one for each byte. An unknown unit has the id -1.
    """
    filled = 0
    for number in range(len(bounds) - 1):
        base = bounds[number]
        size = bounds[number + 1] - base
        best[0] = 0.0
        for n in range(1, size + 1):
            best[n] = -inf
        start = 0
        while start < size:
            relax(text, base, start, size, characters, slots, ends, scores, unknown, best, last)
            start = unit_end(text, base + start, base + size, characters) - base
        filled = write_path(size, last, numbered, ids, filled)
        starts[number + 1] = filled


@helper
def relax_single(
    text: Any, base: int, start: int, size: int, slots: Any, ends: Any, scores: Any, unknown: float,
    sums: Any, last: Any,
) -> None:
    """Do as `relax` for units that are characters, with sums rounded to single precision.

    If the sum at `start` exceeds LARGEST_SUM, all later sums are first lowered by it. An offset that no path
    leads to yet has the start -1 in `last`.
    """
    if abs(sums[start]) > LARGEST_SUM:
        offset = sums[start]
        for n in range(start, size + 1):
            sums[n] = sums[n] - offset
    here, alone, known = sums[start], unit_end(text, base + start, base + size, 1) - base, False
    node = 0
    for at in range(start, size):
        found = slots[place_after(node, text[base + at], slots)]
        if found == _FREE:
            break
        node = I64(found & _LOW)
        end, symbol = at + 1, ends[node]
        if symbol < 0 or (end < size and text[base + end] & 0xC0 == 0x80):
            continue
        known = known or end == alone
        take_single(end, start, symbol, scores[symbol] + here, sums, last)
    if not known:
        take_single(alone, start, -1, unknown + here, sums, last)


@helper
def take_single(end: int, start: int, symbol: int, sum_: float, sums: Any, last: Any) -> None:
    """Keep this path to `end` if none is known, or if its score, rounded to single precision, is higher."""
    before = sums[end]
    sums[end] = sum_
    if last[2 * end] < 0 or sums[end] > before:
        last[2 * end], last[2 * end + 1] = start, symbol
    else:
        sums[end] = before


@kernel
def cut_text(
    text: Uint8s, bounds: Int64s, slots: Uint64s, ends: Int32s, scores: Float64s, unknown: float,
    numbered: Int64s, totals: Float32s, sums: Float32s, last: Int64s, starts: Int64s, ids: Int32s,
) -> None:
    """Cut the consecutive words of a text, with sums in single precision that go on from word to word.

    Args:
        text, bounds: As for `cut_words`.
        slots, ends, scores, unknown, numbered: As for `cut_words`.
        totals: The sum before each word, and after the last one. The first is given; the others are written.
        sums, last: Work arrays, as `best` and `last` for `cut_words`.
        starts, ids: As for `cut_words`.
    """
    filled = 0
    for number in range(len(bounds) - 1):
        base = bounds[number]
        size = bounds[number + 1] - base
        for n in range(size + 1):
            sums[n] = totals[number]
            last[2 * n] = -1
        start = 0
        while start < size:
            relax_single(text, base, start, size, slots, ends, scores, unknown, sums, last)
            start = unit_end(text, base + start, base + size, 1) - base
        totals[number + 1] = sums[size]
        filled = write_path(size, last, numbered, ids, filled)
        starts[number + 1] = filled
