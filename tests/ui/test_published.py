"""A preset is a recipe wherever its name is chosen: the same merges and ids; sizes and specials come where
they are asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from compare_app import comparing
from dialogs import FakeEngine, shown, typed
from running_cli import cli as run_command
from screens import screen_text
from waiting import until

import tokentui
from tokentui.cli.options import SharedOptions
from tokentui.preset_table import PRESETS, resolved
from tokentui.recipe import Recipe, Run
from tokentui.session.commands import AddColumn
from tokentui.session.views import ColumnWanted
from tokentui.ui.dialogs import draft
from tokentui.ui.dialogs.draft import RecipeChoice
from tokentui.ui.dialogs.open import AddScreen
from tokentui.ui.dialogs.recipe import RecipeScreen
from tokentui.ui.draw.table import Listing

GPT2 = PRESETS["gpt2"].recipe
PUBLISHED = draft.run_of(PRESETS["gpt2"], Run(), True)
UNSET = Run()


def lines(pilot: Any) -> str:
    """The screen with single blanks."""
    return " ".join(screen_text(pilot.app).split())


@pytest.mark.parametrize("name", PRESETS)
def test_one_meaning_of_a_name(name: str) -> None:
    """On the command line, on the screen and in the library, plain and as published."""
    preset = PRESETS[name]
    for published in (False, True):
        recipe, run = SharedOptions("", {"published": True} if published else {}, {}).recipe_and_run(name)
        assert recipe == preset.recipe
        assert run == draft.run_of(preset, UNSET, published)
        plain, said = resolved(name, published)
        assert (plain, said) == (recipe, run)
        again = resolved(tokentui.preset(name, published=published))
        assert again == (plain, said)
        assert not published or said.specials == preset.run.specials
        assert published or run == Run()


@pytest.mark.parametrize("name", ["gpt2", "comp336", "sentencepiece-bpe", "llama2", "bert"])
@pytest.mark.parametrize("published", [False, True])
def test_the_command_and_the_library_give_the_same_ids(name: str, published: bool, tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    told = ["--published"] if published else []
    done = run_command("train", "sample:hugs", "-r", name, *told, "--merges", "6", "-o", str(file), "-q")
    assert done.exit_code == 0, done.stderr
    ours = tokentui.train("sample:hugs", name, merges=6, published=published)
    ours.save(tmp_path / "two.json")
    one, two = (json.loads((tmp_path / path).read_text("utf-8")) for path in ("one.json", "two.json"))
    assert {**one, "run": None} == {**two, "run": None}
    stepped = tokentui.Trainer(tokentui.read("sample:hugs"), name, published=published)
    stepped.run(merges=6)
    assert [entry.text for entry in stepped.tokenizer().entries()] == [entry.text for entry in ours.entries()]


def test_what_is_named_goes_before_what_was_published() -> None:
    corpus = tokentui.read("sample:english")
    whole = tokentui.preset("gpt2", published=True)
    run = tokentui.Trainer(corpus, whole, specials=["<x>"])
    assert run.tokenizer().run["specials"] == ["<x>"]
    assert tokentui.train(corpus, whole, vocab_size=300).vocab_size == 300
    small = tokentui.Trainer(corpus, "tiktoken-edu", published=True)
    assert small.run() == "vocab_size"
    assert small.vocab_size == PRESETS["tiktoken-edu"].run.stops.vocab_size
    with pytest.raises(tokentui.TokentuiError, match="this recipe is not a preset"):
        tokentui.Trainer(corpus, Recipe(tie="shortest"), published=True)


def test_a_recipe_file_has_nothing_published(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(GPT2.to_toml())
    done = run_command("train", "sample:hugs", "-r", str(file), "--published")
    assert done.exit_code == 2
    assert "no published sizes" in done.stderr


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_row_is_seen_and_turned(size: tuple[int, int]) -> None:
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(GPT2), "gpt2")
    async with shown(dialog, size) as (app, pilot):
        presets, axes = dialog.query_one("#presets", Listing), dialog.query_one("#axes", Listing)
        await until(pilot, lambda: presets.cursor_key == "gpt2")
        await pilot.press("enter")  # the marked one: nothing changes
        await until(pilot, lambda: axes.has_focus)
        assert dialog.choice.run == UNSET
        await until(pilot, lambda: "nothing is changed" in lines(pilot) and "as published no" in lines(pilot))
        await pilot.press("down", "enter")
        await until(pilot, lambda: "as published yes" in lines(pilot) and "50,257" in lines(pilot))
        assert dialog.choice.run == PUBLISHED
        await pilot.press("left")
        await until(pilot, lambda: "as published no" in lines(pilot))
        assert dialog.choice.run == UNSET
        await pilot.press("right", "t")
        await until(pilot, lambda: app.answered)
        assert (app.result.recipe, app.result.run) == (GPT2, PUBLISHED)


async def test_a_published_run_follows_the_preset_until_it_is_changed() -> None:
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(GPT2, PUBLISHED), "gpt2")
    async with shown(dialog, (120, 40)) as (_, pilot):
        presets, axes = dialog.query_one("#presets", Listing), dialog.query_one("#axes", Listing)
        assert dialog.published
        presets.move_to(presets.index_of("bert") or 0)
        await pilot.press("enter")
        await until(pilot, lambda: axes.has_focus)
        assert dialog.choice.run == draft.run_of(PRESETS["bert"], Run(), True)
        axes.move_to(axes.index_of("vocab_size") or 0)
        await pilot.press("enter", "ctrl+u")
        await typed(pilot, "500")
        await pilot.press("enter")
        await until(pilot, lambda: axes.has_focus and dialog.choice.run.stops.vocab_size == 500)
        assert not dialog.published


async def test_nothing_is_published_of_a_recipe_of_ones_own() -> None:
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(GPT2.with_axes(tie="shortest")), "")
    async with shown(dialog, (120, 40)) as (_, pilot):
        axes = dialog.query_one("#axes", Listing)
        await pilot.press("tab", "down", "enter")
        await until(pilot, lambda: "it has no published sizes" in lines(pilot))
        assert axes.cursor_key == draft.PUBLISHED
        assert dialog.choice.run == UNSET


@pytest.mark.slow
async def test_the_words_that_shape_the_learning_are_rows() -> None:
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(PRESETS["llama2"].recipe), "llama2")
    async with shown(dialog, (120, 40)) as (app, pilot):
        axes = dialog.query_one("#axes", Listing)

        async def write(row: str, text: str) -> None:
            axes.move_to(axes.index_of(row) or 0)
            await pilot.press("enter", "ctrl+u")
            await typed(pilot, text)
            await pilot.press("enter")

        await pilot.press("tab")
        await write("coverage", "2")
        await until(pilot, lambda: "a share above 0" in lines(pilot))
        await pilot.press("ctrl+u")
        await typed(pilot, "0.98")
        await pilot.press("enter")
        await until(pilot, lambda: axes.has_focus and dialog.choice.recipe.coverage == 0.98)
        await write("symbols", "e the")
        await until(pilot, lambda: axes.has_focus and dialog.choice.recipe.symbols == ("e", "the"))
        axes.move_to(axes.index_of("prefix_space") or 0)
        await pilot.press("enter")
        await until(pilot, lambda: dialog.choice.recipe.prefix_space is False)
        await until(pilot, lambda: "coverage: 0.99995 → 0.98" in lines(pilot))
        await pilot.press("t")
        await until(pilot, lambda: app.answered)
        assert app.result.recipe == PRESETS["llama2"].recipe.with_axes(
            coverage=0.98, symbols=("e", "the"), prefix_space=False
        )


@pytest.mark.slow
async def test_compare_adds_a_preset_with_the_run_in_use_or_as_published() -> None:
    async with comparing((80, 24)) as (app, screen, session, pilot):

        async def add(*keys: str) -> Run:
            before = len(session.of(AddColumn))
            await pilot.press("c")
            await until(pilot, lambda: isinstance(app.screen, AddScreen))
            await until(pilot, lambda: "as published" in screen_text(app))
            await pilot.press(*keys)
            await typed(pilot, "bert")
            await pilot.press("enter")
            await until(pilot, lambda: app.screen is screen and len(session.of(AddColumn)) > before)
            wanted: ColumnWanted = session.of(AddColumn)[-1].wanted
            assert wanted.recipe == PRESETS["bert"].recipe
            return wanted.run

        assert await add() == app.engine.run
        await pilot.resize_terminal(120, 40)
        assert await add("down", "down", "enter", "shift+tab") == draft.run_of(PRESETS["bert"], Run(), True)
