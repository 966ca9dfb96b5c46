"""Ids back to text, and what the way there and back loses."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import pytest
from exporting import preset
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui.core.errors import TokentuiError
from tokentui.encode.decode import Decoder
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import NO_ID, Vocabulary
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe
from tokentui.text.split import spaced

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
    # ▁, a special, ▁ and a letter: the first ▁ is the one that encoding puts there, the second is a space.
    assert made.decode((2, 1, 2, 4)) == "<s> b"


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
    assert Decoder(made.vocabulary, 0).to_text([2]) == "b"
    assert Decoder(made.vocabulary, 0).to_bytes([2]) == b"b"


@pytest.mark.parametrize(
    "wrong", [0, 3, -2, True, "1", 1.0, 2.5, [1], b"1", pytest.param(10**5000, id="huge")]
)
def test_ids_that_do_not_exist(wrong: int) -> None:
    made = Tokenizer(Vocabulary(CHARS, [b"a", b"b"], first_id=1))
    with pytest.raises(TokentuiError, match=r"^no such id: .* \(ids are 1 to 2\)$"):
        made.decode([1, wrong])


def test_an_unknown_id_decodes_to_the_replacement_character() -> None:
    """It stands as None in an encoding and as `NO_ID` in a buffer; either way back is the same."""
    made = Tokenizer(Vocabulary(CHARS.with_axes(unknown="per-unit"), [b"a", b"b"], first_id=1))
    encoding, ids = made.encode("azb"), made.encode_ids("azb")
    assert encoding.ids == (1, None, 2)
    assert list(ids) == [1, NO_ID, 2]
    assert made.decode(encoding.ids) == made.decode(ids) == made.decode([1, NO_ID, 2]) == "a\ufffdb"
    assert made.decode_bytes(encoding.ids) == "a\ufffdb".encode()


def test_any_integers_are_ids() -> None:
    np = pytest.importorskip("numpy", exc_type=ImportError)
    made = Tokenizer(Vocabulary(CHARS, [b"a", b"b"], first_id=1))
    for kind in (np.int64, np.uint16, np.int8):
        assert made.decode(np.array([1, 2], kind)) == made.decode(list(np.array([1, 2], kind))) == "ab"
    for more in (
        array("q", [1, 2]), memoryview(array("i", [1, 2])), (one for one in (1, 2)), {1: 0, 2: 0},
        range(1, 3),
    ):
        assert made.decode(more) == "ab"
    for wrong in (np.array([[1, 2]]), np.array([1.0]), np.array([True])):
        with pytest.raises(TokentuiError, match="no such id"):
            made.decode(wrong)


def test_an_empty_vocabulary_has_no_ids() -> None:
    with pytest.raises(TokentuiError, match="the vocabulary is empty"):
        Tokenizer(Vocabulary(CHARS, [])).decode([0])


@pytest.mark.parametrize(
    ("axes", "text", "told"),
    [
        ({}, "ab ab", ["whitespace is dropped in 1 place: split=whitespace drops them"]),
        ({}, "abab", []),
        ({"mark": "end-symbol:</w>"}, "ab ab", []),
        ({"mark": "end-symbol:</w>"}, "ab   ab", ["1 gap comes back as one space: mark=end-symbol"]),
        ({"normalize": "lowercase"}, "AB", ["upper and lower case are not kept: normalize=lowercase"]),
        (
            {"normalize": "nfkc", "split": "none"}, "ａb",
            ["characters come back in another form: normalize=nfkc"],
        ),
        (
            {"unknown": "drop"}, "abZ",
            ["1 character does not come back (Z): not in the vocabulary, unknown=drop"],
        ),
        (
            {"unknown": "per-unit"}, "aZZ",
            ["2 characters do not come back (Z)", "come back that were not typed (< u n k >)"],
        ),
        ({"unknown": "error"}, "aZ", ["it cannot be encoded: offset 1: 'Z'"]),
        ({"split": "metaspace"}, " a", ["whitespace is dropped in 1 place: split=metaspace"]),
        (
            {"split": "regex:a"}, "aba",
            ["1 character does not come back (b): split=regex:a leaves out what lies between"],
        ),
    ],
)
def test_characters_that_decoding_loses_are_listed(axes: dict[str, str], text: str, told: list[str]) -> None:
    recipe = CHARS.with_axes(**axes)
    base = ["▁".encode(), b" ", b"a", b"b", b"</w>"]
    got = Tokenizer(Vocabulary(recipe, base, ("<unk>",))).lost(text)
    assert len(got) == len(told)
    for sentence, part in zip(got, told, strict=True):
        assert part in sentence


def test_bytes_that_are_not_utf8_are_lost_as_text() -> None:
    recipe = Recipe(split="none", base="bytes")
    made = Tokenizer(Vocabulary(recipe, [bytes((value,)) for value in range(256)]))
    assert made.lost(b"a\xff") == (
        "1 character does not come back (\udcff): bytes that are not UTF-8 come back as U+FFFD",
        "1 character comes back that was not typed (\ufffd): bytes that are not UTF-8 come back as U+FFFD",
    )


def token_by_token(tokenizer: Tokenizer, ids: Sequence[int | None]) -> bytes:
    """Return the bytes of ids by the rules, one token at a time."""
    decoder, recipe = tokenizer.decoder, tokenizer.recipe
    written, run, begun = bytearray(), bytearray(), False

    def end_of_run() -> None:
        nonlocal begun
        text = bytes(run)
        if run and recipe.split == "metaspace":
            text = (text if begun or not spaced(recipe) else text.removeprefix(MARK)).replace(MARK, b" ")
        begun |= bool(run)
        written.extend(text)
        run.clear()

    for at, number in enumerate(ids):
        shown = decoder._ids.shown(None if number == NO_ID else number)
        run += b" " * (shown.before and at > 0)
        if shown.plain:
            run += shown.text
        else:
            end_of_run()
            begun |= shown.text.decode() == " ⁇ "
            written += shown.text
        run += b" " * (shown.after and at < len(ids) - 1)
    end_of_run()
    return bytes(written)


MARK = "▁".encode()
BYTES = [bytes((value,)) for value in range(256)]
VOCABULARIES = {
    "spaces": Vocabulary(METASPACE, [MARK, b"a", MARK + b"b"], ("<unk>", "<s>")),
    "no space in front": Vocabulary(
        METASPACE.with_axes(prefix_space=False), [MARK, b"a", MARK + b"b"], ("<unk>", "<s>")
    ),
    "spaces of bytes": Vocabulary(
        METASPACE.with_axes(unit="byte", base="bytes", unknown="never"), [*BYTES[0x80:], b"a"], ("<s>",)
    ),
    "byte fallback": Vocabulary(METASPACE.with_axes(unknown="byte-fallback"), [MARK, b"a"], ("<unk>", "<s>")),
    "spaces and continuations": Vocabulary(
        METASPACE.with_axes(mark="prefix:##"), [MARK, b"a", b"##a", "##▁".encode()], ("<unk>", "<s>")
    ),
    "spaces and ends": Vocabulary(
        METASPACE.with_axes(mark="end-suffix:</w>"), [MARK, b"a", b"a</w>", "▁</w>".encode()],
        ("<unk>", "<s>"),
    ),
    "continuations": Vocabulary(
        CHARS.with_axes(mark="prefix:##", unknown="whole-word"), [b"a", b"##b"], ("[UNK]", "[CLS]")
    ),
    "ends": Vocabulary(CHARS.with_axes(mark="end-symbol:</w>"), [b"a", b"</w>"], ("<unk>", "<s>")),
}


@pytest.mark.parametrize("name", [*VOCABULARIES, *PRESETS])
@given(data=st.data())
@settings(max_examples=30, deadline=None)
@pytest.mark.slow
def test_many_ids_are_decoded_as_one_by_one(name: str, data: st.DataObject) -> None:
    tokenizer = Tokenizer(VOCABULARIES[name]) if name in VOCABULARIES else preset(name)
    known = [entry.id for entry in tokenizer.entries()]
    some = st.sampled_from([*known[:40], *known[-40:], None, NO_ID])
    ids = data.draw(st.lists(some, max_size=12))
    assert tokenizer.decode_bytes(ids) == token_by_token(tokenizer, ids)
    for number in ids:
        if number is not None and number != NO_ID:
            assert tokenizer.decoder.text_of(number) == tokenizer.decode([number])
    with pytest.raises(TokentuiError, match="no such id"):
        tokenizer.decode_bytes([*ids, 10**6])

