"""The benchmarks: what they are asked of themselves exists, and a corpus holds no text twice."""

from __future__ import annotations

import importlib
import re
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
    places = re.findall(r"\{\{([^\s}]+)", (HERE / "performance.md").read_text(encoding="utf-8"))
    assert sorted(places) == sorted([*bench.MEASUREMENTS, "summary"])
    assert {goal.table.partition(":")[0] for goal in bench.goals.GOALS} <= set(bench.MEASUREMENTS)


def measured(**figures: object) -> dict[str, object]:
    return {
        "title": "Training", "heads": ["what", "s"], "rows": [["tokentui", "0.1"]], "repeats": 3,
        "machine": "m", "day": "d", "load": 0.3, "figures": figures,
    }


def test_a_page_leads_with_what_a_user_gets_and_leaves_out_what_was_not_measured(bench: ModuleType) -> None:
    ours, theirs = {"seconds": 0.1}, {"seconds": 0.25, "ratio": 0.4}
    found = {"train:10": measured(**{"tokentui": ours, "rustbpe": theirs, "tokentui, plain Python": ours})}
    document = bench.render(found)
    assert "**Training**\n\n| what | s |\n| --- | --: |\n| tokentui | 0.1 |" in document
    assert "| BPE, 10 MB, in-process | 100 ms | 250 ms, rustbpe | 2.5× |" in document
    assert "The clock runs from opening the file" in document
    for absent in ("{{", "}}", "## Encoding", "CPU milliseconds of all threads", "## Opening", "| at most |"):
        assert absent not in document
    goal = "| training, 10 MB, in-process, compared with rustbpe | 0.15 x | 0.4 x | **no** |"
    assert goal in bench.goals.table(found)


def test_every_line_of_a_file_names_the_best_other_library(bench: ModuleType) -> None:
    columns = dict.fromkeys(bench.summary._OF_FILES, 0.002)
    kinds = {"gpt2": {
        "tokentui": columns, "slow": {"again": 0.02}, "fast": {"again": 0.001, "megabytes": 3.0},
        "wrong": {"again": 0.0005, "alike": False},
    }}
    (table,) = bench.summary.tables({"files:10": measured(kinds=kinds, size="2.0 MB", lines="9 texts")})
    assert table.rows[0] == ("encode 2.0 MB as one text", "2 ms", "1 ms, fast", "0.5×")
    assert table.rows[3] == ("encode one line of 64 characters", "2 ms", "", "")
    assert len(table.rows) == len(columns)


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
