"""A key that cannot act says why: in each state, every action changes the screen or shows a message."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import pytest
from textual.pilot import Pilot
from waiting import notes_of, settled, strips_of, until

from tokentui.axes import preset
from tokentui.core.choices import Ref
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.views import ColumnWanted
from tokentui.ui.app import ExplorerApp
from tokentui.ui.bindings import BoundAction, actions_of
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.main_screen import MainScreen
from tokentui.ui.pane_screen import PaneScreen

MOVES = {"up", "down", "left", "right", "pageup", "pagedown", "home", "end"}
"""The keys of moves, which end at the edges of a list."""
NOTHING_TO_END = {"cancel", "leave", "compare_leave", "end_edit", "leave_cursor"}
"""What only ends something."""
LEFT_OUT = {
    "repaint": "draws what is there", "suspend": "stops the process", "quit": "ends it",
    "quit_now": "ends it",
}


class State(NamedTuple):
    """A state of the program.

    Attributes:
        source: The corpus; empty for none.
        step: The step that one is at; None for the end.
        recipes: Those that are compared; none for the main screen.
        pane: The pane that has the focus.
        typed: The typed text.
    """

    source: str = ""
    step: int | None = 0
    recipes: tuple[str, ...] = ()
    pane: str = ""
    typed: str = ""


STATES = {
    "nothing open": State(), "the start": State("english", typed="the crowd"),
    "a step": State("english", 50, typed="the crowd"), "the end": State("hugs", None),
    "empty pairs": State("hugs", None, pane="pairs"), "a vocabulary": State("english", 50, pane="vocabulary"),
    "compare": State("english", 9, ("gpt2", "bert"), typed="the crowd"),
    "equal columns": State("hugs", 0, ("gpt2", "gpt2")),
    "measures": State("english", 9, ("gpt2", "bert"), "measures"),
}


def actions(state: State) -> list[BoundAction]:
    """The actions of a screen, of its panes and of the app, each once."""
    kind = CompareScreen if state.recipes else MainScreen
    owners = [owner.resolve() if isinstance(owner, Ref) else owner for _, owner in kind.KEY_OWNERS]
    found = [action for owner in (kind, ExplorerApp, *owners) for action in actions_of(owner, {})]
    return [*{action.id: action for action in found if action.keys}.values()]


def seen(app: ExplorerApp) -> object:
    strips = [[(text, str(style)) for text, style, _ in strip] for strip in strips_of(app)]
    look = hashlib.sha256(repr(strips).encode())
    return app.screen, look.hexdigest(), [*app.messages]


async def restore(app: ExplorerApp, pilot: Pilot[None], base: PaneScreen, state: State) -> None:
    while app.screen is not base:
        app.screen.dismiss()
        await pilot.pause()
    app._said = "", 0.0
    app.clear_notifications()
    base.close_family()
    if base.zoomed:
        base.action_zoom()
    if isinstance(base, MainScreen) and base.corpus.editing:
        base.corpus.end()
    base.go(state.pane or base.PANES[0].name)
    if app.engine.snapshot is not None and not app.engine.snapshot.corpus.nothing_open:
        app.engine.send(do.GoTo(state.step))
    await until(pilot, lambda: not notes_of(app))
    await settled(pilot)


async def silent(state: State) -> list[str]:
    """Press the first key of each action. Return those that nothing came of."""
    async def begin(session: Any) -> None:
        if state.source:
            await session.send(do.Open((f"sample:{state.source}",)))

    found = []
    app = ExplorerApp(lambda publish: Session(publish, preset("gpt2")), typed=state.typed, begin=begin)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        if state.recipes:
            app.compare([ColumnWanted(preset(name), name=name) for name in state.recipes])
            await until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.snapshot)
        base = app.screen
        assert isinstance(base, PaneScreen)
        for action in actions(state):
            here = base.names.keys() & {action.action.removeprefix("pane('").removesuffix("')")}
            if action.id in {*LEFT_OUT, *NOTHING_TO_END} or state.pane in here:
                continue
            if action.keys[0] in MOVES:
                continue
            await restore(app, pilot, base, state)
            before = seen(app)
            await pilot.press(*action.keys[0].split())
            await settled(pilot)
            if seen(app) == before:
                found.append(f"{action.keys[0]} ({action.id})")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", STATES)
async def test_each_key_does_something_or_says_why_not(name: str) -> None:
    state = STATES[name]
    if not state.pane:
        state = state._replace(pane=(CompareScreen if state.recipes else MainScreen).PANES[0].name)
    assert await silent(state) == []


async def test_some_keys_say_why_they_do_nothing() -> None:
    app = ExplorerApp(lambda publish: Session(publish, preset("gpt2")), typed="",
        begin=lambda session: session.send(do.Open(("sample:hugs",))))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        for key, said in (
            ("b", "this is the start"), ("d", "d (differ) works in Compare: c opens it"),
            ("ctrl+r", "ctrl+r (chat) works while you type: i begins"), ("Q", "Q is no key here"),
            ("G", ""), ("n", ": b goes back"), ("f", ""),
            ("2", ""), ("enter", "no row is here"), ("pagedown", ""),
        ):
            await pilot.press(key)
            await settled(pilot)
            if said:
                await until(pilot, lambda: any(said in note for note in notes_of(app)))  # noqa: B023
