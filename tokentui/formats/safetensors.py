"""Files of safetensors: the header, checked as the owner's library checks it, and rows of a tensor as floats.

A file is 8 bytes, the little-endian size N of the header; N bytes of JSON; the data. The JSON has for each
tensor its `dtype`, `shape` and `data_offsets`, counted from the end of the header, and `__metadata__`.
Tensors lie one after the other without a hole. Numbers are little-endian and in row-major order.

Source: huggingface/safetensors 0.8.0. Names that occur twice are refused here.

Rows are read block by block. NumPy decodes them if it is installed, else the standard library does.
"""

from __future__ import annotations

import functools
import importlib
import json
import math
import struct
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple, TypeGuard

from tokentui.core.errors import TokentuiError, shown
from tokentui.core.jobs import check

LARGEST_HEADER = 100_000_000
BLOCK_ROWS = 256
"""The rows that are decoded at a time."""
_MOST_COLUMNS = 1 << 17
_HINT = "name a file of safetensors"
WIDTHS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "F8_E4M3": 1, "F8_E5M2": 1}
"""Bytes of a number of each type that is decoded."""
_BITS = {
    **{name: 8 * width for name, width in WIDTHS.items()}, "BOOL": 8, "U8": 8, "I8": 8, "U16": 16, "I16": 16,
    "U32": 32, "I32": 32, "U64": 64, "I64": 64, "C64": 64, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
}


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of a file.

    Attributes:
        name: Its name.
        dtype: The name of its type.
        shape: Its sizes.
        start: The place of its first byte in the file.
        size: Its bytes.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    size: int


class Header(NamedTuple):
    """The header of a file.

    Attributes:
        tensors: The tensors by name.
        metadata: The texts of `__metadata__`.
    """

    tensors: Mapping[str, Tensor]
    metadata: Mapping[str, str]


def read_header(stream: BinaryIO, size: int, where: str) -> Header:
    """Read and check the header of a file.

    Args:
        stream: The file, at its start.
        size: Its bytes.
        where: Its name, for errors.

    Raises:
        TokentuiError: The file is malformed.
    """
    first = stream.read(8)
    if len(first) < 8:
        raise TokentuiError("it is too short for a header", where, _HINT)
    (length,) = struct.unpack("<Q", first)
    if length > LARGEST_HEADER:
        raise TokentuiError("its header is larger than 100 MB, or it is no such file", where, _HINT)
    if 8 + length > size:
        raise TokentuiError("it ends within its header", where, "copy it again")
    try:
        rows = json.loads(_exactly(stream, length, where).decode("utf-8"), object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        twice = isinstance(error, _Twice)
        raise TokentuiError(
            f"a name occurs twice in its header: {error}" if twice else "its header is no JSON", where, _HINT
        ) from None
    if not isinstance(rows, dict):
        raise TokentuiError("its header is no JSON object", where, _HINT)
    metadata = rows.pop("__metadata__", None) or {}
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise TokentuiError("its metadata are not texts", where, _HINT)
    tensors = {name: _tensor(name, row, 8 + length, where) for name, row in rows.items()}
    end = 8 + length
    for tensor in sorted(tensors.values(), key=lambda one: (one.start, one.size)):
        if tensor.start != end:
            raise TokentuiError(f"a hole or an overlap before {shown(tensor.name)}", where, "copy it again")
        end += tensor.size
    if end != size:
        raise TokentuiError(f"it has {size:,} bytes and needs {end:,}", where, "copy it again")
    return Header(tensors, metadata)


class _Twice(ValueError):
    """A name of a JSON object occurs twice."""


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make a dict of JSON pairs. Raises `_Twice` for a name that comes twice."""
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise _Twice(shown(name))
        found[name] = value
    return found


def _tensor(name: str, row: object, data: int, where: str) -> Tensor:
    """Return a tensor from its row in the header. Raises unless its type, shape and place agree."""
    what = f"tensor {shown(name)}"
    if not isinstance(row, dict):
        raise TokentuiError(f"{what} is not described", where, _HINT)
    dtype, shape, offsets = row.get("dtype"), row.get("shape"), row.get("data_offsets")
    if not isinstance(dtype, str) or dtype not in _BITS:
        raise TokentuiError(f"{what} has an unknown type {shown(dtype)}", where, _HINT)
    if not _is_whole(shape) or not _is_whole(offsets) or len(offsets) != 2:
        raise TokentuiError(f"{what} has no shape or no place", where, _HINT)
    begin, end = offsets
    bits = math.prod(shape) * _BITS[dtype]
    if begin > end or bits % 8 or bits // 8 != end - begin:
        raise TokentuiError(f"{what} has another size than its shape", where, "copy it again")
    return Tensor(name, dtype, tuple(shape), data + begin, end - begin)


def _is_whole(values: object) -> TypeGuard[list[int]]:
    return isinstance(values, list) and len(values) <= 64 and all(
        type(value) is int and 0 <= value < 1 << 62 for value in values
    )


def _exactly(stream: BinaryIO, size: int, where: str) -> bytes:
    """Read exactly so many bytes: a stream of a server may give fewer at a time. Raises if it ends before."""
    parts, left = [], size
    while left:
        part = stream.read(left)
        if not part:
            raise TokentuiError("it ends too early", where, "copy it again")
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


# ---- rows


def check_matrix(tensor: Tensor, where: str) -> None:
    """Raise if the rows of a tensor cannot be read.

    Raises:
        TokentuiError: It is no matrix, or its type is not decoded.
    """
    name = shown(tensor.name)
    if len(tensor.shape) != 2 or not all(tensor.shape):
        raise TokentuiError(f"tensor {name} is no matrix", where, "name another with --embedding or --head")
    if tensor.dtype not in WIDTHS:
        what = f"tensor {name}: unsupported dtype {tensor.dtype}"
        raise TokentuiError(what, where, f"one of: {', '.join(WIDTHS)}")
    if tensor.shape[1] > _MOST_COLUMNS:
        what = f"tensor {name} has rows of {tensor.shape[1]:,} numbers"
        raise TokentuiError(what, where, "name another one")


def row_blocks(
    stream: BinaryIO, tensor: Tensor, where: str, start: int = 0, stop: int | None = None
) -> Iterator[tuple[int, Any]]:
    """Yield the rows of a matrix in blocks: the number of the first row, and the rows.

    Rows are a NumPy array of floats, or lists of arrays of floats where NumPy is not installed.

    Args:
        stream: The file.
        tensor: The matrix, see `check_matrix`.
        where: The name of the file, for errors.
        start, stop: The rows to read; None for the last.

    Raises:
        TokentuiError: The file ends too early.
        Cancelled: The job is cancelled.
    """
    count, columns = tensor.shape
    stop = count if stop is None else min(stop, count)
    width = WIDTHS[tensor.dtype] * columns
    if start >= stop:
        return
    stream.seek(tensor.start + start * width)
    for first in range(start, stop, BLOCK_ROWS):
        check()
        rows = min(BLOCK_ROWS, stop - first)
        data = _exactly(stream, rows * width, where)
        yield first, decoded(data, tensor.dtype, rows, columns)


def decoded(data: bytes, dtype: str, rows: int, columns: int) -> Any:
    """Return bytes as the rows of a matrix, see `row_blocks`: of NumPy if it is installed, else lists."""
    if (np := numpy()) is not None:
        return _by_numpy(np, data, dtype).reshape(rows, columns)
    values = numbers(data, dtype)
    return [values[at : at + columns] for at in range(0, rows * columns, columns)]


@functools.cache
def numpy() -> Any:
    """Return the module NumPy, or None if it is not installed."""
    try:
        return importlib.import_module("numpy")
    except ImportError:
        return None


def _by_numpy(np: Any, data: bytes, dtype: str) -> Any:
    """Return the numbers as a NumPy array: float64 for F64, else float32."""
    if dtype == "BF16":
        return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
    if dtype.startswith("F8"):
        return np.asarray(_table(dtype), np.float32)[np.frombuffer(data, np.uint8)]
    if dtype == "F64":
        return np.frombuffer(data, "<f8")
    return np.frombuffer(data, {"F32": "<f4", "F16": "<f2"}[dtype]).astype(np.float32)


def numbers(data: bytes, dtype: str) -> array[float]:
    """Return bytes of a type as floats, by the standard library.

    >>> numbers(b"\\x80\\x3f", "BF16")[0], numbers(b"\\x7e", "F8_E4M3")[0]
    (1.0, 448.0)
    """
    if dtype in ("F32", "F64"):
        values = array("f" if dtype == "F32" else "d", data)
        if sys.byteorder != "little":
            values.byteswap()
        return values
    if dtype == "F16":
        return array("f", struct.unpack(f"<{len(data) // 2}e", data))
    if dtype == "BF16":
        wide = bytearray(2 * len(data))
        wide[2::4], wide[3::4] = data[::2], data[1::2]
        return numbers(bytes(wide), "F32")
    table = _table(dtype)
    return array("f", [table[byte] for byte in data])


@functools.cache
def _table(dtype: str) -> Sequence[float]:
    """Return the number of each byte of a type of 8 bits."""
    return tuple(map(_e4m3 if dtype == "F8_E4M3" else _e5m2, range(256)))


def _e4m3(code: int) -> float:
    """4 bits of exponent with a bias of 7. Only the greatest code is no number; none is infinite."""
    sign, exponent, fraction = -1.0 if code & 0x80 else 1.0, code >> 3 & 15, code & 7
    if exponent == 15 and fraction == 7:
        return math.nan
    return sign * (fraction / 8 * 2.0**-6 if not exponent else (1 + fraction / 8) * 2.0 ** (exponent - 7))


def _e5m2(code: int) -> float:
    """5 bits of exponent with a bias of 15, as in half precision."""
    sign, exponent, fraction = -1.0 if code & 0x80 else 1.0, code >> 2 & 31, code & 3
    if exponent == 31:
        return math.nan if fraction else sign * math.inf
    return sign * (fraction / 4 * 2.0**-14 if not exponent else (1 + fraction / 4) * 2.0 ** (exponent - 15))
