"""Names that are markup to Textual: of files, folders, tokens, tours and settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hostile import MARKUP_NAMES as NAMES
from hostile import file_named
from screens import explorer, screen_text
from text_guards import Tripwire
from textual.pilot import Pilot
from textual.widgets import Input
from waiting import settled, until

from tokentui.core.safetext import safe
from tokentui.recipe import Recipe, Run
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.tours.parser import parse_tour
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs.facts import FactsScreen
from tokentui.ui.dialogs.open import OpenScreen
from tokentui.ui.dialogs.settings_screen import SettingsScreen
from tokentui.ui.tour_screen import TourScreen


async def shows(app: ExplorerApp, pilot: Pilot[Any], wire: Tripwire, *texts: str) -> None:
    """Wait until the screen shows all of these texts, brackets and all; nothing of them acts."""
    await until(pilot, lambda: all(text in screen_text(app) for text in texts))
    wire.check(app)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
async def test_a_file_a_special_token_and_a_typed_text(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire, path = Tripwire(monkeypatch), file_named(tmp_path, name)
    wanted = do.Open((str(path),))
    app = ExplorerApp(
        lambda publish: Session(publish, Recipe(), Run.of({"specials": (name,), "merges": 20})), typed=name,
        begin=lambda session: session.send(wanted),
    )
    async with app.run_test(size=(200, 60), notifications=True) as pilot:
        await settled(pilot)
        await shows(app, pilot, wire, safe(path.name))
        await pilot.press("G")
        await settled(pilot)
        wire.check(app)
        app.push_screen(OpenScreen(app.engine))
        await until(pilot, lambda: isinstance(app.screen, OpenScreen) and app.screen.query(Input))
        app.screen.query_one(Input).value = str(path.parent) + "/"
        await shows(app, pilot, wire, safe(path.name))
        app.pop_screen()
        app.push_screen(FactsScreen(app.engine))
        await settled(pilot)
        wire.check(app)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
async def test_notifications(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wire = Tripwire(monkeypatch)
    app, _ = explorer()
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        app.notify(name, title=f"title {name}", markup=True)
        await shows(app, pilot, wire, safe(name), safe(f"title {name}"))
        app.clear_notifications()
        app.main.notify(f"of the screen: {name}")
        await shows(app, pilot, wire, safe(f"of the screen: {name}"))


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("name", NAMES)
async def test_a_setting(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wire = Tripwire(monkeypatch)
    kept: dict[str, object] = {"theme": name, name: name}
    app = ExplorerApp(
        Session, typed=None, begin=lambda one: one.send(do.Open(("sample:sailor",))), kept=kept,
        wrong=f"settings.toml: {name}",
    )
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await shows(app, pilot, wire, safe(f"settings.toml: {name}"))
        await settled(pilot)
        app.push_screen(SettingsScreen(app.engine))
        await shows(app, pilot, wire, "Settings", safe(f"settings.toml: {name}"))


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("name", NAMES)
async def test_a_tour(name: str, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    wire = Tripwire(monkeypatch)
    quoted = "".join(f"\\u{ord(char):04x}" if ord(char) < 32 else char for char in name)
    text = (
        f'title = "{quoted}"\n[[stop]]\ncorpus = "sample:abac"\nrecipe = "minbpe"\ntext = "see {quoted}"\n'
        f'typed = "{quoted}"\n'
    )
    tour = parse_tour(text, name, f"{name}.tour")
    app = ExplorerApp(Session, typed="", begin=lambda one: one.send(do.Open(("sample:hugs",))), tour=tour)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, TourScreen) and app.screen.arrived)
        await shows(app, pilot, wire, safe(name))
