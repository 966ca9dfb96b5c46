"""Kernels: going back and forward again among known merges. The arrays are those of `pairs_fields`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokentui.core.jit.compiling import NUMBERS, helper, kernel, types
from tokentui.learn.kernels.pairs_fields import CELLS, LOG, PLACES, STEPS, SYMBOLS, TABLE

_WALK = types.int64(
    types.int64, types.int64, types.int64, types.int64, STEPS, CELLS, PLACES, LOG, TABLE, NUMBERS, SYMBOLS, NUMBERS
)


@helper
def give_uses(number: int, sign: int, base: int, steps: Any, table: Any, uses: Any) -> None:
    """Give the uses of a step's symbol back to its parts, or with `sign` -1 take them."""
    pair = steps[number].chosen
    replaced = sign * steps[number].replaced
    uses[base + number] -= replaced
    uses[table[pair].left] += replaced
    uses[table[pair].right] += replaced


@kernel(_WALK)
def undo(
    number: int, goal: int, most: int, base: int, steps: Any,
    cells: Any, places: Any, log: Any, table: Any, counts: Any, symbols: Any, uses: Any,
) -> int:
    """Undo merges, the last one first.

    Args:
        number: The step.
        goal: The step to go back to.
        most: Stop after so many places.
        base: The number of base symbols.

    Returns:
        The step arrived at.
    """
    stop = steps[number].logged - most
    while number > goal and steps[number].logged > stop:
        number -= 1
        pair = steps[number].chosen
        first_new = steps[number].pairs
        left, right = table[pair].left, table[pair].right
        offset = symbols[left].length
        last = offset + symbols[right].length - 1
        entry = table[pair + 1].first
        for logged in range(steps[number + 1].logged - 1, steps[number].logged - 1, -1):
            start = np.int64(log[logged].place)
            entry -= 1
            while places[entry].place != start:
                entry -= 1
            weight = places[entry].weight
            middle = start + offset
            old = ~cells[middle].pair
            cells[middle].pair = old
            if old != 0:
                counts[old] += weight
            old = log[logged].old
            if old != 0:
                cells[start - symbols[cells[start - 1].symbol].length].pair = old
                if old < first_new:
                    counts[old] += weight
            cells[start].pair = pair
            cells[start].symbol = cells[middle - 1].symbol = left
            cells[middle].symbol = cells[start + last].symbol = right
        counts[pair] = steps[number].count
        give_uses(number, 1, base, steps, table, uses)
    return number


@kernel(_WALK)
def redo(
    number: int, goal: int, most: int, base: int, steps: Any,
    cells: Any, places: Any, log: Any, table: Any, counts: Any, symbols: Any, uses: Any,
) -> int:
    """Make known merges again. The arguments are those of `undo`."""
    stop = steps[number].logged + most
    while number < goal and steps[number].logged < stop:
        pair = steps[number].chosen
        first_new = steps[number].pairs
        token = base + number
        offset = symbols[table[pair].left].length
        last = symbols[token].length - 1
        entry = table[pair].first
        for logged in range(steps[number].logged, steps[number + 1].logged):
            start = np.int64(log[logged].place)
            while places[entry].place != start:
                entry += 1
            weight = places[entry].weight
            middle = start + offset
            old = cells[middle].pair
            cells[middle].pair = ~old
            if old != 0:
                counts[old] -= weight
            old = log[logged].old
            if 0 < old < first_new:
                counts[old] -= weight
            cells[start].pair = 0
            cells[start].symbol = token
            cells[start + last].symbol = token
        for new in range(first_new, steps[number + 1].pairs):
            count = 0
            for entry in range(table[new].first, table[new + 1].first):
                count += places[entry].weight
                cells[places[entry].place].pair = new
            counts[new] = count
        counts[pair] = 0
        give_uses(number, -1, base, steps, table, uses)
        number += 1
    return number


@kernel(types.void(types.int64, types.int64, types.int64, STEPS, TABLE, NUMBERS))
def move_uses(number: int, goal: int, base: int, steps: Any, table: Any, uses: Any) -> None:
    """Change the uses of symbols from those at one step to those at another."""
    for step in range(number, goal):
        give_uses(step, -1, base, steps, table, uses)
    for step in range(goal, number):
        give_uses(step, 1, base, steps, table, uses)


@helper
def copy_cell(cells: Any, copy: Any, at: Any) -> None:
    """Copy one cell."""
    copy[at].symbol = cells[at].symbol
    copy[at].pair = cells[at].pair


@kernel(types.void(types.int64, types.int64, types.int64, STEPS, CELLS, CELLS, LOG, TABLE, SYMBOLS))
def copy_changed(
    number: int, goal: int, base: int, steps: Any, cells: Any, copy: Any, log: Any, table: Any, symbols: Any
) -> None:
    """Copy the cells that the steps after one, up to another, have changed.

    A merge changes the first and the last cell of its token, the one where its right part began, and the one where the token
    before it begins. If that token is merged later, its first cell is among those of the later merge.
    """
    for step in range(number, goal):
        offset = symbols[table[steps[step].chosen].left].length
        last = symbols[base + step].length - 1
        for logged in range(steps[step].logged, steps[step + 1].logged):
            start = np.int64(log[logged].place)
            before = cells[start - 1].symbol
            if before >= 0:
                copy_cell(cells, copy, start - symbols[before].length)
            copy_cell(cells, copy, start)
            copy_cell(cells, copy, start + offset)
            copy_cell(cells, copy, start + last)
