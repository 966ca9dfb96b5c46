"""Each private part of Textual and Rich that the program leans on is there still, and does what it is used
for."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from rich.cells import cell_len
from rich.color import ColorSystem
from rich.style import Style
from screens import explorer
from textual.app import App
from textual.document._document import Document
from textual.document._document_navigator import DocumentNavigator
from textual.document._wrapped_document import WrappedDocument
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Region
from textual.widgets import Input, TextArea

from tokentui.ui import terminal


@pytest.mark.parametrize(
    ("owner", "name"), [(owner, name) for owner, parts in terminal.PARTS.items() for name in parts]
)
async def test_a_part_is_there(owner: str, name: str) -> None:
    module, _, title = owner.partition(":")
    kind = getattr(importlib.import_module(module), title)
    made: Any = kind
    if not hasattr(kind, name):
        async with App[None]().run_test() as pilot:
            driver = LinuxDriver(pilot.app)
            document = WrappedDocument(Document("a"))
            found = [
                pilot.app, pilot.app.set_timer(1), Input(), TextArea(), driver, Document("a"), document,
                DocumentNavigator(document),
            ]
            made = next((one for one in found if isinstance(one, kind)), driver)
    what = terminal.PARTS[owner][name]
    assert hasattr(made, name), f"{owner} has no {name} any more, which {what}"


async def test_what_is_asked_of_an_app() -> None:
    app, _ = explorer()
    async with app.run_test():
        assert isinstance(terminal.colour_system(app), ColorSystem)
        assert terminal.sync(app) in (True, False)
        assert terminal.leaves(app, "ctrl+c")
        assert not terminal.leaves(app, "n")


def test_attributes_that_are_off_do_not_count() -> None:
    assert terminal.attributes_of(Style(bold=True, italic=False)) == 1
    assert terminal.attributes_of(Style(reverse=True)) == 1 << 6


def test_a_spacing_mark_has_a_column() -> None:
    importlib.import_module("tokentui.ui.draw.text")
    assert cell_len("\u093f") == 1


def test_an_update_of_the_screen_has_the_fields_that_are_read() -> None:
    update = terminal.ChopsUpdate([], [], [])
    assert (update.chops, update.spans, update.chop_ends) == ([], [], [])
    layout = terminal.LayoutUpdate([], Region(1, 2, 3, 4))
    assert (list(layout.strips), layout.region.x) == ([], 1)


def test_keys_are_read_from_bytes() -> None:
    keys = [event.key for event in terminal.XTermParser().feed("\x1b[A") if hasattr(event, "key")]
    assert keys == ["up"]
