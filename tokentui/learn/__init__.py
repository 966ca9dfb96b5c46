"""Learning a vocabulary: `start` makes the trainer of a recipe, which `trainer.Trainer` describes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tokentui.core.jobs import silent
from tokentui.learn.objectives import OBJECTIVES, Material
from tokentui.recipe import Recipe, Run

if TYPE_CHECKING:  # the tables of this room are imported where nothing is trained
    from tokentui.learn.trainer import Trainer
    from tokentui.text.corpus import Corpus
    from tokentui.text.count import Words


def start(corpus: Corpus, recipe: Recipe, run: Run | None = None) -> Trainer:
    """Start a training: count the corpus and lay it out, at step 0.

    Args:
        corpus: The corpus.
        recipe: The recipe.
        run: The first id and the special tokens; of its stops the size that a training which prunes goes to.

    Raises:
        TokentuiError: The recipe's pattern takes too long on this corpus.
    """
    from tokentui.text.count import count

    words = count(corpus, recipe)
    with silent():
        return start_counted(words, recipe, run, corpus.documents if corpus.counts is None else None)


def start_counted(
    words: Words, recipe: Recipe, run: Run | None = None, documents: Sequence[str] | None = None
) -> Trainer:
    """Start a training on pre-tokens that are counted already.

    Args:
        words: The counted pre-tokens.
        recipe: The recipe.
        run: The first id and the special tokens; of its stops the size that a training which prunes goes to.
        documents: The documents that the words come from, for an objective that reads them too.
    """
    return OBJECTIVES.of(recipe.objective).trainer(Material(words, recipe, run or Run(), documents))
