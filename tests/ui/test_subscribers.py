"""Navigation history, tour recorder and autosave watch the commands of the user in one place."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from waiting import settled, until

from tokentui.axes import preset
from tokentui.core.errors import TokentuiError
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.persist.session_file import Branch, SavedSession
from tokentui.session.snapshot import Snapshot
from tokentui.ui.app import ExplorerApp
from tokentui.ui.start_screen import StartScreen


def app_of(**more: Any) -> ExplorerApp:
    return ExplorerApp(Session, begin=lambda session: session.send(do.Open(("sample:hugs",))), **more)


def shown_text(app: ExplorerApp) -> str:
    """The typed text of the snapshot that is shown."""
    return "" if app.engine.snapshot is None else app.engine.snapshot.main.encoding.text


async def test_subscribers_get_each_command_with_the_state_before_and_what_was_opened() -> None:
    app, posted, opened = app_of(), list[tuple[do.Command[Any], Snapshot | None]](), list[do.Command[Any]]()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        app.engine.subscribe(lambda command, before: posted.append((command, before)), opened.append)
        before = app.engine.snapshot
        commands = do.Move(2), do.TrainOnText("low lower"), do.Open(("no such file",))
        app.engine.send(commands[0])
        assert posted == [(commands[0], before)]
        await app.engine.ask(commands[1])
        assert opened == [commands[1]], "before whoever waits for the answer goes on"
        with pytest.raises(TokentuiError):
            await app.engine.ask(commands[2])
        await settled(pilot)
        # An answer is handled before the screen shows the snapshot of its turn.
        seen = list[str]()
        # The earliest that the screen can take a snapshot: at once.
        app.call_later = lambda callback, *args: bool(callback(*args) or True)  # type: ignore[method-assign]

        async def ask() -> None:
            await app.engine.ask(do.SetInput("hug pug"))
            seen.append(shown_text(app))

        asking = asyncio.create_task(ask())
        await until(pilot, lambda: shown_text(app) == "hug pug")
        assert seen == [""]
        await asking
    assert [command for command, _ in posted if command in commands] == list(commands)
    assert opened == [commands[1]]


async def test_the_tour_recorder_names_the_corpus_of_a_resumed_session() -> None:
    kept = SavedSession(sources=("sample:sailor",), training=Branch(preset("gpt2"), step=3))
    app = app_of(begun=SavedSession(sources=("sample:hugs",)), offer=(kept, ""))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        await pilot.press("enter")
        await until(pilot, lambda: app.main.snapshot is not None and app.main.snapshot.main.at.step == 3)
        await settled(pilot)
        assert app.recorder.corpus == ("sample:sailor", None)
        assert app.autosave is not None
        saved = app.autosave.current()
    assert saved is not None
    assert (saved.sources, saved.training.step) == (("sample:sailor",), 3)
