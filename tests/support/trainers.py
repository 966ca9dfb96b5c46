"""Trainers as tests want them: of a kind that is known."""

from __future__ import annotations

from typing import Any

from tokentui import learn
from tokentui.core.jit import PLAIN
from tokentui.learn import trainer as face
from tokentui.learn import walk
from tokentui.learn.gage import GageTrainer
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.rows import Query, Why
from tokentui.learn.stepped import SteppedTrainer
from tokentui.learn.values import MergeStep
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus


def merge_steps(trainer: face.Trainer, first: int = 1) -> list[MergeStep]:
    """The computed steps from this one on, which are merges."""
    return [step for step in walk.steps(trainer, first) if isinstance(step, MergeStep)]


def best(trainer: face.Trainer, rows: int = 100, top: int = 0) -> list[Any]:
    """The best candidates, those before `top` left out; none where there are not so many."""
    page = trainer.candidates(Query(top, rows))
    return list(page.rows) if page.top == top else []


def why(trainer: face.Trainer, stops: Stops | None = None) -> Why:
    """The reasons of the step to come."""
    return trainer.why(trainer.number + 1, trainer.limits if stops is None else stops)


def start(corpus: Corpus, recipe: Recipe, run: Run | None = None) -> SteppedTrainer:
    """A training whose steps are merges."""
    trainer = learn.start(corpus, recipe, run)
    assert isinstance(trainer, SteppedTrainer)
    return trainer


def cells(trainer: SteppedTrainer) -> Any:
    """The cells of a training by merges, plain or compiled."""
    assert isinstance(trainer, PairTrainer)
    engine: Any = trainer.engine
    return engine.cells if engine.engine == PLAIN else engine


def merge_at(trainer: SteppedTrainer, number: int) -> MergeStep:
    """A step, which is a merge."""
    step = trainer.step_at(number)
    assert isinstance(step, MergeStep)
    return step


def gage(trainer: face.Trainer) -> GageTrainer:
    """The trainer of a compression."""
    assert isinstance(trainer, GageTrainer)
    return trainer
