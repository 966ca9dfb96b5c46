"""Recipes with another way of encoding than their own: every format writes them, or says why not."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

import tokentui
from tokentui.axes import preset
from tokentui.core.errors import TokentuiError
from tokentui.encode.segment import ENCODING_WAYS
from tokentui.formats import WRITTEN
from tokentui.formats.files import load
from tokentui.formats.proof import EXAMPLES, check_export, contents
from tokentui.formats.spec import Spec
from tokentui.preset_table import PRESETS
from tokentui.tokenizer import Tokenizer

COVERS = ("greedtok", "length-max")
"""The presets whose steps join other than two parts."""


def trained(name: str, way: str) -> Tokenizer | None:
    """A tokenizer of a preset with a way of encoding; None if they do not go together."""
    try:
        trainer = tokentui.Trainer("sample:hugs", preset(name, encode=way))
    except TokentuiError:
        return None
    trainer.run(merges=5)
    return trainer.tokenizer()


@pytest.mark.first_run(cases=6)
@pytest.mark.parametrize("way", ENCODING_WAYS)
@pytest.mark.parametrize("name", [
    name if name in COVERS else pytest.param(name, marks=pytest.mark.slow) for name in PRESETS
])
def test_every_format_writes_it_or_refuses_it(name: str, way: str, tmp_path: Path) -> None:
    tokenizer = trained(name, way)
    if tokenizer is None:
        pytest.skip("no recipe")
    for format in WRITTEN.values():
        listed = check_export(Spec(tokenizer), format)
        report, files = contents(tokenizer, format)
        assert bool(files) == (not report.refused)
        assert not listed.refused or listed.refused == report.refused
        assert not report.refused or format.name != "tokentui", report.refused
        with contextlib.suppress(TokentuiError):
            tokenizer.save(tmp_path / f"{format.name}.out", format.name)


@pytest.mark.parametrize("name", COVERS)
def test_what_a_step_joined_is_named_where_it_is_lost(name: str) -> None:
    tokenizer = trained(name, "longest-match")
    assert tokenizer is not None
    lost = {loss.what: loss.example for loss in contents(tokenizer, WRITTEN["huggingface"])[0].losses}
    pieces = tokenizer.vocabulary.pieces
    parts = " + ".join(pieces[symbol].decode().replace(" ", "·") for symbol in tokenizer.vocabulary.merges[0])
    assert lost["counts"].startswith(f"{parts} had count ")
    assert EXAMPLES["merges"].example(Spec(tokenizer)) == f"{parts} = {parts.replace(' + ', '')}"


def test_another_way_of_encoding_comes_back(tmp_path: Path) -> None:
    tokenizer = trained("greedtok", "longest-match")
    assert tokenizer is not None
    tokenizer.save(tmp_path / "tokenizer.json", "huggingface")
    assert load(tmp_path / "tokenizer.json").encode("hugs bun").ids == tokenizer.encode("hugs bun").ids
