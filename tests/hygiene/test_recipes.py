"""The page of recipes is true: each of its examples runs, and each command that it names exists."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tokentui.cli.main import COMMANDS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "recipes.md"


@pytest.mark.slow
def test_each_example_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    results = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert results.attempted >= 30
    assert not results.failed


def test_each_command_exists() -> None:
    named = set(re.findall(r"`tokentui (\w+)", PAGE.read_text("utf-8")))
    assert len(named) >= 6
    assert named <= {*COMMANDS}
