"""Kernels: the repeated substrings of words, by their sorted suffixes.

A text is an array of codes: words one after the other, each followed by an ending. Codes up to `LAST_ENDING` are endings, those
after it the units in order of their bytes. Nothing is longer than `LONGEST` units, and no suffix is looked at further than the
one unit after that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokentui.core.jit.compiling import BYTES, NUMBERS, kernel, types

END, SPACE, LINE = 0, 1, 2
"""What follows a word: anything, the ▁ of the next word, the end of its line."""
LAST_ENDING = LINE
LONGEST = 16
"""The most units of a piece."""
DEEPEST = LONGEST + 1
"""How far suffixes are compared."""

NEVER, INHERITED, MARK = -1, 0, 1
"""Kinds of units for `fits`: no piece has it, it goes with every script, it may only come first. Higher ones are scripts."""

INTS = types.Array(types.int32, 1, "C")


@kernel(types.void(INTS, types.int64, types.int64, INTS, BYTES))
def pack(text: Any, bits: int, group: int, digits: Any, rest: Any) -> None:
    """At each place: how many units the word has from there on, up to `DEEPEST`, and the next `group` of them as a number."""
    first = bits * (group - 1)
    left = digit = 0
    for place in range(len(text) - 1, -1, -1):
        code = text[place] - LAST_ENDING
        if code > 0:
            left = min(left + 1, DEEPEST)
            digit = code << first | digit >> bits
        else:
            left = digit = 0
        rest[place] = left
        digits[place] = digit


@kernel(types.int64(INTS, BYTES, types.int64, types.int64, INTS, INTS, types.int64, INTS))
def sort_round(digits: Any, rest: Any, offset: int, group: int, starts: Any, before: Any, count: int, after: Any) -> int:
    """A round of sorting suffixes by radix, from their last digits to their first ones.

    Suffixes that end within this digit come in now: they have nothing to be compared by before (Aho, Hopcroft and Ullman 1974,
    algorithm 3.2).

    Args:
        digits, rest: As `pack` left them.
        offset: How many units stand before the digit.
        group: How many units the digit has.
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


@kernel(types.int64(INTS, BYTES, INTS, types.int64, NUMBERS, INTS, NUMBERS, INTS, BYTES, NUMBERS, INTS, INTS))
def branches(
    text: Any, rest: Any, order: Any, count: int, sums: Any, leads: Any, stack: Any,
    places: Any, depths: Any, counts: Any, lows: Any, highs: Any,
) -> int:
    """Find what stands at least twice and goes on in two ways: the intervals of suffixes that have so many units in common.

    Each is found before those that it lies within.

    Args:
        text, rest: The text, and the lengths to the ends of words.
        order: The places of the suffixes in order, `count` of them.
        sums: Before each suffix in order the weight of all before it, and the weight of all.
        leads: The first byte of each code.
        stack: Room for four numbers for each depth up to `DEEPEST`.
        places: Takes a place of each that is found, `depths` its length, `counts` its weight, `lows` and `highs` its first and
            last suffix.

    Returns:
        How many were found.
    """
    found = 0
    top = 0
    # Of the open intervals: length, first suffix, the first byte of what follows that, whether something follows that differs.
    stack[0] = stack[1] = stack[3] = 0
    stack[2] = leads[text[order[0]]]
    common = 0
    for n in range(count):
        place = order[n]
        shared = 0
        if n + 1 < count:
            other = order[n + 1]
            most = min(rest[place], rest[other])
            while shared < most and text[place + shared] == text[other + shared]:
                shared += 1
        length = rest[place]
        # What begins at one place branches at the end of its word alone, where anything may follow.
        if max(common, shared) < length <= LONGEST and length > 1 and text[place + length] == END and sums[n + 1] - sums[n] > 1:
            places[found], depths[found], counts[found] = place, length, sums[n + 1] - sums[n]
            lows[found] = highs[found] = n
            found += 1
        first = n
        while stack[top] > shared:
            depth, first = stack[top], stack[top + 1]
            weight = sums[n + 1] - sums[first]
            if 1 < depth <= LONGEST and stack[top + 3] and weight > 1:
                places[found], depths[found], counts[found] = place, depth, weight
                lows[found], highs[found] = first, n
                found += 1
            top -= 4
        if n + 1 < count:
            if stack[top] < shared:
                top += 4
                stack[top], stack[top + 1] = shared, first
                code = text[order[first] + shared]
                stack[top + 2], stack[top + 3] = leads[code], code == END
            code = text[order[n + 1] + shared]
            if code == END or leads[code] != stack[top + 2]:
                stack[top + 3] = 1
        common = shared
    return found


@kernel(types.void(INTS, INTS, BYTES, INTS, BYTES))
def fits(text: Any, places: Any, depths: Any, kinds: Any, good: Any) -> None:
    """Which substrings are of one script and have no mark but in front, by the kind of each code."""
    for n in range(len(places)):
        script = INHERITED
        fine = 1
        for at in range(depths[n]):
            kind = kinds[text[places[n] + at]]
            if kind == NEVER or (kind == MARK and at > 0) or (kind > MARK and script > MARK and kind != script):
                fine = 0
                break
            if kind > MARK:
                script = kind
        good[n] = fine


@kernel(types.void(INTS, INTS, BYTES, INTS, INTS, INTS, INTS))
def cover(lows: Any, highs: Any, depths: Any, ids: Any, deepest: Any, lengths: Any, links: Any) -> None:
    """Note at each suffix which pieces it begins with.

    Args:
        lows, highs, depths: The intervals and lengths of the pieces, as `branches` found them.
        ids: Their numbers; those below 0 are none.
        deepest: Takes the longest piece of each suffix, in order.
        lengths: Takes a bit for each length.
        links: Takes for each number the next shorter piece that it begins with.
    """
    for n in range(len(ids) - 1, -1, -1):  # each after those that it lies within
        if ids[n] >= 0:
            links[ids[n]] = deepest[lows[n]]
            bit = np.int32(1) << depths[n]
            for at in range(lows[n], highs[n] + 1):
                deepest[at] = ids[n]
                lengths[at] |= bit


@kernel(types.int64(NUMBERS, INTS, INTS, INTS, INTS))
def segments(bounds: Any, lengths: Any, starts: Any, ends: Any, parts: Any) -> int:
    """Cut words wherever no piece lies across.

    Args:
        bounds: Where each word starts, and the end of the text.
        lengths: For each place the lengths of the pieces that start there, a bit each.
        starts, ends: Take where the segments start and end.
        parts: Takes the number of the word of each.

    Returns:
        How many there are.
    """
    count = 0
    for part in range(len(bounds) - 1):
        start = furthest = bounds[part]
        last = bounds[part + 1] - 1
        for place in range(start, last):
            if place >= furthest and place > start:
                starts[count], ends[count], parts[count] = start, place, part
                count += 1
                start = place
            reach = 1
            while lengths[place] >> (reach + 1):
                reach += 1
            furthest = max(furthest, place + reach)
        starts[count], ends[count], parts[count] = start, last, part
        count += 1
    return count
