"""Files of safetensors, written from the description."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence


def packed(rows: Sequence[Sequence[float]], dtype: str = "F32") -> bytes:
    """The rows of a matrix as bytes."""
    values = [value for row in rows for value in row]
    if dtype == "BF16":
        return b"".join(struct.pack("<f", value)[2:] for value in values)
    letter = {"F64": "d", "F32": "f", "F16": "e"}[dtype]
    return struct.pack(f"<{len(values)}{letter}", *values)


def file_of(header: object, data: bytes = b"", *, size: int | None = None) -> bytes:
    """A file with any header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if size is None else size) + text + data


def model(tensors: Mapping[str, tuple[Sequence[Sequence[float]], str]]) -> bytes:
    """A file of some matrices, each with its type."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, (rows, dtype) in tensors.items():
        part = packed(rows, dtype)
        shape, place = [len(rows), len(rows[0])], [len(data), len(data) + len(part)]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": place}
        data += part
    return file_of(header, data)
