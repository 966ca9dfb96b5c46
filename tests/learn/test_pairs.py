"""The stepping trainer against a recount from scratch, on any corpus, recipe and walk."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import Naive
from trainers import best, forget, lists, start, why, words_of

from tokentui import learn
from tokentui.axes import AXES
from tokentui.core import engines
from tokentui.core.errors import Cancelled
from tokentui.core.jobs import job
from tokentui.learn import MergeStep, Query, Trainer, Word
from tokentui.learn.bases import sentencepiece_piece
from tokentui.learn.objectives import Material
from tokentui.learn.start_pairs import pair_trainer
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.count import count

TIES = list(AXES["tie"])
MARKS = ["none", "end-symbol:</w>", "end-suffix:</w>", "prefix:##"]

words = st.text(alphabet="abcé", min_size=1, max_size=9)
texts = st.lists(words, max_size=12).map(" ".join)
recipes = st.builds(
    lambda unit_base, mark, tie, weight, split: Recipe(
        split=split, unit=unit_base[0], base=unit_base[1], mark=mark, tie=tie, weight=weight,
        unknown="never" if unit_base[1] in ("bytes", "gpt2-bytes") else "error",
    ),
    st.sampled_from(
        [
            ("byte", "bytes"), ("byte", "gpt2-bytes"), ("byte", "sorted"), ("char", "sorted"),
            ("char", "first-seen"), ("char", "frequency"), ("char", "alphabet"), ("byte", "alphabet"),
            ("grapheme", "sorted"),
        ]
    ),
    st.sampled_from(MARKS),
    st.sampled_from(TIES),
    st.sampled_from(["occurrences", "distinct"]),
    st.sampled_from(["whitespace", "none", "gpt2", "before"]),
)


def naive_of(trainer: Trainer, max_length: int | None = None) -> Naive:
    """A naive run from the trainer's start."""
    vocabulary = trainer.tokenizer().vocabulary
    learn.jump(trainer, 0)
    counts = trainer.words.counts
    return Naive(
        words=words_of(trainer),
        weights=[1] * len(counts) if trainer.recipe.weight == "distinct" else list(counts),
        pieces=vocabulary.pieces[: vocabulary.base_size],
        tie=trainer.recipe.tie,
        prefix=len(trainer.recipe.mark_text.encode()) if trainer.recipe.mark_kind == "prefix" else 0,
        ids=[
            symbol + (1 << 20) * (trainer.recipe.base == "frequency")
            for symbol in range(vocabulary.base_size)
        ],
        max_length=max_length,
    )


def naive_run(naive: Naive, base_last: bool) -> tuple[list[Naive], list[tuple[int, int]], list[int]]:
    """Every state of a naive run, the pairs it chose, and how many pairs were tied at each."""
    states = [copy.deepcopy(naive)]
    chosen: list[tuple[int, int]] = []
    tied: list[int] = []
    while counts := naive.counts():
        best = naive.ranked(counts)[0]
        tied.append(sum(1 for count in counts.values() if count == counts[best]))
        naive.merge(best)
        if base_last:
            naive.ids[-1] = len(chosen)  # merges are numbered before the base
        chosen.append(best)
        states.append(copy.deepcopy(naive))
    return states, chosen, tied


def assert_equal(trainer: Trainer, state: Naive) -> None:
    """The trainer's present step is the naive state: sequences, counts, order, uses, length."""
    counts = state.counts()
    ranked = state.ranked(counts)
    found = best(trainer, len(ranked) + 5)
    assert [(*c.key, c.count) for c in found] == [
        (*pair, counts[pair]) for pair in ranked
    ]
    assert learn.candidates(trainer, Query()).total == len(ranked)
    assert words_of(trainer) == state.words
    assert trainer.tokens_at(trainer.number) == state.tokens()
    for symbol in range(len(state.pieces)):
        uses = sum(
            word.count(symbol) * weight for word, weight in zip(state.words, state.weights, strict=True)
        )
        assert trainer.uses[symbol] == uses
    reasons = why(trainer)
    if ranked:
        assert reasons.tied == sum(1 for count in counts.values() if count == counts[ranked[0]])
        assert reasons.replaced == copy.deepcopy(state).merge(ranked[0])


@pytest.mark.slow
@settings(max_examples=75, deadline=None)
@given(texts, recipes, st.lists(st.integers(-3, 30), max_size=12))
def test_any_walk_equals_a_recount(text: str, recipe: Recipe, moves: list[int]) -> None:
    trainer = start(Corpus.from_text(text), recipe)
    states, chosen, tied = naive_run(naive_of(trainer), recipe.base == "frequency")
    at = 0
    assert_equal(trainer, states[0])
    for move in moves:
        if move == -1:
            undone = learn.back(trainer)
            assert (undone is None) == (at == 0)
            at = max(0, at - 1)
        elif move < 0:
            step = learn.step(trainer)
            if at < len(chosen):
                at += 1
                assert step is not None
                assert (step.number, step.tied) == (at, tied[at - 1])
                assert step.tokens == states[at].tokens()
            else:
                assert step is None
        else:
            at = min(move, len(chosen))
            assert learn.jump(trainer, move) == at
        assert trainer.number == at
        assert_equal(trainer, states[at])
    assert learn.run(trainer, Stops()) == "no pair left"
    assert trainer.tokenizer().vocabulary.merges == chosen


@settings(max_examples=30, deadline=None)
@given(texts, recipes, st.integers(1, 5), st.integers(0, 6))
def test_a_limit_on_length_taken_midway(text: str, recipe: Recipe, longest: int, midway: int) -> None:
    trainer = start(Corpus.from_text(text), recipe)
    learn.jump(trainer, midway + 4)
    midway = learn.jump(trainer, midway)
    naive = naive_of(trainer, longest)
    for pair in trainer.tokenizer().vocabulary.merges[:midway]:
        naive.merge(pair)
        if recipe.base == "frequency":
            naive.ids[-1] = len(naive.ids) - 1 - trainer.tokenizer().vocabulary.base_size
    learn.jump(trainer, midway)
    before = trainer.tokenizer()
    states, chosen, _ = naive_run(naive, False) if recipe.base != "frequency" else ([], [], [])
    assert learn.run(trainer, Stops(max_length=longest)) == "no pair left"
    if states:
        assert trainer.tokenizer().vocabulary.merges[midway:] == chosen
        assert_equal(trainer, states[-1])
    assert before.merges == midway
    vocabulary = trainer.tokenizer().vocabulary
    units = [1] * vocabulary.base_size
    for left, right in vocabulary.merges:
        units.append(units[left] + units[right])
    assert all(size <= longest for size in units[vocabulary.base_size + midway :])


@settings(max_examples=40, deadline=None)
@given(texts, recipes | recipes.map(lambda one: one.with_axes(objective="score")))
def test_going_back_undoes_everything(text: str, recipe: Recipe) -> None:
    trainer, fresh = start(Corpus.from_text(text), recipe), start(Corpus.from_text(text), recipe)
    learn.run(trainer, Stops())
    made = list(learn.steps(trainer))
    undone = []
    while step := learn.back(trainer):
        undone.append(step)
    assert undone[::-1] == made
    forget(trainer)
    assert lists(trainer) == lists(fresh)


@settings(max_examples=30, deadline=None)
@given(texts, recipes, st.integers(0, 20))
def test_the_tokenizer_of_a_step_cuts_the_corpus_as_the_trainer_does(
    text: str, recipe: Recipe, steps: int
) -> None:
    trainer = start(Corpus.from_text(text), recipe)
    learn.jump(trainer, steps)
    encoding = trainer.tokenizer().encode(text)
    assert len(encoding.ids) == (
        trainer.tokens_at(trainer.number) if recipe.weight == "occurrences" else len(encoding.ids)
    )
    for word in trainer.words.words:
        assert all(one.end == other.start for one, other in pairwise(trainer.segment(Word(word))))


def test_the_filter_bars_pieces_that_sentencepiece_does_not_make() -> None:
    recipe = Recipe(split="metaspace", unit="char", base="sorted", pieces="sentencepiece", unknown="error")
    trainer = start(Corpus.from_text("don't a1 a1 a1 x. x. x."), recipe)
    learn.run(trainer, Stops())
    made = trainer.tokenizer().vocabulary.pieces[trainer.tokenizer().vocabulary.base_size :]
    assert made
    assert all(sentencepiece_piece(piece) for piece in made)
    assert "▁a1".encode() not in made


@pytest.mark.parametrize(
    ("run", "reason", "steps"),
    [
        ({"merges": 0}, "merges", 0),
        ({"merges": 3}, "merges", 3),
        ({"vocab_size": 7}, "vocab_size", 3),
        ({"vocab_size": 1}, "vocab_size", 0),
        ({"min_count": 3}, "min_count", 2),
        ({"min_count": 100}, "min_count", 0),
        ({}, "no pair left", 4),
    ],
)
def test_stops(run: dict[str, Any], reason: str, steps: int) -> None:
    recipe = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")
    trainer = start(Corpus.from_text("abcd abc abc ab"), recipe)
    assert learn.run(trainer, Stops(**run)) == reason
    assert trainer.number == steps if reason != "no pair left" else trainer.number == trainer.computed


def test_a_merge_that_spells_a_special_borrows_its_id() -> None:
    recipe = Recipe(split="whitespace", unit="char", base="sorted", tie="lowest-ids", unknown="drop")
    trainer = start(Corpus.from_text("abc abc ab"), recipe, Run(specials=("ab", "<s>")))
    first = learn.step(trainer)
    second = learn.step(trainer)
    assert isinstance(first, MergeStep)
    assert isinstance(second, MergeStep)
    assert (first.id, first.vocab_size) == (0, 5)
    assert (second.id, second.vocab_size) == (5, 6)
    assert trainer.tokenizer().encode("ab abc").ids == (0, 5)


def test_an_empty_corpus_has_nothing_to_merge() -> None:
    trainer = start(Corpus.from_text(""), Recipe())
    assert learn.step(trainer) is None
    assert learn.back(trainer) is None
    assert best(trainer, 10) == []
    assert why(trainer).end == "no pair left"
    assert learn.run(trainer, Stops(merges=10)) == "no pair left"


def test_cancelling_leaves_the_trainer_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(engines.VARIABLE, "off")  # the other one is done before it looks up
    trainer = start(Corpus.from_text(" ".join(f"{n:x}word{n}" for n in range(20000))), Recipe())
    told: list[int] = []
    with job(lambda done, total: told.append(done), lambda: len(told) > 1), pytest.raises(Cancelled):
        learn.run(trainer, Stops())
    number = trainer.number
    assert 0 < told[-1] <= number
    step = learn.step(trainer)
    assert step is not None
    assert step.number == number + 1
    with job(cancel=lambda: True), pytest.raises(Cancelled):
        start(Corpus.from_text("a b"), Recipe())


def test_advance_stops_when_its_time_is_up() -> None:
    corpus, recipe = Corpus.from_text(" ".join(f"word{n}" for n in range(3000))), Recipe()
    trainer = pair_trainer(Material.of(count(corpus, recipe), recipe), compiled=False)
    slices = 0
    while trainer.advance(None, Stops(), seconds=0.0) is None:
        slices += 1
    assert slices > 10
    assert why(trainer).end == "no pair left"
