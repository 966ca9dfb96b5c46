"""The message of a `.model` as a value, the protocol buffers that it is written in, and the words of a text
by it.

The reader of messages checks the types of fields and skips those that are not named. Groups, which no known
writer uses, are refused. Sources: protobuf.dev, "Encoding"; google/sentencepiece,
`sentencepiece_model.proto`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NamedTuple

import regex

from tokentui.core.errors import TokentuiError
from tokentui.formats.huggingface import Span, Text
from tokentui.formats.huggingface.words import BEFORE_MARK, CutAtMarks, StagedPretokenizer
from tokentui.formats.sentencepiece.charsmap import Charsmap
from tokentui.formats.source import Node, check_tokens
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import SPACE_MARK, to_bytes

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_NAMES = {_VARINT: "a varint", _FIXED64: "8 bytes", _BYTES: "bytes", _FIXED32: "4 bytes"}
_WIRE = {int: _VARINT, bool: _VARINT, float: _FIXED32, str: _BYTES, bytes: _BYTES}
_AGAIN = "fetch the file again"


class _Field(NamedTuple):
    """A field: its number, its wire type, its value (of fixed types the raw bytes)."""

    number: int
    wire: int
    value: int | bytes


def _fields(data: bytes, place: Node) -> Iterator[_Field]:
    """The fields of a message in order.

    Raises:
        TokentuiError: It is cut off or damaged; it says at which byte.
    """
    at, size = 0, len(data)
    while at < size:
        begin = at
        tag, at = _varint(data, at, place)
        number, wire = tag >> 3, tag & 7
        if not 0 < number < 1 << 29:
            raise _damaged(place, begin, f"no field has the number {number}")
        if wire not in _NAMES:
            raise _damaged(place, begin, f"no field has the wire type {wire}")
        length = {_FIXED64: 8, _FIXED32: 4}.get(wire, 0)
        if wire in (_VARINT, _BYTES):
            length, at = _varint(data, at, place)
        if wire == _VARINT:
            yield _Field(number, wire, length)
            continue
        if length > size - at:
            raise _damaged(place, begin, "it is cut off")
        yield _Field(number, wire, data[at : at + length])
        at += length


def _varint(data: bytes, at: int, place: Node) -> tuple[int, int]:
    value = shift = 0
    begin = at
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (1 << 64) - 1, at
        shift += 7
    raise _damaged(place, begin, "it is cut off" if at == len(data) else "a number has no end")


def _damaged(place: Node, at: int, what: str) -> TokentuiError:
    return place.error(f"damaged at byte {at}: {what}", _AGAIN)


def _typed(one: _Field, wanted: type, place: Node) -> Any:
    """The value of a field as a value of this type."""
    number, wire, value = one
    if wire != _WIRE[wanted]:
        raise place.error(f"field {number} is {_NAMES[wire]}, not {_NAMES[_WIRE[wanted]]}", _AGAIN)
    if isinstance(value, int):
        return wanted(value)
    try:
        return (
            struct.unpack("<f", value)[0] if wanted is float else value.decode() if wanted is str else value
        )
    except UnicodeDecodeError:
        raise place.error(f"field {number} is not UTF-8", _AGAIN) from None


def _named(data: bytes, place: Node, known: Mapping[int, tuple[str, type]]) -> dict[str, Any]:
    """The values of the named fields of a message; of one that comes twice the last."""
    return {known[one.number][0]: _typed(one, known[one.number][1], place) for one in _fields(data, place)
            if one.number in known}


def message(values: Iterable[tuple[int, bytes | str | int | float]]) -> bytes:
    """A message of (number, value): bytes and texts as they are, a whole number as a varint, a float in
    single precision.
    """
    out = bytearray()
    for number, value in values:
        if isinstance(value, float):
            out += _as_varint(number << 3 | _FIXED32) + struct.pack("<f", value)
        elif isinstance(value, int):
            out += _as_varint(number << 3 | _VARINT) + _as_varint(value & (1 << 64) - 1)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += _as_varint(number << 3 | _BYTES) + _as_varint(len(data)) + data
    return bytes(out)


def _as_varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*out, number))


# --- the model ---

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
"""The types of pieces."""
SPELLED = (NORMAL, USER_DEFINED, UNUSED)
"""The types of pieces that stand for their text."""
UNIGRAM, BPE, WORD, CHAR = range(1, 5)
"""The types of models."""
_PIECE = {1: ("text", str), 2: ("score", float), 3: ("kind", int)}
_PARTS: Mapping[int, tuple[str, Mapping[int, tuple[str, type]]]] = {
    2: (
        "trainer_spec",
        {
            3: ("model_type", int), 10: ("coverage", float), 20: ("max_sentencepiece_length", int),
            21: ("split_by_unicode_script", int), 22: ("split_by_whitespace", int),
            23: ("split_by_number", int), 24: ("treat_whitespace_as_suffix", int), 25: ("digits", bool),
            26: ("allow_whitespace_only_pieces", int), 35: ("byte_fallback", bool),
            44: ("unknown_surface", str), 53: ("delimiter", str), 55: ("auto_character_coverage", int),
        },
    ),
    3: (
        "normalizer_spec",
        {
            1: ("name", str), 2: ("charsmap", bytes), 3: ("dummy_prefix", bool), 4: ("squeeze", bool),
            5: ("escape", bool),
        },
    ),
    5: ("denormalizer_spec", {2: ("denormalizes", bytes)}),
}
"""The parts of a model by their fields: the name, and the attributes of `Proto`, or options that no recipe
says, by their fields.
"""
_UNTOLD = {
    "max_sentencepiece_length": 16, "split_by_unicode_script": 1, "split_by_whitespace": 1,
    "split_by_number": 1, "treat_whitespace_as_suffix": 0, "allow_whitespace_only_pieces": 0,
    "auto_character_coverage": 0,
}
"""Options of the trainer: the default, which is what the filter of pieces takes for granted."""
_BYTE_PIECE = re.compile("<0x([0-9A-F]{2})>")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece; its id is its place."""

    text: str = ""
    score: float = 0.0
    kind: int = NORMAL


@dataclass(slots=True)
class Proto:
    """The parts of a model that are read; the defaults are those of the format.

    Attributes:
        untold: The options of its training that no recipe says, by their names, where they are not at their
            defaults.
        others: All fields except the pieces, as the file has them.
    """

    pieces: list[Piece] = field(default_factory=list)
    model_type: int = UNIGRAM
    byte_fallback: bool = False
    suffix: bool = False
    unknown_surface: str = " ⁇ "
    delimiter: str = ""
    charsmap: bytes = b""
    name: str = ""
    dummy_prefix: bool = True
    squeeze: bool = True
    escape: bool = True
    denormalizes: bytes = b""
    coverage: float = 0.9995
    digits: bool = False
    untold: dict[str, int | str] = field(default_factory=dict)
    others: list[tuple[int, bytes]] = field(default_factory=list)


def parse(data: bytes, place: Node) -> Proto:
    """The model of a file.

    Raises:
        TokentuiError: It is damaged, or sentencepiece would refuse it; it says where.
    """
    proto = Proto()
    for one in _fields(data, place):
        if one.number == 1:
            at = place.at("pieces").at(len(proto.pieces))
            proto.pieces.append(_piece(_typed(one, bytes, at), at))
            continue
        name, known = _PARTS.get(one.number, ("", {}))
        for key, value in _named(_typed(one, bytes, place), place.at(name), known).items() if name else ():
            if key not in _UNTOLD:
                setattr(proto, key, value)
            elif value != _UNTOLD[key]:
                proto.untold[key] = value
        if isinstance(one.value, bytes) and one.wire == _BYTES:
            proto.others.append((one.number, one.value))
    proto.suffix = bool(proto.untold.get("treat_whitespace_as_suffix"))
    if proto.delimiter:
        proto.untold["pretokenization_delimiter"] = proto.delimiter
    _check(proto, place)
    return proto


def _piece(data: bytes, place: Node) -> Piece:
    piece = Piece(**_named(data, place, _PIECE))
    if not piece.text:
        raise place.error("a piece is empty", _AGAIN)
    if not isfinite(piece.score):
        raise place.error("a score is no number", _AGAIN)
    if not NORMAL <= piece.kind <= BYTE:
        raise place.error(f"there is no type {piece.kind} of pieces", "update tokentui")
    return piece


def _check(proto: Proto, place: Node) -> None:
    """Check a model as sentencepiece does: every piece once, one unknown piece, all byte pieces or none."""
    at = place.at("pieces")
    check_tokens((len(piece.text) for piece in proto.pieces), at)
    if not UNIGRAM <= proto.model_type <= CHAR:
        raise place.at("trainer_spec").error(f"there is no type {proto.model_type} of models",
                                             "update tokentui")
    seen: set[tuple[bool, str]] = set()
    values: set[str] = set()
    for n, piece in enumerate(proto.pieces):
        key = (piece.kind in SPELLED, piece.text)
        if key in seen:
            raise at.at(n).error(f"{piece.text[:40]!r} stands there twice", _AGAIN)
        seen.add(key)
        if piece.kind == BYTE:
            if not _BYTE_PIECE.fullmatch(piece.text):
                raise at.at(n).error(f"{piece.text[:40]!r} is no byte piece", _AGAIN)
            values.add(piece.text)
            if not proto.byte_fallback:
                raise at.at(n).error("a byte piece, but the model has no byte fallback", _AGAIN)
    unknown = sum(piece.kind == UNKNOWN for piece in proto.pieces)
    if unknown != 1:
        raise at.error(f"there are {unknown} unknown pieces, not one", _AGAIN)
    if proto.byte_fallback and len(values) < 256:
        raise at.error(f"{256 - len(values)} of the 256 byte pieces are missing", _AGAIN)


# --- words: rules, spaces, and one ▁ in front ---


_LONE = re.compile("[\udc80-\udcff]")
_SPACES = re.compile("  +")
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")


class SentencePieceWords(StagedPretokenizer):
    """From a text to the words and units of a `.model`.

    Args:
        recipe: What the axes can say.
        proto: The model.
        charsmap: Its normalisation rules, None for none.
        cut: Whether words may be cut before a ▁ that no ▁ stands before: no piece goes across.
        whole: Whether user-defined symbols are units of their own.
    """

    def __init__(
        self, recipe: Recipe, proto: Proto, charsmap: Charsmap | None, *, cut: bool, whole: bool
    ) -> None:
        super().__init__(recipe, None, CutAtMarks(None) if cut else None, byte_level=False)
        self.proto = proto
        self._charsmap = charsmap
        self._cut = cut
        symbols = [piece.text for piece in proto.pieces if piece.kind == USER_DEFINED]
        names = "|".join(map(regex.escape, sorted(symbols, key=len, reverse=True)))
        self._symbols = regex.compile(names) if names else None
        self._whole = regex.compile(f"{names}|.", regex.DOTALL) if names and whole else None

    def words(self, document: str, *, first: bool = True, timeout: float | None = None) -> list[str]:
        """The words of a document in order."""
        text = self._normal(document).text
        return [] if not text else BEFORE_MARK.split(text) if self._cut else [text]

    def units(self, word: str) -> list[bytes]:
        """The characters of a word and the user-defined symbols in it."""
        return [to_bytes(unit) for unit in self._units(word)]

    def _units(self, word: str) -> list[str]:
        return self._whole.findall(word) if self._whole else list(word)

    def _word(self, part: Text) -> tuple[str, tuple[Span, ...]]:
        spans, at = [], 0
        for unit in self._units(part.text):
            spans.append((part.starts[at], part.ends[at + len(unit) - 1]))
            at += len(unit)
        return part.text, tuple(spans)

    def _normal(self, text: str) -> Text:
        proto = self.proto
        text = _HALF.sub("\ufffd", text)
        typed, space = Text.typed(text), SPACE_MARK if proto.escape else " "
        if self._charsmap or self._symbols:
            pieces = self._kept(text)
            made = typed.edited("".join(piece for piece, _, _ in pieces), lambda: pieces)
        else:
            quick = _LONE.sub("\ufffd", text)
            quick = _SPACES.sub(" ", quick).lstrip(" ") if proto.squeeze else quick
            made = typed.edited(quick, lambda: self._kept(text))
        if not made.text:
            return made
        made = made.respelled(made.text.replace(" ", space))
        if proto.dummy_prefix and not proto.suffix:
            made = made.prepended(space)
        if proto.squeeze:
            made = made.part(0, len(made.text.rstrip(space)))
        if not (proto.dummy_prefix and proto.suffix):
            return made
        end = made.ends[-1] if made.text else len(text)
        return made.respelled(made.text + space, lambda: ([*made.starts, end], [*made.ends, end]))

    def _kept(self, text: str) -> list[tuple[str, int, int]]:
        """The pieces of a text. Where spaces are squeezed, without those in front and behind another one."""
        found: list[tuple[str, int, int]] = []
        after_space = self.proto.squeeze
        for made, start, end in self._pieces(text):
            kept = made.lstrip(" ") if after_space else made
            if kept:
                found.append((kept, start, end))
                after_space = self.proto.squeeze and kept.endswith(" ")
        return found

    def _pieces(self, text: str) -> list[tuple[str, int, int]]:
        """(made, start, end): what each rule, user-defined symbol or character becomes."""
        data = text.encode("utf-8", "surrogateescape")
        out: list[tuple[str, int, int]] = []
        at = place = 0
        while at < len(text):
            symbol = self._symbols.match(text, at) if self._symbols else None
            rules = self._charsmap.matches(data, place) if self._charsmap and not symbol else []
            if symbol:
                made, end = symbol.group(), symbol.end()
            elif rules:  # the longest counts
                length, result = rules[-1]
                made, end, reached = result.decode("utf-8", "replace"), at, 0
                while reached < length:
                    reached += _width(text[end])
                    end += 1
            else:
                made, end = _LONE.sub("\ufffd", text[at]), at + 1
            out.append((made, at, end))
            place += _width(text[at]) if end == at + 1 else sum(map(_width, text[at:end]))
            at = end
        return out


def proto_of(pretokenizer: Pretokenizer) -> Proto | None:
    """The message of a model, where the words are those of one."""
    return pretokenizer.proto if isinstance(pretokenizer, SentencePieceWords) else None


def _width(character: str) -> int:
    """The bytes of a character; a byte that is not UTF-8 is one."""
    code = ord(character)
    return 1 if code < 0x80 or 0xDC80 <= code <= 0xDCFF else 2 if code < 0x800 else 3 if code < 0x10000 else 4
