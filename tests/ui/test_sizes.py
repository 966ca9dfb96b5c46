"""Sizes: the curve, its table, the bounds and the file, against the library."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from dialogs import FakeEngine, shown, typed
from screens import screen_text
from stepping import opened
from waiting import settled, until

import tokentui
from tokentui.analyze.budget import trained_budget
from tokentui.analyze.report import Row
from tokentui.core.chart import Chart
from tokentui.core.errors import TokentuiError
from tokentui.preset_table import PRESETS, preset_named
from tokentui.recipe import Recipe, Run
from tokentui.session.commands import MeasureSizes
from tokentui.ui.dialogs.sizes import SizesScreen

MERGES = 48
CORPUS = "sample:sailor"


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_curve_is_that_of_the_whole_run(
    size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At step 0, with sizes, bounds and a file: the figures are those of the library, and the run stays."""
    monkeypatch.chdir(tmp_path)
    tokenizer = tokentui.train(CORPUS, "gpt2", merges=MERGES)
    whole = tokenizer.budget(CORPUS)
    (curve,) = whole.curves
    async with opened(Recipe(), CORPUS, size=size, run=Run.of({"merges": MERGES})) as (app, pilot):
        await pilot.press("F", "s")
        await until(pilot, lambda: isinstance(app.screen, SizesScreen) and app.screen.shown is not None)
        await settled(pilot)
        screen = app.screen
        assert isinstance(screen, SizesScreen)
        assert app.main.snapshot is not None
        assert app.main.snapshot.main.at.step == 0
        chart = screen.chart.picture
        assert isinstance(chart, Chart)
        assert (chart.series[0].x, chart.series[0].y) == (whole.sizes, curve.tokens)
        assert curve.knee is not None
        assert [mark.x for mark in chart.marks] == [whole.sizes[curve.knee]]
        bend, tokens = whole.sizes[curve.knee], f"{curve.tokens[curve.knee]:,} tokens"
        seen = screen_text(app)
        assert f"bends most at {bend} ids (the knee): {tokens}" in seen
        assert f"{bend}: {tokens}" in seen
        assert screen.shown is not None
        marked = [row.cells[0] for one in screen.shown.sections for row in one.rows if row.marked]
        assert marked == [f"{bend:,}"]
        await pilot.press("end")
        assert f"{whole.sizes[-1]}: {curve.tokens[-1]:,} tokens" in screen_text(app)
        await pilot.press("s")
        await typed(pilot, "257,300")
        await pilot.press("enter")
        there = f"300: {curve.tokens[44]:,} tokens"
        await until(pilot, lambda: app.screen is screen and there in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: screen.listing.display)
        assert screen.shown is not None
        rows = [row.cells for section in screen.shown.sections for row in section.rows]
        assert [(ids, tokens) for ids, tokens, *_ in rows] == [
            (f"{whole.sizes[step]:,}", f"{curve.tokens[step]:,}") for step in (1, 44)
        ]
        await pilot.press("enter")
        await until(pilot, lambda: screen.chart.display)
        await pilot.press("e")
        await typed(pilot, "sizes")
        await pilot.press("enter")
        await until(pilot, lambda: (tmp_path / "sizes.csv").exists())
        found = list(csv.DictReader((tmp_path / "sizes.csv").read_text("utf-8").splitlines()))
        assert [(row["size"], row["tokens"]) for row in found] == [
            (str(whole.sizes[step]), str(curve.tokens[step])) for step in (1, 44)
        ]
        await pilot.press("b")
        await until(pilot, lambda: screen.answer is not None and bool(screen.answer[1]))
        assert screen.answer is not None
        ((bounds,), chart) = screen.answer[1], screen.chart.picture
        assert isinstance(chart, Chart)
        assert [(one.vocab_size, one.tokens) for one in bounds.sizes] == [
            (whole.sizes[step], curve.tokens[step]) for step in (1, 44)
        ]
        assert chart.series[1].y == tuple(one.bound for one in bounds.sizes)
        assert all(isinstance(row, Row) for section in screen.tabs for row in section.rows)


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize("name", PRESETS)
def test_every_recipe_has_more_than_one_row_or_says_why(name: str) -> None:
    """The tokens at each size are those that the tokenizer of that step encodes."""
    preset = preset_named(name)
    corpus = tokentui.read("sample:sailor")
    method = preset.recipe.objective.partition(":")[0]
    stops: dict[str, dict[str, object]] = {"unigram": {"vocab_size": 60}, "pathpiece": {}}
    run = Run.of(stops.get(method, {"merges": 12}))
    try:
        found, tokenizer = trained_budget(corpus, preset.recipe, run)
    except tokentui.TokentuiError:
        return
    (curve,) = found.curves
    assert len(found.sizes) == len(curve.tokens) > (method != "pathpiece")
    assert curve.tokens[-1] == sum(len(tokenizer.encode(text)) for text in corpus.documents)
    assert found.sizes[-1] == tokenizer.vocab_size


async def test_sizes_are_not_asked_for_before_there_are_any() -> None:
    engine = FakeEngine(answers={MeasureSizes: TokentuiError("gone")})
    async with shown(SizesScreen(engine)) as (_, pilot):
        await pilot.press("s")
        await settled(pilot)
        assert not engine.pushed
        assert not engine.told
