"""Glitch tokens, against brute force over all characters and over the merges of a corpus."""

from __future__ import annotations

import json
import sys
import unicodedata
from pathlib import Path

import pytest
from running_cli import done, refused

import tokentui
from tokentui.analyze.glitches import KINDS, unwritten
from tokentui.encode.segment import MergeStep
from tokentui.text.corpus import Corpus

CORPUS = Corpus.from_text("low lower lowest newest wide " * 9 + "new \x07\x07\x07 bell क्षमा करें", "words")


@pytest.fixture(scope="module")
def trained() -> tokentui.Tokenizer:
    return tokentui.train(CORPUS, "gpt2", specials=("<|end|>",))


def test_no_text_that_people_write_becomes_one(trained: tokentui.Tokenizer) -> None:
    """All characters that people write, one after the other, become every token but glitches."""
    found = {one.id: one for one in trained.glitches()}
    assert all(one.kind == "unwritten" for one in found.values())
    written = [char for char in map(chr, range(sys.maxunicode + 1)) if not unwritten(char)]
    met = {one for text in ("".join(written), "\n".join(written), CORPUS.documents[0])
           for one in trained.encode_ids(text)}
    assert met & found.keys() == {number for number in met & found.keys() if b"\x07" in found[number].piece}
    assert {number for number in range(256 + 1) if number not in met} <= found.keys() | {0}
    for one in found.values():
        assert one.text is not None
        assert unwritten(one.text) or one.reason == "lone-mark"
        assert one.id in trained.encode(one.text).ids
    bells = {entry.id for entry in trained.entries() if b"\x07" in entry.piece}
    assert len(bells) > 1
    assert bells <= found.keys()
    assert trained.token_to_id("<|end|>") not in found
    bytes_ = {one.piece for one in found.values() if one.reason == "not-utf8"}
    assert bytes_ == {bytes((value,)) for value in (0xC0, 0xC1, *range(0xF5, 0x100))}


@pytest.mark.parametrize("char", ["a", "\t", "\n", "\u200d", "\u0301", "한", "👍"])
def test_what_people_write(char: str) -> None:
    assert unwritten(char) == ""
    assert unicodedata.category(char) not in ("Co", "Cn", "Cs")


def file(folder: Path, names: list[str], merges: list[list[str]], **more: object) -> str:
    model = {"type": "BPE", "vocab": {name: n for n, name in enumerate(names)}, "merges": merges}
    path = folder / "tokenizer.json"
    path.write_text(json.dumps({"model": model, **more}))
    return str(path)


def test_those_that_no_text_becomes_are_the_unreachable(tmp_path: Path) -> None:
    """An orphan, and a token whose parts another merge takes."""
    path = file(tmp_path, ["a", "b", "c", "ab", "bc", "abc", "zz"], [["a", "b"], ["b", "c"], ["a", "bc"]])
    tok = tokentui.load(path)
    found = tok.glitches()
    assert [one.id for one in found] == [one.id for one in tok.unreachable() if one.text is None]
    assert [(one.piece, one.kind, one.sentence) for one in found] == [
        (one.piece, "never", one.sentence) for one in tok.unreachable()
    ]
    assert {b"abc", b"zz"} <= {one.piece for one in found}
    row = json.loads(done("inspect", "-t", path, "--glitch", "--json"))
    assert [one["id"] for one in row["glitches"]] == [one.id for one in found]
    assert row["counts"] == {"never": len(found), "unwritten": 0, "swallowed": 0}


def test_a_mark_that_stands_on_no_letter(tmp_path: Path) -> None:
    """A merge joins each letter of its script with the mark, so that the mark is left to a space."""
    joined = [["e", "\u0301"], [" ", "\u0301"]]
    path = file(tmp_path, ["e", " ", "\u0301", "\u0302", "e\u0301", " \u0301"], joined)
    found = {one.piece.decode(): one.reason for one in tokentui.load(path).glitches()}
    assert found.get(" \u0301") == "lone-mark"
    assert "\u0302" not in found
    assert "e\u0301" not in found


def test_those_that_a_corpus_swallows(trained: tokentui.Tokenizer) -> None:
    found = [one for one in trained.glitches(CORPUS) if one.kind == "swallowed"]
    made: set[bytes] = set()
    for word in trained.explain(CORPUS.documents[0]):
        made.update(word.units)
        made.update(one.result for one in word.steps if isinstance(one, MergeStep))
    used = set(trained.encode(CORPUS.documents[0]).pieces)
    other = {one.piece for one in trained.glitches()}
    assert found
    assert {one.piece for one in found} == made - used - other
    for one in found:
        assert all(one.piece in into for into in one.into)


def test_the_command(tmp_path: Path) -> None:
    path = str(tmp_path / "t.json")
    done("train", "sample:sailor", "-r", "gpt2", "-o", path, "-q")
    lines = done("inspect", "-t", path, "--glitch", "sample:sailor").splitlines()
    assert all(line.isprintable() for line in lines)
    assert [line.split()[0] for line in lines if line[0] != " "] == ["ids", *KINDS]
    assert any(line.startswith("swallowed    ") and "longer tokens" in line for line in lines)
    same = done("inspect", "-t", path, "--glitch", "--corpus", "sample:sailor").splitlines()
    assert same == lines
    assert "swallowed" not in done("inspect", "-t", path, "--glitch")
    assert "goes with a corpus alone" in refused("inspect", "-t", path, "--glitch", "--strict")
