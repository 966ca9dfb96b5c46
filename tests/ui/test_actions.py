"""The one list of actions: bindings, footer, help and palette are made from it and miss nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest
from screens import explorer
from textual.binding import Binding
from waiting import until

from tokentui.ui.actions import (
    ACTIONS,
    COMPARE_CONTEXTS,
    CONTEXTS,
    MOST_HINTS,
    Action,
    ActionCommands,
    always_bindings,
    bindings,
    fitting,
    hints,
    key_name,
    meant,
)
from tokentui.ui.app import ExplorerApp
from tokentui.ui.compare.aligned import AlignedRows
from tokentui.ui.compare.column_panes import ChoiceTable
from tokentui.ui.compare.curves import CurveChart
from tokentui.ui.compare.lists import AgreementList, CompareList
from tokentui.ui.compare.measures import MeasuresList
from tokentui.ui.compare.parting import SideTable
from tokentui.ui.compare.screen import CompareScreen
from tokentui.ui.compare.vocabulary import TokensTable
from tokentui.ui.dialogs.help import rows
from tokentui.ui.main import MainScreen
from tokentui.ui.panes.candidates import PairTable
from tokentui.ui.panes.corpus import CorpusText
from tokentui.ui.panes.editor import CorpusEditor
from tokentui.ui.panes.encode import TypedLine
from tokentui.ui.panes.tables import VocabularyTable

OWNERS: dict[str, Any] = {
    "global": MainScreen, "corpus": CorpusText, "pairs": PairTable, "vocabulary": VocabularyTable, "encode": TypedLine,
    "editor": CorpusEditor, "compare": CompareScreen, "rows": CompareList, "choices": ChoiceTable, "parting": SideTable,
    "tokens": TokensTable, "measures": MeasuresList, "agreement": AgreementList, "aligned": AlignedRows, "curves": CurveChart,
}
SAFE = re.compile(
    r"[A-Za-z0-9]|f([1-9]|10)|up|down|left|right|home|end|pageup|pagedown|space|enter|tab|shift\+tab|escape"
    r"|ctrl\+[cdfgklnoprtuwxyz]|plus|minus|delete|equals_sign|(greater|less)_than_sign|(left|right)_square_bracket|slash"
    r"|full_stop|comma|question_mark"
)


def bound(action: Action) -> list[Binding]:
    """The bindings of the app that run an action."""
    owner = ExplorerApp if action.always else OWNERS[action.context]
    own = [one for one in owner.BINDINGS if isinstance(one, Binding)]
    return [one for one in own if one.action == action.command and set(one.key.split(",")) == set(action.keys)]


def test_names_are_unique_and_contexts_known() -> None:
    assert len({action.name for action in ACTIONS}) == len(ACTIONS)
    assert {action.context for action in ACTIONS} == set(CONTEXTS)


@pytest.mark.parametrize("context", CONTEXTS)
def test_keys_do_not_clash_in_a_context(context: str) -> None:
    own = [(key, action) for action in ACTIONS if action.context == context for key in action.keys]
    assert len({key for key, _ in own}) == len(own)
    compared = context in COMPARE_CONTEXTS
    whole = [a for a in ACTIONS if (a.context == "compare" or a.shared if compared else a.context == "global")]
    everywhere = {key: action for action in whole for key in action.keys}
    assert len(everywhere) == sum(len(action.keys) for action in whole)
    for key, action in own:
        # A pane takes a key away from the screen only to do the same.
        assert key not in everywhere or everywhere[key].command == action.command


def test_what_the_screen_does_for_a_pane_has_its_key_in_all_of_them() -> None:
    keys = {key for binding in bindings("global") for key in binding.key.split(",")}
    assert {"s", "p", "t", "z", "S"} <= keys
    assert not {"enter", "up", "home", "k"} & keys
    whole = [key for action in ACTIONS if action.context == "global" for key in action.keys]
    assert not {"s", "p", "t", "z", "S"} & set(whole)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_an_action_is_reachable_everywhere(action: Action) -> None:
    assert bound(action)
    assert any(row.key == action.name for row in rows(ACTIONS, "global", "", 60))
    if action.footer:
        assert action in hints(action.context, action.objective)
        assert action.objective == "" or action not in hints(action.context, "count")


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_every_action_can_be_run(action: Action) -> None:
    where, _, name = action.command.rpartition(".")
    screens = [CompareScreen] if action.context in COMPARE_CONTEXTS else [MainScreen, CompareScreen][: 1 + action.shared]
    for owner in {"screen": screens, "app": [ExplorerApp], "": [OWNERS[action.context]]}[where]:
        assert callable(getattr(owner, "action_" + name.partition("(")[0]))


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_only_keys_that_arrive_in_every_terminal(action: Action) -> None:
    # ctrl+q is Textual's own way out; it is never the only one.
    assert all(SAFE.fullmatch(key) for key in action.keys if key != "ctrl+q")
    assert action.keys != ("ctrl+q",)


def test_what_works_everywhere_is_no_text() -> None:
    for binding in always_bindings():
        assert binding.priority
        assert all(key.startswith("ctrl+") for key in binding.key.split(","))
    assert not any(binding.priority for context in CONTEXTS for binding in bindings(context))


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("width", [0, 10, 28, 40, 80, 120, 1000])
def test_the_footer_takes_what_fits_in_order(context: str, width: int) -> None:
    chosen = fitting(hints(context), width)
    assert chosen == hints(context)[: len(chosen)]
    assert len("  ".join(f"{action.shown_key} {action.label}" for action in chosen)) <= width
    assert len(chosen) <= MOST_HINTS
    if width == 1000:
        assert len(chosen) == min(MOST_HINTS, len(hints(context)))


def test_keys_are_shown_as_they_stand_on_the_keyboard() -> None:
    assert [key_name(key) for key in ("question_mark", "ctrl+p", "escape", "left", "N")] == ["?", "ctrl+p", "esc", "←", "N"]


async def test_the_palette_has_every_action_that_it_may_have() -> None:
    app, _ = explorer()
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.main.snapshot)
        provider = ActionCommands(app.main)
        found = {str(hit.text) async for hit in provider.discover()}
        assert found == {action.help for action in meant("count") if action.palette}
        for action in ACTIONS:
            hits = [hit async for hit in provider.search(action.help)]
            assert any(hit.text == action.help for hit in hits) == (action.help in found)


async def test_the_palette_runs_what_is_chosen() -> None:
    app, session = explorer()
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.main.snapshot)
        provider = ActionCommands(app.main)
        hit = next(hit for hit in [hit async for hit in provider.discover()] if hit.text == "100 steps forward")
        await hit.command()
        assert [command.steps for command in session.of(type(session.sent[-1]))][-1] == 100
