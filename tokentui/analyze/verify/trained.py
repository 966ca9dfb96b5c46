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
"""So many steps are compared at first; then twice as many, and so on."""


@dataclass(frozen=True, slots=True)
class Change:
    """One axis with another value, all others as they are.

    Attributes:
        axis: The axis, or `coverage`.
        value: The value.
        alike: The first merges of the file that training gives then.
    """

    axis: str
    value: str
    alike: int


@dataclass(frozen=True, slots=True)
class TrainedReport:
    """A file against a training.

    Attributes:
        recipe: The recipe of the training.
        merges: The merges of the file that were looked at.
        alike: The longest prefix of them that training gives.
        difference: The first that it does not give: `ours` is the training's choice, `theirs` the file's.
            None where it gives all.
        next_count: Where it gives all: the count of the pair that training takes next. The file ends at a
            size, or its least count is above this. None where no pair is left.
        changes: The changes of one axis that give more, the best of each axis, the best first.
        tried: The number of changes that were tried.
    """

    recipe: Recipe
    merges: int
    alike: int
    difference: StepDifference | None
    next_count: int | None
    changes: tuple[Change, ...]
    tried: int


def verify_trained(
    tokenizer: Tokenizer, corpus: Corpus, recipe: Recipe, merges: int | None = None
) -> TrainedReport:
    """Train on a corpus by a recipe and compare with the merges of a file, in order.

    A least count ends a training and changes no merge before the end: it explains where a file ends, and no
    merge that differs.

    Args:
        tokenizer: The tokenizer of the file.
        corpus: The corpus.
        recipe: The recipe.
        merges: The most merges to look at; all where None.

    Raises:
        TokentuiError: The file holds no merges, the recipe makes none, or the corpus cannot be counted by it.
        Cancelled: The job is cancelled.
    """
    vocabulary = tokenizer.vocabulary
    most = tokenizer.merges if merges is None else min(merges, tokenizer.merges)
    wanted = [tuple(map(vocabulary.spelled, pair)) for pair in vocabulary.merges[:most]]
    if not wanted:
        raise TokentuiError("the file holds no merges", "verify", "take a file of merges or ranks")
    counted = WordCounts(corpus)
    trainer = _started(corpus, recipe, counted)
    alike = _alike(trainer, wanted)
    difference, next_count, found, tried = None, None, list[Change](), 0
    if alike == len(wanted):
        learn.jump(trainer, alike)
        is_over = trainer.end(Stops()) is not None
        best = None if is_over else learn.with_plain_fallback(trainer, lambda: trainer.why(Stops())).best
        next_count = None if best is None else best.places
    else:
        made = learn.jump(trainer, alike + 1) > alike
        ended = None if made else str(trainer.end(Stops()))
        known = trainer.tokenizer().vocabulary
        ours = tuple(map(known.spelled, known.merges[alike])) if made else None
        row = wanted[alike]
        difference = step_difference(trainer, counted.of(recipe), alike + 1, ours, ended, row)
        options = [*_changes(recipe)]
        tried = len(options)
        for axis, value, other in each(options, tried):
            with silent():
                try:
                    same = _alike(_started(corpus, other, counted), wanted)
                except TokentuiError:  # this corpus cannot be trained on so
                    continue
            if same > alike:
                found.append(Change(axis, value, same))
    best_of: dict[str, Change] = {}
    for one in sorted(found, key=lambda one: -one.alike):
        best_of.setdefault(one.axis, one)
    return TrainedReport(recipe, len(wanted), alike, difference, next_count, tuple(best_of.values()), tried)


def _started(corpus: Corpus, recipe: Recipe, counted: WordCounts) -> Trainer:
    """Return a training run at its start.

    Raises:
        TokentuiError: It makes no merges, or the pattern of its split takes too long.
    """
    trainer = start(corpus, recipe, words=counted.of(recipe))
    if trainer.traits.step != "merge" or trainer.traits.compresses:
        where = f"objective={recipe.objective}"
        raise TokentuiError("it is trained by no merges", where, "take count or score")
    return trainer


def _alike(trainer: Trainer, wanted: Sequence[Pair]) -> int:
    """Count the first merges of a file that a training run also makes. The run makes at most twice as many.
    """
    seen, goal = 0, _FIRST
    while True:
        made = learn.jump(trainer, min(goal, len(wanted)))
        vocabulary = trainer.tokenizer().vocabulary
        for number in range(seen, made):
            if tuple(map(vocabulary.spelled, vocabulary.merges[number])) != wanted[number]:
                return number
        seen = made
        if made < goal:
            return made
        goal *= 2


def _changes(recipe: Recipe) -> Iterator[tuple[str, str, Recipe]]:
    """Yield (axis, value, recipe) for each change of one axis that gives another valid recipe."""
    for axis in TRIED_AXES:
        held = getattr(recipe, axis)
        values: list[object] = [name for name, one in AXES[axis].items() if not one.text]
        if isinstance(held, tuple):
            values = [(), *((name,) for name in values)]
        for value in values:
            shown = (",".join(value) or "[]") if isinstance(value, tuple) else str(value)
            if value != held and (other := _changed(recipe, axis, value)) is not None:
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
