"""The page on an objective of one's own: its program runs, and its model makes the same steps."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tokentui.core import engines

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "objective.md").read_text(encoding="utf-8")
PROGRAM, MODEL = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = [line.split()[2:] for line in re.findall(r"^    python dice\.py .*$", PAGE, re.MULTILINE)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "dice.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    return tmp_path


def ran(folder: Path, *words: str) -> str:
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_program_trains_and_compares(folder: Path) -> None:
    explored, compared, trained = COMMANDS
    assert explored[0].startswith("sample:")
    rows = [json.loads(line) for line in ran(folder, "dice.py", *trained).splitlines()]
    told = ", ".join(f"`{row['left']}+{row['right']}`" for row in rows[:-1])
    assert f"one row per step: {told}." in " ".join(PAGE.split())
    assert "dice" in ran(folder, "dice.py", *compared)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_its_model_makes_the_same_steps(folder: Path, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(engines.VARIABLE, "off" if engine == "plain" else "on")
    ran(folder, "model.py")
    # a model that cannot fail would say nothing
    wrong = MODEL.replace("uses[pair[1]]", "1")
    assert wrong != MODEL
    (folder / "model.py").write_text(wrong, encoding="utf-8")
    with pytest.raises(AssertionError, match="AssertionError"):
        ran(folder, "model.py")
