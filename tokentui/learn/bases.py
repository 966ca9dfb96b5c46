"""The starting vocabulary and the order of its ids. One entry a value of the axis `base` in `BASES`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

Units = Sequence[Sequence[bytes]]
"""The units of each distinct word, in order of first appearance."""


def byte_order_of_gpt2() -> list[int]:
    """The 256 bytes in the order of the letters that GPT-2 shows them as (`bytes_to_unicode` of its encoder.py).

    Printable bytes keep their own letter and come first; the other 68 follow in order of value.
    """
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAC + 1), *range(0xAE, 0xFF + 1)]
    return printable + [byte for byte in range(256) if byte not in printable]


def _sorted(words: Units, weights: Iterable[int]) -> list[bytes]:
    return sorted({unit for word in words for unit in word})


def _first_seen(words: Units, weights: Iterable[int]) -> list[bytes]:
    return list(dict.fromkeys(unit for word in words for unit in word))


def _frequency(words: Units, weights: Iterable[int]) -> list[bytes]:
    counts: dict[bytes, int] = {}
    for word, weight in zip(words, weights, strict=True):
        for unit in word:
            counts[unit] = counts.get(unit, 0) + weight
    return sorted(counts, key=lambda unit: (-counts[unit], unit))


def _all_bytes(order: Iterable[int]) -> Callable[[Units, Iterable[int]], list[bytes]]:
    first = [bytes((byte,)) for byte in order]

    def base(words: Units, weights: Iterable[int]) -> list[bytes]:
        # A marked unit ("##" and a byte) is none of the 256: those that the corpus has follow.
        seen = {unit for word in words for unit in word}
        return first + sorted(seen.difference(first))

    return base


BASES: dict[str, Callable[[Units, Iterable[int]], list[bytes]]] = {
    "sorted": _sorted,
    "first-seen": _first_seen,
    "frequency": _frequency,
    "bytes": _all_bytes(range(256)),
    "gpt2-bytes": _all_bytes(byte_order_of_gpt2()),
}
