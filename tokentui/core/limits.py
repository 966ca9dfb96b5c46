"""Limits on the input and the work that the program accepts.

Code calls `now()` when its work begins, so that a changed limit applies to work that begins later. The
environment variable `TOKENTUI_LIMITS` and the option `--limit` both take `NAME=VALUE`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import field, fields, replace
from typing import Any

from tokentui.core.errors import TokentuiError, nearest
from tokentui.core.records import dataclass

VARIABLE = "TOKENTUI_LIMITS"
"""Environment variable that sets limits: `NAME=VALUE`, separated by commas or spaces."""

_VALUE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)([kmg]?)", re.IGNORECASE)
_TIMES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_COUNT_TIMES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


def _limit(value: float, unit: str, most: float, about: str) -> Any:
    return field(default=value, metadata={"unit": unit, "most": most, "about": about})


@dataclass(frozen=True, slots=True)
class Limits:
    """The value of each limit. Input beyond a limit raises a one-line error that names the limit."""

    corpus_bytes: int = _limit(4 << 30, "bytes", 1 << 40, "of a corpus, all files unpacked")
    stream_bytes: int = _limit(
        192 << 20, "bytes", 1 << 40, "read from standard input or a pipe, whose size is unknown"
    )
    stream_seconds: float = _limit(60.0, "seconds", 1e7, "of silence on standard input or a pipe")
    line_bytes: int = _limit(64 << 20, "bytes", 1 << 40, "of a row of JSON lines or counted words")
    packed_ratio: int = _limit(
        200, "times", 1 << 20, "by which a compressed or sparse file can grow beyond packed-bytes"
    )
    packed_bytes: int = _limit(
        64 << 20, "bytes", 1 << 40, "up to which a compressed or sparse file can grow by any ratio"
    )
    pattern_seconds: float = _limit(10.0, "seconds", 1e7, "for one match of a pattern")
    file_pattern_seconds: float = _limit(
        1.0, "seconds", 1e7, "for one match of a pattern from a tokenizer file"
    )
    file_bytes: int = _limit(1 << 28, "bytes", 1 << 40, "of a tokenizer file, unpacked")
    json_depth: int = _limit(128, "levels", 400, "of nested lists and objects in a tokenizer file")
    vocabulary: int = _limit(1 << 23, "tokens", 1 << 31, "of a tokenizer file")
    ways_units: int = _limit(10_000, "units", 1 << 20, "of a word whose segmentations are counted")
    count_bytes: int = _limit(1 << 40, "bytes", 1 << 60, "that tokentui count reads, all files unpacked")
    part_bytes: int = _limit(
        64 << 20, "bytes", 1 << 34, "of a part of the text that tokentui count works on at a time"
    )
    document_bytes: int = _limit(
        1 << 30, "bytes", 1 << 40, "of a document that tokentui count cannot split"
    )
    count_memory: int = _limit(
        1 << 30, "bytes", 1 << 40, "of distinct words that tokentui count keeps before it writes them to disk"
    )
    ahead_steps: int = _limit(
        2_000, "steps", 1 << 30, "that a copy of a training runs ahead to find when a text becomes one token"
    )
    template_seconds: float = _limit(10.0, "seconds", 1e5, "of processor time for rendering a chat template")
    template_characters: int = _limit(4_000_000, "characters", 10**9, "of a rendered chat template")

    def with_words(self, words: Iterable[str], where: str) -> Limits:
        """Return a copy with other limits.

        Args:
            words: The limits to change, each `NAME=VALUE`.
            where: The source of the words, for errors.

        Raises:
            TokentuiError: A limit is unknown, or its value is invalid.
        """
        named: dict[str, float] = {}
        for word in words:
            name, _, value = word.partition("=")
            if name not in LIMITS:
                raise TokentuiError(f"no limit {name[:40]!r}", where, nearest(name, LIMITS))
            named[name.replace("-", "_")] = LIMITS[name].read(value, where)
        return replace(self, **named)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Limit:
    """The description of one limit.

    Attributes:
        name: The name that a user writes, with hyphens.
        default: The default value.
        unit: The unit of the value.
        most: The largest valid value.
        about: The limited thing, a phrase after the unit.
    """

    name: str
    default: float
    unit: str
    most: float
    about: str

    def read(self, value: str, where: str) -> float:
        """Parse a positive number. K, M and G are 1024, 1024² and 1024³ bytes, and thousands, millions and
        billions of other units.

        Raises:
            TokentuiError: It is not a positive number, or too large.
        """
        match = _VALUE.fullmatch(value)
        times = _TIMES if self.unit == "bytes" else _COUNT_TIMES
        number = float(match[1]) * times[match[2].lower()] if match else 0.0
        if not 0 < number <= self.most or (isinstance(self.default, int) and number != int(number)):
            hint = f"a number of {self.unit} up to {self.most:,.0f}, such as {self.shown(self.default)}"
            raise TokentuiError(f"{self.name} cannot be {value[:40]!r}", where, hint)
        return int(number) if isinstance(self.default, int) else number

    def shown(self, value: float) -> str:
        """Return the shortest text from which `read` gives a value."""
        for letter in ("g", "m", "k"):
            if self.unit == "bytes" and value % _TIMES[letter] == 0:
                return f"{int(value) // _TIMES[letter]}{letter.upper()}"
        return f"{value:g}" if isinstance(value, float) else str(value)


_DEFAULTS = Limits()
LIMITS: dict[str, Limit] = {
    name: Limit(name, getattr(_DEFAULTS, one.name), **one.metadata)
    for one in fields(Limits)
    for name in (one.name.replace("_", "-"),)
}
"""Every limit by its name."""

_now: Limits | None = None


def now() -> Limits:
    """Return the current limits.

    Raises:
        TokentuiError: The environment variable is invalid.
    """
    global _now
    if _now is None:
        _now = _DEFAULTS.with_words(
            re.split(r"[,\s]+", words) if (words := os.environ.get(VARIABLE, "").strip()) else (), VARIABLE
        )
    return _now


def value(name: str) -> float:
    """Return the current value of a limit by its name."""
    return float(getattr(now(), name.replace("-", "_")))


def use(limits: Limits | None) -> None:
    """Set the limits of this process. None restores those of the environment variable."""
    global _now
    _now = limits


def reading(name: str, instead: str = "") -> str:
    """Return the hint of an error for input beyond a limit: `instead`, or how to raise the limit."""
    raised = f"--limit {name}=… raises the limit"
    return f"{instead}; {raised}" if instead else raised


_PATTERN_PART = re.compile(
    r"\\(?:[pPxuUN]\{[^}]*\}|x..|u....|.)|\[\^?\]?(?:\\.|\[:[^\]]*:\]|[^\]\\])*\]|\(|\)"
    r"|\{(?P<low>[0-9]*)(?P<to>,?)(?P<high>[0-9]*)\}|.", re.DOTALL,
)


MOST_SPREAD = 1 << 17
"""The largest `spread` that is allowed: such a pattern compiles in a tenth of a second."""


def spread(pattern: str) -> int:
    """Estimate how many characters a pattern has with its counted repeats written out. Compile time grows
    with it."""
    sizes, last = [0], 0
    for part in _PATTERN_PART.finditer(pattern):
        text = part.group()
        if text == "(":
            sizes.append(0)
            last = 0
        elif text == ")" and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        elif part["low"] or part["high"]:
            more = last * (max(int((part["high"] or part["low"])[:9]), 1) - 1)
            sizes[-1] += more
            last += more
        elif text not in "*+?|":
            last = 1
            sizes[-1] += 1
    return sum(sizes)
