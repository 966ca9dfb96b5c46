"""The threads of a session: what they report, and that they keep nothing."""

from __future__ import annotations

import queue
import threading
import time
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tokentui.core import runtime
from tokentui.core.jobs import check, tick
from tokentui.core.runtime import quiet_collector
from tokentui.session.engine import jobs
from tokentui.session.engine.jobs import JobPool


class Found:
    """An answer."""


def test_a_thread_keeps_no_answer(collect: Callable[[], object]) -> None:
    inbox = queue.Queue[Callable[[], object] | None]()
    pool = JobPool("test", 1, inbox.put)
    kept: list[Any] = []
    pool.submit("one", Found, lambda found: kept.append(weakref.ref(found)), "looking")
    while not kept:
        call = inbox.get(timeout=60)
        if call is not None:
            call()
    del call
    pool.submit("two", int, kept.append, "looking")  # the thread has let go of the first one
    while len(kept) < 2:
        if (call := inbox.get(timeout=60)) is not None:
            call()
    collect()
    assert kept[0]() is None
    pool.close()


@pytest.mark.parametrize("gives_up", [False, True])
def test_an_answer_goes_without_a_collection(gives_up: bool) -> None:
    inbox = queue.Queue[Callable[[], object] | None]()
    pool = JobPool("test", 1, inbox.put)
    kept, begun, goes_on = list[Any](), threading.Event(), threading.Event()

    def work() -> Found:
        begun.set()
        goes_on.wait(60)
        found = Found()
        kept.append(weakref.ref(found))
        return found

    with quiet_collector():
        pool.submit("one", work, lambda _: None)
        begun.wait(60)
        if gives_up:
            pool.cancel("one")
        goes_on.set()
        call = inbox.get(timeout=60)
        assert call is not None
        call()
        del call
        pool.close()
        end = time.monotonic() + 60
        while kept[0]() is not None:  # its thread may be about to let go of it
            assert time.monotonic() < end
            time.sleep(0.001)


def test_progress_is_reported_ten_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(jobs, "time", SimpleNamespace(monotonic=lambda: now))
    inbox = queue.Queue[Callable[[], object] | None]()
    pool, answers, reports = JobPool("test", 1, inbox.put), list[object](), list[float]()

    def work() -> None:
        nonlocal now
        for count in range(1, 31):
            now = 100 + count / 32
            tick(count, 30)

    pool.submit("one", work, answers.append, "looking")
    while not answers:
        if (call := inbox.get(timeout=60)) is None:
            reports.append(now)
        else:
            call()
    pool.close()
    assert len(reports) == 8, "at the start, and every 4/32 seconds"


@pytest.mark.parametrize(("what", "told"), [("", []), ("looking", ["looking", "looking"])])
def test_a_job_without_a_name_reports_nothing(
    what: str, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "REPORT_S", 0.0)
    inbox = queue.Queue[Callable[[], object] | None]()
    pool, answers, heard = JobPool("test", 1, inbox.put), list[object](), list[str]()
    pool.submit("one", lambda: tick(1, 2), answers.append, what)
    while not answers:
        if (call := inbox.get(timeout=60)) is None:
            heard.append(what)
        else:
            call()
    assert heard == told
    pool.close()


def test_a_job_waits_while_the_screen_acts_on_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "KEY_S", 60)
    inbox = queue.Queue[Callable[[], object] | None]()
    pool = JobPool("test", 1, inbox.put)
    order, begun = list[str](), threading.Event()

    def work() -> None:
        begun.set()
        check()
        order.append("the job goes on")

    runtime.turns.begin()
    pool.submit("one", work, lambda _: None)
    begun.wait(60)
    order.append("the screen has drawn")
    runtime.turns.end()
    inbox.get(timeout=60)
    pool.close()
    assert order == ["the screen has drawn", "the job goes on"]


def test_a_job_does_not_wait_for_a_screen_that_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "KEY_S", 0.001)
    runtime.turns.begin()
    runtime.turns.wait()
    monkeypatch.setattr(runtime, "KEY_S", 60)
    runtime.turns.wait()  # not again for the same key
