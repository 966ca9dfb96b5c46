"""The header says when plain Python trains or counts because there is no kernel, and for what where there is
room; help always says it."""

from __future__ import annotations

import pytest
from screens import explorer, screen_text
from waiting import settled, until

from tokentui.core.native import COMPILED, FAILED

TRAINS, COUNTS = "pieces=sentencepiece", "split=words"


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_recipe_without_kernels(size: tuple[int, int]) -> None:
    app, session = explorer()
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        session.show(engine=COMPILED)
        await until(
            pilot, lambda: app.main.snapshot is not None and app.main.snapshot.engine.startswith("compiled")
        )
        await pilot.pause()
        assert "plain Python" not in screen_text(app)
        session.show(engine=COMPILED, plain=(TRAINS, ""))
        await until(pilot, lambda: "plain Python · gpt2" in screen_text(app).splitlines()[0])
        await pilot.press("question_mark")
        await until(
            pilot, lambda: "plain Python for pieces=sentencepiece" in " ".join(screen_text(app).split())
        )


REASONS = [
    ((TRAINS, ""), "plain Python · gpt2", "plain Python for pieces=sentencepiece · gpt2"),
    (("", COUNTS), "plain Python counts · gpt2", "plain Python counts by split=words · gpt2"),
    (
        (TRAINS, COUNTS), "plain Python · gpt2",
        "plain Python for pieces=sentencepiece, counts by split=words · gpt2",
    ),
]


async def test_the_reason_stands_where_there_is_room() -> None:
    app, session = explorer()
    async with app.run_test(size=(200, 40)) as pilot:
        await settled(pilot)
        for plain, short, reason in REASONS:
            await pilot.resize_terminal(200, 40)
            session.show(engine=COMPILED, plain=plain)
            await until(pilot, lambda reason=reason: reason in screen_text(app).splitlines()[0])  # type: ignore[misc]
            await pilot.resize_terminal(80, 24)
            await until(pilot, lambda short=short: short in screen_text(app).splitlines()[0])  # type: ignore[misc]


async def test_kernels_that_failed_are_told() -> None:
    app, session = explorer()
    async with app.run_test(size=(200, 40)) as pilot:
        await settled(pilot)
        session.show(engine=FAILED)
        await until(pilot, lambda: "plain Python, kernels failed · gpt2" in screen_text(app).splitlines()[0])
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: " kernels failed · gpt2" in screen_text(app).splitlines()[0])
