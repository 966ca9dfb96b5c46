"""Tours are played to their last line on a real session, and the session of the user is as it was."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from screens import screen_text
from textual.pilot import Pilot
from waiting import notes_of, settled, until

from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.persist.session_file import SavedSession, read
from tokentui.tours.facts import Place, failures
from tokentui.tours.parser import Stop, Tour, parse_tour, read_tour
from tokentui.tours.shipped import TOURS
from tokentui.ui.app import ExplorerApp
from tokentui.ui.start_screen import StartScreen
from tokentui.ui.tour_screen import TourScreen

ALL = 5_000
SHORT = """
title = "Short"

[[stop]]
corpus = "sample:abac"
recipe = "minbpe"
typed = "aab"
text = "one `aab`"
claims = { pair = ["a", "a"] }
wait = "next"

[[stop]]
text = "two"
claims = { pair = ["aa", "a"] }
"""


def app_of(source: str = "sample:hugs", **more: Any) -> ExplorerApp:
    begun = SavedSession(sources=(source,))
    return ExplorerApp(
        Session, typed="hugs", begin=lambda session: session.send(do.Open((source,))), begun=begun, **more
    )


async def playing(pilot: Pilot[Any], app: ExplorerApp, at: int = 0) -> TourScreen:
    """The screen of the tour, at this stop."""
    await until(pilot, lambda: isinstance(app.screen, TourScreen) and app.screen.arrived)
    screen = app.screen
    assert isinstance(screen, TourScreen)
    await until(pilot, lambda: screen.at == at and screen.arrived)
    return screen


def panes_are_seen(app: ExplorerApp, screen: TourScreen) -> bool:
    """True if the panel covers no pane, and every pane that there is room for has rows."""
    panel = screen.panel.region
    seen = [pane for pane in screen.panes.values() if pane.display]
    return bool(seen) and all(
        pane.region.height >= 4 and not pane.region.overlaps(panel) for pane in seen
    ) and panel.height < app.size.height / 2


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=str)
@pytest.mark.parametrize("name", [one.name for one in TOURS])
@pytest.mark.slow
async def test_a_tour_is_played_to_its_last_line(name: str, size: tuple[int, int]) -> None:
    tour = read_tour(name)
    app = app_of(tour=tour)
    async with app.run_test(size=size) as pilot:
        for at, stop in enumerate(tour.stops):
            screen = await playing(pilot, app, at)
            words = {*stop.text.replace("`", "").split(), f"{at + 1}", "of", f"{len(tour.stops)}"}
            await until(pilot, partial(shows, app, words))
            await until(pilot, partial(panes_are_seen, app, screen))
            screen.set_viewport(vocabulary_rows=ALL)
            await until(pilot, partial(lists_all, screen))
            assert screen.snapshot is not None
            assert failures(stop.claims, screen.snapshot.main) == []
            await pilot.press("enter" if at % 2 else "space")
        await until(pilot, lambda: app.screen is app.main)
        assert notes_of(app) == []


def shows(app: ExplorerApp, words: set[str]) -> bool:
    """True if all of these words are seen."""
    return words <= set(screen_text(app).replace("│", " ").split())


def lists_all(screen: TourScreen) -> bool:
    """True if the whole vocabulary is held."""
    page = screen.snapshot.main.vocabulary if screen.snapshot is not None else None
    return page is not None and len(page.rows) == page.total


def short() -> Tour:
    return parse_tour(SHORT, "short", "short.toml")


async def test_the_step_it_waits_for_leads_on_and_who_strays_is_told_and_brought_back() -> None:
    """Keys of the user's session are none of a tour."""
    app = app_of(tour=short())
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await playing(pilot, app, 0)
        sections = screen.key_sections()
        ids = {action.id for actions in sections.values() for action in actions}
        assert not {"record", "compare", "first_screen"} & ids
        assert [action.id for action in sections["tour"]] == [
            "tour_next", "tour_back", "tour_return", "tour_leave"]
        assert "enter go on" in screen_text(app).splitlines()[-1]
        await pilot.press("n")
        screen = await playing(pilot, app, 1)
        assert "goes back" not in screen_text(app)
        step = screen.tour.stops[1].place.step
        await pilot.press("b")
        told = f"you are at step 0, this stop is at step {step}: r goes back"
        await until(pilot, lambda: told in screen_text(app))
        await pilot.press("r")
        await playing(pilot, app, 1)
        await until(pilot, lambda: "r goes back" not in screen_text(app))
        now = screen.snapshot
        assert now is not None
        main = replace(now.main, at=replace(now.main.at, step=0))
        screen.snapshot = replace(now, columns=(main, *now.columns[1:]))
        screen.lay_out()  # with the snapshot before the one that shows the step
        assert "goes back" in str(screen.panel.border_subtitle)
        screen.follow(now)
        assert "goes back" not in str(screen.panel.border_subtitle)
        await pilot.press("backspace")
        await playing(pilot, app, 0)
        assert screen.snapshot is not None
        assert screen.snapshot.main.at.step == 0
        await pilot.press("backspace")
        assert screen.at == 0
        screen.engine.send(do.Open(("sample:gage",)))
        screen.engine.send(do.GoTo(3))
        await until(pilot, lambda: screen.snapshot and screen.snapshot.corpus.name == "gage")
        await pilot.press("enter")
        await playing(pilot, app, 1)
        assert screen.snapshot is not None
        assert screen.snapshot.corpus.name == "abac"


@pytest.mark.slow
async def test_the_session_of_the_user_is_as_it_was(home: Path) -> None:
    app = app_of()
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("n", "n", "3", "v", "v")
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.main.at.step == 2)
        before, kept = screen_text(app), app._start_autosave().current()
        await pilot.press("W")
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        await pilot.press("1")
        screen = await playing(pilot, app, 0)
        assert app.autosave is not None
        assert app.autosave.current() == kept
        await pilot.press("a")
        await until(pilot, lambda: app.screen is not screen)
        await pilot.press("escape", "enter", "i", "x", "y", "space", "z", "escape", "escape")
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert app.autosave.current() == kept
        await until(pilot, lambda: screen_text(app) == before)
    (path,) = (home / "sessions").glob("*.json")
    saved = read(path)[0]
    assert (saved.sources, saved.training.step, saved.typed) == (("sample:hugs",), 2, "hugs")


async def test_a_tour_whose_corpus_is_gone_says_so_and_can_be_left() -> None:
    app = app_of(tour=Tour("t", "A", (Stop(Place("gone.txt"), "x"),)))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await until(pilot, lambda: any("gone.txt" in note for note in notes_of(app)))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_hostile_text_does_nothing() -> None:
    evil = "\x1b]0;x\x07\u202e\u0007[bold]no[/]"
    tour = Tour("t", evil, (Stop(Place("", f"a {evil}", typed=evil), evil),))
    app = app_of(tour=tour)
    async with app.run_test(size=(80, 24)) as pilot:
        await playing(pilot, app, 0)
        text = screen_text(app)
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
        assert "[bold]no[/]" in text


@pytest.mark.slow
async def test_dialogs_of_a_tour_follow_the_tour() -> None:
    """A snapshot of the user's session does not reach a dialog over a tour."""
    app = app_of(tour=short())
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await playing(pilot, app, 0)
        await pilot.press("g")
        await until(pilot, lambda: app.screen is not screen)
        dialog: Any = app.screen
        app.engine.send(do.Move(1))
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.main.at.step == 1)
        assert dialog.now.corpus.name == "abac"
