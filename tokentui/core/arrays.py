"""Flat arrays of numbers, in which kernels and their callers keep what they work on.

They are `memoryview` objects of pages of memory, so that a large one costs nothing before it is written.
`core/native.py` passes them to machine code.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, TypeAlias

from tokentui.core.pages import room_for

Array: TypeAlias = Any
"""An object with a buffer of numbers, such as the arrays of `flat`."""
WIDTHS = {
    "uint8": 1, "uint16": 2, "int32": 4, "uint32": 4, "float32": 4, "int64": 8, "uint64": 8, "float64": 8,
}
"""Bytes of a number of each type."""
FORMATS = {
    "uint8": "B", "uint16": "H", "int32": "i", "uint32": "I", "float32": "f", "int64": "q", "uint64": "Q",
    "float64": "d",
}
"""Format letter of each type in `array` and `memoryview`."""


class Row(NamedTuple):
    """Layout of a row of an array, without padding.

    Attributes:
        fields: (name, kind) of each field, such as ("symbol", "int32").
    """

    fields: tuple[tuple[str, str], ...]


def flat(kind: str | Row, size: int) -> Array:
    """Return an array of zeros.

    Of rows whose fields have one type, it has the numbers one after the other; of other rows, bytes. The
    memory of a large array is allocated when it is first written.

    Args:
        kind: The type of the numbers, or the layout of the rows.
        size: How many numbers or rows.
    """
    view: Array = memoryview(room_for(size * width_of(kind)))
    return view.cast(letter_of(kind))


@functools.cache
def width_of(kind: str | Row) -> int:
    """Return the size of a number or row in bytes."""
    return sum(WIDTHS[of] for _, of in kind.fields) if isinstance(kind, Row) else WIDTHS[kind]


@functools.cache
def letter_of(kind: str | Row) -> str:
    """Return the format letter of an array of `flat`; that of bytes for rows of several types."""
    if isinstance(kind, str):
        return FORMATS[kind]
    kinds = {of for _, of in kind.fields}
    return FORMATS[kinds.pop()] if len(kinds) == 1 else "B"


def larger(values: Array, kind: str | Row, size: int, filled: int | None = None) -> Array:
    """Return an array that has room for at least `size` numbers or rows and begins with the content of
    another one.

    Return the array itself if it is large enough.

    Args:
        values: The array.
        kind: The type of its numbers, or the layout of its rows.
        size: How many numbers or rows need room.
        filled: How many of them are copied; None for all.
    """
    each = width_of(kind) // memoryview(values).itemsize
    if size * each <= len(values):
        return values
    end = len(values) if filled is None else filled * each
    made = flat(kind, size)
    made[:end] = values[:end]
    return made
