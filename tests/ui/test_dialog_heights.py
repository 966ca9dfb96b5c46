"""Dialogs with little to say are small, however high the screen is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dialogs import FakeFace, Host
from waiting import until

from tokentui.presets import preset_named
from tokentui.session.saved import Branch, SavedSession
from tokentui.ui.dialogs import Dialog
from tokentui.ui.dialogs.ask import AskLine, GoToScreen
from tokentui.ui.keeping import OfferScreen

KEPT = SavedSession(sources=("sample:hugs",), training=Branch(preset_named("gpt2").recipe, step=3))
SMALL: tuple[Callable[[], Dialog[Any]], ...] = (
    lambda: GoToScreen(FakeFace()), lambda: OfferScreen(FakeFace(), KEPT, ""),
    lambda: AskLine(FakeFace(), "Second corpus", lambda line: line, lambda line: None),
)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.parametrize("make", SMALL)
async def test_a_question_of_a_line_takes_a_few_lines(
    make: Callable[[], Dialog[Any]], size: tuple[int, int]
) -> None:
    dialog = make()
    app = Host(dialog)
    async with app.run_test(size=size) as pilot:
        await until(
            pilot, lambda: app.screen is dialog and dialog.is_mounted and dialog.box.outer_size.height > 0
        )
        assert dialog.box.outer_size.height <= 8
        assert dialog.box.outer_size.width <= 80
