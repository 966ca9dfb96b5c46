"""Each normalizer over all characters, live: where ours gives another text, one of the two does not know the
character yet."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
import soak

from tokentui.formats.huggingface import AlignedText
from tokentui.formats.huggingface.steps import NormalizerStep, read_step
from tokentui.formats.sentencepiece.charsmap import rules_of
from tokentui.formats.source import Node

pytestmark = pytest.mark.peer
tokenizers = pytest.importorskip("tokenizers")

BAR = "\u10fb"
"""Stands between two characters: no normalizer changes it, and nothing becomes it or combines with it."""
FIRST = [char for char in soak.characters() if char != BAR]
CHUNK = 10_000


def bert(**given: Any) -> dict[str, Any]:
    plain = {
        "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
        "lowercase": True,
    }
    return plain | given


STEPS: dict[str, dict[str, Any]] = {
    **{name: {"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt")},
    "BertNormalizer": bert(), "BertNormalizer, cased": bert(lowercase=False),
    "BertNormalizer, accents alone": bert(lowercase=False, strip_accents=True, clean_text=False),
    "BertNormalizer, no ideographs": bert(handle_chinese_chars=False),
}
NAMES = (*STEPS, "Precompiled")


def step(name: str) -> dict[str, Any]:
    """A step by its name; the rules of the last one take a while."""
    if name in STEPS:
        return STEPS[name]
    rules = base64.b64encode(rules_of(("nmt-nfkc",))[0]).decode()
    return {"type": "Precompiled", "precompiled_charsmap": rules}


def check(name: str, characters: list[str]) -> None:
    said = step(name)
    model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
    theirs = tokenizers.Tokenizer.from_str(
        json.dumps({"version": "1.0", "normalizer": said, "model": model})
    ).normalizer
    ours: NormalizerStep = read_step(Node(said, "a test"), "normalizers")
    different = 0
    for at in range(0, len(characters), CHUNK):
        chunk = characters[at : at + CHUNK]
        want = theirs.normalize_str(BAR.join(chunk)).split(BAR)
        given = ours(AlignedText.typed(BAR.join(chunk))).text.split(BAR)
        assert len(want) == len(given) == len(chunk)
        for character, one, other in zip(chunk, want, given, strict=True):
            if one != other:
                different += 1
                assert character in (one, other), (hex(ord(character)), one, other)
    assert different < 1_000


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.first_run(cases=2)
def test_most_characters(name: str) -> None:
    check(name, FIRST)


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", NAMES)
def test_all_characters(name: str) -> None:
    every = range(0x110000)
    check(name, [chr(code) for code in every if not 0xD800 <= code < 0xE000 and chr(code) != BAR])
