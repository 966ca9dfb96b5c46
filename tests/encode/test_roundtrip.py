"""What is said of a text that does not come back holds against what decoding gives back."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui import learn
from tokentui.encode.explain import Difference, differences
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn import start
from tokentui.preset_table import PRESETS
from tokentui.recipe import Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

TEXTS = st.lists(
    st.sampled_from(
        [
            "the", "old", "Woman", "paused", "!", ",", ".", " ", "  ", "\n", "\t", "é", "E\u0301", "ﬁ", "Ａ",
            "☃", "日本", "▁", "##", "</w>", "12", "\u200b", "\x1b", "\u00a0", "ß", "İ",
        ]
    ),
    max_size=9,
).map("".join)


@lru_cache(maxsize=1)
def trained(name: str) -> Tokenizer:
    trainer = start(
        read("sample:sailor"), PRESETS[name].recipe, Run(specials=("<unk>",) if "unk" not in name else ())
    )
    learn.run(trainer, Stops(merges=30))
    return trainer.tokenizer()


@pytest.mark.parametrize("name", PRESETS)
@settings(max_examples=15)
@given(text=TEXTS)
@pytest.mark.first_run(cases=5)
def test_the_claim_about_decoding_holds_for_every_preset(name: str, text: str) -> None:
    tokenizer = trained(name)
    trip = tokenizer.round_trip(text)
    if trip.back is None:
        assert trip.lost[0].startswith("it cannot be encoded: ")
        return
    assert trip.back == tokenizer.decode(
        number for number in tokenizer.encode(text).ids if number is not None
    )
    assert (trip.lost == ()) == (trip.back == text)
    judge(text, trip.back)
    assert len(trip.lost) == len(differences(text, trip.back))


@given(TEXTS, TEXTS)
def test_any_two_texts(typed: str, back: str) -> None:
    judge(typed, back)


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_two_texts_of_any_characters(typed: str, back: str) -> None:
    judge(typed, back)
    assert (differences(typed, back) == ()) == (typed == back)


def judge(typed: str, back: str) -> None:
    """Hold what is said of two texts against a naive look at them."""
    found = {one.kind: one for one in differences(typed, back)}
    alike = typed, back
    for kind, change in (("forms", forms), ("accents", accents), ("case", str.lower)):
        if kind in found:
            alike = change(alike[0]), change(alike[1])
    ours, theirs = (Counter("".join(text.split())) for text in alike)
    if not {"forms", "accents", "case"} & found.keys():
        # With nothing named that makes characters alike, each is told that has no other on the other side.
        assert counted(found, "missing") == (ours - theirs).total()
        assert counted(found, "new") == (theirs - ours).total()
    for kind, left in (("missing", ours - theirs), ("new", theirs - ours)):
        if kind in found:
            examples = set(found[kind].examples)
            assert examples <= set(left) | ({"…"} if len(set(left)) > 5 else set())
    if not {"missing", "new", "order"} & found.keys():
        assert "".join(alike[0].split()) == "".join(alike[1].split())
    if not found.keys() - {"added", "dropped", "changed"}:
        gaps = list(zip(re.split(r"\S", typed), re.split(r"\S", back), strict=True))
        assert counted(found, "added") == sum(not was and bool(now) for was, now in gaps)
        assert counted(found, "dropped") == sum(bool(was) and not now for was, now in gaps)
        assert counted(found, "changed") == sum(bool(was) and bool(now) and was != now for was, now in gaps)
    more = sum(map(str.isspace, back)) - sum(map(str.isspace, typed))
    if {"more", "fewer"} & found.keys():
        assert counted(found, "more") - counted(found, "fewer") == more
    for kind, change in (("forms", forms), ("accents", accents), ("case", str.lower)):
        if found.keys() == {kind}:
            assert typed != back
            assert "".join(change(typed).split()) == "".join(change(back).split())


def counted(found: dict[str, Difference], kind: str) -> int:
    return found[kind].size if kind in found else 0


def forms(text: str) -> str:
    return "".join(
        unicodedata.normalize("NFKC", run) if not run.isspace() else run for run in re.split(r"(\s+)", text)
    )


def accents(text: str) -> str:
    kept = (char for char in unicodedata.normalize("NFD", text) if unicodedata.category(char) != "Mn")
    return unicodedata.normalize("NFC", "".join(kept))


@pytest.mark.parametrize(
    ("name", "text", "back", "lost"),
    [
        (
            "bert", "the old woman, paused!", "the old woman , paused !",
            ["whitespace is added in 2 places: mark=prefix:##"],
        ),
        (
            "udl-notebook", "a  b\nc ", "a b c",
            [
                "whitespace is dropped in 1 place: mark=end-symbol:</w>",
                "2 gaps come back as one space: mark=end-symbol:</w>",
            ],
        ),
        ("bert", "Paused", "paused", ["upper and lower case are not kept: normalize=bert-uncased"]),
        ("bert", "é", "e", ["accents are dropped: normalize=bert-uncased"]),
        ("t5", "ﬁ", "fi", ["characters come back in another form: normalize=nmt-nfkc"]),
    ],
)
def test_sentences(name: str, text: str, back: str, lost: list[str]) -> None:
    corpus = read("sample:english").documents[0] + " é ﬁ fi paused ! a b c " * 3
    tokenizer = start(Corpus.from_text(corpus), PRESETS[name].recipe).tokenizer()
    trip = tokenizer.round_trip(text)
    assert trip.back == back
    assert list(trip.lost) == list(tokenizer.lost(text)) == lost


def test_missing_characters_are_shown_as_typed() -> None:
    """`bert` strips accents before it finds out that a word is unknown."""
    lost = trained("bert").round_trip("the caf\u00e9 \u65e5\u03ac old").lost
    assert any("(\u65e5 \u03ac)" in sentence for sentence in lost), lost


def test_more_than_five_missing_characters_end_in_an_ellipsis() -> None:
    lost = trained("bert").round_trip("\u65e5\u672c\u8a9e\u6f22\u5b57\u4eee the").lost
    assert any("(\u65e5 \u672c \u8a9e \u6f22 \u5b57 …)" in sentence for sentence in lost), lost
