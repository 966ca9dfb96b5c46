"""y copies in every dialog that shows a token, ids or a row."""

from __future__ import annotations

import csv
import io
import json
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from textual.pilot import Pilot
from textual.widgets import Input
from waiting import screen_text, settled, until

from tokentui import ui
from tokentui.core.choices import Ref
from tokentui.recipe import Recipe, Run
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.ui.app import ExplorerApp
from tokentui.ui.bindings import actions_of, bindings_of
from tokentui.ui.dialogs import COPY, Dialog
from tokentui.ui.dialogs.copying import CopyScreen
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.dialogs.recipe import RecipeScreen
from tokentui.ui.draw.table import VirtualTable
from tokentui.ui.field import Field
from tokentui.ui.main_screen import MainScreen

LEAVES = {"quit", "quit_now", "suspend"}
KEYS = [
    action.keys[0] for kind in (MainScreen, ExplorerApp) for action in actions_of(kind, {})
    if action.id not in LEAVES
]


def dialogs(of: type[Any] = Dialog) -> Iterator[type[Dialog[Any]]]:
    """All classes of dialogs."""
    for module in pkgutil.walk_packages(ui.__path__, "tokentui.ui."):
        __import__(module.name)
    for kind in of.__subclasses__():
        if kind.__module__.startswith("tokentui."):
            yield kind
        yield from dialogs(kind)


def test_y_is_the_key_that_copies_in_every_dialog() -> None:
    kinds = {*dialogs()}
    assert len(kinds) > 20
    for kind in kinds - {CopyScreen}:
        assert [binding for binding, keys in bindings_of(kind) if "y" in keys] == [COPY], kind


def explorer() -> ExplorerApp:
    run = Run.of({"merges": 40})
    return ExplorerApp(
        lambda publish: Session(publish, Recipe(), run),
        begin=lambda session: session.send(do.Open(("sample:hugs",))), typed="hugs pugs", run=run,
    )


async def copied(app: ExplorerApp, pilot: Pilot[None], name: str = "") -> str:
    """Copy a text of a dialog: of this name, or the first."""
    app.copy_to_clipboard("")
    await pilot.press("y")
    await until(pilot, lambda: isinstance(app.screen, CopyScreen))
    screen: Any = app.screen
    await chosen(pilot, screen, name, "enter")
    await until(pilot, lambda: app.screen is not screen and app.clipboard)
    return app.clipboard


async def chosen(pilot: Pilot[None], screen: Any, name: str, *keys: str) -> None:
    """Go to a text of the dialog, the first without a name, and press keys there."""
    names = [one.name for one in screen._found]
    screen.listing.move_to(names.index(name) if name else 0)
    await pilot.press(*keys)


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
async def test_each_dialog_of_a_key_with_a_row_copies_it(key: str) -> None:
    app = explorer()
    async with app.run_test(size=(120, 40), notifications=False) as pilot:
        await settled(pilot)
        await pilot.press("n", "n", "n")
        await settled(pilot)
        await pilot.press(key)
        if key in ("space", "R"):
            return
        await settled(pilot)
        dialog = app.screen
        if not isinstance(dialog, Dialog) or isinstance(dialog, CopyScreen):
            return
        table = dialog.focused
        if isinstance(dialog, RecipeScreen):
            await pilot.press("tab")  # at the presets letters are a search
        elif isinstance(table, Input) or any(isinstance(one, Field) for one in dialog.focus_chain):
            return  # letters are text there
        if isinstance(table, VirtualTable) and table.row_at(table.cursor) is None:
            return
        assert await copied(app, pilot)
        assert app.screen is dialog


async def test_the_inspector_copies_the_token_and_the_ids() -> None:
    app = explorer()
    async with app.run_test(size=(120, 40), notifications=False) as pilot:
        await settled(pilot)
        await pilot.press("G")
        await settled(pilot)
        await pilot.press("3", "enter")
        await settled(pilot)
        dialog = app.screen
        assert isinstance(dialog, InspectScreen)
        assert dialog.view is not None
        assert await copied(app, pilot, "id") == str(dialog.view.facts.id)
        assert await copied(app, pilot, "token") == dialog.view.facts.piece.decode()
        await pilot.press("escape", "i", "enter")
        await settled(pilot)
        explained = app.screen
        assert isinstance(explained, InspectScreen)
        assert explained.found is not None
        assert explained.found.encoding is not None
        ids = json.loads(await copied(app, pilot, "ids of the text"))
        assert ids == [row.id for row in explained.found.encoding.rows]


def test_what_copies_is_there() -> None:
    assert Ref("tokentui.ui.copying:ask_of").resolve()


async def test_a_table_and_a_picture_can_be_copied_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = explorer()
    async with app.run_test(size=(120, 40), notifications=False) as pilot:
        await settled(pilot)
        await pilot.press("3", "y")
        await until(pilot, lambda: isinstance(app.screen, CopyScreen))
        screen: Any = app.screen
        names = [one.name for one in screen._found]
        texts = {one.name: one.whole for one in screen._found}
        assert "3 Vocabulary" in texts["picture as text"].splitlines()[1]
        assert ElementTree.fromstring(texts["picture as SVG"]).tag.endswith("svg")
        await chosen(pilot, screen, "picture as SVG", "w", *"seen", "enter")
        await settled(pilot)
        assert (tmp_path / "seen.svg").read_text("utf-8") == texts["picture as SVG"]
        for name in ("tokentui.svg", "tokentui-2.svg"):
            await pilot.press("y")
            await until(pilot, lambda: isinstance(app.screen, CopyScreen))
            await chosen(pilot, app.screen, "picture as SVG", "w")
            await until(pilot, lambda name=name: f"enter alone writes {name}" in screen_text(pilot))  # type: ignore[misc]
            await pilot.press("enter")
            await until(pilot, lambda name=name: (tmp_path / name).exists())  # type: ignore[misc]
        await pilot.press("y", "w", *"seen.txt", "enter")
        await settled(pilot)
        assert (tmp_path / "seen.txt").read_text("utf-8") == texts[names[0]]
        tsv, by_commas, markdown = [await copied(app, pilot, f"table as {kind}")
                                    for kind in ("TSV", "CSV", "Markdown")]
        rows = [line.split("\t") for line in tsv.splitlines()]
        assert rows[0][:2] == ["id", "token"]
        assert app.engine.snapshot is not None
        assert len(rows) == app.engine.snapshot.main.vocabulary.total + 1
        assert [*csv.reader(io.StringIO(by_commas))] == rows
        lines = markdown.splitlines()
        assert lines[1].startswith("| --- | --- |")
        assert len(lines) == len(rows) + 1


@pytest.mark.slow
async def test_members_of_export_lead_to_the_table_and_the_picture() -> None:
    app = explorer()
    async with app.run_test(size=(80, 24), notifications=False) as pilot:
        await settled(pilot)
        for member, name in (("t", "table as TSV"), ("p", "picture as SVG")):
            await pilot.press("2", "e", member)
            await until(pilot, lambda: isinstance(app.screen, CopyScreen))
            screen: Any = app.screen
            assert screen._found[screen.listing.cursor_key].name == name
            await pilot.press("escape")
            await settled(pilot)
