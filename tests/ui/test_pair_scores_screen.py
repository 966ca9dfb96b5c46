"""Objectives that score pairs, in the explorer: their columns, and the formula of the next step."""

from __future__ import annotations

import pytest
from screens import screen_text
from waiting import settled

from tokentui.axes import AXES, preset
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.ui.app import ExplorerApp

SIGNS = {"left uses": "f(x)", "right uses": "f(y)"}
"""The columns that stand as a sign in the head of the table."""
SHOWN = {
    name: tuple(SIGNS.get(column.name, column.name) for column in one.columns[-3:])
    for name, one in AXES["objective"].items() if one.value is not None
}
"""The last three columns of each objective that ranks pairs by a value."""


@pytest.mark.parametrize("name", SHOWN)
async def test_the_pairs_are_shown_with_their_figures(name: str) -> None:
    recipe = preset("gpt2", objective=name)
    app = ExplorerApp(Session, begin=lambda session: session.send(do.Open(("sample:hugs",))))
    async with app.run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        app.engine.send(do.SetRecipe(recipe))
        await settled(pilot)
        await pilot.press("n", "n", "b")
        await settled(pilot)
        said = screen_text(app)
        assert "step 1 of" in said
        assert all(one in said for one in SHOWN[name]), said
        assert f"the {SHOWN[name][-1]} " in " ".join(said.replace("│", " ").split())
        assert AXES["objective"][name].label in said
