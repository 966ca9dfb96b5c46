"""Each key that a page or a tour names is a key of the program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tokentui.tours.parser import read_tour
from tokentui.tours.shipped import TOURS
from tokentui.ui.app import ExplorerApp
from tokentui.ui.bindings import bindings_of, key_name
from tokentui.ui.keymap import DIALOGS, SCREENS, all_actions

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_PRESSED = re.compile(r"\b[Pp]ress(?:es|ing|ed)?\s+((?:`[^`\n]+`(?:,?\s+(?:and|or|then)\s+|,\s+)?)+)")
_QUOTED = re.compile(r"`([^`\n]+)`")


def known() -> set[str]:
    """The names of all keys of screens, panes and dialogs."""
    kinds = [*SCREENS.values(), *DIALOGS.values()]
    nodes = [ExplorerApp, *(kind.resolve() for kind in kinds)]
    keys = {key for node in nodes for _, keys in bindings_of(node) for key in keys}
    keys |= {key for action in all_actions().values() for key in action.keys}
    return {*map(key_name, keys), "space", *"123456789"}


KNOWN = known()


def named(text: str) -> list[str]:
    return [key for keys in _PRESSED.findall(text) for key in _QUOTED.findall(keys)]


def test_the_pages_name_keys_of_the_program() -> None:
    found = {(page.name, key) for page in PAGES for key in named(page.read_text())}
    assert len(found) > 12
    assert {(page, key) for page, key in found if key not in KNOWN} == set()


@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.name)
def test_the_tours_name_keys_of_the_program(tour: object) -> None:
    played = read_tour(tour.name)  # type: ignore[attr-defined]
    ids = {action.id for action in all_actions().values()}
    for stop in played.stops:
        assert [key for key in named(stop.text) if key not in KNOWN] == []
        assert {*stop.actions, *filter(None, [stop.wait])} <= ids
