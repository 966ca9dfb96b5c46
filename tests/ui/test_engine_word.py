"""The header says when plain Python trains because there is no kernel; help says for what."""

from __future__ import annotations

import pytest
from screens import explorer, screen_text
from waiting import until

RUNS = "plain Python for pieces=sentencepiece, else compiled (Numba 0.68.1)"


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_recipe_without_kernels(size: tuple[int, int]) -> None:
    app, session = explorer()
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.main.snapshot)
        session.show(engine="compiled (Numba 0.68.1)")
        await until(
            pilot, lambda: app.main.snapshot is not None and app.main.snapshot.engine.startswith("compiled")
        )
        await pilot.pause()
        assert "plain Python" not in screen_text(app)
        session.show(engine=RUNS)
        await until(pilot, lambda: "plain Python · gpt2" in screen_text(app).splitlines()[0])
        await pilot.press("question_mark")
        await until(
            pilot, lambda: "plain Python for pieces=sentencepiece" in " ".join(screen_text(app).split())
        )
