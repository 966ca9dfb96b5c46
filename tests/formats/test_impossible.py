"""Files that no library would have written: each is refused by a line, or what is odd is told and not passed
over."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from health_checks import checked
from protomake import message

from tokentui.analyze.health import PASS
from tokentui.core.errors import TokentuiError
from tokentui.formats.files import load


def written(tmp_path: Path, model: dict[str, Any], name: str = "tokenizer.json", **steps: Any) -> Path:
    whole = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]} | model
    path = tmp_path / name
    path.write_text(json.dumps({"version": "1.0", "model": whole} | steps), "utf-8")
    return path


@pytest.mark.parametrize(
    ("model", "line"),
    [
        (
            {"vocab": {"": 0, "ab": 1}, "merges": [["", "ab"]]},
            "model.merges row 0: one side of the merge is empty",
        ),
        (
            {"vocab": {"": 0, "ab": 1}, "merges": [["ab", ""]]},
            "model.merges row 0: one side of the merge is empty",
        ),
        (
            {"vocab": {"": 0, "ab": 1, "a": 2}, "merges": [" ab"]},
            "model.merges row 0: one side of the merge is empty",
        ),
        (
            {"continuing_subword_prefix": "#####", "vocab": {"a": 0, "b": 1}},
            "model.merges row 0: the right side is shorter than the prefix",
        ),
        ({"fuse_unk": 1, "unk_token": "a"}, "model.fuse_unk: expected true or false"),
        ({"dropout": 1.5}, "model.dropout: not between 0 and 1"),
        ({"dropout": -1}, "model.dropout: not between 0 and 1"),
        ({"merges": [["a", "a"]]}, "model.merges row 0: 'aa' is not in the vocabulary"),
        ({"vocab": {"a": 0, "b": -1, "ab": 2}}, "model.vocab: the id of 'b' is -1"),
        ({"vocab": {"a": 0, "b": 1 << 40, "ab": 2}}, "model.vocab: the id of 'b' is 1099511627776"),
        ({"type": "Unigram", "unk_id": 7, "vocab": [["a", 0.0]]}, "model.unk_id: there is no row 7"),
    ],
)
def test_refused(tmp_path: Path, model: dict[str, Any], line: str) -> None:
    path = written(tmp_path, model)
    with pytest.raises(TokentuiError) as raised:
        load(path)
    assert str(raised.value).startswith(f"{path}: {line}")
    assert "\n" not in str(raised.value)


ROW = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
UNIGRAM = {"type": "Unigram", "unk_id": 0}


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize(
    ("model", "steps", "note"),
    [
        (
            {
                "continuing_subword_prefix": "##", "vocab": {"a": 0, "bcd": 1, "ad": 2},
                "merges": [["a", "bcd"]],
            },
            {}, "not begin with",
        ),
        ({"vocab": {"a": 0, "b": 1, "ab": 2, "": 3}}, {}, "the token of id 3 is empty"),
        ({"type": "WordLevel", "vocab": {"a": 0, "": 3}, "unk_token": "a"}, {}, "the token of id 3 is empty"),
        (UNIGRAM | {"vocab": [["u", 0.0], ["", -1.0]]}, {}, "the token of id 1 is empty"),
        (UNIGRAM | {"vocab": [["u", 0.0], ["a", 5.0]]}, {}, "1 of the scores are above 0"),
        ({"vocab": {"a": 0, "b": 0, "ab": 2}}, {}, "1 token with the id of another one"),
        ({}, {"added_tokens": [ROW | {"id": 1, "content": "<x>"}]}, "'<x>' has id 3, not 1 as its row says"),
    ],
)
def test_told(tmp_path: Path, model: dict[str, Any], steps: dict[str, Any], note: str) -> None:
    tokenizer = load(written(tmp_path, model, **steps))
    assert any(note in one for one in tokenizer.notes), tokenizer.notes
    assert checked(tokenizer, "file").status != PASS


def test_a_name_of_another_format_is_told(tmp_path: Path) -> None:
    tokenizer = load(written(tmp_path, {}, "tokenizer.model"))
    assert "it is Hugging Face's tokenizer.json" in tokenizer.notes[0]


def rules(leaf: int, child: int = 512, results: bytes = b"x\0y\0") -> bytes:
    """The rules of one letter, a: where its leaf stands in the trie, and where its result does in the
    results."""
    units = [0] * 1024
    units[0] = 256 << 10
    units[256 ^ ord("a")] = ord("a") | 0x100 | child << 10
    if child == 512:
        units[256 ^ ord("a") ^ 512] = 0x80000000 | leaf
    trie = struct.pack("<1024I", *units)
    return struct.pack("<I", len(trie)) + trie + results


def model(blob: bytes) -> bytes:
    pieces = [
        (b"<unk>", 0.0, 2), (b"<s>", 0.0, 3), (b"</s>", 0.0, 3), (b"x", -1.0, 1), ("▁".encode(), -2.0, 1),
    ]
    rows = [(1, message([(1, text), (2, score), (3, kind)])) for text, score, kind in pieces]
    return message([*rows, (3, message([(1, b"own"), (2, blob)]))])


@pytest.mark.parametrize(("blob", "line"), [
    (rules(0), ""), (rules(2), ""), (rules(4), "points outside"), (rules(1 << 30), "points outside"),
    (rules(0, 1 << 20), "points outside"), (rules(0, results=b"x"), "has no end"),
])
def test_rules_that_point_outside(tmp_path: Path, blob: bytes, line: str) -> None:
    """Refused where sentencepiece refuses them."""
    sentencepiece = pytest.importorskip("sentencepiece")
    path = tmp_path / "m.model"
    path.write_bytes(model(blob))
    try:
        want = sentencepiece.SentencePieceProcessor(model_file=str(path)).encode("a x")
    except RuntimeError:
        want = None
    assert (want is None) == bool(line)
    if want is None:
        with pytest.raises(TokentuiError, match=line):
            load(path)
    else:
        assert list(load(path).encode("a x").ids) == want


@pytest.mark.parametrize("key", ["merges", "vocab"])
def test_what_is_missing_is_named(tmp_path: Path, key: str) -> None:
    path = written(tmp_path, {})
    document = json.loads(path.read_text("utf-8"))
    del document["model"][key]
    path.write_text(json.dumps(document), "utf-8")
    line = 'model: "merges" is missing' if key == "merges" else "not a supported tokenizer file"
    with pytest.raises(TokentuiError, match=line):
        load(path)
