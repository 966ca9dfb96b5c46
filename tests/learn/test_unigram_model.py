"""The parts of unigram training, each against a plain recount of every segmentation."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from math import exp, fsum, inf, lgamma, log

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tokentui.core import engines
from tokentui.learn.bases import sentencepiece_piece
from tokentui.learn.kernels.unigram_passes import digamma
from tokentui.learn.kernels.unigram_text import Ground, Strings, floats, ints
from tokentui.learn.unigram import lattice as lattices
from tokentui.learn.unigram.corpus import code, lay_out
from tokentui.learn.unigram.lattice import (
    Lattice,
    Passes,
    alternatives,
    build,
    expectations,
    finished,
    other_path,
    survey,
)
from tokentui.learn.unigram.model import Models
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words, count

PATCHED = [HealthCheck.function_scoped_fixture]  # one patch does for all examples
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
    more = draw(st.lists(st.text("abc", min_size=2, max_size=5), max_size=10, unique=True))
    units = sorted({unit for word in [*words, *more] for unit in word})
    return words, {piece: draw(st.floats(-8, -0.5)) for piece in [*units, *more]}


@pytest.fixture(params=["plain", "compiled"])
def run(request: pytest.FixtureRequest) -> Passes:
    """The passes as they are written, and compiled."""
    if request.param == "plain":
        return lattices.WRITTEN
    request.getfixturevalue("loaded")
    from tokentui.learn.kernels.unigram import PASSES

    return PASSES


def laid(words: dict[str, int], pieces: list[str], run: Passes) -> tuple[Lattice, array[int]]:
    """The lattice of some words and some pieces, every unit of the words among them."""
    text, starts = array("i"), array("i")
    for word in words:
        starts.append(len(text))
        text.extend([*map(ord, word), 0])
    ground = Ground(
        text, ints(256), array("i", map(len, pieces)), ints(len(text)), ints(len(text), -1),
        ints(len(pieces), -1),
    )
    for seed, piece in enumerate(pieces):
        if len(piece) == 1:
            ground.units[ord(piece)] = seed
    for word, start in zip(words, starts, strict=True):
        for at in range(len(word)):
            long = [n for n, piece in enumerate(pieces) if len(piece) > 1 and word.startswith(piece, at)]
            for seed in sorted(long, key=lambda n: len(pieces[n])):
                ground.links[seed] = ground.deepest[start + at]
                ground.deepest[start + at] = seed
                ground.lengths[start + at] |= 1 << len(pieces[seed])
    ends = array("i", [start + len(word) for word, start in zip(words, starts, strict=True)])
    strings = Strings(starts, ends, array("d", words.values()))
    return finished(build(ground, strings, bytearray(b"\1") * len(pieces), run))


def tables(scores: list[float], run: Passes) -> tuple[array[float], array[float]]:
    """The scores of pieces, and their probabilities."""
    found, probabilities = floats(len(scores)), floats(len(scores))
    run.spread(array("i", range(len(scores))), array("d", scores), found, probabilities)
    return found, probabilities


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize("safe", [640.0, 20.0, 0.0])
@settings(max_examples=20, suppress_health_check=PATCHED)
@given(model=models())
def test_sums_over_all_segmentations(
    safe: float, run: Passes, monkeypatch: pytest.MonkeyPatch, model: tuple[dict[str, int], dict[str, float]],
) -> None:
    """Also where a part of the words, or all, is handled by logarithms."""
    monkeypatch.setattr(lattices, "_SAFE_NATS", safe)

    words, scores = model
    lattice, _ = laid(words, list(scores), run)
    table = tables(list(scores.values()), run)
    known = finished(survey(lattice, *table, min(scores.values()), run))
    expected = finished(expectations(lattice, *table, known, run))
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
    assert list(expected) == pytest.approx([counts[name] for name in scores], abs=1e-9)
    assert fsum(
        uses * score for uses, score in zip(known.uses, scores.values(), strict=True)
    ) == pytest.approx(best)


@settings(max_examples=30, suppress_health_check=PATCHED)
@given(model=models())
def test_the_best_other_segmentation_of_each_piece_is_found(
    run: Passes, model: tuple[dict[str, int], dict[str, float]]
) -> None:
    scores = model[1]
    lattice, nodes = laid(dict.fromkeys(scores, 0), list(scores), run)
    found = finished(alternatives(lattice, array("d", scores.values()), run))
    names = list(scores)
    for n, piece in enumerate(names):
        ways = {way: score for way, score in every(piece, scores) if way != (piece,)}
        assert found.own[nodes[n]] == scores[piece]
        assert found.best[nodes[n]] == pytest.approx(max(ways.values(), default=-inf))
        path = tuple(names[k] for k in other_path(lattice, found, nodes[n]))
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


@settings(max_examples=50, suppress_health_check=PATCHED)
@given(lines=st.lists(one_line, min_size=1, max_size=8))
def test_seeds(run: Passes, lines: list[str]) -> None:
    seeds = lay_out(code(count(Corpus.from_lines(lines), RECIPE), RECIPE, lines), 10**6, run)
    names = [exact.decode() for exact in seeds.bytes]
    more = dict(zip(names[seeds.units :], seeds.counts[seeds.units :], strict=True))
    assert more == naive_seeds(lines)
    worth = [times * len(piece) for piece, times in more.items()]
    assert worth == sorted(worth, reverse=True)
    text = "".join("▁" + line.replace(" ", "▁") for line in lines)
    assert dict(zip(names[: seeds.units], seeds.counts, strict=False)) == Counter(text)


@pytest.fixture(params=["plain", "compiled"])
def make(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[dict[str, int]], Models]:
    """Lays out counted words for an engine."""
    if request.param == "compiled":
        request.getfixturevalue("loaded")
    monkeypatch.setenv(engines.VARIABLE, "off" if request.param == "plain" else "on")
    recipe = RECIPE.with_axes(split="whitespace", pieces="any")
    return lambda words: Models(Words(tuple(words), tuple(words.values())), recipe, None, 10**6)


@settings(max_examples=30, suppress_health_check=PATCHED)
@given(words=counted)
def test_cuts_lose_no_segmentation(make: Callable[[dict[str, int]], Models], words: dict[str, int]) -> None:
    models = make(words)
    model = models.first(16)
    table, _ = finished(models.tables(model))
    scores = dict(zip(map(bytes.decode, models.seeds.bytes), table, strict=True))
    whole = sum(
        n * log(fsum(exp(score) for _, score in every(word, scores))) for word, n in words.items()
    )
    assert finished(models.survey(model)).likelihood == pytest.approx(whole)


def test_words_by_themselves_are_seeds_where_spaces_are_dropped(
    make: Callable[[dict[str, int]], Models],
) -> None:
    assert set(make({"hug": 2, "pun": 1}).seeds.bytes) == {b"h", b"u", b"g", b"p", b"n", b"hug", b"ug"}


@settings(max_examples=25, suppress_health_check=PATCHED)
@given(
    words=st.dictionaries(st.text("abc", min_size=1, max_size=8), st.integers(5, 60), min_size=2, max_size=8)
)
def test_em_climbs(make: Callable[[dict[str, int]], Models], run: Passes, words: dict[str, int]) -> None:
    """EM never loses: the likelihood climbs by plain shares, its variational bound by the digamma
    function."""
    models = make(words)
    model = models.first(16)
    table = finished(models.tables(model))
    before = -inf
    for _ in range(4):
        known = finished(survey(models.words, *table, min(table[0]), run))
        assert known.likelihood >= before - 1e-4
        before = known.likelihood
        expected = finished(expectations(models.words, *table, known, run))
        total = sum(expected)
        table = tables([log(max(one, 1e-12) / total) for one in expected], run)
    bound = -inf
    for _ in range(4):
        known = finished(models.survey(model))
        if model.what:
            counts = model.expected
            every_one, mean = sum(counts), digamma(sum(counts))
            spread = lgamma(every_one) + sum(one * (digamma(one) - mean) - lgamma(one) for one in counts)
            assert known.likelihood - spread >= bound - 1e-4
            bound = known.likelihood - spread
        model = finished(models.maximized(model, finished(models.expected(model))))
        if model.dropped.pieces:
            return


@pytest.mark.parametrize(("x", "value"), [
    (
        1.0, -0.5772156649015329
    ), (0.5, -1.9635100260214235), (2.0, 0.42278433509846714), (10.0, 2.251752589066721),
    (1e6, 13.815510057964191),
])
def test_digamma(x: float, value: float) -> None:
    assert digamma(x) == pytest.approx(value, abs=1e-12)
