"""A minimal reader and writer of the protocol-buffer wire format: messages as fields by number.

The reader checks the types of fields.

Source: protobuf.dev, "Encoding". Fields that the caller does not name are skipped. Groups, which no known
writer uses, are refused.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from tokentui.formats.document import Node

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_NAMES = {VARINT: "a varint", FIXED64: "8 bytes", BYTES: "bytes", FIXED32: "4 bytes"}

Field = tuple[int, int, int | bytes]
"""A field: its number, its wire type, its value (of fixed types the raw bytes)."""


def fields(data: bytes, place: Node) -> Iterator[Field]:
    """The fields of a message in order.

    Raises:
        TokentuiError: It is cut off or damaged; it says at which byte.
    """
    at, size = 0, len(data)
    while at < size:
        begin = at
        tag, at = _varint(data, at, place)
        number, kind = tag >> 3, tag & 7
        if not 0 < number < 1 << 29:
            raise _damaged(place, begin, f"no field has the number {number}")
        if kind == VARINT:
            value, at = _varint(data, at, place)
            yield number, kind, value
            continue
        if kind == BYTES:
            length, at = _varint(data, at, place)
        elif kind in (FIXED64, FIXED32):
            length = 8 if kind == FIXED64 else 4
        else:
            raise _damaged(place, begin, f"no field has the wire type {kind}")
        if length > size - at:
            raise _damaged(place, begin, "it is cut off")
        yield number, kind, data[at : at + length]
        at += length


def typed(field: Field, kind: int, place: Node) -> int | bytes:
    """The value of a field, which must have this wire type."""
    if field[1] != kind:
        raise place.error(f"field {field[0]} is {_NAMES[field[1]]}, not {_NAMES[kind]}",
                          "fetch the file again")
    return field[2]


def whole(field: Field, place: Node) -> int:
    """The value of a field of a number or a flag."""
    value = typed(field, VARINT, place)
    assert isinstance(value, int)
    return value


def raw(field: Field, place: Node) -> bytes:
    """The value of a field of bytes or a message."""
    value = typed(field, BYTES, place)
    assert isinstance(value, bytes)
    return value


def text(field: Field, place: Node) -> str:
    """The value of a field of text."""
    try:
        return raw(field, place).decode("utf-8")
    except UnicodeDecodeError:
        raise place.error(f"field {field[0]} is not UTF-8", "fetch the file again") from None


def real(field: Field, place: Node) -> float:
    """The value of a field of a float."""
    value = typed(field, FIXED32, place)
    assert isinstance(value, bytes)
    return float(struct.unpack("<f", value)[0])


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


def _damaged(place: Node, at: int, what: str) -> Exception:
    return place.error(f"damaged at byte {at}: {what}", "fetch the file again")


def message(values: Iterable[tuple[int, bytes | str | int | float]]) -> bytes:
    """A message of (number, value): bytes and texts as they are, a whole number as a varint, a float in
    single precision.
    """
    out = bytearray()
    for number, value in values:
        if isinstance(value, float):
            out += _as_varint(number << 3 | FIXED32) + struct.pack("<f", value)
        elif isinstance(value, int):
            out += _as_varint(number << 3 | VARINT) + _as_varint(value & (1 << 64) - 1)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += _as_varint(number << 3 | BYTES) + _as_varint(len(data)) + data
    return bytes(out)


def _as_varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*out, number))
