"""The page that holds the algorithms beside each other: it is made from the records, and has them all."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tokentui.axes import AXES
from tokentui.preset_table import presets

ROOT = Path(__file__).resolve().parents[1]
TEXT = (
    "the cat sat on the mat and the cat sat on the hat\non the mat the cat and the dog sat on a log\n"
    "by the way, the dog and the cat sat on the mat with a hat\nby the way note: the end of the day\n"
) * 3


@pytest.fixture
def bench() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        return importlib.import_module("algorithms")


def rows(page: str) -> dict[str, list[str]]:
    """The rows of the tables, by their names."""
    found = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `")]
    return {row[0].strip("`"): row[1:] for row in found}


def made(bench: ModuleType, folder: Path, most: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The page of a small text, all in this process."""
    def here(module: str, function: str, *words: Any) -> object:
        return getattr(bench, function)(*words)

    monkeypatch.setattr(bench, "apart", here)
    monkeypatch.setattr(bench, "kernels", lambda: None)
    corpus, out = folder / "small.txt", folder / "page.md"
    corpus.write_text(TEXT, encoding="utf-8")
    bench.main([str(corpus), "--size", "275", "--most", most, "--out", str(out)])
    return out.read_text(encoding="utf-8")


def names() -> set[str]:
    """All that the page has to hold."""
    objectives = {name for name, one in AXES["objective"].items() if not one.substitutes_bytes}
    return objectives | {one.name for one in presets() if one.family == "papers"}


@pytest.mark.slow
def test_a_small_page_has_every_objective_and_preset_of_a_paper(
    bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = made(bench, tmp_path, "60", monkeypatch)
    found = rows(page)
    assert names() <= found.keys()
    assert "{{" not in page
    assert "stopped)" not in page
    assert {len(row) for row in found.values()} == {len(bench.HEADS) - 1}
    assert found["count"][:2] == ["275", "19"]
    assert found["count"][6] == "100.0%"
    tokens = {name: int(row[2].replace(",", "")) for name, row in found.items()}
    assert tokens["count"] < len(TEXT) // 2
    assert all(f"- `{name}`: " in page for name in names())


def test_what_takes_too_long_is_left_and_said(
    bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = made(bench, tmp_path, "0", monkeypatch)
    assert rows(page)["picky"][:2] == ["256 (stopped)", "0"]
    assert "at 256 of 275 ids: a part." in page


def test_the_page_in_the_documents_has_them_all() -> None:
    page = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
    missing = names() - rows(page).keys()
    assert not missing, f"python benchmarks/algorithms.py --only NAME prints the row of each of {missing}"


@pytest.mark.slow
def test_the_row_of_one_name_is_printed_on_the_built_in_texts(
    bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        bench, "apart", lambda module, function, *words: getattr(bench, function)(*words)
    )
    monkeypatch.setattr(bench, "kernels", lambda: None)
    out = tmp_path / "page.md"
    bench.main(["--only", "score", "--size", "300", "--out", str(out)])
    under, line, note = capsys.readouterr().out.splitlines()
    assert "`built-in.txt`, 300 ids" in under
    assert rows(line)["score"][:2] == ["300", "44"]
    assert note.startswith("- `score`: ")
    assert not out.exists()
    with pytest.raises(SystemExit, match="--only dice: no such objective or preset"):
        bench.main(["--only", "dice"])
