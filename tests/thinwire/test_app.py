"""An app of the package in a pseudo-terminal, next to the same app on Textual's own driver."""

from __future__ import annotations

from pathlib import Path

import pytest
from terminal import Terminal, assert_restored

APP = str(Path(__file__).with_name("table_app.py"))


def bytes_of_keys(kind: str) -> tuple[int, int, int]:
    """Return the bytes of the first paint, of the dearest of nine cursor keys, and of a page."""
    with Terminal(kind, program=(APP,)) as terminal:
        terminal.until(lambda text: "row 0." in text and "token 9" in text)
        first = len(terminal.written)
        keys = []
        for row in range(1, 10):
            before = len(terminal.written)
            terminal.press("\x1b[B")
            terminal.until(lambda text, row=row: f"row {row}." in text)  # type: ignore[misc]
            keys.append(len(terminal.written) - before)
        before = len(terminal.written)
        terminal.press("\x1b[6~")
        terminal.until(lambda text: "row 9." not in text and "token 28" in text)
        page = len(terminal.written) - before
        terminal.press("\x11")
        assert terminal.end() == 0
        assert_restored(terminal)
    return first, max(keys), page


@pytest.mark.pty
@pytest.mark.slow
def test_a_key_costs_a_third_of_the_bytes_of_textual() -> None:
    thin, plain = bytes_of_keys("thin"), bytes_of_keys("plain")
    first, key, page = thin
    assert first < plain[0]
    assert key < 250
    assert 3 * key < plain[1]
    assert page < plain[2]
