"""The message of a `.model` as a value, its protocol buffers, and the words of a text by it.

The reader checks the types of fields and skips unknown fields. Groups, which no known writer uses, are
refused. Sources: protobuf.dev, "Encoding"; google/sentencepiece, `sentencepiece_model.proto`.
"""

from __future__ import annotations

import copy
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, fields
from math import isfinite
from typing import Any, NamedTuple

from tokentui.core.errors import TokentuiError
from tokentui.core.memo import Memo
from tokentui.core.records import dataclass
from tokentui.core.safetext import to_bytes
from tokentui.encode.names import NameFinder
from tokentui.formats.huggingface import AlignedText, CharRange, check_growth
from tokentui.formats.huggingface.words import CutBeforeMarks, StagedPretokenizer
from tokentui.formats.sentencepiece.charsmap import STRETCHES, Charsmap
from tokentui.formats.source import Node, check_tokens
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import SPACE_MARK
from tokentui.text.stretching import Stretching, marked_words, plain_words

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_NAMES = {_VARINT: "a varint", _FIXED64: "8 bytes", _BYTES: "bytes", _FIXED32: "4 bytes"}
_WIRE = {"int": _VARINT, "bool": _VARINT, "float": _FIXED32, "str": _BYTES, "bytes": _BYTES}
_AGAIN = "download the file again"
_LONGEST_SURFACE = 1 << 10
"""The most characters of the text that an unknown piece decodes to."""


class _Field(NamedTuple):
    """A field: its number, its wire type, its value (raw bytes for fixed-size types)."""

    number: int
    wire: int
    value: int | bytes


def _fields(data: bytes, place: Node) -> Iterator[_Field]:
    """Yield the fields of a message in order.

    Raises:
        TokentuiError: It is truncated or damaged. The message has the offset.
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
    """Read a varint of protobuf at `at`; return it modulo 2**64 and the place after it.

    Raises if the data ends in it or it has more than ten bytes.
    """
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


def _typed(field_: _Field, wanted: str, place: Node) -> Any:
    """Return the value of a field, converted to the type with this name.

    Raises:
        TokentuiError: The wire type does not fit, or a text is not UTF-8.
    """
    number, wire, value = field_
    if wire != _WIRE[wanted]:
        raise place.error(f"field {number} is {_NAMES[wire]}, not {_NAMES[_WIRE[wanted]]}", _AGAIN)
    if isinstance(value, int):
        return bool(value) if wanted == "bool" else value
    try:
        if wanted == "float":
            return struct.unpack("<f", value)[0]
        return value.decode() if wanted == "str" else value
    except UnicodeDecodeError:
        raise place.error(f"field {number} is not UTF-8", _AGAIN) from None


def _named(data: bytes, place: Node, part: int) -> dict[str, Any]:
    """Return the known fields of a part by name. If a field occurs twice, the last one counts."""
    known = _KNOWN[part]
    return {known[field_.number][0]: _typed(field_, known[field_.number][1], place)
            for field_ in _fields(data, place)
            if field_.number in known}


def message(values: Iterable[tuple[int, bytes | str | int | float]]) -> bytes:
    """Encode (number, value) fields as a message: bytes and text with their length, an int as a varint, a
    float in single precision."""
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
    """Write a number, not negative, as a varint of protobuf: seven bits a byte, low ones first."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*out, number))


# --- the model ---

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
"""The types of pieces."""
LISTED = 0
"""The type of a token that only the class of a model has. It is not in files."""
SPELLED = (NORMAL, USER_DEFINED, UNUSED)
"""The types of pieces that text can become."""
UNIGRAM, BPE, WORD, CHAR = range(1, 5)
"""The types of models."""
BYTE_PIECE = re.compile("<0x([0-9A-F]{2})>")
_PARTS = {2: "trainer_spec", 3: "normalizer_spec", 5: "denormalizer_spec"}


def _at(part: int, number: int, default: object, *, option: bool = False) -> Any:
    """Return a dataclass field for a field of a part of the message. `option` marks training options that no
    recipe describes."""
    return field(default=default, metadata={"part": part, "number": number, "option": option})


@dataclass(frozen=True, slots=True)
class Piece:
    """A row of the vocabulary: its text, its log probability and its type, such as `NORMAL`."""

    text: str = _at(1, 1, "")
    score: float = _at(1, 2, 0.0)
    kind: int = _at(1, 3, NORMAL)


@dataclass(slots=True)
class Proto:
    """The fields of a model that are read, with the defaults of the format.

    Attributes:
        pieces: The pieces.
        renumbered: The id of each piece by the class of the model; empty if it is the index. A piece that the
            class lacks has the id of the unknown piece.
        others: The bytes of all fields except the pieces.
        commas: True if the class of the model cuts a piece that ends with a digit and a comma again.
    """

    pieces: list[Piece] = field(default_factory=list)
    renumbered: Sequence[int] = ()
    others: list[tuple[int, bytes]] = field(default_factory=list)
    commas: bool = False
    model_type: int = _at(2, 3, UNIGRAM)
    coverage: float = _at(2, 10, 0.9995)
    max_sentencepiece_length: int = _at(2, 20, 16, option=True)
    split_by_unicode_script: int = _at(2, 21, 1, option=True)
    split_by_whitespace: int = _at(2, 22, 1, option=True)
    split_by_number: int = _at(2, 23, 1, option=True)
    treat_whitespace_as_suffix: int = _at(2, 24, 0, option=True)
    digits: bool = _at(2, 25, False)
    allow_whitespace_only_pieces: int = _at(2, 26, 0, option=True)
    byte_fallback: bool = _at(2, 35, False)
    unknown_surface: str = _at(2, 44, " ⁇ ")
    pretokenization_delimiter: str = _at(2, 53, "", option=True)
    auto_character_coverage: int = _at(2, 55, 0, option=True)
    name: str = _at(3, 1, "")
    charsmap: bytes = _at(3, 2, b"")
    dummy_prefix: bool = _at(3, 3, True)
    squeeze: bool = _at(3, 4, True)
    escape: bool = _at(3, 5, True)
    denormalizes: bytes = _at(5, 2, b"")

    @property
    def ids(self) -> Sequence[int]:
        """The id of each piece."""
        return self.renumbered or range(len(self.pieces))

    @property
    def other_training_options(self) -> dict[str, int | str]:
        """Training options that no recipe describes and that differ from their defaults, by name."""
        return {field_.name: value for field_ in fields(self)
                if field_.metadata.get("option") and (value := getattr(self, field_.name)) != field_.default}


_KNOWN: dict[int, dict[int, tuple[str, str]]] = {}
"""The name and the type of each known field, by part and number."""
for _one in (*fields(Piece), *fields(Proto)):
    if _one.metadata:
        _KNOWN.setdefault(_one.metadata["part"], {})[_one.metadata["number"]] = _one.name, str(_one.type)


def parse(data: bytes, place: Node) -> Proto:
    """Return the model of a file.

    Raises:
        TokentuiError: It is damaged, or sentencepiece would refuse it. The message has the place.
    """
    proto = Proto()
    for field_ in _fields(data, place):
        if field_.number == 1:
            at = place.at("pieces").at(len(proto.pieces))
            proto.pieces.append(_piece(_typed(field_, "bytes", at), at))
            continue
        if field_.number in _PARTS:
            at = place.at(_PARTS[field_.number])
            for name, value in _named(_typed(field_, "bytes", place), at, field_.number).items():
                setattr(proto, name, value)
        if isinstance(field_.value, bytes) and field_.wire == _BYTES:
            proto.others.append((field_.number, field_.value))
    _check(proto, place)
    return proto


def begins(data: bytes) -> bool:
    """Return whether bytes begin with a piece that has text."""
    place = Node(None, "")
    try:
        first = next(_fields(data, place))
        return first.number == 1 and "text" in _named(_typed(first, "bytes", place), place, 1)
    except (TokentuiError, StopIteration):
        return False


def _piece(data: bytes, place: Node) -> Piece:
    """Read a piece of a model.

    Raises:
        TokentuiError: The piece is empty, its score is not finite, or its type is unknown.
    """
    piece = Piece(**_named(data, place, 1))
    if not piece.text:
        raise place.error("a piece is empty", _AGAIN)
    if not isfinite(piece.score):
        raise place.error("a score is not a number", _AGAIN)
    if not NORMAL <= piece.kind <= BYTE:
        raise place.error(f"there is no type {piece.kind} of pieces", "update tokentui")
    return piece


def _check(proto: Proto, place: Node) -> None:
    """Check a model as sentencepiece does: unique pieces, one unknown piece, all byte pieces or none."""
    at = place.at("pieces")
    check_tokens((len(piece.text) for piece in proto.pieces), at)
    if len(proto.unknown_surface) > _LONGEST_SURFACE:
        raise place.at("trainer_spec").error("the surface of the unknown piece is too long", _AGAIN)
    if not UNIGRAM <= proto.model_type <= CHAR:
        raise place.at("trainer_spec").error(f"there is no type {proto.model_type} of models",
                                             "update tokentui")
    seen: set[tuple[bool, str]] = set()
    for n, piece in enumerate(proto.pieces):
        key = (piece.kind in SPELLED, piece.text)
        if key in seen:
            raise at.at(n).error(f"{piece.text[:40]!r} occurs twice", _AGAIN)
        seen.add(key)
        if piece.kind == BYTE and not (proto.byte_fallback and BYTE_PIECE.fullmatch(piece.text)):
            what = f"{piece.text[:40]!r} is not a byte piece, and the model has byte fallback"
            raise at.at(n).error(what, _AGAIN)
    kinds = Counter(piece.kind for piece in proto.pieces)
    if kinds[UNKNOWN] != 1:
        raise at.error(f"there are {kinds[UNKNOWN]} unknown pieces, not one", _AGAIN)
    if proto.byte_fallback and kinds[BYTE] < 256:
        raise at.error(f"{256 - kinds[BYTE]} of the 256 byte pieces are missing", _AGAIN)


# --- words: rules, spaces, and one ▁ in front ---


_LONE = re.compile("[\udc80-\udcff]")
_SPACES = re.compile("  +")
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")


class SentencePieceWords(StagedPretokenizer):
    """Cuts a text into the words and units of a `.model`.

    Args:
        recipe: The recipe that describes it as well as the axes can.
        proto: The model.
        charsmap: Its normalization rules; None for none.
        cut: Cuts words before runs of ▁; None for no cuts.
        whole: True if user-defined symbols are units.
        prepare: What the class of the model does to a text first; None for nothing.
    """

    def __init__(
        self, recipe: Recipe, proto: Proto, charsmap: Charsmap | None, *, cut: CutBeforeMarks | None,
        whole: bool,
        prepare: Callable[[AlignedText], AlignedText] | None = None,
    ) -> None:
        super().__init__(recipe, None, cut, byte_level=False)
        self.proto = proto
        self.prepare = prepare
        self._charsmap = charsmap
        self._cut = cut
        symbols = [piece.text for piece in proto.pieces if piece.kind == USER_DEFINED]
        self._symbols = NameFinder(symbols) if symbols else None
        self._whole = whole
        if charsmap is None and prepare is None and not (proto.squeeze or proto.treat_whitespace_as_suffix):
            front = " " if proto.dummy_prefix else ""
            self.stretching = Stretching("", marked_words if proto.escape else plain_words, front)
        spaces = any(" " in name[1:] for name in symbols)
        self._stretches_are_independent = not spaces and (charsmap is None or charsmap.keeps_spaces)
        """True if text between spaces is normalized the same alone as in its context."""
        self._stretches = Memo(copy.copy(self)._made)

    def words(self, document: str, *, first: bool = True) -> list[str]:
        """Return the words of a document in order."""
        text = self._normal(document).text
        return [] if not text else self._cut.words(text) if self._cut else [text]

    @property
    def plain_unit(self) -> str:
        """The unit of words: `char`, or empty if a user-defined symbol is a unit."""
        return "" if self._symbols and self._whole else super().plain_unit

    def units(self, word: str) -> list[bytes]:
        """Return the characters of a word and the user-defined symbols in it."""
        return [to_bytes(unit) for unit in self._units(word)]

    def _units(self, word: str) -> list[str]:
        """Cut a word into characters, with the symbols of the model whole if it keeps them so."""
        units, at = list[str](), 0
        for start, end in self._symbols.spans(word) if self._symbols and self._whole else ():
            units += [*word[at:start], word[start:end]]
            at = end
        return [*units, *word[at:]]

    def _word(self, part: AlignedText) -> tuple[str, tuple[CharRange, ...]]:
        """Return the text and the range of each unit, from its first to its last character."""
        spans, at = [], 0
        for unit in self._units(part.text):
            spans.append((part.starts[at], part.ends[at + len(unit) - 1]))
            at += len(unit)
        return part.text, tuple(spans)

    def _normal(self, text: str) -> AlignedText:
        """Return a text as sentencepiece normalizes it, with ▁ for spaces and the dummy prefix in front or
        behind."""
        proto = self.proto
        text = _HALF.sub("\ufffd", text)
        typed, space = AlignedText.typed(text), SPACE_MARK if proto.escape else " "
        if self.prepare is not None:
            typed = self.prepare(typed)
            text = typed.text
        quick = self._quick(text)
        if quick is None:
            pieces = self._kept(text)
            normal = typed.edited("".join(piece for piece, _, _ in pieces), lambda: pieces)
        else:
            normal = typed.edited(quick, lambda: self._kept(text))
        if not normal.text:
            return normal
        normal = normal.respelled(normal.text.replace(" ", space))
        if proto.dummy_prefix and not proto.treat_whitespace_as_suffix:
            normal = normal.prepended(space)
        if proto.squeeze:
            normal = normal.part(0, len(normal.text.rstrip(space)))
        if not (proto.dummy_prefix and proto.treat_whitespace_as_suffix):
            return normal
        end = normal.ends[-1] if normal.text else len(text)
        return normal.respelled(normal.text + space, lambda: ([*normal.starts, end], [*normal.ends, end]))

    def _quick(self, text: str) -> str | None:
        """Return the normalized text, computing each distinct part once. None if parts depend on their
        context, or the text grows too much."""
        if not (self._charsmap or self._symbols):
            normal = _LONE.sub("\ufffd", text)
        elif not self._stretches_are_independent:
            return None
        else:
            try:
                normal = "".join(map(self._stretches.__getitem__, STRETCHES.findall(text)))
                check_growth(len(text), len(normal), "")
            except TokentuiError:  # it makes much: who looks at all of the text says if that is too much
                return None
        return _SPACES.sub(" ", normal).lstrip(" ") if self.proto.squeeze else normal

    def _made(self, stretch: str) -> str:
        if self._charsmap and self._charsmap.plain.fullmatch(stretch):
            return stretch  # symbols stand for themselves
        return "".join([result for result, _, _ in self.rewritten(stretch)])

    def _kept(self, text: str) -> list[tuple[str, int, int]]:
        """Return the pieces (result, start, end) of a text. If spaces are squeezed, leading and repeated ones
        are dropped."""
        pieces: list[tuple[str, int, int]] = []
        after_space = self.proto.squeeze
        for result, start, end in self.rewritten(text):
            stripped = result.lstrip(" ") if after_space else result
            if stripped:
                pieces.append((stripped, start, end))
                after_space = self.proto.squeeze and stripped.endswith(" ")
        return pieces

    def rewritten(self, text: str) -> list[tuple[str, int, int]]:
        """Return (result, start, end) for each rule, user-defined symbol or character."""
        data = text.encode("utf-8", "surrogateescape")
        out: list[tuple[str, int, int]] = []
        at = place = size = 0
        while at < len(text):
            symbol = self._symbols.length_at(text, at) if self._symbols else 0
            rules = self._charsmap.matches(data, place) if self._charsmap and not symbol else []
            if symbol:
                taken = replacement = text[at : at + symbol]
            elif rules:  # the longest counts; one of half a character takes all of it
                length, result = rules[-1]
                taken = data[place : place + length].decode("utf-8", "ignore") or text[at]
                replacement = result.decode("utf-8", "replace")
                size += len(replacement)
                check_growth(len(text), size, "normalizer_spec.precompiled_charsmap")
            else:
                taken, replacement = text[at], _LONE.sub("\ufffd", text[at])
            out.append((replacement, at, at + len(taken)))
            at += len(taken)
            place += len(taken.encode("utf-8", "surrogateescape"))
        return out


def proto_of(pretokenizer: Pretokenizer) -> Proto | None:
    """Return the message of a pretokenizer that was read from a `.model`; None for another one."""
    return pretokenizer.proto if isinstance(pretokenizer, SentencePieceWords) else None
