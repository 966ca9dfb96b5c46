"""Work in threads of its own: at most one job a key, the newest wins, and one that is given up is cancelled."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor

from tokentui.core.errors import Cancelled
from tokentui.core.jobs import job
from tokentui.session.views import Busy

TELL_S = 0.1
"""The least time between two reports of progress."""

Tell = Callable[[str, int, int], None]
"""Takes what is done in words, how far it is, and how far it goes (0 where that is not known)."""


class Running:
    """A job under way.

    Attributes:
        key: What it is about; another job of this key takes its place.
        signature: What its answer depends on.
        busy: How far it is.
        given_up: Whether it is wanted no longer.
    """

    def __init__(self, key: Hashable, signature: object, what: str) -> None:
        self.key = key
        self.signature = signature
        self.busy = Busy(what, 0, 0)
        self.given_up = False


class JobPool:
    """Threads for jobs.

    Args:
        name: The name of the threads.
        threads: How many there are.
        call: Has something done between two slices of the columns' work; from any thread.
    """

    def __init__(self, name: str, threads: int, call: Callable[[Callable[[], object]], None]) -> None:
        self._call = call
        self._pool = ThreadPoolExecutor(threads, name)
        self._closing = False
        self.running: dict[Hashable, Running] = {}
        """The jobs under way, by their keys."""
        self._told_at = 0.0
        self.told = 0
        """The number of progress reports by jobs so far."""

    def submit(
        self, key: Hashable, work: Callable[[Tell], object], take: Callable[[object], object], what: str = "",
        signature: object = None,
    ) -> None:
        """Begin a job in the place of one of the same key.

        Args:
            key: What it is about.
            work: Does it, in a thread, and returns its answer; it is told that it is given up by `Cancelled` at a tick.
            take: Called between two slices with the answer, or with what went wrong; by `Cancelled` where it is given up.
            what: What it is, in a few words.
            signature: What its answer depends on.
        """
        self.give_up(key)
        running = self.running[key] = Running(key, signature, what)

        def cancelled() -> bool:
            return running.given_up or self._closing

        def tell(what: str, done: int, total: int) -> None:
            running.busy = Busy(what, done, total)
            self.tell()

        def run() -> object:
            if cancelled():
                raise Cancelled
            with job(cancel=cancelled):
                return work(tell)

        def done(found: Future[object]) -> None:
            answer = Cancelled() if found.cancelled() or cancelled() else found.exception() or found.result()
            self._call(lambda: taken(answer))

        def taken(answer: object) -> None:
            if self.running.get(key) is running:
                del self.running[key]
            take(answer)

        self._pool.submit(run).add_done_callback(done)

    def give_up(self, key: Hashable) -> bool:
        """Give up the job of a key. Returns whether there was one."""
        running = self.running.pop(key, None)
        if running is not None:
            running.given_up = True
        return running is not None

    def tell(self) -> None:
        """Note that something has gone on; from any thread, as often as one likes."""
        now = time.monotonic()
        if now - self._told_at >= TELL_S:
            self._told_at = now
            self.told += 1
            self._call(lambda: None)

    def close(self, wait: bool = True) -> None:
        """Give up everything, and wait for it unless a reader may hang on a device."""
        self._closing = True
        for key in list(self.running):
            self.give_up(key)
        self._pool.shutdown(wait=wait, cancel_futures=True)
