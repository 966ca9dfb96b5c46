"""Rows of encodings, one under the other: what stands where."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tokentui.analyze.align import DROPPED, align
from tokentui.core.safetext import is_safe, visible
from tokentui.core.table import cell_width
from tokentui.encode.encoding import Encoding
from tokentui.encode.tokenizer import Tokenizer
from tokentui.text.corpus import Corpus
from tokentui.tokenizer import train

LEARNED = Corpus.from_text(
    "the cat sat on the mat; the hat that the cat had, a naïve 😂 thing.\n\n  the end e\u0301e\u0301 \n"
)
NAMES = ("gpt2", "gpt4", "bert", "llama2", "hf-bpe", "subword-nmt-0.1", "falcon")
TEXT = st.text(
    st.sampled_from("thecaT ,;.\n\t\x1b ïé😂9日の\u0301\u0302\u200d\udc80\u0915\u093e▁🇫🇮"), max_size=30
)


@functools.cache
def tokenizer(name: str) -> Tokenizer:
    """Return a tokenizer of a preset, trained on a line."""
    return train(LEARNED, name, merges=25, specials=("[UNK]",) if name == "bert" else ())


def pieces(text: str, *tokens: str) -> Encoding:
    """An encoding into these stretches of the text."""
    assert "".join(tokens) == text
    ends = [sum(map(len, tokens[: n + 1])) for n in range(len(tokens))]
    count = len(tokens)
    offsets = tuple(zip([0, *ends], ends, strict=False))
    return Encoding(
        text, (0,) * count, tokens, tuple(token.encode() for token in tokens), offsets, (0,) * count, ()
    )


def test_rows_stand_under_each_other() -> None:
    found = align(
        [pieces("unhappiness", *line.split("|")) for line in ("un|happ|in|ess", "u|nh|a|pp|in|e|ss")]
    )
    assert [found.line(0), found.line(1), found.counts()] == [
        "u n│h a pp│in│e ss",
        "u│n h│a│pp│in│e│ss",
        " 1 1 1 1  2  2 1",
    ]


def test_wide_and_combining_characters_keep_the_columns() -> None:
    text = "日本e\u0301go"
    found = align([pieces(text, "日本", "e\u0301", "go"), pieces(text, "日", "本e\u0301g", "o")])
    assert found.line(0) == "日 本│e\u0301│g o"
    assert found.line(1) == "日│本 e\u0301 g│o"
    assert [(mark.offset, mark.x, mark.rows) for mark in found.ruler] == [
        (1, 2, (1,)), (2, 5, (0,)), (4, 7, (0,)), (5, 9, (1,)),
    ]


def test_a_mark_that_is_cut_from_its_character_stands_alone() -> None:
    text = "xe\u0301"
    found = align([pieces(text, "x", "e\u0301"), pieces(text, "xe", "\u0301")])
    assert found.line(0) == "x│e ◌\u0301"
    assert found.line(1) == "x e│◌\u0301"


def test_tokens_that_share_a_character_stand_side_by_side_in_its_place() -> None:
    raw = train(Corpus.from_text("x"), "gpt2", merges=0)
    found = align([raw.encode("aé🤗"), pieces("aé🤗", "a", "é🤗")])
    assert found.line(0) == "a│<C3>┊<A9>│<F0>┊<9F>┊<A4>┊<97>"
    assert found.line(1).rstrip() == "a│é         🤗"
    assert [(cell.token, cell.place, cell.of) for cell in found.rows[0]] == [
        (0, 0, 1), (1, 0, 2), (2, 1, 2), (3, 0, 4), (4, 1, 4), (5, 2, 4), (6, 3, 4)
    ]


def test_dropped_text_is_a_cell_of_no_token() -> None:
    found = align([tokenizer("bert").encode("the  cat "), tokenizer("gpt2").encode("the  cat ")])
    assert [(cell.start, cell.end, cell.token) for cell in found.rows[0]] == [
        (0, 3, 0), (3, 5, DROPPED), (5, 8, 1), (8, 9, DROPPED)
    ]


def test_unknown_tokens_are_marked() -> None:
    found = align([tokenizer("bert").encode("the xyz"), tokenizer("gpt2").encode("the xyz")])
    assert [cell.unknown for cell in found.rows[0] if cell.token != DROPPED] == [False, True]


def test_going_from_parting_to_parting() -> None:
    found = align(
        [pieces("abcdefgh", "ab", "cd", "ef", "gh"), pieces("abcdefgh", "ab", "c", "d", "ef", "g", "h")]
    )
    assert [(one.start, one.end) for one in found.partings] == [(2, 4), (6, 8)]
    first, second = found.partings
    assert [found.after(offset) for offset in (-1, 2, 6, 8)] == [first, second, None, None]
    assert [found.before(offset) for offset in (8, 6, 2, 0)] == [second, first, None, None]


def test_no_text() -> None:
    found = align([tokenizer("gpt2").encode(""), tokenizer("bert").encode("")])
    assert (found.width, found.rows, found.ruler, found.partings, found.line(0)) == (0, ((), ()), (), (), "")



@settings(deadline=None)
@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4), TEXT)
def test_every_row_is_whole_and_in_its_columns(names: list[str], text: str) -> None:
    encodings = [tokenizer(name).encode(text) for name in names]
    found = align(encodings)
    lines = {mark.x: mark for mark in found.ruler}
    assert len(lines) == len(found.ruler)
    for n, (row, encoding) in enumerate(zip(found.rows, encodings, strict=True)):
        assert [cell.token for cell in row if cell.token != DROPPED] == list(range(len(encoding)))
        at = 0
        for cell in row:
            assert cell.x == at, (
                "cells follow each other with one column between them at boundaries and inside groups"
            )
            assert cell_width(cell.text) == cell.width
            assert is_safe(cell.text)
            at = cell.x + cell.width
            mark = lines.get(at)
            if cell.place < cell.of - 1 or (mark is not None and mark.offset == cell.end):
                at += 1
        assert at == found.width
        assert set(found.cuts[n].offsets) == {mark.offset for mark in found.ruler if n in mark.rows}
        assert cell_width(found.line(n)) == found.width
        for mark in found.ruler:
            if n in mark.rows:
                assert mark.x in {cell.x + cell.width for cell in row}
    # A character that stands alone, in no group, begins in the same column of every row.
    places: dict[int, set[int]] = {}
    for row in found.rows:
        for cell in row:
            if cell.of == 1:
                places.setdefault(cell.start, set()).add(cell.x)
    assert all(len(columns) == 1 for columns in places.values())


@pytest.mark.slow
@given(st.text(max_size=20))
def test_widths_of_safe_text_are_those_of_the_screen(text: str) -> None:
    shown = "".join(span.text for span in visible(text))
    if all(cell_len(char) == cell_width(char) for char in shown):
        assert cell_width(shown) == sum(map(cell_width, shown))


def test_a_screen_gives_its_own_widths() -> None:
    found = align([pieces("ab", "a", "b")], width=lambda text: 3 * len(text))
    assert [(cell.x, cell.width) for cell in found.rows[0]] == [(0, 3), (4, 3)]
