"""Kernels: the order of pairs by worth and tie rule, and heaps of pairs, on the state of `layout`.

The relative error of a score c(xy) / (c(x)·c(y)) in double precision is below 2^-50, which decides most
comparisons. Otherwise the fractions are cross-multiplied exactly, in up to 192 bits.
"""

from __future__ import annotations

from typing import Any

from tokentui.core.native import I64, U64, helper, inlined, kernel
from tokentui.learn.kernels.layout import (
    FIRST_SEEN,
    LARGEST_PAIR,
    LOWEST_IDS,
    SCORES,
    SHORTEST,
    RankedRows,
    State,
)
from tokentui.learn.kernels.merges import is_forbidden, may_be_made

_U = U64
_HALF = _U(32)
_LOW = _U(0xFFFFFFFF)
_SURE = 2.0**-50
_FITS = 2.0**62
"""A product below this in double precision is below 2^63."""
_SMALL = 1 << 31


# ---- worths


@inlined
def worth_of(pair: int, s: State) -> Any:
    """Return the count or score of a pair, as `s.scored` says, in double precision."""
    worth = float(s.counts[pair])
    if s.scored == SCORES:
        worth /= float(s.uses[s.table[pair].left]) * float(s.uses[s.table[pair].right])
    return worth


@helper
def high_word(one: Any, other: Any) -> Any:
    """Return the upper 64 bits of the product of two unsigned 64-bit numbers."""
    low, high = one & _LOW, one >> _HALF
    other_low, other_high = other & _LOW, other >> _HALF
    middle = high * other_low + (low * other_low >> _HALF)
    crossed = low * other_high + (middle & _LOW)
    return high * other_high + (middle >> _HALF) + (crossed >> _HALF)


@helper
def compare_wide(a: int, b: int, c: int, x: int, y: int, z: int) -> int:
    """Compare a·b·c with x·y·z, all nonnegative, exactly. Return -1 if it is less, 0 if equal, 1 if
    greater."""
    low, other_low = _U(a) * _U(b), _U(x) * _U(y)
    high, other_high = high_word(_U(a), _U(b)), high_word(_U(x), _U(y))
    first, other_first = low * _U(c), other_low * _U(z)
    carried, other_carried = high_word(low, _U(c)), high_word(other_low, _U(z))
    second, other_second = high * _U(c) + carried, other_high * _U(z) + other_carried
    third = high_word(high, _U(c)) + (_U(1) if second < carried else _U(0))
    other_third = high_word(other_high, _U(z)) + (_U(1) if other_second < other_carried else _U(0))
    if third != other_third:
        return 1 if third > other_third else -1
    if second != other_second:
        return 1 if second > other_second else -1
    if first != other_first:
        return 1 if first > other_first else -1
    return 0


@kernel
def compare_products(a: int, b: int, c: int, x: int, y: int, z: int) -> int:
    """Kernel entry point of `compare_wide`, for tests."""
    return compare_wide(a, b, c, x, y, z)


@inlined
def compare_shares(count: int, uses: int, other_count: int, other_uses: int) -> Any:
    """Compare count / uses of two pairs exactly. Return a negative number if the first share is less, 0 if
    they are equal, a positive number if it is greater."""
    if (count | uses | other_count | other_uses) < _SMALL:
        return count * other_uses - other_count * uses
    return compare_wide(count, other_uses, 1, other_count, uses, 1)


@inlined
def compare_scores(
    score: float, count: int, left: int, right: int, other_score: float, other_count: int, other_left: int,
    other_right: int,
) -> Any:
    """Compare count / (left · right) of two pairs exactly, by sign as `compare_shares`. The scores are these
    fractions in double precision."""
    gap = score - other_score
    if abs(gap) > _SURE * score:
        return 1 if gap > 0 else -1
    one = float(count) * float(other_left) * float(other_right)
    other = float(other_count) * float(left) * float(right)
    if one < _FITS and other < _FITS:
        return count * other_left * other_right - other_count * left * right
    return compare_wide(count, other_left, other_right, other_count, left, right)


# ---- the tie rule


@helper
def key_of(pair: int, s: State) -> int:
    """Return the key of a pair by the tie rule, smallest first. It is valid while the count of the pair does
    not change. 0 if the rule compares bytes alone."""
    left, right = s.table[pair].left, s.table[pair].right
    if s.rule == FIRST_SEEN:
        for entry in range(s.table[pair].first, s.table[pair + 1].first):
            if s.cells[s.places[entry].place].pair == pair:
                return int(s.places[entry].place)
    if s.rule == LOWEST_IDS:
        return int(s.symbols[left].order) << 32 | int(s.symbols[right].order)
    if s.rule == SHORTEST:
        return int(s.symbols[left].length + s.symbols[right].length)
    return 0


@helper
def compare(symbol: int, other: int, text: Any, ends: Any) -> Any:
    """Compare the bytes of two symbols. Return a negative number if the first is smaller, 0 if they are
    equal, a positive number if it is greater."""
    start, size = ends[symbol], ends[symbol + 1] - ends[symbol]
    other_start, other_size = ends[other], ends[other + 1] - ends[other]
    for n in range(min(size, other_size)):
        if text[start + n] != text[other_start + n]:
            return I64(text[start + n]) - I64(text[other_start + n])
    return size - other_size


@helper
def compare_tokens(one: int, other: int, prefix: int, table: Any, text: Any, ends: Any) -> Any:
    """Compare the bytes of the tokens of two pairs, as `compare`; the right part is taken without its
    mark."""
    left, right = table[one].left, table[one].right
    other_left, other_right = table[other].left, table[other].right
    size, other_size = ends[left + 1] - ends[left], ends[other_left + 1] - ends[other_left]
    tail, other_tail = ends[right] + prefix, ends[other_right] + prefix
    whole = size + ends[right + 1] - tail
    other_whole = other_size + ends[other_right + 1] - other_tail
    for n in range(min(whole, other_whole)):
        byte = text[ends[left] + n] if n < size else text[tail + n - size]
        other_byte = text[ends[other_left] + n] if n < other_size else text[other_tail + n - other_size]
        if byte != other_byte:
            return I64(byte) - I64(other_byte)
    return whole - other_whole


@helper
def precedes_by_bytes(
    pair: int, other: int, rule: int, prefix: int, table: Any, text: Any, ends: Any
) -> bool:
    """Return whether the first of two pairs wins a tie by bytes; the lower number wins if these are equal.

    SHORTEST compares the joined tokens by `compare_tokens`. The other rules compare the left pieces, then the
    right ones: the smaller wins, or the larger with LARGEST_PAIR.

    Args:
        pair, other: The numbers of the pairs.
        rule: The rule of the tie.
        prefix: How many bytes the mark has that a right part loses in a token.
        table: The rows of the pairs.
        text, ends: The concatenated pieces, and where each ends.
    """
    if rule == SHORTEST:
        order = compare_tokens(pair, other, prefix, table, text, ends)
    else:
        order = compare(table[pair].left, table[other].left, text, ends)
        if order == 0:
            order = compare(table[pair].right, table[other].right, text, ends)
        if rule == LARGEST_PAIR:
            order = -order
    return order < 0 if order != 0 else pair < other


@inlined
def comes_first(pair: int, key: int, other: int, other_key: int, s: State) -> Any:
    """Return whether the first of two tied pairs wins by the tie rule."""
    if key != other_key:
        return key < other_key
    if s.rule < SHORTEST:
        return pair < other
    return precedes_by_bytes(pair, other, s.rule, s.prefix, s.table, s.text, s.ends)


# ---- heaps


@inlined
def precedes(one: Any, other: Any, s: State) -> Any:
    """Return whether the pair of one row is better than that of another."""
    order: Any = I64(0)
    if s.scored == SCORES:
        left, right = s.table[one.pair], s.table[other.pair]
        order = compare_scores(
            one.worth, s.counts[one.pair], s.uses[left.left], s.uses[left.right],
            other.worth, s.counts[other.pair], s.uses[right.left], s.uses[right.right],
        )
    elif one.worth != other.worth:
        order = 1 if one.worth > other.worth else -1
    if order != 0:
        return order > 0
    return comes_first(one.pair, one.key, other.pair, other.key, s)


@inlined
def copy_row(at: int, by: int, heap: Any) -> None:
    """Copy row `by` of a heap to row `at`."""
    heap[at].worth = heap[by].worth
    heap[at].key = heap[by].key
    heap[at].pair = heap[by].pair


@helper
def sift_down(at: int, size: int, worst: bool, heap: Any, s: State) -> None:
    """Move a row down until the heap is in order, with the best row first, or the worst if `worst`.

    The last row of `heap` is scratch space.
    """
    moved = len(heap) - 1
    copy_row(moved, at, heap)
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and precedes(heap[child + 1], heap[child], s) != worst:
            child += 1
        if precedes(heap[child], heap[moved], s) == worst:
            break
        copy_row(at, child, heap)
        at = child
    copy_row(at, moved, heap)


@helper
def sift_up(at: int, worst: bool, heap: Any, s: State) -> None:
    """Move a row up until the heap is in order, with the best row first, or the worst if `worst`.

    The last row of `heap` is scratch space.
    """
    moved = len(heap) - 1
    copy_row(moved, at, heap)
    while at > 0:
        parent = (at - 1) >> 1
        if precedes(heap[moved], heap[parent], s) == worst:
            break
        copy_row(at, parent, heap)
        at = parent
    copy_row(at, moved, heap)


@kernel
def find_forbidden(pairs: int, s: State) -> int:
    """Return the most frequent forbidden pair among the first `pairs` pairs, 0 if none of them occurs."""
    best: Any = 0
    key: Any = 0
    for pair in range(1, pairs):
        count = s.counts[pair]
        if count > 0 and (best == 0 or count >= s.counts[best]) and is_forbidden(pair, s):
            own = key_of(pair, s)
            if best == 0 or count > s.counts[best] or comes_first(pair, own, best, key, s):
                best, key = pair, own
    return int(best)


@kernel
def rank_candidates(
    pairs: int, limit: int, least: int, forced: int, heap: RankedRows, s: State
) -> tuple[int, int, int, int]:
    """Count the candidates of a step, and write the best `limit` of them, in order, to `heap`.

    Args:
        pairs: The number of pairs.
        limit: The number of candidates to write.
        least: The least count of a candidate.
        forced: A pair that is merged whatever its worth, 0 for none.
        heap: `limit` + 2 rows.
        s: The state.

    Returns:
        (the number of candidates, the number tied for best, the number of rows written, the number tied with
        the forced pair, itself included, or 0 if it is no candidate).
    """
    found = tied = size = alike = 0
    forced_count, forced_left, forced_right = s.counts[forced], I64(0), I64(0)
    forced_worth = 0.0
    if forced != 0 and forced_count >= least and may_be_made(forced, s):
        forced_left, forced_right = s.uses[s.table[forced].left], s.uses[s.table[forced].right]
        forced_worth = worth_of(forced, s)
    else:
        forced = 0
    best: Any = 0
    greatest = 0.0
    new = limit  # the scratch row of the current pair
    for pair in range(1, pairs):
        count = s.counts[pair]
        if count < least or not may_be_made(pair, s):
            continue
        found += 1
        worth = worth_of(pair, s)
        left, right = s.uses[s.table[pair].left], s.uses[s.table[pair].right]
        if forced != 0:
            if s.scored == SCORES:
                alike += compare_scores(
                    worth, count, left, right, forced_worth, forced_count, forced_left, forced_right
                ) == 0
            else:
                alike += count == forced_count
        order = 1
        if s.scored == SCORES:
            if best != 0:
                order = compare_scores(
                    worth, count, left, right,
                    greatest, s.counts[best], s.uses[s.table[best].left], s.uses[s.table[best].right],
                )
        elif best != 0:
            order = count - s.counts[best]
        if order > 0:
            best, greatest, tied = pair, worth, 1
        elif order == 0:
            tied += 1
        if size == limit and (limit == 0 or worth < 0.999 * heap[0].worth):
            continue
        heap[new].worth = worth
        heap[new].key = key_of(pair, s)
        heap[new].pair = pair
        if size < limit:
            copy_row(size, new, heap)
            sift_up(size, True, heap, s)
            size += 1
        elif precedes(heap[new], heap[0], s):
            copy_row(0, new, heap)
            sift_down(0, size, True, heap, s)
    for last in range(size - 1, 0, -1):  # heap sort: move the worst row behind the others
        copy_row(new, last, heap)
        copy_row(last, 0, heap)
        copy_row(0, new, heap)
        sift_down(0, last, True, heap, s)
    return found, tied, size, alike
