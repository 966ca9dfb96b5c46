"""Progress and cancellation of long work, as a context.

The code that starts the work opens a `job`. The work, at any depth of calls, calls `tick` for each block:

    with job(progress=draw, cancel=asked.is_set):
        words = count(corpus, recipe)

A context belongs to one thread. Code that starts a thread opens a job in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tokentui.core.errors import Cancelled, TokentuiError, shown

if TYPE_CHECKING:  # the commands for scripts have no event loop
    import asyncio

Progress = Callable[[int, int], object]
"""Called with the work done and the total, in units of the work. The total is 0 if unknown."""
Cancel = Callable[[], bool]
"""Returns True to stop the work."""

BLOCK = 1 << 16
"""Units, cells or characters that plain Python processes between two calls of `check`."""

EACH = 64
"""Items between two ticks of `each`. Encoding and decoding this many words takes a few milliseconds."""

_T = TypeVar("_T")


class _Job(NamedTuple):
    progress: Progress | None = None
    match_seconds: float | None = None
    phase: str = ""


_NONE = _Job()
_job: ContextVar[_Job] = ContextVar("tokentui job", default=_NONE)
cancels: ContextVar[tuple[Cancel, ...]] = ContextVar("tokentui cancels", default=())
"""The functions that return whether the current job is cancelled."""


@contextmanager
def job(
    progress: Progress | None = None, cancel: Cancel | None = None, *, match_seconds: float | None = None
) -> Iterator[None]:
    """Report progress and accept cancellation for all work inside.

    Jobs nest. None keeps the setting of the outer job. Either job's `cancel` ends the work.

    Args:
        progress: Called with (done, total) at each tick.
        cancel: Called at each tick and check. If it returns True, `Cancelled` is raised there.
        match_seconds: A shorter time limit in seconds for one match of a pattern, for work that only draws.
            Then only pattern matching can be cancelled, so that nothing else is left half done.

    Raises:
        TokentuiError: An argument is not callable.
    """
    named: dict[str, object] = {"progress": progress, "cancel": cancel}
    for name, value in named.items():
        if value is not None and not callable(value):
            what = f"expected a callable, not {shown(value)}"
            raise TokentuiError(what, name, "pass a function, or None")
    outer = _job.get()
    opened = _job.set(_Job(
        outer.progress if progress is None else progress,
        outer.match_seconds if match_seconds is None else match_seconds,
        outer.phase,
    ))
    asked = cancels.set(cancels.get() if cancel is None else (*cancels.get(), cancel))
    try:
        yield
    finally:
        cancels.reset(asked)
        _job.reset(opened)


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Name the phase of the work inside, for progress displays. `Cancelled` carries the name of the innermost
    phase.

    Args:
        name: A participle, such as `counting`.
    """
    token = _job.set(_job.get()._replace(phase=name))
    try:
        yield
    except Cancelled as error:
        error.phase = error.phase or name
        raise
    finally:
        _job.reset(token)


def current_phase() -> str:
    """Return the name of the phase that the current job is in; empty if it has none."""
    return _job.get().phase


def tick(done: int, total: int = 0) -> None:
    """Report progress of the current job, and raise `Cancelled` if it is cancelled.

    Args:
        done: Units of work done.
        total: Units in all, 0 where that is not known.
    """
    check()
    if (progress := _job.get().progress) is not None:
        progress(done, total)


def check() -> None:
    """Raise `Cancelled` if the current job is cancelled. For work without measurable progress."""
    if _job.get().match_seconds is None:
        check_match()


def check_match() -> None:
    """Raise `Cancelled` if the current job is cancelled, even if only pattern matching can be cancelled in
    it."""
    for cancel in cancels.get():
        if cancel():
            raise Cancelled


def can_be_cancelled() -> bool:
    """Return whether the current job has a `cancel`."""
    return bool(cancels.get())


def match_seconds() -> float | None:
    """Return the time limit in seconds for one match in the current job; None for the general limit."""
    return _job.get().match_seconds


def in_blocks(items: Iterable[_T]) -> Iterator[Iterator[_T]]:
    """Yield items in blocks, with a `check` before each block.

    Use up a block before you take the next one. A loop over a block costs no more than a loop over the items.
    """
    items = iter(items)
    for first in items:
        check()
        yield chain((first,), islice(items, BLOCK - 1))


def each(items: Iterable[_T], total: int | None = None, done: int = 0) -> Iterator[_T]:
    """Yield items with a `tick` or `check` every few hundred of them.

    Args:
        items: The items.
        total: The number of items in all, to report progress; None for none.
        done: The number of items done before these.
    """
    for number, item in enumerate(items, done):
        if number % EACH == 0:
            check() if total is None else tick(number, total)
        yield item


@contextmanager
def silent() -> Iterator[None]:
    """Report no progress of the work inside: it is part of work that reports its own. It can still be
    cancelled."""
    token = _job.set(_job.get()._replace(progress=None))
    try:
        yield
    finally:
        _job.reset(token)


@contextmanager
def shielded() -> Iterator[None]:
    """Run the work inside to its end, without progress and cancellation, for example to restore a state."""
    opened, asked = _job.set(_NONE), cancels.set(())
    try:
        yield
    finally:
        cancels.reset(asked)
        _job.reset(opened)


def mark_retrieved(future: asyncio.Future[_T]) -> None:
    """Retrieve the exception of a future that nobody awaits, so that the event loop does not report it."""
    if not future.cancelled():
        future.exception()



def report_failure(task: asyncio.Task[_T]) -> None:
    """Report the exception of a finished task to the event loop, at once.

    Nothing to report if it has none.
    """
    if not task.cancelled() and (error := task.exception()) is not None:
        task.get_loop().call_exception_handler(
            {"message": f"{task.get_name()} has failed", "exception": error, "task": task}
        )
