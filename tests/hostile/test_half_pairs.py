"""Half of a surrogate pair, which JSON can write and UTF-8 cannot: in a corpus and in a text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running_cli import cli

from tokentui.preset_table import PRESETS

ROWS = "".join(
    json.dumps({"text": text}) + "\n" for text in ("the hat \ud800 the", "\ud800", "ab\udc00ab \ud83d ☃")
)


@pytest.mark.parametrize("name", sorted(PRESETS))
@pytest.mark.slow
def test_every_preset_trains_on_it_and_encodes_it(name: str, tmp_path: Path) -> None:
    """A command has a result, or refuses the text in one line."""
    corpus, made = tmp_path / "corpus.jsonl", tmp_path / "made.json"
    corpus.write_text(ROWS)
    train = "train", str(corpus), "-r", name, "--merges"
    lines: list[tuple[str, ...]] = [(*train, "3"), (*train, "6", "-o", str(made))]
    file = "-t", str(made)
    after: list[tuple[str, ...]] = [
        ("encode", *file, "--jsonl"), ("encode", *file, "--jsonl", "--special-tokens"), ("inspect", *file),
        ("inspect", *file, "--corpus", str(corpus)), ("convert", str(made)),
        ("compare", str(corpus), *file, "-r", "gpt2", "--merges", "3"),
    ]
    for words in (*lines, *after, ("train", "sample:hugs", *train[2:], "6", "-o", str(made)), *after):
        if words in after and not made.exists():
            continue
        result = cli(*words, input=ROWS)
        assert result.exit_code in (0, 1, 2), (words, result.stderr)
        assert "\x1b" not in result.stderr
