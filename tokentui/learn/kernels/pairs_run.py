"""Kernels: training, and the candidates of a step. The arrays are those of `pairs_fields`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokentui.core.jit.compiling import BYTES, NUMBERS, inlined, kernel, types
from tokentui.learn.kernels.pairs_fields import (
    AT_LEVEL,
    CELLS,
    LEVEL,
    LOG,
    PLACES,
    RANKING,
    SHORTEST,
    SHORTS,
    STEPS,
    SYMBOLS,
    TABLE,
)
from tokentui.learn.kernels.pairs_merge import may_be_made, merge
from tokentui.learn.kernels.pairs_queue import (
    best_pair,
    bits_of,
    drop_first,
    key_of,
    put,
    replace,
    sift_down,
    sift_up,
    wait,
)

A_STEP = 8
"""The cost of a step without its places, in places."""


@inlined
def has_room(
    pair: int, known: int, base: int, rule: int, steps: Any, places: Any, log: Any, table: Any, text: Any, ends: Any
) -> bool:
    """True if the arrays have room for the merge of a pair."""
    size = table[pair + 1].first - table[pair].first
    pairs = steps[known].pairs
    token = base + known
    if known + 2 > len(steps) or token + 2 > len(ends):
        return False
    if pairs + min(2 * size, 2 * token + 2) + 2 > len(table):
        return False
    if table[pairs].first + 2 * size > len(places) or steps[known].logged + size > len(log):
        return False
    if rule < SHORTEST:
        return True
    left, right = table[pair].left, table[pair].right
    return bool(ends[token] + ends[left + 1] - ends[left] + ends[right + 1] - ends[right] <= len(text))


@inlined
def spell(token: int, left: int, right: int, prefix: int, text: Any, ends: Any) -> None:
    """Write the piece of a new symbol down."""
    at = ends[token]
    for n in range(ends[left], ends[left + 1]):
        text[at] = text[n]
        at += 1
    for n in range(ends[right] + prefix, ends[right + 1]):
        text[at] = text[n]
        at += 1
    ends[token + 1] = at


@inlined
def take_in(
    first: int, pairs: int, longest: int, rule: int, prefix: int, heap: Any, queue: Any, chains: Any,
    cells: Any, places: Any, table: Any, counts: Any, symbols: Any, text: Any, ends: Any,
) -> None:
    """Queue the candidates among the pairs from the one number up to the other."""
    level = queue[LEVEL]
    level_bits = bits_of(level)
    for pair in range(first, pairs):
        if not may_be_made(pair, longest, table, symbols):
            continue
        if counts[pair] == level and level > 0:
            queue[AT_LEVEL] += 1
            at = put(pair, level, rule, heap, queue, cells, places, table, symbols)
            sift_up(at, rule, prefix, heap, table, text, ends)
        else:
            wait(pair, counts[pair], level, level_bits, table, chains)


@kernel(
    types.int64(
        types.int64, types.int64, types.int64, types.int64, types.int64, types.int64, types.int64, types.int64,
        STEPS, RANKING, NUMBERS, SHORTS, CELLS, PLACES, LOG, TABLE, NUMBERS, SYMBOLS, NUMBERS, BYTES, NUMBERS,
    )
)
def run(
    known: int, goal: int, least: int, most: int, base: int, longest: int, rule: int, prefix: int,
    steps: Any, heap: Any, queue: Any, chains: Any, cells: Any, places: Any, log: Any, table: Any, counts: Any, symbols: Any,
    uses: Any, text: Any, ends: Any,
) -> int:
    """Make new merges. When it returns, the best candidate is the first of the heap, if there is one.

    Args:
        known: The furthest step.
        goal: Stop at this one.
        least: Stop before a pair that stands less often.
        most: Stop after so many places.
        base: The number of base symbols.
        longest: The greatest length of a token.
        rule: The tie rule.
        prefix: The length of the mark that a right part loses.

    Returns:
        The step arrived at. It stops too where no pair is left, or where an array is too small for the next merge.
    """
    while True:
        pair = best_pair(rule, prefix, heap, queue, chains, cells, places, table, counts, symbols, text, ends)
        level = queue[LEVEL]
        if pair == 0 or known >= goal or level < least or most <= 0:
            return known
        if not has_room(pair, known, base, rule, steps, places, log, table, text, ends):
            return known
        token = base + known
        left, right = table[pair].left, table[pair].right
        symbols[token].length = symbols[left].length + symbols[right].length
        if rule >= SHORTEST:
            spell(token, left, right, prefix, text, ends)
        drop_first(rule, prefix, heap, queue, table, text, ends)
        first_new, logged = steps[known].pairs, steps[known].logged
        replaced, fallen, pairs, log_end = merge(
            pair, token, first_new, logged, level, longest, cells, places, log, table, counts, symbols
        )
        steps[known].chosen = pair
        steps[known].count = level
        steps[known].replaced = replaced
        steps[known].tied = queue[AT_LEVEL]
        steps[known].left_uses = uses[left]
        steps[known].right_uses = uses[right]
        uses[token] = replaced
        uses[left] -= replaced
        uses[right] -= replaced
        queue[AT_LEVEL] -= fallen
        take_in(first_new, pairs, longest, rule, prefix, heap, queue, chains, cells, places, table, counts, symbols, text, ends)
        tokens = steps[known].tokens - replaced
        known += 1
        steps[known].pairs = pairs
        steps[known].logged = log_end
        steps[known].tokens = tokens
        most -= log_end - logged + A_STEP


@kernel(
    types.void(
        types.int64, types.int64, types.int64, types.int64,
        RANKING, NUMBERS, SHORTS, CELLS, PLACES, TABLE, NUMBERS, SYMBOLS, BYTES, NUMBERS,
    )
)
def fill(
    pairs: int, longest: int, rule: int, prefix: int,
    heap: Any, queue: Any, chains: Any, cells: Any, places: Any, table: Any, counts: Any, symbols: Any, text: Any, ends: Any,
) -> None:
    """Make the queue anew, with the candidates among the first so many pairs."""
    chains[:] = 0
    queue[:] = 0
    first: Any = np.int64(1)
    take_in(first, pairs, longest, rule, prefix, heap, queue, chains, cells, places, table, counts, symbols, text, ends)


@kernel(
    types.UniTuple(types.int64, 3)(
        types.int64, types.int64, types.int64, types.int64, types.int64, types.int64,
        NUMBERS, NUMBERS, RANKING, CELLS, PLACES, TABLE, NUMBERS, SYMBOLS, BYTES, NUMBERS,
    )
)
def standing(
    pairs: int, limit: int, least: int, longest: int, rule: int, prefix: int,
    best: Any, highest: Any, heap: Any, cells: Any, places: Any, table: Any, counts: Any, symbols: Any, text: Any, ends: Any,
) -> tuple[int, int, int]:
    """The candidates of a step, the best first.

    Args:
        pairs: The number of pairs.
        limit: The number of the best to put in order.
        least: A pair that stands less often is no candidate.
        longest, rule, prefix: As for `run`.
        best: Room for `limit` pairs.
        highest: Room for `limit` counts.
        heap: Room for as many rows as there are candidates.

    Returns:
        (how many candidates there are, how many of them have the greatest count, how many are in `best`).
    """
    size = 0
    found = 0
    greatest = 0
    tied = 0
    for pair in range(1, pairs):  # `highest` becomes the greatest counts, the least of them first: a heap
        count = counts[pair]
        if count < least or not may_be_made(pair, longest, table, symbols):
            continue
        found += 1
        if count >= greatest:
            tied = tied + 1 if count == greatest else 1
            greatest = count
        if size < limit:
            at = size
            size += 1
            while at > 0 and highest[(at - 1) >> 1] > count:
                highest[at] = highest[(at - 1) >> 1]
                at = (at - 1) >> 1
            highest[at] = count
        elif limit > 0 and count > highest[0]:
            at = 0
            while True:
                child = 2 * at + 1
                if child + 1 < size and highest[child + 1] < highest[child]:
                    child += 1
                if child >= size or highest[child] >= count:
                    break
                highest[at] = highest[child]
                at = child
            highest[at] = count
    if size == 0:
        return found, tied, 0
    last = max(highest[0], least)
    rows = 0
    for pair in range(1, pairs):
        if counts[pair] >= last and may_be_made(pair, longest, table, symbols):
            heap[rows].worth = counts[pair]
            heap[rows].key = key_of(pair, rule, cells, places, table, symbols)
            heap[rows].pair = pair
            rows += 1
    for at in range((rows >> 1) - 1, -1, -1):
        sift_down(at, rows, rule, prefix, heap, table, text, ends)
    first: Any = np.int64(0)
    for n in range(size):
        best[n] = heap[0].pair
        rows -= 1
        replace(first, rows, heap)
        sift_down(first, rows, rule, prefix, heap, table, text, ends)
    return found, tied, size


@kernel(types.int64(types.int64, STEPS, CELLS, PLACES, LOG, TABLE, SYMBOLS, NUMBERS, NUMBERS))
def changes(number: int, steps: Any, cells: Any, places: Any, log: Any, table: Any, symbols: Any, fell: Any, changed: Any) -> int:
    """By how much the counts of other pairs fell in the last step, from its log.

    Args:
        number: The step, 1 or more, at which the corpus stands.
        fell: Zeros, one for each pair; it gets the falls.
        changed: Room for twice as many pairs as the step had places; it gets the pairs that changed.

    Returns:
        How many pairs changed.
    """
    pair, first_new = steps[number - 1].chosen, steps[number - 1].pairs
    offset = symbols[table[pair].left].length
    size = 0
    entry = table[pair].first
    for logged in range(steps[number - 1].logged, steps[number].logged):
        start = np.int64(log[logged].place)
        while places[entry].place != start:
            entry += 1
        for side in range(2):
            old = log[logged].old if side == 0 else ~cells[start + offset].pair
            if 0 < old < first_new and old != pair:
                if fell[old] == 0:
                    changed[size] = old
                    size += 1
                fell[old] += places[entry].weight
    return size


@kernel(types.int64(types.int64, CELLS, PLACES, TABLE, SYMBOLS))
def disjoint(pair: int, cells: Any, places: Any, table: Any, symbols: Any) -> int:
    """The weight of the places of a pair that a merge replaces.

    A place that overlaps an earlier replaced one stays, and does not count.
    """
    size = symbols[table[pair].left].length + symbols[table[pair].right].length
    replaced = 0
    free = 0
    for entry in range(table[pair].first, table[pair + 1].first):
        place = np.int64(places[entry].place)
        if cells[place].pair == pair and (place >= free or table[pair].left != table[pair].right):
            replaced += places[entry].weight
            free = place + size
    return replaced
