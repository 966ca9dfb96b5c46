"""The async session: commands go in, frozen snapshots come out.

The explorer works in one worker thread, in slices of some milliseconds; between two slices commands are taken in and, not too
often, a snapshot goes out. Reading and counting a corpus happen in a second thread on objects of their own, so what is open
stays usable and untouched until the new one is ready.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tokentui import commands as do
from tokentui.errors import Cancelled
from tokentui.explorer import Explorer, Prepared, Run, nothing
from tokentui.loading import Hooks, open_corpus, prepare
from tokentui.recipe import Recipe
from tokentui.snapshot import Busy, Snapshot

PUBLISH_S = 0.1
"""The least time between two snapshots of a run; after a command one goes out at once."""
SWITCH_S = 0.0005
"""How long a thread may keep the interpreter while a session runs: keys wait for no longer (the default is ten times that)."""
KEPT_TRAINERS = 6
"""How many trained recipes are kept, so that going back to one is instant."""

Publish = Callable[[Snapshot], None]


class Session:
    """A running exploration.

    Args:
        publish: Called on the event loop with each snapshot.
        recipe: What is trained first.
        run: Its stops, and what its ids begin with.
    """

    def __init__(self, publish: Publish, recipe: Recipe | None = None, run: Run | None = None) -> None:
        self.idle = asyncio.Event()
        """Set while there is nothing to do: no command waiting, no step to make, nothing being opened."""
        self._publish = publish
        self._explorer = Explorer(nothing(recipe or Recipe(), run))
        self._commands: list[tuple[do.Command | _Install, asyncio.Future[Any]]] = []
        self._wake = asyncio.Event()
        self._closing = False
        self._worker = ThreadPoolExecutor(1, "tokentui-engine")
        self._loader = ThreadPoolExecutor(1, "tokentui-loader")
        self._loading: _Loading | None = None
        self._kept: OrderedDict[tuple[object, ...], Prepared] = OrderedDict()
        self._task: asyncio.Task[None] | None = None
        self._switch_interval = sys.getswitchinterval()

    async def start(self) -> None:
        """Begin to take commands; the first snapshot shows an empty corpus."""
        sys.setswitchinterval(SWITCH_S)
        self._collects = gc.isenabled()
        # A collection among millions of numbers holds up every key for some tens of milliseconds: collect when idle.
        gc.disable()
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._drive(), name="tokentui session")
        self._wake.set()

    async def close(self) -> None:
        """Stop, wherever it is. Waits for the slice under way."""
        self._closing = True
        self._cancel_loading()
        self._wake.set()
        if self._task:
            await self._task
        for _, future in self._commands:
            future.cancel()
        # A reader that hangs on a device looks at its cancel callable; do not wait for it here.
        self._loader.shutdown(wait=False, cancel_futures=True)
        self._worker.shutdown(wait=True)
        sys.setswitchinterval(self._switch_interval)
        if self._collects:
            gc.enable()

    def send(self, command: do.Command) -> asyncio.Future[Any]:
        """Hand in a command.

        Returns:
            Its answer, once it is known; a `TokentuiError` where it cannot be done.
        """
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        future.add_done_callback(_look_at_error)
        if isinstance(command, do.Open | do.Use):
            self._load(command, future)
        else:
            if isinstance(command, do.CancelWork):
                self._cancel_loading()
            self._hand_in(command, future)
        return future

    def open(self, sources: Sequence[str], as_: str | None = None, field: str = "text") -> asyncio.Future[Any]:
        """Open several sources as one corpus: what the command line names."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        future.add_done_callback(_look_at_error)
        self._load(_OpenMany(tuple(sources), as_, field), future)
        return future

    def _hand_in(self, command: do.Command | _Install, future: asyncio.Future[Any]) -> None:
        self.idle.clear()
        self._commands.append((command, future))
        self._wake.set()

    # ---- the engine

    async def _drive(self) -> None:
        last = 0.0
        shown: tuple[object, ...] = ()
        while not self._closing:
            self._wake.clear()
            batch, self._commands = self._commands, []
            now = time.monotonic()
            due = bool(batch) or now - last >= PUBLISH_S
            self._explorer.busy = self._loading.busy if self._loading else None
            wait, answers, state, snapshot = await self._loop.run_in_executor(self._worker, self._turn, batch, due, shown)
            for future, answer in answers:
                _resolve(future, answer)
            if snapshot is not None:
                last, shown = time.monotonic(), state
                self._publish(snapshot)
            working = self._explorer.at_work or self._loading is not None
            if not self._commands and not working and state == shown and not self._wake.is_set():
                self.idle.set()
                gc.collect(1)
            if self._wake.is_set() or (working and wait <= 0 and self._loading is None):
                continue
            if not working and state == shown:
                await self._wake.wait()
                continue
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), min(wait, PUBLISH_S) if wait > 0 else PUBLISH_S)

    def _turn(
        self, batch: list[tuple[do.Command | _Install, asyncio.Future[Any]]], due: bool, shown: tuple[object, ...]
    ) -> tuple[float, list[tuple[asyncio.Future[Any], Any]], tuple[object, ...], Snapshot | None]:
        """One slice, in the worker: take in commands, work, look."""
        explorer = self._explorer
        answers: list[tuple[asyncio.Future[Any], Any]] = []
        for command, future in batch:
            try:
                if isinstance(command, _Install):
                    explorer.install(command.prepared, command.step)
                    answers.append((future, None))
                else:
                    explorer.handle(command, lambda answer, future=future: self._later(future, answer))  # type: ignore[misc]
            except Exception as error:
                answers.append((future, error))
        wait = explorer.work(time.monotonic()) if explorer.at_work else 0.0
        state = (explorer.prepared, explorer.trainer.number, explorer.at_work, explorer.busy)
        snapshot = explorer.snapshot() if batch or (due and state != shown) or (state != shown and not explorer.at_work) else None
        return wait, answers, state, snapshot

    def _later(self, future: asyncio.Future[Any], answer: Any) -> None:
        self._loop.call_soon_threadsafe(_resolve, future, answer)

    # ---- opening

    def _load(self, command: do.Open | do.Use | _OpenMany, future: asyncio.Future[Any]) -> None:
        self._cancel_loading()
        self.idle.clear()
        loading = _Loading(self._wake_from_thread)
        self._loading = loading
        task = asyncio.create_task(self._load_in_thread(command, loading, future), name="tokentui loading")
        loading.task = task
        self._wake.set()

    def _cancel_loading(self) -> None:
        if self._loading:
            self._loading.cancelled = True

    def _wake_from_thread(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may have closed meanwhile
            self._loop.call_soon_threadsafe(self._wake.set)

    async def _load_in_thread(
        self, command: do.Open | do.Use | _OpenMany, loading: _Loading, future: asyncio.Future[Any]
    ) -> None:
        was = self._explorer.prepared
        place = self._explorer.trainer.number
        changed = False

        def partial(prepared: Prepared) -> None:
            nonlocal changed
            changed = True
            self._loop.call_soon_threadsafe(self._install, prepared, 0)

        hooks = Hooks(loading.tell, partial, lambda: loading.cancelled or self._closing)
        try:
            prepared = await self._loop.run_in_executor(self._loader, self._read_and_prepare, command, was, hooks)
        except Exception as error:
            if changed and self._loading is loading:
                await self._install(was, 0)
            _resolve(future, error)
        else:
            if loading.cancelled:
                if changed and self._loading is loading:
                    await self._install(was, 0)
                _resolve(future, Cancelled())
            else:
                self._keep(was)
                self._keep(prepared)
                keeps_place = isinstance(command, do.Use)
                await self._install(prepared, place if keeps_place else prepared.trainer.number)
                gc.freeze()  # millions of numbers that live on: not to be walked by each collection
                _resolve(future, None)
        finally:
            if self._loading is loading:
                self._loading = None
            self._wake.set()

    def _read_and_prepare(self, command: do.Open | do.Use | _OpenMany, was: Prepared, hooks: Hooks) -> Prepared:
        """Read and lay out, in the loader's thread."""
        if isinstance(command, do.Use):
            corpus, recipe = was.corpus, command.recipe
            run = Run.of(dict(command.run)) if command.run is not None else was.run
        else:
            source = command.sources if isinstance(command, _OpenMany) else command.source
            corpus = open_corpus(source, command.as_, command.field, hooks)
            recipe, run = was.recipe, was.run
        for kept in self._kept.values():
            if kept.corpus is corpus and kept.recipe == recipe and kept.key[3:] == (
                run.stops.max_length, run.first_id, run.specials,
            ):
                return Prepared(corpus, recipe, run, kept.trainer)
        return prepare(corpus, recipe, run, hooks)

    def _install(self, prepared: Prepared, step: int) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = self._loop.create_future()
        future.add_done_callback(_look_at_error)
        self._hand_in(_Install(prepared, step), future)
        return future

    def _keep(self, prepared: Prepared) -> None:
        if prepared.partial:
            return
        self._kept[prepared.key] = prepared
        self._kept.move_to_end(prepared.key)
        for key in [key for key, kept in self._kept.items() if kept.corpus is not prepared.corpus]:
            del self._kept[key]  # trainers of a corpus that is no longer open
        while len(self._kept) > KEPT_TRAINERS:
            self._kept.popitem(last=False)


class _Install:
    """Stand on what has been prepared: a command that only the session itself gives."""

    def __init__(self, prepared: Prepared, step: int) -> None:
        self.prepared = prepared
        self.step = step


class _OpenMany:
    """Open several sources as one corpus."""

    def __init__(self, sources: tuple[str, ...], as_: str | None, field: str) -> None:
        self.sources = sources
        self.as_ = as_
        self.field = field


class _Loading:
    """A corpus being opened: how far it is, and whether it was given up."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self.busy = Busy("opening", 0, 0)
        self.cancelled = False
        self.task: asyncio.Task[None] | None = None
        self._wake = wake
        self._told = 0.0

    def tell(self, what: str, done: int, total: int) -> None:
        """Take in how far it is; from any thread, as often as one likes."""
        self.busy = Busy(what, done, total)
        now = time.monotonic()
        if now - self._told >= PUBLISH_S:
            self._told = now
            self._wake()


def _resolve(future: asyncio.Future[Any], answer: Any) -> None:
    if future.done():
        return
    if isinstance(answer, BaseException):
        future.set_exception(answer)
    else:
        future.set_result(answer)


def _look_at_error(future: asyncio.Future[Any]) -> None:
    """Mark a failure as seen: who does not wait for an answer is not told of it by the event loop either."""
    if not future.cancelled():
        future.exception()
