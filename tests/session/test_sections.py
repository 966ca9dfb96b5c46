"""The law of sections: those from the cache equal sections made afresh, after any commands."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui import learn
from tokentui.axes import preset
from tokentui.core.errors import TokentuiError
from tokentui.learn import start
from tokentui.recipe import Recipe, Run
from tokentui.session import commands as do
from tokentui.session.column import Sections
from tokentui.session.opening import Prepared, prepare_tokenizer
from tokentui.session.state import State
from tokentui.session.views import VOCABULARY_ORDERS, ColumnSnapshot, CorpusPlace, Viewport
from tokentui.text.corpus import Corpus

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


def made(recipe: str) -> Prepared:
    """A training at its start; `file` replays the tokens of one."""
    if recipe != "file":
        return Prepared(CORPUS, RECIPES[recipe], RUN, start(CORPUS, RECIPES[recipe], RUN))
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
    if was.substeps is not None and was.substeps.walked is not None and trainer.substeps is not None:
        trainer.substeps.fine(was.substeps.walked[0])
    return Sections(prepared).column(1, it.main.name, True, it.view, it.typed)


def parts(column: ColumnSnapshot) -> dict[str, Any]:
    """Its sections, and what went wrong with them; the memory goes by the way that was taken."""
    at = dataclasses.replace(column.at, memory=0)
    names = "candidates", "why", "vocabulary", "corpus", "encoding", "curve", "errors"
    return {"at": at} | {name: getattr(column, name) for name in names}


@pytest.mark.parametrize("recipe", [*RECIPES, "file"])
@settings(max_examples=25, deadline=None)
@given(commands=COMMANDS)
def test_sections_from_the_cache_equal_those_made_afresh(
    recipe: str, commands: list[do.Command[object]]
) -> None:
    it = State(made(recipe))
    for command in commands:
        try:
            it.handle(command, lambda _: None)
        except TokentuiError:
            assert isinstance(command, do.StepPieces)
        while it.at_work:
            it.work(0.0)
        assert parts(it.snapshot().main) == parts(afresh(recipe, it))


def test_a_section_whose_key_stays_is_the_same_object() -> None:
    it = State(made("gpt2"))
    first = it.snapshot().main
    it.handle(do.SetInput("the cat"), lambda _: None)
    typed = it.snapshot().main
    for name in ("at", "candidates", "why", "vocabulary", "corpus", "curve"):
        assert getattr(typed, name) is getattr(first, name)
    it.handle(do.Move(1), lambda _: None)
    while it.at_work:
        it.work(0.0)
    moved = it.snapshot().main
    same = set(moved.vocabulary.rows) & set(typed.vocabulary.rows)
    assert len(same) > len(moved.vocabulary.rows) // 2, "the step changes the uses of three"
    assert any(one is other for one, other in zip(moved.corpus.parts, typed.corpus.parts, strict=True))
