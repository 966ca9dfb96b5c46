"""Predicting the next pair: nothing gives it away, the score is counted, and the same key ends it."""

from __future__ import annotations

from typing import Any

import pytest
from screens import screen_text
from textual.pilot import Pilot
from waiting import notes_of, settled, until

import tokentui
from tokentui.recipe import Recipe
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.ui.app import ExplorerApp
from tokentui.ui.predict import CHOICES


def app_of(recipe: str = "comp336", source: str = "sample:hugs") -> ExplorerApp:
    made = tokentui.preset(recipe)
    assert isinstance(made, Recipe)
    return ExplorerApp(
        lambda publish: Session(publish, made), typed="hugs",
        begin=lambda session: session.send(do.Open((source,))),
    )


async def at_step(pilot: Pilot[Any], app: ExplorerApp, step: int) -> None:
    await settled(pilot)
    assert app.main.snapshot is not None
    assert app.main.snapshot.main.at.step == step


async def test_nothing_gives_the_pair_away_and_a_guess_is_typed() -> None:
    app = app_of()
    async with app.run_test(size=(119, 40)) as pilot:
        await at_step(pilot, app, 0)
        before = screen_text(app)
        await pilot.press("P")
        await until(pilot, lambda: "which pair is next?" in screen_text(app))
        now = app.main.snapshot
        assert now is not None
        assert now.main.why.best is None
        rows = now.main.candidates.rows
        assert [row.parts for row in rows] == sorted(row.parts for row in rows)
        assert 1 < len(rows) <= CHOICES
        lines = screen_text(app).splitlines()
        assert "n guess" in lines[-1]
        assert "enter guess it" in lines[-1]
        region = app.main.pairs.content_region
        rows_shown = [line[region.x : region.right] for line in lines]
        assert not any(char.isdigit() for line in rows_shown[region.y : region.bottom] for char in line)
        await pilot.press("P", "1")
        await settled(pilot)
        seen = screen_text(app)
        assert "next  u+g" in seen
        assert "n next" in seen.splitlines()[-1]
        assert "▸ u+g" in seen
        assert before.splitlines()[1:20] == seen.splitlines()[1:20]
        await pilot.press("P", "n")
        await until(pilot, lambda: "Which pair is merged next?" in screen_text(app))
        await pilot.press(*"zz")
        await until(pilot, lambda: "no such pair among those" in screen_text(app))
        await pilot.press("enter")
        await pilot.press("backspace", "backspace", "u", "plus", "g", "enter")
        await at_step(pilot, app, 1)
        await until(pilot, lambda: "1 of 1 right" in screen_text(app))
        await pilot.press("n", "space", "p", "enter")
        await at_step(pilot, app, 2)
        await until(pilot, lambda: "2 of 2 right" in screen_text(app))


async def test_guesses_are_counted_and_explained() -> None:
    run = tokentui.Trainer("sample:hugs", "comp336")
    app = app_of()
    async with app.run_test(size=(119, 40)) as pilot:
        await at_step(pilot, app, 0)
        await pilot.press("P")
        for step in range(3):
            best = run.why().best
            assert best is not None
            right = step != 1
            now = app.main.snapshot
            assert now is not None
            places = [row.parts for row in now.main.candidates.rows]
            place = places.index(best.parts) if right else next(
                n for n, parts in enumerate(places) if parts != best.parts
            )
            app.main.pairs.move_to(place)
            await pilot.press("2", "enter")
            await at_step(pilot, app, step + 1)
            word = "right  " if right else "wrong  "
            await until(pilot, lambda word=word: word in screen_text(app))  # type: ignore[misc]
            run.step()
        text = screen_text(app)
        assert "2 of 3 right" in text
        assert "pairs are tied at 2" in text or "runner-up" in text
        await pilot.press("P")
        await until(pilot, lambda: "2 of 3 guesses right" in notes_of(app))


async def test_to_the_end_and_where_no_pair_is_merged_there_is_none_to_guess() -> None:
    app = app_of()
    async with app.run_test(size=(80, 24)) as pilot:
        await at_step(pilot, app, 0)
        await pilot.press("P", "G")
        await until(pilot, lambda: "no pair is left to guess" in screen_text(app))
        await pilot.press("n", "escape", "P")
        await until(pilot, lambda: "no pair left" in screen_text(app))
        await pilot.press("P")
        recipe = tokentui.preset("sentencepiece-unigram")
        assert isinstance(recipe, Recipe)
        app.engine.send(do.SetRecipe(recipe))
        await settled(pilot)
        await pilot.press("P")
        await until(pilot, lambda: "there is no next pair to guess here" in notes_of(app))


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("recipe", ["wordpiece", "gage", "gpt2"])
async def test_other_objectives(recipe: str) -> None:
    app = app_of(recipe, "sample:gage" if recipe == "gage" else "sample:hugs")
    async with app.run_test(size=(119, 40)) as pilot:
        await at_step(pilot, app, 0)
        best = app.main.snapshot.main.why.best  # type: ignore[union-attr]
        assert best is not None
        await pilot.press("P")
        await until(pilot, lambda: app.main.prediction)
        assert app.main.prediction is not None
        app.main.prediction.pick(best)
        await at_step(pilot, app, 1)
        await until(pilot, lambda: "1 of 1 right" in screen_text(app))
