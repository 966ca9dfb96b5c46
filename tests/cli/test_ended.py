"""Commands that a signal ends leave no file, and a named pipe as output is reported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from running_cli import cli, done

from tokentui.cli.main import COMMANDS

SLOW = """
import os, signal, sys, tokentui.core.files, tokentui.core.streams
from tokentui.cli.main import run
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # tests under nohup ignore it, and so would this
real, fifo = os.fsync, sys.argv[1]
def stop(descriptor):
    os.fsync = real
    real(descriptor)
    open(fifo, "w").close()     # the file is there: tell the test, and wait for its signal
    import time
    time.sleep(60)
os.fsync = stop
sys.exit(run(sys.argv[2:]))
"""
"""Runs a line of words, and stops where a temporary file is written and has not its name yet."""


WRITING = [
    name for name, command in COMMANDS.items()
    if any(param.name == "output" for param in command.load().params)
]
"""The commands with an option or an argument for the file that they write."""


def _line(command: str, folder: Path) -> list[str]:
    """Return a line that has the command write a file; a command without one here fails its test."""
    tokenizer = str(folder / "t.json")
    done("train", "sample:hugs", "-r", "gpt2", "--merges", "3", "-o", tokenizer)
    out = str(folder / "out")
    lines = {
        "train": ["train", "sample:hugs", "-r", "gpt2", "-o", f"{out}.json"],
        "trace": ["train", "sample:hugs", "-r", "gpt2", "--trace", f"{out}.jsonl"],
        "count": ["count", "sample:hugs", "-r", "gpt2", "-o", f"{out}.tsv"],
        "picture": ["picture", "sample:hugs", "-r", "gpt2", "-o", f"{out}.svg"],
        "pin": ["pin", "-t", tokenizer, "-o", f"{out}.json"],
        "convert": ["convert", tokenizer, f"{out}.tiktoken"],
        "edit": ["edit", tokenizer, f"{out}.json", "--special", "<|x|>", "--map", f"{out}.map.json"],
    }
    return lines[command]


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
@pytest.mark.parametrize("name", [*WRITING, "trace"])
@pytest.mark.first_run(cases=1)
def test_a_command_that_is_ended_leaves_no_file(name: str, number: signal.Signals, tmp_path: Path) -> None:
    line = _line(name, tmp_path)
    before = sorted(tmp_path.iterdir())
    fifo = tmp_path.parent / f"{tmp_path.name}.fifo"
    os.mkfifo(fifo)
    with subprocess.Popen([sys.executable, "-c", SLOW, str(fifo), *line], stderr=subprocess.PIPE,
                          stdout=subprocess.DEVNULL) as process:
        fifo.open().close()
        process.send_signal(number)
        try:
            _, said = process.communicate(timeout=30)
        finally:
            process.kill()  # else a failure would fail the tests after it that look for children
    assert process.returncode == 128 + number, said
    assert sorted(tmp_path.iterdir()) == before


def test_a_named_pipe_as_output_is_reported(tmp_path: Path) -> None:
    fifo = tmp_path / "out.tsv"
    os.mkfifo(fifo)
    read = list[str]()
    reader = threading.Thread(target=lambda: read.append(fifo.read_text()))
    reader.start()
    result = cli("count", "sample:hugs", "-r", "gpt2", "-o", str(fifo))
    reader.join(30)
    assert result.exit_code == 0
    assert "is a named pipe" in result.stderr
    assert "ug" in read[0]
