"""A snapshot paints the panes whose sections changed, and no others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from textual._compositor import Compositor
from textual.geometry import Region
from textual.pilot import Pilot
from textual.widget import Widget
from waiting import settled

from tokentui.axes import preset
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.ui.app import ExplorerApp
from tokentui.ui.panes.pane import Pane

SIZE = (120, 40)


def explorer() -> ExplorerApp:
    return ExplorerApp(
        lambda publish: Session(publish, preset("gpt2")), typed="street and crowd",
        begin=lambda session: session.send(do.Open(("sample:english",))),
    )


class Painted:
    """The regions that widgets had painted, and the panes that these widgets belong to."""

    def __init__(self) -> None:
        self.regions: list[Region] = []
        self.panes = set[str | None]()


@contextmanager
def painting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Painted]:
    """Record what the compositor is asked to paint, without the screen and the line of keys."""
    painted, update = Painted(), Compositor.update_widgets

    def recorded(compositor: Compositor, widgets: set[Widget]) -> None:
        for widget in widgets:
            panes = [node for node in widget.ancestors_with_self if isinstance(node, Pane)]
            if panes and widget._repaint_regions:
                painted.panes.add(panes[-1].id)
                painted.regions += widget._repaint_regions
        update(compositor, widgets)

    with monkeypatch.context() as patch:
        patch.setattr(Compositor, "update_widgets", recorded)
        yield painted


async def ready(pilot: Pilot[None], app: ExplorerApp) -> None:
    await settled(pilot)
    app.engine.send(do.GoTo(100))
    await settled(pilot)


@pytest.mark.slow
async def test_a_change_of_one_pane_paints_that_pane_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    app = explorer()
    async with app.run_test(size=SIZE) as pilot:
        await ready(pilot, app)
        await pilot.press("3")
        await settled(pilot)
        with painting(monkeypatch) as painted:
            await pilot.press("S")  # another order
            await settled(pilot)
        linked = {"vocabulary", "corpus", "pairs"}  # the token under the cursor is bold in all of them
        assert "vocabulary" in painted.panes <= linked
        with painting(monkeypatch) as painted:
            await pilot.press("down")
            await settled(pilot)
        assert "vocabulary" in painted.panes <= linked
        with painting(monkeypatch) as painted:
            app.engine.send(do.SetInput("another text"))
            await settled(pilot)
        assert painted.panes == {"encode"}


async def test_a_step_paints_the_panes_that_show_it_and_a_snapshot_without_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = explorer()
    async with app.run_test(size=SIZE) as pilot:
        await ready(pilot, app)
        with painting(monkeypatch) as painted:
            await pilot.press("n")
            await settled(pilot)
        assert {"pairs", "vocabulary", "why", "scrubber"} <= painted.panes
        assert not {"header", "encode"} & painted.panes
        now = app.engine.snapshot
        assert now is not None
        with painting(monkeypatch) as painted:
            for n in range(10):
                app.main.show(dataclasses.replace(now, version=now.version + n))
                await settled(pilot)
        assert painted.regions == []


async def test_a_hidden_pane_paints_nothing_and_is_up_to_date_once_shown(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    app = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot, app)
        assert not app.main.vocabulary.display
        with painting(monkeypatch) as painted:
            await pilot.press("n")
            await settled(pilot)
        assert "vocabulary" not in painted.panes
        assert app.main.vocabulary.column is None
        await pilot.press("3")
        await settled(pilot)
        assert app.main.vocabulary.column is app.main.snapshot.main  # type: ignore[union-attr]
