"""Work in forked children: answers in order, ticks that add up, errors, cancellation, children that die."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.forks import cores, in_forks
from tokentui.core.jobs import job, tick

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="no process is forked elsewhere"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]


def _children() -> list[int]:
    found = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text()
    return list(map(int, found.split()))


@pytest.fixture
def children() -> Callable[[], list[int]]:
    """Return the children since the test began: a resource tracker may be left by other tests."""
    before = _children()
    return lambda: [pid for pid in _children() if pid not in before]


def test_a_process_with_other_threads_is_not_forked() -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        assert cores() == 1
    finally:
        end.set()
        thread.join()


def test_answers_come_in_order_and_ticks_add_up(children: Callable[[], list[int]]) -> None:
    here, told = os.getpid(), list[tuple[int, int]]()

    def work(number: int) -> tuple[int, int]:
        for done in range(number * 10 + 1):
            tick(done)
        return number, os.getpid()

    with job(lambda done, total: told.append((done, total))):
        answers = in_forks([functools.partial(work, number) for number in range(3)], 5, 100)
    numbers, pids = zip(*cast(list[list[int]], answers), strict=True)
    assert numbers == (0, 1, 2)
    assert len({here, *pids}) == 4
    assert told[0] == (5, 100)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert all(done <= 35 for done, _ in told)
    assert children() == []


@pytest.mark.slow
def test_a_large_answer_is_whole() -> None:
    large = "a\ud800é" * 1_000_000
    assert in_forks([lambda: large, lambda: large[::-1]], 0, 0) == [large, large[::-1]]


def test_an_error_of_a_child_is_that_of_the_work(children: Callable[[], list[int]]) -> None:
    def work() -> None:
        raise TokentuiError("no such thing", "here", "look there")

    with pytest.raises(TokentuiError, match=r"^here: no such thing \(look there\)$"):
        in_forks([work, signal.pause], 0, 0)
    assert children() == [], "the other one has ended"


def test_cancelled_work_leaves_no_child(children: Callable[[], list[int]]) -> None:
    with pytest.raises(Cancelled), job(cancel=lambda: bool(children())):
        in_forks([signal.pause, signal.pause], 0, 0)
    assert children() == []


def test_the_work_of_a_killed_child_is_done_in_this_process() -> None:
    here = os.getpid()

    def work() -> str:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return "done"

    assert in_forks([work, lambda: "other"], 0, 0) == ["done", "other"]
