"""The corpus as running text: the windows that a pane looks at, in any corpus and recipe."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui import learn
from tokentui.learn import Trainer, Word, start
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe
from tokentui.session.training.corpus_view import RunningText
from tokentui.session.views import CorpusPart, CorpusPlace, Viewport
from tokentui.text.corpus import Corpus

TRAINABLE = list(PRESETS.values())


def window(
    corpus: Corpus, trainer: Trainer, place: CorpusPlace | None = None, chars: int = 10_000
) -> list[CorpusPart]:
    """The parts of a window."""
    look = Viewport(corpus=place or CorpusPlace(), corpus_chars=chars, corpus_before=0)
    view = RunningText(corpus, trainer.recipe).view(look, trainer)
    return list(view.parts)


@pytest.mark.first_run(cases=12)
@pytest.mark.parametrize("preset", TRAINABLE, ids=lambda preset: preset.name)
def test_the_whole_text_is_there_and_cut_into_tokens(preset: object) -> None:
    recipe: Recipe = preset.recipe  # type: ignore[attr-defined]
    corpus = Corpus.from_lines(
        ["Hello, world! The cat sat  on the mat.", "Älä ole hölmö, 123 tämä on testi…", "", "日本語 cat"]
    )
    trainer = start(corpus, recipe)
    learn.jump(trainer, 20)
    running = RunningText(corpus, recipe)
    mark = recipe.mark_text if recipe.mark_kind.startswith("end-") else ""
    for document in range(len(corpus.documents)):
        parts = [part for part in window(corpus, trainer) if part.place.document == document]
        shown = "".join(
            part.text[: len(part.text) - len(mark)] if part.tokens and mark else part.text for part in parts
        )
        text = str(running.text(document))
        if recipe.split == "metaspace":
            assert shown.replace("▁", " ").strip() == text.strip()
        elif recipe.split != "falcon":
            assert shown == text
    for part in window(corpus, trainer):
        if part.tokens:
            assert part.tokens[0].start == 0
            assert part.tokens[-1].end == len(part.text)
            if cut := trainer.segment(Word(part.text.removesuffix(mark) if mark else part.text)):
                pieces = trainer.inventory().vocabulary.pieces
                bare = [pieces[token.symbol] if token.symbol >= 0 else b"" for token in cut]
                assert [token.piece for token in part.tokens] == bare


@settings(max_examples=30, deadline=None)
@given(
    st.text(alphabet="ab é日\n.", max_size=200),
    st.sampled_from(
        [
            Recipe(), Recipe(split="none"),
            Recipe(split="whitespace", unit="char", base="sorted", unknown="error"),
        ]
    ),
    st.integers(0, 220), st.integers(1, 60), st.integers(0, 60), st.integers(0, 15),
)
def test_a_window_is_a_part_of_the_whole(
    text: str, recipe: Recipe, offset: int, chars: int, before: int, steps: int
) -> None:
    corpus = Corpus.from_text(text)
    trainer = start(corpus, recipe)
    learn.jump(trainer, steps)
    whole = {(part.place, part.text): part.tokens for part in window(corpus, trainer) if part.tokens}
    viewport = Viewport(corpus=CorpusPlace(0, offset), corpus_chars=chars, corpus_before=before)
    view = RunningText(corpus, recipe).view(viewport, trainer)
    assert view.place == CorpusPlace(0, min(offset, len(text)))
    for part in view.parts:
        if part.tokens and part.place.offset > view.parts[0].place.offset:
            assert whole[part.place, part.text] == part.tokens
    ends = [part.place.offset + len(part.text) for part in view.parts]
    if view.parts:
        assert view.parts[0].place.offset <= view.place.offset <= max(ends)
        if view.at_end:
            assert max(ends) == len(text)
    else:
        assert view.place.offset == len(text)


def test_a_window_of_an_enormous_word() -> None:
    corpus = Corpus.from_text("abcdefghij" * 100_000)
    trainer = start(corpus, Recipe(split="none", unit="char", base="sorted", unknown="error"))
    learn.jump(trainer, 4)
    parts = window(corpus, trainer, CorpusPlace(0, 500_003), chars=40)
    assert len(parts) == 1
    assert parts[0].place.offset == 500_003
    assert len(parts[0].text) < 100
    assert len(parts[0].tokens) > 2
    assert parts[0].tokens[0].start == 0


def test_windows_go_over_the_ends_of_documents() -> None:
    corpus = Corpus.from_lines([f"line {n}" for n in range(50)])
    trainer = start(corpus, Recipe())
    viewport = Viewport(corpus=CorpusPlace(20, 3), corpus_chars=30, corpus_before=30)
    view = RunningText(corpus, trainer.recipe).view(viewport, trainer)
    documents = sorted({part.place.document for part in view.parts})
    assert documents[0] < 20 < documents[-1]
    assert not view.at_start
    assert not view.at_end
    assert 0.35 < view.position < 0.45


def test_counted_words_are_shown_with_their_counts() -> None:
    corpus = Corpus.from_counts([("hai", 5), ("haus", 10)])
    trainer = start(corpus, Recipe(split="whitespace", unit="char", base="sorted", unknown="error"))
    learn.step(trainer)
    parts = window(corpus, trainer)
    assert [(part.text, part.times) for part in parts] == [("hai", 5), ("haus", 10)]
    assert [(span.start, span.end, span.fresh) for span in parts[0].tokens] == [(0, 2, True), (2, 3, False)]


def test_bytes_inside_a_character_are_marked() -> None:
    corpus = Corpus.from_text("日")
    trainer = start(corpus, Recipe(split="none"))
    spans = window(corpus, trainer)[0].tokens
    assert [(span.start, span.end, span.partial) for span in spans] == [(0, 1, True)] * 3


def test_find_goes_on_and_round() -> None:
    corpus = Corpus.from_lines(["one two", "two one", "three"])
    running = RunningText(corpus, Recipe())
    assert running.find("one", CorpusPlace(), False) == CorpusPlace(1, 4)
    assert running.find("one", CorpusPlace(1, 4), False) == CorpusPlace(0, 0)
    assert running.find("one", CorpusPlace(1, 4), True) == CorpusPlace(0, 0)
    assert running.find("one", CorpusPlace(0, 0), True) == CorpusPlace(1, 4)
    assert running.find("none", CorpusPlace(), False) is None
    assert running.find_word({" one"}.__contains__, CorpusPlace(0, 2)) == CorpusPlace(1, 3)
    assert running.find_word({"absent"}.__contains__, CorpusPlace()) is None
