"""What is beyond every tokenizer file is refused at once; what is only strange is opened and said."""

from __future__ import annotations

import base64
import bz2
import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest
from protomake import message

from tokentui.core.errors import TokentuiError
from tokentui.core.limits import LIMITS
from tokentui.formats.files import load
from tokentui.formats.merge_files import CLIP_SIZE
from tokentui.formats.sentencepiece.charsmap import LONGEST_RESULT
from tokentui.formats.tokens import LETTERS, ORDER

AT_ONCE = 20.0
"""Seconds of processor time: far more than a refusal takes, and far less than the work that is refused."""


def refusal(path: Path, data: bytes, split: str = "") -> str:
    path.write_bytes(data)
    begin = time.process_time()
    with pytest.raises(TokentuiError) as raised:
        load(path, split)
    assert time.process_time() - begin < AT_ONCE
    assert "\n" not in str(raised.value)
    return str(raised.value).removeprefix(f"{path}: ")


DEEPEST = int(LIMITS["json-depth"].default)


def nested(levels: int) -> bytes:
    value: Any = 1
    for _ in range(levels - 3):  # the document, the step and the value of its own
        value = [value]
    steps = {"type": "Whitespace", "more": value}
    return json.dumps(
        {"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}, "pre_tokenizer": steps}
    ).encode()


def test_depth(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_bytes(nested(DEEPEST))
    assert load(tmp_path / "t.json").encode("a").ids == (0,)
    assert refusal(tmp_path / "t.json", nested(DEEPEST + 2)).startswith(
        "not a tokenizer: the JSON is nested too deeply"
    )


LONG = b"ab" * 20_000


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("r.tiktoken", base64.b64encode(b"a") + b" 0\n" + base64.b64encode(LONG) + b" 1\n"),
        (
            "t.json",
            json.dumps(
                {"model": {"type": "Unigram", "unk_id": 0, "vocab": [["u", 0], [LONG.decode(), -1.0]]}}
            ).encode(),
        ),
        (
            "t.json",
            json.dumps({"model": {"type": "BPE", "merges": [], "vocab": {LONG.decode(): 0}}}).encode(),
        ),
        ("m.model", message([(1, message([(1, b"<unk>"), (3, 2)])), (1, message([(1, LONG), (2, -1.0)]))])),
    ],
)
def test_length_of_tokens(tmp_path: Path, name: str, data: bytes) -> None:
    assert "the tokens are longer than in any real tokenizer" in refusal(
        tmp_path / name, data, "gpt2" if "tik" in name else ""
    )


def test_rules_that_make_too_much(tmp_path: Path) -> None:
    blob = (1024).to_bytes(4, "little") + bytes(1024) + b"x" * (LONGEST_RESULT + 1) + b"\0"
    data = message([(1, message([(1, b"<unk>"), (3, 2)])), (3, message([(2, blob)]))])
    assert "one makes too long a text" in refusal(tmp_path / "m.model", data)


def test_a_file_in_a_file(tmp_path: Path) -> None:
    """A packed file is unpacked, but no bomb is."""
    rows = b"".join(base64.b64encode(bytes((value,))) + b" %d\n" % value for value in range(256))
    for pack in (gzip.compress, bz2.compress):
        (tmp_path / "r").write_bytes(pack(rows))
        assert load(tmp_path / "r", "gpt2").encode("a").ids == (97,)
    assert "unpack it first" in refusal(tmp_path / "r", gzip.compress(gzip.compress(rows)))


def test_an_empty_token_is_left_out(tmp_path: Path) -> None:
    """Whisper's ranks have one."""
    rows = b"".join(base64.b64encode(bytes((value,))) + b" %d\n" % value for value in range(256))
    (tmp_path / "w.tiktoken").write_bytes(rows + b"= 256\n")
    tokenizer = load(tmp_path / "w.tiktoken", "gpt2")
    assert tokenizer.vocab_size == 256
    assert tokenizer.notes[0] == "the token of id 256 is empty: no text becomes it, and it is left out"
    assert "the token is on two lines" in refusal(
        tmp_path / "w.tiktoken", rows + b"= 256\n= 257\n", "gpt2"
    )


def test_clip(tmp_path: Path) -> None:
    """Its file is merges alone, below a header of its own, and most of them do not count."""
    rows = (
        ["t h", "th e</w>", "c a", "ca t</w>", "Ã ©</w>"]
        + [f"a {LETTERS[0x21]}"] * (CLIP_SIZE - 256 - 2 - 5)
        + ["z z"]
    )
    text = '"bpe_simple_vocab_16e6.txt#version: 0.2\n' + "\n".join(rows) + "\n"
    (tmp_path / "clip.txt.gz").write_bytes(gzip.compress(text.encode()))
    tokenizer = load(tmp_path / "clip.txt.gz")
    assert tokenizer.encode("The  CAT's é").tokens == ("the</w>", "cat</w>", "'", "s</w>", "é</w>")
    order = [LETTERS[value] for value in ORDER]
    assert tokenizer.encode("!").ids == (256 + order.index("!"),)
    assert any("1 merges lie beyond" in note for note in tokenizer.notes)
    data = text.replace("c a\n", "c a a\n").encode()
    assert refusal(tmp_path / "clip.txt", data).startswith("line 4: not two tokens")


def test_specials_that_a_tekken_file_does_not_name(tmp_path: Path) -> None:
    rows = [
        {"rank": n, "token_bytes": base64.b64encode(bytes((n,))).decode(), "token_str": None}
        for n in range(256)
    ]
    config = {"pattern": r"\w+|\W", "default_vocab_size": 280, "default_num_special_tokens": 24}
    (tmp_path / "tekken.json").write_text(json.dumps({"config": config, "vocab": rows}))
    tokenizer = load(tmp_path / "tekken.json")
    assert tokenizer.vocabulary.specials[:4] == ("<unk>", "<s>", "</s>", "[INST]")
    assert tokenizer.vocabulary.specials[-1] == "<SPECIAL_23>"
    assert tokenizer.encode("a", special_tokens=True).ids == (1, 24 + 97, 2)
