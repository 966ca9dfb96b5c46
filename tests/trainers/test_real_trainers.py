"""The laws of a trainer, on the trainers of the package: each objective, plain and with kernels, and the replay of a file."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest

from tokentui.axes import preset
from tokentui.core import jit
from tokentui.learn import start, walk
from tokentui.learn.objectives import OBJECTIVES
from tokentui.learn.trainer import PLAIN, Made, Size, Tokens, Trainer
from tokentui.learn.values import Query, Stop, WhatIf, Word
from tokentui.recipe import Recipe, Stops
from tokentui.text.corpus import Corpus

TEXT = "the crowd in the street, low lower lowest newest widest aaaa aaa the low crowd " * 3
COUNTED = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")
RECIPES = {
    "count": COUNTED, "gpt2": preset("gpt2"), "score": COUNTED.with_axes(objective="score", mark="prefix:##"),
    "gage": preset("gage"), "unigram": preset("t5"),
}
MERGES = [name for name in RECIPES if name != "unigram"]
NONE = Stops()


@pytest.fixture(params=["plain", "compiled"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "compiled":
        request.getfixturevalue("loaded")
    monkeypatch.setenv(jit.ENGINE, request.param)
    return str(request.param)


def started(name: str) -> Trainer:
    return start(Corpus.from_text(TEXT, "a text"), RECIPES[name])


def digest(trainer: Trainer) -> object:
    """All that can be asked at a step; lives are those of all words."""
    words = trainer.words.words
    why = trainer.why(trainer.number + 1, trainer.limits)
    return (
        trainer.number, trainer.tokens_at(trainer.number), trainer.size_at(trainer.number), trainer.candidates(Query(rows=50)),
        [list(trainer.segment(Word(word))) for word in words], trainer.changed().words, why.best, why.tied, why.replaced,
        [trainer.entries(Query(rows=500, order=order)) for order in trainer.traits.orders],
        [list(trainer.life(word)) for word in words],
    )


@pytest.mark.parametrize("name", RECIPES)
def test_forward_back_and_forward_is_forward(name: str, engine: str) -> None:
    trainer, straight = started(name), started(name)
    for number in (3, 1, 5, 0, 4):
        reached = walk.jump(trainer, number)
        fresh = straight if reached == straight.number else started(name)
        walk.jump(fresh, reached)
        assert digest(trainer) == digest(fresh)


@pytest.mark.parametrize("name", MERGES)
def test_words_live_as_the_corpus_is_segmented(name: str, engine: str) -> None:
    trainer = started(name)
    pieces = trainer.tokenizer().vocabulary.pieces
    for number in (0, 2, 7):
        walk.jump(trainer, number)
        for at, word in enumerate(trainer.words.words):
            spans = trainer.segment(Word(word))
            assert trainer.life(word)[-1].pieces == tuple(pieces[span.symbol] for span in spans)
            assert all(one.end == other.start for one, other in pairwise(spans))
            if number:
                assert (trainer.life(word)[-1].number == number) == (at in trainer.changed().words)


@pytest.mark.parametrize("name", MERGES)
def test_a_step_takes_the_first_candidate_and_goals_are_found(name: str, engine: str) -> None:
    trainer = started(name)
    for number in range(1, 9):
        best = trainer.candidates(Query(rows=1)).rows[0]
        assert trainer.why(number, trainer.limits).best == best
        step = walk.step(trainer)
        assert step is not None
        assert step.chosen is not None
        assert (step.chosen.parts, step.worth) == (best.parts, best.worth)
        assert trainer.find(Made(frozenset({step.chosen.token}))) is not None
    assert trainer.find(Tokens(trainer.tokens_at(5))) == 5
    assert trainer.find(Size(trainer.size_at(4)), after=2) == (4 if name != "gage" else 3)
    assert trainer.find(Size(10**6)) is None


@pytest.mark.parametrize("name", MERGES)
def test_a_fork_under_what_ifs(name: str, engine: str) -> None:
    trainer = started(name)
    walk.jump(trainer, 3)
    before, rows = digest(trainer), trainer.candidates(Query(rows=2)).rows
    forbidden = trainer.fork(3, (WhatIf("forbid", rows[0].parts, 3),))
    assert forbidden.advance(8, NONE, math.inf) is Stop.MERGES
    assert forbidden.traits.engine == PLAIN
    taken = [step.chosen.parts for step in walk.steps(forbidden) if step.chosen]
    assert rows[0].parts not in taken[3:]
    assert taken[:3] == [step.chosen.parts for step in walk.steps(trainer) if step.chosen]
    forced = trainer.fork(3, (WhatIf("force", rows[1].parts, 3),))
    step = walk.step(forced)
    assert step is not None
    assert step.chosen is not None
    assert step.chosen.parts == rows[1].parts
    walk.jump(forbidden, 0)
    walk.jump(forbidden, 8)
    assert [step.chosen.parts for step in walk.steps(forbidden) if step.chosen] == taken
    assert digest(trainer) == before


def pmi(count: int, left: int, right: int) -> Fraction:
    """c(xy)² / (c(x)·c(y))."""
    return Fraction(count * count, left * right)


def test_an_objective_of_another_value_is_one_entry(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A naive recount judges: at each step the best pair is the one of the greatest value, ties by the first in the corpus."""
    columns = "count", "left uses", "right uses", "value"
    record = replace(OBJECTIVES["count"], name="pmi", label="pmi", task="", value=pmi, columns=columns)
    monkeypatch.setitem(OBJECTIVES, "pmi", record)
    trainer = start(Corpus.from_text(TEXT, "a text"), COUNTED.with_axes(objective="pmi"))
    assert trainer.traits.engine == PLAIN
    assert [column.name for column in trainer.traits.columns] == list(columns)
    while (best := trainer.candidates(Query(rows=1)).rows) and trainer.number < 25:
        pairs: Counter[tuple[int, int]] = Counter()
        uses: Counter[int] = Counter()
        for word, times in zip(trainer.words.words, trainer.words.counts, strict=True):
            symbols = [span.symbol for span in trainer.segment(Word(word))]
            uses.update({symbol: times * n for symbol, n in Counter(symbols).items()})
            for pair in pairwise(symbols):
                pairs[pair] += times
        values = {pair: pmi(count, uses[pair[0]], uses[pair[1]]) for pair, count in pairs.items()}
        greatest = max(values.values())
        assert best[0].key == next(pair for pair in pairs if values[pair] == greatest)
        assert best[0].worth == greatest
        step = walk.step(trainer)
        assert step is not None
        assert step.tied == sum(value == greatest for value in values.values())
