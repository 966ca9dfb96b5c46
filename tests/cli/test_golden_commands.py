"""`tokentui pin` and `tokentui check`: golden ids, and the first text with others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running_cli import cli, done, refused

import tokentui
from tokentui import Tokenizer
from tokentui.analyze.golden import GoldenText, file_of, first_difference, pin, read_golden
from tokentui.core.errors import TokentuiError


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    tokentui.train("sample:english", "gpt2", merges=200, specials=["<x>"]).save(folder / "a.json")
    tokentui.train("sample:english", "gpt2", merges=150, specials=["<x>"]).save(folder / "b.json")
    return folder


def test_the_same_tokenizer_passes_and_another_fails_at_the_first_text(trained: Path) -> None:
    golden = str(trained / "golden.json")
    done("pin", "-t", str(trained / "a.json"), "-o", golden)
    assert len(read_golden(golden)) > 40
    assert done("check", "-t", str(trained / "a.json"), golden).startswith("same ")
    result = cli("check", "-t", str(trained / "b.json"), golden, "--json")
    assert result.exit_code == 1
    row = json.loads(result.stdout)
    differs = row["differs"]
    a, b = (tokentui.load(trained / name) for name in ("a.json", "b.json"))
    texts = [one.text for one in read_golden(golden)]
    first = next(n for n, text in enumerate(texts, 1) if a.encode(text).ids != b.encode(text).ids)
    assert (differs["number"], differs["special"]) == (first, False)
    ours, theirs = a.encode(differs["text"]), b.encode(differs["text"])
    assert (differs["pinned"], differs["ids"]) == (list(ours.ids), list(theirs.ids))
    at = differs["token"]
    assert ours.ids[:at] == theirs.ids[:at]
    assert ours.ids[at] != theirs.ids[at]
    assert differs["character"] == theirs.offsets[at][0]
    said = cli("check", "-t", str(trained / "b.json"), golden).stdout
    assert f"differs      text {first:,} of {len(texts):,}, as plain text" in said


def test_texts_and_a_corpus_are_pinned(trained: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"text": "one"}\n{"text": "two"}\n')
    words = ("pin", "-t", str(trained / "a.json"), "-o", "-", "zero")
    row = json.loads(done(*words, "--corpus", str(tmp_path / "rows.jsonl")))
    assert [one["text"] for one in row["texts"]] == ["zero", "one", "two"]


def test_a_special_token_that_becomes_text_is_a_difference(trained: Path, tmp_path: Path) -> None:
    golden = str(tmp_path / "golden.json")
    done("pin", "-t", str(trained / "a.json"), "a<x>b", "-o", golden)
    bare = tokentui.train("sample:english", "gpt2", merges=200, first_id=1)
    difference = first_difference(bare, read_golden(golden))
    assert difference is not None
    assert difference.special
    assert difference.character == 1


@given(st.lists(st.text(max_size=8), min_size=1, max_size=5))
def test_a_file_reads_back_as_it_was_written(texts: list[str]) -> None:
    tokenizer = _small()
    golden = pin(tokenizer, texts)
    assert first_difference(tokenizer, golden) is None
    document = json.loads(file_of(golden))
    again = [GoldenText(row["text"], tuple(row["ids"]), tuple(row.get("special", row["ids"])))
             for row in document["texts"]]
    assert again == list(golden)


def _small() -> Tokenizer:
    return tokentui.train("sample:hugs", "gpt2", merges=6)


@pytest.mark.parametrize("text", [
    "", "{", "[]", '{"format": "tokentui"}', '{"format": "tokentui-golden", "version": 2, "texts": []}',
    '{"format": "tokentui-golden", "version": 1, "texts": []}',
    '{"format": "tokentui-golden", "version": 1, "texts": [1]}',
    '{"format": "tokentui-golden", "version": 1, "texts": [{"text": "a", "ids": [-1]}]}',
    '{"format": "tokentui-golden", "version": 1, "texts": [{"text": 1, "ids": []}]}', "[" * 9999,
])
def test_another_file_is_refused_in_a_line(trained: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "golden.json").write_text(text)
    with pytest.raises(TokentuiError):
        read_golden(tmp_path / "golden.json")
    line = refused("check", "-t", str(trained / "a.json"), str(tmp_path / "golden.json"))
    assert "train" not in line
    assert "not a tokenizer" not in line


def test_a_golden_file_that_is_not_there(trained: Path, tmp_path: Path) -> None:
    assert "no such file" in refused("check", "-t", str(trained / "a.json"), str(tmp_path / "none.json"))
    assert "-o" in refused("pin", "-t", str(trained / "a.json"))


def test_a_corpus_without_text_is_named(trained: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    files = ("--corpus", str(tmp_path / "empty.txt"), "-o", str(tmp_path / "golden.json"))
    printed = cli("pin", "-t", str(trained / "a.json"), *files).stderr
    assert printed == "tokentui: empty.txt: no text, so the file records nothing\n"
