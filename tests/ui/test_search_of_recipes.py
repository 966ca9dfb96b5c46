"""The search of the algorithm screen finds presets, axes and values of axes, and says when it finds none."""

from __future__ import annotations

import pytest
from dialogs import FakeEngine, shown
from waiting import screen_text, settled

from tokentui.axes import AXES
from tokentui.preset_table import PRESETS
from tokentui.ui.dialogs.draft import RecipeChoice, families
from tokentui.ui.dialogs.recipe import RecipeScreen

USED = RecipeChoice(PRESETS["gpt2"].recipe)
VALUES = [(axis, value) for axis in AXES for value in AXES[axis].written().values()]


@pytest.mark.parametrize("at_axes", [False, True])
@pytest.mark.slow
async def test_every_value_of_every_axis_is_found(at_axes: bool) -> None:
    dialog = RecipeScreen(FakeEngine(), USED, "gpt2")
    async with shown(dialog, (120, 40)) as (_, pilot):
        rows = [row.key.lower() for row in dialog.axes.rows if isinstance(row.key, str)]
        for value in dict.fromkeys(value for _, value in VALUES):
            if any(value.lower() in name for name in rows) if at_axes else families(value):
                continue  # a preset or a row is found
            dialog._focus_list(dialog.axes if at_axes else dialog.presets)
            await pilot.press("slash")
            dialog.field.put(value)
            await settled(pilot)
            assert f"={value}" in str(dialog.notice.content)
            await pilot.press("enter")
            await settled(pilot)
            assert value.lower() in str(dialog.values.cursor_key).lower()
            assert dialog.values.display
            assert (dialog.axes.cursor_key, dialog.values.cursor_key) in VALUES
            await pilot.press("escape")
            await settled(pilot)
            assert not dialog.values.display


async def test_a_word_that_nothing_is_named_by_is_said_to_be() -> None:
    dialog = RecipeScreen(FakeEngine(), USED, "gpt2")
    async with shown(dialog, (120, 40)) as (_, pilot):
        for keys in ((), ("escape", "tab")):
            await pilot.press(*keys)
            assert "‘zqzq’" not in screen_text(pilot)
            await pilot.press("slash", *"zqzq")
            await settled(pilot)
            assert "‘zqzq’" in screen_text(pilot)
            await pilot.press("enter")
            await settled(pilot)
            assert not dialog.values.display


async def test_a_number_typed_at_a_size_is_its_value() -> None:
    dialog = RecipeScreen(FakeEngine(), USED, "gpt2")
    async with shown(dialog, (120, 40)) as (_, pilot):
        await pilot.press("tab", "slash", *"tie", "escape")
        dialog.axes.move_to(dialog.axes.index_of("vocab_size") or 0)
        await pilot.press(*"300")
        await settled(pilot)
        assert dialog.editing
        await pilot.press("enter")
        await settled(pilot)
        assert dialog.choice.run.stops.vocab_size == 300
        dialog.axes.move_to(dialog.axes.index_of("tie") or 0)
        await pilot.press("7")
        assert not dialog.editing
