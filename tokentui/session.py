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
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from tokentui import commands as do
from tokentui.answers import Answers, ExportReport, Report
from tokentui.asides import ask, export_to, facts, formats, preview
from tokentui.compared import ColumnWanted, CompareSnapshot
from tokentui.comparing import CompareSession, compare_from
from tokentui.errors import Cancelled
from tokentui.explorer import SCRATCH_BYTES, SLICE_S, Explorer, Glance, Prepared, Run, Stand, nothing
from tokentui.formats import recognise
from tokentui.futures import look_at_error, resolve, tell_failure
from tokentui.loading import Hooks, open_corpus, open_tokenizer, prepare, prepare_whole
from tokentui.recipe import Recipe
from tokentui.requests import PUBLISH_S as PUBLISH_S
from tokentui.requests import Glancing, Install, Loaded, Loading, OpenMany, Rebuild
from tokentui.snapshot import PreviewView, Snapshot
from tokentui.text.corpus import Corpus
from tokentui.text.patience import asking
from tokentui.warming import warm

SWITCH_S = 0.0005
"""How long a thread may keep the interpreter while a session runs: keys wait for no longer (the default is ten times that)."""
ARRIVE_S = 0.05
"""How long to walk towards the place that is kept before a training that is new is shown: so that what is seen changes once."""
LOOK_S = 0.5
"""What a pattern may take over a match in what is only looked at, such as the text that somebody types."""
KEPT_TRAINERS = 6
"""How many trained recipes are kept, so that going back to one is instant."""

REBUILD_BYTES = 200_000
"""A smaller corpus is not laid out again when kernels are loaded: plain Python steps through it as quickly as one looks."""
SCRATCH = "scratch"
"""What a corpus is called that the user types."""

Publish = Callable[[Snapshot], None]
Answer = PreviewView | Answers | Report | ExportReport | tuple[ExportReport, ...] | str
"""What is answered beside the training."""


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
        self._commands: list[tuple[do.Command | Install | Glancing, asyncio.Future[Any]]] = []
        self._wake = asyncio.Event()
        self._closing = False
        self._worker = ThreadPoolExecutor(1, "tokentui-engine")
        self._loader = ThreadPoolExecutor(1, "tokentui-loader")
        self._beside = ThreadPoolExecutor(2, "tokentui-beside")
        self._asides: dict[type, list[bool]] = {}
        self._loading: Loading | None = None
        self._installing: Prepared | None = None
        """What is handed in and not yet stood on."""
        self._kept: OrderedDict[tuple[object, ...], Prepared] = OrderedDict()
        self._task: asyncio.Task[None] | None = None
        self._kernels = kernels
        self._warming: asyncio.Task[bool] | None = None
        self._switch_interval = sys.getswitchinterval()

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
        for _, future in self._commands:
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
        if isinstance(command, do.Open | do.OpenTokenizer | do.Use | do.Scratch):
            self._load(command, future)
        elif isinstance(command, do.Aside):
            self._set_aside(command, future)
        else:
            if isinstance(command, do.CancelWork):
                self._cancel_loading()
            self._hand_in(command, future)
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
        while self._loading and self._loading.task:
            await asyncio.wait([self._loading.task])
        glanced: asyncio.Future[Any] = self._loop.create_future()
        self._hand_in(Glancing(), glanced)
        return compare_from(publish, self._explorer.prepared, await glanced, wanted, self._warming)

    def _begin(self, command: Loaded) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        future.add_done_callback(look_at_error)
        self._load(command, future)
        return future

    def _rebuild(self, warming: asyncio.Task[bool]) -> None:
        """Go on with kernels, where they have just been loaded and it makes a difference."""
        done = not warming.cancelled() and warming.exception() is None and warming.result()
        now = self._explorer.prepared
        free = not (self._closing or self._loading or now.partial or now.opened or self._explorer.at_work)
        if done and free and now.corpus.size >= REBUILD_BYTES:
            future: asyncio.Future[Any] = self._loop.create_future()
            future.add_done_callback(look_at_error)
            self._load(Rebuild(), future)

    def _tell_engine(self, engine: str) -> None:
        self._explorer.engine = engine
        self._wake.set()

    def _hand_in(self, command: do.Command | Install | Glancing, future: asyncio.Future[Any]) -> None:
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
            self._explorer.busy = self._loading.shown(now) if self._loading else None
            wait, answers, state, snapshot = await self._loop.run_in_executor(self._worker, self._turn, batch, due, shown)
            for future, answer in answers:
                resolve(future, answer)
            if snapshot is not None:
                last, shown = time.monotonic(), state
                self._publish(snapshot)
                if self._kernels and self._warming is None:  # not before the first paint
                    self._warming = asyncio.create_task(warm(self._tell_engine), name="tokentui kernels")
                    self._warming.add_done_callback(self._rebuild)
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
                if isinstance(command, Install):
                    explorer.install(command.prepared, command.stand, keep_look=command.keep_look)
                    answers.append((future, None))
                elif isinstance(command, Glancing):
                    answers.append((future, explorer.glance()))
                else:
                    explorer.handle(command, lambda answer, future=future: self._later(future, answer))  # type: ignore[misc]
            except Exception as error:
                answers.append((future, error))
        installed = any(isinstance(command, Install) for command, _ in batch)
        wait = explorer.work(time.monotonic(), ARRIVE_S if installed else SLICE_S) if explorer.at_work else 0.0
        state = (explorer.prepared, explorer.trainer.number, explorer.at_work, explorer.busy, explorer.engine)
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
                return answer(glance)

        def answer(glance: Glance) -> Answer:
            if cancel():
                raise Cancelled
            if isinstance(command, do.Recognise):
                return recognise(command.path)
            if isinstance(command, do.Fingerprint):
                return glance.corpus.sha256
            if isinstance(command, do.Facts):
                return facts(glance, cancel)
            if isinstance(command, do.Formats):
                return formats(glance)
            if isinstance(command, do.Export):
                return export_to(glance, command, cancel)
            if isinstance(command, do.Preview):
                return preview(self._explorer.prepared, command, cancel)
            return ask(glance, command, cancel)

        def done(found: Future[Answer]) -> None:
            self._later(future, Cancelled() if found.cancelled() else found.exception() or found.result())

        # The tokenizer is taken between two slices of work, where it belongs to one step.
        glanced: asyncio.Future[Any] = self._loop.create_future()
        glanced.add_done_callback(begin)
        self._hand_in(Glancing(), glanced)

    # ---- opening

    def _load(self, command: Loaded, future: asyncio.Future[Any]) -> None:
        self._cancel_loading()
        self.idle.clear()
        loading = Loading(self._wake_from_thread)
        self._loading = loading
        task = asyncio.create_task(self._load_in_thread(command, loading, future), name="tokentui loading")
        loading.task = task
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
        was = self._installing or self._explorer.prepared
        stand = self._explorer.stand
        changed = False

        def partial(prepared: Prepared) -> None:
            nonlocal changed
            if isinstance(command, Rebuild) or loading.cancelled:
                return
            changed = True
            self._loop.call_soon_threadsafe(lambda: self._install(prepared, keep_look=isinstance(command, do.Scratch)))

        hooks = Hooks(loading.tell, partial, lambda: loading.cancelled or self._closing)
        work = self._loop.run_in_executor(self._loader, self._read_and_prepare, command, was, hooks)
        work.add_done_callback(look_at_error)
        try:
            prepared = await loading.result(work)
        except Exception as error:
            if not work.done():  # left behind, with objects of its own: the next opening has a thread of its own too
                self._loader.shutdown(wait=False)
                self._loader = ThreadPoolExecutor(1, "tokentui-loader")
            if changed and self._loading is loading:
                await self._install(was)
            resolve(future, error)
        else:
            if loading.cancelled:
                if changed and self._loading is loading:
                    await self._install(was)
                resolve(future, Cancelled())
            else:
                self._keep(was)
                self._keep(prepared)
                loading.done = True
                fresh = prepared.opened or isinstance(command, do.Open | OpenMany)
                await self._install(prepared, None if fresh else stand)
                if prepared.corpus.size > SCRATCH_BYTES:
                    gc.freeze()  # millions of numbers that live on: not to be walked by each collection
                resolve(future, None)
        finally:
            if self._loading is loading:
                self._loading = None
            self._wake.set()

    def _read_and_prepare(self, command: Loaded, was: Prepared, hooks: Hooks) -> Prepared:
        """Read and lay out, in the loader's thread."""
        with asking(hooks.cancel):
            return self._prepared(command, was, hooks)

    def _prepared(self, command: Loaded, was: Prepared, hooks: Hooks) -> Prepared:
        if isinstance(command, do.Use):
            corpus, recipe = was.corpus, command.recipe
            run = Run.of(dict(command.run)) if command.run is not None else was.run
        elif isinstance(command, Rebuild):
            return prepare(was.corpus, was.recipe, was.run, hooks)
        elif isinstance(command, do.OpenTokenizer):
            for kept in self._kept.values() if command.kept else ():
                if kept.corpus is was.corpus and kept.opened and kept.opened.view.path == command.path:
                    return kept
            return prepare_whole(was.corpus, open_tokenizer(command.path, command.split, hooks), was.run, hooks, command.path)
        else:
            if isinstance(command, do.Scratch):
                corpus = Corpus.from_text(command.text, SCRATCH)
            else:
                source = command.sources if isinstance(command, OpenMany) else command.source
                corpus = open_corpus(source, command.as_, command.field, hooks)
            if isinstance(command, OpenMany) and (file := command.tokenizer):
                return prepare_whole(corpus, open_tokenizer(file.path, file.split, hooks), was.run, hooks, file.path)
            if was.opened:
                return prepare_whole(corpus, was.opened.tokenizer, was.run, hooks, was.opened.view.path)
            recipe, run = was.recipe, was.run
        for kept in self._kept.values():
            if kept.corpus is corpus and not kept.opened and kept.recipe == recipe and kept.limits(kept.run) == kept.limits(run):
                return Prepared(corpus, recipe, run, kept.trainer, text=kept.text)
        return prepare(corpus, recipe, run, hooks)

    def _install(self, prepared: Prepared, stand: Stand | None = None, *, keep_look: bool = False) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = self._loop.create_future()
        future.add_done_callback(look_at_error)
        if not prepared.partial:
            self._installing = prepared

            def installed(_: object) -> None:
                if self._installing is prepared:
                    self._installing = None

            future.add_done_callback(installed)
        self._hand_in(Install(prepared, stand, keep_look), future)
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
