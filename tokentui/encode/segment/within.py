"""Encoding by merges that do not cross the words of another split inside a pre-token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self, cast

from tokentui.encode.segment import AppliedMerge, WordPart
from tokentui.encode.segment.merges import Merging
from tokentui.encode.vocabulary import Vocabulary
from tokentui.text.pretokenize import Pretokenizer

if TYPE_CHECKING:
    from tokentui.encode.superbpe import StagedVocabulary


class Within:
    """Merges by a vocabulary, only inside the words that its split `within` cuts a pre-token into.

    Args:
        vocabulary: The vocabulary, a `StagedVocabulary`.
        merges: How many of its merges count.
    """

    def __init__(self, vocabulary: Vocabulary, merges: int) -> None:
        self._vocabulary, self._merging = vocabulary, Merging(vocabulary, merges)
        self._cut = Pretokenizer(vocabulary.recipe.with_axes(
            normalize=(), split=cast("StagedVocabulary", vocabulary).within, prefix_space=None
        ))

    def with_limit(self, step: int, first_steps: Sequence[int]) -> Self:
        """Return a segmenter for another number of merges."""
        return type(self)(self._vocabulary, step)

    def _words(self, units: Sequence[bytes]) -> Iterator[tuple[int, Sequence[bytes]]]:
        """Yield (index of the first unit, units) of each word."""
        start, text = 0, b"".join(units).decode("utf-8", "surrogateescape")
        for word in self._cut.words(text, first=False):
            end = start + len(self._cut.units(word))
            yield start, units[start:end]
            start = end
        if start < len(units):
            yield start, units[start:]

    def segment(self, units: Sequence[bytes], characters: int) -> list[WordPart]:
        """Cut a pre-token into parts. Each unknown unit is a part by itself."""
        return [
            part._replace(start=part.start + start, end=part.end + start)
            for start, word in self._words(units) for part in self._merging.segment(word, characters)
        ]

    def steps(self, units: Sequence[bytes], characters: int) -> Iterator[AppliedMerge]:
        """Yield each merge in the order of the ranks."""
        merges = [
            replace(step, start=step.start + start, middle=step.middle + start, end=step.end + start)
            for start, word in self._words(units) for step in self._merging.steps(word, characters)
        ]
        return iter(sorted(merges, key=lambda step: (step.rank, step.start)))
