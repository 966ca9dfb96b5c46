"""Keys held on a slow line, and keys in one write: each key counts, and frames are skipped, not queued."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from terminal import PATIENCE_S, Terminal

from tokentui.thinwire.link import STATUS_ANSWER, STATUS_REQUEST

pytestmark = [pytest.mark.pty, pytest.mark.slow]

REPEAT_S = 1 / 30
"""The time from one repeat of a held key to the next."""
TAKEN = 32
"""Bytes that a line of 9,600 baud, which is 960 bytes a second, carries in that time."""
FORWARD, BACK = 300, 100
MOST_LEFT = 64 * 1024
"""Bytes that may come after the release. The pseudo-terminal holds about 20 kB; frames of all keys would be
more than 300 kB."""


class SlowLine(Terminal):
    """A terminal that takes `TAKEN` bytes at a time and answers status requests."""

    def take(self) -> int:
        """Take what the line carries until the next key. Return the number of bytes."""
        if not select.select([self._master], [], [], REPEAT_S)[0]:
            return 0
        data = os.read(self._master, TAKEN)
        answered = self.written.count(STATUS_REQUEST.encode())
        self.written += data
        self.draw(data)
        self.press(STATUS_ANSWER * (self.written.count(STATUS_REQUEST.encode()) - answered))
        return len(data)

    def take_until(self, holds: Callable[[str], bool]) -> int:
        """Take until something holds for the text on the screen. Return the number of bytes.

        Raises:
            AssertionError: It does not hold, and nothing has come for `PATIENCE_S` seconds.
        """
        count = silent = 0
        while not holds(self.text()):
            size = self.take()
            count, silent = count + size, 0 if size else silent + 1
            assert silent * REPEAT_S < PATIENCE_S, f"it never came; the screen is:\n{self.text()}"
        return count


def _at(step: int) -> Callable[[str], bool]:
    return lambda text: f"step {step} " in " ".join(text.split())


@pytest.mark.slow
def test_the_screen_follows_keys_that_are_held_on_a_slow_line() -> None:
    with SlowLine("sample:english", "-r", "gpt2") as terminal:
        terminal.until(lambda text: "step 0" in text and "▸ " in text)
        for key in "n" * FORWARD + "b" * BACK:
            terminal.press(key)
            terminal.take()
        left = terminal.take_until(_at(FORWARD - BACK))
        assert left < MOST_LEFT
        os.kill(terminal.process, signal.SIGTERM)
        assert terminal.end() == 128 + signal.SIGTERM


@pytest.mark.slow
def test_keys_and_a_path_in_one_write(tmp_path: Path) -> None:
    """The terminal sends `o` and the paste of a path at once."""
    corpus = tmp_path / "pasted.txt"
    corpus.write_text("the crowd in the street saw the crowd in the house " * 20)
    with Terminal("sample:english", "-r", "gpt2") as terminal:
        terminal.until(lambda text: "step 0" in text and "▸ " in text)
        terminal.press("n" * 200)
        terminal.until(_at(200))
        terminal.press(f"o\x1b[200~{corpus}\x1b[201~\r")
        terminal.until(lambda text: "pasted.txt" in text.splitlines()[0] and _at(0)(text))
        terminal.press("n" * 5 + "b" * 2)
        terminal.until(_at(3))
        terminal.press("q")
        assert terminal.end() == 0
