"""An explorer on a real session over the English sample, and a way to a step of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.pilot import Pilot
from waiting import settled

from tokentui.recipe import Recipe, Run
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.ui.app import ExplorerApp

RECIPE = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")
RUN = Run.of({"merges": 40})


@asynccontextmanager
async def opened(
    recipe: Recipe = RECIPE, source: str = "sample:english", size: tuple[int, int] = (120, 40),
    run: Run = RUN,
) -> AsyncIterator[tuple[ExplorerApp, Pilot[None]]]:
    """An explorer whose first rows are there."""
    app = ExplorerApp(
        lambda publish: Session(publish, recipe, run), run=run, typed="the crowd",
        begin=lambda session: session.send(do.Open((source,))),
    )
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        yield app, pilot


async def walked(app: ExplorerApp, pilot: Pilot[None], step: int) -> None:
    """Go to a step of the main screen."""
    app.engine.send(do.GoTo(step))
    await settled(pilot)
    assert app.main.snapshot is not None
    assert app.main.snapshot.main.at.step == step
