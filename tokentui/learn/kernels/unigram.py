"""The passes of `unigram_text.py` and `unigram_passes.py`, compiled, and what NumPy sorts.

`tokentui.core.jit.load` has to have said yes before this module is imported.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator, Sequence
from types import SimpleNamespace
from typing import Any, get_type_hints

import numpy as np

from tokentui.core.compiling import kernel, numba, types
from tokentui.learn.kernels import unigram_passes, unigram_text
from tokentui.learn.kernels.unigram_text import Ints

_DIGIT_BITS = 14
"""A digit of the radix sort has about so many bits: its table of counts stays in the cache."""

_SCALARS = {int: types.int64, float: types.float64, bool: types.boolean, type(None): types.void}


def _type(hint: Any) -> Any:
    """The compiler's type for an annotation of the loops."""
    if hint in _SCALARS:
        return _SCALARS[hint]
    if hasattr(hint, "__metadata__"):
        return types.Array(getattr(types, hint.__metadata__[0]), 1, "C")
    fields = list(map(_type, get_type_hints(hint, include_extras=True).values()))
    alike = all(field == fields[0] for field in fields)
    return types.NamedUniTuple(fields[0], len(fields), hint) if alike else types.NamedTuple(fields, hint)


def _compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """A loop compiled for the types of its annotations; it takes arrays of the standard library."""
    hints = get_type_hints(loop, include_extras=True)
    found = _type(hints.pop("return"))
    fast = kernel(found(*map(_type, hints.values())))(loop)
    return lambda *arguments: fast(*map(_view, arguments))


def _view(value: Any) -> Any:
    """NumPy's view of an array; anything else as it is."""
    if isinstance(value, array | bytearray):
        return np.asarray(value)
    return type(value)(*map(_view, value)) if isinstance(value, tuple) else value


def _array(kind: str, values: Any) -> array[Any]:
    made = array(kind)
    made.frombytes(np.ascontiguousarray(values, kind).tobytes())
    return made


@_compiled
def _pack(text: Ints, rest: Ints, bits: int, group: int, digits: Ints) -> None:
    """The next `group` units of the word at each place as one number."""
    first = bits * (group - 1)
    digit = 0
    for place in range(len(text) - 1, -1, -1):
        digit = (text[place] - unigram_text.LAST_ENDING) << first | digit >> bits if rest[place] else 0
        digits[place] = digit


@_compiled
def _sort_round(
    digits: Ints, rest: Ints, offset: int, group: int, starts: Ints, before: Ints, count: int, after: Ints
) -> int:
    """A round of sorting suffixes by radix, from their last digits to their first ones.

    Suffixes that end within this digit come in now: they have nothing to be compared by before (Aho, Hopcroft
    and Ullman 1974, algorithm 3.2).

    Args:
        digits, rest: The digits made by `_pack`, and the number of units left from each place on.
        offset: The number of units before the digit.
        group: The number of units of the digit.
        starts: Room for as many numbers as there are digits.
        before: The places of the longer suffixes in order of what follows this digit, `count` of them.
        after: Takes them and the new ones in order of this digit and what follows it.

    Returns:
        How many there are now.
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
    codes, left = np.asarray(text), np.asarray(rest)
    bits = units.bit_length()
    group = max(1, _DIGIT_BITS // max(1, bits))
    digits, before, after = (np.empty(len(codes), np.int32) for _ in range(3))
    _pack(codes, left, bits, group, digits)
    starts = np.empty(1 << bits * group, np.int32)
    count = 0
    for offset in range((unigram_text.DEEPEST - 1) // group * group, -1, -group):
        count = _sort_round(digits, left, offset, group, starts, before, count, after)
        before, after = after, before
        yield 0.0
    return _array("i", before[:count])


def _pick(values: array[Any], which: Any) -> array[Any]:
    return _array(values.typecode, np.asarray(values)[np.asarray(which, np.int64)])


def _descending(values: array[float], which: Sequence[int]) -> array[int]:
    chosen = np.asarray(which, np.int32)
    return _array("i", chosen[np.argsort(-np.asarray(values)[chosen], kind="stable")])


def _by_worth(worths: array[int], lengths: array[int], ranks: array[int]) -> array[int]:
    return _array("i", np.lexsort((np.asarray(ranks), -np.asarray(lengths), -np.asarray(worths))))


numba.extending.register_jitable(unigram_passes.digamma)
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
    by_worth=_by_worth, **{loop.__name__: _compiled(loop) for loop in _LOOPS},
)
"""The functions of both modules under the same names."""
