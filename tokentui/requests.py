"""What a session asks of itself: to stand on what was prepared, to open what the command line names, to lay out anew."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tokentui import commands as do
from tokentui.errors import Cancelled
from tokentui.prepared import Prepared, Stand
from tokentui.snapshot import Busy

PUBLISH_S = 0.1
"""The least time between two snapshots of a run; after a command one goes out at once."""


GIVE_UP_S = 0.05
"""How long an opening that was given up is waited for before it is left behind."""


@dataclass(frozen=True, slots=True)
class Install:
    """Stand on what has been prepared: a command that only the session itself gives."""

    prepared: Prepared
    stand: Stand | None
    keep_look: bool


class Glancing:
    """Take the tokenizer of the present step."""


@dataclass(frozen=True, slots=True)
class OpenMany:
    """Open several sources as one corpus."""

    sources: tuple[str, ...]
    as_: str | None
    field: str
    tokenizer: do.OpenTokenizer | None = None


class Rebuild:
    """Lay the open corpus out again: by kernels, which were not there before."""


Loaded = do.Open | do.OpenTokenizer | do.Use | do.Scratch | OpenMany | Rebuild


class Loading:
    """A corpus being opened: how far it is, and whether it was given up."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self.busy = Busy("opening", 0, 0)
        self.cancelled = False
        self._given_up = asyncio.Event()
        self.done = False
        self.task: asyncio.Task[None] | None = None
        self._wake = wake
        self._since = self._told = time.monotonic()

    def give_up(self) -> None:
        """It is wanted no more."""
        self.cancelled = True
        self._given_up.set()

    async def result(self, work: asyncio.Future[Prepared]) -> Prepared:
        """What comes of the work, waited for until it is given up, and then for a moment longer.

        Raises:
            Cancelled: It was given up. The work may go on until it asks the next time.
        """
        waiting: asyncio.Future[Any] = asyncio.create_task(self._given_up.wait())
        try:
            await asyncio.wait((work, waiting), return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                await asyncio.wait({work}, timeout=GIVE_UP_S)
        finally:
            waiting.cancel()
        if not work.done():
            raise Cancelled
        return work.result()

    def shown(self, now: float) -> Busy | None:
        """What is said of it: nothing of what takes no time worth the mention, nor of what is done."""
        return None if self.done or now - self._since < PUBLISH_S else self.busy

    def tell(self, what: str, done: int, total: int) -> None:
        """Take in how far it is; from any thread, as often as one likes."""
        self.busy = Busy(what, done, total)
        now = time.monotonic()
        if now - self._told >= PUBLISH_S:
            self._told = now
            self._wake()
