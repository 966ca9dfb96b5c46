"""Learning a vocabulary: one module an objective, all with the same face (start, step, back, candidates, why)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tokentui.learn.base import Cancel, Candidate, Progress, Step, Stops, Trainer, Why
from tokentui.learn.compiled import CompiledTrainer, is_chosen
from tokentui.learn.compiled_score import CompiledScoreTrainer
from tokentui.learn.gage import GageTrainer
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.score import ScoreTrainer
from tokentui.learn.unigram import UnigramTrainer
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words, count

__all__ = ["OBJECTIVES", "Candidate", "PairTrainer", "Step", "Stops", "Why", "start", "start_counted"]

OBJECTIVES: dict[str, Callable[..., Trainer]] = {
    "count": PairTrainer, "score": ScoreTrainer, "unigram": UnigramTrainer, "gage": GageTrainer,
}
"""The trainer of each objective."""

_COMPILED: dict[str, Callable[..., Trainer]] = {"count": CompiledTrainer, "score": CompiledScoreTrainer}
"""Those with kernels."""

_PRUNING = ("unigram",)
"""Objectives that begin with all there is, which they find in the documents, and go down to a size."""


def start(
    corpus: Corpus,
    recipe: Recipe,
    *,
    first_id: int = 0,
    specials: Sequence[str] = (),
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Trainer:
    """Start a training: count the corpus and lay it out, at step 0.

    Args:
        corpus: What to train on.
        recipe: How.
        first_id: The first id given.
        specials: Special tokens, which take the first ids in this order.
        progress: Told (done, total) while the corpus is counted, in characters.
        cancel: Asked meanwhile; true raises `Cancelled`.

    Raises:
        TokentuiError: The recipe's pattern takes too long on this corpus.
    """
    words = count(corpus, recipe, progress=progress, cancel=cancel)
    documents = corpus.documents if corpus.counts is None else None
    return start_counted(words, recipe, first_id=first_id, specials=specials, documents=documents, cancel=cancel)


def start_counted(
    words: Words,
    recipe: Recipe,
    *,
    first_id: int = 0,
    specials: Sequence[str] = (),
    documents: Sequence[str] | None = None,
    vocab_size: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Trainer:
    """Start a training on pre-tokens that are counted already.

    Args:
        words: The counted pre-tokens.
        recipe: How to train.
        first_id: The first id given.
        specials: Special tokens.
        documents: The documents that they come from, for an objective that looks at them too.
        vocab_size: The size that a training which prunes goes to, unless a run says another.
        progress: Told (done, total) while the start is laid out.
        cancel: Asked meanwhile; true raises `Cancelled`.
    """
    more: dict[str, Any] = {}
    if recipe.objective in _PRUNING:
        more["lines"] = documents
        if vocab_size is not None:
            more["vocab_size"] = vocab_size
    trainer = (_COMPILED if is_chosen(words, recipe, specials) else OBJECTIVES)[recipe.objective]
    return trainer(
        words, recipe, first_id=first_id, specials=specials, progress=progress, cancel=cancel, **more
    )
