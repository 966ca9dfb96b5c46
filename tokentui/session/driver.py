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
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from tokentui.core import jit
from tokentui.core.errors import Cancelled
from tokentui.recipe import Recipe
from tokentui.session import commands as do
from tokentui.session.compared import ColumnWanted, CompareSnapshot
from tokentui.session.comparing import CompareSession, compare_from
from tokentui.session.explorer import SCRATCH_BYTES, SLICE_S, Explorer, Glance, Prepared, Run, nothing
from tokentui.session.futures import look_at_error, resolve, tell_failure
from tokentui.session.opening import Hooks
from tokentui.session.queries import Answer, answered
from tokentui.session.requests import PUBLISH_S as PUBLISH_S
from tokentui.session.requests import Glancing, Install, Loaded, Loading, OpenMany, Rebuild
from tokentui.session.shelf import Shelf
from tokentui.session.snapshot import Snapshot
from tokentui.session.waiting import Line, Need, in_order, is_load, is_step, need, need_of, there
from tokentui.session.warming import warm
from tokentui.text.patience import asking

SWITCH_S = 0.0005
"""How long a thread may keep the interpreter while a session runs: keys wait for no longer (the default is ten times that)."""
ARRIVE_S = 0.05
"""How long to walk towards the place that is kept before a training that is new is shown: so that what is seen changes once."""
LOOK_S = 0.5
"""What a pattern may take over a match in what is only looked at, such as the text that somebody types."""
REBUILD_BYTES = 200_000
"""A smaller corpus is not laid out again when kernels are loaded: plain Python steps through it as quickly as one looks."""
Publish = Callable[[Snapshot], None]


class Session:
    """A running exploration.

    Args:
        publish: Called on the event loop with each snapshot.
        recipe: What is trained first.
        run: Its stops, and what its ids begin with.
        kernels: Whether compiled kernels are made ready beside it.
    """

    def __init__(
        self, publish: Publish, recipe: Recipe | None = None, run: Run | None = None, *, kernels: bool = False
    ) -> None:
        self.idle = asyncio.Event()
        """Set while there is nothing to do: no command waiting, no step to make, nothing being opened."""
        self._publish = publish
        self._explorer = Explorer(nothing(recipe or Recipe(), run))
        self._open = self._shown = self._explorer.prepared
        """What was opened last, and what was last handed in to be stood on: a part of what is being opened may be."""
        self._commands: list[tuple[do.Command | Install | Glancing, asyncio.Future[Any]]] = []
        self._taken_in = self._commands
        """The commands of the slice under way."""
        self._line = Line()
        self._wake = asyncio.Event()
        self._closing = False
        self._worker = ThreadPoolExecutor(1, "tokentui-engine")
        self._loader = ThreadPoolExecutor(1, "tokentui-loader")
        self._beside = ThreadPoolExecutor(2, "tokentui-beside")
        self._asides: dict[type, list[bool]] = {}
        self._loading: Loading | None = None
        self._installing: Prepared | None = None
        """What is handed in and not yet stood on."""
        self._plain: Prepared | None = None
        """What was laid out before the kernels were there."""
        self._shelf = Shelf()
        self._task: asyncio.Task[None] | None = None
        self._kernels = kernels
        self._warming: asyncio.Task[bool] | None = None
        self._switch_interval = sys.getswitchinterval()
        if kernels:
            jit.compile_elsewhere()

    async def start(self) -> None:
        """Begin to take commands; the first snapshot shows an empty corpus."""
        sys.setswitchinterval(SWITCH_S)
        self._collects = gc.isenabled()
        # A collection among millions of numbers holds up every key for some tens of milliseconds: collect when idle.
        gc.disable()
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._drive(), name="tokentui session")
        self._task.add_done_callback(tell_failure)
        self._wake.set()

    async def close(self) -> None:
        """Stop, wherever it is. Waits for the slice under way."""
        self._closing = True
        self._cancel_loading()
        self._wake.set()
        if self._task:
            await asyncio.wait([self._task])
        if self._warming:
            self._warming.cancel()
            await asyncio.wait([self._warming])
        for _, future in (*self._commands, *self._line.take_all()):
            future.cancel()
        # A reader that hangs on a device looks at its cancel callable; do not wait for it here.
        self._loader.shutdown(wait=False, cancel_futures=True)
        for given_up in self._asides.values():
            given_up.append(True)
        self._beside.shutdown(wait=True, cancel_futures=True)
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
        future.add_done_callback(look_at_error)
        if isinstance(command, do.Aside):
            self._set_aside(command, future)
        elif isinstance(command, do.CancelWork):
            self._line.drop("dropped", loads=True)
            self._cancel_loading()
            self._hand_in(command, future)
        else:
            self._give(command, future)
        return future

    def open(self, sources: Sequence[str], as_: str | None = None, field: str = "text") -> asyncio.Future[Any]:
        """Open several sources as one corpus: what the command line names."""
        return self._begin(OpenMany(tuple(sources), as_, field))

    def open_tokenizer(self, path: str, split: str, sources: Sequence[str], as_: str | None = None, field: str = "text"
                       ) -> asyncio.Future[Any]:
        """Open a tokenizer file on such a corpus."""
        return self._begin(OpenMany(tuple(sources), as_, field, do.OpenTokenizer(path, split)))

    async def comparing(
        self, publish: Callable[[CompareSnapshot], None], wanted: Sequence[ColumnWanted]
    ) -> CompareSession:
        """Columns beside each other on the corpus that is open, or being opened; the comparison is yet to be started."""
        glanced: asyncio.Future[Any] = self._loop.create_future()
        self._give(Glancing(Need.WHOLE), glanced)
        glance = await glanced
        return compare_from(publish, self._explorer.prepared, glance, wanted, self._warming)

    def _begin(self, command: Loaded) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        future.add_done_callback(look_at_error)
        self._give(command, future)
        return future

    def _rebuild(self) -> None:
        """Go on with kernels, where they were loaded after what is trained was laid out and it makes a difference."""
        now, warming = self._explorer.prepared, self._warming
        done = warming and warming.done() and not warming.cancelled() and warming.exception() is None and warming.result()
        if done and now is self._plain and not (self._closing or self._loading or self._installing):
            self._plain = None
            if not now.opened and now.corpus.size >= REBUILD_BYTES:
                self._load(Rebuild(), self._loop.create_future())

    def _tell_engine(self, engine: str) -> None:
        self._explorer.engine = engine
        self._wake.set()

    # ---- what waits

    def _give(self, command: do.Command | Glancing | Loaded, future: asyncio.Future[Any]) -> None:
        """Do it, or let it wait for what it needs."""
        self.idle.clear()
        self._wake.set()
        if isinstance(command, do.Play) and command.on is None and self._explorer.running:
            self._hand_in(do.Play(False), future)  # what is seen to run is stopped, whatever comes
        elif is_load(command) and self._line.admits(command, self._loading and self._loading.command):
            self._load(command, future)  # type: ignore[arg-type]
        elif is_load(command) or need(command) > self._there or (in_order(command) and self._line.keeps_order):
            self._line.add(command, future)
        else:
            self._hand_in(command, future)  # type: ignore[arg-type]

    @property
    def _there(self) -> Need:
        commands = (*self._taken_in, *self._commands)
        return there(self._loading, self._explorer, self._shown, commands, arrives=self._installing is not None)

    def _go_on(self) -> bool:
        """Do what comes next of what waits, where there is what it needs. Returns whether something was done."""
        command = self._line.head
        if command is None:
            return False
        if is_load(command):
            ready = (self._loading is None or isinstance(self._loading.command, Rebuild)) and self._there >= Need.REST
        else:
            # What waits is done as if each had been asked for when the one before it was done.
            ready = need(command) <= self._there and not (in_order(command) and (self._explorer.walking or self._commands))
        if ready:
            for command, future in self._line.take():
                if is_load(command):
                    self._load(command, future)
                else:
                    self._hand_in(command, future)
        return ready

    def _hand_in(self, command: do.Command | Install | Glancing, future: asyncio.Future[Any]) -> None:
        if self._closing:  # nobody would come to it
            future.cancel()
            return
        self.idle.clear()
        self._commands.append((command, future))
        self._wake.set()

    # ---- the engine

    async def _drive(self) -> None:
        last = 0.0
        shown: tuple[object, ...] = ()
        while not self._closing:
            self._wake.clear()
            self._rebuild()
            self._go_on()
            batch, self._commands = self._commands, []
            self._taken_in = batch
            now = time.monotonic()
            waiting = self._line.said
            due = bool(batch) or now - last >= PUBLISH_S or waiting != self._explorer.waiting
            self._explorer.waiting = waiting
            at_once = bool(waiting) or self._explorer.prepared.nothing
            self._explorer.busy = self._loading.shown(now, at_once) if self._loading else None
            wait, answers, state, snapshot = await self._loop.run_in_executor(self._worker, self._turn, batch, due, shown)
            self._taken_in = []
            for future, answer in answers:
                resolve(future, answer)
            if snapshot is not None:
                last, shown = time.monotonic(), state
                self._publish(snapshot)
                if self._kernels and self._warming is None:  # not before the first paint
                    self._warming = asyncio.create_task(warm(self._tell_engine), name="tokentui kernels")
                    self._warming.add_done_callback(lambda _: self._wake.set())
            working = self._explorer.at_work or self._loading is not None
            if self._line and (self._go_on() or (not working and not self._loading)):
                continue
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
        self, batch: list[tuple[do.Command | Install | Glancing, asyncio.Future[Any]]], due: bool, shown: tuple[object, ...]
    ) -> tuple[float, list[tuple[asyncio.Future[Any], Any]], tuple[object, ...], Snapshot | None]:
        """One slice, in the worker. A pattern that is slow over what is looked at makes way for the next command."""
        with asking(lambda: self._closing or bool(self._commands), LOOK_S):
            return self._slice(batch, due, shown)

    def _slice(
        self, batch: list[tuple[do.Command | Install | Glancing, asyncio.Future[Any]]], due: bool, shown: tuple[object, ...]
    ) -> tuple[float, list[tuple[asyncio.Future[Any], Any]], tuple[object, ...], Snapshot | None]:
        """Take in commands, work, look."""
        explorer = self._explorer
        answers: list[tuple[asyncio.Future[Any], Any]] = []
        for command, future in batch:
            try:
                if is_step(command) and not (isinstance(command, do.Move) and explorer.goal is not None) and explorer.walking:
                    explorer.work(time.monotonic())  # what was asked for in the same moment is begun, and is not undone
                if isinstance(command, Install):
                    if command.again:
                        explorer.take_over(command.prepared)
                    else:
                        stand = explorer.stand if command.keep_place else None
                        explorer.install(command.prepared, stand, keep_look=command.keep_look)
                    answers.append((future, None))
                elif isinstance(command, Glancing):
                    answers.append((future, explorer.glance()))
                else:
                    explorer.handle(command, lambda answer, future=future: self._later(future, answer))  # type: ignore[misc]
            except Exception as error:
                answers.append((future, error))
        installed = any(isinstance(command, Install) for command, _ in batch)
        wait = explorer.work(time.monotonic(), ARRIVE_S if installed else SLICE_S) if explorer.at_work else 0.0
        at = explorer.prepared, explorer.trainer.number, explorer.at_work
        state = (*at, explorer.busy, explorer.engine, explorer.waiting)
        wanted = batch or (due and state != shown) or (state != shown and not explorer.at_work)
        try:
            return wait, answers, state, explorer.snapshot() if wanted else None
        except Cancelled:
            return wait, answers, state, None

    def _later(self, future: asyncio.Future[Any], answer: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may have closed meanwhile
            self._loop.call_soon_threadsafe(resolve, future, answer)

    # ---- beside the training

    def _set_aside(self, command: do.Aside, future: asyncio.Future[Any]) -> None:
        """Answer on objects of its own, in another thread; a later question of the kind takes the place of an earlier one."""
        self._asides.get(type(command), []).append(True)
        given_up: list[bool] = []
        self._asides[type(command)] = given_up

        def cancel() -> bool:
            return bool(given_up) or future.cancelled() or self._closing

        def begin(glanced: asyncio.Future[Any]) -> None:
            if self._closing or glanced.cancelled():
                future.cancel()
            elif error := glanced.exception():
                resolve(future, error)
            else:
                self._beside.submit(work, glanced.result()).add_done_callback(done)

        def work(glance: Glance) -> Answer:
            with asking(cancel):
                return answered(command, glance, self._explorer.prepared, cancel)

        def done(found: Future[Answer]) -> None:
            self._later(future, Cancelled() if found.cancelled() else found.exception() or found.result())

        # The tokenizer is taken between two slices of work, where it belongs to one step.
        glanced: asyncio.Future[Any] = self._loop.create_future()
        glanced.add_done_callback(begin)
        future.add_done_callback(lambda _: glanced.cancel())  # where it waits, it waits no more
        self._give(Glancing(need_of(type(command))), glanced)

    # ---- opening

    def _load(self, command: Loaded, future: asyncio.Future[Any]) -> None:
        if self._loading and isinstance(self._loading.command, Rebuild) and not self._loading.done:
            self._plain = self._open  # to be laid out again if it stays
        self._cancel_loading()
        if self._closing:
            future.cancel()
            return
        self.idle.clear()
        loading = Loading(command, self._wake_from_thread)
        self._loading = loading
        task = asyncio.create_task(self._load_in_thread(command, loading, future), name="tokentui loading")
        loading.task = task
        task.add_done_callback(lambda _: future.cancel())  # where it ended without an answer, as at the end of the session
        self._wake.set()

    def _cancel_loading(self) -> None:
        if self._loading:
            self._loading.give_up()

    def _wake_from_thread(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may have closed meanwhile
            self._loop.call_soon_threadsafe(self._wake.set)

    async def _load_in_thread(
        self, command: Loaded, loading: Loading, future: asyncio.Future[Any]
    ) -> None:
        was = self._open
        plain = not jit.loaded()
        fresh = isinstance(command, do.Open | OpenMany | do.OpenTokenizer)

        def take_part(prepared: Prepared) -> None:
            if not loading.cancelled:
                loading.part = prepared
                self._install(prepared, keep_place=not fresh, keep_look=isinstance(command, do.Scratch))

        def partial(prepared: Prepared) -> None:
            if not isinstance(command, Rebuild):
                self._loop.call_soon_threadsafe(take_part, prepared)

        hooks = Hooks(loading.tell, partial, lambda: loading.cancelled or self._closing)
        work = self._loop.run_in_executor(self._loader, self._shelf.prepared, command, was, hooks)
        work.add_done_callback(look_at_error)
        try:
            prepared = await loading.result(work)
        except Exception as error:
            if not work.done():  # left behind, with objects of its own: the next opening has a thread of its own too
                self._loader.shutdown(wait=False)
                self._loader = ThreadPoolExecutor(1, "tokentui-loader")
            await self._put_back(loading, was)
            resolve(future, error)
        else:
            if loading.cancelled:
                await self._put_back(loading, was)
                resolve(future, Cancelled())
            else:
                self._shelf.keep(was)
                self._shelf.keep(prepared)
                loading.done, self._open = True, prepared
                again = isinstance(command, Rebuild)
                self._plain = prepared if plain and not again else None
                await self._install(prepared, keep_place=not (fresh or prepared.opened), again=again)
                if prepared.corpus.size > SCRATCH_BYTES:
                    gc.freeze()  # millions of numbers that live on: not to be walked by each collection
                resolve(future, None)
        finally:
            if self._loading is loading:
                self._loading = None
            self._wake.set()

    async def _put_back(self, loading: Loading, was: Prepared) -> None:
        """Stand again on what was there before an opening that came to nothing."""
        if self._loading is loading:
            self._line.drop("not done, what it waited for is not there", loads=False)
            if self._shown is not was:
                await self._install(was)

    def _install(
        self, prepared: Prepared, *, keep_place: bool = False, keep_look: bool = False, again: bool = False
    ) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = self._loop.create_future()
        future.add_done_callback(look_at_error)
        self._shown = prepared
        if not prepared.partial:
            self._installing = prepared

            def installed(_: object) -> None:
                if self._installing is prepared:
                    self._installing = None

            future.add_done_callback(installed)
        self._hand_in(Install(prepared, keep_place, keep_look, again), future)
        return future
