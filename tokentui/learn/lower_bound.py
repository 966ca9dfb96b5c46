"""A lower bound on the tokens that any vocabulary of a size needs for counted words.

For each place of each distinct word of count c take a number g of at most c. A candidate is a text of two or
more units that two distinct words have, or a whole word: a token that only one word uses can be replaced by
that word. The excess of an occurrence is what its numbers add up to beyond c, at least 0; L is the sum of the
excesses of a candidate. Then

    B(g) = (sum of all g) - (sum of the k greatest L) + (words of one unit)

is at most the number of tokens of every segmentation by single units and k tokens: a unit costs c, which is
at least its g, and a token costs c, which is at least the sum of its g less its excess. No merge tree is
asked for, so the bound holds for BPE, WordPiece, Unigram and every encoder that loses nothing on these words.

The best g gives the value of the linear program, of which this is the dual. Any other g gives a weaker bound,
so that the search may stop at any time. Numbers that are whole multiples of 1 / `SCALE` prove the result:
with them B is computed without rounding.

>>> words = [b"abc", b"abd", b"abe", b"bc", b"bd", b"be"]
>>> rows = [WordRow([bytes((byte,)) for byte in word], 1) for word in words]
>>> search = BoundSearch(Candidates(rows), 2, 15)
>>> search.run(400)
>>> search.best.tokens, search.reached  # 11 is the best that two tokens can do
(11, 11)
"""

from __future__ import annotations

import functools
import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

from tokentui.core import engines
from tokentui.core.arrays import flat, larger
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check, tick
from tokentui.learn.kernels import bound_loops
from tokentui.learn.kernels.bound_loops import Found, Groups, Over, Places, Texts

T = TypeVar("T")

SCALE = 1024
"""The numbers of a certificate are whole multiples of 1 / SCALE."""
LONGEST = 256
"""The units of the longest words whose texts are looked at. A longer word counts as one token."""
_MOST_OCCURRENCES = 1 << 25
_LARGEST = 1 << 53
"""Whole numbers below this are exact as floats."""
_MOMENTUM = 0.6
_PATIENCE, _SHORTER = 12, 0.7
"""The rounds without a gain after which steps become shorter, and by what factor."""
_LEAST_STEP = 1e-3
_SHARE = 0.1
"""The weight of the present round in the average of a candidate."""
_LOOK_EVERY = 8
"""The rounds from one vocabulary that is tried to the next."""
_PLAIN = SimpleNamespace(**{
    name: getattr(bound_loops, name)
    for name in ("group", "keep", "by_place", "price", "choose", "direct", "average", "move", "shortest")
})


class WordRow(NamedTuple):
    """A distinct word.

    Attributes:
        units: The exact bytes of its units, marks included.
        times: How often it occurs.
    """

    units: Sequence[bytes]
    times: int


class Candidates:
    """The distinct words of a corpus, and the texts in them that a vocabulary may have as tokens.

    Args:
        rows: The words; no two with the same units.

    Raises:
        TokentuiError: The words have too many texts in common, or the counts are too large to be exact.
        Cancelled: The job is cancelled.
    """

    def __init__(self, rows: Sequence[WordRow]) -> None:
        self.single = sum(row.times for row in rows if len(row.units) == 1)
        """The tokens of the words of one unit."""
        self.long = sum(row.times for row in rows if len(row.units) > LONGEST)
        """The tokens that words of more than `LONGEST` units count as: one each."""
        self.rows = [row for row in rows if 2 <= len(row.units) <= LONGEST]
        """The words of several units."""
        if SCALE * sum(row.times * len(row.units) for row in rows) >= _LARGEST:
            what = "the counts are too large for an exact bound"
            raise TokentuiError(what, "corpus", "divide all counts by the same number")
        numbers: dict[bytes, int] = {}
        units = array("i", [
            numbers.setdefault(unit, len(numbers)) for row in self.rows for unit in row.units
        ])
        sizes = [len(row.units) for row in self.rows]
        rest = array("i", [left for size in sizes for left in range(size, 0, -1)])
        words = array("i", [word for word, size in enumerate(sizes) for _ in range(size)])
        counts = array("d", [float(row.times) for row in self.rows for _ in row.units])
        self.places = Places(*map(memoryview, (units, rest, words, counts)))  # type: ignore[arg-type]
        whole = flat("uint8", len(self.rows))
        found, self.candidates = self._find(len(numbers), whole)
        """The number of candidates."""
        starts = _starts(sizes)
        alone = [word for word in range(len(self.rows)) if not whole[word]]
        occurrences = len(found.starts)
        found = _longer(found, occurrences + len(alone))
        for at, word in enumerate(alone, occurrences):
            found.starts[at], found.sizes[at], found.numbers[at] = starts[word], sizes[word], self.candidates
            self.candidates += 1
        found = _first(found, occurrences + len(alone))
        self.occurrences = len(found.starts)
        """The number of their occurrences."""
        self.texts = Texts(
            flat("int32", len(units) + 1), flat("int32", self.occurrences), flat("int32", self.occurrences)
        )
        """Their occurrences."""
        self.loops.by_place(found, flat("int32", len(units)), self.texts)

    @property
    def loops(self) -> SimpleNamespace:
        """The loops: kernels as long as there are any, else plain Python."""
        return _loops()

    def _find(self, kinds: int, whole: Any) -> tuple[Found, int]:
        """Return the occurrences of the texts that two words have, and the number of these texts.

        Those are of two units, of three, and so on, as long as there are any. Raises `TokentuiError` for more
        than _MOST_OCCURRENCES.
        """
        loops, places = self.loops, self.places
        size = len(places.units)
        active, before = memoryview(array("i", range(size))), memoryview(array("i", places.units))
        texts, state, level = Found(*(flat("int32", 0) for _ in Found._fields)), flat("int64", 2), 1
        while active:
            level += 1
            check()
            count = len(active)
            bits = max(4, (2 * count).bit_length())
            groups = Groups(
                flat("int32", 1 << bits), flat("int64", count), flat("int32", count), flat("uint8", count),
                flat("int32", count),
            )
            found = flat("int32", count)
            groups_found = loops.group(level, places, active, before, kinds, groups, found)
            texts = _longer(texts, state[0] + count)
            left = loops.keep(level, places, groups_found, groups, found, active, whole, state, texts)
            active, before = active[:left], found[:left]
            if state[0] > _MOST_OCCURRENCES:
                what = "the pre-tokens have too many texts in common for a bound"
                raise TokentuiError(what, "corpus", "use a split that makes shorter pre-tokens")
        return _first(texts, state[0]), int(state[1])

    @property
    def pretokens(self) -> int:
        """The pre-tokens: what every segmentation needs at least."""
        return self.single + self.long + sum(row.times for row in self.rows)

    @property
    def units(self) -> int:
        """The units of all words but the long ones: the tokens without any token of several units."""
        return self.single + sum(row.times * len(row.units) for row in self.rows)


class Bound(NamedTuple):
    """A proved bound.

    Attributes:
        tokens: No vocabulary needs fewer tokens.
        numbers: The number of each place of the words of several units, times `SCALE`, as whole numbers.
    """

    tokens: int
    numbers: Sequence[int]


class BoundSearch:
    """A search for the best bound, which may stop after any round.

    It is a subgradient method: each number rises by its count where fewer than one of the k texts of the
    greatest excess covers it, and falls where more do. The steps are those of Polyak, towards the tokens of
    the best vocabulary known.

    Args:
        candidates: The words and candidates.
        tokens: The number of tokens beyond the units, k.
        known: The tokens that some vocabulary of this size needs.
        first: The numbers to start from, such as those of a bound for another size; None to start from one
            token a word.
    """

    def __init__(
        self, candidates: Candidates, tokens: int, known: int, first: Sequence[int] | None = None
    ) -> None:
        self.candidates, self.k = candidates, min(tokens, candidates.candidates)
        self.rounds = 0
        """The rounds so far."""
        size, texts = len(candidates.places.units), candidates.candidates
        self._fixed = candidates.single + candidates.long
        self.reached = min(known, candidates.units + candidates.long)
        """The fewest tokens that a vocabulary of this size is known to need."""
        self._sums, self._covers = flat("float64", size + 1), flat("int32", size + 1)
        self._excess, self._room = flat("float64", texts), flat("float64", texts)
        self._chosen = flat("uint8", texts)
        self._over = Over(*(flat("int32", candidates.occurrences) for _ in Over._fields))
        self._averages, self._taken = flat("float64", texts), flat("uint8", texts)
        self._direction, self._fewest = flat("float64", size), flat("int32", size + 1)
        self._values = flat("float64", size)
        self._start(first, tokens)
        self._kept = memoryview(bytearray(self._values)).cast("d")
        self._value = self._price()
        self._theta, self._since = 1.0, 0
        self._proved: tuple[float, Bound] | None = None

    def _start(self, first: Sequence[int] | None, tokens: int) -> None:
        """Take the numbers to start from: those given, or the better of two that need no search. One token a
        word is spread evenly; or the first and the last unit of each word have its count, and all others
        nothing, which gives `simple_bound`."""
        values, counts = self._values, self.candidates.places.counts
        if first is not None:
            for place, number in enumerate(first):
                values[place] = min(number / SCALE, counts[place])
            return
        ends = simple_bound(self.candidates, tokens) > self.candidates.pretokens
        place = 0
        for row in self.candidates.rows:
            size = len(row.units)
            for at in range(size):
                values[place] = row.times / size if not ends else row.times if at in (0, size - 1) else 0.0
                place += 1

    def _price(self) -> float:
        """Return B of the present numbers."""
        loops, texts, places = self.candidates.loops, self.candidates.texts, self.candidates.places
        self._count = loops.price(
            places, texts, self._values, 1.0, self._sums, self._excess, self._over
        )
        taken = loops.choose(self._excess, self.k, self._room, self._chosen) if self.k else 0.0
        return float(self._sums[len(self._values)] - taken + self._fixed)

    @property
    def done(self) -> bool:
        """True if further rounds cannot raise the bound by a token, or hardly move it."""
        return math.ceil(self._value - 1e-6) >= self.reached or self._theta < _LEAST_STEP

    def run(self, rounds: int) -> None:
        """Do some more rounds.

        Raises:
            Cancelled: The job is cancelled.
        """
        loops, places = self.candidates.loops, self.candidates.places
        value = self._price()
        for _ in range(rounds):
            check()
            if self.done:
                return
            loops.average(self._chosen, _SHARE, self._averages)
            self.rounds += 1
            if self.rounds % _LOOK_EVERY == 0 and self.k:
                self._try_vocabulary()
            norm = loops.direct(
                places, self._over, self._count, self._values, self._chosen, self._covers, _MOMENTUM,
                self._direction,
            )
            if not norm:
                return
            step = self._theta * (self.reached - value) / norm
            loops.move(places, self._values, step, self._direction)
            value = self._price()
            if value > self._value:
                self._value, self._since = value, 0
                self._kept[:] = self._values
                continue
            self._since += 1
            if self._since >= _PATIENCE:
                self._theta *= _SHORTER
                self._since = 0
                self._values[:] = self._kept
                self._direction[:] = flat("float64", len(self._values))
                value = self._price()

    def _try_vocabulary(self) -> None:
        """Count the tokens with the k candidates that were chosen most often of late, and lower `reached` to
        this number if it is less."""
        loops, texts, places = self.candidates.loops, self.candidates.texts, self.candidates.places
        loops.choose(self._averages, self.k, self._room, self._taken)
        tokens = loops.shortest(places, texts, self._taken, self._fewest)
        self.reached = min(self.reached, self._fixed + int(tokens))

    @property
    def best(self) -> Bound:
        """The best bound so far, proved in whole numbers."""
        if self._proved is None or self._proved[0] != self._value:
            numbers = [math.floor(value * SCALE) for value in self._kept]
            self._proved = self._value, Bound(self._evaluated(numbers), numbers)
        return self._proved[1]

    def _evaluated(self, numbers: Sequence[int]) -> int:
        """Return the bound that some whole numbers prove, rounded up to whole tokens."""
        loops, texts, places = self.candidates.loops, self.candidates.texts, self.candidates.places
        values, sums = memoryview(array("d", map(float, numbers))), flat("float64", len(numbers) + 1)
        excess = flat("float64", self.candidates.candidates)
        loops.price(places, texts, values, float(SCALE), sums, excess, self._over)
        taken = loops.choose(excess, self.k, self._room, flat("uint8", len(excess))) if self.k else 0.0
        return self._fixed - (int(taken) - int(sums[len(numbers)])) // SCALE


def rounds_of(search: BoundSearch, most: int) -> Iterator[BoundSearch]:
    """Run a search for at most so many rounds, and yield it after each block of them. The job ticks.

    It ends when the search is done, or a block makes no round.
    """
    while search.rounds < most and not search.done:
        before = search.rounds
        search.run(min(_LOOK_EVERY, most - search.rounds))
        tick(search.rounds, most)
        yield search
        if search.rounds == before:
            return


def with_plain_fallback(work: Callable[[], T]) -> T:
    """Return what some work returns. If a kernel fails in it, plain Python repeats it."""
    done: list[T] = []
    with engines.rescued(engines.available()):
        done.append(work())
    return done[0] if done else work()


def simple_bound(candidates: Candidates, tokens: int) -> int:
    """Return the bound by which a word of several units needs two tokens unless it is one itself."""
    counts = sorted((row.times for row in candidates.rows), reverse=True)
    return candidates.pretokens + sum(counts[tokens:])


@functools.cache
def _kernels() -> SimpleNamespace:
    from tokentui.learn.kernels.bound import LOOPS  # needs the kernels

    return LOOPS


def _loops() -> SimpleNamespace:
    return _kernels() if engines.available() else _PLAIN


def _starts(sizes: Sequence[int]) -> list[int]:
    """Return the sum of the sizes before each: the place at which each block begins."""
    starts, at = [], 0
    for size in sizes:
        starts.append(at)
        at += size
    return starts


def _first(found: Found, size: int) -> Found:
    return Found(*(values[:size] for values in found))


def _longer(found: Found, size: int) -> Found:
    """Return occurrences with room for more. Rooms double, so that few are copied."""
    have = len(found.starts)
    if have >= size:
        return found
    return Found(*(larger(values, "int32", max(size, 2 * have)) for values in found))
