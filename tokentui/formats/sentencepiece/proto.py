"""The message of a `.model` as a value. Source: google/sentencepiece, `sentencepiece_model.proto`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import isfinite

from tokentui.formats import protobuf
from tokentui.formats.document import Node, check_tokens

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
"""The types of pieces."""
UNIGRAM, BPE, WORD, CHAR = range(1, 5)
"""The types of models."""

_UNTOLD = {
    20: ("max_sentencepiece_length", 16), 21: ("split_by_unicode_script", 1), 22: ("split_by_whitespace", 1),
    23: ("split_by_number", 1), 24: ("treat_whitespace_as_suffix", 0),
    26: ("allow_whitespace_only_pieces", 0),
    55: ("auto_character_coverage", 0),
}
"""Options of the trainer by their fields: the name, and the default, which is what the filter of pieces takes
for granted.
"""
_DELIMITER = 53

_BYTE = re.compile("<0x([0-9A-F]{2})>")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece; its id is its place."""

    text: str
    score: float = 0.0
    kind: int = NORMAL


@dataclass(slots=True)
class Proto:
    """The parts of a model that are read; the defaults are those of the format."""

    pieces: list[Piece] = field(default_factory=list)
    model_type: int = UNIGRAM
    byte_fallback: bool = False
    suffix: bool = False
    unknown_surface: str = " ⁇ "
    charsmap: bytes = b""
    name: str = ""
    dummy_prefix: bool = True
    squeeze: bool = True
    escape: bool = True
    denormalizes: bool = False
    coverage: float = 0.9995
    digits: bool = False
    untold: dict[str, int | str] = field(default_factory=dict)
    """The options of its training that no recipe says, by their names, where they are not at their defaults.
    """
    others: list[tuple[int, bytes]] = field(default_factory=list)
    """All fields except the pieces, as the file has them."""


def parse(data: bytes, place: Node) -> Proto:
    """The model of a file.

    Raises:
        TokentuiError: It is damaged, or sentencepiece would refuse it; it says where.
    """
    proto = Proto()
    for one in protobuf.fields(data, place):
        if one[0] == 1:
            at = place.at("pieces").at(len(proto.pieces))
            proto.pieces.append(_piece(protobuf.raw(one, at), at))
        elif one[0] == 2:
            _trainer(proto, protobuf.raw(one, place), place.at("trainer_spec"))
        elif one[0] == 3:
            _normalizer(proto, protobuf.raw(one, place), place.at("normalizer_spec"))
        elif one[0] == 5:
            proto.denormalizes = any(f[0] == 2 and f[2]
                                     for f in protobuf.fields(protobuf.raw(one, place), place))
        if one[0] != 1 and one[1] == protobuf.BYTES:
            proto.others.append((one[0], protobuf.raw(one, place)))
    _check(proto, place)
    return proto


def _piece(data: bytes, place: Node) -> Piece:
    text, score, kind = "", 0.0, NORMAL
    for one in protobuf.fields(data, place):
        if one[0] == 1:
            text = protobuf.text(one, place)
        elif one[0] == 2:
            score = protobuf.real(one, place)
        elif one[0] == 3:
            kind = protobuf.whole(one, place)
    if not text:
        raise place.error("a piece is empty", "fetch the file again")
    if not isfinite(score):
        raise place.error("a score is no number", "fetch the file again")
    if not NORMAL <= kind <= BYTE:
        raise place.error(f"there is no type {kind} of pieces", "update tokentui")
    return Piece(text, score, kind)


def _trainer(proto: Proto, data: bytes, place: Node) -> None:
    for one in protobuf.fields(data, place):
        if one[0] == 3:
            proto.model_type = protobuf.whole(one, place)
        elif one[0] == 10:
            proto.coverage = protobuf.real(one, place)
        elif one[0] == 24:
            proto.suffix = bool(protobuf.whole(one, place))
        elif one[0] == 25:
            proto.digits = bool(protobuf.whole(one, place))
        elif one[0] == 35:
            proto.byte_fallback = bool(protobuf.whole(one, place))
        elif one[0] == 44:
            proto.unknown_surface = protobuf.text(one, place)
        if one[0] in _UNTOLD and one[1] == protobuf.VARINT:
            name, usual = _UNTOLD[one[0]]
            value = protobuf.whole(one, place)
            if value != usual:
                proto.untold[name] = value
        elif one[0] == _DELIMITER and (text := protobuf.text(one, place)):
            proto.untold["pretokenization_delimiter"] = text


def _normalizer(proto: Proto, data: bytes, place: Node) -> None:
    for one in protobuf.fields(data, place):
        if one[0] == 1:
            proto.name = protobuf.text(one, place)
        elif one[0] == 2:
            proto.charsmap = protobuf.raw(one, place)
        elif one[0] == 3:
            proto.dummy_prefix = bool(protobuf.whole(one, place))
        elif one[0] == 4:
            proto.squeeze = bool(protobuf.whole(one, place))
        elif one[0] == 5:
            proto.escape = bool(protobuf.whole(one, place))


def _check(proto: Proto, place: Node) -> None:
    """Check a model as sentencepiece does: every piece once, one unknown piece, all byte pieces or none."""
    at = place.at("pieces")
    check_tokens((len(piece.text) for piece in proto.pieces), at)
    if not UNIGRAM <= proto.model_type <= CHAR:
        raise place.at("trainer_spec").error(f"there is no type {proto.model_type} of models",
                                             "update tokentui")
    seen: set[tuple[bool, str]] = set()
    values: set[int] = set()
    unknown = 0
    for n, piece in enumerate(proto.pieces):
        key = (piece.kind in (NORMAL, USER_DEFINED, UNUSED), piece.text)
        if key in seen:
            raise at.at(n).error(f"{piece.text[:40]!r} stands there twice", "fetch the file again")
        seen.add(key)
        unknown += piece.kind == UNKNOWN
        if piece.kind == BYTE:
            values.add(byte_of(piece.text, at.at(n)))
            if not proto.byte_fallback:
                raise at.at(n).error("a byte piece, but the model has no byte fallback",
                                     "fetch the file again")
    if unknown != 1:
        raise at.error(f"there are {unknown} unknown pieces, not one", "fetch the file again")
    if proto.byte_fallback and len(values) < 256:
        raise at.error(f"{256 - len(values)} of the 256 byte pieces are missing", "fetch the file again")


def byte_of(name: str, place: Node) -> int:
    """The byte that a byte piece stands for."""
    match = _BYTE.fullmatch(name)
    if not match:
        raise place.error(f"{name[:40]!r} is no byte piece", "fetch the file again")
    return int(match[1], 16)
