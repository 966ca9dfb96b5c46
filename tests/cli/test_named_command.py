"""Named corpora on the command line, and parity-aware BPE on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from running_cli import cli, done, refused, rows

import tokentui
from tokentui.core.errors import TokentuiError
from tokentui.formats import WRITTEN

TEXTS = {"en": "the cat sat on the mat and the cat ate\n", "hi": "बिल्ली चटाई पर बैठी और बिल्ली ने खाया\n"}


@pytest.fixture
def named(tmp_path: Path) -> tuple[str, ...]:
    words: list[str] = []
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.txt").write_text(text * 3, encoding="utf-8")
        words += ["--corpus", f"{name}={tmp_path}/{name}.txt"]
    return tuple(words)


def test_a_training_is_that_of_all_texts_together(named: tuple[str, ...]) -> None:
    paths = [one.partition("=")[2] for one in named[1::2]]
    words = ("train", "-r", "gpt2", "--merges", "20", "--trace", "-", "-q")
    assert rows(done(*words, *named)) == rows(done(*words, *paths))
    equal = rows(done(*words, *named, "--shares", "equal"))
    assert equal != rows(done(*words, *named))
    corpus = tokentui.read(dict(zip(TEXTS, paths, strict=True)), shares="equal")
    run = tokentui.Trainer(corpus, "gpt2")
    run.run(merges=20)
    assert [(row["left"], row["count"]) for row in equal[:-1]] == [
        (step.row["left"], step.row["count"]) for step in run.steps()
    ]


def test_a_trace_tells_which_language_decided(named: tuple[str, ...], tmp_path: Path) -> None:
    words = ("train", *named, "-r", "gpt2", "--merges", "40", "-s", "objective=parity", "-q")
    trace = rows(done(*words, "--trace", "-"))[:-1]
    assert {row["language"] for row in trace} == {"en", "hi"}
    assert trace[0]["language"] == "hi"  # its text is longer
    lines = done(*words).splitlines()
    assert [line.rpartition(", ")[2] for line in lines] == [f"{row['language']})" for row in trace]
    judge = tmp_path / "long.txt"
    judge.write_text("the cat sat " * 200)
    judged = rows(done(*words, "--development", f"en={judge}", "--trace", "-"))[:-1]
    assert judged[0]["language"] == "en"
    assert "language" not in rows(done("train", *named, "-r", "gpt2", "--merges", "1", "--trace", "-"))[0]


@pytest.mark.slow
def test_a_tokenizer_of_parity_is_kept_and_read_by_others(named: tuple[str, ...], tmp_path: Path) -> None:
    """It is a list of merges: a format holds it where it holds those of plain byte-pair encoding."""
    out = tmp_path / "own.tokentui.json"
    done("train", *named, "-r", "gpt2", "--merges", "30", "-s", "objective=parity", "-o", str(out), "-q")
    made = tokentui.load(out)
    assert made.run["corpora"] == ["en", "hi"]
    assert made.recipe.objective == "parity"
    grown = "edit", str(out), str(tmp_path / "x.json"), "--extend", "sample:hugs", "--vocab-size", "400"
    assert "lengths of its languages, which no file stores" in refused(*grown)
    paths = [one.partition("=")[2] for one in named[1::2]]
    plain = tokentui.train(paths, "gpt2", merges=30)
    whole = "".join(TEXTS.values())
    held = 0
    for name in WRITTEN:
        outcomes: list[Any] = []
        for at, tokenizer in enumerate((made, plain)):
            target = tmp_path / f"{name}{at}"
            try:
                tokenizer.save(target, name)
            except TokentuiError as error:
                outcomes.append(error.what)
                continue
            outcomes.append("written")
            if at == 0:
                split = "gpt2" if name in ("tiktoken",) else ""
                again = tokentui.load(target, split)
                assert again.encode(whole).pieces == made.encode(whole).pieces
                held += 1
        assert outcomes[0] == outcomes[1], name
    assert held >= 2


@pytest.mark.slow
def test_measures_are_those_of_each_language(named: tuple[str, ...], tmp_path: Path) -> None:
    row = json.loads(done("compare", *named, "-r", "gpt2", "-r", "bert", "--merges", "20", "--json", "-q"))
    of = {
        (one["name"], one["conventions"].get("corpus")): one["values"] for one in row["measures"]
    }
    assert of["tokens", None] == [a + b for a, b in zip(of["tokens", "en"], of["tokens", "hi"], strict=True)]
    for name, text in TEXTS.items():
        sizes = [len(text.encode()) * 3 / tokens for tokens in of["tokens", name]]
        assert of["bytes_per_token", name] == sizes
    assert [min(pair) for pair in zip(of["cost", "en"], of["cost", "hi"], strict=True)] == [1.0, 1.0]
    out = tmp_path / "t.json"
    done("train", *named, "-r", "gpt2", "--merges", "20", "-o", str(out), "-q")
    found = json.loads(done("inspect", "-t", str(out), *named, "--json"))["corpus"]["parts"]
    assert [one["tokens"] for one in found] == [of["tokens", name][0] for name in TEXTS]
    assert "× the cheapest" in done("inspect", "-t", str(out), *named)
    costs = json.loads(done("languages", "-t", str(out), *named, "--json"))["tokenizers"][0]["costs"]
    assert {one["language"]: one["tokens"] for one in costs} == {
        name: of["tokens", name][0] for name in TEXTS
    }
    assert cli("verify", *named, "-r", "gpt2", "--merges", "10", "--against", "tokenizers").exit_code == 0


def test_the_parallel_set_is_named_in_a_word() -> None:
    by_option = done("train", "--corpus", "sample:parallel", "-r", "gpt2", "--merges", "3", "-q")
    assert by_option == done("train", "sample:parallel", "-r", "gpt2", "--merges", "3", "-q")
    judged = "train", "sample:parallel", "--development", "en=sample:sailor", "-r", "gpt2", "--merges", "1"
    assert done(*judged, "-q", "-s", "objective=parity")


@pytest.mark.parametrize(("words", "what"), [
    (("sample:hugs", "--corpus", "en=x"), "CORPUS and --corpus cannot be combined"),
    (("--corpus", "x.txt"), "expected a name and a file"),
    (("sample:hugs", "--shares", "equal"), "only for named corpora"),
    (("sample:hugs", "--development", "en=x"), "only for named corpora"),
    (("--corpus", "en=a", "--corpus", "en=b"), "two corpora have this name"),
    (("--corpus", "sample:parallel", "--corpus", "en=b"), "names several corpora"),
    (("--corpus", "en=sample:hugs", "--development", "hi=sample:hugs"), "there is no corpus of this name"),
    (("--corpus", "en=nowhere.txt"), "no such file"),
])
def test_what_cannot_be_named_is_one_line(words: tuple[str, ...], what: str) -> None:
    assert what in refused("train", *words, "-r", "gpt2", "--merges", "1")
