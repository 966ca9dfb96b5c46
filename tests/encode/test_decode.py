"""Ids back to text, and what the way there and back loses."""

from __future__ import annotations

import pytest

from tokentui.encode import decode, decode_bytes
from tokentui.errors import TokentuiError
from tokentui.recipe import Recipe
from tokentui.tokenizer import Tokenizer
from tokentui.vocabulary import Vocabulary

CHARS = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")
METASPACE = CHARS.with_axes(split="metaspace", unknown="fused")


def test_metaspace_and_the_unknown_token() -> None:
    vocabulary = Vocabulary(METASPACE, ["▁".encode(), b"a", b"b"], ("<unk>", "<s>"))
    vocabulary.add(0, 1, 1)  # ▁a
    made = Tokenizer(vocabulary)
    assert made.decode(made.encode("a a").ids) == "a a"
    assert made.decode((5, 0, 4)) == "a ⁇ b"
    assert made.decode((0, 5)) == " ⁇  a"
    assert made.decode((1, 5, 5)) == "<s>a a"
    assert made.decode((4, 5)) == "b a"


def test_a_word_mark_across_bytes() -> None:
    recipe = METASPACE.with_axes(unit="byte", base="bytes", unknown="never")
    made = Tokenizer(Vocabulary(recipe, [bytes((value,)) for value in range(256)]))
    assert made.decode(made.encode("é a").ids) == "é a"


def test_byte_fallback_runs() -> None:
    vocabulary = Vocabulary(METASPACE.with_axes(unknown="byte-fallback"), ["▁".encode(), b"a"], ("<unk>",))
    made = Tokenizer(vocabulary)
    encoding = made.encode("a😂é")
    assert encoding.tokens == ("▁", "a", "<0xF0>", "<0x9F>", "<0x98>", "<0x82>", "<0xC3>", "<0xA9>")
    assert made.decode(encoding.ids) == "a😂é"
    # One U+FFFD a byte, where Python's own way gives one for the first three bytes of a character.
    broken = encoding.ids[:5] + encoding.ids[6:]
    assert made.decode(broken) == "a\ufffd\ufffd\ufffdé"
    assert made.decode_bytes(broken) == b"a\xf0\x9f\x98\xc3\xa9"


def test_prefix_mark_and_specials() -> None:
    recipe = CHARS.with_axes(mark="prefix:##", encode="longest-match", unknown="whole-word")
    vocabulary = Vocabulary(recipe, [b"a", b"##b"], ("[UNK]", "[CLS]", "[SEP]"))
    made = Tokenizer(vocabulary)
    assert made.decode((1, 3, 4, 3, 0, 2)) == "[CLS] ab a [UNK] [SEP]"
    assert made.decode((4, 3)) == "b a"


@pytest.mark.parametrize("mark", ["end-symbol:</w>", "end-suffix:</w>"])
def test_end_marks(mark: str) -> None:
    base = [b"a", b"</w>", b"<", b"/", b"w", b">"]
    if "suffix" in mark:
        base = [b"a", b"a</w>", b"<", b"/", b"w", b">", b"></w>"]
    vocabulary = Vocabulary(CHARS.with_axes(mark=mark), base)
    made = Tokenizer(vocabulary)
    assert made.decode(made.encode("aa a").ids) == "aa a"
    assert made.decode(()) == ""
    # A text that spells the mark keeps it.
    vocabulary.add(2, 3, 1)
    vocabulary.add(len(base), 4, 1)
    vocabulary.add(len(base) + 1, 5, 1)
    typed = "</w>a </w>a"
    made = Tokenizer(vocabulary)
    assert "</w>" in made.encode(typed).tokens
    assert made.decode(made.encode(typed).ids) == typed


def test_pieces_without_a_mark_are_joined_as_they_are() -> None:
    made = Tokenizer(Vocabulary(CHARS, [b"a", b"b"], first_id=1))
    assert made.decode((1, 2)) == "ab"
    assert decode(made.vocabulary, 0, [2]) == "b"
    assert decode_bytes(made.vocabulary, 0, [2]) == b"b"


@pytest.mark.parametrize("wrong", [0, 3, -1, True, None, "1", 1.0, pytest.param(10**5000, id="huge")])
def test_ids_that_do_not_exist(wrong: int) -> None:
    made = Tokenizer(Vocabulary(CHARS, [b"a", b"b"], first_id=1))
    with pytest.raises(TokentuiError, match=r"^no such id: .* \(ids are 1 to 2\)$"):
        made.decode([1, wrong])


def test_an_empty_vocabulary_has_no_ids() -> None:
    with pytest.raises(TokentuiError, match="the vocabulary is empty"):
        Tokenizer(Vocabulary(CHARS, [])).decode([0])


@pytest.mark.parametrize(
    ("axes", "text", "told"),
    [
        ({}, "ab ab", ["spaces: split=whitespace drops them"]),
        ({}, "abab", []),
        ({"mark": "end-symbol:</w>"}, "ab ab", []),
        ({"mark": "end-symbol:</w>"}, "ab   ab", ["each gap between two words comes back as one space"]),
        ({"normalize": "lowercase"}, "AB", ["upper and lower case: normalize=lowercase"]),
        ({"normalize": "nfkc", "split": "none"}, "ａb", ["what normalising changes: normalize=nfkc"]),
        ({"unknown": "drop"}, "abZ", ["what the vocabulary lacks: 1 token, unknown=drop"]),
        ({"unknown": "per-unit"}, "aZZ", ["what the vocabulary lacks: 2 tokens"]),
        ({"unknown": "error"}, "aZ", ["it cannot be encoded: offset 1: 'Z'"]),
        ({"split": "metaspace"}, " a", ["spaces at the start"]),
        ({"split": "regex:a"}, "aba", ["what lies between the pre-tokens: split=regex:a"]),
    ],
)
def test_what_is_lost(axes: dict[str, str], text: str, told: list[str]) -> None:
    recipe = CHARS.with_axes(**axes)
    base = ["▁".encode(), b" ", b"a", b"b", b"</w>"]
    got = Tokenizer(Vocabulary(recipe, base, ("<unk>",))).lost(text)
    assert len(got) == len(told)
    for sentence, part in zip(got, told, strict=True):
        assert part in sentence


def test_bytes_that_are_not_utf8_are_lost_as_text() -> None:
    recipe = Recipe(split="none", base="bytes")
    made = Tokenizer(Vocabulary(recipe, [bytes((value,)) for value in range(256)]))
    assert made.lost(b"a\xff") == ("bytes that are not UTF-8: they come back as U+FFFD",)
