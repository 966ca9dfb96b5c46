"""The words of a run that shape the learning: a recipe checks them, and files, sessions and commands keep
them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from running_cli import done, refused

import tokentui
from tokentui import learn
from tokentui.axes import changed, check, label, preset
from tokentui.core.errors import TokentuiError
from tokentui.formats import WRITTEN
from tokentui.formats.files import export, load
from tokentui.formats.proof import contents
from tokentui.recipe import Recipe, Run, Stops
from tokentui.session.persist.session_file import Branch, SavedSession, dumps, loads
from tokentui.text.corpus import Corpus
from tokentui.text.split import spaced

LINES = Corpus.from_lines(["the cat the <sep> hat 12 123", "the hat, the mat <sep> ☃"] * 4)
SHAPED = preset("llama2", coverage=0.98, symbols=["<sep>", "at"], prefix_space=False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"coverage": 0}, "above 0"), ({"coverage": 1.1}, "at most 1"), ({"coverage": "x"}, "coverage=x"),
        ({"coverage": True}, "share"), ({"symbols": "ab"}, "a list of texts"), ({"symbols": [""]}, "empty"),
        ({"symbols": ["a", "a"]}, "named twice"), ({"symbols": ["\ud800"]}, "surrogate"),
        ({"prefix_space": 1}, "yes or no"),
    ],
)
def test_words_that_cannot_be(words: dict[str, Any], said: str) -> None:
    with pytest.raises(TokentuiError, match=said):
        preset("llama2").with_axes(**words)


@pytest.mark.parametrize(("make", "said"), [
    (lambda: check(Recipe(coverage=0.9)), "units are bytes"),
    (lambda: check(Recipe(split="whitespace", prefix_space=True)), "would be dropped"),
    (lambda: preset("gage", symbols=["a"]), "whole text"),
    (lambda: preset("gage", prefix_space=True), "not part of the text"),
    (lambda: preset("gpt2", covrage=1), "no such axis"),  # type: ignore[call-arg]
])
def test_words_that_make_no_sense(make: Any, said: str) -> None:
    with pytest.raises(TokentuiError, match=said):
        make()


def test_equal_recipes_are_equal() -> None:
    assert check(Recipe(prefix_space=False)) == Recipe()
    assert preset("llama2", prefix_space=True) == preset("llama2")
    assert preset("llama2", symbols=["a"]) == preset("llama2", symbols=("a",)) != preset("llama2")
    assert preset("llama2", pieces="any", base="sorted", unit="byte", unknown="error").coverage == 1
    assert changed(Recipe(prefix_space=True), split="whitespace").prefix_space is None


@pytest.mark.parametrize(
    "recipe", [SHAPED, preset("sentencepiece-bpe"), Recipe(prefix_space=True), Recipe(symbols=("x y", '"'))]
)
def test_files_keep_them(recipe: Recipe, tmp_path: Path) -> None:
    assert Recipe.from_toml(recipe.to_toml()) == recipe
    assert Recipe.from_dict(recipe.to_dict() | recipe.shape) == recipe
    trainer = learn.start(LINES, recipe, Run(specials=("<unk>",)))
    learn.run(trainer, Stops(merges=4))
    tokenizer = trainer.tokenizer()
    export(tokenizer, tmp_path / "own.json")
    back = load(tmp_path / "own.json")
    assert (back.recipe, dict(back.run)) == (recipe, dict(tokenizer.run))
    for text in LINES.documents:
        assert back.encode(text).ids == tokenizer.encode(text).ids
    kept = SavedSession(training=Branch(recipe, Run.of({"merges": 4}), 2))
    assert loads(dumps(kept), "kept") == kept


def test_what_was_kept_before_is_read(tmp_path: Path) -> None:
    """Files and sessions that know nothing of these words."""
    data = dumps(SavedSession(training=Branch(Recipe())))
    assert all(word not in data.decode() for word in ("coverage", "symbols", "prefix_space"))
    trainer = learn.start(LINES, Recipe())
    export(trainer.tokenizer(), tmp_path / "own.json")
    run = json.loads((tmp_path / "own.json").read_text("utf-8"))["run"]
    assert set(run) == {"first_id", "specials"}


@pytest.mark.parametrize("change", [{"coverage": 7}, {"symbols": "x"}, {"prefix_space": "yes"}])
def test_a_damaged_file_is_one_line(change: dict[str, Any], tmp_path: Path) -> None:
    trainer = learn.start(LINES, preset("llama2"), Run(specials=("<unk>",)))
    export(trainer.tokenizer(), tmp_path / "own.json")
    document = json.loads((tmp_path / "own.json").read_text("utf-8"))
    document["run"] |= change
    (tmp_path / "own.json").write_text(json.dumps(document))
    with pytest.raises(TokentuiError, match="run"):
        load(tmp_path / "own.json")


def test_ids_come_after_the_specials_and_before_the_bytes() -> None:
    trainer = learn.start(LINES, SHAPED, Run(specials=("<unk>", "<s>")))
    names = [entry.text for entry in trainer.tokenizer().entries()]
    assert names[:5] == ["<unk>", "<s>", "<sep>", "at", "<0x00>"]


def test_options(tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("\n".join(LINES.documents), "utf-8")
    named = ["--coverage", "0.98", "--symbol", "<sep>", "--symbol", "at", "--no-prefix-space"]
    out = tmp_path / "own.json"
    done("train", str(lines), "--as", "lines", "-r", "llama2", *named, "--merges", "4", "-o", str(out), "-q")
    assert load(out).recipe == SHAPED
    assert done("split", "-r", "llama2", *named, "a <sep>bat").split("\n")[:-1] == [
        "a", "▁", "<sep>", "b", "at",
    ]
    assert "coverage = 0.9995" in done("recipes", "sentencepiece-bpe")
    for corpus in (str(lines), "none.txt"):  # refused before the corpus is read
        assert "symbol <x>: named twice" in refused(
            "train", corpus, "-r", "llama2", "--symbol", "<x>", "--special", "<x>"
        )
    assert "▁" in refused("train", str(lines), "-r", "llama2", "--symbol", "a b")
    assert "coverage" in refused("train", str(lines), "-r", "gpt2", "--coverage", "0.9")


def test_a_special_token_is_no_symbol_too() -> None:
    for specials in (["at"], ["<unk>", "at"]):
        with pytest.raises(TokentuiError, match="symbol at: named twice"):
            tokentui.train(LINES, SHAPED, specials=specials)


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize(
    ("format", "recipe"),
    [("gpt2", "gpt2"), ("gpt2", "gpt1"), ("tiktoken", "gpt4"), ("bert", "bert"), ("minbpe", "minbpe"),
     ("tekken", "gpt2"), ("subword-nmt", "subword-nmt")],
)
def test_a_format_that_cannot_hold_symbols_tells_it(format: str, recipe: str) -> None:
    tokenizer = tokentui.train(LINES, recipe, symbols=["the"], merges=4)
    report, files = contents(tokenizer, WRITTEN[format])
    assert not report.refused
    assert files
    assert ("symbols", "the") in [(loss.what, loss.example) for loss in report.losses]


def test_a_text_that_the_pattern_refuses_is_left_out_of_the_proof(limited: Callable[..., None]) -> None:
    split = "regex:(?:o|oo)+c|(?:a|aa)+c|[^ ]+| +"
    tokenizer = tokentui.train(LINES, "gpt2", split=split, symbols=["the"], merges=4)
    limited(pattern_seconds=0.01, file_pattern_seconds=0.01)
    report, files = contents(tokenizer, WRITTEN["tekken"])
    assert not report.refused
    assert files


def test_a_format_that_takes_a_special_for_a_word_is_refused() -> None:
    tokenizer = tokentui.train(LINES, "bert", specials=["[UNK]", "hat"], merges=1)
    assert "would encode 'hat'" in contents(tokenizer, WRITTEN["bert"])[0].refused


@pytest.mark.first_run(cases=1)
@pytest.mark.peer
@pytest.mark.parametrize(
    "recipe",
    [
        preset("llama2"), preset("llama2", prefix_space=False),
        preset("sentencepiece-bpe", symbols=["<sep>", "at"]), SHAPED,
        preset("sentencepiece-unigram", symbols=["<sep>"], coverage=0.98),
    ],
    ids=["llama2", "no space", "symbols", "all", "unigram"],
)
def test_exports(recipe: Recipe, tmp_path: Path) -> None:
    """What is written gives its owner's library the same ids; what that library does otherwise is named."""
    tokenizers, sentencepiece = pytest.importorskip("tokenizers"), pytest.importorskip("sentencepiece")
    trainer = learn.start(LINES, recipe, Run(specials=("<unk>", "<s>", "</s>")))
    if recipe.objective == "unigram":
        learn.run(trainer, Stops(vocab_size=40))
    else:
        learn.run(trainer, Stops(merges=20))
    tokenizer = trainer.tokenizer()
    texts = [*LINES.documents, "a cat", "the<sep>hat at", "12 3 ☃", "mat <sep> <sep>cat ", "é日本"]
    export(tokenizer, tmp_path / "one.model", "sentencepiece")
    model = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "one.model"))
    for text in [*texts, "<sep>first", " a space"]:
        assert model.encode(text) == list(tokenizer.encode(text).ids), text
    read = load(tmp_path / "one.model")
    assert (read.recipe.coverage, read.recipe.prefix_space) == (recipe.coverage, recipe.prefix_space)
    report = export(tokenizer, tmp_path / "tokenizer.json", "huggingface")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in texts:
        assert theirs.encode(text, add_special_tokens=False).ids == list(tokenizer.encode(text).ids), text
    said = [loss for loss in report.losses if loss.what == "symbols"]
    assert bool(said) == bool(recipe.symbols and spaced(recipe))
    if not recipe.symbols:
        text = " a space"
        assert theirs.encode(text, add_special_tokens=False).ids == list(tokenizer.encode(text).ids)


def test_formats_that_have_no_place_for_them_say_so() -> None:
    from tokentui.formats.proof import check_export
    from tokentui.formats.spec import Spec

    trainer = learn.start(Corpus.from_text("a b c"), Recipe(symbols=("<x>",), prefix_space=True))
    for name in ("tiktoken", "minbpe", "tekken", "gpt2"):
        from tokentui.formats import WRITTEN

        report = check_export(Spec(trainer.tokenizer()), WRITTEN[name])
        assert report.refused or {"symbols", "a leading space"} <= {loss.what for loss in report.losses}, (
            name
        )


def test_a_title_names_a_way_of_encoding_that_no_preset_of_its_objective_has() -> None:
    plain = preset("gpt2")
    assert label(plain) == "bpe · gpt2 · bytes"
    assert label(plain.with_axes(encode="fewest-tokens")) == "bpe · gpt2 · bytes · fewest-tokens"
