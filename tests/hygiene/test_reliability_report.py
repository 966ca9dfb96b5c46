"""The page about reliability has every table, and marks each missed target in its row."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HERE))
        return importlib.import_module("reliability")


def test_every_table_has_its_place(bench: ModuleType) -> None:
    template = (HERE / "reliability.md").read_text(encoding="utf-8")
    assert [name for name in bench.MEASUREMENTS if template.count("{{" + name + "}}") != 1] == []


def test_a_row_says_whether_its_target_is_met(bench: ModuleType) -> None:
    figures = [
        bench.Figure("a key", 400, 401, "B", 740), bench.Figure("a page", None, 12, "B"),
        bench.Figure("quit", 1, 0.5, "s"),
    ]
    made = bench.table(bench.MEASUREMENTS["cursor"], figures)
    found = {
        "cursor": {"title": made.title, "heads": made.heads, "rows": made.rows, "machine": "m", "day": "d"}
    }
    document = bench.render(found)
    assert "| a key | 400 B | 401 B | **no** | 740 B |" in document
    assert "| quit | 1 s | 0.5 s | yes |  |" in document
    assert "{{" not in document
