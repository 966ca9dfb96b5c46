"""What a training holds is counted: it grows with the corpus and the history, and is the same wherever one
stands."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import pytest
from trainers import forget, lists, start

from tokentui import learn
from tokentui.axes import preset
from tokentui.core import engines
from tokentui.learn import Query
from tokentui.preset_table import PRESETS
from tokentui.recipe import Stops
from tokentui.session.engine.state import State
from tokentui.session.training.training import empty_training
from tokentui.text.corpus import Corpus

TEXT = "".join(f"{'abcdefgh'[n % 8]}{n} the crowd in the street, " for n in range(3000))


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_memory_grows_with_steps_and_is_the_same_after_going_back(
    engine: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if engine == "compiled":
        request.getfixturevalue("loaded")
    monkeypatch.setenv(engines.VARIABLE, "off" if engine == "plain" else "on")
    small, trainer = (start(Corpus.from_text(text), preset("gpt2")) for text in (TEXT[:2000], TEXT))
    laid_out = trainer.memory()
    assert laid_out > 1.2 * small.memory() > 0
    learn.run(trainer, Stops(merges=100))
    at_the_end = trainer.memory()
    assert at_the_end > laid_out
    learn.jump(trainer, 50)
    learn.jump(trainer, 100)
    assert trainer.memory() == at_the_end


def test_of_plain_lists_every_number_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(engines.VARIABLE, "off")
    trainer = start(Corpus.from_text(TEXT), preset("gpt2"))
    for merges in (0, 40, 7, 60):
        learn.jump(trainer, merges)
        flat = lists(trainer)
        made, places = flat.pop("_made"), flat["_places"]
        assert trainer.memory() == 8 * (sum(map(len, (*flat.values(), *places))) + 8 * len(made))


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_a_vocabulary_that_is_forgotten_is_held_nowhere(
    engine: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest,
    collect: Callable[[], object],
) -> None:
    if engine == "compiled":
        request.getfixturevalue("loaded")
    monkeypatch.setenv(engines.VARIABLE, "off" if engine == "plain" else "on")
    trainer = start(Corpus.from_text(TEXT[:2000]), preset("gpt2"))
    forgotten = []
    for _ in range(3):
        learn.jump(trainer, 20)
        assert learn.candidates(trainer, Query())
        assert learn.entries(trainer, Query())
        assert trainer.taken(20)
        forgotten.append(weakref.ref(trainer.tokenizer().vocabulary))
        learn.jump(trainer, 10)
        forget(trainer)
    collect()
    assert [one() for one in forgotten] == [None] * 3


def test_going_back_and_forward_again_gives_the_same_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs are asked for in between, under a stop that bars some of them."""
    monkeypatch.setenv(engines.VARIABLE, "off")
    fresh, trainer = (start(Corpus.from_text(TEXT[:2000]), preset("gpt2")) for _ in range(2))
    stops = Stops(max_length=3)
    for one in (fresh, trainer):
        one.advance(0, stops)
    for merges in (10, 2, 25, 0, 40):
        learn.jump(trainer, merges)
        assert learn.candidates(trainer, Query()).rows
    learn.jump(fresh, 40)
    assert trainer.tokenizer().vocabulary.merges == fresh.tokenizer().vocabulary.merges
    assert learn.candidates(trainer, Query()) == learn.candidates(fresh, Query())


def test_a_snapshot_says_it() -> None:
    assert State(empty_training(preset("gpt2"))).snapshot().main.at.memory > 0


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize("engine", ["on", "off"])
@pytest.mark.parametrize("name", PRESETS)
def test_a_training_is_freed_with_its_last_name(
    name: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reference cycle would keep its memory from the next training until the garbage collector runs."""
    monkeypatch.setenv(engines.VARIABLE, engine)
    gc.disable()
    try:
        trainer = learn.start(Corpus.from_text(TEXT[:500]), PRESETS[name].recipe)
        learn.run(trainer, Stops(merges=5))
        learn.candidates(trainer, Query())
        trainer.tokenizer()
        freed = weakref.ref(trainer)
        del trainer
        assert freed() is None
    finally:
        gc.enable()
