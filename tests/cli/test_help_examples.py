"""The examples in the help of a command are run, in a folder with files of their names."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from running_cli import cli, done

from tokentui.cli.program import COMMANDS
from tokentui.text.sources import find_sample

NOT_RUN = {
    "count": "its examples read buckets and clusters", "tour": "it opens the explorer",
    "serve": "it serves until it is stopped",
}
"""The commands whose examples are not run, and why."""
RUN = [name for name in COMMANDS if name not in NOT_RUN]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts and tokenizers under the names that examples have."""
    home = tmp_path_factory.mktemp("examples")
    english, finnish = (f"sample:parallel/{name}" for name in ("english", "finnish"))
    for name, sample in (("novel.txt", "english"), ("en.txt", "parallel/english"),
                         ("de.txt", "parallel/german"), ("second.txt", "parallel/finnish")):
        shutil.copy(find_sample(sample).path, home / name)
    (home / "gpt2").mkdir()
    short = ("--merges", "80", "-q", "-o")
    done("train", str(home / "novel.txt"), "-r", "gpt2", *short, str(home / "novel.json"))
    done("train", english, "-r", "gpt2", *short, str(home / "tokenizer.json"), "--format", "huggingface")
    for name in ("a", "b"):
        shutil.copy(home / "en.txt", home / f"{name}.txt")
    for name in ("mine", "theirs", "a", "b", "old", "new"):
        shutil.copy(home / "novel.json", home / f"{name}.json")
    done("train", finnish, "-r", "gpt4", *short, str(home / "cl100k_base.tiktoken"))
    return home


def examples(command: str) -> list[str]:
    """The examples of a command that need no other library, without what stands behind them."""
    text = done(command, "--help").partition("Examples:")[2]
    return [re.split(r" {3,}", line.strip())[0] for line in text.splitlines()
            if line.strip().startswith("tokentui ") and not {*"<>|"} & {*line} and "--against" not in line]


def test_only_commands_are_left_out() -> None:
    assert NOT_RUN.keys() <= COMMANDS.keys()


@pytest.mark.parametrize("command", RUN)
def test_each_example_runs(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    found = examples(command)
    assert found
    for line in found:
        _, name, *words = shlex.split(line)
        quiet = ("-q",) if any(param.name == "quiet" for param in COMMANDS[name].load().params) else ()
        result = cli(name, *quiet, *words)
        assert result.exit_code in (0, 1), (line, result.output)
        assert result.stdout or {"-o", "--trace"} & {*words}, line
