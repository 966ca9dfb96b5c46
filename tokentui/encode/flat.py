"""Ids in a flat file: the numbers alone, little-endian, as training code maps them into memory."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable

from tokentui.core.errors import TokentuiError, text_of
from tokentui.core.jobs import silent, tick
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.encoding import joined
from tokentui.encode.vocabulary import NO_ID

TYPES = {"uint16": (2, 0xFFFF), "uint32": (4, 0xFFFFFFFF)}
"""The types of the numbers, by NumPy's names: their bytes and the largest number."""


def type_for(largest: int) -> str:
    """Return the smallest type that an id fits into.

    Raises:
        TokentuiError: It fits into none.
    """
    for name, (_, most) in TYPES.items():
        if largest <= most:
            return name
    raise TokentuiError(f"id {largest} does not fit {name}", "dtype", "a flat file has ids of 32 bits")


def ids_of_texts(
    encoder: WordEncoder, texts: Iterable[str | bytes], *, special_tokens: bool = False,
    allow_special: bool = False,
) -> array[int]:
    """Return the ids of texts one after the other; see `WordEncoder.ids`. Progress is in characters, or in
    texts if their number is unknown.

    Raises:
        TokentuiError, Cancelled: As `WordEncoder.ids` does.
    """
    ids = array("i")
    sizes = [len(text_of(text, f"text {n}")) for n, text in enumerate(texts, 1)] if (
        isinstance(texts, list | tuple)) else []
    total, done = sum(sizes), 0
    for number, given in enumerate(texts):
        text = text_of(given, f"text {number + 1}")
        if len(sizes) == 1:
            return encoder.ids(text, special_tokens=special_tokens, allow_special=allow_special)
        with silent():
            more = encoder.ids(text, special_tokens=special_tokens, allow_special=allow_special)
        ids = joined(ids, more)
        done += sizes[number] if sizes else 1
        tick(done, total)
    return ids


def flat(ids: array[int], dtype: str) -> bytes:
    """Return ids as the bytes of a flat file.

    Args:
        ids: The ids, of 32 or 64 bits.
        dtype: A name in `TYPES`.

    Raises:
        TokentuiError: An id is too large for the type, or a token has no id.
    """
    width, most = TYPES[dtype]
    # Halves of numbers are compared and copied at a stride: 8 ns an id, and 40 ns one by one.
    if ids.typecode == "i" and sys.byteorder == "little":
        view = memoryview(ids).cast("B")
        if width == 4 and view[3::4].tobytes().isascii():
            return view.tobytes()
        halves = view.cast("H")
        if width == 2 and not any(halves[1::2].tobytes().strip(b"\0")):
            return halves[::2].tobytes()
    for number, token_id in enumerate(ids):
        if token_id == NO_ID:
            what = f"token {number:,} has no id"
            raise TokentuiError(what, "a flat file", "use a tokenizer with an unknown token")
        if not 0 <= token_id <= most:
            what = f"id {token_id} of token {number:,} does not fit {dtype}"
            raise TokentuiError(what, "a flat file", f"use {next(reversed(TYPES))}" if width == 2 else "")
    numbers = array("H" if width == 2 else "I", ids)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
