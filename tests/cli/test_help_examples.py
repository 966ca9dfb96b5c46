"""Every example in the help of a command is run, in a folder with files of their names."""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from gguf_files import NORMAL, gguf, vocabulary
from running_cli import cli, done

from tokentui import tours
from tokentui.cli.main import COMMANDS
from tokentui.text.sources import find_sample

LEFT_OUT = {
    "s3://": "it reads a bucket", "tcp://": "it needs a cluster",
    "--sizes 8k,16k,32k": "the vocabulary is smaller", "--sizes 1k,2k,4k": "the vocabulary is smaller",
    "--vocab-size 8000": "the vocabulary is smaller", "--weights": "it reads the weights of a model",
    "--against tokenizers==": "it installs libraries", "grade cs336": "it runs a student's program",
    "bound --check": "the certificate is of a larger vocabulary", "page.txt --lp": "it takes a page of text",
    "tokentui practice": "it opens the explorer",
    "exercise.toml submissions": "there are no submissions",
    "web=web.txt": "there is no such text", "tokentui serve": "it serves until it is stopped",
    "tokentui play": "it opens the explorer",
    "tokentui tour$": "it opens the explorer", "tokentui tour ties$": "it opens the explorer",
    "tokentui tour lesson.toml$": "it opens the explorer",
}
"""Patterns of the examples that are not run, and why."""
NEEDS = {
    "--against transformers": "transformers", "--against llama.cpp": "xllamacpp",
    "--against tokenizers": "tokenizers", "--against subword-nmt": "subword_nmt",
    "--against rustbpe": "rustbpe", "--against tiktoken": "tiktoken", ".parquet": "pyarrow",
    "--chat": "jinja2",
}
"""The library that an example with these words needs; without it the example is not run."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts and tokenizers under the names that examples have."""
    home = tmp_path_factory.mktemp("examples")
    english, finnish = (f"sample:parallel/{name}" for name in ("english", "finnish"))
    for name, sample in (("novel.txt", "english"), ("en.txt", "parallel/english"),
                         ("de.txt", "parallel/german"), ("second.txt", "parallel/finnish"),
                         ("english.txt", "parallel/english"), ("german.txt", "parallel/german")):
        shutil.copy(find_sample(sample).path, home / name)
    for name in ("gpt2", "texts", "model"):
        (home / name).mkdir()
    short = ("--merges", "80", "-q", "-o")
    done("train", english, "-r", "gpt2", "-s", "normalize=nfc", *short, str(home / "nfc.json"))
    done("train", str(home / "novel.txt"), "-r", "gpt2", *short, str(home / "novel.json"))
    done("train", english, "-r", "gpt2", *short, str(home / "tokenizer.json"), "--format", "huggingface")
    shutil.copy(home / "tokenizer.json", home / "model")
    for name in ("a.txt", "b.txt", "letter.txt", "texts/a.txt"):
        shutil.copy(home / "en.txt", home / name)
    for name in ("mine", "theirs", "a", "b", "old", "new"):
        shutil.copy(home / "novel.json", home / f"{name}.json")
    done("train", finnish, "-r", "gpt4", *short, str(home / "cl100k_base.tiktoken"))
    for name in ("texts", "more"):
        (home / f"{name}.jsonl").write_text('{"text": "The crowd"}\n' * 3)
    (home / "merges.txt").write_text("e s\nes t\n")
    (home / "messages.json").write_text('[{"role": "user", "content": "The crowd"}]')
    (home / "chat_template.jinja").write_text("{{ messages[0].content }}")
    (home / "ids.jsonl").write_text(json.dumps({"ids": [84, 258]}) + "\n")
    (home / "big.gz").write_bytes(gzip.compress((home / "en.txt").read_bytes()))
    for name in ("day1", "day2"):
        done("count", str(home / "en.txt"), "-r", "gpt2", "-q", "-o", str(home / f"{name}.counts.tsv"))
    model = json.loads((home / "tokenizer.json").read_text("utf-8"))["model"]
    rows = [row if isinstance(row, str) else " ".join(row) for row in model["merges"]]
    (home / "model.gguf").write_bytes(gguf(vocabulary(
        "gpt2", list(model["vocab"]), [NORMAL] * len(model["vocab"]), merges=rows, pre="gpt-2")))
    done("pin", "-t", str(home / "tokenizer.json"), "-o", str(home / "golden.json"))
    shutil.copy(Path(tours.__path__[0]) / "ties.toml", home / "lesson.toml")
    return home


def examples(command: str) -> list[str]:
    """The examples of a command, without the notes after them."""
    text = done(command, "--help").partition("Examples:")[2]
    return [re.split(r" {3,}", line.strip())[0] for line in text.splitlines() if "tokentui " in line]


def run(line: str) -> None:
    """Run a line as a shell does: commands between pipes, `<` and `>`."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>")
    lexer.whitespace_split, lexer.commenters = True, ""
    words, given, printed = list(lexer), None, b""
    while words:
        end = words.index("|") if "|" in words else len(words)
        command, words = words[:end], words[end + 1 :]
        target = ""
        for sign in ("<", ">"):
            if sign in command:
                at = command.index(sign)
                file = command[at + 1]
                del command[at : at + 2]
                given, target = (Path(file).read_bytes(), target) if sign == "<" else (given, file)
        if command[0] == "zcat":
            given = gzip.decompress(Path(command[1]).read_bytes())
            continue
        _, name, *own = command
        quiet = ("-q",) if any(param.name == "quiet" for param in COMMANDS[name].load().params) else ()
        result = cli(name, *quiet, *own, input=given)
        assert result.exit_code in (0, 1), (line, result.output)
        printed = given = result.stdout_bytes
        if target:
            Path(target).write_bytes(printed)
    assert printed or {"-o", "--trace", "--check"} & {*own}, line


def test_only_examples_are_left_out() -> None:
    lines = [line for command in COMMANDS for line in examples(command)]
    assert [pattern for pattern in LEFT_OUT if not any(re.search(pattern, line) for line in lines)] == []


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.first_run(cases=1)
def test_each_example_runs(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    found = examples(command)
    assert found
    for line in found:
        needed = [name for words, name in NEEDS.items() if words in line]
        able = all(importlib.util.find_spec(name) for name in needed)
        if able and not any(re.search(pattern, line) for pattern in LEFT_OUT):
            run(line)
