"""Normalizers, pre-tokenizers and splits over all characters and over sequences of marks: the texts and parts
of their owners."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from typing import Any

import oracle
import pytest
import soak
import unicode_texts

from tokentui.formats.huggingface import AlignedText
from tokentui.formats.huggingface.steps import NormalizerStep, PreTokenizerStep, read_step
from tokentui.formats.oniguruma import pattern_of
from tokentui.formats.sentencepiece.charsmap import rules_of
from tokentui.formats.source import Node
from tokentui.text.split import SPLITS

pytestmark = pytest.mark.peer
tokenizers = pytest.importorskip("tokenizers")

SEQUENCES = 100_000
CHUNK = 2_000


def every() -> list[str]:
    """All characters."""
    return [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def bert(**given: Any) -> dict[str, Any]:
    plain = {
        "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
        "lowercase": True,
    }
    return plain | given


STEPS: dict[str, dict[str, Any]] = {
    **{name: {"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt")},
    "NFD, StripAccents": {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]},
    "BertNormalizer": bert(), "BertNormalizer, cased": bert(lowercase=False),
    "BertNormalizer, accents alone": bert(lowercase=False, strip_accents=True, clean_text=False),
    "Precompiled": {"type": "Precompiled"},
    "BertNormalizer, no ideographs": bert(handle_chinese_chars=False),
}


def step(name: str) -> dict[str, Any]:
    """A step by its name; the rules of the last one take a while."""
    if name != "Precompiled":
        return STEPS[name]
    return {"type": name, "precompiled_charsmap": base64.b64encode(rules_of(("nmt-nfkc",))[0]).decode()}


def owner(**stages: Any) -> Any:
    """The tokenizer of Hugging Face's library with some stages."""
    model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
    return tokenizers.Tokenizer.from_str(json.dumps({"version": "1.0", "model": model, **stages}))


def normalized(name: str, texts: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each text with what the owner and what we make of it."""
    said = step(name)
    theirs = owner(normalizer=said).normalizer
    ours: NormalizerStep = read_step(Node(said, "a test"), "normalizers")
    for text in texts:
        yield text, theirs.normalize_str(text), ours(AlignedText.typed(text)).text


def check(name: str, texts: Iterable[str]) -> None:
    wrong = [(ascii(text), ascii(theirs), ascii(ours)) for text, theirs, ours in normalized(name, texts)
             if theirs != ours]
    assert not wrong, (len(wrong), wrong[:5])


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.first_run(cases=2)
def test_most_characters(name: str) -> None:
    check(name, soak.characters()[::20] + unicode_texts.listed()[::10])


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", STEPS)
def test_all_characters(name: str) -> None:
    check(name, every())


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [name for name in STEPS if name != "Precompiled"])
def test_sequences_of_marks(name: str) -> None:
    check(name, unicode_texts.sequences(SEQUENCES))


# --- pre-tokenizers ---


def test_cases_are_steps_of_the_owner() -> None:
    """All that cut by a class of characters."""
    kinds = {said["type"] for said in PRETOKENIZERS.values()}
    assert kinds == {"Whitespace", "WhitespaceSplit", "Digits", "Punctuation", "BertPreTokenizer",
                     "UnicodeScripts", "ByteLevel", "Split"}


def regex_split(pattern: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


NAMES = """
L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs C Cn Cc Cf Alphabetic
Uppercase Lowercase White_Space ID_Start Math Emoji Han Latin Arabic Devanagari Telugu Hiragana Common
"""
CLASSES = (
    *(rf"\p{{{name}}}" for name in NAMES.split()),
    r"\P{L}", r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"[^\s\p{L}\p{N}]", "[[:alpha:]]", "[[:punct:]]",
    "[[:upper:]]", "[^[:alnum:]]", r"(?i)[^\p{Lu}]", r"[\p{L}&&[^\p{Latin}]]",
)
"""The classes of patterns."""
PATTERNS = [
    pattern_of(name) for name, split in SPLITS.items()
    if split.is_pattern and not split.plain and split.pattern and name not in ("none", "superwords")
]
"""The patterns of our splits, in the syntax of the owner."""
PRETOKENIZERS: dict[str, dict[str, Any]] = {
    **{kind: {"type": kind} for kind in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer")},
    "UnicodeScripts": {"type": "UnicodeScripts"},
    "Digits": {"type": "Digits", "individual_digits": False},
    "Digits, one by one": {"type": "Digits", "individual_digits": True},
    "Punctuation": {"type": "Punctuation", "behavior": "Isolated"},
    "ByteLevel": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
    **{pattern: regex_split(pattern) for pattern in PATTERNS},
}


def check_parts(said: dict[str, Any], texts: Iterable[str]) -> None:
    theirs = owner(pre_tokenizer=said).pre_tokenizer
    ours: PreTokenizerStep = read_step(Node(said, "a test"), "pretokenizers")
    for text in texts:
        want = [part for part, _ in theirs.pre_tokenize_str(text)]
        assert [part.text for part in ours(AlignedText.typed(text))] == want, ascii(text)


@pytest.mark.parametrize("name", PRETOKENIZERS)
@pytest.mark.first_run(cases=4)
def test_pretokenizers_of_texts(name: str) -> None:
    check_parts(PRETOKENIZERS[name], unicode_texts.texts(200))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", PRETOKENIZERS)
def test_pretokenizers_of_all_characters(name: str) -> None:
    """Each character between letters and digits, and all texts of the other test."""
    check_parts(PRETOKENIZERS[name], (f"{char}a{char}{char} {char}1" for char in every()))
    check_parts(PRETOKENIZERS[name], unicode_texts.texts(SEQUENCES // 10))


@pytest.mark.slow
@pytest.mark.parametrize("pattern", CLASSES)
def test_classes_of_all_characters(pattern: str) -> None:
    check_parts(regex_split(f"(?:{pattern})+"), ["".join(every())])


@pytest.mark.slow
def test_the_recorded_cases_are_the_owners() -> None:
    """Those that `tests/text/test_unicode.py` reads without the library."""
    recorded = oracle.load("unicode.json")["normalizers"]
    for said in oracle.load("unicode.json")["pretokenizers"]:
        cut = owner(pre_tokenizer=said["step"]).pre_tokenizer.pre_tokenize_str
        for text, parts in said["texts"]:
            assert [part for part, _ in cut(text)] == parts
    for name, rows in recorded.items():
        theirs = owner(normalizer=step(name)).normalizer
        assert [theirs.normalize_str(text) for text, _ in rows] == [made for _, made in rows], name
