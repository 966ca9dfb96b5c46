"""Training by score with kernels gives what the plain engine gives: every number at every step, whatever the walk."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import oracle
import pytest
import scanning
from hypothesis import given, settings
from hypothesis import strategies as st
from trainers import best, cells, merge_at, why

from tokentui.axes import AXES, preset
from tokentui.core import jit
from tokentui.core.jit import COMPILED, PLAIN
from tokentui.learn import start, start_counted, walk
from tokentui.learn.merging import merging
from tokentui.learn.objectives import Material
from tokentui.learn.rows import Query
from tokentui.learn.stepped import SteppedTrainer
from tokentui.learn.values import MergeStep, Word
from tokentui.recipe import Recipe, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words, count
from tokentui.text.read import read

SCORED: dict[str, Any] = {"objective": "score", "split": "whitespace", "unit": "char", "base": "sorted", "unknown": "error"}
recipes = st.builds(
    lambda base, mark, tie, weight, split: Recipe(
        **{**SCORED, "base": base, "mark": mark, "tie": tie, "weight": weight, "split": split}
    ),
    st.sampled_from(["sorted", "first-seen", "frequency"]),
    st.sampled_from(["none", "prefix:##", "end-suffix:</w>", "end-symbol:</w>"]),
    st.sampled_from(list(AXES["tie"])),
    st.sampled_from(["occurrences", "distinct"]),
    st.sampled_from(["whitespace", "none"]),
)
texts = st.lists(st.text(alphabet="abcdé🏽", min_size=1, max_size=9), max_size=14).map(" ".join)
stops = st.builds(
    Stops, st.none() | st.integers(0, 25), st.none() | st.integers(0, 60), st.integers(1, 4), st.none() | st.integers(1, 6)
)


@pytest.fixture(scope="module", autouse=True)
def _kernels(loaded: None) -> None:
    """Every test here wants them."""


def both(words: Words | str, recipe: Recipe) -> tuple[SteppedTrainer, SteppedTrainer]:
    if isinstance(words, str):
        words = scanning.plain_count(Corpus.from_text(words), recipe)
    return merging(Material(words, recipe), kernels=False), merging(Material(words, recipe), kernels=True)


def state(trainer: SteppedTrainer, limit: int = 200) -> dict[str, Any]:
    """All that a trainer says about the step where it stands."""
    words = trainer.words.words
    return {
        "number": trainer.number,
        "tokens": trainer.tokens_at(trainer.number),
        "sizes": (trainer.size_at(trainer.number), trainer.tokenizer().merges),
        "last": trainer.step_at(trainer.number) if trainer.number else None,
        "pairs": trainer.candidates(Query()).total,
        "candidates": best(trainer, limit),
        "later candidates": best(trainer, 3, 4),
        "why": why(trainer),
        "uses": list(trainer.uses[: trainer.tokenizer().vocabulary.base_size + trainer.number]),
        "words": [trainer.segment(Word(word)) for word in words],
        "changed": trainer.changed(),
    }


def history(trainer: SteppedTrainer) -> list[Any]:
    return [list(walk.steps(trainer)), [trainer.tokens_at(n) for n in range(trainer.computed + 1)], trainer.computed]


@settings(max_examples=120, deadline=None)
@given(texts, recipes, st.lists(st.integers(-3, 30), max_size=10))
def test_any_walk(text: str, recipe: Recipe, moves: Sequence[int]) -> None:
    plain, compiled = both(text, recipe)
    assert state(compiled) == state(plain)
    for move in moves:
        for trainer in (plain, compiled):
            if move == -1:
                walk.back(trainer)
            elif move < 0:
                walk.step(trainer)
            else:
                walk.jump(trainer, move)
        assert state(compiled) == state(plain)
    assert walk.run(compiled, Stops()) == walk.run(plain, Stops()) == "no pair left"
    assert history(compiled) == history(plain)
    assert vars(compiled.tokenizer().vocabulary) == vars(plain.tokenizer().vocabulary)


@settings(max_examples=120, deadline=None)
@given(texts, recipes, st.lists(st.tuples(st.none() | st.integers(0, 20), stops), max_size=8))
def test_walks_under_any_stops(text: str, recipe: Recipe, walks: list[tuple[int | None, Stops]]) -> None:
    """A least count says what is a candidate, and another one forgets what was learned under the first."""
    plain, compiled = both(text, recipe)
    for target, limits in walks:
        reasons = []
        for trainer in (plain, compiled):
            while (reason := trainer.advance(target, limits)) is None:
                pass
            reasons.append(reason)
        assert reasons[0] == reasons[1]
        assert state(compiled) == state(plain)
        assert why(compiled, limits) == why(plain, limits)
        assert history(compiled) == history(plain)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.text(alphabet="abcd", min_size=1, max_size=5), st.integers(1, (1 << 31) - 1)), max_size=12),
       st.sampled_from(list(AXES["tie"])))
def test_scores_of_any_size_are_compared_without_rounding(rows: list[tuple[str, int]], tie: str) -> None:
    """Products of counts go far beyond 64 bits here."""
    words = Words(tuple(word for word, _ in rows), tuple(number for _, number in rows))
    plain, compiled = both(words, Recipe(**SCORED, tie=tie))
    while walk.step(plain):
        walk.step(compiled)
        assert state(compiled) == state(plain)
    assert walk.step(compiled) is None


@settings(max_examples=150, deadline=None)
@given(*[st.integers(0, (1 << 62) - 1) | st.integers(0, 3)] * 6, st.booleans())
def test_products_of_three(a: int, b: int, c: int, x: int, y: int, z: int, alike: bool) -> None:
    from tokentui.learn.kernels.order import compare_wide

    if alike:
        x, y, z = c, a, b
    product, other = a * b * c, x * y * z
    assert compare_wide(a, b, c, x, y, z) == (product > other) - (product < other)


def test_scores_that_no_float_tells_apart_are_no_tie() -> None:
    x = 10**9
    rows = [("ab", 1), ("a", x - 1), ("b", x - 1), ("cd", 1), ("c", x - 2), ("d", x), ("ef", 1), ("e", x - 2), ("f", x)]
    words = Words(tuple(word for word, _ in rows), tuple(number for _, number in rows))
    _, compiled = both(words, Recipe(**SCORED, tie="first-seen"))
    assert [candidate.token for candidate in best(compiled)] == [b"cd", b"ef", b"ab"]
    steps = [walk.step(compiled) for _ in range(3)]
    assert [(step.token, step.tied) for step in steps if isinstance(step, MergeStep)] == [(b"cd", 2), (b"ef", 1), (b"ab", 1)]


@settings(max_examples=50, deadline=None)
@given(texts, recipes)
def test_going_back_undoes_everything(text: str, recipe: Recipe) -> None:
    _, compiled = both(text, recipe)
    laid_out, pairs, uses = cells(compiled)._state.cells.copy(), cells(compiled).counts.tolist(), list(compiled.uses)
    walk.run(compiled, Stops())
    while walk.back(compiled):
        pass
    assert cells(compiled)._state.cells.tolist() == laid_out.tolist()
    assert cells(compiled).counts.tolist() == pairs
    assert list(compiled.uses)[: len(uses)] == uses


def novel(words: int, seed: int = 1) -> str:
    """Made-up words by Zipf's law, in which short ones are runs of few letters."""
    chance = random.Random(seed)
    known = ["".join(chance.choices("aabcdeéfghij", k=chance.randint(1, 12))) for _ in range(words // 6)]
    return " ".join(chance.choices(known, [1 / (n + 1) for n in range(len(known))], k=words))


@pytest.mark.parametrize("tie", AXES["tie"])
@pytest.mark.parametrize("least", [1, 3])
def test_a_larger_corpus_with_checkpoints(tie: str, least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays grow, the leaders change, and jumps take checkpoints up."""
    from tokentui.learn import compiled as engine

    monkeypatch.setattr(engine, "LEAST_BETWEEN", 300)
    monkeypatch.setattr(engine, "MOST_CHECKPOINTS", 1000)
    monkeypatch.setattr(engine, "SLICE", 100)
    plain, compiled = both(novel(4000), Recipe(**SCORED, mark="prefix:##", tie=tie))
    assert walk.run(compiled, Stops(merges=700, min_count=least)) == walk.run(plain, Stops(merges=700, min_count=least))
    assert history(compiled) == history(plain)
    assert len(cells(compiled)._checkpoints) > 1
    chance = random.Random(2)
    for _ in range(6):
        number = chance.randint(0, plain.computed)
        walk.jump(plain, number)
        walk.jump(compiled, number)
        assert best(compiled, 60) == best(plain, 60)
        assert compiled.tokens_at(compiled.number) == plain.tokens_at(plain.number)
    for trainer in (plain, compiled):
        walk.jump(trainer, 300)
    assert walk.run(compiled, Stops(merges=400, max_length=5)) == walk.run(plain, Stops(merges=400, max_length=5))
    assert history(compiled) == history(plain)
    assert state(compiled, 30) == state(plain, 30)


def test_numbers_are_plain_ones() -> None:
    """What goes to screens and files is Python's own."""
    _, compiled = both(novel(2000), Recipe(**SCORED))
    walk.jump(compiled, 40)
    found, step = best(compiled, 5)[0], merge_at(compiled, 40)
    values = [
        found.count, found.left_symbol, found.left_uses, found.right_uses, compiled.tokens_at(compiled.number),
        compiled.candidates(Query()).total, compiled.computed,
        compiled.uses[3], compiled.memory, why(compiled).replaced, step.count, step.tied, step.left_uses, step.right_uses,
    ]
    assert {type(value) for value in values} == {int}
    assert type(step.score) is float


def test_which_engine_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe(**SCORED)
    assert start(Corpus.from_text(novel(60_000)), recipe).traits.engine == COMPILED
    assert start(Corpus.from_text("a b c"), recipe).traits.engine == PLAIN
    monkeypatch.setenv(jit.ENGINE, "compiled")
    assert start(Corpus.from_text("a b c"), recipe).traits.engine == COMPILED
    filtered = Recipe(**{**SCORED, "split": "metaspace", "pieces": "sentencepiece"})
    assert start(Corpus.from_text("a b c"), filtered).traits.engine == PLAIN
    assert start_counted(Words(("ab",), (1 << 40,)), recipe).traits.engine == PLAIN


@pytest.mark.soak
@pytest.mark.parametrize("novel", ["a passage", *oracle.large("crime_and_punishment.txt")])
def test_a_novel_to_its_end(novel: str) -> None:
    """120 kB or a megabyte by the preset, every step."""
    short = novel == "a passage"
    passage = Corpus.from_text(oracle.texts()["en_mid"])
    corpus = passage if short else read(oracle.shared(f"corpora/{novel}"), as_="text")
    recipe = preset("wordpiece")
    plain, compiled = both(count(corpus, recipe), recipe)
    assert walk.run(compiled, Stops()) == walk.run(plain, Stops())
    assert list(walk.steps(compiled)) == list(walk.steps(plain))
