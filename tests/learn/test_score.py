"""WordPiece by score against a full scan with fractions, at every step of any walk."""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import Naive, Pair
from trainers import best, merge_at, merge_steps, why, words_of

from tokentui import learn
from tokentui.axes import AXES
from tokentui.learn import MergeStep, Query, start
from tokentui.learn.objectives import Material
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.start_pairs import pair_trainer
from tokentui.recipe import Recipe, Stops
from tokentui.text.corpus import Corpus

PLAIN: dict[str, Any] = {
    "objective": "score", "split": "whitespace", "unit": "char", "base": "sorted", "unknown": "error",
}

texts = st.lists(st.text(alphabet="abc", min_size=1, max_size=9), max_size=12).map(" ".join)
recipes = st.builds(
    lambda base, mark, tie, weight, split: Recipe(
        **{**PLAIN, "base": base, "mark": mark, "tie": tie, "weight": weight, "split": split}
    ),
    st.sampled_from(["sorted", "first-seen"]),
    st.sampled_from(["none", "prefix:##", "end-suffix:</w>", "end-symbol:</w>"]),
    st.sampled_from(list(AXES["tie"])),
    st.sampled_from(["occurrences", "distinct"]),
    st.sampled_from(["whitespace", "none"]),
)
limits = st.builds(
    lambda least, longest: Stops(min_count=least, max_length=longest),
    st.sampled_from([1, 1, 2, 3]),
    st.sampled_from([None, None, 3, 5]),
)


@dataclass
class NaiveScore(Naive):
    """The plain trainer with another value: every pair's score as a fraction, from a recount."""

    least: int = 1
    made: list[tuple[Pair, int, Fraction, int, int]] = field(default_factory=list)
    """(pair, count, score, tied, replaced) of each step."""

    def counts(self) -> Counter[Pair]:
        return Counter({pair: count for pair, count in super().counts().items() if count >= self.least})

    def uses(self, symbol: int) -> int:
        return sum(word.count(symbol) * weight for word, weight in zip(self.words, self.weights, strict=True))

    def scores(self) -> dict[Pair, Fraction]:
        uses = [self.uses(symbol) for symbol in range(len(self.pieces))]
        return {pair: Fraction(count, uses[pair[0]] * uses[pair[1]]) for pair, count in self.counts().items()}

    def ranked(self, counts: Counter[Pair]) -> list[Pair]:
        scores = self.scores()
        by_tie_rule = super().ranked(Counter(dict.fromkeys(counts, 1)))
        return sorted(by_tie_rule, key=lambda pair: -scores[pair])

    def step(self) -> bool:
        """Make the best merge, if there is one."""
        counts, scores = self.counts(), self.scores()
        if not counts:
            return False
        pair = self.ranked(counts)[0]
        tied = list(scores.values()).count(scores[pair])
        self.made.append((pair, counts[pair], scores[pair], tied, self.merge(pair)))
        return True


def naive_of(trainer: PairTrainer, stops: Stops) -> NaiveScore:
    """A naive run under these limits, with the trainer's merges up to its present step made."""
    fresh = pair_trainer(Material.of(trainer.words, trainer.recipe), compiled=False)
    counts = fresh.words.counts
    naive = NaiveScore(
        words=words_of(fresh),
        weights=[1] * len(counts) if fresh.recipe.weight == "distinct" else list(counts),
        pieces=list(fresh.tokenizer().vocabulary.pieces),
        tie=fresh.recipe.tie,
        prefix=len(fresh.recipe.mark_text.encode()) if fresh.recipe.mark_kind == "prefix" else 0,
        max_length=stops.max_length,
        least=stops.min_count,
    )
    for pair in trainer.tokenizer().vocabulary.merges[: trainer.number]:
        naive.merge(pair)
    return naive


def states_of(naive: NaiveScore) -> list[NaiveScore]:
    """Every state of a naive run to its end."""
    states = [copy.deepcopy(naive)]
    while naive.step():
        states.append(copy.deepcopy(naive))
    return states


def started(text: str | Corpus, recipe: Recipe) -> PairTrainer:
    trainer = start(text if isinstance(text, Corpus) else Corpus.from_text(text), recipe)
    assert isinstance(trainer, PairTrainer)
    return trainer


def assert_equal(trainer: PairTrainer, state: NaiveScore) -> None:
    """The trainer's present step is the naive state: candidates in order, their scores, uses, words, why."""
    counts, scores = state.counts(), state.scores()
    ranked = state.ranked(counts)
    found = best(trainer, len(ranked) + 5)
    assert [(*c.key, c.count) for c in found] == [
        (*pair, counts[pair]) for pair in ranked
    ]
    assert [Fraction(c.count, c.left_uses * c.right_uses) for c in found] == [scores[pair] for pair in ranked]
    assert [c.score for c in found] == [float(scores[pair]) for pair in ranked]
    assert best(trainer, 2, 1) == found[1:3]
    assert learn.candidates(trainer, Query()).total == len(ranked)
    assert words_of(trainer) == state.words
    assert list(trainer.uses[: len(state.pieces)]) == [
        state.uses(symbol) for symbol in range(len(state.pieces))
    ]
    assert trainer.tokens_at(trainer.number) == state.tokens()
    reasons = why(trainer)
    assert (reasons.best, reasons.runner_up) == (
        found[0] if found else None, found[1] if len(found) > 1 else None,
    )
    assert reasons.tied == sum(1 for pair in ranked if scores[pair] == scores[ranked[0]])
    assert (reasons.end is None) == bool(ranked)
    assert reasons.replaced == (copy.deepcopy(state).merge(ranked[0]) if ranked else 0)


def assert_step(step: MergeStep | None, made: tuple[Pair, int, Fraction, int, int]) -> None:
    """A step says what the naive run did."""
    _, count, exact, tied, replaced = made
    assert step is not None
    assert step.score == float(exact)
    assert Fraction(step.count, step.left_uses * step.right_uses) == exact
    assert (step.count, step.tied, step.replaced) == (count, tied, replaced)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(texts, recipes, limits, st.lists(st.integers(-3, 25), max_size=10), st.sampled_from([0, 1024]))
def test_any_walk_equals_a_full_scan(
    text: str, recipe: Recipe, stops: Stops, moves: list[int], spare: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tokentui.learn.ranking.SPARE", spare)  # with none, the heap is made anew all the time
        trainer = started(text, recipe)
        trainer.advance(trainer.number, stops)
        states = states_of(naive_of(trainer, stops))
        made, at = states[-1].made, 0
        assert_equal(trainer, states[0])
        for move in moves:
            if move == -1:
                undone = learn.back(trainer)
                assert (undone is None) == (at == 0)
                at = max(0, at - 1)
            elif move < 0:
                step = learn.step(trainer)
                assert (step is None) == (at == len(made))
                if isinstance(step, MergeStep):
                    assert_step(step, made[at])
                    at += 1
            else:
                at = min(move, len(made))
                assert learn.jump(trainer, move) == at
            assert trainer.number == at
            assert_equal(trainer, states[at])
        left = dataclasses.replace(states[-1], least=1).counts()
        reason = learn.run(trainer, Stops(min_count=stops.min_count, max_length=stops.max_length))
        assert reason == ("min_count" if left else "no pair left")
        assert trainer.tokenizer().vocabulary.merges == [pair for pair, *_ in made]
        for number, one in enumerate(made, 1):
            assert_step(merge_at(trainer, number), one)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(texts, recipes, limits, limits, st.integers(0, 8), st.integers(0, 4))
def test_other_limits_taken_midway(
    text: str, recipe: Recipe, first: Stops, then: Stops, midway: int, past: int
) -> None:
    trainer = started(text, recipe)
    trainer.advance(trainer.number, first)
    learn.jump(trainer, midway + past)
    midway = learn.jump(trainer, midway)
    before, known = trainer.tokenizer(), trainer.computed
    states = states_of(naive_of(trainer, then))
    trainer.advance(trainer.number, then)
    assert trainer.number == midway
    assert trainer.computed == (known if then == first else midway)
    assert_equal(trainer, states[0])
    learn.run(trainer, Stops(min_count=then.min_count, max_length=then.max_length))
    assert trainer.tokenizer().vocabulary.merges[midway:] == [pair for pair, *_ in states[-1].made]
    assert_equal(trainer, states[-1])
    assert before.merges == midway
    learn.jump(trainer, midway)
    assert_equal(trainer, states[0])


@settings(max_examples=50, deadline=None)
@given(texts, recipes, st.integers(1, 3), st.integers(1, 4), st.integers(0, 6))
def test_a_question_about_another_least_count_forgets_nothing(
    text: str, recipe: Recipe, least: int, other: int, number: int
) -> None:
    trainer = started(text, recipe)
    learn.run(trainer, Stops(min_count=least))
    known = trainer.computed
    learn.jump(trainer, number)
    asked = naive_of(trainer, Stops(min_count=other))
    ranked = asked.ranked(asked.counts())
    reasons = why(trainer, Stops(min_count=other))
    assert trainer.end(Stops(min_count=other)) == reasons.end
    assert (reasons.end is None) == bool(ranked)
    assert (reasons.best and reasons.best.key) == (ranked[0] if ranked else None)
    assert trainer.computed == known


def test_scores_that_are_equal_as_floats_only_are_no_tie() -> None:
    # 1/x² and 1/((x-1)(x+1)): the second is greater by one part in 10^18.
    x = 10**9
    assert 1 / (x * x) == 1 / ((x - 1) * (x + 1))
    words = [
        ("ab", 1), ("a", x - 1), ("b", x - 1), ("cd", 1), ("c", x - 2), ("d", x), ("ef", 1), ("e", x - 2),
        ("f", x),
    ]
    trainer = started(Corpus.from_counts(words), Recipe(**PLAIN, tie="first-seen"))
    assert [c.token for c in best(trainer)] == [b"cd", b"ef", b"ab"]
    assert why(trainer).tied == 2
    steps = [learn.step(trainer) for _ in range(3)]
    assert [(step.token, step.tied) for step in steps if isinstance(step, MergeStep)] == [
        (b"cd", 2), (b"ef", 1), (b"ab", 1),
    ]


@pytest.mark.parametrize(
    ("run", "reason", "tokens"),
    [
        ({"merges": 0}, "merges", []),
        ({"merges": 2}, "merges", ["cd", "ab"]),
        ({"vocab_size": 5}, "vocab_size", ["cd"]),
        ({"min_count": 2}, "min_count", ["ab", "abc"]),
        ({"min_count": 5}, "min_count", []),
        ({}, "no pair left", ["cd", "ab", "abcd", "abc"]),
        ({"max_length": 2}, "no pair left", ["cd", "ab"]),
    ],
)
def test_stops(run: dict[str, Any], reason: str, tokens: list[str]) -> None:
    trainer = started("abcd abc abc ab", Recipe(**PLAIN, tie="first-seen"))
    assert learn.run(trainer, Stops(**run)) == reason
    assert [step.token.decode() for step in merge_steps(trainer)] == tokens
    assert trainer.end(Stops(**run)) == reason


def test_a_step_and_its_score_come_from_the_counts_before_it() -> None:
    trainer = started("aaa aaa b", Recipe(**PLAIN, tie="first-seen"))
    step = learn.step(trainer)
    assert isinstance(step, MergeStep)
    assert (step.count, step.replaced, step.left_uses, step.right_uses, step.score) == (4, 2, 6, 6, 4 / 36)
    assert list(trainer.uses) == [2, 1, 2]


def test_an_empty_corpus_has_nothing_to_merge() -> None:
    trainer = started("", Recipe(**PLAIN))
    assert (learn.step(trainer), learn.back(trainer), best(trainer)) == (None, None, [])
    assert learn.candidates(trainer, Query()).total == 0
    assert why(trainer).end == learn.run(trainer, Stops(min_count=3)) == "no pair left"
