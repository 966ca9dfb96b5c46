"""The life of a pre-token and the ages of tokens against encoding at every step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from trainers import merge_steps, start

from tokentui import learn
from tokentui.axes import AXES, preset
from tokentui.core.errors import TokentuiError
from tokentui.encode.segment.merges import Merging
from tokentui.learn import Life, Trainer
from tokentui.learn.replay import ReplayTrainer
from tokentui.recipe import Recipe, Run, Stops, WhatIf
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words

words = st.text("abcé", min_size=1, max_size=9)
texts = st.lists(words, max_size=10).map(" ".join)
typed = st.lists(st.text("abcé日 ", min_size=1, max_size=14), min_size=1, max_size=3)
CHAR = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")
POLICIES = [
    name for name, one in AXES["unknown"].items() if name not in ("never", "byte-fallback")
]
merging = st.builds(
    lambda policy, mark, objective, tie: CHAR.with_axes(
        unknown=policy, mark=mark, objective=objective, tie=tie
    ),
    st.sampled_from(POLICIES), st.sampled_from(["none", "end-suffix:</w>", "prefix:##"]),
    st.sampled_from(["count", "score"]), st.sampled_from(["first-seen", "largest-pair"]),
)
recipes = st.one_of(
    merging, merging.map(lambda one: one.with_axes(encode="longest-match")),
    st.sampled_from([
        preset("gpt2"), preset("bert"), preset("wordpiece"), preset("llama2"),
        preset("sentencepiece-bpe", symbols=["bc"]), preset("gpt2", what_if=["2:leave-out"]),
    ]),
)


def encoded(trainer: Trainer, number: int, word: str) -> tuple[bytes, ...]:
    """A pre-token as the tokenizer of a step encodes it."""
    return tuple(token.piece or b"" for token in trainer.tokenizer(number).encoder.word(word))


def naive_life(trainer: Trainer, word: str) -> list[Life]:
    """The same by encoding at every step."""
    lives: list[Life] = []
    for number in range(trainer.number + 1):
        pieces = encoded(trainer, number, word)
        if not lives or lives[-1].pieces != pieces:
            lives.append(Life(number, pieces))
    return lives


def pretokens(trainer: Trainer, typed: Sequence[str]) -> list[str]:
    """The pre-tokens of texts, as the recipe cuts them."""
    cut = trainer.tokenizer().encoder.pretokenizer
    return [word for text in typed for word in cut.words(text)]


@settings(max_examples=150, deadline=None)
@given(texts, recipes, typed, st.integers(0, 30))
@pytest.mark.slow
def test_a_life_is_an_encoding_at_every_step(
    text: str, recipe: Recipe, typed: list[str], number: int
) -> None:
    trainer = learn.start(Corpus.from_text(text), recipe, Run(specials=("<unk>",)))
    learn.run(trainer, Stops())
    learn.jump(trainer, number)
    for word in [*pretokens(trainer, typed), *trainer.words.words]:
        assert learn.life(trainer, word) == naive_life(trainer, word)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(texts, recipes, typed, st.integers(0, 30))
def test_a_life_of_a_file(text: str, recipe: Recipe, typed: list[str], number: int) -> None:
    """Of words that its corpus holds, and of others."""
    made = learn.start(Corpus.from_text(text), recipe, Run(specials=("<unk>",)))
    learn.run(made, Stops())
    trainer = ReplayTrainer(made.tokenizer(), Words(made.words.words[:2], made.words.counts[:2]))
    learn.jump(trainer, number)
    for word in [*pretokens(trainer, typed), *made.words.words]:
        assert learn.life(trainer, word) == naive_life(trainer, word)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@example(text="bbb aaaa aaaabab", typed=["a"], coverage=1.0, policy="drop")
@given(texts, typed, st.sampled_from([1.0, 0.8]), st.sampled_from(["per-unit", "fused", "drop"]))
def test_a_life_of_a_unigram_training(text: str, typed: list[str], coverage: float, policy: str) -> None:
    """Rounds of weighing and of dropping; and the replay of what comes out of it."""
    recipe = preset("sentencepiece-unigram", coverage=coverage, unknown=policy)
    trainer = learn.start(Corpus.from_text(text), recipe, Run(Stops(vocab_size=8)))
    learn.run(trainer, Stops(vocab_size=8))
    replayed = ReplayTrainer(trainer.tokenizer(), Words((), ()))
    learn.jump(replayed, replayed.computed)
    for one in (trainer, replayed):
        for word in [*pretokens(trainer, typed), *trainer.words.words]:
            assert learn.life(one, word) == naive_life(one, word)


@settings(max_examples=60, deadline=None)
@given(st.text("abcd", min_size=1, max_size=30), st.text("abcdABCDZ", max_size=12), st.integers(0, 12))
def test_a_life_of_a_compression(text: str, word: str, number: int) -> None:
    """A text that holds a byte which represents a pair is refused, as encoding refuses it."""
    trainer = start(Corpus.from_text(text), preset("gage"))
    learn.jump(trainer, number)
    def asked(what: Callable[[str], object]) -> str:
        with pytest.raises(TokentuiError, match="represents a pair") as raised:
            what(word)
        return raised.value.what

    stand_for_pairs = {step.token for step in merge_steps(trainer)}
    if any(char.encode() in stand_for_pairs for char in word):
        assert asked(lambda word: learn.life(trainer, word)) == asked(trainer.tokenizer().encode)
    else:
        assert learn.life(trainer, word) == naive_life(trainer, word)


def test_a_life_needs_no_training_and_one_run_over_the_word(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the merges in their order: as many segmentations as steps that changed it, not as steps."""
    trainer = learn.start(Corpus.from_text(" ".join(f"word{number}" for number in range(300))), CHAR)
    learn.run(trainer, Stops())
    segmented = 0
    whole = Merging.segment

    def counted(self: Merging, units: Sequence[bytes], characters: int) -> object:
        nonlocal segmented
        segmented += 1
        return whole(self, units, characters)

    monkeypatch.setattr(Merging, "segment", counted)
    lives = learn.life(trainer, "word299")
    assert 2 < len(lives) <= len("word299")
    assert segmented == len(lives) < trainer.number


@settings(max_examples=60, deadline=None)
@given(texts, recipes, typed, st.integers(0, 20), st.booleans())
def test_an_age_is_the_step_that_made_the_token(
    text: str, recipe: Recipe, typed: list[str], number: int, replayed: bool
) -> None:
    trainer = learn.start(Corpus.from_text(text), recipe, Run(specials=("<unk>",)))
    learn.run(trainer, Stops())
    if replayed:
        trainer = ReplayTrainer(trainer.tokenizer(), trainer.words)
    learn.jump(trainer, number)
    made = {step.made: step.number for step in learn.steps(trainer)}
    encoder = trainer.tokenizer().encoder
    for word in [*pretokens(trainer, typed), *trainer.words.words]:
        tokens = encoder.word(word)
        assert learn.ages(trainer, [one.id for one in tokens]) == tuple(
            made.get(-1 if one.symbol is None else one.symbol, 0) for one in tokens
        )


def test_the_age_of_a_special_token_that_a_merge_spells_is_its_step() -> None:
    trainer = learn.start(Corpus.from_text("abc abc abd cd"), CHAR, Run(specials=("abc", "cd")))
    learn.run(trainer, Stops())
    tokenizer = trainer.tokenizer()
    ids = tokenizer.encode("abc cd").ids
    assert ids == (0, 1)
    assert [trainer.step_at(age).made for age in learn.ages(trainer, ids)] == [
        tokenizer.vocabulary.pieces.index(piece) for piece in (b"abc", b"cd")
    ]


def test_ages_of_a_changed_run() -> None:
    trainer = learn.start(Corpus.from_text("ab ab ab cd cd ef"), CHAR)
    learn.jump(trainer, 2)
    assert learn.ages(trainer, trainer.tokenizer().encode("ab cd ef").ids) == (1, 2, 0, 0)
    other = learn.what_if(trainer, [WhatIf.read("1:forbid:ab")])
    assert learn.ages(other, other.tokenizer().encode("ab cd ef").ids) == (0, 0, 1, 2)
    assert learn.ages(other, [None, 10**6]) == (0, 0)
