"""A prepared corpus: a corpus with its recipe, its run and its trainer, ready to be stepped through."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import cast

from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn import start_counted
from tokentui.learn.trainer import Trainer
from tokentui.recipe import Recipe, Run
from tokentui.session.views import OpenedView
from tokentui.session.window import RunningText
from tokentui.text.corpus import Corpus
from tokentui.text.count import words_of


@dataclass(frozen=True, slots=True)
class Opened:
    """A tokenizer that was read from a file, and what is shown of it."""

    tokenizer: Tokenizer
    view: OpenedView


@dataclass(frozen=True, slots=True)
class Prepared:
    """A corpus laid out for a recipe, or for a tokenizer of a file, ready to be stepped through.

    Attributes:
        corpus: The corpus.
        recipe: What is trained, or what the file says.
        run: Its stops, and what its ids begin with.
        trainer: The training.
        text: The corpus as running text, made here where it is not given; normalizing it takes longer than a step.
        partial: Whether only a part of the corpus has been counted.
        opened: The tokenizer of a file, None where a recipe is trained.
        plain: Whether the kernels were not loaded when it was laid out.
    """

    corpus: Corpus
    recipe: Recipe
    run: Run
    trainer: Trainer
    text: RunningText = field(default=cast("RunningText", None))
    partial: bool = False
    opened: Opened | None = None
    plain: bool = False

    def __post_init__(self) -> None:
        if not hasattr(self.text, "view"):
            object.__setattr__(self, "text", RunningText(self.corpus, self.recipe))

    @property
    def key(self) -> tuple[object, ...]:
        """Everything that the steps of the trainer depend on."""
        file = self.opened and id(self.opened.tokenizer)
        return self.corpus.sha256, self.corpus.name, file, self.recipe, *self.shape(self.run)

    @property
    def nothing(self) -> bool:
        """True if no corpus is open."""
        return self.corpus is NOTHING

    def shape(self, run: Run) -> tuple[object, ...]:
        """Of a run the words that the steps of such a trainer depend on."""
        return run.stops.only(self.trainer.traits.shaped_by), run.first_id, run.specials


NOTHING = Corpus.from_text("", "nothing open")


def nothing(recipe: Recipe, run: Run | None = None) -> Prepared:
    """An empty corpus: what a session begins with."""
    return Prepared(NOTHING, recipe, run or Run(), start_counted(words_of(Counter()), recipe), RunningText(NOTHING, recipe))
