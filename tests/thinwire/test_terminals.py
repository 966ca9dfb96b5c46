"""What a terminal can do, by its name."""

from __future__ import annotations

import pytest

from tokentui.thinwire.terminals import reorders_lines


@pytest.mark.parametrize(
    ("environ", "reorders"),
    [
        ({"TERM": "vte-256color"}, True), ({"TERM": "mlterm"}, True), ({"TERM": "mlterm-256color"}, True),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, True),
        ({"TERM": "xterm-256color"}, False), ({"TERM": "xterm-256color", "VTE_VERSION": ""}, False),
        ({"TERM": "tmux-256color", "VTE_VERSION": "7600"}, False), ({"TERM": "xterm-kitty"}, False),
        ({}, False),
    ],
)
def test_terminals_that_reorder_lines_are_known_by_name(environ: dict[str, str], reorders: bool) -> None:
    assert reorders_lines(environ) is reorders
