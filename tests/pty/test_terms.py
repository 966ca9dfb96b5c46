"""Terminals of every kind: what they cannot show is not sent, and tmux shows what we mean."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from scripts import SCRIPTS
from terminal import PATIENCE_S, Terminal, assert_restored

ROOT = Path(__file__).resolve().parents[2]
_SGR = re.compile(rb"\x1b\[([0-9;:]*)m")


def colored(written: bytes) -> set[bytes]:
    """The parameters of SGR that set a color, any color."""
    numbers = {one for codes in _SGR.findall(written) for one in re.split(rb"[;:]", codes)}
    return {
        one
        for one in numbers
        if one and (30 <= int(one) <= 49 or 90 <= int(one) <= 107) and one not in (b"39", b"49")
    }


def drawn(written: bytes) -> str:
    """What was written but for sequences."""
    return re.sub(r"\x1b(\[[0-9;?<>=$]*[A-Za-z]|\][^\x07]*\x07|.)", "", written.decode("utf-8", "replace"))


def walk(environment: dict[str, str]) -> bytes:
    """Look at some screens and leave. Returns all that was written."""
    with Terminal("sample:hugs", "-r", "comp336", environment=environment) as terminal:
        terminal.until(lambda text: "step 0" in text)
        terminal.press("nn2")
        terminal.until(lambda text: "step 2" in text)
        terminal.press("?")
        terminal.until(lambda text: "Help" in text)
        terminal.press("\x1b")
        terminal.until(lambda text: "Help" not in text)
        terminal.resize(1, 1)
        terminal.press("q")
        assert terminal.end() == 0
        assert_restored(terminal)
        return bytes(terminal.written)


@pytest.mark.pty
@pytest.mark.slow
def test_no_color_is_sent_where_none_is_wanted() -> None:
    written = walk({"NO_COLOR": "1", "TERM": "tmux-256color"})
    assert colored(written) == set()
    assert b"\x1b[1m" in written  # and yet not all looks the same


@pytest.mark.pty
@pytest.mark.slow
def test_an_old_terminal_gets_utf8_and_no_colors_whatever_the_locale_says() -> None:
    written = walk({"TERM": "vt100", "LANG": "C", "LC_ALL": "C"})
    assert colored(written) == set()
    assert "╔═ 1 Corpus ═" in drawn(written)


@pytest.mark.soak
@pytest.mark.pty
@pytest.mark.parametrize(
    ("name", "eight_bit"),
    [("screen", False), ("linux", False), ("xterm-256color", True), ("tmux-256color", True)],
)
def test_no_more_colors_than_there_are(name: str, eight_bit: bool) -> None:
    written = walk({"TERM": name, "LANG": "C.UTF-8"})
    assert colored(written)
    assert (b"8;5;" in written) == eight_bit
    assert b"8;2;" not in written


Tmux = Callable[..., str]


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    """A tmux of the test's own: called with words, it returns what it says."""
    program = shutil.which("tmux")
    if program is None:
        pytest.skip("tmux is not installed")
    environment = {**os.environ, "TMUX_TMPDIR": str(tmp_path), "LANG": "C.UTF-8"}
    environment.pop("TMUX", None)

    def call(*words: str) -> str:
        command = [program, "-f", os.devnull, "-L", "t", *words]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=300
        ).stdout

    yield call
    subprocess.run([program, "-L", "t", "kill-server"], env=environment, capture_output=True, check=False)


def shown(tmux: Tmux, holds: Callable[[str], bool]) -> str:
    """What stands in the pane, once something holds for it."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds(text := tmux("capture-pane", "-p")):
        assert time.monotonic() < deadline, f"it never came; the pane is:\n{text}"
        time.sleep(0.02)
    return text


@pytest.mark.pty
def test_in_tmux(tmux: Tmux) -> None:
    """Keys, another screen in between, a resize: the pane holds the whole of ours each time."""
    program = shlex.join([sys.executable, "-m", "tokentui", "sample:hugs", "-r", "comp336"])
    shell = f"TOKENTUI_KERNELS=off {program}; echo left with $?; cat"
    tmux("new-session", "-d", "-x", "80", "-y", "24", "-c", str(ROOT), shell)
    shown(tmux, lambda text: re.search(r"step +0 ", text) is not None and "2 Pairs" in text)
    tmux("send-keys", "n", "n", "n", "2")
    before = shown(tmux, lambda text: re.search(r"step +3 ", text) is not None and "▸ ·p+ug" in text)
    tmux("send-keys", "?")
    shown(tmux, lambda text: "Help" in text)
    tmux("send-keys", "Escape")
    shown(tmux, lambda text: text == before)
    tmux("resize-window", "-x", "120", "-y", "40")
    shown(tmux, lambda text: "Why" in text and text.count("┐") == 6)
    tmux("resize-window", "-x", "80", "-y", "24")
    shown(tmux, lambda text: text == before)
    tmux("send-keys", "q")
    shown(tmux, lambda text: "left with 0" in text)


@pytest.mark.slow
@pytest.mark.pty
def test_in_tmux_what_is_typed_in_nine_scripts_is_read_back(tmux: Tmux) -> None:
    """tmux gives a spacing mark a cell of its own and draws no skin tone on the emoji before it."""
    program = shlex.join([sys.executable, "-m", "tokentui", "sample:hugs", "-r", "gpt2"])
    tmux(
        "new-session", "-d", "-x", "100", "-y", "30", "-c", str(ROOT), f"TOKENTUI_KERNELS=off {program}; cat"
    )
    shown(tmux, lambda text: re.search(r"step +0 ", text) is not None and "4 Encode" in text)
    tmux("send-keys", "4")
    shown(tmux, lambda text: "esc done" in text)
    tmux("send-keys", "End", "C-u")
    empty = shown(tmux, lambda text: "> type text to see it encoded" in text).split("\n")
    row = next(n for n, line in enumerate(empty) if "> type text" in line)

    def above(lines: list[str]) -> list[str]:
        """The panes above Why, which tells what a step does to the typed text."""
        return lines[: next(n for n, line in enumerate(lines) if "┌─ Why" in line)]

    def typed(words: str, wanted: str) -> list[str]:
        tmux("send-keys", "-l", "--", words)
        return shown(tmux, lambda text: re.search(f"> {wanted} .* B/token│", text) is not None).split("\n")

    for script in (
        "devanagari", "bengali", "tamil", "telugu", "thai", "khmer", "burmese", "arabic", "hebrew", "hangul",
    ):
        lines = typed(SCRIPTS[script], re.escape(SCRIPTS[script]))
        assert above(lines) == above(empty), script
        assert [line[-1:] for line in lines[row:-3]] == [line[-1:] for line in empty[row:-3]], script
        tmux("send-keys", "C-u")
        shown(tmux, lambda text: "> type text to see it encoded" in text)
    # tmux takes four cells for two of ours: what is beside them is whole.
    lines = typed("ab👍🏽cd👩🏽\u200d🚀ef", "ab👍.{0,2}cd👩.{0,2}ef")
    assert above(lines) == above(empty)
    assert [line[-1:] for line in lines[row:-3]] == [line[-1:] for line in empty[row:-3]]
    tmux("send-keys", "Escape", "q")
