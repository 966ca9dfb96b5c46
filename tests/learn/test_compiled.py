"""The compiled engine gives what the plain one gives: every number at every step, whatever the walk."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import oracle
import peers
import pytest
import scanners
import soak
from hypothesis import given, settings
from hypothesis import strategies as st
from trainers import best, cells, merge_at, merge_steps, why

from tokentui import learn
from tokentui.axes import AXES, preset
from tokentui.core import arrays, engines
from tokentui.core.engines import COMPILED, PLAIN
from tokentui.core.errors import Cancelled
from tokentui.core.jobs import job
from tokentui.learn import MergeStep, Query, Word, start
from tokentui.learn.bases import byte_order_of_gpt2
from tokentui.learn.objectives import OBJECTIVES, Material
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.start_pairs import pair_trainer
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words, count
from tokentui.text.read import read

UNITS = [
    ("byte", "bytes"), ("byte", "gpt2-bytes"), ("byte", "sorted"), ("char", "sorted"), ("char", "first-seen"),
    ("char", "frequency"), ("grapheme", "sorted"), ("grapheme", "frequency"),
]
SCORED: dict[str, Any] = {
    "objective": "score", "split": "whitespace", "unit": "char", "base": "sorted", "unknown": "error",
}
TIES = [name for name, rule in AXES["tie"].items() if rule.kernel]
"""The tie rules that have a kernel (`tests/hygiene/test_tables.py` holds it). Plain Python has the others."""
ties = st.sampled_from(TIES)
marks = st.sampled_from(["none", "end-symbol:</w>", "end-suffix:</w>", "prefix:##"])
weights = st.sampled_from(["occurrences", "distinct"])
counted = st.builds(
    lambda unit_base, mark, tie, weight, split: Recipe(
        split=split, unit=unit_base[0], base=unit_base[1], mark=mark, tie=tie, weight=weight,
        unknown="never" if unit_base[1] in ("bytes", "gpt2-bytes") else "error",
    ),
    st.sampled_from(UNITS),
    marks, ties, weights,
    st.sampled_from(["whitespace", "none", "gpt2", "before"]),
)
scored = st.builds(
    lambda base, mark, tie, weight, split, objective: Recipe(**{
        **SCORED, "base": base, "mark": mark, "tie": tie, "weight": weight, "split": split,
        "objective": objective,
    }),
    st.sampled_from(["sorted", "first-seen", "frequency"]),
    marks, ties, weights,
    st.sampled_from(["whitespace", "none"]),
    st.sampled_from([name for name, one in OBJECTIVES.items() if one.kernel and one.value is not None]),
)
recipes = counted | scored
letters = st.text(alphabet="abcé🏽e\u0301\udc80#", min_size=1, max_size=9)
texts = st.lists(letters, max_size=14).map(" ".join)


@pytest.fixture(scope="module", autouse=True)
def _kernels(loaded: None) -> None:
    """Every test here wants them."""


def both(words: Words | str, recipe: Recipe) -> tuple[PairTrainer, PairTrainer]:
    if isinstance(words, str):
        words = scanners.plain_count(Corpus.from_text(words), recipe)
    material = Material.of(words, recipe)
    return pair_trainer(material, compiled=False), pair_trainer(material, compiled=True)


def state(trainer: PairTrainer, limit: int = 200) -> dict[str, Any]:
    """All that a trainer says about the step where it stands."""
    words = trainer.words.words
    symbols = trainer.tokenizer().vocabulary.base_size + trainer.number
    return {
        "number": trainer.number,
        "tokens": trainer.tokens_at(trainer.number),
        "sizes": (trainer.size_at(trainer.number), trainer.tokenizer().merges),
        "last": trainer.step_at(trainer.number) if trainer.number else None,
        "taken": trainer.taken(trainer.number) if trainer.number else None,
        "pairs": learn.candidates(trainer, Query()).total,
        "candidates": best(trainer, limit),
        "later candidates": best(trainer, 3, 4),
        "why": why(trainer),
        "uses": list(trainer.uses[:symbols]),
        "words": [trainer.segment(Word(word)) for word in words],
        "parts": [
            trainer.segment(Word(word, cut[-1].start // 2, 2))
            for word in words
            if (cut := trainer.segment(Word(word)))
        ],
        "changed": trainer.changed(),
    }


def history(trainer: PairTrainer) -> list[Any]:
    return [
        list(learn.steps(trainer)), [trainer.tokens_at(n) for n in range(trainer.computed + 1)],
        trainer.computed,
    ]


@pytest.mark.slow
@settings(max_examples=75)
@given(texts, recipes, st.lists(st.integers(-3, 30), max_size=10))
def test_any_walk(text: str, recipe: Recipe, moves: Sequence[int]) -> None:
    plain, compiled = both(text, recipe)
    assert state(compiled) == state(plain)
    for move in moves:
        for trainer in (plain, compiled):
            if move == -1:
                learn.back(trainer)
            elif move < 0:
                learn.step(trainer)
            else:
                learn.jump(trainer, move)
        assert state(compiled) == state(plain)
    assert learn.run(compiled, Stops()) == learn.run(plain, Stops()) == "no pair left"
    assert history(compiled) == history(plain)
    assert vars(compiled.tokenizer().vocabulary) == vars(plain.tokenizer().vocabulary)


stops = st.builds(
    Stops, st.none() | st.integers(0, 25), st.none() | st.integers(0, 300), st.integers(1, 4),
    st.none() | st.integers(1, 6),
)


@pytest.mark.slow
@settings(max_examples=75)
@given(texts, recipes, st.lists(st.tuples(st.none() | st.integers(0, 20), stops), max_size=8))
def test_walks_under_any_stops(text: str, recipe: Recipe, walks: list[tuple[int | None, Stops]]) -> None:
    """Also those that forget what was learned under others; by score a least count says what is a candidate.
    """
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


@settings(max_examples=40, deadline=None)
@given(texts, recipes)
def test_going_back_undoes_everything(text: str, recipe: Recipe) -> None:
    _, compiled = both(text, recipe)
    laid_out, pairs = cells(compiled)._state.cells.tolist(), best(compiled, 10_000)
    learn.run(compiled, Stops())
    while learn.back(compiled):
        pass
    assert cells(compiled)._state.cells.tolist() == laid_out
    assert best(compiled, 10_000) == pairs
    learn.jump(compiled, compiled.computed)
    again = cells(compiled)._state.cells.tolist()
    learn.jump(compiled, 0)
    while compiled.number < compiled.computed:
        learn.step(compiled)
    assert cells(compiled)._state.cells.tolist() == again


def novel(words: int, seed: int = 1) -> str:
    """Made-up words by Zipf's law, in which short ones are runs of few letters."""
    chance = random.Random(seed)
    known = ["".join(chance.choices("aabcdeé", k=chance.randint(1, 12))) for _ in range(words // 6)]
    return " ".join(chance.choices(known, [1 / (n + 1) for n in range(len(known))], k=words))


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize(("kind", "tie"), soak.covering(
    [
        (6000, {"split": "gpt2"}, 1), (1500, {"split": "none"}, 1),
        (4000, {**SCORED, "mark": "prefix:##"}, 1),
        (4000, {**SCORED, "mark": "prefix:##"}, 3),
    ],
    TIES,
))
def test_a_larger_corpus_with_checkpoints(
    kind: tuple[int, dict[str, Any], int], tie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrays grow, levels are opened, columns change, and jumps take checkpoints up."""
    from tokentui.learn import compiled as engine

    monkeypatch.setattr(engine, "LEAST_BETWEEN", 300)
    monkeypatch.setattr(engine, "MOST_CHECKPOINTS", 1000)
    monkeypatch.setattr(engine, "SLICE", 100)
    words, axes, least = kind
    plain, compiled = both(novel(words), Recipe(**axes, tie=tie))
    end = Stops(merges=700, min_count=least)
    assert learn.run(compiled, end) == learn.run(plain, end)
    assert history(compiled) == history(plain)
    laid_out = cells(compiled).memory()
    assert len(cells(compiled)._checkpoints) > 1
    chance = random.Random(2)
    for _ in range(9):
        number = chance.randint(0, plain.computed)
        learn.jump(plain, number)
        learn.jump(compiled, number)
        assert best(compiled, 60) == best(plain, 60)
        assert list(compiled.uses) == list(plain.uses)[: len(compiled.uses)]
        assert compiled.tokens_at(compiled.number) == plain.tokens_at(plain.number)
    assert cells(compiled).memory() == laid_out
    for trainer in (plain, compiled):
        learn.jump(trainer, 300)
    assert learn.run(compiled, Stops(merges=400, max_length=5)) == learn.run(
        plain, Stops(merges=400, max_length=5)
    )
    assert history(compiled) == history(plain)
    assert state(compiled, 30) == state(plain, 30)


@pytest.mark.slow
def test_checkpoints_are_few() -> None:
    from tokentui.learn.compiled import MOST_CHECKPOINTS

    recipe = Recipe(split="none")
    compiled = pair_trainer(
        Material.of(scanners.plain_count(Corpus.from_text(novel(120_000)), recipe), recipe), compiled=True
    )
    before, laid_out = compiled.memory(), len(cells(compiled)._state.cells)
    learn.run(compiled, Stops())
    assert 1 <= len(cells(compiled)._checkpoints) <= MOST_CHECKPOINTS
    assert before < compiled.memory() < 250 * laid_out


@pytest.mark.slow
def test_a_slice_is_short() -> None:
    _, compiled = both(novel(200_000), Recipe())
    slices = 0
    while compiled.advance(None, Stops(), seconds=0.0) is None:
        slices += 1
    assert slices >= cells(compiled)._figure(compiled.computed, "logged") // (1 << 16)
    number = compiled.number
    with job(cancel=lambda: True), pytest.raises(Cancelled):
        pair_trainer(Material.of(compiled.words, compiled.recipe), compiled=True)
    assert compiled.number == number


@pytest.mark.slow
@pytest.mark.parametrize("axes", [{}, SCORED], ids=["count", "score"])
def test_a_lack_of_memory_leaves_no_array_too_small(
    axes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels look at some arrays alone for room; they write into all of them."""
    from tokentui.learn import compiled as engine

    monkeypatch.setattr(engine, "FIRST_STEPS", 8)
    flat, limit = arrays.flat, Stops(merges=100)
    plain, _ = both(novel(2000), Recipe(**axes))
    learn.run(plain, limit)
    for last in range(200):
        left = iter(range(last))
        lacked = False

        def fails(kind: Any, size: int, left: Iterator[int] = left) -> Any:
            nonlocal lacked
            if next(left, None) is None and not lacked:
                lacked = True
                raise MemoryError
            return flat(kind, size)

        _, compiled = both(novel(2000), Recipe(**axes))
        with monkeypatch.context() as patch, contextlib.suppress(MemoryError):
            patch.setattr(arrays, "flat", fails)
            learn.run(compiled, limit)
        rows = cells(compiled)._rows
        assert rows("symbols") >= rows("ends") - 1
        assert rows("counts") >= rows("table")
        learn.run(compiled, limit)
        assert history(compiled) == history(plain)
        if not lacked:
            return
    pytest.fail("more arrays grow than were tried")


@pytest.mark.parametrize("axes", [{}, SCORED], ids=["count", "score"])
def test_numbers_are_plain_ones(axes: dict[str, Any]) -> None:
    """What goes to screens and files is Python's own."""
    _, compiled = both(novel(2000), Recipe(**axes))
    learn.jump(compiled, 40)
    found, step = best(compiled, 5)[0], merge_at(compiled, 40)
    values = [
        found.count, found.before, found.key[0], found.left_uses, found.right_uses,
        compiled.tokens_at(compiled.number), learn.candidates(compiled, Query()).total,
        compiled.computed, compiled.number, compiled.uses[3], compiled.memory(), why(compiled).replaced,
        step.count, step.tied, step.left_uses, step.right_uses,
        *compiled.tokenizer().vocabulary.merges[3], compiled.tokenizer().vocabulary.counts[3],
        *compiled.segment(Word(compiled.words.words[0]))[0],
    ]
    assert {type(value) for value in values if value is not None} == {int}
    assert type(step.score) is (float if axes else type(None))


# --- scores without rounding


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.text(alphabet="abcd", min_size=1, max_size=5), st.integers(1, (1 << 31) - 1)),
        max_size=12,
    ),
    ties,
)
def test_scores_of_any_size_are_compared_without_rounding(rows: list[tuple[str, int]], tie: str) -> None:
    """Products of counts go far beyond 64 bits here."""
    words = Words(tuple(word for word, _ in rows), tuple(number for _, number in rows))
    plain, compiled = both(words, Recipe(**SCORED, tie=tie))
    while learn.step(plain):
        learn.step(compiled)
        assert state(compiled) == state(plain)
    assert learn.step(compiled) is None


@settings(max_examples=75, deadline=None)
@given(*[st.integers(0, (1 << 62) - 1) | st.integers(0, 3)] * 6, st.booleans())
def test_products_of_three(a: int, b: int, c: int, x: int, y: int, z: int, alike: bool) -> None:
    from tokentui.learn.kernels.order import compare_products

    if alike:
        x, y, z = c, a, b
    product, other = a * b * c, x * y * z
    assert compare_products(a, b, c, x, y, z) == (product > other) - (product < other)


def test_scores_that_are_equal_as_floats_only_are_no_tie() -> None:
    x = 10**9
    rows = [
        ("ab", 1), ("a", x - 1), ("b", x - 1), ("cd", 1), ("c", x - 2), ("d", x), ("ef", 1), ("e", x - 2),
        ("f", x),
    ]
    words = Words(tuple(word for word, _ in rows), tuple(number for _, number in rows))
    _, compiled = both(words, Recipe(**SCORED, tie="first-seen"))
    assert [candidate.token for candidate in best(compiled)] == [b"cd", b"ef", b"ab"]
    steps = [learn.step(compiled) for _ in range(3)]
    assert [(step.token, step.tied) for step in steps if isinstance(step, MergeStep)] == [
        (b"cd", 2), (b"ef", 1), (b"ab", 1),
    ]


# --- which engine is taken


@pytest.mark.parametrize("axes", [{}, SCORED], ids=["count", "score"])
def test_a_large_corpus_is_for_the_kernels_and_an_engine_can_be_forced(
    axes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    large, small, recipe = Corpus.from_text(novel(6000)), Corpus.from_text("a b c"), Recipe(**axes)
    assert start(large, recipe).traits.engine == COMPILED
    assert start(small, recipe).traits.engine == COMPILED
    monkeypatch.setenv(engines.VARIABLE, "off")
    assert start(large, recipe).traits.engine == PLAIN
    monkeypatch.setenv(engines.VARIABLE, "on")
    assert start(small, recipe).traits.engine == COMPILED


@pytest.mark.parametrize(
    ("axes", "specials", "more"),
    [
        (
            {
                "split": "metaspace", "unit": "char", "base": "sorted", "unknown": "error",
                "pieces": "sentencepiece",
            },
            (), 1,
        ),
        (
            {
                "split": "whitespace", "unit": "char", "base": "sorted", "unknown": "error",
                "mark": "end-suffix:</w>",
            },
            ("ab</w>",), 1,
        ),
        (
            {"split": "bert", "unit": "char", "base": "sorted", "unknown": "error", "mark": "prefix:##"},
            ("##ab",), 1,
        ),
        ({}, ("<s>", "aa"), 1),
        ({}, (), 1 << 40),
        ({**SCORED, "split": "metaspace", "pieces": "sentencepiece"}, (), 1),
        (SCORED, (), 1 << 40),
    ],
    ids=[
        "filter", "special with a mark", "special with a prefix", "special", "weight", "filter of scores",
        "weight of scores",
    ],
)
def test_recipes_that_kernels_do_not_support_are_trained_in_plain_python(
    axes: dict[str, Any], specials: tuple[str, ...], more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(engines.VARIABLE, "on")
    recipe = Recipe(**axes)
    words = Words(("ab", "aab"), (more, 1))
    assert start(None, recipe, Run(specials=specials), words).traits.engine == PLAIN
    if specials or more > 1:
        assert (
            start(None, recipe, Run(specials=("<s>",)), Words(("ab", "aab"), (1, 1))).traits.engine
            == COMPILED
        )


def test_counted_words_are_taken_as_they_are() -> None:
    from tokentui.text.kernels.count import count_words

    for text in (novel(1200), novel(300) + " \udc80\udcff x\udc80", ""):
        for recipe in (Recipe(), preset("gpt2", unit="char", base="sorted", unknown="error")):
            found = count_words([text], recipe, str.split)
            assert found is not None
            words = Words.of(found)
            assert words.flat is not None
            compiled = pair_trainer(Material.of(words, recipe), compiled=True)
            plain = pair_trainer(Material.of(Words(words.words, words.counts), recipe), compiled=False)
            assert words == plain.words
            learn.run(compiled, Stops(merges=50))
            learn.run(plain, Stops(merges=50))
            assert state(compiled) == state(plain)


def test_words_that_are_empty_or_twice_there() -> None:
    for mark in ("none", "end-symbol:</w>", "end-suffix:</w>", "prefix:##"):
        recipe = Recipe(split="whitespace", unit="char", base="sorted", mark=mark, unknown="error")
        words = Words(("", "ab", "", "ab", "a"), (3, 2, 1, 5, 1))
        material = Material.of(words, recipe)
        plain, compiled = pair_trainer(material, compiled=False), pair_trainer(material, compiled=True)
        assert learn.run(compiled, Stops()) == learn.run(plain, Stops())
        assert history(compiled) == history(plain)
        assert list(compiled.uses) == list(plain.uses)


@pytest.mark.slow
@pytest.mark.peer
@pytest.mark.parametrize("novel", [
    "a passage", *oracle.large("crime_and_punishment.txt", marks=[pytest.mark.soak]),
])
def test_every_merge_is_that_of_hugging_face(novel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """32,768 ids, or as far as pairs last, on 120 kB or a megabyte of a novel."""
    hf: Any = pytest.importorskip("tokenizers")
    short = novel == "a passage"
    passage = Corpus.from_text(oracle.texts()["en_mid"])
    corpus = passage if short else read(oracle.shared(f"corpora/{novel}"), as_="text")
    monkeypatch.setenv(engines.VARIABLE, "on")
    compiled = start(corpus, preset("gpt2"))
    assert compiled.traits.engine == COMPILED
    learn.run(compiled, Stops(vocab_size=32_768))
    tokenizer = hf.Tokenizer(hf.models.BPE())
    tokenizer.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = hf.trainers.BpeTrainer(
        vocab_size=32_768, min_frequency=0, show_progress=False,
        initial_alphabet=hf.pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(corpus.documents, trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    byte_of = {
        chr(byte) if n < 188 else chr(256 + n - 188): byte for n, byte in enumerate(byte_order_of_gpt2())
    }
    theirs = [tuple(bytes(map(byte_of.__getitem__, part)) for part in pair) for pair in merges]
    peers.same_steps([(step.left, step.right) for step in merge_steps(compiled)], theirs)


@pytest.mark.soak
@pytest.mark.parametrize("novel", ["a passage", *oracle.large("crime_and_punishment.txt")])
def test_a_novel_to_its_end(novel: str) -> None:
    """120 kB or a megabyte by the preset, every step."""
    short = novel == "a passage"
    passage = Corpus.from_text(oracle.texts()["en_mid"])
    corpus = passage if short else read(oracle.shared(f"corpora/{novel}"), as_="text")
    recipe = preset("wordpiece")
    plain, compiled = both(count(corpus, recipe), recipe)
    assert learn.run(compiled, Stops()) == learn.run(plain, Stops())
    assert list(learn.steps(compiled)) == list(learn.steps(plain))
