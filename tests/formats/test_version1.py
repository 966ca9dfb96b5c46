"""Files of version 1 of the project's own format give the ids that were recorded when they were written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from oracle import DATA

from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import export, load

FOLDER = DATA / "version1"
RECORDED = json.loads((FOLDER / "ids.json").read_text(encoding="utf-8"))
FILES = sorted(RECORDED["ids"])


def encoded(tokenizer: Tokenizer, text: str) -> list[int] | str:
    """Return the ids of a text, or the error."""
    try:
        return list(tokenizer.encode(text).ids)
    except TokentuiError as error:
        return str(error)


def test_each_file_has_recorded_ids() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.json")) == sorted([*FILES, "ids"])


@pytest.mark.parametrize("name", FILES)
def test_a_file_gives_the_recorded_ids(name: str) -> None:
    tokenizer = load(FOLDER / f"{name}.json")
    assert [encoded(tokenizer, text) for text in RECORDED["texts"]] == RECORDED["ids"][name]


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_file_is_the_same_tokenizer_after_it_is_written_again(name: str, tmp_path: Path) -> None:
    before = load(FOLDER / f"{name}.json")
    export(before, tmp_path / "again.json")
    after = load(tmp_path / "again.json")
    assert [encoded(after, text) for text in RECORDED["texts"]] == RECORDED["ids"][name]
    assert list(after.entries()) == list(before.entries())
    assert (after.recipe, after.run, after.merges, after.notes) == (
        before.recipe, before.run, before.merges, before.notes
    )
    assert list(after.vocabulary.merges) == list(before.vocabulary.merges)
    assert after.vocabulary.counts == before.vocabulary.counts
    assert after.vocabulary.pieces == before.vocabulary.pieces
