"""What only a terminal shows: a start, steps, a resize, an end, and the terminal as it was before."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from terminal import Forks, Terminal, assert_restored

from tokentui.core.errors import SHORT_OF_MEMORY

pytestmark = [pytest.mark.pty, pytest.mark.slow]


@pytest.mark.slow
def test_start_step_resize_noise_stop_and_quit() -> None:
    with Terminal("sample:english", "-r", "gpt2", columns=120, rows=40) as terminal:
        terminal.until(lambda text: "2 Pairs" in text and "step 0" in text and "▸ " in text)
        terminal.press("n" * 20)
        terminal.until(lambda text: "step 20" in text)
        terminal.press("bb")
        terminal.until(lambda text: "step 18" in text)
        terminal.resize(80, 24)
        terminal.until(lambda text: "step 18" in text and "▸ " in text and len(text.splitlines()[-1]) <= 80)
        terminal.resize(20, 5)
        terminal.until(lambda text: "tokentui needs" in text)
        terminal.resize(120, 40)
        terminal.until(lambda text: "3 Vocabulary" in text and "step 18" in text)
        # Bytes that are no text are ignored.
        terminal.press(b"\xff\xfe\xe2\x28")
        terminal.press("nnn")
        terminal.until(lambda text: "step 21" in text)
        # Stopped and continued, it shows the same screen.
        terminal.press("\x1a")
        terminal.until_stopped()
        assert_restored(terminal)
        terminal.screen.reset()
        os.kill(terminal.process, signal.SIGCONT)
        terminal.until(lambda text: "step 21" in text and "2 Pairs" in text)
        terminal.press("q")
        assert terminal.end() == 0
        assert_restored(terminal)


@pytest.mark.slow
def test_a_file_that_cannot_be_read_leaves_the_comparison_to_the_others(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"model": {}}', encoding="utf-8")
    words = "sample:hugs", "-t", str(tmp_path / "bad.json"), "-r", "gpt2", "-r", "gage"
    with Terminal(*words, columns=120, rows=40) as terminal:
        terminal.until(lambda text: "compare" in text and "A bad.json" in text and "C gage" in text)
        terminal.until(lambda text: text.count("step      0") >= 2)
        terminal.press("q")
        assert terminal.end() == 0


@pytest.mark.slow
def test_a_signal_ends_it_and_restores_the_terminal() -> None:
    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT)
    with Forks("sample:hugs", "-r", "comp336", lines=[""] * len(numbers)) as terminal:
        for number in numbers:
            terminal.next()
            terminal.until(lambda text: "step 0" in text)
            os.kill(terminal.run, number)
            assert terminal.code() == 128 + number
            assert_restored(terminal)


@pytest.mark.parametrize("errors", ["", os.devnull, "errors.log"])
@pytest.mark.slow
def test_the_screen_is_drawn_whatever_standard_error_is(errors: str, tmp_path: Path) -> None:
    errors = errors and str(tmp_path / errors)
    with Terminal("sample:hugs", "-r", "gpt2", errors=errors, folder=tmp_path) as terminal:
        terminal.until(lambda text: "2 Pairs" in text and "step 0" in text and "▸ " in text)
        terminal.press("n")
        terminal.until(lambda text: "step 1" in text)
        terminal.press("\x1a")
        terminal.until_stopped()
        assert_restored(terminal)
        terminal.screen.reset()
        os.kill(terminal.process, signal.SIGCONT)
        terminal.until(lambda text: "step 1" in text and "2 Pairs" in text)
        terminal.press("q")
        assert terminal.end() == 0
        assert_restored(terminal)
    assert all(path.read_bytes() == b"" for path in tmp_path.glob("errors.log"))


LIMITED = (
    "import resource, sys; size = int(sys.argv.pop(1)) << 20; "
    "resource.setrlimit(resource.RLIMIT_AS, (size, size)); "
    "from tokentui.__main__ import main; sys.exit(main())"
)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the address space")
@pytest.mark.parametrize("size", [*range(100, 501, 100), 511, 512, 600, 700, 800])
@pytest.mark.slow
def test_a_lack_of_memory_is_one_line(size: int) -> None:
    """The explorer starts and ends, or it says that memory is short: it neither hangs nor crashes."""
    words = str(size), "sample:hugs", "-r", "gpt2"
    with Terminal(*words, program=("-c", LIMITED), columns=120) as terminal:
        if size < 512:
            assert terminal.end() == 2
            assert terminal.text().splitlines()[0].startswith(
                "tokentui: not enough memory: the explorer needs 512 MB of address space, and the limit is "
                f"{size} MB"
            )
            return
        while terminal.status is None and "step 0" not in terminal.text():
            terminal.read(0.5)
        if terminal.status is None:
            terminal.press("nGq")
        code = terminal.end()
        assert code in (0, 2), terminal.text()
        assert (SHORT_OF_MEMORY.encode() in terminal.written) == (code == 2)
        assert b"should not have happened" not in terminal.written
        assert_restored(terminal)
