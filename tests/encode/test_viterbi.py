"""Encoding by a unigram model, against every segmentation written out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from math import exp, fsum, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui.core.errors import TokentuiError
from tokentui.encode.segment import ENCODING_WAYS
from tokentui.encode.segment.viterbi import Edge, Sampling, Viterbi, as_read, each_as_read
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer

RECIPE = Recipe(split="metaspace", unit="char", base="frequency", objective="unigram", tie="shortest",
                pieces="sentencepiece", encode="viterbi", unknown="fused")
MARKED = RECIPE.with_axes(split="whitespace", mark="prefix:##", pieces="any")


Way = tuple[tuple[bytes, ...], float]


def vocabulary(scores: dict[str, float], recipe: Recipe = RECIPE) -> Vocabulary:
    return Vocabulary(recipe, [piece.encode() for piece in scores], ("<unk>",), 0, scores.values())


def nbest(vocab: Vocabulary, word: str, n: int) -> list[Way]:
    units = Pretokenizer(vocab.recipe).units(word)
    return [
        (tuple(
            b"".join(units[arc.start : arc.end]) if arc.symbol is None else vocab.pieces[arc.symbol]
            for arc in way
        ), score)
        for way, score in Viterbi(vocab).segmentations(units, n).best
    ]


def lattice(vocab: Vocabulary, word: str) -> list[Edge]:
    return Viterbi(vocab).lattice(Pretokenizer(vocab.recipe).units(word))


def sample(
    vocab: Vocabulary, word: str, temperature: float = 1.0, seed: int | None = None
) -> tuple[bytes, ...]:
    drawing = Sampling(vocab, temperature=temperature, seed=seed)
    parts = drawing.segment(Pretokenizer(vocab.recipe).units(word), len(word))
    return tuple(word[part.start : part.end].encode() for part in parts)


def every(units: list[bytes], scores: dict[bytes, float], prefix: bytes = b"") -> Iterator[Way]:
    """Every segmentation of some units with its score, unknown units included."""
    if not units:
        yield (), 0.0
    unknown = min(scores.values(), default=0.0) - 10.0  # as in sentencepiece
    for end in range(1, len(units) + 1):
        piece = units[0] + b"".join(unit.removeprefix(prefix) for unit in units[1:end])
        if piece in scores:
            score = scores[piece]
        elif end == 1:
            score = unknown
        else:
            continue
        for rest, more in every(units[end:], scores, prefix):
            yield (piece, *rest), score + more


pieces = st.dictionaries(st.text("abc", min_size=1, max_size=4), st.floats(-9, -0.1), min_size=1, max_size=12)
words = st.text("abcd", min_size=1, max_size=12)


@given(pieces, words)
@settings(max_examples=75)
def test_best_of_all(scores: dict[str, float], word: str) -> None:
    units = Pretokenizer(RECIPE).units(word)
    ways = list(every(units, {piece.encode(): score for piece, score in scores.items()}))
    segmenter = Viterbi(vocabulary(scores))
    parts = segmenter.segment(units, len(word))
    assert [part.start for part in parts] == [0, *(part.end for part in parts[:-1])]
    assert parts[-1].end == len(units)
    found = tuple(word[part.start : part.end].encode() for part in parts)
    assert dict(ways)[found] == pytest.approx(max(score for _, score in ways), abs=1e-9)
    assert [(step.start, step.end, step.found) for step in segmenter.steps(units, len(word))] == [
        (part.start, part.end, not part.unknown) for part in parts
    ]


@given(pieces, st.text("abcd", min_size=1, max_size=9), st.integers(0, 40))
@settings(max_examples=75)
def test_n_best_of_all(scores: dict[str, float], word: str, n: int) -> None:
    ways = list(
        every(Pretokenizer(RECIPE).units(word), {piece.encode(): score for piece, score in scores.items()})
    )
    best = nbest(vocabulary(scores), word, n)
    assert len(best) == min(n, len(ways))
    ordered = sorted((score for _, score in ways), reverse=True)
    assert [score for _, score in best] == pytest.approx(ordered[:n], abs=1e-9)
    assert len({way for way, _ in best}) == len(best)
    known = dict(ways)
    assert all(known[way] == pytest.approx(score, abs=1e-9) for way, score in best)


@given(pieces, st.text("abcd", min_size=1, max_size=9))
@settings(max_examples=75)
def test_posteriors_of_all(scores: dict[str, float], word: str) -> None:
    ways = list(every(Pretokenizer(RECIPE).units(word),
        {piece.encode(): score for piece, score in scores.items()}))
    total = fsum(exp(score) for _, score in ways)
    expected: defaultdict[tuple[int, int], float] = defaultdict(float)
    for way, score in ways:
        start = 0
        for piece in way:
            expected[start, start + len(piece)] += exp(score) / total
            start += len(piece)
    edges = lattice(vocabulary(scores), word)
    assert [(edge.start, edge.end) for edge in edges] == sorted(expected)
    for edge in edges:
        assert edge.posterior == pytest.approx(expected[edge.start, edge.end], abs=1e-9)
        assert edge.piece == word[edge.start : edge.end].encode()
    best = [edge for edge in edges if edge.best]
    assert "".join(word[edge.start : edge.end] for edge in best) == word


def test_ties_go_to_the_longest_last_piece() -> None:
    scores = {"a": -2.0, "b": -2.0, "ab": -3.0, "ba": -3.0}
    segmenter = Viterbi(vocabulary(scores))
    assert [(p.start, p.end) for p in segmenter.segment([b"a", b"b", b"a"], 3)] == [(0, 1), (1, 3)]
    even = {"a": -2.0, "b": -2.0, "ab": -4.0}
    assert [(p.start, p.end) for p in Viterbi(vocabulary(even)).segment([b"a", b"b"], 2)] == [(0, 2)]


def test_samples_follow_the_model() -> None:
    vocab = vocabulary({"a": log(0.5), "aa": log(0.3), "aaa": log(0.2)})
    ways = {way: exp(score) for way, score in nbest(vocab, "aaa", 9)}
    total = sum(ways.values())
    drawn = Counter(sample(vocab, "aaa", seed=seed) for seed in range(800))
    for way, weight in ways.items():
        assert drawn[way] / 800 == pytest.approx(weight / total, abs=0.04)
    assert sample(vocab, "aaa", 0.01, 5) == nbest(vocab, "aaa", 1)[0][0]
    assert sample(vocab, "aaa", 2.0, 7) == sample(vocab, "aaa", 2.0, 7)
    assert sample(vocab, "") == ()


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan")])
def test_a_temperature_is_above_zero(temperature: float) -> None:
    with pytest.raises(TokentuiError, match="temperature"):
        sample(vocabulary({"a": -1.0}), "a", temperature)


marked = st.sampled_from(["a", "b", "ab", "##a", "##b", "##ab", "##ba", "##bab"])


@given(st.dictionaries(marked, st.floats(-9, -0.1), min_size=1), st.text("ab", min_size=1, max_size=7))
@settings(max_examples=50)
def test_continuations(scores: dict[str, float], word: str) -> None:
    units = Pretokenizer(MARKED).units(word)
    ways = list(every(units, {piece.encode(): score for piece, score in scores.items()}, b"##"))
    (_, best), *_ = nbest(vocabulary(scores, MARKED), word, 1)
    assert best == pytest.approx(max(score for _, score in ways), abs=1e-9)


def test_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENCODING_WAYS, "viterbi", replace(ENCODING_WAYS["viterbi"], segmenter=Viterbi))
    scores = {"▁": -2.0, "▁hug": -3.0, "s": -2.5, "h": -4.0, "u": -4.0, "g": -4.0, "ug": -5.0}
    tokenizer = Tokenizer(vocabulary(scores))
    found = tokenizer.encode("hugs xyz ug")
    assert found.tokens == ("▁hug", "s", "▁", "<unk>", "▁", "ug")
    assert found.ids == (2, 3, 1, 0, 1, 7)
    assert found.offsets == ((0, 3), (3, 4), (4, 5), (5, 8), (8, 9), (9, 11))
    assert tokenizer.decode([2, 3, 1, 7]) == "hugs ug"
    word = tokenizer.explain("hugs")[0]
    assert word.after(len(word.steps)) == word.pieces == ("▁hug".encode(), b"s")


def test_unknown_units_are_encoded_as_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENCODING_WAYS, "viterbi", replace(ENCODING_WAYS["viterbi"], segmenter=Viterbi))
    tokenizer = Tokenizer(vocabulary({"▁": -1.0, "a": -2.0}, RECIPE.with_axes(unknown="byte-fallback")))
    found = tokenizer.encode("aé")
    assert found.tokens == ("▁", "a", "<0xC3>", "<0xA9>")
    assert tokenizer.decode(number for number in found.ids if number is not None) == "aé"


def test_a_long_word_is_no_trouble() -> None:
    word = "ab" * 20_000
    parts = Viterbi(vocabulary({"a": -1.0, "b": -1.0, "ab": -1.5})).segment(
        [c.encode() for c in word], len(word)
    )
    assert len(parts) == 20_000


def test_it_needs_probabilities() -> None:
    with pytest.raises(TokentuiError, match="no probabilities"):
        Viterbi(Vocabulary(RECIPE, [b"a"]))
    with pytest.raises(TokentuiError, match="1 scores for 2 pieces"):
        Vocabulary(RECIPE, [b"a", b"b"], scores=[-1.0])


def test_an_empty_vocabulary_makes_every_unit_unknown() -> None:
    assert [part.unknown for part in Viterbi(vocabulary({})).segment([b"a", b"b"], 2)] == [True, True]
    assert Viterbi(vocabulary({})).segment([], 0) == []


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False), st.floats(-30, 30, width=32), st.integers(-40, 40),
    st.sampled_from([0.0, -0.0, 0.00012345678901234567, -0.001234567890123456, 123456789012345680.0, 1e-9]),
)


@given(numbers=st.lists(NUMBERS, max_size=8))
def test_many_scores_are_read_as_each_is(numbers: list[float]) -> None:
    """Also whole numbers, and those with an exponent or many digits."""
    assert each_as_read(tuple(numbers)) == list(map(as_read, numbers))
