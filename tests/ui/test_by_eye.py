"""Places where somebody who had not seen the program found nothing, or was misled: each is seen at 120x40 and
at 80x24."""

from __future__ import annotations

import re
from typing import Any

import pytest
from screens import screen_text
from textual.pilot import Pilot
from waiting import settled, until

from tokentui.axes import preset
from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.snapshot import Snapshot
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.dialogs.recipe import RecipeScreen
from tokentui.ui.dialogs.steps import StepsScreen, WhyScreen
from tokentui.ui.start_screen import StartScreen

SIZES = [(120, 40), (80, 24)]
SENTENCE = "The crowd in the street"


def app_of(recipe: str, corpus: str = "sample:english", typed: str = SENTENCE, **more: Any) -> ExplorerApp:
    return ExplorerApp(
        lambda publish: Session(publish, preset(recipe)), typed=typed,
        begin=lambda session: session.send(do.Open((corpus,))), **more,
    )


def now(app: ExplorerApp) -> Snapshot:
    assert app.main.snapshot is not None
    return app.main.snapshot


async def ready(app: ExplorerApp, pilot: Pilot[Any]) -> None:
    await settled(pilot)
    assert now(app).main.encoding.text


async def to_end(app: ExplorerApp, pilot: Pilot[Any]) -> None:
    await ready(app, pilot)
    await pilot.press("G")
    await settled(pilot)
    assert now(app).main.why.end is not None


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_the_vocabulary_is_filled_after_a_recipe_of_another_normalization(
    size: tuple[int, int],
) -> None:
    app = app_of("gpt2")
    async with app.run_test(size=size) as pilot:
        await to_end(app, pilot)
        await pilot.press("3", "end")
        table = app.main.vocabulary
        await until(pilot, lambda: table.row_at(table.total - 1) is not None)
        app.engine.send(do.SetRecipe(preset("wordpiece")))
        await until(pilot, lambda: now(app).main.recipe == preset("wordpiece"))
        app.engine.send(do.GoTo(0))
        await until(pilot, lambda: not now(app).main.at.step)
        await until(pilot, lambda: now(app).main.vocabulary.total == table.total)
        await until(pilot, lambda: table.row_at(table.top) is not None)
        panes, *_ = screen_text(app).split("┌─ Why ")
        assert "…  " not in panes.replace("│", "")  # a row that has not come


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_the_sentence_is_the_text_of_the_corpus_without_marks(size: tuple[int, int]) -> None:
    app = app_of("udl-notebook", "sample:sailor")
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.main.encode.line.value == "a sailor went to sea")
        await until(pilot, lambda: now(app).main.encoding.text == "a sailor went to sea")
        assert not now(app).main.encoding.error
        assert all(token.piece is not None for token in now(app).main.encoding.tokens)


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_find_counts_its_matches_however_narrow_the_title_is(size: tuple[int, int]) -> None:
    app = app_of("gpt2", "sample:sailor")
    async with app.run_test(size=size) as pilot:
        await to_end(app, pilot)
        app.main.go("vocabulary")
        app.main.mark_found("vocabulary", "the")
        app.main.action_find_again(backward=False)
        await until(pilot, lambda: app.main.vocabulary.match)
        said = app.main.vocabulary.match[0][0]
        assert said.startswith("match 1 of ")
        await until(pilot, lambda: said in screen_text(app))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_steps_begin_at_the_step_made_last_and_dialogs_are_no_larger_than_what_they_hold(
    size: tuple[int, int],
) -> None:
    app = app_of("gpt2", "sample:sailor")
    async with app.run_test(size=size) as pilot:
        await ready(app, pilot)
        app.engine.send(do.GoTo(10))
        await until(pilot, lambda: now(app).main.at.step == 10)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, StepsScreen))
        steps: Any = app.screen
        await until(pilot, lambda: steps.here is not None and steps.here.number == 10)
        await until(pilot, lambda: steps.box.outer_size.height <= 10 + 6)
        await pilot.press("Y")
        await until(pilot, lambda: isinstance(app.screen, WhyScreen))
        why: Any = app.screen
        await until(pilot, lambda: why.answer)
        await until(pilot, lambda: why.box.outer_size.height == len(why.listing.rows) + 4)
        assert why.listing.top == 0


async def test_a_pair_in_the_middle_of_a_word_is_not_told_of_as_a_word() -> None:
    app = app_of("wordpiece")
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(app, pilot)
        rows = now(app).main.candidates.rows
        assert rows[0].marks[0], "the first pair goes on with a word"
        await pilot.press("2", "enter")
        await until(pilot, lambda: isinstance(app.screen, InspectScreen) and app.screen.listing.rows)
        screen = app.screen
        assert isinstance(screen, InspectScreen)
        labels = [row.cells[0] for row in screen.listing.rows]
        assert (("count", "muted"),) in labels
        assert (("one token", "muted"),) not in labels
        assert screen.found is None


@pytest.mark.slow
async def test_until_a_size_gives_a_training_that_prunes_that_size() -> None:
    app = app_of("sentencepiece-unigram", "sample:english")
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(app, pilot)
        await pilot.press("U", *"200")
        await until(pilot, lambda: "vocab_size becomes 200, and the run goes there" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: now(app).main.why.end is not None and now(app).main.at.vocab_size == 200)
        assert app.engine.run.stops.vocab_size == 200
        assert app.engine.run != Run()


@pytest.mark.slow
async def test_axes_are_searched_by_their_names() -> None:
    app = app_of("gpt2", "sample:sailor")
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(app, pilot)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, RecipeScreen))
        screen = app.screen
        assert isinstance(screen, RecipeScreen)
        await until(pilot, lambda: screen.presets.has_focus)
        await pilot.press("tab")
        await until(pilot, lambda: screen.axes.has_focus)
        await pilot.press("slash", *"voc")
        await until(pilot, lambda: screen.axes.cursor_key == "vocab_size")
        await pilot.press("enter", *"300", "enter")
        await until(pilot, lambda: screen.choice.run.stops.vocab_size == 300)
        await pilot.press("slash", *"zzz")
        await until(pilot, lambda: "no axis or value matches ‘zzz’" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: screen.axes.has_focus)
        assert app.screen is screen


@pytest.mark.parametrize("size", [*SIZES, (60, 20)], ids=str)
@pytest.mark.parametrize("recipe", ["bert", "gpt2"])
@pytest.mark.slow
async def test_all_tokens_and_losses_of_the_typed_text_can_be_seen(
    recipe: str, size: tuple[int, int]
) -> None:
    text = "Don't lose the CAFÉ " + "the evening in a repair " * 12
    app = app_of(recipe, typed=text)
    async with app.run_test(size=size) as pilot:
        await to_end(app, pilot)
        await until(pilot, lambda: now(app).main.encoding.text == text)
        await until(pilot, lambda: bool(now(app).main.encoding.lost) == (recipe == "bert"))
        encoding = now(app).main.encoding
        await pilot.press("i")
        await until(pilot, lambda: app.main.encode.line.has_focus)
        await pilot.press("home")
        await until(pilot, lambda: app.main.encode.line.cursor_position == 0)
        await settled(pilot)
        pane, before = app.main.encode, -1
        lines = ["".join(text for text, _ in line) for line in pane.tokens._painted]
        while pane._page != before:
            before = pane._page
            await pilot.press("pagedown")
            await settled(pilot)
            if pane._page != before:
                lines += ["".join(text for text, _ in line) for line in pane.tokens._painted]
        seen = "".join(lines)
        for loss in encoding.lost:
            assert " ".join(loss.split()[:3]) in seen
        assert len(encoding.tokens) > 40
        rows = [re.findall(r"[^│…\s]+", line) for line in lines]
        shown = [number for row in rows if all(map(str.isdigit, row)) for number in row]
        assert shown == [str(token.id) for token in encoding.tokens]
        assert ("decoding gives back" in seen) == (recipe == "bert")
        await pilot.press("x")  # typing shows the place where one types again
        await until(pilot, lambda: app.main.encode._page == 0)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_who_types_a_text_to_learn_from_begins_with_none(size: tuple[int, int]) -> None:
    app = app_of("gpt2", first_screen=True)
    async with app.run_test(size=size) as pilot:
        await ready(app, pilot)
        await until(pilot, lambda: isinstance(app.screen, StartScreen) and app.screen.end is not None)
        await pilot.press("t")
        await until(pilot, lambda: app.screen is app.main and app.main.corpus.editing)
        assert now(app).corpus.name == "english"
        await until(pilot, lambda: "type the text to learn from" in screen_text(app))
        await pilot.press(*"abab")
        await until(pilot, lambda: now(app).corpus.bytes == 4)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_pairs_under_a_score_are_sorted_by_their_counts(size: tuple[int, int]) -> None:
    app = app_of("wordpiece")
    async with app.run_test(size=size) as pilot:
        await ready(app, pilot)
        await pilot.press("2", "S")
        await until(pilot, lambda: now(app).main.candidates.order == "count")
        most = max(row.places for row in now(app).main.candidates.rows)
        assert now(app).main.candidates.rows[0].places == most
        await until(pilot, lambda: "by count" in screen_text(app))
        before = app.main.viewport.vocabulary_order
        app.engine.send(do.SetRecipe(preset("gpt2")))
        await until(pilot, lambda: now(app).main.recipe == preset("gpt2"))
        await until(pilot, lambda: not app.main.viewport.candidates_order)
        await until(pilot, lambda: "by count" not in screen_text(app))
        await pilot.press("S")  # here it sorts the vocabulary, as everywhere
        await until(pilot, lambda: app.main.viewport.vocabulary_order != before)
