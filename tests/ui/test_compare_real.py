"""Compare on real trainings, from the main screen and as the command line opens it."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from screens import screen_text
from textual.pilot import Pilot
from waiting import notes_of, settled, until

from tokentui.core.jobs import check
from tokentui.preset_table import preset_named
from tokentui.recipe import Recipe, Run
from tokentui.session import commands as do
from tokentui.session.compare import jobs as findings
from tokentui.session.engine.driver import Session
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import ColumnWanted
from tokentui.text.read import read
from tokentui.tokenizer import train
from tokentui.ui.app import ExplorerApp
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.main_screen import MainScreen

HUGS = Run.of({"merges": 30})


def wanted(*names: str) -> tuple[ColumnWanted, ...]:
    """Columns of these presets."""
    return tuple(ColumnWanted(preset_named(name).recipe, HUGS, name=name) for name in names)


@asynccontextmanager
async def opened(
    then: Callable[[ExplorerApp], object] | None = None, source: str = "sample:hugs",
    size: tuple[int, int] = (120, 40), typed: str = "hugs",
) -> AsyncIterator[tuple[ExplorerApp, Pilot[None]]]:
    """An app on a real session with a corpus."""
    app = ExplorerApp(
        lambda publish: Session(publish, Recipe(), Run.of({"merges": 30})),
        begin=lambda session: session.send(do.Open((source,))), then=then, run=Run.of({"merges": 30}),
        typed=typed,
    )
    async with app.run_test(size=size, notifications=True) as pilot:
        yield app, pilot


async def compare_screen(
    app: ExplorerApp, pilot: Pilot[None]
) -> tuple[CompareScreen, Callable[[], Snapshot]]:
    """The Compare screen once all of its columns are there, and what gives its newest snapshot."""
    await until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.snapshot is not None)
    screen = app.screen
    assert isinstance(screen, CompareScreen)

    def now() -> Snapshot:
        assert screen.snapshot is not None
        return screen.snapshot

    await until(pilot, lambda: all(one.in_sync or one.error for one in now().columns))
    return screen, now


@pytest.mark.slow
async def test_from_the_main_screen_and_back() -> None:
    async with opened() as (app, pilot):
        await settled(pilot)
        await pilot.press("n", "n", "n")
        await settled(pilot)
        await pilot.press("c")
        await until(pilot, lambda: not isinstance(app.screen, MainScreen))
        await pilot.press("h", "f", "minus", "b", "p", "e", "enter")
        _, now = await compare_screen(app, pilot)
        await settled(pilot)
        # It goes on where the main screen stood, and each column is what a training by itself comes to.
        assert now().position.value == 3
        await pilot.press("n")
        await settled(pilot)
        assert now().position.value == 4
        for column, name in zip(now().columns, ("gpt2", "hf-bpe"), strict=True):
            alone = train(read(["sample:hugs"]), name, merges=4)
            assert column.at is not None
            assert (column.at.step, column.at.vocab_size) == (4, alone.vocab_size)
            assert column.at.last is not None
            assert column.at.last.token == list(alone.entries())[-1].piece
        await until(pilot, lambda: "diverge at step" in screen_text(app))
        await pilot.press("d", "d")
        await settled(pilot)
        assert now().position.value == (now().between.divergences[0].step or 0) - 1
        assert now().between.measured is not None
        step = now().main.at.step
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        await pilot.press("n")
        await until(
            pilot, lambda: app.main.snapshot is not None and app.main.snapshot.main.at.step == step + 1
        )


async def quit_by_q(app: ExplorerApp, pilot: Pilot[None], compares: bool) -> None:
    """Quit by the key that the legend names. In Compare, the legend also names the key that goes back."""
    legend = screen_text(app).splitlines()[-1]
    assert "?  q" in legend or "q quit" in legend
    assert ("esc leave" in legend) == compares
    await pilot.press("q")
    await until(pilot, lambda: not app.is_running)


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("compares", [False, True])
async def test_typing_replaces_the_text_an_arrow_keeps_it_and_q_quits(compares: bool) -> None:
    async with opened(typed="the offered sentence") as (app, pilot):
        await settled(pilot)
        await pilot.press("i", *"pug", "escape")
        await settled(pilot)
        if compares:
            app.compare(wanted("gpt2", "hf-bpe"))
            await compare_screen(app, pilot)
        await pilot.press("i", *"hugs")
        await settled(pilot)
        screen = app.screen
        assert isinstance(screen, CompareScreen if compares else MainScreen)
        assert screen.encode.line.value == "hugs"
        await pilot.press("escape", "i", "right", "x")
        await settled(pilot)
        assert screen.encode.line.value == "hugsx"
        await pilot.press("escape")
        await quit_by_q(app, pilot, compares)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 15)])
@pytest.mark.parametrize("compares", [False, True])
async def test_q_quits_from_both_screens_and_compare_shows_the_key_that_goes_back(
    compares: bool, size: tuple[int, int]
) -> None:
    async with opened(size=size) as (app, pilot):
        await settled(pilot)
        if compares:
            app.compare(wanted("gpt2", "hf-bpe"))
            await compare_screen(app, pilot)
        await settled(pilot)
        await quit_by_q(app, pilot, compares)


@pytest.mark.slow
@pytest.mark.parametrize("leaves", [True, False])
async def test_the_way_to_the_first_differing_step_is_given_up(
    leaves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(*_: object, **__: object) -> None:
        while not threading.Event().wait(0.001):
            check()

    monkeypatch.setattr(findings, "first_divergences", endless)
    async with opened(lambda app: app.compare(wanted("gpt2", "hf-bpe"))) as (app, pilot):
        await compare_screen(app, pilot)
        await pilot.press("d", "d")
        session = app.engine.session
        assert isinstance(session, Session)
        await until(pilot, lambda: session.state.results._divergence_jumps)
        if leaves:
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, MainScreen))
        else:
            app.engine.send(do.CancelWork())
        await until(pilot, lambda: not session.state.results._divergence_jumps)
        await session.send(do.SetInput("a"))
        await pilot.pause()
        assert notes_of(app) == ([] if leaves else ["stopped"])


@pytest.mark.slow
async def test_as_the_command_line_opens_it(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    train(read(["sample:hugs"]), "gpt2", merges=12).save(good)
    bad.write_text("{}")
    columns = (ColumnWanted(path=str(good)), *wanted("wordpiece"), ColumnWanted(path=str(bad)))
    async with opened(lambda app: app.compare(columns, "sample:sailor")) as (app, pilot):
        _, now = await compare_screen(app, pilot)
        # What cannot be read says so in its column, and the others work.
        assert [bool(one.error) for one in now().columns] == [False, False, True]
        assert "bad.json" in screen_text(app)
        await until(pilot, lambda: now().between.held_out)
        await pilot.press("G")
        await until(pilot, lambda: now().between.ended and now().goal is None)
        at = [one.at.step for one in now().columns if one.in_sync]
        assert at == [12, train(read(["sample:hugs"]), "wordpiece", merges=30).merges]
        await pilot.press("7")
        await until(pilot, lambda: now().between.curves is not None and "dashed" in screen_text(app))
        await pilot.press("3", "I")
        await until(pilot, lambda: now().position.by == "size")
        await until(pilot, lambda: now().between.tokens is not None)
        await pilot.press("1", "1", "1", "delete")
        await until(pilot, lambda: len(now().columns) == 2)
        await pilot.press("delete")
        await until(pilot, lambda: notes_of(app))
        assert len(now().columns) == 2


@pytest.mark.slow
async def test_leaving_the_app_closes_it() -> None:
    async with opened(lambda app: app.compare(wanted("gpt2", "bert"))) as (app, pilot):
        await compare_screen(app, pilot)
        await pilot.press("q")
    assert not app.is_running


@pytest.mark.slow
async def test_a_comparison_that_was_left_comes_back_at_its_step() -> None:
    async with opened() as (app, pilot):
        await settled(pilot)
        app.compare(wanted("gpt2", "minbpe"))
        _, now = await compare_screen(app, pilot)
        app.engine.send(do.GoTo(5))
        await settled(pilot)
        assert now().position.value == 5
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(app.screen, MainScreen)
        await pilot.press("c", "enter", "enter")
        _, now = await compare_screen(app, pilot)
        await settled(pilot)
        assert (len(now().columns), now().position.value) == (2, 5)


@pytest.mark.slow
async def test_a_size_to_run_to_is_not_that_of_the_next_recipe() -> None:
    """The size that is typed for a unigram model, which ends there, is its own."""
    async with opened(source="sample:english") as (app, pilot):
        await settled(pilot)
        for preset, size in (("t5", 2000), ("gpt2", None)):
            await pilot.press("a", *preset, "enter")
            await settled(pilot)
            await pilot.press("t")
            await settled(pilot)
            assert isinstance(app.screen, MainScreen)
            if size:
                await pilot.press("U", *str(size), "enter")
                await settled(pilot)
            assert app.engine.run.stops.vocab_size == size
            assert app.engine.run.stops.merges == 30


@pytest.mark.parametrize(("length", "note"), [
    (4_000, ""), (4_001, "first 4,000 of 4,001 characters"), (5_120, "first 4,000 of 5,120 characters"),
])
@pytest.mark.slow
async def test_a_long_typed_text_is_compared_by_its_beginning(length: int, note: str) -> None:
    text = ("hugs pugs " * length)[:length]
    compares = lambda app: app.compare(wanted("gpt2", "hf-bpe"))  # noqa: E731
    async with opened(compares, typed=text) as (app, pilot):
        await compare_screen(app, pilot)
        await settled(pilot)
        shown = screen_text(app)
        assert note in shown
        assert ("first 4,000" in shown) == bool(note)


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_agreement_is_shown_without_the_measures_and_differences_name_their_steps(
    size: tuple[int, int]
) -> None:
    async with opened(size=size) as (app, pilot):
        await settled(pilot)
        app.compare(wanted("gpt2", "hf-bpe"))
        await compare_screen(app, pilot)
        await pilot.press("n", "6")
        await settled(pilot)
        assert "boundaries of both" in screen_text(app)
        await pilot.press("7", "t")
        await until(pilot, lambda: "─ Target ─" in screen_text(app))
        await pilot.press("escape", "y")
        await until(pilot, lambda: "table of agreement as" in screen_text(app))
        await pilot.press("escape")
        app.engine.send(do.GoTo(5))
        await settled(pilot)
        await pilot.press("equals_sign")
        await settled(pilot)
        assert "From gpt2 at step 5 to hf-bpe at step 5" in screen_text(app)
