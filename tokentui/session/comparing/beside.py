"""The threads in which jobs are done beside the columns: one job of a kind at a time, given up when it is wanted no longer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from tokentui.core.errors import Cancelled
from tokentui.session.comparing.findings import Findings
from tokentui.session.comparing.jobs import Job, Key
from tokentui.session.snapshot import Busy
from tokentui.text.patience import asking

_TELL_S = 0.1


class _Running:
    """A job under way."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.busy = Busy(job.what, 0, 0)
        self.given_up = False


class Beside:
    """What is done beside.

    Args:
        call: Has something done between two slices of the columns' work; from any thread.
    """

    def __init__(self, call: Callable[[Callable[[], Any]], None]) -> None:
        self._call = call
        self._pool = ThreadPoolExecutor(2, "tokentui-compare-beside")
        self._running: dict[Key, _Running] = {}
        self._only: dict[str, list[bool]] = {}
        self._told = False
        self._told_at = 0.0
        self._closing = False

    @property
    def free(self) -> bool:
        """Whether nothing is under way."""
        return not self._running

    @property
    def busy(self) -> dict[Key, Busy]:
        """What is under way, and how far it is."""
        return {key: running.busy for key, running in self._running.items()}

    def take(self, jobs: Sequence[Job], resting: bool, findings: Findings) -> bool:
        """Begin what is wanted and give up what is not. Called between two slices.

        Args:
            jobs: What is wanted and not known.
            resting: Whether nobody has moved for a moment.
            findings: What takes the answers.

        Returns:
            Whether something was begun or given up.
        """
        wanted = {job.key: job for job in jobs}
        changed = False
        for key, running in list(self._running.items()):
            if key not in wanted or wanted[key].signature != running.job.signature:
                running.given_up = changed = True
                del self._running[key]
        for key, job in wanted.items():
            if key not in self._running and (resting or not job.resting):
                self._begin(job, findings)
                changed = True
        return changed

    def stop(self) -> list[Job]:
        """Give up all that is under way. Returns what it was."""
        stopped = [running.job for running in self._running.values()]
        for running in self._running.values():
            running.given_up = True
        self._running.clear()
        for given_up in self._only.values():
            given_up.append(True)
        return stopped

    def tell(self) -> None:
        """Note that something has gone on; from any thread, as often as one likes."""
        now = time.monotonic()
        if now - self._told_at >= _TELL_S:
            self._told_at, self._told = now, True
            self._call(lambda: None)

    def told(self) -> bool:
        """Whether something has gone on since this was last asked."""
        told, self._told = self._told, False
        return told

    def only_one(self, kind: str) -> list[bool]:
        """What says, when it is no longer empty, that a later piece of work of this kind has taken the place of this one."""
        self._only.get(kind, []).append(True)
        given_up: list[bool] = []
        self._only[kind] = given_up
        return given_up

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        """Do something in one of the threads."""
        return self._pool.submit(work)

    def close(self) -> None:
        """Give up everything and wait for it."""
        self._closing = True
        self.stop()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _begin(self, job: Job, findings: Findings) -> None:
        running = self._running[job.key] = _Running(job)

        def cancel() -> bool:
            return running.given_up or self._closing

        def tell(what: str, done: int, total: int) -> None:
            running.busy = Busy(what, done, total)
            self.tell()

        def work() -> Any:
            if cancel():
                raise Cancelled
            with asking(cancel):
                return job.work(tell, cancel)

        def done(found: Future[Any]) -> None:
            if not (found.cancelled() or cancel()):
                self._call(lambda: take(found.exception() or found.result()))

        def take(value: Any) -> None:
            if self._running.get(job.key) is running:
                del self._running[job.key]
                findings.deliver(job, value)

        self._pool.submit(work).add_done_callback(done)
