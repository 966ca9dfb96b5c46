"""Objectives that score pairs: the worked examples of the papers at every step, forward and back, and naive
models on random corpora."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trainers import merge_steps

import tokentui
from tokentui import learn
from tokentui.core import engines
from tokentui.learn.objectives import OBJECTIVES, Material
from tokentui.learn.start_pairs import pair_trainer
from tokentui.recipe import Recipe, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.count import WordCounts

PLAIN = Recipe(
    split="whitespace", unit="char", base="sorted", tie="smallest-pair", unknown="error", objective="count"
)
CORPUS = Corpus.from_counts([("low", 5), ("lower", 2), ("newest", 6), ("widest", 3)])

VALUED = [name for name, one in OBJECTIVES.items() if one.value is not None]
"""The objectives that order pairs by a value. Each has a worked example and a naive model here."""
EXAMPLES: dict[str, tuple[str, str, str, int]] = {
    # objective: tie, the merges, their values, digits after the point
    "score": (
        "smallest-pair", "i+d l+o s+t lo+w w+id e+r low+er", ".333 .143 .111 .062 .111 .059 .143", 3
    ),
}
"""Worked examples: sources in `tokentui.learn.objectives`. The words are those of Sennrich et al. (2016)."""


@pytest.mark.parametrize("engine", ["plain", "compiled"])
@pytest.mark.parametrize("name", VALUED)
def test_the_worked_example_at_every_step_forward_and_back(
    name: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "compiled" and not (OBJECTIVES[name].kernel and engines.available()):
        pytest.skip("no kernels for it here")
    monkeypatch.setenv(engines.VARIABLE, "off" if engine == "plain" else "on")
    tie, merges, values, digits = EXAMPLES[name]
    run = tokentui.Trainer(CORPUS, PLAIN.with_axes(objective=name, tie=tie))
    seen: list[tuple[list[tuple[Any, ...]], int]] = []
    for merge, value in zip(merges.split(), values.split(), strict=True):
        best = run.candidates(1)[0]
        before: list[tuple[Any, ...]] = [(one.parts, one.worth, one.values) for one in run.candidates()]
        why = run.why()
        assert why.best == best
        assert b"+".join(best.parts).decode() == merge
        assert float(best.worth) == pytest.approx(float(value), abs=0.5000001 * 10**-digits)
        step = run.step()
        assert isinstance(step, tokentui.Step)
        assert (step.left, step.right) == best.parts
        assert step.score == float(best.worth)
        seen.append((before, run.tokens))
    for before, tokens in reversed(seen):
        assert run.tokens == tokens
        run.back()
        assert [(one.parts, one.worth, one.values) for one in run.candidates()] == before
    for number, (before, _) in enumerate(seen):
        run.jump(number)
        assert [(one.parts, one.worth, one.values) for one in run.candidates()] == before


# ---- naive models: everything is counted anew at each step

Words = list[tuple[tuple[str, ...], int]]
Pair = tuple[str, str]


def merged(words: Words, pair: Pair) -> Words:
    made: Words = []
    for word, count in words:
        out: list[str] = []
        at = 0
        while at < len(word):
            if word[at : at + 2] == pair:
                out.append("".join(pair))
                at += 2
            else:
                out.append(word[at])
                at += 1
        made.append((tuple(out), count))
    return made


Valued = Callable[[Counter[Pair], Counter[str], Pair], Fraction]


def by_score(pairs: Counter[Pair], uses: Counter[str], pair: Pair) -> Fraction:
    return Fraction(pairs[pair], uses[pair[0]] * uses[pair[1]])


MODELS: dict[str, Valued] = {"score": by_score}
ELSEWHERE = {
    "count": "learn/test_pairs.py", "parity": "learn/test_parity.py", "gage": "learn/test_gage.py",
    "unigram": "learn/test_unigram_model.py", "picky": "trainers/test_papers.py",
    "superbpe": "trainers/test_papers.py", "boundless": "trainers/test_papers.py",
    "greedtok": "trainers/test_covers.py", "length-max": "trainers/test_covers.py",
    "pathpiece": "trainers/test_covers.py",
}
"""The objectives whose naive model is in another file of the tests."""
corpora = st.dictionaries(
    st.text("abc", min_size=1, max_size=8), st.integers(1, 6), min_size=1, max_size=7
)


def test_every_objective_has_a_naive_model() -> None:
    assert MODELS.keys() == EXAMPLES.keys() == {*VALUED}
    assert {*MODELS, *ELSEWHERE} == OBJECTIVES.keys()
    for name, path in ELSEWHERE.items():
        text = (Path(__file__).parents[1] / path).read_text("utf-8")
        assert name in text, path


@pytest.mark.first_run(cases=4)
@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
@pytest.mark.parametrize("name", VALUED)
@settings(max_examples=20)
@given(words=corpora, least=st.integers(1, 3))
def test_an_objective_equals_the_naive_one(
    name: str, compiled: bool, words: dict[str, int], least: int
) -> None:
    if compiled and not (OBJECTIVES[name].kernel and engines.available()):
        return
    recipe = PLAIN.with_axes(objective=name)
    counted = WordCounts(Corpus.from_counts(list(words.items()))).of(recipe)
    trainer = pair_trainer(Material.of(counted, recipe), compiled=compiled)
    assert trainer.traits.engine == (engines.COMPILED if compiled else engines.PLAIN)
    learn.run(trainer, Stops(min_count=least))
    split: Words = [(tuple(word), count) for word, count in words.items()]
    for step in merge_steps(trainer):
        uses: Counter[str] = Counter()
        pairs: Counter[Pair] = Counter()
        for word, count in split:
            for one in word:
                uses[one] += count
            for pair in itertools.pairwise(word):
                pairs[pair] += count
        able = [pair for pair in pairs if pairs[pair] >= least]
        worth = {pair: MODELS[name](pairs, uses, pair) for pair in able}
        best = max(worth.values())
        chosen = min(pair for pair in able if worth[pair] == best)
        assert (step.left.decode(), step.right.decode()) == chosen
        assert step.tied == sum(one == best for one in worth.values())
        split = merged(split, chosen)
    assert not any(
        count >= least
        for count in sum((Counter({pair: n}) for word, n in split for pair in itertools.pairwise(word)),
                         Counter[Pair]()).values()
    )
