"""At rest nothing runs: no timer is set, neither by the program nor by Textual."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from textual.message_pump import MessagePump
from waiting import settled, until

from tokentui.preset_table import preset_named
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.persist.session_file import SavedSession
from tokentui.ui.app import ExplorerApp


def timers(app: ExplorerApp) -> list[object]:
    """What the event loop will do by itself: the timers of all widgets that are not paused, and its own."""
    loop: Any = asyncio.get_running_loop()
    screens = [node for screen in app.screen_stack for node in screen.walk_children(with_self=True)]
    pumps: list[MessagePump] = [app, *screens]
    waiting: list[object] = [one for one in loop._scheduled if not one.cancelled()]
    begun = [one for pump in pumps for one in pump._timers if one._task and not one._task.done()]
    return waiting + [one for one in begun if one._active.is_set()]


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize(
    "keys", ["", "n", "inew ", "3", "?"], ids=["begun", "a step", "typed", "another pane", "a dialog"]
)
async def test_no_timer_is_set_at_rest(monkeypatch: pytest.MonkeyPatch, keys: str) -> None:
    monkeypatch.setattr("tokentui.ui.autosave.SAVE_S", 0.02)
    monkeypatch.setattr(ExplorerApp, "NOTIFICATION_TIMEOUT", 0.05)
    app = ExplorerApp(
        lambda publish: Session(publish, preset_named("gpt2").recipe),
        begin=lambda session: session.send(do.Open(("sample:hugs",))),
        begun=SavedSession(sources=("sample:hugs",)),
    )
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.autosave is not None and app.autosave._kept is not None)
        await until(pilot, lambda: timers(app) == [])
        await pilot.press(*keys)
        if keys == "n":
            await until(pilot, lambda: app.main.snapshot is not None and app.main.snapshot.main.at.step == 1)
        await until(pilot, lambda: timers(app) == [])
        assert app.autosave is not None
        kept, now = app.autosave._kept, app.autosave.current()
        assert kept == now, "what has changed is saved without a clock that looks for it"
