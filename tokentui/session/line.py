"""The line of commands that wait for what is being loaded, in the order in which they were given, and are seen to wait."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.session import commands as do

Answer = asyncio.Future[object]
_A = TypeVar("_A")


class Dropped(TokentuiError):
    """A command that waited was not done."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A command that waits, and the future of its answer."""

    command: do.Command[object]
    answer: Answer


def resolve(future: Answer, answer: object) -> None:
    """Give a future its answer, or its failure, unless it was given up."""
    if future.done():
        return
    if isinstance(answer, BaseException):
        future.set_exception(answer)
    else:
        future.set_result(answer)


class Line:
    """Commands that wait, first come, first served."""

    def __init__(self) -> None:
        self._waiting: list[Waiting] = []

    def __iter__(self) -> Iterator[Waiting]:
        """Those that are still wanted."""
        self._waiting = [one for one in self._waiting if not one.answer.done()]
        return iter(self._waiting)

    def __bool__(self) -> bool:
        return bool(self._waiting) and any(True for _ in self)

    @property
    def keeps_order(self) -> bool:
        """True if a waiting command must run before any later command that keeps its order."""
        return any(one.command.in_order for one in self) if self._waiting else False

    @property
    def head(self) -> do.Command[object] | None:
        """The command that comes next."""
        return next((one.command for one in self), None) if self._waiting else None

    def add(self, command: do.Command[object], answer: Answer) -> None:
        """Wait behind all others. A question, and a text to train on, takes the place of one of its kind."""
        if command.lane is do.Lane.BESIDE or isinstance(command, do.TrainOnText):
            for one in self:
                if type(one.command) is type(command):
                    resolve(one.answer, Cancelled())
        self._waiting.append(Waiting(command, answer))

    def take(self) -> list[Waiting]:
        """Those that go together: the next one; of moves all that follow each other."""
        held = list(self)
        count = next((n for n, one in enumerate(held) if not isinstance(one.command, do.Move)), len(held)) or 1
        self._waiting = held[count:]
        return held[:count]

    def take_all(self) -> list[Waiting]:
        """All of them."""
        held, self._waiting = self._waiting, []
        return held

    def admits(self, load: do.Command[object], under_way: do.Command[object] | None) -> bool:
        """Make way for a load. True if it may begin at once, in the place of what is being loaded, if anything is.

        What was to be loaded before and is decided anew is given up; so are steps, where a load begins anew behind them.
        """
        ordered = [one for one in self if one.command.in_order]
        moot: list[Waiting] = []
        for one in reversed(ordered):
            command = one.command
            decided = command.decides <= load.decides if command.decides else load.fresh and command.walks
            if not decided:
                break
            moot.insert(0, one)
        self._waiting = [one for one in self if one not in moot]
        said = _said([one for one in moot if not one.command.decides])
        place = "a tokenizer was opened" if isinstance(load, do.OpenTokenizer) else "another corpus was opened"
        for one in moot:
            resolve(one.answer, Cancelled() if one.command.decides else Dropped(f"not done, {place}: {said}"))
        if len(moot) < len(ordered):
            return False
        if isinstance(load, do.TrainOnText) and isinstance(under_way, do.TrainOnText):
            return False  # what is typed fast is still seen to change
        return under_way is None or under_way.decides <= load.decides

    def drop(self, why: str, *, loads: bool) -> None:
        """Give up those that wait, all of them or up to the next load."""
        held = list(self)
        stop = len(held) if loads else next((n for n, one in enumerate(held) if one.command.decides), len(held))
        gone, self._waiting = held[:stop], held[stop:]
        said = _said(gone)
        for one in gone:
            resolve(one.answer, Dropped(f"{why}: {said}" if said else why))

    @property
    def said(self) -> str:
        """The waiting commands in words, empty if there are none."""
        return _said(list(self)) if self._waiting else ""


def _said(waiting: list[Waiting]) -> str:
    words: list[str] = []
    moves = 0

    def moved() -> None:
        nonlocal moves
        if moves:
            count = "a step" if abs(moves) == 1 else f"{abs(moves):,} steps"
            words.append(f"{count} {'on' if moves > 0 else 'back'}")
        moves = 0

    for one in waiting:
        if isinstance(one.command, do.Move):
            if moves * one.command.steps < 0:
                moved()
            moves += one.command.steps
        else:
            moved()
            words.append(one.command.words)
    moved()
    return ", ".join(word for word in words if word)


def seen(future: asyncio.Future[_A]) -> None:
    """Mark a failure as seen: an answer that nothing waits for is not reported by the event loop either."""
    if not future.cancelled():
        future.exception()


def tell_failure(task: asyncio.Task[None]) -> None:
    """Tell the event loop at once that a task which runs for good has failed."""
    if not task.cancelled() and (error := task.exception()) is not None:
        task.get_loop().call_exception_handler({"message": f"{task.get_name()} has failed", "exception": error, "task": task})
