"""Glitch tokens, against brute force over all characters and over the merges of a corpus."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from running_cli import done, refused

import tokentui
from tokentui.analyze.glitches import TITLES, unwritten
from tokentui.encode.segment import AppliedMerge
from tokentui.text.corpus import Corpus

CORPUS = Corpus.from_text("low lower lowest newest wide " * 9 + "new \x07\x07\x07 bell क्षमा करें", "words")


@pytest.fixture(scope="module")
def trained() -> tokentui.Tokenizer:
    return tokentui.train(CORPUS, "gpt2", specials=("<|end|>",))


def written_texts() -> Iterator[str]:
    """Texts of what people write: each character alone, after a space, and after each other of its script;
    and all short parts of the corpus."""
    written = [char for char in map(chr, range(sys.maxunicode + 1)) if not unwritten(char)]
    yield from ("".join(written), "\n".join(written), " ".join(written))
    devanagari = [char for char in written if "\u0900" <= char < "\u0980"]
    yield from ("\n".join(first + second for second in devanagari) for first in devanagari)
    text = CORPUS.documents[0].replace("\x07", "")
    yield from {text[at : at + length] for at in range(len(text)) for length in range(1, 10)}


@pytest.mark.slow
def test_glitches_are_the_tokens_that_no_written_text_has(trained: tokentui.Tokenizer) -> None:
    found = {one.id: one for one in trained.glitches()}
    met = {number for text in written_texts() for number in trained.encode_ids(text)}
    assert found.keys() == set(range(len(trained))) - met - {trained.token_to_id("<|end|>")}
    for one in found.values():
        assert one.kind == "unwritten"
        assert one.text is not None
        assert unwritten(one.text) == one.reason
        assert one.id in trained.encode(one.text).ids
    assert sum(b"\x07" in one.piece for one in found.values()) > 1
    broken = {one.piece for one in found.values() if one.reason == "not-utf8"}
    assert broken == {bytes((value,)) for value in (0xC0, 0xC1, *range(0xF5, 0x100))}


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
    assert [one.piece for one in found] == [b"abc", b"zz"]
    row = json.loads(done("inspect", "-t", path, "--glitch", "--json"))
    assert [one["id"] for one in row["glitches"]] == [one.id for one in found]
    assert row["counts"] == {"never": len(found), "unwritten": 0, "swallowed": 0}


def test_a_mark_that_stands_on_no_letter(tmp_path: Path) -> None:
    """A merge joins each letter of its script with the mark, so that the mark is left to a space."""
    joined = [["e", "\u0301"], [" ", "\u0301"]]
    path = file(tmp_path, ["e", " ", "\u0301", "\u0302", "e\u0301", " \u0301"], joined)
    found = {one.piece.decode(): one.reason for one in tokentui.load(path).glitches()}
    assert found == {" \u0301": "lone-mark"}


@pytest.mark.slow
def test_those_that_a_corpus_swallows(trained: tokentui.Tokenizer) -> None:
    found = [one for one in trained.glitches(CORPUS) if one.kind == "swallowed"]
    made: set[bytes] = set()
    for word in trained.explain(CORPUS.documents[0]):
        made.update(word.units)
        made.update(one.result for one in word.steps if isinstance(one, AppliedMerge))
    used = set(trained.encode(CORPUS.documents[0]).pieces)
    other = {one.piece for one in trained.glitches()}
    assert found
    assert {one.piece for one in found} == made - used - other
    for one in found:
        assert one.into
        assert all(one.piece in into and one.piece != into for into in one.into)


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    path = str(tmp_path / "t.json")
    done("train", "sample:sailor", "-r", "gpt2", "-o", path, "-q")
    lines = done("inspect", "-t", path, "--glitch", "sample:sailor").splitlines()
    assert all(line.isprintable() for line in lines)
    titles = [line for line in lines if line[0] != " "]
    for title, line in zip(("ids", *TITLES.values()), titles, strict=True):
        assert line.startswith(title)
    assert any(line.startswith("always merged ") and "longer tokens" in line for line in lines)
    same = done("inspect", "-t", path, "--glitch", "--corpus", "sample:sailor").splitlines()
    assert same == lines
    assert "always merged" not in done("inspect", "-t", path, "--glitch")
    assert "only takes a corpus" in refused("inspect", "-t", path, "--glitch", "--strict")
