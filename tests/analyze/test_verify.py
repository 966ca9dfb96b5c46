"""Trainings and files, held against other libraries in a process of their own."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from exporting import preset as made
from exporting import put

from tokentui.analyze import verify
from tokentui.analyze.stages import shorten
from tokentui.analyze.verify import child as program
from tokentui.analyze.verify import verify_encoding, verify_training
from tokentui.analyze.verify.peers import PEERS, Peer, asking, check_recipe, peer_of
from tokentui.analyze.verify.pieces import verify_pieces
from tokentui.analyze.verify.verify_report import pieces_report
from tokentui.axes import changed, preset
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import job, silent
from tokentui.formats import WRITTEN
from tokentui.formats.files import load
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

TEXT = "she sells sea shells by the sea shore; the shells she sells are sea shells, I'm sure. " * 3


def peer(name: str) -> Peer:
    pytest.importorskip(PEERS[name].module)
    return peer_of(name)


def test_names_of_peers() -> None:
    with pytest.raises(TokentuiError, match="no peer 'tokenizer'"):
        peer_of("tokenizer")
    pytest.importorskip("tokenizers")
    assert peer_of("HuggingFace").name == peer_of("hf").name == "tokenizers"


def test_a_library_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(TokentuiError, match="this library is not installed") as raised:
        peer_of("rustbpe")
    assert raised.value.hint == "pip install rustbpe"


def test_nothing_of_a_peer_is_imported_here() -> None:
    import tokentui.analyze.verify.child as child

    assert not {"tokenizers", "sentencepiece", "tiktoken", "rustbpe", "subword_nmt"} & set(vars(child))


@pytest.mark.first_run(cases=3)
@pytest.mark.peer
@pytest.mark.parametrize(
    ("name", "recipe", "merges"),
    [
        ("tokenizers", "gpt2", None), ("tokenizers", "hf-bpe", 20), ("rustbpe", "rustbpe", None),
        ("tiktoken", "tiktoken-edu", 15), ("subword-nmt", "subword-nmt", None),
        ("sentencepiece", "sentencepiece-bpe", None), ("tokenizers", "bert", None),
    ],
)
def test_trainings_that_are_alike(name: str, recipe: str, merges: int | None) -> None:
    found = verify_training(Corpus.from_lines([TEXT]), preset(recipe), peer(name), Run(Stops(merges)))
    assert found.difference is None
    assert found.steps == merges or (merges is None and found.steps > 10)
    assert found.peer.version


LANGUAGES = {"en": "sample:english", "hi": "sample:hindi", "tr": "sample:turkish"}
PARITY = [
    "parity", "parity:global_merges=30", "parity:variant=ratio", "parity:variant=ratio,ratios=1:2.5:1.3",
    "parity:variant=window,window_size=20,alpha=1.1",
    "parity:variant=window,window_size=10,alpha=1.2,global_merges=15",
]


@pytest.mark.peer
@pytest.mark.parametrize("recipe", ["hf-bpe", "bert", "gpt1"])
@pytest.mark.parametrize("objective", PARITY)
@pytest.mark.parametrize("development", [None, {"en": "sample:finnish", "hi": "sample:python"}], ids=str)
@pytest.mark.first_run(cases=3)
def test_parity_aware_trainings_are_alike(
    recipe: str, objective: str, development: dict[str, str] | None
) -> None:
    if not hasattr(pytest.importorskip("tokenizers"), "trainers"):
        pytest.skip("this release of tokenizers has no trainers")
    corpus = read(LANGUAGES, development=development)
    by = preset(recipe, objective=objective, tie="largest-pair")
    found = verify_training(corpus, by, peer("tokenizers"), Run(Stops(merges=150)))
    assert found.difference is None
    assert found.steps == 150


@pytest.mark.first_run(cases=2)
@pytest.mark.peer
@pytest.mark.parametrize("axes", [
    {}, {"unknown": "byte-fallback"}, {"symbols": ("the", "<sep>"), "coverage": 0.98},
    {"normalize": "nmt-nfkc,lowercase"}, {"pieces": "sentencepiece-digits"},
])
def test_unigram_models_have_the_same_pieces_and_scores(axes: dict[str, Any]) -> None:
    corpus, recipe = read("sample:english", as_="lines"), preset("sentencepiece-unigram", **axes)
    found = verify_pieces(corpus, recipe, peer("sentencepiece"), Run(Stops(vocab_size=560)))
    assert found.difference is None
    assert found.pieces > 250
    assert 0 < found.apart < 1e-4


@pytest.mark.peer
@pytest.mark.slow
@pytest.mark.parametrize("name", ["english", "indonesian", "turkish", "finnish", "python", "numbers"])
@pytest.mark.parametrize("size", [300, 500, 800])
def test_unigram_models_of_all_corpora_have_the_same_pieces(name: str, size: int) -> None:
    """The scores of a few pieces differ by some thousandths: see `APART`."""
    corpus = read(f"sample:{name}", as_="lines")
    run = Run(Stops(vocab_size=size))
    found = verify_pieces(corpus, preset("sentencepiece-unigram"), peer("sentencepiece"), run)
    assert found.apart < 0.005
    if found.difference is not None:
        assert (found.difference.only_ours, found.difference.only_theirs) == ((), ())
        assert len(found.difference.scores) <= 0.1 * found.pieces


@pytest.mark.peer
def test_unigram_models_that_differ_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores that are further apart than allowed, and pieces that one of the two lacks."""
    monkeypatch.setattr("tokentui.analyze.verify.pieces.APART", 0.0)
    corpus, recipe = read("sample:english", as_="lines"), preset("t5")
    found = verify_pieces(corpus, recipe, peer("sentencepiece"), Run(Stops(vocab_size=300)))
    assert found.difference is not None
    assert (found.difference.only_ours, found.difference.only_theirs) == ((), ())
    assert len(found.difference.scores) > 200
    report = pieces_report(replace(found, difference=replace(found.difference, only_ours=(b"a", b"b"))))
    value = json.loads(json.dumps(report.value))
    assert value["differs"]["only_ours"] == ["61", "62"]
    with pytest.raises(TokentuiError, match="rounds, not merges"):
        verify_pieces(corpus, recipe, PEERS["sentencepiece"], Run(Stops(merges=3)))


class OfRelease1:
    """The interface of tokenizers 1.0, over that of an earlier release: settings are arguments, and stages
    are not told."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def encode(
        self, text: str, *, add_special_tokens: bool, encode_special_tokens: bool, padding: None,
        truncation: None,
    ) -> Any:
        self._tokenizer.encode_special_tokens = encode_special_tokens
        return self._tokenizer.encode(text, add_special_tokens=add_special_tokens)

    def tokenize(self, text: str, **options: Any) -> list[str]:
        return list(self.encode(text, **options).tokens)


@pytest.mark.peer
def test_both_generations_of_tokenizers_encode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.json"
    put(made("gpt2"), path, "huggingface")
    open_file = pytest.importorskip("tokenizers").Tokenizer.from_file
    before = program.HuggingFace(str(path))
    given = [("the hat<|endoftext|> sat", specials) for specials in (False, True)]
    want, stages = [before.ids(*one) for one in given], before.stages("the hat")
    of_release_1 = SimpleNamespace(from_file=lambda path: OfRelease1(open_file(path)))
    monkeypatch.setitem(sys.modules, "tokenizers", SimpleNamespace(Tokenizer=of_release_1))
    after = program.HuggingFace(str(path))
    assert [after.ids(*one) for one in given] == want
    assert want[0] != want[1]
    assert after.stages("the hat") == {"normalized": None, "words": None, "tokens": stages["tokens"]}
    with pytest.raises(program.NoTrainerError):
        program.train_tokenizers(["a"], [1], [], {}, [], 1)


@pytest.mark.parametrize("objective", ["count", "parity"])
def test_a_release_without_a_trainer_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, objective: str
) -> None:
    empty = 'sys.modules["tokenizers"] = type(sys)("tokenizers")\nif __name__'
    child(monkeypatch, tmp_path, Path(program.__file__).read_text().replace("if __name__", empty))
    with pytest.raises(TokentuiError) as raised:
        verify_training(read(LANGUAGES), preset("gpt2", objective=objective), peer("tokenizers"))
    assert raised.value.what == "this release has no trainer for this in Python"
    assert raised.value.where.startswith("tokenizers ")


@pytest.mark.peer
def test_the_first_tie_parts_them() -> None:
    """Of equal counts one takes the first seen, the other the lowest ids."""
    found = verify_training(
        Corpus.from_text("zy zy ab ab mn mn q"), preset("minbpe", split="whitespace"), peer("tokenizers")
    )
    parting = found.difference
    assert parting is not None
    assert (found.steps, parting.step, parting.ours, parting.tied) == (0, 1, (b"z", b"y"), 3)
    assert parting.theirs is not None
    assert (parting.theirs.pieces, parting.theirs.count) == ((b"a", b"b"), 2)
    assert parting.theirs.place is not None
    assert [one.worth for one in parting.candidates] == [2, 2, 2]


@pytest.mark.peer
def test_a_token_without_its_pair_is_looked_up_again() -> None:
    found = verify_training(
        Corpus.from_text("zy zy ab ab mn mn q"), preset("minbpe", split="whitespace"), peer("rustbpe")
    )
    assert found.difference is not None
    assert found.difference.theirs is not None
    assert (found.difference.theirs.pieces, found.difference.theirs.token) == ((b"a", b"b"), b"ab")


CANNOT: dict[str, dict[str, tuple[str, ...]]] = {
    "tokenizers": {
        "unit": ("grapheme",), "mark": ("end-symbol:</w>",), "pieces": ("sentencepiece",),
    },
    "rustbpe": {"unit": ("char", "grapheme"), "mark": ("prefix:##", "end-symbol:</w>")},
    "tiktoken": {"unit": ("char", "grapheme"), "mark": ("prefix:##", "end-symbol:</w>")},
    "subword-nmt": {
        "unit": ("byte", "grapheme"), "mark": ("none", "end-symbol:</w>", "end-suffix:#"),
        "pieces": ("sentencepiece",),
    },
    "sentencepiece": {
        "unit": ("grapheme",), "mark": ("prefix:##",), "split": ("whitespace", "none", "gpt2"),
        "pieces": ("any",),
    },
}
"""By library and axis the values that it cannot be asked for; each is tried on a recipe that it can train by.
"""
CAN = {
    "tokenizers": Recipe(unit="char", base="sorted", unknown="drop"), "rustbpe": preset("rustbpe"),
    "tiktoken": preset("tiktoken-edu"), "subword-nmt": preset("subword-nmt"),
    "sentencepiece": preset("sentencepiece-bpe"),
}
HANDED: list[tuple[str, dict[str, Any]]] = [
    *((name, {"normalize": value}) for name in CAN for value in ((), "nmt-nfkc", "bert-uncased")),
    *(
        (name, {"normalize": "nfkc,lowercase", "split": "words"})
        for name in ("tokenizers", "rustbpe", "tiktoken")
    ),
    ("tokenizers", {"base": "first-seen"}),
    *(
        ("tokenizers", {"mark": mark, "unit": unit, "base": "alphabet"})
        for mark in ("prefix:##", "prefix:#", "end-suffix:</w>") for unit in ("char", "byte")
    ),
    ("subword-nmt", {"normalize": "nfkc,lowercase", "base": "first-seen"}),
    ("sentencepiece", {"normalize": "nfkc,lowercase", "unknown": "byte-fallback"}),
]


@pytest.mark.parametrize("name", CAN)
def test_what_a_library_cannot_train_is_refused_by_its_axis(name: str) -> None:
    check_recipe(CAN[name], PEERS[name])
    wrong: dict[str, tuple[str, ...]] = {**CANNOT[name], "objective": ("score",), "weight": ("distinct",)}
    for axis, values in wrong.items():
        for value in values:
            axes = {axis: value} | (
                {"base": "sorted", "unknown": "error"} if axis == "unit" and value != "byte" else {}
            )
            recipe = CAN[name].with_axes(**axes)
            with pytest.raises(TokentuiError) as raised:
                verify_training(Corpus.from_text(TEXT), recipe, PEERS[name])
            assert raised.value.what == f"{name} cannot train with {axis}={value}"
            assert raised.value.hint.startswith(f"it trains with {axis}=")


@pytest.mark.peer
@pytest.mark.parametrize(("name", "axes"), HANDED)
@pytest.mark.first_run(cases=2)
def test_each_axis_is_handed_over(name: str, axes: dict[str, Any]) -> None:
    """What the recipe says of a text is what the library trains on: no difference that the recipe does not
    explain."""
    text = [TEXT + "ﬁne  Ünïted 12 1２ n\u0303 ① a b\u00a0c", "x" * 9000 + " y", "She  sells", "  sea  "]
    found = verify_training(Corpus.from_lines(text), CAN[name].with_axes(**axes), peer(name), Run(Stops(30)))
    if "base" in axes and name == "tokenizers" and found.difference is not None:
        assert found.difference.tied > 1, "another order of ids decides among equals alone"
    else:
        assert found.difference is None, found.difference


def test_what_a_library_does_not_know_or_take() -> None:
    symbols = changed(preset("minbpe-basic"), symbols=("ab",))
    with pytest.raises(TokentuiError, match="rustbpe does not support symbols"):
        check_recipe(symbols, PEERS["rustbpe"])
    with pytest.raises(TokentuiError, match="subword-nmt rejects the word 'a b'"):
        verify_training(Corpus.from_text("a b"), preset("subword-nmt", split="none"), PEERS["subword-nmt"])


@pytest.mark.peer
def test_a_size_ends_the_comparison() -> None:
    run = Run(Stops(vocab_size=260))
    report = verify_training(read("sample:sailor"), preset("rustbpe"), peer("rustbpe"), run)
    assert (report.difference, report.steps) == (None, 4)


@pytest.mark.slow
@pytest.mark.peer
def test_texts_as_they_are_under_sentencepiece() -> None:
    """Llama-2's recipe keeps spaces and full-width letters; the library's own rules, which change both, are
    not asked for."""
    text = ["a  b   c ａｂ ａｂ ｃ  a  b"] * 4
    for recipe in (preset("llama2"), preset("sentencepiece-bpe", normalize=())):
        found = verify_training(Corpus.from_lines(text), recipe, peer("sentencepiece"))
        assert found.difference is None
        assert found.steps > 3
    ours = verify_training(Corpus.from_lines(text), preset("sentencepiece-bpe"), peer("sentencepiece"))
    assert (ours.difference, ours.steps > 0) == (None, True)


@pytest.mark.peer
def test_a_long_line_is_not_left_out() -> None:
    """sentencepiece drops lines of more than 4,192 bytes unless it is told otherwise."""
    found = verify_training(
        Corpus.from_text(TEXT * 40), preset("sentencepiece-bpe"), peer("sentencepiece"), Run(Stops(20))
    )
    assert (found.difference, found.steps) == (None, 20)


def test_counted_words_are_no_texts() -> None:
    with pytest.raises(TokentuiError, match="sentencepiece needs texts, not counted words"):
        verify_training(
            Corpus.from_counts([("▁a", 3), ("▁ab", 5)]), preset("sentencepiece-bpe"), PEERS["sentencepiece"]
        )


def document(merges: list[list[str]]) -> dict[str, Any]:
    names = ["<unk>", *"abcdefgh", "ab", "abc", "bc"]
    model = {
        "type": "BPE", "unk_token": "<unk>", "vocab": {name: n for n, name in enumerate(names)},
        "merges": merges,
    }
    return {
        "version": "1.0", "added_tokens": [], "normalizer": {"type": "Lowercase"}, "post_processor": None,
        "decoder": None, "pre_tokenizer": {"type": "WhitespaceSplit"}, "model": model,
    }


@pytest.mark.peer
def test_a_text_that_differs_is_made_short(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    ours.write_text(json.dumps(document([["a", "b"], ["ab", "c"]])), "utf-8")
    theirs.write_text(json.dumps(document([["b", "c"], ["a", "b"], ["a", "bc"]])), "utf-8")
    documents = ["ab ab gh\nde fg", "nothing here differs", "de gh ABx\nfabd eabCg ab"]
    assert verify_encoding(load(ours), str(ours), peer("tokenizers"), documents).difference is None
    found = verify_encoding(load(ours), str(theirs), peer("tokenizers"), [*documents, "de fbc h"])
    assert (found.texts, found.difference and found.difference.number) == (3, 4)
    assert found.difference is not None
    assert (found.difference.text, found.difference.stage) == ("bc", "ids")
    assert found.difference.ours.words == found.difference.theirs.words == ("bc",)
    assert (found.difference.ours.tokens, found.difference.theirs.tokens) == (("b", "c"), ("bc",))


@pytest.mark.peer
@pytest.mark.parametrize(("step", "value", "stage", "text"), [
    ("normalizer", None, "normalized text", "A"),
    ("pre_tokenizer", {"type": "Punctuation", "behavior": "Isolated"}, "pre-tokens", " "),
])
def test_the_stage_where_they_part(tmp_path: Path, step: str, value: Any, stage: str, text: str) -> None:
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    ours.write_text(json.dumps(document([["a", "b"]])), "utf-8")
    theirs.write_text(json.dumps(document([["a", "b"]]) | {step: value}), "utf-8")
    found = verify_encoding(load(ours), str(theirs), peer("tokenizers"), ["Ab cd, ef"]).difference
    assert found is not None
    assert (found.stage, found.text) == (stage, text)


@pytest.mark.peer
def test_a_library_that_refuses(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps(document([["a", "b"]])), "utf-8")
    (tmp_path / "u.json").write_text(
        json.dumps(document([["a", "b"]]) | {"normalizer": {"type": "None such"}}), "utf-8"
    )
    with pytest.raises(TokentuiError, match="the library refuses: "):
        verify_encoding(load(tmp_path / "t.json"), str(tmp_path / "u.json"), peer("tokenizers"), ["a"])
    with pytest.raises(TokentuiError, match="rustbpe does not read vocabulary files"):
        verify_encoding(load(tmp_path / "t.json"), str(tmp_path / "t.json"), PEERS["rustbpe"], ["a"])


def test_the_progress_of_encoding_does_not_go_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, told = tmp_path / "t.json", list[tuple[int, int]]()
    path.write_text(json.dumps(document([["a", "b"]])), "utf-8")
    tokenizer = load(path)

    def ask(what: str, texts: Sequence[str] = (), **_: object) -> list[list[int | None]]:
        with silent():  # the library is no job of ours
            return [list(tokenizer.encode(text).ids) for text in texts]

    monkeypatch.setattr(verify, "asking", lambda peer: nullcontext(ask))
    with job(lambda *one: told.append(one)):
        found = verify_encoding(tokenizer, str(path), PEERS["tokenizers"], ["a b " * 900] * 40)
    assert (found.difference, found.texts) == (None, 40)
    assert told == sorted(told)
    assert {total for _, total in told} == {144_000}


OWNERS = {"tokenizers": "huggingface", "sentencepiece": "sentencepiece", "tiktoken": "tiktoken"}


@pytest.mark.slow
@pytest.mark.peer
def test_gigatoken_encodes_by_a_tokenizer_json(tmp_path: Path) -> None:
    """Names of special tokens are plain text in one comparison, and these tokens in the other."""
    path = tmp_path / "tokenizer.json"
    put(made("gpt2"), path, "huggingface")
    texts = ["one two  three", "a <|endoftext|> b", "naïve 中👍\n\nx"]
    found = verify_encoding(load(path), str(path), peer("gigatoken"), texts)
    assert (found.difference, found.texts) == (None, 3)


@pytest.mark.slow
def test_a_file_of_another_format_is_refused_before_the_library_sees_it(tmp_path: Path) -> None:
    """Our own file too, also where it was made of one that the library reads."""
    for format, held in (
        ("tokentui", "gpt2"), ("huggingface", "gpt2"), ("sentencepiece", "t5"), ("tiktoken", "gpt2"),
        ("gpt2", "gpt2"), ("bert", "bert"), ("minbpe", "gpt2"), ("tekken", "gpt2"),
    ):
        path = tmp_path / WRITTEN[format].files[0]
        put(made(held), path, format)
        tokenizer = load(path, "gpt2" if format == "tiktoken" else "")
        for name in (one for one, owned in OWNERS.items() if owned != format):
            with pytest.raises(TokentuiError) as raised:
                verify_encoding(tokenizer, str(path), PEERS[name], ["a"])
            assert raised.value.what == f"{name} reads {PEERS[name].reads}, not {WRITTEN[format].about}"
            assert f"--to {OWNERS[name]}" in raised.value.hint


@pytest.mark.slow
@pytest.mark.peer
def test_special_tokens_are_compared_both_ways(tmp_path: Path) -> None:
    """As plain text, and found by their names; a file whose specials have other ids parts in the second way
    only."""
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    put(made("gpt2"), ours, "huggingface")
    said = json.loads(ours.read_text())
    texts = ["a <|endoftext|> b", "<|endoftext|><|endoftext|>", "plain"]
    assert verify_encoding(load(ours), str(ours), peer("tokenizers"), texts).difference is None
    said["added_tokens"][0]["lstrip"] = True
    theirs.write_text(json.dumps(said))
    parting = verify_encoding(load(ours), str(theirs), peer("tokenizers"), texts).difference
    assert parting is not None
    assert (parting.number, parting.specials, parting.text) == (1, True, " <|endoftext|>")
    assert parting.theirs.tokens == ("<|endoftext|>",)
    assert parting.ours.tokens == (" ", "<|endoftext|>")
    assert verify_encoding(load(ours), str(theirs), peer("tokenizers"), ["a b"]).difference is None


@pytest.mark.slow
@pytest.mark.peer
def test_ranks_that_were_changed_are_read_again(tmp_path: Path) -> None:
    """The library keeps a copy of what it read under a path."""
    path = tmp_path / "r.tiktoken"
    for name in ("gpt2", "minbpe"):
        put(made(name), path, "tiktoken")
        found = verify_encoding(
            load(path, made(name).recipe.split), str(path), peer("tiktoken"), ["the crowd", TEXT]
        )
        assert found.difference is None


def test_a_split_that_is_more_than_a_pattern(tmp_path: Path) -> None:
    path = tmp_path / "r.tiktoken"
    put(made("gpt2"), path, "tiktoken")
    with pytest.raises(TokentuiError, match="tiktoken cannot split with split=falcon"):
        verify_encoding(load(path, "falcon"), str(path), PEERS["tiktoken"], ["a"])


def child(monkeypatch: pytest.MonkeyPatch, folder: Path, program: str) -> None:
    (folder / "child.py").write_text(program)
    monkeypatch.setattr("tokentui.analyze.verify.peers._CHILD", folder / "child.py")


def test_a_process_that_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child(
        monkeypatch, tmp_path,
        "import os, sys\nprint('thread panicked at x', file=sys.stderr, flush=True)\nos.abort()\n",
    )
    with asking(PEERS["rustbpe"]) as ask, pytest.raises(TokentuiError) as raised:
        ask("train_rustbpe", 20, words=["a" * 1_000_000])
    assert str(raised.value).startswith("rustbpe: the library ended with signal 6: thread panicked at x")


def test_a_process_that_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child(monkeypatch, tmp_path, "import time\ntime.sleep(600)\n")
    with (
        asking(PEERS["rustbpe"]) as ask, pytest.raises(TokentuiError, match="the library took more than 0 s"),
    ):
        ask("train_rustbpe", 0.2)
    with job(cancel=lambda: True), asking(PEERS["rustbpe"]) as ask, pytest.raises(Cancelled):
        ask("train_rustbpe", 20)


def test_what_a_library_prints_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noisy = "def noisy():\n    print('hello')\n    raise SystemExit('no')\n\n\nif __name__"
    child(monkeypatch, tmp_path, Path(program.__file__).read_text().replace("if __name__", noisy))
    with (
        asking(PEERS["tokenizers"]) as ask,
        pytest.raises(TokentuiError, match="the library refuses: SystemExit: no"),
    ):
        ask("noisy", 20)


def test_shortest_part() -> None:
    assert shorten("the quick brown fox jumps", lambda part: "q" in part and "x" in part) == "qx"
    assert shorten("aaaa", lambda part: len(part) >= 3) == "aaa"
    assert shorten("abc", lambda part: False) == "abc"


@pytest.mark.peer
def test_a_sample_against_ranks(tmp_path: Path) -> None:
    """Ranks without a pattern: the one that was named goes to the library too."""
    import base64

    rows = [base64.b64encode(bytes((value,))) + b" %d\n" % value for value in range(256)]
    rows += [
        base64.b64encode(piece) + b" %d\n" % (256 + n)
        for n, piece in enumerate([b"th", b" a", b" the", b"in", b"the"])
    ]
    path = tmp_path / "r.tiktoken"
    path.write_bytes(b"".join(rows))
    found = verify_encoding(
        load(path, "cl100k"), str(path), peer("tiktoken"), read("sample:english").documents
    )
    assert found.difference is None
    assert found.tokens > 1000
