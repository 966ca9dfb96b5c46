"""Safetensors files: valid ones load, others are refused in one line; every number of the small types."""

from __future__ import annotations

import io
import math
import struct
from pathlib import Path
from typing import Any

import pytest
from safetensors_files import file_of, model, packed

from tokentui.core.errors import TokentuiError
from tokentui.formats import safetensors
from tokentui.formats.safetensors import check_matrix, decoded, numbers, read_header, row_blocks


def tensor(begin: int, end: int, shape: list[int], dtype: str = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


GOOD = {
    "two": file_of({"a": tensor(0, 8, [2]), "b": tensor(8, 12, [1, 1])}, bytes(12)),
    "scalar": file_of({"a": tensor(0, 4, [])}, bytes(4)),
    "no numbers": file_of({"a": tensor(0, 0, [0, 5])}),
    "nothing": file_of({}),
    "a space before": file_of(b" {}  "),
    "metadata": file_of({"__metadata__": {"x": "y"}}),
    "out of order": file_of({"b": tensor(8, 12, [1]), "a": tensor(0, 8, [2])}, bytes(12)),
}
BAD = {
    "empty": b"", "short": b"\1\0\0", "larger than 100 MB": struct.pack("<Q", 100_000_001) + b"{}",
    "header beyond the end": file_of({}, size=50), "no JSON": file_of(b"{"),
    "no UTF-8": file_of(b'{"\xff": 1}'),
    "a list": file_of(b"[]"), "a hole": file_of({"a": tensor(4, 8, [1])}, bytes(8)),
    "an overlap": file_of({"a": tensor(0, 8, [2]), "b": tensor(4, 12, [2])}, bytes(12)),
    "another size": file_of({"a": tensor(0, 8, [3])}, bytes(8)), "data at the end": file_of({}, b"x"),
    "too little data": file_of({"a": tensor(0, 8, [2])}, bytes(4)),
    "twice": file_of(b'{"a": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}, "a": 1}'),
    "no dtype": file_of({"a": {"shape": [0], "data_offsets": [0, 0]}}),
    "unknown dtype": file_of({"a": tensor(0, 4, [1], "F33")}, bytes(4)),
    "negative": file_of({"a": tensor(-4, 0, [1])}),
    "a huge shape": file_of({"a": tensor(0, 4, [1 << 61, 1 << 61])}, bytes(4)),
    "metadata of numbers": file_of({"__metadata__": {"x": 1}}),
    "a float": file_of({"a": tensor(0, 4, [1]) | {"shape": [1.0]}}, bytes(4)),
    "deep": file_of(b"[" * 100_000),
}


@pytest.mark.parametrize("name", GOOD)
def test_good_files(name: str) -> None:
    read_header(io.BytesIO(GOOD[name]), len(GOOD[name]), name)


@pytest.mark.parametrize("name", BAD)
def test_malformed_files_are_refused_in_one_line(name: str) -> None:
    with pytest.raises(TokentuiError) as caught:
        read_header(io.BytesIO(BAD[name]), len(BAD[name]), "x.safetensors")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [*GOOD, *BAD])
def test_the_owner_judges_alike(name: str, tmp_path: Path) -> None:
    owner = pytest.importorskip("safetensors")
    data = {**GOOD, **BAD}[name]
    (tmp_path / "x").write_bytes(data)
    try:
        with owner.safe_open(str(tmp_path / "x"), "numpy"):
            accepted = True
    except Exception:
        accepted = False
    assert accepted == (name in GOOD) or name == "twice"  # which of the two counts is nowhere said


def test_rows_are_those_of_the_file() -> None:
    rows = [[float(at * 7 + column) for column in range(5)] for at in range(600)]
    for dtype in ("F64", "F32"):
        data = model({"x": ([[1.0, 2.0]], "F16"), "m": (rows, dtype)})
        header = read_header(io.BytesIO(data), len(data), "x")
        found = list(row_blocks(io.BytesIO(data), header.tensors["m"], "x", 10, 590))
        assert [first for first, _ in found] == [10, 266, 522]
        assert [list(map(float, row)) for _, block in found for row in block] == rows[10:590]


@pytest.mark.parametrize("dtype", ["F16", "BF16", "F8_E4M3", "F8_E5M2"])
def test_numpy_and_the_standard_library_decode_every_code_alike(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = bytes(range(256)) if dtype.startswith("F8") else struct.pack("<65536H", *range(65536))
    plain = numbers(codes, dtype)
    if safetensors.numpy() is not None:
        rapid = [float(value) for value in decoded(codes, dtype, 1, len(plain))[0]]
        assert all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(plain, rapid, strict=True))
    monkeypatch.setattr(safetensors, "numpy", lambda: None)
    assert len(decoded(codes, dtype, 2, len(plain) // 2)[1]) == len(plain) // 2


def test_numbers_of_eight_bits() -> None:
    """The values of the OCP standard."""
    assert list(numbers(bytes((0x38, 0x01, 0x7E, 0xB8)), "F8_E4M3")) == [1.0, 2.0**-9, 448.0, -1.0]
    assert list(numbers(bytes((0x3C, 0x01, 0x7B, 0x7C)), "F8_E5M2")) == [1.0, 2.0**-16, 57344.0, math.inf]
    assert sum(map(math.isnan, numbers(bytes(range(256)), "F8_E4M3"))) == 2
    assert not any(map(math.isinf, numbers(bytes(range(256)), "F8_E4M3")))


def test_what_is_no_matrix_of_floats_is_refused() -> None:
    rows = {"a": tensor(0, 8, [2]), "b": tensor(8, 12, [2, 2], "I8"), "c": tensor(12, 12, [0, 2])}
    data = file_of(rows, bytes(12))
    header = read_header(io.BytesIO(data), len(data), "x")
    for name, said in (("a", "no matrix"), ("b", "unsupported dtype I8"), ("c", "no matrix")):
        with pytest.raises(TokentuiError, match=said):
            check_matrix(header.tensors[name], "x")


def test_a_stream_that_ends_early_is_refused() -> None:
    data = model({"m": ([[1.0, 2.0]] * 4, "F32")})
    header = read_header(io.BytesIO(data), len(data), "x")
    with pytest.raises(TokentuiError, match="ends too early"):
        list(row_blocks(io.BytesIO(data[:-1]), header.tensors["m"], "x"))
    assert packed([[1.0]], "BF16") == b"\x80\x3f"
