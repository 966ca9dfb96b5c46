"""A screen is left once, and what it still waited for is given up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from dialogs import FakeEngine
from screens import explorer
from textual import events
from textual.widgets import Static
from waiting import notes_of, settled, until

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.session import commands as do
from tokentui.session.views import ColumnWanted
from tokentui.ui.dialogs import Dialog
from tokentui.ui.guard import start_worker
from tokentui.ui.pane_screen import PaneScreen


class Waits(Dialog[str]):
    """Waits for something to show, which comes late."""

    def __init__(self) -> None:
        super().__init__(FakeEngine())
        self.late: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.parts = (Static(id="said"),)

    def on_mount(self) -> None:
        """Wait."""
        start_worker(self, "show", self._show)

    async def _show(self) -> None:
        self.query_one("#said", Static).update(await self.late)


async def test_a_screen_is_left_once_and_takes_those_above_it_along() -> None:
    app, session = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        answers: list[tuple[str, object]] = []
        dialog = Waits()
        await app.push_screen(dialog, lambda result: answers.append(("dialog", result)))
        dialog.dismiss("first")
        dialog.dismiss("second")
        assert dialog.late.cancelled()
        await until(pilot, lambda: app.screen is app.main and not dialog.is_running)
        assert answers == [("dialog", "first")]
        answers.clear()
        below, above = Dialog[str](app.engine), Dialog[str](app.engine)
        await app.push_screen(below, lambda result: answers.append(("below", result)))
        await app.push_screen(above, lambda result: answers.append(("above", result)))
        below.dismiss("late")
        await until(pilot, lambda: app.screen is app.main and len(answers) == 2)
        assert sorted(answers) == [("above", None), ("below", "late")]
        # A comparison that fails below a dialog.
        session.answers[do.Compare] = TokentuiError("no such file", "b.json")
        app.compare((ColumnWanted(path="a.json"), ColumnWanted(path="b.json")))
        app.push_screen(Dialog(app.engine))
        await settled(pilot)
        assert app.screen is app.main
        assert session.of(do.Leave) == [do.Leave()]


@pytest.mark.slow
async def test_a_pane_has_the_focus_again_after_its_screen_had_no_room_below_a_dialog() -> None:
    for compares in (False, True):
        app, _ = explorer()
        async with app.run_test(size=(120, 40)) as pilot:
            await settled(pilot)
            if compares:
                app.compare((ColumnWanted(path="a.json"), ColumnWanted(path="b.json")))
                await settled(pilot)
            screen = app.screen
            assert isinstance(screen, PaneScreen)
            for pane in screen.panes:
                screen.go(pane)
                await settled(pilot)
                app.push_screen(Dialog(app.engine))
                await settled(pilot)
                for size in ((20, 5), (120, 40)):
                    await pilot.resize_terminal(*size)
                    await settled(pilot)
                await pilot.press("escape")
                await settled(pilot)
                assert (screen.active, screen.focused) == (pane, screen.body_of(pane))


@pytest.mark.slow
async def test_the_list_of_keys_lives_without_room() -> None:
    app, _ = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.resize_terminal(6, 3)
        await pilot.press("pageup", "escape")
        await until(pilot, lambda: app.screen is app.main)
        assert app.is_running


async def test_focus_is_not_taken_back_and_what_is_said_is_said_once(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that was given up is no failure. Focus that has moved on stays: else two panes would hand it
    to each other for ever."""
    app, _ = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        app.main.go("pairs")
        await until(pilot, lambda: app.main.pairs.has_focus)
        app.main.post_message(events.DescendantFocus(app.main.vocabulary))
        await settled(pilot)
        assert app.main.active == "pairs"
        assert app.main.pairs.has_focus
        for _ in range(5):
            app.say("nothing to find yet")
        app.say("something else")
        await until(pilot, lambda: notes_of(app) == ["something else"])
        assert [*app.messages] == ["nothing to find yet", "something else"]
        loop = asyncio.get_running_loop()
        app._failed(loop, {"message": "Future exception was never retrieved", "exception": Cancelled()})
        answer: asyncio.Future[None] = loop.create_future()
        answer.set_exception(Cancelled())
        monkeypatch.setattr(app.engine.session, "send", lambda command: answer)
        app.engine.send(do.Play(False))
        await pilot.pause()
        assert app.is_running
    assert app._exception is None
    assert not (home / "crash.txt").exists()


async def test_what_fails_after_one_has_asked_to_leave_goes_to_the_file_and_not_to_the_exit_code(
    home: Path, collect: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fails when the app has ended has been looked at."""
    app, _ = explorer()
    async with app.run_test() as pilot:
        await settled(pilot)
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with monkeypatch.context() as patch:
            patch.setattr(app.engine.session, "send", lambda _, answer=answer: answer)
            app.engine.send(do.Play(False))
        app.exit(return_code=129)
        app._handle_exception(RuntimeError("too late to matter"))
        app._handle_exception(Cancelled())
        app.exit(return_code=143)
    assert app._exception is None
    assert app.return_code == 129, "the first request counts"
    account = (home / "crash.txt").read_text()
    assert "too late to matter" in account
    assert "Cancelled" not in account
    told: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    answer.set_exception(Cancelled())
    await asyncio.sleep(0)
    del answer
    collect()
    assert told == []
