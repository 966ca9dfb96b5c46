"""Where a run ends: said only as far as it is known, at every step, forward and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sessions import tell
from trainers import cells

from tokentui import learn
from tokentui.axes import preset
from tokentui.core import engines
from tokentui.learn import Trainer, start
from tokentui.recipe import Ending, Run, Stops
from tokentui.session import commands as do
from tokentui.session.engine.state import State
from tokentui.session.training.training import empty_training, prepare
from tokentui.text.corpus import Corpus
from tokentui.text.read import read
from tokentui.ui.dialogs.ask import Place, destination
from tokentui.ui.draw.figures import number, place_of

RECIPES = ["gpt2", "wordpiece", "gage", "sentencepiece-unigram", "sentencepiece-bpe"]
STOPS = [
    Stops(), Stops(merges=5), Stops(merges=10**6), Stops(vocab_size=400), Stops(min_count=4),
    Stops(3, 10**6, 3),
]


def ran(trainer: Trainer, stops: Stops) -> int:
    """The step that a run under these stops ends at."""
    learn.run(trainer, stops)
    return trainer.number


@pytest.mark.parametrize("stops", STOPS, ids=str)
@pytest.mark.parametrize("recipe", RECIPES)
def test_the_predicted_end_is_reached(recipe: str, stops: Stops) -> None:
    corpus = read("sample:sailor")
    end = ran(start(corpus, preset(recipe)), stops)
    trainer = start(corpus, preset(recipe))
    trainer.advance(trainer.number, stops)
    said: list[Ending] = []
    for step in range(end + 1):
        while trainer.advance(step, stops.only(trainer.traits.shaped_by)) is None:
            pass
        said.append(trainer.ending(stops))
    assert trainer.number == end
    for ending in said:
        match ending.kind:
            case "last" | "stop":
                assert ending.step == end
            case "at most":
                assert ending.step is not None
                assert ending.step >= end
            case "open":
                assert ending.step is None
            case kind:
                assert (kind, recipe) == ("about", "sentencepiece-unigram")
    assert said[-1].exact
    for step in (end // 2, 0, end):  # what is known stays known, wherever one stands
        learn.jump(trainer, step)
        assert trainer.ending(stops) == said[-1]
    further = start(corpus, preset(recipe))
    further.advance(further.number, stops.only(trainer.traits.shaped_by))
    learn.jump(further, end)
    goes_on = further.end(stops.only(trainer.traits.shaped_by)) is None
    assert (said[-1].kind == "last") == (not goes_on)


class Asked(list[int]):
    """Counts that say how often they are asked for one."""

    times = 0

    def __getitem__(self, place: Any) -> Any:
        self.times += 1
        return super().__getitem__(place)


def test_each_computed_step_is_examined_once_for_a_least_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(engines.VARIABLE, "off")
    trainer = start(read("sample:sailor"), preset("gpt2"))
    stops = Stops(min_count=2)
    learn.run(trainer, stops)
    end = trainer.ending(stops)
    vocabulary: Any = cells(trainer).vocabulary
    vocabulary.counts = counts = Asked(vocabulary.counts)
    for step in (0, 1, end.step, trainer.computed // 2):
        assert step is not None
        learn.jump(trainer, step)
        counts.times = 0
        assert trainer.ending(stops) == end
        assert (trainer.end(stops) is None) == (step != end.step)
        assert counts.times <= 1
    learn.jump(trainer, trainer.computed + 20)  # rare pairs
    for least in (3, 2):
        rare = [at for at, count in enumerate(vocabulary.counts) if count < least]
        learn.jump(trainer, 0)
        learn.run(trainer, Stops(min_count=least))
        assert trainer.number == rare[0]
        assert trainer.ending(Stops(min_count=least)) == Ending(rare[0], "stop")


def test_other_limits_forget_the_end() -> None:
    trainer = start(read("sample:sailor"), preset("gpt2"))
    learn.run(trainer, Stops(max_length=2))
    assert trainer.ending(Stops(max_length=2)) == Ending(trainer.number, "last")
    trainer.advance(trainer.number, Stops())
    assert trainer.ending(Stops()) == Ending()


def shown(it: State) -> str:
    """The place in the run as the last rule of the screen tells it."""
    now = it.snapshot()
    return (
        f"step {number(now.main.at.step)}{place_of(now.main.at.step, now.main.at.computed, now.main.at.end)}"
    )


def told(it: State, command: do.Command[object]) -> str:
    tell(it, command)
    return shown(it)


@pytest.mark.parametrize(
    ("recipe", "run", "first"),
    [
        ("gpt2", {}, "step 0"),
        ("gpt2", {"vocab_size": 30_000}, "step 0 of at most 29,744"),
        ("wordpiece", {}, "step 0"),
        ("gage", {}, "step 0"),
        ("sentencepiece-unigram", {"vocab_size": 100}, "step 0 of about "),
    ],
)
def test_the_screen_shows_the_known_end(recipe: str, run: dict[str, Any], first: str) -> None:
    corpus = read("sample:sailor")
    it = State(prepare(corpus, preset(recipe), Run.of(run)))
    assert shown(it).startswith(first)
    assert shown(it) == first or recipe == "sentencepiece-unigram"
    assert "+" not in told(it, do.Move(2))
    assert told(it, do.GoTo(None)).endswith(", the last")
    end = it.snapshot().main.at.step
    assert it.snapshot().main.curve.end == end
    assert told(it, do.Move(-1)) == f"step {end - 1:,} of {end:,}"
    assert told(it, do.GoTo(0)) == f"step 0 of {end:,}"
    assert destination("50%", Place(0, end, it.snapshot().main.at.end)) == do.GoTo(end // 2)


def test_past_a_stop() -> None:
    corpus = read("sample:sailor")
    it = State(prepare(corpus, preset("gpt2"), Run.of({"merges": 4})))
    assert shown(it) == "step 0 of at most 4"
    assert told(it, do.GoTo(None)) == "step 4 of 4"
    assert told(it, do.Move(2)) == "step 6, past the stop at 4"


def test_the_end_of_a_part_of_the_corpus_is_not_the_end() -> None:
    corpus = Corpus.from_text("a")
    prepared = prepare(corpus, preset("gpt2"), Run())
    assert shown(State(prepared)) == "step 0, the last"
    assert shown(State(replace(prepared, partial=True))) == "step 0"
    assert shown(State(empty_training(preset("gpt2")))) == "step 0"
