"""Trainers as tests want them: of a kind that is known."""

from __future__ import annotations

from typing import Any

from tokentui import learn
from tokentui.learn import MergeStep, Query, Why
from tokentui.learn import trainer as face
from tokentui.learn.gage import GageTrainer
from tokentui.learn.pairs import PairTrainer
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus


def merge_steps(trainer: face.Trainer, first: int = 1) -> list[MergeStep]:
    """The computed steps from this one on, which are merges."""
    return [step for step in learn.steps(trainer, first) if isinstance(step, MergeStep)]


def best(trainer: face.Trainer, rows: int = 100, top: int = 0) -> list[Any]:
    """The best candidates, those before `top` left out; none where there are not so many."""
    page = trainer.candidates(Query(top, rows))
    return list(page.rows) if page.top == top else []


def why(trainer: face.Trainer, stops: Stops | None = None) -> Why:
    """The reasons of the step to come."""
    return trainer.why(trainer.limits if stops is None else stops)


def start(corpus: Corpus, recipe: Recipe, run: Run | None = None) -> PairTrainer:
    """A training whose steps are merges."""
    trainer = learn.start(corpus, recipe, run)
    assert isinstance(trainer, PairTrainer)
    return trainer


def cells(trainer: PairTrainer) -> Any:
    """The engine of a training by merges, plain or compiled."""
    return trainer.engine


def words_of(trainer: PairTrainer) -> list[list[int]]:
    """The symbols of each word of the corpus now."""
    return [
        [span.symbol for span in trainer.engine.word(n, 0, None)] for n in range(len(trainer.words.counts))
    ]


def lists(trainer: PairTrainer) -> dict[str, Any]:
    """All lists of a plain engine."""
    return {name: one for name, one in vars(trainer.engine).items() if isinstance(one, list)}


def merge_at(trainer: PairTrainer, number: int) -> MergeStep:
    """A step, which is a merge."""
    step = trainer.step_at(number)
    assert isinstance(step, MergeStep)
    return step


def gage(trainer: face.Trainer) -> GageTrainer:
    """The trainer of a compression."""
    assert isinstance(trainer, GageTrainer)
    return trainer
