"""Facts of a token in words, each a section without rows: for `tokentui inspect` and for the inspector of the
explorer."""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Iterator

from tokentui.analyze.report import Cell, Section, muted, warning
from tokentui.core.table import plural

MOST_SHOWN = 2048
"""The maximum number of bytes of a token that are written out; a longer one ends in an ellipsis."""
_UNNAMED = {
    "Cc": "a control character",
    "Cf": "a formatting character",
    "Cn": "not assigned",
    "Co": "for private use",
    "Cs": "half of a surrogate pair",
}


def figure(value: float) -> str:
    """Return a number with six significant digits, with − and ∞ as signs."""
    return ("∞" if math.isinf(value) else f"{value:.6g}") if value >= 0 else "−" + figure(-value)


def made_section(step: int, places: int | None) -> Section:
    """Return the step that made a token, and the number of places of its pair; None if that is not known."""
    return Section("made", f"step {step:,}" + ("" if places is None else f", at {plural(places, 'place')}"))


def score_section(score: float) -> Section:
    """Return the natural log probability of a token, and the probability."""
    return Section("score", (figure(score), muted(f"  the natural log of {figure(math.exp(score))}")))


def mark_sections(piece: bytes, marks: tuple[int, int]) -> Iterator[Section]:
    """Yield the marks of a token; `marks` are their bytes at its start and at its end."""
    front, end = marks
    if front:
        yield Section("mark", (piece[:front], muted("  at the start: it continues a word")))
    if end:
        yield Section("mark", (piece[-end:], muted("  at the end: it ends a word")))


def byte_sections(piece: bytes) -> Iterator[Section]:
    """Yield the bytes of a token in hex, of a long one the first, and their SHA-256."""
    rest = " …" if len(piece) > MOST_SHOWN else ""
    yield Section("hex", (piece[:MOST_SHOWN].hex(" ") + rest, muted(f"  {plural(len(piece), 'byte')}")))
    if rest:
        yield Section("sha256", (hashlib.sha256(piece).hexdigest(), muted("  of all bytes")))


def character_sections(piece: bytes) -> Iterator[Section]:
    """Yield a section for each character of the first `MOST_SHOWN` bytes of a token, with its number and
    name; a byte that is not a whole character has one of its own."""
    for char in piece[:MOST_SHOWN].decode("utf-8", "surrogateescape"):
        if "\udc80" <= char <= "\udcff":
            yield Section(f"<{ord(char) - 0xDC00:02X}>", muted("a byte that is not a whole character"))
            continue
        name = unicodedata.name(char, "") or _UNNAMED.get(unicodedata.category(char), "without a name")
        yield Section(f"U+{ord(char):04X}", (char.encode("utf-8", "surrogatepass"), muted(f"  {name}")))


def reached(unreachable: str) -> Cell:
    """Return whether a text becomes a token; `unreachable` is the reason why none does, empty if one does."""
    return (warning("no: "), unreachable) if unreachable else "yes"
