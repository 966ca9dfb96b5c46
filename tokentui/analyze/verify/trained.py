"""Comparison of the merges of a file with a training run: how many agree, the first that differs, and which
change of one axis would make more agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tokentui import learn
from tokentui.analyze.verify import StepDifference, step_difference
from tokentui.axes import AXES, changed
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import each, silent
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn import start
from tokentui.learn.trainer import Trainer
from tokentui.recipe import Recipe, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.count import WordCounts

Pair = tuple[bytes, ...]

TRIED_AXES = ("normalize", "split", "tie")
"""The axes of which each value without a text of its own is tried alone."""
COVERAGES = (1.0, 0.99995, 0.9995, 0.999, 0.99)
"""The shares of characters that are tried alone: those that sentencepiece and its models name."""
_FIRST = 64
"""The number of steps that are compared first. Each later round compares twice as many."""


@dataclass(frozen=True, slots=True)
class TrainingChange:
    """A change of one axis.

    Attributes:
        axis: The axis, or `coverage`.
        value: The value.
        alike: The number of first merges of the file that training then gives.
    """

    axis: str
    value: str
    alike: int


@dataclass(frozen=True, slots=True)
class TrainedReport:
    """A file against a training.

    Attributes:
        recipe: The recipe of the training.
        merges: The number of merges of the file that were compared.
        alike: The number of first merges that training gives, too.
        difference: The first merge that it does not give: `ours` is the choice of the training, `theirs` that
            of the file. None if it gives all.
        next_count: If it gives all, the count of the pair that training would merge next: the file ends at a
            size, or its least count is above this. None if no pair is left, or there is a difference.
        changes: The changes of one axis that give more merges, the best of each axis, best first. Empty
            without a difference.
        tried: The number of changes that were tried; 0 without a difference.
    """

    recipe: Recipe
    merges: int
    alike: int
    difference: StepDifference | None
    next_count: int | None
    changes: tuple[TrainingChange, ...]
    tried: int


def verify_trained(
    tokenizer: Tokenizer, corpus: Corpus, recipe: Recipe, merges: int | None = None
) -> TrainedReport:
    """Train on a corpus by a recipe and compare with the merges of a file, in order.

    If a merge differs, also train with each change of one axis. A least count ends a training and changes no
    merge before the end, so none is tried. A tick of the job is a change.

    Args:
        tokenizer: The tokenizer of the file.
        corpus: The corpus.
        recipe: The recipe.
        merges: The maximum number of merges to compare; None for all.

    Raises:
        TokentuiError: The file holds no merges, the recipe makes none, or the corpus cannot be counted by it.
        Cancelled: The job is cancelled.
    """
    vocabulary = tokenizer.vocabulary
    most = tokenizer.merges if merges is None else min(merges, tokenizer.merges)
    merges_of_file = [tuple(map(vocabulary.spelled, pair)) for pair in vocabulary.merges[:most]]
    if not merges_of_file:
        raise TokentuiError("the file contains no merges", "verify", "use a file with merges or ranks")
    counted = WordCounts(corpus)
    trainer = _start(corpus, recipe, counted)
    alike = _count_alike(trainer, merges_of_file)
    difference, next_count, better, tried = None, None, list[TrainingChange](), 0
    if alike == len(merges_of_file):
        learn.jump(trainer, alike)
        is_over = trainer.end(Stops()) is not None
        best = None if is_over else learn.with_plain_fallback(trainer, learn.why, Stops()).best
        next_count = None if best is None else best.places
    else:
        continues = learn.jump(trainer, alike + 1) > alike
        ended = None if continues else str(trainer.end(Stops()))
        known = trainer.tokenizer().vocabulary
        ours = tuple(map(known.spelled, known.merges[alike])) if continues else None
        row = merges_of_file[alike]
        difference = step_difference(trainer, counted.of(recipe), alike + 1, ours, ended, row)
        options = [*_changes(recipe)]
        tried = len(options)
        for axis, value, other in each(options, tried):
            with silent():
                try:
                    same = _count_alike(_start(corpus, other, counted), merges_of_file)
                except TokentuiError:  # this corpus cannot be trained on so
                    continue
            if same > alike:
                better.append(TrainingChange(axis, value, same))
    best_of: dict[str, TrainingChange] = {}
    for change in sorted(better, key=lambda change: -change.alike):
        best_of.setdefault(change.axis, change)
    changes = tuple(best_of.values())
    return TrainedReport(recipe, len(merges_of_file), alike, difference, next_count, changes, tried)


def _start(corpus: Corpus, recipe: Recipe, counted: WordCounts) -> Trainer:
    """Return a training run at its start.

    Raises:
        TokentuiError: It makes no merges, or the pattern of its split takes too long.
    """
    trainer = start(corpus, recipe, words=counted.of(recipe))
    if trainer.traits.step != "merge" or trainer.traits.compresses:
        where = f"objective={recipe.objective}"
        raise TokentuiError("its training has no merges", where, "use objective=count or objective=score")
    return trainer


def _count_alike(trainer: Trainer, merges_of_file: Sequence[Pair]) -> int:
    """Count the first merges of a file that a training run also makes. The run is moved, at most to twice as
    many steps, and left there."""
    seen, goal = 0, _FIRST
    while True:
        steps_made = learn.jump(trainer, min(goal, len(merges_of_file)))
        vocabulary = trainer.tokenizer().vocabulary
        for number in range(seen, steps_made):
            if tuple(map(vocabulary.spelled, vocabulary.merges[number])) != merges_of_file[number]:
                return number
        seen = steps_made
        if steps_made < goal:
            return steps_made
        goal *= 2


def _changes(recipe: Recipe) -> Iterator[tuple[str, str, Recipe]]:
    """Yield (axis, value, recipe) for each change of one axis that gives another valid recipe.

    Only TRIED_AXES and `coverage` change; values with a text of their own are left out.
    """
    for axis in TRIED_AXES:
        current = getattr(recipe, axis)
        values: list[object] = [name for name, choice in AXES[axis].items() if not choice.text]
        if isinstance(current, tuple):
            values = [(), *((name,) for name in values)]
        for value in values:
            shown = (",".join(value) or "[]") if isinstance(value, tuple) else str(value)
            if value != current and (other := _changed(recipe, axis, value)) is not None:
                yield axis, shown, other
    for coverage in COVERAGES:
        if coverage != recipe.coverage and (other := _changed(recipe, "coverage", coverage)) is not None:
            yield "coverage", f"{coverage:g}", other


def _changed(recipe: Recipe, axis: str, value: object) -> Recipe | None:
    """Return a recipe with another value of an axis, or None if it is invalid or the same."""
    try:
        other = changed(recipe, **{axis: value})
    except TokentuiError:
        return None
    return None if other == recipe else other
