"""Windows dragged to any size and keys that make no sense: it lives, it comes to rest, and shows what it
should."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest
from storm import WANDER, cells, every_key, let_rest, rage, sizes, typed
from terminal import Terminal, assert_restored

pytestmark = [pytest.mark.pty, pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[2]
SEEDS, EVENTS, WINDOWS = 20, 5_000, 1_000
QUIET_S = 1.0
PROGRAM = """
import sys
from textual.app import App
from tokentui.__main__ import main
App.NOTIFICATION_TIMEOUT = 0.3
sys.exit(main())
"""
"""The program, whose messages go before it counts as being at rest."""


def begun(home: Path) -> Terminal:
    """The program on a small corpus, with a folder of its own to write to."""
    home.mkdir(exist_ok=True)
    environment = {"PYTHONPATH": str(ROOT), "TOKENTUI_HOME": str(home)}
    return Terminal(
        "sample:hugs", "-r", "comp336", environment=environment, folder=home, program=("-c", PROGRAM),
    )


def storm_of_windows(home: Path, seed: int, count: int) -> None:
    """Drag a window through all sizes; then it has to show what it showed at the last size before."""
    dice = random.Random(seed)
    with begun(home) as terminal:
        terminal.until(lambda text: "step 0" in text)
        terminal.press("nnn")
        terminal.until(lambda text: "step 3" in text)
        let_rest(terminal, QUIET_S)
        wanted = cells(terminal)
        for _, size in zip(range(count), sizes(dice), strict=False):
            terminal.resize(*size)
            while terminal.read(dice.choice((0.0, 0.001, 0.02))):
                pass
        terminal.resize(80, 24)
        terminal.until(lambda text: "step 3" in text)
        let_rest(terminal, QUIET_S)
        assert cells(terminal) == wanted


def storm_of_keys(home: Path, seed: int, count: int, keys: list[bytes]) -> Terminal:
    """Press keys at random; the program has to be there still."""
    terminal = begun(home)
    terminal.until(lambda text: "step 0" in text)
    rage(terminal, random.Random(seed), count, keys)
    terminal.resize(80, 24)
    terminal.press("\x1b[201~  \x1b")
    let_rest(terminal, QUIET_S)
    assert terminal.status is None, bytes(terminal.written)[-600:]
    return terminal


def assert_as_drawn_anew(terminal: Terminal) -> None:
    """What is seen is what is seen after all is drawn again."""
    before = cells(terminal)
    terminal.press("\x0c")
    let_rest(terminal, QUIET_S)
    assert cells(terminal) == before


def end(terminal: Terminal) -> None:
    """It ends as if nothing had been."""
    os.kill(terminal.process, signal.SIGTERM)
    assert terminal.end() == 128 + signal.SIGTERM
    assert_restored(terminal)


@pytest.mark.slow
def test_a_dragged_window(tmp_path: Path) -> None:
    storm_of_windows(tmp_path, 1, 20)


@pytest.mark.slow
def test_random_keys(tmp_path: Path) -> None:
    with storm_of_keys(tmp_path / "h", 1, 150, every_key()) as terminal:
        end(terminal)


@pytest.mark.slow
def test_what_is_shown_after_random_keys_is_what_should_be(tmp_path: Path) -> None:
    with storm_of_keys(tmp_path / "h", 2, 100, [typed(key) for key in WANDER]) as terminal:
        assert_as_drawn_anew(terminal)
        end(terminal)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(SEEDS))
def test_many_random_keys(tmp_path: Path, seed: int) -> None:
    with storm_of_keys(tmp_path / "h", seed, EVENTS, every_key()) as terminal:
        end(terminal)


@pytest.mark.soak
def test_a_window_that_is_dragged_for_long(tmp_path: Path) -> None:
    storm_of_windows(tmp_path, 2, WINDOWS)


@pytest.mark.soak
@pytest.mark.parametrize("key", ["n", "j", "v"])
def test_a_key_that_is_held_comes_to_rest_where_it_should(tmp_path: Path, key: str) -> None:
    with begun(tmp_path / "h") as terminal:
        terminal.until(lambda text: "step 0" in text)
        terminal.press("2")
        for _ in range(300):
            terminal.press(key)
            terminal.read(0.001)
        let_rest(terminal, QUIET_S)
        assert_as_drawn_anew(terminal)
        end(terminal)
