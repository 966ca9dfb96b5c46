"""What tests wait for: a loop at rest, and a session that is idle."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Static
from waiting import is_settled, rest, settled

from tokentui.recipe import Recipe
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.engine.jobs import JobPool
from tokentui.session.snapshot import Snapshot
from tokentui.ui.app import ExplorerApp
from tokentui.ui.late_session import LateSession

ROOT = Path(__file__).resolve().parents[2]
HOPS = 50


class Hopping(App[None]):
    """Each message of a widget posts the next one."""

    hops = 0

    def compose(self) -> ComposeResult:
        yield Static()

    def hop(self) -> None:
        self.hops += 1
        if self.hops < HOPS:
            pump: Any = self if self.hops % 2 else self.query_one(Static)
            pump.call_later(self.hop)


async def test_a_pause_lasts_until_all_messages_are_handled() -> None:
    app = Hopping()
    async with app.run_test() as pilot:
        app.call_later(app.hop)
        await pilot.pause()
        assert app.hops == HOPS


async def test_a_pause_lasts_until_the_screen_is_laid_out() -> None:
    app = Hopping()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.resize_terminal(40, 12)
        assert app.screen.size == (40, 12)
        app.query_one(Static).styles.height = 7
        await rest()
        assert app.query_one(Static).size.height == 7


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each turn of the engine, and each job, takes some time."""
    turn, submit = Session._turn, JobPool.submit

    def slow_turn(session: Session, *args: Any) -> Any:
        time.sleep(0.02)
        return turn(session, *args)

    def slow_submit(pool: JobPool, key: Any, work: Callable[[], object], *args: Any, **more: Any) -> None:
        def slow_work() -> object:
            time.sleep(0.1)
            return work()

        submit(pool, key, slow_work, *args, **more)

    monkeypatch.setattr(Session, "_turn", slow_turn)
    monkeypatch.setattr(JobPool, "submit", slow_submit)


@pytest.mark.parametrize("late", [False, True])
async def test_an_app_has_settled_once_its_session_is_idle_and_its_answers_are_shown(
    late: bool, slow: None
) -> None:
    def session(publish: Callable[[Snapshot], None]) -> Session | LateSession:
        def made() -> Session:
            return Session(publish, Recipe())

        return LateSession(made, app.call_after_refresh) if late else made()

    app = ExplorerApp(
        session, typed="hugs", begin=lambda session: session.send(do.Open(("sample:hugs",)))
    )
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert app.main.snapshot is not None
        assert not app.main.snapshot.corpus.nothing_open
        await pilot.press("n", "n")
        assert not is_settled(app)
        await settled(pilot)
        assert app.main.snapshot.main.at.step == 2


@pytest.mark.slow
def test_the_tests_run_without_a_cache() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "0", "--collect-only", __file__],
        cwd=ROOT, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True,
        timeout=300, check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
