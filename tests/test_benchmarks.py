"""The benchmarks: what they are asked of themselves exists, and a corpus holds no text twice."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HERE))
        return importlib.import_module("run")


def test_every_table_has_its_place_and_every_goal_its_table(bench: ModuleType) -> None:
    template = (HERE / "performance.md").read_text(encoding="utf-8")
    assert [name for name in (*bench.MEASUREMENTS, "goals") if template.count("{{" + name + "}}") != 1] == []
    assert {goal.table.partition(":")[0] for goal in bench.goals.GOALS} <= set(bench.MEASUREMENTS)


def test_a_table_that_was_not_measured_says_so(bench: ModuleType) -> None:
    one = {
        "title": "Training", "heads": ["what", "s"], "rows": [["tokentui", "0.1"]], "repeats": 3,
        "machine": "m", "day": "d", "load": 0.3, "figures": {"rustbpe": {"ratio": 0.1}},
    }
    document = bench.render({"train:10": one})
    assert "**Training**\n\n| what | s |\n| --- | --: |\n| tokentui | 0.1 |" in document
    assert "| training, 10 MB, in-process, beside rustbpe | 0.15 x | 0.1 x | yes |" in document
    assert document.count("Not measured.") == len(bench.MEASUREMENTS) - 1
    assert "{{" not in document


def test_a_corpus_has_the_wanted_size_and_no_text_twice(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in "abd":
        text = "\n".join(
            f"This is the sentence number {n} of the text that has the name {name}." for n in range(200)
        )
        (folder / f"{name}.txt").write_text(text)
    (folder / "c again.html").write_text(
        "<body><p>" + (folder / "b.txt").read_text().replace("\n", "</p><p>") + "</p></body>"
    )
    out = tmp_path / "out.txt"
    done = subprocess.run(
        [sys.executable, str(HERE / "corpora.py"), str(out), str(folder), "--mb", "0.03"],
        capture_output=True, text=True, timeout=300, check=False,
    )
    assert (done.returncode, done.stderr) == (0, f"left out: {folder / 'c again.html'}\n")
    written = out.read_text()
    assert 0.028e6 < len(written) <= 0.03e6
    assert [written.count(f"number 7 of the text that has the name {name}.") for name in "abd"] == [1, 1, 1]
