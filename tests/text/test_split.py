"""Splits against the libraries whose they are, their places, and where a document may be cut."""

from __future__ import annotations

import functools
import importlib
import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import oracle
import peers
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui.axes import AXES
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import to_bytes
from tokentui.text.split import SPLITS, splitter

PUBLISHED = [name for name, one in SPLITS.items() if not one.text]
OWN = [r"regex:\p{Lu}?\p{Ll}+|\d", r"regex:(a)|(b)+|", "regex:(?s)."]
UNSPACED = ["sample:chinese", "sample:japanese"]
LARGE_UNSPACED = ["hongloumeng_zh.txt", "wagahaiwa_nekodearu.txt"]
CUTTING = [name for name in PUBLISHED if SPLITS[name].cut]
ONE_PATTERN = [
    name for name in CUTTING
    if SPLITS[name].keeps_spaces and SPLITS[name].find_words is None and not SPLITS[name].marks_spaces
]
"""Those that cut by their pattern alone and keep every character, as tiktoken does."""
CUTTING_AT_SPACES = [name for name in CUTTING if len(splitter(name).words("ab cd")) > 1]
CUTTING_UNSPACED = [name for name in CUTTING_AT_SPACES if len(splitter(name).words("中。文")) > 1]
"""Those that need no spaces, of which Chinese and Japanese have too few."""

# Each class that a pattern asks for, what contractions are made of, and what only looks like one of them.
TRICKY = (
    "aAbBsStTmMdDlLvVrReEſ'’  \n\n\r\t\u00a0\u3000\u0085\x1c.,!?/-_|$+▁°€1234９²½"
    "中文〇⺀々。，のーが\u0301\u0903\u200dǅʰ😂\udc82\udcb2"
)
tricky = st.text(st.sampled_from(TRICKY), max_size=14)
texts = st.one_of(tricky, st.text(max_size=14))
# Each library has its own tables of Unicode: they agree on what has been there for long, but for one letter.
old = st.characters(codec="utf-8").filter(
    lambda one: unicodedata.ucd_3_2_0.category(one) != "Cn" and one != "\u0295"
)
old_texts = st.text(st.one_of(st.sampled_from(TRICKY[:-2]), old), max_size=14)


def corpus(name: str) -> str:
    """A built-in corpus, all of them, or a large one."""
    if name == "samples":
        return "\n".join(map(peers.text, peers.CORPORA))
    kind, _, sample = name.partition(":")
    return peers.text(sample) if kind == "sample" else oracle.shared(f"corpora/{name}").read_text("utf-8")


def test_the_table_is_that_of_the_axis() -> None:
    assert list(SPLITS) == list(AXES["split"])


def test_an_unknown_split_is_named() -> None:
    with pytest.raises(TokentuiError, match=r"split: no value 'gpt-2' \(did you mean gpt2\?\)"):
        splitter("gpt-2")


# --- against the libraries ---


def test_recorded_splits() -> None:
    cases = [case for case in oracle.load("peers.json")["cases"] if case["what"] == "split"]
    cases = [case for case in cases if not case["recipe"]["normalize"]]
    assert len(cases) >= 8
    for case in cases:
        split = splitter(case["recipe"]["split"])
        for item in case["items"]:
            assert split.words(item["text"]) == item["pieces"], case["name"]


@pytest.mark.peer
@pytest.mark.parametrize(
    ("name", "encoding"), [("gpt2", "gpt2"), ("cl100k", "cl100k_base"), ("o200k", "o200k_base")]
)
def test_patterns_are_tiktokens(name: str, encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tiktoken")
    published = importlib.import_module("tiktoken_ext.openai_public")
    for loader in ("load_tiktoken_bpe", "data_gym_to_mergeable_bpe_ranks"):
        monkeypatch.setattr(published, loader, lambda *args, **more: {})  # the ranks would come from the net
    assert SPLITS[name].pattern == getattr(published, encoding)()["pat_str"]


@pytest.mark.peer
@pytest.mark.parametrize("name", ONE_PATTERN)
@settings(max_examples=40)
@given(text=old_texts)
@pytest.mark.first_run(cases=1)
def test_words_are_tiktokens(name: str, text: str) -> None:
    """With every word and every two neighbors as tokens, tiktoken gives the words only where it cuts as we
    do."""
    words = [to_bytes(word) for word in splitter(name).words(text)]
    tokens = dict.fromkeys([*(bytes((n,)) for n in range(256)), *words, *map(b"".join, pairwise(words))])
    ranks = {token: n for n, token in enumerate(tokens)}
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.Encoding("x", pat_str=SPLITS[name].pattern, mergeable_ranks=ranks, special_tokens={})
    assert encoding.decode_tokens_bytes(encoding.encode_ordinary(text)) == words


# The patterns as the regular expressions of Hugging Face's library want them written.
ONIGURUMA = {r"{1,3}+": r"{1,3}", r"$": r"\z"}

PLAIN = {
    "whitespace": "WhitespaceSplit", "words": "Whitespace", "bert": "BertPreTokenizer",
    "metaspace": "Metaspace",
}


@functools.cache
def hugging_face(name: str) -> Any:
    library = pytest.importorskip("tokenizers")
    made = library.pre_tokenizers
    if name == "gpt2":
        return made.ByteLevel(add_prefix_space=False)
    if name == "falcon":
        threes = made.Split(library.Regex("[0-9][0-9][0-9]"), "isolated")
        chain = [
            made.Punctuation("contiguous"), made.ByteLevel(add_prefix_space=False), made.Digits(False),
            threes,
        ]
        return made.Sequence(chain)
    if name in PLAIN:
        return getattr(made, PLAIN[name])()
    pattern = SPLITS[name].pattern
    for ours, theirs in ONIGURUMA.items():
        pattern = pattern.replace(ours, theirs)
    return made.Split(library.Regex(pattern), "isolated")


def byte_letters() -> dict[str, int]:
    """The byte of each letter that GPT-2 writes bytes with."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [value for value in range(256) if value not in shown]
    return {chr(value): value for value in shown} | {chr(0x100 + n): value for n, value in enumerate(hidden)}


LETTERS = byte_letters()
ELSEWHERE = {
    "none": "a document is its only word", "space": "subword-nmt's, below", "before": "a naive model, below",
}
"""The splits that Hugging Face's library does not have, and what they are compared with."""
PEERS = [name for name in PUBLISHED if name not in ELSEWHERE]


def their_words(name: str, text: str) -> list[bytes]:
    words = [word for word, _ in hugging_face(name).pre_tokenize_str(text)]
    in_bytes = name in ("gpt2", "falcon")
    return [bytes(LETTERS[one] for one in word) if in_bytes else word.encode() for word in words]


@pytest.mark.peer
@pytest.mark.parametrize("name", PEERS)
@settings(max_examples=40)
@given(text=old_texts)
@pytest.mark.first_run(cases=4)
def test_words_are_hugging_faces(name: str, text: str) -> None:
    assert list(map(to_bytes, splitter(name).words(text))) == their_words(name, text)


@pytest.mark.peer
@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("file", [
    "samples", *oracle.large("UTF-8-demo.txt", "blns.txt"),
    *oracle.large("taylorswift.txt", marks=[pytest.mark.soak]),
])
@pytest.mark.first_run(cases=13)
def test_words_are_hugging_faces_on_files(name: str, file: str) -> None:
    text = corpus(file)
    assert list(map(to_bytes, splitter(name).words(text))) == their_words(name, text)


@pytest.mark.first_run(cases=2)
@pytest.mark.peer
@pytest.mark.parametrize("name", PLAIN)
def test_words_are_hugging_faces_over_all_characters(name: str) -> None:
    # the others hold ideographs only
    planes = [*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE0200)]
    # BERT's classes are Unicode 8's whatever the running Python knows; the others ask `regex`, which knows
    # most.
    asked = [one for one in map(chr, planes) if name == "bert" or unicodedata.category(one) != "Cn"]
    for start in range(0, len(asked), 1000):
        text = "a".join(asked[start : start + 1000])
        assert list(map(to_bytes, splitter(name).words(text))) == their_words(name, text)


@pytest.mark.peer
@settings(max_examples=100, deadline=None)
@given(old_texts)
def test_space_is_subword_nmts(text: str) -> None:
    """On a line: that library strips line ends first."""
    line = re.sub("[\r\n]", "", text)
    learn_bpe = pytest.importorskip("subword_nmt.learn_bpe")
    assert dict.fromkeys(splitter("space").words(line)) == dict.fromkeys(learn_bpe.get_vocabulary([line]))


@given(texts)
def test_before_cuts_before_each_space_or_sign(text: str) -> None:
    want: list[str] = []
    for one in text:
        if not want or regex.match(r"[\s\p{P}]", one):
            want.append("")
        want[-1] += one
    assert splitter("before").words(text) == want


# --- places ---


@pytest.mark.parametrize("name", [*PUBLISHED, *OWN])
@settings(max_examples=30)
@given(text=texts, first=st.booleans())
@pytest.mark.first_run(cases=7)
def test_spans_are_the_words_in_order(name: str, text: str, first: bool) -> None:
    split = splitter(name)
    spans, prepared = split.spans(text, first=first), split.prepare(text, first)
    assert [word for word, _, _ in spans] == split.words(text, first=first)
    assert all(0 <= start < end <= len(prepared) for _, start, end in spans)
    assert [start for _, start, _ in spans] == sorted(start for _, start, _ in spans)
    if name == "falcon":
        assert all(to_bytes(word) in to_bytes(prepared[start:end]) for word, start, end in spans)
    else:
        assert all(prepared[start:end] == word for word, start, end in spans)
        assert all(before[2] <= after[1] for before, after in pairwise(spans))


@pytest.mark.first_run(cases=6)
@pytest.mark.parametrize("name", PUBLISHED)
@settings(max_examples=30)
@given(text=texts)
def test_splits_that_keep_spaces_keep_all_text(name: str, text: str) -> None:
    split = splitter(name)
    words = b"".join(map(to_bytes, split.words(text)))
    assert words == to_bytes(split.prepare(text)) if split.record.keeps_spaces else b" " not in words


@pytest.mark.first_run(cases=9)
@pytest.mark.parametrize("name", [name for name, one in SPLITS.items() if not one.may_leave_text])
@settings(max_examples=30)
@given(text=texts)
def test_a_split_leaves_out_what_its_record_names_alone(name: str, text: str) -> None:
    split = splitter(name)
    prepared, at, left = split.prepare(text), 0, ""
    for _, start, end in [*split.spans(text), ("", len(prepared), len(prepared))]:
        left += prepared[at:start]
        at = max(at, end)
    assert regex.fullmatch(f"(?:{split.record.dropped or '(?!)'})*", left)


def test_falcon_cuts_inside_characters() -> None:
    # U+FF21 is EF BC A1, and ² is C2 B2.
    assert splitter("falcon").words("Ａ 1234!?²") == [
        *"\udcef\udcbc\udca1", " ", "123", "4", "!?", *"\udcc2\udcb2",
    ]
    assert splitter("falcon").spans("éＡ12") == [
        ("é\udcef", 0, 2), ("\udcbc", 1, 2), ("\udca1", 1, 2), ("12", 2, 4),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a  b", ["▁a", "▁", "▁b"]), (" a", ["▁a"]), ("▁a", ["▁a"]), ("", []), (" ", ["▁"]),
        ("a ", ["▁a", "▁"]),
    ],
)
def test_metaspace_sets_one_mark_in_front(text: str, words: list[str]) -> None:
    assert splitter("metaspace").words(text) == words
    assert splitter("metaspace").words(text, first=False) == (
        ["a", *words[1:]] if text.startswith("a") else words
    )


# --- where a document may be cut ---


@pytest.mark.parametrize("name", [*PUBLISHED, *OWN])
@settings(max_examples=60)
@given(text=texts, at=st.integers(-1, 16), first=st.booleans())
@pytest.mark.first_run(cases=3)
def test_a_safe_cut_changes_no_word(name: str, text: str, at: int, first: bool) -> None:
    split = splitter(name)
    cut = split.safe_cut(text, at)
    assert cut == len(text) or cut >= max(at, 1)
    parts = split.words(text[:cut], first=first) + split.words(text[cut:], first=False)
    assert parts == split.words(text, first=first)


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.soak)], ids=["some", "all"])
@pytest.mark.parametrize("name", CUTTING)
@pytest.mark.first_run(cases=3)
def test_a_pair_of_characters_that_may_be_cut_may_be_cut_everywhere(name: str, whole: bool) -> None:
    """All pairs of the tricky characters, between all ways that they may go on or have begun.

    By day a pair is tried with some of these ways, the next one with the others.
    """
    split = splitter(name)
    around = ["", "a", " ", "1", ".", "\n", "'s", "x'l"]
    pairs = [left + right for left in sorted(set(TRICKY)) for right in sorted(set(TRICKY))]
    apart = [pair for pair in pairs if split.safe_cut(pair, 1) == 1]
    assert len(apart) > (20 if name in CUTTING_AT_SPACES else 0)
    heads = {before + one: split.words(before + one) for one in set(TRICKY) for before in around}
    tails = {one + after: split.words(one + after, first=False) for one in set(TRICKY) for after in around}
    for n, pair in enumerate(apart):
        for at, before in enumerate(around):
            for after in around if whole else [around[(at + n) % len(around)]]:
                head, tail = before + pair[0], pair[1] + after
                assert heads[head] + tails[tail] == split.words(head + tail), (head, tail)


@pytest.mark.parametrize(("names", "file"), [
    (CUTTING_AT_SPACES, "sample:english"),
    pytest.param(CUTTING_AT_SPACES, "taylorswift.txt", marks=pytest.mark.shared),
    *((CUTTING_UNSPACED, file) for file in UNSPACED),
    *(pytest.param(CUTTING_UNSPACED, file, marks=pytest.mark.shared) for file in LARGE_UNSPACED),
])
def test_cuts_are_near(names: list[str], file: str) -> None:
    text = corpus(file)
    places = range(0, len(text) - 200, min(5_003, len(text) // 40))
    assert len(places) > 30
    for name in names:
        assert all(splitter(name).safe_cut(text, at) - at < 200 for at in places), name


@pytest.mark.parametrize("name", CUTTING_AT_SPACES)
def test_a_cut_is_found_before_a_space_between_letters(name: str) -> None:
    assert splitter(name).safe_cut("ab cd ef", 4) == 5
    assert splitter(name).safe_cut("ab cd", 5) == 5
    assert splitter(name).safe_cut("", 0) == 0


@pytest.mark.parametrize("name", ["none", OWN[1], r"regex:\b\w+|."])
def test_without_known_cuts_text_is_not_cut(name: str) -> None:
    assert splitter(name).safe_cut("ab cd. ef", 1) == 9


ASCII = st.text(
    st.sampled_from([*map(chr, range(128)), *(6 * "  '''sStTdDmMlLvVrReE\r\n09aZ.!")]), max_size=24
)


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("name", [
    name for name in PUBLISHED if not (SPLITS[name].plain or SPLITS[name].find_words)
])
@given(ASCII)
def test_short_ascii_is_cut_as_by_regex(name: str, text: str) -> None:
    """That library is not asked: it takes longer to import than to encode a line."""
    matches = regex.finditer(SPLITS[name].pattern, text, regex.VERSION0)
    expected = [match.span() for match in matches]
    split = splitter(name)
    assert [(start, end) for _, start, end in split.spans(text)] == expected
    assert split.words(text) == [text[start:end] for start, end in expected]


# --- a pattern of one's own ---


@given(texts)
def test_own_pattern_gives_whole_matches_that_are_not_empty(text: str) -> None:
    assert splitter(r"regex:(\p{L})+|\d*").words(text) == regex.findall(r"\p{L}+|\d+", text)


def test_an_own_pattern_that_takes_too_long_names_the_place(limited: Callable[..., None]) -> None:
    limited(pattern_seconds=0.01)
    text = "\x1b[2J" + "a" * 60 + "!"
    for ask in (splitter(r"regex:(a|aa)+$").words, splitter(r"regex:(a|aa)+$").spans):
        with pytest.raises(TokentuiError) as caught:
            ask(text)
        assert str(caught.value) == (
            r"split=regex: at '\x1b[2Jaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…: the pattern takes too long "
            "(write one that backtracks less; --limit pattern-seconds=… raises the limit)"
        )


# --- bytes ---


@given(st.binary(max_size=20))
def test_bytes_come_back(data: bytes) -> None:
    assert to_bytes(data.decode("utf-8", "surrogateescape")) == data


def test_half_of_a_surrogate_pair_has_three_bytes() -> None:
    assert to_bytes("é\ud83d\udcff") == b"\xc3\xa9\xed\xa0\xbd\xff"
