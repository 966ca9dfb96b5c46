"""Text that a terminal can show. No other module handles control characters.

Text from outside (corpora, tokens, file names, messages of other libraries) may contain escape sequences,
bytes that are not UTF-8, invisible characters and characters that terminals disagree about. Each such code
point or byte becomes a visible stand-in. None is dropped: the text around a gap could form a new sequence.
The kind of a run distinguishes a stand-in from the same characters in the data.

Whole grapheme clusters are shown unchanged: a character with its marks, an emoji with its skin tone and
joined emoji, a flag, a keycap, a jamo syllable. A part of a cluster that is alone is shown separately: a mark
on a dotted circle, others as code points. Outside a cluster, joiners and variation selectors are shown as
code points.
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
"""The notations for data: readable text, Python escapes, bytes, or code points."""

GLYPH_MODES: tuple[GlyphMode, ...] = get_args(GlyphMode)
"""The modes, in the order in which a key cycles through them."""

MARKS_SHOWN = 6
"""The most combining marks drawn on one character. Further marks are shown as code points."""
MARKS_SENT = 8
"""The most combining marks that a terminal ever receives on one character. Some scripts stack a few; more
would run over the lines above."""
SURROGATE = re.compile("[\ud800-\udfff]")
"""A lone surrogate in a text: a byte that is not UTF-8, or half of a surrogate pair."""
LINKS_SHOWN = 3
"""The most consonants joined to the first in a cluster (by a virama), and the most joined emoji."""


class CharKind(StrEnum):
    """What the characters of a run are."""

    text = "text"
    """Readable characters, shown unchanged."""
    space = "space"
    """Whitespace."""
    control = "control"
    """A control character (C0, DEL, C1)."""
    invalid = "invalid"
    """A byte that is not UTF-8, or half of a surrogate pair."""
    invisible = "invisible"
    """A code point without a visible form: formatting, bidi, zero width, private, unassigned. Also the `…` of
    a shortened text."""
    partial = "partial"
    """A byte of a character that is incomplete in the data."""
    combining = "combining"
    """A code point that is drawn only with others: a mark, a flag letter, a skin tone."""


class CharRun(NamedTuple):
    """A run of safe, printable text. All its characters are of one kind."""

    text: str
    kind: CharKind


# Joined: drawn with a neighbor. Hidden: printable to Python, but nothing is seen.
_HIDDEN = r"\p{Default_Ignorable_Code_Point}"
_TONE = r"\p{Emoji_Modifier}"
_JOINED = rf"\p{{M}}\p{{Regional_Indicator}}{_TONE}\u1160-\u11FF\uD7B0-\uD7FF"
_PLAIN = rf"[^\p{{C}}\p{{Z}}{_HIDDEN}{_JOINED}\u2800]"
_MARK = rf"[\p{{M}}--{_HIDDEN}]"
# Thai and Lao have a vowel that belongs to a cluster and is not a mark.
_MARKS = rf"{_MARK}{{0,{MARKS_SHOWN}}}+[\u0E33\u0EB3]?+"
_VOWEL, _FINAL = rf"[\p{{GCB=V}}--{_HIDDEN}]", rf"[\p{{GCB=T}}--{_HIDDEN}]"

# A color emoji with the emoji joined to it (UTS #51). Three flags are sequences of tag characters.
_EMOJI_TEXT = rf"[\p{{Emoji}}--[0-9#*\p{{Regional_Indicator}}{_TONE}]]"
_EMOJI_FIRST = (
    rf"(?:\p{{Emoji_Modifier_Base}}\uFE0F?{_TONE}"
    rf"|[\p{{Emoji_Presentation}}--[\p{{Regional_Indicator}}{_TONE}]][\uFE0E\uFE0F]?"
    rf"|{_EMOJI_TEXT}[\uFE0E\uFE0F])"
)
_EMOJI = (
    r"(?=[0-9#*\xA9\xAE\u203C-\u3299\U0001F000-\U0001FAFF])(?:[0-9#*]\uFE0F\u20E3"
    r"|\U0001F3F4\U000E0067\U000E0062(?:\U000E0065\U000E006E\U000E0067|\U000E0073\U000E0063\U000E0074"
    r"|\U000E0077\U000E006C\U000E0073)\U000E007F"
    rf"|{_EMOJI_FIRST}(?<!\uFE0E)(?:\u200D{_EMOJI_TEXT}(?:\uFE0F|{_TONE})?){{1,{LINKS_SHOWN}}}+"
    rf"|{_EMOJI_FIRST})"
)
# Joiners with a visible effect (RFC 5892, appendix A.1 and A.2): after a virama, and where a letter is not
# joined to the next.
_KEPT = r"(?<=\p{ccc=9})\u200D(?=\p{L})|(?<=\p{ccc=9})\u200C|(?<=[\p{jt=D}\p{jt=L}]\p{Mn}{0,4})\u200C"
_UNJOINED = (
    r"(?:\u200C(?:(?<=\p{ccc=9}\u200C)(?=\p{L})"
    r"|(?<=[\p{jt=D}\p{jt=L}]\p{Mn}{0,4}\u200C)(?=[\p{jt=D}\p{jt=R}])))?+"
)
_SYLLABLE = (
    r"(?:(?=[\u1160-\u11FF\uD7B0-\uD7FF])"
    rf"(?:(?<=\p{{GCB=L}}){_VOWEL}{{1,2}}+{_FINAL}{{0,2}}+"
    rf"|(?<=[\p{{GCB=LV}}\p{{GCB=LVT}}]){_FINAL}{{1,2}}+))?+"
)
_LINK = rf"(?:(?<=\p{{InCB=Linker}})\p{{InCB=Consonant}}|(?<=\p{{ccc=9}})\u200D\p{{L}}){_MARKS}"
_CLUSTER = (
    rf"(?:{_EMOJI}|\p{{Regional_Indicator}}{{2}}|{_PLAIN}{_SYLLABLE}){_MARKS}"
    rf"(?:{_LINK}){{0,{LINKS_SHOWN}}}+{_UNJOINED}"
)
"""Matches a grapheme cluster (UAX #29) of visible characters, of bounded length, with the spacing marks that
follow."""
_ORPHANS = rf"(?<!\p{{M}}){_MARK}{{1,{MARKS_SHOWN}}}+"

_NEXT = r"[\uDC80-\uDCBF]"
# The start of a well-formed character (The Unicode Standard, table 3-7) without its rest, as surrogate
# escapes.
_STARTED = (
    rf"(?:[\uDCC2-\uDCDF]|\uDCE0[\uDCA0-\uDCBF]?|[\uDCE1-\uDCEC\uDCEE\uDCEF]{_NEXT}?|\uDCED[\uDC80-\uDC9F]?"
    rf"|\uDCF0(?:[\uDC90-\uDCBF]{_NEXT}?)?|[\uDCF1-\uDCF3](?:{_NEXT}{_NEXT}?)?"
    rf"|\uDCF4(?:[\uDC80-\uDC8F]{_NEXT}?)?)"
)
_KINDS = (
    r"(?P<space>[\t\n\p{Zs}]++)|(?P<control>[\x00-\x1F\x7F-\x9F])"
    rf"|(?P<partial>\A{_NEXT}{{1,3}}+(?!{_NEXT})|{_STARTED}\Z)|(?P<invalid>[\uD800-\uDFFF])"
    rf"|(?P<combining>[{_JOINED}--{_HIDDEN}])|(?P<invisible>.)"
)
_KIND_OF: dict[str | None, CharKind] = {
    "orphans": CharKind.combining, **{kind.name: kind for kind in CharKind}
}
"""The kind of the characters that each named group of a scan matches."""
_EASY = (
    r"[!-~\xA1-\xAC\xAE-\u02FF\u0370-\u0373\u0391-\u03A1\u03A3-\u0481\u3041-\u3096"
    r"\u30A1-\u30FE\u4E00-\u9FFF\uAC00-\uD7A3]+"
    rf"(?![{_JOINED}{_HIDDEN}])"
)
"""Matches characters that are clusters of their own unless something joins them, without looking at many
tables."""
_SCAN = rf"(?P<text>(?:{_EASY}|{_CLUSTER})++)|(?P<orphans>{_ORPHANS})|{_KINDS}"
_SCAN_ASCII = rf"(?P<text>[!-~]++)|{_KINDS}"
_CLUSTERS = (
    rf"(?P<easy>{_EASY})|(?P<drawn>{_CLUSTER})|(?P<orphans>{_ORPHANS})|(?P<piled>(?<=\p{{M}})\p{{M}})|."
)
_ANY_HIDDEN = f"[{_HIDDEN}]"
_ACTS = rf"[\p{{C}}\p{{Z}}{_HIDDEN}--[ ]]"
_PILE = rf"\p{{M}}{{{MARKS_SENT + 1}}}"
_FORBIDDEN = rf"{_ACTS}|{_PILE}"
_OUTSIDE = rf"(?:{_EMOJI}|{_KEPT})(*SKIP)(*FAIL)|{_ACTS}"
"""Matches a forbidden character outside a cluster that shows it."""
_DRAWN = re.compile("[ -~\u00b7\u2014\u2026\u2190-\u21ff\u2500-\u25ff]*")
"""Matches ASCII and the characters of borders, bars and arrows. They are always allowed, so no table is
needed."""


@functools.cache
def _pattern(pattern: str) -> regex.Pattern[str]:
    """Return the compiled pattern. It is compiled at first use: the first screen needs none."""
    import regex

    return regex.compile(pattern, regex.VERSION1 | regex.DOTALL)


def is_safe(text: str) -> bool:
    """Return whether a text may go to a terminal.

    It has no hidden or control characters and no excess combining marks. The width of characters is not
    checked.
    """
    # Python and regex may have different versions of Unicode, so both must agree.
    if _DRAWN.fullmatch(text) is not None:
        return True
    if _pattern(_FORBIDDEN).search(text) is None:
        return text.isprintable()
    return not (_pattern(_OUTSIDE).search(text) or _pattern(_PILE).search(text)) and _is_printable(text)


def _is_printable(text: str) -> bool:
    """Return whether all characters are printable by Python's tables. Joiners, which never are, are allowed.
    """
    return text.isprintable() or _pattern(_ANY_HIDDEN).sub("", text).isprintable()


def unsafe_places(text: str) -> set[int]:
    """Return the places of characters that must not reach a terminal. Excess combining marks are not
    included."""
    places = {match.start() for match in _pattern(_OUTSIDE).finditer(text)}
    return places | {place for place, char in enumerate(text) if not _is_printable(char)}


class Cluster(NamedTuple):
    """Characters of a text that are drawn together."""

    start: int
    end: int
    text: str
    kind: Literal["drawn", "piled", "other"]
    """`drawn`: shown unchanged; `piled`: excess marks on the character before; `other`: needs stand-ins."""


def clusters(text: str) -> Iterator[Cluster]:
    """Yield the clusters of a text: grapheme clusters, runs of lone marks, and all other characters one by
    one."""
    for match in _pattern(_CLUSTERS).finditer(text):
        start, end = match.span()
        if match.lastgroup == "easy":
            for place in range(start, end):
                yield Cluster(place, place + 1, text[place], "drawn")
        elif match.lastgroup == "drawn":
            yield Cluster(start, end, match.group(), "drawn")
        else:
            yield Cluster(start, end, match.group(), "piled" if match.lastgroup == "piled" else "other")


def shown(cluster: Cluster, mode: GlyphMode) -> tuple[CharRun, ...]:
    """Return a cluster as runs of safe text."""
    if mode == "text" and cluster.kind == "drawn" and _is_printable(cluster.text):
        return (CharRun(cluster.text, CharKind.text),)
    if mode == "text" and cluster.kind == "piled":
        return (CharRun(cluster.text.translate(_GLYPHS), CharKind.combining),)
    return visible(cluster.text, mode=mode)


def visible(
    data: bytes | str, *, mode: GlyphMode = "text", ascii_only: bool = False, limit: int | None = None
) -> tuple[CharRun, ...]:
    """Return data as runs of safe text.

    Args:
        data: Bytes, read as UTF-8; or text, in which U+DC80 to U+DCFF are bytes that are not UTF-8.
        mode: `text` shows readable text with stand-ins; `escaped` shows Python escapes, different for
            different data; `hex` shows the bytes; `points` the code points.
        ascii_only: True for terminals without UTF-8.
        limit: The most characters of output. The last one is an ellipsis if the text was shortened.

    Returns:
        Runs in order. Neighbors differ in kind. Every character is safe (see `is_safe`).
    """
    if limit is not None:
        # A character of output needs at most four bytes of input, so only the start of a huge token is read.
        data = data[: 4 * limit + 4]
    text = data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")
    if mode == "hex":
        pieces = iter([CharRun(to_bytes(text).hex(), CharKind.text)] if text else [])
    elif mode == "points":
        pieces = _points(text)
    else:
        pieces = _spans(text, mode, ascii_only)
    spans = tuple(
        CharRun("".join([text for text, _ in run]), kind) for kind, run in groupby(pieces, itemgetter(1))
    )
    return spans if limit is None else _cut(spans, limit, "..." if ascii_only else "…")


_SHOWN: dict[GlyphMode, str] = {
    "text": r"<(?P<byte>[0-9A-F]{2})>|U\+(?P<point>[0-9A-F]{4,6})|(?P<char>.)",
    "escaped": (
        r"\\x(?P<byte>[0-9a-f]{2})|\\(?:u(?P<point>[0-9a-f]{4})|U(?P<long>[0-9a-f]{8}))"
        r"|\\(?P<short>[tnr\\])|(?P<char>.)"
    ),
    "hex": r"(?P<byte>[0-9a-f]{2})|(?P<char>.)",
    "points": r"<(?P<byte>[0-9A-F]{2})>|U\+(?P<point>[0-9A-F]{4,6})| |(?P<char>.)",
}
_SHORT = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}
_PICTURED = {" ": "·", "\n": "⏎", "\t": "⇥", "\x7f": "␡"} | {
    chr(n): chr(0x2400 + n) for n in range(32) if n not in (9, 10)
}
_DEPICTED = {picture: char for char, picture in _PICTURED.items()} | {"␣": " "}


class _StandIns(dict[int, str]):
    """Stand-ins of a glyph mode by code point: a table for `str.translate`.

    Args:
        named: Stand-ins of particular characters, by code point.
        byte: The format of a byte, for a surrogate escape.
        point: Formats the number of any other code point.
    """

    def __init__(self, named: dict[str, str], byte: str, point: Callable[[int], str]) -> None:
        super().__init__({0xDC00 + value: byte.format(value) for value in range(0x80, 0x100)})
        self.update(str.maketrans(named))
        self._point = point

    def __missing__(self, code: int) -> str:
        return self._point(code)


_CODES = _StandIns({}, "<{:02X}>", "U+{:04X}".format)
_GLYPHS = _StandIns(_PICTURED, "<{:02X}>", "U+{:04X}".format)
_ASCII_GLYPHS = _StandIns(
    {chr(n): f"^{chr(n + 64)}" for n in range(32)}
    | {" ": "_", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\x7f": "^?"},
    "<{:02X}>", "U+{:04X}".format,
)
# \xNN is always a byte, also in valid text: U+0085 is \u0085, the lone byte 0x85 is \x85.
_ESCAPES = _StandIns(
    {chr(n): f"\\x{n:02x}" for n in range(128)} | {" ": " ", "\t": r"\t", "\n": r"\n", "\r": r"\r"},
    "\\x{:02x}", lambda code: f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}",
)


def meant(shown: str, mode: GlyphMode = "text") -> bytes:
    r"""Return the bytes that typed text means, in the notation that data are shown in: `·the`, `<C3>`,
    `U+200B`, `\n`.

    What is no stand-in means itself.
    """
    out = bytearray()
    for match in re.compile(_SHOWN[mode], re.DOTALL).finditer(shown):
        groups = match.groupdict()
        if groups.get("byte"):
            out += bytes.fromhex(groups["byte"])
            continue
        code = groups.get("point") or groups.get("long")
        char = groups.get("char") or _SHORT.get(groups.get("short") or "", "")
        if code:
            char = chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else match.group()
        elif mode == "text":
            char = _DEPICTED.get(char, char)
        out += to_bytes(char)
    return bytes(out)


def safe(data: bytes | str, *, limit: int | None = None, ascii_only: bool = False) -> str:
    r"""Return a text as one line of safe text, for file names, error lines and titles. `safe(safe(x)) ==
    safe(x)`.

    Unsafe characters, joiners included, become Python escapes. Backslashes are not doubled:
    `safe("a\x1b[m\n") == r"a\x1b[m\n"`.
    """
    if limit is not None:
        data = data[: 4 * limit + 4]
    text = data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")
    if not (text.isascii() and text.isprintable()):
        text = "".join([span.text for span in _spans(text, "safe", ascii_only)])
    if limit is None or len(text) <= limit:
        return text
    ellipsis = "..." if ascii_only else "…"
    return text[: max(0, limit - len(ellipsis))] + ellipsis[:limit]


def safe_line(error: BaseException | str, *, limit: int = 2000, ascii_only: bool = False) -> str:
    """Return the message of an error as one safe line."""
    message = str(error) or ("" if isinstance(error, str) else type(error).__name__)
    return safe(message, limit=limit, ascii_only=ascii_only)


def stand_in(char: str) -> str:
    """Return one visible character that replaces an unsafe one, where there is room for no more."""
    return _PICTURED.get(char) or "\N{REPLACEMENT CHARACTER}"


def _spans(text: str, mode: Literal["text", "escaped", "safe"], ascii_only: bool) -> Iterator[CharRun]:
    """Yield a text in runs that a terminal may show. What is hidden or controls it becomes a stand-in."""
    stand_ins = _ESCAPES if mode != "text" else _ASCII_GLYPHS if ascii_only else _GLYPHS
    for match in _pattern(_SCAN_ASCII if ascii_only else _SCAN).finditer(text):
        run, kind = match.group(), _KIND_OF[match.lastgroup]
        if kind is CharKind.text and mode == "text" and _is_printable(run):
            yield CharRun(run, kind)
        elif kind is CharKind.text:
            # Joiners, and code points that regex knows and an older Python does not.
            plain = run.isprintable() and _pattern(_ANY_HIDDEN).search(run) is None
            for part in (run,) if plain else run:
                is_visible = plain or (part.isprintable() and _pattern(_ANY_HIDDEN).search(part) is None)
                exact = part.replace("\\", "\\\\") if mode == "escaped" else part
                yield CharRun(exact, kind) if is_visible else CharRun(
                    part.translate(stand_ins), CharKind.invisible
                )
        elif match.lastgroup == "orphans" and mode == "text" and run.isprintable():
            # Lone marks get a dotted circle.
            yield CharRun("◌" + run, kind)
        else:
            yield CharRun(run.translate(stand_ins), kind)


def _points(text: str) -> Iterator[CharRun]:
    for match in _pattern(_SCAN).finditer(text):
        for place, char in enumerate(match.group(), start=match.start()):
            point = _CODES[ord(char)]
            yield CharRun(f" {point}" if place else point, _KIND_OF[match.lastgroup])


def to_bytes(text: str) -> bytes:
    """Return the exact bytes of a text: UTF-8, and the original byte for each surrogate that
    "surrogateescape" made."""
    try:
        return text.encode("utf-8", "surrogateescape")
    # half of a surrogate pair that is not an escaped byte, as JSON can contain: three bytes
    except UnicodeEncodeError:
        return b"".join(
            character.encode("utf-8",
            "surrogateescape" if "\udc80" <= character <= "\udcff" else "surrogatepass")
            for character in text
        )


def _cut(spans: tuple[CharRun, ...], limit: int, ellipsis: str) -> tuple[CharRun, ...]:
    """Shorten runs to `limit` characters, ellipsis included. A cluster that does not fit is left out as a
    whole."""
    if sum(len(span.text) for span in spans) <= limit:
        return spans
    runs: list[CharRun] = []
    room = max(0, limit - len(ellipsis))
    for text, kind in spans:
        if len(text) > room and kind is CharKind.text and not text.isascii():
            # A cluster that does not fit is dropped as a whole: half of one may be unsafe, or drawn
            # differently.
            inside = text[: room + 64]
            ends = (cluster.end for cluster in clusters(inside) if cluster.end <= room)
            text = text[: max(ends, default=0)]
            room = len(text)
        if room > 0:
            runs.append(CharRun(text[:room], kind))
        room -= len(text)
    return (*runs, CharRun(ellipsis[:limit], CharKind.invisible)) if limit > 0 else ()
