"""Help: the focused pane first, then all keys in the families of the footer."""

from __future__ import annotations

import pytest
from dialogs import FakeEngine, shown, tried_on_all_sizes
from screens import explorer
from waiting import screen_text, settled, until

from tokentui.ui.bindings import EVERYWHERE, FAMILIES, BoundAction, key_name, member_of
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.dialogs.finder import FinderScreen
from tokentui.ui.dialogs.help import _LISTS, PANES, HelpScreen, engine_line, groups_of
from tokentui.ui.keymap import SCREENS, all_actions, sections_of


def deed(id: str, keys: tuple[str, ...], label: str, help: str) -> BoundAction:
    """An action that does nothing."""
    return BoundAction(id, keys, label, help, "")


DEEDS = {
    EVERYWHERE: [deed("next", ("n", "right"), "next", "Make the next merge")],
    "corpus": [deed("find", ("slash",), "find", "Find text in the pane")],
    "vocabulary": [deed("order", ("S",), "order", "Sort it by use and then by age and then once more")],
}


@pytest.mark.parametrize("screen", SCREENS)
def test_every_key_is_on_the_page(screen: str) -> None:
    sections = sections_of(screen)
    groups = list(groups_of(sections, next(name for name in sections if name != EVERYWHERE)))
    said = " ".join(key for _, rows in groups for key, _ in rows).split()
    members = {key for _, rows in groups for key, _ in rows if len(key.split()) == 2}
    for name, actions in sections.items():
        for action in actions:
            if not action.keys or action.label.startswith("pane ") or action.id in _LISTS:
                continue
            keys = [key for key in action.keys if member_of(key) is None]
            shown_once = [key for key in keys if key_name(key) in said]
            assert shown_once or any(key_name(key) in members for key in action.keys) or action.hint.family, (
                name, action)


def test_the_pages_are_grouped_by_the_families() -> None:
    titles = [title for title, _ in groups_of(sections_of("main"), "corpus")]
    assert titles[0] == "Corpus"
    for family in FAMILIES.values():
        assert (f"{family.letter} {family.name}" in titles) == (family.letter != "d")
    rows = dict(groups_of(sections_of("main"), "corpus"))["v view"]
    assert ("v c", "chips s") in rows
    assert ("v v", "text") in rows


def test_the_help_of_a_pane_names_three_keys_that_exist() -> None:
    actions = all_actions()
    for name, pane in PANES.items():
        assert len(pane.keys) == 3
        assert all(id in actions and actions[id].keys for id in pane.keys), name
        assert pane.shows
        assert pane.example
    assert {name for screen in ("main", "compare") for name in sections_of(screen)} - set(PANES) == {
        EVERYWHERE, "rows",
    }


@pytest.mark.parametrize(("size", "pages"), [((120, 40), 1), ((80, 24), 2)])
@pytest.mark.parametrize("screen", ["main", "compare"])
@pytest.mark.first_run(cover=1)
async def test_all_keys_are_one_page_or_two(screen: str, size: tuple[int, int], pages: int) -> None:
    app, _ = explorer()
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        if screen == "compare":
            app.compare(())
            await until(pilot, lambda: isinstance(app.screen, CompareScreen))
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        help = app.screen
        assert isinstance(help, HelpScreen)
        if not help.all:
            await until(pilot, lambda: "Try: " in screen_text(pilot))
            await pilot.press("question_mark")
        await until(pilot, lambda: help.pages == pages)
        await settled(pilot)
        seen = screen_text(pilot)
        assert "v view" in seen
        await pilot.press("down")
        await settled(pilot)
        seen += screen_text(pilot)
        assert pages == 1 or "page 2 of 2" in seen
        for title, _ in groups_of(help._sections, help._first):
            assert title in seen
        await pilot.press("question_mark")
        await until(pilot, lambda: not isinstance(app.screen, HelpScreen))


async def test_it_opens_at_the_focused_pane_closes_and_leads_to_the_finder() -> None:
    app, _ = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        for pane, key in zip(("corpus", "encode", "pairs", "vocabulary"), ("escape", "q") * 2, strict=True):
            app.main.go(pane)
            app.main.typing = False
            await pilot.pause()
            app.main.action_show_keys()
            await settled(pilot)
            seen = screen_text(pilot)
            assert PANES[pane].shows[:30] in seen
            assert PANES[pane].example[:30] in seen
            await pilot.press(key)
            await until(pilot, lambda: app.screen is app.main)
        await pilot.press("question_mark", "slash")
        await until(pilot, lambda: isinstance(app.screen, FinderScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["slash", "colon", "ctrl+p"])
async def test_it_leads_to_the_finder(key: str) -> None:
    app, _ = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("question_mark", key)
        await until(pilot, lambda: isinstance(app.screen, FinderScreen))


async def test_hostile_actions_on_all_sizes() -> None:
    hostile = deed("x", ("n",), "[/]\x1b[31m", "\u202e[bold]\x1b]0;x\x07 " * 9)
    async with shown(HelpScreen(FakeEngine(), {**DEEDS, "pa\x9bne": [hostile]}, "pa\x9bne")) as (_, pilot):
        await tried_on_all_sizes(pilot)


async def test_no_actions_at_all() -> None:
    async with shown(HelpScreen(FakeEngine(), {}, "corpus")) as (app, pilot):
        await pilot.press("down", "question_mark", "end", "pageup")
        await until(pilot, lambda: engine_line() in screen_text(pilot))
        assert not app.answered
