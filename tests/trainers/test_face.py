"""The laws of a trainer by its face alone, on every trainer of the package and with every engine."""

from __future__ import annotations

import doctest
import importlib
import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui.axes import preset
from tokentui.core import jit
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn import start_counted, walk
from tokentui.learn.replay import ReplayTrainer
from tokentui.learn.trainer import Made, Size, Tokens, Trainer
from tokentui.learn.values import Query, Stop, Word
from tokentui.recipe import Run, Stops
from tokentui.text.count import Words

NONE = Stops()
TEXT = "low low low low low lower lower newest newest newest widest widest widest lowest new wide low"
COUNTS = {word: TEXT.split().count(word) for word in dict.fromkeys(TEXT.split())}
WORDS = Words(tuple(COUNTS), tuple(COUNTS.values()))
RECIPES = {
    "count": preset("gpt2").with_axes(split="whitespace", unit="char", base="sorted", unknown="per-unit"),
    "score": preset("wordpiece").with_axes(normalize=()),
    "unigram": preset("sentencepiece-unigram").with_axes(normalize=(), split="whitespace", pieces="any").shaped(coverage=1),
}


def trained(name: str, engine: str) -> Trainer:
    """A training on the words, at step 0."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(jit.ENGINE, engine)
        return start_counted(WORDS, RECIPES[name], Run(Stops(vocab_size=14 if name == "unigram" else None)))


def file(name: str) -> Tokenizer:
    """The tokenizer at the end of a training."""
    trainer = trained(name, "plain")
    trainer.advance(None, NONE, math.inf)
    return trainer.tokenizer()


TRAINERS: dict[str, Callable[[], Trainer]] = {
    **{f"{name}, {engine}": (lambda n=name, e=engine: trained(n, e))  # type: ignore[misc]
       for name in RECIPES for engine in ("plain", "compiled")},
    **{f"replay of {name}": (lambda n=name: ReplayTrainer(file(n), WORDS)) for name in RECIPES},  # type: ignore[misc]
}


@pytest.fixture(params=TRAINERS)
def make(request: pytest.FixtureRequest) -> Callable[[], Trainer]:
    """A new trainer at step 0."""
    if "compiled" in request.param:
        request.getfixturevalue("loaded")
    return TRAINERS[request.param]


def digest(trainer: Trainer) -> object:
    """All that can be asked at a step."""
    traits, number = trainer.traits, trainer.number
    changed = trainer.changed()
    differs = changed.differs or (lambda word: WORDS.words.index(word) in changed.words)
    tokenizer = trainer.tokenizer()
    return (
        number, trainer.tokens_at(number), trainer.size_at(number), repr(trainer.candidates(Query(rows=9))),
        [trainer.entries(Query(order=order)) for order in traits.orders], [trainer.segment(Word(word)) for word in COUNTS],
        [differs(word) for word in COUNTS], [trainer.life(word) for word in COUNTS], tokenizer.encode(TEXT),
        {symbol: uses for symbol, uses in enumerate(trainer.uses) if uses},
        list(walk.steps(trainer)),
    )


def test_a_step_is_the_same_however_one_comes_to_it(make: Callable[[], Trainer]) -> None:
    trainer = make()

    @settings(max_examples=6)
    @given(st.lists(st.integers(0, 9), min_size=1, max_size=3))
    def holds(places: list[int]) -> None:
        for number in places:
            ended = trainer.advance(number, NONE, math.inf)
        straight = make()
        assert straight.advance(places[-1], NONE, math.inf) == ended
        assert digest(trainer) == digest(straight)

    holds()


def test_words_tokens_and_lives_agree(make: Callable[[], Trainer]) -> None:
    """The segmentation of the words is that of the tokenizer of the step; what changed is told, and stands in the lives."""
    trainer = make()
    while True:
        tokenizer, number = trainer.tokenizer(), trainer.number
        changed = trainer.changed()
        differs = changed.differs or (lambda word, changed=changed: WORDS.words.index(word) in changed.words)  # type: ignore[misc]
        total = 0
        for word, count in COUNTS.items():
            spans, lives = trainer.segment(Word(word)), trainer.life(word)
            pieces = [b"" if span.symbol < 0 else tokenizer.vocabulary.pieces[span.symbol] for span in spans]
            assert list(lives[-1].pieces) == pieces
            assert [one.number for one in lives] == sorted({one.number for one in lives})
            assert differs(word) == (number > 0 and lives[-1].number == number)
            total += len(spans) * count
        assert trainer.tokens_at(number) == total
        assert trainer.size_at(number) == tokenizer.vocab_size == trainer.entries(Query(order="id")).total
        assert trainer.tokenizer(0).encode(TEXT) == make().tokenizer().encode(TEXT)
        if trainer.advance(number + 1, NONE, math.inf) is not Stop.MERGES or number == 12:
            break


def test_goals_are_found_among_the_steps(make: Callable[[], Trainer]) -> None:
    trainer = make()
    trainer.advance(6, NONE, math.inf)
    sign = -1 if trainer.traits.shrinks else 1
    for number in range(trainer.number + 1):
        found = trainer.find(Size(trainer.size_at(number)))
        assert found is not None
        assert found <= number
        assert sign * trainer.size_at(found) >= sign * trainer.size_at(number)
        shorter = trainer.find(Tokens(trainer.tokens_at(number)))
        assert shorter is not None
        assert sign * trainer.tokens_at(shorter) <= sign * trainer.tokens_at(number)
    assert trainer.find(Made(frozenset({b"never"}))) is None


def test_the_step_to_come_is_the_first_candidate(make: Callable[[], Trainer]) -> None:
    trainer = make()
    for _ in range(5):
        best, page = trainer.why(trainer.number + 1, NONE).best, trainer.candidates(Query(rows=1))
        if best is None:
            break
        assert (best.token, best.parts) == (page.rows[0].token, page.rows[0].parts)
        assert len(best.values) == len(trainer.traits.columns)
        step = walk.step(trainer)
        assert step is not None
        assert step.chosen is not None
        assert step.chosen.token == best.token


def test_a_fork_goes_on_alone(make: Callable[[], Trainer]) -> None:
    trainer = make()
    trainer.advance(4, NONE, math.inf)
    before = digest(trainer)
    fork = trainer.fork(2, ())
    straight = make()
    straight.advance(2, NONE, math.inf)
    assert digest(fork) == digest(straight)
    fork.advance(6, NONE, math.inf)
    straight.advance(6, NONE, math.inf)
    assert digest(fork) == digest(straight)
    assert digest(trainer) == before


@pytest.mark.parametrize("name", ["learn.unigram", "learn.replay", "learn.kernels.unigram_passes", "encode.parents"])
def test_examples_are_true(name: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(jit.ENGINE, "plain")
        results = doctest.testmod(importlib.import_module(f"tokentui.{name}"))
    assert results.attempted
    assert not results.failed
