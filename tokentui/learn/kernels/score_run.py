"""Kernels: training by score, and the candidates of a step. The arrays are those of `pairs_fields` and `score_columns`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokentui.core.jit.compiling import BYTES, NUMBERS, helper, inlined, kernel, numba, types
from tokentui.learn.kernels.pairs_fields import (
    AT_LEVEL,
    CELLS,
    LOG,
    PLACES,
    SHORTEST,
    SHORTS,
    STEPS,
    SYMBOLS,
    TABLE,
)
from tokentui.learn.kernels.pairs_merge import may_be_made, merge
from tokentui.learn.kernels.pairs_queue import key_of
from tokentui.learn.kernels.pairs_run import A_STEP, has_room, spell
from tokentui.learn.kernels.score_columns import (
    CHANGED,
    CLEAN,
    COLUMNS,
    LEADERS,
    LINKS,
    STALE,
    WINNER,
    comes_first,
    enter,
    find_best,
    lead,
    leave,
    look_over,
    note,
    scale,
)
from tokentui.learn.kernels.score_order import compare_scores

SCORED = np.dtype([("score", np.float64), ("key", np.int64), ("pair", np.int64)])
"""The score of a pair, its key by the tie rule, and the pair."""
RANKING = types.Array(numba.from_dtype(SCORED), 1, "C")
FLOATS = types.Array(types.float64, 1, "C")

_NO_LEVEL = -1
"""A count that no pair has."""


@inlined
def link(pair: int, columns: Any, links: Any, table: Any) -> None:
    """Put a pair into its column and its row."""
    left, right = table[pair].left, table[pair].right
    links[pair].below = columns[right].top
    links[pair].beside = columns[left].row
    columns[right].top = pair
    columns[left].row = pair


@helper
def rise(
    row: int, least: int, rule: int, prefix: int, size: int, changed: Any, columns: Any, links: Any,
    cells: Any, places: Any, table: Any, counts: Any, symbols: Any, uses: Any, text: Any, ends: Any,
) -> Any:
    """Compare the pairs of a row, whose left part is used less now, with the best of their columns.

    Returns:
        (how many columns there is something to do with, how many pairs were looked at).
    """
    seen = 0
    before: Any = 0
    pair: Any = np.int64(columns[row].row)
    while pair != 0:
        seen += 1
        following = np.int64(links[pair].beside)
        if counts[pair] >= least:
            before = pair
            column = table[pair].right
            if columns[column].state != STALE and enter(
                pair, rule, prefix, columns, links, cells, places, table, counts, symbols, uses, text, ends
            ):
                size = note(column, CHANGED, size, changed, columns)
        elif before == 0:
            columns[row].row = following
        else:
            links[before].beside = following
        pair = following
    return size, seen


@kernel(
    types.int64(
        types.int64, types.int64, types.int64, types.int64, types.int64, types.int64, types.int64, types.int64,
        STEPS, NUMBERS, FLOATS, SHORTS, SHORTS, COLUMNS, FLOATS, FLOATS, LINKS,
        CELLS, PLACES, LOG, TABLE, NUMBERS, SYMBOLS, NUMBERS, BYTES, NUMBERS,
    )
)
def run(
    known: int, goal: int, least: int, most: int, base: int, longest: int, rule: int, prefix: int,
    steps: Any, queue: Any, mark: Any, leaders: Any, changed: Any, columns: Any, scores: Any, room: Any, links: Any,
    cells: Any, places: Any, log: Any, table: Any, counts: Any, symbols: Any, uses: Any, text: Any, ends: Any,
) -> int:
    """Make new merges. When it returns, `queue` says which column the best candidate is in, if there is one.

    Args:
        known, goal, base, longest, rule, prefix: As for `pairs_run.run`.
        least: A pair that stands less often is no candidate.
        most: Stop after so many places and pairs.
        queue, mark, leaders, scores: The arrays that `fill` filled.
        changed, room: Room for a number for each symbol.

    Returns:
        The step arrived at. It stops too where no pair is left, or where an array is too small for the next merge.
    """
    while True:
        winner = queue[WINNER]
        if winner < 0 or known >= goal or most <= 0:
            return known
        pair: Any = np.int64(columns[winner].pair)
        token = base + known
        if not has_room(pair, known, base, rule, steps, places, log, table, text, ends) or token >= len(columns):
            return known
        left, right, count = table[pair].left, table[pair].right, counts[pair]
        symbols[token].length = symbols[left].length + symbols[right].length
        if rule >= SHORTEST:
            spell(token, left, right, prefix, text, ends)
        first_new, logged = steps[known].pairs, steps[known].logged
        steps[known].chosen = pair
        steps[known].count = count
        steps[known].tied = queue[AT_LEVEL]
        steps[known].left_uses = uses[left]
        steps[known].right_uses = uses[right]
        replaced, _, pairs, log_end = merge(
            pair, token, first_new, logged, _NO_LEVEL, longest, cells, places, log, table, counts, symbols
        )
        steps[known].replaced = replaced
        uses[token] = replaced
        uses[left] -= replaced
        uses[right] -= replaced
        most -= log_end - logged + A_STEP
        columns[token].pair = columns[token].top = columns[token].row = 0
        columns[token].tied = columns[token].state = 0
        columns[token].stamp = 1
        columns[token].slot = -1
        size = leave(pair, 0, changed, columns, links, table)
        offset = symbols[left].length
        for entry in range(logged, log_end):
            old: Any = np.int64(log[entry].old)
            if 0 < old < first_new and old != pair:
                size = leave(old, size, changed, columns, links, table)
            old = ~np.int64(cells[log[entry].place + offset].pair)
            if 0 < old < first_new and old != pair:
                size = leave(old, size, changed, columns, links, table)
        size = note(left, CHANGED, size, changed, columns)
        size = note(right, CHANGED, size, changed, columns)
        size, seen = rise(
            left, least, rule, prefix, size, changed, columns, links, cells, places, table, counts, symbols, uses, text, ends
        )
        most -= seen
        if right != left:
            size, seen = rise(
                right, least, rule, prefix, size, changed, columns, links, cells, places, table, counts, symbols, uses, text, ends
            )
            most -= seen
        for new in range(first_new, pairs):
            links[new].stamp = 0
            if counts[new] >= least and may_be_made(new, longest, table, symbols):
                link(new, columns, links, table)
                column = table[new].right
                if columns[column].state != STALE and enter(
                    new, rule, prefix, columns, links, cells, places, table, counts, symbols, uses, text, ends
                ):
                    size = note(column, CHANGED, size, changed, columns)
        for n in range(size):
            column = changed[n]
            if columns[column].state == STALE:
                most -= look_over(
                    column, least, rule, prefix, columns, links, cells, places, table, counts, symbols, uses, text, ends
                )
            columns[column].state = CLEAN
            scale(column, columns, scores, uses)
            lead(column, queue, mark, leaders, columns, scores)
        find_best(
            token + 1, rule, prefix, queue, mark, leaders, columns, scores, room, table, uses, text, ends
        )
        tokens = steps[known].tokens - replaced
        known += 1
        steps[known].pairs = pairs
        steps[known].logged = log_end
        steps[known].tokens = tokens


@kernel(
    types.void(
        types.int64, types.int64, types.int64, types.int64, types.int64, types.int64,
        NUMBERS, FLOATS, SHORTS, COLUMNS, FLOATS, FLOATS, LINKS, CELLS, PLACES, TABLE, NUMBERS, SYMBOLS, NUMBERS, BYTES, NUMBERS,
    )
)
def fill(
    pairs: int, known: int, least: int, longest: int, rule: int, prefix: int,
    queue: Any, mark: Any, leaders: Any, columns: Any, scores: Any, room: Any, links: Any,
    cells: Any, places: Any, table: Any, counts: Any, symbols: Any, uses: Any, text: Any, ends: Any,
) -> None:
    """Find the candidates among the first so many pairs, and the best one.

    Args:
        pairs, known: The number of pairs and of symbols.
        least, longest, rule, prefix: As for `run`.
        queue, mark, leaders, scores: Take what `run` goes by.
        columns, links: Noughts.
        room: Room for a number for each symbol.
    """
    for column in range(known):
        columns[column].stamp = 1
        columns[column].slot = -1
    for pair in range(1, pairs):
        if counts[pair] >= least and may_be_made(pair, longest, table, symbols):
            link(pair, columns, links, table)
            enter(pair, rule, prefix, columns, links, cells, places, table, counts, symbols, uses, text, ends)
    for column in range(known):
        scale(column, columns, scores, uses)
    queue[LEADERS] = 0
    find_best(known, rule, prefix, queue, mark, leaders, columns, scores, room, table, uses, text, ends)


@inlined
def put(row: int, score: float, key: int, pair: int, rows: Any) -> None:
    """Write a row."""
    rows[row].score = score
    rows[row].key = key
    rows[row].pair = pair


@helper
def is_better(
    score: float, key: int, pair: int, row: int, rule: int, prefix: int,
    rows: Any, table: Any, counts: Any, uses: Any, text: Any, ends: Any,
) -> bool:
    """True if a pair comes before the one of a row."""
    other = rows[row].pair
    order = compare_scores(
        score, counts[pair], uses[table[pair].left], uses[table[pair].right],
        rows[row].score, counts[other], uses[table[other].left], uses[table[other].right],
    )
    if order != 0:
        return bool(order > 0)
    return bool(comes_first(pair, key, other, rows[row].key, rule, prefix, table, text, ends))


@helper
def sink(
    score: float, key: int, pair: int, size: int, rule: int, prefix: int,
    rows: Any, table: Any, counts: Any, uses: Any, text: Any, ends: Any,
) -> None:
    """Write a pair over the first row of a heap, the worst row first, and let it sink to where it belongs."""
    at: Any = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and is_better(
            rows[child].score, rows[child].key, rows[child].pair, child + 1, rule, prefix, rows, table, counts, uses, text, ends
        ):
            child += 1
        if not is_better(score, key, pair, child, rule, prefix, rows, table, counts, uses, text, ends):
            break
        put(at, rows[child].score, rows[child].key, rows[child].pair, rows)
        at = child
    put(at, score, key, pair, rows)


@kernel(
    types.UniTuple(types.int64, 3)(
        types.int64, types.int64, types.int64, types.int64, types.int64, types.int64,
        RANKING, CELLS, PLACES, TABLE, NUMBERS, SYMBOLS, NUMBERS, BYTES, NUMBERS,
    )
)
def standing(
    pairs: int, limit: int, least: int, longest: int, rule: int, prefix: int,
    rows: Any, cells: Any, places: Any, table: Any, counts: Any, symbols: Any, uses: Any, text: Any, ends: Any,
) -> tuple[int, int, int]:
    """The candidates of a step, the best first. The arguments are those of `pairs_run.standing`; `rows` takes the best.

    Returns:
        (how many candidates there are, how many of them have the greatest score, how many are in `rows`).
    """
    found = tied = size = 0
    best: Any = 0
    greatest = 0.0
    for pair in range(1, pairs):
        count = counts[pair]
        if count < least or not may_be_made(pair, longest, table, symbols):
            continue
        found += 1
        left, right = uses[table[pair].left], uses[table[pair].right]
        score = float(count) / (float(left) * float(right))
        order = 1
        if best != 0:
            order = compare_scores(
                score, count, left, right, greatest, counts[best], uses[table[best].left], uses[table[best].right]
            )
        if order > 0:
            best, greatest, tied = pair, score, 1
        elif order == 0:
            tied += 1
        if size == limit and (limit == 0 or score < 0.999 * rows[0].score):
            continue
        key = key_of(pair, rule, cells, places, table, symbols)
        if size < limit:
            at = size
            size += 1
            while at > 0:  # it rises above what is better
                parent = (at - 1) >> 1
                if is_better(score, key, pair, parent, rule, prefix, rows, table, counts, uses, text, ends):
                    break
                put(at, rows[parent].score, rows[parent].key, rows[parent].pair, rows)
                at = parent
            put(at, score, key, pair, rows)
        elif is_better(score, key, pair, 0, rule, prefix, rows, table, counts, uses, text, ends):
            sink(score, key, pair, size, rule, prefix, rows, table, counts, uses, text, ends)
    for last in range(size - 1, 0, -1):  # the worst one goes behind those that are left
        score, key, pair = rows[last].score, rows[last].key, rows[last].pair
        put(last, rows[0].score, rows[0].key, rows[0].pair, rows)
        sink(score, key, pair, last, rule, prefix, rows, table, counts, uses, text, ends)
    return found, tied, size
