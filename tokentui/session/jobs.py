"""Work in threads of its own: at most one job a key, the newest wins, and one that is given up is cancelled.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import job
from tokentui.session import commands as do
from tokentui.session.pace import Pace
from tokentui.session.views import Busy

TELL_S = 0.1
"""The least time between two reports of progress."""

Tell = Callable[[str, int, int], None]
"""Takes what is done in words, how far it is, and how far it goes (0 where that is not known)."""


def unheard(*_: object) -> None:
    """Take a report of progress, or a part of a corpus, and do nothing with it."""


_tell: ContextVar[Tell] = ContextVar("tokentui work in words", default=unheard)
"""Told of the work of the job of this thread."""


def doing(what: str) -> AbstractContextManager[None]:
    """A job that reports its begin and its progress under a name."""
    tell = _tell.get()
    tell(what, 0, 0)
    return job(lambda done, total: tell(what, done, total))


Key = tuple[str, tuple[int, ...]]
"""The kind of an answer, and the keys of its columns."""
Signature = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wanted, and found in the background.

    Attributes:
        key: What it is an answer to; another of this key takes its place.
        signature: What it depends on.
        what: What it is, in a few words.
        work: Finds it.
        resting: Whether it waits until the columns have not moved for a moment.
        hold: Copies what the work must not read of a training that may walk on. The engine thread calls it
            when the work begins.
    """

    key: Key
    signature: Signature
    what: str
    work: Callable[[], object]
    resting: bool = True
    hold: Callable[[], object] = unheard


@dataclass(slots=True, eq=False)
class Running:
    """A job under way.

    Attributes:
        take: Takes its answer, or what went wrong.
        busy: How far it is.
        signature: What its answer depends on.
        given_up: True if it is wanted no longer.
        future: Its answer to come.
        pace: Estimates its time left.
    """

    take: Callable[[object], object]
    busy: Busy
    signature: object
    given_up: bool = False
    future: Future[object] | None = None
    pace: Pace = field(default_factory=Pace)


class JobPool:
    """Threads for jobs. The engine thread owns it.

    Args:
        name: The name of the threads.
        threads: How many there are.
        call: Has something done by the engine thread, or None to tell it of progress; from any thread.
    """

    def __init__(
        self, name: str, threads: int, call: Callable[[Callable[[], object] | None], object]
    ) -> None:
        self._name, self._threads, self._call = name, threads, call
        self._pool = ThreadPoolExecutor(threads, name)
        self.running: dict[Hashable, Running] = {}
        """The jobs under way, by their keys."""
        self._told_at = 0.0

    def submit(
        self, key: Hashable, work: Callable[[], object], take: Callable[[object], object], what: str = "",
        signature: object = None,
    ) -> None:
        """Begin a job in the place of one of the same key.

        Args:
            key: What it is about.
            work: Does it, in a thread, and returns its answer; `Cancelled` at a tick ends it when it is given
                up.
            take: Called by the engine thread with the answer, or with what went wrong; by `Cancelled` as soon
                as it is given up.
            what: What it is, in a few words; by itself it reports nothing where there are none.
            signature: What its answer depends on.
        """
        self.give_up(key)
        running = self.running[key] = Running(take, Busy(what, 0, 0), signature)

        def tell(what: str, done: int, total: int) -> None:
            now = time.monotonic()
            running.busy = running.pace.timed(Busy(what, done, total), now)
            if now - self._told_at >= TELL_S:
                self._told_at = now
                self._call(None)

        def run() -> object:
            token = _tell.set(tell)
            try:
                with job(cancel=lambda: running.given_up), doing(what) if what else nullcontext():
                    return work()
            finally:  # else the thread would keep the answer
                _tell.reset(token)

        def taken(found: Future[object]) -> None:
            # It holds this function: they would keep the answer until a collection, which passes over much.
            running.future = None
            if not running.given_up:
                del self.running[key]
                take(found.exception() or found.result())

        running.future = self._pool.submit(run)
        running.future.add_done_callback(lambda found: self._call(lambda: taken(found)))

    def keep_to(
        self, wanted: Iterable[Finding], take: Callable[[Finding, object], object], rested: bool = True
    ) -> bool:
        """Begin what is wanted and not under way, and give up what is wanted no longer.

        Args:
            wanted: All that is wanted, the most urgent first.
            take: Takes the answer of each, or what went wrong.
            rested: Whether the columns have not moved for a moment.

        Returns:
            Whether anything was begun or given up.
        """
        found, before = {one.key: one for one in wanted}, list(self.running.values())
        for key, running in list(self.running.items()):
            if isinstance(key, tuple) and (key not in found or found[key].signature != running.signature):
                self.give_up(key)
        for key, one in found.items():
            if key not in self.running and (rested or not one.resting):
                one.hold()
                self.submit(key, one.work, functools.partial(take, one), one.what, one.signature)
        return list(self.running.values()) != before

    def give_up(self, key: Hashable) -> None:
        """Give up the job of a key, if there is one. It ends at its next tick; a thread of its own is left to
        it, since a reader may hang on a device."""
        running = self.running.pop(key, None)
        if running is None:
            return
        running.given_up = True
        if self._threads == 1 and running.future is not None and running.future.running():
            self._pool.shutdown(wait=False)
            self._pool = ThreadPoolExecutor(1, self._name)
        elif running.future is not None:
            running.future.cancel()
        running.take(Cancelled())

    def close(self) -> None:
        """Give up everything. Waits for its end, but not for one thread alone, which may hang on a device."""
        for running in self.running.values():
            running.given_up = True
        self.running.clear()
        self._pool.shutdown(wait=self._threads > 1, cancel_futures=True)


# The line of commands that wait for what is being loaded, in the order in which they were given, and are seen
# to wait.


Answer = asyncio.Future[object]


class Dropped(TokentuiError):
    """A command that waited was not done."""


class Waiting(NamedTuple):
    """A command that waits, and the future of its answer."""

    command: do.Command[object]
    answer: Answer


class Line:
    """Commands that wait, first come, first served.

    Args:
        resolve: Gives a future its answer, or its failure.
    """

    def __init__(self, resolve: Callable[[Answer, object], None]) -> None:
        self._resolve = resolve
        self.waiting: list[Waiting] = []

    def leave(self) -> None:
        """Let those leave that are wanted no longer."""
        self.waiting = [one for one in self.waiting if not one.answer.done()]

    @property
    def keeps_order(self) -> bool:
        """True if a waiting command must run before any later command that keeps its order."""
        return any(one.command.in_order for one in self.waiting)

    def add(self, command: do.Command[object], answer: Answer) -> None:
        """Wait behind all others. A question, and a text to train on, takes the place of one of its kind."""
        if command.lane is do.Lane.BESIDE or isinstance(command, do.TrainOnText):
            self._drop([one for one in self.waiting if type(one.command) is type(command)], Cancelled())
        self.waiting.append(Waiting(command, answer))

    def take(self) -> list[Waiting]:
        """Those that go together: the next one; of moves all that follow each other."""
        held = self.waiting
        moves = next((n for n, one in enumerate(held) if not isinstance(one.command, do.Move)), len(held))
        self.waiting = held[moves or 1 :]
        return held[: moves or 1]

    def admits(self, load: do.Command[object], under_way: do.Command[object] | None) -> bool:
        """Make way for a load. True if it may begin at once, in the place of what is being loaded, if
        anything is.

        What was to be loaded before and is decided anew is given up; so are steps, where a load begins anew
        behind them.
        """
        ordered, moot = [one for one in self.waiting if one.command.in_order], list[Waiting]()
        for one in reversed(ordered):
            command = one.command
            if not (command.decides in load.decides if command.decides else load.fresh and command.walks):
                break
            moot.insert(0, one)
        place = "a tokenizer" if isinstance(load, do.OpenTokenizer) else "another corpus"
        self._drop([one for one in moot if one.command.decides], Cancelled())
        steps = [one for one in moot if not one.command.decides]
        self._drop(steps, Dropped(f"not done, {place} was opened: {said(steps)}"))
        if len(moot) < len(ordered):
            return False
        if isinstance(load, do.TrainOnText) and isinstance(under_way, do.TrainOnText):
            return False  # what is typed fast is still seen to change
        return under_way is None or under_way.decides in load.decides

    def drop(self, why: str, *, loads: bool) -> None:
        """Give up those that wait, all of them or up to the next load."""
        held = self.waiting
        stop = next((n for n, one in enumerate(held) if one.command.decides and not loads), len(held))
        words = said(held[:stop])
        self._drop(held[:stop], Dropped(f"{why}: {words}" if words else why))

    def _drop(self, gone: list[Waiting], why: Exception) -> None:
        self.waiting = [one for one in self.waiting if one not in gone]
        for one in gone:
            self._resolve(one.answer, why)


def said(waiting: list[Waiting]) -> str:
    """Waiting commands in words; moves in one direction are added up."""
    words: list[str] = []
    moves = 0
    for one in waiting:
        by = one.command.steps if isinstance(one.command, do.Move) else 0
        if moves * by > 0:
            words.pop()
        moves = by + (moves if moves * by > 0 else 0)
        count = "a step" if abs(moves) == 1 else f"{abs(moves):,} steps"
        words.append(f"{count} {'on' if moves > 0 else 'back'}" if by else one.command.words)
    return ", ".join(word for word in words if word)


def tell_failure(task: asyncio.Task[None]) -> None:
    """Tell the event loop at once that a task which runs for good has failed."""
    if not task.cancelled() and (error := task.exception()) is not None:
        task.get_loop().call_exception_handler(
            {"message": f"{task.get_name()} has failed", "exception": error, "task": task}
        )
