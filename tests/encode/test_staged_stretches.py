"""Texts are cut between printable ASCII and a space where the steps of a file act on both sides by
themselves. The ids are those of the steps on the whole text.
"""

from __future__ import annotations

import base64
import importlib
import json
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import oracle
import owners
import pytest
import texts as awkward
from whole_texts import MARK, answer, compare, made_up, random_texts, reference, table_of, uncut

from tokentui import load
from tokentui.encode import id_tables
from tokentui.formats.sentencepiece.charsmap import rules_of


def step(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, **more}


def precompiled(*names: str) -> dict[str, Any]:
    """Sentencepiece's rules by their names: `content_of` compiles them, because that takes a second."""
    return step("Precompiled", precompiled_charsmap=names)


def replace(text: str, content: str, kind: str = "String") -> dict[str, Any]:
    return step("Replace", pattern={kind: text}, content=content)


BERT = step("BertNormalizer", clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)
NORMALIZERS: dict[str, list[dict[str, Any]]] = {
    "none": [], "t5": [precompiled("nmt-nfkc")],
    "cased": [precompiled("nmt-nfkc", "lowercase"), replace(" {2,}", " ", "Regex")],
    "albert": [replace("``", '"'), replace("''", '"'), step("NFKD"), step("StripAccents"), step("Lowercase"),
               precompiled("nmt-nfkc")],
    "nfkc": [step("NFKC")], "nmt": [step("Nmt"), step("NFC"), replace(" {2,}", " ", "Regex")],
    "stripped": [step("Strip", strip_left=False, strip_right=True), step("NFD")], "bert": [BERT],
}
OTHER_NORMALIZERS: dict[str, list[dict[str, Any]]] = {
    "left": [step("Strip", strip_left=True, strip_right=False)], "gone": [replace("a", "")],
    "to space": [replace(",", " ")], "across": [replace("a ", "b")], "marks": [replace(" ", MARK)],
    "pattern": [replace(r"\s+", " ", "Regex")], "first": [step("Prepend", prepend=MARK)],
}
"""What looks across a border, or may."""


def metaspace(scheme: str, mark: str = MARK, split: bool = True) -> dict[str, Any]:
    return step("Metaspace", replacement=mark, prepend_scheme=scheme, split=split)


SPLITS: dict[str, list[dict[str, Any]]] = {
    "metaspace": [metaspace("always")], "never": [metaspace("never")], "first": [metaspace("first")],
    "t5": [step("WhitespaceSplit"), metaspace("always")], "own mark": [metaspace("always", "_")],
    "not first": [step("WhitespaceSplit"), metaspace("first")],
    "bert": [step("BertPreTokenizer")], "words": [step("Whitespace"), metaspace("always")],
    "digits": [step("WhitespaceSplit"), step("Digits", individual_digits=True), step("Punctuation")],
    "fixed": [step("WhitespaceSplit"), step("FixedLength", length=2)],
}
OTHER_SPLITS: dict[str, list[dict[str, Any]]] = {
    "digits": [step("Digits", individual_digits=True)], "whole": [metaspace("always", split=False)],
    "delimiter": [step("CharDelimiterSplit", delimiter="a")],
}
MODELS = ("BPE", "Unigram", "WordPiece")


def content_of(normalizers: list[Any], splits: list[Any], model: str, added: str) -> dict[str, Any]:
    """A `tokenizer.json` with these steps."""
    content = made_up(2, "plain", added, spelled=model == "BPE", fused=False)
    normalizers = [
        one | {"precompiled_charsmap": base64.b64encode(rules_of(one["precompiled_charsmap"])[0]).decode()}
        if one["type"] == "Precompiled" else one for one in normalizers
    ]
    names = [name for name in content["model"]["vocab"] if model == "BPE" or not name.startswith("<0x")]
    if model == "Unigram":
        numbers = random.Random(1)
        rows = [[name, -1 - 9 * numbers.random()] for name in names]
        content["model"] = {"type": model, "unk_id": 0, "vocab": rows, "byte_fallback": False}
    elif model == "WordPiece":
        names += [f"##{name}" for name in names if len(name) < 3]
        vocabulary = {name: number for number, name in enumerate(names)}
        content["model"] = {"type": model, "unk_token": "<unk>", "continuing_subword_prefix": "##",
                            "max_input_chars_per_word": 100, "vocab": vocabulary}
    for row in content["added_tokens"]:
        row["id"] = names.index(row["content"])
    for name, kind, steps in (("normalizer", "normalizers", normalizers),
                              ("pre_tokenizer", "pretokenizers", splits)):
        content[name] = steps[0] if len(steps) == 1 else {"type": "Sequence", kind: steps} if steps else None
    return content


@pytest.fixture(scope="module")
def kernels(loaded: None) -> ModuleType:
    return importlib.import_module("tokentui.encode.kernels.encode")


@pytest.fixture
def always(kernels: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels for texts of any length, in chunks of a few characters."""
    monkeypatch.setattr(id_tables, "KERNEL_CHARS", 0)
    monkeypatch.setattr(id_tables, "MANY_WORDS", 0)
    monkeypatch.setattr(importlib.import_module("tokentui.text.kernels.count"), "CHUNK_CHARS", 12)
    monkeypatch.setattr(kernels, "KEPT_WORDS", 60)


MORE = ("a  b\tc\n d", "''a `` b", "\u0600a b\u0600 c", "AbC. Σ. aΣ' b", " a", "a ", "e \u0301x",
        "a\r\nb \r\n", "ﬁ½ a㍿ b", "a_b _ c▁d ▁e", "x\x7f y\x01 z", "12 3a4")


def check(content: dict[str, Any], seed: int, count: int, folder: Path) -> str:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    tokenizer, numbers = load(path), random.Random(seed)
    given = [one + numbers.choice(MORE) + two for one, two in zip(
        random_texts(seed, count), random_texts(seed + 1, count), strict=True
    )]
    compare(tokenizer, uncut(path), [*MORE[seed % 3 :: 3], *given])
    return table_of(tokenizer)


@pytest.mark.parametrize("added", ["none", "always"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("splits", SPLITS)
@pytest.mark.parametrize("normalizers", NORMALIZERS)
@pytest.mark.first_run(cases=2)
def test_each_combination(
    normalizers: str, splits: str, model: str, added: str, always: None, tmp_path: Path
) -> None:
    content = content_of(NORMALIZERS[normalizers], SPLITS[splits], model, added)
    found = check(content, 3, 4, tmp_path)
    if (normalizers, splits) != ("none", "never"):  # which a recipe may describe
        assert found in ("Split", "Bigrams")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("normalizers", "splits"), [
    *((one, "metaspace") for one in OTHER_NORMALIZERS), *(("nfkc", one) for one in OTHER_SPLITS),
])
@pytest.mark.first_run(cases=4)
def test_what_looks_across_a_border(
    normalizers: str, splits: str, model: str, always: None, tmp_path: Path
) -> None:
    """Such files go by their words."""
    content = content_of(
        {**NORMALIZERS, **OTHER_NORMALIZERS}[normalizers], {**SPLITS, **OTHER_SPLITS}[splits], model, "none"
    )
    assert check(content, 4, 8, tmp_path) == ""


def test_names_across_a_border(always: None, tmp_path: Path) -> None:
    content = content_of(NORMALIZERS["t5"], SPLITS["t5"], "Unigram", "always")
    content["added_tokens"][1]["content"] = "a b"
    assert check(content, 5, 12, tmp_path) == ""


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("splits", SPLITS)
@pytest.mark.parametrize("normalizers", NORMALIZERS)
def test_many_texts(normalizers: str, splits: str, model: str, always: None, tmp_path: Path) -> None:
    for seed in range(3):
        added = "always" if seed % 2 else "none"
        check(content_of(NORMALIZERS[normalizers], SPLITS[splits], model, added), seed, 12, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [
    "trained/t5/tokenizer.json", *oracle.large("t5-small/tokenizer.json", "sqlpilot/tokenizer.json"),
])
def test_plain_python_gives_the_same(name: str, always: None, tmp_path: Path) -> None:
    """Of 8,000 texts: awkward ones, and random joins of their parts."""
    path = owners.path_of(name, tmp_path)
    tokenizer, plain = load(path), uncut(path)
    numbers, given = random.Random(name), list(filter(None, awkward.TEXTS))
    for number in range(8_000):
        text = "".join(
            one[(at := numbers.randrange(len(one))) : at + numbers.randrange(30)]
            for one in numbers.choices(given, k=3)
        ) if number >= len(given) else given[number]
        allowed = number % 2 == 1
        found = answer(tokenizer.encode_ids(text, allow_special=allowed, special_tokens=allowed))
        assert found == reference(plain, text, allowed), text
    assert table_of(tokenizer) == "Split"
