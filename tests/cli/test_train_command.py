"""`tokentui train`: merges, trace, tokenizer; files whole or not at all; ctrl+c."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from running_cli import cli, done, refused, rows
from trainers import trainer_class

from tokentui.cli.output import ProgressBar, working
from tokentui.core.errors import Cancelled
from tokentui.core.jobs import check, tick
from tokentui.formats import FORMATS
from tokentui.formats.files import load
from tokentui.recipe import Stops
from tokentui.tokenizer import Trainer

SAILOR = ("train", "sample:sailor", "-r", "udl-notebook")
KEYS = [
    "step", "hex", "left", "right", "token", "id", "count", "replaced", "score", "tied", "tokens",
    "vocab_size",
]


def test_the_notebook(tmp_path: Path) -> None:
    *steps, last = rows(done(*SAILOR, "--merges", "50", "--trace", "-"))
    assert len(steps) == 50
    assert last == {"end": "merges", "steps": 50}
    assert [row["token"] for row in steps[:5]] == ["se", "e</w>", "a</w>", "see</w>", "sea</w>"]
    assert all(list(row) == KEYS for row in steps)
    assert steps[0]["hex"] == ["73", "65", "7365"]
    assert steps[0]["score"] is None
    *steps, last = rows(done(*SAILOR, "--merges", "51", "--trace", "-"))
    assert last == {"end": "no pair left", "steps": 50}


def test_the_woodchuck_ends_quietly_when_nothing_is_left() -> None:
    line = ("train", "sample:woodchuck", "-r", "udl-notebook", "--trace", "-", "--merges")
    *steps, last = rows(done(*line, "24"))
    assert (len(steps), last) == (24, {"end": "merges", "steps": 24})
    assert [row["token"] for row in steps[:3]] == ["uc", "wo", "woo"]
    assert rows(done(*line, "25"))[-1] == {"end": "no pair left", "steps": 24}


def test_merges_for_people() -> None:
    result = cli(*SAILOR, "--merges", "2")
    assert result.exit_code == 0
    assert " ".join(result.stdout.splitlines()[0].split()) == "1 s + e = se (id 19, count 13)"
    assert result.stderr == "tokentui: 2 merges, 21 ids (stopped: merges)\n"
    assert cli(*SAILOR, "--merges", "2", "-q").stderr == ""
    assert cli(*SAILOR, "--merges", "1").stderr == "tokentui: 1 merge, 20 ids (stopped: merges)\n"


def test_a_size_below_the_base_is_said_and_keeps_the_base() -> None:
    for recipe in ("udl-notebook", "gpt2"):
        least = Trainer("sample:sailor", recipe).vocab_size
        result = cli("train", "sample:sailor", "-r", recipe, "--vocab-size", "5")
        assert result.exit_code == 0
        assert result.stdout == ""
        lines = result.stderr.splitlines()
        assert (
            lines[0]
            == f"tokentui: vocab_size=5: the base and the special tokens alone are {least} ids"
        )
        assert lines[1] == f"tokentui: 0 merges, {least} ids (stopped: vocab_size)"


def test_every_stop_ends_a_run() -> None:
    for words, end in (
        (["--vocab-size", "20"], "vocab_size"),
        (["--min-count", "13"], "min_count"),
        (["--max-length", "1"], "no pair left"),
        (["--merges", "0"], "merges"),
    ):
        assert rows(done(*SAILOR, *words, "--trace", "-"))[-1]["end"] == end


def test_a_special_token_that_the_corpus_spells(tmp_path: Path) -> None:
    corpus = tmp_path / "a.txt"
    corpus.write_text("sea<|end|>sea<|end|>")
    words = ("train", str(corpus), "-r", "gpt2", "--merges", "1", "--special", "<|end|>", "--special", "<s>")
    result = cli(*words)
    assert result.stderr.splitlines()[0] == (
        "tokentui: the special token <|end|> occurs 2 times as text in the corpus, and merges are learned "
        "from it: --symbol keeps it whole"
    )
    assert "<s>" not in result.stderr
    assert "spells" not in cli(*words, "--symbol", "<|end|>").stderr
    assert "spells" not in cli(*words, "-q").stderr


def test_specials_and_first_id(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    done(
        *SAILOR, "--special", "<unk>", "--special", "<s>", "--first-id", "7", "--merges", "1", "-o", str(file)
    )
    tok = load(file)
    assert [entry.text for entry in tok.entries()][:2] == ["<unk>", "<s>"]
    assert tok.run == {"merges": 1, "first_id": 7, "specials": ["<unk>", "<s>"]}


def test_a_tokenizer_on_standard_output(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    text = done(*SAILOR, "-o", "-", "-q")
    done(*SAILOR, "-o", str(file), "--format", "tokentui")
    assert text == file.read_text(encoding="utf-8")
    assert json.loads(text)["format"] == "tokentui"


def test_standard_input_and_notes() -> None:
    result = cli("train", "-", "-r", "minbpe-basic", "--merges", "1", "--trace", "-", input=b"ab\xff ab\n")
    assert result.exit_code == 0
    assert rows(result.stdout)[0]["hex"] == ["61", "62", "6162"]
    assert "1 byte is not UTF-8" in result.stderr
    assert cli("train", "-", "-r", "gpt2", "-q", "--merges", "1", input=b"ab\xff ab\n").stderr == ""



def test_a_byte_order_mark_that_is_left_out_is_a_line_on_standard_error(tmp_path: Path) -> None:
    corpus, file = tmp_path / "c.txt", str(tmp_path / "t.json")
    corpus.write_bytes(b"\xef\xbb\xbfa cat, a cat")
    done("train", str(corpus), "-r", "gpt2", "--merges", "2", "-o", file, "-q")
    for line in (
        f"train {corpus} -r gpt2 --merges 2", f"compare -t {file} -t {file} {corpus}",
        f"inspect -t {file} --corpus {corpus}",
    ):
        result = cli(*line.split())
        assert [told for told in result.stderr.splitlines() if "byte order mark" in told] == [
            "tokentui: the byte order mark at the front of c.txt is left out: it is no text"
        ]


def test_reading_options() -> None:
    body = b'{"body": "ab ab"}\n'
    words = ["train", "-", "-r", "gpt2", "--as", "jsonl"]
    assert rows(done(*words, "--field", "body", "--trace", "-", input=body))[0]["token"] == "ab"
    assert refused(*words, input=body).startswith("standard input:1: no field 'text'")


def test_bytes_that_are_no_text_leave_the_trace_valid(tmp_path: Path) -> None:
    trace = tmp_path / "t.jsonl"
    done("train", "-", "-r", "minbpe-basic", "--trace", str(trace), input=b"\xf8\xf9\xf8\xf9\xc3\x28")
    row = rows(trace.read_bytes().decode())[0]
    assert row["hex"] == ["f8", "f9", "f8f9"]
    assert row["token"] == "\ufffd\ufffd"


def test_an_empty_corpus_has_no_pairs() -> None:
    assert rows(done("train", "-", "-r", "gpt2", "--trace", "-", input=b"")) == [
        {"end": "no pair left", "steps": 0}
    ]


@pytest.mark.parametrize("option", ["-o", "--trace"])
@pytest.mark.parametrize("fault", ["replace", "fsync"])
def test_a_file_is_whole_or_as_it_was(
    option: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.json"
    target.write_text("old")

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, fault, fail)
    result = cli(*SAILOR, option, str(target), "-q")
    assert result.exit_code == 2
    why = "cannot be written: No space left on device (the file is as it was; name another place)"
    assert result.stderr == f"tokentui: {target}: {why}\n"
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.json"]


def test_a_target_is_checked_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("the work was begun")

    monkeypatch.setattr("tokentui.text.read.read", never)
    assert "no such folder" in refused(*SAILOR, "-o", str(tmp_path / "none" / "a.json"))
    assert "it is a folder" in refused(*SAILOR, "--trace", str(tmp_path))
    if os.geteuid():
        tmp_path.chmod(0o500)
        assert "no permission" in refused(*SAILOR, "-o", str(tmp_path / "a.json"))


@pytest.mark.parametrize("target", ["file", "-"])
def test_ctrl_c_ends_the_trace(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = trainer_class("udl-notebook")
    advance = kind.advance

    def slowly(self: Any, target: int | None, stops: Stops) -> Any:
        """A step a call."""
        if self.number == 5:
            signal.raise_signal(signal.SIGINT)
        if target is not None or (end := self.end(stops)):
            return advance(self, target, stops) if target is not None else end
        advance(self, self.number + 1, stops)
        return None

    monkeypatch.setattr(kind, "advance", slowly)
    trace = tmp_path / "t.jsonl"
    words = ["--trace", str(trace) if target == "file" else "-", "-o", str(tmp_path / "t.json")]
    result = cli(*SAILOR, *words)
    assert result.exit_code == 130
    *steps, last = rows(trace.read_text() if target == "file" else result.stdout)
    assert last["end"] == "interrupted"
    assert last["steps"] == len(steps) == 6
    assert "interrupted after 6 merges; no tokenizer was written" in result.stderr
    assert not (tmp_path / "t.json").exists()


def test_ctrl_c_while_reading_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: Any, **__: Any) -> None:
        check()
        signal.raise_signal(signal.SIGINT)
        check()

    monkeypatch.setattr("tokentui.text.read.read", read)
    result = cli(*SAILOR, "--trace", str(tmp_path / "t.jsonl"))
    assert (result.exit_code, result.output) == (130, "")
    assert os.listdir(tmp_path) == []


def test_a_second_ctrl_c_does_not_wait() -> None:
    before = signal.getsignal(signal.SIGINT)
    with working():
        check()
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(Cancelled):
            check()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_program_that_ignores_ctrl_c_goes_on() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with working():
            signal.raise_signal(signal.SIGINT)
            check()
    finally:
        signal.signal(signal.SIGINT, before)


class Stderr:
    """A terminal that remembers."""

    encoding = "utf-8"
    closed = False

    def __init__(self, terminal: bool = True) -> None:
        self.terminal = terminal
        self.text = ""

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        """Nothing waits."""


CLEARED = "\r\x1b[K\x1b[?25h"
"""The end of a progress bar: the line is cleared, and the cursor shown."""


class Clock:
    """The time for the bar and for click, which asks the module."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("time.time", lambda: self.now)

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(("terminal", "quiet", "term"), [
    (True, False, "xterm"), (True, True, "xterm"), (True, False, "dumb"), (False, False, "xterm"),
])
def test_the_progress_bar(terminal: bool, quiet: bool, term: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = Stderr(terminal)
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", term)
    clock = Clock(monkeypatch)
    bar = ProgressBar(quiet, clock)
    with bar.phase("merging"):
        tick(1, 10)
        clock.now += 0.9
        tick(2, 10)
        assert stderr.text == ""
        clock.now += 0.2
        tick(5, 10)
        clock.now += 0.05
        tick(6, 10)
        clock.now += 1
        tick(6, 10)
    with bar.phase("counting \x1b[31m"):
        clock.now += 1
        tick(1234)
    bar.close()
    bar.close()
    if not terminal or quiet or term == "dumb":
        assert stderr.text == ""
        return
    first, second, end = stderr.text.split(CLEARED)
    drawn = [line.removeprefix("\x1b[?25l").rstrip() for line in first.split("\r") if line]
    assert all(len(line) <= 60 and line.startswith("merging  [##") for line in drawn)
    assert [line.partition("]  ")[2] for line in drawn] == [" 50%  00:00:01", " 60%  00:00:01"]
    assert r"counting \x1b[31m" in second
    assert second.endswith("1234")
    assert end == ""


@pytest.mark.parametrize(("done", "percent"), [(999, 99), (1000, 100), (1001, 100), (2500, 100)])
def test_the_bar_ends_at_100_percent(done: int, percent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    stderr, clock = Stderr(), Clock(monkeypatch)
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    bar = ProgressBar(clock=clock)
    clock.now += 2
    for _ in range(2):
        with bar.phase("counting"):
            tick(done, 1000)
        clock.now += 2
    assert f"]  {percent:>3}%" in stderr.text
    assert "%" not in stderr.text.replace(f"]  {percent:>3}%", "")


def test_no_bar_is_drawn_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr, clock = Stderr(), Clock(monkeypatch)
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setenv("COLUMNS", "12")
    monkeypatch.setenv("TERM", "xterm")
    bar = ProgressBar(clock=clock)
    clock.now += 2
    bar.update("merging", 3, 1000)
    assert stderr.text == ""


@pytest.mark.parametrize("format", ["tokentui", "huggingface", "gpt2", "sentencepiece", "subword-nmt"])
@pytest.mark.first_run(cases=2)
def test_a_trace_never_replaces_the_tokenizer(format: str, tmp_path: Path) -> None:
    """Whatever the spelling of its path, also for a format with several files."""
    recipe = {"sentencepiece": "sentencepiece-bpe", "subword-nmt": "subword-nmt"}.get(format, "gpt2")
    (tmp_path / "link").symlink_to(tmp_path)
    names = FORMATS[format].files if len(FORMATS[format].files) > 1 else ("made",)
    output = tmp_path if len(names) > 1 else tmp_path / names[0]
    for name in names:
        for folder in (tmp_path, tmp_path / "link", tmp_path / "link" / ".." / tmp_path.name):
            trace = folder / name
            told = refused(
                "train", "sample:hugs", "-r", recipe, "--merges", "2", "-o", str(output), "--format", format,
                "--trace", str(trace),
            )
            assert told == f"--trace {trace}: two outputs cannot be the same file (name another)"
    assert [path.name for path in tmp_path.iterdir()] == ["link"]
    words = "train", "sample:hugs", "-r", "gpt2", "--merges", "2"
    done(*words, "-o", os.devnull, "--format", "tokentui", "--trace", os.devnull)
    done(*words, "-o", str(tmp_path / "a.json"), "--trace", str(tmp_path / "b.jsonl"))
    assert len((tmp_path / "b.jsonl").read_text().splitlines()) == 3
