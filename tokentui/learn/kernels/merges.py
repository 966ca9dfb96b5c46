"""Kernels: make, undo and redo a merge, on the state of `layout`."""

from __future__ import annotations

from typing import Any

from tokentui.core.native import I64, U64, Int32s, Int64s, hashed, helper, inlined, kernel
from tokentui.learn.kernels.layout import NO_LIMIT, RankedRows, State

_PRIME = U64(0x100000001B3)
"""The multiplier of the hash FNV-1a."""
_KEPT_BITS = U64(32)


@helper
def give_uses(number: int, sign: int, s: State) -> None:
    """Move the uses of a step's symbol back to its parts, or with `sign` -1 from the parts to the symbol."""
    step = s.steps[number]
    replaced = sign * step.replaced
    s.uses[s.base + number] -= replaced
    s.uses[s.table[step.chosen].left] += replaced
    s.uses[s.table[step.chosen].right] += replaced


OPENS, CLOSES, COLON, HOLDS = 1, 2, 4, 8
"""Edges of a token, as bits: it begins with a space, ends with a space, ends with a colon, contains a colon
that a space follows."""


@helper
def crosses(left: int, right: int, s: State) -> bool:
    """Return whether the token of two symbols may cross words: it has at most `s.words` parts and `s.longest`
    units, and contains no colon that a space follows."""
    before, after = s.extents[left], s.extents[right]
    ends, begins = before.edges, after.edges
    if (ends | begins) & HOLDS or (ends & COLON and begins & OPENS):
        return False
    joined = 0 if ends & CLOSES or begins & OPENS else 1
    return bool(before.words + after.words - joined <= s.words and before.units + after.units <= s.longest)


@inlined
def extend(token: int, left: int, right: int, s: State) -> None:
    """Store the extent of a new token."""
    ends, begins = s.extents[left].edges, s.extents[right].edges
    joined = 0 if ends & CLOSES or begins & OPENS else 1
    s.extents[token].units = s.extents[left].units + s.extents[right].units
    s.extents[token].words = s.extents[left].words + s.extents[right].words - joined
    s.extents[token].edges = (ends & OPENS) | (begins & (CLOSES | COLON)) | ((ends | begins) & HOLDS)


@helper
def hash_bytes(key: Any, start: int, end: int, text: Any) -> Any:
    """Extend the FNV-1a hash `key` by the bytes `start` to `end` of a text."""
    for at in range(start, end):
        key = (key ^ U64(text[at])) * _PRIME
    return key


@kernel
def index_forbidden(s: State) -> None:
    """Fill the empty hash table of forbidden pairs and tokens. Its size is a power of two, at least twice the
    number of rows."""
    for row in range(1, len(s.forbidden_rows)):
        key = hash_bytes(U64(0), s.forbidden_rows[row - 1].end, s.forbidden_rows[row].end, s.forbidden_text)
        slot = hashed(key, _KEPT_BITS) & (len(s.forbidden_slots) - 1)
        while s.forbidden_slots[slot] != 0:
            slot = (slot + 1) & (len(s.forbidden_slots) - 1)
        s.forbidden_slots[slot] = row


@helper
def is_forbidden(pair: int, s: State) -> bool:
    """Return whether a pair or the token that it makes is forbidden. Both are compared by bytes, since
    several symbols may share them; the right part is taken without its mark."""
    text, rows, slots = s.text, s.forbidden_rows, s.forbidden_slots
    start, end = s.ends[s.table[pair].left], s.ends[s.table[pair].left + 1]
    tail, tail_end = s.ends[s.table[pair].right] + s.prefix, s.ends[s.table[pair].right + 1]
    left = end - start
    size = left + tail_end - tail
    if (s.forbidden >> (size & 31)) & 1 == 0:
        return False
    slot = hashed(hash_bytes(hash_bytes(U64(0), start, end, text), tail, tail_end, text), _KEPT_BITS)
    slot &= len(slots) - 1
    while slots[slot] != 0:
        row = slots[slot]
        first = rows[row - 1].end
        equal = rows[row].end - first == size and (rows[row].left == 0 or rows[row].left == left)
        n = 0
        while equal and n < size:
            byte = text[start + n] if n < left else text[tail + n - left]
            equal = byte == s.forbidden_text[first + n]
            n += 1
        if equal:
            return True
        slot = (slot + 1) & (len(slots) - 1)
    return False


@inlined
def may_be_made(pair: int, s: State) -> Any:
    """Return whether a pair may be merged: it is not forbidden, and its token obeys the limits of length and
    of crossing words."""
    table, symbols = s.table, s.symbols
    if s.forbidden != 0 and is_forbidden(pair, s):
        return False
    if s.words != 0:
        return crosses(table[pair].left, table[pair].right, s)
    return (
        s.longest == NO_LIMIT
        or symbols[table[pair].left].length + symbols[table[pair].right].length <= s.longest
    )


@inlined
def has_room(pair: int, known: int, s: State) -> bool:
    """Return whether the arrays have room for the merge of a pair. Write the rows that it needs to
    `wanted`."""
    table, ends, wanted = s.table, s.ends, s.wanted
    size = table[pair + 1].first - table[pair].first
    pairs, token, left, right = s.steps[known].pairs, s.base + known, table[pair].left, table[pair].right
    wanted[0] = pairs + min(2 * size, 2 * token + 2) + 2
    wanted[1] = table[pairs].first + 2 * size
    wanted[2] = s.steps[known].logged + size
    wanted[3] = 0
    if known + 2 > len(s.steps) or token + 2 > len(ends):
        return False
    if s.spells != 0:
        wanted[3] = ends[token] + ends[left + 1] - ends[left] + ends[right + 1] - ends[right]
    return bool(
        wanted[0] <= len(table)
        and wanted[1] <= len(s.places)
        and wanted[2] <= len(s.log)
        and wanted[3] <= len(s.text)
    )


@inlined
def spell(token: int, left: int, right: int, s: State) -> None:
    """Write the bytes of a new symbol to `text`; the right part loses its mark."""
    text, ends = s.text, s.ends
    at = ends[token]
    for n in range(ends[left], ends[left + 1]):
        text[at] = text[n]
        at += 1
    for n in range(ends[right] + s.prefix, ends[right + 1]):
        text[at] = text[n]
        at += 1
    ends[token + 1] = at


@inlined
def add_place(pair: Any, place: Any, weight: int, places: Any, table: Any) -> None:
    """Store a place of a new pair at index `table[pair].next`, and advance it."""
    at = table[pair].next
    table[pair].next = at + 1
    places[at].place = place
    places[at].weight = weight


@inlined
def note_places(pair: int, token: int, log_start: int, log_end: int, s: State) -> None:
    """Store the places of the pairs that a merge has just made, each at `table[new].next`, which advances.

    Args:
        pair, token: The merged pair and its new token.
        log_start, log_end: The length of the log before and after.
        s: The state.
    """
    cells, places, log, table, symbols = s.cells, s.places, s.log, s.table, s.symbols
    entry = table[pair].first
    for logged in range(log_start, log_end):
        start = I64(log[logged].place)
        while places[entry].place != start:
            entry += 1
        weight = places[entry].weight
        before = cells[start - 1].symbol
        if before >= 0 and before != token:
            place = start - symbols[before].length
            add_place(cells[place].pair, place, weight, places, table)
        if cells[start].pair != 0:
            add_place(cells[start].pair, start, weight, places, table)


@inlined
def merge(pair: int, known: int, level: int, s: State) -> Any:
    """Merge every place of a pair for the first time, from left to right, as step `known + 1`.

    Args:
        pair: The pair.
        known: The number of computed steps.
        level: The greatest count of a candidate if the queue is by count, else -1.
        s: The state, with room for the merge.

    Returns:
        The number of candidates that left the top count `level`, the merged pair included.
    """
    cells, places, log, table, counts, symbols = s.cells, s.places, s.log, s.table, s.counts, s.symbols
    left, right, token = table[pair].left, table[pair].right, s.base + known
    step, following = s.steps[known], s.steps[known + 1]
    step.chosen, step.places, step.tied = pair, counts[pair], s.queue[0].tied
    step.left_uses, step.right_uses = s.uses[left], s.uses[right]
    offset = symbols[left].length
    last = offset + symbols[right].length - 1
    symbols[token].length = last + 1
    if s.spells != 0:
        spell(token, left, right, s)
    if s.words != 0:
        extend(token, left, right, s)
    first_new, log_start = step.pairs, step.logged
    pairs = first_new
    counts[pair] = 0
    places_end = table[first_new].first
    replaced = 0
    fallen = 1
    here: Any = log_start
    # Keep the places where the pair still occurs. Without a branch, the loop does not wait for distant cells.
    for entry in range(table[pair].first, table[pair + 1].first):
        log[here].place = places[entry].place
        log[here].old = places[entry].weight
        here += I64(cells[places[entry].place].pair == pair)
    log_end: Any = log_start
    for entry in range(log_start, here):
        start = I64(log[entry].place)
        if cells[start].pair != pair:
            continue  # it overlaps the place before
        weight = log[entry].old
        replaced += weight
        before = cells[start - 1].symbol
        old: Any = 0
        if before >= 0:
            at = start - symbols[before].length
            old = I64(cells[at].pair)
            if old >= first_new:
                table[old].first -= 1  # this merge has made the pair
            elif counts[old] == level and may_be_made(old, s):
                fallen += 1
            counts[old] -= weight
            new = symbols[before].before
            if new < first_new:
                new = pairs
                pairs += 1
                symbols[before].before = new
                table[new].left = before
                table[new].right = token
                table[new].first = 0
                counts[new] = 0
            table[new].first += 1
            counts[new] += weight
            cells[at].pair = new
        log[log_end].place = start
        log[log_end].old = old
        log_end += 1
        middle = start + offset
        old = I64(cells[middle].pair)
        cells[middle].pair = ~old
        new = 0
        if old != 0:
            if counts[old] == level and may_be_made(old, s):
                fallen += 1
            counts[old] -= weight
            after = cells[start + last + 1].symbol
            new = symbols[after].after
            if new < first_new:
                new = pairs
                pairs += 1
                symbols[after].after = new
                table[new].left = token
                table[new].right = after
                table[new].first = 0
                counts[new] = 0
            table[new].first += 1
            counts[new] += weight
        cells[start].pair = new
        cells[start].symbol = token
        cells[start + last].symbol = token
    counts[pair] = 0  # in a run such as "aaa", overlapping places vanish with the pair
    for new in range(first_new, pairs):
        size = table[new].first
        table[new].first = table[new].next = places_end
        places_end += size
    table[pairs].first = places_end
    note_places(pair, token, log_start, log_end, s)
    step.replaced = replaced
    give_uses(known, -1, s)
    following.pairs, following.logged, following.tokens = pairs, log_end, step.tokens - replaced
    return fallen


@kernel
def undo(number: int, goal: int, most: int, s: State) -> int:
    """Undo merges, the last one first.

    Args:
        number: The current step.
        goal: The step to go back to.
        most: Stop after the step in which this many places have been undone.
        s: The state.

    Returns:
        The step reached.
    """
    cells, places, log, table, counts, symbols, steps = (
        s.cells, s.places, s.log, s.table, s.counts, s.symbols, s.steps,
    )
    stop = steps[number].logged - most
    while number > goal and steps[number].logged > stop:
        number -= 1
        pair = steps[number].chosen
        first_new = steps[number].pairs
        left, right = table[pair].left, table[pair].right
        offset = symbols[left].length
        last = offset + symbols[right].length - 1
        entry = table[pair + 1].first
        for logged in range(steps[number + 1].logged - 1, steps[number].logged - 1, -1):
            start = I64(log[logged].place)
            entry -= 1
            while places[entry].place != start:
                entry -= 1
            weight = places[entry].weight
            middle = start + offset
            old = ~cells[middle].pair
            cells[middle].pair = old
            if old != 0:
                counts[old] += weight
            old = log[logged].old
            if old != 0:
                cells[start - symbols[cells[start - 1].symbol].length].pair = old
                if old < first_new:
                    counts[old] += weight
            cells[start].pair = pair
            cells[start].symbol = cells[middle - 1].symbol = left
            cells[middle].symbol = cells[start + last].symbol = right
        counts[pair] = steps[number].places
        give_uses(number, 1, s)
    return number


@kernel
def redo(number: int, goal: int, most: int, s: State) -> int:
    """Redo computed merges up to step `goal`. Arguments and result are those of `undo`."""
    cells, places, log, table = s.cells, s.places, s.log, s.table
    counts, symbols, steps = s.counts, s.symbols, s.steps
    stop = steps[number].logged + most
    while number < goal and steps[number].logged < stop:
        pair = steps[number].chosen
        first_new = steps[number].pairs
        token = s.base + number
        offset = symbols[table[pair].left].length
        last = symbols[token].length - 1
        entry = table[pair].first
        for logged in range(steps[number].logged, steps[number + 1].logged):
            start = I64(log[logged].place)
            while places[entry].place != start:
                entry += 1
            weight = places[entry].weight
            middle = start + offset
            old = cells[middle].pair
            cells[middle].pair = ~old
            if old != 0:
                counts[old] -= weight
            old = log[logged].old
            if 0 < old < first_new:
                counts[old] -= weight
            cells[start].pair = 0
            cells[start].symbol = token
            cells[start + last].symbol = token
        for new in range(first_new, steps[number + 1].pairs):
            count = 0
            for entry in range(table[new].first, table[new + 1].first):
                count += places[entry].weight
                cells[places[entry].place].pair = new
            counts[new] = count
        counts[pair] = 0
        give_uses(number, -1, s)
        number += 1
    return number


@kernel
def move_uses(number: int, goal: int, s: State) -> None:
    """Change the uses of symbols from those at step `number` to those at step `goal`."""
    for step in range(number, goal):
        give_uses(step, -1, s)
    for step in range(goal, number):
        give_uses(step, 1, s)


# ---- values of computed steps


@kernel
def add_falls(number: int, size: int, heap: RankedRows, marks: Int32s, falls: Int64s, s: State) -> None:
    """Compute by how much the current step lowered the counts of some pairs.

    Args:
        number: The current step, at least 1.
        size: The number of pairs in `heap`.
        heap: The pairs.
        marks: A zeroed array with an item for each pair.
        falls: Zeros, one for each pair in `heap`; receives the decreases.
        s: The state.
    """
    for n in range(size):
        marks[heap[n].pair] = n + 1
    step = s.steps[number - 1]
    offset = s.symbols[s.table[step.chosen].left].length
    entry = s.table[step.chosen].first
    for logged in range(step.logged, s.steps[number].logged):
        start = I64(s.log[logged].place)
        while s.places[entry].place != start:
            entry += 1
        weight = s.places[entry].weight
        before, after = I64(s.log[logged].old), ~I64(s.cells[start + offset].pair)
        if 0 < before < step.pairs and before != step.chosen and marks[before] > 0:
            falls[marks[before] - 1] += weight
        if 0 < after < step.pairs and after != step.chosen and marks[after] > 0:
            falls[marks[after] - 1] += weight


@kernel
def changed_words(number: int, starts: Int64s, found: Int64s, s: State) -> int:
    """List the words in which the current step merged a place, and return their number.

    Args:
        number: The current step, at least 1.
        starts: The first cell of each word.
        found: Receives the words in order; it has room for one word per place of the step.
        s: The state.
    """
    size = 0
    for logged in range(s.steps[number - 1].logged, s.steps[number].logged):
        place = I64(s.log[logged].place)
        low, high = 0, len(starts)  # find the last word that starts at or before the place
        while high - low > 1:
            middle = (low + high) >> 1
            if starts[middle] <= place:
                low = middle
            else:
                high = middle
        if size == 0 or found[size - 1] != low:
            found[size] = low
            size += 1
    return size


@kernel
def places_now(pair: int, found: Int64s, weights: Int64s, s: State) -> int:
    """Write the current places of a pair and their weights, and return their number. Both arrays must hold
    all places that the pair ever had."""
    size = 0
    for entry in range(s.table[pair].first, s.table[pair + 1].first):
        place = I64(s.places[entry].place)
        if s.cells[place].pair == pair:
            found[size] = place
            weights[size] = s.places[entry].weight
            size += 1
    return size
