"""The oracle's cases through the command line: what it prints is what the engine does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from oracle import cases, corpus_of
from running_cli import cli, corpus_file, done, rows

from tokentui.recipe import Recipe

TRAIN = cases("train", objective="count") + cases("train", objective="score")
SPLIT = cases("split", "units")


def recipe_file(case: dict[str, Any], folder: Path) -> str:
    path = folder / "recipe.toml"
    path.write_text(Recipe(**case["recipe"]).to_toml(), encoding="utf-8")
    return str(path)


def run_words(run: dict[str, Any]) -> list[str]:
    words = []
    for name, value in run.items():
        if name == "specials":
            words += [word for special in value for word in ("--special", special)]
        elif value is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    return words


@pytest.mark.parametrize(
    # By day a third of them, each that is refused and each limit of length: the engine is held against each
    # in `learn` and `encode`.
    "case",
    [case if n % 3 == 0 or "error" in case.values[0] or case.values[0]["run"].get("max_length")
     else pytest.param(*case.values, id=case.id, marks=[*case.marks, pytest.mark.soak])
     for n, case in enumerate(TRAIN)],
)
@pytest.mark.first_run(cases=5)
def test_training(case: dict[str, Any], tmp_path: Path) -> None:
    if "match" in case:
        pytest.skip("compared with a tolerance elsewhere")
    trace, file = tmp_path / "trace.jsonl", str(tmp_path / "tokenizer.json")
    source, recipe = corpus_file(corpus_of(case), tmp_path), recipe_file(case, tmp_path)
    done("train", source, "-r", recipe, *run_words(case["run"]), "-o", file, "--trace", str(trace), "-q")
    *steps, last = rows(trace.read_text(encoding="utf-8"))
    want = case["expect"]
    if "hex" in want:
        assert [row["hex"] for row in steps] == want["hex"]
    for name, column in (
        ("counts", "count"), ("replaced", "replaced"), ("tokens", "tokens"), ("tied", "tied"),
    ):
        if name in want:
            assert [row[column] for row in steps] == want[name]
    assert [row["step"] for row in steps] == list(range(1, len(steps) + 1))
    if "end" in want:
        assert last == {"end": last["end"], "steps": len(steps)}
        assert last["end"] in want["end"]
    if "vocab_size" in want and steps:
        assert steps[-1]["vocab_size"] == want["vocab_size"]
    encode(case, file)
    decode(case, file)
    for item in case.get("error", ()):
        answer = cli("encode", "-t", file, "--", item["text"])
        assert answer.exit_code == 2
        assert answer.stderr.count("\n") == 1
        assert any(repr(unit) in answer.stderr for unit in item["unknown"])


def encode(case: dict[str, Any], file: str) -> None:
    items = case.get("encode", ())
    asked = "".join(json.dumps({"text": item["text"]}) + "\n" for item in items)
    answers = rows(done("encode", "-t", file, "--jsonl", input=asked))
    assert len(answers) == len(items)
    for item, answer in zip(items, answers, strict=True):
        assert answer["text"] == item["text"]
        if "ids" in item:
            assert answer["ids"] == item["ids"]
        if "hex" in item and "unknown" not in item:
            bare = [None if one is None else byte_of(one) for one in answer["hex"]]
            assert bare == [None if one is None else byte_of(one) for one in item["hex"]]
        assert len(answer["ids"]) == len(answer["tokens"]) == len(answer["hex"]) == len(answer["offsets"])


def byte_of(text: str) -> str:
    """A byte-fallback token's name is as good as the bare byte."""
    name = bytes.fromhex(text)
    return (
        name[3:5].decode().lower()
        if len(name) == 6 and name.startswith(b"<0x") and name.endswith(b">")
        else text
    )


def decode(case: dict[str, Any], file: str) -> None:
    items = case.get("decode", ())
    asked = "".join(json.dumps({"ids": item["ids"]}) + "\n" for item in items)
    answers = rows(done("decode", "-t", file, "--jsonl", input=asked))
    assert answers == [{"text": item["text"]} for item in items]


@pytest.mark.first_run(cases=8)
@pytest.mark.parametrize("case", SPLIT)
def test_splitting(case: dict[str, Any]) -> None:
    asked = "".join(json.dumps({"text": item["text"]}) + "\n" for item in case["items"])
    named = {
        name: ",".join(value) or "[]" if name == "normalize" else value
        for name, value in case["recipe"].items()
    }
    words = [word for name, value in named.items() for word in ("-s", f"{name}={value}")]
    answers = rows(done("split", *words, "--jsonl", input=asked))
    for item, answer in zip(case["items"], answers, strict=True):
        for name in ("text", "pieces", "normalized", "units"):
            if name in item:
                assert answer[name] == item[name]
