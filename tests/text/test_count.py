"""Counting chunk by chunk gives what the whole gives, in the same order; a corpus is counted once for all who
cut alike."""

from __future__ import annotations

from collections import Counter

import pytest

from tokentui.core import engines
from tokentui.core.errors import Cancelled
from tokentui.core.jobs import job
from tokentui.recipe import Recipe
from tokentui.text import count as module
from tokentui.text.corpus import Corpus
from tokentui.text.count import WordCounts, Words, count
from tokentui.text.pretokenize import Pretokenizer

TEXTS = (
    "one two  two\n\nthree é \udc80\ud800 three's 12 \U0001f600 " * 40, "", " four", "one\u2028five\r\n" * 90,
)


def corpus() -> Corpus:
    return Corpus.from_lines(TEXTS)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(engines.VARIABLE, "off")
    monkeypatch.setattr(module, "CHUNK_CHARS", 64)


def test_counting_in_chunks_gives_the_same_counts() -> None:
    seen: list[tuple[int, int]] = []
    with job(lambda *told: seen.append(told)):
        found = count(corpus(), Recipe())
    words = Counter(word for text in TEXTS for word in Pretokenizer(Recipe()).words(text))
    assert dict(zip(found.words, found.counts, strict=True)) == words
    assert list(found.words) == list(words)
    assert seen == sorted(seen)
    assert len(seen) > 20
    assert seen[-1] == (sum(map(len, TEXTS)),) * 2


def test_empty_text_has_no_words() -> None:
    assert count(Corpus.from_lines([]), Recipe()).words == ()
    assert count(Corpus.from_lines(["a"]), Recipe()).counts == (1,)


def test_cancelled() -> None:
    with job(cancel=lambda: True), pytest.raises(Cancelled):
        count(corpus(), Recipe())


def test_a_corpus_is_counted_once_for_all_recipes_with_the_same_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
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
