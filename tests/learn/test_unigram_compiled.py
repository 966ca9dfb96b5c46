"""The compiled engine of the unigram model gives what the plain one gives: every number, whatever the corpus is."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui.core import jit
from tokentui.learn.base import Stops
from tokentui.learn.filters import FILTERS
from tokentui.learn.unigram import UnigramTrainer
from tokentui.learn.unigram import lattice as lattices
from tokentui.learn.unigram.coded import code, last_words
from tokentui.learn.unigram.maker import Maker
from tokentui.learn.unigram.plain import Engine, Plain, drain
from tokentui.presets import preset
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words, count
from tokentui.text.normalize import NORMALIZERS
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.samples import sample_path

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


@pytest.fixture(scope="module")
def compiled(loaded: None) -> type[Engine]:
    """The engine."""
    from tokentui.learn.unigram.compiled import Compiled

    return Compiled


@pytest.fixture(params=["short words", "long words"])
def _safe(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Handle all words by products of probabilities, or a part of them by logarithms."""
    if request.param == "long words":
        monkeypatch.setattr(lattices, "_SAFE_NATS", 30.0)


def course(kind: type[Engine], words: Words, recipe: Recipe, lines: list[str] | None, seeds: int, target: int) -> Iterator[Any]:
    """All that a training by an engine goes through."""
    engine = drain(kind.lay_out(words, recipe, lines, seeds))
    yield engine.seeds
    yield [list(field) for field in engine.words]
    maker, model = Maker(engine), engine.first(9)
    target = max(target, engine.seeds.units)
    while True:
        known = drain(maker.survey(model))
        yield model
        yield known.likelihood, list(known.uses)
        judged = maker.judge(model, target, 0)
        yield list(judged.worth.loss), list(judged.worth.goes), judged.order, judged.reasons, judged.coming
        yield [judged.path(piece) for piece in model.pieces]
        if not model.coming(target):
            break
        model = drain(maker.next(model, target, 0))


def check(compiled: type[Engine], *asked: Any) -> None:
    for ours, theirs in zip(course(compiled, *asked), course(Plain, *asked), strict=True):
        assert ours == theirs


spelled = st.text("ab#é’ん漢▁1<\u0301\u1100\u1161\U0001f600", min_size=1, max_size=12) | st.text("ab", min_size=1, max_size=40)


@pytest.mark.usefixtures("_safe")
@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_any_corpus(recipe: Recipe, compiled: type[Engine]) -> None:
    @given(
        st.dictionaries(spelled, st.integers(1, 300), min_size=1, max_size=10), st.integers(1, 60), st.sampled_from([3, 10**6])
    )
    @settings(max_examples=80)
    def holds(counted: dict[str, int], target: int, seeds: int) -> None:
        check(compiled, Words(tuple(counted), tuple(counted.values())), recipe, None, seeds, target)

    holds()


@pytest.mark.parametrize("name", ["english", "finnish", "korean"])
def test_samples(name: str, compiled: type[Engine]) -> None:
    lines = sample_path(name).read_text("utf-8").splitlines()[:200]
    check(compiled, count(Corpus.from_lines(lines), RECIPE), RECIPE, lines, 10**6, 300)


def test_an_alphabet_of_thousands(compiled: type[Engine]) -> None:
    """Codes for more units than there are characters before the halves of surrogate pairs, or in two bytes."""
    draw = random.Random(3)
    every = [chr(0x4E00 + n) for n in range(20_000)] + [chr(0x20000 + n) for n in range(42_000)] + ["\ud800", "\udcff", "\0"]
    lines = ["".join(every[n : n + 50]) for n in range(0, len(every), 50)]
    lines += ["".join(draw.choices(every[:300], k=40)) for _ in range(150)]
    words = Words(tuple(lines), (1,) * len(lines))
    check(compiled, words, BARE, None, 10**6, len(every) + 40)


def test_nothing(compiled: type[Engine]) -> None:
    check(compiled, Words((), ()), RECIPE, [], 10**6, 10)
    check(compiled, Words(("",), (3,)), RECIPE, [], 10**6, 10)


@given(goals=st.lists(st.integers(0, 12), max_size=8), seconds=st.floats(0, 0.002))
@settings(max_examples=10)
def test_a_walk(goals: list[int], seconds: float, compiled: type[Engine]) -> None:
    """Slices end where a straight run does, and what each engine leaves is the same for a screen."""
    lines = sample_path("english").read_text("utf-8").splitlines()
    words = count(Corpus.from_lines(lines), RECIPE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(jit.ENGINE, "plain")
        straight = UnigramTrainer(words, RECIPE, vocab_size=300, lines=lines)
    wandering = UnigramTrainer(words, RECIPE, vocab_size=300, lines=lines)
    assert isinstance(wandering._maker.engine, compiled)
    assert isinstance(straight._maker.engine, Plain)
    straight.run()
    for goal in goals:
        wandering.advance(goal, Stops(), seconds)
        wandering.prune_order(1)
    while not wandering.advance(None, Stops(), seconds):
        pass
    assert list(wandering.steps()) == list(straight.steps())
    for number in range(straight.known + 1):
        straight.jump(number)
        wandering.jump(number)
        assert repr(wandering.prune_order(50)) == repr(straight.prune_order(50))  # repr, since types are to be the same too
        assert repr(wandering.left(50)) == repr(straight.left(50))
        assert repr(wandering.vocabulary.scores) == repr(straight.vocabulary.scores)
        assert wandering.vocabulary.pieces == straight.vocabulary.pieces
        assert wandering.uses == straight.uses


@pytest.mark.parametrize("pieces", ["sentencepiece", "sentencepiece-digits"])
@given(st.text("ab▁ é’ん漢1２.\0\x1f\t\u0301\u0305", min_size=2, max_size=17))
def test_kinds_say_what_the_filter_says(pieces: str, piece: str) -> None:
    coded = drain(code(Words((piece,), (1,)), BARE.with_axes(pieces=pieces).shaped(coverage=1)))
    assert coded.kinds is not None
    allowed = FILTERS[pieces]
    assert allowed is not None
    if len(piece) <= 16:
        assert coded.fits(piece) == allowed(piece.encode())


@pytest.mark.parametrize("steps", [(), ("nfd", "strip-accents"), *[(name,) for name in NORMALIZERS]])
def test_last_words(steps: tuple[str, ...]) -> None:
    recipe = RECIPE.with_axes(normalize=steps)
    words = Pretokenizer(recipe).words

    @given(st.lists(st.text("ab  .\u0301\u0344¨\u1fcd\t\u200b▁\u3000ｶﾞΣ\0\x01\u1100\u1161\u00a0\udc80", max_size=9), max_size=4))
    @settings(max_examples=60)
    def holds(lines: list[str]) -> None:
        assert drain(last_words(lines, recipe)) == Counter(found[-1] for line in lines if (found := words(line)))

    holds()
