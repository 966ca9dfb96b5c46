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

from tokentui.session import commands as do
from tokentui.session.commands import GoTo
from tokentui.session.engine.driver import Session
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs.recipe import RecipeScreen
from tokentui.ui.draw.table import Listing
from tokentui.ui.late_session import LateSession
from tokentui.ui.main_screen import MainScreen


async def ready(pilot: Pilot[None], session: FakeSession) -> None:
    session.show()
    await pilot.pause()


async def test_what_follows_the_key_of_a_dialog_is_for_it_and_of_the_key_that_types_is_typed() -> None:
    app, session = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot, session)
        burst(app, "g", *"77", "enter", "g", *"88", "enter")
        await until(pilot, lambda: len(session.of(GoTo)) == 2)
        assert [command.step for command in session.of(GoTo)] == [77, 88]
        assert isinstance(app.screen, MainScreen)
        burst(app, "i", *"naq", events.Paste("pasted"), "escape", "q")
        await until(pilot, lambda: not app.is_running)
    assert app.main.encode.line.value == "naqpasted"


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
    app, session = explorer()
    later = Widget.call_later

    def lost(widget: Widget, call: Callable[..., Any], *args: Any) -> bool:
        return getattr(call, "__func__", None) is asyncio.Event.set or later(widget, call, *args)

    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot, session)
        await pilot.press("i")
        await until(pilot, lambda: app.main.encode.line.has_focus)
        monkeypatch.setattr("tokentui.thinwire.type_ahead.STUCK_S", 0.01)
        monkeypatch.setattr(Widget, "call_later", lost)
        burst(app, *"ab")
        await until(pilot, lambda: app.main.encode.line.value == "ab")
        assert "ab" in screen_text(app)


class Late:
    """The explorer whose engine is made when a test says so.

    Attributes:
        app: The app.
        begin: What lets the engine be made.
    """

    def __init__(self, **more: Any) -> None:
        self.begin: list[Callable[[], object]] = []
        self.app = ExplorerApp(
            lambda publish: LateSession(lambda: Session(publish), self.begin.append),
            begin=lambda session: session.send(do.Open(("sample:sailor",))), typed="the crowd", **more,
        )


@pytest.mark.parametrize(("keys", "holds"), [
    (["t", *"xq"], lambda main: main.corpus.editing and main.corpus._editor.text.startswith("xq")
        and (main.corpus._editor.text == "xq") is main.app._first_screen),
    (["i", *"nq"], lambda main: main.encode.line.value.endswith("nq") and main.typing),
    (["slash", *"sail", "enter"], lambda main: main.text.match and main.sought == ("corpus", "sail")),
    (["a", "slash", *"bert", "enter"], lambda main: isinstance(main.app.screen, RecipeScreen)),
    (["c", *"bert"], lambda main: [line.value for line in main.app.screen.query(Input)] == ["bert"]),
    (["n", "n", "x", "escape"], lambda main: main.snapshot.main.at.step == 2),
    (["g", "5", "enter", "n"], lambda main: main.snapshot.main.at.step == 6),
], ids=lambda case: " ".join(case) if isinstance(case, list) else "")
@pytest.mark.parametrize("first_screen", [False, True])
@pytest.mark.first_run(cases=1)
async def test_keys_before_the_engine_is_ready_are_kept(
    keys: list[str], holds: Callable[[Any], object], first_screen: bool
) -> None:
    """None of them is refused, and none is taken for a key of the main screen."""
    late = Late(first_screen=first_screen)
    app = late.app
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        burst(app, *keys)
        await until(pilot, lambda: late.begin)
        for begin in late.begin:
            begin()
        await settled(pilot)
        await until(pilot, lambda: app.main.snapshot and holds(app.main))
        assert not [note for note in app.messages if "not yet" in note]
        assert app.is_running


async def test_escape_gives_up_what_waits_for_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokentui.ui.app._LONG_S", 0.0)
    late = Late()
    app = late.app
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        burst(app, "t", *"qq")
        await until(pilot, lambda: any("keys wait for this: the engine is starting" in note
            for note in app.messages))
        await pilot.press("escape")
        await until(pilot, lambda: app.messages[-1] == "stopped")
        await pilot.press("i", "z")
        assert app.main.encode.line.value.endswith("z")
        late.begin[0]()
        await settled(pilot)
        assert app.is_running
        assert not app.main.corpus.editing
