"""Find in a pane finds what the pane shows."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokentui import learn
from tokentui.axes import preset
from tokentui.core.safetext import GLYPH_MODES, GlyphMode, meant, visible
from tokentui.learn import PairCandidate, TokenCandidate, jump, start
from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.engine.state import State
from tokentui.session.training.column import needles
from tokentui.session.training.training import prepare, prepare_tokenizer
from tokentui.session.views import CorpusPlace, Found, Viewport
from tokentui.text.corpus import Corpus
from tokentui.text.count import matches_in
from tokentui.text.read import read
from tokentui.ui.draw.text import Cell
from tokentui.ui.panes.column_tables import tokens


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
    do.perform(do.Find("pairs", text, row, False, mode), it, answers.append)
    return answers[0] and answers[0].at


@pytest.mark.first_run(cases=3)
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


def naive(text: str, wanted: str) -> list[int]:
    return [at for at in range(len(text)) if text.startswith(wanted, at)]


@given(st.lists(st.text("ab\n", max_size=12), min_size=1, max_size=4), st.text("ab", min_size=1, max_size=3))
def test_matches_of_the_corpus_are_counted_and_numbered(documents: list[str], wanted: str) -> None:
    it = State(prepare(Corpus.from_lines(documents), preset("gpt2"), Run()))
    window = it.main.training.text
    places = [
        CorpusPlace(document, at)
        for document in range(window.documents) for at in naive(str(window.text(document)), wanted)
    ]
    answers: list[Any] = []
    for backward in (False, True):
        here = CorpusPlace()
        for _ in places:
            do.perform(do.Find("corpus", wanted, here, backward), it, answers.append)
            answer = answers[-1]
            assert answer is not None
            assert isinstance(answer.at, CorpusPlace)
            assert (places[answer.number - 1], answer.matches) == (answer.at, len(places))
            here = answer.at
    if not places:
        do.perform(do.Find("corpus", wanted, CorpusPlace()), it, answers.append)
        assert answers == [None]


def test_matches_of_a_long_text_are_counted_across_its_parts() -> None:
    text = ("ab" * 70_000 + "c") * 2
    for wanted in ("ba", "abc", "cab", "bab"):
        starts = [match.start() for match in re.finditer(f"(?={wanted})", text)]
        for end in (None, 0, 7, 262_143, 262_144, 270_000):
            assert matches_in(text, wanted, end) == bisect_left(starts, len(text) if end is None else end)


@pytest.mark.parametrize("recipe", ["gpt2", "wordpiece", "sentencepiece-unigram", "gage"])
@pytest.mark.parametrize("wanted", ["th", "·t", "e+r", "☃"])
@pytest.mark.first_run(cases=1)
def test_a_list_is_narrowed_to_the_rows_that_hold_a_text_at_every_step(recipe: str, wanted: str) -> None:
    it = State(prepare(read("sample:english"), preset(recipe), Run.of({"vocab_size": 400})))
    for steps in (0, 1, 2, 5, 3, 0):
        jump(it.main.trainer, steps)
        for order in it.main.trainer.traits.orders:
            it.view = Viewport(
                candidates_rows=10**6, vocabulary_rows=10**6, vocabulary_order=order, vocabulary_folded=False
            )
            whole = it.snapshot().main
            it.view = Viewport(
                vocabulary_order=order, candidates_only=wanted, vocabulary_only=wanted, candidates_rows=7,
                candidates_top=2,
            )
            left = it.snapshot().main
            texts = needles(wanted)
            pairs = [
                (n, row) for n, row in enumerate(whole.candidates.rows)
                if any(one in row.spelled or one in b"+".join(row.parts) for one in texts)
            ]
            entries = [
                (n, row) for n, row in enumerate(whole.vocabulary.rows)
                if any(one in row.piece for one in texts)
            ]
            page, listed = left.candidates, left.vocabulary
            assert (page.total, page.whole) == (len(pairs), whole.candidates.total)
            assert list(page.rows) == [row for _, row in pairs[page.top : page.top + 7]]
            assert [page.number(n) for n in range(page.total)] == [n for n, _ in pairs]
            if recipe != "gage":  # a byte that stands for a pair is found by what it stands for
                assert (listed.total, listed.whole) == (len(entries), whole.vocabulary.total)
                assert list(listed.rows) == [row for _, row in entries[:60]]


def test_a_match_in_a_narrowed_list_is_a_row_of_that() -> None:
    it = on_sample("gpt2")
    it.view = Viewport(candidates_only="th")
    rows = it.snapshot().main.candidates.rows
    answers: list[Any] = []
    do.perform(do.Find("pairs", "the", -1), it, answers.append)
    holding = [n for n, row in enumerate(rows) if b"the" in row.token]
    assert answers == [Found(holding[0], 1, len(holding))]
