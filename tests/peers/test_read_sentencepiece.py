"""Files of sentencepiece: the same ids and the same text as the library, live."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from oracle import large, shared
from owners import drawn_ids
from texts import BROKEN, FEW, TEXTS

from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import load

pytestmark = pytest.mark.peer
sentencepiece = pytest.importorskip("sentencepiece")

FILES = ("spm-llama2/tokenizer.model", "spm-test/test_ja_model.model", "spm-test/test_model.model",
         "spm-xlnet-base-cased/spiece.model")
OPTIONS: dict[str, dict[str, Any]] = {
    "unigram": {},
    "unigram, bytes": {"byte_fallback": True, "character_coverage": 0.98},
    "unigram, user symbols": {
        "user_defined_symbols": ["<cls>", "the ", "▁a▁", "ab"], "control_symbols": ["<ctl>"],
    },
    "unigram across spaces": {"split_by_whitespace": False},
    "unigram, spaces kept": {"normalization_rule_name": "identity", "remove_extra_whitespaces": False},
    "unigram, no space in front": {"add_dummy_prefix": False},
    "unigram, spaces behind": {"treat_whitespace_as_suffix": True},
    "unigram, lower case": {"normalization_rule_name": "nmt_nfkc_cf"},
    "bpe": {"model_type": "bpe"},
    "bpe, bytes": {"model_type": "bpe", "byte_fallback": True, "character_coverage": 0.98},
    "bpe, user symbols": {"model_type": "bpe", "user_defined_symbols": ["<cls>", "the ", "in", "▁a"]},
    "bpe across spaces": {"model_type": "bpe", "split_by_whitespace": False},
    "bpe, spaces kept": {
        "model_type": "bpe", "normalization_rule_name": "identity", "remove_extra_whitespaces": False,
        "allow_whitespace_only_pieces": True,
    },
    "bpe, digits": {"model_type": "bpe", "split_digits": True, "unk_surface": "?"},
    "characters": {"model_type": "char"},
    "characters, bytes": {"model_type": "char", "byte_fallback": True, "character_coverage": 0.98},
    "words": {"model_type": "word", "vocab_size": 120},
    "words, bytes": {"model_type": "word", "vocab_size": 400, "byte_fallback": True},
}


def same(ours: Tokenizer, theirs: Any, texts: tuple[str, ...]) -> None:
    given: list[str | bytes] = [*texts, *BROKEN]
    for text in given:
        want = theirs.encode(text)
        assert list(ours.encode(text).ids) == want, text
        assert list(ours.encode_ids(text)) == want, text
        assert ours.decode(want) == theirs.decode(want), text
    for ids in drawn_ids(ours, "special", "unknown"):  # the library leaves control symbols out
        assert ours.decode(ids) == theirs.decode(ids), ids


@pytest.mark.parametrize("texts", [FEW, pytest.param(TEXTS, marks=pytest.mark.soak)], ids=["few", "all"])
@pytest.mark.parametrize("name", large(*FILES))
def test_published_files(name: str, texts: tuple[str, ...]) -> None:
    path = shared(f"tokenizers/{name}")
    same(load(path), sentencepiece.SentencePieceProcessor(model_file=str(path)), texts)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=list(OPTIONS))
@pytest.mark.first_run(cases=2)
def test_trained_here(tmp_path: Path, options: dict[str, Any]) -> None:
    texts = [text for text in FEW if len(text) < 2000]
    (tmp_path / "corpus.txt").write_text("\n".join(texts * 3), "utf-8")
    given = {"vocab_size": 1400, "hard_vocab_limit": False, "num_threads": 1, "minloglevel": 2} | options
    if given.get("model_type") in ("char", "bpe"):
        given["hard_vocab_limit"] = given["model_type"] == "bpe"
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "corpus.txt"), model_prefix=str(tmp_path / "m"), **given
    )
    same(
        load(tmp_path / "m.model"),
        sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model")), FEW,
    )


def of_runs(folder: Path) -> Path:
    """A Unigram model whose pieces of runs are worth what their parts are, but for some millionths."""
    draw = random.Random(11)
    pieces = {letter: -7.3 - n / 7 for n, letter in enumerate("▁thousernqzx1a")}
    for one, score in (("o", 2.17), ("ha", 3.31), ("xo", 4.7), ("0", 3.9), ("e", 2.03), ("t", 2.89)):
        pieces |= {one * times: -score * times + draw.uniform(-5e-6, 5e-6) for times in (1, 2, 3, 4, 6)}
    path = folder / "runs.model"
    rows = [("<unk>", 0.0, 2), *((piece, score, 1) for piece, score in pieces.items())]
    path.write_bytes(_model(rows, model_type=1))
    return path


@pytest.mark.parametrize("name", ["runs", *large(FILES[3], marks=[pytest.mark.soak])])
def test_rounding_decides_as_there(name: str, tmp_path: Path) -> None:
    """Runs of one letter have many segmentations that are as good as equal; which is taken depends on the
    text before."""
    path = of_runs(tmp_path) if name == "runs" else shared(f"tokenizers/{name}")
    ours, theirs = load(path), sentencepiece.SentencePieceProcessor(model_file=str(path))
    draw = random.Random(7)
    words = [
        "the", "house", "run", "q", "zx", "1", "ooooooo", "hahahahaha", "xoxoxoxo", "0000000", "eeeeeee",
        "ttt",
    ]
    for _ in range(16):
        text = " ".join(draw.choice(words) for _ in range(draw.randrange(400)))
        assert list(ours.encode(text).ids) == theirs.encode(text)


@pytest.mark.parametrize("name", ["runs", *large(FILES[3], marks=[pytest.mark.soak])])
def test_sums_that_grow_large_begin_again(name: str, tmp_path: Path) -> None:
    """Of a long text: past a sum of 100,000 what is still to be decided is counted from nothing."""
    path = of_runs(tmp_path) if name == "runs" else shared(f"tokenizers/{name}")
    ours, theirs = load(path), sentencepiece.SentencePieceProcessor(model_file=str(path))
    text = "ꙮhahaha xoxo " * 2500
    assert list(ours.encode(text).ids) == theirs.encode(text)


def test_user_symbols_score_by_their_length(tmp_path: Path) -> None:
    """Pieces of equal worth: what stands before them decides by rounding, user-defined symbols too."""
    half = [("▁" * size, -2.1716766357421875 * size, 1) for size in (1, 2, 4)]
    data = _model(
        [("<unk>", 0.0, 2), *half, ("a", -3.7, 1), ("b", -9.3, 1), ("ab", 0.0, 4), ("abab", 0.0, 4)],
        model_type=1,
    )
    (tmp_path / "m.model").write_bytes(data)
    ours, theirs = (
        load(tmp_path / "m.model"),
        sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model")),
    )
    draw = random.Random(3)
    for _ in range(60):
        text = "".join(
            draw.choice(["a", "b", "ab", "abab", "▁" * draw.randrange(9)]) for _ in range(draw.randrange(60))
        )
        assert list(ours.encode(text).ids) == theirs.encode(text), text


def test_unused_pieces_are_cut_again(tmp_path: Path) -> None:
    data = _model([("<unk>", 0.0, 2), ("▁", -9.0, 1), ("a", -10.0, 1), ("b", -11.0, 1), ("c", -12.0, 1),
                   ("ab", -1.0, 5), ("bc", -3.0, 1), ("abc", -2.0, 5), ("aab", -4.0, 1)], model_type=2)
    (tmp_path / "m.model").write_bytes(data)
    ours = load(tmp_path / "m.model")
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    for text in ("abc", "ab", "aab", "aabc abcab", "cab", "abcabc", "zab"):
        assert list(ours.encode(text).ids) == theirs.encode(text), text


def test_characters_that_are_no_pieces_merge(tmp_path: Path) -> None:
    data = _model(
        [("<unk>", 0.0, 2), ("▁", -9.0, 1), ("a", -10.0, 1), ("xa", -1.0, 1), ("xax", -2.0, 1)], model_type=2
    )
    (tmp_path / "m.model").write_bytes(data)
    ours, theirs = (
        load(tmp_path / "m.model"),
        sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model")),
    )
    for text in ("xa", "xax", "x", "xx a", "axxa"):
        assert list(ours.encode(text).ids) == theirs.encode(text), text


def _model(pieces: list[tuple[str, float, int]], model_type: int) -> bytes:
    from protomake import message

    rows = [(1, message([(1, text.encode()), (2, score), (3, kind)])) for text, score, kind in pieces]
    return message([*rows, (2, message([(3, model_type)])), (3, message([(1, b"identity")]))])


@pytest.mark.parametrize("pieces", [
    [("a", -1.0, 1)],
    [("<unk>", 0.0, 2), ("<u>", 0.0, 2)],
    [("<unk>", 0.0, 2), ("a", 0.0, 1), ("a", 0.0, 1)],
    [("<unk>", 0.0, 2), ("", 0.0, 1)],
    [("<unk>", 0.0, 2), ("<0x41>", 0.0, 6)],
])
def test_what_the_library_refuses_is_refused(tmp_path: Path, pieces: list[tuple[str, float, int]]) -> None:
    (tmp_path / "m.model").write_bytes(_model(pieces, 2))
    with pytest.raises(Exception, match=r"."):
        sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    with pytest.raises(TokentuiError):
        load(tmp_path / "m.model")
