"""Learning a vocabulary: one module an objective, all with the same face (start, step, back, candidates, why)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tokentui.errors import TokentuiError
from tokentui.learn.base import Cancel, Candidate, Progress, Step, Stops, Why
from tokentui.learn.pairs import PairTrainer
from tokentui.presets import BUILT
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words, count

__all__ = ["OBJECTIVES", "Candidate", "PairTrainer", "Step", "Stops", "Why", "start", "start_counted"]

OBJECTIVES: dict[str, Callable[..., PairTrainer]] = {"count": PairTrainer}
"""The trainer of each objective."""


def check_trainable(recipe: Recipe) -> None:
    """Refuse a recipe whose objective is not built.

    Raises:
        TokentuiError: It says so in one line.
    """
    if recipe.objective not in OBJECTIVES:
        raise TokentuiError(
            "this objective is coming; it cannot be trained yet", f"objective={recipe.objective}", f"take objective={BUILT[0]}"
        )


def start(
    corpus: Corpus,
    recipe: Recipe,
    *,
    first_id: int = 0,
    specials: Sequence[str] = (),
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> PairTrainer:
    """Start a training: count the corpus and lay it out, at step 0.

    Args:
        corpus: What to train on.
        recipe: How.
        first_id: The first id given.
        specials: Special tokens, which take the first ids in this order.
        progress: Told (done, total) while the corpus is counted, in characters.
        cancel: Asked meanwhile; true raises `Cancelled`.

    Raises:
        TokentuiError: The recipe's objective is not built, or its pattern takes too long on this corpus.
    """
    check_trainable(recipe)
    words = count(corpus, recipe, progress=progress, cancel=cancel)
    return start_counted(words, recipe, first_id=first_id, specials=specials, cancel=cancel)


def start_counted(
    words: Words, recipe: Recipe, *, first_id: int = 0, specials: Sequence[str] = (), cancel: Cancel | None = None
) -> PairTrainer:
    """Start a training on pre-tokens that are counted already."""
    check_trainable(recipe)
    return OBJECTIVES[recipe.objective](words, recipe, first_id=first_id, specials=specials, cancel=cancel)
