"""Learning a vocabulary: one module an objective, all with the same face (start, step, back, candidates, why)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tokentui.learn.base import Cancel, Candidate, Progress, Step, Stops, Trainer, Why
from tokentui.learn.compiled import CompiledTrainer, is_chosen, without_kernel
from tokentui.learn.compiled_score import CompiledScoreTrainer
from tokentui.learn.gage import GageTrainer
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.score import ScoreTrainer
from tokentui.learn.unigram import UnigramTrainer
from tokentui.presets import resolved
from tokentui.recipe import Recipe, entry
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words, count

__all__ = ["OBJECTIVES", "Candidate", "PairTrainer", "Step", "Stops", "Why", "start", "start_counted", "without_kernel"]

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
    recipe: Recipe | str,
    *,
    first_id: int | None = None,
    specials: Sequence[str] | None = None,
    coverage: float | None = None,
    symbols: Sequence[str] | None = None,
    prefix_space: bool | None = None,
    published: bool = False,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Trainer:
    """Start a training: count the corpus and lay it out, at step 0.

    Args:
        corpus: What to train on.
        recipe: How; the name of a preset does as well.
        first_id: The first id given, 0 where None.
        specials: Special tokens, which take the first ids in this order; none where None.
        coverage: The share of the characters of the corpus that the base covers; as the recipe has it where None, and so on.
        symbols: Texts that are one token each, and that no merge crosses.
        prefix_space: Whether a space is set in front of a text.
        published: Whether the first id, the special tokens and the sizes are those that the preset was published with, where they
            are not named. A `run` without stops goes to these sizes.
        progress: Told (done, total) while the corpus is counted, in characters.
        cancel: Asked meanwhile; true raises `Cancelled`.

    Raises:
        TokentuiError: The recipe's pattern takes too long on this corpus.
    """
    recipe, words_of_run = resolved(recipe, published)
    recipe = reshaped(recipe, coverage, symbols, prefix_space)
    words = count(corpus, recipe, progress=progress, cancel=cancel)
    documents = corpus.documents if corpus.counts is None else None
    trainer = start_counted(
        words, recipe, first_id=words_of_run.get("first_id", 0) if first_id is None else first_id,
        specials=words_of_run.get("specials", ()) if specials is None else specials, documents=documents,
        vocab_size=words_of_run.get("vocab_size"), cancel=cancel,
    )
    sizes = [words_of_run.get(name) for name in ("merges", "vocab_size", "max_length")]
    trainer.known_for = Stops(sizes[0], sizes[1], words_of_run.get("min_count", 1), sizes[2])
    return trainer


def reshaped(recipe: Recipe, coverage: float | None, symbols: Sequence[str] | None, prefix_space: bool | None) -> Recipe:
    """A recipe with other words of its shape, where they are named."""
    named: dict[str, Any] = {"coverage": coverage, "symbols": symbols, "prefix_space": prefix_space}
    named = {name: value for name, value in named.items() if value is not None}
    return recipe.shaped(**named) if named else recipe


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
    trainer = entry(_COMPILED if is_chosen(words, recipe, specials) else OBJECTIVES, "objective", recipe.objective)
    return trainer(
        words, recipe, first_id=first_id, specials=specials, progress=progress, cancel=cancel, **more
    )
