"""Every kind of step of a tokenizer.json: the same ids and text as Hugging Face's library, live."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from owners import same_as_hugging_face
from texts import FEW, TEXTS

from tokentui.formats.files import load
from tokentui.formats.tokens import LETTERS

pytestmark = pytest.mark.peer
tokenizers = pytest.importorskip("tokenizers")

FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
FALCON = {"type": "Sequence", "pretokenizers": [
    {"type": "Punctuation", "behavior": "Contiguous"},
    {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
    {"type": "Digits", "individual_digits": False},
    {"type": "Split", "pattern": {"Regex": "[0-9][0-9][0-9]"}, "behavior": "Isolated", "invert": False},
]}


def characters(*more: str) -> dict[str, int]:
    """A vocabulary of the printable ASCII characters, ▁ and more."""
    names = ["<unk>", *map(chr, range(32, 127)), "▁", "é", "ß", "中", "\n", *more]
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def bpe(**given: Any) -> dict[str, Any]:
    """A model of characters with a few merges."""
    merges = [
        ["t", "h"], ["th", "e"], ["▁", "the"], ["i", "n"], ["▁", "a"], ["o", "n"], [" ", "t"], ["a", "a"],
        ["0", "0"],
    ]
    vocabulary = characters("th", "the", "▁the", "in", "▁a", "on", " t", "aa", "00")
    return {"type": "BPE", "unk_token": "<unk>", "vocab": vocabulary, "merges": merges} | given


def byte_bpe(**given: Any) -> dict[str, Any]:
    """A model of bytes with a few merges."""
    merges = ["t h", "th e", "Ġ the", "Ã ©", "ä ¸", "Ġ Ġ", "1 2", "â ĸ", "âĸ ģ"]
    names = [*sorted(LETTERS), *(row.replace(" ", "") for row in merges)]
    return {"type": "BPE", "vocab": {name: n for n, name in enumerate(names)}, "merges": merges} | given


def wordpiece(**given: Any) -> dict[str, Any]:
    pairs = [name for c in map(chr, range(33, 127)) for name in (c, "##" + c)]
    names = ["[UNK]", "[CLS]", "[SEP]", *pairs, "the", "##ing", "é", "中", "▁", "##ab", "###"]
    return {
        "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100, "vocab": {name: n for n, name in enumerate(dict.fromkeys(names))},
    } | given


def unigram(*more: str, **given: Any) -> dict[str, Any]:
    names = characters("th", "the", "▁the", "▁a", "oo", "ab", *more)
    rows = [[name, 0.0 if not n else -3.0 - n % 17 / 4] for name, n in names.items()]
    return {"type": "Unigram", "unk_id": 0, "vocab": rows, "byte_fallback": False} | given


def sequence(key: str, *steps: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", key: list(steps)}


def replace(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}


def metaspace(scheme: str, split: bool = True) -> dict[str, Any]:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}


def byte_level(prefix: bool = False, use_regex: bool = True) -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": use_regex}


def cut(pattern: dict[str, str], behavior: str, invert: bool = False) -> dict[str, Any]:
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def added(*rows: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [FLAGS | {"id": n, "content": content} | flags for n, (content, flags) in enumerate(rows)]


BYTES = {f"<0x{value:02X}>": 1000 + value for value in range(256)}
DOCUMENTS: dict[str, dict[str, Any]] = {
    "characters": {"model": bpe()},
    "unknown fused": {"model": bpe(fuse_unk=True)},
    "unknown dropped": {"model": bpe(unk_token=None)},
    "byte fallback": {"model": bpe(byte_fallback=True, vocab=bpe()["vocab"] | BYTES)},
    "whole words": {
        "model": bpe(ignore_merges=True, vocab=bpe()["vocab"] | {"don't": 900, "lib": 901}),
        "pre_tokenizer": {"type": "WhitespaceSplit"},
    },
    "two pairs of a token": {
        "model": bpe(
            merges=["h e", "t h", "t he", "th e", "a a", "aa a", "a aa"],
            vocab=bpe()["vocab"] | {"he": 700, "aaa": 701},
        )
    },
    "rows like a header": {"model": bpe(merges=["#version a", "t h", "#version: 0.2"])},
    "a pair in two rows": {"model": bpe(merges=["a a", "0 0", "a a"])},
    "a part that appears later": {
        "model": bpe(
            merges=["a bc", "b c", "a b", "ab c"],
            vocab=bpe()["vocab"] | {name: 700 + n for n, name in enumerate(["ab", "bc", "abc"])},
        )
    },
    "across ▁": {
        "model": bpe(
            merges=["t ▁", "t▁ a", "▁ ▁"], vocab=bpe()["vocab"] | {"t▁": 700, "t▁a": 701, "▁▁": 702}
        ),
        "normalizer": replace({"String": " "}, "▁"),
    },
    "runs of ▁": {
        "model": bpe(
            merges=["▁ ▁", "▁▁ ▁▁", "▁▁ a"], vocab=bpe()["vocab"] | {"▁▁": 700, "▁▁▁▁": 701, "▁▁a": 702}
        ),
        "normalizer": replace({"String": " "}, "▁"),
    },
    "prefix": {
        "model": bpe(
            continuing_subword_prefix="##", merges=[["t", "##h"], ["##i", "##n"]],
            vocab={
                name: n
                for n, name in enumerate(
                    ["<unk>", *"abcdefghinot", *("##" + c for c in "abcdefghinot"), "th", "##in"]
                )
            },
        ),
        "pre_tokenizer": {"type": "Whitespace"},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False},
    },
    "suffix": {
        "model": bpe(
            end_of_word_suffix="</w>", merges=["t h", "th e</w>"],
            vocab={
                name: n
                for n, name in enumerate(
                    ["<unk>", *"abcdefghinot", *(c + "</w>" for c in "abcdefghinot"), "th", "the</w>"]
                )
            },
        ),
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": {"type": "BPEDecoder", "suffix": "</w>"},
    },
    "bytes": {"model": byte_bpe(), "pre_tokenizer": byte_level(), "decoder": byte_level()},
    "bytes, a space in front": {
        "model": byte_bpe(), "pre_tokenizer": byte_level(prefix=True), "decoder": byte_level(),
    },
    "bytes, one word": {
        "model": byte_bpe(), "pre_tokenizer": byte_level(use_regex=False), "decoder": byte_level(),
    },
    "bytes by the normalizer": {
        "model": byte_bpe(), "normalizer": {"type": "ByteLevel"}, "decoder": byte_level(),
    },
    "a pattern of three digits": {
        "model": byte_bpe(), "decoder": byte_level(),
        "pre_tokenizer": sequence(
            "pretokenizers", cut({"Regex": r"\p{N}{1,3}+|[^\s\p{N}]+| "}, "Isolated"),
            byte_level(use_regex=False),
        ),
    },
    "lines": {
        "model": byte_bpe(), "decoder": byte_level(),
        "pre_tokenizer": sequence(
            "pretokenizers", cut({"Regex": r"^\s*\w+|\w+$"}, "Isolated"), byte_level(use_regex=False)
        ),
    },
    "qwen": {
        "model": byte_bpe(), "normalizer": {"type": "NFC"}, "decoder": byte_level(),
        "pre_tokenizer": sequence(
            "pretokenizers",
            cut(
                {
                    "Regex": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| "
                    r"?[^\s\p{L}\p{N}]+[\r\n]*"
                    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
                },
                "Isolated",
            ),
            byte_level(use_regex=False),
        ),
    },
    "llama3": {
        "model": byte_bpe(ignore_merges=True), "decoder": byte_level(),
        "pre_tokenizer": sequence(
            "pretokenizers",
            cut(
                {
                    "Regex": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
                    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
                },
                "Isolated",
            ),
            byte_level(use_regex=False),
        ),
    },
    "digits and bytes": {
        "model": byte_bpe(), "decoder": byte_level(),
        "pre_tokenizer": sequence(
            "pretokenizers", {"type": "Digits", "individual_digits": True}, byte_level()
        ),
    },
    "falcon": {"model": byte_bpe(), "decoder": byte_level(), "pre_tokenizer": FALCON},
    "falcon with a space": {
        "model": byte_bpe(), "decoder": byte_level(),
        "pre_tokenizer": FALCON
        | {
            "pretokenizers": [
                FALCON["pretokenizers"][0], byte_level(prefix=True), *FALCON["pretokenizers"][2:],
            ]
        },
    },
    "metaspace": {"model": bpe(), "pre_tokenizer": metaspace("always"), "decoder": metaspace("always")},
    "metaspace, first": {
        "model": bpe(), "pre_tokenizer": metaspace("first"), "decoder": metaspace("first"),
        "added_tokens": added(("<s>", {}), ("x", {"special": False})),
    },
    "metaspace, never": {
        "model": bpe(), "pre_tokenizer": metaspace("never", split=False), "decoder": metaspace("never"),
    },
    "metaspace of old": {
        "model": bpe(),
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "str_rep": "▁", "add_prefix_space": True},
    },
    "prepended": {
        "model": bpe(),
        "normalizer": sequence(
            "normalizers", {"type": "Prepend", "prepend": "▁"}, replace({"String": " "}, "▁")
        ),
        "decoder": sequence(
            "decoders", replace({"String": "▁"}, " "), {"type": "ByteFallback"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ),
    },
    "no pre-tokenizer, unigram": {"model": unigram()},
    "unigram": {"model": unigram(), "pre_tokenizer": metaspace("always"), "decoder": metaspace("always")},
    "unigram, bytes": {
        "model": unigram(*BYTES, byte_fallback=True), "pre_tokenizer": metaspace("always"),
        "decoder": sequence("decoders", {"type": "ByteFallback"}, metaspace("always")),
    },
    "unigram, a token twice": {
        "model": unigram(vocab=[["<unk>", 0], ["a", -1.5], ["b", -2], ["ab", -9], ["ab", -1]])
    },
    "unigram of bytes": {"model": unigram(*LETTERS), "pre_tokenizer": byte_level(), "decoder": byte_level()},
    "wordpiece": {
        "model": wordpiece(), "pre_tokenizer": {"type": "Whitespace"},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
    },
    "wordpiece, short words": {
        "model": wordpiece(max_input_chars_per_word=5), "pre_tokenizer": {"type": "WhitespaceSplit"},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False},
    },
    "wordpiece, no word short enough": {
        "model": wordpiece(max_input_chars_per_word=0), "pre_tokenizer": {"type": "WhitespaceSplit"},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False},
    },
    "words, a limit without meaning": {
        "model": {"type": "WordLevel", "unk_token": "<unk>", "vocab": characters("the", "x" * 130),
                  "max_input_chars_per_word": 0},
        "pre_tokenizer": {"type": "Whitespace"},
    },
    "wordpiece, no prefix": {
        "model": wordpiece(continuing_subword_prefix=""), "pre_tokenizer": {"type": "WhitespaceSplit"},
    },
    "words": {
        "model": {"type": "WordLevel", "unk_token": "<unk>", "vocab": characters("the", "don", "in", "WE")},
        "pre_tokenizer": {"type": "Whitespace"},
    },
    "no type of model": {"model": {k: v for k, v in bpe().items() if k != "type"}},
    "punctuation": {
        "model": bpe(), "pre_tokenizer": {"type": "Punctuation", "behavior": "MergedWithPrevious"},
    },
    "delimiter": {"model": bpe(), "pre_tokenizer": {"type": "CharDelimiterSplit", "delimiter": "e"}},
    "scripts": {"model": bpe(), "pre_tokenizer": {"type": "UnicodeScripts"}},
    "scripts after words": {
        "model": byte_bpe(), "decoder": byte_level(),
        "pre_tokenizer": sequence("pretokenizers", {"type": "UnicodeScripts"}, byte_level()),
    },
    "fixed length": {"model": bpe(), "pre_tokenizer": {"type": "FixedLength", "length": 3}},
    "digits together": {"model": bpe(), "pre_tokenizer": {"type": "Digits", "individual_digits": False}},
    **{
        f"{how}{' inverted' * invert}": {
            "model": bpe(), "pre_tokenizer": cut({"Regex": r"[aeiou]|\d\d|\s"}, how, invert),
        }
        for how in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
        for invert in (False, True)
    },
    "a literal": {"model": bpe(), "pre_tokenizer": cut({"String": "."}, "MergedWithNext")},
    "bert, case kept": {
        "model": bpe(), "pre_tokenizer": {"type": "BertPreTokenizer"},
        "normalizer": {
            "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
            "lowercase": False,
        },
    },
    "bert, accents kept": {
        "model": bpe(), "pre_tokenizer": {"type": "BertPreTokenizer"},
        "normalizer": {
            "type": "BertNormalizer", "clean_text": False, "handle_chinese_chars": True,
            "strip_accents": False, "lowercase": True,
        },
    },
    "bert, ideographs together": {
        "model": bpe(),
        "normalizer": {
            "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": False,
            "strip_accents": True, "lowercase": False,
        },
    },
    "all forms": {
        "model": bpe(),
        "normalizer": sequence(
            "normalizers", {"type": "Nmt"}, {"type": "NFKC"},
            {"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "NFD"},
            {"type": "StripAccents"}, {"type": "Lowercase"}, replace({"Regex": r"\s{2,}|\d+"}, " "),
        ),
    },
    "stripped left": {
        "model": bpe(), "normalizer": {"type": "Strip", "strip_left": True, "strip_right": False},
        "pre_tokenizer": metaspace("first"),
    },
    "clip": {
        "model": byte_bpe(
            end_of_word_suffix="</w>",
            vocab={
                name: n
                for n, name in enumerate(
                    [*LETTERS, *(letter + "</w>" for letter in LETTERS), "th", "the</w>"]
                )
            },
            merges=["t h", "th e</w>"],
        ),
        "normalizer": sequence(
            "normalizers", {"type": "NFC"}, replace({"Regex": r"\s+"}, " "), {"type": "Lowercase"}
        ),
        "pre_tokenizer": sequence(
            "pretokenizers",
            cut({"Regex": r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"}, "Removed", True),
            byte_level(),
        ),
    },
    "added tokens": {
        "model": bpe(),
        "added_tokens": added(
            ("<s>", {}), ("[MASK]", {"lstrip": True, "rstrip": True}),
            ("the", {"special": False, "single_word": True}),
            ("don", {"special": False, "single_word": True, "lstrip": True}), ("<s>a", {"special": False}),
            ("x", {"special": False, "rstrip": True}),
        ),
    },
    "added tokens after normalizing": {
        "model": bpe(), "normalizer": sequence("normalizers", {"type": "Lowercase"}, {"type": "NFKC"}),
        "added_tokens": added(
            ("Don", {"normalized": True, "special": False}), ("ﬁ", {"normalized": True, "special": False}),
            ("LOG", {"special": False}), ("<PAD>", {"normalized": True}),
            ("reuse", {"normalized": True, "special": False, "single_word": True}),
        ),
    },
    "added tokens and bert": {
        "model": bpe(),
        "normalizer": {
            "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "added_tokens": added(("THE", {"normalized": True, "special": False})),
    },
    "added tokens and gpt2": {
        "model": byte_bpe(), "pre_tokenizer": byte_level(), "decoder": byte_level(),
        "added_tokens": added(
            ("<|endoftext|>", {"normalized": True}), ("  ", {"special": False}),
            ("中", {"special": False, "normalized": True}),
        ),
    },
    "bert around": {
        "model": wordpiece(),
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
    },
    "roberta around": {
        "model": wordpiece(),
        "post_processor": {
            "type": "RobertaProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1], "trim_offsets": True,
            "add_prefix_space": False,
        },
    },
    "templates": {
        "model": wordpiece(),
        "post_processor": sequence(
            "processors", byte_level(),
            {
                "type": "TemplateProcessing",
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
                "single": [
                    {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                    {"SpecialToken": {"id": "two", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                    {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
                ],
                "special_tokens": {
                    "[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]},
                    "[SEP]": {"id": "[SEP]", "ids": [2], "tokens": ["[SEP]"]},
                    "two": {"id": "two", "ids": [2, 1], "tokens": ["[SEP]", "[CLS]"]},
                },
            },
        ),
    },
    "ctc": {
        "model": bpe(),
        "decoder": {"type": "CTC", "pad_token": "a", "word_delimiter_token": "e", "cleanup": True},
    },
    "stripped parts": {"model": bpe(), "decoder": {"type": "Strip", "content": "e", "start": 2, "stop": 0}},
    "replaced parts": {"model": bpe(), "decoder": replace({"Regex": "[aeiou]"}, "_")},
    "fused parts": {"model": bpe(), "decoder": {"type": "Fuse"}},
}


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=list(DOCUMENTS))
@pytest.mark.first_run(cases=6)
def test_every_step(tmp_path: Path, document: dict[str, Any]) -> None:
    whole = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
             "pre_tokenizer": None, "post_processor": None, "decoder": None} | document
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(whole), "utf-8")
    same_as_hugging_face(load(path), tokenizers.Tokenizer.from_file(str(path)), FEW)


def test_the_precompiled_rules(tmp_path: Path) -> None:
    """The rules of a sentencepiece model, as Hugging Face's library applies them."""
    sentencepiece = pytest.importorskip("sentencepiece")
    from tokentui.formats.sentencepiece import parse
    from tokentui.formats.source import Node

    (tmp_path / "corpus.txt").write_text("a b c d\n" * 100)
    for name in ("nmt_nfkc_cf", "nfkc"):
        sentencepiece.SentencePieceTrainer.train(
            input=str(tmp_path / "corpus.txt"), model_prefix=str(tmp_path / "m"), vocab_size=12,
            hard_vocab_limit=False, normalization_rule_name=name, minloglevel=2,
        )
        blob = parse((tmp_path / "m.model").read_bytes(), Node(None, "m")).charsmap
        document = {"version": "1.0", "added_tokens": [], "model": unigram(), "normalizer": {
            "type": "Precompiled", "precompiled_charsmap": base64.b64encode(blob).decode()}}
        (tmp_path / "t.json").write_text(json.dumps(document), "utf-8")
        ours, theirs = load(tmp_path / "t.json"), tokenizers.Tokenizer.from_file(str(tmp_path / "t.json"))
        for text in TEXTS:
            assert ours.encoder.pretokenizer.normalized(text) == theirs.normalizer.normalize_str(text), text
        same_as_hugging_face(ours, theirs, FEW)
