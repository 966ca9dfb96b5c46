"""Trainers as tests want them: of a kind that is known."""

from __future__ import annotations

from typing import Any

from tokentui import learn
from tokentui.learn import PairTrainer
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus


def start(corpus: Corpus, recipe: Recipe, **more: Any) -> PairTrainer:
    """A training whose steps are merges."""
    trainer = learn.start(corpus, recipe, **more)
    assert isinstance(trainer, PairTrainer)
    return trainer
