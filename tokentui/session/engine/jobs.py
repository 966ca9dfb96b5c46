"""Jobs in threads of their own: at most one per key; a new one replaces it, and it is cancelled."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field

from tokentui.core.errors import Cancelled
from tokentui.core.jobs import job
from tokentui.session.engine.eta import TimeLeft
from tokentui.session.views import Busy

REPORT_S = 0.1
"""The least time between two reports of progress."""

ReportProgress = Callable[[str, int, int], None]
"""Takes what is done in words, how far it is, and how far it goes (0 where that is not known)."""


def ignore(*_: object) -> None:
    """Take a report of progress, or a part of a corpus, and do nothing with it."""


_report: ContextVar[ReportProgress] = ContextVar("tokentui work in words", default=ignore)
"""Told of the work of the job of this thread."""


def reporting(what: str) -> AbstractContextManager[None]:
    """A job that reports its begin and its progress under a name."""
    report = _report.get()
    report(what, 0, 0)
    return job(lambda done, total: report(what, done, total))


Key = tuple[str, tuple[int, ...]]
"""The kind of an answer, and the keys of its columns."""
Signature = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class BackgroundQuery:
    """Something that is wanted, and found in the background.

    Attributes:
        key: What it is an answer to; another of this key takes its place.
        signature: What it depends on.
        what: What it is, in a few words.
        work: Finds it.
        resting: Whether it waits until the columns have not moved for a moment.
        before_start: Copies what the work must not read of a training that may walk on. The engine thread
            calls it when the work begins.
    """

    key: Key
    signature: Signature
    what: str
    work: Callable[[], object]
    resting: bool = True
    before_start: Callable[[], object] = ignore


@dataclass(slots=True, eq=False)
class RunningJob:
    """A job under way.

    Attributes:
        take: Takes its answer, or what went wrong.
        busy: How far it is.
        signature: What its answer depends on.
        cancelled: True if it is wanted no longer.
        future: Its answer to come.
        pace: Estimates its time left.
    """

    take: Callable[[object], object]
    busy: Busy
    signature: object
    cancelled: bool = False
    future: Future[object] | None = None
    pace: TimeLeft = field(default_factory=TimeLeft)


class JobPool:
    """Threads for jobs. The engine thread owns it.

    Args:
        name: The name of the threads.
        threads: How many there are.
        call: Has something done by the engine thread, or None to report it of progress; from any thread.
    """

    def __init__(
        self, name: str, threads: int, call: Callable[[Callable[[], object] | None], object]
    ) -> None:
        self._name, self._threads, self._call = name, threads, call
        self._pool = ThreadPoolExecutor(threads, name)
        self.running: dict[Hashable, RunningJob] = {}
        """The jobs under way, by their keys."""
        self._told_at = 0.0

    def submit(
        self, key: Hashable, work: Callable[[], object], take: Callable[[object], object], what: str = "",
        signature: object = None,
    ) -> None:
        """Submit a job, cancelling any running job with the same key.

        Args:
            key: What it is about.
            work: Does it, in a thread, and returns its answer; `Cancelled` at a tick ends it when it is given
                up.
            take: Called by the engine thread with the answer, or with what went wrong; by `Cancelled` as soon
                as it is given up.
            what: What it is, in a few words; by itself it reports nothing where there are none.
            signature: What its answer depends on.
        """
        self.cancel(key)
        running = self.running[key] = RunningJob(take, Busy(what, 0, 0), signature)

        def report(what: str, done: int, total: int) -> None:
            now = time.monotonic()
            running.busy = running.pace.with_time_left(Busy(what, done, total), now)
            if now - self._told_at >= REPORT_S:
                self._told_at = now
                self._call(None)

        def run() -> object:
            token = _report.set(report)
            try:
                with job(cancel=lambda: running.cancelled), reporting(what) if what else nullcontext():
                    return work()
            finally:  # else the thread would keep the answer
                _report.reset(token)

        def taken(found: Future[object]) -> None:
            # It holds this function: they would keep the answer until a collection, which passes over much.
            running.future = None
            if not running.cancelled:
                del self.running[key]
                take(found.exception() or found.result())

        running.future = self._pool.submit(run)
        running.future.add_done_callback(lambda found: self._call(lambda: taken(found)))

    def reconcile(
        self, wanted: Iterable[BackgroundQuery], take: Callable[[BackgroundQuery, object], object],
        rested: bool = True,
    ) -> bool:
        """Begin what is wanted and not under way, and give up what is wanted no longer.

        Args:
            wanted: All that is wanted, the most urgent first.
            take: Takes the answer of each, or what went wrong.
            rested: Whether the columns have not moved for a moment.

        Returns:
            Whether anything was begun or given up.
        """
        found, before = {query.key: query for query in wanted}, list(self.running.values())
        for key, running in list(self.running.items()):
            if isinstance(key, tuple) and (key not in found or found[key].signature != running.signature):
                self.cancel(key)
        for key, query in found.items():
            if key not in self.running and (rested or not query.resting):
                query.before_start()
                self.submit(key, query.work, functools.partial(take, query), query.what, query.signature)
        return list(self.running.values()) != before

    def cancel(self, key: Hashable) -> None:
        """Give up the job of a key, if there is one. It ends at its next tick; a thread of its own is left to
        it, since a reader may hang on a device."""
        running = self.running.pop(key, None)
        if running is None:
            return
        running.cancelled = True
        if self._threads == 1 and running.future is not None and running.future.running():
            self._pool.shutdown(wait=False)
            self._pool = ThreadPoolExecutor(1, self._name)
        elif running.future is not None:
            running.future.cancel()
        running.take(Cancelled())

    def close(self) -> None:
        """Give up everything. Waits for its end, but not for one thread alone, which may hang on a device."""
        for running in self.running.values():
            running.cancelled = True
        self.running.clear()
        self._pool.shutdown(wait=self._threads > 1, cancel_futures=True)


def report_failure(task: asyncio.Task[None]) -> None:
    """Report the failure of a task that should never end to the event loop, at once."""
    if not task.cancelled() and (error := task.exception()) is not None:
        task.get_loop().call_exception_handler(
            {"message": f"{task.get_name()} has failed", "exception": error, "task": task}
        )
