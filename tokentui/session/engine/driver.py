"""The async session: commands go in, frozen snapshots come out.

All that comes in, commands and the answers of jobs, waits in one inbox. One worker thread, the engine, owns
the state. In each turn it runs what is in the inbox, walks the columns for some milliseconds, and makes a
snapshot. Another thread reads and counts, one opens columns, two run queries, on objects of their own.

The answers of a turn and its snapshot reach the event loop together. The futures of the answers are resolved,
then `publish` is called, then the callbacks of the futures run. So whoever waits for an answer finds the
snapshot of the same turn published. A turn may make no snapshot: while a new training walks to the kept
place, or if the next command has come already. Then the answer comes first, and the snapshot follows in a
later turn.

The explorer handles an answer before it shows the snapshot of the same turn, see `EngineLink.show_later`.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar, cast

from tokentui.core import engines
from tokentui.core.choices import Ref
from tokentui.core.errors import Cancelled
from tokentui.core.jobs import check, job, mark_retrieved, report_failure
from tokentui.core.runtime import responsive, turns
from tokentui.recipe import Recipe, Run
from tokentui.session import commands as do
from tokentui.session.engine.jobs import BackgroundQuery, JobPool, ignore
from tokentui.session.engine.queue import Answer, CommandQueue, summary, was_replaced
from tokentui.session.engine.state import State
from tokentui.session.snapshot import Snapshot
from tokentui.session.training.sync import SLICE_S
from tokentui.session.training.training import Training, TrainingCache, empty_training

PUBLISH_S = 0.1
"""The least time between two snapshots of a run; after a command one goes out at once."""
QUIET_S = 0.5
"""Seconds before the progress of another recipe or a typed text is shown; a faster one shows none."""
ARRIVE_S = 0.05
"""Seconds to walk a new training towards the kept position before it is shown; the screen changes once."""
DRAWN_S = 2.0
"""The maximum time in seconds that a loader waits for the snapshot of the part that it has read."""
YIELD_S = 0.15
"""Seconds for which the loader then leaves the interpreter to the screen."""
LOOK_S = 0.5
"""The time limit in seconds for one match of a pattern in text that is only displayed, such as typed text."""
REST_S = 0.15
"""Seconds without movement of the columns before queries about the position start."""
COLLECT_S = 1.0
"""A collection takes some tens of milliseconds: it is made when nothing has been asked for so long."""

Publish = Callable[[Snapshot], None]
_A = TypeVar("_A")


@dataclass(slots=True)
class Loading:
    """A corpus, a recipe or a tokenizer being opened in the first column.

    Attributes:
        command: The command that opens it.
        before: The training to go back to if it fails.
        since: The time at which it began.
        part: A part of it, to be shown before all of the corpus is counted.
        shows: True if a part, also of an opening before it, is shown.
        drawn: Set when a snapshot has the part. The loader waits for it, so that the two do not compete.
    """

    command: do.Command[object]
    before: Training
    since: float
    part: Training | None = None
    shows: bool = False
    drawn: threading.Event = field(default_factory=threading.Event)

    @property
    def quiet(self) -> bool:
        """True if the work has not run long enough yet to show its progress."""
        return time.monotonic() - self.since < (PUBLISH_S if self.command.fresh else QUIET_S)


class Session:
    """A running session.

    Args:
        publish: Called on the event loop with each snapshot.
        recipe: The recipe of the first training.
        run: Its stops, first id and special tokens.
    """

    def __init__(
        self, publish: Publish, recipe: Recipe | None = None, run: Run | None = None
    ) -> None:
        self.idle = asyncio.Event()
        """Set while there is nothing to do: no command waiting, no step to make, nothing being opened or
        found."""
        self._publish = publish
        self._inbox: list[Callable[[], object]] = []
        self._asked: set[Answer] = set()
        """The futures of commands that are not resolved yet."""
        self._wake = asyncio.Event()
        self._closing = False
        self._responsive = contextlib.ExitStack()
        self._worker = ThreadPoolExecutor(1, "tokentui-engine")
        self._task: asyncio.Task[None] | None = None
        # The engine's own.
        self.state = State(empty_training(recipe or Recipe(), run))
        """The columns. Only the engine's thread changes them, and none but it reads them while it works."""
        self._answers: list[tuple[Answer, object]] = []
        self._queue = CommandQueue(lambda answer, outcome: self._answers.append((answer, outcome)))
        self._loader = JobPool("tokentui-loader", 1, self._call_engine)
        self._columns = JobPool("tokentui-columns", 1, self._call_engine)
        self._pool = JobPool("tokentui-beside", 2, self._call_engine)
        self._loading: Loading | None = None
        self._cache = TrainingCache()
        self._touched = False
        """True if a command was done since the last snapshot."""
        self._stamp: tuple[object, ...] = ()
        self._published = self._moved = self._quiet_until = 0.0
        self._at: tuple[object, ...] = ()
        engines.tell = Ref("tokentui.session.persist.session_file:keep_account")

    @property
    def at_rest(self) -> bool:
        """True if there is nothing to do; see `idle`."""
        return self.idle.is_set()

    async def start(self) -> None:
        """Start the task that runs commands. The first snapshot, of an empty corpus, is published later."""
        self._responsive.enter_context(responsive())
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._drive(), name="tokentui session")
        self._task.add_done_callback(report_failure)

    async def close(self) -> None:
        """Cancel all jobs and queued commands, and end the engine thread after its current slice."""
        self._closing = True
        self._wake.set()
        if self._task:
            await asyncio.wait([self._task])
        if self._loading is not None:
            self._loading.drawn.set()
        for pool in (self._loader, self._columns, self._pool):
            pool.close()
        for answer in list(self._asked):
            answer.cancel()
        self._worker.shutdown(wait=True)
        self._responsive.close()

    def send(self, command: do.Command[_A]) -> asyncio.Future[_A]:
        """Send a command to the engine. Its answer is cancelled if the session closes.

        Returns:
            Its answer, once it is known; a `TokentuiError` if it cannot be done.
        """
        answer: Answer = asyncio.get_running_loop().create_future()
        answer.add_done_callback(mark_retrieved)
        if self._closing:
            answer.cancel()
        else:
            self._asked.add(answer)
            answer.add_done_callback(self._asked.discard)
            self._enqueue(lambda: self._accept(command, answer))
        return cast("asyncio.Future[_A]", answer)

    def _enqueue(self, work: Callable[[], object] | None) -> None:
        """Put a function into the inbox, or nothing for None, and wake the engine. Event loop only."""
        self.idle.clear()
        if work is not None:
            self._inbox.append(work)
        self._wake.set()

    def _call_engine(self, work: Callable[[], object] | None) -> None:
        """Let the engine thread call a function, or only take a turn for None. Safe from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop may have closed meanwhile
            self._loop.call_soon_threadsafe(self._enqueue, work)

    async def _drive(self) -> None:
        """Run a turn of the engine in its thread for each batch of commands, until the session closes.

        After a turn it sets the results, then publishes the snapshot, then sleeps as long as the turn says. A
        session without work is set idle, and its garbage is collected once after COLLECT_S seconds.
        """
        while not self._closing:
            self._wake.clear()
            batch, self._inbox = self._inbox, []
            wait, answers, snapshot = await self._loop.run_in_executor(self._worker, self._turn, batch)
            for future, answer in answers:
                if future.done():
                    continue
                if isinstance(answer, BaseException):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)
            if snapshot is not None:
                self._publish(snapshot)  # before the callbacks of the futures, which the loop calls later
                if (loading := self._loading) is not None and loading.shows:
                    self._loop.call_later(YIELD_S, loading.drawn.set)
            if wait == 0 or self._inbox:
                continue
            rests = wait is None and not (self._loader.running or self._columns.running or self._pool.running)
            if rests:
                self.idle.set()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), COLLECT_S if rests else wait)
                continue
            if rests:
                gc.collect(1)
                await self._wake.wait()

    # ---- the engine

    def _turn(
        self, batch: list[Callable[[], object]]
    ) -> tuple[float | None, list[tuple[Answer, object]], Snapshot | None]:
        """Run the commands of a batch, work for a slice, and take a snapshot. A slow pattern in a view is
        interrupted for the next command.

        Returns:
            The seconds until the next turn, None to wait for a command; the answers; a snapshot, None if
            nothing has changed.
        """
        state = self.state
        with job(cancel=lambda: self._closing or bool(self._inbox), match_seconds=LOOK_S):
            before = state.main.training
            self._run_batch(batch)
            now = time.monotonic()
            wait = self._work(now, ARRIVE_S if state.main.training is not before else SLICE_S)
            working = state.sync.has_work
            wait = self._start_jobs(now, wait)
            waits = state.waiting
            wait = self._report_work(wait)
            snapshot = self._new_snapshot(now, working, waits)
            under_way = self._columns.running
            if any(
                column.needs_fallback and ("column", (column.key,)) not in under_way
                for column in state.sync.columns
            ):
                wait = 0.0  # kernels failed at this look
            answers, self._answers = self._answers, []
        return wait, answers, snapshot

    def _run_batch(self, batch: list[Callable[[], object]]) -> None:
        """Run the commands of a batch, and show the part of a corpus that has been read."""
        for work in batch:
            work()
        if (loading := self._loading) is not None and loading.part is not None:
            self._show_part(loading, loading.part)

    def _work(self, now: float, seconds: float) -> float | None:
        """Run queued commands, and walk for a slice of so many seconds.

        Returns:
            The seconds until there is more to do; None if there is nothing.
        """
        wait = None
        if self._queue.waiting:
            self._run_queued()
        if self.state.sync.has_work:
            wait = self.state.sync.work(now, seconds)
            if self._queue.waiting:
                self._run_queued()
        return wait if self.state.sync.has_work else None

    def _report_work(self, wait: float | None) -> float | None:
        """Store what waits and what is under way in the state, for people.

        Returns:
            The seconds until the next turn, no later than progress is to be shown.
        """
        queued, loading, state = self._queue.waiting, self._loading, self.state
        state.waiting, state.busy = summary(queued) if queued else "", None
        if loading is not None:
            wait = min(PUBLISH_S if wait is None else wait, PUBLISH_S)
            if state.waiting or state.main.training.nothing_open or not loading.quiet:
                state.busy = self._loader.running["load"].busy
        # Jobs that commands begin have names for keys.
        asked = [job.busy for key, job in self._pool.running.items() if isinstance(key, str)]
        state.asked = next((busy for busy in asked if busy.left is not None), None)
        return wait

    def _new_snapshot(self, now: float, working: bool, waits: str) -> Snapshot | None:
        """Return a snapshot if something has changed and it is time to show it; else, or if it is
        interrupted, None.

        Args:
            now: The time by `time.monotonic`.
            working: True if columns walk, so that snapshots are taken at intervals.
            waits: The commands that waited before this turn, in words.
        """
        state = self.state
        # A new training comes to its place before it is shown: the screen changes once.
        quiet = now < self._quiet_until and state.sync.approaching_start and not state.waiting
        new = state.stamp() != self._stamp
        due = not working or now - self._published >= PUBLISH_S or waits != state.waiting
        due = due or state.sync.announces
        if (self._touched or (new and due)) and not quiet:
            # One that answers no command waits for the screen, which may be drawing a key.
            pause = ignore if self._touched else turns.wait
            with contextlib.suppress(Cancelled):
                snapshot = state.snapshot(pause)
                self._stamp, self._published, self._touched = state.stamp(), now, False
                return snapshot
        return None

    def _accept(self, command: do.Command[object], answer: Answer) -> None:
        """Run or load a command, or queue it until what it needs is available. A `Play` that toggles while
        columns play pauses them at once, whatever is queued."""
        queue = self._queue
        if queue.waiting:
            queue.prune()
        if isinstance(command, do.Play) and command.playing is None and self.state.sync.playing:
            self._run(do.Play(False), answer)  # what is seen to run is stopped, whatever comes
        elif command.lane is do.Lane.LOADER:
            if queue.admits(command, self._loading.command if self._loading else None):
                self._load(command, answer)
            else:
                queue.add(command, answer)
        elif (command.need and command.need > self._available) or (
            queue.waiting and command.in_order and queue.keeps_order
        ):
            queue.add(command, answer)
        else:
            self._run(command, answer)

    @property
    def _available(self) -> do.Need:
        """What commands can use now: whether the corpus is open and counted, and the columns are at their
        position. Commands that need more are queued."""
        loading, state = self._loading, self.state
        if loading is None:
            if state.sync.playing or not state.sync.has_work:
                return do.Need.IDLE
            return do.Need.STEPS if state.sync.approaching_start else do.Need.COUNTED
        if loading.shows:
            return do.Need.ARRIVED if state.main.training.opened else do.Need.CORPUS
        if state.main.training.nothing_open:
            return do.Need.NOTHING
        return do.Need.SHOWN if do.Part.CORPUS in loading.command.replaces else do.Need.CORPUS

    def _run_queued(self) -> None:
        """Run or load queued commands in order. Stop at the first one whose need is not met yet, or that has
        to wait for a load or a walk. Commands whose answer was cancelled are removed."""
        queue, sync = self._queue, self.state.sync
        while queue.waiting:
            queue.prune()
            if not queue.waiting:
                return
            command = queue.waiting[0].command
            if command.replaces:
                if self._loading is not None or self._available < do.Need.IDLE:
                    return
            # What waits is done as if each had been asked for when the one before it was done.
            elif command.need > self._available or (command.in_order and sync.has_work and not sync.playing):
                return
            for queued in queue.pop():
                if queued.command.replaces:
                    self._load(queued.command, queued.answer)
                else:
                    self._run(queued.command, queued.answer)

    def _run(self, command: do.Command[object], answer: Answer) -> None:
        """Run a command, or begin the job that answers it. An exception becomes the answer.

        A walk in progress first makes a slice of its work. `CancelWork` also drops queued commands, loading
        and results.
        """
        state, sync = self.state, self.state.sync
        self._touched = True
        try:
            adds = isinstance(command, do.Move) and sync.goal is not None
            if command.walks and sync.has_work and not (sync.playing or adds):
                # what was requested in the same moment is started, and is not undone
                sync.work(time.monotonic())
            if isinstance(command, do.CancelWork):
                self._queue.drop("dropped", loads=True)
                self._loader.cancel("load")
                state.results.cancel(self._pool)
                self._columns.cancel(do.HoldOut.__name__)
            if isinstance(command, do.CancelWork | do.Leave):  # one column alone disagrees with none
                self._pool.cancel(do.NextPassage.__name__)
            do.perform(
                command, state, lambda outcome: self._answers.append((answer, outcome)),
                lambda work, _: self._submit(type(command).__name__, work, answer),
            )
        except Exception as error:
            self._answers.append((answer, error))

    # ---- jobs

    def _submit(self, name: str, work: do.Job[object], answer: Answer) -> None:
        """Submit the job of a command to a thread, cancelling a running one of the same name. The next turn
        resolves `answer` with its result or exception."""

        def run() -> object:
            with job(cancel=answer.cancelled if work.cancellable else None):
                check()
                return work.work()

        def done(result: object) -> None:
            self._touched = True
            outcome = result if isinstance(result, BaseException) else work.answer(result)
            self._answers.append((answer, outcome))

        (self._columns if work.reads_files else self._pool).submit(name, run, done, name)

    def _start_jobs(self, now: float, wait: float | None) -> float | None:
        """Start the jobs that open columns, and those about the position once the columns rest there.

        Returns:
            The seconds until the next turn; None if there is none to come.
        """
        state, sync = self.state, self.state.sync
        finds = len(sync.columns) > 1 or state.main.needs_fallback
        if not (finds or self._columns.running or self._pool.running):
            return wait

        def install(query: BackgroundQuery, training: object) -> None:
            state.install_column(query, training)
            self._cache.keep(state.main.training)

        self._columns.reconcile(state.missing_trainings(), install)
        for column in sync.columns:
            if (running := self._columns.running.get(("column", (column.key,)))) is not None:
                column.loading = running.busy
        if (at := state.stamp()[:4]) != self._at:
            self._moved, self._at = now, at
        left = 0.0 if sync.has_work else self._moved + REST_S - now
        state.results.update_jobs(self._pool, state.view, left <= 0 and not sync.has_work)
        return max(0.001, left) if len(sync.columns) > 1 and wait is None and left > 0 else wait

    def _load(self, command: do.Command[object], answer: Answer) -> None:
        """Submit a command of the loader. It cancels a running one; the training that was open before is
        shown again if this one fails after a part of it was shown."""
        state, replaced, now = self.state, self._loading, time.monotonic()
        before = replaced.before if replaced is not None else state.main.training
        loading = self._loading = Loading(command, before, now, shows=replaced is not None and replaced.shows)
        self._quiet_until = 0.0 if command.fresh else now + QUIET_S
        if replaced is not None:
            replaced.drawn.set()

        def partial(training: Training) -> None:
            self._call_engine(lambda: self._show_part(loading, training))
            if command.fresh:
                loading.drawn.wait(DRAWN_S)

        def finish(training: object) -> None:
            """Install the training, or on failure restore the one before and drop queued steps; then answer
            the command."""
            last = self._loading is loading
            if last:
                self._loading = None
            if isinstance(training, Training):
                self._cache.keep(before)
                self._cache.keep(training)
                state.install(training, **_install_options(command))
            elif last:
                self._queue.drop("not done, because what it waited for failed", loads=False)
                if loading.shows:
                    state.install(before)
            outcome = None if isinstance(training, Training) else training
            if isinstance(outcome, Cancelled) and not last:
                outcome = was_replaced(command)
            self._answers.append((answer, outcome))

        what = f"opening {command.description.removeprefix('open ')}" if command.fresh else "opening"
        self._loader.submit("load", lambda: command.load(self._cache, before, partial), finish, what)

    def _show_part(self, loading: Loading, training: Training) -> None:
        """Show a part of the corpus while the rest is still read. Ignored if something else is being opened;
        for a typed text, the part is kept until the loading takes longer."""
        if self._loading is not loading:
            return
        loading.part = training
        if loading.command.fresh or not loading.quiet:
            loading.part, loading.shows = None, True
            self.state.install(training, **_install_options(loading.command))


def _install_options(command: do.Command[object]) -> dict[str, bool]:
    """Return the arguments of `State.install` that say what a command of the loader keeps."""
    return {"keeps_place": not command.fresh, "keeps_view": isinstance(command, do.TrainOnText)}
