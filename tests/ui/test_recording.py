"""A walk that is recorded is a tour that plays, and all that it claims is true."""

from __future__ import annotations

from pathlib import Path

import pytest
from screens import explorer, screen_text
from waiting import notes_of, settled, until

from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.persist.session_file import SavedSession
from tokentui.tours import check as checked
from tokentui.tours.parser import read_tour
from tokentui.ui.app import ExplorerApp


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOKENTUI_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def app_of(source: str) -> ExplorerApp:
    return ExplorerApp(
        Session, typed="a sailor", begin=lambda session: session.send(do.Open((source,))),
        begun=SavedSession(sources=(source,)),
    )


async def test_a_walk_becomes_a_tour(home: Path) -> None:
    app = app_of("sample:sailor")
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        for step, key in ((1, "n"), (2, "n"), (1, "b"), (11, "right_square_bracket")):
            await pilot.press(key)
            await until(pilot, lambda step=step: app.main.snapshot  # type: ignore[misc]
                and app.main.snapshot.main.at.step == step)
        app.engine.send(do.TrainOnText("low lower\nlow\\n"))
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.corpus.bytes == 15)
        await until(pilot, lambda: app.main.snapshot and not app.main.snapshot.main.partial)
        await pilot.press("0")
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.main.at.step == 0)
        await pilot.press("R")
        await until(pilot, lambda: "Save your steps as a tour" in screen_text(app))
        await pilot.press(*"mine")
        await until(pilot, lambda: "mine.toml" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: any("written" in note for note in notes_of(app)))
        await pilot.press("R", *"mine")
        await until(pilot, lambda: "the file exists already" in screen_text(app))
    tour = read_tour(str(home / "mine.toml"))
    assert [stop.place.step for stop in tour.stops][:5] == [0, 1, 2, 1, 11]
    assert tour.stops[0].place.source == "sample:sailor"
    assert tour.stops[0].place.typed == "a sailor"
    assert tour.stops[-1].place.text == "low lower\nlow\\n"
    assert tour.stops[-1].claims
    assert list(checked.false_claims(tour)) == []


async def test_where_nothing_can_be_named_nothing_is_recorded() -> None:
    app, _ = explorer(begun=SavedSession(sources=("sample:sailor", "sample:hugs")))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("n", "R")
        await until(pilot, lambda: any("nothing to record" in note for note in notes_of(app)))
