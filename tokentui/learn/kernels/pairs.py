"""Kernels: the queue of candidates by count at the furthest step, on the state of `layout`.

The greatest count (the level) never rises, and neither does the count of a pair. So a heap holds the
candidates whose count is the level, ordered by the tie rule, and all others wait in chains until the level
falls to them (a radix heap: Ahuja, Mehlhorn, Orlin and Tarjan, 1990). Counts with as many bits as the level
have one chain for each position of the highest bit that differs from the level; smaller counts have one chain
for each number of bits. A pair stays in the chain of the count that it had when it was queued. Opening a
chain moves the pairs whose counts have fallen since to later chains. So pairs are compared with each other
only among the best.
"""

from __future__ import annotations

from typing import Any

from tokentui.core.native import I64, helper, inlined, kernel
from tokentui.learn.kernels.layout import A_STEP, CHAINS, Queue, State
from tokentui.learn.kernels.merges import has_room, may_be_made, merge
from tokentui.learn.kernels.order import copy_row, key_of, sift_down, sift_up

_NO_LEVEL = -1
"""A count that no pair has."""
_HALF = CHAINS // 2
"""Chains below this number are by the bit that differs, the others by the number of bits."""


@helper
def bits_of(number: int) -> int:
    """Return the number of bits of a number, as `int.bit_length` does."""
    bits = 0
    while number > 0:
        bits += 1
        number >>= 1
    return bits


@inlined
def wait(pair: int, count: int, level: int, level_bits: int, table: Any, chains: Any) -> None:
    """Put a pair with a count below the level into its chain; drop it if its count is 0."""
    if count <= 0:
        return
    bits = bits_of(count)
    chain = bits_of(count ^ level) if bits == level_bits else _HALF + bits
    table[pair].next = chains[chain]
    chains[chain] = pair


@inlined
def put(pair: int, s: State) -> int:
    """Append a candidate with the count of the level to the heap, and return its row. The heap is not
    restored."""
    at = s.queue[0].size
    s.queue[0].size = at + 1
    s.heap[at].worth = s.queue[0].level
    s.heap[at].key = key_of(pair, s)
    s.heap[at].pair = pair
    return int(at)


@inlined
def drop_first(s: State) -> None:
    """Remove the first row of the heap."""
    size = s.queue[0].size - 1
    s.queue[0].size = size
    copy_row(0, size, s.heap)
    sift_down(0, size, False, s.heap, s)


@inlined
def take_in(first: int, pairs: int, s: State) -> None:
    """Queue the pairs `first` to `pairs - 1` that may be made: in the heap if their count is the level, with
    `queue.tied` raised; otherwise in the chains."""
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
def open_level(s: State) -> None:
    """Lower the level to the greatest count that is left, and fill the empty heap with its candidates. The
    level becomes 0 if no candidate is left."""
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
def find_best(s: State) -> None:
    """Set `queue.best` to the best candidate, the first row of the heap; 0 if no candidate is left.

    A row whose count fell moves to its chain. If the heap is empty then, the next lower level is opened, and
    `queue.level` is its count.
    """
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


@kernel
def fill(pairs: int, symbols: int, s: State) -> None:
    """Rebuild the queue from the candidates among the first `pairs` pairs."""
    s.chains[:] = 0
    s.queue[0].level = s.queue[0].tied = s.queue[0].size = 0
    take_in(1, pairs, s)
    find_best(s)


@kernel
def run(known: int, goal: int, least: int, most: int, s: State) -> int:
    """Make new merges and return the step reached; see `Queue.run`."""
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
def pair_of(left: int, right: int, s: State) -> int:
    """Return the number of a pair, 0 if it never occurred. Its row was added by the step that made the newer
    of its symbols, so only rows of that step are searched."""
    step = max(left, right) - s.base
    first, end = 1, I64(s.steps[0].pairs)
    if step >= 0:
        first, end = I64(s.steps[step].pairs), I64(s.steps[step + 1].pairs)
    for pair in range(first, end):
        if s.table[pair].left == left and s.table[pair].right == right:
            return int(pair)
    return 0


@kernel
def find(left: int, right: int, s: State) -> int:
    """Kernel entry point of `pair_of`."""
    return pair_of(left, right, s)


@kernel
def take(known: int, left: int, right: int, queued: int, s: State) -> int:
    """Merge a given pair of symbols as step `known + 1`, even if it is not the best or does not occur.

    Args:
        known: The furthest step.
        left: The left symbol.
        right: The right symbol.
        queued: 1 if the queue is filled and must stay valid, else 0.
        s: The state.

    Returns:
        The furthest step: `known + 1`, or `known` if an array is too small for the merge.
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
