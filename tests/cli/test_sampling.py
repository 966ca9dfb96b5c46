"""`tokentui encode --sample`: segmentations of a unigram model drawn at random, the same for the same seed.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running_cli import done, refused, rows

import tokentui

TEXT = "the sailor went to sea"


@pytest.fixture(scope="module")
def unigram(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = str(tmp_path_factory.mktemp("unigram") / "t.json")
    done(
        "train", "sample:english", "-r", "sentencepiece-unigram", "--vocab-size", "300", "--special", "<unk>",
        "-o", file, "-q",
    )
    return file


def test_a_seed_gives_the_same_tokens_and_others_give_others(unigram: str) -> None:
    drawn = {seed: done("encode", "-t", unigram, "--sample", str(seed), TEXT) for seed in range(12)}
    for seed in (0, 5, 11):
        assert done("encode", "-t", unigram, "--sample", str(seed), TEXT) == drawn[seed]
    assert len(set(drawn.values())) > 3
    for ids in set(drawn.values()):
        assert done("decode", "-t", unigram, *ids.split()).strip() == TEXT


def test_a_low_temperature_keeps_to_the_best(unigram: str) -> None:
    best = done("encode", "-t", unigram, TEXT)
    for low in ("0.01", "1e-308"):
        assert done("encode", "-t", unigram, "--sample", "1", "--temperature", low, TEXT) == best
    drawn = done(
        "encode", "-t", unigram, "--sample", "1", "--temperature", "5", "--jsonl",
        input=json.dumps({"text": TEXT}),
    )
    row = rows(drawn)[0]
    assert row["text"] == TEXT
    assert row["offsets"][-1][1] == len(TEXT)


def test_what_has_no_probabilities_is_refused(unigram: str, tmp_path: Path) -> None:
    file = str(tmp_path / "t.json")
    done("train", "sample:hugs", "-r", "gpt2", "--merges", "3", "-o", file, "-q")
    line = refused("encode", "-t", file, "--sample", "1", "a")
    assert "no probabilities (sample by dropout" in line
    assert "above 0" in refused("encode", "-t", unigram, "--sample", "1", "--temperature", "0", "a")
    assert "can only be combined with" in refused("encode", "-t", unigram, "--sample", "1", "--explain", "a")


def test_explained_draws_have_a_row_each_and_the_ids_of_their_words(tmp_path: Path) -> None:
    file = str(tmp_path / "hugs.json")
    done("train", "sample:hugs", "-r", "gpt2", "--merges", "6", "-o", file, "-q")
    words = "encode", "-t", file, "--sample", "dropout:p=0.5", "--seed", "7", "hug pugs"
    lines = done(*words, "--explain").splitlines()
    assert lines[0] == "seed         7, p 0.5, like tokenizers"
    drawn = tokentui.load(file).draws("hug pugs", p=0.5, seed=7)
    ids = [" ".join(map(str, word.ids)) for word in drawn.words]
    assert [line.partition(" · ids ")[2] for line in lines if " · ids " in line] == ids
    assert " ".join(ids) == done(*words).strip()
    numbers = [f"{draw.number:.4f}" for word in drawn.words for draw in word.draws]
    assert [line.split()[1] for line in lines if line.split()[:1] and line.split()[0].isdigit()] == numbers
    dropped = [draw.fate == "dropped" for word in drawn.words for draw in word.draws]
    assert sum(line.endswith("dropped  < 0.5") for line in lines) == sum(dropped) > 0
