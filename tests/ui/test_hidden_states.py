"""A setting that changes what a pane shows is in the title of the pane as long as it is in force."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from rich.cells import cell_len
from screens import screen_text
from textual import events
from textual.pilot import Pilot
from waiting import settled, until

from tokentui.core.safetext import GLYPH_MODES
from tokentui.preset_table import preset_named
from tokentui.recipe import Recipe, Run
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.views import VOCABULARY_ORDERS, ColumnWanted
from tokentui.ui.app import ExplorerApp
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.main_screen import MainScreen
from tokentui.ui.pane_screen import titles
from tokentui.ui.panes.compare.columns import distinct_name
from tokentui.ui.panes.header import tabs
from tokentui.ui.panes.pane import VIEWS, state_cell, title_cell

SIZES = [(120, 40), (80, 24), (200, 60), (58, 20)]
RUN = Run.of({"vocab_size": 300})


def explorer(typed: str = "hugs", run: Run = RUN) -> ExplorerApp:
    return ExplorerApp(
        lambda publish: Session(publish, Recipe(), run),
        begin=lambda session: session.send(do.Open(("sample:hugs",))), typed=typed, run=run,
    )


async def comparing(app: ExplorerApp, pilot: Pilot[None]) -> CompareScreen:
    """Begin a comparison, and return its screen once it is at rest."""
    names = ("gpt2", "minbpe")
    app.compare(tuple(ColumnWanted(preset_named(name).recipe, RUN, name=name) for name in names))
    await until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.snapshot is not None)
    await settled(pilot)
    assert isinstance(app.screen, CompareScreen)
    return app.screen


@pytest.mark.parametrize("states", [('only "unbelievable"',), ("hex",), ('only "a"', "by count", "hex")])
def test_the_states_of_a_title_are_seen_at_every_width(states: Sequence[str]) -> None:
    names = [("2 Pairs", False), ("3 Vocab", True)]
    for width in range(16, 90):
        shown = "".join(text for text, _ in title_cell(names, states, width))
        assert cell_len(shown) <= width - 6, "Textual would cut the states off"
        assert states[0][:3] in shown
        bar = "".join(text for text, _ in tabs(
            [("pairs", "2 Pairs"), ("vocabulary", "3 Vocab")], "vocabulary", (), width, state_cell(states)
        ))
        assert states[0][:3] in bar


@pytest.mark.parametrize("width", [24, 26, 30, 40, 120])
@pytest.mark.parametrize(
    "names",
    [("gpt2", "gpt4"), ("run-of-monday-1000.json", "run-of-monday-2000.json"), ("a" * 50, "a" * 49 + "b")],
)
def test_the_titles_of_two_columns_differ_at_every_width(width: int, names: tuple[str, str]) -> None:
    states = ("to 2,000 ids",)
    titles = []
    for name, other in (names, names[::-1]):
        shown = distinct_name(name, (other, "bert"), width - 6 - len(" · to 2,000 ids"))
        titles.append("".join(text for text, _ in title_cell(((shown, True),), states, width, 12)))
    assert cell_len(titles[0]) <= width - 6
    assert titles[0] != titles[1]


def test_a_short_title_is_used_before_a_name_is_cut() -> None:
    names = {"vocabulary": ("3 Vocabulary", "3 Vocab")}
    for width, shown in ((40, "3 Vocabulary"), (28, "3 Vocab")):
        assert titles(names, ("vocabulary",), "vocabulary", width, ("to 2,000 ids",)) == [(shown, True)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("key", ["2", "3"])
@pytest.mark.slow
async def test_a_filter_is_in_the_title_also_after_another_recipe(size: tuple[int, int], key: str) -> None:
    app = explorer()
    async with app.run_test(size=size, notifications=False) as pilot:
        await settled(pilot)
        await pilot.press(key, "ampersand", *"zq", "enter")
        await settled(pilot)
        assert 'only "zq"' in screen_text(app)
        app.engine.send(do.SetRecipe(preset_named("bert").recipe, RUN))
        await settled(pilot)
        assert 'only "zq"' in screen_text(app)
        await pilot.press("escape")
        await settled(pilot)
        assert "only" not in screen_text(app)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_each_order_and_view_but_the_usual_one_is_in_a_title(size: tuple[int, int]) -> None:
    assert {*VIEWS} == {*GLYPH_MODES}
    app = explorer()
    async with app.run_test(size=size, notifications=False) as pilot:
        await settled(pilot)
        await pilot.press("3")
        for order in (*VOCABULARY_ORDERS[1:], VOCABULARY_ORDERS[0]):
            await pilot.press("S")
            await settled(pilot)
            assert order == VOCABULARY_ORDERS[0] or order in screen_text(app)
        await pilot.press("v")
        for mode in (*GLYPH_MODES[1:], GLYPH_MODES[0]):
            await pilot.press("v")
            await settled(pilot)
            assert app.main.states("encode") == ((VIEWS[mode],) if VIEWS[mode] else ())
            assert VIEWS[mode] in screen_text(app)


async def test_the_order_of_pairs_and_a_size_of_the_run_are_in_titles() -> None:
    app = explorer()
    async with app.run_test(size=(120, 40), notifications=False) as pilot:
        await settled(pilot)
        assert "to 300 ids" in screen_text(app)
        app.engine.send(do.SetRecipe(Recipe(objective="score"), Run()))
        await settled(pilot)
        await pilot.press("2", "S")
        await settled(pilot)
        assert "by count" in app.main.states("pairs")
        assert "by count" in screen_text(app)
        assert "to 300 ids" not in screen_text(app)


@pytest.mark.slow
async def test_a_page_of_the_encoding_is_in_its_title_and_goes_with_another_recipe() -> None:
    app = explorer("hugging pugs is fun " * 50)
    async with app.run_test(size=(80, 24), notifications=False) as pilot:
        await settled(pilot)
        await pilot.press("4", "pagedown")
        await settled(pilot)
        assert "page 2" in screen_text(app)
        app.engine.send(do.SetRecipe(preset_named("bert").recipe, RUN))
        await settled(pilot)
        assert app.main.states("encode")[0].startswith("at the cursor, ")
        assert "page 2" not in screen_text(app)
        assert any(any(text.strip() for text, _ in cell) for cell in app.main.encode.tokens._painted)


async def test_the_pages_of_the_encoding_are_in_its_title() -> None:
    """How many there are, whether one is about the cursor, and where the losses are."""
    app = explorer("hugging  pugs is fun " * 9)
    async with app.run_test(size=(80, 24), notifications=False) as pilot:
        await settled(pilot)
        (first,) = app.main.states("encode")
        last = int(first.removeprefix("page 1 of ").removesuffix(" (pgdn)"))
        assert first in screen_text(app)
        await pilot.press("4", *["pagedown"] * (last + 2))
        await settled(pilot)
        assert app.main.states("encode") == (f"page {last} of {last} (pgup)",)
        app.engine.send(do.SetRecipe(preset_named("bert").recipe, RUN))
        await settled(pilot)
        assert not app.main.states("encode")[0].startswith(f"page {last} ")
        await pilot.press("end")
        await settled(pilot)
        (title,) = app.main.states("encode")
        assert title.startswith("at the cursor, ")
        assert title.endswith(" pages (pgdn: what is lost comes last)")
        assert title in screen_text(app)
        await pilot.press("home")
        await settled(pilot)
        assert app.main.states("encode")[0].startswith("page 1 of ")
        await pilot.press("ctrl+u", "a")
        await settled(pilot)
        assert app.main.states("encode") == ()


@pytest.mark.slow
async def test_a_page_goes_when_the_text_has_fewer_pages() -> None:
    app = explorer("an encoding of many tokens " * 40)
    async with app.run_test(size=(80, 24), notifications=False) as pilot:
        await settled(pilot)
        await pilot.press("4", *["pagedown"] * 30)
        await settled(pilot)
        page = app.main.states("encode")
        assert page not in ((), ("page 2",))
        await pilot.press("end", "0", "G")
        await settled(pilot)
        assert any(any(text.strip() for text, _ in cell) for cell in app.main.encode.tokens._painted)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES[:3])
async def test_a_filter_and_a_view_of_compare_are_in_its_titles(size: tuple[int, int]) -> None:
    app = explorer()
    async with app.run_test(size=size, notifications=False) as pilot:
        await settled(pilot)
        screen = await comparing(app, pilot)
        await pilot.press("ampersand", *"zq", "enter")
        await settled(pilot)
        assert 'only "zq"' in screen_text(app)
        await pilot.press("r", "v", "v", "v")
        await settled(pilot)
        assert screen.states("vocabulary") == ('only "zq"', "without marks", "hex")
        assert all(column.titles[0].endswith("hex · to 300 ids") for column in screen.columns[:2])
        assert screen.states("measures") == ()
        await pilot.press("1")
        await settled(pilot)
        assert "hex" in screen_text(app)
        await pilot.press("3", "escape")
        await settled(pilot)
        assert 'only "' not in screen_text(app)


def test_every_pane_of_both_screens_names_its_states() -> None:
    app = explorer()
    main = MainScreen(app.engine)
    screens = (main, CompareScreen(app.engine))
    for screen in screens:
        for name in screen.panes:
            assert screen.states(name) == ()


@pytest.mark.slow
async def test_a_screen_that_resumes_keeps_its_active_pane() -> None:
    app = explorer()
    async with app.run_test(size=(80, 24), notifications=False) as pilot:
        await settled(pilot)
        screen = await comparing(app, pilot)
        for pane in screen.panes:
            screen.go(pane)
            await settled(pilot)
            screen.set_focus(None)  # as while the pane is laid out after a dialog has closed
            screen.post_message(events.ScreenResume())
            await settled(pilot)
            assert screen.active == pane


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tok[/]en", "[red]x[/red]", "[@click=app.quit]y"])
async def test_a_title_shows_markup_as_text(name: str) -> None:
    app = explorer()
    async with app.run_test(size=(200, 60), notifications=False) as pilot:
        await settled(pilot)
        app.main.narrow("pairs", name)
        await settled(pilot)
        assert f'only "{name}"' in screen_text(app)
        app.compare([
            ColumnWanted(preset_named(preset).recipe, RUN, name=name) for preset in ("gpt2", "minbpe")
        ])
        await until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.snapshot is not None)
        await settled(pilot)
        assert f"┌─ A {name} " in screen_text(app)


@pytest.mark.slow
async def test_a_page_of_the_encoding_stays_within_the_pages_of_a_larger_screen() -> None:
    app = explorer("an encoding of many tokens " * 40)
    async with app.run_test(size=(80, 24), notifications=False) as pilot:
        await settled(pilot)
        await pilot.press("4", *["pagedown"] * 30)
        await settled(pilot)
        before = app.main.states("encode")
        await pilot.resize_terminal(120, 40)
        await settled(pilot)
        assert app.main.states("encode") not in ((), before)
        assert any(any(text.strip() for text, _ in cell) for cell in app.main.encode.tokens._painted)


def test_the_state_of_a_pane_follows_its_name_among_the_tabs() -> None:
    names = (("2 Pairs", True), ("3 Vocabulary", False))
    text = "".join(part for part, _ in title_cell(names, ("by count",), 60))
    assert text == "2 Pairs · by count │ 3 Vocabulary"


@pytest.mark.parametrize(("width", "text"), [
    (41, "2 Tokens │ 3 Vocabulary · most used"), (40, "2 Toke… │ 3 Vocabulary · most used"),
    (37, "2 T… │ 3 Vocabulary · most used"), (36, "2 │ 3 Vocabulary · most used"),
])
def test_a_hidden_pane_is_named_as_far_as_there_is_room(width: int, text: str) -> None:
    title = title_cell((("2 Tokens", False), ("3 Vocabulary", True)), ("most used",), width)
    assert "".join(part for part, _ in title) == text
