"""The loops of the lower bound on tokens, see `learn/lower_bound.py`: list the texts that words share, price
them, and move the numbers of the places.

Plain Python runs these functions as they stand here. `bound.py` compiles the same functions, so the numbers
of both engines are the same to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

from tokentui.core.native import Float64s, Int32s, Int64s, Uint8s

FREE = -1
"""An empty slot, and a group that has no number."""
_SPREAD = 0x9E3779B1
"""The 32-bit golden ratio, for multiplicative hashing (Knuth, The Art of Computer Programming, section
6.4)."""


class Places(NamedTuple):
    """The places of the distinct words, one after the other; a place is a unit of a word.

    Attributes:
        units: The unit at each place, by its number.
        rest: The units from each place to the end of its word.
        words: The word of each place.
        counts: The count of the word of each place.
    """

    units: Int32s
    rest: Int32s
    words: Int32s
    counts: Float64s


class Groups(NamedTuple):
    """The distinct texts of one length at the active places.

    Attributes:
        slots: A table by hash: a group, or `FREE`. Its size is a power of two.
        keys: The key of each group: the group of its text without the last unit, and that unit.
        last: The last word in which each group was seen.
        shared: 1 for a group that is in two distinct words.
        numbers: The number of each group as a candidate, or `FREE`.
    """

    slots: Int32s
    keys: Int64s
    last: Int32s
    shared: Uint8s
    numbers: Int32s


class Found(NamedTuple):
    """Occurrences of texts in the words.

    Attributes:
        starts: The first place of each.
        sizes: The units of each.
        numbers: The candidate of each.
    """

    starts: Int32s
    sizes: Int32s
    numbers: Int32s


class Texts(NamedTuple):
    """The occurrences of candidates in the words, by their first place, and of one place by their size.

    Attributes:
        firsts: The first occurrence of each place, and the number of all.
        sizes: The units of each.
        numbers: The candidate of each.
    """

    firsts: Int32s
    sizes: Int32s
    numbers: Int32s


class Over(NamedTuple):
    """The occurrences with an excess.

    Attributes:
        starts: The first place of each.
        ends: The place after each.
        numbers: The candidate of each.
    """

    starts: Int32s
    ends: Int32s
    numbers: Int32s


def group(
    size: int, places: Places, active: Int32s, before: Int32s, kinds: int, groups: Groups, after: Int32s
) -> int:
    """Group the texts of one length at the active places, and mark those that two distinct words have.

    Args:
        size: The units of the texts.
        places: The places.
        active: The places to look at, in ascending order.
        before: For each of `active`, the group of its text without the last unit.
        kinds: The number of distinct units.
        groups: Takes the groups.
        after: Takes the group of each of `active`; `FREE` where the word is too short.

    Returns:
        The number of groups.
    """
    slots, keys, last, shared, _ = groups
    for slot in range(len(slots)):
        slots[slot] = FREE
    mask = len(slots) - 1
    count = 0
    for n in range(len(active)):
        place = active[n]
        if places.rest[place] < size:
            after[n] = FREE
            continue
        word = places.words[place]
        key = before[n] * kinds + places.units[place + size - 1]
        slot = (key * _SPREAD >> 15) & mask
        while slots[slot] != FREE and keys[slots[slot]] != key:
            slot = (slot + 1) & mask
        known = slots[slot]
        if known == FREE:
            known = count
            slots[slot] = known
            keys[known] = key
            last[known] = word
            shared[known] = 0
            count += 1
        elif last[known] != word:
            last[known] = word
            shared[known] = 1
        after[n] = known
    return count


def keep(
    size: int, places: Places, count: int, groups: Groups, found: Int32s, active: Int32s, whole: Uint8s,
    state: Int64s, out: Found,
) -> int:
    """Record the occurrences of the groups that two words have. The places of all others are active no more.

    Args:
        size: The units of the texts.
        places: The places.
        count: The number of groups.
        groups: The groups.
        found: The group of each active place. Takes those of the places that stay active.
        active: The active places. Takes those that stay active.
        whole: 1 for each word that is a candidate as a whole.
        state: The number of occurrences and of candidates so far.
        out: Takes the occurrences.

    Returns:
        The number of places that stay active.
    """
    numbers, shared = groups.numbers, groups.shared
    occurrences, candidates = state[0], state[1]
    for known in range(count):
        numbers[known] = FREE
    left = 0
    for n in range(len(active)):
        known = found[n]
        if known == FREE or not shared[known]:
            continue
        if numbers[known] == FREE:
            numbers[known] = candidates
            candidates += 1
        place = active[n]
        out.starts[occurrences] = place
        out.sizes[occurrences] = size
        out.numbers[occurrences] = numbers[known]
        occurrences += 1
        word = places.words[place]
        if places.rest[place] == size and (place == 0 or places.words[place - 1] != word):
            whole[word] = 1
        active[left] = place
        found[left] = known
        left += 1
    state[0], state[1] = occurrences, candidates
    return left


def by_place(found: Found, room: Int32s, out: Texts) -> None:
    """Sort occurrences by their first place. It is stable, so that of one place the shortest comes first.

    Args:
        found: The occurrences.
        room: Scratch space, as long as there are places.
        out: Takes the occurrences; `firsts` is zero before.
    """
    firsts = out.firsts
    for n in range(len(found.starts)):
        firsts[found.starts[n] + 1] += 1
    for place in range(len(room)):
        room[place] = firsts[place]
        firsts[place + 1] += firsts[place]
    for n in range(len(found.starts)):
        at = room[found.starts[n]]
        room[found.starts[n]] += 1
        out.sizes[at] = found.sizes[n]
        out.numbers[at] = found.numbers[n]


def price(
    places: Places, texts: Texts, values: Float64s, scale: float, sums: Float64s, excess: Float64s, over: Over
) -> int:
    """Add the excesses of each candidate: by how much the numbers of its places exceed the count of the word.

    With whole numbers below 2**53 the result is exact.

    Args:
        places: The places.
        texts: The occurrences.
        values: The number of each place.
        scale: The factor of the numbers: each is at most `scale` times the count.
        sums: Takes the sum of all numbers before each place, and that of all.
        excess: Takes the sum of each candidate.
        over: Takes the occurrences with an excess.

    Returns:
        The number of these.
    """
    sums[0] = 0.0
    for place in range(len(values)):
        sums[place + 1] = sums[place] + values[place]
    for number in range(len(excess)):
        excess[number] = 0.0
    count = 0
    for place in range(len(values)):
        least = sums[place] + scale * places.counts[place]
        for n in range(texts.firsts[place], texts.firsts[place + 1]):
            end = place + texts.sizes[n]
            more = sums[end] - least
            if more > 0.0:
                number = texts.numbers[n]
                excess[number] += more
                over.starts[count] = place
                over.ends[count] = end
                over.numbers[count] = number
                count += 1
    return count


def choose(excess: Float64s, most: int, room: Float64s, chosen: Uint8s) -> float:
    """Choose the candidates of the greatest excess, of equal ones those of the lowest number.

    The least value that is chosen is found by quickselect (Hoare 1961).

    Args:
        excess: The sum of each candidate.
        most: The number to choose, 1 up to all.
        room: Scratch space, as long as `excess`.
        chosen: Takes 1 for those that are chosen, 0 for the others.

    Returns:
        The sum of the chosen ones.
    """
    for number in range(len(excess)):
        room[number] = excess[number]
    low, high, wanted = 0, len(excess) - 1, most - 1
    while low < high:
        pivot = room[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while room[left] > pivot:
                left += 1
            while room[right] < pivot:
                right -= 1
            if left <= right:
                room[left], room[right] = room[right], room[left]
                left += 1
                right -= 1
        if wanted <= right:
            high = right
        elif wanted >= left:
            low = left
        else:
            break
    least = room[wanted]
    above = 0
    for number in range(len(excess)):
        if excess[number] > least:
            above += 1
    total = 0.0
    for number in range(len(excess)):
        chosen[number] = 0
        if excess[number] > least:
            chosen[number] = 1
        elif excess[number] == least and above < most:
            chosen[number] = 1
            above += 1
        if chosen[number]:
            total += excess[number]
    return total


def direct(
    places: Places, over: Over, count: int, values: Float64s, chosen: Uint8s, covers: Int32s, momentum: float,
    direction: Float64s,
) -> float:
    """Find the direction in which the bound grows: 1 at each place, less 1 for each chosen text over it with
    an excess; 0 where the number can grow no more. A share of the last direction is added.

    Args:
        places: The places.
        over: The occurrences with an excess, as `price` leaves them.
        count: The number of these.
        values: The number of each place.
        chosen: 1 for each chosen candidate.
        covers: Scratch space, one more than there are places.
        momentum: The share.
        direction: The last direction. Takes the new one.

    Returns:
        The sum of the squares by count.
    """
    for place in range(len(covers)):
        covers[place] = 0
    for n in range(count):
        if chosen[over.numbers[n]]:
            covers[over.starts[n]] += 1
            covers[over.ends[n]] -= 1
    norm = 0.0
    covered = 0
    for place in range(len(values)):
        covered += covers[place]
        move = 1.0 - covered
        if move > 0.0 and values[place] >= places.counts[place]:
            move = 0.0
        move += momentum * direction[place]
        direction[place] = move
        norm += places.counts[place] * move * move
    return norm


def average(chosen: Uint8s, share: float, averages: Float64s) -> None:
    """Move the average of each candidate a share of the way to 1 if it is chosen, to 0 if it is not."""
    for number in range(len(averages)):
        averages[number] += share * (chosen[number] - averages[number])


def move(places: Places, values: Float64s, step: float, direction: Float64s) -> None:
    """Move each number by `step` times count and direction, at most up to the count."""
    for place in range(len(values)):
        count = places.counts[place]
        value = values[place] + step * count * direction[place]
        values[place] = value if value < count else count


def shortest(places: Places, texts: Texts, chosen: Uint8s, fewest: Int32s) -> float:
    """Count the tokens of all words in the fewest tokens of units and chosen candidates.

    Args:
        places: The places.
        texts: The occurrences.
        chosen: 1 for each chosen candidate.
        fewest: Scratch space, one more than there are places.

    Returns:
        The tokens by count.
    """
    for place in range(len(fewest)):
        fewest[place] = 0x7FFFFFFF
    total = 0.0
    for place in range(len(places.rest)):
        if place == 0 or places.words[place] != places.words[place - 1]:
            fewest[place] = 0
        here = fewest[place] + 1
        if here < fewest[place + 1]:
            fewest[place + 1] = here
        for n in range(texts.firsts[place], texts.firsts[place + 1]):
            end = place + texts.sizes[n]
            if chosen[texts.numbers[n]] and here < fewest[end]:
                fewest[end] = here
        if places.rest[place] == 1:
            total += fewest[place + 1] * places.counts[place]
    return total
