"""The ways to write a text of several words, and their shares, against writing them all out."""

from __future__ import annotations

import itertools
from math import exp, fsum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokentui
from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.encode.segment import AppliedMerge
from tokentui.encode.vocabulary import Vocabulary
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus

PLAIN = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")
SCORED = PLAIN.with_axes(objective="unigram", encode="viterbi", unknown="fused")
Way = tuple[str, ...]


def every(word: str, tokens: set[str]) -> list[Way]:
    """All ways to write a word, those with longer first tokens first."""
    if not word:
        return [()]
    ends = (end for end in range(len(word), 0, -1) if word[:end] in tokens)
    return [(word[:end], *rest) for end in ends for rest in every(word[end:], tokens)]


def together(text: str, tokens: set[str]) -> list[Way]:
    """All ways to write a text, those of its words one after another."""
    ways = itertools.product(*(every(word, tokens) for word in text.split()))
    return [tuple(itertools.chain.from_iterable(way)) for way in ways]


def plain(ways: tuple[tuple[tuple[bytes, ...], float | None], ...]) -> list[Way]:
    return [tuple(piece.decode() for piece in way) for way, _ in ways]


@settings(max_examples=80)
@given(pairs=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=7),
       words=st.lists(st.text("ab", min_size=1, max_size=5), max_size=3), limit=st.integers(0, 9))
def test_the_fewest_tokens(pairs: list[tuple[int, int]], words: list[str], limit: int) -> None:
    vocabulary = Vocabulary(PLAIN, [b"a", b"b"])
    for left, right in pairs:
        known = max(left, right) < len(vocabulary.pieces) and (left, right) not in vocabulary.ranks
        if known and vocabulary.join(left, right) not in vocabulary.pieces:
            vocabulary.add(left, right, 1)
    text = " ".join(words)
    tokenizer = tokentui.Tokenizer(vocabulary)
    found = tokenizer.segmentations(text, limit)
    expected = sorted(
        together(text, {piece.decode() for piece in vocabulary.pieces}),
        key=lambda way: (len(way), [-len(piece) for piece in way]),
    )
    assert found.count == len(expected)
    assert plain(found.ways) == expected[:limit]
    assert found.shares == ()
    assert found.chosen == tokenizer.encode(text).pieces


@settings(max_examples=40)
@given(pieces=st.dictionaries(st.text("ab", min_size=2, max_size=3), st.integers(1, 40), max_size=6),
       words=st.lists(st.text("ab", min_size=1, max_size=5), max_size=3), limit=st.integers(0, 9))
def test_the_most_probable(pieces: dict[str, int], words: list[str], limit: int) -> None:
    scores = {"a": -9 / 7, "b": -11 / 7} | {piece: -score / 7 for piece, score in pieces.items()}
    tokenizer = tokentui.Tokenizer(
        Vocabulary(SCORED, [piece.encode() for piece in scores], ("<unk>",), 0, scores.values())
    )
    text = " ".join(words)
    sums = {way: fsum(scores[piece] for piece in way) for way in together(text, set(scores))}
    found = tokenizer.segmentations(text, 10_000)
    assert found.count == len(sums) == len(found.ways)
    assert set(plain(found.ways)) == sums.keys()
    figures = [score for _, score in found.ways if score is not None]
    assert figures == sorted(figures, reverse=True)
    total = fsum(map(exp, sums.values()))
    for way, (_, score), share in zip(plain(found.ways), found.ways, found.shares, strict=True):
        assert score == pytest.approx(sums[way])
        assert share == pytest.approx(exp(sums[way]) / total)
    assert fsum(found.shares) == pytest.approx(1.0)
    few = tokenizer.segmentations(text, limit)
    assert few.count == found.count
    assert few.shares == pytest.approx(found.shares[:limit])
    assert [score for _, score in few.ways] == pytest.approx([score for _, score in found.ways[:limit]])
    if words:
        assert found.ways[0][1] == pytest.approx(sums[tuple(map(bytes.decode, found.chosen))])


def test_equally_probable_ways_are_as_many_as_they_are() -> None:
    """A search that keeps every way that is as good as the best would never end here."""
    tokenizer = tokentui.Tokenizer(Vocabulary(SCORED, [b"a", b"aa"], ("<unk>",), 0, [-1.0, -2.0]))
    found = tokenizer.segmentations("a" * 300, 5)
    before = count = 1
    for _ in range(299):
        before, count = count, before + count
    assert found.count == count
    assert len({way for way, _ in found.ways}) == 5
    assert {score for _, score in found.ways} == {-300.0}


def test_a_word_of_many_units_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = tokentui.Tokenizer(Vocabulary(PLAIN, [b"a"]))
    assert tokenizer.segmentations("a" * 9, 3).count == 1
    monkeypatch.setattr(limits, "_now", limits.now().with_words(["ways-units=8"], "here"))
    with pytest.raises(TokentuiError, match=r"a word of 9 units is too long .* at most 8"):
        tokenizer.segmentations("a" * 9)


def test_a_symbol_is_written_in_one_way() -> None:
    run = tokentui.train(Corpus.from_text("the cat the"), "llama2", symbols=["the"], specials=["<unk>"])
    found = run.segmentations("a the b")
    assert found.ways[0][0] == run.encode("a the b").pieces == found.chosen


def test_a_ladder_has_counts_and_the_word_after_each_merge() -> None:
    run = tokentui.Trainer(Corpus.from_text("hug hug hug pug pun"), PLAIN)
    run.run(merges=3)
    (word,) = run.tokenizer().explain("hug")
    rungs = list(word.ladder)
    assert [pieces for _, _, pieces in rungs] == [(b"h", b"ug"), (b"hug",)]
    for step, count, _ in rungs:
        assert isinstance(step, AppliedMerge)
        merge = run[step.rank + 1]
        assert isinstance(merge, tokentui.Step)
        assert count == merge.count
    assert word.lattice == ()


@settings(max_examples=40)
@given(word=st.text("ab", min_size=1, max_size=7))
def test_the_edges_of_a_lattice_have_the_shares_of_their_ways(word: str) -> None:
    scores = {"a": -1.25, "b": -1.5, "ab": -2.0, "ba": -3.0, "aba": -3.5}
    tokenizer = tokentui.Tokenizer(
        Vocabulary(SCORED, [piece.encode() for piece in scores], ("<unk>",), 0, scores.values())
    )
    (explained,) = tokenizer.explain(word)
    found = tokenizer.segmentations(word, 1000)
    shares: dict[tuple[int, int], float] = {}
    for way, share in zip(plain(found.ways), found.shares, strict=True):
        at = 0
        for piece in way:
            shares[at, at + len(piece)] = shares.get((at, at + len(piece)), 0.0) + share
            at += len(piece)
    assert {(edge.start, edge.end): edge.posterior for edge in explained.lattice} == pytest.approx(shares)
