"""What every terminal program has: to copy, to be told when to stop."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from gates import COUNTING, Gates
from screens import screen_text
from textual.pilot import Pilot
from waiting import settled, until

from tokentui.axes import preset
from tokentui.core.safetext import is_safe
from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.views import ColumnWanted
from tokentui.tours.shipped import TOURS
from tokentui.ui import history
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs.ask import UntilScreen
from tokentui.ui.dialogs.copying import CopyScreen, token_of
from tokentui.ui.dialogs.facts import FactsScreen
from tokentui.ui.draw.text import Copied
from tokentui.ui.tour_screen import TourScreen

SIZES = [(120, 40), (80, 24)]
RUN, SHORT = Run(), Run.of({"merges": 100})


@asynccontextmanager
async def training(
    size: tuple[int, int] = (120, 40), run: Run = RUN
) -> AsyncIterator[tuple[ExplorerApp, Pilot[None]]]:
    """The explorer on a sample, at its start."""
    app = ExplorerApp(
        lambda publish: Session(publish, run=run), typed="the other", run=run,
        begin=lambda one: one.send(do.Open(("sample:english",))), boundaries="shade",
    )
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.main.candidates.rows)
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.busy is None)
        yield app, pilot


def step(app: ExplorerApp) -> int:
    return app.main.snapshot.main.at.step if app.main.snapshot is not None else -1


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_a_token_is_copied(size: tuple[int, int]) -> None:
    async with training(size) as (app, pilot):
        await pilot.press("n")
        await until(pilot, lambda: step(app) == 1)
        await pilot.press("3", "y")
        await until(pilot, lambda: isinstance(app.screen, CopyScreen))
        await settled(pilot)
        command = "tokentui train sample:english -r gpt2 --merges 1"
        for text in ("256\\t·t\\t242\\t1", "[83, 71, 68, 220", command):
            assert text in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        assert app.clipboard == " t"
        await until(pilot, lambda: "copied the token" in screen_text(app))
        for presses, wanted in ((1, "256"), (2, "256\t"), (6, "[")):
            await pilot.press("y", *["y"] * presses)
            await until(pilot, lambda: isinstance(app.screen, CopyScreen))
            await pilot.press("enter")
            await until(pilot, lambda wanted=wanted: app.clipboard.startswith(wanted))  # type: ignore[misc]
            await until(pilot, lambda: app.screen is app.main)
        now = app.main.snapshot
        assert now is not None
        assert app.clipboard == str([token.id for token in now.main.encoding.tokens])


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("size", SIZES)
async def test_the_ids_are_copied_while_one_types_and_hostile_text_as_it_is(size: tuple[int, int]) -> None:
    async with training(size) as (app, pilot):
        await pilot.press("i", "end", "y")
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.main.encoding.text == "the othery")
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, CopyScreen))
        assert "ids of the typed text" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        now = app.main.snapshot
        assert now is not None
        assert app.clipboard == str([token.id for token in now.main.encoding.tokens])
        await pilot.press("z")
        await until(pilot, lambda: app.main.encode.line.value == "the otheryz")
        evil = "\x1b[2J\u202e\U0001f469\u200d\U0001f680[/]"
        copied = [token_of("token", evil.encode()), token_of("row", b"\xff\x1b")]
        app.push_screen(CopyScreen(app.engine, copied))
        await until(pilot, lambda: isinstance(app.screen, CopyScreen))
        await pilot.pause()
        assert all(is_safe(line) for line in screen_text(app).split("\n"))
        await pilot.press("enter")
        await until(pilot, lambda: app.clipboard == evil)
        assert app.screen is app.main
        assert "copied the token" in screen_text(app)
        assert all(is_safe(line) for line in screen_text(app).split("\n"))


def test_bytes_that_are_not_utf8_are_a_literal() -> None:
    one = token_of("token", b"\xe2\x82")
    assert (one.text, one.escaped) == ("b'\\xe2\\x82'", True)
    assert token_of("token", "€".encode()) == Copied("token", "€", marked=True)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_a_run_is_told_to_stop(size: tuple[int, int]) -> None:
    async with training(size) as (app, pilot):

        async def ask(*keys: str) -> None:
            await pilot.press("U")
            await until(pilot, lambda: isinstance(app.screen, UntilScreen))
            await pilot.press(*keys)

        await ask(*"size", "space", *"300")
        await until(pilot, lambda: "the first step with 300 ids" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: step(app) == 300 - 256)
        await ask("2", "full_stop", "5", "enter")
        now: Any = lambda: app.main.snapshot  # noqa: E731
        await until(pilot, lambda: now().main.at.bytes_per_token >= 2.5)
        before = now().main.at.step - 1
        await pilot.press("b")
        await until(pilot, lambda: now().main.at.step == before)
        assert now().main.at.bytes_per_token < 2.5
        await ask(*"zebrafish", "enter")
        await until(pilot, lambda: "the run ends before the token" in screen_text(app))
        await until(pilot, lambda: now().main.why.end is not None)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_facts_have_what_is_wrong_on_top_and_the_rest_folded(size: tuple[int, int]) -> None:
    async with training(size) as (app, pilot):
        await pilot.press("F", "F")
        await until(pilot, lambda: isinstance(app.screen, FactsScreen) and app.screen.answer)
        dialog = app.screen
        assert isinstance(dialog, FactsScreen)
        assert dialog.answer is not None
        titles: dict[str, list[str]] = {}
        for check in dialog.answer.checks:
            titles.setdefault(check.status, []).append(check.title)

        def seen() -> list[str]:
            """The checks that are listed, from top to bottom."""
            lines = ["".join(text for text, _ in row.cells[-1]) for row in dialog.listing.rows]
            found = [re.match(r"(FAIL|WARN|INFO|PASS|n/a) +(.+?)(  |$)", line) for line in lines]
            return [one[2] for one in found if one is not None]

        wrong = [title for status in ("FAIL", "WARN", "INFO") for title in titles.get(status, ())]
        passed, absent = titles["PASS"], titles["n/a"]
        assert seen() == wrong
        assert f"{len(passed)} checks passed" in screen_text(app)
        assert f"{len(absent)} checks do not apply" in screen_text(app)
        for name, expected in (("passed", [*wrong, *passed]), ("n/a", [*wrong, *absent])):
            assert dialog.shown is not None
            place = next(n for n, one in enumerate(dialog.shown.sections) if one.name == name)
            dialog.listing.move_to(dialog.listing.index_of(("rows", place)) or 0)
            await pilot.press("enter")
            await until(pilot, lambda expected=expected: seen() == expected)  # type: ignore[misc]
            await pilot.press("enter")
            await until(pilot, lambda: seen() == wrong)


async def test_the_footer_and_the_slider_take_clicks_and_drags_and_heads_sort() -> None:
    async with training(run=SHORT) as (app, pilot):
        main = app.main
        line = screen_text(app).splitlines()[-1]
        await pilot.click(main.footer_line, offset=(line.index("next"), 0))
        await until(pilot, lambda: step(app) == 1)
        await pilot.click(main.footer_line, offset=(line.index("b back"), 0))
        await until(pilot, lambda: step(app) == 0)
        await pilot.press("G")
        await until(pilot, lambda: main.snapshot and main.snapshot.main.why.end is not None)
        last = step(app)
        line = screen_text(app).splitlines()[-2]
        await pilot.click(main.scrubber, offset=(line.index("█"), 0))
        await until(pilot, lambda: step(app) == 0)
        line = screen_text(app).splitlines()[-2]
        left = line.index("┃")
        right = left + len(line[left:].split("  ")[0]) - 1
        await pilot.mouse_down(main.scrubber, offset=(left, 0))
        for x in ((left + right) // 2, right):
            wanted = main.scrubber.step_at(x)
            assert wanted == round((x - left) / (right - left) * last)
            await pilot.hover(main.scrubber, offset=(x, 0))
            await until(pilot, lambda wanted=wanted: step(app) == wanted)  # type: ignore[misc]
        await pilot.mouse_up(main.scrubber, offset=(right, 0))
        await pilot.hover(main.scrubber, offset=(left, 0))
        await pilot.pause()
        assert step(app) == last, "the drag is over"
        head = screen_text(app).splitlines()[2]
        start = main.vocabulary.region.x
        for title, order in (("uses", "most used"), ("token", "longest"), (" id", "id"), ("step", "newest")):
            x = head.index(title, start) - start + len(title) - 1
            await pilot.click(main.vocabulary, offset=(x, 1))
            await until(pilot, lambda order=order: main.viewport.vocabulary_order == order)  # type: ignore[misc]


@pytest.mark.slow
async def test_a_tour_leaves_the_places_of_the_user_alone() -> None:
    async with training() as (app, pilot):
        await pilot.press("g", "9", "enter")
        await until(pilot, lambda: step(app) == 9)
        app.action_play_tour(TOURS[3].name)
        await until(pilot, lambda: isinstance(app.screen, TourScreen) and app.screen.arrived)
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "a tour keeps no earlier place" in screen_text(app))
        assert step(app) == 9
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await pilot.press("ctrl+o")
        await until(pilot, lambda: step(app) == 0)


async def test_one_goes_back_from_where_two_columns_part() -> None:
    async with training() as (app, pilot):
        await pilot.press("g", "9", "enter")
        await until(pilot, lambda: step(app) == 9)
        app.compare((ColumnWanted(preset("gpt2")), ColumnWanted(preset("bert"))))
        now: Any = lambda: app.engine.snapshot  # noqa: E731
        await until(pilot, lambda: len(now().columns) == 2 and any(
            one.step is not None for one in now().between.divergences))
        await until(pilot, lambda: now().position.value == 9)
        await pilot.press("d", "d")
        await until(pilot, lambda: now().position.value != 9)
        await pilot.press("ctrl+o")
        await until(pilot, lambda: now().position.value == 9)


@pytest.mark.slow
async def test_one_goes_back_to_where_one_was() -> None:
    async with training() as (app, pilot):
        now: Any = lambda: app.main.snapshot  # noqa: E731
        app.recorder.corpus = "sample:english", None  # as the command line names it
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "no place to go back to" in screen_text(app))
        await pilot.press("n", "n", "n")
        await until(pilot, lambda: step(app) == 3)
        await pilot.press("G")
        await until(pilot, lambda: now().main.why.end is not None)
        last = step(app)
        await pilot.press("0")
        await until(pilot, lambda: step(app) == 0)
        for wanted in (last, 3):
            await pilot.press("ctrl+o")
            await until(pilot, lambda wanted=wanted: step(app) == wanted)  # type: ignore[misc]
        corpus = now().corpus.name
        app.engine.send(do.SetRecipe(preset("bert")))
        await until(pilot, lambda: now().main.recipe == preset("bert") and now().busy is None)
        await pilot.press("0")
        await until(pilot, lambda: step(app) == 0)
        app.engine.send(do.Open(("sample:hugs",)))
        await until(pilot, lambda: now().corpus.name != corpus and not now().main.partial)
        await until(pilot, lambda: app.recorder.corpus[0] == "sample:hugs")
        await pilot.press("ctrl+o")
        await until(pilot, lambda: now().corpus.name == corpus and now().main.recipe == preset("bert"))
        await until(pilot, lambda: not app.history.going_back)
        await pilot.press("ctrl+o")
        await until(pilot, lambda: step(app) == 3 and now().main.recipe == preset("bert"))
        await until(pilot, lambda: not app.history.going_back)


@pytest.mark.slow
async def test_a_place_that_one_jumps_from_twice_is_noted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST", 2)
    async with training() as (app, pilot):
        for place in ("5", "5", "5", "9"):  # three times from step 5
            await pilot.press("g", place, "enter")
            await settled(pilot)
            assert step(app) == int(place)
        for wanted in (5, 0):
            await pilot.press("ctrl+o")
            await settled(pilot)
            assert step(app) == wanted
        await pilot.press("ctrl+o")
        await settled(pilot)
        assert "no place to go back to" in screen_text(app)


@pytest.mark.slow
async def test_a_position_of_compare_that_one_jumps_from_twice_is_noted_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(history, "MOST", 2)
    async with training() as (app, pilot):
        app.compare((ColumnWanted(preset("gpt2")), ColumnWanted(preset("bert"))))
        now: Any = lambda: app.engine.snapshot  # noqa: E731
        await until(pilot, lambda: len(now().columns) == 2 and all(one.in_sync for one in now().columns))
        for place in ("5", "5", "5", "9"):
            await pilot.press("g", place, "enter")
            await settled(pilot)
            assert now().position.value == int(place)
        for wanted in (5, 0):
            await pilot.press("ctrl+o")
            await settled(pilot)
            assert now().position.value == wanted
        await pilot.press("ctrl+o")
        await settled(pilot)
        assert "no place to go back to" in screen_text(app)


async def typed_corpus(app: ExplorerApp, pilot: Pilot[Any], text: str) -> None:
    """Type a text in the place of the corpus that is open."""
    await until(pilot, lambda: app.main.snapshot is not None and not app.main.snapshot.main.partial)
    await pilot.press("1", "t")
    await until(pilot, lambda: app.main.corpus.editing)
    editor = app.main.corpus._editor
    assert editor is not None
    editor.text = text
    await until(pilot, lambda: app.recorder.corpus == ("", text))
    await pilot.press("escape")
    await until(pilot, lambda: not app.main.corpus.editing)


async def test_the_corpus_that_one_goes_back_to_is_the_one_to_type_into() -> None:
    async with training(run=SHORT) as (app, pilot):
        now: Any = lambda: app.main.snapshot  # noqa: E731
        app.recorder.corpus = "sample:hugs", None
        await pilot.press("G")
        await until(pilot, lambda: now().main.why.end is not None)
        await typed_corpus(app, pilot, "one two one two")
        assert "scratch" in screen_text(app)
        await pilot.press("ctrl+o")
        await until(pilot, lambda: not app.history.going_back and now().corpus.name == "hugs")
        assert not app.main.corpus.edited
        assert "scratch" not in screen_text(app)
        await pilot.press("t")
        await until(pilot, lambda: app.main.corpus.editing)
        editor = app.main.corpus._editor
        assert editor is not None
        assert editor.text == await app.engine.ask(do.CorpusText())


@pytest.mark.slow
async def test_a_way_back_that_gives_way_does_not_bar_the_next_one(gates: Gates) -> None:
    async with training() as (app, pilot):
        now: Any = lambda: app.main.snapshot  # noqa: E731
        await typed_corpus(app, pilot, "one two one two " * 999)
        app.engine.send(do.Open(("sample:hugs",)))
        await until(pilot, lambda: app.recorder.corpus[0] == "sample:hugs" and now().busy is None)
        gates.close(COUNTING)
        await pilot.press("ctrl+o")
        await gates.until(COUNTING)
        app.main.open_source(do.Open(("sample:english",)))
        gates.close()
        await until(pilot, lambda: app.recorder.corpus[0] == "sample:english" and now().busy is None)
        await until(pilot, lambda: not app.history.going_back)
        await pilot.press("ctrl+o")
        await until(pilot, lambda: app.recorder.corpus[0] != "sample:english" and not app.history.going_back)
