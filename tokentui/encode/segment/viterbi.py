"""Encoding by a unigram model: the most probable segmentation, and other results of the model for a word.

A unit that is no piece may be an unknown part anywhere, ten nats less probable than the least probable piece.
Of equally probable segmentations, the one whose last piece starts earliest is chosen, and so on back to the
start. Source: sentencepiece 0.2.3, `unigram_model.cc`, in double precision.
"""

from __future__ import annotations

import copy
import functools
import heapq
import operator
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from math import exp, inf, log1p
from operator import sub, truediv
from sys import float_info
from typing import Any, NamedTuple, Self, TypeAlias

from tokentui.core import memo
from tokentui.core.errors import TokentuiError, shown
from tokentui.core.jobs import check
from tokentui.core.records import dataclass
from tokentui.encode.segment import ASKED_EVERY, Attempt, LimitedTable, WordPart, in_bytes
from tokentui.encode.vocabulary import Vocabulary

UNKNOWN_PENALTY = 10.0
"""How much lower than the lowest score of a piece the score of an unknown unit is, in nats."""


class Arc(NamedTuple):
    """A piece that fits at units `start` to `end`, with its log probability. An unknown unit has no symbol.
    """

    start: int
    end: int
    symbol: int | None
    score: float


_ArcTuple: TypeAlias = "tuple[int, int, int | None, float]"
"""The fields of an arc."""


class Segmentations(NamedTuple):
    """The best segmentations of a word, with totals over all.

    Attributes:
        number: The number of all segmentations.
        total: The natural log of their summed probability.
        best: The most probable ones, in order, each with its natural log probability.
    """

    number: int
    total: float
    best: list[tuple[tuple[Arc, ...], float]]


class PieceScores(NamedTuple):
    """The tokens and scores that determine the most probable segmentation of a word.

    Attributes:
        tokens: The symbol of each token.
        scores: The score of each symbol.
        unknown: The score of a unit that is no token.
        refused: A symbol that is treated as unknown; None for none.
    """

    tokens: Mapping[bytes, int]
    scores: Sequence[float]
    unknown: float
    refused: int | None


@dataclass(frozen=True, slots=True)
class Edge:
    """A piece of the lattice of a word.

    Attributes:
        start: Its first unit.
        end: The unit after it.
        piece: Its exact bytes; for an unknown unit, those of the unit.
        symbol: Its symbol; None for an unknown unit.
        score: Its natural log probability.
        posterior: The probability that a segmentation of this word contains it.
        best: True if the most probable segmentation contains it.
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
        vocabulary: A vocabulary with `scores`, the natural log probability of each piece.
        merges: Unused: such a vocabulary has no merges.

    Raises:
        TokentuiError: The vocabulary has no scores.
    """

    def __init__(self, vocabulary: Vocabulary, merges: int = 0) -> None:
        if vocabulary.pieces and not vocabulary.scores:
            way = vocabulary.recipe.encode
            hint = ("use encode=merges, or train with objective=unigram" if way == "viterbi"
                    else "sample by dropout, or use a unigram model")
            raise TokentuiError("this vocabulary has no probabilities", f"encode={way}", hint)
        self._vocabulary, self._pieces = vocabulary, vocabulary.pieces
        self._scores = scores = vocabulary.scores
        self._unknown = min(scores, default=0.0) - UNKNOWN_PENALTY
        self._unknown_symbol: int | None = None
        self._limited = False

    @functools.cached_property
    def _table(self) -> Mapping[bytes, int]:
        """The symbol of each token, and -1 for each prefix of a token. Kernels do not use it."""
        return self._vocabulary.trie

    def segment(self, units: Sequence[bytes], characters: int) -> list[WordPart]:
        """Cut a word into the parts of its most probable segmentation. Each unknown unit is a part by itself.
        """
        best = self._best(self._arc_tuples(units), len(units))
        return [WordPart(start, end, symbol) for start, end, symbol, _ in best]

    def steps(self, units: Sequence[bytes], characters: int) -> Iterator[Attempt]:
        """Yield the parts of the most probable segmentation from the left. A part without a piece is unknown.
        """
        for arc in map(Arc._make, self._best(self._arc_tuples(units), len(units))):
            yield Attempt(self._piece(arc, units), arc.start, arc.end, arc.symbol is not None)

    def segmentations(self, units: Sequence[bytes], most: int, *, unknown: bool = True) -> Segmentations:
        """Return the number of segmentations of a word, their summed probability and the best of them.

        The best are found exactly: the best `most` paths to each place are kept. Of equally probable ones,
        the one whose last piece starts earliest comes first.

        Args:
            units: The units of the word.
            most: The most segmentations to return.
            unknown: True to include segmentations with unknown units.
        """
        arcs, size = self._arcs(units), len(units)
        arcs = arcs if unknown else [arc for arc in arcs if arc.symbol is not None]
        counts = [1] + [0] * size
        best: list[list[tuple[float, Arc | None, int]]] = [[(0.0, None, 0)], *([] for _ in units)]
        for end, incoming in enumerate(_by_end(arcs, size)):
            if end % ASKED_EVERY == 0:
                check()
            if incoming:
                counts[end] = sum(counts[arc.start] for arc in incoming)
                best[end] = heapq.nsmallest(most, (
                    (before - arc.score, arc, rank)
                    for arc in incoming for rank, (before, _, _) in enumerate(best[arc.start])
                ), key=_FIRST)
        listed = []
        for score, arc, rank in best[size][:most]:
            way: list[Arc] = []
            while arc is not None:
                way.append(arc)
                _, arc, rank = best[arc.start][rank]
            listed.append((tuple(way[::-1]), 0.0 - score))
        return Segmentations(counts[size], _forward(arcs, size)[size], listed)

    def lattice(self, units: Sequence[bytes]) -> list[Edge]:
        """Return every piece that fits in a word, ordered by start, then by end."""
        arcs, size = self._arcs(units), len(units)
        before = _forward(arcs, size)
        turned = [arc._replace(start=size - arc.end, end=size - arc.start) for arc in reversed(arcs)]
        after = _forward(sorted(turned, key=lambda arc: arc.start), size)
        best = set(self._best(arcs, size))
        edges = []
        for arc in arcs:
            start, end, symbol, score = arc
            posterior = exp(min(0.0, before[start] + score + after[size - end] - before[size]))
            edges.append(Edge(start, end, self._piece(arc, units), symbol, score, posterior, arc in best))
        return edges

    def _best(self, arcs: Iterable[_ArcTuple], size: int) -> list[_ArcTuple]:
        """Return the arcs of the best way to the end; of equal ones the way whose last arc starts first.
        Empty if no way reaches the end."""
        best = [0.0] + [-inf] * size
        last: list[_ArcTuple | None] = [None] * (size + 1)
        for arc in arcs:
            start, end, _, score = arc
            score += best[start]
            if score > best[end]:  # arcs are ordered by start, so the earliest one wins a tie
                best[end] = score
                last[end] = arc
        parts = []
        way = last[size]
        while way is not None:
            parts.append(way)
            way = last[way[0]]
        return parts[::-1]

    def model(self) -> PieceScores:
        """Return the tokens and scores that decide the most probable segmentation."""
        tokens = self._vocabulary.tokens
        if self._limited:
            tokens = {piece: symbol for piece in tokens if (symbol := self._table.get(piece, -1)) >= 0}
        return PieceScores(tokens, self._scores, self._unknown, self._unknown_symbol)

    def with_limit(self, step: int, first_steps: Sequence[int]) -> Self:
        """Return a segmenter that uses only the pieces in use at a step. Pieces of one unit are always in
        use."""
        other = copy.copy(self)
        other._table, other._limited = LimitedTable(self._table, step, first_steps, walked=True), True
        return other

    def _arcs(self, units: Sequence[bytes]) -> list[Arc]:
        """Return the arcs of a word: the pieces that fit, and the unknown units, ordered by start, then by
        end."""
        return list(map(Arc._make, self._arc_tuples(units)))

    def _arc_tuples(self, units: Sequence[bytes]) -> list[_ArcTuple]:
        """Return the arcs as plain tuples, which are faster to make than `Arc`."""
        table, scores, vocabulary = self._table, self._scores, self._vocabulary
        bare = [vocabulary.bare(unit) for unit in units] if vocabulary.prefix else units
        size, get = len(units), table.get
        arcs: list[_ArcTuple] = []
        for start in range(size):
            if start % ASKED_EVERY == 0:
                check()
            candidate, has_piece, first = b"", False, len(arcs)
            for end in range(start + 1, size + 1):
                candidate = candidate + bare[end - 1] if candidate else units[start]
                symbol = get(candidate)
                if symbol is None:
                    break
                if symbol >= 0:
                    arcs.append((start, end, symbol, scores[symbol]))
                    has_piece = has_piece or end == start + 1
            if not has_piece:
                arcs.insert(first, (start, start + 1, None, self._unknown))
        return arcs

    def _piece(self, arc: Arc, units: Sequence[bytes]) -> bytes:
        return units[arc.start] if arc.symbol is None else self._pieces[arc.symbol]


_FIRST = operator.itemgetter(0)

_COLDEST = 1e-200
"""The smallest temperature that is used. Below it scores would be infinite; only the best segmentation is
drawn long before."""


class Sampling(Viterbi):
    """Draws segmentations at random. The probability of each is that of the model to the power of
    1/temperature, normalized. Each call draws again.

    Args:
        vocabulary: A vocabulary with probabilities.
        merges: Unused.
        temperature: 1 for the probabilities of the model. Lower values favor the best segmentation, higher
            ones others.
        seed: The same seed gives the same draws for the same words in order.

    Raises:
        TokentuiError: The vocabulary has no probabilities, or the temperature is not above 0.
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int = 0, *, temperature: float = 1.0, seed: int | None = None
    ) -> None:
        super().__init__(vocabulary)
        if not isinstance(temperature, int | float) or not 0 < temperature < float_info.max:
            raise TokentuiError(
                "the temperature must be above 0", f"temperature={shown(temperature)}",
                "1 samples from the model"
            )
        from random import Random  # only where one draws

        self._temperature = max(temperature, _COLDEST)
        self._random = Random(seed)

    def segment(self, units: Sequence[bytes], characters: int) -> list[WordPart]:
        """Cut a word into the parts of a random segmentation, drawn from the last part back."""
        arcs = [arc._replace(score=arc.score / self._temperature) for arc in self._arcs(units)]
        sums, incoming = _forward(arcs, len(units)), _by_end(arcs, len(units))
        parts, place = [], len(units)
        while place:
            weights = [exp(sums[arc.start] + arc.score - sums[place]) for arc in incoming[place]]
            arc = self._random.choices(incoming[place], weights)[0]
            parts.append(WordPart(arc.start, arc.end, arc.symbol))
            place = arc.start
        return parts[::-1]

    def follower(self, units: Callable[[str], Sequence[bytes]]) -> Callable[[str], list[WordPart]]:
        """Return a function that cuts the words of one text in order, with a new sample for each."""
        return lambda word: self.segment(units(word), len(word))


class FusedViterbi(Viterbi):
    """The most probable segmentation, in which a run of unknown units is one part, or its byte tokens if all
    exist.

    Rounding decides between nearly equal segmentations, so the scores are exactly those of the library.

    Args:
        vocabulary: A vocabulary with scores.
        merges: Unused.
        fallback: The symbol of each byte-fallback token by its byte.
        unknown: The symbol of the unknown token. Text that spells it is an unknown unit too.
        least: The lowest score, from which the score of unknown units follows, with the scores of the file
            (llama.cpp). None for the lowest of all, with scores as Hugging Face's library parses them.
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int = 0, *, fallback: Mapping[int, int], unknown: int | None,
        least: float | None = None,
    ) -> None:
        super().__init__(vocabulary, merges)
        self._fallback = fallback
        self._unknown_symbol = unknown
        if least is None:
            least = min(map(as_read, _lowest(self._scores)), default=0.0)
            self._scores = ScoresAsRead(self._scores)
        self._unknown = least - UNKNOWN_PENALTY

    def segment(self, units: Sequence[bytes], characters: int) -> list[WordPart]:
        """Cut a word into parts."""
        parts: list[WordPart] = []
        for part in super().segment(units, characters):
            known = part.symbol is not None and part.symbol != self._unknown_symbol
            if not known and parts and parts[-1].symbol is None:
                parts[-1] = parts[-1]._replace(end=part.end)
            else:
                parts.append(part if known else part._replace(symbol=None))
        for n, part in enumerate(parts):
            if part.symbol is None:
                symbol = self._table.get(b"".join(units[part.start : part.end]), -1)
                parts[n] = part if symbol < 0 else part._replace(symbol=symbol)
        return in_bytes(parts, units, self._fallback)


class ScoresAsRead(Sequence[float]):
    """Scores as Hugging Face's library parses them, each when it is asked for: a line has few pieces.

    Args:
        scores: The scores in a file.
    """

    def __init__(self, scores: Sequence[float]) -> None:
        self._scores = scores

    def __len__(self) -> int:
        return len(self._scores)

    def __getitem__(self, at: Any) -> Any:
        return each_as_read(tuple(self._scores[at])) if isinstance(at, slice) else as_read(self._scores[at])

    def __iter__(self) -> Iterator[float]:
        return iter(each_as_read(tuple(self._scores)))


_MOST_DIGITS = 19
"""The most digits that fit into the whole number."""


def _lowest(scores: Sequence[float]) -> list[float]:
    """Return the scores that may be the lowest after `as_read`, which changes the last digits."""
    lowest = min(scores, default=0.0)
    return [score for score in scores if score <= lowest + abs(lowest) * 1e-12]


@functools.lru_cache(maxsize=4)  # each step of an opened file asks for all of them
def each_as_read(scores: tuple[float, ...]) -> list[float]:
    """Return `as_read` of each of many numbers. The list must not change.

    Few passes over all numbers take a fifth of the time of one by one.
    """
    text = ", ".join(map(repr, scores)).replace("-", "")
    spelled = text.split(", ")
    if not scores or set(text) - set("0123456789., ") or text.count(".") < len(scores):
        return list(map(as_read, scores))
    check()  # each part takes tens of milliseconds for a long file
    digits = list(map(float, map(int, text.replace(".", "").split(", "))))
    check()
    places = map(sub, map(len, spelled), map(str.index, spelled, repeat(".")))
    powers = [1.0, *(10.0**n for n in range(max(map(len, spelled))))]
    values = map(truediv, digits, map(powers.__getitem__, places))
    read = [
        score if len(one) > _MOST_DIGITS + 1 else -value if score < 0 else value
        for score, one, value in zip(scores, spelled, values, strict=True)
    ]
    check()
    return read


@functools.lru_cache(maxsize=1 << 10)
def as_read(score: float) -> float:
    """Return a number as Rust's serde_json parses it: its digits as a whole number, rounded, and then
    divided.

    That is not always the nearest double. Source: serde_json 1.0, `f64_from_parts`.
    """
    digits, _, exponent = repr(score).partition("e")
    whole, _, part = digits.lstrip("-").partition(".")
    if exponent or len(whole) + len(part) > _MOST_DIGITS:
        return score
    value = float(int(whole + part)) / 10.0 ** len(part)
    return -value if score < 0 else value


def _forward(arcs: Iterable[Arc], size: int) -> list[float]:
    """Return the log of the summed probability of all paths to each place. Arcs must be ordered by start."""
    sums = [0.0] + [-inf] * size
    for start, end, _, score in arcs:
        here, more = sums[end], sums[start] + score
        if more == -inf:  # no way leads to its start
            continue
        sums[end] = max(here, more) + log1p(exp(-abs(here - more)))
    return sums


def _by_end(arcs: Iterable[Arc], size: int) -> list[list[Arc]]:
    """Return the arcs that end at each place."""
    incoming: list[list[Arc]] = [[] for _ in range(size + 1)]
    for arc in arcs:
        incoming[arc.end].append(arc)
    return incoming


# ---- sums in single precision over a whole text, as in sentencepiece

_EPSILON = 2.0**-22
_LARGEST_SUM = 1e5
"""If a sum exceeds this, it is subtracted from the sums of the rest of the word."""


class _WordCut(NamedTuple):
    """The segmentation of a word, with data on how certain it is.

    Attributes:
        parts: Its parts.
        scores: The score of each part.
        margin: How much lower the score of the next best segmentation is.
        end: The sum of scores at its end.
        reach: The largest absolute sum in the word.
    """

    parts: list[WordPart]
    scores: list[float]
    margin: float
    end: float
    reach: float


class SingleViterbi(Viterbi):
    """The most probable segmentation with sums in single precision that run through a text, as in
    sentencepiece.

    Args:
        vocabulary: A vocabulary with scores.
        merges: Unused.
        least: The lowest score of an ordinary piece, from which the score of unknown units follows.
        bytes_: The symbol of each byte-fallback token by its byte; empty if unknown units stay unknown.
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int = 0, *, least: float, bytes_: Mapping[int, int]
    ) -> None:
        super().__init__(vocabulary, merges)
        self._bytes = bytes_
        self._unknown = single(least - UNKNOWN_PENALTY)
        self._cuts: dict[str, _WordCut] = {}

    def segment(self, units: Sequence[bytes], characters: int) -> list[WordPart]:
        """Cut a word at the start of a text."""
        return self.after(units, 0.0)

    def with_limit(self, step: int, first_steps: Sequence[int]) -> Self:
        """Return a segmenter that uses only the pieces in use at a step."""
        other = super().with_limit(step, first_steps)
        other._cuts = {}
        return other

    def follower(self, units: Callable[[str], Sequence[bytes]]) -> Callable[[str], list[WordPart] | None]:
        """Return a function that cuts the words of one text in order, each with the sum of the text before
        it. It returns None for a word that is cut as at the start of a text."""
        total, known, cell = 0.0, self._cuts, array("f", [0.0])

        def parts(word: str) -> list[WordPart] | None:
            """Return the parts of a word after the words before it, None if they are those of the word at
            the start.

            Scores are summed over the whole text and rounded, so a word may be cut otherwise late in it.
            """
            nonlocal total
            cut = known.get(word) or self._cut_at_start(word, units)
            if not total:
                total = cut.end
                return None
            reach = abs(total) + cut.reach + 1.0
            if cut.margin <= (len(word) + 4) * _EPSILON * reach or reach > _LARGEST_SUM:
                cut = self.cut(units(word), total)
                total = cut.end
                return in_bytes(cut.parts, units(word), self._bytes)
            for score in cut.scores:
                cell[0] = total + score
                total = cell[0]
            return None

        return parts

    def after(self, units: Sequence[bytes], before: float) -> list[WordPart]:
        """Cut a word after a text whose scores sum to `before`."""
        return in_bytes(self.cut(units, before).parts, units, self._bytes)

    def _cut_at_start(self, word: str, units: Callable[[str], Sequence[bytes]]) -> _WordCut:
        """Return the result for a word at the start of a text, from the cache if possible."""
        cut = self._cuts.get(word)
        if cut is None:
            if len(self._cuts) >= memo.KEPT:
                self._cuts.clear()
            cut = self._cuts[word] = self.cut(units(word), 0.0)
        return cut

    def cut(self, units: Sequence[bytes], before: float) -> _WordCut:
        """Cut a word after a text whose scores sum to `before`, with its margin. Nothing is cached."""
        size, cell = len(units), array("f", [0.0])  # a number that is put there is rounded
        sums = list(array("f", [before])) * (size + 1)
        last: list[tuple[int, int | None, float] | None] = [None] * (size + 1)
        second = [-inf] * (size + 1)
        for start, end, symbol, score in self._arc_tuples(units):
            if abs(sums[start]) > _LARGEST_SUM:
                offset = sums[start]
                for at in range(start, size + 1):
                    sums[at] = single(sums[at] - offset)
                    second[at] -= offset
            cell[0] = score + sums[start]
            candidate = cell[0]
            if last[end] is None or candidate > sums[end]:
                if last[end] is not None:
                    second[end] = max(second[end], sums[end])
                sums[end] = candidate
                last[end] = (start, symbol, score)
            else:
                second[end] = max(second[end], candidate)
        parts: list[WordPart] = []
        scores: list[float] = []
        margin, end = inf, size
        while end and (way := last[end]) is not None:
            start, symbol, score = way
            margin = min(margin, sums[end] - second[end])
            parts.append(WordPart(start, end, symbol))
            scores.append(score)
            end = start
        return _WordCut(parts[::-1], scores[::-1], margin, sums[size], max(map(abs, sums)))


def single(value: float) -> float:
    """Round a number to single precision."""
    return array("f", [value])[0]
