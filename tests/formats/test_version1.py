"""Files of version 1 of the project's own format give the ids that were recorded when they were written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exporting import refusal_of
from oracle import DATA

from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import export, load

FOLDER = DATA / "version1"
RECORDED = json.loads((FOLDER / "ids.json").read_text(encoding="utf-8"))
FILES = sorted(RECORDED["ids"])
CHANGED = "f: vocabulary: the rest of the file gives other tokens than those that were written"


def encoded(tokenizer: Tokenizer, text: str) -> list[int | None] | str:
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


def _rows(document: Any) -> Any:
    return document["vocabulary"]


@pytest.mark.parametrize(
    ("name", "change", "line"),
    [
        ("bpe-characters", lambda d: d.pop("vocabulary"), 'f: "vocabulary" is missing'),
        ("bpe-characters", lambda d: d.update(color=1), "f: 'color' is not a key that this version reads"),
        ("bpe-characters", lambda d: _rows(d)[0].pop(), "f: vocabulary row 0: a row is [ID,"),
        ("bpe-characters", lambda d: _rows(d)[5].__setitem__(2, "6A"), "f: vocabulary row 5: HEX is not"),
        ("bpe-characters", lambda d: _rows(d)[-1].__setitem__(2, "6a6a"), CHANGED),
        ("bpe-characters", lambda d: _rows(d)[5].__setitem__(0, 4), CHANGED),
        ("bpe-characters", lambda d: _rows(d).pop(31), "f: merges row 0: 31 is"),
        ("bpe-characters", lambda d: _rows(d).pop(), CHANGED),
        ("bpe-characters", lambda d: d["run"].update(first_id=3), CHANGED),
        (
            "bpe-characters", lambda d: d["merges"][0].__setitem__(0, 999),
            "f: merges row 0: 999 is not a unit",
        ),
        ("bpe-characters", lambda d: d["merges"].pop(), CHANGED),
        (
            "unigram", lambda d: _rows(d)[9].__setitem__(3, 1),
            "f: units row 7: SCORE is not a log probability",
        ),
        ("unigram", lambda d: _rows(d)[9].__setitem__(3, "x"), "f: vocabulary row 9: SCORE is not a number"),
        ("gage", lambda d: d["merges"][1].__setitem__(2, 65), "f: placeholders row 1: 65 already represents"),
        ("picky", lambda d: d["events"][3].__setitem__(0, 9), "f: events row 3: step 9 where"),
        ("picky", lambda d: d["events"][0].__setitem__(3, ["7a"]), "f: events row 0: PARTS do not form HEX"),
        (
            "imported-gpt2", lambda d: d["stages"].update(format="word"),
            "f: stages.format: 'word' is not a for",
        ),
        (
            "imported-gpt2", lambda d: d["merges"][0].__setitem__(0, 999),
            "f: merges row 0: an id is not in the",
        ),
        ("imported-gpt2", lambda d: _rows(d)[1].__setitem__(0, 0), "f: vocabulary: an id occurs twice"),
        (
            "imported-huggingface-bpe", lambda d: d["stages"].pop("model"),
            "f: stages: does not match the hugg",
        ),
    ],
)
def test_a_damaged_file_is_refused(name: str, change: Callable[[Any], None], line: str) -> None:
    document = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    change(document)
    assert refusal_of(json.dumps(document)).startswith(line)
