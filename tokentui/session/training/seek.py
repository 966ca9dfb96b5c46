"""The walks of one column that look for a step: where a token is made, or a condition is met first."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass

from tokentui.core.errors import TokentuiError
from tokentui.learn.trainer import Goal, Made, Size
from tokentui.session.training.column import Column, needles


@dataclass(slots=True)
class Seek:
    """A walk that looks for a step.

    Attributes:
        goal: The condition that the step meets.
        looked: The last step that was looked at.
        origin: The step to go back to where there is none; None to stay at the end of the run.
        answer: The step to come; None if there is none.
    """

    goal: Goal
    looked: int
    origin: int | None
    answer: Future[int | None]


def spellings(text: str) -> Made:
    """The step that makes a token, by its text as it is shown or typed."""
    return Made(frozenset(needle for way in (text, "▁" + text) for needle in needles(way)))


def meets(column: Column, goal: Goal) -> bool:
    """True if the present step of a column meets a condition already.

    Raises:
        TokentuiError: A step before has made the token.
    """
    trainer = column.trainer
    number, shrinks = trainer.number, trainer.traits.shrinks
    if isinstance(goal, Made):
        found = trainer.find(goal)
        if found is not None and found < number:
            what = f"step {found:,} already made this token" if found else "the token exists from the start"
            raise TokentuiError(what, "run until", "g goes to the step of a token")
        return found is not None and found == number
    if isinstance(goal, Size):
        size = trainer.size_at(number)
        return size <= goal.ids if shrinks else size >= goal.ids
    tokens = trainer.tokens_at(number)
    return tokens >= goal.tokens if shrinks else tokens <= goal.tokens


def advance_seek(seek: Seek, column: Column, seconds: float) -> tuple[bool, int | None]:
    """Go on until a step meets the condition, or there is no more.

    Returns:
        Whether the search is over, and the step.
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
    found = trainer.find(seek.goal, seek.looked)
    seek.looked = trainer.computed
    return found is not None or bool(reason), found
