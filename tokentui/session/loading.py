"""A corpus, a recipe or a tokenizer being opened: how far it is, and whether it is still wanted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from tokentui.core.errors import Cancelled
from tokentui.session import commands as do
from tokentui.session.prepared import Prepared
from tokentui.session.views import Busy

PUBLISH_S = 0.1
"""The least time between two snapshots of a run; after a command one goes out at once."""
QUIET_S = 0.5
"""Seconds before the progress of another recipe or a typed text is shown; a faster one shows none."""
GIVE_UP_S = 0.05
"""Seconds to wait for a cancelled opening before it is abandoned."""


class Loading:
    """A corpus, a recipe or a tokenizer being opened in the first column: how far it is, and whether it was given up."""

    def __init__(self, command: do.Command[object], wake: Callable[[], None]) -> None:
        self.command = command
        self.part: Prepared | None = None
        """The counted part, before all of the corpus is counted."""
        named = command.named if isinstance(command, do.Open) else command.words.removeprefix("open ")
        self.busy = Busy(f"opening {named}" if isinstance(command, do.Open | do.OpenTokenizer) else "opening", 0, 0)
        self.cancelled = False
        self.done = False
        self.quiet_s = QUIET_S if isinstance(command, do.SetRecipe | do.TrainOnText) else PUBLISH_S
        self._given_up = asyncio.Event()
        self._wake = wake
        self.since = self._told = time.monotonic()

    def give_up(self) -> None:
        """It is wanted no more."""
        self.cancelled = True
        self._given_up.set()

    @property
    def quiet(self) -> bool:
        """True if the work is still too short to show its progress."""
        return time.monotonic() - self.since < self.quiet_s

    async def result(self, work: asyncio.Future[Prepared]) -> Prepared:
        """Return the result of the work; wait for it until it is cancelled, and then `GIVE_UP_S` longer.

        Raises:
            Cancelled: It was given up. The work may go on until its next tick.
        """
        waiting = asyncio.ensure_future(self._given_up.wait())
        try:
            await asyncio.wait((work, waiting), return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                await asyncio.wait({work}, timeout=GIVE_UP_S)
        finally:
            waiting.cancel()
        if not work.done():
            raise Cancelled
        return work.result()

    def shown(self, at_once: bool = False) -> Busy | None:
        """Return the progress to show; None if the work is done, or is quiet and `at_once` is false."""
        return None if self.done or (self.quiet and not at_once) else self.busy

    def tell(self, what: str, done: int, total: int) -> None:
        """Take in how far it is; from any thread, as often as one likes."""
        self.busy = Busy(what, done, total)
        now = time.monotonic()
        if now - self._told >= PUBLISH_S:
            self._told = now
            self._wake()
