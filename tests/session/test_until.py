"""A run that is told to stop: at a token, a size or a compression, as a loop over all steps finds it."""

from __future__ import annotations

from typing import Any

import pytest

from tokentui import learn
from tokentui.axes import preset
from tokentui.core.errors import TokentuiError
from tokentui.learn import jump
from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.engine.state import State
from tokentui.session.training.training import prepare
from tokentui.text.read import read
from tokentui.ui.dialogs.ask import until

CORPUS = read("sample:english")
RUNS = {"gpt2": Run.of({"merges": 20}), "wordpiece": Run.of({"merges": 20}), "gage": Run.of({"merges": 20}),
    "sentencepiece-unigram": Run.of({"vocab_size": 300})}


def at(recipe: str, step: int = 0) -> State:
    it = State(prepare(CORPUS, preset(recipe), RUNS[recipe]))
    jump(it.main.trainer, step)
    it.sync.adopt_position(it.main)
    return it


def ran(it: State, command: do.RunUntil) -> tuple[Any, int]:
    """The answer, and the step where it stops."""
    answers: list[Any] = []
    do.perform(command, it, answers.append)
    while it.sync.has_work:
        it.sync.work(0.0, 0.002)
    assert len(answers) == 1
    return answers[0], it.main.trainer.number


def plain(recipe: str) -> tuple[list[int], list[int], list[set[bytes]]]:
    """The size, the tokens and what is made at each step, by a training that goes step by step."""
    trainer = learn.start(CORPUS, preset(recipe), RUNS[recipe])
    sizes, tokens, made = [], [], []
    while True:
        number = trainer.number
        sizes.append(trainer.size_at(number))
        tokens.append(trainer.tokens_at(number))
        taken = trainer.taken(number) if number else None
        made.append({taken.token, taken.spelled} if taken is not None else set())
        if trainer.end(RUNS[recipe].stops) is not None:
            return sizes, tokens, made
        jump(trainer, number + 1)


@pytest.mark.parametrize("recipe", list(RUNS))
@pytest.mark.parametrize("start", [0, 4])
@pytest.mark.first_run(cases=1)
def test_it_stops_at_the_first_step_that_meets_it(recipe: str, start: int) -> None:
    sizes, tokens, _ = plain(recipe)
    last, shrinks = len(sizes) - 1, preset(recipe).objective == "unigram"
    for size in {*sizes[start:], sizes[-1] + (-1 if shrinks else 1), sizes[0]}:
        met = [n for n in range(start, last + 1) if (sizes[n] <= size if shrinks else sizes[n] >= size)]
        assert ran(at(recipe, start), do.RunUntil(size=size)) == ((met[0], met[0]) if met else (None, last))
    for ratio in {*(CORPUS.size / one for one in tokens[start:]), 1.5, 50.0, 0.1}:
        held = [CORPUS.size / one for one in tokens]
        met = [n for n in range(start, last + 1) if (held[n] <= ratio if shrinks else held[n] >= ratio)]
        found = ran(at(recipe, start), do.RunUntil(compression=ratio))
        assert found == ((met[0], met[0]) if met else (None, last)), ratio


@pytest.mark.parametrize("start", [0, 4])
def test_it_stops_where_a_token_is_made(start: int) -> None:
    _, _, made = plain("gpt2")
    for step in range(start + 1, len(made), 7):
        token = next(iter(made[step])).decode()
        assert ran(at("gpt2", start), do.RunUntil(token)) == (step, step)
    assert ran(at("gpt2", start), do.RunUntil("zebra")) == (None, len(made) - 1)


def test_a_token_that_is_there_already_is_told() -> None:
    _, _, made = plain("gpt2")
    it = at("gpt2", 9)
    with pytest.raises(TokentuiError, match="step 3 already made this token"):
        do.perform(do.RunUntil(next(iter(made[3])).decode()), it, print)
    with pytest.raises(TokentuiError, match="from the start"):
        do.perform(do.RunUntil("t"), it, print)


@pytest.mark.parametrize(
    "command",
    [do.RunUntil(), do.RunUntil("a", 3), do.RunUntil(compression=0.0), do.RunUntil(compression=float("nan"))],
)
def test_what_is_no_condition_is_refused(command: do.RunUntil) -> None:
    with pytest.raises(TokentuiError):
        do.perform(command, at("gpt2"), print)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("", None), ("size 1000", do.RunUntil(size=1000)), ("1,000", do.RunUntil(size=1000)),
        ("3.2 bytes per token", do.RunUntil(compression=3.2)), ("3.2", do.RunUntil(compression=3.2)),
        ("3 B/token", do.RunUntil(compression=3.0)), ("token ·the", do.RunUntil("·the")),
        ("token  the", do.RunUntil(" the")), (" the", do.RunUntil(" the")), ('"100"', do.RunUntil("100")),
        ("token 7", do.RunUntil("7")),
    ],
)
def test_conditions_that_are_typed(line: str, wanted: do.RunUntil | None) -> None:
    assert until(line) == wanted


def test_the_step_with_a_space_in_front_is_found_without_going_there() -> None:
    state = at("gpt2", 60)
    _, _, made = plain("gpt2")
    spaced = next(token for tokens in made for token in tokens if token.startswith(b" ") and len(token) > 1)
    answers: list[Any] = []
    do.perform(do.StepWithSpace(spaced.decode()[1:]), state, answers.append)
    do.perform(do.StepWithSpace("zebra"), state, answers.append)
    assert answers == [next(number for number, tokens in enumerate(made) if spaced in tokens), None]
    assert state.main.trainer.number == 60
