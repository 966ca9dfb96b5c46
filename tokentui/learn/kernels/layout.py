"""Kernels: the state of a training by merges, and the layout of words in its cells.

The algorithm is that of `tokentui.learn.bpe`. All distinct words lie in one array of cells. A token has its
symbol in its first and its last cell. Its first cell also holds the pair that starts there: 0 at the end of a
word, and the complement (`~pair`) of its last pair once a merge has absorbed it. Values that are read and
written together form one row of an array.

A step back removes no rows of the pair table, the places and the log. At step k only the first rows are
valid, as many as `steps[k]` says. Rows after these belong to later computed steps and are reused when those
are redone.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from itertools import accumulate
from typing import Annotated, Any, NamedTuple, get_type_hints

from tokentui.core.arrays import Row, flat
from tokentui.core.native import U64, Flat, Float64s, Int32s, Int64s, Reused, Uint8s, hashed, helper, kernel
from tokentui.core.safetext import to_bytes
from tokentui.recipe import Recipe
from tokentui.text.count import Words
from tokentui.text.pretokenize import UNITS, Pretokenizer

CELL = Row((("symbol", "int32"), ("pair", "int32")))
PLACE = Row((("place", "uint32"), ("weight", "int32")))
ENTRY = Row((("place", "uint32"), ("old", "int32")))
PAIR = Row((("left", "int32"), ("right", "int32"), ("first", "int32"), ("next", "int32")))
"""A pair: its two symbols, the index of its first place (its places end where those of the next pair begin),
and the next pair in its chain of the queue."""

SYMBOL = Row((("length", "int32"), ("before", "int32"), ("after", "int32"), ("order", "int32")))
"""A symbol: its length in cells; the pairs (this symbol, new symbol) and (new symbol, this symbol) that the
current merge made last; the position of its id among the ids."""

STEP = Row(tuple(
    (name, "int64")
    for name in (
    "pairs", "logged", "tokens", "chosen", "places", "replaced", "tied", "left_uses", "right_uses",
    )
))
"""Step k + 1. Before it: the number of pairs, the length of the log, and the length of the corpus in tokens.
Of the step: its pair, the count of the pair, the weight of the merged places, the number of pairs tied for
best, and the uses of both symbols."""

EXTENT = Row((("units", "int32"), ("words", "int32"), ("edges", "int32")))
"""The extent of a symbol if tokens cross words: its units of the recipe, its parts between spaces, and its
edges (see `merges.OPENS`)."""

FORBIDDEN = Row((("end", "int64"), ("left", "int64")))
"""A forbidden pair or token: the end of its token's bytes in `State.forbidden_text` (they begin where those
of the previous row end), and the size of the left part in bytes, or 0 to forbid the token whichever pair
makes it. Row 0 is unused."""

RANKED = Row((("worth", "float64"), ("key", "int64"), ("pair", "int64")))
"""A pair with its worth (the greatest comes first) and its key by the tie rule (the smallest comes first)."""

QUEUE = Row((("best", "int64"), ("level", "int64"), ("tied", "int64"), ("size", "int64")))
"""The queue of candidates: the best pair (0 if there is none), its count, and the number of pairs tied for
best, itself included. `pairs` also keeps the size of its heap here."""

COLUMN = Row((
    ("key", "int64"), ("count", "int64"), ("uses", "int64"), ("tied", "int64"), ("pair", "int32"),
    ("stamp", "int32"), ("state", "int32"), ("top", "int32"), ("row", "int32"),
))
"""A column of `score`: the best pair with this symbol on the right (0 if there is none), its key, its count,
the uses of its left part, and the number of pairs tied with it. Tied pairs have the stamp of the column.
`state` says what must be recomputed; `top` and `row` are the first pairs of the symbol's column and row."""

LINK = Row((("below", "int32"), ("beside", "int32"), ("stamp", "int32")))
"""The links of a pair in `score`: the next pair of its column and of its row (0 after the last), and its
stamp. A pair that is no longer a candidate is unlinked when a kernel meets it."""

Cells = Annotated[Any, Flat(CELL)]
Places = Annotated[Any, Flat(PLACE)]
Entries = Annotated[Any, Flat(ENTRY)]
PairRows = Annotated[Any, Flat(PAIR)]
Symbols = Annotated[Any, Flat(SYMBOL)]
Steps = Annotated[Any, Flat(STEP)]
Extents = Annotated[Any, Flat(EXTENT)]
ForbiddenRows = Annotated[Any, Flat(FORBIDDEN)]
RankedRows = Annotated[Any, Flat(RANKED)]
QueueRows = Annotated[Any, Flat(QUEUE)]
Columns = Annotated[Any, Flat(COLUMN)]
Links = Annotated[Any, Flat(LINK)]
"""Arrays of these rows."""


class _State(NamedTuple):
    """The values and arrays that the kernels of a training work on.

    Attributes:
        base: The number of base symbols.
        rule: The tie rule, one of `RULES`.
        prefix: The length of the mark that a right part loses, in bytes.
        longest: The greatest length of a token.
        words: The most parts between spaces of a token that crosses words; 0 if tokens do not cross words.
        spells: 1 if `text` has the bytes of every piece, 0 if only those of the base symbols.
        forbidden: A bit for the size in bytes, modulo 32, of the token of each of `forbidden_rows`; 0 if no
            pair is forbidden. It needs `spells`.
        least: The least count of a candidate; 1 where the least count only ends a run.
        scored: The value that orders the pairs: `COUNTS` or `SCORES`.
        cells: The words, one cell for each unit and one between two words.
        places: Every place at which each pair ever occurred, grouped by pair, in text order, with the weight
            of its word.
        log: The merged places of each step, each with the pair that started at the token on its left before.
        table: The pairs.
        counts: The count of each pair.
        symbols: The symbols.
        extents: The extent of each symbol if tokens cross words, else empty.
        uses: The weighted uses of each symbol.
        steps: The steps.
        text: The bytes of all pieces, concatenated.
        ends: The start of each piece in `text`, and the end of the last one.
        queue: The queue, one row.
        heap: For `pairs`: a heap of the candidates with the greatest count, best first. The last row is
            scratch space for swaps.
        chains: For `pairs`: the first pair of each chain.
        columns: For `score`: the columns.
        links: For `score`: the links of the pairs.
        scores: For `score`: the score of the best pair of each column.
        blocks: For `score`: the greatest score of each block of columns.
        changed: For `score`: scratch space, one column per symbol.
        wanted: The number of rows that the next merge needs in each array of `ROOM`.
        forbidden_rows: The forbidden pairs and tokens.
        forbidden_text: The bytes of their tokens, concatenated.
        forbidden_slots: A hash table from these bytes to the rows; 0 marks a free slot.
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
    cells: Cells
    places: Places
    log: Entries
    table: PairRows
    counts: Int64s
    symbols: Symbols
    extents: Extents
    uses: Int64s
    steps: Steps
    text: Uint8s
    ends: Int64s
    queue: QueueRows
    heap: RankedRows
    chains: Int32s
    columns: Columns
    links: Links
    scores: Float64s
    blocks: Float64s
    changed: Int32s
    wanted: Int64s
    forbidden_rows: ForbiddenRows
    forbidden_text: Uint8s
    forbidden_slots: Int32s


class State(Reused, _State):
    """A `_State` whose argument words are computed once."""


ROWS = {
    name: hint.__metadata__[0].row for name, hint in get_type_hints(State, include_extras=True).items()
    if hint is not int
}
"""The row type of each array of the state."""
ROOM = "table", "places", "log", "text"
"""The arrays that may be too small for a merge."""


class Queue(NamedTuple):
    """A queue of candidates, by count or by score.

    Attributes:
        fill: Builds the queue from the pairs of a step: (number of pairs, number of symbols, state).
        run: Makes merges and returns the step reached: (furthest step, step to stop at, least count, most
            places, state). It stops early if no pair is left or an array is too small for the next merge.
        per_pair: The arrays of the state with one row per pair.
        per_symbol: The arrays of the state with one row per symbol.
    """

    fill: Any
    run: Any
    per_pair: tuple[str, ...]
    per_symbol: tuple[str, ...]


_SURROGATE = re.compile(rb"\xed[\xa0-\xbf]")
BOUNDARY = -1
"""The symbol of the cell between two words."""
CHAINS = 128
"""The number of chains of the queue by count."""
NO_LIMIT = 1 << 30
"""A maximum length that no token reaches: no limit."""
A_STEP = 8
"""The fixed cost of a step, expressed as a number of places."""

COUNTS, SCORES = range(2)
"""Values that order pairs: count, score."""
FIRST_SEEN, LOWEST_IDS, SHORTEST, SMALLEST_PAIR, LARGEST_PAIR = range(5)
RULES = {
    "first-seen": FIRST_SEEN, "lowest-ids": LOWEST_IDS, "shortest": SHORTEST, "smallest-pair": SMALLEST_PAIR,
    "largest-pair": LARGEST_PAIR,
}
"""The tie rules. `SHORTEST` and those after it compare the bytes of pieces."""

# ---- the words laid out


@kernel
def number_units(
    units: Int32s, ends: Int64s, weights: Int64s, numbers: Int32s, found: Int32s, totals: Int64s
) -> int:
    """Number the units of words in order of first appearance.

    Args:
        units: The units of all words, as any numbers below `len(numbers)`; replaced by the new numbers.
        ends: The end of each word, after a leading 0.
        weights: The weight of each word in the counts.
        numbers: Zeros, one for each possible value of a unit.
        found: As long as `numbers`; receives the distinct units in order.
        totals: Zeros, as long as `numbers`; receives the weighted count of each unit.

    Returns:
        The number of distinct units.
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
        ends: The end of each word, after a leading 0; int64.
        weights: The weight of each word in the counts; int64.
        pieces: The bytes of each unit with its mark.
        totals: The weighted count of each unit.
    """

    units: Any
    ends: Any
    weights: Any
    pieces: list[bytes]
    totals: list[int]


PREFIX, END_SUFFIX, END_SYMBOL = range(3)
MARKS = {"prefix": PREFIX, "end-suffix": END_SUFFIX, "end-symbol": END_SYMBOL}
"""Kinds of marks: on every unit of a word except the first, on the last unit, or as a separate last unit."""


@kernel
def widen(text: Uint8s, units: Int32s) -> None:
    """Copy the bytes of a text to an array of 32-bit numbers."""
    for at in range(len(text)):
        units[at] = text[at]


@kernel
def mark_units(units: Int32s, ends: Int64s, kinds: int, mark: int, marked: Int32s, stops: Int64s) -> None:
    """Mark the units of words. A marked unit is the plain unit plus `kinds`.

    An end symbol is the unit `kinds` after each word that has units.

    Args:
        units, ends: The units, and the end of each word after a leading 0.
        kinds: The number of plain units.
        mark: One of `MARKS`.
        marked, stops: Receive the marked units and the ends of words; `marked` has room for one more unit per
            word.
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
    """Return the units of counted words, marked and numbered as the recipe says."""
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
    """Return the end of each word of these sizes, after a leading 0."""
    return array("q", accumulate(sizes, initial=0))


@kernel
def lay_out(units: Int32s, ends: Int64s, symbols: Int32s, cells: Cells, starts: Int64s) -> None:
    """Write words into cells, with a `BOUNDARY` cell before and after each word.

    Args:
        units, ends: The units, and the end of each word after a leading 0.
        symbols: The symbol of each unit.
        cells: Receives the words; their pairs are 0.
        starts: Receives the first cell of each word.
    """
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
    """Return the slot of a pair in the hash table, or the free slot to insert it at."""
    slot = hashed(U64(left) << U64(32) | U64(right), U64(shift))
    while slots[slot] != 0 and (table[slots[slot]].left != left or table[slots[slot]].right != right):
        slot = (slot + 1) & (len(slots) - 1)
    return int(slot)


@kernel
def pair_up(
    word: int, pairs: int, shift: int, starts: Int64s, weights: Int64s, cells: Cells, table: PairRows,
    counts: Int64s, slots: Int32s,
) -> tuple[int, int]:
    """Find and count the pairs of adjacent units, overlapping ones included, beginning at a word.

    Args:
        word: The word to begin with.
        pairs: The number of pairs so far; they are inserted into the hash table again.
        shift: 64 minus the number of bits of the hash table.
        starts: The first cell of each word.
        weights: The weight of each word in the counts.
        cells, table, counts: As in `State`.
        slots: Zeros; becomes the hash table.

    Returns:
        (the word to continue with, the number of pairs). The word is `len(starts)` if all words are done;
        otherwise `table` and `slots` must grow first. `table[pair].first` is the number of places of a pair.
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


@kernel
def list_places(
    pairs: int, starts: Int64s, weights: Int64s, cells: Cells, places: Places, table: PairRows
) -> None:
    """List the places of each pair, and set `table[pair].first` from their number to the index of the
    first."""
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
