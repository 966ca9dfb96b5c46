"""Messages hide neither the slider nor the keys."""

from __future__ import annotations

import pytest
from screens import explorer
from textual.widgets._toast import Toast
from waiting import until


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12)])
async def test_the_last_two_lines_stay_free(size: tuple[int, int]) -> None:
    app, _ = explorer()
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: app.main.snapshot is not None)
        app.say("a message that says what went wrong, where it did, and what could be done about it")
        await until(pilot, lambda: any(toast.region.height for toast in app.screen.query(Toast)))
        assert all(toast.region.bottom <= size[1] - 2 for toast in app.screen.query(Toast))
