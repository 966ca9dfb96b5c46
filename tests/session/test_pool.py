"""The threads of a session: what they report, and that they keep nothing."""

from __future__ import annotations

import gc
import queue
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from tokentui.core.jobs import tick
from tokentui.session import jobs
from tokentui.session.jobs import JobPool


class Found:
    """An answer."""


def test_a_thread_keeps_no_answer() -> None:
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
    gc.collect()
    assert kept[0]() is None
    pool.close()


@pytest.mark.parametrize(("what", "told"), [("", []), ("looking", ["looking", "looking"])])
def test_a_job_without_a_name_reports_nothing(
    what: str, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "TELL_S", 0.0)
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
