"""What `inspect` costs in processor time, for vocabularies that are hard for it."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from running_cli import cli

import tokentui

SECONDS = 6
"""On a slow machine. Some of these took half a minute."""


def saved(tokenizer: tokentui.Tokenizer, folder: Path) -> Path:
    tokenizer.save(folder / "saved.json")
    return folder / "saved.json"


def emoji(folder: Path) -> Path:
    return saved(tokentui.train("sample:emoji", "pathpiece", vocab_size=1500), folder)


def families(folder: Path) -> Path:
    """Train on joined emoji, signs and letters in random order, all of whose substrings are tokens."""
    chosen = random.Random(3)
    text = "".join(chosen.choice(["👩‍👩‍👧", "中", "é", "①", "▁", " ", "3", "и", "c"]) for _ in range(90))
    (folder / "families.txt").write_text(text, encoding="utf-8")
    return saved(tokentui.train(str(folder / "families.txt"), "pathpiece", merges=5), folder)


def marked(folder: Path) -> Path:
    return saved(tokentui.train("sample:hugs", "gpt4", mark="prefix:▁", merges=0), folder)


def added(folder: Path) -> Path:
    """Write a tokenizer with 100,000 added tokens."""
    path = folder / "added.json"
    tokentui.train("sample:hugs", "gpt2", merges=3).save(path, format="huggingface")
    document = json.loads(path.read_text(encoding="utf-8"))
    document["added_tokens"] = [
        {"id": 1000 + n, "content": f"<extra_{n}>", "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": n % 2 == 0, "special": n % 3 == 0}
        for n in range(100_000)
    ]
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.mark.parametrize("make", [emoji, families, marked, added])
@pytest.mark.parametrize("options", [(), ("--glitch",)])
@pytest.mark.slow
def test_inspect_takes_a_few_seconds(
    make: Callable[[Path], Path], options: tuple[str, ...], tmp_path: Path
) -> None:
    path = make(tmp_path)
    began = time.process_time()
    assert cli("inspect", "-t", str(path), *options).exit_code in (0, 1)
    assert time.process_time() - began < SECONDS
