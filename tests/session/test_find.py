"""Find in a pane finds what the pane shows."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokentui import learn
from tokentui.axes import preset
from tokentui.core.safetext import GLYPH_MODES, GlyphMode, meant, visible
from tokentui.learn import jump, start
from tokentui.learn.rows import PairCandidate, TokenCandidate
from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.opening import prepare, prepare_tokenizer
from tokentui.session.state import State
from tokentui.session.views import Viewport
from tokentui.text.read import read
from tokentui.ui.draw.text import Cell
from tokentui.ui.panes.tables import tokens


def plain(cell: Cell) -> str:
    """A cell without its styles."""
    return "".join(text for text, _ in cell)


def on_sample(recipe: str, merges: int = 6) -> State:
    corpus = read("sample:english")
    it = State(prepare(corpus, preset(recipe), Run()))
    jump(it.main.trainer, merges)
    it.view = Viewport(candidates_rows=200)
    return it


def found(it: State, text: str, mode: GlyphMode = "text", row: int = -1) -> Any:
    answers: list[Any] = []
    it.handle(do.Find("pairs", text, row, False, mode), answers.append)
    return answers[0]


@pytest.mark.parametrize("recipe", ["gpt2", "wordpiece", "bert", "subword-nmt", "sentencepiece-bpe", "gage"])
def test_a_pair_is_found_as_it_is_shown(recipe: str) -> None:
    it = on_sample(recipe)
    rows = it.snapshot().main.candidates.rows
    for mode in GLYPH_MODES:
        shown = [plain(tokens(row.parts, mode)) for row in rows if isinstance(row, PairCandidate)]
        assert len(shown) > 40
        for row in range(0, 40, 3):
            at = found(it, shown[row], mode)
            assert at is not None, shown[row]
            assert at <= row
            assert shown[row] in shown[at] or mode != "text"


def test_a_plus_alone_is_no_pair() -> None:
    assert found(on_sample("gpt2"), "+") is None


@pytest.mark.parametrize("step", [3, 10**6])
def test_a_token_to_come_is_found_as_it_is_shown(step: int) -> None:
    corpus = read("sample:sailor")
    trainer = start(corpus, preset("bert"))
    learn.jump(trainer, 12)
    prepared = prepare_tokenizer(corpus, trainer.tokenizer(), Run())
    it = State(prepared)
    jump(it.main.trainer, step)
    rows = [row for row in it.snapshot().main.candidates.rows if isinstance(row, TokenCandidate)]
    assert rows
    for at, row in enumerate(rows):
        assert found(it, plain(tokens(row.parts, "text")), row=at - 1) == at


@given(st.binary(max_size=12), st.sampled_from(GLYPH_MODES))
def test_what_is_shown_is_read_back(data: bytes, mode: GlyphMode) -> None:
    text = "".join(span.text for span in visible(data, mode=mode))
    # A stand-in that stands in the data itself, the circle under a mark, and a digit behind a code point are
    # not told apart; escapes and bytes are exact.
    plainly = data.decode("utf-8", "surrogateescape")
    if re.search("U\\+[0-9A-F]{5}", text):
        return
    if mode != "text" or (
        "◌" not in text and meant(plainly) == data and "<" not in plainly and "U" not in plainly
    ):
        assert meant(text, mode) == data
