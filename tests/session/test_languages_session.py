"""A session on named corpora: the tokens of each language at every step, the language that decides, and what
is kept of it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sessions import settle, tell

from tokentui.axes import preset
from tokentui.core.errors import TokentuiError
from tokentui.learn import Word
from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.compare.jobs import curve_so_far
from tokentui.session.engine.state import State
from tokentui.session.persist.session_file import SavedSession, absolute, dumps, loads
from tokentui.session.training.training import open_corpus, prepare, prepare_tokenizer
from tokentui.ui.draw.text import Cell
from tokentui.ui.panes.column_tables import counted_in
from tokentui.ui.panes.header import header
from tokentui.ui.panes.why import sentences

PARALLEL = "corpora:en=sample:parallel/english,hi=sample:parallel/hindi,shares=equal"


def state(recipe: str = "gpt2", source: str = PARALLEL, **axes: Any) -> State:
    return State(prepare(open_corpus(source, None, "text"), preset(recipe, **axes), Run()))


def plain(cell: Cell) -> str:
    return "".join(text for text, _ in cell)


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize(("recipe", "axes"), [
    ("gpt2", {}), ("gpt2", {"objective": "parity"}), ("gpt2", {"tie": "first-seen", "weight": "distinct"}),
    ("bert", {}), ("sentencepiece-unigram", {}),
])
def test_the_tokens_of_each_language_are_those_of_a_count(recipe: str, axes: dict[str, Any]) -> None:
    it = state(recipe, **axes)
    trainer = it.main.trainer
    for step in (0, 1, 2, 40, 3, 41, 0, 60):
        it.view = replace(it.view)
        tell(it, do.GoTo(step))
        settle(it)
        spans = {word: trainer.segment(Word(word)) for word in trainer.words.words}
        found = []
        for part in trainer.words.parts:
            weights = [1] * len(part.words.counts) if axes.get("weight") else part.words.counts
            sizes = [len(spans[word]) for word in part.words.words]
            found.append(sum(size * weight for size, weight in zip(sizes, weights, strict=True)))
        at = it.snapshot().main.at
        assert [one.tokens for one in at.lengths] == found
        assert [one.name for one in at.lengths] == ["en", "hi"]
        if not axes.get("weight"):
            first = it.main.training.corpus.named[0]
            assert at.lengths[0].bytes_per_token == first.times * first.corpus.size / found[0]
            assert sum(found) == at.tokens


def test_the_header_and_the_why_pane_tell_of_the_languages() -> None:
    it = state(objective="parity")
    tell(it, do.GoTo(5))
    settle(it)
    now = it.snapshot()
    en, hi = now.main.at.lengths
    assert f"tokens: en {en.tokens:,} ({en.bytes_per_token:.2f} B), hi {hi.tokens:,}" in plain(
        header(now, "text", 160)
    )
    said = [plain(cell) for cell in sentences(now, "text")]
    bars = [line for line in said if line.startswith(("▸ ", "  "))]
    chosen = next(one for one in now.main.why.judged if one.chosen)
    assert [line[0] for line in bars] == ["▸" if one.chosen else " " for one in now.main.why.judged]
    assert f"of {chosen.start:,} tokens" in next(line for line in bars if line.startswith("▸"))
    worst = f"{chosen.name} is worst off: its text has {chosen.tokens:,}"
    assert any(line.startswith(worst) for line in said)
    assert all("is worst off" not in plain(cell) for cell in sentences(state().snapshot(), "text"))


def test_named_corpora_are_saved_with_absolute_paths(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    named = "corpora:en=a%2Cb.txt,hi=sample:hindi,development.en=c.txt"
    assert absolute(named) == (
        f"corpora:en={os.getcwd()}/a%2Cb.txt,hi=sample:hindi,development.en={os.getcwd()}/c.txt"
    )
    assert absolute("corpora:none") == "corpora:none"
    kept = SavedSession((absolute(named),))
    assert loads(dumps(kept), "it") == kept
    assert do.Open((named,)).name == "en + hi"


def test_a_file_on_named_corpora_tells_their_tokens() -> None:
    it = state()
    tell(it, do.GoTo(30))
    settle(it)
    lengths = it.snapshot().main.at.lengths
    corpus = it.main.training.corpus
    opened = State(prepare_tokenizer(corpus, it.main.trainer.tokenizer(), Run(), at_end=True))
    assert opened.snapshot().main.at.lengths == lengths
    with pytest.raises(TokentuiError, match="no such file"):
        open_corpus("corpora:en=missing.txt", None, "text")


def test_twelve_languages_are_bars_in_their_order() -> None:
    it = state(source="sample:parallel", objective="parity:variant=window,window_size=4,alpha=1.2")
    names = [one.name for one in it.main.training.corpus.named]
    for step in (4, 9, 30):
        tell(it, do.GoTo(step))
        settle(it)
        judged = it.snapshot().main.why.judged
        said = [plain(cell) for cell in sentences(it.snapshot(), "text")]
        bars = [line for line in said if "█" in line]
        assert [line[2:4] for line in bars] == names
        assert [line.endswith("no turn") for line in bars] == [one.barred for one in judged]
        assert [f" {one.tokens:,}" in line for one, line in zip(judged, bars, strict=True)] == [True] * 12
        open_ = [one for one in judged if not one.barred]
        assert max(open_, key=lambda one: one.tokens).chosen
        assert any(one.barred for one in judged)


@pytest.mark.parametrize("objective", ["count", "parity", "parity:global_merges=5"])
def test_the_title_of_pairs_names_the_language_that_decides_the_next_step(objective: str) -> None:
    it = state(objective=objective)
    for step in (0, 3, 9, 30):
        tell(it, do.GoTo(step + 1))
        settle(it)
        decided = getattr(it.main.trainer.step_at(step + 1), "decided", "")
        tell(it, do.GoTo(step))
        settle(it)
        expected = f" in {decided}" if decided not in ("", "all") else ""
        assert counted_in(it.snapshot().main) == expected
        assert bool(expected) == (objective == "parity" or (objective != "count" and step >= 5))


def test_the_curve_is_that_of_the_dearest_language() -> None:
    it = state(objective="parity")
    tell(it, do.GoTo(40))
    settle(it)
    prepared = it.main.training
    drawn = curve_so_far(1, prepared, 9)
    assert drawn is not None
    sizes = [one.times * one.corpus.size for one in prepared.corpus.named]
    for step, spread in zip(drawn.steps, drawn.spread, strict=True):
        costs = [length / size for length, size in zip(prepared.trainer.lengths_at(step), sizes, strict=True)]
        assert spread == max(costs) / min(costs)
    alone = state(source="sample:hugs").main.training
    without = curve_so_far(1, alone, 9)
    assert without is not None
    assert without.spread == ()
