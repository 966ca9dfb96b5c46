"""Keys in one burst: each is acted on as if the one before it had been waited for."""

from __future__ import annotations

import pytest
from screens import FakeSession, explorer, screen_text
from textual import events
from textual.pilot import Pilot
from waiting import until

from tokentui.session.commands import GoTo
from tokentui.ui.app import ExplorerApp
from tokentui.ui.main import MainScreen
from tokentui.ui.terminal.app import TerminalApp


def burst(app: ExplorerApp, *keys: str | events.Paste) -> None:
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


async def test_a_key_whose_widget_goes_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message that follows a key is lost with the widget that it was sent to."""
    monkeypatch.setattr("tokentui.ui.terminal.app.STUCK_S", 0.01)
    app, session = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot, session)
        monkeypatch.delattr(TerminalApp, "on_taken")
        burst(app, "i", *"ab")
        await until(pilot, lambda: app.main.encode.line.value == "ab")
        assert "ab" in screen_text(app)
