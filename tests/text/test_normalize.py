"""Normalizers against the libraries whose they are, and what each character came from."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable
from typing import Any

import oracle
import pytest
import soak
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui.axes import AXES
from tokentui.core.errors import TokentuiError
from tokentui.recipe import NEWEST_UNICODE
from tokentui.text.normalize import NORMALIZERS, align, begins_sequence, normalize, normalize_aligned, squeeze
from tokentui.text.unicode import table

LOCAL = tuple(name for name in NORMALIZERS if name != "nmt-nfkc")

SCALARS = soak.characters()
ASSIGNED = [character for character in SCALARS if unicodedata.category(character) != "Cn"]

# Letters, marks, halves of Hangul, wide and half-width forms, controls, spaces, halves of surrogate pairs.
TRICKY = (
    "aAzΣσςİIıſßéÄñǅﬁﷺẛ①½＾～ｶﾊﾞﾟがㄱㅏ가각ᆨᅡᄀ각中文﨑㌀αᾀ"
    "\u0301\u0300\u0323\u0307\u0328\u0345\u0313\u0344\u0338\u093f\u094d\u0488\u3099\u0f73\u09be"
    " \t\n\r\u3000\u00a0\u200b\u200d\u2028\u2581\ufeff\ufffd\u00ad\x00\x01\x1f\x7f\x85<|'.1"
)
tricky = st.text(st.one_of(st.sampled_from(TRICKY), st.characters()), max_size=20)
steps = st.lists(st.sampled_from(list(NORMALIZERS)), max_size=3).map(tuple)


def hex_ranges(text: str) -> set[str]:
    """The characters of ranges in hex, `A7F2-A7F4 AB69`."""
    out: set[str] = set()
    for one in text.split():
        first, _, last = one.partition("-")
        out.update(map(chr, range(int(first, 16), int(last or first, 16) + 1)))
    return out


def differing(
    theirs: Any, ours: tuple[str, ...], characters: Iterable[str], unicode: str = NEWEST_UNICODE
) -> set[str]:
    """The characters that two normalizers do not treat alike, asked for in one go."""
    asked, between = list(characters), "|%"
    theirs_split = theirs(between.join(asked)).split(between)
    ours_split = normalize(between.join(asked), ours, unicode).split(between)
    assert len(theirs_split) == len(ours_split) == len(asked)
    return {one for one, a, b in zip(asked, theirs_split, ours_split, strict=True) if a != b}


def test_the_table_is_that_of_the_axis() -> None:
    assert list(NORMALIZERS) == list(AXES["normalize"])


def test_an_unknown_step_is_named() -> None:
    with pytest.raises(TokentuiError, match=r"normalize: no value 'nfck' \(did you mean nfc\?\)"):
        normalize("x", ("nfck",))


def test_recorded_texts() -> None:
    items = [
        (case["recipe"]["normalize"], item)
        for case in oracle.load("peers.json")["cases"]
        if case["what"] == "split"
        for item in case["items"]
        if "normalized" in item
    ]
    assert len(items) > 200
    for names, item in items:
        assert normalize(item["text"], tuple(names)) == item["normalized"]


# --- against Hugging Face ---

OWNERS = {
    "nfc": ("NFC", {}), "nfd": ("NFD", {}), "nfkc": ("NFKC", {}), "nfkd": ("NFKD", {}),
    "lowercase": ("Lowercase", {}), "strip-accents": ("StripAccents", {}),
    "bert-uncased": ("BertNormalizer", {"lowercase": True}),
    "bert-cased": ("BertNormalizer", {"lowercase": False}),
}
"""The normalizer of Hugging Face's library for each step, with its arguments."""


def owner(step: str) -> Any:
    name, given = OWNERS[step]
    return getattr(pytest.importorskip("tokenizers").normalizers, name)(**given).normalize_str


def test_each_step_has_an_owner() -> None:
    assert {*OWNERS, "nmt-nfkc"} == {*NORMALIZERS}


@pytest.mark.peer
@pytest.mark.parametrize("step", OWNERS)
@pytest.mark.first_run(cases=2)
def test_steps_are_hugging_faces_over_all_characters(step: str) -> None:
    assert differing(owner(step), (step,), SCALARS, "tokenizers") == set()


@pytest.mark.peer
def test_lower_case_is_hugging_faces_at_the_end_of_a_word() -> None:
    assert normalize("ΟΔΟΣ ΑΣ.", ("lowercase",)) == owner("lowercase")("ΟΔΟΣ ΑΣ.") == "οδοσ ασ."


def test_accents_are_stripped_where_they_stand_alone() -> None:
    assert normalize("naïve nai\u0308ve", ("strip-accents",)) == "naïve naive"
    assert normalize("naïve nai\u0308ve", ("nfd", "strip-accents")) == "naive naive"


@pytest.mark.peer
@settings(max_examples=150, deadline=None)
@given(tricky.filter(lambda text: text.isprintable() or len(text) < 15))
def test_bert_is_hugging_faces_on_texts(text: str) -> None:
    text = "".join(one for one in text if not "\ud800" <= one <= "\udfff")
    for step in ("bert-uncased", "bert-cased"):
        assert normalize(text, (step,), "tokenizers") == owner(step)(text)


# --- against sentencepiece ---

# sentencepiece's rules are those of Unicode 17.
LATER_COMPATIBILITY = {
    chr(int(row.split()[0], 16)) for row in table("FORMS").splitlines() if row.split()[1] == "18"
}


@functools.cache
def sentencepiece_normalizer() -> Any:
    module = pytest.importorskip("sentencepiece")
    return module.SentencePieceNormalizer(
        rule_name="nmt_nfkc", add_dummy_prefix=False, escape_whitespaces=False, remove_extra_whitespaces=True
    )


@pytest.mark.peer
def test_nmt_nfkc_is_sentencepieces_over_all_characters() -> None:
    theirs = sentencepiece_normalizer().normalize
    assert differing(theirs, ("nmt-nfkc",), SCALARS) <= LATER_COMPATIBILITY


@pytest.mark.peer
def test_nmt_nfkc_is_less_than_nfkc() -> None:
    """Where sentencepiece's rules and NFKC part: they order no marks and compose nothing with a composed
    letter."""
    theirs = sentencepiece_normalizer().normalize
    for text, made in {
        "a\u0344": "a\u0308\u0301",
        "\u00e4\u0323": "\u00e4\u0323",
        "q\u0307\u0323": "q\u0307\u0323",
        "가\u11a8": "가\u11a8",
        "\uff5e~": "\uff5e~",
    }.items():
        assert normalize(text, ("nmt-nfkc",)) == theirs(text) == made != unicodedata.normalize("NFKC", text)


@pytest.mark.parametrize("composed", ["\u1f82", "\u1fa7", "\u1e69", "\u01d6", "\uac01"])
def test_nmt_nfkc_composes_up_to_four_characters(composed: str) -> None:
    """Such as alpha with breathing, accent and iota below."""
    assert normalize(unicodedata.normalize("NFD", composed), ("nmt-nfkc",)) == composed


COMPOSING = st.sampled_from([one for one in ASSIGNED if not begins_sequence(one)])
COMPOSED = st.sampled_from([one for one in ASSIGNED if len(unicodedata.normalize("NFKD", one)) > 1])


@pytest.mark.peer
@settings(max_examples=200)
@given(st.lists(st.one_of(st.sampled_from(TRICKY), COMPOSING, COMPOSED), max_size=9).map("".join))
def test_nmt_nfkc_is_sentencepieces_on_texts(text: str) -> None:
    if not LATER_COMPATIBILITY.intersection(text):
        assert normalize(text, ("nmt-nfkc",)) == sentencepiece_normalizer().normalize(text)


# --- alignment ---


@settings(max_examples=200, deadline=None)
@given(tricky, steps)
def test_alignment_is_of_the_same_text_and_in_order(text: str, names: tuple[str, ...]) -> None:
    aligned = normalize_aligned(text, names)
    assert aligned.text == normalize(text, names)
    assert len(aligned.starts) == len(aligned.ends) == len(aligned.text)
    starts, ends = list(aligned.starts), list(aligned.ends)
    assert starts == sorted(starts)
    assert ends == sorted(ends)
    assert all(0 <= start < end <= len(text) for start, end in zip(starts, ends, strict=True))


@settings(max_examples=200, deadline=None)
@given(tricky, st.sampled_from(["lowercase", "nfc", "nfd", "nfkc", "nfkd"]))
def test_alignment_covers_the_text_if_nothing_is_dropped(text: str, name: str) -> None:
    aligned = normalize_aligned(text, (name,))
    covered = {
        at for start, end in zip(aligned.starts, aligned.ends, strict=True) for at in range(start, end)
    }
    assert covered == set(range(len(text)))


@settings(max_examples=200, deadline=None)
@given(tricky, st.sampled_from(LOCAL))
def test_alignment_is_true(text: str, name: str) -> None:
    """Where the ranges part, the text can be cut in two and each half normalized by itself."""
    aligned = normalize_aligned(text, (name,))
    for n in range(1, len(aligned.text)):
        if aligned.ends[n - 1] <= aligned.starts[n]:
            cut = aligned.starts[n]
            assert normalize(text[:cut], (name,)) == aligned.text[:n]
            assert normalize(text[cut:], (name,)) == aligned.text[n:]


@pytest.mark.parametrize(
    ("text", "names", "made", "ranges"),
    [
        ("Abc", (), "Abc", [(0, 1), (1, 2), (2, 3)]),
        ("aﬁb", ("nfkc",), "afib", [(0, 1), (1, 2), (1, 2), (2, 3)]),
        ("xe\u0301y", ("nfc",), "xéy", [(0, 1), (1, 3), (3, 4)]),
        ("xé", ("nfd",), "xe\u0301", [(0, 1), (1, 2), (1, 2)]),
        ("Éa", ("nfd", "strip-accents", "lowercase"), "ea", [(0, 1), (1, 2)]),
        ("e\u0301a", ("strip-accents",), "ea", [(0, 2), (2, 3)]),
        ("İx", ("lowercase",), "i\u0307x", [(0, 1), (0, 1), (1, 2)]),
        ("a中", ("bert-cased",), "a 中 ", [(0, 1), (1, 2), (1, 2), (1, 2)]),
        ("a\u200bÉ\t", ("bert-uncased",), "ae ", [(0, 1), (2, 3), (3, 4)]),
        ("  a \t\u3000b\u200b ", ("nmt-nfkc",), "a b", [(2, 3), (3, 6), (6, 7)]),
        ("ㄱㅏx", ("nfkc",), "가x", [(0, 2), (2, 3)]),
        ("ㄱㅏ ", ("nmt-nfkc",), "가", [(0, 2)]),
        (" ", ("nmt-nfkc",), "", []),
    ],
)
def test_alignment_examples(
    text: str, names: tuple[str, ...], made: str, ranges: list[tuple[int, int]]
) -> None:
    aligned = normalize_aligned(text, names)
    assert aligned.text == made
    assert list(zip(aligned.starts, aligned.ends, strict=True)) == ranges


@pytest.mark.parametrize(
    ("stage", "text", "made", "ranges"),
    [
        (
            str.lower, "xΑΣ.", "xας.", [(0, 1), (1, 2), (1, 4), (3, 4)],
        ),  # a sigma that knows where its word ends
        (lambda text: text + "!" if len(text) > 1 else text, "ab", "ab!", [(0, 1), (1, 2), (1, 2)]),
        (lambda text: "" if len(text) > 1 else text, "ab", "", []),
        (lambda text: "xyz" if len(text) > 1 else text, "ab", "xyz", [(0, 2), (0, 2), (0, 2)]),
    ],
)
def test_a_stage_that_looks_far_is_aligned_coarsely(stage: Any, text: str, made: str, ranges: Any) -> None:
    aligned = align(stage, text)
    assert aligned.text == made
    assert list(zip(aligned.starts, aligned.ends, strict=True)) == ranges


@given(st.text(" ab", max_size=12))
def test_squeeze_is_split_and_join(text: str) -> None:
    assert squeeze(text) == " ".join(part for part in text.split(" ") if part)


@pytest.mark.parametrize("name", NORMALIZERS)
def test_halves_of_surrogate_pairs_and_raw_bytes_pass(name: str) -> None:
    text = "a\udcff\ud83d\ude00é\udc80"
    assert [one for one in normalize(text, (name,)) if "\ud800" <= one <= "\udfff"] == list(
        "\udcff\ud83d\ude00\udc80"
    )
    assert normalize_aligned(text, (name,)).text == normalize(text, (name,))
