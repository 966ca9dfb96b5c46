"""The async session: commands go in, frozen snapshots come out.

One worker thread walks the columns, in slices of some milliseconds; between two slices it takes in commands
and publishes a snapshot. Another thread reads and counts, two more run queries, on objects of their own.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, cast

from tokentui.core import jit
from tokentui.core.errors import Cancelled
from tokentui.core.jobs import job, seen
from tokentui.core.runtime import responsive
from tokentui.recipe import Recipe, Run
from tokentui.session import commands as do
from tokentui.session.beside import Beside
from tokentui.session.column import EDITABLE_BYTES
from tokentui.session.jobs import (
    PUBLISH_S,
    QUIET_S,
    Answer,
    JobPool,
    Line,
    Loading,
    resolve,
    tell_failure,
    warm,
)
from tokentui.session.opening import Hooks, Prepared, Shelf, nothing
from tokentui.session.queries import answered
from tokentui.session.snapshot import Snapshot
from tokentui.session.state import State
from tokentui.session.sync import SLICE_S

ARRIVE_S = 0.05
"""Seconds to walk a new training towards the kept position before it is shown; the screen changes once."""
LOOK_S = 0.5
"""The most seconds for one match of a pattern in text that is only displayed, such as the typed text."""
REST_S = 0.15
"""Seconds without movement of the columns before queries about the position start."""
COLLECT_S = 1.0
"""A collection takes some tens of milliseconds: it is made when nothing has been asked for so long."""
REBUILD_BYTES = 200_000
"""A smaller corpus is not laid out again when kernels are loaded: plain Python steps through it as quickly as
one looks."""

Publish = Callable[[Snapshot], None]
Work = Callable[[], object]
_A = TypeVar("_A")


class Session:
    """A running session.

    Args:
        publish: Called on the event loop with each snapshot.
        recipe: The recipe of the first training.
        run: Its stops, first id and special tokens.
        kernels: True to compile and load the kernels in the background.
    """

    def __init__(
        self, publish: Publish, recipe: Recipe | None = None, run: Run | None = None, *, kernels: bool = False
    ) -> None:
        self.idle = asyncio.Event()
        """Set while there is nothing to do: no command waiting, no step to make, nothing being opened or
        found."""
        self._publish = publish
        self._state = State(nothing(recipe or Recipe(), run))
        self._open = self._shown = self._state.prepared
        """The training opened last, and the one installed last; the latter may be a partial one."""
        self._batch: list[tuple[do.Command[object] | Work, Answer]] = []
        self._taken_in = self._batch
        """The commands of the slice under way."""
        self._line = Line()
        self._wake = asyncio.Event()
        self._closing = False
        self._responsive = contextlib.ExitStack()
        self._worker = ThreadPoolExecutor(1, "tokentui-engine")
        self._loader = ThreadPoolExecutor(1, "tokentui-loader")
        self._columns = JobPool("tokentui-columns", 1, self._call)
        self._pool = JobPool("tokentui-beside", 2, self._call)
        self._beside = Beside(self._state, self._pool, self._columns)
        self._loading: Loading | None = None
        self._installing: Prepared | None = None
        """The training that is installed but not yet at its position."""
        self._shelf = Shelf()
        self._task: asyncio.Task[None] | None = None
        self._kernels = kernels
        self._warming: asyncio.Task[bool] | None = None
        self._stamp: tuple[object, ...] = ()
        self._moved, self._rested = 0.0, True
        self._quiet_until = 0.0
        """The time until which what is trained anew is not shown on its way to its place."""
        if kernels:
            jit.compile_elsewhere()

    async def start(self) -> None:
        """Begin to take commands; the first snapshot shows an empty corpus."""
        self._responsive.enter_context(responsive())
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
        for _, future in self._batch:
            future.cancel()
        for one in self._line.take_all():
            one.answer.cancel()
        # A reader that hangs on a device looks at its job; do not wait for it here.
        self._loader.shutdown(wait=False, cancel_futures=True)
        self._columns.close(wait=False)
        self._pool.close()
        self._worker.shutdown(wait=True)
        self._responsive.close()

    def send(self, command: do.Command[_A]) -> asyncio.Future[_A]:
        """Hand in a command.

        Returns:
            Its answer, once it is known; a `TokentuiError` where it cannot be done.
        """
        answer: Answer = asyncio.get_running_loop().create_future()
        answer.add_done_callback(seen)
        if isinstance(command, do.CancelWork):
            self._line.drop("dropped", loads=True)
            self._cancel_loading()
            self._hand_in(command, answer)
        else:
            self._give(command, answer)
        return cast("asyncio.Future[_A]", answer)

    def _tell_engine(self, engine: str) -> None:
        self._state.engine = engine
        self._wake.set()

    # ---- what waits

    def _give(self, command: do.Command[object], answer: Answer) -> None:
        """Do it, or let it wait for what it needs."""
        self.idle.clear()
        self._wake.set()
        if isinstance(command, do.Play) and command.on is None and self._state.sync.playing:
            self._hand_in(do.Play(False), answer)  # what is seen to run is stopped, whatever comes
        elif command.decides:
            if self._line.admits(command, self._loading.command if self._loading else None):
                self._load(command, answer)
            else:
                self._line.add(command, answer)
        elif command.need > self._there or (self._line and command.in_order and self._line.keeps_order):
            self._line.add(command, answer)
        else:
            self._hand_in(command, answer)

    @property
    def _there(self) -> do.Need:
        """The state that is available to commands."""
        loading, state = self._loading, self._state
        if loading is None:
            if self._installing is not None or state.sync.arrival is not None:
                return do.Need.STEPS
            walks = any(
                isinstance(one, do.Command) and one.walks for one, _ in (*self._taken_in, *self._batch)
            )
            return do.Need.WHOLE if walks or state.sync.walking else do.Need.REST
        if loading.part is not None:
            return do.Need.ARRIVED if loading.part.opened else do.Need.CORPUS
        if self._shown.nothing:
            return do.Need.NOTHING
        return do.Need.SIGHT if do.Decides.CORPUS in loading.command.decides else do.Need.CORPUS

    def _go_on(self) -> bool:
        """Do what comes next of what waits, where there is what it needs.

        Returns whether something was done.
        """
        command = self._line.head
        if command is None:
            return False
        if command.decides:
            ready = self._loading is None and self._there >= do.Need.REST
        else:
            # What waits is done as if each had been asked for when the one before it was done.
            ready = command.need <= self._there and not (
                command.in_order and (self._state.sync.walking or self._batch)
            )
        if ready:
            for one in self._line.take():
                if one.command.decides:
                    self._load(one.command, one.answer)
                else:
                    self._hand_in(one.command, one.answer)
        return ready

    def _hand_in(self, work: do.Command[object] | Work, answer: Answer) -> None:
        if self._closing:  # nothing would come to it
            answer.cancel()
            return
        self.idle.clear()
        self._batch.append((work, answer))
        self._wake.set()

    def _call(self, work: Work) -> None:
        """Have something done between two slices; from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop may have closed meanwhile
            self._loop.call_soon_threadsafe(self._do, work)

    def _do(self, work: Work) -> Answer:
        answer: Answer = self._loop.create_future()
        answer.add_done_callback(seen)
        self._hand_in(work, answer)
        return answer

    # ---- the engine

    async def _drive(self) -> None:
        last, state = 0.0, self._state
        while not self._closing:
            self._wake.clear()
            if self._line:
                self._go_on()
            batch, self._batch = self._batch, []
            self._taken_in = batch
            now = time.monotonic()
            waiting = self._line.said if self._line else ""
            due = bool(batch) or now - last >= PUBLISH_S or waiting != state.waiting
            state.waiting = waiting
            state.busy = (
                self._loading.shown(bool(waiting) or state.prepared.nothing) if self._loading else None
            )
            wait, answers, snapshot = await self._loop.run_in_executor(self._worker, self._turn, batch, due)
            self._taken_in = []
            for future, answer in answers:
                resolve(future, answer)
            if snapshot is not None:
                last = time.monotonic()
                self._publish(snapshot)
                if self._kernels and self._warming is None:  # not before the first paint
                    self._warming = asyncio.create_task(warm(self._tell_engine), name="tokentui kernels")
                    self._warming.add_done_callback(lambda _: self._wake.set())
            self._rebuild()
            working = state.sync.at_work or self._loading is not None
            if self._line and (self._go_on() or not working):
                continue
            if self._wake.is_set() or (working and wait <= 0 and self._loading is None):
                continue
            unchanged = state.stamp() == self._stamp
            if (
                not working
                and unchanged
                and self._rested
                and not self._pool.running
                and not self._columns.running
            ):
                self.idle.set()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), COLLECT_S)
                    continue
                gc.collect(1)
                await self._wake.wait()
                continue
            timeout = min(wait, PUBLISH_S) if wait > 0 else PUBLISH_S
            if not working and unchanged:  # jobs and openings wake it
                timeout = max(0.001, self._moved + REST_S - now) if not self._rested else COLLECT_S
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), timeout)

    def _turn(
        self, batch: list[tuple[do.Command[object] | Work, Answer]], due: bool
    ) -> tuple[float, list[tuple[Answer, object]], Snapshot | None]:
        """One slice, in the worker: take in commands, work, look. A pattern that is slow over what is looked
        at makes way for the next command."""
        state, sync, answers = self._state, self._state.sync, list[tuple[Answer, object]]()
        before, installed = state.prepared, False
        with job(cancel=lambda: self._closing or bool(self._batch), match_seconds=LOOK_S):
            for one, future in batch:
                try:
                    if isinstance(one, do.Command):
                        self._take_in(one, future)
                    else:
                        answers.append((future, one()))
                except Exception as error:
                    answers.append((future, error))
            installed = state.prepared is not before
            now = time.monotonic()
            wait = state.work(now, ARRIVE_S if installed else SLICE_S) if sync.at_work else 0.0
            if state.side_by_side:
                self._find(now)
            if sync.arrival is not None and now < self._quiet_until and not state.waiting:
                # the screen changes once, when what is trained anew has come to its place
                return wait, answers, None
            stamp = state.stamp()
            if not (batch or (stamp != self._stamp and (due or not sync.at_work))):
                return wait, answers, None
            try:
                snapshot = state.snapshot()
            except Cancelled:
                return wait, answers, None
            self._stamp = state.stamp()
            return wait, answers, snapshot

    def _take_in(self, command: do.Command[object], future: Answer) -> None:
        """Begin what a command asks for."""
        state, sync = self._state, self._state.sync
        if command.walks and sync.walking and not (isinstance(command, do.Move) and sync.goal is not None):
            state.work(time.monotonic())  # what was asked for in the same moment is begun, and is not undone
        later = lambda answer: self._later(future, answer)  # noqa: E731
        if isinstance(command, do.NextPassage):
            self._beside.find_passage(command, later)
        elif isinstance(command, do.HoldOut):
            self._beside.hold_out(command, later)
        elif command.lane is do.Lane.BESIDE:
            at, prepared = state.at_step(), state.prepared
            self._pool.submit(type(command).__name__, lambda tell: answered(command, at, prepared), later)
        else:
            if isinstance(command, do.CancelWork):
                state.results.give_up(self._pool)
                for key in ("passage", "held out"):
                    self._pool.give_up(key)
                    self._columns.give_up(key)
            state.handle(command, later)
            for column in sync.columns:
                if column.prepared is None and not column.error:
                    self._beside.open_column(column)

    def _later(self, future: Answer, answer: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may have closed meanwhile
            self._loop.call_soon_threadsafe(resolve, future, answer)

    # ---- background jobs

    def _find(self, now: float) -> None:
        """Find what belongs to the position once the columns rest there."""
        state = self._state
        position = state.stamp()[:4]
        if position != self._at:
            self._moved, self._at = now, position
        self._rested = not state.at_work and now - self._moved >= REST_S
        state.results.take_up(self._pool, state.view, self._rested)

    _at: tuple[object, ...] = ()

    def _rebuild(self) -> None:
        """Go on with kernels where they were loaded after what is trained was laid out and it makes a
        difference."""
        warming = self._warming
        if (
            warming is None
            or not warming.done()
            or warming.cancelled()
            or warming.exception()
            or not warming.result()
        ):
            return
        if (
            self._closing
            or self._loading
            or self._installing
            or self._columns.running
            or self._open.corpus.size < REBUILD_BYTES
        ):
            return

        def replaced(was: Prepared, prepared: Prepared) -> None:
            if self._open is was:
                self._open = self._shown = prepared
                self._shelf.keep(prepared)

        if self._beside.lay_out_again(replaced):
            self.idle.clear()

    # ---- opening

    def _load(self, command: do.Command[object], answer: Answer) -> None:
        self._cancel_loading()
        if self._closing:
            answer.cancel()
            return
        self.idle.clear()
        for key in [key for key in self._columns.running if str(key).startswith("again")]:
            self._columns.give_up(key)
        loading = Loading(command, self._wake_from_thread)
        self._loading = loading
        anew = isinstance(command, do.SetRecipe | do.TrainOnText)
        self._quiet_until = loading.since + QUIET_S if anew else 0.0
        task = asyncio.create_task(self._load_in_thread(command, loading, answer), name="tokentui loading")
        # where it ended without an answer, as at the end of the session
        task.add_done_callback(lambda _: answer.cancel())
        self._wake.set()

    def _cancel_loading(self) -> None:
        if self._loading:
            self._loading.give_up()

    def _wake_from_thread(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may have closed meanwhile
            self._loop.call_soon_threadsafe(self._wake.set)

    async def _load_in_thread(self, command: do.Command[object], loading: Loading, answer: Answer) -> None:
        was, fresh = self._open, command.fresh

        def take_part(prepared: Prepared) -> None:
            if loading.cancelled or loading.done:
                return
            if loading.quiet and not fresh:
                self._loop.call_later(QUIET_S / 5, take_part, prepared)
                return
            loading.part = prepared
            self._install(prepared, keep_place=not fresh, keep_view=isinstance(command, do.TrainOnText))

        def partial(prepared: Prepared) -> None:
            self._loop.call_soon_threadsafe(take_part, prepared)

        hooks = Hooks(loading.tell, partial)
        load = cast("do.Command[None]", command)

        def prepare() -> Prepared:
            with job(cancel=lambda: loading.cancelled or self._closing):
                return self._shelf.prepared(load, was, hooks)

        work = self._loop.run_in_executor(self._loader, prepare)
        work.add_done_callback(seen)
        try:
            prepared = await loading.result(work)
        except Exception as error:
            # left behind, with objects of its own: the next opening has a thread of its own too
            if not work.done():
                self._loader.shutdown(wait=False)
                self._loader = ThreadPoolExecutor(1, "tokentui-loader")
            await self._put_back(loading, was)
            resolve(answer, error)
        else:
            if loading.cancelled:
                await self._put_back(loading, was)
                resolve(answer, Cancelled())
            else:
                self._shelf.keep(was)
                self._shelf.keep(prepared)
                loading.done, self._open = True, prepared
                await self._install(
                    prepared, keep_place=not (fresh or prepared.opened),
                    keep_view=isinstance(command, do.TrainOnText),
                )
                if prepared.corpus.size > EDITABLE_BYTES:
                    gc.freeze()  # millions of numbers that live on: not to be walked by each collection
                resolve(answer, None)
        finally:
            if self._loading is loading:
                self._loading = None
            self._wake.set()

    async def _put_back(self, loading: Loading, was: Prepared) -> None:
        """Go back to what was there before an opening that came to nothing."""
        if self._loading is loading:
            self._line.drop("not done, what it waited for is not there", loads=False)
            if self._shown is not was:
                await self._install(was)

    def _install(self, prepared: Prepared, *, keep_place: bool = False, keep_view: bool = False) -> Answer:
        self._shown = prepared

        def install() -> None:
            self._state.install(prepared, self._state.kept if keep_place else None, keep_view=keep_view)

        answer = self._do(install)
        if not prepared.partial:
            self._installing = prepared

            def installed(_: object) -> None:
                if self._installing is prepared:
                    self._installing = None

            answer.add_done_callback(installed)
        return answer
