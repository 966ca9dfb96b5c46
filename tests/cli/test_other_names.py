"""Names that other tools have for options and formats are answered with the name here."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from running_cli import refused

from tokentui.cli import main as program
from tokentui.formats import WRITTEN, files
from tokentui.text import files as text_files


@pytest.mark.parametrize("name", program._OTHER_TOOLS)
def test_an_option_of_another_tool_is_answered_with_the_option_here(name: str) -> None:
    said = refused("train", "sample:hugs", "-r", "gpt2", name, "3")
    assert f"did you mean {program._OTHER_TOOLS[name]}?" in said


@pytest.mark.parametrize("name", files._ELSEWHERE)
def test_another_name_of_a_format_is_answered_with_its_name(name: str) -> None:
    assert files._ELSEWHERE[name] in WRITTEN
    said = refused("train", "sample:hugs", "-r", "gpt2", "-o", "x.json", "--format", name)
    assert f"did you mean {files._ELSEWHERE[name]}?" in said


@pytest.mark.parametrize("error", [OSError(errno.ENOMEM, "Cannot allocate memory"), MemoryError()])
def test_a_text_larger_than_the_memory_is_answered_with_count(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    (tmp_path / "a.txt").write_text("a b")
    monkeypatch.setattr(text_files, "_contents", fail)
    assert "tokentui count" in refused("train", str(tmp_path / "a.txt"), "-r", "gpt2")
