"""The list of steps and the reasons of any of them, against the training itself made anew."""

from __future__ import annotations

import asyncio
import re

import pytest
from dialogs import FakeEngine, shown, typed
from screens import screen_text, snapshot
from sessions import Watched
from stepping import RECIPE, RUN, opened, walked
from waiting import notes_of, settled, until

from tokentui import learn
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import is_safe
from tokentui.learn import MergeStep, Trainer
from tokentui.recipe import Recipe
from tokentui.session import commands as do
from tokentui.session.views import StepView
from tokentui.text.read import read
from tokentui.ui.dialogs.ask import GoToScreen
from tokentui.ui.dialogs.steps import StepsScreen, WhyScreen

TYPED = "the other crowd"


def typed_length(trainer: Trainer) -> int:
    """The typed text in tokens."""
    return len(trainer.tokenizer().encode(TYPED).rows)


@pytest.mark.slow
async def test_any_step_is_told_as_it_was_when_it_was_made() -> None:
    async with opened() as (app, pilot):
        await walked(app, pilot, 30)
        await app.engine.ask(do.SetInput(TYPED))
        found = await app.engine.ask(do.ExplainSteps((31, 12, 1, 30, 2)))
        trainer = learn.start(read(["sample:english"]), RECIPE)
        for view in found:
            learn.jump(trainer, view.number - 1)
            assert view.why == learn.why(trainer, RUN.stops)
            before = trainer.tokens_at(trainer.number), typed_length(trainer)
            learn.jump(trainer, view.number)
            after = trainer.tokens_at(trainer.number), typed_length(trainer)
            assert list(zip(before, after, strict=True)) == [view.tokens, view.yours]
            assert view.taken == trainer.taken(view.number)
            step = trainer.step_at(view.number)
            assert isinstance(step, MergeStep)
            assert [place.token for place in view.places] == [step.token.decode()] * 3
            text = str(read(["sample:english"]).parts[0])
            assert all(place.before + place.token + place.after in text for place in view.places)
        assert app.main.snapshot is not None
        assert app.main.snapshot.main.at.step == 30


async def test_the_list_is_searched_and_sorted_and_after_its_last_step_is_why_it_ends() -> None:
    session = Watched(RECIPE, RUN)
    await session.start()
    await session.send(do.Open(("sample:english",)))
    session.send(do.GoTo(40))
    assert (await session.settle()).main.at.step == 40
    trainer = learn.start(read(["sample:english"]), RECIPE)
    learn.jump(trainer, 40)
    steps = [one for one in learn.steps(trainer) if isinstance(one, MergeStep)]
    for order, key in (
        ("step", lambda one: one.number), ("count", lambda one: -one.count),
        ("length", lambda one: -len(one.token)), ("tie", lambda one: -one.tied),
    ):
        page = await session.send(do.ListSteps(order))
        wanted = sorted(steps, key=key)
        assert [row.number for row in page.rows] == [one.number for one in wanted]
        assert [(row.token, row.worth, row.tied) for row in page.rows] == [
            (one.token, one.count, one.tied) for one in wanted
        ]
    for text in ("h", "t+h", "no such"):
        page = await session.send(do.ListSteps(find=text, top=1, rows=3))
        held = [one.number for one in steps
                if text.encode() in one.token or text.encode() in one.left + b"+" + one.right]
        assert page.total == len(held)
        assert [row.number for row in page.rows] == held[page.top : page.top + 3]
    (view,) = await session.send(do.ExplainSteps((41,)))
    assert isinstance(view, StepView)
    assert (view.why.end, view.taken, view.tokens[0]) == ("merges", None, view.tokens[1])
    await session.close()


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_list_and_the_reasons_of_a_step(size: tuple[int, int]) -> None:
    async with opened(size=size) as (app, pilot):
        await walked(app, pilot, 36)
        await pilot.press("m")
        await settled(pilot)
        assert [type(screen) for screen in app.screen_stack[-1:]] == [StepsScreen]
        seen = screen_text(app)
        assert "−" in seen
        assert re.search(r"36 w\+h +wh +20 ", seen)
        await pilot.press("S", "down", "Y")
        await settled(pilot)
        assert [type(screen) for screen in app.screen_stack[-1:]] == [WhyScreen]
        seen = screen_text(app)
        for text in ("th+e → the", "140", "e+r 103 (−37)", "6,227 → 6,087"):
            assert text in seen


async def test_a_small_screen_names_the_step_that_one_went_to() -> None:
    """The line under the panes and the first line of Why name it. In Go to, ▸ marks what enter takes."""
    async with opened(size=(80, 24)) as (app, pilot):
        await settled(pilot)
        await pilot.press("g")
        await typed(pilot, "50%")
        goto = app.screen
        assert isinstance(goto, GoToScreen)

        def marked() -> bool:
            rows = [row for row in screen_text(app).splitlines() if "▸" in row]
            return any("".join(text for text, _ in way.cells[0])[:20] in row for way in goto.listing.rows
                for row in rows)

        assert len(goto.listing.rows) > 1
        assert not marked()
        await pilot.press("down")
        await until(pilot, marked)
        await pilot.press("up")
        await until(pilot, lambda: not marked())
        goto.field.value = "36"
        await pilot.press("enter")
        await until(pilot, lambda: app.main.snapshot is not None and app.main.snapshot.main.at.step == 36)
        await until(pilot, lambda: re.search(r"made w\+h → wh \(20\) · next  \S+ → \S+", screen_text(app)))
        await pilot.press("Y")
        await settled(pilot)
        assert isinstance(app.screen, WhyScreen)
        seen = screen_text(app)
        assert "Why · step 36 made, then step 37 next" in seen
        assert re.search(r"step 36 made .*step 37 the next step", seen, re.DOTALL)


async def test_the_work_is_said_where_the_reasons_will_stand() -> None:
    """And what goes wrong takes its place in the line at the foot."""
    gate = asyncio.Event()

    async def fail(command: do.ExplainSteps) -> None:
        await gate.wait()
        raise TokentuiError("the step is gone")

    dialog = WhyScreen(FakeEngine(snapshot(), {do.ExplainSteps: fail}), (3,))
    async with shown(dialog, (80, 24)) as (app, pilot):
        await until(pilot, lambda: "going to the step …" in screen_text(app))
        lines = screen_text(app).splitlines()
        title = next(n for n, line in enumerate(lines) if "Why · step 3" in line)
        assert "going to the step …" in lines[title + 1]
        assert screen_text(app).count("going to the step") == 1
        gate.set()
        await until(pilot, lambda: "the step is gone" in screen_text(app))
        assert "going to the step" not in screen_text(app)


@pytest.mark.slow
async def test_keys_of_the_list() -> None:
    async with opened() as (app, pilot):
        await walked(app, pilot, 36)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, StepsScreen) and app.screen.page.rows)
        screen = app.screen
        assert isinstance(screen, StepsScreen)
        await pilot.press("slash", "t", "plus", "h")
        await until(pilot, lambda: screen.page.rows and all(b"+" in b"+".join(row.parts) and
                    b"t+h" in b"+".join(row.parts) for row in screen.page.rows))
        number = screen.page.rows[0].number
        await pilot.press("enter", "enter")
        await until(pilot, lambda: app.screen is app.main and app.main.snapshot is not None
                    and app.main.snapshot.main.at.step == number)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, StepsScreen) and app.screen.page.rows)
        await pilot.press("x")
        await until(pilot, lambda: "leave this merge out" in screen_text(app))


@pytest.mark.slow
@pytest.mark.parametrize("recipe", [
    Recipe(objective="unigram", split="metaspace", unit="char", base="frequency", encode="viterbi",
           unknown="fused", normalize=("nmt-nfkc",)),
    Recipe(objective="score", split="bert", unit="char", base="sorted", mark="prefix:##",
           encode="longest-match", unknown="whole-word"),
])
async def test_each_objective_has_its_reasons(recipe: Recipe) -> None:
    async with opened(recipe) as (app, pilot):
        await walked(app, pilot, 3)
        await pilot.press("Y")
        await settled(pilot)
        assert re.search(r"step 4 +the next step", screen_text(app))
        assert re.search(r"step 3 +made", screen_text(app))


@pytest.mark.slow
async def test_what_a_training_knows_no_what_ifs_of_is_said_in_a_line() -> None:
    recipe = Recipe(objective="unigram", split="metaspace", unit="char", base="frequency", encode="viterbi",
                    unknown="fused", normalize=("nmt-nfkc",))
    async with opened(recipe, "sample:hugs") as (app, pilot):
        await walked(app, pilot, 2)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, StepsScreen) and app.screen.page.rows)
        await pilot.press("x")
        await until(pilot, lambda: any("what-ifs are of merges" in one for one in notes_of(app)))
        assert isinstance(app.screen, StepsScreen)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["\u202ea\u202eb a\u0301\x07 ", "\x1b]0;x\x07[bold]", "\ud800\ud800 \ud800"])
async def test_hostile_steps_are_drawn_safely(text: str) -> None:
    async with opened(Recipe(split="none"), "sample:hugs") as (app, pilot):
        await app.engine.ask(do.TrainOnText(text * 9))
        await until(pilot, lambda: app.main.snapshot is not None and app.main.snapshot.main.candidates.rows)
        await walked(app, pilot, 3)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, StepsScreen) and app.screen.page.rows)
        assert is_safe(screen_text(app).replace("\n", ""))
        await pilot.press("Y")
        await until(pilot, lambda: isinstance(app.screen, WhyScreen) and app.screen.answer)
        assert is_safe(screen_text(app).replace("\n", ""))


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
@pytest.mark.parametrize("number", [1, 2_000, 1_234_567])
async def test_the_number_of_a_step_is_shown_whole(number: int, size: tuple[int, int]) -> None:
    view = StepView(number, snapshot().main.why, None, (5, 4), (), (0, 0))
    face = FakeEngine(snapshot(), {do.ExplainSteps: (view,)})
    async with shown(WhyScreen(face, (number,)), size) as (app, pilot):
        await until(pilot, lambda: "runner-up" in screen_text(app))
        rows = screen_text(app).splitlines()[2:]
        assert any(f"step {number:,} " in row for row in rows)
