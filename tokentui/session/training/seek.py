"""Walks of one column to a step that is not computed yet: one that makes a token, or first meets a
condition."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass

from tokentui import learn
from tokentui.core.errors import TokentuiError
from tokentui.learn.trainer import Goal, Made, Size
from tokentui.session.training.column import Column, needles


@dataclass(slots=True)
class Seek:
    """A walk that looks for a step.

    Attributes:
        goal: The condition that the step meets.
        looked: The last step that was checked.
        origin: The step to go back to if no step meets the goal; None to stay at the end of the run.
        answer: The future of the step; its result is None if no step meets the goal.
    """

    goal: Goal
    looked: int
    origin: int | None
    answer: Future[int | None]


def spellings(text: str) -> Made:
    """Return a goal for the step that makes a token with this text, with or without a ▁ in front."""
    return Made(frozenset(needle for way in (text, "▁" + text) for needle in needles(way)))


def meets(column: Column, goal: Goal) -> bool:
    """Return whether the current step of a column meets a condition.

    Raises:
        TokentuiError: An earlier step made the token, or it exists from the start.
    """
    trainer = column.trainer
    number, shrinks = trainer.number, trainer.traits.shrinks
    if isinstance(goal, Made):
        made_at = learn.find(trainer, goal)
        if made_at is not None and made_at < number:
            what = "the token exists from the start"
            if made_at:
                what = f"step {made_at:,} already made this token"
            raise TokentuiError(what, "run until", "g goes to the step of a token")
        return made_at is not None and made_at == number
    if isinstance(goal, Size):
        size = trainer.size_at(number)
        return size <= goal.ids if shrinks else size >= goal.ids
    tokens = trainer.tokens_at(number)
    return tokens >= goal.tokens if shrinks else tokens <= goal.tokens


def advance_seek(seek: Seek, column: Column, seconds: float) -> tuple[bool, int | None]:
    """Compute further steps for a number of seconds, check them, and note in `seek` how far it looked.

    Returns:
        Whether the search is over, and the step that meets the goal; None if none does yet. The column may
            have walked past the step.
    """
    trainer, stops = column.trainer, column.stops
    if trainer.number < trainer.computed:
        trainer.advance(trainer.computed, stops, seconds)
        return False, None
    if seek.origin is None:
        reason = column.end(free=False) or trainer.advance(None, stops, seconds)
    else:
        column.passed = True
        reason = trainer.advance(None, stops.only((*trainer.traits.shaped_by, "min_count")), seconds)
    step = learn.find(trainer, seek.goal, seek.looked)
    seek.looked = trainer.computed
    return step is not None or bool(reason), step
