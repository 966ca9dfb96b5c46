"""No code point that acts or hides gets through; what is shown can be told from what stands for something
else."""

from __future__ import annotations

import itertools
import time
import unicodedata
from typing import get_args

import pytest
import soak
from grammar import is_clean
from hypothesis import given
from hypothesis import strategies as st

from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import (
    GLYPH_MODES,
    MARKS_SHOWN,
    CharKind,
    CharRun,
    GlyphMode,
    is_safe,
    safe,
    safe_line,
    stand_in,
    visible,
)

HOSTILE = [
    "\x1b]0;owned\x07", "\x1b[2J", "\x1bP1$r\x1b\\", "\x9b31m", "\x1b]52;c;b3duZWQ=\x07",
    "\x1b\x07]52;c;eA==\x07", "\x1b]8;;http://x\x1b\\", "a\rb", "a\x08b", "\x0e\x0f", "\x7f\x80\x85\x9f",
    "\u202eabc\u202c", "\u2066x\u2069", "\u061c\u200e\u200f", "a\u200bb\u200cc\u200dd\u2060", "\ufeffbom",
    "\u2028\u2029", "\u00ad\u034f\u115f\u3164\uffa0", "\U000e0041\U000e007f", "\ufe0f\ufe00\U000e0100",
    "\ue000\U0010ffff\ufdd0\u0378", "\ud800\udfff\udc80\udcff", "👨\u200d👩\u200d👧", "🇩🇪", "👍🏽",
    "1\ufe0f\u20e3", "Z" + "\u0310" * 500, "\u0301", "\u0488", "\u2800", "\u3000\xa0", "\u1112\u1161\u11ab",
    "\u0939\u093f", "[/] [red]x[/#888888] [@click=app.quit]y[/]",
]
ANY_TEXT = st.text(st.characters(), max_size=40) | st.text(st.sampled_from("".join(HOSTILE)), max_size=40)
ANY = ANY_TEXT | st.binary(max_size=40)


def shown(
    data: bytes | str, mode: GlyphMode = "text", *, ascii_only: bool = False, limit: int | None = None
) -> str:
    return "".join(span.text for span in visible(data, mode=mode, ascii_only=ascii_only, limit=limit))


def assert_safe(text: str) -> None:
    assert is_clean(text)
    assert is_safe(text)


@given(ANY, st.sampled_from(GLYPH_MODES), st.booleans())
def test_no_forbidden_character_is_output(data: bytes | str, mode: GlyphMode, ascii_only: bool) -> None:
    spans = visible(data, mode=mode, ascii_only=ascii_only)
    for span in spans:
        assert span.text
        assert_safe(span.text)
        assert span.text.isascii() or not ascii_only
    assert bool(spans) == bool(data)
    assert all(a.kind is not b.kind for a, b in itertools.pairwise(spans))


@pytest.mark.parametrize("mode", GLYPH_MODES)
def test_hostile_text_is_inert(mode: GlyphMode) -> None:
    for data in HOSTILE:
        assert_safe(shown(data, mode))
        assert_safe(safe(data))
        assert_safe(shown(data.encode("utf-8", "surrogatepass"), mode))


def test_every_code_point_is_shown_or_replaced() -> None:
    codes = soak.code_points()
    for start in range(0, len(codes), 0x1000):
        text = "".join(map(chr, codes[start : start + 0x1000]))
        for ascii_only in (False, True):
            assert_safe(shown(text, ascii_only=ascii_only))
        assert_safe("".join(stand_in(char) for char in text[::7] if not is_safe(char)))
        for char in text[::37]:
            assert shown(char)
            if unicodedata.category(char)[0] in "CZ":
                assert visible(char)[0].kind is not CharKind.text


def test_border_characters_are_safe_by_the_tables_too() -> None:
    assert is_safe("│ ▏→·—…")
    for char in map(chr, range(0x3000)):
        # an é is looked up, and what stands beside it
        assert is_safe(char) == is_safe("é" + char), f"U+{ord(char):04X}"


@given(ANY)
def test_safe_is_idempotent(data: bytes | str) -> None:
    once = safe(data)
    assert_safe(once)
    assert safe(once) == once


@given(
    st.text(
        st.sampled_from("aZ0!~[]\\é\u0159\u03a9\u0416\u05d0\u0627\u0e01\u3042語\ud55c😀▐\ufffd"), min_size=1
    )
)
def test_plain_text_is_shown_unchanged(text: str) -> None:
    assert visible(text) == (CharRun(text, CharKind.text),)
    assert safe(text) == text


@given(st.lists(st.binary(max_size=6), min_size=2, max_size=2, unique=True))
def test_different_bytes_have_different_escapes(pair: list[bytes]) -> None:
    one, two = (shown(data, "escaped") for data in pair)
    assert one != two
    assert shown(pair[0], "hex") != shown(pair[1], "hex")


@given(
    st.lists(
        st.text(
            st.sampled_from("a\\nxu0\n\x85\xad\u0301\U0001f1e9\udc85\udce2") | st.characters(), max_size=5
        ),
        min_size=2, max_size=2, unique=True,
    )
)
def test_different_texts_have_different_escapes(pair: list[str]) -> None:
    one, two = (shown(data, "escaped") for data in pair)
    assert one != two


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_bytes_are_shown_as_their_text(text: str) -> None:
    for mode in GLYPH_MODES:
        assert visible(text.encode(), mode=mode) == visible(text, mode=mode)


@given(st.binary(max_size=30))
def test_escaped_bytes_are_shown_as_bytes(data: bytes) -> None:
    for mode in GLYPH_MODES:
        assert visible(data.decode("utf-8", "surrogateescape"), mode=mode) == visible(data, mode=mode)
    assert bytes.fromhex(shown(data, "hex")) == data


@given(ANY, st.sampled_from(GLYPH_MODES), st.booleans(), st.integers(0, 60))
def test_a_limit_cuts_the_output(data: bytes | str, mode: GlyphMode, ascii_only: bool, limit: int) -> None:
    whole, cut = (shown(data, mode, ascii_only=ascii_only, limit=n) for n in (None, limit))
    ellipsis = ("..." if ascii_only else "…")[:limit]
    assert len(cut) <= limit
    if len(whole) <= limit:
        assert cut == whole
    else:
        assert cut.endswith(ellipsis)
        assert whole.startswith(cut.removesuffix(ellipsis))
    assert len(safe(data, limit=limit, ascii_only=ascii_only)) <= limit
    assert safe(data, limit=1000) == safe(data)


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=3), st.data())
def test_bytes_of_cut_characters_are_partial(text: str, data: st.DataObject) -> None:
    raw = text.encode()
    start = data.draw(st.integers(0, len(text[0].encode()) - 1))
    end = data.draw(st.integers(len(raw) - len(text[-1].encode()) + 1, len(raw)))
    cut = raw[start:end]
    if len(text) > 1:
        assert CharKind.invalid not in {span.kind for span in visible(cut)}


@pytest.mark.parametrize(
    ("data", "mode", "want"),
    [
        ("a b\n\tc", "text", [("a", "text"), ("·", "space"), ("b", "text"), ("⏎⇥", "space"), ("c", "text")]),
        ("\r\x1b\x7f", "text", [("␍␛␡", "control")]),
        ("\u241b", "text", [("\u241b", "text")]),
        ("\x85", "text", [("U+0085", "control")]),
        ("\u202e", "text", [("U+202E", "invisible")]),
        ("\xa0", "text", [("U+00A0", "space")]),
        ("\u0301a", "text", [("◌\u0301", "combining"), ("a", "text")]),
        ("🇩", "text", [("U+1F1E9", "combining")]),
        (b"\xe2\x82", "text", [("<E2><82>", "partial")]),
        (b"\x82\xac", "text", [("<82><AC>", "partial")]),
        (b"\x80\x80\x80\x80", "text", [("<80>" * 4, "invalid")]),
        (b"a\xffb", "text", [("a", "text"), ("<FF>", "invalid"), ("b", "text")]),
        (b"\xed\xa0\x80", "text", [("<ED><A0><80>", "invalid")]),
        (b"\xe0\x80", "text", [("<E0><80>", "invalid")]),
        ("\ud800", "text", [("U+D800", "invalid")]),
        ("\udce2", "text", [("<E2>", "partial")]),
        ("a\\n\n", "escaped", [("a\\\\n", "text"), ("\\n", "space")]),
        ("\x1b\x85\u202e\U0001f1e9", "escaped",
         [("\\x1b\\u0085", "control"), ("\\u202e", "invisible"), ("\\U0001f1e9", "combining")]),
        (b"\x85", "escaped", [("\\x85", "partial")]),
        ("\u0301", "escaped", [("\\u0301", "combining")]),
        ("é\n", "hex", [("c3a90a", "text")]),
        ("\ud800\udce2", "hex", [("eda080e2", "text")]),
        ("é\n", "points", [("U+00E9", "text"), (" U+000A", "space")]),
        (b"a\xe2", "points", [("U+0061", "text"), (" <E2>", "partial")]),
    ],
)
def test_examples(data: bytes | str, mode: GlyphMode, want: list[tuple[str, str]]) -> None:
    assert visible(data, mode=mode) == tuple(CharRun(text, CharKind(kind)) for text, kind in want)


@pytest.mark.parametrize(
    ("data", "want"),
    [("a b\t\r\n", "a_b\\t\\r\\n"), ("\x1b\0\x7f\x85", "^[^@^?U+0085"), ("é…", "U+00E9U+2026")],
)
def test_ascii_only(data: str, want: str) -> None:
    assert shown(data, ascii_only=True) == want


def test_piles_of_marks_are_capped_and_none_is_lost() -> None:
    text = shown("Z" + "\u0310" * 9)
    assert text == "Z" + "\u0310" * MARKS_SHOWN + "U+0310" * (9 - MARKS_SHOWN)
    assert shown("\u0310" * 9) == "◌" + "\u0310" * MARKS_SHOWN + "U+0310" * (9 - MARKS_SHOWN)


def test_error_lines() -> None:
    error = TokentuiError("no such file\n", "a\x1b[31m.txt", "look")
    assert safe_line(error) == r"a\x1b[31m.txt: no such file\n (look)"
    assert safe_line(ValueError()) == "ValueError"
    assert safe("a" * 10, limit=4) == "aaa…"
    assert safe("a" * 10, limit=4, ascii_only=True) == "a..."
    assert safe("é", ascii_only=True) == r"\u00e9"


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize("unit", ["a", "\x00", "\udcff", "é\u0301", "\u0301", "a ", "\u200b", "語"])
def test_a_long_token_is_not_slow(unit: str) -> None:
    token = unit * (10_000 // len(unit))
    start = time.thread_time()
    visible(token)
    assert time.thread_time() - start < 0.5
    start = time.thread_time()
    visible(token * 1000, limit=80)
    safe(token * 1000, limit=80)
    assert time.thread_time() - start < 0.5


def test_modes_are_those_of_the_type() -> None:
    assert get_args(GlyphMode) == GLYPH_MODES
