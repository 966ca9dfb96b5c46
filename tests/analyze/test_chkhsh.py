"""The name of a tokenizer in llama.cpp: the hash of its converter, and the nearest of its splits."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
from oracle import shared
from running_cli import done

from tokentui.analyze.chkhsh import analysis
from tokentui.formats.files import load
from tokentui.formats.gguf.chkhsh import CHECK_TEXT, HASHES, chkhsh, known_as
from tokentui.formats.gguf.pre import PRE
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.split import SPLITS
from tokentui.tokenizer import train


def test_the_table_of_hashes() -> None:
    assert all(re.fullmatch("[0-9a-f]{16}", digits) for digits in HASHES)
    assert len(HASHES) > 80
    assert known_as("0" * 64) == ""


def test_the_hash_is_of_the_list_of_ids() -> None:
    tokenizer = train(Corpus.from_text("a b"), Recipe(), merges=0)
    ids = tokenizer.encode(CHECK_TEXT).ids
    assert chkhsh(tokenizer) == hashlib.sha256(f"[{', '.join(map(str, ids))}]".encode()).hexdigest()


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "split", "pre"),
    [("gpt2/tokenizer.json", "", "gpt-2"), ("falcon/tokenizer.json", "", "falcon"),
     ("bert-base-uncased/tokenizer.json", "", "bert-bge"),
     ("tiktoken_o200k_base/o200k_base.tiktoken", "o200k", "gpt-4o")],
)
def test_published_tokenizers_are_known(name: str, split: str, pre: str) -> None:
    assert known_as(chkhsh(load(shared(f"tokenizers/{name}"), split))) == pre


@pytest.mark.parametrize(("split", "name"), [("gpt2", "gpt-2"), ("llama3", "llama-bpe")])
def test_a_split_of_the_table_is_found(split: str, name: str) -> None:
    value = analysis(train(Corpus.from_text("a b"), Recipe(split=split), merges=0), None).value
    assert name in value["splits"]  # type: ignore[operator]
    assert value["differing"] == []


def test_where_the_nearest_split_cuts_otherwise_is_told() -> None:
    pattern = SPLITS["gpt2"].pattern.replace(r"\p{N}++", r"\p{N}{1,4}")
    tokenizer = train(Corpus.from_text("a b"), Recipe(split=f"regex:{pattern}"), merges=0)
    value = analysis(tokenizer, None).value
    assert "gpt-2" in value["splits"]  # type: ignore[operator]
    assert {"text": CHECK_TEXT, "place": CHECK_TEXT.encode().index(b"33333 ") + 4} in value["differing"]  # type: ignore[operator]


def test_text_that_is_changed_is_not_compared() -> None:
    recipe = Recipe(("lowercase",), split="gpt2")
    assert "splits" not in analysis(train(Corpus.from_text("a b"), recipe, merges=0), None).value


def test_command(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    train(Corpus.from_text("a b"), Recipe(), merges=0).save(path)
    shown = done("inspect", "-t", str(path), "--chkhsh")
    assert "gpt-2" in shown
    assert "same splits" in shown
    row = json.loads(done("inspect", "-t", str(path), "--chkhsh", "--json"))
    assert row["pre"] is None
    assert set(row["splits"]) <= set(PRE)
