"""Messages hide neither the slider nor the keys, and are one sentence."""

from __future__ import annotations

import pytest
from screens import explorer, snapshot
from textual.widgets._toast import Toast
from waiting import screen_text, settled, until

from tokentui.core.errors import in_words
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.waits import NotYet


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12)])
async def test_the_last_two_lines_stay_free(size: tuple[int, int]) -> None:
    app, _ = explorer()
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        app.say("a message that says what went wrong, where it did, and what could be done about it")
        await until(pilot, lambda: any(toast.region.height for toast in app.screen.query(Toast)))
        assert all(toast.region.bottom <= size[1] - 2 for toast in app.screen.query(Toast))


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("size", [(200, 60), (120, 40), (80, 24)])
async def test_no_figure_is_hidden(size: tuple[int, int]) -> None:
    app, _ = explorer()
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        for n in range(10):
            app.say(f"message {n} says what went wrong, where it did, and what could be done about it")
        await until(pilot, lambda: "message 9" in screen_text(pilot))
        seen = [one for one in app.main.panes.values() if one.display and one.id != "corpus"]
        assert 1 <= len(app.screen.query(Toast)) < 10
        for toast in app.screen.query(Toast):
            for widget in (*seen, app.main.why, app.main.scrubber, app.main.header_line):
                assert not toast.region.overlaps(widget.region)
            assert toast.region.bottom < app.main.corpus.region.bottom  # its position is in the border
        app.clear_notifications()
        app.say("one message")
        await until(pilot, lambda: [one.region.height for one in app.screen.query(Toast)] == [1])
        (toast,) = app.screen.query(Toast)
        assert toast.region.y > app.main.corpus.region.y + app.main.corpus.region.height // 2


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_over_a_dialog_a_message_is_shown_once(size: tuple[int, int]) -> None:
    app, _ = explorer()
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        app.say("seen once")
        await until(pilot, lambda: "seen once" in screen_text(pilot))
        await pilot.press("T")
        await until(pilot, lambda: app.screen is not app.main and "seen once" in screen_text(pilot))
        await until(pilot, lambda: screen_text(pilot).count("seen once") == 1)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main and screen_text(pilot).count("seen once") == 1)


@pytest.mark.parametrize("size", [(200, 60), (120, 40), (80, 24)])
@pytest.mark.first_run(cases=1)
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
