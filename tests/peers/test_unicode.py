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
from tokentui.formats.huggingface.steps import NormalizerStep, read_step
from tokentui.formats.sentencepiece.charsmap import rules_of
from tokentui.formats.source import Node

pytestmark = pytest.mark.peer
tokenizers = pytest.importorskip("tokenizers")

EVERY = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
SEQUENCES = 100_000
CHUNK = 2_000


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
    check(name, EVERY)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [name for name in STEPS if name != "Precompiled"])
def test_sequences_of_marks(name: str) -> None:
    check(name, unicode_texts.sequences(SEQUENCES))


@pytest.mark.slow
def test_the_recorded_cases_are_the_owners() -> None:
    """Those that `tests/text/test_unicode.py` reads without the library."""
    recorded = oracle.load("unicode.json")["normalizers"]
    for name, rows in recorded.items():
        theirs = owner(normalizer=step(name)).normalizer
        assert [theirs.normalize_str(text) for text, _ in rows] == [made for _, made in rows], name
