"""Keys that are typed ahead reach the screen they are meant for, and none waits for ever."""

from __future__ import annotations

import asyncio

import pytest
from key_burst import burst
from textual import events
from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.widgets import Input, Static
from waiting import until

from tokentui.thinwire import ThinWireApp


class Asked(Screen[None]):
    """A dialog with an input line."""

    AUTO_FOCUS = "Input"

    def compose(self) -> ComposeResult:
        yield Input()


class Slow(Static, can_focus=True):
    """Opens a dialog by `o`, once `let` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.let = asyncio.Event(), asyncio.Event()

    async def on_key(self, event: events.Key) -> None:
        if event.key == "o":
            self.begun.set()
            await self.let.wait()
            self.app.push_screen(Asked())


class SlowApp(ThinWireApp[None]):
    """An app with this widget only."""

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


class OpensAtOnce(Static, can_focus=True):
    """Opens a dialog by `o`."""

    def on_key(self, event: events.Key) -> None:
        if event.key == "o":
            self.app.push_screen(Asked())


class Thin(ThinWireApp[None]):
    """An app of this package."""

    def compose(self) -> ComposeResult:
        yield OpensAtOnce()


class Plain(App[None]):
    """The same app of Textual."""

    def compose(self) -> ComposeResult:
        yield OpensAtOnce()


@pytest.mark.parametrize(("app", "typed"), [(Thin, "hello"), (Plain, "")])
async def test_letters_after_the_key_that_opens_a_dialog(app: type[App[None]], typed: str) -> None:
    """The measurement that `TypeAhead` is needed for. If Textual keeps the letters one day, it can go."""
    running = app()
    async with running.run_test() as pilot:
        burst(running, *"ohello")
        await until(pilot, lambda: isinstance(running.screen, Asked))
        await until(pilot, lambda: running.screen.query_one(Input).value == typed)
        await pilot.pause()
        assert running.screen.query_one(Input).value == typed
