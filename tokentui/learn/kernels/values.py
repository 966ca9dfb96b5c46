"""Kernels: the queue of candidates by a value at the furthest step, on the state of `layout`.

The pairs lie in blocks by their numbers, each with its greatest value and how many pairs have it. Where a
merge changes the values of the pairs at its places alone, a block is looked over again only when one of its
greatest has changed. Where it changes all values, all are found again; a pair that cannot be the best, by its
count alone, is not valued.
"""

from __future__ import annotations

from math import log
from typing import Any

from tokentui.core.native import I64, INT, NOTHING, helper, inlined, kernel
from tokentui.learn.kernels.figures import GAINS, LENGTHS, NPMI, PAIRS, TOKENS, TYPES, value_of
from tokentui.learn.kernels.layout import A_STEP, STATE, Queue
from tokentui.learn.kernels.merges import has_room, may_be_made, merge
from tokentui.learn.kernels.order import comes_first, key_of

_BITS = 6
"""A block has two to the power of so many pairs."""
_NONE = -1e300
"""The value of a pair that is no candidate."""
_ONE = 2.0**40
_COARSE = 2.0**20
_NO_LEVEL = -1


@inlined
def valued(pair: int, s: Any) -> Any:
    """The value of a pair, `_NONE` where it is no candidate."""
    if s.counts[pair] < s.least or s.counts[pair] <= 0 or not may_be_made(pair, s):
        return _NONE
    return value_of(pair, s)


@inlined
def look_over(block: int, pairs: int, s: Any) -> None:
    """Find the greatest value of a block among so many pairs in all, and how many have it."""
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
    """Take in the value that a pair has now."""
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
def value_all(pairs: int, s: Any) -> None:
    """Find the values of all pairs that may be the best, and the greatest of each block."""
    greatest = _NONE
    bound = 0.0
    if s.scored == GAINS:
        bound = 2.0 * log(float(s.totals[TOKENS] + s.totals[TYPES] + 2)) * _COARSE
        most: Any = 0
        for pair in range(1, pairs):
            if s.counts[pair] > s.counts[most] and may_be_made(pair, s):
                most = pair
        if most != 0:
            greatest = valued(most, s)
    for pair in range(1, pairs):
        count = s.counts[pair]
        worth = _NONE
        if count >= s.least and count > 0:
            may = True
            if s.scored == GAINS:
                may = float(count) * bound + 1.0 >= greatest
            elif s.scored == NPMI and greatest == _ONE:
                left, right = s.table[pair].left, s.table[pair].right
                may = (s.lefts[left] == count and s.rights[right] == count) or count == s.totals[PAIRS]
            if may:
                worth = valued(pair, s)
        greatest = max(greatest, worth)
        s.worths[pair] = worth
    for block in range((pairs >> _BITS) + 1):
        look_over(block, pairs, s)


@helper
def find_best(pairs: int, s: Any) -> None:
    """Find the best pair among so many, and how many pairs are as good."""
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


@inlined
def add_up(pairs: int, symbols: int, s: Any) -> None:
    """Find the figures of the whole corpus; see `figures.survey`."""
    tokens: Any = 0
    total: Any = 0
    for symbol in range(symbols):
        tokens += s.uses[symbol]
        s.lefts[symbol] = 0
        s.rights[symbol] = 0
    for pair in range(1, pairs):
        count = s.counts[pair]
        total += count
        s.lefts[s.table[pair].left] += count
        s.rights[s.table[pair].right] += count
    s.totals[TOKENS] = tokens
    s.totals[PAIRS] = total
    s.totals[TYPES] = symbols


@kernel(NOTHING, INT, INT, STATE)
def fill(pairs: int, symbols: int, s: Any) -> None:
    """Find the values of the first so many pairs, and the best one."""
    add_up(pairs, symbols, s)
    value_all(pairs, s)
    find_best(pairs, s)


@kernel(INT, INT, INT, INT, INT, STATE)
def run(known: int, goal: int, least: int, most: int, s: Any) -> int:
    """Make new merges; see `Queue.run`."""
    while True:
        pair: Any = s.queue[0].best
        if pair == 0 or known >= goal or most <= 0 or not has_room(pair, known, s):
            return known
        left, right = s.table[pair].left, s.table[pair].right
        if s.scored == NPMI:
            s.steps[known].lefts = s.lefts[left]
            s.steps[known].rights = s.rights[right]
        merge(pair, known, _NO_LEVEL, s)
        first_new, logged = s.steps[known].pairs, s.steps[known].logged
        known += 1
        pairs, log_end = s.steps[known].pairs, s.steps[known].logged
        most -= log_end - logged + A_STEP
        if s.scored != LENGTHS:
            add_up(pairs, s.base + known, s)
            value_all(pairs, s)
            most -= pairs >> 2
        else:
            for new in range(first_new, pairs):
                if new & ((1 << _BITS) - 1) == 0:
                    s.tops[new >> _BITS] = _NONE
                    s.ties[new >> _BITS] = 0
                s.worths[new] = _NONE
                change(new, new + 1, s)
            change(pair, pairs, s)
            offset = s.symbols[left].length
            for entry in range(logged, log_end):
                for side in range(2):
                    old: Any = I64(s.log[entry].old)
                    if side == 1:
                        old = ~I64(s.cells[s.log[entry].place + offset].pair)
                    if 0 < old < first_new:
                        change(old, pairs, s)
        find_best(pairs, s)


QUEUE = Queue(fill, run, ("worths", "tops", "ties"), ("lefts", "rights"))
