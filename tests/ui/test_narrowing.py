"""Narrowing a table to the rows that hold a text, and marking what is found, on a session that trains."""

from __future__ import annotations

import pytest
from screens import screen_text
from waiting import notes_of, settled, until

from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs import FindScreen


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_a_table_is_narrowed_and_stays_exact_while_stepping(size: tuple[int, int]) -> None:
    app = ExplorerApp(
        Session, typed="the other", begin=lambda one: one.send(do.Open(("sample:english",))),
        boundaries="shade",
    )
    async with app.run_test(size=size, notifications=False) as pilot:
        main = app.main
        await until(pilot, lambda: main.snapshot and main.snapshot.main.candidates.rows)
        await pilot.press("2", "ampersand")
        await until(pilot, lambda: isinstance(app.screen, FindScreen))
        await pilot.press(*"th", "enter")
        await until(pilot, lambda: main.snapshot and main.snapshot.main.candidates.whole is not None)
        await settled(pilot)
        assert "1 of 445" in screen_text(app)
        assert main.snapshot is not None
        assert [row.token for row in main.snapshot.main.candidates.rows] == [b"th"]
        for step in (1, 2):
            await pilot.press("n")
            await until(pilot, lambda step=step: main.snapshot and main.snapshot.main.at.step == step)  # type: ignore[misc]
            page = main.snapshot.main.candidates if main.snapshot else None
            assert page is not None
            assert all(b"th" in row.token for row in page.rows)
            assert f"{page.total:,} of {page.whole:,}" in screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: main.snapshot and main.snapshot.main.candidates.whole is None)
        await pilot.press("1", "slash")
        await until(pilot, lambda: isinstance(app.screen, FindScreen))
        await pilot.press(*"the", "enter")
        await until(pilot, lambda: main.text.match)
        await until(pilot, lambda: "1 of " in screen_text(app))
        held = main.text.layout_held
        assert held is not None
        shown = held.matches("the", main.text.top, main.text.top + main.text.size.height)
        marked = [
            text for y in range(main.text.size.height)
            for text, style in main.text._painted[y] if "match" in style
        ]
        assert len("".join(marked).replace("·", "")) == 3 * len(shown)
        assert len(shown) > 1


@pytest.mark.slow
async def test_ids_are_found_and_a_filter_that_leaves_nothing_says_so() -> None:
    app = ExplorerApp(Session, begin=lambda session: session.send(do.Open(("sample:english",))))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        app.engine.send(do.GoTo(300))
        await settled(pilot)

        def ids() -> list[int | None]:
            now = app.main.snapshot
            return [row.id for row in now.main.vocabulary.rows] if now is not None else []

        await pilot.press("3", "ampersand", *"#484", "enter")
        await until(pilot, lambda: ids() == [484])
        await pilot.press("escape", "ampersand", *"nowhere at all", "enter")
        await until(pilot, lambda: "no row: esc shows all" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: len(ids()) > 9)
        await pilot.press("slash", *"#301", "enter")
        table = app.main.vocabulary
        await until(pilot, lambda: getattr(table.held_at(table.cursor), "id", 0) == 301)
        await pilot.press("g", *"#301", "enter")
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.main.at.step == 46)
        assert app.main.snapshot is not None
        assert app.main.snapshot.main.at.last_id == 301
        await pilot.press("g", *"#99999", "enter")
        missing = "no step so far makes a token #99999"
        await until(pilot, lambda: any(missing in note for note in notes_of(app)))
