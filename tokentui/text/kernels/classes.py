"""The character classes that a scanner tells apart, asked of the installed `regex` module itself.

Splits are patterns of `regex`, and which characters are letters changes with its Unicode tables. So the table
is made when it is first needed, in some hundredths of a second, by running the very classes over every code
point: it can be neither stale nor different.
"""

from __future__ import annotations

import functools
import re
from array import array
from dataclasses import dataclass
from typing import Any

import regex

from tokentui.text import bert

SPACE, SPACING, NEWLINE, NUMBER, SIGN, APOSTROPHE, SLASH, MARK, EITHER, UPPER, LOWER = range(11)
"""The classes. Their order lets kernels ask with one comparison: white space up to NEWLINE; what is no space,
digit or letter from SIGN to MARK; letters from EITHER on; what may stand where upper case is asked for from
MARK to UPPER."""
START = 15
"""No character: stands before the first of a text."""
CLASSES = 16
"""A pair of classes is looked up at `left * CLASSES + right`."""

_PATTERNS = {
    SPACING: r"\s",
    NEWLINE: r"[\r\n]",
    SPACE: " ",
    NUMBER: r"\p{N}",
    APOSTROPHE: "'",
    SLASH: "/",
    MARK: r"\p{M}",
    UPPER: r"[\p{Lu}\p{Lt}]",
    LOWER: r"\p{Ll}",
    EITHER: r"[\p{Lm}\p{Lo}]",
}
"""The pattern of each class; of two that fit a character the later holds. SIGN is the rest."""
_CODES = 0x110000
_PLANE = 0x10000
_BLOCK = 128
FOLDED = "sdmtlvre"
"""The letters of contractions."""


@dataclass(frozen=True, slots=True)
class ClassTable:
    """A class for each code point, in two steps: `low[high[code >> 7] << 7 | code & 127]`.

    `high` holds 16-bit numbers in the machine's order, `low` a byte for each class; its first block is that
    of ASCII.
    """

    high: bytes
    low: bytes

    def of(self, code: int) -> int:
        """The class of a code point."""
        return self.low[memoryview(self.high).cast("H")[code >> 7] << 7 | code & 127]


@functools.cache
def _plane(number: int) -> str:
    """Each code point of a plane."""
    codes = bytearray(4 * _PLANE)
    codes[::4] = bytes(range(256)) * 256
    codes[1::4] = b"".join(bytes([value]) * 256 for value in range(256))
    codes[2::4] = bytes([number]) * _PLANE
    return codes.decode("utf-32-le", "surrogatepass")


def _all_codes() -> str:
    return "".join(map(_plane, range(_CODES // _PLANE)))


@functools.cache
def letters_table() -> ClassTable:
    """The classes that GPT-2's pattern and its children ask for."""
    classes = bytearray([SIGN]) * _CODES
    patterns = [(name, regex.compile(f"{pattern}+")) for name, pattern in _PATTERNS.items()]
    empty = regex.compile(r"[^\s\p{L}\p{M}\p{N}'/]+")
    for number in range(_CODES // _PLANE):
        if empty.fullmatch(_plane(number)):
            continue  # most planes hold nothing yet, or what is for private use
        for name, one in patterns:
            _fill(classes, one, name, _plane(number), number * _PLANE)
    return _folded(classes)


@functools.cache
def bert_table() -> ClassTable:
    """BERT's: SPACE, SIGN for its punctuation, LOWER for what words are made of."""
    classes = bytearray([LOWER]) * _CODES
    _fill(classes, re.compile(f"[{bert.SPACES}]+"), SPACE, _all_codes())
    _fill(classes, re.compile(f"[{bert.PUNCTUATION}]+"), SIGN, _all_codes())
    return _folded(classes)


@functools.cache
def bert_runs_table() -> ClassTable:
    """The table of BERT's runs: SPACE for characters that normalisation turns into a space, else LOWER.

    BERT drops some white space: a word goes on there.
    """
    classes = bytearray([LOWER]) * _CODES
    _fill(classes, re.compile(f"(?:(?![{bert.DROPPED}])[{bert.SPACES}]|[\t\n\r])+"), SPACE, _all_codes())
    return _folded(classes)


@functools.cache
def folds() -> tuple[tuple[int, int], ...]:
    """The letters outside ASCII that fold to a letter of a contraction.

    Each is (code point, lowercase ASCII letter). They count where a split ignores case.
    """
    return tuple(
        (ord(match.group()), ord(letter))
        for letter in FOLDED
        for match in regex.finditer(f"(?i:{letter})", _all_codes())
        if not match.group().isascii()
    )


def _fill(classes: bytearray, pattern: Any, name: int, text: str, at: int = 0) -> None:
    """Give a class to what a pattern finds in a text, whose characters are the code points from `at` on."""
    for match in pattern.finditer(text):
        start, end = match.span()
        classes[at + start : at + end] = bytes([name]) * (end - start)


def _folded(classes: bytearray) -> ClassTable:
    """The table with each distinct block once."""
    blocks: dict[bytes, int] = {}
    high = [
        blocks.setdefault(bytes(classes[at : at + _BLOCK]), len(blocks)) for at in range(0, _CODES, _BLOCK)
    ]
    return ClassTable(array("H", high).tobytes(), b"".join(blocks))
