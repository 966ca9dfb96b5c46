"""The one table of actions: bindings, footer, help and palette are made from it and miss nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest
from screens import explorer, screen_text
from waiting import until

from tokentui.ui.actions import ACTIONS, COMPARE_ACTIONS, MAIN_ACTIONS
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs.ask import help_rows
from tokentui.ui.keys import MOST_HINTS, Action, fitting, hints, key_name
from tokentui.ui.screen import ActionCommands

SCREENS = {"global": MAIN_ACTIONS, "compare": COMPARE_ACTIONS}
CONTEXTS = sorted(
    {(kind, context) for kind, table in SCREENS.items() for one in table for context in one.contexts}
)
SAFE = re.compile(
    r"[A-Za-z0-9]|f([1-9]|10)|up|down|left|right|home|end|pageup|pagedown|space|enter|tab|shift\+tab|escape"
    r"|ctrl\+[cdfgklnoprtuwxyz]|plus|minus|delete|equals_sign|(greater|less)_than_sign|(left|right)_square_bracket|slash"
    r"|full_stop|comma|question_mark|backspace"
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
    assert {key for one in MAIN_ACTIONS if one.anywhere for key in one.keys} == {"s", "p", "t", "z", "S"}


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
    chosen = fitting(shown, width)
    assert chosen == shown[: len(chosen)]
    assert len("  ".join(f"{action.shown_key} {action.label}" for action in chosen)) <= width
    assert len(chosen) <= MOST_HINTS
    if width == 1000:
        assert len(chosen) == min(MOST_HINTS, len(shown))


def test_keys_are_shown_as_they_stand_on_the_keyboard() -> None:
    assert [key_name(key) for key in ("question_mark", "ctrl+p", "escape", "left", "N")] == [
        "?", "ctrl+p", "esc", "←", "N",
    ]
    assert Action(("up", "down"), "", keys_shown=2).shown_key == "↑↓"
    assert Action(("escape", "q", "question_mark"), "", keys_shown=3).shown_key == "esc q ?"


async def test_the_palette_has_every_action_that_it_may_have() -> None:
    app, _ = explorer()
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.main.snapshot)
        provider = ActionCommands(app.main)
        found = {str(hit.text) async for hit in provider.discover()}
        assert found == {one.help for one in app.main.meant() if one.palette and one.does is not None}
        for action in ACTIONS:
            hits = [hit async for hit in provider.search(action.help)]
            assert any(hit.text == action.help for hit in hits) == (action.help in found)


async def test_the_palette_runs_what_is_chosen() -> None:
    app, session = explorer()
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.main.snapshot)
        provider = ActionCommands(app.main)
        hit = next(
            hit for hit in [hit async for hit in provider.discover()] if hit.text == "100 steps forward"
        )
        hit.command()
        assert [command.steps for command in session.of(type(session.sent[-1]))][-1] == 100


async def test_a_new_key_is_one_entry() -> None:
    """A key that copies the row under the cursor: it works, and footer, help and palette show it."""
    copied: list[object] = []
    entry: Action[Any] = Action(
        ("f9",), "copy", lambda on: copied.append(on.pairs.cursor_key), "Copy the row", "copy", ("pairs",), 1,
        anywhere=True,
    )
    app, _ = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.main.snapshot)
        app.main.actions = (*app.main.actions, entry)
        await pilot.press("2")
        await app.action_do("f9")
        assert copied == [(b" t", b"he")]
        assert "f9 copy" in screen_text(app).splitlines()[-1]
        assert any(row.key == "copy" for row in help_rows(app.main.meant(), "pairs", ""))
        assert "Copy the row" in {str(hit.text) async for hit in ActionCommands(app.main).discover()}
