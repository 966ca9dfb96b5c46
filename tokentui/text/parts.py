"""The counted pre-tokens of a corpus, and of each named corpus in it."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

from tokentui.core import engines


class FlatWords(NamedTuple):
    """Distinct words in order of first appearance, in flat arrays: for kernels, and to send to a process.

    Attributes:
        text: The concatenated words: UTF-8, with a lone surrogate in three bytes.
        ends: A 0, then the offset where each word ends, as numbers of 64 bits.
        counts: The count of each word, as numbers of 64 bits.
    """

    text: bytes
    ends: array[int]
    counts: array[int]

    @classmethod
    def of(cls, words: Words) -> FlatWords:
        """Return counted words in this form."""
        if words.flat is not None:
            return words.flat
        parts = [word.encode("utf-8", "surrogatepass") for word in words.words]
        ends = array("q", accumulate(map(len, parts), initial=0))
        return cls(b"".join(parts), ends, array("q", words.counts))

    @property
    def size(self) -> int:
        """The size in bytes."""
        return len(self.text) + 8 * (len(self.ends) + len(self.counts))

    def words(self) -> tuple[str, ...]:
        """Return the words as str."""
        text, ends = self.text.decode("utf-8", "surrogatepass"), self.ends
        if len(text) < len(self.text):
            if not engines.available():
                parts = (self.text[start:end] for start, end in pairwise(ends))
                return tuple([part.decode("utf-8", "surrogatepass") for part in parts])
            from tokentui.text.kernels.scan_count import places_in_characters  # needs the kernels

            ends = ends[:]
            places_in_characters(self.text, ends)
        return tuple([text[start:end] for start, end in pairwise(ends)])

    def rows(self) -> Iterator[tuple[str, int]]:
        """Return an iterator over the words, each with its count."""
        return zip(self.words(), self.counts, strict=True)


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
