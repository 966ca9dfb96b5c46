"""Jobs in threads of their own: at most one per key; a new one replaces it, and it is cancelled."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field

from tokentui.core.errors import Cancelled
from tokentui.core.jobs import job
from tokentui.core.runtime import turns
from tokentui.session.engine.eta import TimeLeft
from tokentui.session.views import Busy

REPORT_S = 0.1
"""The least time between two reports of progress."""

ReportProgress = Callable[[str, int, int], None]
"""Takes the name of the work, how much is done, and the total (0 if it is not known)."""


def ignore(*_: object) -> None:
    """Do nothing: a default for reports of progress and parts of a corpus."""


_report: ContextVar[ReportProgress] = ContextVar("tokentui work in words", default=ignore)
"""Receives the progress of the job of this thread."""


def reporting(what: str) -> AbstractContextManager[None]:
    """Return a context in which ticks report progress under a name to the job of this thread.

    This call already reports the start. Outside a job of a `JobPool` nothing is reported.
    """
    report = _report.get()
    report(what, 0, 0)
    return job(lambda done, total: report(what, done, total))


Key = tuple[str, tuple[int, ...]]
"""The kind of an answer, and the keys of its columns."""
Signature = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class BackgroundQuery:
    """A query whose answer is computed in the background.

    Attributes:
        key: The kind of the query and the columns that it is about; a later query with this key replaces it.
        signature: The values that the answer depends on.
        what: The name of the work, a few words.
        work: Computes the answer, in a thread.
        resting: True to wait until the columns have not moved for a moment.
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
    """A running job.

    Attributes:
        reply: Called with its answer, or its exception.
        busy: Its progress.
        signature: The values that its answer depends on.
        cancelled: True if its answer is no longer needed.
        future: The future of its answer; None once it is done.
        pace: Estimates its time left.
    """

    reply: Callable[[object], object]
    busy: Busy
    signature: object
    cancelled: bool = False
    future: Future[object] | None = None
    pace: TimeLeft = field(default_factory=TimeLeft)


class JobPool:
    """Threads for jobs. The engine thread owns it.

    Args:
        name: The name of the threads.
        threads: The number of threads.
        call: Runs a function on the engine thread, or with None wakes it to publish progress; called from any
            thread.
    """

    def __init__(
        self, name: str, threads: int, call: Callable[[Callable[[], object] | None], object]
    ) -> None:
        self._name, self._threads, self._call = name, threads, call
        self._pool = ThreadPoolExecutor(threads, name)
        self.running: dict[Hashable, RunningJob] = {}
        """The jobs under way, by their keys."""
        self._reported_at = 0.0

    def submit(
        self, key: Hashable, work: Callable[[], object], reply: Callable[[object], object], what: str = "",
        signature: object = None,
    ) -> None:
        """Submit a job, cancelling any running job with the same key.

        Args:
            key: The key of the job.
            work: Runs in a thread and returns the answer. Once the job is cancelled, its next tick raises
                `Cancelled`.
            reply: Called on the engine thread with the answer or the exception; with `Cancelled` as soon as
                the job is cancelled.
            what: The name of the work, a few words; empty to report no progress.
            signature: The values that the answer depends on.
        """
        self.cancel(key)
        running = self.running[key] = RunningJob(reply, Busy(what, 0, 0), signature)

        def report(what: str, done: int, total: int) -> None:
            """Update the progress of the job, and wake the engine at most once in `REPORT_S` seconds."""
            now = time.monotonic()
            running.busy = running.pace.with_time_left(Busy(what, done, total), now)
            if now - self._reported_at >= REPORT_S:
                self._reported_at = now
                self._call(None)

        def is_cancelled() -> bool:
            turns.wait()
            return running.cancelled

        def run() -> object:
            """Do the work in this thread, with cancellation and reports of progress."""
            token = _report.set(report)
            try:
                with job(cancel=is_cancelled), reporting(what) if what else nullcontext():
                    return work()
            finally:  # else the thread would keep the answer
                _report.reset(token)

        def finish(future: Future[object]) -> None:
            # The future refers to this function: without this line the cycle keeps the answer alive for long.
            """Reply with the answer or the exception, on the engine thread, unless the job was cancelled."""
            running.future = None
            if not running.cancelled:
                del self.running[key]
                reply(future.exception() or future.result())

        running.future = self._pool.submit(run)
        running.future.add_done_callback(lambda future: self._call(lambda: finish(future)))

    def reconcile(
        self, wanted: Iterable[BackgroundQuery], reply: Callable[[BackgroundQuery, object], object],
        rested: bool = True,
    ) -> bool:
        """Submit the queries that are not running, and cancel running queries that are not among them or have
        another signature. Jobs of commands, whose keys are not tuples, are not touched.

        Args:
            wanted: All queries whose answers are needed, the most urgent first.
            reply: Called with each query and its answer or exception.
            rested: True if the columns have not moved for a moment; else `resting` queries are not started.

        Returns:
            Whether a job was started or cancelled.
        """
        queries, before = {query.key: query for query in wanted}, list(self.running.values())
        for key, running in list(self.running.items()):
            if isinstance(key, tuple) and (
                key not in queries or queries[key].signature != running.signature
            ):
                self.cancel(key)
        for key, query in queries.items():
            if key not in self.running and (rested or not query.resting):
                query.before_start()
                self.submit(key, query.work, functools.partial(reply, query), query.what, query.signature)
        return list(self.running.values()) != before

    def cancel(self, key: Hashable) -> None:
        """Cancel the job of a key, if there is one: it is answered by `Cancelled` at once, and ends at its
        next tick. A pool of one thread gets a new thread, since the old one may hang on a device."""
        running = self.running.pop(key, None)
        if running is None:
            return
        running.cancelled = True
        if self._threads == 1 and running.future is not None and running.future.running():
            self._pool.shutdown(wait=False)
            self._pool = ThreadPoolExecutor(1, self._name)
        elif running.future is not None:
            running.future.cancel()
        running.reply(Cancelled())

    def close(self) -> None:
        """Cancel all jobs without answering them. Wait for their end, unless the pool has one thread, which
        may hang on a device."""
        for running in self.running.values():
            running.cancelled = True
        self.running.clear()
        self._pool.shutdown(wait=self._threads > 1, cancel_futures=True)
