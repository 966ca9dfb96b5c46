"""Kernels: the state of a training by merges, and the words laid out in it.

The algorithm is that of `tokentui.learn.bpe`: all distinct words lie in one array of cells, a token has its
symbol in its first and its last cell, and the first cell of a token has the pair that starts there (0 where
the word ends, the complement of its last pair once a merge has swallowed it). What is read and written
together is one row of an array.

Rows of the pair table, of places and of the log stay after a step back: at step k only those count that
`steps[k]` says, and what stands behind them is what the known steps will bring again.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from itertools import accumulate
from typing import Any, NamedTuple

from tokentui.core.native import (
    BYTES,
    EVENTS,
    INT,
    NOTHING,
    NUMBERS,
    U64,
    Flat,
    Row,
    Tuple,
    flat,
    hashed,
    helper,
    kernel,
)
from tokentui.core.safetext import to_bytes
from tokentui.recipe import Recipe
from tokentui.text.count import Words
from tokentui.text.pretokenize import UNITS, Pretokenizer

CELL = Row((("symbol", "int32"), ("pair", "int32")))
PLACE = Row((("place", "uint32"), ("weight", "int32")))
ENTRY = Row((("place", "uint32"), ("old", "int32")))
PAIR = Row((("left", "int32"), ("right", "int32"), ("first", "int32"), ("next", "int32")))
"""Its two symbols, the first of its places (they end where those of the next pair begin), and the pair that
follows it in its chain of the queue."""

SYMBOL = Row((("length", "int32"), ("before", "int32"), ("after", "int32"), ("order", "int32")))
"""Its length in cells; within one merge the latest pairs (this symbol, newest symbol) and (newest symbol,
this symbol); the position of its id among the ids."""

STEP = Row(tuple(
    (name, "int64")
    for name in (
    "pairs", "logged", "tokens", "chosen", "places", "replaced", "tied", "left_uses", "right_uses",
    )
))
"""The number of pairs, the length of the log and that of the corpus in tokens before step k + 1; then of that
step its pair and its count, the weight of the places that were merged, how many pairs were as good, and the
uses of the two symbols."""

EXTENT = Row((("units", "int32"), ("words", "int32"), ("edges", "int32")))
"""Of tokens that cross words: the units of the recipe in a symbol, its parts between spaces, and its edges;
see `merges.OPENS`."""

FORBIDDEN = Row((("end", "int64"), ("left", "int64")))
"""A forbidden pair or token: where the bytes of its token end in `State.forbidden_text` (they begin where
those of the row before end), and the size of the left part in bytes; 0 for a token, which any pair may make.
The first row is none."""

RANKED = Row((("worth", "float64"), ("key", "int64"), ("pair", "int64")))
"""A pair with its worth, the greatest first, and its key by the tie rule, the smallest first."""

QUEUE = Row((("best", "int64"), ("level", "int64"), ("tied", "int64"), ("size", "int64")))
"""The queue of candidates: the best pair, 0 for none, its count, and how many pairs are as good. Of `pairs`:
the rows of the heap."""

COLUMN = Row((
    ("key", "int64"), ("count", "int64"), ("uses", "int64"), ("tied", "int64"), ("pair", "int32"),
    ("stamp", "int32"), ("state", "int32"), ("top", "int32"), ("row", "int32"),
))
"""Of `score`: of each symbol the best pair that it is the right part of, 0 for none: its key, its count, the
uses of its left part, and how many are as good. Those have the stamp of the column. Then what has to be done
with it, and the first pair of its column and of its row."""

LINK = Row((("below", "int32"), ("beside", "int32"), ("stamp", "int32")))
"""Of `score`: of each pair the next one of its column and of its row, 0 after the last, and its stamp.
Candidates that are none any more are left out when they are met."""


class _State(NamedTuple):
    """All that the kernels of a training work on.

    Attributes:
        base: The number of base symbols.
        rule: The tie rule, one of `RULES`.
        prefix: The length of the mark that a right part loses, in bytes.
        longest: The greatest length of a token.
        words: The most parts between spaces of a token that crosses words; 0 where none does.
        spells: 1 if `text` has the bytes of every piece, 0 if it has those of the base symbols.
        forbidden: A bit for the size in bytes, modulo 32, of the token of each of `forbidden_rows`; 0 if no
            pair is forbidden. It needs `spells`.
        least: The least count of a candidate; 1 where the least count only ends a run.
        scored: What orders the pairs: `COUNTS`, `SCORES` or `LENGTHS`.
        cells: The words, one cell for each unit and one between two words.
        places: Where each pair came to stand, pair after pair, each in text order, with the weight of the
        word.
        log: The places of each merge, and the pair that started at the token to the left before it.
        table: The pairs.
        counts: The count of each pair.
        symbols: The symbols.
        extents: Where tokens cross words the extent of each symbol; else empty.
        uses: The uses of each symbol, by weight.
        steps: The steps.
        text: The bytes of all pieces, one after another.
        ends: Where each piece begins in `text`, and where the last one ends.
        queue: The queue, one row.
        heap: Of `pairs`: the candidates of the greatest count, the best first; its last row is for use by a
        swap.
        chains: Of `pairs`: the first pair of each chain.
        columns: Of `score`: the columns.
        links: Of `score`: the links of the pairs.
        scores: Of `score`: the score of the best pair of each column.
        blocks: Of `score`: the greatest score of each block of columns.
        changed: Of `score`: room for a column for each symbol.
        worths: Of `values`: the value of each pair.
        tops: Of `values`: the greatest value of each block of pairs.
        ties: Of `values`: how many pairs of each block have it.
        wanted: The rows that the next merge wants in each array of `ROOM`.
        forbidden_rows: The forbidden pairs and tokens.
        forbidden_text: The bytes of their tokens, one after another.
        forbidden_slots: A hash table of their rows, by these bytes; 0 for a free slot.
    """

    base: int
    rule: int
    prefix: int
    longest: int
    words: int
    spells: int
    forbidden: int
    least: int
    scored: int
    cells: Any
    places: Any
    log: Any
    table: Any
    counts: Any
    symbols: Any
    extents: Any
    uses: Any
    steps: Any
    text: Any
    ends: Any
    queue: Any
    heap: Any
    chains: Any
    columns: Any
    links: Any
    scores: Any
    blocks: Any
    changed: Any
    worths: Any
    tops: Any
    ties: Any
    wanted: Any
    forbidden_rows: Any
    forbidden_text: Any
    forbidden_slots: Any


class State(_State):
    """The same, with room for what kernels keep of it."""


ROWS: dict[str, str | Row] = {
    "cells": CELL, "places": PLACE, "log": ENTRY, "table": PAIR, "counts": "int64", "symbols": SYMBOL,
    "extents": EXTENT, "uses": "int64", "steps": STEP, "text": "uint8", "ends": "int64", "queue": QUEUE,
    "heap": RANKED, "chains": "int32", "columns": COLUMN, "links": LINK, "scores": "float64",
    "blocks": "float64", "changed": "int32", "worths": "float64", "tops": "float64", "ties": "int32",
    "wanted": "int64", "forbidden_rows": FORBIDDEN, "forbidden_text": "uint8", "forbidden_slots": "int32",
}
"""The rows of each array of the state."""
ROOM = "table", "places", "log", "text"
"""The arrays that a merge may be too large for."""
STATE = Tuple(tuple(Flat(ROWS[name]) if name in ROWS else INT for name in State._fields), "State", State)


class Queue(NamedTuple):
    """A queue of candidates, by count or by score.

    Attributes:
        fill: Finds the candidates among the pairs of a step: (number of pairs, number of symbols, state).
        run: Makes merges: (furthest step, step to stop at, least count, most places, state) to the step
            arrived at. It stops too where no pair is left, or where an array is too small for the next merge.
        per_pair: The arrays of the state that it keeps for each pair.
        per_symbol: Those that it keeps for each symbol.
    """

    fill: Any
    run: Any
    per_pair: tuple[str, ...]
    per_symbol: tuple[str, ...]


_SURROGATE = re.compile(rb"\xed[\xa0-\xbf]")
BOUNDARY = -1
"""The symbol of the cell between two words."""
CHAINS = 128
"""The chains of the queue by count."""
NO_LIMIT = 1 << 30
"""A length that no token has."""
A_STEP = 8
"""The cost of a step without its places, in places."""

COUNTS, SCORES, LENGTHS = range(3)
"""Orders of pairs: by count, by score, by count times length."""
FIRST_SEEN, LOWEST_IDS, SHORTEST, SMALLEST_PAIR, LARGEST_PAIR = range(5)
RULES = {
    "first-seen": FIRST_SEEN, "lowest-ids": LOWEST_IDS, "shortest": SHORTEST, "smallest-pair": SMALLEST_PAIR,
    "largest-pair": LARGEST_PAIR,
}
"""The tie rules. From `SHORTEST` on they look at the bytes of the pieces."""

# ---- the words laid out


@kernel(INT, EVENTS, NUMBERS, NUMBERS, EVENTS, EVENTS, NUMBERS)
def number_units(units: Any, ends: Any, weights: Any, numbers: Any, found: Any, totals: Any) -> int:
    """Number the units of words in order of first appearance.

    Args:
        units: The units of all words, as any numbers; they are replaced by the new ones.
        ends: Where the words end, a 0 before the first.
        weights: The weight of each word in the counts.
        numbers: Zeros, one for each number that a unit may be.
        found: Room for as many; it gets the units in order.
        totals: Zeros, as many; it gets how often each unit stands, by weight.

    Returns:
        How many there are.
    """
    size = 0
    for word in range(len(weights)):
        for at in range(ends[word], ends[word + 1]):
            unit = units[at]
            number = numbers[unit]
            if number == 0:
                found[size] = unit
                size += 1
                numbers[unit] = number = size
            units[at] = number - 1
            totals[number - 1] += weights[word]
    return size


class Units(NamedTuple):
    """The units of all words, numbered in order of first appearance.

    Attributes:
        units: The units, word after word; int32.
        ends: Where the words end, a 0 before the first; int64.
        weights: The weight of each word in the counts; int64.
        pieces: The bytes of each unit with its mark.
        totals: The count of each unit, by weight.
    """

    units: Any
    ends: Any
    weights: Any
    pieces: list[bytes]
    totals: list[int]


PREFIX, END_SUFFIX, END_SYMBOL = range(3)
MARKS = {"prefix": PREFIX, "end-suffix": END_SUFFIX, "end-symbol": END_SYMBOL}
"""Kinds of marks: on all units of a word but the first, on the last, or a unit of its own at the end."""


@kernel(NOTHING, BYTES, EVENTS)
def widen(text: Any, units: Any) -> None:
    """Write the bytes of a text as numbers."""
    for at in range(len(text)):
        units[at] = text[at]


@kernel(NOTHING, EVENTS, NUMBERS, INT, INT, EVENTS, NUMBERS)
def mark_units(units: Any, ends: Any, kinds: int, mark: int, marked: Any, stops: Any) -> None:
    """Mark the units of words.

    Args:
        units, ends: The units, and where the words end, a 0 before the first.
        kinds: What a marked unit is more than a plain one.
        mark: One of `MARKS`.
        marked, stops: The same with marks; there is room for one more unit a word.
    """
    out: Any = 0
    stops[0] = 0
    for word in range(len(ends) - 1):
        start, end = ends[word], ends[word + 1]
        for at in range(start, end):
            more = kinds if (mark == PREFIX and at > start) or (mark == END_SUFFIX and at == end - 1) else 0
            marked[out] = units[at] + more
            out += 1
        if mark == END_SYMBOL and end > start:
            marked[out] = kinds
            out += 1
        stops[word + 1] = out


def units_of(counted: Words, recipe: Recipe) -> Units:
    """The units of words."""
    given, kind, mark = counted.flat, recipe.mark_kind, to_bytes(recipe.mark_text)
    size = len(counted.counts)
    weights: Any
    if recipe.weight == "distinct":
        weights = array("q", [1]) * size
    else:
        weights = given.counts if given is not None else array("q", counted.counts)
    kinds = UNITS.of(recipe.unit).kinds
    numbers: dict[bytes, int] = {}
    ends: Any
    if not kinds:  # what has no number of its own gets one
        pretokenizer = Pretokenizer(recipe)
        cut = [
            [numbers.setdefault(unit, len(numbers)) for unit in pretokenizer.units(word)]
            for word in counted.words
        ]
        data: Any = array("i", [unit for word in cut for unit in word])
        ends = _ends(map(len, cut))
    elif recipe.unit == "char":
        data = memoryview(bytearray("".join(counted.words).encode("utf-32-le", "surrogatepass"))).cast("i")
        ends = _ends(map(len, counted.words))
    else:
        if given is not None and not _SURROGATE.search(given.text):
            text, ends = given.text, given.ends
        else:
            encoded = list(map(to_bytes, counted.words))
            text, ends = b"".join(encoded), _ends(map(len, encoded))
        data = flat("int32", len(text))
        widen(text, data)
    if kinds and kind in MARKS:  # a marked unit is `kinds` more than a plain one
        marked, stops = flat("int32", len(data) + size), flat("int64", size + 1)
        mark_units(data, ends, kinds, MARKS[kind], marked, stops)
        data, ends = marked[: stops[size]], stops
    most = max(1, 2 * kinds or len(numbers))
    found, totals = flat("int32", most), flat("int64", most)
    used = number_units(data, ends, weights, flat("int32", most), found, totals)

    def piece(unit: int) -> bytes:
        if kind == "end-symbol" and unit == kinds:
            return mark
        marked, plain = divmod(unit, kinds)
        own = bytes((plain,)) if recipe.unit == "byte" else to_bytes(chr(plain))
        return own if not marked else mark + own if kind == "prefix" else own + mark

    pieces = list(map(piece, found[:used].tolist())) if kinds else list(numbers)
    return Units(data, ends, weights, pieces, totals[:used].tolist())


def _ends(sizes: Iterable[int]) -> Any:
    """Where words of these sizes end, a 0 before the first."""
    return array("q", accumulate(sizes, initial=0))


@kernel(NOTHING, EVENTS, NUMBERS, EVENTS, Flat(CELL), NUMBERS)
def lay_out(units: Any, ends: Any, symbols: Any, cells: Any, starts: Any) -> None:
    """Write words into cells, one sentinel before and after each; `symbols` has the symbol of each unit."""
    at = 0
    cells[at].symbol = BOUNDARY
    cells[at].pair = 0
    for word in range(len(ends) - 1):
        at += 1
        starts[word] = at
        for place in range(ends[word], ends[word + 1]):
            cells[at].symbol = symbols[units[place]]
            cells[at].pair = 0
            at += 1
        cells[at].symbol = BOUNDARY
        cells[at].pair = 0


@helper
def slot_of(left: int, right: int, shift: int, slots: Any, table: Any) -> int:
    """Where a pair stands in the hash table, or the free slot where it belongs."""
    slot = hashed(U64(left) << U64(32) | U64(right), U64(shift))
    while slots[slot] != 0 and (table[slots[slot]].left != left or table[slots[slot]].right != right):
        slot = (slot + 1) & (len(slots) - 1)
    return int(slot)


@kernel(Tuple((INT, INT)), INT, INT, INT, NUMBERS, NUMBERS, Flat(CELL), Flat(PAIR), NUMBERS, EVENTS)
def pair_up(
    word: int, pairs: int, shift: int, starts: Any, weights: Any, cells: Any, table: Any, counts: Any,
    slots: Any,
) -> tuple[int, int]:
    """Find the pairs of neighbouring units and count them, overlapping ones too, from a word on.

    Args:
        word: The word to begin with.
        pairs: The number of pairs so far; their hash table is made anew.
        shift: 64 less the number of bits of the hash table.
        starts: The first cell of each word.
        weights: The weight of each word in the counts.
        cells, table, counts: As in `State`.
        slots: Noughts, the hash table.

    Returns:
        (the word to go on with once `table` and `slots` are larger, the number of pairs). The number of
        places of each pair is in `table[pair].first`.
    """
    for pair in range(1, pairs):
        slots[slot_of(table[pair].left, table[pair].right, shift, slots, table)] = pair
    for number in range(word, len(starts)):
        at = starts[number]
        if cells[at].symbol == BOUNDARY:
            continue
        # A word too large for what is left goes on in larger arrays, whatever its pairs are.
        while cells[at + 1].symbol != BOUNDARY:
            left, right = cells[at].symbol, cells[at + 1].symbol
            found = cells[at].pair
            if found == 0:
                slot = slot_of(left, right, shift, slots, table)
                found = slots[slot]
                if found == 0:
                    if pairs + 2 > len(table) or 2 * pairs >= len(slots):
                        return number, pairs
                    found = pairs
                    pairs += 1
                    slots[slot] = found
                    table[found].left = left
                    table[found].right = right
                    table[found].first = 0
                    counts[found] = 0
                cells[at].pair = found
                table[found].first += 1
                counts[found] += weights[number]
            at += 1
    return len(starts), pairs


@kernel(NOTHING, INT, NUMBERS, NUMBERS, Flat(CELL), Flat(PLACE), Flat(PAIR))
def list_places(pairs: int, starts: Any, weights: Any, cells: Any, places: Any, table: Any) -> None:
    """Note where each pair stands; `table[pair].first` says how many places it has."""
    table[0].first = 0
    at = 0
    for pair in range(1, pairs):
        size = table[pair].first
        table[pair].first = at
        at += size
    table[pairs].first = at
    for word in range(len(starts)):
        at = starts[word]
        while cells[at].pair > 0:
            pair = cells[at].pair
            place = table[pair].first
            places[place].place = at
            places[place].weight = weights[word]
            table[pair].first = place + 1
            at += 1
    for pair in range(pairs - 1, 0, -1):
        table[pair].first = table[pair - 1].first
