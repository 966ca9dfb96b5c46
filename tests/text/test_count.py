"""Counting shared with another process gives what one process counts, in the same order."""

from __future__ import annotations

import pytest

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import job
from tokentui.recipe import Recipe
from tokentui.text import count as module
from tokentui.text.corpus import Corpus
from tokentui.text.count import CountingProcess, WordCounts, Words, count

TEXTS = ("one two  two\n\nthree é \udc80\ud800 three's 12 \U0001f600 " * 40, "", " four", "one\u2028five\r\n" * 90)


def corpus() -> Corpus:
    return Corpus.from_lines(TEXTS)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK_CHARS", 64)
    monkeypatch.setattr(module.chunks, "__defaults__", (64,))


@pytest.mark.parametrize("start", [0, 700, 1 << 20])
def test_shared_out_it_is_the_same(start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "START_CHARS", start)
    seen: list[tuple[int, int]] = []
    with job(lambda *told: seen.append(told)):
        shared = count(corpus(), Recipe(), processes=2)
    alone = count(corpus(), Recipe(), processes=1)
    assert (shared.words, shared.counts) == (alone.words, alone.counts)
    assert seen == sorted(seen)
    assert seen[-1] == (sum(map(len, TEXTS)),) * 2


def test_nothing_to_share() -> None:
    assert count(Corpus.from_lines([]), Recipe(), processes=2).words == ()
    assert count(Corpus.from_lines(["a"]), Recipe(), processes=2).counts == (1,)


def test_a_helper_that_dies_is_no_count() -> None:
    process = CountingProcess(Recipe(), [("a", True)])
    process._process.kill()
    with pytest.raises(TokentuiError, match="ended before"):
        process.result()
    process.stop()


def test_cancelled() -> None:
    with job(cancel=lambda: True), pytest.raises(Cancelled):
        count(corpus(), Recipe(), processes=2)


def test_a_corpus_is_counted_once_for_all_recipes_that_cut_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []

    def counting(corpus: Corpus, recipe: Recipe) -> Words:
        counted.append(recipe.split)
        return count(corpus, recipe)

    monkeypatch.setattr(module, "count", counting)
    counts = WordCounts(corpus())
    first = counts.of(Recipe(split="gpt2"))
    assert counts.of(Recipe(split="gpt2", objective="score")) is first
    assert counts.of(Recipe(split="whitespace")).words != first.words
    assert counted == ["gpt2", "whitespace"]


def test_a_count_that_fails_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = WordCounts(corpus())
    with job(cancel=lambda: True), pytest.raises(Cancelled):
        counts.of(Recipe())
    assert counts.of(Recipe()).occurrences
