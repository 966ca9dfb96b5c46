"""Run work in forked child processes on all cores, and collect the results.

A child shares the tokenizers and the corpus without a copy. It ignores interrupts: the parent handles them
and ends its children. Results come back as JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import NoReturn, cast

from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import job, tick

_WAIT_S = 0.1
_SIZE = 8
_BLOCK = 1 << 16


def cores() -> int:
    """Return the number of cores that this process may use; 1 if it cannot fork, because other threads run or
    the system is not Linux."""
    if sys.platform != "linux" or threading.active_count() > 1 or len(os.listdir("/proc/self/task")) > 1:
        return 1
    return len(os.sched_getaffinity(0))


def in_forks(works: Sequence[Callable[[], object]], done: int, total: int) -> list[object]:
    """Run functions at once, each in a child process. The ticks of all children add up to those of the
    current job.

    If a child runs out of memory or is killed, its function runs in this process.

    Args:
        works: The functions. They return what JSON can hold.
        done: Units of work done before, for the progress.
        total: Units of work in all.

    Returns:
        The result of each function, in order.

    Raises:
        TokentuiError: A function raised it.
        Cancelled: The job is cancelled. All children have ended.
    """
    children: dict[int, int] = {}
    answers: dict[int, object] = {}
    units, buffers = [0] * len(works), [bytearray() for _ in works]
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        for number, work in enumerate(works):
            reader, writer = os.pipe()
            stack.callback(os.close, reader)
            child = os.fork()
            if not child:
                _work(work, writer)
            os.close(writer)
            children[number] = child
            stack.callback(_end, child)
            selector.register(reader, selectors.EVENT_READ, number)
        while selector.get_map():
            tick(done + sum(units), total)
            for key, _ in selector.select(_WAIT_S):
                number, block = key.data, os.read(key.fd, _BLOCK)
                if not block:
                    selector.unregister(key.fd)
                    continue
                buffers[number] += block
                for kind, value in _messages(buffers[number]):
                    if kind == "error":
                        raise TokentuiError(*cast(list[str], value))
                    if kind == "done":
                        units[number] = cast(int, value)
                    else:
                        answers[number] = value
    return [
        answers[number] if number in answers else json.loads(json.dumps(work()))
        for number, work in enumerate(works)
    ]


def _messages(buffer: bytearray) -> list[tuple[str, object]]:
    """Remove the complete (kind, value) messages from the front of a buffer and return them."""
    messages = []
    while len(buffer) >= _SIZE and len(buffer) >= (end := _SIZE + int.from_bytes(buffer[:_SIZE], "big")):
        kind, value = json.loads(buffer[_SIZE:end])
        messages.append((kind, value))
        del buffer[:end]
    return messages


def _end(child: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(child, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.waitpid(child, 0)


def _work(work: Callable[[], object], writer: int) -> NoReturn:
    """Run a function in the child process, send its ticks and its result or `TokentuiError` to `writer`, and
    exit.

    After any other exception nothing more is sent. The parent then runs the function itself and raises it.
    """
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

        def send(kind: str, value: object) -> None:
            data = json.dumps([kind, value]).encode()
            data = len(data).to_bytes(_SIZE, "big") + data
            while data:
                data = data[os.write(writer, data) :]

        try:
            with job(progress=lambda done, total: send("done", done)):
                answer = work()
        except TokentuiError as error:
            send("error", [error.what, error.where, error.hint])
        else:
            send("answer", answer)
    finally:
        os._exit(0)  # nothing of the parent's is flushed or closed a second time
