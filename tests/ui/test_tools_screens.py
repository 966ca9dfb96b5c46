"""The screens of the engineer's tools, against what the library finds: differences of two columns, costs of
languages, glitch tokens, another vocabulary, and the curve of what ids save."""

from __future__ import annotations

import functools
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar, cast

import pytest
from dialogs import FakeEngine, shown, typed
from screens import screen_text, snapshot
from stepping import opened, walked
from textual.pilot import Pilot
from waiting import notes_of, settled, until

import tokentui
from tokentui.analyze.analyses import ANALYSES
from tokentui.analyze.budget import budget, knee
from tokentui.analyze.diff import diff
from tokentui.analyze.glitches import analysis, glitches
from tokentui.analyze.languages import BASES, Languages, costs, parallel_corpora
from tokentui.analyze.report import Column, Report, Row, Section, Target
from tokentui.core.safetext import is_safe
from tokentui.preset_table import preset_named
from tokentui.recipe import Recipe, Run
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.views import ColumnWanted
from tokentui.text.read import read
from tokentui.ui.app import ExplorerApp
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.dialogs.analysis import AnalysisScreen
from tokentui.ui.dialogs.diff import DiffScreen
from tokentui.ui.dialogs.edit import EditScreen
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.dialogs.languages import LanguagesScreen
from tokentui.ui.dialogs.report_screen import ReportScreen
from tokentui.ui.link import EngineLink

SIZES = ((120, 40), (80, 24))
MERGES = 40
LEFT = 296  # of its ids, all of which the corpus uses or needs: its bytes, and the parts of its merges
TEXT = "sample:english"
Screen = TypeVar("Screen", bound=ReportScreen[object])


async def pressed(app: ExplorerApp, pilot: Pilot[None], key: str, kind: type[Screen]) -> Screen:
    """The screen that a key opens, once it is answered."""
    await pilot.press(key)
    await until(pilot, lambda: isinstance(app.screen, kind) and app.screen.answer is not None)
    screen = app.screen
    assert isinstance(screen, kind)
    return screen


@asynccontextmanager
async def compared(size: tuple[int, int] = (120, 40)) -> AsyncIterator[tuple[ExplorerApp, Pilot[None]]]:
    """Two trainings that differ by a tie rule and the split, side by side at their ends."""
    run = Run.of({"merges": MERGES})
    columns = (ColumnWanted(Recipe(), run, name="gpt2"),
               ColumnWanted(preset_named("minbpe-basic").recipe, run, name="minbpe-basic"))
    app = ExplorerApp(
        lambda publish: Session(publish, Recipe(), run), run=run, typed="the crowd",
        begin=lambda session: session.send(do.Open((TEXT,))), then=lambda app: app.compare(columns),
    )
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        app.engine.send(do.GoTo(None))
        screen = app.screen
        assert isinstance(screen, CompareScreen)
        await settled(pilot)
        assert all(one.at is not None and one.at.step == MERGES for one in screen.now.columns)
        yield app, pilot


@functools.cache
def trained() -> tuple[tokentui.Tokenizer, tokentui.Tokenizer]:
    first, second = (tokentui.train(TEXT, name, merges=MERGES) for name in ("gpt2", "minbpe-basic"))
    return first, second


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_what_differs_between_two_columns(size: tuple[int, int]) -> None:
    async with compared(size) as (app, pilot):
        screen = await pressed(app, pilot, "equals_sign", DiffScreen)  # type: ignore[type-var]
        a, b = trained()
        corpus, found = read([TEXT]), screen.answer
        want = diff(a, b, corpus, rows=50)
        assert found is not None
        assert (found.went, found.came, found.moved, found.merges) == (
            want.went, want.came, want.moved, want.merges)
        assert want.went
        assert found.documents is not None
        assert want.documents is not None
        assert found.documents.worst == want.documents.worst
        text = screen_text(app)
        assert f"{want.documents.a:,} → {want.documents.b:,} tokens" in text
        turned = diff(b, a, corpus, rows=50).went
        await pilot.press("x")
        await until(pilot, lambda: screen.answer is not None and screen.answer.went == turned)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, InspectScreen))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen))


@functools.cache
def wanted_costs(by: str) -> tuple[Languages, ...]:
    """What languages cost in both columns, by a base; the same on all sizes of the screen."""
    return tuple(costs(one, parallel_corpora(), by) for one in trained())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.slow
async def test_what_languages_cost(size: tuple[int, int]) -> None:
    async with compared(size) as (app, pilot):
        screen = await pressed(app, pilot, "dollar_sign", LanguagesScreen)  # type: ignore[type-var]
        assert screen.answer == wanted_costs("sentences")
        for row in screen.answer[0].rows:
            assert re.search(rf"{row.language} +{row.tokens:,} ", screen_text(app))
        await pilot.press("tab", "b")
        by = [*BASES][1]
        await until(pilot, lambda: screen.answer is not None and screen.answer[1].by == by)
        assert screen.answer == wanted_costs(by)
        for one in wanted_costs(by)[1].rows:
            assert f"{one.tokens:,}" in screen_text(app)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.slow
async def test_glitch_tokens_and_the_vocabulary_narrowed_to_them(size: tuple[int, int]) -> None:
    async with opened(Recipe(), size=size) as (app, pilot):
        await walked(app, pilot, MERGES)
        screen = await pressed(app, pilot, "exclamation_mark", AnalysisScreen)  # type: ignore[type-var]
        want = glitches(trained()[0], read([TEXT]))
        assert screen.answer == analysis(trained()[0], read([TEXT]))
        assert f"{len(want)} never typed" in screen_text(app)
        ids = {one.id for one in want if one.kind == "unwritten"}
        assert ids
        await pilot.press("tab")
        assert screen.section is not None
        assert screen.section.name == "never typed"
        assert {row.target.number for row in screen.section.rows if row.target is not None} == ids
        await pilot.press("v")

        def listed() -> set[int | None]:
            assert app.main.snapshot is not None
            return {row.id for row in app.main.snapshot.main.vocabulary.rows}

        await until(pilot, lambda: app.screen is app.main and listed() and listed() <= ids)
        assert app.main.snapshot is not None
        assert app.main.snapshot.main.vocabulary.total == len(ids)
        await pilot.press("escape")
        await until(pilot, lambda: not listed() <= ids)
        assert not app.main.tables["vocabulary"].among


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_another_vocabulary_is_seen_before_it_is_written(size: tuple[int, int], tmp_path: Path) -> None:
    async with opened(Recipe(), size=size) as (app, pilot):
        await walked(app, pilot, MERGES)
        await pilot.press("X")
        await until(pilot, lambda: isinstance(app.screen, EditScreen))
        screen = app.screen
        assert isinstance(screen, EditScreen)
        depth = len(app.screen_stack)
        await until(pilot, lambda: f"296 → {LEFT}" in screen_text(app))  # what pruning to the corpus leaves
        assert "it becomes id 296" in screen_text(app)
        await pilot.press("w")
        await until(pilot, lambda: "nothing to write yet" in screen_text(app))
        for key, line in (("t", "320"), ("a", "zqz"), ("s", "<|end|>")):
            await pilot.press(key)
            await until(pilot, lambda: len(app.screen_stack) > depth)
            app.screen.query_one("Input").value = line  # type: ignore[attr-defined]
            await pilot.press("enter")
            await until(pilot, lambda: len(app.screen_stack) == depth and screen.answer is not None)
        await until(pilot, lambda: screen.answer is not None and len(screen.answer.added) == 2)
        for text in ("296 → 322", "+ zqz", "+ <|end|>", "5,418 → 4,931"):
            assert text in screen_text(app)
        answer = screen.answer
        assert answer is not None
        before = trained()[0]
        assert (answer.before, answer.after) == (before.vocab_size, 322)
        assert [one.text for one in answer.added] == ["zqz", "<|end|>"]
        path, ids = tmp_path / "new.json", tmp_path / "ids.json"
        await pilot.press("w")
        await until(pilot, lambda: app.screen is not screen)
        app.screen.query_one("Input").value = f"{path} {ids}"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await until(pilot, path.exists)
        made = tokentui.load(path)
        assert made.vocab_size == 322
        longer = tokentui.train(TEXT, "gpt2", vocab_size=320)
        assert [entry.piece for entry in made.entries()][:320] == [entry.piece for entry in longer.entries()]
        await until(pilot, lambda: any("written" in one for one in notes_of(app)))
        assert ids.read_text().startswith("[0, 1, 2")
        await pilot.press("backspace", "backspace")
        await until(pilot, lambda: screen.answer is not None and screen.answer.after == 320)
        second = tmp_path / "second.json"
        tokentui.train("sample:finnish", "gpt2", merges=30).save(second)
        await pilot.press("m")
        await until(pilot, lambda: len(app.screen_stack) > depth)
        app.screen.query_one("Input").value = str(second)  # type: ignore[attr-defined]
        await pilot.press("enter")
        both = longer.edited(merge=tokentui.load(second)).tokenizer
        await until(pilot, lambda: screen.answer is not None and screen.answer.after == len(both) > 320)
        await pilot.press("backspace")
        await until(pilot, lambda: screen.answer is not None and screen.answer.after == 320)
        await pilot.press("p")
        await until(pilot, lambda: screen.answer is not None and screen.answer.pruned is not None)
        await pilot.press("backspace", "backspace")
        await until(pilot, lambda: "it becomes id 296" in screen_text(app))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_the_curve_of_what_ids_save(size: tuple[int, int]) -> None:
    async with compared(size) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, CompareScreen)
        await pilot.press("7", "up")
        await until(pilot, lambda: screen.curves.curves.series
                    and all(one.saved and one.steps[-1] == MERGES for one in screen.curves.curves.series))
        await until(pilot, lambda: "knee" in screen_text(app))
        for one, tokenizer in zip(screen.curves.curves.series, trained(), strict=True):
            whole = budget(tokenizer, [read([TEXT])])
            assert (one.ids, one.tokens) == (whole.sizes, whole.curves[0].tokens)
            assert one.knee == whole.curves[0].knee == knee(one.ids, one.tokens)
            assert one.saved[:3] == tuple(a - b for a, b in zip(one.tokens[:3], one.tokens[1:4], strict=True))
        await pilot.press("t")
        await until(pilot, lambda: app.screen is not screen)
        await typed(pilot, "0.7")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen and "target" in screen_text(app))
        first = screen.curves.curves.series[0]
        met = next(n for n, tokens in enumerate(first.tokens) if tokens <= 0.7 * first.bytes)
        assert f"{first.ids[met]} ids at step {met}" in screen_text(app)


@pytest.mark.parametrize("text", ["\u202ea\u202eb a\u0301\x07 ", "\x1b]0;x\x07[bold]", "\ud800\ud800 \ud800"])
@pytest.mark.slow
async def test_hostile_texts_are_drawn_safely(text: str) -> None:
    async with opened(Recipe(split="none"), "sample:hugs") as (app, pilot):
        await app.engine.ask(do.TrainOnText(text * 9))
        await until(pilot, lambda: app.main.snapshot is not None and app.main.snapshot.main.candidates.rows)
        await walked(app, pilot, 3)
        await pressed(app, pilot, "exclamation_mark", AnalysisScreen)  # type: ignore[type-var]
        assert is_safe(screen_text(app).replace("\n", ""))
        await pilot.press("escape", "X", "p")
        await until(pilot, lambda: isinstance(app.screen, EditScreen) and app.screen.answer is not None)
        assert is_safe(screen_text(app).replace("\n", ""))


ROW, TOKEN = Row(("a", "1")), Row(("b", "2"), Target("token", 5))
TITLED = (Column("name"), Column("count", "right"))


@pytest.mark.first_run(cases=6)  # all but the last but one, which holds the second and the third
@pytest.mark.parametrize(("sections", "keys"), [
    ((Section("sizes", "", (ROW,) * 20, TITLED),), "S sort"),
    ((Section("sizes", "", (ROW,), TITLED), Section("notes", "", (ROW,))), "tab section"),
    ((Section("tokens", "", (TOKEN,)),), "v filter vocabulary  enter open"),
    ((Section("rows", "", (ROW,) * 20),), "enter open"),
    ((Section("rows", "", (ROW,), folded=True),), "enter open"),
    ((Section("rows", "", (Row(("a",), details=(ROW,)),)), Section("tokens", "", (TOKEN,))),
     "v filter vocabulary  enter open  tab section"),
    ((Section("none", "nothing"),), ""),
])
async def test_the_keys_of_an_analysis_are_those_that_do_something(
    sections: tuple[Section, ...], keys: str
) -> None:
    """The knee of a curve has no token to inspect, and one section no next one."""
    engine = FakeEngine(snapshot(), answers={do.Analyze: Report("Budget", sections, {}, "short")})
    screen = AnalysisScreen(cast(EngineLink, engine), ANALYSES["budget"], lambda ids, title: None)
    async with shown(screen, (120, 40)) as (app, pilot):
        await until(pilot, lambda: screen.shown is not None)
        await pilot.pause()
        line = next(line for line in screen_text(app).splitlines() if "esc back" in line)
        assert line.partition("↑↓ scroll")[0].strip(" │") == keys
