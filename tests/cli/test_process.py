"""The program as a process: what it imports, pipes that break, full disks, ctrl+c, terminals."""

from __future__ import annotations

import itertools
import json
import os
import pty
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from painted import bare
from running_cli import done

from tokentui.cli.main import COMMANDS
from tokentui.core import engines, limits

PROGRAM = [sys.executable, "-m", "tokentui"]
HOSTILE = "\x1b]52;c;eA==\x07 \x9b31m \u202ea \x1b[2J"


ALL = (
    "import json, sys; from tokentui.cli.main import run; print(*[run(one) for one in "
    "json.loads(sys.argv[1])])"
)
"""A program that runs several lines of words, and prints their exit codes."""


def environment(**changed: str) -> dict[str, str]:
    return {**os.environ, "PYTHONIOENCODING": "", **changed}


@pytest.fixture
def letters(tmp_path: Path) -> str:
    """A corpus whose training is long."""
    path = tmp_path / "letters.txt"
    path.write_text("".join(random.Random(1).choices("abcdefghijklmnop ", k=60_000)))
    return str(path)


def test_a_command_imports_no_screen(tmp_path: Path) -> None:
    """Nor what marks tokens on a terminal, where its output is piped."""
    hugs = str(tmp_path / "hugs.json")
    done("train", "sample:hugs", "-r", "gpt2", "--merges", "2", "-o", hugs, "-q")
    lines = [
        ["--help"], ["train", "sample:sailor", "-r", "gpt2", "--merges", "2", "--trace", "-"],
        ["split", "-s", "split=gpt2", "a"], ["recipes"], ["encode", "-t", hugs, "hugs"],
    ]
    code = (
        f"import sys; from tokentui.cli.main import run\nfor words in {lines!r}:\n    code = run(words)\n"
        "    screen = 'textual', 'rich', 'tokentui.cli.chips', 'tokentui.core.tints'\n"
        "    print(code, [m for m in screen if m in sys.modules], file=sys.stderr)"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [line for line in process.stderr.splitlines() if "[" in line] == ["0 []"] * len(lines)


def test_a_broken_pipe_is_quiet(letters: str) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "train", letters, "-r", "jurassic", "-q", "--trace", "-"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert json.loads(process.stdout.readline())["step"] == 1
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141


def test_a_full_disk_is_one_line() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "wb") as full:
        process = subprocess.run([*PROGRAM, "recipes"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert process.returncode == 2
    assert process.stderr == "tokentui: standard output: No space left on device\n"


@pytest.mark.parametrize(("closed", "code", "said"), [
    ("split -s split=gpt2 a >&-", 2, "tokentui: standard output: there is none (open it, or name a file)\n"),
    ("split -s split=gpt2 <&-", 2, "tokentui: standard input: there is none (open it, or name a file)\n"),
    ("split --jsonl -s split=gpt2 <&-", 2,
     "tokentui: standard input: there is none (open it, or name a file)\n"),
    ("recipes none 2>&-", 2, ""),
    ("train sample:hugs -r gpt2 --merges 1 >/dev/null 2>/dev/full", 0, ""),
    ("train sample:hugs -r gpt2 --merges 1 --trace /dev/stdout | grep -c .", 0,
     "tokentui: 1 merge, 257 ids (stopped: merges)\n"),
])
@pytest.mark.first_run(cases=1)
def test_a_stream_that_is_not_there(closed: str, code: int, said: str) -> None:
    line = f"exec {sys.executable} -m tokentui {closed}"
    process = subprocess.run(["sh", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (process.returncode, process.stderr) == (code, said)
    assert process.stdout == ("2\n" if "grep" in closed else "")


def test_no_command_writes_to_nothing() -> None:
    """Each that would write says that there is no standard output: the help of all commands too."""
    options = itertools.cycle(("--help", "-h"))
    helps = [["--help"], *([name, next(options)] for name in COMMANDS)]
    others = [
        ["--version"], ["--limits"], ["--completion", "bash"], ["recipes"], ["tour"],
        ["split", "a", "-s", "split=gpt2"],
        ["train", "sample:hugs", "-r", "gpt2", "--merges", "1", "-o", "-"],
    ]
    lines = [*helps, *others]
    code = (
        "import json, sys; from tokentui.cli.main import run; lines = json.loads(sys.argv[1]); "
        "print(*[run(one) for one in lines], file=sys.stderr)"
    )
    process = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-c", code, json.dumps(lines)],
        stderr=subprocess.PIPE, text=True, check=True,
    )
    *said, codes = process.stderr.splitlines()
    assert said == ["tokentui: standard output: there is none (open it, or name a file)"] * len(lines)
    assert codes.split() == ["2"] * len(lines)


def test_ctrl_c(letters: str) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "train", letters, "-r", "jurassic", "-q", "--trace", "-"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env=environment(TOKENTUI_KERNELS="off"),
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    assert process.stderr is not None
    process.send_signal(signal.SIGINT)
    # Not communicate(): it reads past the stream, which may hold rows that came together with the first.
    rows = [json.loads(line) for line in [first, *process.stdout]]
    said = process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    process.wait()
    assert process.returncode == 130
    assert rows[-1] == {"end": "interrupted", "steps": len(rows) - 1, "schema": 1}
    assert said == f"tokentui: interrupted after {len(rows) - 1:,} merges\n"


def test_ctrl_c_while_waiting_for_text(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "split", "-s", "split=gpt2", "--jsonl"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b'{"text": "a"}\n')
    process.stdin.flush()
    # a row is answered before the next is there
    assert json.loads(process.stdout.readline())["pieces"] == ["a"]
    process.send_signal(signal.SIGINT)
    assert process.communicate() == (b"", b"")
    assert process.returncode == 130


def test_the_explorer_without_a_terminal_is_one_line() -> None:
    lines: list[list[str]] = [[], ["sample:sailor", "-r", "gpt2"], ["-"]]
    process = subprocess.run(
        [sys.executable, "-c", ALL, json.dumps(lines)], stdin=subprocess.DEVNULL, capture_output=True,
        text=True,
        env=environment(TERM="xterm"),
    )
    assert process.stdout == "2 2 2\n"
    said = process.stderr.splitlines()
    assert len(said) == len(lines)
    assert all(line.startswith("tokentui: standard output: the explorer needs a terminal") for line in said)


def on_terminal(words: list[str], **changed: str) -> tuple[int, bytes]:
    """The exit code and what a terminal gets as standard output and standard error."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment(**changed)
    )
    os.close(theirs)
    got = b""
    try:
        while block := os.read(ours, 65536):
            got += block
    except OSError:  # Linux says EIO where the other end is closed
        pass
    os.close(ours)
    return process.wait(), got.replace(b"\r\n", b"\n")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tokenizer of a text that would act on a terminal."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "hostile.txt").write_text(f"{HOSTILE} {HOSTILE}", encoding="utf-8")
    done("train", str(folder / "hostile.txt"), "-r", "minbpe-basic", "-o", str(folder / "hostile.json"), "-q")
    return str(folder / "hostile.json")


@pytest.mark.pty
@pytest.mark.parametrize("term", ["xterm-256color", "xterm"])
@pytest.mark.slow
def test_nothing_acts_on_a_terminal_of_ascii(hostile: str, term: str) -> None:
    """One of UTF-8 is tried by `hostile/test_hostile_commands.py`."""
    corpus = hostile.removesuffix("json") + "txt"
    commands = [
        ["train", corpus, "-r", "minbpe-basic"],
        ["train", corpus, "-r", "minbpe-basic", "--trace", "-"],
        ["train", corpus, "-r", "minbpe-basic", "-o", "-"],
        ["encode", "-t", hostile, "--json", HOSTILE],
        ["encode", "-t", hostile, "--explain", HOSTILE],
        ["encode", "-t", hostile, HOSTILE],
        ["decode", "-t", hostile, *done("encode", "-t", hostile, HOSTILE).split()],
        ["split", "-s", "split=gpt2", HOSTILE],
        ["split", "-s", "split=gpt2", "--json", HOSTILE],
        ["recipes", HOSTILE],
        ["recipes"],
    ]
    utf8_off = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    _, got = on_terminal([sys.executable, "-c", ALL, json.dumps(commands)], LC_ALL="C", TERM=term,
        NO_COLOR="", **utf8_off)
    *printed, codes = got.decode("ascii").rstrip("\n").split("\n")
    assert codes == "0 0 0 0 0 0 0 0 0 2 0"
    assert len(printed) > 50
    assert any(bare(line) != line for line in printed) == (term == "xterm-256color")
    for line in printed:
        assert bare(line).isprintable(), line


@pytest.mark.pty
def test_a_dumb_terminal_is_refused_in_one_line() -> None:
    code, got = on_terminal([*PROGRAM, "sample:sailor"], TERM="dumb")
    assert code == 2
    assert got.startswith(b"tokentui: TERM=dumb: the explorer needs a terminal with cursor control")
    assert got.count(b"\n") == 1


@pytest.mark.slow
@pytest.mark.pty
def test_rows_on_a_terminal_are_the_same_json(hostile: str) -> None:
    words = ["encode", "-t", hostile, "--json", HOSTILE]
    _, got = on_terminal([*PROGRAM, *words], COLUMNS="10000")
    assert json.loads(got) == json.loads(done(*words))


@pytest.mark.pty
def test_the_explorer_reads_a_pipe_and_listens_to_the_terminal() -> None:
    code = """
import os, sys, types
os.close(os.open(os.ttyname(1), os.O_RDWR))  # a session's first terminal becomes its own
stub = types.ModuleType("tokentui.ui")
def run(opening, *others):
    print(opening.sources, os.isatty(0), sys.stdin.buffer.read())
    return 0
stub.run = run
sys.modules["tokentui.ui"] = stub
from tokentui.cli.main import run
sys.exit(run(["-"]))
"""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=theirs, stderr=subprocess.PIPE,
        start_new_session=True,
        env=environment(TERM="xterm"),
    )
    os.close(theirs)
    _, said = process.communicate(b"ab")
    assert said == b""
    assert process.returncode == 0
    assert os.read(ours, 1000).strip() == b"('-',) True b'ab'"
    os.close(ours)


def version(**changed: str) -> tuple[int, str, str]:
    """The exit code, the output and the errors of `tokentui --version`."""
    words = [*PROGRAM, "--version"]
    ended = subprocess.run(words, capture_output=True, text=True, env=environment(**changed), check=False)
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.parametrize("changed", [{}, {engines.VARIABLE: "off"}, {limits.VARIABLE: "file-bytes=9"}])
def test_the_version_is_answered_at_once_with_the_same_line(
    changed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in changed.items():
        monkeypatch.setenv(name, value)
    assert version(**changed) == (0, done("--version"), "")


def test_the_version_reports_what_is_wrong_with_the_environment() -> None:
    code, output, errors = version(**{limits.VARIABLE: "nothing=1"})
    assert (code, output, errors.count("\n")) == (2, "", 1)
    assert errors.startswith("tokentui: ")


def test_the_version_imports_no_command_line() -> None:
    """It would take five times as long as starting Python, and `json` or `functools` as long as that."""
    code = "import sys; sys.argv = ['tokentui', '--version']; before = set(sys.modules)"
    code += "; from tokentui.__main__ import main; main(); print(*set(sys.modules) - before)"
    line, modules = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    ).stdout.splitlines()
    assert line.startswith("tokentui ")
    unused = {"click", "typing", "pathlib", "inspect", "json", "re", "functools", "tokentui.core.native"}
    assert not unused & set(modules.split())
