"""Added tokens with all their flags: the same ids as Hugging Face's library, live, and kernels stay on."""

from __future__ import annotations

import json
import random
import string
from pathlib import Path
from typing import Any

import pytest

from tokentui.core import engines
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import load

pytestmark = pytest.mark.peer
tokenizers = pytest.importorskip("tokenizers")

FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
CHARACTERS = (*string.ascii_letters, *string.digits, *" \t\n<>|/[]_-.▁é\u0301\u00a0\u3000中ſ\u200d²")
CONTENTS = (
    "<s>", "<s>>", "</s>", "<", "<<", "a", "ab", "abc", "b", "bc", "aB", "A", " ", "  ", "\n", " \n", " a",
    "a ", " a ", "a b", "<|x|>", "x|>", "[M]", "[m]", "M", "é", "e\u0301", "▁", "▁a", "中", "_", "²",
    "\u0301", "", "\u3000", "ſ", "1",
)
"""Contents with white space, with each other's beginnings, and with what a normalizer changes."""


def replace(pattern: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": pattern}, "content": content}


def bert(**given: Any) -> dict[str, Any]:
    return {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
            "lowercase": True} | given


LOWER = {"type": "Lowercase"}
PREPEND = {"type": "Prepend", "prepend": "▁"}


def row(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": list(steps)}


NORMALIZERS = (
    None, None, None, LOWER, {"type": "NFC"}, {"type": "NFD"}, {"type": "NFKC"}, PREPEND, replace(" ", "▁"),
    replace("a", ""), replace("b", " "), bert(), bert(lowercase=False), bert(strip_accents=False),
    {"type": "Strip", "strip_left": True, "strip_right": True}, row(), row(PREPEND, replace(" ", "▁")),
    row({"type": "NFC"}, LOWER), row(replace(" ", "▁"), LOWER, PREPEND),
)


def metaspace(scheme: str) -> dict[str, Any]:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": True}


PRE_TOKENIZERS = (
    None, None, {"type": "Whitespace"}, {"type": "WhitespaceSplit"}, {"type": "BertPreTokenizer"},
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    {"type": "Split", "pattern": {"Regex": r"\s+|\w+"}, "behavior": "Isolated", "invert": False},
    metaspace("always"), metaspace("first"), metaspace("never"),
)


def document(drawn: random.Random) -> dict[str, Any]:
    """A file with one to five added tokens, some of which are tokens of the model too."""
    names = ["<unk>", *CHARACTERS, *drawn.sample(CONTENTS[:12], 2)]
    vocabulary = {name: number for number, name in enumerate(dict.fromkeys(filter(None, names)))}
    added = [
        {"id": len(vocabulary) + n, "content": content} | {flag: drawn.random() < 0.5 for flag in FLAGS}
        for n, content in enumerate(drawn.choices(CONTENTS, k=drawn.randint(1, 5)))
    ]
    merges = [["a", "b"]] if "ab" in vocabulary else []
    model = {"type": "BPE", "unk_token": "<unk>", "vocab": vocabulary, "merges": merges}
    return {"version": "1.0", "added_tokens": added, "normalizer": drawn.choice(NORMALIZERS),
            "pre_tokenizer": drawn.choice(PRE_TOKENIZERS), "model": model}


def text(drawn: random.Random, contents: list[str]) -> str:
    """Contents of added tokens in either case, with white space and other text around them."""
    pieces = [
        drawn.choice((*contents, *contents, " ", " ", "  ", "\n", "\t", "\u3000", "a", "B", "xy", ".", "²"))
        for _ in range(drawn.randint(1, 9))
    ]
    return "".join(piece.swapcase() if drawn.random() < 0.1 else piece for piece in pieces)


def unclear(document: dict[str, Any], theirs: Any) -> bool:
    """Return whether the library takes one of two tokens by chance, or may never come to an end: if two added
    tokens are the same after normalization, or one of several is empty."""
    normal = theirs.normalizer.normalize_str if document["normalizer"] else str
    contents = {added["content"]: added["normalized"] for added in document["added_tokens"]}
    spelled = [normal(content) for content, normalized in contents.items() if content and normalized]
    return len(set(spelled)) < len(spelled) or ("" in spelled and len(spelled) > 1)


def compare(ours: Tokenizer, theirs: Any, text: str) -> int:
    """Compare the ids of a text, and return how often the library had any."""
    compared = 0
    for special in (True, False):
        theirs.encode_special_tokens = not special
        found = list(ours.encode_ids(text, allow_special=special))
        assert list(ours.encode(text, allow_special=special).ids) == found
        try:
            want = theirs.encode(text, add_special_tokens=False).ids
        except BaseException as error:  # a panic of the library
            if not any(why in str(error) for why in ("bad split", "char boundary")):
                raise
            continue
        assert found == want, (text, special)
        compared += 1
    return compared


def sweep(folder: Path, seed: int, files: int, texts: int) -> int:
    drawn, compared = random.Random(seed), 0
    path = folder / "tokenizer.json"
    for number in range(files):
        made = document(drawn)
        path.write_text(json.dumps(made))
        theirs = tokenizers.Tokenizer.from_str(json.dumps(made))
        contents = [added["content"] for added in made["added_tokens"]]
        ours, samples = load(path), [text(drawn, contents) for _ in range(texts)]
        if unclear(made, theirs):
            continue
        for sample in samples:
            try:
                compared += compare(ours, theirs, sample)
            except Exception as error:
                raise AssertionError(f"file {number} of seed {seed}: {json.dumps(made)}") from error
    assert not engines.failed
    return compared


def test_added_tokens(tmp_path: Path) -> None:
    assert sweep(tmp_path, 0, 25, 6) > 200


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
def test_more_added_tokens(tmp_path: Path, seed: int) -> None:
    assert sweep(tmp_path, seed, 1_000, 4) > 6_000
