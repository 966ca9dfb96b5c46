"""From a document to words and their smallest units, and where each stands in the text as typed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracle import cases

from tokentui.axes import AXES
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import to_bytes
from tokentui.recipe import Recipe
from tokentui.text.normalize import NORMALIZERS, normalize
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import SPLITS, splitter

TRICKY = (
    "aAeEsSΣİßéﬁﷺ①ｶﾊﾞㄱㅏ각ᆨ中\u0301\u0323\u0345\u0344\u0f73 \n\t\r\u3000\u200b\u00ad\ufeff▁'.,1２²\u0085"
    "👩\u200d👧\udcff\udc82\ud83d"
)
texts = st.one_of(st.text(st.sampled_from(TRICKY), max_size=14), st.text(st.characters(), max_size=14))
splits = st.sampled_from([*(name for name in AXES["split"] if name != "regex"), r"regex:\p{L}+|[^\p{L}]"])
marks = st.sampled_from(["none", "end-symbol:</w>", "end-suffix:</w>", "prefix:##", "prefix:é"])
steps = st.lists(st.sampled_from(list(AXES["normalize"])), max_size=2)
units = st.sampled_from(["byte", "char", "grapheme"])


def pretokenizer(**axes: Any) -> Pretokenizer:
    """One of a recipe that agrees with itself whatever the unit is."""
    by_bytes = axes.get("unit", "byte") == "byte"
    rest: dict[str, Any] = {} if by_bytes else {"base": "sorted", "unknown": "error"}
    return Pretokenizer(Recipe(**axes, **rest))


made = st.builds(pretokenizer, normalize=steps, split=splits, unit=units, mark=marks)


@pytest.mark.parametrize("case", cases("split"))
def test_recorded_splits(case: dict[str, Any]) -> None:
    pre = pretokenizer(**case["recipe"])
    for item in case["items"]:
        analysis = pre.analyze(item["text"])
        assert pre.words(item["text"]) == [one.text for one in analysis.pretokens] == item["pieces"]
        assert analysis.normalized == item.get("normalized", analysis.normalized)


@pytest.mark.parametrize("case", cases("units"))
def test_recorded_units(case: dict[str, Any]) -> None:
    pre = pretokenizer(**case["recipe"])
    for item in case["items"]:
        assert pre.words(item["text"]) == item["pieces"]
        assert [[unit.hex() for unit in pre.units(word)] for word in item["pieces"]] == item["units"]


# --- units ---


@pytest.mark.parametrize(
    ("unit", "mark", "word", "want"),
    [
        ("byte", "none", "né", [b"n", b"\xc3", b"\xa9"]),
        ("byte", "prefix:##", "é", [b"\xc3", b"##\xa9"]),
        ("char", "none", "e\u0301", [b"e", b"\xcc\x81"]),
        ("grapheme", "none", "e\u0301👩\u200d👧", ["e\u0301".encode(), "👩\u200d👧".encode()]),
        ("char", "end-symbol:</w>", "ab", [b"a", b"b", b"</w>"]),
        ("char", "end-suffix:</w>", "ab", [b"a", b"b</w>"]),
        ("char", "end-suffix:é", "a", ["aé".encode()]),
        ("char", "prefix:#", "abc", [b"a", b"#b", b"#c"]),
        ("grapheme", "prefix:##", "ae\u0301", [b"a", "##e\u0301".encode()]),
        ("byte", "none", "\udcff\ud83d", [b"\xff", b"\xed", b"\xa0", b"\xbd"]),
        ("char", "end-symbol:</w>", "", []),
        ("char", "end-suffix:</w>", "", []),
        ("char", "prefix:#", "", []),
    ],
)
def test_units(unit: str, mark: str, word: str, want: list[bytes]) -> None:
    assert pretokenizer(unit=unit, mark=mark).units(word) == want


@given(texts, units)
def test_units_are_the_word_cut_up(word: str, unit: str) -> None:
    got = pretokenizer(unit=unit).units(word)
    assert b"".join(got) == to_bytes(word)
    naive = {"byte": [bytes((value,)) for value in to_bytes(word)], "char": [to_bytes(one) for one in word]}
    assert got == naive.get(unit, [to_bytes(one) for one in regex.findall(r"\X", word)])


# --- places ---


@settings(max_examples=200)
@given(made, texts)
def test_places_are_in_order_inside_the_text_and_one_a_unit(pre: Pretokenizer, text: str) -> None:
    analysis = pre.analyze(text)
    assert analysis.source == text
    assert [one.text for one in analysis.pretokens] == pre.words(text)
    for one in analysis.pretokens:
        assert 0 <= one.start <= one.end <= len(text)
        assert 0 <= one.prepared_start < one.prepared_end <= len(analysis.prepared)
        assert len(one.unit_spans) == len(pre.units(one.text))
        size = one.end - one.start
        assert all(0 <= start <= end <= size for start, end in one.unit_spans)
        assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(one.unit_spans))
        if pre.recipe.mark_kind == "end-symbol":
            assert one.unit_spans[-1] == (size, size)
    assert all(a.start <= b.start and a.end <= b.end for a, b in pairwise(analysis.pretokens))


@settings(max_examples=150, deadline=None)
@given(texts, splits, units)
def test_without_normalization_each_unit_is_at_its_place(text: str, split: str, unit: str) -> None:
    pre = pretokenizer(split=split, unit=unit)
    for one in pre.analyze(text).pretokens:
        for got, (begin, stop) in zip(pre.units(one.text), one.unit_spans, strict=True):
            start, end = one.start + begin, one.start + stop
            typed = (
                text[start:end] if unit == "byte" else regex.sub("[\ud800-\udfff]", "\ufffd", text[start:end])
            )
            typed = typed.replace(" ", "▁") if split == "metaspace" else typed
            # The ▁ that was set in front came from nothing; a grapheme may begin with it.
            assert got in to_bytes(typed) or got in b"\xe2\x96\x81" + to_bytes(typed)
            assert typed or one.prepared_start == 0


@pytest.mark.parametrize(
    ("axes", "text", "words"),
    [
        # (word, its range, the ranges of its units)
        ({"split": "gpt2"}, "é x", [("é", (0, 1), [(0, 1), (0, 1)]), (" x", (1, 3), [(1, 2), (2, 3)])]),
        ({"split": "metaspace", "unit": "char"}, "a b", [
            ("▁a", (0, 1), [(0, 0), (0, 1)]), ("▁b", (1, 3), [(1, 2), (2, 3)])]),
        ({"split": "metaspace", "unit": "char", "normalize": ["nmt-nfkc"]}, "  ﬁ\t x ", [
            ("▁fi", (2, 3), [(2, 2), (2, 3), (2, 3)]), ("▁x", (3, 6), [(3, 5), (5, 6)])]),
        ({"split": "bert", "unit": "char", "normalize": ["bert-uncased"], "mark": "end-symbol:_"}, "É中", [
            ("e", (0, 1), [(0, 1), (1, 1)]), ("中", (1, 2), [(1, 2), (2, 2)])]),
        ({"split": "none", "unit": "grapheme"}, "e\u0301🇯🇵", [("e\u0301🇯🇵", (0, 4), [(0, 2), (2, 4)])]),
        ({"split": "falcon"}, "²a", [
            ("\udcc2", (0, 1), [(0, 1)]), ("\udcb2", (0, 1), [(0, 1)]), ("a", (1, 2), [(1, 2)])]),
        ({"split": "falcon"}, "aＡb", [  # U+FF21 is EF BC A1
            ("a\udcef", (0, 2), [(0, 1), (1, 2)]),
            ("\udcbc", (1, 2), [(1, 2)]),
            ("\udca1b", (1, 3), [(1, 2), (2, 3)])]),
        ({"split": "none"}, "", []),
    ],
)
def test_places(axes: dict[str, Any], text: str, words: list[Any]) -> None:
    got = [
        (one.text, (one.start, one.end), [(one.start + a, one.start + b) for a, b in one.unit_spans])
        for one in pretokenizer(**axes).analyze(text).pretokens
    ]
    assert got == words


def test_analysis_shows_each_stage() -> None:
    analysis = pretokenizer(normalize=["lowercase"], split="metaspace", unit="char").analyze("A b")
    assert (analysis.source, analysis.normalized, analysis.prepared) == ("A b", "a b", "▁a▁b")
    assert [(one.prepared_start, one.prepared_end) for one in analysis.pretokens] == [(0, 2), (2, 4)]


# --- what is not UTF-8 ---


@given(st.binary(max_size=20))
def test_bytes_come_through_as_they_are(data: bytes) -> None:
    pre = pretokenizer(split="gpt2")
    assert b"".join(unit for one in pre.analyze(data).pretokens for unit in pre.units(one.text)) == data


def test_invalid_utf8_is_replaced_if_units_are_characters() -> None:
    pre = pretokenizer(split="none", unit="char")
    assert pre.words("a\udcff\ud83db") == ["a\ufffd\ufffdb"]
    (one,) = pre.analyze(b"a\xffb").pretokens
    assert (one.text, one.unit_spans) == ("a\ufffdb", ((0, 1), (1, 2), (2, 3)))
    assert pre.analyze(b"a\xffb").source == "a\udcffb"
    assert pretokenizer(split="none").words("a\udcffb") == ["a\udcffb"]


# --- cutting a document ---


@pytest.mark.slow
@settings(max_examples=300)
@given(made, texts, st.integers(0, 14), st.booleans())
def test_a_safe_cut_changes_no_word(pre: Pretokenizer, text: str, at: int, first: bool) -> None:
    cut = pre.safe_cut(text, at)
    assert cut == len(text) or cut >= max(at, 1)
    parts = pre.words(text[:cut], first=first) + (
        pre.words(text[cut:], first=False) if cut < len(text) else []
    )
    assert parts == pre.words(text, first=first)


@pytest.mark.parametrize("name", AXES["normalize"])
def test_normalized_text_is_cut_too(name: str) -> None:
    splits = [split for split, one in SPLITS.items() if one.cut and len(splitter(split).words("Ab Cd")) > 1]
    assert splits
    for split in splits:
        assert pretokenizer(normalize=[name], split=split).safe_cut("Ab Cd ef", 1) == 2, split


@pytest.mark.slow
@settings(max_examples=300)
@given(
    st.sampled_from(["metaspace", "gpt2", "before", "whitespace", "cl100k", "bert"]),
    st.lists(st.sampled_from([*NORMALIZERS]), max_size=2),
    st.text(st.sampled_from("ab A1.\n\t\x01▁´é\u0301ﬀ²Σ가\u1100\u1161 \u200b"), max_size=16),
    st.integers(0, 14),
)
@example("metaspace", ["strip-accents"], "1 ´", 0)
@example("metaspace", ["bert-uncased"], "1 ´", 0)
def test_a_document_that_is_trimmed_is_cut_before_spaces_only(
    split: str, more: list[str], text: str, at: int
) -> None:
    pre = pretokenizer(normalize=list(dict.fromkeys(["nmt-nfkc", *more])), split=split)
    cut = pre.safe_cut(text, at)
    tail = pre.words(text[cut:], first=False) if cut < len(text) else []
    assert pre.words(text[:cut]) + tail == pre.words(text)
    assert cut == len(text) or text[cut] == " "


def test_a_record_says_that_a_step_drops_marks() -> None:
    for name, record in NORMALIZERS.items():
        assert record.drops_marks == (normalize("\u0301", (name,)) == ""), name


def test_a_letter_is_not_separated_from_its_accent() -> None:
    """GPT-2's pattern cuts there; NFC does not."""
    text = "ae\u0301 b"
    assert pretokenizer().safe_cut(text, 2) == 2
    assert pretokenizer(normalize=["nfc"]).safe_cut(text, 2) == len(text)


def test_a_slow_pattern_is_named_from_here_too(limited: Callable[..., None]) -> None:
    limited(pattern_seconds=0.01)
    pre = pretokenizer(split="regex:(a|aa)+$")
    for ask in (pre.words, pre.analyze):
        with pytest.raises(TokentuiError, match="takes too long"):
            ask("a" * 60 + "!")
