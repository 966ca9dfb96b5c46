"""Messages hide neither the slider nor the keys, and are one sentence."""

from __future__ import annotations

import pytest
from screens import explorer, snapshot
from textual.widgets._toast import Toast
from waiting import notes_of, screen_text, settled, until

from tokentui.core.errors import in_words
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.dialogs.messages import MessagesScreen
from tokentui.ui.waits import NotYet


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("size", [(120, 40), (200, 60), (80, 24), (60, 16)])
async def test_no_row_is_hidden(size: tuple[int, int]) -> None:
    """One message at a time covers the header and the border below it; a list has longer ones in full.

    Over a dialog a message is shown once.
    """
    app, _ = explorer()
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        texts = "is short", "says what went wrong, where, and what to do about it", "x " * 200
        for n, words in enumerate(texts):
            for again in range(3):
                app.say(f"message {n} {again} {words}")
            await until(pilot, lambda: [f"message {n} 2" in note for note in notes_of(app)] == [True])  # noqa: B023
            await until(pilot, lambda: f"message {n} 2" in screen_text(pilot))  # noqa: B023
            assert all(toast.region.bottom <= 2 for toast in app.screen.query(Toast))
        assert "… : messages" in screen_text(pilot)
        app.main.action_messages()
        await until(pilot, lambda: isinstance(app.screen, MessagesScreen) and app.screen.listing.rows)
        assert "message 2 2" in screen_text(pilot)
        assert len(app.messages) == 9
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        app.say("seen once")
        await until(pilot, lambda: "seen once" in screen_text(pilot))
        await pilot.press("T")
        await until(pilot, lambda: app.screen is not app.main and screen_text(pilot).count("seen once") == 1)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main and screen_text(pilot).count("seen once") == 1)


@pytest.mark.parametrize("size", [(200, 60), (120, 40), (80, 24)])
@pytest.mark.slow
async def test_compare_has_its_messages_in_its_first_line(size: tuple[int, int]) -> None:
    app, session = explorer()
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        session.show(parked=1)
        await until(pilot, lambda: app.main.snapshot is not None and app.main.snapshot.parked)
        await pilot.press("c", "enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen))
        await until(pilot, lambda: "as it was left" in screen_text(pilot))
        app.say("a message that takes its place")
        await until(pilot, lambda: "a message" in screen_text(pilot).splitlines()[0])
        await until(pilot, lambda: [one.region.bottom for one in app.screen.query(Toast)] == [1])


def test_what_is_too_early_is_told_in_one_sentence() -> None:
    assert [in_words(NotYet(now)) for now in (None, snapshot())] == [
        "not yet: the engine is starting: press the key again when it is done",
        "not yet: a source is still opening: press the key again when it is done",
    ]
