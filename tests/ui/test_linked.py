"""A token that is chosen in one pane is bold in all of them; clicks on chips and heads."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import groupby
from typing import Any

import pytest
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.widget import Widget
from waiting import settled, strips_of, until

from tokentui.axes import preset
from tokentui.learn.rows import Entry
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.views import ColumnWanted
from tokentui.ui.app import ExplorerApp
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.panes.column_tables import ColumnTable


@asynccontextmanager
async def trained(
    name: str = "gpt2", size: tuple[int, int] = (120, 40), step: int = 60, typed: str = "the other the"
) -> AsyncIterator[tuple[ExplorerApp, Pilot[None]]]:
    app = ExplorerApp(lambda publish: Session(publish, preset(name)), typed=typed,
        begin=lambda session: session.send(do.Open(("sample:english",))))
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        app.engine.send(do.GoTo(step))
        await settled(pilot)
        yield app, pilot


def bold(app: ExplorerApp, pane: Widget) -> list[str]:
    """The bold texts of a pane."""
    x, y, width, height = pane.content_region
    found = []
    for strip in strips_of(app)[y : y + height]:
        runs = groupby(strip.crop(x, x + width), lambda run: bool(run.style and run.style.bold))
        found += ["".join(run.text for run in text).strip() for is_bold, text in runs if is_bold]
    return found


def held(table: ColumnTable) -> list[Any]:
    """The rows of a table that are seen."""
    return [row for n in range(table.size.height - 1) if (row := table.held_at(n)) is not None]


def row_of(app: ExplorerApp, piece: bytes) -> int:
    table = app.main.vocabulary
    rows = [(n, table.held_at(n)) for n in range(table.total)]
    return next(n for n, row in rows if isinstance(row, Entry) and row.piece == piece)


async def test_a_chosen_token_is_bold_wherever_it_is_seen() -> None:
    async with trained() as (app, pilot):
        main = app.main
        assert "·the" not in bold(app, main.text)
        await pilot.press("3")
        main.vocabulary.move_to(row_of(app, b" the"))
        await until(pilot, lambda: main.linked == b" the")
        await until(pilot, lambda: "·the" in bold(app, main.text))
        assert {text for text in bold(app, main.text) if "the" in text} == {"·the"}
        assert bold(app, main.encode.tokens).count("·the") == 1
        await pilot.press("1")  # where nothing is chosen, the last one stays
        await settled(pilot)
        assert main.linked == b" the"
        await pilot.press("escape")
        await until(pilot, lambda: "·the" not in bold(app, main.text))
        # The cursor of the corpus and of the line choose too.
        await pilot.press("right", "right", "right")
        await until(pilot, lambda: main.linked and main.linked == main.text.chosen)
        first = main.linked
        await pilot.press("4", "home")
        await until(pilot, lambda: main.linked == b"t" != first)
        await pilot.press(*["right"] * 3)
        await until(pilot, lambda: main.linked == main.encode.chosen == b" o")
        assert "·o" in bold(app, main.text)
        # A click on a head sorts, or says why not.
        y, begin = main.vocabulary.content_region.y, main.vocabulary.content_region.x
        heads = strips_of(app)[y].crop(begin).text
        for head, order in (("id", "id"), ("token", "longest"), ("uses", "most used"), ("step", "newest")):
            await pilot.click(offset=(begin + heads.index(head), y))
            await until(pilot, lambda: main.viewport.vocabulary_order == order)  # noqa: B023
        heads = strips_of(app)[main.pairs.content_region.y].text
        await pilot.click(offset=(heads.index("count"), main.pairs.content_region.y))
        await until(pilot, lambda: any("count: pairs come" in note for note in app.messages))


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
@pytest.mark.first_run(cases=1)
async def test_a_click_on_a_chip_sets_the_cursor_and_a_second_one_inspects(size: tuple[int, int]) -> None:
    async with trained(size=size) as (app, pilot):
        main = app.main
        for column, row in ((17, 1), (9, 3)):
            x, y = main.text.region.x + column, main.text.region.y + row
            drawn = strips_of(app)[y].text
            while drawn[x] in " │":
                x -= 1
            await pilot.click(offset=(x, y))
            await until(pilot, lambda: main.text.cursor is not None and main.linked == main.text.chosen)
            # The token that is drawn at the place of the click is the one in reverse.
            strip = strips_of(app)[y].crop(x, x + 1)
            assert [bool(style and style.reverse) for _, style, _ in strip] == [True]
        await pilot.click(offset=(x, y))
        await until(pilot, lambda: isinstance(app.screen, InspectScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is main)


@pytest.mark.slow
async def test_a_click_on_a_typed_token_goes_to_its_word() -> None:
    async with trained(size=(80, 24), typed=" ".join(f"the word{n}" for n in range(40))) as (app, pilot):
        encode = app.main.encode
        for line in (0, 1):  # a token, and its id
            place = encode.tokens.region.offset + Offset(12, line)
            token = encode.token_there(12, line)
            assert token is not None
            await pilot.press("escape")
            await pilot.click(offset=place)
            await until(pilot, lambda: encode.line.has_focus and app.main.linked == token.piece)  # noqa: B023
            assert token.start <= encode.line.cursor_position < token.end
            await pilot.click(offset=place)
            await until(pilot, lambda: isinstance(app.screen, InspectScreen))
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)
        await pilot.press("i", "pagedown")
        later = encode.token_there(12, 0)
        assert later is not None
        assert later.start > 20


@pytest.mark.slow
async def test_a_token_that_is_chosen_in_compare_is_bold_in_all_columns_and_in_the_text() -> None:
    """The columns list pairs: the one that becomes the token is bold too."""
    async with trained(step=0, typed="the other then") as (app, pilot):
        app.compare((ColumnWanted(preset("gpt2")), ColumnWanted(preset("gpt4"))))
        await until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.snapshot is not None)
        screen = app.screen
        assert isinstance(screen, CompareScreen)
        await settled(pilot)
        await pilot.press(*["n"] * 12)
        await settled(pilot)
        # A candidate of one column is bold in the other, where it is one.
        here, other = screen.columns[0].table, screen.columns[1].table
        both = {row.token for row in held(other)}
        place, token = next((n, row.token) for n, row in enumerate(held(here)) if n and row.token in both)
        here.move_to(place)
        await until(pilot, lambda: screen.linked == token)
        for table in (here, other):
            assert [text for text in bold(app, table) if "+" in text]
        # One of the typed text is bold in all rows, and in the list of both vocabularies.
        await pilot.press("4", "i", "home")
        await settled(pilot)
        linked = screen.linked
        assert linked.startswith(b"t")
        assert linked == screen.encode.rows.token_at(screen.column_here().key, 0)
        text = linked.decode()
        assert bold(app, screen.encode.rows).count(text) >= 2
        await pilot.press("escape", "3")
        await settled(pilot)
        shared = screen.vocabulary.table
        await until(pilot, lambda: shared.total)
        shared.move_to(1)
        await until(pilot, lambda: screen.linked == screen.vocabulary.chosen != linked)
        assert screen.linked.decode().replace(" ", "·") in bold(app, shared)
