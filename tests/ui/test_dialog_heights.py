"""Dialogs with little to say are small, however high the screen is, and what they say is seen whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dialogs import FakeEngine, shown, typed
from screens import snapshot
from waiting import screen_text, text_of, until

from tokentui.core.errors import TokentuiError
from tokentui.preset_table import preset_named
from tokentui.recipe import Ending
from tokentui.session.commands import ExamineHealth
from tokentui.session.persist.session_file import Branch, SavedSession
from tokentui.ui.dialogs import Dialog
from tokentui.ui.dialogs.ask import AskLine, GoToScreen
from tokentui.ui.dialogs.facts import FactsScreen

KEPT = SavedSession(sources=("sample:hugs",), training=Branch(preset_named("gpt2").recipe, step=3))
SMALL: tuple[Callable[[], Dialog[Any]], ...] = (
    lambda: GoToScreen(FakeEngine()),
    lambda: AskLine(FakeEngine(), "Second corpus", lambda line: line, lambda line: None),
)


@pytest.mark.parametrize("make", SMALL)
async def test_a_question_of_a_line_takes_a_few_lines(make: Callable[[], Dialog[Any]]) -> None:
    dialog = make()
    async with shown(dialog) as (_, pilot):
        for size in ((80, 24), (120, 40)):
            await pilot.resize_terminal(*size)
            assert dialog.box.outer_size.height > 0
            assert dialog.box.outer_size.height <= 8
            assert dialog.box.outer_size.width <= 80


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_a_line_says_is_seen_whole(size: tuple[int, int]) -> None:
    goto = GoToScreen(FakeEngine(snapshot(end=Ending())))
    async with shown(goto, size) as (_, pilot):
        await typed(pilot, "50%")
        line = text_of(goto.notice).split()
        assert line
        await until(pilot, lambda: all(word in screen_text(pilot) for word in line))
    facts = FactsScreen(FakeEngine(answers={ExamineHealth: TokentuiError("gone")}))
    async with shown(facts, size) as (_, pilot):
        await until(pilot, lambda: facts.notice.size.height == 2)
