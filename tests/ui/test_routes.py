"""Every id of a key, by every route: its single keys, its member of a family and a doubled letter.

The routes of one id lead to the same screen. The table is the program's own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from waiting import screen_text, settled, until

import tokentui
from tokentui.axes import preset
from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.views import ColumnWanted
from tokentui.ui.app import ExplorerApp
from tokentui.ui.bindings import BoundAction, active_actions
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.pane_screen import PaneScreen

RUN = Run.of({"merges": 30})
LEFT_OUT = {
    "suspend": "stops the process", "quit": "ends the program", "quit_now": "ends the program",
    "play": "runs for a time",
}
BOTH_WAYS = {"row_up", "page_up", "first_row", "cursor_left"}
"""Ids whose keys lead to opposite directions."""
STATES: dict[str, tuple[str, ...]] = {
    "empty": (), "corpus": ("n", "n"), "vocabulary": ("3", "n"), "pairs": ("2", "n"),
    "file": (), "compare": ("n",), "compare encode": ("4",), "compare vocabulary": ("3",),
}
"""The keys that lead to each state, once it is open."""


@asynccontextmanager
async def opened(state: str, folder: Path) -> AsyncIterator[tuple[ExplorerApp, Pilot[None]]]:
    path = folder / "file.json"
    if state == "file" and not path.exists():
        trainer = tokentui.Trainer("sample:sailor", "gpt2")
        trainer.run()
        trainer.tokenizer().save(str(path))

    async def begin(session: Session) -> None:
        if state != "empty":
            await session.send(do.Open(("sample:hugs",)))
        if state == "file":
            await session.send(do.OpenTokenizer(str(path)))

    app = ExplorerApp(
        lambda publish: Session(publish, preset("gpt2"), RUN), begin=begin, run=RUN, typed="hugs")
    async with app.run_test(size=(120, 40), notifications=False) as pilot:
        await settled(pilot)
        if state.startswith("compare"):
            app.compare([ColumnWanted(preset(name), RUN, name=name) for name in ("gpt2", "gpt4")])
            await until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.snapshot)
            await settled(pilot)
        for key in STATES[state]:
            await pilot.press(key)
            await settled(pilot)
        yield app, pilot


def bound(app: ExplorerApp) -> dict[str, BoundAction]:
    """The actions whose keys work now, by id, with all of these keys."""
    assert isinstance(app.screen, PaneScreen)
    found: dict[str, BoundAction] = {}
    for action in active_actions(app.screen, app.user_keys):
        found.setdefault(action.id, action)
    return found


async def shown(state: str, folder: Path, route: str) -> tuple[str, str, list[str]]:
    """What a route leads to: the kind of the screen, its text, and what was said."""
    async with opened(state, folder) as (app, pilot):
        before = len(app.messages)
        for key in route.split():
            await pilot.press(key)
        await settled(pilot)
        assert app.is_running
        return type(app.screen).__name__, screen_text(pilot), list(app.messages)[before:]


async def walk(state: str, folder: Path) -> int:
    """Compare the routes of each action in a state. Return how many were run."""
    async with opened(state, folder) as (app, _):
        actions = [
            one for one in bound(app).values()
            if len(one.keys) > 1 and one.id not in {"", *LEFT_OUT, *BOTH_WAYS}
        ]
        families = {key for one in bound(app).values() for key in one.keys}
    different = {}
    for action in actions:
        first = await shown(state, folder, action.keys[0])
        for route in action.keys[1:]:
            if " " in route and route[0] not in families:
                continue  # the screen has not this family
            other = await shown(state, folder, route)
            assert action.id != "theme" or first[0] != "MainScreen" or first[2]  # the key did something
            if other != first:
                different[action.id, route] = first, other
    assert {key: [one[0] for one in both] for key, both in different.items()} == {}, different
    return len(actions)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.slow
async def test_all_keys_of_an_action_lead_to_the_same_screen(state: str, tmp_path: Path) -> None:
    assert await walk(state, tmp_path) > 5


async def test_all_keys_of_themes_open_the_same_screen(tmp_path: Path) -> None:
    async with opened("corpus", tmp_path) as (app, pilot):
        routes = bound(app)["theme"].keys
        assert len(routes) > 1
        seen = []
        for route in routes:
            await pilot.press(*route.split())
            await settled(pilot)
            seen.append((type(app.screen).__name__, screen_text(pilot)))
            await pilot.press("escape")
            await settled(pilot)
        assert seen[0][0] != "MainScreen"
        assert seen == seen[:1] * len(routes)
