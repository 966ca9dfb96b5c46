"""In a dialog with a list and a line, what is typed goes into the line, whatever has the focus."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dialogs import FakeEngine, shown
from screens import snapshot
from textual.events import Paste
from textual.widgets import Input
from waiting import settled, until

from tokentui.formats.proof import ExportReport
from tokentui.recipe import Recipe
from tokentui.session.commands import Formats
from tokentui.ui.dialogs import Dialog, picker
from tokentui.ui.dialogs.export import ExportScreen
from tokentui.ui.dialogs.open import AddScreen, OpenScreen
from tokentui.ui.dialogs.picker import list_folder
from tokentui.ui.draw.table import VirtualTable
from tokentui.ui.field import Field

REPORT = ExportReport("tokentui", "its own", ("own.json",))


class Asked(Dialog[None]):
    """A dialog of the base class alone."""

    def __init__(self, face: FakeEngine) -> None:
        super().__init__(face, "Asked")
        self.parts = VirtualTable(), Field()


MAKES: dict[type[Dialog[Any]], Callable[[], Dialog[Any]]] = {
    Asked: lambda: Asked(FakeEngine()), OpenScreen: lambda: OpenScreen(FakeEngine()),
    AddScreen: lambda: AddScreen(FakeEngine(), "Add", Recipe()),
    ExportScreen: lambda: ExportScreen(FakeEngine(snapshot(), {Formats: (REPORT,)})),
}
"""The dialogs that show a list and a line at once."""


def field_of(dialog: Dialog[Any]) -> Field:
    return dialog.query_one(Field)


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("make", MAKES.values(), ids=[kind.__name__ for kind in MAKES])
async def test_what_is_typed_in_a_list_goes_into_the_line(
    make: Callable[[], Dialog[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("a")
    dialog = make()
    async with shown(dialog) as (app, pilot):
        await settled(pilot)
        listing = dialog.query_one(VirtualTable)
        dialog.set_focus(listing)
        await pilot.press(*"jk novel", "é")
        assert isinstance(dialog.focused, Input)
        assert field_of(dialog).value == "jk novelé"
        dialog.set_focus(listing)
        dialog.post_message(Paste(".txt"))
        await until(pilot, lambda: field_of(dialog).value == "jk novelé.txt")
        assert not app.answered


async def test_enter_on_an_empty_line_and_typing_opens_what_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list had the focus after an enter, and its first row was opened in place of the novel."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "big.json").write_text("{}")
    (tmp_path / "novel.txt").write_text("text")
    dialog = OpenScreen(FakeEngine())
    async with shown(dialog) as (app, pilot):
        await settled(pilot)
        await pilot.press("enter", *"novel.txt", "enter")
        await until(pilot, lambda: app.answered)
        assert app.result.sources == ("novel.txt",)


async def test_tab_before_the_folder_is_listed_keeps_what_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "novel.txt").write_text("text")
    release = threading.Event()

    def late(*args: Any) -> picker.Listed:
        release.wait(60)
        return list_folder(*args)

    monkeypatch.setattr(picker, "list_folder", late)
    dialog = OpenScreen(FakeEngine())
    async with shown(dialog) as (_, pilot):
        await pilot.press(*"nov", "tab", *"el")
        assert dialog.field.value == "novel"
        assert dialog.focused is dialog.field
        release.set()
        await settled(pilot)
        assert dialog.field.value == "novel"
        await pilot.press("tab")
        await until(pilot, lambda: dialog.field.value == "novel.txt")
