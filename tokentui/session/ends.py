"""Ends of a walk: how far columns go, and the way of one that is long under way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tokentui.learn.trainer import Size
from tokentui.session.column import Column
from tokentui.session.views import END, Busy, Position


@dataclass(slots=True)
class Seek:
    """A walk that looks for the step that makes a token."""

    wanted: frozenset[bytes]
    looked: int
    origin: int
    answer: Callable[[object], None]


def beyond(columns: Sequence[Column], value: int) -> bool:
    """True if a number of steps lies beyond the stops of all columns."""
    known = [column.stopped_at for column in columns if column.stopped_at is not None]
    if len(known) < len(columns) or not known:
        return False
    return value > max(known)


def over(columns: Sequence[Column], position: Position, free: bool) -> bool:
    """True if no column can go further.

    Args:
        columns: The columns that are at the position.
        position: The position.
        free: True if the columns may pass their stops.
    """
    if not columns:
        return False
    if position.by == "tokens":
        return columns[0].end(free) is not None
    if position.by == "size":
        growing = [column for column in columns if column.trainer.traits.grows]
        return position.value >= last(columns, "size") and all(column.end(free) is not None for column in growing)
    return all(column.end(free) is not None for column in columns)


def last(columns: Sequence[Column], by: str) -> int:
    """The value beyond which no column goes, at the steps where they are."""
    if by == "merges":
        return max(column.trainer.number for column in columns)
    if by == "tokens":
        return columns[0].trainer.number
    growing = [column for column in columns if column.trainer.traits.grows]
    if not growing:
        return max(column.trainer.size_at(0) for column in columns)
    most = max(column.trainer.size_at(column.trainer.number) for column in growing)
    # A merge that borrows the id of a special adds none: the end is not the first step of its size then.
    exact = all(column.trainer.find(Size(most)) in (None, column.trainer.number) for column in growing)
    return most if exact else most + 1


def floor(columns: Sequence[Column], by: str) -> int:
    """The least value of a position."""
    if by != "size":
        return 0
    return min((one.trainer.size_at(0) for one in columns if one.trainer.traits.grows), default=0)


def way(column: Column, looking: bool, goal: Position | None) -> Busy | None:
    """The way to a goal, where it is a long one."""
    trainer = column.trainer
    if looking:
        return Busy("looking for the token", trainer.number, 0)
    if goal is None:
        return None
    if goal.value == END:
        return Busy("going to the end", trainer.number, trainer.ending(column.stops).step or 0)
    if goal.by == "size":
        return Busy(f"going to {goal.value:,} ids", trainer.size_at(trainer.number), goal.value)
    if abs(goal.value - trainer.number) > 1:
        return Busy(f"going to step {goal.value:,}", trainer.number, goal.value)
    return None
