"""`train` and `compare` on GreedTok, Length-MAX and PathPiece."""

from __future__ import annotations

from pathlib import Path

import pytest
from running_cli import done, refused, rows

NAMES = ("greedtok", "length-max", "pathpiece")


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    path = tmp_path / "corpus.txt"
    path.write_text(
        "the cat sat on the mat and the cat sat on the hat\nby the way the dog sat on the log\n",
        encoding="utf-8",
    )
    return str(path)


@pytest.mark.parametrize(("name", "said"), [
    ("greedtok", "· + t + h + e = ·the  (id 256, count 6, score 18)"),
    ("length-max", "a + t = at  (id 257, count 7, score 14)"), ("pathpiece", "remove ·an: 0 tokens more"),
])
def test_steps_are_told(name: str, said: str, corpus: str) -> None:
    assert said in done("train", "-r", name, corpus, "--merges", "3")
    traced = rows(done("train", "-r", name, corpus, "--merges", "3", "--trace", "-"))
    assert [row.get("step") for row in traced] == [1, 2, 3, None]
    assert traced[-1]["end"] == "merges"


@pytest.mark.parametrize("name", NAMES)
def test_a_format_that_cannot_hold_it_is_named(name: str, corpus: str, tmp_path: Path) -> None:
    line = refused("train", "-r", name, corpus, "--merges", "3", "-o", str(tmp_path / "t.json"),
                   "--format", "huggingface")
    assert "huggingface cannot store it" in line


def test_columns_are_compared(corpus: str) -> None:
    words = [word for name in (*NAMES, "gpt2") for word in ("-r", name)]
    (row,) = rows(done("compare", *words, corpus, "--merges", "6", "--json"))
    parted = {(one["a"], one["b"]): one["step"] for one in row["first_difference"]}
    assert parted["A", "B"] == 2  # both begin with the same run
    assert all(step == 1 for pair, step in parted.items() if pair != ("A", "B"))
    text = done("compare", *words, corpus, "--merges", "6")
    assert "remove ·an: 0 tokens more" in text
    assert "loss 0  removed" in text
    assert "loss 0  kept" in text
