"""Texts in memory as a corpus: the result of a file with the same lines, without storing them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tokentui
from tokentui.text import tally

LINES = ["the cat sat on the mat", " two  spaces ", "héllo 12345 don't", "", "the cat sat", "猫", "\t x"]
LINES = LINES * 3 + ["a last line"]


@pytest.mark.first_run(cases=7)
@pytest.mark.parametrize("name", [one.name for one in tokentui.presets()])
def test_every_preset_trains_on_texts_as_on_a_file_of_lines(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tally, "_MOST_TEXTS", 2)  # many batches
    file = tmp_path / "lines.txt"
    file.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    recipe = tokentui.preset(name)
    expected = tokentui.train(tokentui.read(file, as_="lines"), recipe, merges=12)
    expected.save(tmp_path / "expected.json")
    written = (tmp_path / "expected.json").read_bytes()
    tokentui.train(texts=iter(LINES), recipe=recipe, merges=12).save(tmp_path / "found.json")
    assert (tmp_path / "found.json").read_bytes() == written
    run = tokentui.Trainer(texts=LINES, recipe=recipe)
    run.run(merges=12)
    assert run.vocab_size == expected.vocab_size
    assert tokentui.read(texts=LINES).documents == tokentui.read(file, as_="lines").documents


@pytest.mark.slow
def test_a_generator_of_texts_is_not_stored() -> None:
    def texts() -> Iterator[str]:
        for number in range(80_000):
            yield f"line {number % 100} of the text " * 20

    tracemalloc.start()
    try:
        tokentui.train(texts=texts(), recipe="gpt2", merges=5)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("given", [["the cat sat"], "the cat sat\nagain", "word " * 200])
@pytest.mark.parametrize("function", [
    lambda given: tokentui.train(given, "gpt2"), lambda given: tokentui.Trainer(given, "gpt2"), tokentui.read,
])
def test_an_error_for_a_text_taken_as_a_path_names_texts(function: Any, given: object) -> None:
    with pytest.raises(tokentui.TokentuiError, match=r"no such file .*texts=\["):
        function(given)


@pytest.mark.parametrize("texts", ["the cat", b"the cat", {"a": 1}, 5, [5], [None]])
def test_texts_that_are_not_an_iterable_of_texts_are_refused(texts: Any) -> None:
    with pytest.raises(tokentui.TokentuiError):
        tokentui.read(texts=texts)
    with pytest.raises(tokentui.TokentuiError):
        tokentui.train(recipe="gpt2", texts=texts)


def test_a_corpus_and_texts_exclude_each_other() -> None:
    with pytest.raises(tokentui.TokentuiError, match="cannot be combined"):
        tokentui.train("sample:hugs", "gpt2", texts=["a"])
    with pytest.raises(tokentui.TokentuiError, match="no corpus"):
        tokentui.train(recipe="gpt2")
