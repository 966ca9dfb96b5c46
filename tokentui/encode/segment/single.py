"""Viterbi in single precision over a whole text, as sentencepiece has it.

Its sums are floats of 32 bits that run through the text. Where two segmentations of a word are as good as
equal, rounding decides, and that depends on how much text stands before the word. So a word is cut once and
remembered, with how clear the choice was; only where rounding could turn it is the word cut again with the
sum that it really has in front. A sum that has grown too large begins again at nothing. Source: sentencepiece
0.2.3, `unigram_model.cc`, `EncodeOptimized`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import NamedTuple, Self

from tokentui.encode.segment.viterbi import UNKNOWN_PENALTY, ScoredVocabulary, Viterbi
from tokentui.encode.segment.ways import Part, byte_parts
from tokentui.encode.vocabulary import Vocabulary

_EPSILON = 2.0**-22
_LARGEST_SUM = 1e5
"""A sum beyond this is taken off what is still to be decided."""
_WORDS_KEPT = 65_536


class _Cut(NamedTuple):
    """A word as it was cut.

    Attributes:
        parts: Its parts.
        scores: The score of each.
        margin: By how much any other way is worse.
        end: The sum at its end.
        reach: The largest sum in it.
    """

    parts: list[Part]
    scores: list[float]
    margin: float
    end: float
    reach: float


class SingleViterbi(Viterbi):
    """The most probable segmentation, in single precision.

    Args:
        vocabulary: One with scores.
        merges: Of no meaning here.
        least: The least score of an ordinary piece, which unknown units are measured by.
        bytes_: The symbol of each byte-fallback token by its byte; empty where unknown units stay unknown.
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int = 0, *, least: float, bytes_: Mapping[int, int]
    ) -> None:
        super().__init__(vocabulary, merges)
        assert isinstance(vocabulary, ScoredVocabulary)
        self._bytes = bytes_
        self._unknown = single(least - UNKNOWN_PENALTY)
        self._cuts: dict[str, _Cut] = {}

    def segment(self, units: Sequence[bytes], characters: int) -> list[Part]:
        """Cut a word that nothing stands before."""
        return self.finished(self.cut(units, 0.0).parts, units)

    def finished(self, parts: list[Part], units: Sequence[bytes]) -> list[Part]:
        """The parts with the byte tokens of unknown units, where the model has them."""
        return [
            made for part in parts
            for made in ([part] if part.symbol is not None else byte_parts(part, units, self._bytes))
        ]

    def with_limit(self, number: int, made: Sequence[int]) -> Self:
        """The same with the pieces that are in use at a step."""
        other = super().with_limit(number, made)
        other._cuts = {}
        return other

    def follower(self) -> Follower:
        """Return an object that cuts the words of one text in order."""
        return Follower(self)

    def known(self, word: str, units: Callable[[str], Sequence[bytes]]) -> _Cut:
        """A word as it is cut alone."""
        found = self._cuts.get(word)
        if found is None:
            if len(self._cuts) >= _WORDS_KEPT:
                self._cuts.clear()
            found = self._cuts[word] = self.cut(units(word), 0.0)
        return found

    def cut(self, units: Sequence[bytes], before: float) -> _Cut:
        """Cut a word with a sum in front of it."""
        size = len(units)
        sums = array("f", [before]) * (size + 1)
        last: list[tuple[int, int | None, float] | None] = [None] * (size + 1)
        second = [-inf] * (size + 1)
        for start, end, symbol, score in self._arcs(units):
            if abs(sums[start]) > _LARGEST_SUM:
                offset = sums[start]
                for at in range(start, size + 1):
                    sums[at] -= offset
                    second[at] -= offset
            candidate = single(score + sums[start])
            if last[end] is None or candidate > sums[end]:
                if last[end] is not None:
                    second[end] = max(second[end], sums[end])
                sums[end] = candidate
                last[end] = (start, symbol, score)
            else:
                second[end] = max(second[end], candidate)
        parts: list[Part] = []
        scores: list[float] = []
        margin, end = inf, size
        while end and (way := last[end]) is not None:
            start, symbol, score = way
            margin = min(margin, sums[end] - second[end])
            parts.append(Part(start, end, symbol))
            scores.append(score)
            end = start
        return _Cut(parts[::-1], scores[::-1], margin, sums[size], max(map(abs, sums)))


class Follower:
    """Cuts the words of a text one after the other."""

    def __init__(self, segmenter: SingleViterbi) -> None:
        self._segmenter = segmenter
        self._sum = 0.0

    def parts(self, word: str, units: Callable[[str], Sequence[bytes]]) -> list[Part] | None:
        """The parts of the next word; None where they are those that it has alone."""
        cut = self._segmenter.known(word, units)
        if not self._sum:
            self._sum = cut.end
            return None
        reach = abs(self._sum) + cut.reach + 1.0
        if cut.margin <= (len(word) + 4) * _EPSILON * reach or reach > _LARGEST_SUM:
            cut = self._segmenter.cut(units(word), self._sum)
            self._sum = cut.end
            return self._segmenter.finished(cut.parts, units(word))
        for score in cut.scores:
            self._sum = single(self._sum + score)
        return None


def single(value: float) -> float:
    """A number rounded to single precision."""
    return array("f", [value])[0]
