"""Keys in one burst: each is acted on as if the one before it had been waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from key_burst import burst
from screens import FakeSession, explorer, screen_text
from textual import events
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input
from waiting import settled, until

from tokentui.session.commands import GoTo
from tokentui.ui.draw.table import Listing
from tokentui.ui.main_screen import MainScreen


async def ready(pilot: Pilot[None], session: FakeSession) -> None:
    session.show()
    await pilot.pause()


async def test_what_follows_the_key_that_types_is_typed() -> None:
    app, session = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot, session)
        burst(app, "i", *"naq", events.Paste("pasted"), "escape", "q")
        await until(pilot, lambda: not app.is_running)
    assert app.main.encode.line.value == "naqpasted"


async def test_what_follows_the_key_of_a_dialog_is_for_the_dialog() -> None:
    app, session = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot, session)
        burst(app, "g", *"77", "enter", "g", *"88", "enter")
        await until(pilot, lambda: len(session.of(GoTo)) == 2)
        assert [command.step for command in session.of(GoTo)] == [77, 88]
        assert isinstance(app.screen, MainScreen)


@pytest.mark.parametrize("keys", [("ctrl+p",), ("colon",), ("question_mark", "slash")])
@pytest.mark.slow
async def test_what_follows_the_key_that_searches_the_keys_is_searched(keys: tuple[str, ...]) -> None:
    app, session = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot, session)
        burst(app, *keys, *"quit")
        await settled(pilot)
        assert [line.value for line in app.screen.query(Input)] == ["quit"]


@pytest.mark.parametrize("keys", [
    ("ctrl+p", *"step", "down", "down"), ("a", "slash", *"gpt", "down", "down"),
])
@pytest.mark.slow
async def test_arrows_move_among_the_rows_of_what_was_typed_before_them(keys: tuple[str, ...]) -> None:
    cursors = []
    for at_once in (True, False):
        app, session = explorer()
        async with app.run_test(size=(80, 24)) as pilot:
            await ready(pilot, session)
            if at_once:
                burst(app, *keys)
                await settled(pilot)
            else:
                for key in keys:
                    await pilot.press(key)
                    await settled(pilot)
            cursors += [one.cursor_key for one in app.screen.query(Listing) if one.display and one.rows][:1]
    assert len(cursors) == 2
    assert cursors[0] == cursors[1]


async def test_a_key_whose_widget_goes_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows a key is lost with the widget that it was sent to."""
    monkeypatch.setattr("tokentui.thinwire.type_ahead.STUCK_S", 0.01)
    app, session = explorer()
    later = Widget.call_later

    def lost(widget: Widget, call: Callable[..., Any], *args: Any) -> bool:
        return getattr(call, "__func__", None) is asyncio.Event.set or later(widget, call, *args)

    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot, session)
        monkeypatch.setattr(Widget, "call_later", lost)
        burst(app, "i", *"ab")
        await until(pilot, lambda: app.main.encode.line.value == "ab")
        assert "ab" in screen_text(app)
