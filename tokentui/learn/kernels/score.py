"""Kernels: the queue of candidates by score at the furthest step, on the state of `layout`.

A merge of (a, b) lowers the uses of a and b, and so changes the score of every pair that has one of them.
Most of these scores rise, so a queue in which scores only fall does not work. But all pairs in the column of
a right symbol y share c(y): the best left partner is the one with the greatest c(xy) / c(x), whatever c(y)
becomes. So after a merge

- the best scores of the columns of a and b are recomputed, one division each;
- the pairs in the rows of a and b are compared with the best of their columns: they rise unless their count
  fell;
- a column whose best pair fell is searched again.

Each block of columns keeps its greatest score, so that few columns are compared with each other. Each column
counts the pairs that are tied for its best score.
"""

from __future__ import annotations

from typing import Any

from tokentui.core.native import I64, inlined, kernel
from tokentui.learn.kernels.layout import A_STEP, Queue, State
from tokentui.learn.kernels.merges import has_room, may_be_made, merge
from tokentui.learn.kernels.order import comes_first, compare_scores, compare_shares, key_of

CLEAN, CHANGED, STALE = range(3)
"""States of a column: up to date; its best score must be recomputed; its best pair must be found first."""
_BITS = 5
"""A block has 2 to the power of `_BITS` columns."""
_NEARLY = 1 - 2.0**-40
"""A score below this share of the greatest one is less, whatever the rounding."""
_NO_LEVEL = -1
"""A count that no pair has."""


@inlined
def note(column: int, state: int, size: int, s: State) -> Any:
    """Raise the state of a column to `state`. Return the new length of the list of changed columns, `size`
    before."""
    if s.columns[column].state == CLEAN:
        s.changed[size] = column
        size += 1
    s.columns[column].state = max(s.columns[column].state, state)
    return size


@inlined
def leave(pair: int, size: int, s: State) -> Any:
    """Remove a pair whose count fell from the pairs tied for best of its column. Do nothing if it is not one
    of them.

    The column is noted as changed: as STALE, so that its pairs are searched again, if it lost its best pair
    or its last tied one; otherwise as CHANGED.

    Returns:
        The new length of the list of changed columns; `size` is the one before.
    """
    column = s.table[pair].right
    if s.links[pair].stamp != s.columns[column].stamp:
        return size
    s.links[pair].stamp = 0
    s.columns[column].tied -= 1
    lost = s.columns[column].pair == pair or s.columns[column].tied == 0
    return note(column, STALE if lost else CHANGED, size, s)


@inlined
def enter(pair: int, s: State) -> Any:
    """Compare a pair with the best of its column, and make it the best if it wins. Return whether it is now
    among those tied for best."""
    count, share = s.counts[pair], s.uses[s.table[pair].left]
    column = s.columns[s.table[pair].right]
    best, key = column.pair, column.key
    order = compare_shares(count, share, column.count, column.uses) if best != 0 else 1
    if order < 0:
        return False
    if order == 0 or best != pair:
        key = key_of(pair, s)
    if order > 0:
        column.stamp += 1
        column.tied = 0
    column.tied += 1
    if order > 0 or comes_first(pair, key, best, column.key, s):
        column.pair = pair
        column.key = key
        column.count = count
        column.uses = share
    s.links[pair].stamp = column.stamp
    return True


@inlined
def link(pair: int, s: State) -> None:
    """Prepend a pair to the list of its column and to that of its row. The lists are linked one way."""
    left, right = s.table[pair].left, s.table[pair].right
    s.links[pair].below = s.columns[right].top
    s.links[pair].beside = s.columns[left].row
    s.columns[right].top = pair
    s.columns[left].row = pair


@inlined
def look_over(column: int, s: State) -> Any:
    """Find the best pair of a column by comparing all its pairs, and unlink those that are no candidates.
    Return the number of pairs compared."""
    s.columns[column].pair = 0
    s.columns[column].tied = 0
    s.columns[column].stamp += 1
    seen = 0
    before: Any = 0
    pair: Any = I64(s.columns[column].top)
    while pair != 0:
        seen += 1
        following = I64(s.links[pair].below)
        if s.counts[pair] >= s.least:
            enter(pair, s)
            before = pair
        elif before == 0:
            s.columns[column].top = following
        else:
            s.links[before].below = following
        pair = following
    return seen


@inlined
def rise(row: int, size: int, s: State) -> Any:
    """Compare the pairs of a row, whose left symbol has fewer uses now, with the best of their columns.

    Returns:
        (the length of the list of changed columns, the number of pairs compared).
    """
    seen = 0
    before: Any = 0
    pair: Any = I64(s.columns[row].row)
    while pair != 0:
        seen += 1
        following = I64(s.links[pair].beside)
        if s.counts[pair] >= s.least:
            before = pair
            column = s.table[pair].right
            if s.columns[column].state != STALE and enter(pair, s):
                size = note(column, CHANGED, size, s)
        elif before == 0:
            s.columns[row].row = following
        else:
            s.links[before].beside = following
        pair = following
    return size, seen


@inlined
def rescore_column(column: int, symbols: int, s: State) -> None:
    """Recompute the score of a column's best pair (0 if it has none) and the best score of its block. There
    is one column per symbol."""
    scores, best, block, before = s.scores, s.columns[column], column >> _BITS, s.scores[column]
    score = 0.0
    if best.pair != 0:
        score = float(best.count) / (float(best.uses) * float(s.uses[column]))
    scores[column] = score
    if score >= s.blocks[block]:
        s.blocks[block] = score
    elif before == s.blocks[block]:
        for other in range(block << _BITS, min((block + 1) << _BITS, symbols)):
            score = max(score, scores[other])
        s.blocks[block] = score


@inlined
def find_best(symbols: int, s: State) -> None:
    """Set `queue.best` to the best pair of all columns, `queue.level` to its count, and `queue.tied` to the
    number of pairs tied with it; all are 0 if no pair is left.

    Reads only the blocks and columns whose score is near the greatest one.
    """
    columns, scores, uses, queue = s.columns, s.scores, s.uses, s.queue[0]
    blocks = (symbols + (1 << _BITS) - 1) >> _BITS
    greatest = 0.0
    for block in range(blocks):
        greatest = max(greatest, s.blocks[block])
    best: Any = -1
    tied = 0
    least = greatest * _NEARLY
    for block in range(blocks if greatest > 0 else 0):
        if s.blocks[block] < least:
            continue
        for column in range(block << _BITS, min((block + 1) << _BITS, symbols)):
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
                    columns[column].pair, columns[column].key, columns[best].pair, columns[best].key, s
                ):
                    best = column
    queue.tied = tied
    queue.best = columns[best].pair if best >= 0 else 0
    queue.level = columns[best].count if best >= 0 else 0


@kernel
def fill(pairs: int, symbols: int, s: State) -> None:
    """Build the queue from the candidates among the first `pairs` pairs. Columns and links are zeros."""
    for column in range(symbols):
        s.columns[column].stamp = 1
    for pair in range(1, pairs):
        if s.counts[pair] >= s.least and may_be_made(pair, s):
            link(pair, s)
            enter(pair, s)
    for column in range(symbols):
        rescore_column(column, symbols, s)
    find_best(symbols, s)


@kernel
def run(known: int, goal: int, least: int, most: int, s: State) -> int:
    """Make new merges and return the step reached; see `Queue.run`."""
    while True:
        pair: Any = s.queue[0].best
        if pair == 0 or known >= goal or most <= 0 or not has_room(pair, known, s):
            return known
        left, right, token = s.table[pair].left, s.table[pair].right, s.base + known
        merge(pair, known, _NO_LEVEL, s)
        first_new, logged = s.steps[known].pairs, s.steps[known].logged
        known += 1
        pairs, log_end = s.steps[known].pairs, s.steps[known].logged
        most -= log_end - logged + A_STEP
        new_column = s.columns[token]
        new_column.pair = new_column.top = new_column.row = new_column.tied = new_column.state = 0
        new_column.stamp = 1
        s.scores[token] = 0.0
        if token & ((1 << _BITS) - 1) == 0:
            s.blocks[token >> _BITS] = 0.0
        size = leave(pair, 0, s)
        offset = s.symbols[left].length
        for entry in range(logged, log_end):
            for side in range(2):
                old: Any = I64(s.log[entry].old)
                if side == 1:
                    old = ~I64(s.cells[s.log[entry].place + offset].pair)
                if 0 < old < first_new and old != pair:
                    size = leave(old, size, s)
        size = note(left, CHANGED, size, s)
        size = note(right, CHANGED, size, s)
        for side in range(1 if left == right else 2):
            size, seen = rise(left if side == 0 else right, size, s)
            most -= seen
        for new in range(first_new, pairs):
            s.links[new].stamp = 0
            if s.counts[new] >= s.least and may_be_made(new, s):
                link(new, s)
                column = s.table[new].right
                if s.columns[column].state != STALE and enter(new, s):
                    size = note(column, CHANGED, size, s)
        for n in range(size):
            column = s.changed[n]
            if s.columns[column].state == STALE:
                most -= look_over(column, s)
            s.columns[column].state = CLEAN
            rescore_column(column, token + 1, s)
        find_best(token + 1, s)


QUEUE = Queue(fill, run, ("links",), ("columns", "scores", "blocks", "changed"))
