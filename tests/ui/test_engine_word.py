"""The header names the engine only when kernels failed; help always says what plain Python does."""

from __future__ import annotations

import pytest
from screens import explorer, screen_text
from waiting import settled, until

from tokentui.core.engines import COMPILED, FAILED

TRAINS, COUNTS = "pieces=sentencepiece", "split=words"


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 40)])
@pytest.mark.parametrize("plain", [("", ""), (TRAINS, ""), ("", COUNTS), (TRAINS, COUNTS)])
@pytest.mark.slow
async def test_a_recipe_without_kernels_is_told_in_help_alone(
    size: tuple[int, int], plain: tuple[str, str]
) -> None:
    app, session = explorer()
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        session.show(engine=COMPILED, plain=plain)
        await until(pilot, lambda: app.main.snapshot is not None and app.main.snapshot.plain == plain)
        await pilot.pause()
        assert "plain Python" not in screen_text(app)
        if plain[0]:
            await pilot.press("question_mark")
            await until(
                pilot, lambda: "plain Python for pieces=sentencepiece" in " ".join(screen_text(app).split())
            )


async def test_kernels_that_failed_are_told_and_help_tells_of_a_recipe_without() -> None:
    app, session = explorer()
    async with app.run_test(size=(200, 40)) as pilot:
        await settled(pilot)
        for plain in (("", ""), (TRAINS, COUNTS)):
            session.show(engine=COMPILED, plain=plain)
            await settled(pilot)
            assert "plain Python" not in screen_text(app)
        await pilot.press("question_mark")
        await settled(pilot)
        assert "plain Python for pieces=sentencepiece" in " ".join(screen_text(app).split())
        await pilot.press("escape")
        session.show(engine=FAILED)
        await settled(pilot)
        assert "plain Python, kernels failed · gpt2" in screen_text(app).splitlines()[0]
        await pilot.resize_terminal(80, 24)
        await settled(pilot)
        assert " kernels failed · gpt2" in screen_text(app).splitlines()[0]
