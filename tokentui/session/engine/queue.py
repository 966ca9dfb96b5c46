"""Queue of commands that wait for what is being loaded. They run in the order in which they were sent, and
the screen lists them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from tokentui.core.errors import Cancelled
from tokentui.session.commands.base import Command, Lane
from tokentui.session.commands.navigate import Move
from tokentui.session.commands.open import OpenTokenizer, SetRecipe, TrainOnText
from tokentui.session.errors import Dropped, Replaced

Answer = asyncio.Future[object]


class Waiting(NamedTuple):
    """A queued command and the future of its answer."""

    command: Command[object]
    answer: Answer


class CommandQueue:
    """Commands that wait, first come, first served.

    Args:
        resolve: Gives a future its answer, or the exception that takes its place.
    """

    def __init__(self, resolve: Callable[[Answer, object], None]) -> None:
        self._resolve = resolve
        self.waiting: list[Waiting] = []

    def prune(self) -> None:
        """Remove the commands whose future is done already, such as a canceled one."""
        self.waiting = [queued for queued in self.waiting if not queued.answer.done()]

    @property
    def keeps_order(self) -> bool:
        """True if a queued command must run before any later command that runs in order."""
        return any(queued.command.in_order for queued in self.waiting)

    def add(self, command: Command[object], answer: Answer) -> None:
        """Append a command. A question, or a text to train on, first cancels queued commands of its class."""
        if command.lane is Lane.JOB or isinstance(command, TrainOnText):
            same = [queued for queued in self.waiting if type(queued.command) is type(command)]
            self._replace(same)
        self.waiting.append(Waiting(command, answer))

    def pop(self) -> list[Waiting]:
        """Remove and return the next command, or all moves at the front. Empty if nothing is queued."""
        waiting = self.waiting
        moves = next(
            (n for n, queued in enumerate(waiting) if not isinstance(queued.command, Move)), len(waiting)
        )
        self.waiting = waiting[moves or 1 :]
        return waiting[: moves or 1]

    def admits(self, load: Command[object], under_way: Command[object] | None) -> bool:
        """Drop the commands that a load makes pointless, and return whether it may begin at once.

        Looks at queued commands that run in order, from the last one back to the first that stays. Loads of
        the same parts are cancelled; steps fail with `Dropped` if the load is `fresh`. It may begin at
        once if none of them stays, and the command being loaded is none or may be replaced.

        Args:
            load: The new command.
            under_way: The command that is being loaded, if any; a load that begins replaces it.
        """
        ordered, pointless = [queued for queued in self.waiting if queued.command.in_order], list[Waiting]()
        for queued in reversed(ordered):
            command = queued.command
            if not (command.replaces in load.replaces if command.replaces else load.fresh and command.walks):
                break
            pointless.insert(0, queued)
        place = "a tokenizer" if isinstance(load, OpenTokenizer) else "another corpus"
        self._replace([queued for queued in pointless if queued.command.replaces])
        steps = [queued for queued in pointless if not queued.command.replaces]
        self._drop(steps, Dropped(f"not done, {place} was opened: {summary(steps)}"))
        if len(pointless) < len(ordered):
            return False
        if isinstance(load, TrainOnText) and isinstance(under_way, TrainOnText):
            return False  # what is typed fast is still seen to change
        return under_way is None or under_way.replaces in load.replaces

    def drop(self, why: str, *, loads: bool) -> None:
        """Drop the queued commands, which fail with `Dropped`.

        Args:
            why: The reason, in words for the user.
            loads: True to drop all; False to keep the next load and what follows it.
        """
        waiting = self.waiting
        stop = len(waiting)
        if not loads:
            stop = next((n for n, queued in enumerate(waiting) if queued.command.replaces), stop)
        words = summary(waiting[:stop])
        self._drop(waiting[:stop], Dropped(f"{why}: {words}" if words else why))

    def _replace(self, replaced: list[Waiting]) -> None:
        for queued in replaced:
            self._drop([queued], was_replaced(queued.command))

    def _drop(self, dropped: list[Waiting], why: Exception) -> None:
        self.waiting = [queued for queued in self.waiting if queued not in dropped]
        for queued in dropped:
            self._resolve(queued.answer, why)


def was_replaced(command: Command[object]) -> Cancelled:
    """Return the answer of a command whose place a newer one took."""
    return Replaced() if isinstance(command, SetRecipe | TrainOnText) else Cancelled()


def summary(waiting: list[Waiting]) -> str:
    """Return queued commands in words, such as "3 steps on, run"; moves in one direction are added up."""
    words: list[str] = []
    moves = 0
    for queued in waiting:
        steps = queued.command.steps if isinstance(queued.command, Move) else 0
        if moves * steps > 0:
            words.pop()
        moves = steps + (moves if moves * steps > 0 else 0)
        count = "a step" if abs(moves) == 1 else f"{abs(moves):,} steps"
        words.append(f"{count} {'on' if moves > 0 else 'back'}" if steps else queued.command.description)
    return ", ".join(word for word in words if word)
