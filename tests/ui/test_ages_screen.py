"""Tokens in the colors of the steps that made them: of the corpus and of the typed text, at every step."""

from __future__ import annotations

import pytest
from screens import screen_text
from stepping import RECIPE, opened, walked
from waiting import settled, until

from tokentui import learn
from tokentui.recipe import Recipe
from tokentui.session import commands as do
from tokentui.text.read import read
from tokentui.ui.draw.running import AGES, age_of, ages_legend
from tokentui.ui.draw.text import PALETTE, WITHOUT_COLOR


def test_each_age_has_a_look_of_its_own_with_colors_and_without() -> None:
    names = [age_of(made) for made in (0, 1, 10, 11, 100, 101, 1_000, 1_001, 10_000, 10_001, 60_000)]
    assert names == [f"age-{n}" for n in (0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5)]
    ages = [f"age-{n}" for n in range(len(AGES) + 1)]
    for looks in ({PALETTE[one] for one in ages}, {WITHOUT_COLOR.get(one, "") for one in ages}):
        assert len(looks) == len(ages)
    assert not any("accent" in PALETTE[one] for one in ages)  # that is the color of what is made now
    assert [style for _, style in ages_legend()[1:] if style] == ages


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("step", [40, 7, 0])
async def test_ages_are_those_of_a_training_made_anew(step: int) -> None:
    async with opened() as (app, pilot):
        await walked(app, pilot, step)
        await pilot.press("B")
        app.engine.send(do.SetInput("the other crowd"))
        await until(pilot, lambda: app.main.snapshot is not None and app.main.snapshot.main.encoding.ages
                    and app.main.snapshot.main.encoding.text == "the other crowd")
        assert app.main.snapshot is not None
        now = app.main.snapshot.main
        trainer = learn.start(read(["sample:english"]), RECIPE)
        learn.jump(trainer, step)
        made = {one.token: one.number for one in learn.steps(trainer)}  # type: ignore[attr-defined]
        assert list(now.encoding.ages) == [made.get(one.piece, 0) for one in now.encoding.tokens]
        parts = now.corpus.parts
        spans = [(part.text[one.start : one.end], one.made) for part in parts for one in part.tokens]
        assert spans
        assert all(number == made.get(text.encode(), 0) for text, number in spans)
        held = app.main.text.layout_held
        assert held is not None
        styles = {style for row in range(20) for _, style in held.row(row)}
        shown = {name.split("+")[0] for name in styles if name.startswith("age")}
        assert {age_of(number) for _, number in spans[:60]} <= shown
        assert "0 ≤10 ≤100 ≤1k ≤10k >10k" in screen_text(app)
        await pilot.press("B")
        await until(pilot, lambda: app.main.text.boundaries != "age" and "≤10k" not in screen_text(app))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_corpus_has_a_legend_of_ages(size: tuple[int, int]) -> None:
    async with opened(Recipe(), size=size) as (app, pilot):
        await walked(app, pilot, 30)
        await pilot.press("B")
        await until(pilot, lambda: ">10k" in screen_text(app))
        await settled(pilot)
        assert "0 ≤10 ≤100 ≤1k ≤10k >10k" in screen_text(app)
