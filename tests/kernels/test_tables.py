"""The table of words: exact whatever the words are, however many."""

from __future__ import annotations

import importlib
import struct
from array import array
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.fixture
def tables(counting: ModuleType) -> ModuleType:
    return importlib.import_module("tokentui.text.kernels.count")


def counted(tables: ModuleType, words: list[bytes], counts: list[int]) -> Any:
    """Words with their counts as a table gives them out."""
    return tables.FlatWords(b"".join(words), tables.bounds_of(words), array("q", counts))


def items(result: Any) -> list[tuple[bytes, int]]:
    ends = result.ends.tolist()
    return [(result.text[ends[n] : ends[n + 1]], times) for n, times in enumerate(result.counts.tolist())]


@settings(max_examples=50)
@given(words=st.lists(st.tuples(st.binary(min_size=1, max_size=40), st.integers(1, 2**40)), max_size=20))
def test_words_of_any_bytes(counting: ModuleType, words: list[tuple[bytes, int]]) -> None:
    tables = importlib.import_module("tokentui.text.kernels.count")
    table = tables.Table()
    table.add(counted(tables, [word for word, _ in words], [times for _, times in words]))
    sums: dict[bytes, int] = {}
    for word, times in words:
        sums[word] = sums.get(word, 0) + times
    assert items(table.result()) == list(sums.items())


def test_words_that_differ_in_length_or_last_byte_only(tables: ModuleType) -> None:
    words = (
        [b"\0" * n for n in range(1, 60)]
        + [b"a" * n for n in range(1, 60)]
        + [b"a" * n + b"b" for n in range(1, 60)]
    )
    table = tables.Table()
    table.add(counted(tables, words * 2, [1] * len(words) * 2))
    assert items(table.result()) == [(word, 2) for word in words]


def test_words_of_equal_hash_are_told_apart(tables: ModuleType) -> None:
    """Of 24 bytes the last eight are compared, and a hash of the others: here two words with the same."""
    scan_count = importlib.import_module("tokentui.text.kernels.scan_count")
    spread, all_bits = int(scan_count._SPREAD_SECOND), 2**64 - 1

    def mixed(number: int) -> int:
        number = number * spread & all_bits
        return number ^ number >> 32

    first, other = 1, 2
    words = [
        struct.pack("<3Q", first, 77, 5),
        struct.pack("<3Q", other, mixed(first) ^ 77 ^ mixed(other), 5),
    ]
    keys = set()
    for word in words:
        low, middle, high = struct.unpack("<3Q", word)
        keys.add((high, mixed(mixed(low) ^ middle)))
    assert len(keys) == 1
    table = tables.Table()
    table.add(counted(tables, [*words, words[1]], [1, 2, 4]))
    assert items(table.result()) == [(words[0], 1), (words[1], 6)]


@pytest.mark.slow
def test_many_words_and_long_ones(tables: ModuleType) -> None:
    words = [str(n * 7919).encode() for n in range(60_000)]
    words[30_000] = b"x" * 3_000_000
    table = tables.Table()
    table.scan([b" ".join(words)] * 2, tables.tables_of("whitespace"))
    result = table.result()
    assert items(result) == [(word, 2) for word in words]
    assert list(result.words()) == [word.decode() for word in words]


def test_nothing(tables: ModuleType) -> None:
    for texts in ([], [b""], [b" "], [b"", b"\n", b""]):
        table = tables.Table()
        table.scan(texts, tables.tables_of("whitespace"))
        assert items(table.result()) == []
        assert table.result().words() == ()
