"""Traces of every preset and the output of commands, compared with recordings.

`TOKENTUI_KEEP` names the recordings to renew: parts of their file names with commas between, such as
`hindi` or `traces,command-split`, or `all`. Renew only what your change is meant to
alter, and look at the difference.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from pathlib import Path

import pytest
from renewal import renews
from running_cli import cli, done

from tokentui.preset_table import PRESETS

KEPT = Path(__file__).parent / "kept"
SAMPLES = ("hugs", "english", "hindi", "numbers", "gage")
STEPS = "40"
COMMANDS: dict[str, str] = {
    "recipes": "recipes --json",
    "split": "split -s split=cl100k --json",
    "encode": "encode -t {file} --json",
    "encode-explain": "encode -t {file} --explain",
    "inspect": "inspect -t {file} --json",
    "inspect-people": "inspect -t {file}",
    "inspect-string": "inspect -t {file} --json crowd",
    "inspect-word": "inspect -t {file} the",
    "compare": "compare -t {file} -r bert sample:english --json",
    "compare-people": "compare -t {file} -r bert sample:english",
}
TEXTS = ("The crowd in the street, 12345 café 👩🏽‍🚀", "don't\tstop\n  now", "हिन्दी भाषा")
NAMES = [name for name in PRESETS if not PRESETS[name].recipe.split.startswith("regex:")]


def check(name: str, text: str) -> None:
    """Compare a text with its recording; write it first where `TOKENTUI_KEEP` names the recording."""
    path = KEPT / name
    if renews(name):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    before = path.read_text(encoding="utf-8")
    rows = difflib.unified_diff(before.splitlines(), text.splitlines(), "recorded", "now", lineterm="", n=1)
    assert before == text, "\n".join(list(rows)[:60])


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A trained tokenizer in a file of Hugging Face's."""
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    done("train", "sample:english", "-r", "gpt2", "--merges", "120", "-q", "-o", str(path))
    return str(path)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.first_run(cases=1)
def test_traces(sample: str) -> None:
    """The rows of every preset, without their schema: their number, the last one, and a digest of all."""
    out = {}
    for name in NAMES:
        size = ["--vocab-size", "300"] if PRESETS[name].recipe.objective == "unigram" else ["--merges", STEPS]
        result = cli("train", f"sample:{sample}", "-r", name, *size, "-q", "--trace", "-")
        text = result.stdout.replace(', "schema": 1}', "}")
        rows = text.splitlines()
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        out[name] = [result.exit_code, len(rows), digest, *rows[-2:-1], result.stderr]
    check(f"traces-{sample}.json", json.dumps(out, indent=1, ensure_ascii=False) + "\n")


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize("name", list(COMMANDS))
def test_commands(name: str, tokenizer: str) -> None:
    """What the commands print."""
    words = COMMANDS[name].format(file=tokenizer).split()
    texts: tuple[str | None, ...] = TEXTS if words[0] in ("split", "encode") else (None,)
    out = []
    for text in texts:
        result = cli(*words, input=text)
        out.append(f"== {text!r} exit {result.exit_code}\n{result.stdout}{result.stderr}")
    check(f"command-{name}.txt", "".join(out).replace(tokenizer, "TOKENIZER"))


@pytest.mark.parametrize(("named", "renewed"), [
    ("", False), (" , ", False), ("1", True), ("all", True), ("hindi", True), ("english, traces", True),
    ("english", False), ("traces-hindi.json", True),
])
def test_only_recordings_that_are_named_are_renewed(
    named: str, renewed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKENTUI_KEEP", named)
    assert renews("traces-hindi.json") is renewed
