"""The terminal shows what it should, whatever was sent before: judged by a terminal in memory and a naive
writer of cells."""

from __future__ import annotations

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from terminal import Screen, seen
from textual._compositor import LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from tokentui.thinwire import DEFAULT_STYLE, CellStyle, DiffWriter, ScreenBuffer
from tokentui.thinwire.styles import cell_style, style_change

_WIDTH, _HEIGHT = 16, 8
_TEXTS = ["a", "b", " ", "   ", " " * 13, "│", "the", "猫", "か", "e\u0301"]
_STYLES = [
    None, Style(bold=True), Style(dim=True), Style(bold=True, dim=True), Style(reverse=True),
    Style(color="#ff5f5f"), Style(bgcolor="#121212"), Style(color="#121212", bgcolor="#d0d0d0"),
    Style(color="#010203", underline=True),
    Style(color="red"),
]
Lines = list[list[tuple[str, Style | None]]]
_segments = st.lists(st.tuples(st.sampled_from(_TEXTS), st.sampled_from(_STYLES)), max_size=8)
_lines = st.lists(_segments, min_size=_HEIGHT, max_size=_HEIGHT)
_system = st.sampled_from([ColorSystem.STANDARD, ColorSystem.EIGHT_BIT, ColorSystem.TRUECOLOR])


def strip(segments: list[tuple[str, Style | None]], width: int = _WIDTH) -> Strip:
    return Strip([Segment(text, style) for text, style in segments]).adjust_cell_length(width)


def update(lines: list[Strip], y: int = 0, x: int = 0) -> LayoutUpdate:
    return LayoutUpdate([[line] for line in lines], Region(x, y, lines[0].cell_length, len(lines)))


def naive(buffer: ScreenBuffer) -> str:
    """Every cell with its place and all of its looks."""
    parts = ["\x1b[0m\x1b[2J"]
    for y, row in enumerate(buffer.rows):
        for x, (text, style) in enumerate(zip(row.texts, row.styles, strict=True)):
            codes = [str(bit + 1) for bit in range(9) if style.attributes >> bit & 1]
            looks = ";".join(filter(None, ["0", *codes, style.foreground, style.background]))
            parts.append(f"\x1b[{y + 1};{x + 1}H\x1b[{looks}m{text}" if text else "")
    return "".join(parts)


class Shown:
    """A terminal in memory."""

    def __init__(self, width: int = _WIDTH, height: int = _HEIGHT) -> None:
        self.screen = Screen(width, height)
        self.screen.reset_mode(7, private=True)  # no wrapping, as the driver has it
        self.stream = pyte.Stream(self.screen)

    def cells(self) -> list[list[tuple[object, ...]]]:
        return [[seen(self.screen.buffer[y][x]) for x in range(_WIDTH)] for y in range(_HEIGHT)]


def of_a_naive_writer(buffer: ScreenBuffer) -> list[list[tuple[object, ...]]]:
    shown = Shown()
    shown.stream.feed(naive(buffer))
    return shown.cells()


@pytest.mark.slow
@settings(max_examples=30)  # the terminal in memory takes its time
@given(_system, st.lists(_lines, min_size=1, max_size=3), st.booleans())
def test_after_any_frames_the_terminal_shows_the_last(
    system: ColorSystem, screens: list[Lines], colored: bool
) -> None:
    buffer, shown = ScreenBuffer(_WIDTH, _HEIGHT, system), Shown()
    writer = DiffWriter(back_color_erase=colored)
    for lines in screens:
        buffer.draw(update([strip(line) for line in lines]))
        shown.stream.feed(writer.frame(buffer, (0, 0)))
        assert shown.cells() == of_a_naive_writer(buffer)


@settings(max_examples=30)
@given(_system, _lines, st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4), _segments), max_size=4))
def test_rows_that_move_are_moved(
    system: ColorSystem, lines: Lines, moves: list[tuple[int, int, list[tuple[str, Style | None]]]]
) -> None:
    """A block scrolls by some rows, beside columns that stay, with something drawn where it came from."""
    buffer, writer, shown = ScreenBuffer(_WIDTH, _HEIGHT, system), DiffWriter(), Shown()
    whole = [strip(line) for line in lines]
    buffer.draw(update(whole))
    shown.stream.feed(writer.frame(buffer, (3, 3)))
    block = [line.crop(0, 7) for line in whole]
    for by, row, segments in moves:
        block = block[by:] + block[:by]
        block[row] = strip(segments, 7)
        buffer.draw(update(block))
        shown.stream.feed(writer.frame(buffer, (3, 3)))
        assert shown.cells() == of_a_naive_writer(buffer)


def test_a_scrolled_screen_costs_no_more_than_its_first_row() -> None:
    buffer, writer = ScreenBuffer(60, 20, ColorSystem.EIGHT_BIT), DiffWriter()
    lines = [strip([(f"{n:03} " * 15, Style(bold=bool(n % 2)))], 60) for n in range(21)]
    buffer.draw(update(lines[:20]))
    first = writer.frame(buffer, (0, 0))
    buffer.draw(update(lines[1:]))
    second = writer.frame(buffer, (0, 0))
    assert len(second) < 120 < len(first)


class WrapsAtOnce(Screen):
    """A terminal whose cursor goes to the next line once the last column is drawn, whatever its mode."""

    def draw(self, data: str) -> None:
        """Draw text, a character at a time."""
        for char in data:
            super().draw(char)
            if self.cursor.x == self.columns:
                self.carriage_return()
                self.linefeed()


@given(st.lists(st.sets(st.integers(0, _WIDTH - 1)), min_size=_HEIGHT - 1, max_size=_HEIGHT - 1))
def test_rows_are_right_wherever_the_last_column_leaves_the_cursor(cells: list[set[int]]) -> None:
    buffer, writer = ScreenBuffer(_WIDTH, _HEIGHT, ColorSystem.EIGHT_BIT), DiffWriter()
    screen = WrapsAtOnce(_WIDTH, _HEIGHT)
    stream = pyte.Stream(screen)
    stream.feed(writer.frame(buffer, (0, 0)))
    rows = ["".join("x" if x in row else " " for x in range(_WIDTH)) for row in cells]
    buffer.draw(update([strip([(row, None)]) for row in rows]))
    stream.feed(writer.frame(buffer, (0, 0)))
    assert screen.display == [*rows, " " * _WIDTH]


def test_letters_have_their_colors_one_after_the_other() -> None:
    buffer, shown = ScreenBuffer(_WIDTH, _HEIGHT, ColorSystem.TRUECOLOR), Shown()
    styles = [Style(color="#102030"), Style(color="#405060", bold=True), None]
    buffer.draw(update([strip([("ab", style) for style in styles])]))
    shown.stream.feed(DiffWriter().frame(buffer, (0, 0)))
    cells = [shown.screen.buffer[0][x] for x in range(6)]
    assert [(cell.fg, cell.bold) for cell in cells[::2]] == [
        ("102030", False), ("405060", True), ("default", False)
    ]


def test_what_is_the_same_is_not_sent() -> None:
    buffer, writer = ScreenBuffer(_WIDTH, _HEIGHT, ColorSystem.EIGHT_BIT), DiffWriter()
    lines = [strip([("same", Style(bold=True))])] * _HEIGHT
    buffer.draw(update(lines))
    assert writer.frame(buffer, (0, 0))
    buffer.draw(update(lines))
    assert writer.frame(buffer, (0, 0)) == ""
    buffer.draw(update([strip([("same!", Style(bold=True))])], y=2))
    assert writer.frame(buffer, (0, 0)) == "\x1b[3;5H!\x1b[H"  # the style is bold still


def test_frames_that_were_never_sent_cost_nothing() -> None:
    buffer, writer = ScreenBuffer(_WIDTH, _HEIGHT, ColorSystem.EIGHT_BIT), DiffWriter()
    writer.frame(buffer, (0, 0))
    for number in range(100):
        buffer.draw(update([strip([(str(number), None)])]))
    assert writer.frame(buffer, (0, 0)) == "99\r"


def test_after_something_else_drew_all_is_sent_again() -> None:
    buffer, writer, shown = ScreenBuffer(_WIDTH, _HEIGHT, ColorSystem.EIGHT_BIT), DiffWriter(), Shown()
    buffer.draw(update([strip([("here", None)])] * _HEIGHT))
    shown.stream.feed(writer.frame(buffer, (0, 0)))
    shown.stream.feed("\x1b[2J\x1b[31mnoise from elsewhere")
    writer.forget()
    shown.stream.feed(writer.frame(buffer, (0, 0)))
    assert shown.cells() == of_a_naive_writer(buffer)


def test_what_was_drawn_for_a_larger_screen_is_cut() -> None:
    buffer, writer = ScreenBuffer(_WIDTH, _HEIGHT, ColorSystem.EIGHT_BIT), DiffWriter()
    buffer.draw(update([strip([("beyond", None)])] * _HEIGHT, x=_WIDTH))
    buffer.draw(update([strip([("across", None)])] * (_HEIGHT + 3), y=_HEIGHT - 1, x=_WIDTH - 3))
    assert writer.frame(buffer, (0, 0)).endswith("acr\x1b[H")


def test_blank_cells_are_cleared_in_color_where_a_terminal_can() -> None:
    buffer, shown = ScreenBuffer(60, 20, ColorSystem.EIGHT_BIT), Shown(60, 20)
    plain, colored = DiffWriter(), DiffWriter(back_color_erase=True)
    ground = Style(color="#d0d0d0", bgcolor="#121212")
    buffer.draw(
        update([strip([("title" if not y else "", ground), (" " * 60, ground)], 60) for y in range(20)])
    )
    sent = colored.frame(buffer, (0, 0))
    assert len(sent) < 60 < 1200 < len(plain.frame(buffer, (0, 0)))
    shown.stream.feed(sent)
    assert {cell.bg for row in range(20) for cell in (shown.screen.buffer[row][x] for x in range(60))} == {
        "121212"
    }


_cell_styles = st.sampled_from([cell_style(style, ColorSystem.EIGHT_BIT) for style in _STYLES])


@given(_cell_styles, _cell_styles)
def test_a_pen_changes_into_any_other(before: CellStyle, after: CellStyle) -> None:
    def drawn(codes: str) -> pyte.screens.Char:
        screen = pyte.Screen(4, 1)
        pyte.Stream(screen).feed(codes + "x")
        return screen.buffer[0][0]

    by_way = style_change(DEFAULT_STYLE, before) + style_change(before, after)
    assert drawn(by_way) == drawn(style_change(DEFAULT_STYLE, after))


@pytest.mark.parametrize(
    ("color", "number"), [("#121212", 233), ("#ffaf5f", 215), ("#242f38", 236), ("#000000", 16)]
)
def test_colors_of_the_palette(color: str, number: int) -> None:
    """The theme's own are exact; a dark grey with a breath of blue stays a grey."""
    assert cell_style(Style(bgcolor=color), ColorSystem.EIGHT_BIT).background == f"48;5;{number}"
