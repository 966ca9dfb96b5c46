"""The passes of `unigram_text.py` and `unigram_passes.py`, compiled, and what NumPy sorts.

`tokentui.core.jit.load` has to have said yes before this module is imported.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator
from types import SimpleNamespace
from typing import Any

import numpy as np

from tokentui.core.jit.compiling import NUMBERS, kernel, numba, types
from tokentui.learn.kernels import unigram_passes, unigram_text

_DIGIT_BITS = 14
"""A digit of the radix sort has about so many bits: its table of counts stays in the cache."""

INTS = types.Array(types.int32, 1, "C")
FLOATS = types.Array(types.float64, 1, "C")
_SINGLES = types.Array(types.float32, 1, "C")
_FLAGS = types.Array(types.uint8, 1, "C")
_N = types.int64
_FOUND = types.NamedTuple((INTS, INTS, NUMBERS, INTS, INTS), unigram_text.Found)
_OPEN = types.NamedUniTuple(NUMBERS, 5, unigram_text.Open)
_STRINGS = types.NamedTuple((INTS, INTS, FLOATS), unigram_text.Strings)
_GROUND = types.NamedUniTuple(INTS, 6, unigram_text.Ground)
_TRIE = types.NamedUniTuple(INTS, 3, unigram_text.Trie)
_EDGES = types.NamedUniTuple(INTS, 3, unigram_passes.Edges)
_OTHERS = types.NamedTuple((FLOATS, FLOATS, FLOATS, INTS, INTS), unigram_passes.Others)

_SIGNATURES: dict[str, Any] = {
    "count_units": types.void(INTS, NUMBERS, _N, _N, INTS, NUMBERS, INTS),
    "branches": types.void(INTS, INTS, INTS, NUMBERS, INTS, _N, _N, NUMBERS, _OPEN, _FOUND),
    "fits": types.void(INTS, _FOUND, INTS, _N, _N, _FLAGS),
    "measure": types.void(INTS, _FOUND, INTS, _N, _N, NUMBERS, INTS),
    "rank": types.void(INTS, _N, _N, INTS),
    "cover": types.boolean(INTS, _FOUND, INTS, _N, NUMBERS, _GROUND),
    "segments": types.void(INTS, NUMBERS, INTS, _N, _N, NUMBERS, _STRINGS),
    "grow": types.boolean(INTS, _STRINGS, _N, NUMBERS, NUMBERS, INTS, _N, _TRIE, INTS),
    "number": types.void(INTS, _N, INTS, INTS),
    "renumber": types.void(_TRIE, INTS, _N, _N, _TRIE),
    "gather": _N(_STRINGS, INTS, INTS, INTS, INTS, FLOATS),
    "edges": _N(_GROUND, _TRIE, _FLAGS, _N, _N, INTS, _N, _EDGES),
    "keep": _N(_EDGES, _FLAGS, _N, _N, _N, _EDGES),
    "spread": types.void(INTS, FLOATS, FLOATS, FLOATS),
    "logarithms": types.void(FLOATS, _N, _N, FLOATS),
    "forward": types.void(_EDGES, _N, _N, FLOATS, FLOATS, FLOATS, FLOATS, INTS),
    "forward_logs": types.void(_EDGES, _N, _N, FLOATS, FLOATS, FLOATS, INTS),
    "likelihood": types.float64(INTS, FLOATS, FLOATS, types.boolean, FLOATS),
    "count_uses": types.void(_EDGES, INTS, FLOATS, _N, _N, FLOATS),
    "begin": types.void(INTS, FLOATS, FLOATS, _N, FLOATS),
    "backward": types.void(_EDGES, _N, _N, FLOATS, FLOATS, FLOATS, FLOATS),
    "backward_logs": types.void(_EDGES, _N, _N, FLOATS, FLOATS, FLOATS, _N, FLOATS, FLOATS),
    "first_scores": types.void(FLOATS, INTS, INTS, FLOATS),
    "credit": types.float64(FLOATS, INTS, _N, types.float64, _FLAGS, FLOATS),
    "frequent": _N(FLOATS, types.float64, INTS, INTS),
    "maximise": types.void(FLOATS, types.float64, _N, _N, types.float64, FLOATS),
    "alternatives": types.void(_EDGES, _N, _N, FLOATS, _OTHERS),
    "losses": types.void(
        _EDGES, _OTHERS, INTS, INTS, FLOATS, types.float64, INTS, _N, _N, INTS, _SINGLES, FLOATS, _FLAGS
    ),
    "weigh": types.void(FLOATS, _FLAGS, INTS, INTS, INTS, NUMBERS),
}


def _view(value: Any) -> Any:
    """NumPy's view of an array; anything else as it is."""
    if isinstance(value, array | bytearray):
        return np.asarray(value)
    return type(value)(*map(_view, value)) if isinstance(value, tuple) else value


def _viewed(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that takes arrays of the standard library."""
    return lambda *arguments: compiled(*map(_view, arguments))


def _array(kind: str, values: Any) -> array[Any]:
    made = array(kind)
    made.frombytes(np.ascontiguousarray(values, kind).tobytes())
    return made


@kernel(types.void(INTS, INTS, _N, _N, INTS))
def _pack(text: Any, rest: Any, bits: int, group: int, digits: Any) -> None:
    """The next `group` units of the word at each place as one number."""
    first = bits * (group - 1)
    digit = 0
    for place in range(len(text) - 1, -1, -1):
        digit = (text[place] - unigram_text.LAST_ENDING) << first | digit >> bits if rest[place] else 0
        digits[place] = digit


@kernel(_N(INTS, INTS, _N, _N, INTS, INTS, _N, INTS))
def _sort_round(
    digits: Any, rest: Any, offset: int, group: int, starts: Any, before: Any, count: int, after: Any
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
    starts[:] = 0
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


def _codes(text: str, characters: list[str]) -> array[int]:
    points = np.array(list(map(ord, characters)), np.int64)
    numbers = np.zeros(int(points.max()) + 1, np.int32)
    numbers[points] = np.arange(len(points))
    return _array("i", numbers[np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)])


def _pick(values: array[Any], which: Any) -> array[Any]:
    return _array(values.typecode, np.asarray(values)[np.asarray(which, np.int64)])


def _descending(values: array[float], which: array[int]) -> array[int]:
    chosen = np.asarray(which)
    return _array("i", chosen[np.argsort(-np.asarray(values)[chosen], kind="stable")])


def _by_worth(worths: array[int], lengths: array[int], ranks: array[int]) -> array[int]:
    return _array("i", np.lexsort((np.asarray(ranks), -np.asarray(lengths), -np.asarray(worths))))


numba.extending.register_jitable(unigram_passes.digamma)
_WRITTEN = {**vars(unigram_text), **vars(unigram_passes)}
PASSES = SimpleNamespace(
    CHUNK=1 << 16, codes=_codes, suffixes=_suffixes, pick=_pick, descending=_descending, by_worth=_by_worth,
    **{name: _viewed(kernel(signature)(_WRITTEN[name])) for name, signature in _SIGNATURES.items()},
)
"""The functions of both modules under the same names."""
