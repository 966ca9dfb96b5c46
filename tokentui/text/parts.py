"""The counted pre-tokens of a corpus, and of each named corpus in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tokentui.text.kernels.count import FlatWords


class CorpusPart(NamedTuple):
    """One of the corpora of a training.

    Attributes:
        name: Its name, such as that of a language; empty for the single part of a corpus without names.
        words: Its counted pre-tokens.
        development: The counted pre-tokens of a text for evaluation only; None if there is none.
        times: How often each of its words counts. The counts already include it.
    """

    name: str
    words: Words
    development: Words | None = None
    times: int = 1

    @property
    def label(self) -> str:
        """The name of the part, with its factor if it is not 1: `hi`, `hi*7`."""
        return self.name if self.times == 1 else f"{self.name}*{self.times}"


class Words:
    """The distinct pre-tokens of a corpus with their counts, in order of first appearance.

    Args:
        words: The pre-tokens.
        counts: The count of each.
        flat: The same in flat arrays if kernels counted them. Then `words` are decoded at first use.
        parts: The named corpora; empty if there are none.
    """

    def __init__(
        self, words: Sequence[str] = (), counts: Sequence[int] = (), flat: FlatWords | None = None,
        parts: tuple[CorpusPart, ...] = (),
    ) -> None:
        self._words, self.counts, self.flat, self.parts = words, counts, flat, parts

    @classmethod
    def of_parts(cls, parts: Sequence[CorpusPart]) -> Words:
        """Return the words of all parts together, in order of first appearance."""
        counts: Counter[str] = Counter()
        for part in parts:
            for word, times in zip(part.words.words, part.words.counts, strict=True):
                counts[word] += times
        return cls(tuple(counts), tuple(counts.values()), parts=tuple(parts))

    def multiplied(self, times: int) -> Words:
        """Return these words with each count multiplied by `times`; these words themselves if it is 1.

        The result of another number has no parts.
        """
        return self if times == 1 else Words(self.words, tuple(times * count for count in self.counts))

    @classmethod
    def of(cls, counted: Counter[str] | FlatWords) -> Words:
        """Return a snapshot of counts as `Words`."""
        if isinstance(counted, Counter):
            return cls(tuple(counted), tuple(counted.values()))
        return cls((), tuple(counted.counts.tolist()), counted)

    @cached_property
    def words(self) -> Sequence[str]:
        """The pre-tokens."""
        return self._words if self.flat is None else self.flat.words()

    @cached_property
    def occurrences(self) -> int:
        """The number of pre-tokens of the corpus, repeated ones included."""
        return sum(self.counts)

    def with_corpora(self, run: Mapping[str, object] | None) -> Mapping[str, object] | None:
        """Return a copy of the record of a run with the labels of the named corpora as `corpora`.

        Without named corpora, return `run` itself.
        """
        return {**(run or {}), "corpora": [part.label for part in self.parts]} if self.parts else run

    @property
    def as_parts(self) -> tuple[CorpusPart, ...]:
        """The named corpora; without names, one part with all words."""
        return self.parts or (CorpusPart("", self),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Words) and (self.words, self.counts) == (other.words, other.counts)
