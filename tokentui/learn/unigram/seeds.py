"""The seeds of a unigram model: every unit, and every substring that stands at least twice and may go on in two ways.

The rule is that of sentencepiece 0.2.3 (`MakeSeedSentencePiecesFromCorpus`): the inner nodes of a suffix tree over the
bytes of the text, between the starts of units. Two occurrences go on differently where the first bytes of what follows
differ. With `split=metaspace` the ▁ of the next word follows a word, the end of its line the last word of one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from tokentui.learn.unigram.coded import INHERITED, MARK, MAX_LENGTH, NEVER, Coded
from tokentui.text import patience
from tokentui.text.patience import in_parts
from tokentui.text.pretokenize import to_bytes

SEED_SIZE = 1_000_000
"""How many seeds of two or more units there are at most: the default of sentencepiece."""
_LEAST = 2
_LOOK_EVERY = 4096
"""How many places are looked at between two looks at whether to go on."""


@dataclass(frozen=True, slots=True)
class Seeds:
    """What a training starts from: the units by count, then the others by count times length.

    Attributes:
        bytes: The exact bytes of each, with its mark.
        counts: How often each stands in the corpus.
        sizes: How many units each has.
        units: The first so many seeds are the units.
        occurrences: The weight of all words: what an objective is divided by.
        unknown: How often something stands in the corpus that no piece has, by weight: symbols, and what is not covered.
        apart: How many tokens that is.
    """

    bytes: Sequence[bytes]
    counts: Sequence[int]
    sizes: Sequence[int]
    units: int
    occurrences: int
    unknown: int = 0
    apart: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """The seeds of a corpus, and the corpus as far as they stand in it.

    Attributes:
        seeds: The seeds.
        pieces: The same as strings with a character a unit.
        segments: The corpus cut wherever no seed lies across, each distinct segment with its weight. No segmentation of
            a word is lost or gained by such a cut, so that segments stand for words in all sums.
    """

    seeds: Seeds
    pieces: list[str]
    segments: Mapping[str, int]


def find_seeds(coded: Coded, size: int = SEED_SIZE) -> Generator[float, None, Found]:
    """Find the seeds of a corpus.

    Args:
        coded: The corpus.
        size: At most so many seeds of two or more units.

    Yields:
        How much is done, from 0 to 1.
    """
    search = _Search(coded)
    for done in search.run():
        yield 0.8 * done
    text, spell = coded.text, to_bytes if coded.plain else coded.bytes
    alphabet = sorted((-count, coded.units[code], code) for code, count in search.units.items())
    named = []
    for place, length, count in search.found:
        piece = text[place : place + length]
        exact = spell(piece)
        named.append((-count * length, -len(exact), exact, piece, count))
    yield 0.85
    named.sort()
    del named[size:]
    yield 0.9
    seeds = Seeds(
        bytes=[unit for _, unit, _ in alphabet] + [exact for _, _, exact, _, _ in named],
        counts=[-count for count, _, _ in alphabet] + [count for _, _, _, _, count in named],
        sizes=[1] * len(alphabet) + [len(piece) for _, _, _, piece, _ in named],
        units=len(alphabet),
        occurrences=sum(coded.weights),
        unknown=coded.unknown, apart=coded.apart,
    )
    yield 0.95
    pieces = [code for _, _, code in alphabet] + [piece for _, _, _, piece, _ in named]
    return Found(seeds, pieces, search.segments())


class _Search:
    """Looks for repeated substrings: places that begin alike are parted by what follows, again and again."""

    def __init__(self, coded: Coded) -> None:
        self._coded = coded
        self._weight = weight = list[int]()
        for length, times in zip(coded.sizes, coded.weights, strict=True):
            for start in range(0, length, patience.PART):
                if start:
                    patience.check()
                weight += [times] * min(patience.PART, length - start)
        self._reach = bytearray(b"\1") * len(coded.text)
        self.found: list[tuple[int, int, int]] = []
        self.units: Counter[str] = Counter()

    def run(self) -> Generator[float, None, None]:
        """Fill `found`, with a place, the length and the weight of each, and `units`. Yields how much is done, from 0 to 1."""
        coded = self._coded
        text, leads, end = coded.text, coded.leads(), coded.end
        endings = (end, coded.space, coded.line)
        alone = end in text
        kinds = coded.kinds or dict.fromkeys(coded.units, INHERITED)
        after = [text[depth:] for depth in range(MAX_LENGTH + 1)]  # what follows so many units after a place
        firsts: defaultdict[str, list[int]] = defaultdict(list)
        for part in in_parts(enumerate(text)):
            for place, code in part:
                firsts[code].append(place)
        for ending in endings:
            firsts.pop(ending, None)
        stack = []
        for code, places in firsts.items():
            self.units[code] = self._times(places)
            if kinds[code] != NEVER:
                stack.append((1, places, kinds[code]))
        total, steps, looks = len(text), 0, _LOOK_EVERY
        left = total
        while stack:
            depth, places, kind = stack.pop()
            if depth == 1:
                left -= len(places)
            steps += len(places)
            if steps >= looks:
                looks = steps + _LOOK_EVERY
                yield 1 - left / total
            if len(places) == 2:  # most are
                one, two = places
                codes = after[depth]
                while (code := codes[one]) == codes[two] and depth < MAX_LENGTH and code not in endings:
                    now = kinds[code]
                    if now != INHERITED:
                        if now <= MARK or MARK < kind != now:
                            break
                        kind = now
                    depth += 1
                    codes = after[depth]
                following = {code: [one]}
                following.setdefault(codes[two], []).append(two)
            else:
                codes = after[depth]
                following = {}
                for some in in_parts(places) if len(places) > patience.PART else (places,):
                    for place in some:
                        code = codes[place]
                        if code in following:
                            following[code].append(place)
                        else:
                            following[code] = [place]
            if depth > 1 and (end in following or (len(following) > 1 and len({leads[code] for code in following}) > 1)):
                self._add(places, depth)
            if depth == MAX_LENGTH:
                continue
            for code, group in following.items():
                if code in endings:
                    continue
                if len(group) == 1:
                    if alone:
                        self._alone(group[0], depth + 1)
                    continue
                now = kinds[code]
                if now == INHERITED:
                    stack.append((depth + 1, group, kind))
                elif now > MARK and (kind <= MARK or kind == now):
                    stack.append((depth + 1, group, now))

    def _add(self, places: list[int], depth: int) -> None:
        count = self._times(places)
        if count < _LEAST:
            return
        coded, place = self._coded, places[0]
        if coded.kinds is None and not coded.fits(coded.text[place : place + depth]):
            return
        self.found.append((place, depth, count))
        reach = self._reach
        for part in in_parts(places) if len(places) > patience.PART else (places,):
            for place in part:
                reach[place] = depth  # deeper ones come later

    def _times(self, places: list[int]) -> int:
        """How often what begins at these places stands in the corpus."""
        weight = self._weight.__getitem__
        if len(places) <= patience.PART:
            return sum(map(weight, places))
        return sum(sum(map(weight, part)) for part in in_parts(places))

    def _alone(self, place: int, depth: int) -> None:
        """What begins at one place only branches at the end of its word alone."""
        weight, coded = self._weight[place], self._coded
        if weight >= _LEAST:
            end = coded.text.find(coded.end, place + depth, place + MAX_LENGTH + 1)
            if end >= 0 and coded.fits(coded.text[place:end]):
                self.found.append((place, end - place, weight))
                self._reach[place] = end - place

    def segments(self) -> Counter[str]:
        """The words cut wherever no piece that was found lies across, with their weights."""
        text, reach = self._coded.text, self._reach
        out: Counter[str] = Counter()
        start = 0
        for length, weight in zip(self._coded.sizes, self._coded.weights, strict=True):
            last = start + length - 1
            furthest = start + reach[start]
            places = range(start + 1, last)
            for part in in_parts(places) if length > patience.PART else (places,):
                for place in part:
                    if place >= furthest:
                        out[text[start:place]] += weight
                        start = place
                    if place + reach[place] > furthest:
                        furthest = place + reach[place]
            out[text[start:last]] += weight
            start = last + 1
        return out
