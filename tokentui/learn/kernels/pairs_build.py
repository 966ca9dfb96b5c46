"""Kernels: from units to cells and their first pairs. The arrays are those of `pairs_fields`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokentui.core.jit.compiling import GIVEN_NUMBERS, NUMBERS, helper, kernel, types
from tokentui.learn.kernels.pairs_fields import BOUNDARY, CELLS, PLACES, SHORTS, TABLE

_U = np.uint64
_SPREAD = _U(0x9E3779B97F4A7C15)  # an odd number without a pattern, for multiplicative hashing


@kernel(types.int64(SHORTS, GIVEN_NUMBERS, GIVEN_NUMBERS, SHORTS, SHORTS, NUMBERS))
def number_units(units: Any, ends: Any, weights: Any, numbers: Any, found: Any, totals: Any) -> int:
    """Number the units of words in order of first appearance.

    Args:
        units: The units of all words, as any numbers; they are replaced by the new ones.
        ends: Where the words end, a 0 before the first.
        weights: The weight of each word in the counts.
        numbers: Zeros, one for each number that a unit may be.
        found: Room for as many; it gets the units in order.
        totals: Zeros, as many; it gets how often each unit stands, by weight.

    Returns:
        How many there are.
    """
    size = 0
    for word in range(len(weights)):
        for at in range(ends[word], ends[word + 1]):
            unit = units[at]
            number = numbers[unit]
            if number == 0:
                found[size] = unit
                size += 1
                numbers[unit] = number = size
            units[at] = number - 1
            totals[number - 1] += weights[word]
    return size


@kernel(types.void(SHORTS, GIVEN_NUMBERS, SHORTS, CELLS, NUMBERS))
def lay_out(units: Any, ends: Any, symbols: Any, cells: Any, starts: Any) -> None:
    """Write words into cells, one sentinel before and after each; `symbols` has the symbol of each unit."""
    at = 0
    cells[at].symbol = BOUNDARY
    cells[at].pair = 0
    for word in range(len(ends) - 1):
        at += 1
        starts[word] = at
        for place in range(ends[word], ends[word + 1]):
            cells[at].symbol = symbols[units[place]]
            cells[at].pair = 0
            at += 1
        cells[at].symbol = BOUNDARY
        cells[at].pair = 0


@helper
def slot_of(left: int, right: int, shift: int, slots: Any, table: Any) -> int:
    """Where a pair stands in the hash table, or the free slot where it belongs."""
    slot = np.int64((_U(left) << _U(32) | _U(right)) * _SPREAD >> _U(shift))
    while slots[slot] != 0 and (table[slots[slot]].left != left or table[slots[slot]].right != right):
        slot = (slot + 1) & (len(slots) - 1)
    return int(slot)


@kernel(
    types.UniTuple(types.int64, 2)(
        types.int64, types.int64, types.int64, NUMBERS, GIVEN_NUMBERS, CELLS, TABLE, NUMBERS, SHORTS
    )
)
def pair_up(
    word: int, pairs: int, shift: int, starts: Any, weights: Any, cells: Any, table: Any, counts: Any, slots: Any
) -> tuple[int, int]:
    """Find the pairs of neighbouring units and count them, overlapping ones too, from a word on.

    Args:
        word: The word to begin with.
        pairs: The number of pairs so far.
        shift: 64 less the number of bits of the hash table.
        slots: The hash table.

    Returns:
        (the word to go on with once `table` and `slots` are larger, the number of pairs). The number of places of each pair is
        in `table[pair].first`.
    """
    for number in range(word, len(starts)):
        at = starts[number]
        if cells[at].symbol == BOUNDARY:
            continue
        # A word too large for what is left goes on in larger arrays, whatever its pairs are.
        while cells[at + 1].symbol != BOUNDARY:
            left, right = cells[at].symbol, cells[at + 1].symbol
            pair = cells[at].pair
            if pair == 0:
                slot = slot_of(left, right, shift, slots, table)
                pair = slots[slot]
                if pair == 0:
                    if pairs + 2 > len(table) or 2 * pairs >= len(slots):
                        return number, pairs
                    pair = pairs
                    pairs += 1
                    slots[slot] = pair
                    table[pair].left = left
                    table[pair].right = right
                    table[pair].first = 0
                    counts[pair] = 0
                cells[at].pair = pair
                table[pair].first += 1
                counts[pair] += weights[number]
            at += 1
    return len(starts), pairs


@kernel(types.void(types.int64, types.int64, TABLE, SHORTS))
def hash_again(pairs: int, shift: int, table: Any, slots: Any) -> None:
    """Put the pairs into a larger hash table."""
    for pair in range(1, pairs):
        slots[slot_of(table[pair].left, table[pair].right, shift, slots, table)] = pair


@kernel(types.void(types.int64, NUMBERS, GIVEN_NUMBERS, CELLS, PLACES, TABLE))
def list_places(pairs: int, starts: Any, weights: Any, cells: Any, places: Any, table: Any) -> None:
    """Note where each pair stands; `table[pair].first` says how many places it has."""
    table[0].first = 0
    at = 0
    for pair in range(1, pairs):
        size = table[pair].first
        table[pair].first = at
        at += size
    table[pairs].first = at
    for word in range(len(starts)):
        at = starts[word]
        while cells[at].pair > 0:
            pair = cells[at].pair
            place = table[pair].first
            places[place].place = at
            places[place].weight = weights[word]
            table[pair].first = place + 1
            at += 1
    for pair in range(pairs - 1, 0, -1):
        table[pair].first = table[pair - 1].first
