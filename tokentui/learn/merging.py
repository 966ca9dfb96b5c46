"""Trainings by merges of pairs, put together: an engine, a ranking, a course and the trainer that walks it."""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.core.runtime import quiet_collector
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.bases import BASES, Weighted
from tokentui.learn.bpe import lay_out
from tokentui.learn.compiled import KernelPairs, is_chosen
from tokentui.learn.gage import GageSteps
from tokentui.learn.objectives import OBJECTIVES
from tokentui.learn.pairs import PairSteps
from tokentui.learn.ranking import Ranking
from tokentui.learn.stepped import SteppedTrainer
from tokentui.learn.values import WhatIf
from tokentui.recipe import Recipe
from tokentui.text.count import Words


def merging(
    words: Words, recipe: Recipe, *, first_id: int = 0, specials: Sequence[str] = (), what_if: tuple[WhatIf, ...] = (),
    kernels: bool | None = None,
) -> SteppedTrainer:
    """Start a training by merges of pairs.

    Args:
        words: The counted pre-tokens.
        recipe: The recipe.
        first_id: The first id given.
        specials: Special tokens, which take the first ids.
        what_if: Changes of the run. Only plain Python knows them.
        kernels: True to train with kernels; None lets `compiled.is_chosen` decide.
    """
    objective = OBJECTIVES.of(recipe.objective)

    def vocabulary(units: Weighted) -> Vocabulary:
        return Vocabulary(recipe, BASES.of(recipe.base).units(units), specials, first_id)

    def again(what_if: tuple[WhatIf, ...]) -> SteppedTrainer:
        return merging(words, recipe, first_id=first_id, specials=specials, what_if=what_if, kernels=kernels)

    with quiet_collector():
        if objective.codes:
            course: PairSteps = GageSteps(words, recipe, specials, first_id)
        else:
            ranking = Ranking.of(objective)
            chosen = is_chosen(words, recipe, specials) if kernels is None else kernels
            lay = KernelPairs if chosen and not what_if else lay_out
            course = PairSteps(lay(words, recipe, ranking, vocabulary), ranking, words, recipe)
    return SteppedTrainer(course, traits=course.traits, words=words, recipe=recipe, what_if=what_if, again=again)
