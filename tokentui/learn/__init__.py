"""Learning a vocabulary: `start` makes the trainer of a recipe, and the others walk with it.

`trainer.Trainer` describes a trainer. A step on or back, a jump and a run are written once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tokentui.core.jobs import silent, tick
from tokentui.core.runtime import quiet_collector
from tokentui.learn.objectives import Material
from tokentui.learn.values import Step, Stop
from tokentui.recipe import Recipe, Run, Stops

if TYPE_CHECKING:  # the tables of this room are imported where nothing is trained
    from tokentui.learn.trainer import Trainer
    from tokentui.text.corpus import Corpus
    from tokentui.text.count import Words


def start(
    corpus: Corpus | None, recipe: Recipe, run: Run | None = None, words: Words | None = None
) -> Trainer:
    """Start a training: count the corpus and lay it out, at step 0.

    Args:
        corpus: The corpus; None where words of it are all that is known.
        recipe: The recipe.
        run: The first id and the special tokens; of its stops the size that a training which prunes goes to.
        words: Its pre-tokens, where they are counted already.

    Raises:
        TokentuiError: The recipe's pattern takes too long on this corpus.
    """
    if words is None:
        from tokentui.text.count import count

        assert corpus is not None
        words = count(corpus, recipe)
        with silent():
            return start(corpus, recipe, run, words)
    material = Material.of(words, recipe, run, None if corpus is None else corpus.documents)
    return material.objective.trainer(material)


# ---- walking


def step(trainer: Trainer) -> Step | None:
    """Make the next step and return it; None at the end."""
    goal = trainer.number + 1
    while not (reason := trainer.advance(goal, trainer.limits)):
        pass
    return trainer.step_at(goal) if reason is Stop.MERGES else None


def back(trainer: Trainer) -> Step | None:
    """Undo the last step and return it; None at the start."""
    number = trainer.number
    if not number:
        return None
    undone = trainer.step_at(number)
    jump(trainer, number - 1)
    return undone


def jump(trainer: Trainer, number: int) -> int:
    """Go to a step, or as far as steps last. A job that is cancelled leaves the trainer where it is.

    Args:
        trainer: The trainer. Its limits stay.
        number: The step.

    Returns:
        The step arrived at.
    """
    number = max(0, number)
    start, total = trainer.number, abs(number - trainer.number)
    while not trainer.advance(number, trainer.limits):
        tick(abs(trainer.number - start), total)
    return trainer.number


def run(trainer: Trainer, stops: Stops) -> Stop:
    """Go on until a stop holds or no candidate is left. A job that is cancelled leaves the trainer where it
    is.

    Args:
        trainer: The trainer.
        stops: The ends of the run.

    Returns:
        The reason why it stopped.
    """
    trainer.advance(trainer.number, stops)  # the limits first: how far it is depends on them
    total = trainer.ending(stops).step or 0
    tick(trainer.number, total)  # a short training ends with the first slice
    with quiet_collector():
        while not (reason := trainer.advance(None, stops)):
            tick(trainer.number, total)
            if trainer.traits.heavy:  # an estimate, which becomes better
                total = trainer.ending(stops).step or 0
    return reason


def steps(trainer: Trainer, first: int = 1) -> Iterator[Step]:
    """The computed steps from this one on up to the present step."""
    return map(trainer.step_at, range(first, trainer.number + 1))
