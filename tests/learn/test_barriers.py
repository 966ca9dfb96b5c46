"""What nothing merges with: symbols, and what the base does not cover, against a recount of the words cut
there."""

from __future__ import annotations

import io
import re
from collections import Counter
from typing import Any

import pytest
from health_checks import checked
from hypothesis import given
from hypothesis import strategies as st
from naive import Naive
from trainers import best, start

from tokentui import learn
from tokentui.analyze.vocabulary import exhausted, usage
from tokentui.axes import AXES, preset
from tokentui.core.errors import TokentuiError
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.incremental import Typed
from tokentui.encode.why_not import why_not
from tokentui.learn import MergeStep, jump
from tokentui.learn.bases import barriers, totals_of
from tokentui.recipe import Recipe, Run, Stops
from tokentui.session.engine.state import State
from tokentui.session.training.corpus_view import RunningText
from tokentui.session.training.training import prepare
from tokentui.session.views import Viewport
from tokentui.text.corpus import Corpus
from tokentui.text.pretokenize import Pretokenizer, cut_key

PLAIN = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="per-unit")


def kept_characters(text: str, coverage: float, symbols: tuple[str, ...]) -> set[str]:
    """The characters of a base, said another way: the least number of the commonest that covers enough."""
    rest = (
        re.sub("|".join(map(re.escape, sorted(symbols, key=len, reverse=True))), "", text)
        if symbols
        else text
    )
    counts = Counter(character for character in rest if not character.isspace())
    order = sorted(counts, key=lambda character: (-counts[character], character))
    total = sum(counts.values())
    for size in range(len(order) + 1):
        if sum(counts[one] for one in order[:size]) >= coverage * total - 1e-9:
            return set(order[:size])
    raise AssertionError


@given(
    st.text("abcde xy", min_size=1, max_size=60), st.sampled_from([1.0, 0.95, 0.8, 0.5]),
    st.sampled_from([(), ("x",), ("ab", "x"), ("abc", "ab")]),
    st.sampled_from(list(AXES["tie"])),
)
def test_steps_are_those_of_words_that_are_cut(
    text: str, coverage: float, symbols: tuple[str, ...], tie: str
) -> None:
    recipe = PLAIN.with_axes(tie=tie).with_axes(coverage=coverage, symbols=symbols)
    trainer = start(Corpus.from_text(text), recipe)
    kept = sorted(kept_characters(text, coverage, symbols))
    assert [piece.decode() for piece in trainer.tokenizer().vocabulary.pieces] == kept
    barred = "|".join(map(re.escape, sorted(symbols, key=len, reverse=True))) or "(?!)"
    distinct: Counter[str] = Counter()
    for word in text.split():
        distinct.update(part for part in re.split(f"({barred})", word) if part)
    words, weights = [], []
    for word, times in distinct.items():
        if word in symbols:
            continue
        for part in re.split(f"[^{''.join(kept)}]" if kept else ".", word, flags=re.DOTALL):
            words.append([kept.index(one) for one in part])
            weights.append(times)
    naive = Naive(words, weights, [one.encode() for one in kept], tie)
    while counts := naive.counts():
        best = naive.ranked(counts)[0]
        step = learn.step(trainer)
        assert isinstance(step, MergeStep)
        assert (step.left, step.right) == (naive.pieces[best[0]], naive.pieces[best[1]])
        assert step.count == counts[best]
        assert step.replaced == naive.merge(best)
    assert learn.step(trainer) is None
    tokenizer = trainer.tokenizer()
    assert trainer.tokens_at(trainer.number) == len(tokenizer.encode(text))
    last = trainer.number
    learn.jump(trainer, 0)
    assert trainer.tokens_at(trainer.number) == trainer.tokens_at(0) == len(trainer.tokenizer().encode(text))
    learn.jump(trainer, last)
    assert trainer.tokens_at(trainer.number) == len(tokenizer.encode(text))


@pytest.mark.parametrize("recipe", [
    preset("sentencepiece-bpe", coverage=0.9, symbols=["<x>", "th"]),
    preset("gpt2", symbols=["<x>", "th"], prefix_space=True),
    preset("bert", symbols=["<x>"], coverage=0.9),
    preset("wordpiece", symbols=["<x>"]),
    preset("sentencepiece-unigram", coverage=0.9, symbols=["<x>"]),
], ids=lambda recipe: f"{recipe.objective}-{recipe.split}")
def test_screens_agree_with_encoding_around_barriers(recipe: Recipe) -> None:
    """A screen, forward and back; the tokens of the corpus are those that encoding gives."""
    corpus = Corpus.from_lines(["the <x> this<x>that qzj", "that other thing, the thing"] * 3)
    state = State(prepare(corpus, recipe, Run(specials=("<unk>", "[UNK]"))))
    trainer = state.main.trainer
    for number in (0, 3, 1, 7):
        jump(trainer, number)
        seen = state.snapshot()
        assert "".join(part.text for part in seen.main.corpus.parts).count("<x>") == 6
    tokenizer = trainer.tokenizer()
    assert "<x>" in tokenizer.encode("a <x> b").tokens
    assert (
        tokenizer.decode(number for number in tokenizer.encode("<x>").ids if number is not None).strip()
        == "<x>"
    )
    if recipe.unknown != "whole-word":
        assert trainer.tokens_at(trainer.number) == sum(
            len(tokenizer.encode(text)) for text in corpus.documents
        )
    view = RunningText(corpus, recipe).view(Viewport(), trainer)
    symbols = [part for part in view.parts if part.text == "<x>"]
    assert symbols
    assert all([(span.start, span.end) for span in part.tokens] == [(0, 3)] for part in symbols)


def test_a_symbol_that_is_a_unit_of_the_base_too_counts_once() -> None:
    """All 256 bytes are the base; a byte that is a symbol is no use of its unit."""
    trainer = start(Corpus.from_text("banana bandana", "bananas"), Recipe().with_axes(symbols=("a",)))
    assert trainer.tokens_at(0) == len(b"banana bandana")
    unit = trainer.tokenizer(0).vocabulary.units[b"a"]
    assert trainer.uses[unit] == 0


def test_a_symbol_is_found_before_the_split_and_the_longest_first() -> None:
    recipe = PLAIN.with_axes(split="gpt2").with_axes(symbols=("<a>", "<a><b>", "ing"))
    assert Pretokenizer(recipe).words("sing <a><b><a> ings") == [
        "s", "ing", " ", "<a><b>", "<a>", " ", "ing", "s",
    ]
    analyzed = Pretokenizer(recipe).analyze("sing <a><b><a> ings")
    assert (
        "".join("sing <a><b><a> ings"[one.start : one.end] for one in analyzed.pretokens)
        == "sing <a><b><a> ings"
    )


@pytest.mark.parametrize(("recipe", "text", "words"), [
    (Recipe(), "a b", ["a", " b"]),
    (Recipe(prefix_space=True), "a b", [" a", " b"]),
    (Recipe(prefix_space=True), " a", [" a"]),
    (Recipe(prefix_space=True), "", []),
    (preset("llama2"), "a b", ["▁a", "▁b"]),
    (preset("llama2"), " a", ["▁", "▁a"]),
    (preset("llama2", prefix_space=False), "a b", ["a", "▁b"]),
    (PLAIN.with_axes(split="metaspace"), " a", ["▁a"]),
    (PLAIN.with_axes(split="metaspace").with_axes(prefix_space=False), "a b", ["a", "▁b"]),
])
def test_the_space_in_front(recipe: Recipe, text: str, words: list[str]) -> None:
    assert Pretokenizer(recipe).words(text) == words
    assert [one.text for one in Pretokenizer(recipe).analyze(text).pretokens] == words


@pytest.mark.parametrize(("symbols", "said"), [
    (["a b"], "▁"), (["①"], "write '1'"), (["\u200b"], "no normalized text contains"),
])
def test_a_symbol_that_is_never_found_is_refused(symbols: list[str], said: str) -> None:
    with pytest.raises(TokentuiError, match=said):
        learn.start(Corpus.from_text("a b"), preset("sentencepiece-bpe", symbols=symbols))


def test_covered_are_the_commonest_and_of_equals_the_smaller() -> None:
    words: Any = [[b"a"] * 6, [b"c", b"b"], [b"z"]]
    recipe = PLAIN.with_axes(coverage=0.7)
    assert barriers(totals_of(words, [1, 1, 1]), recipe) == {b"c", b"z"}
    assert barriers(totals_of(words, [1, 1, 9]), recipe) == {b"b", b"c"}
    assert barriers(totals_of(words, [1, 1, 9]), PLAIN) == frozenset()


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("recipe", [
    preset("llama2"), preset("llama2", prefix_space=False), preset("gpt2", prefix_space=True),
    preset("gpt2", symbols=["he", "<x>"]), preset("sentencepiece-bpe", symbols=["he"]),
], ids=lambda recipe: f"{recipe.split}-{recipe.axis('symbols')}-{recipe.axis('prefix_space')}")
@given(st.lists(st.text(" ,ahe<x>\t", max_size=30), min_size=1, max_size=6))
def test_typed_text_has_the_tokens_of_encoded_text(recipe: Recipe, texts: list[str]) -> None:
    trainer = learn.start(Corpus.from_text("he, ah <x> hahe, he ah"), recipe, Run(specials=("<unk>",)))
    learn.run(trainer, Stops(merges=5))
    tokenizer, typed = trainer.tokenizer(), Typed()
    for text in texts:
        rows = typed.encode(trainer.tokenizer().vocabulary, trainer.tokenizer().merges, text)
        whole = tokenizer.encode(text)
        assert [(row.id, (row.start, row.end)) for row in rows] == list(
            zip(whole.ids, whole.offsets, strict=True)
        )
        assert list(tokenizer.encode_ids(text)) == list(whole.ids)


def test_corpora_cut_in_different_ways_are_counted_separately() -> None:
    llama = preset("llama2")
    assert cut_key(llama) == cut_key(llama.with_axes(tie="first-seen").with_axes(coverage=0.9))
    for other in (
        llama.with_axes(symbols=("a",)), llama.with_axes(prefix_space=False), llama.with_axes(pieces="any"),
    ):
        assert cut_key(llama) != cut_key(other)


def test_why_a_symbol_with_a_space_in_front_is_two_tokens() -> None:
    recipe = preset("llama2", symbols=["the"])
    trainer = learn.start(Corpus.from_text("the cat"), recipe, Run(specials=("<unk>", "<s>", "</s>")))
    tokenizer = trainer.tokenizer()
    assert tokenizer.encode("the").tokens == ("▁", "the")
    assert (
        why_not(tokenizer, "the").sentence
        == "It contains the, a token that is recognized wherever it occurs."
    )
    bare = learn.start(Corpus.from_text("the cat"), recipe.with_axes(prefix_space=False)).tokenizer()
    assert bare.encode("the").ids == (0,)
    assert (
        why_not(bare, "the").sentence
        == "It is one token: the symbol with id 0, which is recognized wherever it occurs."
    )
    assert checked(tokenizer, "specials").status == "PASS"


@pytest.mark.parametrize(
    "recipe", [preset(name, symbols=["<x>"], coverage=0.9) for name in ("llama2", "bert")]
)
def test_figures_count_symbols_and_unknown_units(recipe: Recipe) -> None:
    corpus = Corpus.from_lines(["the <x> this that qzj", "that thing, the thing <x>"] * 3)
    trainer = start(corpus, recipe, Run(specials=("<unk>", "[UNK]")))
    learn.run(trainer, Stops(merges=12))
    tokenizer = trainer.tokenizer()
    assert usage(tokenizer, trainer.words).uses[tokenizer.vocabulary.special_id("<x>")] == 6
    ended = exhausted(trainer.words, recipe, Run(specials=("<unk>", "[UNK]")))
    learn.run(trainer, Stops())
    last = WordEncoder(trainer.tokenizer().vocabulary, trainer.tokenizer().merges)
    assert ended.whole == sum(len(last.word(word)) == 1 for word in trainer.words.words)


def test_a_character_of_symbols_alone_is_no_unit() -> None:
    """Its piece stood nowhere: the kernels looked for it behind the corpus."""
    trainer = learn.start(
        Corpus.from_lines(["abc"]), preset("xlnet", symbols=["ab"]), Run(specials=("<unk>",))
    )
    pieces = {row.token for row in best(trainer)}
    assert pieces == {"▁".encode(), b"c"}
    assert set(peer_pieces(["abc", "cab"], ["ab"])) - {"<unk>", "<s>", "</s>"} == {"▁", "c", "ab"}


def peer_pieces(lines: list[str], symbols: list[str]) -> list[str]:
    """The pieces of a unigram model by sentencepiece."""
    sentencepiece = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines * 20), model_writer=model, model_type="unigram", vocab_size=6,
        hard_vocab_limit=False, user_defined_symbols=symbols, minloglevel=2,
        normalization_rule_name="identity", remove_extra_whitespaces=False,
    )
    one = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [one.id_to_piece(number) for number in range(one.get_piece_size())]
