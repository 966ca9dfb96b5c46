"""Retired objectives: their files and recipes are read and encode, and nothing is trained by them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from oracle import DATA
from running_cli import cli, done, refused

import tokentui
from tokentui.axes import AXES, check, label, preset
from tokentui.core.errors import TokentuiError
from tokentui.recipe import Recipe, Run, read_recipe
from tokentui.session.training.training import prepare
from tokentui.text.read import read
from tokentui.ui.dialogs import draft

FOLDER = DATA / "retired"
OBJECTIVES = AXES["objective"]
RECORDED = json.loads((FOLDER / "ids.json").read_text(encoding="utf-8"))
RETIRED = pytest.mark.parametrize("name", OBJECTIVES.retired)


def refusal(name: str) -> str:
    """Return the line that refuses a training."""
    takes = " or ".join(f"objective={one}" for one in OBJECTIVES.retired[name].instead)
    return f"objective={name}: this objective is retired and cannot be trained (use {takes})"


@RETIRED
def test_a_file_encodes_as_recorded(name: str) -> None:
    tokenizer = tokentui.load(str(FOLDER / f"{name}.json"))
    assert tokenizer.recipe.objective == name
    for text, ids in zip(RECORDED["texts"], RECORDED["ids"][name], strict=True):
        assert list(tokenizer.encode(text).ids) == ids
        assert tokenizer.decode(ids) == text


@RETIRED
@pytest.mark.slow
def test_a_file_is_shown_encoded_and_converted_by_commands(name: str, tmp_path: Path) -> None:
    file, copy = FOLDER / f"{name}.json", tmp_path / "copy.json"
    assert OBJECTIVES.retired[name].label in done("inspect", "-t", str(file))
    ids = done("encode", "-t", str(file), input=RECORDED["texts"][0])
    assert ids.split() == list(map(str, RECORDED["ids"][name][0]))
    done("convert", str(file), str(copy))
    before, after = tokentui.load(str(file)), tokentui.load(str(copy))
    assert list(after.entries()) == list(before.entries())
    assert (after.recipe, after.merges) == (before.recipe, before.merges)


@RETIRED
def test_a_recipe_file_is_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(preset("gpt2", objective=name).to_toml(), encoding="utf-8")
    recipe = check(read_recipe(str(path)))
    assert recipe.objective == name
    assert label(recipe).startswith(OBJECTIVES.retired[name].label)
    assert done("split", "-r", str(path), input="two words")


@pytest.mark.first_run(cases=2)
@RETIRED
def test_commands_refuse_to_train_in_one_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(preset("gpt2", objective=name).to_toml(), encoding="utf-8")
    by_axis, by_file = ("-r", "gpt2", "-s", f"objective={name}"), ("-r", str(path))
    for recipe in (by_axis, by_file):
        assert refused("train", "sample:hugs", *recipe, "--merges", "3") == refusal(name)
        compared = cli("compare", "sample:hugs", "-r", "bert", *recipe, "--merges", "3")
        assert refusal(name) in compared.output
    file = str(FOLDER / f"{name}.json")
    verified = cli("verify", "sample:hugs", "-t", file)
    assert verified.stderr == f"tokentui: {refusal(name)}\n"
    extended = "edit", file, str(tmp_path / "new.json"), "--extend", "sample:hugs", "--vocab-size", "300"
    assert refused(*extended) == refusal(name)


@RETIRED
def test_the_library_refuses_to_train(name: str) -> None:
    recipe = preset("gpt2", objective=name)
    for train in (tokentui.train, tokentui.Trainer):
        with pytest.raises(TokentuiError) as caught:
            train("sample:hugs", recipe)
        assert str(caught.value) == refusal(name)
        texts = iter(["hug", "hugs"])
        with pytest.raises(TokentuiError):
            train(texts=texts, recipe=recipe)
        assert list(texts) == ["hug", "hugs"], "the texts are not read"


@RETIRED
def test_a_session_refuses_to_train(name: str) -> None:
    with pytest.raises(TokentuiError) as caught:
        prepare(read("sample:hugs"), preset("gpt2", objective=name), Run())
    assert str(caught.value) == refusal(name)


@RETIRED
def test_it_is_not_offered(name: str) -> None:
    assert name not in AXES["objective"].written()
    assert name not in [option.value for option in draft.options(Recipe(), "objective")]
    assert f"\n  {name} " not in done("recipes", "objective")


@RETIRED
def test_the_objectives_to_take_instead_can_be_trained(name: str) -> None:
    instead = OBJECTIVES.retired[name].instead
    assert instead
    assert all(OBJECTIVES[one].trainer is not None for one in instead)
