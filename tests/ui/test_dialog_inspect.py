"""Inspecting a row: exact bytes and code points, whatever they are."""

from __future__ import annotations

from dialogs import shown, tried_on_all_sizes
from hypothesis import given
from hypothesis import strategies as st
from waiting import screen_text, until

from tokentui.safetext import Kind, is_safe
from tokentui.snapshot import PairRow, TokenRow
from tokentui.ui.screens.inspect import MOST_SHOWN, InspectScreen, code_points, facts
from tokentui.ui.screens.listing import Listing, wrap
from tokentui.ui.text import Cell, width

TOKEN = TokenRow(383, " té\u202e".encode() + b"\xe2", "merge", 128, 9310, 402)
PAIR = PairRow(b"\x1b[", b"31m", b"\x1b[31m", 12, -3, False, True)


def _text(cell: Cell) -> str:
    return "".join(text for text, _ in cell)


def _facts(row: TokenRow | PairRow, *parents: bytes) -> dict[str, str]:
    return {label: _text(cell) for label, cell in facts(row, parents)}


def test_a_token() -> None:
    assert _facts(TOKEN, b" t", b"\xc3\xa9") == {
        "id": "383  merge",
        "born": "step 128, from 9,310 pairs",
        "uses now": "402 times",
        "parents": "·t + é",
        "text": "·téU+202E<E2>",
        "escaped": r" té\u202e\xe2",
        "points": "U+0020 U+0074 U+00E9 U+202E <E2>",
        "hex": "20 74 c3 a9 e2 80 ae e2  8 bytes",
    }
    assert [(label, _text(cell)) for label, cell in code_points(TOKEN.piece)] == [
        ("U+0020", "·  SPACE"),
        ("U+0074", "t  LATIN SMALL LETTER T"),
        ("U+00E9", "é  LATIN SMALL LETTER E WITH ACUTE"),
        ("U+202E", "U+202E  RIGHT-TO-LEFT OVERRIDE"),
        ("<E2>", "a byte that is no whole character"),
    ]


def test_a_token_of_the_base_and_one_that_is_not_used() -> None:
    base = _facts(TokenRow(65, b"A", "byte", None, None, 0))
    assert "born" not in base
    assert base["uses now"] == "not used"
    assert base["hex"] == "41  1 byte"
    assert _facts(TokenRow(0, b"<s>", "special", None, None, None))["uses now"] == "not counted"


def test_a_pair_brings_its_parents() -> None:
    told = _facts(PAIR)
    assert told["count"] == "12  −3 with the last step"
    assert told["parents"] == "␛[ + 31m"
    assert told["hex"] == "1b 5b 33 31 6d  5 bytes"
    assert "tied" in told
    assert _facts(PairRow(b"a", b"b", b"ab", 1, 0, True, False))["count"] == "1  new with the last step"
    assert next(_text(cell) for _, cell in code_points(PAIR.token)).endswith("a control character")


@given(st.binary(max_size=40))
def test_nothing_that_acts_is_shown(piece: bytes) -> None:
    for label, cell in (*facts(TokenRow(0, piece, "base", None, None, 1), (piece,)), *code_points(piece)):
        assert is_safe(label)
        assert is_safe(_text(cell))


def test_a_huge_token_is_cut() -> None:
    piece = b"\x1b" * 100_000
    assert len(list(code_points(piece))) == MOST_SHOWN
    assert all(len(text) < 5 * MOST_SHOWN for text in _facts(TokenRow(0, piece, "base", None, None, 1)).values())
    assert _facts(TokenRow(0, piece, "base", None, None, 1))["hex"].endswith("…  100,000 bytes")


CELLS = st.lists(
    st.tuples(st.text(st.sampled_from("ab漢字é·"), max_size=12), st.sampled_from(["", "muted", Kind.text])), max_size=4
)


@given(CELLS, st.integers(-1, 12))
def test_lines_are_full_and_nothing_is_lost(cell: list[tuple[str, str]], columns: int) -> None:
    lines = wrap(tuple(cell), columns)
    room = max(2, columns)
    assert "".join(map(_text, lines)) == _text(tuple(cell))
    assert all(width(line) <= room for line in lines)
    assert all(width(line) >= room - 1 for line in lines[:-1])


async def test_it_is_shown_scrolls_and_is_left() -> None:
    dialog = InspectScreen(TOKEN, (b" t", b"\xc3\xa9"))
    async with shown(dialog, (40, 12)) as (app, pilot):
        listing = dialog.query_one(Listing)
        await until(pilot, lambda: "383" in screen_text(pilot))
        assert "LATIN SMALL LETTER T" not in screen_text(pilot)
        await pilot.press("end")
        await until(pilot, lambda: "LATIN SMALL LETTER T" in screen_text(pilot))
        assert listing.cursor == len(listing.rows) - 1
        await pilot.press("escape")
        await until(pilot, lambda: app.answered)
        assert app.result is None


async def test_all_sizes() -> None:
    async with shown(InspectScreen(PAIR)) as (_, pilot):
        await tried_on_all_sizes(pilot)
