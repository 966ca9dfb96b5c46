"""The passes of `unigram_text.py` and `unigram_passes.py` as kernels, and the sorting that they need.

Import this module only if `tokentui.core.engines.available` returns true.
"""

from __future__ import annotations

from array import array
from collections.abc import Generator, Iterable, Sequence
from types import SimpleNamespace
from typing import Any

from tokentui.core.arrays import flat
from tokentui.core.native import Int32s, Int64s, helper, kernel
from tokentui.learn.kernels import unigram_passes, unigram_text

_DIGIT_BITS = 14
"""The approximate number of bits of a digit of the radix sort: its table of counts fits into the cache."""
_KEY_BITS = 11
_KEYS = 1 << _KEY_BITS
_SIGN = -1 << 63

@kernel
def _pack(text: Int32s, rest: Int32s, bits: int, group: int, digits: Int32s) -> None:
    """Write the next `group` units of the word at each place as one number to `digits`."""
    first = bits * (group - 1)
    digit = 0
    for place in range(len(text) - 1, -1, -1):
        digit = (text[place] - unigram_text.LAST_ENDING) << first | digit >> bits if rest[place] else 0
        digits[place] = digit


@kernel
def _sort_round(
    digits: Int32s, rest: Int32s, offset: int, group: int, starts: Int32s, before: Int32s, count: int,
    after: Int32s,
) -> int:
    """Sort suffixes by one digit, in a radix sort from the last digit to the first.

    Suffixes that end within this digit join the sort in this round, as they have no later digits (Aho,
    Hopcroft and Ullman 1974, algorithm 3.2).

    Args:
        digits, rest: The digits made by `_pack`, and the number of units left from each place on.
        offset: The number of units before the digit.
        group: The number of units of the digit.
        starts: Scratch space, one number for each value of a digit.
        before: The places of the `count` longer suffixes, sorted by what follows this digit.
        after: Receives these and the new suffixes, sorted by this digit and what follows it.

    Returns:
        The number of suffixes in `after`.
    """
    for digit in range(len(starts)):
        starts[digit] = 0
    high = offset + group
    for place in range(len(rest)):
        if offset < rest[place] <= high:
            starts[digits[place + offset]] += 1
    for n in range(count):
        starts[digits[before[n] + offset]] += 1
    total = 0
    for digit in range(len(starts)):
        here = starts[digit]
        starts[digit] = total
        total += here
    for place in range(len(rest)):
        if offset < rest[place] <= high:
            digit = digits[place + offset]
            after[starts[digit]] = place
            starts[digit] += 1
    for n in range(count):
        digit = digits[before[n] + offset]
        after[starts[digit]] = before[n]
        starts[digit] += 1
    return total


def _suffixes(text: array[int], rest: array[int], units: int) -> Generator[float, None, array[int]]:
    """Return the suffixes of a text, sorted by their first `DEEPEST` units. Yields between rounds."""
    bits = units.bit_length()
    group = max(1, _DIGIT_BITS // max(1, bits))
    digits, before, after = (flat("int32", len(text)) for _ in range(3))
    _pack(text, rest, bits, group, digits)
    starts = flat("int32", 1 << bits * group)
    count = 0
    for offset in range((unigram_text.DEEPEST - 1) // group * group, -1, -group):
        count = _sort_round(digits, rest, offset, group, starts, before, count, after)
        before, after = after, before
        yield 0.0
    return array("i", before[:count].tobytes())


@kernel
def _gather_short(values: Int32s, which: Int32s, out: Int32s) -> None:
    """Copy the 32-bit values at the indices `which` to `out`."""
    for n in range(len(which)):
        out[n] = values[which[n]]


@kernel
def _gather(values: Int64s, which: Int32s, out: Int64s) -> None:
    """Copy the 64-bit values at the indices `which` to `out`."""
    for n in range(len(which)):
        out[n] = values[which[n]]


def _pick(values: array[Any], which: Iterable[int]) -> array[Any]:
    places = which if isinstance(which, array) and which.typecode == "i" else array("i", which)
    made = array(values.typecode, bytes(values.itemsize * len(places)))
    (_gather if values.itemsize == 8 else _gather_short)(values, places, made)
    return made


@kernel
def _sort(keys: Int64s, order: Int32s, room: Int32s, counts: Int64s) -> None:
    """Sort places by their keys in ascending order: a stable radix sort from the last digit.

    Args:
        keys: The key of each place.
        order: The places; sorted in place.
        room: Scratch space, as long as `order`.
        counts: Scratch space, one number for each value of a digit.
    """
    for shift in range(0, 64, _KEY_BITS):
        for digit in range(_KEYS):
            counts[digit] = 0
        for n in range(len(order)):
            counts[(keys[order[n]] ^ _SIGN) >> shift & (_KEYS - 1)] += 1
        if len(order) == 0 or counts[(keys[order[0]] ^ _SIGN) >> shift & (_KEYS - 1)] == len(order):
            continue  # all keys have the same digit
        total = 0
        for digit in range(_KEYS):
            here = counts[digit]
            counts[digit] = total
            total += here
        for n in range(len(order)):
            digit = (keys[order[n]] ^ _SIGN) >> shift & (_KEYS - 1)
            room[counts[digit]] = order[n]
            counts[digit] += 1
        for n in range(len(order)):
            order[n] = room[n]


@kernel
def _falling(values: Int64s, keys: Int64s) -> None:
    """Turn the bits of float64 numbers (no NaN) into keys that sort in descending order."""
    for n in range(len(values)):
        bits = values[n]
        if bits == _SIGN:
            bits = 0  # -0.0 equals 0.0
        keys[n] = ~(bits ^ 0x7FFFFFFFFFFFFFFF) if bits < 0 else ~bits


def _sorted(order: array[int], *keys: Any) -> array[int]:
    """Sort places in place by the last of `keys`, ties by the one before it, and so on; each sort is stable.
    Return `order`."""
    room, counts = flat("int32", len(order)), flat("int64", _KEYS)
    for one in keys:
        _sort(one, order, room, counts)
    return order


def _descending(values: array[float], which: Sequence[int]) -> array[int]:
    keys = flat("int64", len(values))
    _falling(values, keys)
    return _sorted(array("i", which), keys)


def _by_worth(worths: array[int], lengths: array[int], ranks: array[int]) -> array[int]:
    keys = [array("q", ranks), *(array("q", [-one for one in values]) for values in (lengths, worths))]
    return _sorted(array("i", range(len(worths))), *keys)


helper(unigram_passes.digamma)
_LOOPS = (
    unigram_text.count_units, unigram_text.branches, unigram_text.fits, unigram_text.measure,
    unigram_text.rank, unigram_text.cover, unigram_text.segments, unigram_text.grow, unigram_text.number,
    unigram_text.renumber, unigram_text.gather, unigram_passes.edges, unigram_passes.keep,
    unigram_passes.spread, unigram_passes.logarithms, unigram_passes.forward, unigram_passes.forward_logs,
    unigram_passes.likelihood, unigram_passes.count_uses, unigram_passes.begin, unigram_passes.backward,
    unigram_passes.backward_logs, unigram_passes.first_scores, unigram_passes.credit, unigram_passes.frequent,
    unigram_passes.maximise, unigram_passes.alternatives, unigram_passes.losses,
)
PASSES = SimpleNamespace(
    CHUNK=1 << 16, codes=unigram_text.codes, suffixes=_suffixes, pick=_pick, descending=_descending,
    by_worth=_by_worth, **{loop.__name__: kernel(loop) for loop in _LOOPS},
)
"""The functions of both modules as kernels, under the same names."""
