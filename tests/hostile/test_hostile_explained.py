"""The hostile set on the screens that explain: inspector, why, steps, life, what-ifs, copy, ages, the first
screen. A real training on it fills them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import hostile
import pytest
from text_guards import ALONE, Tripwire, Walls, stand
from textual.pilot import Pilot
from waiting import settled, until

from tokentui.axes import preset
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs.copying import CopyScreen
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.dialogs.life import LifeScreen
from tokentui.ui.dialogs.steps import StepsScreen, WhyScreen
from tokentui.ui.dialogs.what_if import WhatIfScreen
from tokentui.ui.start_screen import StartScreen

SIZES = [(80, 24), (200, 60)]
TEXTS = hostile.SHORT[::11]
TYPED = " ".join(one for one in TEXTS if one.strip())[:300]
ASKED: dict[type, tuple[str, ...]] = {
    StepsScreen: ("m",), WhyScreen: ("Y",), LifeScreen: ("w", "w"), WhatIfScreen: ("2", "x"),
    CopyScreen: ("y",),
}
"""Keys that lead from the main screen to each of these."""


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOKENTUI_HOME", str(tmp_path / "home"))
    lines = "\n".join(f"{one} {one}" for one in TEXTS)
    (tmp_path / "text.txt").write_bytes(hostile.raw(lines))
    return tmp_path / "text.txt"


async def told(app: ExplorerApp, pilot: Pilot[Any], kind: type, wire: Tripwire) -> Any:
    """A dialog, once it has what it asked for."""
    await settled(pilot)
    screen: Any = app.screen
    assert isinstance(screen, kind)
    wire.check(app)
    return screen


def _has(screen: Any, answer: str, failed: str) -> bool:
    return getattr(screen, answer) is not None or bool(getattr(screen, failed))


EVERY = [
    (walls, recipe, size)
    for walls in ALONE for recipe in ("gpt2", "wordpiece", "sentencepiece-unigram") for size in SIZES
]
FEW = EVERY[0], EVERY[8]
"""Each wall alone, and another objective; long runs try all."""


@pytest.mark.parametrize(
    ("walls", "recipe", "size"),
    [pytest.param(*one, marks=[] if one in FEW else [pytest.mark.soak]) for one in EVERY],
)
@pytest.mark.slow
async def test_what_explains_a_training(
    walls: Walls, recipe: str, size: tuple[int, int], corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand(walls, monkeypatch)
    wire = Tripwire(monkeypatch)
    app = ExplorerApp(
        lambda publish: Session(publish, preset(recipe)), typed=TYPED, first_screen=True,
        begin=lambda session: session.send(do.Open((str(corpus),))),
    )
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.main.encoding.text)
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        wire.check(app)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        app.engine.send(do.GoTo(3 if "unigram" in recipe else 40))
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.main.at.step >= 2)
        for kind, keys in ASKED.items():
            if "unigram" in recipe and kind in (WhatIfScreen, LifeScreen):
                continue
            await pilot.press("escape", *keys)
            await told(app, pilot, kind, wire)
            await pilot.press("end")
            await pilot.pause()
            wire.check(app)
            while app.screen is not app.main:
                app.pop_screen()
                await pilot.pause()
        rows = app.main.snapshot.main.vocabulary.rows if app.main.snapshot else ()
        for row in rows[:: max(1, len(rows) // 3)]:
            if row.id is None:
                continue
            app.push_screen(InspectScreen(app.engine, row, asks=True))
            screen = await told(app, pilot, InspectScreen, wire)
            await until(pilot, partial(_has, screen, "view", "_lacks"))
            wire.check(app)
            await pilot.press("end")
            await pilot.pause()
            wire.check(app)
            app.pop_screen()
        for place in range(0, len(TYPED), 100):
            app.push_screen(InspectScreen(app.engine, typed=(TYPED, place)))
            screen = await told(app, pilot, InspectScreen, wire)
            await until(pilot, partial(_has, screen, "found", "_failed"))
            wire.check(app)
            app.pop_screen()
        await pilot.pause()
        app.main.action_turn_ages()
        app.main.encode.action_turn_page(1)
        await pilot.pause()
        wire.check(app)
        assert wire.checks > 20
        assert not wire.sprung
