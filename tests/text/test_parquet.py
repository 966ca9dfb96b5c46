"""Parquet tables: the lines of errors, the limit on unpacked bytes. How they are read: test_plan.py."""

from __future__ import annotations

import io
from typing import Any

import pytest

from tokentui.core.errors import TokentuiError
from tokentui.text.files import Meter
from tokentui.text.parquet import ParquetTable

arrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")


def table(columns: dict[str, list[Any]], most: int = 10**9) -> ParquetTable:
    """A table whose reading may unpack `most` bytes."""
    import pyarrow.parquet

    file, meter = io.BytesIO(), Meter()
    pyarrow.parquet.write_table(arrow.table(columns), file)
    meter.most = most
    return ParquetTable(file, "a.parquet", meter)


def test_an_error_names_200_characters_of_the_columns() -> None:
    names = [f"column{number:03}" for number in range(60)]
    with pytest.raises(TokentuiError) as caught:
        list(table({name: ["a"] for name in names}).documents("text"))
    assert caught.value.hint == f"--field takes one of: {', '.join(names)[:200]}"


def test_a_table_may_unpack_as_many_bytes_as_the_limit_says() -> None:
    columns = {"text": ["a line that repeats"] * 5000}  # few bytes in the file, many in memory
    size = arrow.table(columns).nbytes
    assert len(list(table(columns, size).documents("text"))) == 5000
    with pytest.raises(TokentuiError, match=f"more than {size - 1:,} bytes, which is the limit"):
        list(table(columns, size - 1).documents("text"))
