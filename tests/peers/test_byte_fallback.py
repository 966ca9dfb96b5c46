"""Byte fallback with byte tokens missing: the same ids as Hugging Face's library, which puts what is unknown
behind the bytes."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import load

pytestmark = pytest.mark.peer
tokenizers = pytest.importorskip("tokenizers")

UNKNOWN = "éÿ中🤗"


def document(kind: str, missing: tuple[int, ...], **given: Any) -> str:
    names = [
        "<unk>", *"abc ", "ab", *(f"<0x{value:02X}>" for value in range(256) if value not in missing),
        "c<0xC3>",
    ]
    if kind == "Unigram":
        model: dict[str, Any] = {"unk_id": 0, "vocab": [[name, -float(n)] for n, name in enumerate(names)]}
    else:
        merges = [["a", "b"], ["c", "<0xC3>"]] if 0xC3 not in missing else [["a", "b"]]
        model = {"unk_token": "<unk>", "vocab": {name: n for n, name in enumerate(names)}, "merges": merges}
    return json.dumps(
        {"version": "1.0", "added_tokens": [], "model": {"type": kind, "byte_fallback": True} | model | given}
    )


KINDS: list[tuple[str, dict[str, Any]]] = [
    ("BPE", {}), ("BPE", {"fuse_unk": True}), ("BPE", {"unk_token": None}), ("Unigram", {}),
]
MODELS = [
    (kind, missing, given)
    for missing in [(0xA9,), (0xBF, 0x9F), (0xC3, 0xE4), tuple(range(256)), ()]
    for kind, given in KINDS
]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Tokenizer, Any]]:
    found = []
    for number, (kind, missing, changes) in enumerate(MODELS):
        path: Path = tmp_path_factory.mktemp("fallback") / f"{number}.json"
        path.write_text(document(kind, missing, **changes), "utf-8")
        found.append((load(path), tokenizers.Tokenizer.from_file(str(path))))
    return found


@pytest.mark.slow
@settings(max_examples=75)
@given(st.text("abc " + UNKNOWN + "ã", max_size=9))
def test_the_same_ids(pairs: list[tuple[Tokenizer, Any]], text: str) -> None:
    for (ours, theirs), model in zip(pairs, MODELS, strict=True):
        want = theirs.encode(text).ids
        assert list(ours.encode(text).ids) == want, (model, text)
        assert list(ours.encode_ids(text)) == want, (model, text)
        offsets = ours.encode(text).offsets
        assert len(offsets) == len(want)
        assert all(0 <= start <= end <= len(text) for start, end in offsets), (model, text, offsets)


@given(st.lists(st.sampled_from([0x41, 0x81, 0x96, 0xA9, 0xC3, 0xE2, 0xFF, 260, 262]), max_size=8))
def test_runs_of_byte_tokens_decode_as_there(picked: list[int]) -> None:
    """Each byte token of a run that is not UTF-8 is U+FFFD; a stream says the same."""
    steps = [{"type": "ByteFallback"}, {"type": "Fuse"}]
    names = [*(f"<0x{value:02X}>" for value in range(256)), "a", "b", "c", " ", "<unk>", "d", "é"]
    model = {"type": "BPE", "byte_fallback": True, "unk_token": "<unk>", "merges": [],
             "vocab": {name: number for number, name in enumerate(names)}}
    text = json.dumps({"version": "1.0", "added_tokens": [], "model": model,
                       "decoder": {"type": "Sequence", "decoders": steps}})
    theirs, ours = tokenizers.Tokenizer.from_str(text), _loaded(text)
    wanted = theirs.decode(picked, skip_special_tokens=False)
    assert ours.decode(picked) == wanted
    assert "".join(part.text for part in ours.decode_stream(picked)) == wanted


@functools.cache
def _loaded(text: str) -> Tokenizer:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        path.write_text(text, "utf-8")
        return load(path)
