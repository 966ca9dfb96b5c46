"""The words of several tokens, against the encoding of each word alone; and their screen."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import cast

import pytest
from dialogs import FakeEngine, shown
from running_cli import done, refused
from screens import screen_text, snapshot
from waiting import until

import tokentui
from tokentui.analyze.analyses import ANALYSES
from tokentui.analyze.worst_words import report, worst_words
from tokentui.core.errors import Cancelled
from tokentui.preset_table import PRESETS
from tokentui.session import commands as do
from tokentui.text.count import count
from tokentui.ui.dialogs.analysis import AnalysisScreen
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.link import EngineLink

CORPUS = "sample:english"


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("recipe", [name for name in PRESETS if name in (
    "gpt2", "bert", "sentencepiece-bpe", "sentencepiece-unigram", "wordpiece", "gage")])
def test_they_are_the_words_whose_encoding_has_several_tokens(recipe: str) -> None:
    corpus = tokentui.read("sample:sailor" if recipe == "gage" else CORPUS)
    limits = {"vocab_size": 200} if recipe == "sentencepiece-unigram" else {"merges": 40}
    tokenizer = tokentui.train(corpus, recipe, **limits)  # type: ignore[arg-type]
    found = worst_words(tokenizer, corpus)
    words = count(corpus, tokenizer.recipe)
    uses = Counter(dict(zip(words.words, words.counts, strict=True)))
    for one in found.worst:
        assert one.tokens == len(one.pieces) > 1
        assert one.wasted == (one.tokens - 1) * one.uses
    assert found.words == len(uses)
    assert all(uses[one.text] == one.uses for one in found.worst)
    assert found.tokens == sum(len(tokenizer.encode(text)) for text in corpus.documents)
    assert found.wasted == found.tokens - sum(uses.values())
    assert [one.wasted for one in found.worst] == sorted((one.wasted for one in found.worst), reverse=True)


def test_the_command(tmp_path: Path) -> None:
    tokenizer = tokentui.train(CORPUS, "gpt2", merges=40)
    path = tmp_path / "t.json"
    tokenizer.save(path)
    found = worst_words(tokenizer, tokentui.read(CORPUS))
    row = json.loads(done("inspect", "-t", str(path), "--worst-words", CORPUS, "--json"))
    assert (row["tokens"], row["wasted"], row["words"]) == (found.tokens, found.wasted, found.words)
    assert [(one["text"], one["uses"], one["tokens"], one["wasted"]) for one in row["worst"]] == [
        (one.text, one.uses, one.tokens, one.wasted) for one in found.worst]
    lines = done("inspect", "-t", str(path), "--worst-words", CORPUS).splitlines()
    first = found.worst[0]
    assert lines[2].split()[:3] == [f"{first.wasted}", f"{first.tokens}", f"{first.uses}"]
    assert lines[-1].strip() == f"… and {len(found.worst) - 40:,} more (--json has them)"
    assert "CORPUS is missing" in refused("inspect", "-t", str(path), "--worst-words")


async def test_the_screen_sorts_and_inspects() -> None:
    tokenizer = tokentui.train(CORPUS, "gpt2", merges=30)
    answer = worst_words(tokenizer, tokentui.read(CORPUS))
    found = answer.worst
    engine = FakeEngine(snapshot(), {do.Analyze: report(answer), do.InspectText: Cancelled()})
    screen = AnalysisScreen(cast(EngineLink, engine), ANALYSES["worst-words"], lambda ids, title: None)
    async with shown(screen) as (app, pilot):
        await until(pilot, lambda: screen.shown is not None)
        for key, order in (
            (None, found), ("S", found), ("S", sorted(found, key=lambda one: -one.tokens)),
            ("S", sorted(found, key=lambda one: -one.uses)),
        ):
            await pilot.press(*([key] if key else ()))
            await pilot.pause()
            line = next(line for line in screen_text(app).splitlines() if "▸" in line)
            assert line.split()[2:5] == [str(order[0].wasted), str(order[0].tokens), str(order[0].uses)]
        assert "uses▾" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: engine.pushed)
    inspected = engine.pushed[-1]
    assert isinstance(inspected, InspectScreen)
    async with shown(inspected) as (_, pilot):
        await until(pilot, lambda: engine.of(do.InspectText))
    assert engine.of(do.InspectText)[0].text == order[0].text
