"""The chart of the run on the main screen, against the training."""

from __future__ import annotations

import pytest
from screens import screen_text
from stepping import opened, walked
from waiting import settled

import tokentui
from tokentui.recipe import Recipe, Run
from tokentui.session.views import Viewport
from tokentui.ui.panes.run_chart import run_chart

MERGES = 40


async def test_it_has_the_tokens_of_each_step_where_there_is_room() -> None:
    tokenizer = tokentui.train("sample:sailor", "gpt2", merges=MERGES)
    tokens = tokenizer.budget("sample:sailor").curves[0].tokens
    async with opened(Recipe(), "sample:sailor", run=Run.of({"merges": MERGES})) as (app, pilot):
        await walked(app, pilot, 23)
        assert app.main.snapshot is not None
        column = app.main.snapshot.main
        chart = run_chart(column, Viewport().curve_points)
        assert chart is not None
        (series,) = chart.series
        assert all(tokens[int(step)] == value for step, value in zip(series.x, series.y, strict=True))
        assert series.x[0] == 0
        assert series.x[-1] == chart.at == 23
        assert chart.x.most == MERGES
        assert f"23: {tokens[23]:,} tokens" in screen_text(app)
        assert app.main.run_chart.outer_size.height == 8
        await pilot.press("n")
        await settled(pilot)
        assert f"24: {tokens[24]:,} tokens" in screen_text(app)
        for size, shown in (((120, 39), False), ((119, 40), False), ((120, 40), True)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
            assert (f"24: {tokens[24]:,} tokens" in screen_text(app)) == shown


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["sentencepiece-unigram", "wordpiece", "gage", "pathpiece"])
async def test_every_kind_of_run_has_one_or_none(preset: str) -> None:
    recipe = tokentui.preset(preset)
    async with opened(recipe, size=(120, 40), run=Run.of({"vocab_size": 300})) as (app, pilot):
        await pilot.press("n", "n")
        await settled(pilot)
        assert app.main.snapshot is not None
        column = app.main.snapshot.main
        chart = run_chart(column, Viewport().curve_points)
        assert (chart is not None) == (len(column.curve.points) > 1)
        if chart is not None:
            assert f"{column.at.step}: {column.at.tokens:,} tokens" in screen_text(app)
