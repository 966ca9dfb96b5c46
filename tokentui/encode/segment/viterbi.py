"""Encoding by a unigram model: the most probable segmentation, and what else the model makes of a word.

A unit that is no piece by itself may stand anywhere as an unknown part, ten nats less probable than the least
piece. Of equally probable segmentations the one whose last piece starts earliest is taken, all the way back.
Source: sentencepiece 0.2.3, `unigram_model.cc`, in double precision.
"""

from __future__ import annotations

import copy
import functools
import heapq
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log1p
from random import Random
from sys import float_info
from typing import NamedTuple, Self

from tokentui.core.errors import TokentuiError, shown
from tokentui.core.jobs import check
from tokentui.encode.segment.ways import ASKED_EVERY, Attempt, LimitedTable, Part, byte_parts
from tokentui.encode.vocabulary import Marks, Vocabulary
from tokentui.recipe import Recipe

UNKNOWN_PENALTY = 10.0
"""By how much an unknown unit scores less than the least piece."""


class ScoredVocabulary(Vocabulary):
    """A vocabulary of pieces with probabilities and without merges.

    Args:
        recipe: The recipe that it is made by.
        base: The pieces in order of their ids, as exact bytes with their marks.
        specials: Special tokens in the order of their ids.
        first_id: The first id given.
        scores: The natural log probability of each piece.

    Raises:
        TokentuiError: Not as many scores as pieces.
    """

    def __init__(
        self,
        recipe: Recipe,
        base: Iterable[bytes],
        specials: Sequence[str] = (),
        first_id: int = 0,
        scores: Iterable[float] = (),
    ) -> None:
        super().__init__(recipe, base, specials, first_id)
        self.scores = list(scores)
        if len(self.scores) != self.base_size:
            what = f"{len(self.scores)} scores for {self.base_size} pieces"
            raise TokentuiError(what, "vocabulary", "give each piece one")

    @functools.cached_property
    def table(self) -> Mapping[bytes, int]:
        """The symbol of each piece; what a piece begins with and is none has -1."""
        table: dict[bytes, int] = {}
        for symbol, piece in enumerate(self.pieces):
            for end in range(1, len(piece)):
                table.setdefault(piece[:end], -1)
            if table.get(piece, -1) < 0:  # of two that are spelled alike the first, the more probable one
                table[piece] = symbol
        return table

    def limited(self, made: Sequence[int], number: int) -> Self:
        """The vocabulary with the pieces only that are in use at a step."""
        other = super().limited(made, number)
        other.table = LimitedTable(self.table, made, number, walked=True)
        return other


class _Arc(NamedTuple):
    """A piece that may stand at units `start` to `end`; an unknown unit has no symbol."""

    start: int
    end: int
    symbol: int | None
    score: float


class _Way(NamedTuple):
    """The end of a segmentation: its first arc, and what follows."""

    arc: _Arc
    rest: _Way | None


@dataclass(frozen=True, slots=True)
class Edge:
    """A piece of a word's lattice.

    Attributes:
        start: The unit that it starts with.
        end: The unit that it ends before.
        piece: Its exact bytes; of an unknown unit, the unit's.
        symbol: Its place in the vocabulary, None for an unknown unit.
        score: Its natural log probability.
        posterior: The probability that a segmentation of this word has it, over all segmentations.
        best: Whether the most probable segmentation has it.
    """

    start: int
    end: int
    piece: bytes
    symbol: int | None
    score: float
    posterior: float
    best: bool


class Viterbi:
    """Cuts words by the scores of a vocabulary.

    Args:
        vocabulary: One with `scores`, the natural log probability of each piece.
        merges: Of no meaning here: such a vocabulary has none.

    Raises:
        TokentuiError: The vocabulary has no scores.
    """

    def __init__(self, vocabulary: Vocabulary, merges: int = 0) -> None:
        if not isinstance(vocabulary, ScoredVocabulary):
            hint = "take encode=merges, or train with objective=unigram"
            raise TokentuiError(
                "this vocabulary has no probabilities", f"encode={vocabulary.recipe.encode}", hint
            )
        self._pieces = vocabulary.pieces
        self._scores = scores = vocabulary.scores
        self._table: Mapping[bytes, int] = vocabulary.table
        self._limit: tuple[int, Sequence[int], Viterbi] | None = None
        self._found: tuple[tuple[bytes, ...], list[_Arc]] = ((), [])
        self._marks = Marks(vocabulary)
        self._unknown = min(scores, default=0.0) - UNKNOWN_PENALTY

    def segment(self, units: Sequence[bytes], characters: int) -> list[Part]:
        """Cut a word into the parts of its most probable segmentation; each unknown unit is a part of its
        own."""
        return [Part(arc.start, arc.end, arc.symbol) for arc in self._best(self._arcs(units), len(units))]

    def steps(self, units: Sequence[bytes], characters: int) -> Iterator[Attempt]:
        """The parts of the most probable segmentation from the left; one that is not found is unknown."""
        for arc in self._best(self._arcs(units), len(units)):
            yield Attempt(self._piece(arc, units), arc.start, arc.end, arc.symbol is not None)

    def nbest(self, units: Sequence[bytes]) -> Iterator[tuple[tuple[bytes, ...], float]]:
        """The segmentations of a word, most probable first, each with its natural log probability.

        A* search from the end of the word: what the way back to the start is worth at best is known exactly.
        """
        incoming: list[list[_Arc]] = [[] for _ in range(len(units) + 1)]
        ahead = [0.0] + [-inf] * len(units)
        for arc in self._arcs(units):
            incoming[arc.end].append(arc)
            ahead[arc.end] = max(ahead[arc.end], ahead[arc.start] + arc.score)
        order = itertools.count()  # of equally good ways the one found first
        ways: list[tuple[float, int, int, float, _Way | None]] = [
            (-ahead[-1], next(order), len(units), 0.0, None)
        ]
        while ways:
            _, _, place, score, way = heapq.heappop(ways)
            for arc in incoming[place]:
                total = arc.score + score
                heapq.heappush(
                    ways, (-(ahead[arc.start] + total), next(order), arc.start, total, _Way(arc, way))
                )
            if not place:
                parts = []
                while way is not None:
                    parts.append(self._piece(way.arc, units))
                    way = way.rest
                yield tuple(parts), score

    def _draw(self, units: Sequence[bytes], temperature: float, random: Random) -> list[_Arc]:
        arcs = [arc._replace(score=arc.score / temperature) for arc in self._arcs(units)]
        sums = _forward(arcs, len(units))
        incoming: list[list[_Arc]] = [[] for _ in range(len(units) + 1)]
        for arc in arcs:
            incoming[arc.end].append(arc)
        drawn: list[_Arc] = []
        place = len(units)
        while place:
            weights = [exp(sums[arc.start] + arc.score - sums[place]) for arc in incoming[place]]
            arc = random.choices(incoming[place], weights)[0]
            drawn.append(arc)
            place = arc.start
        return drawn[::-1]

    def lattice(self, units: Sequence[bytes]) -> list[Edge]:
        """Every piece that may stand in a word, by start and then by end."""
        arcs, size = self._arcs(units), len(units)
        before = _forward(arcs, size)
        turned = [arc._replace(start=size - arc.end, end=size - arc.start) for arc in reversed(arcs)]
        after = _forward(sorted(turned, key=lambda arc: arc.start), size)
        best = set(self._best(arcs, size))
        return [
            Edge(
                arc.start,
                arc.end,
                self._piece(arc, units),
                arc.symbol,
                arc.score,
                exp(min(0.0, before[arc.start] + arc.score + after[size - arc.end] - before[size])),
                arc in best,
            )
            for arc in arcs
        ]

    def _best(self, arcs: Iterable[_Arc], size: int) -> list[_Arc]:
        best = [0.0] + [-inf] * size
        last: list[_Arc | None] = [None] * (size + 1)
        for arc in arcs:
            start, end, _, score = arc
            score += best[start]
            if score > best[end]:  # arcs come by their starts: the earliest of equals stays
                best[end] = score
                last[end] = arc
        parts = []
        way = last[size]
        while way is not None:
            parts.append(way)
            way = last[way.start]
        return parts[::-1]

    def with_limit(self, number: int, made: Sequence[int]) -> Self:
        """The same with the pieces that are in use at a step; those of one unit are from the start.

        The pieces that may stand in a word are looked up once for all steps that are tried on it.
        """
        other = copy.copy(self)
        other._table = LimitedTable(self._table, made, number, walked=True)
        other._limit = number, made, self
        return other

    def _arcs(self, units: Sequence[bytes]) -> list[_Arc]:
        """The pieces that may stand in a word, and the units that are none, by start and then by end."""
        if self._limit is None:
            return self._looked_up(units)
        number, made, whole = self._limit
        if whole._found[0] != tuple(units):
            whole._found = tuple(units), whole._looked_up(units)
        return [arc for arc in whole._found[1] if arc.symbol is None or made[arc.symbol] <= number]

    def _looked_up(self, units: Sequence[bytes]) -> list[_Arc]:
        table, scores, prefix = self._table, self._scores, self._marks.prefix
        bare = [self._marks.bare(unit) for unit in units] if prefix else units
        size = len(units)
        arcs: list[_Arc] = []
        for start in range(size):
            if start % ASKED_EVERY == 0:
                check()
            candidate, alone, first = b"", False, len(arcs)
            for end in range(start + 1, size + 1):
                candidate = candidate + bare[end - 1] if candidate else units[start]
                symbol = table.get(candidate)
                if symbol is None:
                    break
                if symbol >= 0:
                    arcs.append(_Arc(start, end, symbol, scores[symbol]))
                    alone = alone or end == start + 1
            if not alone:
                arcs.insert(first, _Arc(start, start + 1, None, self._unknown))
        return arcs

    def _piece(self, arc: _Arc, units: Sequence[bytes]) -> bytes:
        return units[arc.start] if arc.symbol is None else self._pieces[arc.symbol]


class Sampling(Viterbi):
    """Cuts words at random, each time anew: a segmentation by its probability to the power of 1/temperature.

    Args:
        vocabulary: One with probabilities.
        temperature: 1 draws by the model; less keeps nearer to the best segmentation, more goes further from
            it.
        seed: The same seed draws the same segmentations for the same words in order.

    Raises:
        TokentuiError: The vocabulary has no probabilities, or the temperature is not above 0.
    """

    def __init__(self, vocabulary: Vocabulary, temperature: float = 1.0, seed: int | None = None) -> None:
        super().__init__(vocabulary)
        if not isinstance(temperature, int | float) or not 0 < temperature < float_info.max:
            raise TokentuiError(
                "a temperature is above 0", f"temperature={shown(temperature)}", "take 1 for the model's own"
            )
        self._temperature = temperature
        self._random = Random(seed)

    def segment(self, units: Sequence[bytes], characters: int) -> list[Part]:
        """Cut a word into the parts of a segmentation drawn at random."""
        return [
            Part(arc.start, arc.end, arc.symbol) for arc in self._draw(units, self._temperature, self._random)
        ]


class FusedViterbi(Viterbi):
    """The most probable segmentation; a run of unknown units is one part, or the tokens of its bytes where
    all are tokens.

    Of segmentations that are as good as equal rounding decides, so the scores are those that the library has.

    Args:
        vocabulary: One with scores.
        merges: Of no meaning here.
        fallback: The symbol of each byte-fallback token by its byte.
        unknown: The symbol of the unknown token: where a text spells it, that is an unknown unit too.
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int = 0, *, fallback: Mapping[int, int], unknown: int | None
    ) -> None:
        super().__init__(vocabulary, merges)
        self._fallback = fallback
        self._unknown_symbol = unknown
        self._scores = list(map(as_read, self._scores))
        self._unknown = min(self._scores, default=0.0) - UNKNOWN_PENALTY

    def segment(self, units: Sequence[bytes], characters: int) -> list[Part]:
        """Cut a word into parts."""
        parts: list[Part] = []
        for part in super().segment(units, characters):
            known = part.symbol is not None and part.symbol != self._unknown_symbol
            if not known and parts and parts[-1].symbol is None:
                parts[-1] = parts[-1]._replace(end=part.end)
            else:
                parts.append(part if known else part._replace(symbol=None))
        return [
            made
            for part in parts
            for made in ([part] if part.symbol is not None else self._of_run(part, units))
        ]

    def _of_run(self, part: Part, units: Sequence[bytes]) -> list[Part]:
        known = self._table.get(b"".join(units[part.start : part.end]), -1)
        return [part._replace(symbol=known)] if known >= 0 else byte_parts(part, units, self._fallback)


@functools.lru_cache(maxsize=1 << 17)  # each step of an opened file asks for all of them
def as_read(score: float) -> float:
    """A number as Rust's serde_json reads it from a file: its digits as a whole number, rounded, and then
    divided.

    That is not always the nearest number of double precision. Source: serde_json 1.0, `f64_from_parts`.
    """
    digits, _, exponent = repr(score).partition("e")
    whole, _, part = digits.lstrip("-").partition(".")
    if exponent or len(whole) + len(part) > 19:
        return score
    value = float(int(whole + part)) / 10.0 ** len(part)
    return -value if score < 0 else value


def _forward(arcs: Iterable[_Arc], size: int) -> list[float]:
    """The log of the summed probability of all ways to each place; arcs come by their starts."""
    sums = [0.0] + [-inf] * size
    for start, end, _, score in arcs:
        here, more = sums[end], sums[start] + score
        sums[end] = max(here, more) + log1p(exp(-abs(here - more)))
    return sums
