"""Kernels: the order of scores c(xy) / (c(x)·c(y)), found without rounding.

A score in double precision is wrong by less than one part in 2^50, so most scores are told apart by these. Where they are not,
the fractions are multiplied out, in as many bits as that takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokentui.core.jit.compiling import helper, inlined

_U = np.uint64
_HALF = _U(32)
_LOW = _U(0xFFFFFFFF)
_SURE = 2.0**-50
_FITS = 2.0**62
"""A product that is less than this in double precision is less than 2^63."""
_SMALL = 1 << 31


@helper
def high_word(one: Any, other: Any) -> Any:
    """The upper 64 bits of a product of two numbers of 64 bits without sign."""
    low, high = one & _LOW, one >> _HALF
    other_low, other_high = other & _LOW, other >> _HALF
    middle = high * other_low + (low * other_low >> _HALF)
    crossed = low * other_high + (middle & _LOW)
    return high * other_high + (middle >> _HALF) + (crossed >> _HALF)


@helper
def compare_wide(a: int, b: int, c: int, x: int, y: int, z: int) -> int:
    """Compare a·b·c with x·y·z. Return -1 if it is less, 0 if equal, 1 if greater.

    The numbers are not negative.
    """
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


@inlined
def compare_shares(count: int, uses: int, other_count: int, other_uses: int) -> Any:
    """Compare count / uses of two pairs.

    Return a number below 0 if the first share is less, 0 if they are equal, above 0 if it is greater.
    """
    if (count | uses | other_count | other_uses) < _SMALL:
        return count * other_uses - other_count * uses
    return compare_wide(count, other_uses, 1, other_count, uses, 1)


@inlined
def compare_scores(
    score: float, count: int, left: int, right: int, other_score: float, other_count: int, other_left: int, other_right: int
) -> Any:
    """The same of count / (left · right); the scores are these fractions in double precision."""
    gap = score - other_score
    if abs(gap) > _SURE * score:
        return 1 if gap > 0 else -1
    one = float(count) * float(other_left) * float(other_right)
    other = float(other_count) * float(left) * float(right)
    if one < _FITS and other < _FITS:
        return count * other_left * other_right - other_count * left * right
    return compare_wide(count, other_left, other_right, other_count, left, right)
