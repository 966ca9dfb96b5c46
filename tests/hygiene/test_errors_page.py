"""The catalog of errors is that of the code."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from tokentui.core.errors import TokentuiError, whole

ROOT = Path(__file__).resolve().parents[2]
MADE: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "scripts" / "errors.py"))


@pytest.fixture(scope="module")
def entries() -> list[Any]:
    """The errors of the package."""
    return MADE["entries"]()  # type: ignore[no-any-return]


@pytest.mark.slow
def test_what_a_test_raises_is_told_from_what_none_does(entries: list[Any], tmp_path: Path) -> None:
    found = entries
    first, second = found[:2]
    raised = tmp_path / "raised"
    raised.write_text(f'["{first.file}", {first.last}]\n', encoding="utf-8")
    left = MADE["missing"](found, raised)
    assert first not in left
    assert second in left
    assert len(left) == len(found) - sum(one.first <= first.last <= one.last for one in found
                                         if one.file == first.file)


@pytest.mark.slow
def test_an_entry_has_the_words_of_its_error(entries: list[Any]) -> None:
    try:
        whole("three", "merges")
    except TokentuiError as error:
        made = error
    entry = next(one for one in entries if one.what == "not a whole number: …")
    assert made.what.startswith(entry.what.removesuffix("…"))
