"""The second wall alone: hostile text in ordinary widgets, and what is drawn of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.app import App, ComposeResult
from textual.color import Color
from textual.content import Content
from textual.filter import LineFilter
from textual.strip import Strip
from textual.widgets import DataTable, Input, Label, OptionList, Static
from waiting import screen_text, strips_of, until

from tokentui.core.safetext import is_safe
from tokentui.thinwire import SafeTextFilter
from tokentui.ui.draw.text import SAFE_TEXT

HOSTILE = [
    "\x1b[31mred", "\x1b]52;c;eA==\x07", "\x1b\x07]52;c;eA==\x9c", "\x9b2J", "nul\0", "del\x7f", "so\x0e",
    "c1\x85\x90\x9f", "\u202eback\u202c", "\u2066\u2069", "a\u200bb\u2060", "\ufeffbom", "soft\u00ad",
    "tag\U000e0041",
    "1\ufe0f\u20e3",
    "👨\u200d👩\u200d👧", "\ue000\u0378", "wide\u3000space\xa0", "\u2028\u2029", "\u061c",
]
BLACK = Color(0, 0, 0)


def guarded(*segments: Segment) -> Strip:
    return Strip(list(segments)).apply_filter(SafeTextFilter(SAFE_TEXT), BLACK)


def check(strip: Strip) -> None:
    for text, style, control in strip:
        assert is_safe(text)
        assert not control
        assert style is None or (not style.link and not any(str(key) == "@click" for key in style.meta))
    assert strip.cell_length == sum(cell_len(segment.text) for segment in strip)


ANY_LINE = st.lists(
    st.text(st.sampled_from("".join(HOSTILE) + "  x語") | st.characters(), max_size=12),
    max_size=5,
)


@given(ANY_LINE)
def test_any_line_is_safe_and_keeps_its_width(texts: list[str]) -> None:
    before = Strip([Segment(text, Style(bold=n % 2 == 0)) for n, text in enumerate(texts)])
    before = Strip(list(before))  # measured by Rich
    after = before.apply_filter(SafeTextFilter(SAFE_TEXT), BLACK)
    check(after)
    assert after.cell_length == before.cell_length


@given(st.text(st.characters(codec="utf-8"), max_size=20).filter(is_safe))
def test_safe_lines_stay_as_they_are(text: str) -> None:
    segments = [Segment(text, Style(bold=True)), Segment("x", None)]
    assert SafeTextFilter(SAFE_TEXT).apply(segments, BLACK) is segments


def test_stand_ins_are_one_for_one() -> None:
    strip = guarded(Segment("a\x1b[0m\x7fb        "), Segment("│"))
    assert strip.text == "a␛[0m␡b      │"
    assert guarded(Segment("x\u3000y\u2066   "), Segment("│")).text == "x〓y\ufffd  │"


def test_blanks_are_used_up_before_anything_is_cut() -> None:
    # One blank of each gap stays, so columns stay apart; then the end of the hostile segment goes.
    assert guarded(Segment("\0\0ab "), Segment("  cd "), Segment("│")).text == "␀␀ab cd │"
    assert guarded(Segment("ab\0\0"), Segment("│")).text == "ab│"


def test_links_and_actions_go_but_scroll_bars_work() -> None:
    style = Style(
        bold=True, link="http://x", meta={"@click": "app.quit", "@mouse.down": "app.quit", "row": 3}
    )
    (segment,) = guarded(Segment("x", style))
    assert segment.style is not None
    assert segment.style.bold
    assert segment.style.link is None
    assert segment.style.meta == {"row": 3}
    (segment,) = guarded(Segment("x", Style(meta={"@mouse.down": "grab"})))
    assert segment.style is not None
    assert segment.style.meta == {"@mouse.down": "grab"}


class HostileApp(App[None]):
    CSS = "Static, Label, DataTable, OptionList { border: round red; width: 60; height: 5; }"

    def __init__(self, text: str, guard: bool = True) -> None:
        super().__init__()
        self.text = text
        self.guards = [SafeTextFilter(SAFE_TEXT)] if guard else []

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), *self.guards]

    def compose(self) -> ComposeResult:
        first = Static(Content(self.text))
        first.border_title = Content(self.text)
        yield first
        yield Label(self.text, markup=False)
        yield Input(self.text)
        table: DataTable[Text] = DataTable()
        table.add_column(Text(self.text))
        table.add_row(Text(self.text))
        yield table
        yield OptionList(Content(self.text))

    async def show(self, text: str, title: str) -> None:
        self.text = text
        await self.recompose()
        self.clear_notifications()
        self.notify(text, title=title, markup=False)


@pytest.mark.slow
async def test_no_widget_draws_hostile_text() -> None:
    app = HostileApp("")
    async with app.run_test(size=(80, 40), notifications=True) as pilot:
        for n, text in enumerate(HOSTILE):
            title = f"note {n} of them"
            await app.show(text, title)
            await until(pilot, lambda title=title: title in screen_text(pilot))  # type: ignore[misc]
            strips = strips_of(app)
            assert len(strips) == 40
            for strip in strips:
                check(strip)
                assert strip.cell_length == 80
                assert is_safe(strip.text)
            boxed = [strip.text for strip in strips if strip.text.startswith("│")]
            assert boxed
            assert {cell_len(line[: line.index("│", 1)]) for line in boxed if "│" in line[1:]} == {59}


async def test_without_the_guard_it_would() -> None:
    app = HostileApp("\x1b[31m\x9b", guard=False)
    async with app.run_test(size=(80, 40)) as pilot:
        await pilot.pause()
        assert any("\x1b" in strip.text for strip in strips_of(app))


class MarkupApp(HostileApp):
    def compose(self) -> ComposeResult:
        yield Static("[@click=app.exit]xxxxxxxx[/] [link='http://x/']y[/]")

    def on_mount(self) -> None:
        self.exits = 0

    def action_exit(self) -> None:
        self.exits += 1


@pytest.mark.parametrize("guard", [True, False])
async def test_actions_in_markup_do_nothing(guard: bool) -> None:
    app = MarkupApp("", guard)
    async with app.run_test(size=(80, 10)) as pilot:
        await pilot.click(Static, offset=(3, 1))
        await pilot.pause()
        assert app.exits == (0 if guard else 1)
        links = [
            style.link for strip in strips_of(app) for _, style, _ in strip if style
        ]
        assert any(links) is not guard
