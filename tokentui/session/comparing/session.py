"""The async session of a comparison: commands go in, frozen snapshots come out.

The columns are walked in one worker thread, in slices of some milliseconds. They are opened in another, and what is found beside
them in two more, each on objects of its own: whatever is under way, a key is answered within a slice.
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

from tokentui.analyze.align import Width, cell_width
from tokentui.core import jit
from tokentui.core.errors import Cancelled
from tokentui.session import commands as do
from tokentui.session import compared as seen
from tokentui.session.comparing import passages
from tokentui.session.comparing.beside import Beside
from tokentui.session.comparing.column import Column
from tokentui.session.comparing.explorer import Comparing
from tokentui.session.comparing.opening import Opening
from tokentui.session.explorer import SLICE_S, Glance, Prepared
from tokentui.session.futures import look_at_error, resolve, tell_failure
from tokentui.session.warming import warm
from tokentui.text.corpus import Corpus

PUBLISH_S = 0.1
"""The least time between two snapshots of a run; after a command one goes out at once."""
SWITCH_S = 0.0005
"""How long a thread may keep the interpreter while a session runs."""
REST_S = 0.15
"""What belongs to a position is looked for when nobody has moved for so long."""
COLLECT_S = 1.0
"""A collection takes some tens of milliseconds: it is made when nothing has been asked for so long."""

Publish = Callable[[seen.CompareSnapshot], None]
Waiting = tuple[Callable[[Callable[[Any], None]], None], asyncio.Future[Any]]
"""Something to be done between two slices, which is given what takes its answer."""


class CompareSession:
    """A running comparison.

    Args:
        publish: Called on the event loop with each snapshot.
        corpus: The corpus that all columns share.
        wanted: The columns, two to four.
        position: Where they begin.
        typed: The text to be encoded.
        kernels: Whether compiled kernels are made ready beside it.
        warming: Who makes them ready already.
        width: How wide a safe text is on the screen.
    """

    def __init__(
        self, publish: Publish, corpus: Corpus, wanted: Sequence[seen.ColumnWanted], *, position: seen.Position | None = None,
        typed: str = "", kernels: bool = False, warming: asyncio.Task[bool] | None = None, width: Width = cell_width,
    ) -> None:
        self.idle = asyncio.Event()
        """Set while there is nothing to do: no command waiting, no step to make, nothing to open and nothing to find."""
        self._publish = publish
        self._state = Comparing(corpus, wanted, position, typed=typed, width=width)
        self._waiting: list[Waiting] = []
        self._wake = asyncio.Event()
        self._closing = False
        self._worker = ThreadPoolExecutor(1, "tokentui-compare")
        self._beside = Beside(self._call)
        self._opening = Opening(self._state, self._beside, self._call, self._later)
        self._task: asyncio.Task[None] | None = None
        self._kernels = kernels and warming is None
        self._warming = warming
        self._moved, self._rested = 0.0, False
        self._changed = False

    async def start(self) -> None:
        """Begin to take commands; the first snapshot shows columns that are being opened."""
        self._switch_interval, self._collects = sys.getswitchinterval(), gc.isenabled()
        sys.setswitchinterval(SWITCH_S)
        gc.disable()  # a collection among millions of numbers holds up every key
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._drive(), name="tokentui comparison")
        self._task.add_done_callback(tell_failure)
        if self._kernels:
            jit.compile_elsewhere()
            self._warming = asyncio.create_task(warm(self._tell_engine), name="tokentui kernels")
            self._warming.add_done_callback(look_at_error)
        if self._warming:
            self._warming.add_done_callback(self._lay_out_again)
        self._state.engine = jit.engine()
        for column in self._state.columns:
            self._open(column)
        self._wake.set()

    async def close(self) -> None:
        """Stop, wherever it is. Waits for the slice under way."""
        self._closing = True
        self._wake.set()
        if self._task:
            await asyncio.wait([self._task])
        if self._warming:
            self._warming.remove_done_callback(self._lay_out_again)
            if self._kernels:
                self._warming.cancel()
                await asyncio.wait([self._warming])
        for _, future in self._waiting:
            future.cancel()
        self._opening.close()
        self._beside.close()
        self._worker.shutdown(wait=True)
        sys.setswitchinterval(self._switch_interval)
        if self._collects:
            gc.enable()

    def send(self, command: seen.CompareCommand) -> asyncio.Future[Any]:
        """Hand in a command.

        Returns:
            Its answer, once it is known; a `TokentuiError` where it cannot be done.
        """
        future: asyncio.Future[Any] = self._loop.create_future()
        future.add_done_callback(look_at_error)
        if isinstance(command, seen.HeldOut):
            self._opening.hold_out(command, future)
        elif isinstance(command, seen.NextPassage):
            self._look_for_passage(command, future)
        else:
            if isinstance(command, do.CancelWork):
                self._opening.give_up_corpus()
                self._beside.only_one("passage")
            self._hand_in(lambda answer: self._handle(command, answer), future)
        return future

    def _handle(self, command: seen.CompareCommand, answer: Callable[[Any], None]) -> None:
        if isinstance(command, do.CancelWork):
            for job in self._beside.stop():
                self._state.findings.give_up(job)
        before = set(self._state.columns)
        self._state.handle(command, answer)
        for column in self._state.columns:
            if column not in before:
                self._loop.call_soon_threadsafe(self._open, column)

    # ---- between two slices

    def _hand_in(self, work: Callable[[Callable[[Any], None]], None], future: asyncio.Future[Any]) -> None:
        if self._closing:  # nobody would come to it
            future.cancel()
            return
        self.idle.clear()
        self._waiting.append((work, future))
        self._wake.set()

    def _call(self, work: Callable[[], Any]) -> None:
        """Have something done between two slices; from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop may have closed meanwhile
            self._loop.call_soon_threadsafe(self._do, work)

    def _do(self, work: Callable[[], Any]) -> None:
        future: asyncio.Future[Any] = self._loop.create_future()
        future.add_done_callback(look_at_error)
        self._hand_in(lambda answer: answer(work()), future)

    async def _drive(self) -> None:
        published = 0.0
        while not self._closing:
            self._wake.clear()
            batch, self._waiting = self._waiting, []
            now = time.monotonic()
            due = bool(batch) or now - published >= PUBLISH_S
            wait, answers, snapshot = await self._loop.run_in_executor(self._worker, self._turn, batch, due)
            for future, answer in answers:
                resolve(future, answer)
            if snapshot is not None:
                published = time.monotonic()
                self._publish(snapshot)
            if self._wake.is_set():
                continue
            at_work = self._state.steps.at_work
            if at_work and wait <= 0:
                continue
            if not at_work and not self._changed and self._opening.free and self._beside.free and self._rested:
                self.idle.set()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), COLLECT_S)
                    continue
                gc.collect(1)
                await self._wake.wait()
                continue
            rest = max(0.0, self._moved + REST_S - time.monotonic())
            timeout = min(wait, PUBLISH_S) if at_work else None if self._rested else rest  # jobs and openings wake it
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), timeout)

    def _turn(
        self, batch: list[Waiting], due: bool
    ) -> tuple[float, list[tuple[asyncio.Future[Any], Any]], seen.CompareSnapshot | None]:
        """One slice, in the worker: take in commands, work, look."""
        state, answers = self._state, []
        before = self._stand()
        for work, future in batch:
            try:
                work(lambda answer, future=future: self._later(future, answer))  # type: ignore[misc]
            except Exception as error:
                answers.append((future, error))
        wait = state.steps.work(time.monotonic(), SLICE_S) if state.steps.at_work else 0.0
        now = time.monotonic()
        if self._stand() != before:
            self._moved, self._changed = now, True
        self._changed = self._changed or bool(batch)
        self._rested = not state.steps.at_work and now - self._moved >= REST_S
        if self._beside.take(list(state.findings.jobs(state.look)), self._rested, state.findings) or self._beside.told():
            self._changed = True
        if not (self._changed and (due or not state.steps.at_work)):
            return wait, answers, None
        state.findings.busy = self._beside.busy
        self._changed = False
        return wait, answers, state.snapshot()

    def _stand(self) -> tuple[object, ...]:
        steps = self._state.steps
        numbers = tuple((column.key, column.trainer, column.trainer.number, column.there) for column in steps.open)
        return steps.position, steps.goal, steps.playing, numbers

    def _open(self, column: Column) -> None:
        self.idle.clear()
        self._opening.open(column)

    def _tell_engine(self, engine: str) -> None:
        self._state.engine = engine
        self._beside.tell()
        self._wake.set()

    def _lay_out_again(self, warming: asyncio.Task[bool]) -> None:
        """Go on with kernels, where they have just been loaded and it makes a difference."""
        if not (warming.cancelled() or warming.exception() is not None or self._closing):
            self._tell_engine(jit.engine())
            self.idle.clear()
            self._opening.open_again()
            self._wake.set()

    def _later(self, future: asyncio.Future[Any], answer: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may have closed meanwhile
            self._loop.call_soon_threadsafe(resolve, future, answer)

    # ---- passages

    def _look_for_passage(self, command: seen.NextPassage, future: asyncio.Future[Any]) -> None:
        glanced: asyncio.Future[Any] = self._loop.create_future()
        state = self._state
        given_up = self._beside.only_one("passage")

        def glance(answer: Callable[[Any], None]) -> None:
            tokenizers = [column.trainer.tokenizer() for column in state.steps.there]
            answer((tokenizers, state.passage))

        def begin(seen_now: asyncio.Future[Any]) -> None:
            if self._closing or seen_now.cancelled():
                future.cancel()
            elif error := seen_now.exception():
                resolve(future, error)
            else:
                self._beside.submit(lambda: work(*seen_now.result())).add_done_callback(done)

        def cancel() -> bool:
            return self._closing or bool(given_up) or future.cancelled()

        def work(tokenizers: Any, here: seen.Passage | None) -> seen.Passage | None:
            length = seen.Passage().length
            return passages.next_parting(state.corpus, tokenizers, here, length, command.backward, cancel)

        def done(found: Future[seen.Passage | None]) -> None:
            error = Cancelled() if found.cancelled() else found.exception()
            if error is None and found.result() is not None:
                self._call(lambda: state.show(found.result(), fit=False))
            self._later(future, error or found.result())

        glanced.add_done_callback(begin)
        self._hand_in(glance, glanced)


def compare_from(
    publish: Publish, prepared: Prepared, glance: Glance, wanted: Sequence[seen.ColumnWanted], warming: asyncio.Task[bool] | None
) -> CompareSession:
    """A comparison on what is explored, from the step where that stands if the first column is the same; not yet started."""
    first = wanted[0] if wanted else seen.ColumnWanted()
    path = prepared.opened.view.path if prepared.opened else ""
    same = first.path == path if path or first.path else first.recipe == prepared.recipe
    position = seen.Position("merges", glance.step) if same else None
    return CompareSession(publish, prepared.corpus, wanted, position=position, typed=glance.typed, warming=warming)
