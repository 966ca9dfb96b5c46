"""The bytes that keys cost on the line to a terminal: a row further, and the inspector."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import pytest
from rich.color import ColorSystem
from screens import screen_text
from textual._compositor import LayoutUpdate
from textual.geometry import Region
from textual.pilot import Pilot
from textual.strip import Strip
from waiting import settled, strips_of, until

from tokentui.axes import preset
from tokentui.recipe import Run, Stops
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.playground import PlayStart, preset_played
from tokentui.session.views import ColumnWanted
from tokentui.thinwire import DiffWriter, ScreenBuffer
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs.finder import FinderScreen
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.dialogs.life import LifeScreen
from tokentui.ui.dialogs.report_screen import ReportScreen
from tokentui.ui.dialogs.sizes import SizesScreen
from tokentui.ui.draw.chart_lines import ChartLines
from tokentui.ui.draw.text import clusters_of
from tokentui.ui.play_screen import PlayScreen

SIZES = {(80, 24): 1, (200, 60): 3}
"""The sizes of a screen, and how many times the bytes of the smaller one a key may cost there."""


class Drawn:
    """A terminal that is told what an app shows in a region, everywhere by default, whenever it is asked.

    Attributes:
        first: The bytes of the first time.
    """

    def __init__(self, app: ExplorerApp, region: Region | None = None) -> None:
        self.app, self._region = app, region or Region(0, 0, *app.size)
        self._picture = ScreenBuffer(*self._region.size, ColorSystem.EIGHT_BIT, clusters_of)
        self._wire = DiffWriter(back_color_erase=True)
        self.first = self.bytes()

    def bytes(self) -> int:
        """The bytes that show what has changed since the last call."""
        x, y, width, height = self._region
        lines = strips_of(self.app)[y : y + height]
        strips: list[Iterable[Strip]] = [[line.crop(x, x + width)] for line in lines]
        self._picture.draw(LayoutUpdate(strips, Region(0, 0, width, height)))
        return len(self._wire.frame(self._picture, (0, 0)).encode())


async def at_the_end(pilot: Pilot[None], app: ExplorerApp) -> None:
    await settled(pilot)
    app.engine.send(do.GoTo(300))
    await settled(pilot)
    assert app.main.snapshot is not None
    assert app.main.snapshot.main.at.step == 300


def explorer() -> ExplorerApp:
    return ExplorerApp(
        lambda publish: Session(publish, preset("gpt2")), typed="crowd and street",
        begin=lambda session: session.send(do.Open(("sample:english",))),
    )


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_a_row_further(size: tuple[int, int]) -> None:
    app = explorer()
    async with app.run_test(size=size) as pilot:
        await at_the_end(pilot, app)
        await pilot.press("B")
        await settled(pilot)
        assert app.main.text.boundaries == "age"
        drawn, costs = Drawn(app), []
        for _ in range(8):
            top = app.main.text.top_place
            await pilot.press("down")
            await settled(pilot)
            assert app.main.text.top_place != top
            costs.append(drawn.bytes())
        assert 0 < max(costs) < 2_000 * SIZES[size]


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_a_step_of_the_life_of_a_word_costs_no_more_than_going_there(size: tuple[int, int]) -> None:
    """The corpus follows the run in the tokens of the word. The box costs the move of its cursor."""
    app = explorer()
    async with app.run_test(size=size) as pilot:
        await at_the_end(pilot, app)
        await pilot.press("w", "w")
        await settled(pilot)
        life = app.screen
        assert isinstance(life, LifeScreen)
        assert life.life is not None
        assert life.box.outer_size.height > 5
        steps = [turn.number for turn in reversed(life.life.turns)]
        drawn, costs = Drawn(app), []
        for step in steps[1:]:
            await pilot.press("up")
            await settled(pilot)
            assert app.main.snapshot is not None
            assert app.main.snapshot.main.at.step == step
            costs.append(drawn.bytes())
        assert len(costs) > 2
        assert max(costs) < 1_500 * SIZES[size]
        await pilot.press("end", "escape")
        await settled(pilot)
        app.engine.send(do.GoTo(steps[0]))
        await settled(pilot)
        drawn = Drawn(app)
        for step, cost in zip(steps[1:], costs, strict=True):
            app.engine.send(do.GoTo(step))
            await settled(pilot)
            assert 0 < cost < drawn.bytes() + 1_000 * SIZES[size]


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_the_inspector_is_drawn_once(size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes within a moment is drawn together: a token, its places and how it was encoded."""
    monkeypatch.setattr("tokentui.ui.dialogs.inspect.PATIENCE_S", 30.0)
    app = explorer()
    async with app.run_test(size=size) as pilot:
        await at_the_end(pilot, app)
        await pilot.press("3")
        await settled(pilot)
        drawn = Drawn(app)
        await pilot.press("enter")
        await settled(pilot)
        inspector = app.screen
        assert isinstance(inspector, InspectScreen)
        assert None not in (inspector.view, inspector.places, inspector.found)
        assert inspector.box.outer_size.height > 8
        assert 0 < drawn.bytes() < 5_000 * SIZES[size]
        tell, known = inspector.tell, []

        def told(*words: Any, **more: Any) -> None:
            known.append(None not in (inspector.view, inspector.places, inspector.found))
            tell(*words, **more)

        monkeypatch.setattr(inspector, "tell", told)
        first = inspector.listing.rows
        await pilot.press("right")
        await settled(pilot)
        assert inspector.listing.rows != first
        assert known == [True]
        assert 0 < drawn.bytes() < 2_500 * SIZES[size]


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("steps", [range(11, 21), range(1, 21)], ids=len)
async def test_a_step_repaints_the_chips_that_it_changes(steps: range) -> None:
    """At 80x24 the first paint takes at most 16 kB, a step in the corpus pane at most 300 bytes at p90."""
    app = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert app.main.text.boundaries == "chips"
        assert Drawn(app).first < 16_000
        app.engine.send(do.GoTo(steps[0] - 1))
        await settled(pilot)
        drawn, costs = Drawn(app, app.main.text.region), []
        for step in steps:
            await pilot.press("n")
            await settled(pilot)
            assert app.main.snapshot is not None
            assert app.main.snapshot.main.at.step == step
            costs.append(drawn.bytes())
        assert 0 < sorted(costs)[9 * len(steps) // 10 - 1] < 300


@pytest.mark.slow
@pytest.mark.parametrize("start", [0, 15])
async def test_a_step_of_a_slow_run_costs_little_more_than_one_by_key(start: int) -> None:
    """The place of the merge is in view at 80x24, so only its underline changes."""
    app, goal = explorer(), start + 12
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        app.engine.send(do.GoTo(start))
        await settled(pilot)
        drawn, keys = Drawn(app), dict[int, int]()
        for step in range(start + 1, goal + 1):
            await pilot.press("n")
            await settled(pilot)
            keys[step] = drawn.bytes()
        app.engine.send(do.GoTo(start))
        app.engine.send(do.SetSpeed(5))
        await settled(pilot)
        drawn, run, announced, seen = Drawn(app), dict[int, int](), set[int](), app.main.snapshot
        await pilot.press("space")
        step = start
        while step < goal and app.main.text.top == 0:
            await until(pilot, lambda: app.main.snapshot is not seen)  # noqa: B023
            seen = app.main.snapshot
            assert seen is not None
            step = seen.main.at.step
            run[step] = run.get(step, 0) + drawn.bytes()
            announced |= {step} if seen.coming else set()
        run = {step: run[step] for step in sorted(run)[1:-1]}  # the first and the last are not whole
        assert len(run) > 1
        assert len(announced) > len(run) // 2
        assert sum(run.values()) < 1.5 * sum(keys[step] for step in run), (run, keys)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_a_family_and_letters_in_the_finder(size: tuple[int, int]) -> None:
    """A family draws one line; the finder draws its list once for each letter."""
    app = explorer()
    async with app.run_test(size=size) as pilot:
        await at_the_end(pilot, app)
        drawn = Drawn(app)
        for key in ("v", "escape", "w", "escape"):
            await pilot.press(key)
            await settled(pilot)
            assert 0 < drawn.bytes() < 400 * SIZES[size]
        await pilot.press("colon")
        await until(pilot, lambda: isinstance(app.screen, FinderScreen) and app.screen.listing.rows)
        await settled(pilot)
        assert 0 < drawn.bytes() < 6_000 * SIZES[size]
        for letter, most in (("t", 3_000), ("h", 2_000), ("e", 2_000)):
            await pilot.press(letter)
            await settled(pilot)
            cost = drawn.bytes()
            assert 0 < cost < most * SIZES[size], (letter, cost)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_a_chosen_token_is_made_bold_in_all_panes(size: tuple[int, int]) -> None:
    """A row further in the vocabulary, and a token further in the corpus."""
    app = explorer()
    async with app.run_test(size=size) as pilot:
        await at_the_end(pilot, app)
        for pane, key, most in (("3", "down", 1_200), ("1", "right", 1_500)):
            await pilot.press(pane)
            await settled(pilot)
            drawn, costs = Drawn(app), []
            for _ in range(16):
                await pilot.press(key)
                await settled(pilot)
                costs.append(drawn.bytes())
            assert 0 < max(costs) < most * SIZES[size], (pane, costs)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_dimmed_screen_is_drawn_once(size: tuple[int, int]) -> None:
    """Its frames cost their text, its rows of text nothing. A key in the dialog does not draw it again, and
    the end of the dialog draws what it covered."""
    app = explorer()
    async with app.run_test(size=size) as pilot:
        await at_the_end(pilot, app)
        assert app.main.text.boundaries == "chips"
        drawn = Drawn(app)
        most = {(80, 24): 7_200, (120, 40): 13_000, (200, 60): 17_000}[size]
        for key in ("F F", "e e", "T", "a", "colon", "g"):
            await pilot.press(*key.split())
            await settled(pilot)
            assert drawn.bytes() < most / 1.9, key
            while app.screen is not app.main:
                await pilot.press("escape")
                await settled(pilot)
            assert drawn.bytes() < most, key
        await pilot.press("u")
        await settled(pilot)
        assert drawn.bytes() < most / 1.9
        for _ in range(3):
            await pilot.press("down")
            await settled(pilot)
            assert 0 < drawn.bytes() < 400


async def test_a_picture_costs_little_and_nothing_while_it_stays() -> None:
    """At 80x24 the curve of Sizes takes at most 2 kB, a move of its cursor 600 bytes, and a turned axis is a
    new picture."""
    app = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("F", "s")
        await until(pilot, lambda: isinstance(app.screen, SizesScreen) and app.screen.chart.display)
        await settled(pilot)
        screen = app.screen
        assert isinstance(screen, SizesScreen)
        drawn = Drawn(app, screen.chart.region)
        assert 0 < drawn.first < 2_000
        screen.chart.show_picture(screen.chart.picture)
        screen.lay_out()
        await settled(pilot)
        assert drawn.bytes() == 0
        for key, most in (("left", 600), ("right", 600), ("home", 600), ("x", 2_000), ("X", 2_000)):
            await pilot.press(key)
            await settled(pilot)
            cost = drawn.bytes()
            assert 0 < cost < most, (key, cost)


CHARTS: dict[str, tuple[int, tuple[str, ...], str]] = {
    **{f"plots {place}": (1, ("v", "r"), str(place)) for place in range(1, 7)},
    "sizes": (1, ("F", "s"), ""),
    "facts: scripts": (1, ("F", "F"), "scripts"),
    "facts: lengths": (1, ("F", "F"), "characters"),
    "two columns: curves": (2, ("7",), ""),
    "three columns: curves": (3, ("7",), ""),
    "three columns: agreement": (3, ("d", "h"), ""),
    "four columns: agreement": (4, ("d", "h"), ""),
}
"""How to reach each chart: the columns, the keys, and the key of the section, or its name."""


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("name", CHARTS)
async def test_each_chart_costs_little_and_nothing_while_its_values_stay(name: str) -> None:
    """At 80x24 a chart takes at most 2 kB. Drawn again from equal values it takes none."""
    count, keys, section = CHARTS[name]
    recipes = [preset(one) for one in ("gpt2", "wordpiece", "llama2", "bert")[:count]]
    run = Run(Stops(merges=300))
    columns = [ColumnWanted(recipe, run) for recipe in recipes]
    app = ExplorerApp(
        lambda publish: Session(publish, recipes[0], run), run=run,
        begin=lambda session: session.send(do.Open(("sample:english",))),
        then=(lambda app: app.compare(columns)) if count > 1 else None,
    )
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        app.engine.send(do.GoTo(300))
        await settled(pilot)
        await pilot.press(*keys)
        await settled(pilot)
        screen = app.screen
        if isinstance(screen, ReportScreen):
            names = [one.name for one in screen.tabs]
            await pilot.press(*([str(1 + names.index(section))] if section in names else [*section]))
            await settled(pilot)
        chart = screen.query_one(ChartLines)
        assert chart.display
        drawn = Drawn(app, chart.region)
        assert 100 < drawn.first < 2_000
        picture = chart.picture
        assert picture is not None
        chart.show_picture(copy.deepcopy(picture))
        await settled(pilot)
        assert drawn.bytes() == 0
        await pilot.press("left")
        await settled(pilot)
        assert drawn.bytes() < 800
        if isinstance(screen, ReportScreen):  # `?` says what it shows, what its marks mean, and an example
            await pilot.press("question_mark")
            await settled(pilot)
            shows, marks, example = picture.about
            seen = " ".join(screen_text(app).replace("│", " ").split())
            assert all(words in seen for words in (shows, marks, example)), seen


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_a_letter_in_the_playground_and_in_the_line(size: tuple[int, int]) -> None:
    """In the playground it costs at most 1.5 times what it costs in the line of the encode pane."""
    app, typed = explorer(), "the street in the evening light"
    async with app.run_test(size=size) as pilot:
        await at_the_end(pilot, app)
        await pilot.press("i", "end", "space")
        await settled(pilot)
        line = await letters(pilot, app, typed)
    app = ExplorerApp(
        lambda publish: Session(publish, preset("gpt2")),
        playground=PlayStart("crowd and street ", (preset_played(),), 17),
    )
    async with app.run_test(size=size) as pilot:
        screen = app.screen
        assert isinstance(screen, PlayScreen)
        await until(pilot, lambda: screen.columns[0].open and screen.shown_text)
        await pilot.press("space", "backspace")
        await until(pilot, lambda: screen.shown_text == screen.editor.text)
        await settled(pilot)
        played = await letters(pilot, app, typed)
    assert sum(played) < 1.5 * sum(line)
    assert max(played) < 600 * SIZES[size]


async def letters(pilot: Pilot[None], app: ExplorerApp, typed: str) -> list[int]:
    """The bytes of each letter of a text."""
    drawn, costs = Drawn(app), []
    for letter in typed:
        await pilot.press("space" if letter == " " else letter)
        screen = app.screen
        if isinstance(screen, PlayScreen):
            await until(pilot, lambda shown=screen: shown.shown_text == shown.editor.text)  # type: ignore[misc]
        await settled(pilot)
        costs.append(drawn.bytes())
    return costs
