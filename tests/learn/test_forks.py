"""The law of forks: a training that goes on under what-ifs is one that had them from the start.

Naive trainings from scratch judge each step, forward and back, with kernels and without, and where a kernel
fails on the way. `--hypothesis-profile=soak -m soak` tries 5,000 cases with each engine.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Sequence
from itertools import count as numbers
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trainers import merge_steps
from what_ifs import expected, facts, naive_of, states_of, together

import tokentui
from tokentui import learn
from tokentui.axes import AXES
from tokentui.core import engines, native
from tokentui.core.engines import COMPILED, PLAIN
from tokentui.learn import Trainer
from tokentui.learn.objectives import OBJECTIVES, Material
from tokentui.learn.start_pairs import pair_trainer
from tokentui.preset_table import PRESETS
from tokentui.recipe import FORBID, FORCE, LEAVE_OUT, Recipe, Stops, WhatIf
from tokentui.text.count import Words

ENGINES = [PLAIN, *([COMPILED] if engines.available() else [])]


class Failure(NamedTuple):
    """A kernel that fails.

    Attributes:
        call: The number of its call, from 0, among all calls of kernels.
        late: True if it has done its work before.
    """

    call: int
    late: bool


class Change(NamedTuple):
    """A what-if, by the merges of the training without it.

    Attributes:
        what: Its kind, and `token` for one that forbids a token.
        step: Its step.
        merge: The number of the merge whose pair it is about, modulo how many there are.
    """

    what: str
    step: int
    merge: int


class Case(NamedTuple):
    """A training, forks of it, and the steps that are walked to.

    Attributes:
        counts: The words with their counts.
        recipe: The recipe.
        max_length: The greatest length of a token.
        first: The what-ifs from the start.
        forks: Of each fork the furthest step before it, the step that it is made at, and its what-ifs.
        walk: The steps that each fork walks to.
        small: True for an engine that stops and copies often.
    """

    counts: dict[str, int]
    recipe: Recipe
    max_length: int | None
    first: list[Change]
    forks: list[tuple[int, int, list[Change]]]
    walk: list[int]
    small: bool


words = st.dictionaries(st.text("abé", min_size=2, max_size=10), st.integers(1, 5), min_size=2, max_size=9)
change = st.builds(
    Change, st.sampled_from([FORBID, "token", FORCE, LEAVE_OUT]), st.integers(1, 9), st.integers(0, 20)
)
recipes = st.builds(
    lambda unit_base, mark, tie, weight: Recipe(
        split="whitespace", unit=unit_base[0], base=unit_base[1], mark=mark, tie=tie, weight=weight,
        unknown="never" if unit_base[0] == "byte" else "error",
    ),
    st.sampled_from([("byte", "gpt2-bytes"), ("byte", "sorted"), ("char", "sorted"), ("char", "first-seen")]),
    st.sampled_from(["none", "end-suffix:</w>", "prefix:##"]),
    st.sampled_from(list(AXES["tie"])),
    st.sampled_from(["occurrences", "distinct"]),
)
steps = st.integers(0, 12)
forks = st.tuples(steps, steps, st.lists(change, min_size=1, max_size=3))
cases = st.builds(
    Case, words, recipes, st.sampled_from([None, None, None, 2, 3, 4]), st.lists(change, max_size=2),
    st.lists(forks, min_size=1, max_size=2), st.lists(steps, min_size=2, max_size=4), st.booleans(),
)
failures = st.none() | st.builds(Failure, st.integers(0, 80), st.booleans())


@pytest.fixture(autouse=True)
def _kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "failed", False)


@contextlib.contextmanager
def surroundings(failure: Failure | None, small: bool) -> Iterator[list[int]]:
    """Let a kernel fail, and an engine stop and copy often. Yields the calls of kernels that failed."""
    failed: list[int] = []
    calls, works = numbers(), native.Kernel.__call__

    def call(kernel: native.Kernel, *arguments: Any) -> Any:
        failing = failure is not None and next(calls) == failure.call
        done = works(kernel, *arguments) if not failing or (failure and failure.late) else None
        if failing:
            failed.append(1)
            raise SystemError("a kernel")
        return done

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "failed", False)
        patch.setattr(engines, "tell", lambda failure: None)
        if engines.available():
            from tokentui.learn import compiled

            patch.setattr(native.Kernel, "__call__", call)
            if small:
                for name, size in {"SLICE": 1, "FIRST_STEPS": 2, "LEAST_BETWEEN": 4}.items():
                    patch.setattr(compiled, name, size)
        yield failed


def made_of(change: Change, merges: Sequence[tuple[bytes, bytes, bytes]]) -> WhatIf:
    """Return a what-if of the pair or the token of a merge; of `a` and `b` where there are no merges."""
    left, right, token = merges[change.merge % len(merges)] if merges else (b"a", b"b", b"ab")
    parts = {LEAVE_OUT: (), "token": (token,)}.get(change.what, (left, right))
    return WhatIf(change.step, FORBID if change.what == "token" else change.what, parts)


def under(first: Sequence[WhatIf], more: Sequence[Change], merges: Any) -> list[WhatIf]:
    """Return the what-ifs of some changes that a training under the first ones may have too."""
    taken = list(first)
    for change in more:
        taken += together(taken, [made_of(change, merges)])
    return taken[len(first) :]


def walked(trainer: Trainer, walk: Sequence[int], model: Sequence[Any]) -> None:
    """Compare a training with a model at its step, and at each step of a walk."""
    for goal in (None, *walk):
        if goal is not None:
            learn.jump(trainer, goal)
            assert trainer.number == min(goal, len(model) - 1)
        assert learn.with_plain_fallback(trainer, facts) == expected(model, trainer.number)


@pytest.mark.parametrize("engine", ENGINES)
@settings(deadline=None)
@given(cases, failures)
@pytest.mark.slow
def test_a_fork_is_a_naive_training_under_its_what_ifs(
    engine: str, case: Case, failure: Failure | None
) -> None:
    stops = Stops(max_length=case.max_length)
    words = Words(tuple(case.counts), tuple(case.counts.values()))

    def trained(recipe: Recipe, compiled: bool) -> Trainer:
        trainer = pair_trainer(Material.of(words, recipe), compiled=compiled)
        trainer.advance(0, stops)
        return trainer

    unchanged = trained(case.recipe, compiled=False)
    learn.run(unchanged, Stops(merges=20))
    merges = [(step.left, step.right, step.token) for step in merge_steps(unchanged)]
    learn.jump(unchanged, 0)

    def model_of(changes: Sequence[WhatIf]) -> list[Any]:
        return states_of(naive_of(unchanged, changes, case.max_length))

    first = under([], case.first, merges)
    with surroundings(failure if engine == COMPILED else None, case.small) as failed:
        trainers = [(trained(case.recipe.under(first), compiled=engine == COMPILED), first)]
        for furthest, at, more in case.forks:
            source, before = trainers[-1]
            changes = [*before, *under(before, more, merges)]
            learn.jump(source, furthest)
            learn.jump(source, at)
            fork = learn.what_if(source, changes[len(before) :])
            assert fork.what_if == case.recipe.under(changes).changes
            assert fork.number == min(source.number, len(model_of(changes)) - 1)
            trainers.append((fork, changes))
            walked(fork, case.walk, model_of(changes))
        for trainer, changes in trainers:  # and none has changed the one that it was made of
            walked(trainer, [*case.walk, 99, 0], model_of(changes))
            assert trainer.traits.engine == engine or failed
        assert engines.failed == bool(failed)


SCORED = Recipe(split="whitespace", unit="char", base="sorted", unknown="error")


@pytest.mark.parametrize("objective", [
    name for name, one in OBJECTIVES.items() if one.kernel and one.value is not None
])
@settings(max_examples=25, deadline=None)
@given(cases)
@pytest.mark.slow
def test_by_any_value_kernels_fork_as_plain_python_does(objective: str, case: Case) -> None:
    if not engines.available():
        pytest.skip("there are no kernels")
    recipe = SCORED.with_axes(
        objective=objective, tie=case.recipe.tie, weight=case.recipe.weight, mark=case.recipe.mark
    )
    words = Words(tuple(case.counts), tuple(case.counts.values()))
    material, stops = Material.of(words, recipe), Stops(max_length=case.max_length, min_count=1 + case.small)
    unchanged = pair_trainer(material, compiled=False)
    learn.run(unchanged, Stops(merges=20))
    merges = [(step.left, step.right, step.token) for step in merge_steps(unchanged)]
    first = under([], case.first, merges)
    with surroundings(None, case.small):
        material = Material.of(words, recipe.under(first))
        pairs: list[Trainer] = [pair_trainer(material, compiled=compiled) for compiled in (False, True)]
        for trainer in pairs:
            trainer.advance(0, stops)
        for furthest, at, more in case.forks:
            added = under(first, more, merges)
            first = [*first, *added]
            for trainer in pairs:
                learn.jump(trainer, furthest)
                learn.jump(trainer, at)
            pairs = [learn.what_if(trainer, added) for trainer in pairs]
            for goal in (None, *case.walk, 99, 0):
                for trainer in pairs:
                    if goal is not None:
                        learn.jump(trainer, goal)
                assert facts(pairs[1]) == facts(pairs[0])
        assert [trainer.traits.engine for trainer in pairs] == [PLAIN, COMPILED]
        assert not engines.failed


@pytest.mark.parametrize("recipe", [
    *(SCORED.with_axes(tie=tie, mark="prefix:##") for tie, rule in AXES["tie"].items() if rule.kernel),
    SCORED.with_axes(objective="score"),
], ids=lambda recipe: f"{recipe.objective}, {recipe.tie}")
@pytest.mark.slow
def test_a_fork_of_a_larger_training(recipe: Recipe) -> None:
    """Arrays grow, checkpoints are taken up, and one token has several spellings as a pair."""
    if not engines.available():
        pytest.skip("there are no kernels")
    chance = random.Random(5)
    known = {"".join(chance.choices("aabcdeé", k=chance.randint(1, 9))) for _ in range(700)}
    words = Words(tuple(sorted(known)), tuple(chance.randint(1, 60) for _ in known))
    found = []
    with surroundings(None, small=True):
        for compiled in (False, True):
            trainer = pair_trainer(Material.of(words, recipe), compiled=compiled)
            learn.jump(trainer, 240)
            made = merge_steps(trainer)
            changes = [WhatIf(101, LEAVE_OUT), WhatIf(150, FORBID, (made[170].token,))]
            changes += [WhatIf(number, FORCE, (made[at].left, made[at].right))
                        for number, at in ((110, 200), (180, 230))]
            changes += [WhatIf(102, FORBID, (made[at].left, made[at].right)) for at in range(120, 160, 8)]
            fork = learn.what_if(trainer, changes)
            twig = learn.what_if(fork, [WhatIf(61, FORBID, (made[60].token,))])
            found.append([
                list(learn.steps(one)) for one in (fork, twig)
            ] + [facts_at(one, number) for one in (fork, twig, trainer) for number in (240, 110, 60, 180)])
        assert [fork.traits.engine, twig.traits.engine] == [COMPILED, COMPILED]
    assert found[0] == found[1]
    assert not engines.failed


def facts_at(trainer: Trainer, number: int) -> dict[str, Any]:
    """Go to a step and return what the training says about it."""
    learn.jump(trainer, number)
    return facts(trainer)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_fork_without_changes_keeps_the_limits(engine: str) -> None:
    """A training that goes on in plain Python after a kernel failed is such a fork."""
    words = Words(("aa", "aaa", "b"), (1, 1, 3))
    recipe = Recipe(split="whitespace", unit="byte", base="gpt2-bytes", tie="first-seen", unknown="never")
    trainer = pair_trainer(Material.of(words, recipe), compiled=engine == COMPILED)
    for stops, last in ((Stops(max_length=2), 1), (Stops(), 2)):
        trainer.advance(0, stops)
        fork = trainer.fork(0, ())
        learn.jump(fork, 99)
        assert fork.number == last


@pytest.mark.slow
@pytest.mark.parametrize("stops", [Stops(max_length=3), Stops(min_count=3), Stops(max_length=2, min_count=2)])
@pytest.mark.parametrize("name", PRESETS)
def test_each_training_keeps_its_limits_in_a_fork(name: str, stops: Stops) -> None:
    chosen = PRESETS[name]
    trainer = learn.start(tokentui.read("sample:sailor"), chosen.recipe, chosen.run)
    trainer.advance(0, stops)
    fork = trainer.fork(0, ())
    shown = []
    for one in (trainer, fork):
        learn.jump(one, 40)
        shown.append([(one.size_at(n), one.tokens_at(n)) for n in range(one.number + 1)])
    assert shown[0] == shown[1]
