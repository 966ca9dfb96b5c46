"""Trainers as tests want them: of a kind that is known."""

from __future__ import annotations

from typing import Any

from tokentui import learn
from tokentui.axes import preset
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn import Compressed, MergeStep, Query, Trainer, Why, Word
from tokentui.recipe import Recipe, Run, Stops
from tokentui.session.training.training import prepare_tokenizer
from tokentui.text.corpus import Corpus


def merge_steps(trainer: Trainer, first: int = 1) -> list[MergeStep]:
    """The computed steps from this one on, which are merges."""
    return [step for step in learn.steps(trainer, first) if isinstance(step, MergeStep)]


def best(trainer: Trainer, rows: int = 100, top: int = 0) -> list[Any]:
    """The best candidates, those before `top` left out; none where there are not so many."""
    page = learn.candidates(trainer, Query(top, rows))
    return list(page.rows) if page.top == top else []


def why(trainer: Trainer, stops: Stops | None = None) -> Why:
    """The reasons of the step to come."""
    return learn.why(trainer, trainer.limits if stops is None else stops)


def start(corpus: Corpus, recipe: Recipe, run: Run | None = None) -> Trainer:
    """A training whose steps are merges."""
    trainer = learn.start(corpus, recipe, run)
    assert trainer.traits.step == "merge"
    return trainer


def replay(tokenizer: Tokenizer) -> Trainer:
    """The replay of the tokens of a tokenizer, at step 0, as an opened file has it."""
    return prepare_tokenizer(Corpus.from_text(""), tokenizer, Run()).trainer


def trainer_class(name: str) -> Any:
    """The class of the trainings of a preset, for a test that replaces one of its methods."""
    return type(learn.start(Corpus.from_text("low"), preset(name)))


def cells(trainer: Trainer) -> Any:
    """The engine of a training by merges, plain or compiled."""
    return vars(trainer)["engine"]


def forget(trainer: Any) -> None:
    """Let a training forget the steps past the present one, as it does under other limits."""
    trainer.forget()


def words_of(trainer: Trainer) -> list[list[int]]:
    """The symbols of each word of the corpus now."""
    return [[span.symbol for span in trainer.segment(Word(word))] for word in trainer.words.words]


def lists(trainer: Trainer) -> dict[str, Any]:
    """All lists of a plain engine."""
    return {name: one for name, one in vars(cells(trainer)).items() if isinstance(one, list)}


def merge_at(trainer: Trainer, number: int) -> MergeStep:
    """A step, which is a merge."""
    step = trainer.step_at(number)
    assert isinstance(step, MergeStep)
    return step


def compressed(trainer: Trainer, start: int = 0, length: int = 4000) -> Compressed:
    """Return bytes of the compressed text at the present step, from a byte on."""
    compression = learn.compression_of(trainer)
    assert compression is not None
    return compression.compressed(start, length)
