"""Walking in the training of a unigram model."""

from __future__ import annotations

import functools
import random
from collections import Counter
from dataclasses import astuple, replace
from itertools import pairwise
from math import exp, isinf
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui import learn
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import job
from tokentui.encode.segment import ENCODING_WAYS
from tokentui.encode.segment.viterbi import Viterbi
from tokentui.learn import PieceCandidate, Query
from tokentui.learn.objectives import Material
from tokentui.learn.unigram import UnigramTrainer
from tokentui.learn.unigram.model import RARE, REASONS, Model
from tokentui.learn.unigram.vocabulary import RoundStep
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words, count
from tokentui.text.sources import find_sample

RECIPE = next(
    preset.recipe for preset in PRESETS.values() if preset.recipe.objective == "unigram"
).with_axes(coverage=1)
SPECIALS = ("<unk>", "<s>", "</s>")
LINES = [line for line in find_sample("english").path.read_text("utf-8").splitlines() if line]


@functools.cache
def sample_words() -> Words:
    """Return the words of the sample."""
    return count(Corpus.from_lines(LINES), RECIPE)


def trainer(
    vocab_size: int = 300, recipe: Recipe = RECIPE, words: Words | None = None,
    lines: list[str] | None = None, **more: Any,
) -> UnigramTrainer:
    words = sample_words() if words is None else words
    return UnigramTrainer(
        Material.of(words, recipe, Run(Stops(vocab_size=vocab_size), specials=SPECIALS), lines), **more
    )


def pieces(run: UnigramTrainer, rows: int = 10**6, top: int = 0) -> tuple[PieceCandidate, ...]:
    """The pieces in the order of pruning."""
    page = learn.candidates(run, Query(top, rows))
    return tuple(row for row in page.rows if isinstance(row, PieceCandidate))


def stepped(run: UnigramTrainer) -> RoundStep | None:
    """Make the next step."""
    return run.step_at(run.number) if learn.step(run) else None


def steps(run: UnigramTrainer) -> list[RoundStep]:
    """All steps up to the present one."""
    return [run.step_at(number) for number in range(1, run.number + 1)]


def state(run: UnigramTrainer) -> tuple[Any, ...]:
    """All that a step is."""
    return (
        run.number, run.size_at(run.number), run.at.tokens, run.at.objective, list(run.model.pieces),
        list(run.model.scores), run.vocabulary.pieces, run.vocabulary.scores, run.inventory().removed,
        [astuple(row) for row in pieces(run, 20)],
    )


def history(run: UnigramTrainer) -> list[tuple[Any, ...]]:
    return [astuple(step) for step in steps(run)]


def test_steps() -> None:
    run = trainer()
    sizes = [len(run.model.pieces)]
    while step := stepped(run):
        sizes.append(step.kept)
        assert step.number == run.number == run.computed
        assert (step.kept, step.tokens, step.objective) == (
            len(run.model.pieces), run.at.tokens, run.at.objective,
        )
        assert step.vocab_size == run.size_at(run.number) == step.kept + 3
        assert step.dropped == len(run.inventory().removed)
        assert step.row == {
            "round": step.round, "what": step.kind, "kept": step.kept, "dropped": step.dropped,
            "objective": step.objective,
        }
    made = steps(run)
    assert [(step.round, step.kind) for step in made[:4]] == [(1, "em"), (1, "em"), (1, "prune"), (2, "em")]
    assert [step.final for step in made] == [False] * (len(made) - 1) + [True]
    assert run.size_at(run.number) == 300
    assert run.end(Stops()) == "vocab_size"
    assert sizes == sorted(sizes, reverse=True)
    assert run.tokens_at(0) == run.tokens_at(0) < run.at.tokens


def test_every_character_is_in_the_end() -> None:
    run = trainer()
    learn.run(run, Stops(vocab_size=120))
    assert set("".join(sample_words().words)) <= {piece.decode() for piece in run.vocabulary.pieces}
    scores = run.vocabulary.scores
    assert scores == sorted(scores, reverse=True)
    assert run.vocabulary.id_of(0, 0) == 3


def test_back_restores_exactly() -> None:
    run = trainer()
    seen = [state(run)]
    while stepped(run):
        seen.append(state(run))
    for number in reversed(range(run.computed)):
        undone = learn.back(run)
        assert undone is not None
        assert undone.number == number + 1
        assert state(run) == seen[number]
    assert learn.back(run) is None
    assert learn.jump(run, 4) == 4
    assert state(run) == seen[4]
    assert learn.jump(run, 10**6) == len(seen) - 1
    assert state(run) == seen[-1]


@given(st.lists(st.integers(0, 12), max_size=8), st.floats(0, 0.004))
@settings(max_examples=5)
def test_any_walk_ends_where_a_run_does(goals: list[int], seconds: float) -> None:
    straight, wandering = trainer(), trainer()
    learn.run(straight, Stops())
    for goal in goals:
        for _ in range(4):  # leave most walks in the middle of a step
            if wandering.advance(goal, Stops(), seconds):
                break
        pieces(wandering, 1)
    while not wandering.advance(None, Stops(), seconds):
        pass
    assert history(wandering) == history(straight)
    assert state(wandering) == state(straight)


@pytest.mark.first_run(cases=5)
@pytest.mark.parametrize("after", [1, 2, 3, 5, 99])
@pytest.mark.parametrize("size", [150, 400, 5000])
def test_another_size_later_is_that_size_from_the_start(size: int, after: int) -> None:
    run, fresh = trainer(), trainer(size)
    learn.jump(run, after)
    reason = learn.run(run, Stops(vocab_size=size))
    assert reason == learn.run(fresh, Stops()) == ("vocab_size" if size < 5000 else "no pair left")
    assert history(run) == history(fresh)
    assert state(run) == state(fresh)


def test_steps_that_two_sizes_share_are_kept_when_the_size_changes() -> None:
    run = trainer(150)
    learn.jump(run, 2)
    first = run.model
    learn.run(run, Stops(vocab_size=160))
    learn.jump(run, 2)
    assert run.model is first


def test_stops() -> None:
    run = trainer()
    assert learn.run(run, Stops(merges=2)) == "merges"
    assert run.number == 2
    assert run.advance(2, Stops()) == "merges"
    assert learn.run(run, Stops(max_length=3)) == "vocab_size"
    assert max(len(piece.decode()) for piece in run.vocabulary.pieces) == 3
    short = trainer()
    learn.run(short, Stops(vocab_size=10))
    assert learn.run(run, Stops(vocab_size=10, max_length=None)) == "vocab_size"
    assert state(run) == state(short)
    assert {len(piece.decode()) for piece in run.vocabulary.pieces} == {1}


def test_pieces_are_listed_in_the_order_of_pruning() -> None:
    run = trainer()
    while step := stepped(run):
        learn.back(run)
        before = run.number
        order = pieces(run)
        assert run.number == before
        assert [row.loss for row in order] == sorted(row.loss for row in order)
        assert all(row.parts or isinf(row.loss) or not row.uses for row in order)
        assert all(b"".join(row.parts) == row.token for row in order if row.parts)
        going = {row.token: row.reason for row in order if row.reason}
        rows = {row.token: row for row in order}
        stepped(run)
        left = {row.piece: row.reason for row in run.inventory().removed}
        if step.kind == "prune":
            assert left == going
        else:
            assert set(left.values()) <= {REASONS[RARE]}
            assert all(row.score is not None and row.score < 0.5 for row in run.inventory().removed)
        model = run.vocabulary
        for piece, score in zip(model.pieces, model.scores, strict=True):
            if step.kind == "prune" and not step.final:
                assert exp(score) == rows[piece].probability
    assert not any(row.reason for row in pieces(run))
    assert pieces(run, 3, 2) == pieces(run, 5)[2:]


def test_the_length_of_the_corpus_equals_that_of_its_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENCODING_WAYS, "viterbi", replace(ENCODING_WAYS["viterbi"], segmenter=Viterbi))
    run = trainer()
    learn.run(run, Stops())
    tokenizer = run.tokenizer(run={"vocab_size": 300})
    assert tokenizer.vocab_size == 300
    assert sum(len(tokenizer.encode(line)) for line in LINES) == run.at.tokens
    assert tokenizer.decode(n for n in tokenizer.encode(LINES[0]).ids if n is not None) == LINES[0]


def test_byte_tokens_count() -> None:
    run = trainer(600, RECIPE.with_axes(unknown="byte-fallback"))
    assert learn.run(run, Stops()) == "vocab_size"
    assert (run.size_at(run.number), len(run.model.pieces)) == (600, 600 - 3 - 256)
    assert run.vocabulary.size(0) == 600


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("axes", [
    {"split": "whitespace", "mark": "prefix:##", "pieces": "any"},
    {"split": "gpt2", "unit": "byte", "base": "gpt2-bytes", "pieces": "any", "unknown": "never"},
    {"split": "whitespace", "mark": "end-suffix:</w>", "pieces": "any", "weight": "distinct"},
    {"split": "none", "unit": "grapheme", "pieces": "any"},
])
def test_recipes_of_other_units_and_filters_are_trained(
    axes: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ENCODING_WAYS, "viterbi", replace(ENCODING_WAYS["viterbi"], segmenter=Viterbi))
    recipe = RECIPE.with_axes(**axes)
    run = trainer(400, recipe, count(Corpus.from_lines(LINES), recipe))
    assert learn.run(run, Stops()) == "vocab_size"
    assert run.size_at(run.number) == 400
    tokenizer = run.tokenizer()
    found = [tokenizer.encode(line) for line in LINES]
    assert not any(one.unknown for one in found)
    if recipe.weight == "occurrences":
        assert sum(map(len, found)) == run.at.tokens


def test_dropped_pieces_are_listed_once_for_all_pages() -> None:
    run = trainer()
    lists = []
    while stepped(run):
        lists.append(run.inventory().removed)
        assert run.inventory().removed is lists[-1]
    learn.jump(run, 2)
    assert run.drop_pieces(3) == 3
    assert run.inventory().removed is run.inventory().removed
    assert len(run.inventory().removed) == 3
    assert run.drop_pieces(-1) == 2
    assert len(run.inventory().removed) == 2
    learn.jump(run, run.computed)
    assert run.inventory().removed == lists[-1]


def test_an_empty_corpus_has_no_pieces() -> None:
    run = trainer(words=Words((), ()))
    assert learn.run(run, Stops()) == "no pair left"
    assert (run.number, len(run.model.pieces), run.at.tokens, run.size_at(run.number)) == (0, 0, 0, 3)
    assert not pieces(run)
    assert not run.inventory().removed
    assert stepped(run) is None
    assert run.tokenizer().vocab_size == 3


few_words = st.dictionaries(
    st.text("ab▁", min_size=1, max_size=12), st.integers(1, 3), min_size=1, max_size=6
)


@given(few_words, st.integers(1, 30))
@settings(max_examples=30)
def test_the_smallest_corpora(words: dict[str, int], size: int) -> None:
    recipe = RECIPE.with_axes(split="whitespace", pieces="any")
    run = UnigramTrainer(Material.of(Words(tuple(words), tuple(words.values())), recipe))
    assert learn.run(run, Stops(vocab_size=size)) in ("vocab_size", "no pair left")
    units = Counter(unit.encode() for word in words for unit in word)
    assert set(units) <= set(run.vocabulary.pieces)
    assert len(run.vocabulary.pieces) <= max(size, len(units))
    assert all(score <= 0 for score in run.vocabulary.scores)


def test_a_very_long_word() -> None:
    word = "".join(random.Random(5).choices("abc", k=8000))
    run = UnigramTrainer(
        Material.of(
            Words((word,), (1,)), RECIPE.with_axes(split="none", pieces="any"), Run(Stops(vocab_size=200))
        )
    )
    assert learn.run(run, Stops()) == "vocab_size"
    assert len(word) / 16 <= run.at.tokens < len(word) / 2
    best = run.at.tokens * 16  # nats, far more than one segmentation costs
    assert all(0 < step.objective < best for step in steps(run))


def test_units_that_fell_out_come_back() -> None:
    words = {"the": 40, "then": 30, "them": 30, "qu": 9, "thequ": 9}
    recipe = RECIPE.with_axes(split="whitespace", pieces="any")
    run = UnigramTrainer(Material.of(Words(tuple(words), tuple(words.values())), recipe))
    learn.run(run, Stops(vocab_size=8))
    models: list[Model] = []
    for number in range(run.computed + 1):
        learn.jump(run, number)
        models.append(run.model)
    units = [sum(1 for piece in model.pieces if piece < 7) for model in models]
    assert min(units) < 7 == units[-1]
    assert len({round(score, 9) for score in run.vocabulary.scores}) == len(run.vocabulary.scores)


def test_progress_and_cancelling() -> None:
    told: list[tuple[int, int]] = []
    words = sample_words()  # counting reports progress of its own
    with job(lambda *now: told.append(now)):
        run = trainer(words=words)
    assert told[-1] == (1000, 1000)
    assert all(a[0] <= b[0] for a, b in pairwise(told))
    with job(cancel=lambda: True), pytest.raises(Cancelled):
        trainer()
    with job(cancel=lambda: True), pytest.raises(Cancelled):
        learn.run(run, Stops())
    told.clear()
    with job(lambda *now: told.append(now)):
        assert learn.run(run, Stops()) == "vocab_size"
    assert all(done <= total for done, total in told)
    straight = trainer()
    learn.run(straight, Stops())
    assert state(run) == state(straight)


def test_another_greatest_length_that_is_cancelled_changes_nothing() -> None:
    run, straight = trainer(), trainer()
    learn.run(run, Stops())
    before = state(run), run.limits
    with job(cancel=lambda: True), pytest.raises(Cancelled):
        learn.run(run, Stops(max_length=2))
    assert (state(run), run.limits) == before
    for one in (run, straight):
        learn.run(one, Stops(max_length=2))
    assert state(run) == state(straight)


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_counts_beyond_exact_sums_are_refused(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKENTUI_KERNELS", "off" if engine == "plain" else "on")
    many = Corpus.from_counts([("ab", 2**62), ("abc", 2**62)])
    with pytest.raises(TokentuiError, match="more than 2\\*\\*53 units"):
        trainer(words=count(many, RECIPE))
    distinct = RECIPE.with_axes(weight="distinct")
    assert trainer(recipe=distinct, words=count(many, distinct)).tokens_at(0) == 3  # ▁ab, and ▁ab c


def test_characters_without_a_piece_are_a_step_apart() -> None:
    """sentencepiece gives each one more than the least score by steps of 0.0001."""
    lines = ["hug pug hugs bug abcdef xyz qu"] * 20 + ["hugging puzzle zebra"] * 3 + ["w v k j"]
    trainer = learn.start(Corpus.from_lines(lines), PRESETS["sentencepiece-unigram"].recipe)
    learn.run(trainer, Stops(vocab_size=30))
    scores = {entry.text: entry.score or 0.0 for entry in trainer.tokenizer().entries()}
    assert scores["p"] - scores["h"] == pytest.approx(0.0001, rel=1e-6)
    assert scores["h"] == min(scores.values())
