"""The law of sections: those from the cache equal sections made afresh, after any commands."""

from __future__ import annotations

import dataclasses
import traceback
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sessions import settle, tell

from tokentui import learn
from tokentui.axes import preset
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.learn import start
from tokentui.recipe import Recipe, Run
from tokentui.session import commands as do
from tokentui.session.engine.state import State
from tokentui.session.training import training as opening
from tokentui.session.training.column import Column
from tokentui.session.training.training import Training, prepare, prepare_tokenizer
from tokentui.session.views import (
    MAIN,
    VOCABULARY_ORDERS,
    ColumnSnapshot,
    ColumnWanted,
    CorpusPlace,
    Viewport,
)
from tokentui.text.corpus import Corpus
from tokentui.text.count import count
from tokentui.text.patterns import TakesTooLong
from tokentui.text.pretokenize import Pretokenizer

TEXTS = [
    "the cat sat on the mat, the cat ate the rat and the bat", "a naïve café; <s> aaaa aaa 日本", "",
    "hugs hug\n\nmug mugs hugs",
]
CORPUS = Corpus.from_lines(TEXTS * 2)
RUN = Run.of({"specials": ["<s>"]})
RECIPES: dict[str, Recipe] = {
    "gpt2": preset("gpt2"), "wordpiece": preset("wordpiece"), "gage": preset("gage"), "unigram": preset("t5"),
    "end mark": preset("subword-nmt"),
    "base last": preset("gpt2", base="frequency", unit="char", unknown="error"),
}
VIEWS = st.builds(
    Viewport,
    candidates_top=st.integers(0, 30), candidates_rows=st.integers(1, 20), vocabulary_top=st.integers(0, 300),
    vocabulary_rows=st.integers(1, 20), vocabulary_order=st.sampled_from(VOCABULARY_ORDERS),
    vocabulary_folded=st.booleans(),
    corpus=st.builds(CorpusPlace, st.integers(0, 8), st.integers(0, 60)), corpus_chars=st.integers(0, 200),
    corpus_before=st.integers(0, 80), curve_points=st.integers(2, 9),
)
COMMANDS = st.lists(
    st.one_of(
        st.builds(do.Move, st.integers(-3, 3)),
        st.builds(do.Move, st.sampled_from([1, 1, -1])),
        st.builds(do.GoTo, st.none() | st.integers(0, 40)),
        st.builds(do.SetInput, st.text("thecatsugm <>é日", max_size=12)),
        st.builds(do.SetViewport, VIEWS),
        st.builds(do.StepPieces, st.integers(-3, 5)),
    ),
    max_size=9,
)


def made(recipe: str) -> Training:
    """A training at its start; `file` replays the tokens of one."""
    if recipe != "file":
        return prepare(CORPUS, RECIPES[recipe], RUN)
    trainer = start(CORPUS, preset("gpt2"))
    learn.jump(trainer, 25)
    return prepare_tokenizer(CORPUS, trainer.tokenizer(), RUN)


def afresh(recipe: str, it: State) -> ColumnSnapshot:
    """The first column, with a training of its own that was brought to the same step."""
    was, prepared = it.main.trainer, made(recipe)
    trainer = prepared.trainer
    trainer.advance(0, RUN.stops)
    for step in (was.computed, was.number):
        learn.jump(trainer, step)
        trainer.ending(RUN.stops)  # no candidate after a step is known once one stood there
    before, walk = learn.substeps_of(was), learn.substeps_of(trainer)
    if before is not None and before.walked is not None and walk is not None:
        walk.drop_pieces(before.walked[0])
    column = Column(1, it.main.wanted)
    column.set_training(prepared)
    column.in_sync = True
    return column.snapshot(it.view, it.typed, alone=True)


def parts(column: ColumnSnapshot) -> dict[str, Any]:
    """Its sections, and what went wrong with them; the memory goes by the way that was taken."""
    at = dataclasses.replace(column.at, memory=0)
    names = "candidates", "why", "vocabulary", "corpus", "encoding", "curve", "errors"
    return {"at": at} | {name: getattr(column, name) for name in names}


@pytest.mark.parametrize("recipe", [*RECIPES, "file"])
@settings(max_examples=15)
@given(commands=COMMANDS)
@pytest.mark.first_run(cases=1)
def test_sections_from_the_cache_equal_those_made_afresh(
    recipe: str, commands: list[do.Command[object]]
) -> None:
    it = State(made(recipe))
    for command in commands:
        try:
            do.perform(command, it, lambda _: None)
        except TokentuiError:
            assert isinstance(command, do.StepPieces)
        settle(it)
        assert parts(it.snapshot().main) == parts(afresh(recipe, it))


def test_a_section_whose_key_stays_is_the_same_object() -> None:
    it = State(made("gpt2"))
    first = it.snapshot().main
    do.perform(do.SetInput("the cat"), it, lambda _: None)
    typed = it.snapshot().main
    for name in ("at", "candidates", "why", "vocabulary", "corpus", "curve"):
        assert getattr(typed, name) is getattr(first, name)
    tell(it, do.Move(1))
    moved = it.snapshot().main
    known: dict[object, object] = {one: one for one in (*typed.vocabulary.rows, *typed.candidates.rows)}
    for rows in (moved.vocabulary.rows, moved.candidates.rows):
        same = [row for row in rows if row in known]
        assert len(same) > len(rows) // 2, "the step changes the uses of three"
        assert all(known[row] is row for row in same)
    assert any(one is other for one, other in zip(moved.corpus.parts, typed.corpus.parts, strict=True))


def test_before_each_section_that_is_made_there_is_a_pause() -> None:
    it, paused = State(made("gpt2")), list[str]()

    def pauses() -> int:
        paused.clear()
        it.snapshot(lambda: paused.append("now"))
        return len(paused)

    assert pauses() == len(MAIN) + 1, "the numbers of the step are a section too"
    assert pauses() == 0
    do.perform(do.SetInput("the cat"), it, lambda _: None)
    assert pauses() == 1


def test_a_column_that_cannot_be_taken_is_not_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise Cancelled

    prepared = made("gpt2")
    monkeypatch.setattr(prepared.trainer, "advance", fails)
    column = Column(1, ColumnWanted(prepared.recipe))
    with pytest.raises(Cancelled):
        column.set_training(prepared)
    states = [column.open]
    monkeypatch.undo()
    column.set_training(prepared)
    assert [*states, column.open] == [False, True]
    assert column.snapshot(Viewport(), "the", alone=True).at is not None


def test_a_text_that_takes_too_long_is_refused_again_and_again() -> None:
    column = State(made("gpt2")).main
    column._too_slow = "the", TakesTooLong("it takes too long")
    lengths = []
    for _ in range(3):
        with pytest.raises(TakesTooLong) as refused:
            column.encode("the")
        lengths.append(len(list(traceback.walk_tb(refused.value.__traceback__))))
    assert len(set(lengths)) == 1


@pytest.mark.parametrize("corpus", [
    Corpus.from_counts([(f"{n:06x}", 1) for n in range(9_000)]),
    Corpus.from_text("x" * 90_000),
    Corpus.from_text("a word and another one \n" * 9_000),
], ids=["counted", "one word", "lines"])
def test_a_first_look_is_taken_where_there_is_more_to_count(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is counted for it is not counted again."""
    cut: list[int] = []
    words = Pretokenizer.words

    def counted(self: Pretokenizer, text: str, *, first: bool = True) -> Any:
        cut.append(len(text))
        return words(self, text, first=first)

    monkeypatch.setenv("TOKENTUI_KERNELS", "off")
    monkeypatch.setattr(opening, "FIRST_LOOK_CHARS", 20_000)
    monkeypatch.setattr(Pretokenizer, "words", counted)
    parts: list[Training] = []
    prepared = prepare(corpus, preset("gpt2"), Run(), parts.append)
    assert prepared.trainer.words == count(corpus, preset("gpt2"))
    assert len(parts) == (corpus.characters > 200_000)
    assert all(part.partial and 0 < part.trainer.words.occurrences < 45_000 for part in parts)
    # half of it by the naive count
    assert sum(cut) == 2 * (corpus.characters if corpus.counts is None else 0)


@pytest.mark.parametrize(("error", "said"), [
    (TokentuiError("it cannot be known", "why"), "why: it cannot be known"),
    (ValueError("why"), "internal error: ValueError: why"),
])
def test_a_section_that_fails_is_an_error_and_the_rest_is_there(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setenv("TOKENTUI_KERNELS", "off")  # else it may be a kernel that fails
    it = State(made("gpt2"))
    monkeypatch.setattr(it.main.trainer, "explained", fails)
    main = it.snapshot().main
    assert dict(main.errors) == {"why": said}
    assert main.candidates.rows
    monkeypatch.undo()
    tell(it, do.Move(1))
    assert not it.snapshot().main.errors
