"""Kernels: the lattice of strings that stand in a text of codes, as in `unigram_seeds`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokentui.core.jit.compiling import BYTES, NUMBERS, kernel, types
from tokentui.learn.kernels.unigram_seeds import INTS

_CODE_BITS = np.uint64(21)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # an odd number without a pattern, for multiplicative hashing
HALVES = types.Array(types.uint64, 1, "C")


@kernel(types.int64(INTS, INTS, INTS, types.int64, types.int64, HALVES, INTS, types.int64, INTS, INTS, INTS, types.int64, INTS))
def grow(
    text: Any, starts: Any, ends: Any, first: int, last: int, keys: Any, values: Any, shift: int,
    parents: Any, depths: Any, spots: Any, count: int, at: Any,
) -> int:
    """Add strings to a trie; nodes are numbered as they come.

    Args:
        text: The text.
        starts, ends: Where the strings stand in it.
        first, last: Which of them to add.
        keys, values: A table of children by parent and code, twice as large as there can be nodes.
        shift: How many bits a place in the table has less than 64.
        parents, depths, spots: Of each node its parent, its depth, and where the first string that came through it was then.
        count: How many nodes there are.
        at: Takes the node of each string.

    Returns:
        How many nodes there are now.
    """
    mask = len(keys) - 1
    for n in range(first, last):
        node = 0
        for place in range(starts[n], ends[n]):
            key = np.uint64(node) << _CODE_BITS | np.uint64(text[place])
            slot = np.int64(key * _SPREAD >> np.uint64(shift))
            while keys[slot] and keys[slot] != key:
                slot = (slot + 1) & mask
            if not keys[slot]:
                keys[slot], values[slot] = key, count
                parents[count], depths[count], spots[count] = node, depths[node] + 1, place + 1
                count += 1
            node = values[slot]
        at[n] = node
    return count


@kernel(types.void(INTS, types.int64, NUMBERS, INTS))
def number(depths: Any, count: int, levels: Any, numbers: Any) -> None:
    """The numbers of nodes level by level; `levels` has the first of each and is used up."""
    for node in range(count):
        numbers[node] = levels[depths[node]]
        levels[depths[node]] += 1


@kernel(
    types.int64(INTS, INTS, INTS, INTS, INTS, INTS, INTS, INTS, INTS, BYTES, types.int64, types.int64, INTS, INTS, INTS, INTS)
)
def edges(
    text: Any, spots: Any, depths: Any, parents: Any, units: Any, lengths: Any, deepest: Any, links: Any, sizes: Any, alive: Any,
    first: int, last: int, way: Any, target: Any, source: Any, piece: Any,
) -> int:
    """The edges that end in some nodes, by node, the longest piece first.

    Args:
        text: The text.
        spots, depths, parents: Of the nodes.
        units: The piece of each code.
        lengths: For each place the lengths of the pieces that start there, a bit each.
        deepest, links: For each place the longest of them, for each piece the next shorter one.
        sizes: How many units each piece has.
        alive: Which pieces count; each unit does.
        first, last: The nodes to look at.
        way: Room for the nodes behind a node.
        target, source, piece: Take the edges; empty where they are only to be counted.

    Returns:
        How many there are.
    """
    count = 0
    for node in range(first, last):
        spot = spots[node]
        longest = min(depths[node], len(way) - 1)
        up = node
        for size in range(1, longest + 1):
            up = parents[up]
            way[size] = up
        for size in range(longest, 0, -1):
            start = spot - size
            if size > 1:
                if not lengths[start] >> size & 1:
                    continue
                known = deepest[start]
                while sizes[known] != size:
                    known = links[known]
                if not alive[known]:
                    continue
            else:
                known = units[text[start]]
            if len(target):
                target[count], source[count], piece[count] = node, way[size], known
            count += 1
    return count
