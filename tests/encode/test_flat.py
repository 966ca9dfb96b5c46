"""Ids in a flat file: the numbers of the texts, in the type that was asked for, or an error in one line."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest
from exporting import preset

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.encode.flat import TYPES, flat, type_for
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.recipe import Recipe

TEXTS = ["A lamp, and", "", " another é lamp", "x" * 5000]
CODES = {"uint16": "H", "uint32": "I"}


@pytest.mark.parametrize("special_tokens", [False, True])
@pytest.mark.parametrize("dtype", [None, *TYPES])
@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_the_file_has_the_ids_of_each_text(
    name: str, dtype: str | None, special_tokens: bool, tmp_path: Path
) -> None:
    tokenizer, path = preset(name), tmp_path / "ids.bin"
    wanted = [n for text in TEXTS for n in tokenizer.encode_ids(text, special_tokens=special_tokens)]
    for texts in (TEXTS, iter(TEXTS), tuple(TEXTS)):
        count = tokenizer.write_ids(path, texts, dtype=dtype, special_tokens=special_tokens)
        numbers = array(CODES[dtype or "uint16"], path.read_bytes())
        assert (count, numbers.tolist()) == (len(wanted), wanted)
    assert tokenizer.decode(numbers) == tokenizer.decode(wanted)


def test_the_type_is_that_of_the_largest_id() -> None:
    assert [type_for(largest) for largest in (0, 0xFFFF, 0x10000, 0xFFFFFFFF)] == [
        "uint16", "uint16", "uint32", "uint32"
    ]
    with pytest.raises(TokentuiError, match="id 4294967296 does not fit uint32"):
        type_for(1 << 32)


@pytest.mark.parametrize(("code", "ids", "dtype", "error"), [
    ("i", [1, 0xFFFF], "uint16", ""),
    ("i", [1, 0x10000], "uint16", "id 65536 of token 1 does not fit uint16"),
    ("i", [0x7FFFFFFF, 0], "uint32", ""), ("q", [0xFFFFFFFF], "uint32", ""), ("q", [5, 6], "uint16", ""),
    ("q", [1 << 32], "uint32", "id 4294967296 of token 0 does not fit uint32"), ("i", [], "uint16", ""),
    ("i", [3, -1], "uint16", "token 1 has no id"), ("i", [3, -1], "uint32", "token 1 has no id"),
    ("q", [-1], "uint32", "token 0 has no id"),
])
def test_numbers_that_do_not_fit(code: str, ids: list[int], dtype: str, error: str) -> None:
    if error:
        with pytest.raises(TokentuiError, match=error):
            flat(array(code, ids), dtype)
    else:
        assert array(CODES[dtype], flat(array(code, ids), dtype)).tolist() == ids


def test_nothing_is_written_after_an_error(tmp_path: Path) -> None:
    path = tmp_path / "ids.bin"
    path.write_bytes(b"as it was")
    recipe = Recipe(split="none", unit="char", base="sorted", unknown="per-unit")
    tokenizer = Tokenizer(Vocabulary(recipe, [b"a"]))
    with pytest.raises(TokentuiError, match=r"token 1 has no id"):
        tokenizer.write_ids(path, ["ab"])
    with pytest.raises(TokentuiError, match=r"expected a list, not a text"):
        tokenizer.write_ids(path, "ab")
    with pytest.raises(TokentuiError, match=r"dtype: no such type 'int8'"):
        tokenizer.write_ids(path, ["a"], dtype="int8")
    with pytest.raises(TokentuiError, match=r"text 2: "):
        tokenizer.write_ids(path, ["a", 3])  # type: ignore[list-item]
    with pytest.raises(Cancelled):
        tokenizer.write_ids(path, ["a"] * 3, cancel=lambda: True)
    assert path.read_bytes() == b"as it was"
    assert [one.name for one in tmp_path.iterdir()] == ["ids.bin"]


def test_progress_is_in_characters(tmp_path: Path) -> None:
    ticks: list[tuple[int, int]] = []
    preset("gpt2").write_ids(tmp_path / "ids.bin", TEXTS, progress=lambda *tick: ticks.append(tick))
    sizes = list(map(len, TEXTS))
    assert ticks == [(sum(sizes[: n + 1]), sum(sizes)) for n in range(len(TEXTS))]
