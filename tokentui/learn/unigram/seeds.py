"""The seeds of a unigram model: every unit, and every substring that stands at least twice and may go on in
two ways.

The rule is that of sentencepiece 0.2.3 (`MakeSeedSentencePiecesFromCorpus`): the inner nodes of a suffix tree
over the bytes of the text, between the starts of units. Two occurrences go on differently where the first
bytes of what follows differ. With `split=metaspace` the ▁ of the next word follows a word, the end of its
line the last word of one.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, compress, pairwise, repeat
from typing import NamedTuple

from tokentui.core.jobs import in_blocks, tick
from tokentui.learn.kernels.unigram_text import (
    DEEPEST,
    LAST_ENDING,
    NEVER,
    Found,
    Ground,
    Ints,
    Open,
    Strings,
    floats,
    ints,
)
from tokentui.learn.unigram.coded import PER_MILLE, Coded
from tokentui.learn.unigram.lattice import Passes, blocks, finished
from tokentui.text.pretokenize import to_bytes

SEED_SIZE = 1_000_000
"""The most seeds of two or more units: the default of sentencepiece."""
_FIRST = LAST_ENDING + 1


@dataclass(frozen=True, slots=True)
class Seeds:
    """The units by count, then the other seeds by count times length.

    Attributes:
        bytes: The exact bytes of each, with its mark.
        counts: The count of each in the corpus.
        sizes: Its length in units.
        units: The first so many seeds are the units.
        occurrences: The weight of all words: what an objective is divided by.
        unknown: The count in the corpus of what no piece has, by weight: symbols, and what is
            not covered.
        apart: The number of tokens of these.
    """

    bytes: Sequence[bytes]
    counts: Sequence[int]
    sizes: array[int]
    units: int
    occurrences: int
    unknown: int = 0
    apart: int = 0


class Layout(NamedTuple):
    """A corpus laid out.

    Attributes:
        seeds: The seeds.
        ground: The text, and where seeds stand in it.
        places: A place of each seed.
        segments: The words cut wherever no seed lies across: segments stand for words in all sums.
    """

    seeds: Seeds
    ground: Ground
    places: array[int]
    segments: Strings


def lay_out(coded: Coded, size: int, run: Passes) -> Layout:
    """Find the seeds of a corpus, and where they stand.

    Args:
        coded: The corpus.
        size: The most seeds of two or more units.
        run: The passes.
    """
    exact = list(coded.units.values())
    text = run.codes(coded.text, [*coded.endings, *coded.units])
    weight = array("q", chain.from_iterable(map(repeat, coded.weights, coded.sizes)))
    counts, firsts, rest = array(
        "q", bytes(8 * (_FIRST + len(exact)))
    ), ints(_FIRST + len(exact)), ints(len(text))
    for low, high in reversed(list(blocks(0, len(text), run.CHUNK))):
        run.count_units(text, weight, low, high, rest, counts, firsts)
        tick(300, PER_MILLE)
    order = finished(run.suffixes(text, rest, len(exact)))
    found = _repeated(coded, run, text, rest, order, weight, exact)
    found = _fitting(coded, run, text, found)
    best = _by_worth(coded, run, text, exact, found)
    # Units by count, then the others; where there are too many, segments are cut by all of them all the same.
    alphabet = sorted(range(len(exact)), key=lambda code: -counts[_FIRST + code])
    sizes = ints(len(exact), 1) + run.pick(found.sizes, best)
    ground = Ground(
        text, ints(_FIRST + len(exact), -1), sizes, ints(len(text)), ints(len(text), -1), ints(len(sizes), -1)
    )
    for seed, code in enumerate(alphabet):
        ground.units[_FIRST + code] = seed
    _cover(run, order, found, best, len(best), ground)
    segments = _segments(run, text, weight, ground.lengths)
    if len(best) > size:
        ground = ground._replace(lengths=ints(len(text)), deepest=ints(len(text), -1))
        _cover(run, order, found, best, size, ground)
        best = best[:size]
    places = run.pick(found.places, best)
    pieces = (
        coded.text[place : place + length] for place, length in zip(places, sizes[len(exact) :], strict=False)
    )
    spelled = map(to_bytes if coded.plain else coded.bytes, pieces)
    seeds = Seeds(
        bytes=[*(exact[code] for code in alphabet), *spelled],
        counts=[counts[_FIRST + code] for code in alphabet] + run.pick(found.counts, best).tolist(),
        sizes=sizes[: len(exact) + size],
        units=len(exact), occurrences=sum(coded.weights), unknown=coded.unknown, apart=coded.apart,
    )
    tick(800, PER_MILLE)
    return Layout(seeds, ground, array("i", [firsts[_FIRST + code] for code in alphabet]) + places, segments)


def _repeated(
    coded: Coded, run: Passes, text: array[int], rest: array[int], order: array[int], weight: array[int],
    exact: Sequence[bytes],
) -> Found:
    """Return the substrings that occur at least twice and go on in two ways."""
    # At each suffix one that ends its word, and one that it has in common with the next.
    most = 2 * len(order)
    found = Found(ints(most), ints(most), array("q", bytes(8 * most)), ints(most), ints(most))
    if not most:
        return found
    cut = coded.prefix  # the first byte of what follows, its mark not counted
    leads = array(
        "i", [-1, "▁".encode()[0], 0, *(unit[cut] if len(unit) > cut else unit[0] for unit in exact)]
    )
    stack, state = Open(*(array("q", bytes(8 * (DEEPEST + 1))) for _ in Open._fields)), array("q", bytes(32))
    stack.lead[0] = leads[text[order[0]]]
    for low, high in blocks(0, len(order), run.CHUNK >> 3):
        run.branches(text, rest, order, weight, leads, low, high, state, stack, found)
        tick(500, PER_MILLE)
    return _those(run, found, range(state[0]))


def _those(run: Passes, found: Found, which: Sequence[int]) -> Found:
    return Found(*(run.pick(values, which) for values in found))


def _fitting(coded: Coded, run: Passes, text: array[int], found: Found) -> Found:
    """Those that the filter of the recipe lets pass."""
    good, size = bytearray(b"\1") * len(found.places), len(found.places)
    if coded.kinds is not None:
        kinds = array("i", [NEVER] * _FIRST + [*coded.kinds])
        for low, high in blocks(0, size, run.CHUNK):
            run.fits(text, found, kinds, low, high, good)
            tick(600, PER_MILLE)
    elif coded.valid is not None:
        substrings = (
            coded.text[place : place + length]
            for place, length in zip(found.places, found.sizes, strict=True)
        )
        good = bytearray(coded.valid(coded.bytes(one)) for part in in_blocks(substrings) for one in part)
    return found if all(good) else _those(run, found, array("i", compress(range(size), good)))


def _by_worth(
    coded: Coded, run: Passes, text: array[int], exact: Sequence[bytes], found: Found
) -> array[int]:
    """Their places by count times length, of equals the longest in bytes first, then by their bytes."""
    size = len(found.places)
    worths, lengths, ranks = array("q", bytes(8 * size)), ints(size), found.lows
    widths = array("i", [0] * _FIRST + list(map(len, exact)))
    for low, high in blocks(0, size, run.CHUNK):
        run.measure(text, found, widths, low, high, worths, lengths)
        tick(700, PER_MILLE)
    if coded.prefix or any(longer.startswith(unit) for unit, longer in pairwise(exact)):
        # Strings of units in order are not in the order of their bytes.
        pieces = [
            coded.text[place : place + length]
            for place, length in zip(found.places, found.sizes, strict=True)
        ]
        named = [(coded.bytes(piece), piece) for piece in pieces]
        lengths = array("i", [len(spelled) for spelled, _ in named])
        ranks = ints(size)
        run.rank(array("i", sorted(range(size), key=named.__getitem__)), 0, size, ranks)
    best: array[int] = run.by_worth(worths, lengths, ranks)
    return best


def _cover(run: Passes, order: array[int], found: Found, best: array[int], most: int, ground: Ground) -> None:
    ids = ints(len(best))
    run.rank(best, len(ground.sizes) - len(best), most, ids)
    state = array("q", [len(ids) - 1, 0])
    while not run.cover(order, found, ids, run.CHUNK, state, ground):
        tick(750, PER_MILLE)


def _segments(run: Passes, text: array[int], weight: array[int], lengths: Ints) -> Strings:
    found, state = Strings(ints(len(text)), ints(len(text)), floats(len(text))), array("q", bytes(24))
    for low, high in blocks(0, len(text), run.CHUNK >> 3):
        run.segments(text, weight, lengths, low, high, state, found)
        tick(780, PER_MILLE)
    return Strings(found.starts[: state[0]], found.ends[: state[0]], found.weights[: state[0]])
