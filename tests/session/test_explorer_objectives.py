"""The explorer under every objective: rows, reasons, places that are kept, and every preset to its end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sessions import settle, tell

from tokentui.axes import preset
from tokentui.core.errors import TokentuiError
from tokentui.learn import PairCandidate, PieceCandidate
from tokentui.preset_table import PRESETS
from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.engine.state import State
from tokentui.session.snapshot import PiecesView
from tokentui.session.training import pieces
from tokentui.session.training.training import prepare
from tokentui.session.views import CorpusPlace
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

TEXT = "the cat sat on the mat, the cat ate the rat and the bat sat there; " * 4
BOOK = read("sample:english").documents[0]


def explorer(name: str, text: str = TEXT, **run: Any) -> State:
    corpus, recipe, asked = Corpus.from_text(text, "test"), preset(name), Run.of(run)
    it = State(prepare(corpus, recipe, asked))
    it.view = replace(
        it.view, candidates_rows=5000, vocabulary_rows=5000, corpus_chars=5000, vocabulary_folded=False
    )
    return it


def unigram(characters: int = 1_500) -> State:
    return explorer("sentencepiece-unigram", BOOK[:characters], vocab_size=60)


def swap(it: State, name: str, trainer: Any = None) -> None:
    corpus, recipe = it.main.training.corpus, preset(name)
    prepared = prepare(corpus, recipe, it.main.training.run)
    it.install(replace(prepared, trainer=trainer or prepared.trainer), keeps_place=True)
    settle(it)


# ---- unigram


def test_a_unigram_training_is_seen_piece_by_piece() -> None:
    it = unigram()
    first = it.snapshot()
    assert all(isinstance(row, PieceCandidate) for row in first.main.candidates.rows)
    assert (first.main.candidates.total, first.main.at.step, first.main.at.last) == (
        first.main.at.vocab_size, 0, None,
    )
    assert first.main.why.round is not None
    assert (first.main.why.round.last, first.main.why.round.next, first.main.why.round.going) == (
        "seeds", "em", None,
    )
    tell(it, do.Move(2))
    shown = it.snapshot()
    assert shown.main.why.round is not None
    assert (shown.main.why.round.last, shown.main.why.round.next) == ("em", "prune")
    rows = [row for row in shown.main.candidates.rows if isinstance(row, PieceCandidate)]
    assert [row.loss for row in rows] == sorted(row.loss for row in rows)
    assert shown.main.why.round.going == sum(bool(row.reason) for row in rows) > 2
    assert all(row.parts for row in rows if row.reason and len(row.token.decode()) > 1)
    dropped = [row.token for row in rows if row.reason]
    tell(it, do.Move(1))
    after = it.snapshot()
    left = [row for row in after.main.vocabulary.rows if row.kind == "left"]
    assert sorted(row.piece for row in left) == sorted(dropped)
    assert all(row.id is None and row.reason for row in left)
    assert after.main.at.vocab_size == shown.main.at.vocab_size - len(left)
    assert {row.kind for row in after.main.vocabulary.rows} == {"left", "piece"}
    tell(it, do.Move(-1))
    assert it.snapshot().main.candidates.rows == shown.main.candidates.rows
    assert it.snapshot().main.vocabulary.rows == shown.main.vocabulary.rows


@pytest.mark.slow
def test_a_pruning_is_walked_piece_by_piece() -> None:
    it = unigram()
    with pytest.raises(TokentuiError, match="round of EM"):
        do.perform(do.StepPieces(1), it, lambda _: None)
    tell(it, do.Move(2))
    before = it.snapshot()
    going = [
        row.token for row in before.main.candidates.rows if isinstance(row, PieceCandidate) and row.reason
    ]
    for n in range(1, len(going) + 1):
        tell(it, do.StepPieces(1))
        shown = it.snapshot()
        assert shown.main.at.step == before.main.at.step
        assert shown.main.why.round is not None
        assert (shown.main.why.round.taken, shown.main.why.round.going) == (n, len(going))
        taken = [
            row.token for row in shown.main.candidates.rows if isinstance(row, PieceCandidate) and row.taken
        ]
        assert taken == going[:n]
        assert shown.main.at.vocab_size == before.main.at.vocab_size - n
        assert [row.piece for row in shown.main.vocabulary.rows if row.kind == "left"] == going[:n][::-1]
        assert sum(part.text.count("the") for part in shown.main.corpus.parts) > 0
    end = it.snapshot()
    tell(it, do.Move(1))
    pruned, last = it.snapshot().main.at, end.main.at
    assert (pruned.tokens, pruned.vocab_size) == (last.tokens, last.vocab_size), (
        "a walk to the end is the pruning"
    )
    tell(it, do.Move(-1))
    tell(it, do.StepPieces(3))
    tell(it, do.StepPieces(-2))
    assert it.snapshot().main.at.vocab_size == before.main.at.vocab_size - 1
    tell(it, do.StepPieces(-5))
    assert it.snapshot().main.candidates.rows == before.main.candidates.rows
    tell(it, do.StepPieces(2))
    tell(it, do.Move(-1))
    assert it.snapshot().main.at.step == 1, "a step back leaves the walk"


def test_tokens_of_the_corpus_add_up_under_a_unigram_model() -> None:
    it = unigram()
    for _ in range(8):
        shown = it.snapshot()
        assert sum(len(part.tokens) for part in shown.main.corpus.parts) == shown.main.at.tokens
        used = sum(row.uses or 0 for row in shown.main.vocabulary.rows if row.kind == "piece")
        tokens = shown.main.at.tokens
        assert used == tokens or (used < tokens and shown.main.why.end is None), (
            "units may be no pieces till the last cut"
        )
        tell(it, do.Move(1))
    tell(it, do.GoTo(None))
    end = it.snapshot()
    assert end.main.why.end == "vocab_size"
    assert end.main.at.end.step == end.main.at.step == end.main.at.computed


def test_going_to_a_piece_is_going_to_the_step_that_drops_it() -> None:
    it = unigram()
    tell(it, do.Move(3))
    gone = next(row.piece for row in it.snapshot().main.vocabulary.rows if row.kind == "left").decode()
    tell(it, do.GoTo(0))
    assert tell(it, do.GoToToken(gone)) == [3]
    assert it.snapshot().main.at.step == 3
    tell(it, do.GoTo(None))
    end = it.snapshot().main.at.step
    assert tell(it, do.GoToToken("▁the")) == [end]
    assert tell(it, do.GoToToken("zebra")) == [None]


def test_following_goes_to_a_word_that_is_cut_in_another_way() -> None:
    it = unigram(4_000)
    assert tell(it, do.FindChanged(CorpusPlace())) == [None]
    tell(it, do.Move(3))
    before = {part.place: part.tokens for part in it.snapshot().main.corpus.parts}
    tell(it, do.Move(1))
    now = {part.place: part.tokens for part in it.snapshot().main.corpus.parts}
    place = tell(it, do.FindChanged(CorpusPlace()))[0]
    assert before[place] != now[place]


# ---- score, gage


def test_wordpiece_rows_have_uses_and_scores() -> None:
    it = explorer("wordpiece")
    shown = it.snapshot()
    rows = [row for row in shown.main.candidates.rows if isinstance(row, PairCandidate)]
    assert [row.score for row in rows] == sorted((row.score for row in rows), reverse=True)
    for row in rows:
        assert row.score == row.count / (row.left_uses * row.right_uses)
    assert any("rare pairs win" in fact for fact in shown.main.why.facts)
    tell(it, do.Move(1))
    last = it.snapshot().main.at.last
    assert last is not None
    assert last.worth == rows[0].worth
    least = explorer("wordpiece", min_count=5)
    shown = least.snapshot()
    assert not any("rare" in fact for fact in shown.main.why.facts)
    assert all(row.count >= 5 for row in shown.main.candidates.rows if isinstance(row, PairCandidate))
    tell(least, do.Move(3))
    assert least.snapshot().main.at.step == 3
    assert all(row.places is None or row.places >= 5 for row in least.snapshot().main.vocabulary.rows)


def test_hugging_faces_wordpiece_says_what_it_is() -> None:
    assert any("by count with ##" in fact for fact in explorer("bert").snapshot().main.why.facts)


def test_gage_shows_the_slides_string() -> None:
    it = explorer("gage", "xxxdqxxxdxo")
    tell(it, do.GoTo(None))
    view = tell(it, do.Compress())[0]
    assert "".join(view.names.get(value, chr(value)) for value in view.compressed) == "CqCxo"
    assert [view.names[row[0]] for row in view.table] == ["A", "B", "C"]
    assert view.table[-1][3] == b"xxxd"
    assert (view.text_bytes, view.original_bytes) == (5, 11)
    with pytest.raises(TokentuiError, match="only Gage"):
        do.perform(do.Compress(), explorer("gpt2"), lambda _: None)


# ---- places


def test_the_same_number_of_merges_is_kept_round_a_unigram_training() -> None:
    it = explorer("gpt2")
    tell(it, do.Move(7))
    gpt2 = it.main.trainer
    swap(it, "wordpiece")
    assert it.snapshot().main.at.step == 7
    tell(it, do.Move(2))
    swap(it, "sentencepiece-unigram")
    assert it.snapshot().main.at.step == 0, "rounds of a unigram training are no merges"
    tell(it, do.Move(1))
    swap(it, "gpt2", gpt2)
    assert it.snapshot().main.at.step == 9


@pytest.mark.parametrize("name", ["udl-notebook", "wordpiece", "sentencepiece-bpe"])
def test_the_same_size_is_kept(name: str) -> None:
    it = explorer(name)
    tell(it, do.KeepPlace("size"))
    assert it.snapshot().keep_place == "size"
    tell(it, do.Move(9))
    size, trainer = it.snapshot().main.at.vocab_size, it.main.trainer
    swap(it, "minbpe-basic")
    assert it.snapshot().main.at.vocab_size == 256, "its least size"
    swap(it, name, trainer)
    assert it.snapshot().main.at.step == 9, (
        "the size that was kept, although a recipe between had no vocabulary of that size"
    )
    swap(it, "comp336-no-pretokenization")
    assert it.snapshot().main.at.vocab_size == size
    with pytest.raises(TokentuiError, match="unknown place"):
        do.perform(do.KeepPlace("time"), it, lambda _: None)


# ---- pieces


def test_pieces_say_which_branch_matched() -> None:
    it = explorer("gpt2", "I'm 12, you?\n  'll   ")
    tell(it, do.SetInput("don't 3"))
    view = tell(it, do.Pieces(CorpusPlace()))[0]
    assert isinstance(view, PiecesView)
    assert [part.text for part in view.corpus] == [
        "I", "'m", " 12", ",", " you", "?", "\n ", " '", "ll", "   ",
    ]
    named = [view.branches[part.branch or 0].split("  ")[0] for part in view.typed]
    assert named == [
        "letters, with optional leading space", "contraction", "digits, with optional leading space"
    ]
    assert not view.warning
    assert "".join(part.text for part in view.corpus) == "I'm 12, you?\n  'll   "


def test_what_a_split_drops_is_among_the_pieces() -> None:
    it = explorer("udl-notebook", "a  bc\td ")
    view = tell(it, do.Pieces(CorpusPlace(0, 1), 3))[0]
    assert [(part.text, part.branch) for part in view.corpus] == [("  ", None), ("bc", 0)]


@pytest.mark.parametrize(
    ("asked", "reached"),
    [((0, 0), (3, 0)), ((0, 99), (3, 0)), ((3, 2), (3, 2)), ((3, 4), (3, 4)), ((9, 0), (3, 0))],
)
def test_pieces_step_over_documents_that_have_no_more(
    asked: tuple[int, int], reached: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    it = State(prepare(Corpus.from_lines(["", "", "", "ab c"]), preset("gpt2"), Run()))
    (view,) = tell(it, do.Pieces(CorpusPlace(*asked)))
    assert view.place == reached
    assert "".join(part.text for part in view.corpus) == "ab c"[reached[1] :]
    monkeypatch.setattr(pieces, "_MOST_EMPTY", 2)
    (near,) = tell(it, do.Pieces(CorpusPlace(0, 0)))
    assert (near.place, near.corpus) == ((2, 0), ())
    assert tell(it, do.Pieces(near.place))[0].place == (3, 0)


def test_huge_pieces_are_warned_of() -> None:
    it = explorer("jurassic", "abc " * 1000)
    view = tell(it, do.Pieces(CorpusPlace(0, 100), 50))[0]
    assert "the longest piece has 4,000 characters" in view.warning
    assert sum(len(part.text) for part in view.corpus) >= 50


# ---- all of them


@pytest.mark.parametrize("name", list(PRESETS))
@settings(max_examples=4)
@given(text=st.text(st.sampled_from("ab  AB1,.\n▁é漢'\x00</w>##🙂"), max_size=40), typed=st.text(max_size=10))
@pytest.mark.first_run(cases=4)
def test_every_preset_ends_with_a_reason(name: str, text: str, typed: str) -> None:
    it = explorer(name, text)
    tell(it, do.SetInput(typed))
    tell(it, do.GoTo(None))
    end = it.snapshot()
    assert end.main.why.end in ("no pair left", "min_count", "vocab_size", "merges", "the last step")
    tell(it, do.Move(3))
    assert it.snapshot().main.at.step == end.main.at.step, "nothing is left"
    while it.main.trainer.number:
        tell(it, do.Move(-1))
        it.snapshot()
    tell(it, do.GoTo(None))
    assert it.snapshot().main.vocabulary.rows == end.main.vocabulary.rows
