"""The time left of a work, by a clock of the test's own."""

from __future__ import annotations

import asyncio
import threading
from itertools import pairwise
from typing import Any

import pytest
from screens import explorer, screen_text
from waiting import settled, until

from tokentui.core.jobs import tick
from tokentui.session import commands as do
from tokentui.session.engine import eta as pace
from tokentui.session.engine.driver import Session
from tokentui.session.engine.eta import FIRST_S, TimeLeft
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import Busy
from tokentui.ui.dialogs.export import ExportScreen


def told(counts: list[tuple[float, int]], total: int) -> list[int | None]:
    """The seconds left at each (time, done)."""
    pace = TimeLeft()
    return [pace.with_time_left(Busy("counting", done, total), at).left for at, done in counts]


@pytest.mark.parametrize("seconds", [5, 30, 400])
@pytest.mark.parametrize(("first", "total"), [(0, 1000), (200, 1000), (1000, 200), (0, 7)])
def test_an_even_work_counts_down_by_whole_seconds(seconds: int, first: int, total: int) -> None:
    times = [n / 4 for n in range(4 * seconds)]
    found = told([(at, round(first + (total - first) * at / seconds)) for at in times], total)
    slack = 1 + 1.5 * seconds / abs(total - first)  # what is done is counted in whole units
    for at, left in zip(times, found, strict=True):
        if at < FIRST_S:
            assert left is None
        elif left is not None and at > seconds / 2:
            assert left - 1 - slack <= seconds - at <= left + slack
    assert found[-1] is not None
    assert found[-1] <= 1 + slack


def test_nothing_is_told_before_there_is_anything_to_tell_by() -> None:
    assert told([(0.0, 0), (0.5, 50), (0.9, 90)], 100) == [None] * 3
    assert told([(n, 0) for n in range(9)], 100) == [None] * 9, "nothing is done yet"
    assert told([(n, 5 * n) for n in range(9)], 0) == [None] * 9, "nobody knows how far it goes"


def test_a_second_of_work_is_enough_to_tell_by() -> None:
    assert told([(0.0, 0), (0.5, 50), (0.99, 99), (1.1, 110)], 1000) == [None, None, None, 9]


def test_work_that_comes_in_jerks_does_not_make_it_jump() -> None:
    counts = [(n / 10, 100 * (n // 15) + 3 * (n % 15)) for n in range(600)]
    found = [left for left in told(counts, 6000)[100:] if left is not None]
    steps = [after - before for before, after in pairwise(found)]
    assert [step for step in steps if not -3 <= step <= 3 or step == 1] == []
    turns = sum(one > 0 for one in steps)
    assert turns <= len(steps) / 20, "it goes down nearly always"


def test_another_work_begins_anew() -> None:
    pace = TimeLeft()
    for n in range(30):
        pace.with_time_left(Busy("reading", n, 100), n / 10)
    assert pace.with_time_left(Busy("reading", 31, 100), 3.1).left is not None
    assert pace.with_time_left(Busy("counting", 1, 100), 3.2).left is None
    assert pace.with_time_left(Busy("counting", 90, 100), 5.2).left == 1
    assert pace.with_time_left(Busy("counting", 0, 100), 5.4).left is None, "it began again"


def test_slower_work_is_told_to_take_longer() -> None:
    counts = [(n / 10, n * 10) for n in range(50)] + [(5 + n / 10, 500 + n) for n in range(200)]
    found = told(counts, 1000)
    assert (found[49] or 0) <= 6
    assert (found[-1] or 0) > 6


async def test_a_question_that_takes_long_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_S", 0.0)
    monkeypatch.setattr(pace, "_LOOK_S", 0.0)
    go_on, told, seen = threading.Event(), asyncio.Event(), []

    def counted(command: do.Formats, context: object) -> str:
        done = 0
        while not go_on.is_set():
            tick(done, 1 << 40)
            done += 1
        return "found"

    def shown(snapshot: Snapshot) -> None:
        seen.append(snapshot.asked)
        if snapshot.asked is not None:
            told.set()

    monkeypatch.setattr(do.Formats, "answer", counted)
    session = Session(shown)
    await session.start()
    await session.send(do.Open(("sample:hugs",)))
    answer = session.send(do.Formats())
    await asyncio.wait_for(told.wait(), 60)
    asked = next(one for one in seen if one is not None)
    assert (asked.total, asked.left is not None) == (1 << 40, True)
    go_on.set()
    await answer
    await asyncio.wait_for(session.idle.wait(), 60)
    assert seen[-1] is None, "it is over"
    await session.close()


@pytest.mark.parametrize("left", [12, 400, 9000])
@pytest.mark.slow
async def test_a_dialog_says_the_time_left(left: int) -> None:
    app, session = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        answer: Any = asyncio.get_running_loop().create_future()
        monkey: Any = session.send
        held = lambda command: answer if isinstance(command, do.Formats) else monkey(command)  # noqa: E731
        assert app.engine.session is not None
        app.engine.session.send = held  # type: ignore[method-assign]
        app.push_screen(ExportScreen(app.engine))
        await until(pilot, lambda: "checking the formats" in screen_text(app))
        session.show(asked=Busy("Formats", 45, 100, left))
        words = {12: "12 s left", 400: "7 min left", 9000: "3 h left"}[left]
        await until(pilot, lambda: f"45 %, {words}" in screen_text(app))
        answer.cancel()
