"""Sessions whose snapshots are kept, and states that are driven by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from waiting import PATIENCE

from tokentui.recipe import Recipe, Run
from tokentui.session.commands import Command, perform
from tokentui.session.engine.driver import Session
from tokentui.session.engine.state import State
from tokentui.session.snapshot import Snapshot


class Watched(Session):
    """A session whose snapshots are kept.

    Args:
        recipe: The recipe of the first training.
        run: Its stops, first id and special tokens.
    """

    def __init__(self, recipe: Recipe | None = None, run: Run | None = None) -> None:
        self.snapshots: list[Snapshot] = []
        self._fresh = asyncio.Event()
        super().__init__(self.take, recipe, run)

    def take(self, snapshot: Snapshot) -> None:
        """Keep a snapshot."""
        self.snapshots.append(snapshot)
        self._fresh.set()

    @property
    def last(self) -> Snapshot:
        """The newest snapshot."""
        return self.snapshots[-1]

    async def until(self, holds: Callable[[Snapshot], object]) -> Snapshot:
        """Wait for a snapshot of which something holds."""
        while not self.snapshots or not holds(self.last):
            self._fresh.clear()
            await asyncio.wait_for(self._fresh.wait(), PATIENCE)
        return self.last

    async def settle(self) -> Snapshot:
        """Wait until there is nothing to do."""
        await self.until(lambda _: True)
        await asyncio.wait_for(self.idle.wait(), PATIENCE)
        return self.last


def settle(state: State) -> None:
    """Work until there is nothing to do."""
    while state.sync.has_work:
        state.sync.work(0.0)


def tell(state: State, command: Command[object]) -> list[Any]:
    """Give a command, work until there is nothing to do, and return its answers."""
    answers: list[Any] = []
    perform(command, state, answers.append)
    settle(state)
    return answers
