"""What only a terminal shows: a start, steps, a resize, an end, and the terminal as it was before."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest
from terminal import Terminal, assert_restored

pytestmark = pytest.mark.pty


def test_start_step_resize_quit() -> None:
    with Terminal("sample:english", "-r", "gpt2", columns=120, rows=40) as terminal:
        terminal.until(lambda text: "2 Pairs" in text and "step 0" in text and "▸" in text)
        terminal.press("n" * 20)
        terminal.until(lambda text: "step 20" in text)
        terminal.press("bb")
        terminal.until(lambda text: "step 18" in text)
        terminal.resize(80, 24)
        terminal.until(lambda text: "step 18" in text and "▸" in text and len(text.splitlines()[-1]) <= 80)
        terminal.resize(20, 5)
        terminal.until(lambda text: "wants" in text)
        terminal.resize(120, 40)
        terminal.until(lambda text: "3 Vocabulary" in text and "step 18" in text)
        terminal.press("q")
        assert terminal.end() == 0
        assert_restored(terminal)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT])
def test_a_signal_ends_it_and_restores_the_terminal(number: signal.Signals) -> None:
    with Terminal("sample:hugs", "-r", "comp336") as terminal:
        terminal.until(lambda text: "step 0" in text)
        os.kill(terminal.process, number)
        assert terminal.end() == 128 + number
        assert_restored(terminal)


def test_hostile_text_never_reaches_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "hostile \x1b]0;name\x07 [red].txt"
    sequences = (
        b"\x1b]0;title\x07 \x1b[2J [/] [@click=app.quit]x[/] \xe2\x80\xae bidi \x9b31m \xc2\x9b31m "
        b"\x00\x07\x08 "
    )
    path.write_bytes(sequences * 40 + bytes(range(256)))
    with Terminal(str(path), "-r", "gpt2", columns=120, rows=40) as terminal:
        terminal.until(lambda text: "step 0" in text and "2 Pairs" in text and "▸" in text)
        for mode in range(4):
            terminal.press("n" * 5)
            terminal.until(lambda text, steps=5 * (mode + 1): f"step {steps}" in text)  # type: ignore[misc]
            terminal.press("v")
        terminal.press("q")
        assert terminal.end() == 0
        text = bytes(terminal.written)
        for wrong in (b"\x1b]0;", b"\x1b[2J [/]", b"\x07", b"\x00", b"\x08", "\u202e".encode(), b"\xc2\x9b"):
            assert wrong not in text.replace(b"\x1b]22;default\x07", b"")
        assert_restored(terminal)


def test_noise_the_cost_of_a_key_and_a_stop() -> None:
    with Terminal("sample:hugs", "-r", "comp336") as terminal:
        terminal.until(lambda text: "step 0" in text)
        # Bytes that are no text are ignored.
        terminal.press(b"\xff\xfe\xe2\x28")
        terminal.press("nnn")
        terminal.until(lambda text: "step 3" in text)
        # The bytes that a key costs are shown where one asks.
        terminal.press("\x07")
        terminal.until(lambda text: " 0 B/key" in text)
        terminal.press("2")
        terminal.until(lambda text: re.search(r"[1-9]\d* B/key", text) is not None)
        terminal.press("\x07")
        terminal.until(lambda text: "B/key" not in text)
        # Stopped and continued, it shows the same screen.
        terminal.press("\x1a")
        terminal.until_stopped()
        assert_restored(terminal)
        terminal.screen.reset()
        os.kill(terminal.process, signal.SIGCONT)
        terminal.until(lambda text: "step 3" in text and "2 Pairs" in text)
        terminal.press("q")
        assert terminal.end() == 0
        assert_restored(terminal)
