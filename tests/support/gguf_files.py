"""GGUF files without tensors, as converters write them."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
_UINT8, _INT32, _UINT32, _FLOAT32, _BOOL, _STRING, _ARRAY = 0, 5, 4, 6, 7, 8, 9


class Array(NamedTuple):
    """Numbers of a type of `struct`."""

    code: str
    numbers: Sequence[int | float]


_KINDS = {"b": 1, "B": 0, "h": 3, "i": _INT32, "I": _UINT32, "f": _FLOAT32, "d": 12, "Q": 10}


def gguf(values: Mapping[str, Any], *, version: int = 3, order: str = "<", tensors: int = 0) -> bytes:
    """The bytes of a file with these metadata: whole numbers from 0 on, bool, str, list[str] or `Array`."""
    out = [b"GGUF", struct.pack(order + "IQQ", version, tensors, len(values))]

    def text(value: str) -> bytes:
        data = value.encode("utf-8", "surrogateescape")
        return struct.pack(order + "Q", len(data)) + data

    for key, value in values.items():
        out.append(text(key))
        match value:
            case bool():
                out.append(struct.pack(order + "I?", _BOOL, value))
            case int():
                out.append(struct.pack(order + "II", _UINT32, value))
            case str():
                out += [struct.pack(order + "I", _STRING), text(value)]
            case Array(code, numbers):
                out += [struct.pack(order + "IIQ", _ARRAY, _KINDS[code], len(numbers)),
                        struct.pack(f"{order}{len(numbers)}{code}", *numbers)]
            case _:
                out += [struct.pack(order + "IIQ", _ARRAY, _STRING, len(value)), *map(text, value)]
    return b"".join(out)


def vocabulary(
    model: str, tokens: Sequence[str], kinds: Sequence[int], *, scores: Sequence[float] = (),
    **others: Any,
) -> dict[str, Any]:
    """The metadata of a vocabulary; other keys of `tokenizer.ggml` by their last part."""
    values: dict[str, Any] = {
        "general.architecture": "llama", "tokenizer.ggml.model": model, "tokenizer.ggml.tokens": list(tokens),
        "tokenizer.ggml.token_type": Array("i", kinds),
    }
    if scores:
        values["tokenizer.ggml.scores"] = Array("f", scores)
    return values | {f"tokenizer.ggml.{name}": value for name, value in others.items()}
