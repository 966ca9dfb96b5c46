"""The parts of unigram training, each against a plain recount of every segmentation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from math import exp, fsum, inf, lgamma, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui.learn.filters import sentencepiece_piece
from tokentui.learn.unigram import lattice as lattices
from tokentui.learn.unigram.coded import code
from tokentui.learn.unigram.lattice import Lattice, alternatives, build, expectations, survey
from tokentui.learn.unigram.model import digamma, first_model, maximised
from tokentui.learn.unigram.plain import drain
from tokentui.learn.unigram.seeds import Found, find_seeds
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words, count

RECIPE = Recipe(split="metaspace", unit="char", base="frequency", objective="unigram", tie="shortest",
                pieces="sentencepiece", encode="viterbi", unknown="fused")

counted = st.dictionaries(st.text("abc", min_size=1, max_size=9), st.integers(1, 9), min_size=1, max_size=8)


def every(word: str, scores: dict[str, float]) -> Iterator[tuple[tuple[str, ...], float]]:
    """Every segmentation of a word into pieces, with its score."""
    if not word:
        yield (), 0.0
    for end in range(1, len(word) + 1):
        if word[:end] in scores:
            for rest, more in every(word[end:], scores):
                yield (word[:end], *rest), scores[word[:end]] + more


@st.composite
def models(draw: st.DrawFn) -> tuple[dict[str, int], dict[str, float]]:
    """Counted words, and pieces with scores that cover them."""
    words = draw(counted)
    units = sorted({unit for word in words for unit in word})
    more = draw(st.lists(st.text("abc", min_size=2, max_size=5), max_size=10, unique=True))
    return words, {piece: draw(st.floats(-8, -0.5)) for piece in [*units, *more]}


def laid(words: dict[str, int], scores: dict[str, float]) -> tuple[Lattice, list[int], list[float]]:
    names = list(scores)
    lattice, nodes = drain(build(words, {name: n for n, name in enumerate(names)}, max(map(len, names))))
    return lattice, nodes, list(scores.values())


@pytest.mark.parametrize("safe", [640.0, 20.0, 0.0])
def test_sums_over_all_segmentations(safe: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a part of the words, or all, is handled by logarithms."""
    monkeypatch.setattr(lattices, "_SAFE_NATS", safe)

    @given(models())
    @settings(max_examples=60)
    def holds(model: tuple[dict[str, int], dict[str, float]]) -> None:
        words, scores = model
        lattice, _, table = laid(words, scores)
        known = drain(survey(lattice, table, min(table)))
        expected = drain(expectations(lattice, table, known))
        likelihood, counts, best = 0.0, defaultdict[str, float](float), 0.0
        for word, weight in words.items():
            ways = list(every(word, scores))
            total = fsum(exp(score) for _, score in ways)
            likelihood += weight * log(total)
            for way, score in ways:
                for piece in way:
                    counts[piece] += weight * exp(score) / total
            best += weight * max(score for _, score in ways)
        assert known.likelihood == pytest.approx(likelihood)
        assert expected == pytest.approx([counts[name] for name in scores], abs=1e-9)
        assert fsum(uses * score for uses, score in zip(known.uses, table, strict=True)) == pytest.approx(best)

    holds()


@given(models())
@settings(max_examples=80)
def test_other_segmentations(model: tuple[dict[str, int], dict[str, float]]) -> None:
    scores = model[1]
    lattice, nodes, table = laid(dict.fromkeys(scores, 0), scores)
    found = drain(alternatives(lattice, table))
    names = list(scores)
    for n, piece in enumerate(names):
        ways = {way: score for way, score in every(piece, scores) if way != (piece,)}
        assert found.own[nodes[n]] == scores[piece]
        assert found.best[nodes[n]] == pytest.approx(max(ways.values(), default=-inf))
        path = tuple(names[k] for k in found.path(lattice, nodes[n]))
        assert path == () if not ways else ways[path] == pytest.approx(max(ways.values()))


def naive_seeds(lines: list[str]) -> dict[str, int]:
    """Repeated substrings of lines that go on with two bytes at least, by trying all."""
    next_bytes: defaultdict[bytes, Counter[bytes]] = defaultdict(Counter)
    for line in lines:
        text = ("▁" + line.replace(" ", "▁")).encode() + b"\0"
        for start in range(len(text) - 1):
            for end in range(start + 2, len(text)):
                next_bytes[text[start:end]][text[end : end + 1]] += 1
    out = {}
    for piece, following in next_bytes.items():
        try:
            decoded = piece.decode()
        except UnicodeDecodeError:
            continue
        whole = len(decoded) > 1 and not any(0x80 <= byte[0] < 0xC0 for byte in following)
        if whole and len(following) > 1 and following.total() > 1 and sentencepiece_piece(piece):
            out[decoded] = following.total()
    return out


one_line = st.text("abé’ん ", min_size=1, max_size=14).map(lambda text: " ".join(text.split())).filter(bool)


@given(st.lists(one_line, min_size=1, max_size=8))
@settings(max_examples=120)
def test_seeds(lines: list[str]) -> None:
    seeds = drain(find_seeds(drain(code(count(Corpus.from_lines(lines), RECIPE), RECIPE, lines)))).seeds
    names = [exact.decode() for exact in seeds.bytes]
    more = dict(zip(names[seeds.units :], seeds.counts[seeds.units :], strict=True))
    assert more == naive_seeds(lines)
    worth = [times * len(piece) for piece, times in more.items()]
    assert worth == sorted(worth, reverse=True)
    text = "".join("▁" + line.replace(" ", "▁") for line in lines)
    assert dict(zip(names[: seeds.units], seeds.counts, strict=False)) == Counter(text)


@given(counted)
@settings(max_examples=80)
def test_cuts_lose_no_segmentation(words: dict[str, int]) -> None:
    recipe = RECIPE.with_axes(split="whitespace", pieces="any")
    found = seeds_of(words, recipe)
    model = first_model(found.seeds, 16)
    scores = dict(zip(found.pieces, model.table(found.seeds)[0], strict=True))
    lattice, _, table = laid(dict(found.segments), scores)
    whole = sum(n * log(fsum(exp(score) for _, score in every(word, scores))) for word, n in words.items())
    assert drain(survey(lattice, table, min(table))).likelihood == pytest.approx(whole)


def seeds_of(words: dict[str, int], recipe: Recipe) -> Found:
    return drain(find_seeds(drain(code(Words(tuple(words), tuple(words.values())), recipe))))


def test_words_by_themselves_are_seeds_where_spaces_are_dropped() -> None:
    recipe = RECIPE.with_axes(split="whitespace", pieces="any")
    assert set(seeds_of({"hug": 2, "pun": 1}, recipe).seeds.bytes) == {b"h", b"u", b"g", b"p", b"n", b"hug", b"ug"}


@given(st.dictionaries(st.text("abc", min_size=1, max_size=8), st.integers(5, 60), min_size=2, max_size=8))
@settings(max_examples=80)
def test_em_climbs(words: dict[str, int]) -> None:
    """EM never loses: the likelihood climbs by plain shares, its variational bound by the digamma function."""
    found = seeds_of(words, RECIPE.with_axes(split="whitespace", pieces="any"))
    seeds = found.seeds
    model = first_model(seeds, 16)
    names = dict(zip(found.pieces, range(len(found.pieces)), strict=True))
    lattice, _ = drain(build(found.segments, names, 16))
    table, _ = model.table(seeds)
    before = -inf
    for _ in range(4):
        known = drain(survey(lattice, table, min(table)))
        assert known.likelihood >= before - 1e-4
        before = known.likelihood
        expected = drain(expectations(lattice, table, known))
        total = sum(expected)
        table = [log(max(one, 1e-12) / total) for one in expected]
    bound = -inf
    for _ in range(4):
        table, least = model.table(seeds)
        known = drain(survey(lattice, table, least))
        if model.what:
            counts = model.expected
            every_one, mean = sum(counts), digamma(sum(counts))
            spread = lgamma(every_one) + sum(one * (digamma(one) - mean) - lgamma(one) for one in counts)
            assert known.likelihood - spread >= bound - 1e-4
            bound = known.likelihood - spread
        model = drain(maximised(model, seeds, drain(expectations(lattice, table, known))))
        if model.dropped.pieces:
            return


@pytest.mark.parametrize(("x", "value"), [
    (1.0, -0.5772156649015329), (0.5, -1.9635100260214235), (2.0, 0.42278433509846714), (10.0, 2.251752589066721),
    (1e6, 13.815510057964191),
])
def test_digamma(x: float, value: float) -> None:
    assert digamma(x) == pytest.approx(value, abs=1e-12)
