"""What is typed and pasted is text, whatever Textual takes for text."""

from __future__ import annotations

import asyncio

import pytest
from screens import explorer
from textual import events
from waiting import settled, until

from tokentui.session import commands as do
from tokentui.ui.app import ExplorerApp
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.field import TYPED_LIMIT, lines_of, typed_beyond
from tokentui.ui.panes.encode import EncodePane

FAMILY = "👩\u200d👩\u200d👧"
BEYOND = ["\u200d", "\u200c", "\u3000", "\u00a0", "\u00ad", "\u202e", "\ue000", "\U0001fae8", "\U0001f6d8"]
"""Joiners, spaces, marks of direction, private use, and emoji that the Unicode table of an older Python has
not got."""


@pytest.mark.parametrize("character", BEYOND)
def test_what_is_not_printable_is_text(character: str) -> None:
    event = events.Key("some_name", character)
    taken = None if character.isprintable() else character
    assert typed_beyond(event) == taken


@pytest.mark.parametrize("character", [None, "\x01", "\x1b", "\x7f", "\x85", "\udcff", "a", "é", "界", "ab"])
def test_keys_that_act_and_what_the_base_class_takes_are_left_alone(character: str | None) -> None:
    assert typed_beyond(events.Key("some_name", character)) is None


def test_the_ends_of_pasted_lines() -> None:
    assert lines_of("a\rb\r\nc\nd\u2028e\x0bf") == "a\nb\nc\nd\u2028e\x0bf"


def test_the_encode_pane_has_its_first_text_before_it_is_mounted() -> None:
    assert EncodePane("a sentence").text == "a sentence"
    assert len(EncodePane("a" * (TYPED_LIMIT + 1)).text) == TYPED_LIMIT


async def test_a_family_a_wide_space_and_three_lines_are_encoded_as_they_were_typed() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        line = app.main.encode.line
        await pilot.press("i")
        await until(pilot, lambda: app.focused is line)
        line.value = "typed since"
        assert app.main.encode.text == "typed since"
        line.value = ""
        for character in f"{FAMILY}\u3000":
            app.post_message(events.Key(f"key_{ord(character)}", character))
        await until(pilot, lambda: line.value == f"{FAMILY}\u3000")
        app.post_message(events.Paste("one\rtwo\r\nthree"))
        whole = f"{FAMILY}\u3000one\ntwo\nthree"
        await until(pilot, lambda: line.value == whole and line.cursor_position == len(whole))
        await until(pilot, lambda: session.of(do.SetInput) and session.of(do.SetInput)[-1].text == whole)


async def test_a_comparison_that_opens_before_the_main_screen_is_mounted_has_the_typed_sentence() -> None:
    def begin(_session: object) -> asyncio.Future[None]:
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        opened.set_result(None)
        return opened

    mounted: list[bool] = []

    def compare(app: ExplorerApp) -> None:
        mounted.append(app.main.encode.is_mounted)
        app.compare(())

    app, _session = explorer(typed="a sentence", begin=begin, then=compare)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert mounted == [False]
        assert isinstance(app.screen, CompareScreen)
        assert app.screen.encode.line.value == "a sentence"
