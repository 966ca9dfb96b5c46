"""Kernels: one merge. The arrays are those of `pairs_fields`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokentui.core.jit.compiling import inlined
from tokentui.learn.kernels.pairs_fields import NO_LIMIT


@inlined
def may_be_made(pair: int, longest: int, table: Any, symbols: Any) -> Any:
    """True if a pair's token is not longer than the limit."""
    return longest == NO_LIMIT or symbols[table[pair].left].length + symbols[table[pair].right].length <= longest


@inlined
def add_place(pair: Any, place: Any, weight: int, places: Any, table: Any) -> None:
    """Note a place of a new pair; `table[pair].next` is where."""
    at = table[pair].next
    table[pair].next = at + 1
    places[at].place = place
    places[at].weight = weight


@inlined
def note_places(
    pair: int, token: int, first_new: int, pairs: int, at: int, log_start: int, log_end: int,
    cells: Any, places: Any, log: Any, table: Any, symbols: Any,
) -> None:
    """Note where the pairs stand that a merge has just made; `table[new].first` says how many places each has.

    Args:
        pair, token: The merged pair and its new token.
        first_new, pairs: The number of pairs before and after.
        at: The number of places before.
        log_start, log_end: The length of the log before and after.
    """
    for new in range(first_new, pairs):
        size = table[new].first
        table[new].first = table[new].next = at
        at += size
    table[pairs].first = at
    entry = table[pair].first
    for logged in range(log_start, log_end):
        start = np.int64(log[logged].place)
        while places[entry].place != start:
            entry += 1
        weight = places[entry].weight
        before = cells[start - 1].symbol
        if before >= 0 and before != token:
            place = start - symbols[before].length
            add_place(cells[place].pair, place, weight, places, table)
        if cells[start].pair != 0:
            add_place(cells[start].pair, start, weight, places, table)


@inlined
def merge(
    pair: int, token: int, first_new: int, log_at: int, level: int, longest: int,
    cells: Any, places: Any, log: Any, table: Any, counts: Any, symbols: Any,
) -> Any:
    """Merge every place of a pair for the first time, left to right.

    Args:
        pair: The pair.
        token: The symbol that it becomes; its length is known.
        first_new: The number of pairs before.
        log_at: The length of the log before.
        level: The greatest count there is, which is that of this pair.
        longest: The greatest length of a token.

    Returns:
        (how much was merged by weight, how many candidates have the count `level` no more, the number of pairs, the length of
        the log).
    """
    offset = symbols[table[pair].left].length
    last = symbols[token].length - 1
    counts[pair] = 0
    places_end = table[first_new].first
    log_start = log_at
    pairs = first_new
    replaced = 0
    fallen = 1
    here: Any = log_at
    for entry in range(table[pair].first, table[pair + 1].first):  # those that still hold; no branch waits for a distant cell
        log[here].place = places[entry].place
        log[here].old = places[entry].weight
        here += np.int64(cells[places[entry].place].pair == pair)
    for entry in range(log_start, here):
        start = np.int64(log[entry].place)
        if cells[start].pair != pair:
            continue  # it overlaps the one before
        weight = log[entry].old
        replaced += weight
        before = cells[start - 1].symbol
        old: Any = 0
        if before >= 0:
            at = start - symbols[before].length
            old = np.int64(cells[at].pair)
            if old >= first_new:
                table[old].first -= 1  # it came to be within this merge
            elif counts[old] == level and may_be_made(old, longest, table, symbols):
                fallen += 1
            counts[old] -= weight
            new = symbols[before].before
            if new < first_new:
                new = pairs
                pairs += 1
                symbols[before].before = new
                table[new].left = before
                table[new].right = token
                table[new].first = 0
                counts[new] = 0
            table[new].first += 1
            counts[new] += weight
            cells[at].pair = new
        log[log_at].place = start
        log[log_at].old = old
        log_at += 1
        middle = start + offset
        old = np.int64(cells[middle].pair)
        cells[middle].pair = ~old
        new = 0
        if old != 0:
            if counts[old] == level and may_be_made(old, longest, table, symbols):
                fallen += 1
            counts[old] -= weight
            after = cells[start + last + 1].symbol
            new = symbols[after].after
            if new < first_new:
                new = pairs
                pairs += 1
                symbols[after].after = new
                table[new].left = token
                table[new].right = after
                table[new].first = 0
                counts[new] = 0
            table[new].first += 1
            counts[new] += weight
        cells[start].pair = new
        cells[start].symbol = token
        cells[start + last].symbol = token
    counts[pair] = 0  # a run such as "aaa": the places that overlap go with the pair
    note_places(pair, token, first_new, pairs, places_end, log_start, log_at, cells, places, log, table, symbols)
    return replaced, fallen, pairs, log_at
