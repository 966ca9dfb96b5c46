"""tokenizer.json: what is kept of a file, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import export, load

FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}


def opened(tmp_path: Path, model: dict[str, Any] | None = None, **steps: Any) -> Tokenizer:
    """A tokenizer of a, b, c, ▁ and a few merges."""
    vocabulary = {name: n for n, name in enumerate(["<unk>", "a", "b", "c", "▁", "ab", "bc", "abc", "▁abc"])}
    merges = [["b", "c"], ["a", "bc"], ["a", "b"], ["ab", "c"], ["▁", "abc"]]
    whole = {"type": "BPE", "unk_token": "<unk>", "vocab": vocabulary, "merges": merges} | (model or {})
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"version": "1.0", "model": whole} | steps), "utf-8")
    return load(path)


def test_the_time_line_is_tokens_and_not_rows(tmp_path: Path) -> None:
    tokenizer = opened(tmp_path)
    vocabulary = tokenizer.vocabulary
    assert tokenizer.merges == 4  # five rows, abc under two of them
    made = [vocabulary.pieces[vocabulary.base_size + n].decode() for n in range(4)]
    assert made == ["bc", "abc", "ab", "▁abc"]
    assert [tokenizer.at(k).encode("abc").tokens for k in range(4)] == [
        ("a", "b", "c"), ("a", "bc"), ("abc",), ("abc",),
    ]
    assert [entry.kind for entry in tokenizer.entries()].count("merge") == 4


def test_what_no_axis_says_is_kept(tmp_path: Path) -> None:
    normalizer = {"type": "Prepend", "prepend": "▁"}
    tokenizer = opened(tmp_path, normalizer=normalizer, truncation={"max_length": 5})
    assert tokenizer.encode("abc").ids == (8,)
    assert tokenizer.encode("abc").offsets == ((0, 3),)
    assert tokenizer.vocabulary.file.stages["normalizer"] == normalizer
    assert tokenizer.notes == ("truncation and padding are not applied",)


def test_a_word_that_is_given_up_is_told_as_such(tmp_path: Path) -> None:
    model: dict[str, Any] = {"vocab": {"a": 0, "##a": 1}, "unk_token": "[UNK]"}
    short = opened(tmp_path, model | {
        "type": "WordPiece", "continuing_subword_prefix": "##", "max_input_chars_per_word": 0,
    })
    with pytest.raises(TokentuiError, match="gives up a word of more than 0 characters"):
        short.encode("a")
    words = opened(tmp_path, model | {"type": "WordLevel", "max_input_chars_per_word": 0})
    assert words.encode("a").ids == (0,)
    with pytest.raises(TokentuiError, match="'b' is not in the vocabulary"):
        words.encode("b" * 101)


def test_ids_that_the_library_does_not_keep_are_told(tmp_path: Path) -> None:
    rows = [FLAGS | {"id": 700, "content": "<s>"}, FLAGS | {"id": 5, "content": "<x>"}]
    tokenizer = opened(tmp_path, added_tokens=rows)
    assert tokenizer.encode("<s>", allow_special=True).ids == (9,)
    assert tokenizer.notes == (
        "'<s>' has id 9, not 700 as its row says; 1 more added tokens have other ids than their rows say",
    )


def test_doubts_are_told(tmp_path: Path) -> None:
    assert opened(tmp_path, {"merges": ["#version a", "a b", "a b"]}).notes == (
        "1 of the merges start with #version and are passed over, as Hugging Face's library does it",
        "1 pair listed twice: the last row of a pair counts",
    )
    assert (
        "dropout is not applied: a text always has the same tokens"
        in opened(tmp_path, {"dropout": 0.1}).notes
    )
    late = opened(tmp_path, {"merges": [["a", "bc"], ["b", "c"]]})
    assert late.notes == ("1 merge with a part that appears later",)
    missing = opened(tmp_path, {"unk_token": "[UNK]"})
    assert "'[UNK]' is not in the vocabulary" in missing.notes[0]
    with pytest.raises(TokentuiError, match="'z' is not in the vocabulary"):
        missing.encode("az")


def test_offsets_are_places_in_the_text_as_typed(tmp_path: Path) -> None:
    steps = {"normalizer": {"type": "Sequence", "normalizers": [
        {"type": "Replace", "pattern": {"Regex": "x+"}, "content": "b"},
        {"type": "Strip", "strip_left": True, "strip_right": True}]}}
    rows = [FLAGS | {"id": 9, "content": "<s>", "lstrip": True}]
    encoding = opened(tmp_path, added_tokens=rows, **steps).encode(" axxxc <s> ab ", allow_special=True)
    assert encoding.tokens == ("abc", "<s>", "ab")
    assert encoding.offsets == ((1, 6), (6, 10), (11, 13))


@pytest.mark.parametrize(("rows", "text", "tokens"), [
    # those of the text as typed come first
    (({"content": "<s>"}, {"content": "ab<s>", "normalized": True}), "ab<s>", ("ab", "<s>")),
    # what the first one takes is gone: of the second one nothing is left, or what it has besides
    (({"content": "a", "rstrip": True}, {"content": "\n", "lstrip": True}), "a \nc", ("a", "c")),
    (({"content": "a", "rstrip": True}, {"content": "b", "lstrip": True}), "a  b", ("a", "b")),
    (({"content": "a", "rstrip": True}, {"content": " b"}), "a  bc", ("a", " b", "c")),
])
def test_neighbors_that_want_the_same_text(
    tmp_path: Path, rows: tuple[dict[str, Any], ...], text: str, tokens: tuple[str, ...]
) -> None:
    added = [FLAGS | {"id": 9 + n} | row for n, row in enumerate(rows)]
    assert opened(tmp_path, added_tokens=added).encode(text, allow_special=True).tokens == tokens


def test_names_that_a_normalizer_makes_equal_or_empty_are_told(tmp_path: Path) -> None:
    rows = [FLAGS | {"id": 9 + n, "content": name, "normalized": True} for n, name in enumerate("XxY")]
    steps = {"type": "Sequence", "normalizers": [
        {"type": "Lowercase"}, {"type": "Replace", "pattern": {"String": "y"}, "content": ""}]}
    tokenizer = opened(tmp_path, added_tokens=rows, normalizer=steps)
    assert tokenizer.notes == (
        "'X' and 'x' are the same after normalization: the last one is used, Hugging Face's library takes "
        "either",
        "'Y' is empty after normalization, so text is cut at every character",
    )
    assert tokenizer.encode("Xab", allow_special=True).ids == (10, 1, 2)


def test_another_split_is_refused(tmp_path: Path) -> None:
    opened(tmp_path)
    with pytest.raises(TokentuiError, match="the split cannot be changed to gpt2"):
        load(tmp_path / "tokenizer.json", "gpt2")


def test_it_is_kept_whole_in_the_own_format(tmp_path: Path) -> None:
    tokenizer = opened(tmp_path)
    export(tokenizer, tmp_path / "out.json")
    assert load(tmp_path / "out.json").encode("abc ab").ids == tokenizer.encode("abc ab").ids


def test_a_fused_unknown_part_begins_with_its_first_character(tmp_path: Path) -> None:
    """Some bytes are tokens, so unknown characters wait for the next token."""
    vocabulary = {"<unk>": 0, "a": 1, "<0x41>": 2}
    model = {"vocab": vocabulary, "merges": [], "fuse_unk": True, "byte_fallback": True}
    encoding = opened(tmp_path, model).encode("a?!;a?")
    assert encoding.ids == (1, 0, 1, 0)
    assert encoding.offsets == ((0, 1), (1, 4), (4, 5), (5, 6))
