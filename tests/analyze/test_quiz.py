"""The answers of exercises are those of a naive model, and a seed gives the same sheet."""

from __future__ import annotations

import naive
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui import learn
from tokentui.analyze.quiz import KINDS, Question, questions
from tokentui.axes import preset
from tokentui.core.errors import TokentuiError
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

PLAIN = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")
TIES = ("first-seen", "largest-pair", "smallest-pair", "lowest-ids", "shortest")


def model_at(words: dict[str, int], tie: str, step: int) -> naive.Naive:
    """The naive model after so many merges."""
    letters = sorted({letter for word in words for letter in word})
    model = naive.Naive(
        [[letters.index(letter) for letter in word] for word in words], list(words.values()),
        [letter.encode() for letter in letters], tie,
    )
    for _ in range(step):
        model.merge(model.ranked(model.counts())[0])
    return model


def check(one: Question, words: dict[str, int], tie: str) -> None:
    """Compare an answer with the naive model's."""
    model = model_at(words, tie, one.step)
    counts = model.counts()
    if one.kind == "count":
        assert one.number == model.tokens()
    elif one.kind == "cut":
        place = list(words).index(one.word)
        assert one.answer == tuple(model.pieces[symbol] for symbol in model.words[place])
    elif one.kind == "decode":
        assert one.answer == (one.word.encode(),)
    elif one.kind == "wrong":
        wrong = []
        for parts in one.choices:
            best = model.ranked(model.counts())[0]
            right = tuple(model.pieces[part] for part in best)
            if right != parts:
                wrong.append(parts)
                assert (one.right, one.made, one.worth) == (right, model.join(best),
                    str(model.counts()[best]))
            model.merge(best)
        assert wrong == [one.answer]
    else:
        best = model.ranked(counts)[0]
        spelled = {tuple(model.pieces[part] for part in pair): pair for pair in counts}
        assert spelled[one.answer] == best
        assert one.worth == str(counts[best])
        assert one.made == model.join(best)
        assert one.answer in one.choices
        assert len(set(one.choices)) == len(one.choices) > 1
        tied = [parts for parts in one.choices if counts[spelled[parts]] == counts[best]]
        assert len(tied) == (len(one.choices) if one.kind == "tie" else 1)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text(alphabet="abc", min_size=1, max_size=8), min_size=1, max_size=8),
    st.sampled_from(TIES), st.integers(0, 3), st.integers(1, 12),
)
def test_answers_are_the_naive_models(texts: list[str], tie: str, seed: int, count: int) -> None:
    words: dict[str, int] = {}
    for word in texts:
        words[word] = words.get(word, 0) + 1
    trainer = learn.start(Corpus.from_text(" ".join(texts)), PLAIN.with_axes(tie=tie))
    try:
        found = questions(trainer, count, seed)
    except TokentuiError:
        assert all(len(word) < 2 for word in words)
        return
    assert len(found) <= count
    assert [one.step for one in found] == sorted(one.step for one in found)
    for one in found:
        check(one, words, tie)


@pytest.mark.parametrize("recipe", ["comp336", "hf-bpe", "gpt2", "wordpiece", "gage", "subword-nmt"])
def test_a_seed_gives_the_same_questions(recipe: str) -> None:
    corpus = read("sample:sailor")
    sheets = [
        questions(learn.start(corpus, preset(recipe)), 12, seed) for seed in (5, 5, 6)
    ]
    assert sheets[0] == sheets[1] != sheets[2]
    assert {one.kind for one in sheets[0]} <= set(KINDS)


def test_each_kind_is_asked_and_stops_hold() -> None:
    trainer = learn.start(read("sample:english"), preset("gpt2"))
    found = questions(trainer, 8, 0, Stops(merges=20))
    assert {one.kind for one in found} == set(KINDS)
    assert max(one.step for one in found) < 20


def test_a_training_without_pairs_has_no_questions() -> None:
    trainer = learn.start(read("sample:english"), preset("sentencepiece-unigram"), Run())
    with pytest.raises(TokentuiError, match="merges pairs"):
        questions(trainer, 1, 0)
