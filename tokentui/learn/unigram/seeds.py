"""The seeds of a unigram model: every unit, and every substring that stands at least twice and may go on in two ways.

Words are handled as strings of codes, one character a unit, so that a piece is a slice of a word whatever its units
are.

The rule is that of sentencepiece 0.2.3 (`MakeSeedSentencePiecesFromCorpus`): the inner nodes of a suffix tree over the
bytes of the text, between the starts of units. Two occurrences go on differently where the first bytes of what follows
differ. With `split=metaspace` the ▁ of the next word follows a word, the end of its line the last word of one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tokentui.learn.filters import FILTERS, MAX_PIECE_CHARS
from tokentui.recipe import Recipe
from tokentui.text.count import Words
from tokentui.text.pretokenize import Pretokenizer

MAX_LENGTH = MAX_PIECE_CHARS
"""No piece is longer than so many units."""
SEED_SIZE = 1_000_000
"""How many seeds of two or more units there are at most: the default of sentencepiece."""
_LEAST = 2
_LOOK_EVERY = 1024

_END, _SPACE, _LINE = "\0", "\1", "\2"
"""What follows a word: anything, the ▁ of the next word, the end of its line."""
_FIRST_CODE = 3


@dataclass(frozen=True, slots=True)
class Seeds:
    """What a training starts from.

    Attributes:
        pieces: The seeds as strings of codes: the units by count, then the others by count times length.
        bytes: The same as exact bytes with their marks.
        counts: How often each stands in the corpus.
        units: The first so many seeds are the units.
        segments: The corpus cut wherever no seed lies across, each distinct segment with its weight. No segmentation of
            a word is lost or gained by such a cut, so that segments stand for words in all sums.
        occurrences: The weight of all words: what an objective is divided by.
    """

    pieces: list[str]
    bytes: list[bytes]
    counts: list[int]
    units: int
    segments: Mapping[str, int]
    occurrences: int


class Codes:
    """One character for each distinct unit."""

    def __init__(self, recipe: Recipe) -> None:
        self._units_of = Pretokenizer(recipe).units
        self._prefix = len(recipe.mark_text.encode()) if recipe.mark_kind == "prefix" else 0
        self._codes: dict[bytes, str] = {}
        self.units: list[bytes] = [b""] * _FIRST_CODE

    def encode(self, word: str) -> str:
        """A word in codes."""
        codes, out = self._codes, []
        for unit in self._units_of(word):
            code = codes.get(unit)
            if code is None:
                code = codes[unit] = chr(len(self.units))
                self.units.append(unit)
            out.append(code)
        return "".join(out)

    def bytes(self, piece: str) -> bytes:
        """The exact bytes of a piece: the marks of a continuation go, but for the first."""
        units, cut = self.units, self._prefix
        if not cut:
            return b"".join([units[ord(code)] for code in piece])
        return units[ord(piece[0])] + b"".join([units[ord(code)][cut:] for code in piece[1:]])

    def leads(self) -> list[int]:
        """The first byte of each unit, its mark not counted; before the units, of what may follow a word."""
        cut = self._prefix
        inside = [unit[cut:] if cut and len(unit) > cut else unit for unit in self.units[_FIRST_CODE:]]
        return [-1, "▁".encode()[0], 0, *(unit[0] for unit in inside)]


def last_words(lines: Iterable[str], recipe: Recipe) -> Counter[str]:
    """How often each word is the last of a line."""
    words = Pretokenizer(recipe).words
    return Counter(found[-1] for line in lines if (found := words(line)))


def find_seeds(
    words: Words, recipe: Recipe, lines: Iterable[str] | None = None, size: int = SEED_SIZE
) -> Generator[float, None, Seeds]:
    """Find the seeds of a corpus.

    Args:
        words: The counted pre-tokens.
        recipe: Its unit, mark, split, weight and pieces are used.
        lines: The documents that the words come from. Without them every word of `split=metaspace` has a ▁ after it,
            and a word that is followed by a space or the end of a line alone goes on in one way.
        size: At most so many seeds of two or more units.

    Yields:
        How much is done, from 0 to 1.
    """
    codes = Codes(recipe)
    distinct = recipe.weight == "distinct"
    at_end = last_words(lines, recipe) if lines is not None and not distinct else Counter()
    follows = _SPACE if recipe.split == "metaspace" else _END
    parts: list[str] = []
    weights: list[int] = []
    for n, (word, count) in enumerate(zip(words.words, words.counts, strict=True)):
        if n % _LOOK_EVERY == 0:
            yield 0.3 * n / len(words.words)
        coded, ending = codes.encode(word), at_end.get(word, 0) if follows == _SPACE else 0
        for end, times in ((follows, 1 if distinct else count - ending), (_LINE, ending)):
            if coded and times > 0:
                parts.append(coded + end)
                weights.append(times)
    valid = FILTERS[recipe.pieces]
    search = _Search(parts, weights, codes.leads(), None if valid is None else lambda piece: valid(codes.bytes(piece)))
    for done in search.run():
        yield 0.3 + 0.6 * done
    alphabet = sorted(search.units.items(), key=lambda item: (-item[1], codes.bytes(item[0])))
    named = [(piece, count, codes.bytes(piece)) for piece, count in search.found]
    named.sort(key=lambda seed: (-seed[1] * len(seed[0]), -len(seed[2]), seed[2]))
    del named[size:]
    yield 0.95
    return Seeds(
        pieces=[piece for piece, _ in alphabet] + [piece for piece, _, _ in named],
        bytes=[codes.bytes(piece) for piece, _ in alphabet] + [exact for _, _, exact in named],
        counts=[count for _, count in alphabet] + [count for _, count, _ in named],
        units=len(alphabet),
        segments=search.segments(),
        occurrences=sum(weights),
    )


class _Search:
    """Looks for repeated substrings: places that begin alike are parted by what follows, again and again."""

    def __init__(
        self, parts: Sequence[str], weights: Sequence[int], leads: Sequence[int], valid: Callable[[str], bool] | None
    ) -> None:
        self._text = "".join(parts)
        self._parts, self._part_weights = parts, weights
        self._weight = [weight for part, weight in zip(parts, weights, strict=True) for _ in part]
        self._leads = leads
        self._valid = valid
        self._reach = bytearray(b"\1") * len(self._text)
        self.found: list[tuple[str, int]] = []
        self.units: Counter[str] = Counter()

    def run(self) -> Generator[float, None, None]:
        """Fill `found` and `units`. Yields how much is done, from 0 to 1."""
        text, weight = self._text, self._weight
        firsts: defaultdict[str, list[int]] = defaultdict(list)
        for place, code in enumerate(text):
            firsts[code].append(place)
        for ending in (_END, _SPACE, _LINE):
            firsts.pop(ending, None)
        stack = []
        for code, places in firsts.items():
            self.units[code] = sum(map(weight.__getitem__, places))
            stack.append((1, places))
        total, steps = len(text), 0
        left = total
        while stack:
            depth, places = stack.pop()
            if depth == 1:
                left -= len(places)
            steps += 1
            if steps % _LOOK_EVERY == 0:
                yield 1 - left / total
            following: dict[str, list[int]] = {}
            for place in places:
                code = text[place + depth]
                if code in following:
                    following[code].append(place)
                else:
                    following[code] = [place]
            if depth > 1 and self._branches(following):
                self._add(places, depth)
            if depth < MAX_LENGTH:
                for code, group in following.items():
                    if ord(code) < _FIRST_CODE:
                        continue
                    if len(group) > 1:
                        stack.append((depth + 1, group))
                    else:
                        self._alone(group[0], depth + 1)

    def _branches(self, following: Mapping[str, object]) -> bool:
        """Whether what follows differs in its first byte. Anything may come after a word that no ▁ follows."""
        if _END in following:
            return True
        leads = self._leads
        return len(following) > 1 and len({leads[ord(code)] for code in following}) > 1

    def _add(self, places: list[int], depth: int) -> None:
        count = sum(map(self._weight.__getitem__, places))
        if count < _LEAST:
            return
        piece = self._text[places[0] : places[0] + depth]
        if self._valid is None or self._valid(piece):
            self.found.append((piece, count))
            reach = self._reach
            for place in places:
                reach[place] = depth  # deeper ones come later

    def _alone(self, place: int, depth: int) -> None:
        """What begins at one place only branches at the end of its word, if there."""
        if self._weight[place] >= _LEAST:
            end = place + depth
            limit = place + MAX_LENGTH
            text = self._text
            while end <= limit and ord(text[end]) >= _FIRST_CODE:
                end += 1
            if end <= limit and text[end] == _END:
                self._add([place], end - place)

    def segments(self) -> Counter[str]:
        """The words cut wherever no piece that was found lies across, with their weights."""
        reach = self._reach
        out: Counter[str] = Counter()
        at = 0
        for part, weight in zip(self._parts, self._part_weights, strict=True):
            start = furthest = 0
            for place in range(len(part) - 1):
                if place >= furthest and place:
                    out[part[start:place]] += weight
                    start = place
                furthest = max(furthest, place + reach[at + place])
            out[part[start:-1]] += weight
            at += len(part)
        return out
