"""Messages of protocol buffers, for files that no library writes."""

from __future__ import annotations

import struct
from collections.abc import Iterable

Value = bytes | int | float


def varint(number: int) -> bytes:
    """A number as a varint."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*out, number))


def message(fields: Iterable[tuple[int, Value]]) -> bytes:
    """A message of (number, value): bytes, an int as a varint, a float as 4 bytes."""
    out = b""
    for number, value in fields:
        if isinstance(value, bytes):
            out += varint(number << 3 | 2) + varint(len(value)) + value
        elif isinstance(value, float):
            out += varint(number << 3 | 5) + struct.pack("<f", value)
        else:
            out += varint(number << 3) + varint(value)
    return out
