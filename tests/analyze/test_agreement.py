"""Boundaries, agreement and partings, against their definitions and against encoding a corpus whole."""

from __future__ import annotations

import functools
import itertools
import operator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui.analyze.agreement_map import agreement_report
from tokentui.analyze.compare import (
    PAIR_MEASURES,
    Agreement,
    Overlap,
    agreement,
    compare_on,
    cuts,
    disagreements,
    overlap,
    stretches,
    word_spans,
)
from tokentui.analyze.compare import pieces as tokens_of
from tokentui.axes import preset
from tokentui.core.chart import HeatMap, cell_reading
from tokentui.core.errors import Cancelled
from tokentui.core.jobs import job
from tokentui.encode.encoding import Encoding
from tokentui.text.corpus import Corpus
from tokentui.text.pretokenize import Pretokenizer
from tokentui.tokenizer import Tokenizer, train

DROPPING = {"hf-bpe", "comp336"}
"""They drop letters, as BERT does marks and what is no text: a stretch that ends with one ends without a
token, a parting too."""
LEARNED = Corpus.from_text(
    "the cat sat on the mat; the hat that the cat had, a naïve 😂 thing.\n\n  So the end \n"
)
NAMES = (
    "gpt2", "gpt4", "bert", "llama2", "hf-bpe", "subword-nmt-0.1", "minbpe-basic", "falcon",
    "sentencepiece-bpe", "comp336",
)
TEXT = st.text(st.sampled_from("thecamsoTH ,;.\n\t ïé😂zZ9日\u0301\udc80▁"), max_size=40)


@functools.cache
def trained(name: str) -> Tokenizer:
    """A tokenizer by a preset."""
    recipe = preset(name) if name != "comp336" else preset(name, unknown="drop")
    return train(LEARNED, recipe, merges=25, specials=("[UNK]",) if name == "bert" else ())


def spans(text: str, *offsets: tuple[int, int]) -> Encoding:
    """An encoding of which only the places matter."""
    count = len(offsets)
    return Encoding(text, (0,) * count, ("",) * count, (b"",) * count, offsets, (0,) * count, ())


def pieces(text: str, *tokens: str) -> Encoding:
    """An encoding into these stretches of the text."""
    assert "".join(tokens) == text
    ends = [sum(map(len, tokens[: n + 1])) for n in range(len(tokens))]
    return spans(text, *pairwise([0, *ends]))


def boundaries(encoding: Encoding) -> set[int]:
    """By the definition: a token ends there, and none goes on."""
    return {
        end for _, end in encoding.offsets
        if 0 < end < len(encoding.text) and not any(low < end < high for low, high in encoding.offsets)
    }


def test_two_ways_to_cut_a_word() -> None:
    word = "unhappiness"
    a, b = (cuts(pieces(word, *line.split("|"))) for line in ("un|happ|in|ess", "u|nh|a|pp|in|e|ss"))
    found = agreement(a, b, word_spans(word))
    assert found == Agreement(
        tokens_a=4, tokens_b=7, boundaries_a=3, boundaries_b=6, shared=2, words=1, same_words=0
    )
    values = {"exact": 0.0, "precision": 1 / 3, "recall": 2 / 3, "f1": 4 / 9, "token_ratio": 1.75}
    assert {measure.name: measure.of(found) for measure in PAIR_MEASURES} == pytest.approx(values)
    assert [(one.start, one.end, one.tokens) for one in disagreements((a, b))] == [
        (0, 6, ((0, 2), (0, 4))), (8, 11, ((3, 4), (5, 7)))
    ]


def test_where_a_space_goes_is_no_disagreement() -> None:
    text = "The crowd"
    ways = [cuts(one) for one in (
        pieces(text, "The", " crowd"), spans(text, (0, 3), (4, 9)), spans(text, (0, 0), (0, 3), (3, 9))
    )]
    assert [way.offsets for way in ways] == [(3,), (3,), (3,)]
    assert list(disagreements(ways[:2])) == []
    found = agreement(ways[0], ways[1], word_spans(text))
    assert found.same_words == found.words > 0


def test_tokens_that_share_a_character_have_no_boundary_between_them() -> None:
    tok = train(Corpus.from_text("x"), "gpt2", merges=0)
    encoding = tok.encode("é🤗")
    assert encoding.offsets == ((0, 1), (0, 1), (1, 2), (1, 2), (1, 2), (1, 2))
    way = cuts(encoding)
    assert (way.offsets, way.before) == ((1,), {0: 0, 1: 2, 2: 6})
    whole = cuts(pieces("é🤗", "é", "🤗"))
    found = agreement(way, whole, word_spans("é🤗"))
    assert found.shared == found.boundaries_a == found.boundaries_b
    assert (found.same_words, found.words) == (0, 1)
    assert [one.tokens for one in disagreements((way, whole))] == [((0, 2), (0, 1)), ((2, 6), (1, 2))]


def test_a_token_that_ends_in_the_middle_of_another_makes_no_boundary() -> None:
    assert cuts(spans("abc", (0, 1), (0, 2), (1, 2), (2, 3))).offsets == (2,)
    assert cuts(spans("ab", (1, 2), (0, 1))).offsets == ()


def test_an_end_mark_belongs_to_its_word() -> None:
    way = cuts(spans("a b", (0, 1), (1, 1), (2, 3), (3, 3)))
    assert (way.offsets, way.before[1], way.whole) == ((1,), 2, True)


def test_as_many_tokens_may_still_be_cut_otherwise() -> None:
    halves, marked = (cuts(spans("é", *offsets)) for offsets in (((0, 1), (0, 1)), ((0, 0), (0, 1))))
    assert [one.tokens for one in disagreements((halves, marked))] == [((0, 2), (0, 2))]
    assert agreement(halves, marked, [(0, 1)]).same_words == 0


def test_no_text_and_no_tokens() -> None:
    empty = cuts(spans(""))
    assert (empty.offsets, empty.whole, list(disagreements((empty, empty)))) == ((), False, [])
    found = agreement(empty, empty, [])
    assert [measure.of(found) for measure in PAIR_MEASURES] == [None] * 5
    dropped = cuts(spans("  "))
    assert [one.tokens for one in disagreements((dropped, cuts(spans("  ", (0, 2)))))] == [((0, 0), (0, 1))]


@settings(deadline=None)
@given(st.sampled_from(NAMES), st.sampled_from(NAMES), TEXT)
def test_boundaries_and_partings_are_their_definitions(first: str, second: str, text: str) -> None:
    encodings = [trained(name).encode(text) for name in (first, second)]
    ways = [cuts(encoding) for encoding in encodings]
    for way, encoding in zip(ways, encodings, strict=True):
        assert set(way.offsets) == boundaries(encoding)
        assert list(way.offsets) == sorted(way.offsets)
    found = agreement(ways[0], ways[1], word_spans(text))
    ours, theirs = map(boundaries, encodings)
    assert (found.boundaries_a, found.boundaries_b, found.shared) == (
        len(ours), len(theirs), len(ours & theirs),
    )
    stretch = list(disagreements(ways))
    assert all(one.end <= other.start for one, other in pairwise(stretch))
    for offset in ours ^ theirs:  # each boundary of one alone lies in a parting
        assert any(one.start < offset < one.end for one in stretch)
    for one in stretch:
        for edge in (one.start, one.end):
            assert edge in (0, len(text)) or edge in ours & theirs
    differing = sum(
        (last - low) - (high - start) for (low, last), (start, high) in (one.tokens for one in stretch)
    )
    assert differing == len(encodings[0]) - len(encodings[1])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(NAMES), min_size=2, max_size=3, unique=True), st.lists(TEXT, max_size=3))
def test_a_corpus_in_stretches_is_its_documents_whole(names: list[str], texts: list[str]) -> None:
    used = [trained(name) for name in names]
    for pair in compare_on(list(enumerate(used)), Corpus.from_lines(texts)):
        whole = Agreement()
        partings: dict[tuple[str, tuple[str, ...], tuple[str, ...]], int] = {}
        for text in texts:
            a, b = used[pair.a].encode(text), used[pair.b].encode(text)
            whole = whole.plus(agreement(cuts(a), cuts(b), word_spans(text)))
            for one in disagreements((cuts(a), cuts(b))):
                (low, high), (start, end) = one.tokens
                key = (text[one.start : one.end], a.tokens[low:high], b.tokens[start:end])
                partings[key] = partings.get(key, 0) + 1
        assert pair.agreement == whole
        if {names[pair.a], names[pair.b]} & DROPPING or any(
            set(text) & set("\u0301\udc80") for text in texts
        ):
            continue
        best = sorted(partings.values(), reverse=True)[:10]
        assert [one.count for one in pair.partings] == best
        assert all(partings[one.text, one.a, one.b] == one.count for one in pair.partings)


@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3), TEXT)
def test_stretches_are_the_document(names: list[str], text: str) -> None:
    cutters = [Pretokenizer(trained(name).recipe) for name in names]
    found = list(stretches(Corpus.from_text(text), cutters))
    assert "".join(stretch for stretch, _ in found) == text
    assert [more for _, more in found] == [True] * (len(found) - 1) + [False] * bool(found)


def test_a_counted_corpus_counts() -> None:
    corpus = Corpus.from_counts([("hat", 3), ("cats", 2)])
    a, b = trained("hf-bpe"), train(corpus, "hf-bpe", merges=0)
    (pair,) = compare_on([(0, a), (1, b)], corpus)
    assert pair.agreement.words == 5
    assert pair.agreement.tokens_b == 3 * 3 + 2 * 4
    assert sum(one.count for one in pair.partings) <= 5


def test_the_most_frequent_parting_comes_first() -> None:
    corpus = Corpus.from_text("ab ab ab abc abc x")
    a, b = (train(corpus, "hf-bpe", merges=merges) for merges in (0, 1))
    (pair,) = compare_on([(0, a), (1, b)], corpus)
    assert [(one.text, one.count, one.a, one.b) for one in pair.partings] == [
        (" ab", 4, ("a", "b"), ("ab",)), ("ab", 1, ("a", "b"), ("ab",))
    ]


def test_one_tokenizer_has_no_pair_and_cancelling_stops() -> None:
    assert compare_on([(0, trained("gpt2"))], LEARNED) == ()
    with job(cancel=lambda: True), pytest.raises(Cancelled):
        compare_on([(0, trained("gpt2")), (1, trained("bert"))], LEARNED)
    seen: list[int] = []
    with job(lambda done, total: seen.append(total)):
        compare_on([(0, trained("gpt2")), (1, trained("bert"))], LEARNED)
    assert seen


def test_a_column_that_refuses_the_corpus_is_left_out() -> None:
    refuses = train(Corpus.from_text("a"), "udl-notebook", merges=1)
    columns = [(3, trained("gpt2")), (5, refuses), (9, trained("bert"))]
    assert compare_on(columns, LEARNED) == compare_on([columns[0], columns[2]], LEARNED)
    assert [(one.a, one.b) for one in compare_on(columns, LEARNED)] == [(3, 9)]
    assert compare_on(columns[:2], LEARNED) == ()


def shared(a: Tokenizer, b: Tokenizer, bare: bool = False) -> Overlap:
    """The tokens that two vocabularies share."""
    return overlap(*([piece for _, piece in tokens_of(one, bare)] for one in (a, b)))


def test_vocabularies_share_tokens_by_bytes_or_by_text() -> None:
    corpus = Corpus.from_text("hug hugs hug pugs")
    gpt2, bert, nmt, spm = (
        train(corpus, name, merges=12) for name in ("gpt2", "bert", "subword-nmt", "llama2")
    )
    exact = shared(gpt2, bert)
    assert {b"h", b"hug"} <= set(exact.common)
    assert b" hug" in exact.only_a
    assert b"##g" in exact.only_b
    both = [entry.piece for entry in gpt2.entries()]
    assert sorted([*exact.common, *exact.only_a]) == sorted(set(both))
    for other in (bert, nmt, spm):
        bare = shared(gpt2, other, bare=True)
        assert {b"hug", b"pugs", b"g"} <= set(bare.common)
        assert not any(piece.startswith(b"##") or b"</w>" in piece for piece in bare.only_b)
    assert shared(gpt2, gpt2).jaccard == 1.0


def test_vocabularies_are_searched() -> None:
    corpus = Corpus.from_text("hug hugs hug pugs")
    found = shared(train(corpus, "gpt2", merges=12), train(corpus, "bert", merges=12)).find("ug")
    assert found.only_a
    assert all(b"ug" in piece for part in (found.common, found.only_a, found.only_b) for piece in part)
    assert found.find("\x00z").jaccard is None


def test_the_heat_map_has_the_share_of_words_that_two_split_alike() -> None:
    """The cells are those of encoding word by word, and the words name the two that agree most and least."""
    text = Corpus.from_text("low lower lowest newer newest wide wider " * 3)
    made = {letter: train(text, name, merges=merges) for letter, name, merges in (
        ("A", "gpt2", 4), ("B", "gpt2", 9), ("C", "bert", 2))}
    names = dict(enumerate(made))
    report = agreement_report(names, compare_on([*enumerate(made.values())], text))
    heat = report.sections[0].picture
    assert isinstance(heat, HeatMap)
    inside = {}
    for letter, tokenizer in made.items():
        ends = {token.end for token in tokenizer.encode(text.documents[0]).rows}
        inside[letter] = [ends & {*range(start + 1, end)} for start, end in word_spans(text.documents[0])]
    shares = {(a, b): 100 * sum(map(operator.eq, inside[a], inside[b])) / len(inside[a])
              for a, b in itertools.product(made, made)}
    for row, a in enumerate(made):
        for column, b in enumerate(made):
            value = heat.values[row][column]
            assert (value is None) is (a == b)
            assert value is None or value == pytest.approx(shares[a, b])
    pairs = sorted(itertools.combinations(made, 2), key=lambda pair: -shares[pair])
    (a, b), (c, d) = pairs[0], pairs[-1]
    assert report.summary == f"{a} and {b} agree most, {c} and {d} least"
    assert cell_reading(heat, heat.first) == f"{a} and {b} split {shares[a, b]:.1f} % of the words alike"
    assert cell_reading(heat, 0) == "A, A: –"
