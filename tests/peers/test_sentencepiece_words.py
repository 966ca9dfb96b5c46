"""Coverage, symbols, single digits and the space in front: sentencepiece makes the same pieces, ids and
encodings with them."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import peers
import pytest
import soak
from hypothesis import given
from hypothesis import strategies as st
from trainers import merge_steps, start

from tokentui import learn
from tokentui.analyze.verify import verify_training
from tokentui.analyze.verify.peers import peer_of
from tokentui.axes import preset
from tokentui.core.errors import TokentuiError
from tokentui.formats.files import load
from tokentui.recipe import Recipe, Run, Stops
from tokentui.session.training.stages import stages
from tokentui.text.corpus import Corpus
from tokentui.text.split import spaced

sentencepiece = pytest.importorskip("sentencepiece")
pytestmark = pytest.mark.peer

SPECIALS = ("<unk>", "<s>", "</s>")
SYMBOLS = ("e", "the", "the▁", "<sep>", "の", "1", "的")
ODD = "aab  \t\x1f\x0b\r\n▁\0\u200b\u200d\u0301\ufeff1２あカー漢.\x7f\x85\u2028\U0001f600"
"""Characters that a normalizer, a filter or a table of sentencepiece has an opinion about."""
LINES = st.text(st.sampled_from(ODD), min_size=1, max_size=14).map(lambda text: text.rstrip("\r\n") or "a")
EMPTY = ("all_chars_count", "sentences_.empty")
"""What it says of a corpus of which it keeps no line or no character."""


def trained(documents: Sequence[str], recipe: Recipe, size: int, **more: Any) -> Any:
    """A model of sentencepiece by the same words."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(documents), model_writer=model, vocab_size=size, minloglevel=2,
        hard_vocab_limit=False, character_coverage=recipe.coverage,
        byte_fallback=recipe.unknown == "byte-fallback", split_digits=recipe.pieces == "sentencepiece-digits",
        user_defined_symbols=list(recipe.symbols),
        normalization_rule_name="nmt_nfkc" if recipe.normalize else "identity",
        remove_extra_whitespaces=bool(recipe.normalize), add_dummy_prefix=spaced(recipe),
        model_type="unigram" if recipe.objective == "unigram" else "bpe", **more,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def pieces_of(model: Any) -> list[str]:
    return [model.id_to_piece(number) for number in range(model.get_piece_size())]


def check(documents: Sequence[str], recipe: Recipe, probes: Sequence[str] = ()) -> None:
    """Train here and there while pairs stand twice, and compare the vocabularies with their ids, then what
    texts become."""
    trainer = start(Corpus.from_lines(documents, "lines"), recipe, Run(specials=SPECIALS))
    assert learn.run(trainer, Stops(min_count=2)) in ("min_count", "no pair left")
    theirs = trained(documents, recipe, trainer.size_at(trainer.number))
    tokenizer = trainer.tokenizer()
    peers.same_steps([entry.text for entry in tokenizer.entries()], pieces_of(theirs))
    for text in (*probes, *documents):
        assert list(tokenizer.encode(text).ids) == theirs.encode(text), text
        assert list(tokenizer.encode_ids(text)) == theirs.encode(text), text
    assert trainer.tokens_at(trainer.number) == sum(len(theirs.encode(text)) for text in documents)


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize(("name", "words"), soak.covering(
    ["english", "chinese", "japanese", "python", "numbers"],
    [
        {"symbols": SYMBOLS}, {"coverage": 0.98}, {},
        {"coverage": 0.99, "symbols": SYMBOLS, "prefix_space": False},
    ],
))
def test_llama2(name: str, words: dict[str, Any]) -> None:
    documents = peers.lines(name).documents
    check(
        documents, preset("llama2").with_axes(**words),
        [*peers.PROBES, "  a<sep>b", "thethe 1e", " the 20 201"],
    )


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize(
    ("name", "coverage"), soak.covering(["english", "chinese", "hindi", "emoji", "numbers"], [0.9995, 0.98])
)
def test_the_default_recipe(name: str, coverage: float) -> None:
    assert preset("sentencepiece-bpe").coverage == 0.9995
    check(peers.lines(name).documents, preset("sentencepiece-bpe").with_axes(coverage=coverage), peers.PROBES)


def test_digits_stand_alone() -> None:
    documents = ["2010 2011 2012 ２０２０ ２０２０ a1b2 ٣٤ ٣٤ ٣٤"] * 4
    check(documents, preset("llama2").with_axes(coverage=1))
    made = start(Corpus.from_lines(documents), preset("llama2").with_axes(coverage=1))
    learn.run(made, Stops())
    tokens = [step.token.decode() for step in merge_steps(made)]
    digits = [token for token in tokens if any(letter in "0123456789２０" for letter in token)]
    assert not digits


@pytest.mark.slow
@given(
    st.lists(LINES, min_size=1, max_size=5),
    st.sampled_from(["llama2", "sentencepiece-bpe"]), st.sampled_from([1.0, 0.98]),
)
def test_odd_characters(documents: list[str], name: str, coverage: float) -> None:
    """Tabs merge, the barrier and NUL do not, and lines begin and end as they do there.

    Their reader takes off line ends.
    """
    recipe = preset(name).with_axes(coverage=coverage)
    try:
        check(documents, recipe)
    except RuntimeError as error:
        if not any(words in str(error) for words in EMPTY):
            raise


@pytest.mark.parametrize(("coverage", "symbols"), [(0.9995, ()), (0.98, ()), (1.0, ("e", "the", "<x>"))])
def test_unigram(coverage: float, symbols: tuple[str, ...]) -> None:
    lines = [line for line in peers.text("english").split("\n") if line.strip()]
    recipe = preset("sentencepiece-unigram").with_axes(coverage=coverage, symbols=symbols)
    theirs = trained(lines, recipe, 400, num_threads=1)
    run = learn.start(Corpus.from_lines(lines), recipe, Run(specials=SPECIALS))
    assert learn.run(run, Stops(vocab_size=400)) == "vocab_size"
    want = {theirs.id_to_piece(n): theirs.get_score(n) for n in range(3 + len(symbols), 400)}
    vocabulary = run.tokenizer().vocabulary
    mine = {piece.decode(): score for piece, score in zip(vocabulary.pieces, vocabulary.scores, strict=True)}
    assert mine.keys() == want.keys()
    assert sum(abs(mine[piece] - want[piece]) <= 0.01 for piece in mine) >= 0.99 * len(want)
    tokenizer = run.tokenizer()
    assert sum(len(tokenizer.encode(line)) for line in lines) == run.tokens_at(run.number)


# What the values of the axes cannot say is named.

UNTOLD: dict[str, Any] = {
    "split_by_whitespace": False, "treat_whitespace_as_suffix": True, "split_by_number": False,
    "allow_whitespace_only_pieces": True, "split_by_unicode_script": False, "max_sentencepiece_length": 8,
}


@pytest.mark.parametrize("option", UNTOLD)
def test_a_model_says_what_no_recipe_says(option: str, tmp_path: Path) -> None:
    documents = peers.lines("python").documents
    path = tmp_path / "one.model"
    path.write_bytes(
        trained(documents, preset("llama2"), 500, **{option: UNTOLD[option]}).serialized_model_proto()
    )
    said = [stage.what for stage in stages(load(path)) if stage.name == "training"]
    assert len(said) == 1
    assert said[0].startswith(f"{option}={int(UNTOLD[option])}")
    plain = tmp_path / "plain.model"
    plain.write_bytes(trained(documents, preset("llama2"), 500).serialized_model_proto())
    tokenizer = load(plain)
    assert [stage for stage in stages(tokenizer) if stage.name == "training"] == []
    assert (tokenizer.recipe.pieces, tokenizer.recipe.coverage) == (
        "sentencepiece-digits", preset("llama2").coverage,
    )


@pytest.mark.parametrize(("change", "named"), [
    (lambda r: r.with_axes(split="gpt2"), "split=gpt2"),
    (lambda r: r.with_axes(mark="end-suffix:</w>"), "mark=end-suffix"),
    (lambda r: r.with_axes(coverage=0.5), "coverage=0.5"),
])
def test_verify_refuses_by_name(change: Callable[[Recipe], Recipe], named: str) -> None:
    with pytest.raises(TokentuiError, match=named):
        verify_training(peers.lines("english"), change(preset("llama2")), peer_of("sentencepiece"))


@pytest.mark.parametrize(
    ("text", "named"), [("a ▅ b", "skips lines that contain"), ("a <s> b", "<s> in a text")]
)
def test_verify_refuses_a_corpus_that_is_not_taken_whole(text: str, named: str) -> None:
    with pytest.raises(TokentuiError, match=named):
        verify_training(Corpus.from_lines(["first", text]), preset("llama2"), peer_of("sentencepiece"))


def test_verify_says_that_all_is_alike() -> None:
    corpus = Corpus.from_lines(["a\tb a\tb\ta\tb 2020 <sep> the 2021 the <sep>"] * 3)
    report = verify_training(
        corpus, preset("llama2").with_axes(symbols=("<sep>",), coverage=1), peer_of("sentencepiece")
    )
    assert report.difference is None
    assert report.steps > 3
