"""Families of keys: a letter shows its members in the footer and waits for one of them."""

from __future__ import annotations

import pytest
from key_burst import burst
from screens import explorer
from waiting import notes_of, screen_text, settled, until

from tokentui.session.commands import Move
from tokentui.ui.bindings import FAMILIES, member_of
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.dialogs.colors import ColorsScreen
from tokentui.ui.dialogs.settings_screen import SettingsScreen
from tokentui.ui.keymap import all_actions
from tokentui.ui.main_screen import MainScreen
from tokentui.ui.start_screen import StartScreen

SIZES = [(120, 40), (80, 24)]
MEMBERS = {
    key: action.id for action in all_actions().values() for key in action.keys if member_of(key) is not None
}
"""The ids of the actions in families, by their keys."""
SINGLE = {
    "boundaries": "s", "ages": "B", "pieces": "p", "zoom": "Z", "theme": "T", "first_screen": "W",
    "formulas": "M", "why_all": "Y", "questions": "u", "predict": "P", "dropout": "percent_sign",
    "what_if": "x", "languages": "dollar_sign", "analyze_glitch": "exclamation_mark", "record": "R",
    "edit_vocabulary": "X", "differences": "equals_sign", "spelling": "D", "pair": "A", "sync_by": "I",
    "passage": "E",
}
"""The single keys that members had before there were families."""


def test_each_member_has_an_action_and_each_action_of_a_family_is_a_member() -> None:
    named = {f"{family.letter} {letter}" for family in FAMILIES.values() for letter in family.members}
    assert named == set(MEMBERS)


def test_each_doubled_letter_does_what_the_single_one_did() -> None:
    doubled = {letter: MEMBERS[f"{letter} {letter}"] for letter in FAMILIES}
    assert doubled == {
        "v": "glyphs", "w": "life", "F": "facts", "e": "export", "d": "first_difference",
    }


def test_single_keys_go_on_to_work() -> None:
    actions = all_actions()
    assert {id: actions[id].keys[0] for id in SINGLE} == SINGLE


def footer(pilot: object) -> str:
    return screen_text(pilot).splitlines()[-1]  # type: ignore[arg-type]


async def test_the_footer_shows_the_members_until_esc() -> None:
    app, session = explorer()
    async with app.run_test(size=SIZES[0]) as pilot:
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await settled(pilot)
            before = footer(pilot)
            for letter in ("v", "w", "F", "e"):
                await pilot.press(letter)
                await settled(pilot)
                shown = footer(pilot)
                members = [
                    f"{member} {label}" for member, label in FAMILIES[letter].members.items()
                    if member != "m"
                ]
                assert [member for member in [*members, "esc end"] if member not in shown] == []
                await pilot.press("escape")
                await settled(pilot)
                assert footer(pilot) == before
        assert session.of(Move) == []


async def test_a_member_acts_and_any_other_key_does_what_it_always_does() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        session.sent.clear()
        await pilot.press("e", "n")
        await until(pilot, lambda: session.of(Move))
        assert app.main.family == ""
        await pilot.press("e", "q")  # q ends the family, and not the program
        await settled(pilot)
        assert (app.is_running, app.main.family) == (True, "")
        burst(app, "v", "t")
        await until(pilot, lambda: isinstance(app.screen, ColorsScreen))
        assert len(session.of(Move)) == 1
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await pilot.press("v", "m")  # a member of Compare alone
        await until(pilot, lambda: any("m (formulas) works in Compare" in note for note in notes_of(app)))
        burst(app, "v", "O")
        await until(pilot, lambda: isinstance(app.screen, SettingsScreen))


@pytest.mark.slow
async def test_v_goes_on_to_the_next_view_until_another_key() -> None:
    app, _ = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        seen = []
        for keys in ("vv", "v", "v", "n", "v", "v"):
            await pilot.press(*keys)
            await settled(pilot)
            seen.append((app.main.mode, app.main.family))
        assert seen == [
            ("escaped", ""), ("hex", ""), ("points", ""), ("points", ""), ("points", "v"), ("text", ""),
        ]


async def test_a_family_is_clicked_and_a_pane_a_dialog_and_typing_end_it() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("w")
        await pilot.click(app.main.vocabulary)
        await until(pilot, lambda: app.main.active == "vocabulary")
        assert app.main.family == ""
        await pilot.press("v", "w")
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        session.sent.clear()
        await pilot.press("n")
        await until(pilot, lambda: session.of(Move))
        await pilot.press("i", *"vweFd")
        await until(pilot, lambda: app.main.encode.line.value == "vweFd")
        assert app.main.family == ""
        await pilot.press("escape")
        await pilot.click(offset=(footer(pilot).index("v▸"), 39))
        await until(pilot, lambda: "t theme" in footer(pilot))
        await pilot.click(offset=(footer(pilot).index("t theme") + 3, 39))
        await until(pilot, lambda: isinstance(app.screen, ColorsScreen))


async def test_compare_has_its_own_family_and_single_keys_are_bound_like_their_members() -> None:
    app, _ = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        for kind in (MainScreen, CompareScreen):
            if kind is CompareScreen:
                app.compare(())
                await until(pilot, lambda: isinstance(app.screen, CompareScreen))
            active = {key: one.binding.action for key, one in app.screen.active_bindings.items()}
            members = {id: key for key, id in MEMBERS.items()}
            both = [(key, members[id]) for id, key in SINGLE.items() if {key, members[id]} <= active.keys()]
            assert len(both) > 6
            assert [active[key] for key, _ in both] == [active[member] for _, member in both]
        await pilot.press("d")
        await until(pilot, lambda: "d first  l list =" in footer(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: "d▸" in footer(pilot))
        assert isinstance(app.screen, CompareScreen)


async def test_a_file_with_the_keys_of_before_works() -> None:
    """Doubled letters did their work alone: a file that says so has them alone."""
    app, _ = explorer(kept={"keys": {"glyphs": "v", "life": "w", "export": "e"}})
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("v")
        await until(pilot, lambda: app.main.mode == "escaped")
        bound = {key: app.main.active_bindings[key].binding.action for key in "vwex"}
        assert bound == {"v": "cycle_view", "w": "life", "e": "export", "x": "ask_what_if"}
        assert app.main.family == ""
