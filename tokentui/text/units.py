"""The smallest units of a word, and the marks that some of them bear.

One record a value of the axes `unit` and `mark`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tokentui.core import jobs
from tokentui.core.choices import Axis, Choice
from tokentui.text.split import to_bytes

_SINGLE = [bytes((value,)) for value in range(256)]


def _bytes(text: str) -> list[bytes]:
    return list(map(_SINGLE.__getitem__, to_bytes(text)))


def _characters(text: str) -> list[bytes]:
    return _bytes(text) if text.isascii() else list(map(to_bytes, text))


@functools.cache
def _grapheme() -> Any:
    import regex  # not before the first paint

    return regex.compile(r"\X")


def _graphemes(text: str) -> list[bytes]:
    if len(text) <= jobs.BLOCK:
        return list(map(to_bytes, _grapheme().findall(text)))
    return [to_bytes(match.group()) for part in jobs.in_blocks(_grapheme().finditer(text)) for match in part]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit(Choice):
    """A kind of unit.

    Attributes:
        plural: Several of them, for titles.
        cut: The units of a text, without marks.
        places: Whether a unit never reaches across two places of a text, so that the text may be cut
        anywhere.
        kinds: How many different ones there may be, for kernels that number them by what they are; 0 for no
            such number.
    """

    plural: str
    cut: Callable[[str], list[bytes]]
    places: bool = True
    kinds: int = 0


UNITS = Axis(
    "unit", "the smallest unit",
    Unit("byte", "a byte of UTF-8", plural="bytes", cut=_bytes, kinds=1 << 8),
    Unit("char", "a code point", plural="characters", cut=_characters, kinds=0x110000),
    Unit("grapheme", "what a reader calls a character", plural="graphemes", cut=_graphemes, places=False),
)
"""The kinds of units, by name."""


def _no_mark(units: list[bytes], mark: bytes) -> list[bytes]:
    return units


def _end_symbol(units: list[bytes], mark: bytes) -> list[bytes]:
    units.append(mark)
    return units


def _end_suffix(units: list[bytes], mark: bytes) -> list[bytes]:
    units[-1] += mark
    return units


def _prefix(units: list[bytes], mark: bytes) -> list[bytes]:
    for start in range(1, len(units), jobs.BLOCK):
        jobs.check()
        end = start + jobs.BLOCK
        units[start:end] = [mark + unit for unit in units[start:end]]
    return units


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark(Choice):
    """A way to mark where a word starts or ends.

    Attributes:
        put: The units of a word, of which there is at least one, with the mark; it may change the list that
        it is given.
        kernel: Whether the kernels of merges know it.
    """

    put: Callable[[list[bytes], bytes], list[bytes]]
    kernel: bool = False


MARKS = Axis(
    "mark", "how a word's start or end is marked",
    Mark("none", "not at all", put=_no_mark, kernel=True),
    Mark("end-symbol", "a unit of its own after the word", "TEXT", "</w>", put=_end_symbol, kernel=True),
    Mark("end-suffix", "text glued to the word's last unit", "TEXT", "</w>", put=_end_suffix, kernel=True),
    Mark("prefix", "text in front of every unit but the first", "TEXT", "##", put=_prefix, kernel=True),
)
"""The marks, by name."""
