"""However it ends, the terminal is as it was, the process is gone, and what happened is told in a few clean
lines."""

from __future__ import annotations

import itertools
import os
import signal
import termios
import time
import tty
from pathlib import Path

import pytest
from terminal import Forks, Terminal, assert_restored

from tokentui.core.errors import SHORT_OF_MEMORY

pytestmark = [pytest.mark.pty, pytest.mark.slow]

BROKEN = """
import threading
from tokentui.ui.main_screen import MainScreen

def fail(*_):
    corpus = "\\x1b]0;title\\x07 a secret that a variable holds"
    raise {error}

def action(self):
    {how}

MainScreen.action_follow_merge = action
"""
FAILURES = (
    ("ValueError('x\\x1b[2J [red]')", "fail()", "ValueError"),
    ("RuntimeError('in a thread')", "threading.Thread(target=fail).start()", "RuntimeError"),
    ("RuntimeError('later')", "self.app._loop.call_soon(fail)", "RuntimeError"),
    (
        "IndexError('in the engine')",
        "from tokentui.session import commands; from tokentui.session.engine import state; "
        "state.State.snapshot = fail; "
        "self.app.engine.send(commands.Move(1))",
        "IndexError",
    ),
    ("KeyError('in a message')", "self.set_timer(0.01, fail)", "KeyError"),
)
"""Errors, the ways in which a key raises them, and their names."""
WIDE = 30.0
"""Seconds that no ending takes, even on a machine that does much else; the goals are one and two."""


@pytest.mark.slow
def test_a_failure_is_told_in_a_few_lines(tmp_path: Path) -> None:
    home = tmp_path / "home"
    lines = [BROKEN.format(error=error, how=how) for error, how, _ in FAILURES]
    environment = {"TOKENTUI_HOME": str(home)}
    with Forks("sample:hugs", "-r", "comp336", lines=lines, environment=environment) as terminal:
        for _, _, name in FAILURES:
            terminal.next()
            terminal.until(lambda text: "step 0" in text)
            terminal.press("f")
            assert terminal.code() == 70
            assert_restored(terminal)
            told = bytes(terminal.written).rsplit(b"\x1b[?1006l", 1)[1].partition(b"========")[0].decode()
            found = told.strip().splitlines()
            assert f"this should not have happened: {name}" in found[0]
            assert len(found) <= 10
            assert all(line.isprintable() for line in found)
            assert "secret" not in told
            account = (home / "crash.txt").read_text()
            assert name in account
            assert "Traceback" in account
            assert "\x1b" not in account
            assert str(home / "crash.txt") in "".join(line.strip() for line in found)
            (home / "crash.txt").unlink()


@pytest.mark.slow
def test_a_lack_of_memory_is_told_in_one_line(tmp_path: Path) -> None:
    """In a handler, in a thread and in the event loop."""
    home = tmp_path / "home"
    errors = ("MemoryError()", "OSError(12, 'x')", "RuntimeError(\"can't start new thread\")")
    ways = itertools.product(errors, FAILURES[:3])
    lines = [BROKEN.format(error=error, how=how) for error, (_, how, _) in ways]
    environment = {"TOKENTUI_HOME": str(home)}
    with Forks("sample:hugs", "-r", "comp336", lines=lines, environment=environment) as terminal:
        for _ in lines:
            terminal.next()
            terminal.until(lambda text: "step 0" in text)
            terminal.press("f")
            assert terminal.code() == 2
            assert_restored(terminal)
            told = bytes(terminal.written).rsplit(b"\x1b[?1006l", 1)[1].partition(b"========")[0].decode()
            assert told.strip() == f"tokentui: {SHORT_OF_MEMORY}"
            assert not (home / "crash.txt").exists()


@pytest.mark.slow
def test_a_line_that_stalls_does_not_hold_it() -> None:
    with Terminal("sample:english", "-r", "gpt2", columns=120, rows=40) as terminal:
        terminal.until(lambda text: "step 0" in text and "▸ " in text)
        begun = time.monotonic()
        for _ in range(200):
            terminal.press("nv")  # nobody reads what it draws
        os.kill(terminal.process, signal.SIGTERM)
        assert terminal.wait() == 128 + signal.SIGTERM
        assert time.monotonic() - begun < WIDE
        terminal.end()
        assert_restored(terminal)


@pytest.mark.parametrize("ignored", [pytest.param((), marks=pytest.mark.soak), (signal.SIGHUP,)])
@pytest.mark.slow
def test_a_line_that_drops_ends_it(ignored: tuple[signal.Signals, ...]) -> None:
    with Terminal("sample:hugs", "-r", "comp336", ignored=ignored) as terminal:
        terminal.until(lambda text: "step 0" in text)
        terminal.press(" ")
        terminal.hang_up()
        assert terminal.wait() == 128 + signal.SIGHUP


@pytest.mark.slow
def test_a_terminal_that_was_left_raw_is_mended() -> None:
    with Terminal("sample:hugs", "-r", "comp336") as terminal:
        terminal.until(lambda text: "step 0" in text)
        os.kill(terminal.process, signal.SIGKILL)
        assert terminal.end() == -signal.SIGKILL
        assert not termios.tcgetattr(terminal.slave)[tty.LFLAG] & termios.ECHO
        terminal.begin("--reset-terminal")
        assert terminal.end() == 0
        assert_restored(terminal)


@pytest.mark.slow
def test_after_a_line_has_dropped_one_goes_on_where_one_was(tmp_path: Path) -> None:
    corpus = tmp_path / "a novel.txt"
    corpus.write_text("the crowd in the street saw the crowd in the house " * 50)
    home = tmp_path / "home"
    with Terminal(str(corpus), "-r", "gpt2", environment={"TOKENTUI_HOME": str(home)}) as terminal:
        terminal.until(lambda text: "step 0" in text and "▸ " in text)
        terminal.press("nnnnnn2")
        terminal.until(lambda text: "step 6" in text)
        before = terminal.until(
            lambda text: any('"step": 6' in path.read_text() for path in home.glob("sessions/*.json"))
        )
        os.kill(terminal.process, signal.SIGKILL)
        assert terminal.end() == -signal.SIGKILL
        terminal.begin()
        terminal.until(lambda text: "enter  resume" in text and "a novel.txt" in text and "step 6" in text)
        terminal.press("\r")
        terminal.until(lambda text: text.splitlines()[1:-3] == before.splitlines()[1:-3])
        corpus.write_text("another text " * 50)
        os.kill(terminal.process, signal.SIGHUP)
        assert terminal.end() == 128 + signal.SIGHUP
        terminal.begin()
        terminal.until(lambda text: "enter  resume" in text)
        terminal.press("\r")
        terminal.until(lambda text: "the corpus has changed" in text)
        terminal.press("q")
        assert terminal.end() == 0
        assert '"ended": false' in next(home.glob("sessions/*.json")).read_text()
        terminal.begin()
        terminal.until(lambda text: "enter  resume" in text and "step 6" in text)
        terminal.press("\x1b[3~")  # delete
        terminal.until(lambda text: "enter  resume" not in text)
        terminal.press("q")
        assert terminal.end() == 0
        assert all('"ended": true' in one.read_text() for one in home.glob("sessions/*.json"))
