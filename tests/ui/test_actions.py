"""Bindings of all screens, and the footer and help made from them."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Sequence
from typing import Any

import pytest
from screens import explorer
from textual.actions import parse
from textual.binding import Binding, BindingsMap
from textual.dom import DOMNode
from waiting import screen_text, settled, until

from tokentui import ui
from tokentui.session.commands import Move
from tokentui.ui.app import ExplorerApp
from tokentui.ui.bindings import (
    EVERYWHERE,
    HANDLED,
    MOST_KEYS,
    RULE,
    BoundAction,
    Hint,
    actions_of,
    bindings_of,
    fitting,
    footer_text,
    gap_before,
    key_name,
    split_keys,
)
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.dialogs.colors import ColorsScreen
from tokentui.ui.dialogs.finder import FinderScreen, entries_of
from tokentui.ui.draw.text import LIGHT_NAME
from tokentui.ui.keymap import SCREENS, all_actions, sections_of
from tokentui.ui.main_screen import MainScreen

PANES = [(screen, pane) for screen in SCREENS for pane in sections_of(screen)]
ALL = list(all_actions().values())
SAFE = re.compile(
    r"[A-Za-z0-9]|f([1-9]|10)|up|down|left|right|home|end|pageup|pagedown|space|enter|tab|shift\+tab|escape"
    r"|ctrl\+[cdfgklnoprtuwxyz]|plus|minus|delete|ampersand|(left|right)_parenthesis|equals_sign|(greater|less)_than_sign|(left|right)_square_bracket|slash"
    r"|(left|right)_curly_bracket|full_stop|comma|colon|exclamation_mark|dollar_sign|percent_sign|question_mark|backspace"
)


def nodes() -> list[type[DOMNode]]:
    """All classes of the program with bindings."""
    for module in pkgutil.walk_packages(ui.__path__, "tokentui.ui."):
        importlib.import_module(module.name)
    found: list[type[DOMNode]] = [DOMNode]
    for kind in found:
        found += [one for one in kind.__subclasses__() if one not in found]
    return [kind for kind in found if kind.__module__.startswith("tokentui.") and "BINDINGS" in kind.__dict__]


def test_each_binding_names_a_method() -> None:
    screens = [screen.resolve() for screen in SCREENS.values()]
    assert len(nodes()) > 40
    for kind in nodes():
        for binding, _ in bindings_of(kind):
            namespace, name, _ = parse(binding.action)
            owners: dict[str, list[Any]] = {"": [kind], "app": [ExplorerApp], "screen": screens}
            assert name == HANDLED or any(
                hasattr(owner, f"action_{name}") for owner in owners[namespace]
            ), binding


def test_a_key_that_a_dialog_only_names_hides_none_of_its_bases() -> None:
    """Textual drops the bindings of a base class for each key that a class binds itself."""
    for kind in nodes():
        bindings = [one for one in kind.__dict__["BINDINGS"] if isinstance(one, Binding)]
        acting = {key for one in bindings if one.action != HANDLED for key in split_keys(one.key)}
        named = {key for one in bindings for key in split_keys(one.key)} - acting
        bases = [BindingsMap(base.__dict__.get("BINDINGS", ())) for base in kind.__mro__[1:]]
        above = {key for base in bases for key, one in base if one.action != HANDLED}
        assert not named & above, kind


def test_each_id_is_of_one_binding() -> None:
    """Also of no two bindings of one class that share a key: Textual's keymap would move both."""
    owners: dict[str, set[tuple[str, str]]] = {}
    for kind in nodes():
        own = [one for one, _ in bindings_of(kind) if one.id and one in kind.__dict__["BINDINGS"]]
        for binding in own:
            owners.setdefault(str(binding.id), set()).add((binding.key, binding.action))
        keys = {(key, binding.id) for binding in own for key in split_keys(binding.key)}
        assert len(keys) == len({key for key, _ in keys}), kind
    assert {id: found for id, found in owners.items() if len(found) > 1} == {}


def test_each_action_has_words() -> None:
    assert all(action.id and action.label and action.help for action in ALL)


def test_what_the_screen_does_for_a_pane_has_its_key_in_all_of_them() -> None:
    about = [one for one in actions_of(MainScreen, {}) if one.hint.pane]
    assert {one.keys[0] for one in about} == {"s", "p", "t", "z", "S", "B"}


MOVES = {
    "up", "down", "left", "right", "h", "j", "k", "l", "pageup", "pagedown", "home", "end", "enter", "escape",
}
"""Keys that move, take or leave: what they move in depends on the focus."""


def test_a_key_means_the_same_on_both_screens() -> None:
    labels: dict[str, set[str]] = {}
    for one in (*actions_of(MainScreen, {}), *actions_of(CompareScreen, {})):
        for key in one.keys:
            if key not in MOVES:
                labels.setdefault(key, set()).add(one.label)
    assert {key: said for key, said in labels.items() if len(said) > 1} == {}


def test_only_keys_that_arrive_in_every_terminal() -> None:
    # ctrl+q is Textual's own way out, and ctrl+s saves in other programs; they are never the only ones.
    for action in ALL:
        pressed = [key for keys in action.keys if keys not in ("ctrl+q", "ctrl+s") for key in keys.split()]
        assert all(map(SAFE.fullmatch, pressed)), action.id
        assert pressed, action.id


def test_what_works_everywhere_is_no_text() -> None:
    assert all(key.startswith("ctrl+") for one in actions_of(ExplorerApp, {}) for key in one.keys)


@pytest.mark.parametrize(("screen", "pane"), PANES)
def test_the_footer_takes_what_fits_in_order(screen: str, pane: str) -> None:
    sections = sections_of(screen)
    shown = [one for one in (*sections[pane], *sections[EVERYWHERE]) if one.hint.rank]
    shown = list({one.id: one for one in shown}.values())

    def line_of(groups: Sequence[Sequence[BoundAction]]) -> str:
        return RULE.join("".join(
            gap_before(one, n) + "".join(footer_text(one)) for n, one in enumerate(group)
        ) for group in groups)

    for width in (0, 10, 28, 40, 80, 120, 1000):
        groups = fitting(shown, width)
        chosen = [one for group in groups for one in group]
        assert len(line_of(groups)) <= width
        counted = [one for one in chosen if not one.hint.family]
        for n, action in enumerate(shown):
            if action not in chosen and len(counted) < MOST_KEYS:  # there is no room beside those before it
                before = [one for one in shown[:n] if one in chosen or one.hint.always]
                rest = [one for one in shown[n:] if one.hint.always]
                assert len(line_of(fitting([*before, action, *rest], 10_000))) > width
        assert len(counted) <= MOST_KEYS
        always = [one for one in shown if one.hint.always]
        leave = ["compare_leave"] if screen == "compare" else []
        assert [one.id for one in always] == [*leave, "finder", "help", "quit"]
        if width >= len("esc leave  : find  ? help  q quit"):
            assert groups[-1] == always
        if width == 1000:
            assert len(counted) == min(MOST_KEYS, len([one for one in shown if not one.hint.family]))


def test_keys_are_shown_as_they_stand_on_the_keyboard() -> None:
    assert [key_name(key) for key in ("question_mark", "ctrl+p", "escape", "left", "N")] == [
        "?", "ctrl+p", "esc", "←", "N",
    ]
    def shown_key(*keys: str) -> str:
        return BoundAction("", keys, "", "", "", Hint(count=len(keys))).shown_key

    assert shown_key("up", "down") == "↑↓"
    assert shown_key("escape", "q", "question_mark") == "esc q ?"


async def test_keys_are_in_the_footer_of_each_pane_and_are_found_by_a_word_and_done() -> None:
    app, session = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        families = "v▸ w▸ F▸ e▸"
        for key, hints in (("1", ["i type", "o open", families]), ("3", ["S sort", families]),
                ("4", ["ctrl+r chat", "ctrl+c quit", "esc done"]), ("escape", [": find  ?  q"])):
            await pilot.press(key)
            await settled(pilot)
            footer = screen_text(pilot).splitlines()[-1]
            assert [hint for hint in hints if hint not in footer] == []
        sections = app.main.key_sections()
        ids = {action.id for actions in sections.values() for action in actions}
        found = {entry.id.partition(":")[2] for entry in entries_of(sections, app.user_settings)}
        assert {id.removeprefix("tour_") for id in ids} <= found, "the finder has every action"
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, FinderScreen) and app.screen.field.has_focus)
        shown = app.screen
        assert isinstance(shown, FinderScreen)
        shown.field.value = "Go 100 steps forward"
        await until(pilot, lambda: shown.listing.cursor_key == "action:next_100")
        await pilot.press("enter")
        await until(pilot, lambda: session.of(Move))
        assert [command.steps for command in session.of(Move)] == [100]
        assert app.screen is app.main


@pytest.mark.slow
async def test_a_theme_is_seen_before_it_is_taken() -> None:
    app, _ = explorer()
    async with app.run_test(size=(100, 40)) as pilot:
        await settled(pilot)
        before = app.theme
        await pilot.press("T")
        await until(pilot, lambda: isinstance(app.screen, ColorsScreen) and app.screen.listing.rows)
        await pilot.press("down")
        await until(pilot, lambda: app.theme != before)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert app.theme == before
        await pilot.press("T")
        await until(pilot, lambda: isinstance(app.screen, ColorsScreen) and app.screen.listing.rows)
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.screen is app.main)
        assert app.theme == LIGHT_NAME


@pytest.mark.slow
async def test_below_a_dialog_the_footer_shows_no_keys() -> None:
    app, _ = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert "n next" in screen_text(pilot)
        await pilot.press("g")
        await until(pilot, lambda: "n next" not in screen_text(pilot))
        assert "enter go" in screen_text(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: "n next" in screen_text(pilot))
