"""Kernels: the best pair by score at the furthest step. The arrays are those of `pairs_fields` and the ones named here.

A merge of (a, b) changes the uses of a and b, and with that the score of each pair that has one of them: most rise, so no queue
that waits for the best to fall will do. But in the column of a right symbol y all pairs share c(y): the best left partner is the
one with the greatest c(xy) / c(x), whatever c(y) becomes. So after a merge

- the columns of a and b are scaled, by one number each;
- the pairs of the rows of a and b, which rise but where their count fell, are compared with the best of their column;
- a column whose best pair fell is looked over again.

Only the columns whose score is at least a mark, the leaders, are compared with each other. The mark is set so that they are some
hundreds, and set again when none is left or they have become many. Each column counts how many pairs share its best score.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokentui.core.jit.compiling import helper, inlined, numba, types
from tokentui.learn.kernels.pairs_fields import AT_LEVEL, LEVEL, SHORTEST
from tokentui.learn.kernels.pairs_queue import key_of, precedes_by_bytes
from tokentui.learn.kernels.score_order import compare_scores, compare_shares

COLUMN = np.dtype([
    ("key", np.int64), ("count", np.int64), ("uses", np.int64), ("tied", np.int64),
    ("pair", np.int32), ("stamp", np.int32), ("state", np.int32), ("slot", np.int32), ("top", np.int32), ("row", np.int32),
])
"""Of each symbol the best pair that it is the right part of, 0 for none: its key, its count, the uses of its left part, and how
many are as good. Those have the stamp of the column. Then what has to be done with it, its place among the leaders, -1 for none,
and the first pair of its column and of its row."""

LINK = np.dtype([("below", np.int32), ("beside", np.int32), ("stamp", np.int32)])
"""Of each pair the next one of its column and of its row, 0 after the last, and its stamp. Candidates that are none any more are
left out when they are met."""

COLUMNS, LINKS = (types.Array(numba.from_dtype(row), 1, "C") for row in (COLUMN, LINK))

CLEAN, CHANGED, STALE = range(3)
"""States of a column: up to date, its score is to be computed again, or its best pair before that."""

LEADERS, WINNER, MANY, QUEUE = range(2, 6)
"""The queue in numbers, after `LEVEL`, the count of the best pair, and `AT_LEVEL`, how many pairs are as good: how many columns
lead, the column of the best pair, -1 for none, with how many leaders the mark is set again, and how many numbers these are."""

_WANTED = 256
"""The wanted number of leading columns after the mark is set."""
_NEARLY = 1 - 2.0**-40
"""Scores further below the greatest one are less in any precision."""


@inlined
def comes_first(pair: int, key: int, other: int, other_key: int, rule: int, prefix: int, table: Any, text: Any, ends: Any) -> Any:
    """True if the first of two pairs of equal score is taken."""
    if key != other_key:
        return key < other_key
    if rule < SHORTEST:
        return pair < other
    return precedes_by_bytes(pair, other, rule, prefix, table, text, ends)


@inlined
def note(column: int, state: int, size: int, changed: Any, columns: Any) -> Any:
    """Note that something is to be done with a column. Returns how many such there are."""
    if columns[column].state == CLEAN:
        changed[size] = column
        size += 1
    columns[column].state = max(columns[column].state, state)
    return size


@inlined
def leave(pair: int, size: int, changed: Any, columns: Any, links: Any, table: Any) -> Any:
    """Take a pair whose count fell out of the best of its column. Returns how many columns there is something to do with."""
    column = table[pair].right
    if links[pair].stamp != columns[column].stamp:
        return size
    links[pair].stamp = 0
    columns[column].tied -= 1
    lost = columns[column].pair == pair or columns[column].tied == 0
    return note(column, STALE if lost else CHANGED, size, changed, columns)


@helper
def enter(
    pair: int, rule: int, prefix: int, columns: Any, links: Any,
    cells: Any, places: Any, table: Any, counts: Any, symbols: Any, uses: Any, text: Any, ends: Any,
) -> bool:
    """Compare a pair with the best of its column. Returns whether it is among them now."""
    column = table[pair].right
    count, share = counts[pair], uses[table[pair].left]
    best = columns[column].pair
    order = compare_shares(count, share, columns[column].count, columns[column].uses) if best != 0 else 1
    if order < 0:
        return False
    if order > 0:
        columns[column].count = count
        columns[column].uses = share
        columns[column].stamp += 1
        columns[column].tied = 1
        if best != pair:
            columns[column].pair = pair
            columns[column].key = key_of(pair, rule, cells, places, table, symbols)
    else:
        columns[column].tied += 1
        key = key_of(pair, rule, cells, places, table, symbols)
        if comes_first(pair, key, best, columns[column].key, rule, prefix, table, text, ends):
            columns[column].pair = pair
            columns[column].key = key
            columns[column].count = count
            columns[column].uses = share
    links[pair].stamp = columns[column].stamp
    return True


@helper
def look_over(
    column: int, least: int, rule: int, prefix: int, columns: Any, links: Any,
    cells: Any, places: Any, table: Any, counts: Any, symbols: Any, uses: Any, text: Any, ends: Any,
) -> int:
    """Find the best of a column among all its pairs. Returns how many they were."""
    columns[column].pair = 0
    columns[column].tied = 0
    columns[column].stamp += 1
    seen = 0
    before: Any = 0
    pair: Any = np.int64(columns[column].top)
    while pair != 0:
        seen += 1
        following = np.int64(links[pair].below)
        if counts[pair] >= least:
            enter(pair, rule, prefix, columns, links, cells, places, table, counts, symbols, uses, text, ends)
            before = pair
        elif before == 0:
            columns[column].top = following
        else:
            links[before].below = following
        pair = following
    return seen


@inlined
def scale(column: int, columns: Any, scores: Any, uses: Any) -> None:
    """Find the score of the best pair of a column, 0 where there is none."""
    scores[column] = 0.0
    if columns[column].pair != 0:
        scores[column] = float(columns[column].count) / (float(columns[column].uses) * float(uses[column]))


@inlined
def lead(column: int, queue: Any, mark: Any, leaders: Any, columns: Any, scores: Any) -> None:
    """Take a column in among the leaders, or out, as its score says."""
    slot = columns[column].slot
    if scores[column] >= mark[0]:
        if slot < 0:
            size = queue[LEADERS]
            leaders[size] = column
            columns[column].slot = size
            queue[LEADERS] = size + 1
    elif slot >= 0:
        last = queue[LEADERS] - 1
        moved = leaders[last]
        leaders[slot] = moved
        columns[moved].slot = slot
        columns[column].slot = -1
        queue[LEADERS] = last


@helper
def greatest_but(number: int, size: int, values: Any) -> float:
    """The value that so many of the first `size` ones come before, the greatest first; they are reordered (Hoare 1961)."""
    low, high = 0, size - 1
    while low < high:
        pivot = values[(low + high) >> 1]
        left, right = low, high
        while left <= right:
            while values[left] > pivot:
                left += 1
            while values[right] < pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if number <= right:
            high = right
        elif number >= left:
            low = left
        else:
            break
    return float(values[number])


@helper
def find_leaders(symbols: int, queue: Any, mark: Any, leaders: Any, columns: Any, scores: Any, room: Any) -> None:
    """Set the mark anew, among so many columns."""
    for n in range(queue[LEADERS]):
        columns[leaders[n]].slot = -1
    queue[LEADERS] = 0
    size = 0
    for column in range(symbols):
        if scores[column] > 0:
            room[size] = scores[column]
            size += 1
    if size == 0:
        mark[0] = np.inf
        return
    mark[0] = greatest_but(min(_WANTED, size) - 1, size, room)
    for column in range(symbols):
        lead(column, queue, mark, leaders, columns, scores)
    queue[MANY] = 2 * queue[LEADERS] + _WANTED


@helper
def find_best(
    symbols: int, rule: int, prefix: int, queue: Any, mark: Any, leaders: Any, columns: Any, scores: Any, room: Any,
    table: Any, uses: Any, text: Any, ends: Any,
) -> None:
    """Find the column of the best pair among so many columns, and how many pairs are as good."""
    if queue[LEADERS] == 0 or queue[LEADERS] > queue[MANY]:
        find_leaders(symbols, queue, mark, leaders, columns, scores, room)
    greatest = 0.0
    for n in range(queue[LEADERS]):
        greatest = max(greatest, scores[leaders[n]])
    best: Any = -1
    tied = 0
    least = greatest * _NEARLY
    for n in range(queue[LEADERS]):
        column = leaders[n]
        if scores[column] < least:
            continue
        order = 1
        if best >= 0:
            order = compare_scores(
                scores[column], columns[column].count, columns[column].uses, uses[column],
                scores[best], columns[best].count, columns[best].uses, uses[best],
            )
        if order > 0:
            best, tied = column, columns[column].tied
        elif order == 0:
            tied += columns[column].tied
            if comes_first(
                columns[column].pair, columns[column].key, columns[best].pair, columns[best].key, rule, prefix, table, text, ends
            ):
                best = column
    queue[WINNER] = best
    queue[AT_LEVEL] = tied
    queue[LEVEL] = columns[best].count if best >= 0 else 0
