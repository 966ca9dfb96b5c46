"""A job reports progress and takes cancellation for all that is done inside it."""

from __future__ import annotations

import threading

import pytest

from tokentui.core import jobs
from tokentui.core.errors import Cancelled
from tokentui.core.jobs import check, check_match, in_blocks, job, tick


def test_a_tick_reports_to_the_innermost_progress() -> None:
    outer, inner = list[tuple[int, int]](), list[tuple[int, int]]()
    tick(1, 2)
    with job(progress=lambda *told: outer.append(told)):
        tick(1, 2)
        with job(progress=lambda *told: inner.append(told)):
            tick(3)
        with job():
            tick(2, 2)
    assert (outer, inner) == ([(1, 2), (2, 2)], [(3, 0)])


def test_any_cancel_around_ends_the_work() -> None:
    with job(cancel=lambda: True), job(cancel=lambda: False), pytest.raises(Cancelled):
        tick(0, 1)
    with job(cancel=lambda: False), job(cancel=lambda: True), pytest.raises(Cancelled):
        check()
    check()


def test_a_job_that_draws_is_cancelled_at_matches_alone() -> None:
    with job(cancel=lambda: True, match_seconds=0.1):
        tick(0, 1)
        assert (jobs.match_seconds(), jobs.can_be_cancelled()) == (0.1, True)
        with pytest.raises(Cancelled):
            check_match()


def test_a_job_ends_with_its_block() -> None:
    with pytest.raises(RuntimeError), job(cancel=lambda: True):
        raise RuntimeError
    check()
    assert not jobs.can_be_cancelled()


def test_a_thread_starts_without_a_job() -> None:
    found = list[bool]()
    with job(cancel=lambda: True):
        thread = threading.Thread(target=lambda: found.append(jobs.can_be_cancelled()))
        thread.start()
        thread.join()
    assert found == [False]


def test_many_items_are_checked_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "BLOCK", 3)
    asked = list[int]()

    def never() -> bool:
        asked.append(1)
        return False

    with job(cancel=never):
        assert [list(block) for block in in_blocks(range(7))] == [[0, 1, 2], [3, 4, 5], [6]]
    assert len(asked) == 3
