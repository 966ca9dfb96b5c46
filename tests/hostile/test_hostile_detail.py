"""What stands for something else looks like it, and a key shows the exact bytes: no two tokens look alike
there."""

from __future__ import annotations

import hostile
import pytest
from dialogs import FakeEngine, facts_of, row_facts, shown
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from rows import loss_row, pair_row, token_row
from screens import explorer
from text_guards import piles
from textual.color import Color
from waiting import screen_text, settled, until

from tokentui.analyze.token_words import MOST_SHOWN, character_sections
from tokentui.core.safetext import MARKS_SENT, CharKind, is_safe, safe, visible
from tokentui.thinwire import SafeTextFilter
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.dialogs.inspected import Row, piece_of
from tokentui.ui.draw.text import PALETTE, SAFE_TEXT, StandIns, replace
from tokentui.ui.panes.editor import CorpusEditor

TOKENS = st.sampled_from([hostile.raw(one) for one in hostile.SHORT if one]) | st.binary(
    min_size=1, max_size=30
)
NEAR = st.sampled_from(
    [
        b"\x1b", "␛".encode(), b"\\x1b", b"U+001B", b"\xff", b"<FF>", b" ", "·".encode(), b"\n", "⏎".encode(),
        b"e\xcc\x81", "é".encode(),
    ]
)


def told(row: Row) -> list[str]:
    """All that the dialog shows, line by line."""
    return [text for _, text in (*row_facts(row), *facts_of(character_sections(piece_of(row))))]


def rows_of(piece: bytes) -> tuple[Row, ...]:
    """A piece in every kind of row."""
    return (
        token_row(7, piece, "merge", 1, 1, 1), pair_row(b"a", b"b", piece, 1, 0, False, False),
        loss_row(piece, 0.1, 1.0, 1, 1.0,
            ()),
    )  # fmt: skip


@settings(max_examples=30)
@given(TOKENS | NEAR, TOKENS | NEAR)
def test_no_two_tokens_look_alike(one: bytes, other: bytes) -> None:
    for a, b in zip(rows_of(one), rows_of(other), strict=True):
        assert (told(a) == told(b)) == (one == other)


@pytest.mark.parametrize("place", [1, 40, MOST_SHOWN // 3])
def test_nor_two_long_ones(place: int) -> None:
    one, other = bytearray(b"a" * 2 * MOST_SHOWN), bytearray(b"a" * 2 * MOST_SHOWN)
    other[-place] = 98
    assert row_facts(rows_of(bytes(one))[0]) != row_facts(rows_of(bytes(other))[0])


@given(TOKENS)
def test_the_bytes_are_there(piece: bytes) -> None:
    shown_bytes, _, _ = dict(row_facts(rows_of(piece)[0]))["hex"].partition("  ")
    assert bytes.fromhex(shown_bytes.removesuffix(" …")) == piece[:MOST_SHOWN]


async def test_enter_shows_the_bytes_of_a_row() -> None:
    app, session = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        session.show(vocabulary=(token_row(7, b"\x1b[2J\xe2\x80\xae", "merge", 1, 1, 1),))
        await pilot.press("3")
        await until(pilot, lambda: app.focused is app.main.vocabulary and "␛[2J" in screen_text(pilot))
        await pilot.press("enter")
        await until(
            pilot,
            lambda: (
                "1b 5b 32 4a e2 80 ae" in screen_text(pilot)
                and "RIGHT-TO-LEFT OVERRIDE" in screen_text(pilot)
            ),
        )


def test_what_stands_for_something_has_an_attribute_that_text_has_not() -> None:
    assert {span.kind for span in visible("\x1b")} != {span.kind for span in visible("␛")}
    for kind in CharKind:
        assert (kind in (CharKind.text, CharKind.space)) or any(
            word in PALETTE[kind] for word in ("reverse", "underline")
        ), kind


@pytest.mark.parametrize("typed", ["a\x1b[2Jb␛", "\u202e", "x\u3000y", "Z" + "\u0310" * 30])
def test_what_is_typed_too(typed: str) -> None:
    text = Text(typed)
    StandIns().highlight(text)
    assert is_safe(text.plain)
    reversed_ = {
        place for span in text.spans if span.style == "reverse" for place in range(span.start, span.end)
    }
    assert reversed_ == {
        n for n, (drawn, meant) in enumerate(zip(text.plain, typed, strict=True)) if drawn != meant
    }
    assert reversed_


async def test_and_what_stands_in_the_editor() -> None:
    editor = CorpusEditor("real ␛\nacts \x1b[2J", lambda: None)
    assert [editor.get_line(n).spans for n in (0,)] == [[]]
    assert [(span.start, span.end, span.style) for span in editor.get_line(1).spans] == [(5, 6, "reverse")]
    assert editor.get_line(1).plain == "acts ␛[2J"


@given(st.text(st.sampled_from("aZ語\u0301\u0310\u0e31\u093f \x1b"), max_size=60))
def test_marks_never_pile_up_behind_the_guard(text: str) -> None:
    assert piles(replace(text)) <= MARKS_SENT
    assert is_safe(replace(text))
    assert len(replace(text)) == len(text)
    segments = [Segment(text, Style(bold=True)), Segment("   │")]
    after = SafeTextFilter(SAFE_TEXT).apply(list(segments), Color(0, 0, 0))
    assert sum(cell_len(one.text) for one in after) == sum(cell_len(one.text) for one in segments)


def test_every_text_is_safe_behind_either_wall() -> None:
    for text in hostile.TEXTS:
        assert is_safe(replace(text))
        for data in (text, hostile.raw(text)):
            assert is_safe(safe(data))
            assert all(is_safe(span.text) for span in visible(data))


@pytest.mark.slow
async def test_a_long_token_is_told_by_its_digest() -> None:
    row = token_row(7, b"ab" * MOST_SHOWN, "merge", 1, 1, 1)
    assert "sha256" in dict(row_facts(row))
    dialog = InspectScreen(FakeEngine(), row)
    async with shown(dialog, (120, 60)) as (_, pilot):
        await pilot.press("end")
        assert "LATIN SMALL LETTER B" in screen_text(pilot)
