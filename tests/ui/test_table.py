"""The table holds a window, repaints changed lines only, and stands any size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import on
from textual.app import App, ComposeResult
from textual.events import MouseScrollDown, MouseScrollUp
from textual.geometry import Region
from textual.strip import Strip
from waiting import settled, strips_of

from tokentui.ui.draw.table import GAP, Column, TableRow, VirtualTable, place_columns

COLUMNS = (
    Column("id", width=6, align="right", priority=1),
    Column("token", flex=1, min_width=4, priority=2),
    Column("count", width=8, align="right"),
)


def row(index: int, text: str = "") -> TableRow:
    return TableRow(
        index, (((str(index), "muted"),), ((text or f"token{index}", ""),), ((f"{index * 7}", ""),))
    )


class Spied(VirtualTable):
    """A table that counts what it draws."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.drawn: list[int] = []
        self.refreshed: list[Region] = []
        self.layouts = 0

    def render_line(self, y: int) -> Strip:
        self.drawn.append(y)
        return super().render_line(y)

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Any:
        # Spies start when the table is built.
        if hasattr(self, "layouts"):
            self.layouts += layout
            self.refreshed += regions or [Region(-1, -1, 0, 0)]
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def forget(self) -> None:
        self.drawn.clear()
        self.refreshed.clear()
        self.layouts = 0


class TableApp(App[None]):
    """An owner that answers each wish from `source`."""

    def __init__(self, total: int = 100_000, answer: bool = True) -> None:
        super().__init__()
        self.total = total
        self.answer = answer
        self.table = Spied(COLUMNS)
        self.source: Callable[[int], TableRow] = row
        self.wanted: list[tuple[int, int]] = []
        self.moved: list[tuple[int, object]] = []
        self.chosen: list[tuple[int, object]] = []

    def compose(self) -> ComposeResult:
        yield self.table

    def on_mount(self) -> None:
        self.table.update_rows(0, [], self.total)
        self.table.focus()

    @on(VirtualTable.WindowWanted)
    def give(self, message: VirtualTable.WindowWanted) -> None:
        self.wanted.append((message.top, message.height))
        if self.answer:
            self.show(message.top, message.height)

    def show(self, top: int, height: int) -> None:
        self.table.update_rows(
            top, [self.source(n) for n in range(top, min(self.total, top + height))], self.total
        )

    @on(VirtualTable.CursorMoved)
    def note_move(self, message: VirtualTable.CursorMoved) -> None:
        self.moved.append((message.index, message.key))

    @on(VirtualTable.Chosen)
    def note_choice(self, message: VirtualTable.Chosen) -> None:
        self.chosen.append((message.index, message.key))

    @property
    def lines(self) -> list[str]:
        return [strip.text for strip in strips_of(self)]


async def test_a_window_of_a_long_table() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 11)) as pilot:
        await settled(pilot)
        assert app.wanted == [(0, 20)]
        assert app.lines[0].split() == ["id", "token", "count"]
        assert app.lines[1].startswith("▸      0 token0 ")
        assert app.lines[1].rstrip("▐ ").endswith(" 0")
        assert app.lines[10].split()[:3] == ["9", "token9", "63"]
        await pilot.press("end")
        await settled(pilot)
        assert app.wanted[1:] == [(99_980, 20)]
        assert app.lines[10].split()[1:] == ["99999", "token99999", "699993▐"]
        assert app.moved[-1] == (99_999, 99_999)
        await pilot.press("enter", "home")
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert app.chosen == [(99_999, 99_999), (0, 0)]
        assert app.table.top == 0


@pytest.mark.usefixtures("every_frame")
@pytest.mark.parametrize("total", [100, 100_000])
async def test_a_key_costs_few_lines(total: int) -> None:
    app = TableApp(total)
    async with app.run_test(size=(40, 11)) as pilot:
        await settled(pilot)
        app.table.forget()
        await pilot.press("down")
        await settled(pilot)
        assert sorted(set(app.table.drawn)) == [1, 2]
        assert len(app.table.drawn) == 2
        assert [region.y for region in app.table.refreshed] == [1, 2]
        assert all(region.height == 1 and region.width == 40 for region in app.table.refreshed)
        await pilot.press(*["down"] * 8)
        await settled(pilot)  # what these keys draw is not counted with the next one
        app.table.forget()
        await pilot.press("down")
        await settled(pilot)
        assert len(app.table.drawn) <= 11  # the rows, and the heads: a scroll paints all lines
        assert app.table.top == 1
        app.table.forget()
        await pilot.press("pagedown")
        await settled(pilot)
        assert len(app.table.drawn) <= 22
        assert app.table.layouts == 0


@pytest.mark.usefixtures("every_frame")
async def test_only_changed_rows_are_painted() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 11)) as pilot:
        await settled(pilot)
        app.table.forget()
        app.show(*app.table.window)
        await settled(pilot)
        assert not app.table.refreshed
        assert not app.table.drawn
        app.source = lambda n: row(n, "new" if n in (3, 7, 15) else "")
        app.show(*app.table.window)
        await settled(pilot)
        assert app.table.refreshed == [Region(0, 4, 40, 1), Region(0, 8, 40, 1)]
        assert app.table.drawn == [4, 8]
        assert app.lines[4].split()[:2] == ["3", "new"]
        app.table.forget()
        app.total += 5  # a vocabulary that grows by its end
        app.show(*app.table.window)
        await settled(pilot)
        assert not app.table.refreshed
        assert not app.table.layouts


async def test_the_bar_that_comes_moves_all_columns() -> None:
    app = TableApp(10)
    async with app.run_test(size=(40, 11)) as pilot:
        await settled(pilot)
        assert all(line[39] != " " for line in app.lines)
        app.total = 11
        app.show(0, 11)
        await settled(pilot)
        assert all(line[39] in " ▐" and line[38] != " " for line in app.lines)


async def test_the_cursor_does_not_reverse_a_bar() -> None:
    app = TableApp(5)
    app.source = lambda index: TableRow(index, (((str(index), ""),), (("███▌", "primary"),), (("7", ""),)))
    async with app.run_test(size=(40, 11)) as pilot:
        await settled(pilot)
        looks = [
            {segment.text.strip(): segment.style for segment in app.table.render_line(line)}
            for line in (1, 2)
        ]
        assert app.table.cursor == 0
        assert looks[0]["███▌"] == looks[1]["███▌"]
        assert looks[0]["7"] != looks[1]["7"]


async def test_place_holders_until_rows_come() -> None:
    app = TableApp(answer=False)
    async with app.run_test(size=(40, 11)) as pilot:
        await settled(pilot)
        assert [line.split()[0] for line in app.lines[2:]] == ["…"] * 9
        assert app.wanted == [(0, 20)]
        assert app.moved == [(0, None)]
        # too few: what is missing is not asked for again and again
        app.table.update_rows(0, [row(0)], app.total)
        await settled(pilot)
        assert app.wanted == [(0, 20)]
        assert app.moved == [(0, None), (0, 0)]
        await pilot.press("enter", "down", "enter")
        await settled(pilot)
        assert app.chosen == [(0, 0)]
        assert app.table.cursor_key is None
        app.show(0, 20)
        await settled(pilot)
        assert app.moved[2:] == [(1, None), (1, 1)]
        assert app.table.cursor_key == 1


async def test_keys_wheel_and_click() -> None:
    app = TableApp(50)
    async with app.run_test(size=(40, 11)) as pilot:
        await settled(pilot)
        for key, cursor, top in [
            ("k", 0, 0), ("j", 1, 0), ("up", 0, 0), ("pagedown", 9, 9), ("pagedown", 18, 18),
            ("pageup", 9, 9),
            ("end", 49, 40), ("down", 49, 40), ("pagedown", 49, 40), ("home", 0, 0), ("pageup", 0, 0),
        ]:  # fmt: skip
            await pilot.press(key)
            assert (app.table.cursor, app.table.top) == (cursor, top), key
        await pilot._post_mouse_events([MouseScrollDown], app.table, button=0)
        assert (app.table.cursor, app.table.top) == (0, 2)
        await pilot._post_mouse_events([MouseScrollUp], app.table, button=0)
        await pilot._post_mouse_events([MouseScrollUp], app.table, button=0)
        assert app.table.top == 0
        await pilot.click(app.table, offset=(5, 4))
        assert app.table.cursor == 3
        await pilot.click(app.table, offset=(5, 0))
        assert app.table.cursor == 3
        await pilot.click(app.table, offset=(39, 10))
        assert (app.table.cursor, app.table.top) == (3, 40)
        await pilot.click(app.table, offset=(39, 1))
        assert app.table.top == 0


async def test_rows_that_go_take_the_cursor_along() -> None:
    app = TableApp(50)
    async with app.run_test(size=(40, 11)) as pilot:
        await settled(pilot)
        app.table.move_to(30)
        await settled(pilot)
        app.total = 5
        app.show(0, 5)
        await settled(pilot)
        assert (app.table.cursor, app.table.top) == (4, 0)
        assert app.moved[-1] == (4, 4)
        assert [line.strip() for line in app.lines[6:]] == [""] * 5
        app.table.update_rows(0, [], 0)
        await pilot.press("down", "enter", "end", "pagedown")
        assert (app.table.cursor, app.table.top, app.table.cursor_key) == (0, 0, None)
        assert app.chosen == []


async def test_resize_to_nothing_and_back() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 11)) as pilot:
        await settled(pilot)
        await pilot.press("pagedown", "down")
        await settled(pilot)
        before, cursor = app.lines, app.table.cursor
        for size in [(1, 1), (0, 0), (2, 2), (3, 1), (1, 30), (200, 1), (5, 3), (40, 11)]:
            await pilot.resize_terminal(*size)
            await pilot.press("down", "up", "pagedown", "pageup")
            await settled(pilot)
            app.table.move_to(cursor)
            await settled(pilot)
        app.table.show_row(0)
        app.table.show_row(cursor)
        await settled(pilot)
        assert app.table.cursor == cursor
        assert sorted(line.strip("▐ ") for line in app.lines if "token10" in line) == sorted(
            line.strip("▐ ") for line in before if "token10" in line
        )
        assert len(app.lines[0]) == 40


async def test_the_cursor_shows_without_colors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = TableApp(answer=False)
    async with app.run_test(size=(40, 6)) as pilot:
        cells = (((("7", ""),)), (("\u241b", ""), ("\u241b", "control")), (("1", ""),))
        app.table.update_rows(0, [TableRow(0, cells, mark="=")] * 3, 3)
        await settled(pilot)
        strips = strips_of(app)
        assert strips[1].text.startswith("=      7 ")
        assert [style.reverse for text, style, _ in strips[1] if style and "\u241b" in text] == [True, False]
        assert [bool(style.reverse) for text, style, _ in strips[2] if style and "\u241b" in text] == [
            False, True,
        ]
        app.table.update_rows(0, [row(n) for n in range(3)], 3)
        await settled(pilot)
        assert app.lines[1].startswith("▸      0 ")


async def test_find_marks_its_matches() -> None:
    app = TableApp(20)
    async with app.run_test(size=(40, 11)) as pilot:
        await settled(pilot)
        app.table.find = "EN7"
        await settled(pilot)
        strips = strips_of(app)
        assert [text for text, style, _ in strips[8] if style and style.underline] == ["en7"]


async def test_theme_and_columns_can_change() -> None:
    app = TableApp(20)
    async with app.run_test(size=(40, 11)) as pilot:
        await settled(pilot)
        dark = strips_of(app)[3]
        app.theme = "textual-light"
        await settled(pilot)
        assert strips_of(app)[3] != dark
        rows = [row(n) for n in range(20)]
        app.table.update_rows(0, rows, 20, [Column(width=3), Column(flex=1)])
        await settled(pilot)
        assert app.lines[0].split() == ["▸", "0", "token0", "▐"]


COLUMN = st.builds(Column, width=st.integers(1, 9), priority=st.integers(0, 2)) | st.builds(
    Column, flex=st.integers(1, 4), min_width=st.integers(1, 9), priority=st.integers(0, 2)
)


@given(st.lists(COLUMN, max_size=5), st.integers(0, 60))
def test_columns_fill_but_never_exceed_the_room(columns: list[Column], room: int) -> None:
    places = place_columns(tuple(columns), room)
    least = [column.min_width if column.flex else column.width for column in columns]
    used = sum(width + gap for _, width, gap in places)
    assert used <= room
    assert bool(places) == bool(columns and room)
    shown = [column for column, _, _ in places]
    assert shown == sorted(shown)
    if len(places) > 1:
        assert all(width >= least[column] for column, width, _ in places)
    if any(columns[column].flex for column in shown):
        assert used == room
    for n, column in enumerate(columns):
        if n not in shown and room:
            assert all(columns[m].priority >= column.priority for m in shown)
    if sum(one + GAP for one in least) - GAP <= room and room:
        assert len(places) == len(columns)


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.sets(st.integers(0, 5)), st.integers(0, 60))
def test_an_empty_cell_gives_its_place_to_the_one_at_its_left(
    right: list[bool], empty: set[int], room: int
) -> None:
    columns = tuple(
        Column(width=4 + n, align="right" if one else "left", priority=n) for n, one in enumerate(right)
    )
    places = place_columns(columns, room)
    joined = place_columns(columns, room, frozenset(empty))
    assert sum(width + gap for _, width, gap in joined) == sum(width + gap for _, width, gap in places)
    kept = [column for column, _, _ in joined]
    for at, (column, _, _) in enumerate(places):
        if column in empty and at and column not in kept:
            assert columns[max(one for one in kept if one < column)].align == "left"
        else:
            assert column in kept


async def test_a_long_token_takes_what_the_figure_beside_it_leaves_free() -> None:
    columns = (Column("token", flex=1, min_width=4), Column("count", width=8, align="right"))
    rows = [
        TableRow(n, (((token, ""),), ((count, ""),)))
        for n, (token, count) in enumerate([("abcdefghijk", "5"), ("abcdefghijk", "12345678"), ("ab", "7")])
    ]
    app = TableApp()
    async with app.run_test(size=(17, 6)) as pilot:
        app.table.update_rows(0, rows, len(rows), columns)
        await pilot.pause()
        shown = [app.table.render_line(y).text[2:17] for y in range(1, 4)]
    assert shown == ["abcdefghijk   5", "abcde… 12345678", "ab            7"]
