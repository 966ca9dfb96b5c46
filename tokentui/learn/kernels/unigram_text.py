"""The loops of a unigram training over its text: repeated substrings, and the words cut at what no seed
crosses.

Plain Python runs these functions as they stand here, `unigram.py` compiles the same functions. A pass works
on the places from `low` up to `high`, so that a caller may stop between two calls; one that cannot be cut by
number carries on from `state`.

A text is an array of codes: words one after the other, each followed by an ending. Codes up to `LAST_ENDING`
are endings, those after it are the units in the order of their bytes.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence
from sys import byteorder
from typing import NamedTuple

from tokentui.core.native import Float64s, Int32s, Int64s, Uint8s

CHUNK = 4096
"""Edges that plain Python handles between two yields: about a millisecond."""
END, SPACE, LINE = 0, 1, 2
"""Endings of a word: anything may follow, the ▁ of the next word follows, its line ends."""
LAST_ENDING = LINE
LONGEST = 16
"""The most units of a piece."""
DEEPEST = LONGEST + 1
"""The most units of a suffix that are compared."""
NEVER, INHERITED, MARK = -1, 0, 1
"""Kinds of units: no longer piece has it, it goes with every script, it may only come first. Higher kinds are
scripts."""
_CODE_BITS = 21
_SPREAD = 0x1E3779B97F4A7C15  # odd, without a pattern: multiplicative hashing


class Found(NamedTuple):
    """Repeated substrings.

    Attributes:
        places: A place of each.
        sizes: Its length in units.
        counts: The count of each in the corpus.
        lows: The first suffix that begins with it, in the order of suffixes.
        highs: The last one.
    """

    places: Int32s
    sizes: Int32s
    counts: Int64s
    lows: Int32s
    highs: Int32s


class Open(NamedTuple):
    """The stack of `branches`: intervals of suffixes that begin alike, the shortest beginning at the bottom.

    Attributes:
        depth: The units that the suffixes of an interval share.
        first: Its first suffix.
        before: The weight of all suffixes before it.
        lead: The first byte of what follows the shared units.
        splits: 1 where different bytes follow.
    """

    depth: Int64s
    first: Int64s
    before: Int64s
    lead: Int64s
    splits: Int64s


class Strings(NamedTuple):
    """Strings of a text: from `starts` up to `ends`, with their weights in the corpus."""

    starts: Int32s
    ends: Int32s
    weights: Float64s


class Ground(NamedTuple):
    """A text and the seeds in it.

    Attributes:
        text: The codes.
        units: The seed of each code.
        sizes: The length of each seed in units.
        lengths: For each place the lengths of the seeds that start there, a bit each; units are left out.
        deepest: For each place the longest of them.
        links: For each seed the next shorter one that it begins with.
    """

    text: Int32s
    units: Int32s
    sizes: Int32s
    lengths: Int32s
    deepest: Int32s
    links: Int32s


class Trie(NamedTuple):
    """The nodes of a trie: the parent of each, its depth, and where the first string that came through it was
    then."""

    parents: Int32s
    depths: Int32s
    spots: Int32s


# ---- arrays


def ints(size: int, fill: int = 0) -> array[int]:
    """An array of numbers of 32 bits."""
    return array("i", [fill]) * size


def longs(size: int) -> array[int]:
    """An array of zeros of 64 bits."""
    return array("q", bytes(8 * size))


def floats(size: int, fill: float = 0.0) -> array[float]:
    """An array of numbers of double precision."""
    return array("d", [fill]) * size


def codes(text: str, characters: Sequence[str]) -> array[int]:
    """The text with the number of each of these characters."""
    numbers = array("i")
    coded = text.translate({ord(character): n for n, character in enumerate(characters)})
    numbers.frombytes(coded.encode(f"utf-32-{byteorder[0]}e", "surrogatepass"))
    return numbers


def pick(values: array[int], which: Iterable[int]) -> array[int]:
    """The values at these places."""
    return array(values.typecode, map(values.__getitem__, which))


def descending(values: Float64s, which: Sequence[int]) -> array[int]:
    """Places in order of their values, the greatest first; equals stay in order."""
    return array("i", sorted(which, key=values.__getitem__, reverse=True))


def by_worth(worths: Sequence[int], lengths: Sequence[int], ranks: Sequence[int]) -> array[int]:
    """Places by worth, the greatest first; of equals the longest, then the least rank."""
    return array("i", sorted(range(len(worths)), key=lambda n: (-worths[n], -lengths[n], ranks[n])))


# ---- substrings


def suffixes(text: Sequence[int], rest: Sequence[int], units: int) -> Generator[float, None, array[int]]:
    """The places of all suffixes of words, in the order of the units that follow."""
    letters = "".join(map(chr, text))
    places = defaultdict(list)
    for low in range(0, len(text), CHUNK):
        for place in range(low, min(low + CHUNK, len(text))):
            if rest[place]:
                places[text[place]].append(place)
        yield 0.0
    order = array("i")
    for code in sorted(places):
        order.extend(sorted(places[code], key=lambda place: letters[place : place + rest[place]]))
        yield 0.0
    return order


def count_units(
    low: int, high: int, text: Int32s, weight: Int64s, rest: Int32s, counts: Int64s, firsts: Int32s
) -> None:
    """Count units by weight and note the first place of each, from the last place to the first.

    `rest` takes how many units the word has from each place on, up to `DEEPEST`. Ends of words are skipped.
    """
    for place in range(high - 1, low - 1, -1):
        code = text[place]
        if code > LAST_ENDING:
            counts[code] += weight[place]
            firsts[code] = place
            rest[place] = min(rest[place + 1] + 1, DEEPEST)


def branches(
    low: int, high: int, text: Int32s, rest: Int32s, order: Int32s, weight: Int64s, leads: Int32s,
    state: Int64s, stack: Open, found: Found,
) -> None:
    """Find what stands at least twice and goes on in two ways: the inner nodes of the suffix tree.

    Neighbours in the order of suffixes share their longest common beginnings. All suffixes that share so many
    units lie in one interval, and each interval is found before those that it lies within.

    Args:
        low, high: The suffixes to look at.
        text, rest: The text, and the lengths to the ends of words.
        order: The places of the suffixes in order.
        weight: The count in the corpus of the suffix at each place.
        leads: The first byte of each code.
        state: The number found, the top of the stack, the weight so far, what the last two suffixes share.
        stack: The open intervals.
        found: Takes what is found.
    """
    depth, first, before, lead, splits = stack
    places, sizes, counts, lows, highs = found
    count, top, total, common = state[0], state[1], state[2], state[3]
    for n in range(low, high):
        place = order[n]
        length, after, shared = rest[place], total + weight[place], 0
        if n + 1 < len(order):
            other = order[n + 1]
            most = min(length, rest[other])
            while shared < most and text[place + shared] == text[other + shared]:
                shared += 1
        # What begins at one place branches at the end of its word alone, where anything may follow.
        alone = max(common, shared) < length <= LONGEST and text[place + length] == END
        if alone and length > 1 and after - total > 1:
            places[count], sizes[count], counts[count], lows[count], highs[count] = (
                place, length, after - total, n, n,
            )
            count += 1
        start, ahead = n, total
        while depth[top] > shared:
            start, ahead = first[top], before[top]
            if 1 < depth[top] <= LONGEST and splits[top] and after - ahead > 1:
                places[count], sizes[count], counts[count] = place, depth[top], after - ahead
                lows[count], highs[count] = start, n
                count += 1
            top -= 1
        if n + 1 < len(order):
            if depth[top] < shared:
                top += 1
                code = text[order[start] + shared]
                depth[top], first[top], before[top], lead[top] = shared, start, ahead, leads[code]
                splits[top] = 1 if code == END else 0
            code = text[order[n + 1] + shared]
            if code == END or leads[code] != lead[top]:
                splits[top] = 1
        common, total = shared, after
    state[0], state[1], state[2], state[3] = count, top, total, common


def fits(low: int, high: int, text: Int32s, found: Found, kinds: Int32s, good: Uint8s) -> None:
    """Mark in `good` the substrings of one script with no mark but in front, by the kind of each code."""
    for n in range(low, high):
        script, fine = INHERITED, 1
        for at in range(found.sizes[n]):
            kind = kinds[text[found.places[n] + at]]
            if (
                kind == NEVER
                or (kind == MARK and at > 0)
                or (kind > MARK and script > MARK and kind != script)
            ):
                fine = 0
            if kind > MARK:
                script = kind
        good[n] = fine


def measure(
    low: int, high: int, text: Int32s, found: Found, widths: Int32s, worths: Int64s, lengths: Int32s
) -> None:
    """The worth of substrings, count times length, and their lengths in bytes by those of the units."""
    for n in range(low, high):
        worths[n] = found.counts[n] * found.sizes[n]
        lengths[n] = 0
        for at in range(found.sizes[n]):
            lengths[n] += widths[text[found.places[n] + at]]


def rank(best: Int32s, first: int, most: int, ids: Int32s) -> None:
    """Number substrings from `first` on in the order `best`; those after the first `most` have no number, -1.
    """
    for n in range(len(best)):
        ids[best[n]] = first + n if n < most else -1


def cover(order: Int32s, found: Found, ids: Int32s, most: int, state: Int64s, ground: Ground) -> bool:
    """Note at each place which seeds begin there: `lengths`, `deepest` and `links` of `Ground`.

    Args:
        order, found, ids: The suffixes in order, the substrings and their seeds, -1 for none.
        most: The number of suffixes to go.
        state: The substring, from the last one down, and how many suffixes that begin with it are done.
        ground: Takes what is found.

    Returns:
        True if all is done.
    """
    n, done = state[0], state[1]
    for _ in range(most):
        if n < 0:
            break
        seed, suffix = ids[n], found.lows[n] + done
        if seed < 0 or suffix > found.highs[n]:
            n, done = n - 1, 0  # each after those that it lies within
            continue
        place = order[suffix]
        if not done:
            ground.links[seed] = ground.deepest[place]
        ground.deepest[place] = seed
        ground.lengths[place] |= 1 << found.sizes[n]
        done += 1
    state[0], state[1] = n, done
    return bool(n < 0)


def segments(
    low: int, high: int, text: Int32s, weight: Int64s, lengths: Int32s, state: Int64s, found: Strings
) -> None:
    """Cut words wherever no seed lies across. No segmentation of a word is lost or gained by such a cut.

    Args:
        low, high: The places to look at.
        text: The text.
        weight: The count in the corpus of the suffix at each place.
        lengths: For each place the lengths of the seeds that start there, a bit each.
        state: The number of them, the start of the present one, the reach of the seeds that start in it.
        found: Takes them.
    """
    count, start, furthest = state[0], state[1], state[2]
    for place in range(low, high):
        ends = text[place] <= LAST_ENDING
        if ends or start < place >= furthest:
            found.starts[count], found.ends[count], found.weights[count] = start, place, weight[start]
            count += 1
            start = place + 1 if ends else place
        if ends:
            furthest = start
        else:
            reach = 1
            while lengths[place] >> (reach + 1):
                reach += 1
            furthest = max(furthest, place + reach)
    state[0], state[1], state[2] = count, start, furthest


# ---- the trie


def grow(
    text: Int32s, strings: Strings, most: int, state: Int64s, keys: Int64s, values: Int32s, shift: int,
    trie: Trie, at: Int32s,
) -> bool:
    """Add strings to a trie; strings that begin alike share the nodes of their beginning.

    Args:
        text: The text.
        strings: Where they stand in it.
        most: The number of units to go.
        state: The string, the place in it, the node reached, how many nodes there are.
        keys, values: A table of children by parent and code, with open addressing. Its size is a power of
            two, more than twice as many as there can be nodes.
        shift: 64 less the number of bits of a place in the table.
        trie: Takes the nodes, as they come.
        at: Takes the node of each string.

    Returns:
        True if all are in it.
    """
    n, place, node, count = state[0], state[1], state[2], state[3]
    mask = len(keys) - 1
    for _ in range(most):
        while n < len(at) and place == strings.ends[n]:
            at[n] = node
            n += 1
            node, place = 0, strings.starts[n] if n < len(at) else 0
        if n == len(at):
            break
        key = node << _CODE_BITS | text[place]
        slot = key * _SPREAD >> shift & mask
        while keys[slot] and keys[slot] != key:
            slot = slot + 1 & mask
        place += 1
        if not keys[slot]:
            keys[slot], values[slot] = key, count
            trie.parents[count], trie.depths[count], trie.spots[count] = node, trie.depths[node] + 1, place
            count += 1
        node = values[slot]
    state[0], state[1], state[2], state[3] = n, place, node, count
    return bool(n == len(at))


def number(depths: Int32s, levels: Int32s, numbers: Int32s) -> None:
    """Number nodes level by level, in each level in their order.

    Args:
        depths: The depth of each node.
        levels: Zeros. Takes the first number of each depth, and the number of nodes.
        numbers: Takes the number of each node.
    """
    for node in range(len(numbers)):
        levels[depths[node] + 1] += 1
    for depth in range(1, len(levels)):
        levels[depth] += levels[depth - 1]
    for node in range(len(numbers)):
        numbers[node] = levels[depths[node]]
        levels[depths[node]] += 1
    for depth in range(len(levels) - 1, 0, -1):
        levels[depth] = levels[depth - 1]
    levels[0] = 0


def renumber(low: int, high: int, trie: Trie, numbers: Int32s, out: Trie) -> None:
    """The same trie with other numbers."""
    for node in range(low, high):
        now = numbers[node]
        out.parents[now], out.depths[now], out.spots[now] = (
            numbers[trie.parents[node]], trie.depths[node], trie.spots[node],
        )


def gather(
    strings: Strings, numbers: Int32s, at: Int32s, slots: Int32s, ends: Int32s, weights: Float64s
) -> int:
    """Renumber the nodes of strings, and list those in which strings of any weight end, with the weight of
    each.

    Returns:
        How many there are.
    """
    count = 0
    for n in range(len(at)):
        node = at[n] = numbers[at[n]]
        if strings.weights[n]:
            if not slots[node]:
                ends[count] = node
                count += 1
                slots[node] = count
            weights[slots[node] - 1] += strings.weights[n]
    return count
