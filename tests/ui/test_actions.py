"""The one table of actions: bindings, footer and help are made from it and miss nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest
from screens import explorer, screen_text
from waiting import settled, until

from tokentui.session.commands import Move
from tokentui.ui.actions import ACTIONS, COMPARE_ACTIONS, MAIN_ACTIONS
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs.ask import HelpScreen, help_rows
from tokentui.ui.dialogs.colours import ColoursScreen
from tokentui.ui.draw.text import LIGHT_NAME
from tokentui.ui.keys import GAP, MOST_HINTS, RULE, Action, fitting, hints, key_name

SCREENS = {"global": MAIN_ACTIONS, "compare": COMPARE_ACTIONS}
CONTEXTS = sorted(
    {(kind, context) for kind, table in SCREENS.items() for one in table for context in one.contexts}
)
SAFE = re.compile(
    r"[A-Za-z0-9]|f([1-9]|10)|up|down|left|right|home|end|pageup|pagedown|space|enter|tab|shift\+tab|escape"
    r"|ctrl\+[cdfgklnoprtuwxyz]|plus|minus|delete|ampersand|(left|right)_parenthesis|equals_sign|(greater|less)_than_sign|(left|right)_square_bracket|slash"
    r"|(left|right)_curly_bracket|full_stop|comma|exclamation_mark|dollar_sign|percent_sign|question_mark|backspace"
)


def test_names_are_unique() -> None:
    assert len({action.name for action in ACTIONS}) == len(ACTIONS)
    assert all(action.name and action.label and action.help for action in ACTIONS)


@pytest.mark.parametrize(("kind", "context"), CONTEXTS)
def test_keys_do_not_clash_in_a_context(kind: str, context: str) -> None:
    keys = [key for one in SCREENS[kind] if context in one.contexts for key in one.keys]
    keys += [key for one in SCREENS[kind] if one.anywhere and context == kind for key in one.keys]
    assert len(set(keys)) == len(keys)


def test_what_the_screen_does_for_a_pane_has_its_key_in_all_of_them() -> None:
    assert {key for one in MAIN_ACTIONS if one.anywhere for key in one.keys} == {"s", "p", "t", "z", "S", "B"}


MOVES = {
    "up", "down", "left", "right", "h", "j", "k", "l", "pageup", "pagedown", "home", "end", "enter", "escape",
}
"""Keys that move, take or leave: what they move in depends on the focus."""


def test_a_key_means_the_same_on_both_screens() -> None:
    labels: dict[str, set[str]] = {}
    for one in (*MAIN_ACTIONS, *COMPARE_ACTIONS):
        for key in one.keys:
            if key not in MOVES:
                labels.setdefault(key, set()).add(one.label)
    assert {key: said for key, said in labels.items() if len(said) > 1} == {}


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_an_action_is_reachable_everywhere(action: Action[Any]) -> None:
    bound = {key: binding for binding in ExplorerApp.BINDINGS for key in [binding.key]}  # type: ignore[union-attr]
    if action.does is not None:
        assert set(action.keys) <= set(bound)
        assert all(bound[key].priority == action.always for key in action.keys)  # type: ignore[union-attr]
    assert any(row.key == action.name for row in help_rows(ACTIONS, "global", ""))
    if action.footer:
        assert action in hints(ACTIONS, *action.contexts)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_only_keys_that_arrive_in_every_terminal(action: Action[Any]) -> None:
    # ctrl+q is Textual's own way out; it is never the only one.
    assert all(SAFE.fullmatch(key) for key in action.keys if key != "ctrl+q")
    assert action.keys != ("ctrl+q",)


def test_what_works_everywhere_is_no_text() -> None:
    assert all(key.startswith("ctrl+") for action in ACTIONS if action.always for key in action.keys)


@pytest.mark.parametrize(("kind", "context"), CONTEXTS)
@pytest.mark.parametrize("width", [0, 10, 28, 40, 80, 120, 1000])
def test_the_footer_takes_what_fits_in_order(kind: str, context: str, width: int) -> None:
    shown = hints(SCREENS[kind], context, kind)
    groups = fitting(shown, width)
    chosen = [one for group in groups for one in group]
    others = [one for one in shown if not one.stays]
    assert sorted(map(others.index, [one for one in chosen if not one.stays])) == [
        *range(sum(not one.stays for one in chosen))
    ]
    line = RULE.join(GAP.join(f"{one.shown_key} {one.label}" for one in group) for group in groups)
    assert len(line) <= width
    assert len(chosen) <= MOST_HINTS
    stays = [one for one in shown if one.stays]
    assert [one.name for one in stays] == ["help", "quit"]
    if width >= len("? help  q quit"):
        assert groups[-1] == stays
    if width == 1000:
        assert len(chosen) == min(MOST_HINTS, len(shown))


def test_keys_are_shown_as_they_stand_on_the_keyboard() -> None:
    assert [key_name(key) for key in ("question_mark", "ctrl+p", "escape", "left", "N")] == [
        "?", "ctrl+p", "esc", "←", "N",
    ]
    assert Action(("up", "down"), "", keys_shown=2).shown_key == "↑↓"
    assert Action(("escape", "q", "question_mark"), "", keys_shown=3).shown_key == "esc q ?"


async def test_the_keys_are_found_by_a_word_and_done() -> None:
    app, session = explorer()
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen) and app.screen.field.has_focus)
        shown = app.screen
        assert isinstance(shown, HelpScreen)
        await until(pilot, lambda: shown.listing.rows)
        assert {one.name for one in app.main.meant()} <= {row.key for row in shown.listing.rows}
        shown.field.value = "100 steps forward"
        await until(pilot, lambda: shown.listing.cursor_key == "next_100")
        await pilot.press("enter")
        await until(pilot, lambda: session.of(Move))
        assert [command.steps for command in session.of(Move)] == [100]
        assert app.screen is app.main


async def test_a_key_that_needs_its_pane_is_only_told_of() -> None:
    app, _ = explorer()
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen) and app.screen.field.has_focus)
        shown = app.screen
        assert isinstance(shown, HelpScreen)
        shown.field.value = "Show all about it"
        await until(pilot, lambda: len(shown.listing.rows) == 4)
        await pilot.press("enter")
        await until(pilot, lambda: "enter works where it is needed" in screen_text(app))
        assert app.screen is shown


async def test_a_theme_is_seen_before_it_is_taken() -> None:
    app, _ = explorer()
    async with app.run_test(size=(100, 40)) as pilot:
        await settled(pilot)
        before = app.theme
        await pilot.press("T")
        await until(pilot, lambda: isinstance(app.screen, ColoursScreen) and app.screen.listing.rows)
        await pilot.press("down")
        await until(pilot, lambda: app.theme != before)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert app.theme == before
        await pilot.press("T")
        await until(pilot, lambda: isinstance(app.screen, ColoursScreen) and app.screen.listing.rows)
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.screen is app.main)
        assert app.theme == LIGHT_NAME


async def test_a_new_key_is_one_entry() -> None:
    """A key that copies the row under the cursor: it works, and footer and help show it."""
    copied: list[object] = []
    entry: Action[Any] = Action(
        ("f9",), "copy", lambda on: copied.append(on.pairs.cursor_key), "Copy the row", "copy_row",
        ("pairs",), 1, anywhere=True,
    )
    app, _ = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        app.main.actions = (*app.main.actions, entry)
        await pilot.press("2")
        await app.action_do("f9")
        assert copied == [(b" t", b"he")]
        assert "f9 copy" in screen_text(app).splitlines()[-1]
        assert any(row.key == "copy_row" for row in help_rows(app.main.meant(), "pairs", ""))
