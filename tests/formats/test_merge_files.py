"""vocab.json with merges.txt: GPT-2's, GPT-1's and CLIP's kinds, and what may be wrong with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import load
from tokentui.formats.tokens import LETTERS, ORDER, is_letters, letters, spelled


def gpt2(folder: Path, merges: str = "#version: 0.2\nĠ t\nĠt h\nh e\nĠt he\n", **more: int) -> Path:
    """The bytes 0 to 255, then Ġt, Ġth, he, Ġthe and a special."""
    tokens = [*(LETTERS[value] for value in ORDER), "Ġt", "Ġth", "he", "Ġthe", "<|endoftext|>"]
    (folder / "vocab.json").write_text(
        json.dumps({token: n for n, token in enumerate(tokens)} | more), "utf-8"
    )
    (folder / "merges.txt").write_text(merges, "utf-8")
    return folder / "vocab.json"


def pieces(tokenizer: Tokenizer, text: str) -> list[bytes | None]:
    return list(tokenizer.encode(text).pieces)


def test_the_letters_are_all_bytes() -> None:
    assert [spelled(letter) for letter in LETTERS] == [bytes((value,)) for value in range(256)]
    assert letters(" é\n".encode()) == "ĠÃ©Ċ"
    assert not any(map(is_letters, (" ", "\n", "\xad", "中", "Ġ中")))
    assert spelled("Ġ中") == "Ġ中".encode()
    assert spelled("a b") == b"a b"


def test_gpt2(tmp_path: Path) -> None:
    for path in (gpt2(tmp_path), tmp_path / "merges.txt"):
        tokenizer = load(path)
        assert tokenizer.merges == 4
        assert tokenizer.vocab_size == 261
        assert tokenizer.recipe.split == "gpt2"
        assert pieces(tokenizer, "he the") == [b"he", b" th", b"e"]
        assert tokenizer.encode("<|endoftext|>", allow_special=True).ids == (260,)
        assert len(tokenizer.encode("<|endoftext|>")) > 1
        assert tokenizer.decode(tokenizer.encode("naïve 😂\n").ids) == "naïve 😂\n"
        assert tokenizer.decode_bytes(tokenizer.encode(b"\xff\xfe").ids) == b"\xff\xfe"
    assert tokenizer.notes == ("the files do not say how text is split: read as GPT-2 does",)


def test_the_first_tokens_only(tmp_path: Path) -> None:
    tokenizer = load(gpt2(tmp_path))
    assert [pieces(tokenizer.at(k), " the") for k in range(5)] == [
        [b" ", b"t", b"h", b"e"], [b" t", b"h", b"e"], [b" th", b"e"], [b" th", b"e"], [b" th", b"e"],
    ]
    assert [
        step.rank for word in tokenizer.explain(" the") for step in word.steps if hasattr(step, "rank")
    ] == [0, 1]


def test_a_row_that_looks_like_a_header_is_a_merge(tmp_path: Path) -> None:
    tokens = ["#version", "a", "#versiona", "v", *(LETTERS[value] for value in ORDER)]
    (tmp_path / "vocab.json").write_text(
        json.dumps({token: n for n, token in enumerate(dict.fromkeys(tokens))})
    )
    (tmp_path / "merges.txt").write_text("#version: 0.2\n#version a\n")
    assert load(tmp_path / "vocab.json").merges == 1


def test_without_a_header_the_first_row_counts(tmp_path: Path) -> None:
    assert pieces(load(gpt2(tmp_path, "Ġ t\nĠt h\n")), " the") == [b" th", b"e"]


def test_a_part_that_comes_later(tmp_path: Path) -> None:
    """The first row waits for its right part: the token comes after the part."""
    tokenizer = load(gpt2(tmp_path, "Ġt he\nĠ t\nh e\nĠt h\n"))
    vocabulary = tokenizer.vocabulary
    assert [vocabulary.pieces[vocabulary.base_size + n] for n in range(4)] == [b" t", b"he", b" the", b" th"]
    assert pieces(tokenizer, " the") == [b" the"]
    assert pieces(tokenizer.at(2), " the") == [b" t", b"he"]


def test_a_token_under_two_pairs(tmp_path: Path) -> None:
    tokenizer = load(gpt2(tmp_path, "Ġ t\nĠt h\nh e\nĠt he\nĠth e\n"))
    assert tokenizer.merges == 4
    assert pieces(tokenizer, " the") == [b" the"]
    assert tokenizer.vocab_size == 261


def test_a_token_that_nothing_leads_to(tmp_path: Path) -> None:
    tokenizer = load(gpt2(tmp_path, zebra=999))
    entry = next(entry for entry in tokenizer.entries() if entry.id == 999)
    assert (entry.kind, entry.piece) == ("orphan", b"zebra")
    assert tokenizer.vocab_size == 262
    assert tokenizer.decode([999]) == "zebra"
    with pytest.raises(TokentuiError, match=r"no such id: 998 \(ids are 0 to 999, with holes"):
        tokenizer.decode([998])


def test_end_suffix(tmp_path: Path) -> None:
    tokens = ["<unk>", "a", "b", "a</w>", "b</w>", "ab</w>"]
    (tmp_path / "encoder.json").write_text(json.dumps({token: n for n, token in enumerate(tokens)}))
    (tmp_path / "codes.bpe").write_text("#version: 0.2\na b</w>\n")
    tokenizer = load(tmp_path / "codes.bpe")
    assert tokenizer.recipe.mark == "end-suffix:</w>"
    assert tokenizer.encode("AB a! b").ids == (5, 3, 0, 4)
    assert tokenizer.decode([5, 3, 4]) == "ab a b"


def test_clip(tmp_path: Path) -> None:
    tokens = [
        *LETTERS, *(letter + "</w>" for letter in LETTERS), "hi</w>", "<|startoftext|>", "<|endoftext|>",
    ]
    (tmp_path / "vocab.json").write_text(json.dumps({token: n for n, token in enumerate(tokens)}))
    (tmp_path / "merges.txt").write_text("#version: 0.2\nh i</w>\n")
    tokenizer = load(tmp_path / "vocab.json")
    assert pieces(tokenizer, "Hi é1") == [b"hi</w>", b"\xc3", b"\xa9</w>", b"1</w>"]
    assert tokenizer.decode(tokenizer.encode("Hi é1").ids) == "hi é 1"


@pytest.mark.slow
def test_clip_takes_the_first_48894_merges_of_its_list(tmp_path: Path) -> None:
    """The published file lists more; 512 units, these merges and two specials are CLIP's 49,408 ids."""
    pairs = [f"{left} {right}</w>" for left in LETTERS for right in LETTERS][:48_900]
    path = tmp_path / "bpe_simple_vocab_16e6.txt"
    path.write_text("\n".join(['"bpe_simple_vocab_16e6.txt#version: 0.2', *pairs]) + "\n")
    tokenizer = load(path)
    assert tokenizer.vocab_size == 49_408
    assert pairs[48_893] == "¾ ý</w>"
    assert list(tokenizer.entries())[-3].piece == b"\xbe\xfd</w>"


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("Ġ q", "'Ġq' is not in the vocabulary"),
        ("Ġth", "not two tokens with a space between them"),
        ("Ġ t h", "not two tokens with a space between them"),
        ("Ġ  t", "not two tokens with a space between them"),
        ("\nh e", "not two tokens with a space between them"),
    ],
)
def test_damaged_merges(tmp_path: Path, row: str, what: str) -> None:
    path = gpt2(tmp_path, "#version: 0.2\n" + "Ġ t\n" * 300 + row + "\n")
    with pytest.raises(TokentuiError) as raised:
        load(path)
    assert str(raised.value).startswith(f"{tmp_path}/merges.txt: line 302: {what}")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("number", [-1, 1 << 31, 10**18])
def test_ids_that_are_none(tmp_path: Path, number: int) -> None:
    with pytest.raises(TokentuiError, match=r"vocab.json: the id of 'x' is (-1|2147483648|10{18})"):
        load(gpt2(tmp_path, x=number))


def test_an_id_twice_is_noted(tmp_path: Path) -> None:
    assert "1 token with the id of another one" in load(gpt2(tmp_path, zebra=5)).notes


def test_one_file_alone(tmp_path: Path) -> None:
    path = gpt2(tmp_path)
    (tmp_path / "merges.txt").unlink()
    with pytest.raises(TokentuiError, match="the merges are missing"):
        load(path)
    gpt2(tmp_path)
    path.unlink()
    with pytest.raises(TokentuiError, match="the vocabulary is missing"):
        load(tmp_path / "merges.txt")
