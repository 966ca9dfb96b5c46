"""A `tokenizer.json` of the kinds of Llama 2, Gemma and T5 as a `.model`, and what is refused by name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import oracle
import pytest
from texts import TEXTS

from tokentui.core.errors import TokentuiError
from tokentui.formats import WRITTEN
from tokentui.formats.files import export, load
from tokentui.formats.proof import ExportReport, contents

REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
PREPEND = {"type": "Prepend", "prepend": "▁"}
FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)


def sequence(inner: str, *steps: object) -> dict[str, object]:
    return {"type": "Sequence", inner: list(steps)}


def llama(prefix: bool = True) -> dict[str, Any]:
    """Pieces that merge, bytes for what is no piece, and a ▁ in front of a text; of Gemma without it."""
    merges = ["l o", "▁ lo", "▁l o", "w e", "▁lo w", "we r", "▁ ▁"]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁lowerst,",
              "lo", "▁lo", "we", "▁low", "wer", "▁▁", "▁l"]
    merges.insert(1, "▁ l")  # ▁lo has two merges, which follow each other
    strip = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}] if prefix else []
    spaces = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": number, "content": name, "special": True, **FLAGS}
                         for number, name in enumerate(tokens[:3])],
        "normalizer": sequence("normalizers", PREPEND, REPLACE) if prefix else REPLACE,
        "pre_tokenizer": None, "post_processor": None,
        "decoder": sequence("decoders", spaces, {"type": "ByteFallback"}, {"type": "Fuse"}, *strip),
        "model": {
            "type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": True, "ignore_merges": False,
            "vocab": {token: number for number, token in enumerate(tokens)}, "merges": merges,
        },
    }


def t5() -> dict[str, Any]:
    """Pieces with probabilities, and spaces that are squeezed."""
    pieces = [["<pad>", 0.0], ["</s>", 0.0], ["<unk>", 0.0], ["▁", -2.0], ["▁low", -3.5], ["er", -4.25],
              *([letter, -6.0 - number / 7] for number, letter in enumerate("lowerst,"[:3] + "est,"))]
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": number, "content": row[0], "special": True, **FLAGS}
                         for number, row in enumerate(pieces[:3])],
        "normalizer": None,
        "pre_tokenizer": sequence("pretokenizers", {"type": "WhitespaceSplit"}, metaspace),
        "post_processor": None, "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": 2, "vocab": pieces, "byte_fallback": False},
    }


def converted(folder: Path, document: object) -> ExportReport:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(document), "utf-8")
    return contents(load(path), WRITTEN["sentencepiece"])[0]


SENTENCES = ("low lower lowest", "  low  we", "wer, 12", "é lo▁w", "lo", "▁▁ low", "")


@pytest.mark.parametrize("document", [llama(), llama(prefix=False), t5()], ids=["llama", "gemma", "t5"])
@pytest.mark.slow
def test_ids_are_those_of_both_owners(document: dict[str, Any], tmp_path: Path) -> None:
    """The written file under sentencepiece, and `tokenizer.json` under tokenizers."""
    sentencepiece = pytest.importorskip("sentencepiece")
    tokenizers = pytest.importorskip("tokenizers")
    report = converted(tmp_path, document)
    assert not report.refused
    assert report.checked > 50
    export(load(tmp_path / "tokenizer.json"), tmp_path / "tokenizer.model")
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "tokenizer.model"))
    own = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in SENTENCES:
        if "▁" in text and document["model"]["type"] == "Unigram":
            continue  # the report names it
        ids = own.encode(text, add_special_tokens=False).ids
        assert theirs.encode(text) == ids, text
        assert theirs.decode(ids) == own.decode(ids) or document["model"]["type"] == "Unigram"
    if document["model"]["type"] == "BPE":
        assert report.losses == ()


def test_user_defined_tokens_keep_their_ids_without_a_space_in_front(tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    document = llama(prefix=False)
    document["model"]["vocab"]["\n\n"] = number = len(document["model"]["vocab"])
    document["added_tokens"].append({"id": number, "content": "\n\n", "special": False, **FLAGS})
    assert [loss.consequence for loss in converted(tmp_path, document).losses] == ["their flags are not kept"]
    export(load(tmp_path / "tokenizer.json"), tmp_path / "tokenizer.model")
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "tokenizer.model"))
    assert number in theirs.encode("low\n\nlow")
    document["normalizer"] = llama()["normalizer"]
    lost = {loss.consequence for loss in converted(tmp_path, document).losses}
    assert "no ▁ is added before the text after it" in lost


def _step(kind: str, **given: object) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        steps = document["normalizer"]["normalizers"]
        document["normalizer"] = sequence("normalizers", {"type": kind, **given}, *steps)

    return change


def _splits(kind: str, **given: object) -> Callable[[dict[str, Any]], None]:
    return lambda document: document.update(pre_tokenizer={"type": kind, **given})


def _merges(*rows: str) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["model"].update(merges=list(rows))


@pytest.mark.parametrize(("change", "reason"), [
    (_step("Lowercase"), "its normalizer Lowercase cannot be stored"),
    (_step("Replace", pattern={"Regex": "a+"}, content="a"),
        "its normalizer Replace of 'a+' cannot be stored"),
    (_splits("Digits", individual_digits=True), "its pre-tokenizer Digits cannot be stored"),
    (lambda document: document.update(normalizer=None), "its spaces are not written as ▁"),
    (lambda document: document["model"].update(ignore_merges=True), "a word that is a token is not merged"),
    (_merges("l o", "w e", "▁ l", "▁l o", "▁lo w", "▁ lo", "we r", "▁ ▁"),
     "the merges of '▁lo' are not one after the other"),
    (_merges("l o", "w e", "▁ l", "▁ lo", "▁lo w", "we r", "▁ ▁"),
        "'▁l' and 'o' are not a merge of the file"),
])
def test_what_has_no_place_is_named(
    change: Callable[[dict[str, Any]], None], reason: str, tmp_path: Path
) -> None:
    document = llama()
    change(document)
    report = converted(tmp_path, document)
    assert report.refused.startswith(reason)
    assert "\n" not in report.refused
    with pytest.raises(TokentuiError, match="sentencepiece cannot store it"):
        export(load(tmp_path / "tokenizer.json"), tmp_path / "tokenizer.model")
    assert not (tmp_path / "tokenizer.model").exists()


@pytest.mark.shared
def test_a_published_llama_gives_the_ids_of_its_own_model(tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    export(load(oracle.shared("tokenizers/llama2/tokenizer.json")), tmp_path / "out.model")
    own = oracle.shared("tokenizers/spm-llama2/tokenizer.model")
    ours, theirs = (sentencepiece.SentencePieceProcessor(model_file=str(path))
                    for path in (tmp_path / "out.model", own))
    for text in TEXTS:
        if not re.search("[\ud800-\udfff]", text):
            assert ours.encode(text) == theirs.encode(text), text
