"""The compressed text of Gage: CqCxo as on the slides, its table, its sizes, and its parts."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest
from dialogs import FakeEngine, assert_safe, shown, tried_on_all_sizes
from hypothesis import given
from hypothesis import strategies as st
from objectives import COMPRESSED, GAGE
from screens import explorer
from waiting import notes_of, screen_text, settled, until

from tokentui.core.safetext import is_safe
from tokentui.learn import Compressed
from tokentui.session.commands import Compress
from tokentui.ui.dialogs.pieces import CompressedScreen, sizes, table, text
from tokentui.ui.draw.table import Listing
from tokentui.ui.draw.text import Cell

PART = Compress.length


def plain(cell: Cell) -> str:
    """A cell without its styles."""
    return "".join(part for part, _ in cell)


class Asked(FakeEngine):
    """Answers what is asked for with parts of a text."""

    def __init__(self, whole: bytes) -> None:
        super().__init__(answers={Compress: self.part})
        self.whole = whole
        self.open = asyncio.Event()
        self.open.set()

    async def part(self, command: Compress) -> Compressed:
        """A part of the text, none of it compressed."""
        await self.open.wait()
        part = self.whole[command.start : command.start + command.length]
        return dataclasses.replace(
            COMPRESSED, compressed=part, names={}, table=(), text_bytes=len(self.whole)
        )


def test_the_example_of_the_slides() -> None:
    assert plain(text(COMPRESSED)) == "CqCxo"
    assert [name for part, name in text(COMPRESSED)] == ["key", "text", "key", "text"]
    assert [[plain(cell) for cell in row.cells] for row in table(COMPRESSED)] == [
        ["A", "41", "x+x", "xx"], ["B", "42", "x+d", "xd"], ["C", "43", "A+B", "xxxd"],
    ]
    assert sizes(COMPRESSED) == "text 5 B + table 9 B = 14 B of 11 B (127.3 %)"
    assert sizes(Compressed(b"", (), (), {}, 0, 0, 0)) == "text 0 B + table 0 B = 0 B of 0 B"


def test_characters_between_placeholders_are_whole() -> None:
    data = b"\xff" + "é\x1b".encode() + b"\xc3\xff\xff"
    assert plain(text(dataclasses.replace(COMPRESSED, compressed=data, names={0xFF: "ÿ"}))) == "ÿé␛<C3>ÿÿ"


@given(st.binary(max_size=60))
def test_nothing_that_acts_is_shown(data: bytes) -> None:
    view = dataclasses.replace(
        COMPRESSED, compressed=data, table=tuple((65, value, value, data) for value in data),
    )
    assert is_safe(plain(text(view)))
    assert all(is_safe(plain(cell)) for row in table(view) for cell in row.cells)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12)])
async def test_it_opens_from_the_corpus_and_is_left(size: tuple[int, int]) -> None:
    app, session = explorer()
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        session.show(**GAGE)
        await until(pilot, lambda: app.main.snapshot is not None and app.main.snapshot.main.traits.compresses)
        await until(pilot, lambda: "Corpus" in screen_text(pilot))
        session.answers[Compress] = COMPRESSED
        await pilot.press("z")
        await until(pilot, lambda: isinstance(app.screen, CompressedScreen) and "CqCxo" in screen_text(pilot))
        await until(pilot, lambda: "xxxd" in screen_text(pilot))
        assert "text 5 B + table 9 B = 14 B of 11 B" in screen_text(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert session.of(Compress) == [Compress()]


async def test_others_have_none_and_a_line_says_so() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("z")
        await until(
            pilot, lambda: any("only Gage's compression" in note for note in notes_of(app))
        )
        assert session.of(Compress) == []
        assert app.screen is app.main


async def test_it_goes_on_part_by_part_and_back() -> None:
    asked = Asked(b"a" * PART + b"b" * PART + b"c" * 5)
    dialog = CompressedScreen(asked)
    async with shown(dialog) as (_, pilot):
        await until(pilot, lambda: "a" * 10 in screen_text(pilot))
        await pilot.press("left_square_bracket")
        for key, start, wanted in (
            ("right", PART, "b" * 10), ("right", 2 * PART, "c" * 5), ("left", PART, "b" * 10),
            ("right", 2 * PART, "c" * 5),
        ):
            asked.open.clear()
            # A second press while the answer is under way asks for nothing.
            await pilot.press(f"{key}_square_bracket", f"{key}_square_bracket")
            await until(pilot, lambda: dialog.asking)
            asked.open.set()
            await until(pilot, lambda wanted=wanted: wanted in screen_text(pilot))  # type: ignore[misc]
            assert f"bytes {start:,} to" in screen_text(pilot)
        await pilot.press("right_square_bracket")
        assert [command.start for command in asked.sent] == [0, PART, 2 * PART, PART, 2 * PART]


async def test_a_part_that_is_empty_leaves_what_is_shown() -> None:
    asked = Asked(b"a" * PART)
    dialog = CompressedScreen(asked)
    async with shown(dialog) as (_, pilot):
        await until(pilot, lambda: f"bytes 0 to {PART:,}" in screen_text(pilot))
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: len(asked.sent) == 2 and not dialog.asking)
        assert f"bytes 0 to {PART:,}" in screen_text(pilot)


async def test_tab_goes_to_the_table_and_back() -> None:
    dialog = CompressedScreen(FakeEngine(answers={Compress: COMPRESSED}))
    async with shown(dialog) as (_, pilot):
        there, lines = dialog.query_one("#table", Listing), dialog.query_one("#text", Listing)
        await until(pilot, lambda: there.rows and lines.has_focus)
        await pilot.press("tab")
        await until(pilot, lambda: there.has_focus)
        await pilot.press("down", "tab")
        await until(pilot, lambda: lines.has_focus)
        assert there.cursor == 1


@pytest.mark.slow
async def test_all_sizes() -> None:
    view = dataclasses.replace(COMPRESSED, compressed=bytes(range(256)))
    async with shown(CompressedScreen(FakeEngine(answers={Compress: view}))) as (_, pilot):
        await until(pilot, lambda: "xxxd" in screen_text(pilot))
        await tried_on_all_sizes(pilot)
        assert_safe(pilot)
