"""The charts of a vocabulary, against counts of the encoded corpus; and their screens."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from running_cli import done
from screens import screen_text
from stepping import opened, walked
from waiting import settled, until

import tokentui
from tokentui.analyze.usage_charts import coverage_chart, id_chart, id_uses, zipf_chart
from tokentui.core.chart import Chart
from tokentui.recipe import Recipe
from tokentui.ui.dialogs.charts import ChartsScreen
from tokentui.ui.dialogs.facts import FactsScreen

CORPUS, SMALL = "sample:english", "sample:parallel/english"


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("recipe", ["gpt2", "bert", "sentencepiece-unigram"])
def test_the_charts_count_the_ids_of_the_encoded_corpus(recipe: str) -> None:
    corpus = tokentui.read(CORPUS)
    tokenizer = tokentui.train(corpus, recipe, vocab_size=400)
    uses = Counter(number for text in corpus.documents for number in tokenizer.encode_ids(text)
                   if number >= 0)
    found = id_uses(tokenizer, corpus)
    assert dict(found.uses) == uses
    ranked = sorted(uses.values(), reverse=True)
    assert zipf_chart(found).series[0].y == tuple(ranked)
    coverage = coverage_chart(found)
    for rank in (1, 10, len(ranked)):
        share = coverage.series[0].y[rank - 1]
        assert share == pytest.approx(100 * sum(ranked[:rank]) / sum(ranked))
    half = coverage.marks[0].x
    assert sum(ranked[: int(half)]) * 2 >= sum(ranked) > sum(ranked[: int(half) - 1]) * 2
    bars = id_chart(found)
    size = -(-len(tokenizer) // 16)
    for place, share in enumerate(bars.series[0].y):
        ids = range(place * size, min(len(tokenizer), (place + 1) * size))
        assert share == pytest.approx(100 * sum(number in uses for number in ids) / len(ids))


def test_the_command_has_the_charts_and_their_values(tmp_path: Path) -> None:
    tokenizer = tokentui.train(SMALL, "gpt2", merges=40)
    path = tmp_path / "t.json"
    tokenizer.save(path)
    found = id_uses(tokenizer, tokentui.read(SMALL))
    row = json.loads(done("inspect", "-t", str(path), "--charts", SMALL, "--json"))
    assert [(one["id"], one["uses"]) for one in row["uses"]] == list(found.uses)
    assert sum(row["lengths"].values()) == sum(row["scripts"].values()) == 296
    text = done("inspect", "-t", str(path), "--charts", SMALL)
    assert [name for name in ("Zipf", "coverage", "by id", "scripts", "characters")
            if not any(line.startswith(name) for line in text.splitlines())] == []
    assert f"1: {found.ranked[0]:,} uses" in text
    facts = done("inspect", "-t", str(path))
    assert "characters" in facts
    assert "█" in facts


@pytest.mark.slow
async def test_the_screens_show_them() -> None:
    async with opened(Recipe(), CORPUS, size=(80, 24)) as (app, pilot):
        await walked(app, pilot, 30)
        await pilot.press("v", "r")
        await until(pilot, lambda: isinstance(app.screen, ChartsScreen) and app.screen.answer is not None)
        await settled(pilot)
        screen = app.screen
        assert isinstance(screen, ChartsScreen)
        titles = []
        for _ in screen.tabs:
            assert isinstance(screen.chart.picture, Chart)
            titles.append(screen.chart.picture.title)
            await pilot.press("tab")
            await settled(pilot)
        assert titles == ["tokens at each step", "uses by rank", "coverage by the number of ids",
                          "ids that occur, by id", "tokens by their script", "tokens by their length"]
        await pilot.press("escape", "F", "F")
        await until(pilot, lambda: isinstance(app.screen, FactsScreen) and app.screen.answer is not None)
        await settled(pilot)
        facts = app.screen
        assert isinstance(facts, FactsScreen)
        names = [section.name for section in facts.tabs]
        facts.tab = 1 + names.index("characters")
        facts.lay_out()
        await settled(pilot)
        assert isinstance(facts.chart.picture, Chart)
        assert facts.chart.picture.title == "tokens by their length"
        assert "characters" in screen_text(app)
