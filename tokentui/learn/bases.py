"""The starting vocabulary and the order of its ids. One record a value in `BASES`; and how words count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tokentui.core import jobs
from tokentui.core.choices import Axis, Choice, Refusal
from tokentui.recipe import Recipe

Weighted = Iterable[tuple[Sequence[bytes], int]]
"""The units of distinct words, or of parts of them, in order of first appearance, and how often each counts."""


def parts_of(words: Iterable[Sequence[bytes]], weights: Iterable[int]) -> Iterator[tuple[Sequence[bytes], int]]:
    """Yield words with their weights, long words in parts, for a reader of single units.

    The job can be cancelled between two parts.
    """
    many, size = 0, jobs.BLOCK
    for word, weight in zip(words, weights, strict=True):
        many += len(word) + 1
        if many > size:
            jobs.check()
            many = 0
        if len(word) <= size:
            yield word, weight
            continue
        for start in range(0, len(word), size):
            jobs.check()
            yield word[start : start + size], weight


def byte_order_of_gpt2() -> list[int]:
    """The 256 bytes in the order of the letters that GPT-2 shows them as (`bytes_to_unicode` of its encoder.py).

    Printable bytes keep their own letter and come first; the other 68 follow in order of value.
    """
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAC + 1), *range(0xAE, 0xFF + 1)]
    return printable + [byte for byte in range(256) if byte not in printable]


def _sorted(words: Weighted) -> list[bytes]:
    return sorted({unit for word, _ in words for unit in word})


def _first_seen(words: Weighted) -> list[bytes]:
    return list(dict.fromkeys(unit for word, _ in words for unit in word))


def _frequency(words: Weighted) -> list[bytes]:
    counts: dict[bytes, int] = {}
    for word, weight in words:
        for unit in word:
            counts[unit] = counts.get(unit, 0) + weight
    return sorted(counts, key=lambda unit: (-counts[unit], unit))


def _all_bytes(order: Iterable[int]) -> Callable[[Weighted], list[bytes]]:
    first = [bytes((byte,)) for byte in order]

    def base(words: Weighted) -> list[bytes]:
        # A marked unit ("##" and a byte) is none of the 256: those that the corpus has follow.
        seen = {unit for word, _ in words for unit in word}
        return first + sorted(seen.difference(first))

    return base


@dataclass(frozen=True, slots=True, kw_only=True)
class Base(Choice):
    """A starting vocabulary.

    Attributes:
        units: Its units in the order of their ids, from those of the corpus.
    """

    units: Callable[[Weighted], list[bytes]]


def _of_bytes(recipe: Recipe) -> Refusal | None:
    if recipe.unit != "byte":
        return Refusal("base", "a base of bytes needs unit=byte", ("base=sorted", "unit=byte"))
    return None


def _after_merges(recipe: Recipe) -> Refusal | None:
    if recipe.unit == "byte":
        what = "the ids of a base that comes after the merges are for characters"
        return Refusal("base", what, ("base=sorted", "base=bytes", "unit=char"))
    return None


BASES = Axis(
    "base", "the starting vocabulary and the order of its ids",
    Base("sorted", "units of the corpus by code point", units=_sorted),
    Base("first-seen", "units of the corpus as they come", units=_first_seen),
    Base(
        "frequency", "units of the corpus, most frequent first, after the merges", units=_frequency,
        refuses=_after_merges,
    ),
    Base("bytes", "all 256 bytes in order of value", units=_all_bytes(range(256)), refuses=_of_bytes),
    Base(
        "gpt2-bytes", "all 256 bytes in GPT-2's order", units=_all_bytes(byte_order_of_gpt2()), refuses=_of_bytes,
    ),
)
"""The starting vocabularies, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight(Choice):
    """The weight of a word in the counts.

    Attributes:
        of: Return the weights of words from their counts in the corpus.
        kernel: True if the kernels of merges know it.
    """

    of: Callable[[Sequence[int]], list[int]]
    kernel: bool = False


WEIGHTS = Axis(
    "weight", "how often a word counts",
    Weight("occurrences", "as often as it stands in the corpus", of=list, kernel=True),
    Weight("distinct", "once", of=lambda counts: [1] * len(counts), kernel=True),
)
"""The weights, by name."""
