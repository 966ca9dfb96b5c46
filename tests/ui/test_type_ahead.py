"""Keys in one burst: each is acted on as if the one before it had been waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from screens import FakeSession, explorer, screen_text
from textual import events
from textual.app import ComposeResult
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static
from waiting import settled, until

from tokentui.session.commands import GoTo
from tokentui.thinwire import ThinWireApp
from tokentui.ui.main import MainScreen


def burst(app: ThinWireApp[None], *keys: str | events.Paste) -> None:
    """Hand in keys at once, as a terminal does that sends them in one piece."""
    assert app._driver is not None
    for key in keys:
        event = events.Key(key, key if len(key) == 1 else None) if isinstance(key, str) else key
        event.set_sender(app)
        app._driver.process_message(event)


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


@pytest.mark.parametrize("keys", [("ctrl+p",), ("question_mark", "slash")])
async def test_what_follows_the_key_that_searches_the_keys_is_searched(keys: tuple[str, ...]) -> None:
    app, session = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot, session)
        burst(app, *keys, *"quit")
        await settled(pilot)
        assert [line.value for line in app.screen.query(Input)] == ["quit"]


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


class Asked(Screen[None]):
    """A dialog with a line."""

    AUTO_FOCUS = "Input"

    def compose(self) -> ComposeResult:
        yield Input()


class Slow(Static, can_focus=True):
    """Opens a dialog by `o`, when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.let = asyncio.Event(), asyncio.Event()

    async def on_key(self, event: events.Key) -> None:
        if event.key == "o":
            self.begun.set()
            await self.let.wait()
            self.app.push_screen(Asked())


class SlowApp(ThinWireApp[None]):
    """An app with nothing else."""

    def compose(self) -> ComposeResult:
        yield Slow()


async def test_a_key_may_take_long_before_another_one_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokentui.thinwire.type_ahead.STUCK_S", 0)
    app = SlowApp()
    async with app.run_test() as pilot:
        slow = app.query_one(Slow)
        burst(app, "o")
        await slow.begun.wait()
        for _ in range(9):  # turns of the loop, in which nothing is given up
            await asyncio.sleep(0)
        monkeypatch.setattr("tokentui.thinwire.type_ahead.STUCK_S", 60)
        for key in "abc":
            app.post_message(events.Key(key, key))
        seen = asyncio.Event()
        app.call_later(seen.set)
        await seen.wait()
        waiting = len(app.type_ahead._waiting)
        slow.let.set()
        assert waiting == 3
        await until(pilot, lambda: any(line.value == "abc" for line in app.screen.query(Input)))


async def test_a_key_that_waits_is_given_up_for_the_widget_that_holds_it_up_alone(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each queue has its own limit, and none after the last."""
    monkeypatch.setattr("tokentui.thinwire.type_ahead.STUCK_S", 60)
    app = SlowApp()
    limits: list[asyncio.Timeout | None] = []

    def later(_: object) -> bool:
        limits.append(app.type_ahead._limit)
        return False

    async with app.run_test():
        slow = app.query_one(Slow)
        app.type_ahead._waiting.append(events.Key("a", "a"))
        monkeypatch.setattr(slow, "call_later", later)
        await app.type_ahead._deliver_next(slow, app.screen)
        first, second = limits
        assert first is not None
        assert second is not None
        assert first is not second
        assert app.type_ahead._limit is None


async def test_an_app_that_ends_waits_for_no_key() -> None:
    app = SlowApp()
    async with app.run_test():
        slow, screen = app.query_one(Slow), app.screen
        burst(app, "o")
        await slow.begun.wait()
        acting = app.type_ahead._acting
        assert acting is not None
        app.exit()
        slow.let.set()
        with pytest.raises(asyncio.CancelledError):
            await acting
    assert not app.screen_stack
    await app.type_ahead._deliver_next(slow, screen)
    await app.type_ahead._deliver_key(events.Key("a", "a"))
