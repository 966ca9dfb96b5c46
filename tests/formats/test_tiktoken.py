"""Rank files: base64 and a number a line."""

from __future__ import annotations

import base64
import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import published
from tokentui.formats.byte_files import build
from tokentui.formats.files import export, load
from tokentui.formats.source import Node

BYTES = [bytes((value,)) for value in range(256)]


def ranks(*tokens: bytes) -> dict[bytes, int]:
    return {piece: rank for rank, piece in enumerate([*BYTES, *tokens])}


def write(path: Path, table: dict[bytes, int]) -> Path:
    path.write_bytes(b"".join(base64.b64encode(piece) + b" %d\n" % rank for piece, rank in table.items()))
    return path


def built(*tokens: bytes) -> Tokenizer:
    return build(ranks(*tokens), "none", {}, Node(None, "f"))


def test_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "x.tiktoken", ranks(b"he", b" t", b"the"))
    tokenizer = load(path, "gpt2")
    assert tokenizer.recipe.base == "bytes"
    assert tokenizer.encode("he the").pieces == (b"he", b" t", b"he")
    assert tokenizer.decode_bytes(tokenizer.encode(b"\xf0\x9f").ids) == b"\xf0\x9f"
    assert "a rank file stores no special tokens" in tokenizer.notes
    with pytest.raises(
        TokentuiError, match=r"a rank file does not store a pattern \(name it, such as -s split=cl100k\)"
    ):
        load(path)
    with pytest.raises(TokentuiError, match="no value 'gpt9'"):
        load(path, "gpt9")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert load(path, "gpt2").encode("he").ids == (256,)


def test_holes_are_kept(tmp_path: Path) -> None:
    tokenizer = load(write(tmp_path / "f", ranks() | {b"ab": 1000}), "none")
    assert tokenizer.encode("ab").ids == (1000,)
    assert tokenizer.vocab_size == 257
    with pytest.raises(TokentuiError, match="no such id: 999"):
        tokenizer.decode([999])


def test_what_is_spelled_decides_and_not_the_pair() -> None:
    """With the pairs (b, c), (a, b), (ab, c) the rules by pair give a|bc."""
    tokenizer = built(b"bc", b"ab", b"abc")
    assert tokenizer.encode("abc").pieces == (b"abc",)
    assert tokenizer.encode("xabcx").pieces == (b"x", b"abc", b"x")
    assert [tokenizer.vocabulary.pieces[part] for part in tokenizer.vocabulary.merges[2]] == [b"a", b"bc"]


def test_a_token_that_no_two_earlier_ones_spell() -> None:
    tokenizer = built(b"ab", b"xyz", b"yz")
    assert "1 of the tokens are spelled by no two earlier ones" in tokenizer.notes
    assert tokenizer.merges == 2
    assert tokenizer.encode("xyz").pieces == (b"xyz",)
    assert tokenizer.encode("xyz!").pieces == (b"xyz", b"!")  # x and yz spell it once yz is there
    assert tokenizer.at(0).encode("xyz").pieces == (b"x", b"y", b"z")


def test_missing_bytes_are_refused_when_they_come() -> None:
    tokenizer = build({b"a": 0, b"b": 1, b"ab": 2}, "none", {}, Node(None, "f"))
    assert tokenizer.encode("aab").ids == (0, 2)
    with pytest.raises(TokentuiError, match="offset 1: 'c' is not in the vocabulary"):
        tokenizer.encode("ac")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("YWI= 3", "the token is on two lines"),
        ("YWJj 256", "rank 256 is on two lines"),
        ("YWJj -1", "not a token in base64 and its rank"),
        ("YWJj 1.5", "not a token in base64 and its rank"),
        ("YWJj +7", "not a token in base64 and its rank"),
        ("YWJj 1_0", "not a token in base64 and its rank"),
        ("YWJj 99999999999", "not a token in base64 and its rank"),
        ("YWJj " + "9" * 5000, "not a token in base64 and its rank"),
        ("YWJ 300", "not a token in base64 and its rank"),
        ("Y*Jj 300", "not a token in base64 and its rank"),
        ("YWJj", "not a token in base64 and its rank"),
        (" 300", "not a token in base64 and its rank"),
        ("YW Jj 300", "not a token in base64 and its rank"),
    ],
)
def test_damaged_lines(tmp_path: Path, line: str, what: str) -> None:
    path = write(tmp_path / "f", ranks(b"ab"))
    path.write_bytes(path.read_bytes() + line.encode() + b"\n")
    with pytest.raises(TokentuiError) as raised:
        load(path, "gpt2")
    assert str(raised.value).startswith(f"{path}: line 258: {what}")


def merged_by_ranks(table: dict[bytes, int], word: bytes) -> list[bytes]:
    """The plainest form of the rule: what two neighbors spell decides, the lowest rank first."""
    if word in table:
        return [word]
    parts = [word[at : at + 1] for at in range(len(word))]
    while True:
        found = [(table[left + right], at) for at, (left, right) in enumerate(itertools.pairwise(parts))
                 if left + right in table]
        if not found:
            return parts
        at = min(found)[1]
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


@settings(max_examples=100)
@given(
    tokens=st.lists(st.text("abc", min_size=2, max_size=4), max_size=12, unique=True),
    word=st.text("abc", max_size=12),
)
def test_any_ranks(tokens: list[str], word: str) -> None:
    named = [token.encode() for token in tokens]
    tokenizer = built(*named)
    assert list(tokenizer.encode(word).pieces) == (
        merged_by_ranks(ranks(*named), word.encode()) if word else []
    )
    vocabulary = tokenizer.vocabulary
    for made, (left, right) in enumerate(vocabulary.merges, vocabulary.base_size):
        assert vocabulary.pieces[left] + vocabulary.pieces[right] == vocabulary.pieces[made]
        assert max(vocabulary.id_of(left, 0), vocabulary.id_of(right, 0)) < vocabulary.id_of(made, 0)
    for k in range(tokenizer.merges):
        assert b"".join(piece or b"" for piece in tokenizer.at(k).encode(word).pieces) == word.encode()


def of_model(monkeypatch: pytest.MonkeyPatch, encoding: published.PublishedEncoding) -> dict[bytes, int]:
    """Ranks that are taken for those of a model."""
    table = ranks(b"he", b" t", "é".encode())
    marks = published.Fingerprint(encoding, len(table), {b"he": 256})
    monkeypatch.setattr(published, "MODELS", (marks,))
    return table


def test_qwen_s_file_is_known_by_its_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "any", of_model(monkeypatch, published.QWEN))
    tokenizer = load(path)
    assert (tokenizer.recipe.split, tokenizer.recipe.normalize) == ("qwen", ("nfc",))
    assert tokenizer.encode("<|im_start|>12<|extra_204|>", allow_special=True).ids == (151644, 49, 50, 151850)
    assert tokenizer.encode("e\u0301").ids == (258,)
    assert not tokenizer.notes
    assert load(path, "gpt2").recipe.normalize == ()  # the user knows better
    export(tokenizer, tmp_path / "own.json")
    again = load(tmp_path / "own.json")
    assert again.encode("e\u0301 <|im_end|>", allow_special=True).ids == (258, 32, 151645)


def test_kimi_s_reserved_tokens_are_named_by_the_file_next_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "tiktoken.model", of_model(monkeypatch, published.KIMI))
    tokenizer = load(path)
    assert tokenizer.recipe.split == "kimi"
    assert tokenizer.encode("<|reserved_token_163584|>", allow_special=True).ids == (163584,)
    names = {"163584": {"content": "[BOS]"}, "163839": {"content": "[PAD]"}, "7": {"content": "x"}, "y": 1}
    config = tmp_path / "tokenizer_config.json"
    config.write_text(json.dumps({"added_tokens_decoder": names}))
    named = load(path)
    text = "[BOS]he<|reserved_token_163585|>[PAD]"
    assert named.encode(text, allow_special=True).ids == (163584, 256, 163585, 163839)
    assert len(named.vocabulary.specials) == 256
    export(named, tmp_path / "own.json")
    assert load(tmp_path / "own.json").encode(text, allow_special=True).ids == (163584, 256, 163585, 163839)
    twice = {"163584": {"content": "<|reserved_token_163585|>"}}
    config.write_text(json.dumps({"added_tokens_decoder": twice}))
    with pytest.raises(TokentuiError, match="two special tokens are named"):
        load(path)
    config.write_text(json.dumps({"added_tokens_decoder": {"163584": 5}}))
    with pytest.raises(TokentuiError, match=r"tokenizer_config\.json"):
        load(path)


def test_other_ranks_are_those_of_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    table = of_model(monkeypatch, published.KIMI)
    assert published.model_of(table) is published.KIMI
    assert published.model_of(table | {b"new": 900}) is None
    assert published.model_of({**table, b"he": 900}) is None
