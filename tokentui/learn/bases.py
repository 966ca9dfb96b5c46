"""The starting vocabulary and the order of its ids. One entry a value of the axis `base` in `BASES`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from tokentui.text import patience

Weighted = Iterable[tuple[Sequence[bytes], int]]
"""The units of distinct words, or of parts of them, in order of first appearance, and how often each counts."""


def parts_of(words: Iterable[Sequence[bytes]], weights: Iterable[int]) -> Iterator[tuple[Sequence[bytes], int]]:
    """Words with their weights, long ones in parts, for what looks at units only. Somebody may stop it between two parts."""
    many, size = 0, patience.PART
    for word, weight in zip(words, weights, strict=True):
        many += len(word) + 1
        if many > size:
            patience.check()
            many = 0
        if len(word) <= size:
            yield word, weight
            continue
        for start in range(0, len(word), size):
            patience.check()
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


BASES: dict[str, Callable[[Weighted], list[bytes]]] = {
    "sorted": _sorted,
    "first-seen": _first_seen,
    "frequency": _frequency,
    "bytes": _all_bytes(range(256)),
    "gpt2-bytes": _all_bytes(byte_order_of_gpt2()),
}

WEIGHTS: dict[str, Callable[[Sequence[int]], list[int]]] = {"occurrences": list, "distinct": lambda counts: [1] * len(counts)}
"""How often words count, from how often each stands in the corpus. One entry a value of the axis `weight`."""
