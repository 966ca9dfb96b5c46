"""Kernels: the queue of candidates by count at the furthest step, on the state of `layout`.

The greatest count only falls, and so does that of each pair. So the candidates with the greatest count, the
level, are in a heap by the tie rule, and all others wait in chains that are opened when the level has fallen
to them (a radix heap: Ahuja, Mehlhorn, Orlin and Tarjan, 1990): one for each place of the first bit in which
a count with as many bits differs from the level, and one for each smaller number of bits. A pair waits where
its count was when it came; a chain that is opened sends those that have fallen further on. No pair is
compared with another before it is among the best.
"""

from __future__ import annotations

from typing import Any

from tokentui.core.native import I64, INT, NOTHING, helper, inlined, kernel
from tokentui.learn.kernels.layout import A_STEP, CHAINS, STATE, Queue
from tokentui.learn.kernels.merges import has_room, may_be_made, merge
from tokentui.learn.kernels.order import copy_row, key_of, sift_down, sift_up

_NO_LEVEL = -1
"""A count that no pair has."""
_HALF = CHAINS // 2
"""The first half of the chains by the bit that differs, the second by the number of bits."""


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
def put(pair: int, s: Any) -> int:
    """Add a candidate of the level at the end of the heap. Returns where."""
    at = s.queue[0].size
    s.queue[0].size = at + 1
    s.heap[at].worth = s.queue[0].level
    s.heap[at].key = key_of(pair, s)
    s.heap[at].pair = pair
    return int(at)


@inlined
def drop_first(s: Any) -> None:
    """Take the first row out of the heap."""
    size = s.queue[0].size - 1
    s.queue[0].size = size
    copy_row(0, size, s.heap)
    sift_down(0, size, False, s.heap, s)


@inlined
def take_in(first: int, pairs: int, s: Any) -> None:
    """Queue the candidates among the pairs from the one number up to the other."""
    level = s.queue[0].level
    level_bits = bits_of(level)
    for pair in range(first, pairs):
        if not may_be_made(pair, s):
            continue
        if s.counts[pair] == level and level > 0:
            s.queue[0].tied += 1
            sift_up(put(pair, s), False, s.heap, s)
        else:
            wait(pair, s.counts[pair], level, level_bits, s.table, s.chains)


@helper
def open_level(s: Any) -> None:
    """Find the greatest count there is and put the candidates that have it into the heap, which is empty."""
    table, counts, chains = s.table, s.counts, s.chains
    level = s.queue[0].level
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
                s.queue[0].level = s.queue[0].tied = 0
                return
        pair: Any = I64(chains[chain])
        chains[chain] = 0
        staying: Any = 0
        greatest = 0
        while pair != 0:
            following = I64(table[pair].next)
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
    s.queue[0].level = level
    s.queue[0].size = 0
    pair = staying
    while pair != 0:
        following = I64(table[pair].next)
        if counts[pair] == level:
            put(pair, s)
        else:
            wait(pair, counts[pair], level, level_bits, table, chains)
        pair = following
    size = s.queue[0].size
    s.queue[0].tied = size
    for at in range((size >> 1) - 1, -1, -1):
        sift_down(at, size, False, s.heap, s)


@helper
def find_best(s: Any) -> None:
    """Find the best candidate, which is then the first of the heap."""
    while True:
        level = s.queue[0].level
        level_bits = bits_of(level)
        while s.queue[0].size > 0:
            pair = s.heap[0].pair
            if s.counts[pair] == level:
                s.queue[0].best = pair
                return
            drop_first(s)
            wait(pair, s.counts[pair], level, level_bits, s.table, s.chains)
        open_level(s)
        if s.queue[0].level == 0:
            s.queue[0].best = 0
            return


@kernel(NOTHING, INT, INT, STATE)
def fill(pairs: int, symbols: int, s: Any) -> None:
    """Make the queue anew, with the candidates among the first so many pairs."""
    s.chains[:] = 0
    s.queue[0].level = s.queue[0].tied = s.queue[0].size = 0
    take_in(1, pairs, s)
    find_best(s)


@kernel(INT, INT, INT, INT, INT, STATE)
def run(known: int, goal: int, least: int, most: int, s: Any) -> int:
    """Make new merges; see `Queue.run`."""
    while True:
        pair, level = s.queue[0].best, s.queue[0].level
        if pair == 0 or known >= goal or level < least or most <= 0 or not has_room(pair, known, s):
            return known
        drop_first(s)
        s.queue[0].tied -= merge(pair, known, level, s)
        step, following = s.steps[known], s.steps[known + 1]
        take_in(step.pairs, following.pairs, s)
        find_best(s)
        most -= following.logged - step.logged + A_STEP
        known += 1


@helper
def pair_of(left: int, right: int, s: Any) -> int:
    """The pair of two symbols, 0 where it never stood anywhere. A pair comes with its younger symbol."""
    step = max(left, right) - s.base
    first, end = 1, I64(s.steps[0].pairs)
    if step >= 0:
        first, end = I64(s.steps[step].pairs), I64(s.steps[step + 1].pairs)
    for pair in range(first, end):
        if s.table[pair].left == left and s.table[pair].right == right:
            return int(pair)
    return 0


@kernel(INT, INT, INT, STATE)
def find(left: int, right: int, s: Any) -> int:
    """`pair_of`, for those who ask from outside."""
    return pair_of(left, right, s)


@kernel(INT, INT, INT, INT, INT, STATE)
def take(known: int, left: int, right: int, queued: int, s: Any) -> int:
    """Merge a pair of symbols as the step after `known`, wherever it stands, if anywhere.

    Args:
        known: The furthest step.
        left: The left symbol.
        right: The right symbol.
        queued: 1 where the queue is filled, and kept so; else 0.
        s: The state.

    Returns:
        The furthest step now: `known` where an array has too little room.
    """
    pair = pair_of(left, right, s)
    if pair == 0:  # it makes its symbol all the same
        s.table[0].left = left
        s.table[0].right = right
        s.counts[0] = 0
    if not has_room(pair, known, s):
        return known
    level = s.queue[0].level if queued != 0 else _NO_LEVEL
    at_level = pair != 0 and s.counts[pair] == level and may_be_made(pair, s)
    fallen = merge(pair, known, level, s)
    if queued != 0:
        s.queue[0].tied -= fallen if at_level else fallen - 1
        take_in(s.steps[known].pairs, s.steps[known + 1].pairs, s)
        find_best(s)
    return known + 1


QUEUE = Queue(fill, run, ("heap",), ())
