"""The compiled engine of the unigram model gives what the plain one gives: every number, whatever the corpus
is."""

from __future__ import annotations

import random
import tracemalloc
from array import array
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui import learn
from tokentui.axes import preset
from tokentui.core import engines
from tokentui.learn import Query
from tokentui.learn.bases import FILTERS
from tokentui.learn.kernels.unigram_text import Found, codes, fits, ints
from tokentui.learn.objectives import Material
from tokentui.learn.unigram import UnigramTrainer
from tokentui.learn.unigram import lattice as lattices
from tokentui.learn.unigram.corpus import code, last_words
from tokentui.learn.unigram.lattice import finished
from tokentui.learn.unigram.model import Models
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words, count
from tokentui.text.normalize import NORMALIZERS
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.sources import find_sample

pytestmark = pytest.mark.usefixtures("loaded")
RECIPE = preset("sentencepiece-unigram")
BARE = RECIPE.with_axes(normalize=(), split="whitespace", pieces="any")
RECIPES = {
    "sentencepiece": RECIPE,
    "any": BARE,
    "scripts": BARE.with_axes(pieces="sentencepiece"),
    "distinct": BARE.with_axes(weight="distinct"),
    "prefix": BARE.with_axes(mark="prefix:##"),
    "suffix": BARE.with_axes(mark="end-suffix:</w>"),
    "symbol": BARE.with_axes(mark="end-symbol:</w>", pieces="sentencepiece"),
    "bytes": BARE.with_axes(unit="byte", base="gpt2-bytes", unknown="never"),
    "graphemes": BARE.with_axes(unit="grapheme"),
}


def course(
    plain: bool, words: Words, recipe: Recipe, lines: list[str] | None, seeds: int, target: int
) -> Iterator[Any]:
    """All that a training by an engine goes through."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(engines.VARIABLE, "off" if plain else "on")
        models = Models(words, recipe, lines, seeds)
    assert (models.run is lattices.WRITTEN) == plain
    yield models.seeds
    yield models.words
    model = models.first(9)
    target = max(target, models.seeds.units)
    while True:
        known = finished(models.survey(model))
        yield model
        yield known.likelihood, known.uses
        judged = finished(models.judge(model, target, 0))
        yield judged.worth, judged.order, judged.reasons, judged.going
        yield [judged.path(piece) for piece in model.pieces]
        if not model.next_kind(target):
            break
        model = finished(models.next(model, target, 0))


def check(*asked: Any, most: int | None = None) -> None:
    for ours, theirs in islice(zip(course(False, *asked), course(True, *asked), strict=True), most):
        assert ours == theirs


spelled = st.text(
    "ab#é’ん漢▁1<\u0301\u1100\u1161\U0001f600", min_size=1, max_size=12
) | st.text("ab", min_size=1, max_size=40)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
@settings(max_examples=25)
@given(
    counted=st.dictionaries(spelled, st.integers(1, 300), min_size=1, max_size=10),
    target=st.integers(1, 60), seeds=st.sampled_from([3, 10**6]), long=st.booleans(),
)
@pytest.mark.first_run(cases=1)
def test_any_corpus(recipe: Recipe, counted: dict[str, int], target: int, seeds: int, long: bool) -> None:
    """All words are handled by products of probabilities, or a part of them by logarithms."""
    with pytest.MonkeyPatch.context() as patch:
        if long:
            patch.setattr(lattices, "_SAFE_NATS", 30.0)
        check(Words(tuple(counted), tuple(counted.values())), recipe, None, seeds, target)


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("name", ["english", "finnish", "korean"])
def test_samples(name: str) -> None:
    lines = find_sample(name).path.read_text("utf-8").splitlines()[:80]
    check(count(Corpus.from_lines(lines), RECIPE), RECIPE, lines, 10**6, 300)


@pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])
@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
@pytest.mark.parametrize("safe", [640.0, 30.0])
@pytest.mark.slow
def test_edges_that_are_not_kept_change_no_number(
    plain: bool, recipe: Recipe, safe: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The edges are found again block by block, some blocks before and some behind where logarithms begin."""
    lines = find_sample("english").path.read_text("utf-8").splitlines()[:60]
    words = count(Corpus.from_lines(lines), recipe.with_axes(objective="count"))
    monkeypatch.setattr(lattices, "_SAFE_NATS", safe)
    monkeypatch.setattr(lattices, "_NODE_EDGES", 1024)  # blocks of a few nodes
    course_of = plain, words, recipe, lines, 10**6, 60
    kept = list(course(*course_of))
    monkeypatch.setattr(lattices, "MOST_EDGES", 0)
    found = list(course(*course_of))
    assert kept[1].rules is None
    assert kept[1].edges.target
    assert found[1].rules is not None
    assert not found[1].edges.target
    assert kept[1][:3] == found[1][:3]
    assert (kept[0], kept[2:]) == (found[0], found[2:])


def test_a_word_of_one_letter_takes_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every place of it begins sixteen pieces, whose edges would be most of what a training holds."""
    size = 16_000
    words = Words(("a" * size,), (1,))
    monkeypatch.setattr(lattices, "MOST_EDGES", 0)
    tracemalloc.start()
    try:
        list(islice(course(False, words, BARE, None, 10**6, 1), 3))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200 * size


@pytest.mark.slow
def test_an_alphabet_of_thousands() -> None:
    """Codes for more units than there are characters before the halves of surrogate pairs, or in two
    bytes."""
    draw = random.Random(3)
    every = [chr(0x4E00 + n) for n in range(20_000)] + [
        chr(0x20000 + n) for n in range(42_000)
    ] + ["\ud800", "\udcff", "\0"]
    lines = ["".join(every[n : n + 50]) for n in range(0, len(every), 50)]
    lines += ["".join(draw.choices(every[:100], k=40)) for _ in range(40)]
    words = Words(tuple(lines), (1,) * len(lines))
    check(words, BARE, None, 10**6, len(every), most=6)  # later rounds know no more of letters


def test_empty_corpora_agree_with_plain_python() -> None:
    check(Words((), ()), RECIPE, [], 10**6, 10)
    check(Words(("",), (3,)), RECIPE, [], 10**6, 10)


@pytest.fixture(scope="module")
def material() -> Material:
    lines = find_sample("english").path.read_text("utf-8").splitlines()[:25]
    return Material.of(count(Corpus.from_lines(lines), RECIPE), RECIPE, Run(Stops(vocab_size=200)), lines)


@pytest.fixture(scope="module")
def straight(material: Material) -> UnigramTrainer:
    """A run by the plain engine to its end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(engines.VARIABLE, "off")
        trainer = UnigramTrainer(material)
    learn.run(trainer, Stops())
    return trainer


@pytest.mark.slow
@given(goals=st.lists(st.integers(0, 12), max_size=8), seconds=st.floats(0, 0.002))
@settings(max_examples=5)
def test_a_walk(
    material: Material, straight: UnigramTrainer, goals: list[int], seconds: float
) -> None:
    """Slices end where a straight run does, and what each engine leaves is the same for a screen."""
    wandering = UnigramTrainer(material)
    for goal in goals:
        wandering.advance(goal, Stops(), seconds)
        learn.candidates(wandering, Query(rows=1))
    while not wandering.advance(None, Stops(), seconds):
        pass
    assert list(learn.steps(wandering)) == list(learn.steps(straight))
    for number in range(straight.computed + 1):
        learn.jump(straight, number)
        learn.jump(wandering, number)
        assert repr(
            learn.candidates(wandering, Query(rows=50))
        ) == repr(learn.candidates(straight, Query(rows=50)))  # repr, since types are to be the same too
        assert repr(wandering.inventory().removed) == repr(straight.inventory().removed)
        assert repr(wandering.vocabulary.scores) == repr(straight.vocabulary.scores)
        assert wandering.vocabulary.pieces == straight.vocabulary.pieces
        assert wandering.uses == straight.uses


@pytest.mark.parametrize("pieces", ["sentencepiece", "sentencepiece-digits"])
@given(st.text("ab▁ é’ん漢1２.\0\x1f\t\u0301\u0305", min_size=2, max_size=17))
def test_kinds_of_units_agree_with_the_filter(pieces: str, piece: str) -> None:
    coded = code(Words((piece,), (1,)), BARE.with_axes(pieces=pieces).with_axes(coverage=1))
    assert coded.kinds is not None
    allowed = FILTERS[pieces].allows
    assert allowed is not None
    if len(piece) <= 16:
        found, good = Found(ints(1), ints(1, len(piece)), array("q", [1]), ints(1), ints(1)), bytearray(1)
        fits(0, 1, codes(piece, list(coded.units)), found, array("i", coded.kinds), good)
        assert bool(good[0]) == allowed(piece.encode())


@pytest.mark.parametrize("steps", [(), ("nfd", "strip-accents"), *[(name,) for name in NORMALIZERS]])
@settings(max_examples=30)
@given(lines=st.lists(
    st.text("ab  .\u0301\u0344¨\u1fcd\t\u200b▁\u3000ｶﾞΣ\0\x01\u1100\u1161\u00a0\udc80", max_size=9),
    max_size=4,
))
@pytest.mark.first_run(cases=4)
def test_last_words(steps: tuple[str, ...], lines: list[str]) -> None:
    recipe = RECIPE.with_axes(normalize=steps)
    words = Pretokenizer(recipe).words
    assert last_words(lines, recipe) == Counter(found[-1] for line in lines if (found := words(line)))
