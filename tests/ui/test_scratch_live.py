"""A recipe that is trained while it is chosen: the main screen follows, esc puts back what was, t keeps."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from dialogs import FakeEngine, shown
from screens import explorer, screen_text
from textual.pilot import Pilot
from waiting import notes_of, settled, until

from tokentui.core.errors import TokentuiError
from tokentui.recipe import Recipe, Run
from tokentui.session import commands as do
from tokentui.session.commands import GoTo, KeepPlace, Play, SetRecipe
from tokentui.session.engine.driver import Session
from tokentui.session.errors import Replaced
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs import draft
from tokentui.ui.dialogs.draft import RecipeChoice
from tokentui.ui.dialogs.recipe import RecipeScreen
from tokentui.ui.draw.table import Listing

USED = Recipe()
RUN = Run()


def turned(by: int) -> Recipe:
    """The recipe with so many turns of its tie rule."""
    recipe = USED
    for _ in range(by):
        choice = RecipeChoice(recipe).turned("tie", 1)
        assert choice is not None
        recipe = choice.recipe
    return recipe


async def at_axis(
    app: Any, session: Any, pilot: Pilot[Any], axis: str = "tie", **changes: Any
) -> RecipeScreen:
    """Open the dialog over a small corpus, with an axis under the cursor."""
    await settled(pilot)
    if session is not None:
        session.show(**{"corpus_bytes": 1_000_000, **changes})
        version = session.version
        await until(pilot, lambda: app.main.snapshot.version == version)
    await pilot.press("a")
    await until(pilot, lambda: isinstance(app.screen, RecipeScreen) and app.screen.focused is not None)
    await pilot.press("tab")
    await to_row(app.screen, pilot, axis)
    return app.screen  # type: ignore[no-any-return]


async def to_row(dialog: RecipeScreen, pilot: Pilot[Any], key: str) -> None:
    """Put the cursor on a row of the axes."""
    axes = dialog.query_one("#axes", Listing)
    index = axes.index_of(key)
    assert index is not None
    axes.move_to(index)
    await until(pilot, lambda: axes.cursor_key == key and axes.has_focus)


@pytest.mark.slow
async def test_each_change_is_trained_esc_puts_back_what_was_and_t_keeps_it() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        # Nothing is changed: nothing is sent.
        await at_axis(app, session, pilot)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert [one for one in session.sent if isinstance(one, SetRecipe | GoTo | KeepPlace)] == []
        # esc puts back the recipe, the step and the place.
        dialog = await at_axis(app, session, pilot)
        await pilot.press("right")
        await to_row(dialog, pilot, draft.PLACE)
        await pilot.press("right")
        await until(pilot, lambda: session.of(KeepPlace) == [KeepPlace("size")])
        await pilot.press("escape")
        await until(pilot, lambda: session.of(GoTo) == [GoTo(128)] and app.screen is app.main)
        assert session.of(KeepPlace)[1:] == [KeepPlace("step")]
        assert session.of(SetRecipe) == [SetRecipe(turned(1), RUN), SetRecipe(USED, RUN)]
        # A run goes on.
        session.sent.clear()
        await at_axis(app, session, pilot, running=True)
        await pilot.press("right", "escape")
        await until(pilot, lambda: session.of(Play) == [Play(True)] and app.screen is app.main)
        assert session.of(GoTo) == []
        # t keeps the last change.
        session.sent.clear()
        await at_axis(app, session, pilot, running=False)
        await pilot.press("right")
        await until(pilot, lambda: session.of(SetRecipe) == [SetRecipe(turned(1), RUN)])
        await pilot.press("right")
        await until(pilot, lambda: session.of(SetRecipe)[1:] == [SetRecipe(turned(2), RUN)])
        await pilot.press("t")
        await until(pilot, lambda: app.screen is app.main)
        assert len(session.of(SetRecipe)) == 2
        assert session.of(GoTo) == []


@pytest.mark.slow
async def test_the_switch_turns_it_off_and_on() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await at_axis(app, session, pilot)
        await pilot.press("right", "l")
        await until(pilot, lambda: session.of(SetRecipe) == [SetRecipe(turned(1), RUN), SetRecipe(USED, RUN)])
        assert dialog.choice.recipe == turned(1)
        assert not dialog.has_class("-live")
        await pilot.press("right")
        await to_row(dialog, pilot, draft.LIVE)
        await until(pilot, lambda: "live · off" in " · ".join(screen_text(app).split()))
        assert len(session.of(SetRecipe)) == 2
        await pilot.press("enter")
        await until(pilot, lambda: session.of(SetRecipe)[2:] == [SetRecipe(turned(2), RUN)])


@pytest.mark.slow
async def test_a_large_corpus_does_not_follow_unless_it_is_told_to() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await at_axis(app, session, pilot, corpus_bytes=1_000_001)
        await pilot.press("right")
        await until(pilot, lambda: dialog.choice.recipe == turned(1))
        assert session.of(SetRecipe) == []
        await pilot.press("t")
        await until(pilot, lambda: session.of(SetRecipe) == [SetRecipe(turned(1), RUN)])


@pytest.mark.slow
async def test_a_later_recipe_takes_the_place_of_an_earlier_one() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await at_axis(app, session, pilot)
        assert app.engine.session is not None
        send = app.engine.session.send
        waiting: list[asyncio.Future[Any]] = []

        def slow(command: Any) -> asyncio.Future[Any]:
            future = send(command)
            if isinstance(command, SetRecipe):
                for earlier in waiting:
                    if not earlier.done():
                        earlier.set_exception(Replaced())
                future = asyncio.get_running_loop().create_future()
                waiting.append(future)
            return future

        app.engine.session.send = slow  # type: ignore[method-assign]
        await pilot.press("right", "right", "right")
        await until(
            pilot, lambda: [use.recipe for use in session.of(SetRecipe)] == [turned(1), turned(2), turned(3)]
        )
        waiting[-1].set_result(None)
        await pilot.pause()
        assert notes_of(app) == []


async def test_what_cannot_be_trained_is_said_and_t_tries_again() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await at_axis(app, session, pilot)
        session.answers[SetRecipe] = TokentuiError("this pattern takes too long", "split")
        await pilot.press("right")
        await until(pilot, lambda: any("takes too long" in note for note in notes_of(app)))
        session.answers[SetRecipe] = None
        await pilot.press("t")
        await until(pilot, lambda: session.of(SetRecipe) == [SetRecipe(turned(1), RUN)] * 2)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "rows"), [((120, 40), 14), ((80, 24), 7)])
async def test_the_main_screen_is_seen_above_and_the_first_steps_stay(
    size: tuple[int, int], rows: int
) -> None:
    app, session = explorer()
    async with app.run_test(size=size) as pilot:
        dialog = await at_axis(app, session, pilot)
        await until(pilot, lambda: dialog.box.region.y == rows)
        assert "1 Corpus" in screen_text(app).splitlines()[1]
        if size == (80, 24):
            assert "First steps" not in screen_text(app)
            await pilot.press("p")
        await until(pilot, lambda: "First steps" in screen_text(app))
        session.show(step=77, corpus_bytes=5, corpus_name="followed")
        await until(pilot, lambda: "followed" in screen_text(app).splitlines()[0])


async def test_without_a_screen_to_follow_there_is_no_switch() -> None:
    dialog = RecipeScreen(FakeEngine(), RecipeChoice(USED), "gpt2")
    async with shown(dialog, (120, 40)) as (app, pilot):
        await pilot.press("l")
        await settled(pilot)
        assert "live" not in screen_text(app)
        assert not dialog.has_class("-live")


async def test_the_real_screen_follows_and_comes_back() -> None:
    held: list[Session] = []

    def factory(publish: Any) -> Session:
        held.append(Session(publish, USED, RUN))
        return held[0]

    app = ExplorerApp(factory, begin=lambda session: session.send(do.Open(("sample:woodchuck",))))

    def now() -> Any:
        return app.main.snapshot

    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await until(pilot, lambda: now() and now().main.at.distinct and held[0].idle.is_set())
        await pilot.press(*"nnnnn")
        await until(pilot, lambda: now().main.at.step == 5 and held[0].idle.is_set())
        before = now()
        await at_axis(app, None, pilot, "split")
        await pilot.press("right")
        await until(
            pilot,
            lambda: (
                now().main.recipe.split != USED.split and now().main.at.step == 5 and held[0].idle.is_set()
            ),
        )
        await pilot.press("escape")
        await until(
            pilot, lambda: now().main.recipe == USED and now().main.at.step == 5 and held[0].idle.is_set()
        )
        after, was = now().main, before.main
        assert (after.candidates, after.at.tokens, after.vocabulary) == (
            was.candidates, was.at.tokens, was.vocabulary,
        )


async def test_a_choice_is_told_once() -> None:
    told: list[RecipeChoice] = []
    used, other = RecipeChoice(USED, RUN), RecipeChoice(turned(1), RUN)
    dialog = RecipeScreen(FakeEngine(), used, "gpt2", follow=told.append, live=True)
    async with shown(dialog, (120, 40)) as (_, pilot):
        await pilot.press("tab")
        await to_row(dialog, pilot, "tie")
        await pilot.press("right", "left")
        await until(pilot, lambda: told == [other, used])
        await pilot.press("l", "right")
        await until(pilot, lambda: dialog.choice == other)
        assert told == [other, used]
        await pilot.press("l")
        await until(pilot, lambda: told == [other, used, other])


@pytest.mark.slow
async def test_where_nothing_is_open_esc_puts_back_the_recipe_and_goes_nowhere() -> None:
    app = ExplorerApp(Session)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await at_axis(app, None, pilot)
        session = app.engine.session
        assert isinstance(session, Session)
        await pilot.press("l", "right")
        await until(pilot, lambda: session.state.main.training.recipe == turned(1))
        await pilot.press("escape")
        await until(pilot, lambda: session.state.main.training.recipe == USED and session.idle.is_set())
        await pilot.pause()
        await until(pilot, lambda: app.screen is app.main and session.idle.is_set())
        assert notes_of(app) == []
        await pilot.press("n")
        await until(pilot, lambda: notes_of(app) == ["nothing is open: o opens a text or a tokenizer"])
        assert [one.severity for one in app._notifications] == ["warning"]
