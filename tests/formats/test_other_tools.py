"""Codes of subword-nmt, minbpe's .model and Mistral's tekken.json, made by hand."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import load


def pieces(tokenizer: Tokenizer, text: str | bytes) -> list[bytes | None]:
    return list(tokenizer.encode(text).pieces)


def write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def test_codes(tmp_path: Path) -> None:
    tokenizer = load(write(tmp_path / "codes", "#version: 0.2\nl o\nlo w</w>\nw </w>\n"))
    assert tokenizer.recipe.mark == "end-suffix:</w>"
    assert pieces(tokenizer, "low lo x") == [b"low</w>", b"l", b"o</w>", b"x</w>"]
    assert pieces(tokenizer.at(1), "low") == [b"lo", b"w</w>"]
    low, none = tokenizer.encode("low x").ids
    assert none is None
    assert tokenizer.decode([low, *tokenizer.encode("low").ids]) == "low low"
    assert tokenizer.notes[0].startswith("codes have no ids")


def test_codes_of_old(tmp_path: Path) -> None:
    tokenizer = load(write(tmp_path / "codes", "l o\nlo w\nlow </w>\nl o\n"))
    assert tokenizer.recipe.mark == "end-symbol:</w>"
    assert pieces(tokenizer, "low lo") == [b"low</w>", b"lo", b"</w>"]
    assert "1 pair listed twice: the first row of a pair counts" in tokenizer.notes


def test_codes_of_bytes(tmp_path: Path) -> None:
    tokenizer = load(write(tmp_path / "codes", b"#version: 0.2 byte\n\xc3 \xa9</w>\n\xf0 \x9f\n"))
    assert tokenizer.recipe.unit == "byte"
    assert pieces(tokenizer, "é é!") == [b"\xc3\xa9</w>", b"\xc3", b"\xa9", b"!</w>"]
    assert pieces(tokenizer, b"\xf0\x9f\x98") == [b"\xf0\x9f", b"\x98</w>"]


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"#version: 0.3\na b\n", "line 1: there is no version '0.3' of codes"),
        (b"#version: 0.2 char\na b\n", "line 1: there is no version"),
        (
            b"#version: 0.2\n" + b"a b\n" * 200 + b"a b c\n",
            "line 202: not two tokens with a space between them",
        ),
        (b"#version: 0.2\n" + b"a b\n" * 200 + b" b\n", "line 202: not two tokens with a space between them"),
        (b"#version: 0.2\n" + b"a b\n" * 200 + b"a \xff\n", "line 202: not UTF-8"),
    ],
)
def test_damaged_codes(tmp_path: Path, data: bytes, line: str) -> None:
    path = write(tmp_path / "codes", data)
    with pytest.raises(TokentuiError) as raised:
        load(path)
    assert str(raised.value).startswith(f"{path}: {line}")


def test_two_words_a_line_are_no_codes(tmp_path: Path) -> None:
    with pytest.raises(TokentuiError, match="not a supported tokenizer file"):
        load(write(tmp_path / "poem", "the cat\nthe mat\n"))


MINBPE = "minbpe v1\n{pattern}\n{specials}104 101\n256 108\n108 111\n257 258\n"


def test_minbpe(tmp_path: Path) -> None:
    path = write(tmp_path / "m.model", MINBPE.format(pattern="", specials="1\n<|end|> 300\n"))
    tokenizer = load(path)
    assert tokenizer.recipe.split == "none"
    assert tokenizer.encode("hello hel").ids == (259, 32, 257)
    assert tokenizer.decode([259, 300]) == "hello<|end|>"
    assert tokenizer.encode("he<|end|>", allow_special=True).ids == (256, 300)
    pattern = (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| "
        r"?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
    )
    assert load(write(path, MINBPE.format(pattern=pattern, specials="0\n"))).recipe.split == "cl100k-classic"
    own = load(write(path, MINBPE.format(pattern=r"\w+|\W", specials="0\n")))
    assert own.recipe.split == r"regex:\w+|\W"
    assert own.encode("hello he").ids == (259, 32, 256)


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ("\nx\n", "line 3: expected the number of special tokens"),
        ("\n1\n", "line 4: expected a special token and its id"),
        ("\n1\n<a>\n", "line 4: expected a special token and its id"),
        ("\n0\n104\n", "line 4: not a merge"),
        ("\n0\n104 256\n", "line 4: not a merge"),
        ("\n0\n104 -1\n", "line 4: not a merge"),
        ("\n1\n<a> 5\n", "the special token '<a>' has the id of another token"),
        ("(\n0\n", ""),
        ("\n0\n97 97\n" + "".join(f"{n} {n}\n" for n in range(256, 300)), "line 29: the tokens are longer"),
    ],
)
def test_damaged_minbpe(tmp_path: Path, rows: str, line: str) -> None:
    path = write(tmp_path / "m.model", "minbpe v1\n" + rows)
    with pytest.raises(TokentuiError) as raised:
        load(path)
    assert not line or str(raised.value).startswith(f"{path}: {line}")


def tekken(**config: Any) -> dict[str, Any]:
    tokens = [*(bytes((value,)) for value in range(256)), b"he", b"hel", b"lo", b"zz"]
    return {
        "config": {"pattern": r"\w+|\W", "default_vocab_size": 263, "default_num_special_tokens": 4} | config,
        "vocab": [
            {"rank": n, "token_bytes": base64.b64encode(piece).decode()} for n, piece in enumerate(tokens)
        ],
        "special_tokens": [{"rank": 0, "token_str": "<unk>"}, {"rank": 2, "token_str": "</s>"}],
    }


def test_tekken(tmp_path: Path) -> None:
    tokenizer = load(write(tmp_path / "tekken.json", json.dumps(tekken())))
    assert tokenizer.encode("hello zz").ids == (261, 262, 36, 126, 126)
    assert tokenizer.encode("a</s>", allow_special=True).ids == (101, 2)
    assert tokenizer.decode([1, 261]) == "<SPECIAL_1>hel"
    assert tokenizer.notes == (
        "1 tokens lie beyond the size of the vocabulary and are left out, as its owner does it",
    )


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"vocab": [{"rank": 1, "token_bytes": "AA=="}]}, "vocab row 0: rank 1 where 0 belongs"),
        ({"vocab": [{"rank": 0, "token_bytes": "A"}]}, "vocab row 0: token_bytes is not base64"),
        ({"vocab": [{"rank": 0, "token_bytes": ""}]}, "vocab row 0: the token is empty or occurs twice"),
        ({"vocab": [7]}, "vocab row 0: expected an object"),
        ({"special_tokens": [{"rank": 9, "token_str": "x"}]}, "special_tokens row 0: special token 9"),
        ({"config": {"pattern": 5}}, "config.pattern: expected text"),
        ({"config": {"pattern": "("}}, ""),
        ({"special_tokens": [{"rank": 0, "token_str": "x" * 40_000}]}, "the tokens are longer than in"),
        (tekken(pattern="\ud800"), "a text cannot contain NUL or a lone surrogate"),
        (
            {"config": {"pattern": "a", "default_num_special_tokens": 10**15}},
            "config: there are more special tokens",
        ),
    ],
)
def test_damaged_tekken(tmp_path: Path, change: dict[str, Any], line: str) -> None:
    path = write(tmp_path / "tekken.json", json.dumps(tekken() | change))
    with pytest.raises(TokentuiError) as raised:
        load(path)
    assert not line or str(raised.value).startswith(f"{path}: {line}")
