"""Kernels: the queue of candidates by count times length at the furthest step, on the state of `layout`.

Pairs are grouped into blocks by number. Each block keeps its greatest value and the number of pairs that have
it. A merge changes only the values of pairs at its places, so a block is searched again only when one of its
best pairs has changed.
"""

from __future__ import annotations

from typing import Any

from tokentui.core.native import I64, INT, NOTHING, helper, inlined, kernel
from tokentui.learn.kernels.layout import A_STEP, STATE, Queue
from tokentui.learn.kernels.merges import has_room, may_be_made, merge
from tokentui.learn.kernels.order import comes_first, count_length, key_of

_BITS = 6
"""A block has 2 to the power of `_BITS` pairs."""
_NONE = -1e300
"""The value of a pair that is not a candidate."""
_NO_LEVEL = -1


@inlined
def valued(pair: int, s: Any) -> Any:
    """Return the value of a pair, `_NONE` if it is not a candidate."""
    if s.counts[pair] < s.least or s.counts[pair] <= 0 or not may_be_made(pair, s):
        return _NONE
    return count_length(pair, s)


@inlined
def look_over(block: int, pairs: int, s: Any) -> None:
    """Recompute the greatest value of a block and the number of pairs that have it. `pairs` is the number of
    all pairs."""
    top = _NONE
    tied = 0
    for pair in range(max(1, block << _BITS), min((block + 1) << _BITS, pairs)):
        worth = s.worths[pair]
        if worth > top:
            top = worth
            tied = 1
        elif worth == top:
            tied += 1
    s.tops[block] = top
    s.ties[block] = tied if top > _NONE else 0


@inlined
def change(pair: int, pairs: int, s: Any) -> None:
    """Recompute the value of a pair, and update its block."""
    block, before = pair >> _BITS, s.worths[pair]
    worth = valued(pair, s)
    s.worths[pair] = worth
    if worth > s.tops[block]:
        s.tops[block] = worth
        s.ties[block] = 1
    elif worth != before:
        if before == s.tops[block] and before > _NONE:
            look_over(block, pairs, s)
        elif worth == s.tops[block] and worth > _NONE:
            s.ties[block] += 1


@helper
def find_best(pairs: int, s: Any) -> None:
    """Set the queue to the best of the first `pairs` pairs and the number of pairs tied with it."""
    queue = s.queue[0]
    greatest = _NONE
    blocks = (pairs >> _BITS) + 1
    for block in range(blocks):
        greatest = max(greatest, s.tops[block])
    best: Any = 0
    key: Any = 0
    tied: Any = 0
    for block in range(blocks if greatest > _NONE else 0):
        if s.tops[block] != greatest:
            continue
        tied += s.ties[block]
        for pair in range(max(1, block << _BITS), min((block + 1) << _BITS, pairs)):
            if s.worths[pair] == greatest:
                own = key_of(pair, s)
                if best == 0 or comes_first(pair, own, best, key, s):
                    best, key = pair, own
    queue.best = best
    queue.tied = tied
    queue.level = s.counts[best] if best != 0 else 0


@kernel(NOTHING, INT, INT, STATE)
def fill(pairs: int, symbols: int, s: Any) -> None:
    """Build the queue from the first `pairs` pairs."""
    for pair in range(1, pairs):
        s.worths[pair] = valued(pair, s)
    for block in range((pairs >> _BITS) + 1):
        look_over(block, pairs, s)
    find_best(pairs, s)


@kernel(INT, INT, INT, INT, INT, STATE)
def run(known: int, goal: int, least: int, most: int, s: Any) -> int:
    """Make new merges and return the step reached; see `Queue.run`."""
    while True:
        pair: Any = s.queue[0].best
        if pair == 0 or known >= goal or most <= 0 or not has_room(pair, known, s):
            return known
        offset = s.symbols[s.table[pair].left].length
        merge(pair, known, _NO_LEVEL, s)
        first_new, logged = s.steps[known].pairs, s.steps[known].logged
        known += 1
        pairs, log_end = s.steps[known].pairs, s.steps[known].logged
        most -= log_end - logged + A_STEP
        for new in range(first_new, pairs):
            if new & ((1 << _BITS) - 1) == 0:
                s.tops[new >> _BITS] = _NONE
                s.ties[new >> _BITS] = 0
            s.worths[new] = _NONE
            change(new, new + 1, s)
        change(pair, pairs, s)
        for entry in range(logged, log_end):
            for side in range(2):
                old: Any = I64(s.log[entry].old)
                if side == 1:
                    old = ~I64(s.cells[s.log[entry].place + offset].pair)
                if 0 < old < first_new:
                    change(old, pairs, s)
        find_best(pairs, s)


QUEUE = Queue(fill, run, ("worths", "tops", "ties"), ())
