"""The explorer without a terminal: what it shows after some actions, as pictures."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from textual.pilot import Pilot

from tokentui.core.errors import TokentuiError, nearest
from tokentui.session import commands as do
from tokentui.ui.app import ExplorerApp
from tokentui.ui.draw.picture import ScreenPicture, picture_of
from tokentui.ui.link import EngineScreen
from tokentui.ui.pane_screen import PaneScreen

_POLL_S, _STILL = 0.03, 3
"""A screen stands still if it shows the same so many times, and there is nothing to do."""


@dataclass(frozen=True)
class Act:
    """What is done before a picture, in this order.

    Attributes:
        step: The step to go to; None to stay. A step behind the end of the run is the end.
        screens: The ids of the actions that are run, one after the other, such as `facts`.
        keys: The keys that are pressed then, by Textual's names.
        text: What is typed at last.
    """

    step: int | None = None
    screens: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    text: str = ""


@contextmanager
def true_color() -> Iterator[None]:
    """Make apps created in this context draw for a terminal with 16 million colors. Restores the environment
    variables."""
    names = ("NO_COLOR", "TERM", "COLORTERM")
    before = {name: os.environ.get(name) for name in names}
    os.environ.pop("NO_COLOR", None)
    os.environ.update({"TERM": "xterm-256color", "COLORTERM": "truecolor"})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


async def pictures(app: ExplorerApp, acts: Sequence[Act], size: tuple[int, int]) -> list[ScreenPicture]:
    """Run an explorer without a terminal, and return what it shows after each act.

    Args:
        app: The explorer, made and run within `true_color`.
        acts: What to do, one after the other; each starts when the screen stands still.
        size: The columns and rows.

    Raises:
        TokentuiError: An id names no action of the visible screen, or the corpus cannot be opened.
    """
    kept: list[ScreenPicture] = []
    told: list[TokentuiError] = []
    tell = app.tell

    def heard(error: BaseException) -> None:
        told.extend([error] if isinstance(error, TokentuiError) else [])
        tell(error)

    app.tell = heard  # type: ignore[method-assign]

    async with app.run_test(size=size) as pilot:
        while app.engine.snapshot is None or app.engine.snapshot.corpus.nothing_open:
            if told:
                raise told[0]
            if not app.is_running:
                return kept  # leaving the pilot raises what ended it
            await pilot.pause(_POLL_S)
        await _wait_until_still(app, pilot)
        for act in acts:
            if act.step is not None:
                app.engine.send(do.GoTo(act.step))
                await _wait_until_still(app, pilot)
            for id in act.screens:
                await _run(app, id)
                await _wait_until_still(app, pilot)
            for key in act.keys:
                await pilot.press(key)
                await _wait_until_still(app, pilot)
            await pilot.press(*act.text)
            kept.append(await _wait_until_still(app, pilot))
    return kept


async def _run(app: ExplorerApp, id: str) -> None:
    """Run an action of the visible screen by its id.

    Raises:
        TokentuiError: A dialog is open, or the screen has no such action.
    """
    screen = app.screen
    if not isinstance(screen, PaneScreen):
        hint = "name one dialog, and press its --keys"
        raise TokentuiError(f"{id[:40]}: a dialog is open", "--screen", hint)
    listed = [action for section in screen.key_sections().values() for action in section if action.on_screen]
    actions = {action.id: action for action in listed}
    if id not in actions:
        raise TokentuiError(f"{id[:40]}: no such screen here", "--screen", nearest(id, actions))
    await app.run_action(actions[id].action, screen)


async def _wait_until_still(app: ExplorerApp, pilot: Pilot[None]) -> ScreenPicture:
    """Return what the app shows, as soon as it is idle and shows the same several times."""
    last, times = picture_of(app), 0
    while times < _STILL and app.is_running:
        await pilot.pause(_POLL_S)
        now = picture_of(app)
        last, times = now, times + 1 if now == last and _at_rest(app) else 0
    return last


def _at_rest(app: ExplorerApp) -> bool:
    """Return whether no worker runs, and no session has anything to do or to show."""
    if any(not worker.is_finished for worker in app.workers):
        return False
    # A tour has a session of its own.
    screens = [screen for screen in app.screen_stack if isinstance(screen, EngineScreen)]
    engines = {app.engine, *(screen.engine for screen in screens)}
    return all(engine.session is not None and engine.session.at_rest and not engine.snapshot_waits
               for engine in engines)
