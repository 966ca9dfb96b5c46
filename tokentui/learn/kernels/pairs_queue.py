"""Kernels: the queue of candidates at the furthest step, and their order. The arrays are those of `pairs_fields`.

The greatest count only falls, and so does that of each pair. So the candidates with the greatest count, the level, are in a heap
by the tie rule, and all others wait in chains that are opened when the level has fallen to them (a radix heap: Ahuja,
Mehlhorn, Orlin and Tarjan, 1990): one for each place of the first bit in which a count with as many bits differs from the level,
and one for each smaller number of bits. A pair waits where its count was when it came; a chain that is opened sends those that
have fallen further on. No pair is compared with another before it is among the best.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokentui.core.jit.compiling import helper, inlined
from tokentui.learn.kernels.pairs_fields import (
    AT_LEVEL,
    FIRST_SEEN,
    HEAP,
    LARGEST_PAIR,
    LEVEL,
    LOWEST_IDS,
    SHORTEST,
)

CHAINS = 128
"""The first half by the bit that differs, the second by the number of bits."""
_HALF = 64


@helper
def key_of(pair: int, rule: int, cells: Any, places: Any, table: Any, symbols: Any) -> int:
    """Return the first key of a tie rule for a pair. The key holds as long as the count of the pair does."""
    left, right = table[pair].left, table[pair].right
    if rule == FIRST_SEEN:
        for entry in range(table[pair].first, table[pair + 1].first):
            if cells[places[entry].place].pair == pair:
                return int(places[entry].place)
    if rule == LOWEST_IDS:
        return int(symbols[left].order) << 32 | int(symbols[right].order)
    if rule == SHORTEST:
        return int(symbols[left].length + symbols[right].length)
    return 0


@helper
def compare(text: Any, ends: Any, symbol: int, other: int) -> Any:
    """Which of two symbols comes first by its bytes: negative for the one, positive for the other."""
    start, size = ends[symbol], ends[symbol + 1] - ends[symbol]
    other_start, other_size = ends[other], ends[other + 1] - ends[other]
    for n in range(min(size, other_size)):
        if text[start + n] != text[other_start + n]:
            return np.int64(text[start + n]) - np.int64(text[other_start + n])
    return size - other_size


@helper
def compare_tokens(one: int, other: int, prefix: int, table: Any, text: Any, ends: Any) -> Any:
    """The same of the tokens that two pairs make; the right part loses its mark."""
    left, right = table[one].left, table[one].right
    other_left, other_right = table[other].left, table[other].right
    size, other_size = ends[left + 1] - ends[left], ends[other_left + 1] - ends[other_left]
    tail, other_tail = ends[right] + prefix, ends[other_right] + prefix
    whole = size + ends[right + 1] - tail
    other_whole = other_size + ends[other_right + 1] - other_tail
    for n in range(min(whole, other_whole)):
        byte = text[ends[left] + n] if n < size else text[tail + n - size]
        other_byte = text[ends[other_left] + n] if n < other_size else text[other_tail + n - other_size]
        if byte != other_byte:
            return np.int64(byte) - np.int64(other_byte)
    return whole - other_whole


@helper
def precedes_by_bytes(pair: int, other: int, rule: int, prefix: int, table: Any, text: Any, ends: Any) -> bool:
    """The same by the bytes of their pieces."""
    if rule == SHORTEST:
        order = compare_tokens(pair, other, prefix, table, text, ends)
    else:
        order = compare(text, ends, table[pair].left, table[other].left)
        if order == 0:
            order = compare(text, ends, table[pair].right, table[other].right)
        if rule == LARGEST_PAIR:
            order = -order
    return order < 0 if order != 0 else pair < other


@inlined
def precedes(row: int, other: int, rule: int, prefix: int, heap: Any, table: Any, text: Any, ends: Any) -> Any:
    """True if a row of a heap comes before another one."""
    if heap[row].worth != heap[other].worth:
        return heap[row].worth > heap[other].worth
    if heap[row].key != heap[other].key:
        return heap[row].key < heap[other].key
    if rule < SHORTEST:
        return heap[row].pair < heap[other].pair
    return precedes_by_bytes(heap[row].pair, heap[other].pair, rule, prefix, table, text, ends)


@inlined
def replace(row: int, by: int, heap: Any) -> None:
    """Write a row of a heap over another."""
    heap[row].worth = heap[by].worth
    heap[row].key = heap[by].key
    heap[row].pair = heap[by].pair


@helper
def sift_down(at: int, size: int, rule: int, prefix: int, heap: Any, table: Any, text: Any, ends: Any) -> None:
    """Let a row sink to where it belongs. The last row of `heap` is used for it meanwhile."""
    moved = len(heap) - 1
    replace(moved, at, heap)
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and precedes(child + 1, child, rule, prefix, heap, table, text, ends):
            child += 1
        if not precedes(child, moved, rule, prefix, heap, table, text, ends):
            break
        replace(at, child, heap)
        at = child
    replace(at, moved, heap)


@helper
def sift_up(at: int, rule: int, prefix: int, heap: Any, table: Any, text: Any, ends: Any) -> None:
    """Let a row rise to where it belongs. The last row of `heap` is used for it meanwhile."""
    moved = len(heap) - 1
    replace(moved, at, heap)
    while at > 0:
        parent = (at - 1) >> 1
        if not precedes(moved, parent, rule, prefix, heap, table, text, ends):
            break
        replace(at, parent, heap)
        at = parent
    replace(at, moved, heap)


@helper
def bits_of(number: int) -> int:
    """The number of bits of a number."""
    bits = 0
    while number > 0:
        bits += 1
        number >>= 1
    return bits


@inlined
def wait(pair: int, count: int, level: int, level_bits: int, table: Any, chains: Any) -> None:
    """Put a pair that has a smaller count than the level into its chain."""
    if count <= 0:
        return
    bits = bits_of(count)
    chain = bits_of(count ^ level) if bits == level_bits else _HALF + bits
    table[pair].next = chains[chain]
    chains[chain] = pair


@inlined
def put(pair: int, count: int, rule: int, heap: Any, queue: Any, cells: Any, places: Any, table: Any, symbols: Any) -> int:
    """Add a candidate of the level at the end of the heap. Returns where."""
    at = queue[HEAP]
    queue[HEAP] = at + 1
    heap[at].worth = count
    heap[at].key = key_of(pair, rule, cells, places, table, symbols)
    heap[at].pair = pair
    return int(at)


@inlined
def drop_first(rule: int, prefix: int, heap: Any, queue: Any, table: Any, text: Any, ends: Any) -> None:
    """Take the first row out of the heap."""
    queue[HEAP] -= 1
    first: Any = np.int64(0)
    replace(first, queue[HEAP], heap)
    sift_down(first, queue[HEAP], rule, prefix, heap, table, text, ends)


@helper
def open_level(
    rule: int, prefix: int, heap: Any, queue: Any, chains: Any,
    cells: Any, places: Any, table: Any, counts: Any, symbols: Any, text: Any, ends: Any,
) -> None:
    """Find the greatest count there is and put the candidates that have it into the heap, which is empty."""
    level = queue[LEVEL]
    level_bits = bits_of(level)
    while True:
        chain = 1
        while chain < _HALF and chains[chain] == 0:
            chain += 1
        if chain == _HALF:
            chain = CHAINS - 1
            while chain > _HALF and chains[chain] == 0:
                chain -= 1
            if chain == _HALF:
                queue[LEVEL] = queue[AT_LEVEL] = 0
                return
        pair: Any = np.int64(chains[chain])
        chains[chain] = 0
        staying: Any = 0
        greatest = 0
        while pair != 0:
            following = np.int64(table[pair].next)
            count = counts[pair]
            if (bits_of(count) == chain - _HALF) if chain > _HALF else (bits_of(count ^ level) == chain):
                table[pair].next = staying
                staying = pair
                greatest = max(greatest, count)
            else:
                wait(pair, count, level, level_bits, table, chains)
            pair = following
        if staying != 0:
            break
    level = greatest
    level_bits = bits_of(level)
    queue[LEVEL] = level
    queue[HEAP] = 0
    pair = staying
    while pair != 0:
        following = np.int64(table[pair].next)
        if counts[pair] == level:
            put(pair, level, rule, heap, queue, cells, places, table, symbols)
        else:
            wait(pair, counts[pair], level, level_bits, table, chains)
        pair = following
    size = queue[HEAP]
    queue[AT_LEVEL] = size
    for at in range((size >> 1) - 1, -1, -1):
        sift_down(at, size, rule, prefix, heap, table, text, ends)


@inlined
def best_pair(
    rule: int, prefix: int, heap: Any, queue: Any, chains: Any,
    cells: Any, places: Any, table: Any, counts: Any, symbols: Any, text: Any, ends: Any,
) -> int:
    """The best candidate, which is then the first of the heap; 0 where none is left."""
    while True:
        level = queue[LEVEL]
        level_bits = bits_of(level)
        while queue[HEAP] > 0:
            pair = heap[0].pair
            if counts[pair] == level:
                return int(pair)
            drop_first(rule, prefix, heap, queue, table, text, ends)
            wait(pair, counts[pair], level, level_bits, table, chains)
        open_level(rule, prefix, heap, queue, chains, cells, places, table, counts, symbols, text, ends)
        if queue[LEVEL] == 0:
            return 0
