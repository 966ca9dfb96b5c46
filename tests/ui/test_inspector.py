"""The Inspector on the real explorer: the cursor on the corpus, a token, its parts, the life of a word."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from dialogs import FakeEngine, assert_safe, shown
from hypothesis import given
from hypothesis import strategies as st
from sessions import Watched
from textual.pilot import Pilot
from waiting import screen_text, settled, until

from tokentui import learn
from tokentui.analyze.inspect import token_facts
from tokentui.axes import preset
from tokentui.core.safetext import is_safe
from tokentui.learn import jump, start
from tokentui.recipe import Run, Stops
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.training.token_values import Context, Places, TokenView
from tokentui.session.views import ColumnWanted, CorpusPlace
from tokentui.text.corpus import Corpus
from tokentui.ui.app import ExplorerApp
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.dialogs.inspected import context, ordinal, token_sections
from tokentui.ui.dialogs.life import LifeScreen
from tokentui.ui.draw.sections import section_rows
from tokentui.ui.draw.text import width

STEP = 300


@asynccontextmanager
async def explored(
    size: tuple[int, int], name: str = "gpt2", step: int = STEP, typed: str = "The crowd in the street"
) -> AsyncIterator[tuple[ExplorerApp, Pilot[None]]]:
    """The explorer on a sample, at a step."""
    recipe, stops = preset(name), Stops(vocab_size=400) if "unigram" in name else Stops()
    app = ExplorerApp(
        lambda publish: Session(publish, recipe, Run(stops)),
        typed=typed, begin=lambda session: session.send(do.Open(("sample:english",))),
    )
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        app.engine.send(do.GoTo(step))
        await settled(pilot)
        assert at(app) == step
        yield app, pilot


def at(app: ExplorerApp) -> int:
    return app.engine.snapshot.main.at.step if app.engine.snapshot is not None else -1


def inspector(app: ExplorerApp) -> InspectScreen:
    assert isinstance(app.screen, InspectScreen)
    return app.screen


async def told(app: ExplorerApp, pilot: Pilot[None]) -> InspectScreen:
    """The dialog, once all has come."""
    await until(pilot, lambda: isinstance(app.screen, InspectScreen))
    dialog = inspector(app)
    await settled(pilot)
    assert dialog.view is not None
    assert dialog.found is not None
    return dialog


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_a_token_of_the_corpus_is_inspected(size: tuple[int, int]) -> None:
    async with explored(size) as (app, pilot):
        await pilot.press("1", "enter")
        await until(pilot, lambda: app.main.context == "cursor")
        assert app.main.text.under_cursor == (0, 1)
        await pilot.press("right", "right", "right", "left")
        held = app.main.text.layout_held
        here = app.main.text.under_cursor
        assert held is not None
        assert here is not None
        assert held.text[slice(*here)] == " even"
        assert at(app) == STEP, "the keys that go from step to step move the cursor"
        await pilot.press("down")
        assert app.main.text.under_cursor != here
        await pilot.press("up", "enter")
        await told(app, pilot)
        assert "in the word" in screen_text(pilot)
        assert_safe(pilot)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.main.context == "corpus" and app.screen is app.main)
        assert app.main.text.cursor is None


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20), (200, 60)])
async def test_the_screen_of_a_token_and_of_a_part_of_it(size: tuple[int, int]) -> None:
    async with explored(size) as (app, pilot):
        assert isinstance(app.engine.session, Session)
        tokenizer = app.engine.session.state.main.trainer.tokenizer()
        number = next(one.id for one in tokenizer.entries() if one.piece == b" the")
        parts = token_facts(tokenizer, number).parents
        app.push_screen(InspectScreen(app.engine, token=number))
        dialog = await told(app, pilot)
        shown, view = screen_text(pilot), dialog.view
        for text in ("259", "131", "lost", "merge tree"):
            assert text in shown
        assert_safe(pilot)
        assert view is not None
        assert f"1 of {view.uses}" in shown or size[1] < 40
        dialog.action_more_places()
        dialog.action_more_places()  # before the answer: it asks for the same places
        await settled(pilot)
        assert dialog._first == 4
        assert f"4 of {view.uses}" in screen_text(pilot) or size[1] < 40
        await pilot.press("right")
        await until(pilot, lambda: dialog.view is not None and dialog.view.facts.id == view.after)
        await pilot.press("left")
        await until(pilot, lambda: dialog.view is not None and dialog.view.facts.id == number)
        await told(app, pilot)
        at_part = next(n for n, row in enumerate(dialog.listing.rows) if row.key == ("row", ("parts", 0), 1))
        dialog.listing.move_to(at_part)
        await pilot.press("enter")
        await until(pilot, lambda: dialog.view is not None and dialog.view.facts.piece == parts[1])
        await told(app, pilot)
        await pilot.press("backspace")
        await settled(pilot)
        assert dialog.view is not None
        assert dialog.view.facts.id == number
        assert dialog.listing.cursor == at_part
        await pilot.press("backspace")
        assert app.screen is dialog, "there is nothing to come back to"


@pytest.mark.slow
async def test_left_and_right_walk_the_rows_of_the_pane() -> None:
    async with explored((120, 40)) as (app, pilot):
        await pilot.press("3", "down", "enter")
        dialog = await told(app, pilot)
        rows = app.engine.snapshot.main.vocabulary.rows if app.engine.snapshot is not None else ()
        assert dialog.view is not None
        assert dialog.view.facts.id == rows[1].id
        await pilot.press("right", "right")
        await until(pilot, lambda: dialog.view is not None and dialog.view.facts.id == rows[3].id)
        assert app.main.vocabulary.cursor == 3
        await pilot.press("left")
        await until(pilot, lambda: dialog.view is not None and dialog.view.facts.id == rows[2].id)


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20)])
@pytest.mark.parametrize(("name", "step"), [("gpt2", STEP), ("sentencepiece-unigram", 4)])
@pytest.mark.slow
async def test_the_run_follows_the_life_of_a_word(name: str, step: int, size: tuple[int, int]) -> None:
    async with explored(size, name, step) as (app, pilot):
        app.main.encode.line.cursor_position -= 1  # in the last word
        await pilot.press("w", "w")
        await until(pilot, lambda: isinstance(app.screen, LifeScreen) and app.screen.life is not None)
        dialog = app.screen
        assert isinstance(dialog, LifeScreen)
        assert dialog.life is not None
        await settled(pilot)
        assert_safe(pilot)
        assert at(app) == step, "opening it moves nothing"
        turns = dialog.life.turns
        assert len(turns) > 1
        for turn in turns[-2:]:  # a low screen shows the last ones
            assert re.search(rf"\b{turn.number or 'start'}\b", screen_text(pilot))
        await pilot.press("up")
        await until(pilot, lambda: at(app) == turns[-2].number)
        await pilot.press("right")
        await until(pilot, lambda: at(app) == turns[-1].number)
        await pilot.press("home")
        await until(pilot, lambda: at(app) == 0)
        await pilot.press("escape")
        await until(pilot, lambda: at(app) == step and app.screen is app.main)


WAYS_TO_A_LIFE = {
    "main": ("i", "home", "escape", "w w"),
    "a cursor on the corpus": ("enter", "right", "right", "w w"),
    "the vocabulary": ("3", "enter", "w"),
    "the inspector": ("enter", "right", "right", "enter", "w"),
}
"""The keys that show the life of a word."""


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
@pytest.mark.parametrize("way", WAYS_TO_A_LIFE)
@pytest.mark.slow
async def test_the_corpus_stays_visible_and_marks_the_word_whose_life_is_shown(
    way: str, size: tuple[int, int]
) -> None:
    async with explored(size) as (app, pilot):
        text, below = app.main.text, screen_text(pilot)
        for key in WAYS_TO_A_LIFE[way]:
            below = screen_text(pilot)
            await pilot.press(*key.split())
            await settled(pilot)
        dialog = app.screen
        assert isinstance(dialog, LifeScreen)
        assert dialog.life is not None
        word, top = dialog.life.word.strip(), text.region.y
        uncovered = text._painted[: dialog.box.region.y - top]
        assert len(uncovered) > 5
        seen = screen_text(pilot).splitlines()[top:]
        for line, row in zip(seen, uncovered, strict=False):
            assert "".join(part for part, _ in row).rstrip() in line, "a row of the corpus is covered"
        marked = "".join(
            part for row in uncovered for part, style in row if "match" in style or "cursor" in style
        )
        assert word in marked.replace("│", "").replace("·", "")
        assert text._view is not None
        elsewhere = [part for part in text._view.parts if word not in part.text]
        assert all(len(part.tokens) < 2 for part in elsewhere), "only the word is shown in tokens"
        assert "2 Pairs" not in screen_text(pilot)
        assert "4 Encode" in screen_text(pilot)
        await pilot.press("home")
        await settled(pilot)
        assert at(app) == 0
        await pilot.press("escape")
        await settled(pilot)
        assert at(app) == STEP
        await until(pilot, lambda: screen_text(pilot) == below)  # the corpus shows what it showed before
        assert not any("match" in style for row in text._painted for _, style in row)


@pytest.mark.slow
async def test_enter_stays_at_a_step_of_the_life() -> None:
    async with explored((120, 40)) as (app, pilot):
        await pilot.press("w", "w")
        await until(pilot, lambda: isinstance(app.screen, LifeScreen) and app.screen.life is not None)
        await pilot.press("home", "enter")
        await until(pilot, lambda: at(app) == 0 and app.screen is app.main)


@pytest.mark.slow
async def test_no_word_has_no_life() -> None:
    async with explored((80, 24), typed="") as (app, pilot):
        said: list[str] = []
        app.say = lambda text, severity="information": said.append(text)  # type: ignore[method-assign]
        await pilot.press("w", "w")
        await until(pilot, lambda: said)
        assert app.screen is app.main


@pytest.mark.slow
async def test_compare_inspects_by_the_column_concerned() -> None:
    async with explored((120, 40)) as (app, pilot):
        wanted = (ColumnWanted(preset("gpt2")), ColumnWanted(preset("wordpiece")))
        app.compare(wanted)
        await until(pilot, lambda: isinstance(app.screen, CompareScreen))
        screen = app.screen
        assert isinstance(screen, CompareScreen)
        await until(pilot, lambda: screen.snapshot is not None and len(screen.snapshot.columns) == 2
                    and all(one.in_sync and not one.loading for one in screen.snapshot.columns))
        await pilot.press("right")
        await until(pilot, lambda: screen.place == 1)
        screen.action_inspect_typed()
        await until(pilot, lambda: isinstance(app.screen, InspectScreen))
        dialog = inspector(app)
        await until(pilot, lambda: dialog.found is not None and not dialog.asking)
        assert dialog.found is not None
        assert dialog.found.encoding is not None
        assert isinstance(app.engine.session, Session)
        column = app.engine.session.state.sync.columns[1]
        assert dialog.found.encoding.ids == column.trainer.tokenizer().encode(dialog.found.text).ids


@given(st.text(max_size=30), st.text(max_size=8), st.text(max_size=30), st.integers(12, 90))
def test_a_context_is_safe_and_as_wide_as_its_room(before: str, shown: str, after: str, room: int) -> None:
    cell = context(Context(CorpusPlace(), before, shown, after), room)
    assert width(cell) == room
    assert all(is_safe(text) for text, _ in cell)


@pytest.mark.slow
@given(st.text(min_size=2, max_size=20))
def test_a_hostile_token_is_drawn_safely(text: str) -> None:
    trainer = start(Corpus.from_text(text * 4), preset("minbpe-basic"))
    jump(trainer, 4)
    tokenizer, uses = trainer.tokenizer(), list(trainer.uses)
    for number in range(256, 256 + trainer.number):
        facts = token_facts(tokenizer, number)
        view = TokenView(
            trainer.number, facts, number, number - 255, "", uses[number], 1, len(uses),
            learn.uses_over(trainer, number)(), (), (), None, None, None,
        )
        for section in token_sections(view, Places((), True), 1):
            for row in section_rows(section, 0, 1000, {}, set(), 60):
                assert all(is_safe(part) for cell in row.cells for part, _ in cell)


def test_ordinals() -> None:
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111, 1003)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th", "1,003rd"
    ]


async def test_the_tree_of_a_word_grows_with_the_steps() -> None:
    """Keys of the inspector move the run, and its rows about the word change with it."""
    async with explored((120, 40), step=100, typed="unbelievable") as (app, pilot):
        await pilot.press("4", "enter")
        await settled(pilot)
        shown = screen_text(pilot)
        assert "able 107" not in shown
        assert "┄" in shown
        await pilot.press("right_square_bracket")
        await settled(pilot)
        assert "able 107" in screen_text(pilot)
        await pilot.press("left_square_bracket")
        await settled(pilot)
        assert "able 107" not in screen_text(pilot)
        assert app.engine.snapshot is not None
        assert app.engine.snapshot.main.at.step == 100


async def test_all_figures_of_a_lattice_can_be_seen() -> None:
    """Below the drawing there are the largest ones, and enter on the last line shows the others."""
    session = Watched(preset("sentencepiece-unigram"), Run(Stops(vocab_size=100)))
    await session.start()
    await session.send(do.Open(("sample:woodchuck",)))
    session.send(do.GoTo(2))
    now = await session.settle()
    text = do.InspectText("woodchuck", 0)
    engine = FakeEngine(now, {do.InspectText: await session.send(text)})
    await session.close()
    screen = InspectScreen(engine, typed=("woodchuck", 0))
    async with shown(screen, (100, 60)) as (_, pilot):
        await settled(pilot)
        more = next(row.key for row in screen.listing.rows if row.key and row.key[0] == "more")  # type: ignore[index]
        screen.listing.move_to(screen.listing.index_of(more) or 0)
        folded = screen_text(pilot)
        rest = re.search(r"and (\d+) more", folded)
        assert rest
        await pilot.press("enter")
        await settled(pilot)
        unfolded = screen_text(pilot)
        assert "more" not in unfolded
        assert unfolded.count("–") - folded.count("–") == int(rest[1])
        shares = [float(share) for share in re.findall(r"\d–\d+ +\S+ +(?:< )?([\d.]+) %", unfolded)]
        assert len(shares) == unfolded.count("–")
        assert shares == sorted(shares, reverse=True)


@pytest.mark.slow
async def test_the_inspector_is_a_pane_beside_the_others_on_a_wide_screen() -> None:
    """Tab gives the keys to the panes and takes them back, a step updates it, and esc closes it."""
    async with explored((160, 40)) as (app, pilot):
        main = app.main
        await pilot.press("3")
        main.vocabulary.move_to(60)
        await settled(pilot)
        await pilot.press("enter")
        dialog = await told(app, pilot)
        assert dialog.beside
        first = screen_text(pilot)
        await pilot.press("tab")
        await settled(pilot)
        await until(pilot, lambda: app.keyed is main)
        assert "tab inspector" in screen_text(pilot)
        assert "n next" in screen_text(pilot)
        await pilot.press("b")
        await settled(pilot)
        assert at(app) == STEP - 1
        assert [*app.screen_stack] == [main, dialog], "it stays while the run moves"
        await pilot.press("left_square_bracket", "2", "down")
        await settled(pilot)
        assert (at(app), main.active, main.pairs.cursor) == (STEP - 11, "pairs", 1)
        assert dialog.view is not None
        assert dialog.view.facts.piece
        assert screen_text(pilot) != first
        uses = dialog.view.uses
        await pilot.press("v")
        await until(pilot, lambda: "esc end" in screen_text(pilot))
        await pilot.press("escape", "i", *"ab")
        assert main.encode.line.value.endswith("ab")
        await pilot.press("escape")  # leaves the line
        await settled(pilot)
        await until(pilot, lambda: not main.typing)
        assert [*app.screen_stack] == [main, dialog]
        await pilot.press("tab")
        await until(pilot, lambda: app.keyed is dialog)
        await pilot.press("left_square_bracket", "backspace")
        assert at(app) == STEP - 11, "these are keys of the inspector again"
        await pilot.press("tab", "G")
        await settled(pilot)
        assert dialog.view is not None
        assert dialog.view.uses != uses
        await pilot.press("3", "enter")  # another one takes its place
        await until(pilot, lambda: app.screen is not dialog)
        await told(app, pilot)
        assert len(app.screen_stack) == 2
        await pilot.press("tab", "escape")
        await until(pilot, lambda: [*app.screen_stack] == [main])
        await pilot.press("3", "enter")
        dialog = await told(app, pilot)
        await pilot.press("tab")
        await pilot.resize_terminal(100, 40)
        await until(pilot, lambda: app.keyed is dialog)
