"""Kernels: the values of pairs beyond their count and their score, on the state of `layout`.

A value is what `learn/objectives.py` has, in double precision: numbers that are divided are exact as long as
no product has more than 53 bits, and the logarithm is that of the process, so that both give the same bits.
What is irrational is rounded to a whole number of parts, half to even.
"""

from __future__ import annotations

from math import log
from typing import Any

from tokentui.core.native import I64, INT, NOTHING, helper, kernel
from tokentui.learn.kernels.layout import STATE

COUNTS, SCORES, LENGTHS, NPMI, GAINS = range(5)
"""The worths of a pair, by the number in the state."""
_HALF_EVEN = 1.5 * 2.0**52
"""Added to a number of less than 51 bits and taken away again, it leaves a whole one, half to even."""
_FINE, _COARSE = 2.0**40, 2.0**20
TOKENS, PAIRS, TYPES = range(3)
"""The places of figures of the whole corpus in `totals`."""


@helper
def rounded(value: float) -> float:
    """The nearest whole number, of two the even one."""
    return (value + _HALF_EVEN) - _HALF_EVEN


@helper
def apart(pair: int, s: Any) -> Any:
    """The weight of the places of a pair that a merge replaces."""
    left = s.table[pair].left
    if left != s.table[pair].right:
        return s.counts[pair]
    size = 2 * s.symbols[left].length
    replaced = 0
    free = 0
    for entry in range(s.table[pair].first, s.table[pair + 1].first):
        place = I64(s.places[entry].place)
        if place >= free and s.cells[place].pair == pair:
            replaced += s.places[entry].weight
            free = place + size
    return replaced


@helper
def value_of(pair: int, s: Any) -> float:
    """The value of a pair, by the figures of `survey`."""
    left, right, count = s.table[pair].left, s.table[pair].right, s.counts[pair]
    if s.scored == LENGTHS:
        return float(count * (s.symbols[left].length + s.symbols[right].length))
    if s.scored == NPMI:
        lefts, rights, pairs = s.lefts[left], s.rights[right], s.totals[PAIRS]
        if (lefts == count and rights == count) or count == pairs:
            return _FINE
        told = log(float(count * pairs) / float(lefts * rights))
        return rounded(told / log(float(pairs) / float(count)) * _FINE)
    here = apart(pair, s)
    grown = float((here + 1) * (s.totals[TOKENS] - here + s.totals[TYPES] + 1))
    shrunk = float((s.uses[left] - here + 1) * (s.uses[right] - here + 1))
    return rounded(float(here) * log(grown / shrunk) * _COARSE)


@kernel(NOTHING, INT, INT, STATE)
def survey(pairs: int, symbols: int, s: Any) -> None:
    """Find the figures of the whole corpus at a step with so many pairs and symbols."""
    tokens = total = 0
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
