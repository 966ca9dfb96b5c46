"""The second stage of SuperBPE with kernels gives what the plain one gives, forward and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui import learn
from tokentui.axes import check
from tokentui.core import engines
from tokentui.core.engines import COMPILED, PLAIN
from tokentui.learn import Query, Word, start_pairs, superbpe
from tokentui.learn.objectives import Material
from tokentui.learn.superbpe import SuperTrainer
from tokentui.recipe import Recipe, Stops, WhatIf
from tokentui.text.count import Words

NONE = Stops()
RECIPE = Recipe(unit="char", base="sorted", unknown="error", split="none")
lines = st.dictionaries(st.text("ab :", min_size=1, max_size=14), st.integers(1, 4), min_size=1, max_size=6)
ties = st.sampled_from(["lowest-ids", "first-seen", "shortest", "smallest-pair", "largest-pair"])


@pytest.fixture(scope="module", autouse=True)
def _kernels(loaded: None) -> None:
    """Every test here wants them."""


def both(counts: dict[str, int], recipe: Recipe) -> tuple[SuperTrainer, SuperTrainer]:
    """The same training with both engines, however small the corpus is."""
    material = Material.of(Words(tuple(counts), tuple(counts.values())), check(recipe))
    compiled = SuperTrainer(material)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "available", lambda: False)
        patch.setattr(superbpe, "kernels_fit", lambda material: False)
        patch.setattr(start_pairs, "kernels_fit", lambda material: False)
        plain = SuperTrainer(material)
    assert (plain.engine.engine, compiled.engine.engine) == (PLAIN, COMPILED)
    return plain, compiled


def state(trainer: SuperTrainer) -> dict[str, Any]:
    """All that a trainer says about the step where it stands."""
    number = trainer.number
    return {
        "number": number, "tokens": trainer.tokens_at(number), "size": trainer.size_at(number),
        "step": trainer.step_at(number) if number else None, "why": learn.why(trainer, NONE),
        "candidates": learn.candidates(trainer, Query(rows=30)), "changed": trainer.changed(),
        "uses": list(trainer.uses)[: trainer.tokenizer().vocabulary.base_size + number],
        "words": [trainer.segment(Word(word)) for word in trainer.words.words],
    }


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(lines, st.integers(0, 6), st.integers(1, 4), ties, st.sampled_from([None, 3, 6]),
       st.sampled_from(["occurrences", "distinct"]), st.sampled_from(["char", "byte"]))
def test_both_engines_give_the_same(
    counts: dict[str, int], at: int, most: int, tie: str, longest: int | None, weight: str, unit: str
) -> None:
    axes = {"base": "bytes", "unknown": "never"} if unit == "byte" else {}
    recipe = RECIPE.with_axes(
        objective=f"superbpe:at={at},within=before,words={most}", tie=tie, weight=weight, unit=unit, **axes
    )
    plain, compiled = both(counts, recipe)
    stops = Stops(max_length=longest)
    seen: list[dict[str, Any]] = []
    for _ in range(18):
        for one in (plain, compiled):
            while one.number < len(seen) and not one.advance(len(seen), stops):
                pass
        seen.append(state(plain))
        assert state(compiled) == seen[-1]
    if compiled.number >= at:
        assert compiled.engine.second is None or compiled.engine.second.engine == COMPILED
    last = compiled.number
    if last >= at:  # before the switch each distinct word inside the stretches has the weight
        assert compiled.tokens_at(last) == sum(
            len(spans) * (1 if weight == "distinct" else count)
            for spans, count in zip(seen[-1]["words"], counts.values(), strict=True)
        )
    by_number = {one["number"]: one for one in seen}
    for number in (*range(last - 1, -1, -1), last, max(0, at - 1), at, last // 2):
        learn.jump(compiled, number)
        assert compiled.number == min(number, last)
        assert state(compiled) == by_number[compiled.number]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(lines, st.integers(0, 6), ties, st.integers(1, 9), st.integers(1, 12),
       st.sampled_from(["forbid", "token", "force", "leave-out"]), st.integers(0, 14))
def test_a_what_if_of_either_stage_gives_the_same_with_both_engines(
    counts: dict[str, int], at: int, tie: str, step: int, merge: int, what: str, back: int
) -> None:
    """Its pair is that of another step, which may come later, or never under it."""
    recipe = RECIPE.with_axes(objective=f"superbpe:at={at},within=before", tie=tie)
    found: list[Any] = []
    for trainer in both(counts, recipe):
        learn.jump(trainer, 14)
        if trainer.number < max(step, merge):
            return
        made = trainer.step_at(merge)
        parts = {"token": (made.token,), "leave-out": ()}.get(what, (made.left, made.right))
        change = WhatIf(step, "forbid" if what == "token" else what, parts)
        learn.jump(trainer, back)
        with pytest.MonkeyPatch.context() as patch:  # a fork at the start lays the words out again
            patch.setenv(engines.VARIABLE, "off" if trainer.engine.engine == PLAIN else "on")
            other = learn.what_if(trainer, [change])
        assert isinstance(other, SuperTrainer)
        assert other.engine.engine == trainer.engine.engine
        found.append([state_at(other, number) for number in (16, step, step - 1, at, 16)])
        found.append(state_at(trainer, back))
    assert found[:2] == found[2:]


def state_at(trainer: SuperTrainer, number: int) -> dict[str, Any]:
    """The state at a step."""
    learn.jump(trainer, number)
    return state(trainer)
