"""Help: made from the actions, the focused pane first, searchable."""

from __future__ import annotations

import pytest
from dialogs import FakeEngine, shown, tried_on_all_sizes, typed
from waiting import screen_text, until

from tokentui.ui.bindings import EVERYWHERE, BoundAction
from tokentui.ui.dialogs.ask import HelpScreen, engine_line, help_rows
from tokentui.ui.draw.table import Listing
from tokentui.ui.field import Field
from tokentui.ui.keymap import SCREENS, sections_of


def deed(id: str, keys: tuple[str, ...], label: str, help: str) -> BoundAction:
    """An action that does nothing."""
    return BoundAction(id, keys, label, help, "")


DEEDS = {
    EVERYWHERE: [
        deed("step", ("n", "right"), "next", "Make the next merge"),
        deed("help", ("question_mark",), "help", "Show all keys"),
    ],
    "corpus": [deed("find", ("slash",), "find", "Find text in the pane")],
    "vocabulary": [deed("order", ("S",), "order", "Sort it by use and then by age and then once more")],
}


def _texts(context: str, find: str = "") -> list[str]:
    return [
        " ".join(run[0] for cell in row.cells for run in cell)
        for row in help_rows(DEEDS, context, find)
    ]


def test_the_focused_pane_comes_first() -> None:
    assert _texts("vocabulary") == [
        "Vocabulary", "S order Sort it by use and then by age and then once more",
        "Everywhere", "n → next Make the next merge", "? help Show all keys",
        "Corpus", "/ find Find text in the pane",
    ]


def test_the_keys_come_in_the_order_of_the_bindings() -> None:
    sections = sections_of("main")
    shown = [row.key for row in help_rows(sections, "pairs", "")]
    first = shown[1 : shown.index(None, 1)]
    assert first == [one.id for one in sections["pairs"]]
    whole = [one.id for one in sections[EVERYWHERE]]
    assert [key for key in shown if key in whole] == whole
    assert whole[:2] == ["next", "back"]


def test_an_action_of_several_panes_stands_under_each() -> None:
    both = deed("inspect", ("enter",), "inspect", "Show all about it")
    sections = {pane: [*actions, *([both] if pane != EVERYWHERE else [])] for pane, actions in DEEDS.items()}
    for context in ("corpus", "vocabulary"):
        found = list(help_rows(sections, context, "enter"))
        assert len({row.key for row in found if row.key is not None}) == 2
        assert found[0].cells[0][0][0] == context.capitalize()


def test_the_search_looks_at_keys_labels_and_sentences() -> None:
    assert _texts("corpus", "MERGE") == ["Everywhere", "n → next Make the next merge"]
    assert _texts("corpus", "/") == ["Corpus", "/ find Find text in the pane"]
    assert _texts("corpus", "order")[0] == "Vocabulary"
    assert _texts("corpus", "no such thing") == []


async def test_a_long_sentence_takes_more_rows() -> None:
    dialog = HelpScreen(FakeEngine(), DEEDS, "vocabulary")
    async with shown(dialog, (36, 20)):
        lines = ["".join(text for text, _ in row.cells[2]) for row in dialog.listing.rows[1:4]]
        assert " ".join(" ".join(lines).split()) == "Sort it by use and then by age and then once more"
        assert [row.key for row in dialog.listing.rows[1:4]] == ["order", ("order", 1), ("order", 2)]


@pytest.mark.parametrize("screen", SCREENS)
async def test_all_actions_of_the_program_are_listed(screen: str) -> None:
    sections = sections_of(screen)
    async with shown(HelpScreen(FakeEngine(), sections, "pairs"), (120, 40)) as (app, pilot):
        listing = app.screen.query_one(Listing)
        await until(pilot, lambda: listing.rows)
        ids = {action.id for actions in sections.values() for action in actions}
        assert ids <= {row.key for row in listing.rows}
        assert engine_line() in screen_text(pilot)
        assert "tokentui" in engine_line()
        assert "engine" in engine_line()


@pytest.mark.parametrize("key", ["escape", "q", "question_mark"])
async def test_keys_that_close_it(key: str) -> None:
    async with shown(HelpScreen(FakeEngine(), DEEDS, "corpus")) as (app, pilot):
        await pilot.press(key)
        await until(pilot, lambda: app.answered)
        assert app.result is None


async def test_search_and_back() -> None:
    async with shown(HelpScreen(FakeEngine(), DEEDS, "corpus")) as (app, pilot):
        listing = app.screen.query_one(Listing)
        await until(pilot, lambda: len(listing.rows) == 7)
        await pilot.press("slash")
        await until(pilot, lambda: app.screen.query_one(Field).has_focus)
        await typed(pilot, "q?merge")
        # q and ? are text here, they do not close it
        await until(pilot, lambda: [row.key for row in listing.rows] == ["nothing"])
        await until(pilot, lambda: "nothing found" in screen_text(pilot))
        await pilot.press("enter")
        assert not app.answered
        await pilot.press("home", "delete", "delete")
        await until(pilot, lambda: [row.key for row in listing.rows] == [None, "step"])
        await pilot.press("escape")
        await until(pilot, lambda: len(listing.rows) == 7 and listing.has_focus)
        assert not app.answered
        await pilot.press("escape")
        await until(pilot, lambda: app.answered)


async def test_the_list_scrolls_and_steps_over_headings() -> None:
    async with shown(HelpScreen(FakeEngine(), DEEDS, "corpus"), (40, 12)) as (app, pilot):
        listing = app.screen.query_one(Listing)
        await until(pilot, lambda: listing.rows)
        assert (listing.cursor, listing.top) == (1, 0)
        await pilot.press("down")
        await until(pilot, lambda: listing.cursor_key == "step")
        await pilot.press("up", "up", "up")
        await until(pilot, lambda: listing.cursor_key == "find")
        await pilot.press("end")
        await until(pilot, lambda: listing.cursor == len(listing.rows) - 1 and listing.top > 0)
        await pilot.press("home")
        await until(pilot, lambda: (listing.cursor, listing.top) == (1, 0))


async def test_hostile_actions_on_all_sizes() -> None:
    hostile = deed("x", ("n",), "[/]\x1b[31m", "\u202e[bold]\x1b]0;x\x07 " * 9)
    async with shown(HelpScreen(FakeEngine(), {**DEEDS, "pa\x9bne": [hostile]}, "pa\x9bne")) as (_, pilot):
        await tried_on_all_sizes(pilot)


async def test_no_actions_at_all() -> None:
    async with shown(HelpScreen(FakeEngine(), {}, "corpus")) as (app, pilot):
        await pilot.press("down", "enter", "end", "pageup")
        await until(pilot, lambda: engine_line() in screen_text(pilot))
        assert not app.answered
