"""Walking with a trainer: a step on or back, to a step, to the end of a run.

Written once for all trainers.
"""

from __future__ import annotations

from collections.abc import Iterator

from tokentui.core.jobs import tick
from tokentui.core.runtime import quiet_collector
from tokentui.learn.trainer import Trainer
from tokentui.learn.values import Step, Stop
from tokentui.recipe import Stops


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
