"""Help: made from the actions, the focused pane first, searchable."""

from __future__ import annotations

from typing import Any

import pytest
from dialogs import FakeEngine, shown, tried_on_all_sizes, typed
from waiting import screen_text, until

from tokentui.ui.actions import ACTIONS, MAIN_ACTIONS
from tokentui.ui.dialogs.ask import HelpScreen, engine_line, help_rows
from tokentui.ui.draw.table import Listing
from tokentui.ui.keys import Action
from tokentui.ui.typed import Field


def deed(name: str, keys: tuple[str, ...], label: str, help: str, context: str) -> Action[Any]:
    """An action that does nothing."""
    return Action(keys, label, None, help, name, (context,))


DEEDS = (
    deed("step", ("n", "right"), "next", "Make the next merge", "global"),
    deed("find", ("slash",), "find", "Find text in the pane", "corpus"),
    deed("order", ("S",), "order", "Sort it by use and then by age and then once more", "vocabulary"),
    deed("help", ("question_mark",), "help", "Show all keys", "global"),
)


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


def test_the_keys_come_in_the_order_of_their_table() -> None:
    shown = [row.key for row in help_rows(MAIN_ACTIONS, "pairs", "")]
    of_the_pane = [one.name for one in MAIN_ACTIONS if "pairs" in one.contexts]
    first = shown[1 : shown.index(None, 1)]
    assert [key[0] if isinstance(key, tuple) else key for key in first] == of_the_pane
    whole = [one.name for one in MAIN_ACTIONS if "global" in one.contexts]
    assert [key for key in shown if key in whole] == whole
    assert whole[:5] == ["next", "back", "play", "faster", "slower"]


def test_an_action_of_several_panes_stands_under_each() -> None:
    both: Action[Any] = Action(
        ("enter",), "inspect", None, "Show all about it", "inspect", ("corpus", "vocabulary")
    )
    for context in ("corpus", "vocabulary"):
        found = list(help_rows((*DEEDS, both), context, "enter"))
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


async def test_all_actions_of_the_program_are_listed() -> None:
    async with shown(HelpScreen(FakeEngine(), ACTIONS, "pairs"), (120, 40)) as (app, pilot):
        listing = app.screen.query_one(Listing)
        await until(pilot, lambda: listing.rows)
        assert {action.name for action in ACTIONS} <= {row.key for row in listing.rows}
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
    deeds = (deed("x", ("n",), "[/]\x1b[31m", "\u202e[bold]\x1b]0;x\x07 " * 9, "pa\x9bne"), *DEEDS)
    async with shown(HelpScreen(FakeEngine(), deeds, "pa\x9bne")) as (_, pilot):
        await tried_on_all_sizes(pilot)


async def test_no_actions_at_all() -> None:
    async with shown(HelpScreen(FakeEngine(), (), "corpus")) as (app, pilot):
        await pilot.press("down", "enter", "end", "pageup")
        await until(pilot, lambda: engine_line() in screen_text(pilot))
        assert not app.answered
