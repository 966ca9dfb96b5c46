"""Texts are cut where no token has two characters side by side. The ids are those of the steps of the file.

The reference has no cuts at all and no kernels.
"""

from __future__ import annotations

import importlib
import itertools
import json
import random
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import oracle
import owners
import pytest
import texts as awkward
from whole_texts import ADDED, ALPHABET, STEPS, compare, goes_by_pairs, made_up, random_texts, uncut

from tokentui import load
from tokentui.core.errors import Cancelled
from tokentui.encode import id_tables
from tokentui.formats import sentencepiece


@pytest.fixture(scope="module")
def kernels(loaded: None) -> ModuleType:
    return importlib.import_module("tokentui.encode.kernels.joins")


@pytest.fixture
def always(kernels: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels for texts of any length, in chunks of a few characters."""
    monkeypatch.setattr(id_tables, "KERNEL_CHARS", 0)
    monkeypatch.setattr(id_tables, "MANY_WORDS", 0)
    monkeypatch.setattr(importlib.import_module("tokentui.text.kernels.count"), "CHUNK_CHARS", 12)
    monkeypatch.setattr(importlib.import_module("tokentui.encode.kernels.encode"), "KEPT_WORDS", 60)


def check_made_up(
    steps: str, added: str, spelled: bool, fused: bool, seed: int, count: int, folder: Path
) -> bool:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(made_up(seed, steps, added, spelled=spelled, fused=fused)), encoding="utf-8")
    tokenizer = load(path)
    compare(tokenizer, uncut(path), random_texts(seed, count))
    compare(tokenizer.at(5), uncut(path).at(5), random_texts(seed + 1, 3))
    return goes_by_pairs(tokenizer)


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("spelled", [True, False])
@pytest.mark.parametrize("added", ADDED)
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.first_run(cases=3)
def test_made_up_files(
    steps: str, added: str, spelled: bool, fused: bool, always: None, tmp_path: Path
) -> None:
    by_pairs = check_made_up(steps, added, spelled, fused, 7, 6, tmp_path)
    if steps != "plain":  # which a recipe may describe: a text is a word
        assert by_pairs == (added != "always" or steps in ("gemma", "marks"))


@pytest.mark.slow
@pytest.mark.parametrize("added", ADDED)
@pytest.mark.parametrize("steps", STEPS)
def test_many_made_up_files(steps: str, added: str, always: None, tmp_path: Path) -> None:
    for seed in range(8):
        for spelled, fused in itertools.product((True, False), repeat=2):
            check_made_up(steps, added, spelled, fused, seed, 11, tmp_path)


def test_pairs_that_share_a_place_join(
    kernels: ModuleType, always: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A table of four places gives the same ids."""
    monkeypatch.setattr(kernels, "_LEAST_BITS", 2)
    monkeypatch.setattr(kernels, "_MOST_BITS", 2)
    assert check_made_up("gemma", "always", True, True, 3, 20, tmp_path)


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("flag", ["lstrip", "rstrip", "single_word", "normalized"])
def test_tokens_whose_place_depends_on_more_than_their_name(
    flag: str, always: None, tmp_path: Path
) -> None:
    """Their files go word by word, and a special one may have any flag."""
    content = made_up(1, "gemma", "always", spelled=True, fused=True)
    path = tmp_path / "tokenizer.json"
    for number in (1, 4):  # "\n", and "<s>" which is special
        changed = json.loads(json.dumps(content))
        changed["added_tokens"][number][flag] = True
        path.write_text(json.dumps(changed), encoding="utf-8")
        tokenizer = load(path)
        compare(tokenizer, uncut(path), random_texts(number, 12))
        assert goes_by_pairs(tokenizer) == (number == 4)


def test_what_does_not_go_by_pairs(always: None, tmp_path: Path) -> None:
    """Byte tokens that merge, some of the bytes, words that are tokens without merging, marks of units."""
    content = made_up(1, "gemma", "none", spelled=True, fused=True)
    model = content["model"]
    names = model["vocab"]
    without = {name: number for name, number in names.items() if name != "<0x41>"}
    changes: list[dict[str, Any]] = [
        {"vocab": {**names, "<0x41>a": len(names)}, "merges": [["<0x41>", "a"], *model["merges"]]},
        {"vocab": without}, {"ignore_merges": True}, {"end_of_word_suffix": "</w>"},
    ]
    path = tmp_path / "tokenizer.json"
    for change in changes:
        path.write_text(json.dumps({**content, "model": {**model, **change}}), encoding="utf-8")
        tokenizer = load(path)
        compare(tokenizer, uncut(path), random_texts(2, 8))
        assert not goes_by_pairs(tokenizer)


def test_models_of_sentencepiece(always: None, tmp_path: Path) -> None:
    name = "trained/spm-bpe/m.model"
    path = owners.path_of(name, tmp_path)
    tokenizer = load(path)
    compare(tokenizer, uncut(path), [*awkward.FEW[::6], *random_texts(5, 10)])
    assert goes_by_pairs(tokenizer)
    assert sentencepiece.proto_of(tokenizer.encoder.pretokenizer) is not None


@pytest.mark.slow
@pytest.mark.peer
@pytest.mark.parametrize("name", [
    "trained/spm-bpe/m.model", *oracle.large("llama2/tokenizer.json", "spm-llama2/tokenizer.model"),
])
def test_the_owner_gives_the_same(name: str, always: None, tmp_path: Path) -> None:
    """Of 8,000 texts: awkward ones, and random joins of their parts."""
    tokenizer, owner = owners.read(name, tmp_path), owners.owner_of(name, tmp_path)
    numbers, given = random.Random(name), list(filter(None, awkward.TEXTS))
    more: dict[str, Any] = {"allow_special": name.endswith(".json")}  # that library always finds them
    for number in range(8_000):
        text = "".join(
            one[(at := numbers.randrange(len(one))) : at + numbers.randrange(30)]
            for one in numbers.choices(given, k=3)
        ) if number >= len(given) else given[number]
        assert tokenizer.encode_ids(text, **more).tolist() == owner.encode(text), text
    assert goes_by_pairs(tokenizer)


def test_progress_and_cancelling(
    kernels: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.import_module("tokentui.text.kernels.count"), "CHUNK_CHARS", 1000)
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(made_up(1, "gemma", "always", spelled=True, fused=True)), encoding="utf-8")
    tokenizer, text = load(path), "abc de>. 中文 ab\n" * 2000
    told: list[tuple[int, int]] = []
    found = tokenizer.encode_ids(text, progress=lambda *one: told.append(one))
    assert told == sorted(told)
    assert told[0] == (0, len(text))
    assert len(told) > 3
    assert goes_by_pairs(tokenizer)
    asked = iter([False, False, True])
    with pytest.raises(Cancelled):
        tokenizer.encode_ids(text, cancel=lambda: next(asked))
    assert tokenizer.encode_ids(text) == found


@pytest.mark.slow
def test_a_job_can_be_cancelled_at_any_time(kernels: ModuleType, tmp_path: Path) -> None:
    """It is asked every 50 milliseconds of processor time, also at the first call."""
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(made_up(1, "gemma", "always", spelled=True, fused=True)), encoding="utf-8")
    tokenizer, numbers = load(path), random.Random(1)
    text = "".join(numbers.choices([*ALPHABET, *"      "], k=1_000_000))
    for _ in range(2):
        times = [time.thread_time()]

        def asked(times: list[float] = times) -> bool:
            times.append(time.thread_time())
            return False

        tokenizer.encode_ids(text, cancel=asked)
        times.append(time.thread_time())
        assert max(after - before for before, after in itertools.pairwise(times)) < 0.05
