"""Count the parts of a corpus on a Dask cluster.

Each part is a task. Results of neighboring parts are joined in a tree, eight at a time and in the order of
the text, so that the order of first appearance is kept. A task depends only on its arguments. If a worker is
lost, Dask repeats its tasks by their keys. Each result has one place in the tree, so it counts once.

A joined result is never larger than the limit `count-memory`. Larger results stay separate on their workers,
which spill to disk, and the client fetches them one by one.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check, tick
from tokentui.core.limits import Limits
from tokentui.recipe import Recipe
from tokentui.text.blocks import PartReader, Remarks
from tokentui.text.parts import FlatWords
from tokentui.text.plan import CountTask, Plan
from tokentui.text.tally import Store, count_part, joined

Dask = Any
"""A module, a client, a future or an answer of Dask, which has no types."""
EXTRA = "pip install 'tokentui[dask]'"
FAN = 8
"""Results that are joined at a time."""
LOCAL = "local"
"""Address of a cluster of local processes, one per core; `local:N` for N processes."""
_POLL_S = 0.05
_AHEAD = 3
"""Parts that are submitted per thread of the cluster: one is being counted, the others wait."""
_CONNECT_S = 15
_UNDER_WAY = ("pending", "lost")
"""States of a future without a result: pending, or its worker was lost and the task will be repeated."""
_ALONE_S = 120.0
"""Seconds without any worker after which the count fails."""
_TIMES_LOST = 10
"""How many times a part may lose its local worker before the count fails."""


@dataclass(frozen=True, slots=True)
class Task:
    """The values that all tasks of a count share.

    Attributes:
        recipe: The recipe.
        field: The field or column of texts.
        limits: The limits of the client.
        versions: The versions of this package and of `regex`, on whose Unicode tables results depend.
    """

    recipe: Recipe
    field: str
    limits: Limits
    versions: tuple[str, str]


Result = tuple[FlatWords, Remarks]
"""The words of neighboring parts, and the remarks on them."""


@dataclass(frozen=True, slots=True)
class PartResult:
    """A summary of a result for the client. The result itself stays on its worker."""

    size: int
    noticed: Remarks


def versions() -> tuple[str, str]:
    """Return the versions in this process that results depend on."""
    return version("tokentui"), version("regex")


def installed() -> bool:
    """Return whether Dask is installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("dask", "distributed"))


# ---- what workers do


def _count(task: Task, part: CountTask) -> Result:
    """Count a part in a worker.

    Raises `TokentuiError` if the worker has other versions, or does not see the same files.
    """
    if (here := versions()) != task.versions:
        here_, there = (" with regex ".join(versions_) for versions_ in (here, task.versions))
        what = f"a worker has tokentui {here_}, not {there}"
        raise TokentuiError(what, "--scheduler", "install the same on all workers")
    limits.use(task.limits)
    try:
        return count_part(part, task.recipe, PartReader(task.recipe, task.field), threads=1)
    except TokentuiError as error:
        if error.what == "no such file" and "://" not in error.where:
            hint = "each worker has to see the same files: name a folder that they share, or a URL"
            raise TokentuiError("a worker cannot find the file", error.where, hint) from None
        raise


def _join(*results: Result) -> Result:
    noticed = Remarks()
    for _, more in results:
        noticed.add(more)
    return joined(packed for packed, _ in results), noticed


def _summarize(result: Result) -> PartResult:
    packed, noticed = result
    return PartResult(packed.size, noticed)


# ---- the tree


@dataclass
class _TreeNode:
    """A node of the tree.

    Attributes:
        future: The future of the joined words; None if those of the nodes below stay separate.
        summary: The future of their `PartResult`.
        size: The size of the words in bytes, once they are counted.
        below: The child nodes.
    """

    future: Dask
    summary: Dask
    size: int | None = None
    below: Sequence[_TreeNode] = ()

    def futures(self) -> Iterator[Dask]:
        """Yield the futures of the words of the node, in the order of the text."""
        if self.future is not None:
            yield self.future
            return
        for node in self.below:
            yield from node.futures()


class _Tree:
    """The results of all parts, joined as they arrive.

    Args:
        client: Dask's client.
        task: The values that all tasks share.
        parts: The parts.
    """

    def __init__(self, client: Dask, task: Task, parts: Sequence[CountTask]) -> None:
        self._client, self._task, self._parts = client, task, parts
        self._key, self._most = f"tokentui-{uuid.uuid4().hex[:12]}", int(limits.now().count_memory)
        self._nodes: dict[tuple[int, int], _TreeNode] = {}
        self._waiting: dict[tuple[int, int], _TreeNode] = {}
        self._widths = [len(parts)]
        while self._widths[-1] > 1:
            self._widths.append(-(-self._widths[-1] // FAN))
        self.sent = self.read = self.counted = 0

    @property
    def unfinished(self) -> bool:
        """True while there are parts to submit or results to wait for."""
        return self.sent < len(self._parts) or bool(self._waiting)

    def send(self, most: int) -> None:
        """Submit parts to the cluster, in order, until `most` are being counted or all are submitted."""
        while self.sent < len(self._parts) and self.sent - self.counted < most:
            number = self.sent
            future = self._client.submit(
                _count, self._task, self._parts[number], key=f"{self._key}-0-{number}", pure=False
            )
            self._watch((0, number), future)
            self.sent += 1

    def _watch(self, place: tuple[int, int], future: Dask, below: Sequence[_TreeNode] = ()) -> None:
        """Submit the summary of a future, and wait for both at a place of the tree."""
        level, number = place
        key = f"{self._key}-{level}-{number}-summary"
        summary = self._client.submit(_summarize, future, key=key, pure=False, priority=10)
        self._nodes[place] = self._waiting[place] = _TreeNode(future, summary, None, below)

    def wait(self, seconds: float) -> None:
        """Wait until a result arrives, at most this many seconds."""
        _wait([node.summary for node in self._waiting.values()], seconds)

    def collect(self) -> None:
        """Process the results that have arrived, and submit joins whose inputs are complete. Does not wait.

        Raises:
            TokentuiError: A part cannot be counted.
        """
        for place, node in list(self._waiting.items()):
            if node.summary.status in _UNDER_WAY:
                continue
            summary: PartResult = _answer(node.summary)
            del self._waiting[place]
            node.summary.release()
            node.summary, node.size = None, summary.size
            if place[0] == 0:
                self.counted += 1
                self.read += summary.noticed.read
            for below in node.below:  # its words are in those of the node
                below.future.release()
                below.future, below.below = None, ()
            node.below = ()
            self._join(place)

    def _join(self, place: tuple[int, int]) -> None:
        """Join the results of a node and its neighbors if all of them have arrived.

        Results that are too large together stay separate below a common node. The root is joined with
        nothing.
        """
        level, number = place
        if level + 1 == len(self._widths):
            return
        first = number // FAN * FAN
        places = [(level, n) for n in range(first, min(first + FAN, self._widths[level]))]
        nodes = [self._nodes.get(place_) for place_ in places]
        known = [node for node in nodes if node is not None and node.size is not None]
        if len(known) < len(places):
            return
        for place_ in places:
            del self._nodes[place_]
        above = (level + 1, number // FAN)
        apart = any(node.future is None for node in known)
        if not apart and sum(node.size or 0 for node in known) <= self._most:
            joined_ = self._client.submit(
                _join, *[node.future for node in known], key=f"{self._key}-{above[0]}-{above[1]}", pure=False
            )
            self._watch(above, joined_, known)
            return
        self._nodes[above] = _TreeNode(None, None, sum(node.size or 0 for node in known), known)
        self._join(above)

    def results(self) -> Iterator[Result]:
        """Yield the words, in the order of the text. Waits for results that were lost.

        They are fetched one result at a time. A result is released on the cluster when the next one is asked
        for.
        """
        root = self._nodes.get((len(self._widths) - 1, 0))
        for future in list(root.futures()) if root else ():
            while future.status in _UNDER_WAY:  # it was lost, and is made again
                check()
                _wait([future], _POLL_S)
            result: Result = _answer(future)
            yield result
            future.release()


def _wait(futures: list[Dask], seconds: float) -> None:
    """Wait until one of the futures is done or canceled, at most this many seconds. A timeout is no error."""
    distributed: Dask = importlib.import_module("distributed")
    with contextlib.suppress(TimeoutError, distributed.CancelledError):
        distributed.wait(futures, timeout=seconds, return_when="FIRST_COMPLETED")


def _answer(future: Dask) -> Dask:
    """Return the result of a completed future.

    Raises:
        TokentuiError: The task failed or was canceled.
    """
    if future.status == "finished":
        return future.result()
    if future.status == "cancelled":
        raise TokentuiError("the scheduler is gone", "--scheduler", "restart it, and count again")
    error = future.exception()
    if isinstance(error, TokentuiError):
        raise error
    if type(error).__name__ == "KilledWorker":
        what = "a part was given up: each worker that counted it was lost"
        hint = "give workers more memory, or take smaller parts: --limit part-bytes=…"
        raise TokentuiError(what, "--scheduler", hint)
    if isinstance(error, ImportError):
        what = f"a worker lacks a package: {error}"
        raise TokentuiError(what, "--scheduler", "install the same on all workers")
    raise error


# ---- clusters


def count_on(address: str, plan: Plan, recipe: Recipe, field: str, store: Store) -> Remarks:
    """Count a corpus on a cluster.

    Args:
        address: The address of a scheduler, or `local` or `local:N`.
        plan: The corpus in parts.
        recipe: The recipe, for its normalization and split.
        field: As for `read`.
        store: Receives the words.

    The job reports its progress in bytes of the files.

    Raises:
        TokentuiError: Dask is not installed, no scheduler responds at the address, or a part cannot be
            counted.
        Cancelled: The job is cancelled.
    """
    if any(stretch.file.path is None for part in plan.parts for stretch in part):
        raise TokentuiError("standard input cannot be distributed", "-", "write it to a file")
    task, noticed = Task(recipe, field, limits.now(), versions()), Remarks()
    if not plan.parts:
        return noticed
    with _client(address, len(plan.parts)) as client:
        tree = _Tree(client, task, plan.parts)
        last_worker = time.monotonic()
        while tree.unfinished:
            threads = sum(
                worker["nthreads"] for worker in client.scheduler_info(n_workers=-1)["workers"].values()
            )
            last_worker = time.monotonic() if threads else last_worker
            if time.monotonic() - last_worker > _ALONE_S:
                hint = "start workers, or give them more memory"
                raise TokentuiError(f"no worker was available for {_ALONE_S:g} s", "--scheduler", hint)
            tree.send(_AHEAD * max(threads, 1))
            tick(tree.read, plan.size)
            tree.wait(_POLL_S)
            tree.collect()
        for packed, more in tree.results():
            store.add(packed)
            noticed.add(more)
    return noticed


@contextlib.contextmanager
def _client(address: str, parts: int) -> Iterator[Dask]:
    """Yield a client of a scheduler, or of a new cluster of local processes that ends with the context.

    The client is the current one meanwhile. The log of the library stays off afterwards.

    Args:
        address: The address of a scheduler, or `local` or `local:N`.
        parts: The number of parts; a local cluster has no more processes than that.

    Raises:
        TokentuiError: Dask is not installed, or no scheduler responds.
    """
    local = address.partition(":")[0] == LOCAL
    processes = min(_processes(address), max(parts, 1)) if local else 0
    try:
        dask: Dask = importlib.import_module("dask")
        distributed: Dask = importlib.import_module("distributed")
    except ImportError:
        raise TokentuiError("Dask is not installed", "--scheduler", EXTRA) from None
    import logging

    logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)
    with contextlib.ExitStack() as stack:
        if local:
            # A worker imports the modules of this process, and none from the current folder.
            stack.enter_context(_environment("PYTHONSAFEPATH", "1"))
            stack.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": _TIMES_LOST}))
            with _uninterrupted():
                cluster = distributed.LocalCluster(
                    n_workers=processes, threads_per_worker=1, processes=True, dashboard_address=None,
                    silence_logs=logging.CRITICAL + 1, security=_security(distributed),
                )
            stack.enter_context(cluster)
            client = distributed.Client(cluster, set_as_default=False)
        else:
            try:
                client = distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)
            except (OSError, TimeoutError, ValueError):
                hint = "for example tcp://10.0.0.1:8786"
                raise TokentuiError("no scheduler responds", address[:80], hint) from None
        stack.enter_context(client)
        stack.enter_context(client.as_current())
        yield client


def _security(distributed: Dask) -> object:
    """Return temporary TLS keys for a local cluster, so that no other user of the machine can submit tasks to
    it.

    Raises:
        TokentuiError: The package cryptography is not installed.
    """
    try:
        return distributed.security.Security.temporary()
    except ImportError:
        raise TokentuiError("cryptography is not installed", "--scheduler local", EXTRA) from None


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Keep SIGINT from the threads and processes that are started inside, since this process ends them. A
    SIGINT during the work is handled afterwards."""
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # its start would let the signal in again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set a variable of this process inside the block, and restore it."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _processes(address: str) -> int:
    """Read the number after the colon, 1 to 1024. Without a colon, count the processors that are free to us.

    Raises `TokentuiError` for anything else.
    """
    _, colon, number = address.partition(":")
    if not colon:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not number.isdecimal() or not 1 <= int(number) <= 1024:
        raise TokentuiError("not a number of processes", address[:80], "for example local:4")
    return int(number)
