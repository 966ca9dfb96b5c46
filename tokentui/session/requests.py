"""What a session asks of itself: to stand on what was prepared, to open what the command line names, to lay out anew."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tokentui.core.errors import Cancelled
from tokentui.session import commands as do
from tokentui.session.prepared import Prepared
from tokentui.session.snapshot import Busy

PUBLISH_S = 0.1
"""The least time between two snapshots of a run; after a command one goes out at once."""


GIVE_UP_S = 0.05
"""How long an opening that was given up is waited for before it is left behind."""


@dataclass(frozen=True, slots=True)
class Install:
    """Stand on what has been prepared: a command that only the session itself gives."""

    prepared: Prepared
    keep_place: bool = False
    """Whether it comes to the place where what stands now is, or is going to."""
    keep_look: bool = False
    again: bool = False
    """Whether it is the same training, laid out again."""


@dataclass(frozen=True, slots=True)
class Glancing:
    """Take the tokenizer of the present step, as soon as there is what is needed (a `Need`)."""

    need: int = 0


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


def _name_of(command: Loaded) -> str:
    """What is opened, by its name; empty where it has none."""
    match command:
        case OpenMany(_, _, _, do.OpenTokenizer(path)) | do.OpenTokenizer(path) | do.Open(path):
            return os.path.basename(path) or path
        case OpenMany((source,)):
            return os.path.basename(source) or source
        case OpenMany(sources):
            return f"{len(sources):,} sources"
    return ""


class Loading:
    """A corpus being opened: how far it is, and whether it was given up."""

    def __init__(self, command: Loaded, wake: Callable[[], None]) -> None:
        self.command = command
        self.part: Prepared | None = None
        """What there is of it before it is whole."""
        self.busy = Busy(f"opening {_name_of(command)}".rstrip(), 0, 0)
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

    def shown(self, now: float, at_once: bool = False) -> Busy | None:
        """What is said of it: nothing of what takes no time worth the mention, unless `at_once`, nor of what is done."""
        return None if self.done or (now - self._since < PUBLISH_S and not at_once) else self.busy

    def tell(self, what: str, done: int, total: int) -> None:
        """Take in how far it is; from any thread, as often as one likes."""
        self.busy = Busy(what, done, total)
        now = time.monotonic()
        if now - self._told >= PUBLISH_S:
            self._told = now
            self._wake()
