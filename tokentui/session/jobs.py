"""Work in threads of its own: at most one job a key, the newest wins, and one that is given up is cancelled.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from tokentui.core import children, jit
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import job
from tokentui.session import commands as do
from tokentui.session.opening import Prepared
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
            work: Does it, in a thread, and returns its answer; it is told that it is given up by `Cancelled`
            at a tick.
            take: Called between two slices with the answer, or with what went wrong; by `Cancelled` where it
            is given up.
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


# The line of commands that wait for what is being loaded, in the order in which they were given, and are seen
# to wait.


Answer = asyncio.Future[object]


class Dropped(TokentuiError):
    """A command that waited was not done."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A command that waits, and the future of its answer."""

    command: do.Command[object]
    answer: Answer


def resolve(future: Answer, answer: object) -> None:
    """Give a future its answer, or its failure, unless it was given up."""
    if future.done():
        return
    if isinstance(answer, BaseException):
        future.set_exception(answer)
    else:
        future.set_result(answer)


class Line:
    """Commands that wait, first come, first served."""

    def __init__(self) -> None:
        self._waiting: list[Waiting] = []

    def __iter__(self) -> Iterator[Waiting]:
        """Those that are still wanted."""
        self._waiting = [one for one in self._waiting if not one.answer.done()]
        return iter(self._waiting)

    def __bool__(self) -> bool:
        return bool(self._waiting) and any(True for _ in self)

    @property
    def keeps_order(self) -> bool:
        """True if a waiting command must run before any later command that keeps its order."""
        return any(one.command.in_order for one in self)

    @property
    def head(self) -> do.Command[object] | None:
        """The command that comes next."""
        return next((one.command for one in self), None)

    def add(self, command: do.Command[object], answer: Answer) -> None:
        """Wait behind all others. A question, and a text to train on, takes the place of one of its kind."""
        if command.lane is do.Lane.BESIDE or isinstance(command, do.TrainOnText):
            for one in self:
                if type(one.command) is type(command):
                    resolve(one.answer, Cancelled())
        self._waiting.append(Waiting(command, answer))

    def take(self) -> list[Waiting]:
        """Those that go together: the next one; of moves all that follow each other."""
        held = list(self)
        count = (
            next((n for n, one in enumerate(held) if not isinstance(one.command, do.Move)), len(held)) or 1
        )
        self._waiting = held[count:]
        return held[:count]

    def take_all(self) -> list[Waiting]:
        """All of them."""
        held, self._waiting = self._waiting, []
        return held

    def admits(self, load: do.Command[object], under_way: do.Command[object] | None) -> bool:
        """Make way for a load. True if it may begin at once, in the place of what is being loaded, if
        anything is.

        What was to be loaded before and is decided anew is given up; so are steps, where a load begins anew
        behind them.
        """
        ordered = [one for one in self if one.command.in_order]
        moot: list[Waiting] = []
        for one in reversed(ordered):
            command = one.command
            decided = command.decides in load.decides if command.decides else load.fresh and command.walks
            if not decided:
                break
            moot.insert(0, one)
        self._waiting = [one for one in self if one not in moot]
        said = _said([one for one in moot if not one.command.decides])
        place = (
            "a tokenizer was opened" if isinstance(load, do.OpenTokenizer) else "another corpus was opened"
        )
        for one in moot:
            resolve(one.answer, Cancelled() if one.command.decides else Dropped(f"not done, {place}: {said}"))
        if len(moot) < len(ordered):
            return False
        if isinstance(load, do.TrainOnText) and isinstance(under_way, do.TrainOnText):
            return False  # what is typed fast is still seen to change
        return under_way is None or under_way.decides in load.decides

    def drop(self, why: str, *, loads: bool) -> None:
        """Give up those that wait, all of them or up to the next load."""
        held = list(self)
        stop = (
            len(held) if loads else next((n for n, one in enumerate(held) if one.command.decides), len(held))
        )
        gone, self._waiting = held[:stop], held[stop:]
        said = _said(gone)
        for one in gone:
            resolve(one.answer, Dropped(f"{why}: {said}" if said else why))

    @property
    def said(self) -> str:
        """The waiting commands in words, empty if there are none."""
        return _said(list(self))


def _said(waiting: list[Waiting]) -> str:
    words: list[str] = []
    moves = 0

    def moved() -> None:
        nonlocal moves
        if moves:
            count = "a step" if abs(moves) == 1 else f"{abs(moves):,} steps"
            words.append(f"{count} {'on' if moves > 0 else 'back'}")
        moves = 0

    for one in waiting:
        if isinstance(one.command, do.Move):
            if moves * one.command.steps < 0:
                moved()
            moves += one.command.steps
        else:
            moved()
            words.append(one.command.words)
    moved()
    return ", ".join(word for word in words if word)


def tell_failure(task: asyncio.Task[None]) -> None:
    """Tell the event loop at once that a task which runs for good has failed."""
    if not task.cancelled() and (error := task.exception()) is not None:
        task.get_loop().call_exception_handler(
            {"message": f"{task.get_name()} has failed", "exception": error, "task": task}
        )


# A corpus, a recipe or a tokenizer being opened: how far it is, and whether it is still wanted.


PUBLISH_S = 0.1
"""The least time between two snapshots of a run; after a command one goes out at once."""
QUIET_S = 0.5
"""Seconds before the progress of another recipe or a typed text is shown; a faster one shows none."""
GIVE_UP_S = 0.05
"""Seconds to wait for a cancelled opening before it is abandoned."""


class Loading:
    """A corpus, a recipe or a tokenizer being opened in the first column: how far it is, and whether it was
    given up."""

    def __init__(self, command: do.Command[object], wake: Callable[[], None]) -> None:
        self.command = command
        self.part: Prepared | None = None
        """The counted part, before all of the corpus is counted."""
        named = command.named if isinstance(command, do.Open) else command.words.removeprefix("open ")
        self.busy = Busy(
            f"opening {named}" if isinstance(command, do.Open | do.OpenTokenizer) else "opening", 0, 0
        )
        self.cancelled = False
        self.done = False
        self.quiet_s = QUIET_S if isinstance(command, do.SetRecipe | do.TrainOnText) else PUBLISH_S
        self._given_up = asyncio.Event()
        self._wake = wake
        self.since = self._told = time.monotonic()

    def give_up(self) -> None:
        """It is wanted no more."""
        self.cancelled = True
        self._given_up.set()

    @property
    def quiet(self) -> bool:
        """True if the work is still too short to show its progress."""
        return time.monotonic() - self.since < self.quiet_s

    async def result(self, work: asyncio.Future[Prepared]) -> Prepared:
        """Return the result of the work; wait for it until it is cancelled, and then `GIVE_UP_S` longer.

        Raises:
            Cancelled: It was given up. The work may go on until its next tick.
        """
        waiting = asyncio.ensure_future(self._given_up.wait())
        try:
            await asyncio.wait((work, waiting), return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                await asyncio.wait({work}, timeout=GIVE_UP_S)
        finally:
            waiting.cancel()
        if not work.done():
            raise Cancelled
        return work.result()

    def shown(self, at_once: bool = False) -> Busy | None:
        """Return the progress to show; None if the work is done, or is quiet and `at_once` is false."""
        return None if self.done or (self.quiet and not at_once) else self.busy

    def tell(self, what: str, done: int, total: int) -> None:
        """Take in how far it is; from any thread, as often as one likes."""
        self.busy = Busy(what, done, total)
        now = time.monotonic()
        if now - self._told >= PUBLISH_S:
            self._told = now
            self._wake()


# Compile the kernels once in a separate process, and load them after the first paint of a session.


COMPILING = "compiling once"
"""The engine label while the kernels compile, which takes some seconds, once for each version."""


async def warm(tell: Callable[[str], None]) -> bool:
    """Compile the kernels where that was not done before, and load them. The plain engine serves meanwhile.

    Args:
        tell: Given what runs, in a few words, each time that changes.

    Returns:
        Whether they were loaded by this call.
    """
    if jit.loaded() or not jit.available():
        if jit.available():
            # a large corpus asked for those that count words, and for no others
            await asyncio.to_thread(_load)
        tell(jit.engine())
        return False
    done = jit.compiled() and await asyncio.to_thread(_load)
    if not done:
        tell(COMPILING)
        with suppress(OSError):  # no process can be started: the plain engine goes on
            await _compile()
        done = jit.compiled() and await asyncio.to_thread(_load)
    tell(jit.engine())
    return done


async def _compile() -> None:
    """Compile the kernels in a process of their own."""
    process = await asyncio.create_subprocess_exec(
        *children.command("tokentui.core.jit"), env=children.surroundings(), cwd=children.FOLDER,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await process.wait()
    except asyncio.CancelledError:
        with suppress(ProcessLookupError):  # it has just ended
            process.kill()
        await process.wait()
        raise


def _load() -> bool:
    """Load what was compiled.

    What is damaged is compiled anew, but not in this process: it would hold up the screen.
    """
    return jit.load(compiling=False)
