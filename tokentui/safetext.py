"""Text that a terminal can show: the only module that knows about control characters.

What comes from outside (corpora, tokens, file names, messages of other libraries) may hold anything: escape sequences,
bytes that are no UTF-8, characters that cannot be seen, characters that terminals disagree about. Here each such code
point or byte becomes a visible stand-in, one for one; nothing is ever left out, because what closes up behind a hole
can be a new sequence. A stand-in is told from the same characters in the data by its kind.

A character is shown as it is only where all terminals draw it alike: joiners, variation selectors, flags, skin tones,
enclosing and spacing marks and conjoining jamo are written as code points instead.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    import regex

GlyphMode = Literal["text", "escaped", "hex", "points"]
"""How data is written: readable, as Python escapes, as the bytes, or as code points."""

GLYPH_MODES: tuple[GlyphMode, ...] = get_args(GlyphMode)
"""The modes in the order in which a key goes through them."""

MARKS_SHOWN = 4
"""The most combining marks that are drawn on one character; more are written as code points."""
MARKS_SENT = 8
"""The most that a terminal gets at all: some scripts pile up a few, and what goes on runs over the lines above."""


class Kind(StrEnum):
    """What the characters of a span stand for."""

    text = "text"
    """Themselves."""
    space = "space"
    """White space."""
    control = "control"
    """A control character (C0, DEL, C1)."""
    invalid = "invalid"
    """A byte that is no UTF-8, or half of a surrogate pair."""
    invisible = "invisible"
    """A code point that cannot be seen: formatting, bidi, zero width, private, unassigned. Also the `…` of a cut."""
    partial = "partial"
    """A byte of a character that goes on before or after the data."""
    combining = "combining"
    """A code point that is drawn only together with others: a mark, a flag letter, a skin tone."""


class Span(NamedTuple):
    """A run of safe, printable text of one kind."""

    text: str
    kind: Kind


# Joined: drawn with a neighbour, and not alike everywhere. Hidden: printable to Python, but nothing is seen.
_HIDDEN = r"\p{Default_Ignorable_Code_Point}"
_JOINED = r"\p{M}\U0001F1E6-\U0001F1FF\U0001F3FB-\U0001F3FF\u1160-\u11FF\uD7B0-\uD7FF"
_MARK = rf"[\p{{Mn}}--{_HIDDEN}]"
_NEXT = r"[\uDC80-\uDCBF]"
# The start of a well-formed character (The Unicode Standard, table 3-7) whose rest is missing, as surrogate escapes.
_STARTED = (
    rf"(?:[\uDCC2-\uDCDF]|\uDCE0[\uDCA0-\uDCBF]?|[\uDCE1-\uDCEC\uDCEE\uDCEF]{_NEXT}?|\uDCED[\uDC80-\uDC9F]?"
    rf"|\uDCF0(?:[\uDC90-\uDCBF]{_NEXT}?)?|[\uDCF1-\uDCF3](?:{_NEXT}{_NEXT}?)?|\uDCF4(?:[\uDC80-\uDC8F]{_NEXT}?)?)"
)
_KINDS = (
    r"(?P<space>[\t\n\p{Zs}]++)|(?P<control>[\x00-\x1F\x7F-\x9F])"
    rf"|(?P<partial>\A{_NEXT}{{1,3}}+(?!{_NEXT})|{_STARTED}\Z)|(?P<invalid>[\uD800-\uDFFF])"
    rf"|(?P<combining>[{_JOINED}--{_HIDDEN}])|(?P<invisible>.)"
)
_SCAN = (
    rf"(?P<text>(?:[^\p{{C}}\p{{Z}}{_HIDDEN}{_JOINED}\u2800]++{_MARK}{{0,{MARKS_SHOWN}}}+)++)"
    rf"|(?P<orphans>(?<!\p{{M}}){_MARK}{{1,{MARKS_SHOWN}}}+)|{_KINDS}"
)
_SCAN_ASCII = rf"(?P<text>[!-~]++)|{_KINDS}"
_FORBIDDEN = rf"[\p{{C}}\p{{Z}}{_HIDDEN}--[ ]]|\p{{M}}{{{MARKS_SENT + 1}}}"
_DRAWN = re.compile("[ -~\u00b7\u2014\u2026\u2190-\u21ff\u2500-\u25ff]*")
"""ASCII, and what borders, bars and arrows are drawn with: in them nothing is forbidden, and no table has to be asked."""


@functools.cache
def _pattern(pattern: str) -> regex.Pattern[str]:
    """A pattern, compiled when it is first needed: the first paint has no text from outside."""
    import regex

    return regex.compile(pattern, regex.VERSION1 | regex.DOTALL)


def is_safe(text: str) -> bool:
    """Whether a terminal may get this text: nothing in it is hidden, acts or piles up. Says nothing about widths."""
    # Both tables are asked, Python's and regex's: they may be of different versions of Unicode.
    return text.isprintable() and (_DRAWN.fullmatch(text) is not None or _pattern(_FORBIDDEN).search(text) is None)


def visible(
    data: bytes | str, *, mode: GlyphMode = "text", ascii_only: bool = False, limit: int | None = None
) -> tuple[Span, ...]:
    """Data as spans of safe text.

    Args:
        data: Bytes, read as UTF-8; or text, in which U+DC80 to U+DCFF stand for bytes that were no UTF-8.
        mode: `text` has stand-ins for what cannot be shown; `escaped` is different for different data; `hex` is the
            bytes; `points` the code points.
        ascii_only: For terminals without UTF-8.
        limit: The most characters of output, the last of them an ellipsis where something was left out.

    Returns:
        Spans of which no two neighbours are of one kind. Every character in them is safe (see `is_safe`).
    """
    if limit is not None:
        # A character of output needs at most four bytes of input: the rest of a huge token is not looked at.
        data = data[: 4 * limit + 4]
    if mode == "hex":
        pieces = iter([Span(_exact_bytes(data).hex(), Kind.text)] if data else [])
    elif mode == "points":
        pieces = _points(_text(data))
    else:
        pieces = _spans(_text(data), mode, ascii_only)
    spans = tuple(Span("".join([text for text, _ in run]), kind) for kind, run in groupby(pieces, itemgetter(1)))
    return spans if limit is None else _cut(spans, limit, "..." if ascii_only else "…")


def safe(data: bytes | str, *, limit: int | None = None, ascii_only: bool = False) -> str:
    r"""One line of plain safe text: for file names, error lines, titles. `safe(safe(x)) == safe(x)`.

    What is not safe stands as a Python escape; backslashes are not doubled: `safe("a\x1b[m\n") == r"a\x1b[m\n"`.
    """
    if limit is not None:
        data = data[: 4 * limit + 4]
    text = _text(data)
    if not (text.isascii() and text.isprintable()):
        text = "".join([span.text for span in _spans(text, "safe", ascii_only)])
    if limit is None or len(text) <= limit:
        return text
    ellipsis = "..." if ascii_only else "…"
    return text[: max(0, limit - len(ellipsis))] + ellipsis[:limit]


def safe_line(error: BaseException | str, *, limit: int = 2000, ascii_only: bool = False) -> str:
    """What an error says, on one safe line."""
    return safe(str(error) or type(error).__name__, limit=limit, ascii_only=ascii_only)


def stand_in(char: str) -> str:
    """One visible character for one that is not safe, for where nothing longer fits."""
    return _picture(char) or "\N{REPLACEMENT CHARACTER}"


def _spans(text: str, mode: Literal["text", "escaped", "safe"], ascii_only: bool) -> Iterator[Span]:
    write: Callable[[str], str] = _escape if mode != "text" else _ascii_glyph if ascii_only else _glyph
    for match in _pattern(_SCAN_ASCII if ascii_only else _SCAN).finditer(text):
        run, kind = match.group(), _kind(match)
        if kind is Kind.text and run.isprintable():
            yield Span(run.replace("\\", "\\\\") if mode == "escaped" else run, kind)
        elif kind is Kind.text:
            # Code points that the tables of regex know and those of an older Python do not.
            for char in run:
                yield Span(char, kind) if char.isprintable() else Span(write(char), Kind.invisible)
        elif match.lastgroup == "orphans" and mode == "text" and run.isprintable():
            # Marks without a character to stand on get the circle that is drawn for one.
            yield Span("◌" + run, kind)
        else:
            yield Span("".join(map(write, run)), kind)


def _points(text: str) -> Iterator[Span]:
    for match in _pattern(_SCAN).finditer(text):
        for place, char in enumerate(match.group(), start=match.start()):
            byte = _byte_of(char)
            point = f"U+{ord(char):04X}" if byte is None else f"<{byte:02X}>"
            yield Span(f" {point}" if place else point, _kind(match))


def _kind(match: regex.Match[str]) -> Kind:
    name = match.lastgroup or "text"
    return Kind.combining if name == "orphans" else Kind[name]


def _byte_of(char: str) -> int | None:
    """The byte that a surrogate escape stands for, None for other characters."""
    return ord(char) - 0xDC00 if "\udc80" <= char <= "\udcff" else None


def _picture(char: str) -> str:
    if char == " ":
        return "·"
    if char == "\n":
        return "⏎"
    if char == "\t":
        return "⇥"
    if char < " ":
        return chr(0x2400 + ord(char))
    return "␡" if char == "\x7f" else ""


def _glyph(char: str) -> str:
    byte = _byte_of(char)
    return f"<{byte:02X}>" if byte is not None else _picture(char) or f"U+{ord(char):04X}"


_ASCII_GLYPHS = {" ": "_", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\x7f": "^?"}


def _ascii_glyph(char: str) -> str:
    return _ASCII_GLYPHS.get(char) or (f"^{chr(ord(char) + 64)}" if char < " " else _glyph(char))


_ESCAPES = {" ": " ", "\t": r"\t", "\n": r"\n", "\r": r"\r"}


def _escape(char: str) -> str:
    # \xNN is always a byte, in valid text or not: U+0085 is \u0085, the lone byte 0x85 is \x85.
    if (known := _ESCAPES.get(char)) is not None:
        return known
    byte = _byte_of(char)
    code = ord(char) if byte is None else byte
    if byte is not None or code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _text(data: bytes | str) -> str:
    return data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data


def _exact_bytes(text: bytes | str) -> bytes:
    if isinstance(text, bytes):
        return text
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that is no escaped byte
        return b"".join(
            [c.encode("utf-8", "surrogatepass" if _byte_of(c) is None else "surrogateescape") for c in text]
        )


def _cut(spans: tuple[Span, ...], limit: int, ellipsis: str) -> tuple[Span, ...]:
    if sum(len(span.text) for span in spans) <= limit:
        return spans
    kept: list[Span] = []
    room = max(0, limit - len(ellipsis))
    for text, kind in spans:
        if room > 0:
            kept.append(Span(text[:room], kind))
        room -= len(text)
    return (*kept, Span(ellipsis[:limit], Kind.invisible)) if limit > 0 else ()
