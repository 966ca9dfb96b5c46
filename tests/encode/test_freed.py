"""A tokenizer is freed with its last name, not when the garbage collector runs."""

from __future__ import annotations

import gc
import itertools
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tokentui
from tokentui.core import engines
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import WRITTEN, files
from tokentui.preset_table import PRESETS

TEXT = "The crowd — ünïcödé 漢字 \n\n  spaces 12345 don't <s> ▁a▁b ##a "


def written(format: str, folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield a file of each preset that a format can hold, and the split to read it by."""
    for name, preset in PRESETS.items():
        path = folder / name / Path(WRITTEN[format].files[0]).name
        path.parent.mkdir()
        try:
            files.export(tokentui.train(texts=[TEXT * 3], recipe=name, merges=3), path, format)
        except tokentui.TokentuiError:
            continue
        yield path, preset.recipe.split if WRITTEN[format].needs_split else ""


def use(tokenizer: Tokenizer) -> None:
    """Encode and decode in all ways that keep something."""
    for text in (TEXT, TEXT * 100):
        try:
            encoding = tokenizer.encode(text)
            tokenizer.encode_ids(text, allow_special=True)
            tokenizer.encode_batch([text, TEXT, f"{TEXT}\ud800"])
        except tokentui.TokentuiError:  # a unit is unknown
            continue
        list(encoding.rows)
        for _ in range(4):
            tokenizer.decode(encoding.ids)


def check(path: Path, split: str) -> None:
    """Check that a tokenizer is freed when its last name is gone."""
    gc.disable()
    try:
        tokenizer = files.load(path, split)
        use(tokenizer)
        encoder = tokenizer.encoder
        held: dict[str, weakref.ref[Any]] = {
            "vocabulary": weakref.ref(tokenizer.vocabulary), "encoder": weakref.ref(encoder),
            "pretokenizer": weakref.ref(encoder.pretokenizer), "decoder": weakref.ref(tokenizer.decoder),
        }
        del tokenizer, encoder
        assert [name for name, ref in held.items() if ref() is not None] == [], path
    finally:
        gc.enable()


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("format", WRITTEN)
def test_a_tokenizer_of_a_file_is_freed_with_its_last_name(format: str, tmp_path: Path) -> None:
    for path, split in itertools.islice(written(format, tmp_path), 1):
        check(path, split)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["on", "off"])
@pytest.mark.parametrize("format", WRITTEN)
def test_one_of_any_recipe_is_freed_too(
    format: str, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(engines.VARIABLE, engine)
    for path, split in written(format, tmp_path):
        check(path, split)
