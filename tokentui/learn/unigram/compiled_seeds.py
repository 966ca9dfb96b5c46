"""The seeds of a unigram model by kernels: what `seeds.find_seeds` finds, and where the seeds stand in the text."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tokentui.learn.kernels import unigram_seeds as kernels
from tokentui.learn.unigram.coded import Coded
from tokentui.learn.unigram.seeds import Seeds
from tokentui.text.pretokenize import to_bytes

_DIGIT_BITS = 14
"""A digit of the radix sort has about so many bits: its table of counts stays near."""
_FIRST = kernels.LAST_ENDING + 1


@dataclass(frozen=True, slots=True)
class Ground:
    """The text of a corpus in codes, and the seeds in it; arrays of int32.

    Attributes:
        seeds: The seeds.
        text: The codes; those of units are in the order of their bytes.
        units: The seed of each code.
        places: A place of each seed.
        sizes: The length of each seed.
        lengths: For each place of the text the lengths of the seeds that start there, but for the unit, a bit each.
        deepest: For each place the longest of them.
        links: For each seed the next shorter one that it begins with, if any.
        starts, ends: The segments of the text that no seed lies across.
        weights: The weight of each segment.
    """

    seeds: Seeds
    text: Any
    units: Any
    places: Any
    sizes: Any
    lengths: Any
    deepest: Any
    links: Any
    starts: Any
    ends: Any
    weights: Any


def find_seeds(coded: Coded, size: int) -> Generator[float, None, Ground]:
    """Find the seeds of a corpus; arguments and what is yielded are those of `seeds.find_seeds`."""
    codes = sorted(coded.units, key=coded.units.__getitem__)
    exact = [coded.units[code] for code in codes]
    every = [coded.end, coded.space, coded.line, *codes]
    text = _in_codes(coded.text, every)
    weight = np.repeat(np.array(coded.weights, np.int64), coded.sizes)
    yield 0.1
    order, rest = yield from _sorted_suffixes(text, len(codes))
    yield 0.5
    found = _branches(coded, text, every, weight, order, rest)
    yield 0.7
    found = found.those(_fitting(coded, text, every, found))
    best = _by_worth(coded, text, every, found)
    yield 0.8
    units, count = len(codes), len(best)
    ids = np.empty(count, np.int32)
    ids[best] = np.arange(units, units + count)
    links = np.full(units + count, -1, np.int32)
    lengths, deepest = _covered(found, ids, links, order, len(text))
    starts, ends, parts = _segments(coded, lengths)
    if count > size:
        best = best[:size]
        ids[ids >= units + size] = -1
        lengths, deepest = _covered(found, ids, links, order, len(text))
    yield 0.9
    unit_counts = np.bincount(text, weight, _FIRST + units)[_FIRST:].astype(np.int64)
    alphabet = np.lexsort((np.arange(units), -unit_counts))
    unit_ids = np.full(_FIRST + units, -1, np.int32)
    unit_ids[alphabet + _FIRST] = np.arange(units)
    first_places = np.zeros(_FIRST + units, np.int32)
    first_places[text[::-1]] = np.arange(len(text) - 1, -1, -1)
    places, depths = found.places[best], found.depths[best]
    sizes = np.concatenate((np.ones(units, np.int32), depths.astype(np.int32)))
    seeds = Seeds(
        bytes=[exact[n] for n in alphabet.tolist()] + _spelled(coded, text, every, places, depths),
        counts=unit_counts[alphabet].tolist() + found.counts[best].tolist(),
        sizes=sizes.tolist(),
        units=units,
        occurrences=sum(coded.weights),
        unknown=coded.unknown, apart=coded.apart,
    )
    return Ground(
        seeds, text, unit_ids, np.concatenate((first_places[alphabet + _FIRST], places)), sizes, lengths, deepest, links,
        starts, ends, np.array(coded.weights, np.float64)[parts],
    )


class _Branches(NamedTuple):
    """What `kernels.branches` finds: a place, the length and the weight of each, its first and last suffix."""

    places: Any
    depths: Any
    counts: Any
    lows: Any
    highs: Any

    def those(self, which: Any) -> _Branches:
        """Some of them."""
        return _Branches(*(array[which] for array in self))


def _in_codes(text: str, every: Sequence[str]) -> Any:
    """The text with the number of each of these characters."""
    points = np.array(list(map(ord, every)), np.int64)
    codes = np.zeros(int(points.max()) + 1, np.int32)
    codes[points] = np.arange(len(points))
    return codes[np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)]


def _sorted_suffixes(text: Any, units: int) -> Generator[float, None, tuple[Any, Any]]:
    """The places of all suffixes of words in order, and how long each is from its place on."""
    bits = units.bit_length()
    group = max(1, _DIGIT_BITS // max(1, bits))
    digits, rest = np.empty(len(text), np.int32), np.empty(len(text), np.uint8)
    kernels.pack(text, bits, group, digits, rest)
    starts = np.empty(1 << bits * group, np.int32)
    before, after = np.empty(len(text), np.int32), np.empty(len(text), np.int32)
    count = 0
    for offset in range((kernels.DEEPEST - 1) // group * group, -1, -group):
        count = kernels.sort_round(digits, rest, offset, group, starts, before, count, after)
        before, after = after, before
        yield 0.5 - 0.4 * offset / kernels.DEEPEST
    return before[:count], rest


def _branches(coded: Coded, text: Any, every: Sequence[str], weight: Any, order: Any, rest: Any) -> _Branches:
    most = 2 * len(order)  # at each suffix one that ends its word, and one that it has in common with the next
    found = _Branches(
        np.empty(most, np.int32), np.empty(most, np.uint8), np.empty(most, np.int64),
        np.empty(most, np.int32), np.empty(most, np.int32),
    )
    if not most:
        return found
    leads = coded.leads()
    sums = np.zeros(len(order) + 1, np.int64)
    np.cumsum(weight[order], out=sums[1:])
    stack = np.zeros(4 * (kernels.DEEPEST + 2), np.int64)
    firsts = np.array([leads[code] for code in every], np.int32)
    count = kernels.branches(text, rest, order, len(order), sums, firsts, stack, *found)
    return found.those(slice(count))


def _fitting(coded: Coded, text: Any, every: Sequence[str], found: _Branches) -> Any:
    """Which of them the filter of the recipe lets pass."""
    good = np.ones(len(found.places), np.uint8)
    if coded.kinds is not None:
        kinds = [kernels.NEVER] * _FIRST + [coded.kinds[code] for code in every[_FIRST:]]
        kernels.fits(text, found.places, found.depths, np.array(kinds, np.int32), good)
    elif coded.valid is not None:
        good[:] = [
            coded.fits(coded.text[place : place + depth])
            for place, depth in zip(found.places.tolist(), found.depths.tolist(), strict=True)
        ]
    return good.astype(bool)


def _by_worth(coded: Coded, text: Any, every: Sequence[str], found: _Branches) -> Any:
    """Their numbers by count times length, of equals the longer in bytes, then by their bytes."""
    worth = found.counts * found.depths
    if _is_prefix_free(coded, every):  # then they are in the order of their bytes already
        widths = np.array([len(coded.units.get(code, b"")) for code in every], np.int64)
        behind = np.concatenate(([0], np.cumsum(widths[text])))
        sizes = behind[found.places.astype(np.int64) + found.depths] - behind[found.places]
        return np.lexsort((found.lows, -sizes, -worth))
    pieces = [coded.text[p : p + d] for p, d in zip(found.places.tolist(), found.depths.tolist(), strict=True)]
    rows = zip((-worth).tolist(), map(coded.bytes, pieces), pieces, strict=True)
    keyed = sorted((worth, -len(exact), exact, piece, n) for n, (worth, exact, piece) in enumerate(rows))
    return np.array([key[-1] for key in keyed], np.int64)


def _is_prefix_free(coded: Coded, every: Sequence[str]) -> bool:
    """Whether strings of units in order are in the order of their bytes."""
    exact = [coded.units[code] for code in every[_FIRST:]]
    return not coded.prefix and not any(longer.startswith(unit) for unit, longer in pairwise(exact))


def _spelled(coded: Coded, text: Any, every: Sequence[str], places: Any, depths: Any) -> list[bytes]:
    """The exact bytes of pieces."""
    ends = places + depths.astype(np.int32)
    if not coded.plain:
        return [coded.bytes(coded.text[start:end]) for start, end in zip(places.tolist(), ends.tolist(), strict=True)]
    data = to_bytes(coded.text)
    widths = np.array([len(to_bytes(code)) for code in every], np.int64)
    behind = np.concatenate(([0], np.cumsum(widths[text])))
    return [data[start:end] for start, end in zip(behind[places].tolist(), behind[ends].tolist(), strict=True)]


def _covered(found: _Branches, ids: Any, links: Any, order: Any, size: int) -> tuple[Any, Any]:
    """By place of the text, the lengths of the pieces that start there, and the longest one."""
    deepest, lengths = np.full(len(order), -1, np.int32), np.zeros(len(order), np.int32)
    kernels.cover(found.lows, found.highs, found.depths, ids, deepest, lengths, links)
    lengths_at, deepest_at = np.zeros(size, np.int32), np.full(size, -1, np.int32)
    lengths_at[order], deepest_at[order] = lengths, deepest
    return lengths_at, deepest_at


def _segments(coded: Coded, lengths: Any) -> tuple[Any, Any, Any]:
    bounds = np.zeros(len(coded.sizes) + 1, np.int64)
    np.cumsum(coded.sizes, out=bounds[1:])
    starts, ends, parts = (np.empty(len(lengths), np.int32) for _ in range(3))
    count = kernels.segments(bounds, lengths, starts, ends, parts)
    return starts[:count].copy(), ends[:count].copy(), parts[:count].copy()
