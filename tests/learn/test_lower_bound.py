"""The lower bound on tokens, against brute force and figures by hand. The linear program is in
`tests/analyze/test_bound_program.py`."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from bounds import corpora, rows, searched

import tokentui
from tokentui.analyze.bound import BoundedCorpus
from tokentui.core import engines, native
from tokentui.core.errors import TokentuiError
from tokentui.learn import lower_bound
from tokentui.learn.lower_bound import SCALE, BoundSearch, Candidates, simple_bound
from tokentui.text.corpus import Corpus

C = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
SIX = dict.fromkeys(("abc", "abd", "abe", "bc", "bd", "be"), 1)


def fewest(word: str, tokens: Sequence[str]) -> int:
    """The fewest tokens of a word, by units and some tokens."""
    best = [0]
    for end in range(1, len(word) + 1):
        starts = [end - 1, *(end - len(one) for one in tokens if word[:end].endswith(one))]
        best.append(1 + min(best[start] for start in starts))
    return best[-1]


def optimum(words: dict[str, int], k: int) -> int:
    """The fewest tokens by any k texts of the words, by trying all."""
    ends = range(2, 1 + max(map(len, words)))
    texts = sorted({word[i:j] for word in words for j in ends for i in range(j - 1) if j <= len(word)})
    return min(
        sum(count * fewest(word, chosen) for word, count in words.items())
        for chosen in itertools.combinations(texts, min(k, len(texts)))
    )


@pytest.mark.parametrize(("k", "tokens"), [(1, 49), (2, 34), (3, 20), (4, 16)])
def test_the_words_of_the_paper(k: int, tokens: int) -> None:
    search = searched(C, k)
    assert (search.best.tokens, search.reached) == (tokens, tokens)
    assert simple_bound(Candidates(rows(C)), k) <= tokens


@pytest.mark.parametrize(("k", "bound"), [(1, 12), (2, 11), (3, 9), (4, 8)])
def test_six_words(k: int, bound: int) -> None:
    """The program has 12, 10.5, 9 and 8, and the best vocabularies are as good, rounded up."""
    search = searched(SIX, k)
    assert search.best.tokens == bound == search.reached == optimum(SIX, k)


def test_the_numbers_by_hand() -> None:
    """1, 1/2, 1 on abX and 1, 1 on bX prove 21/2, so that 11 is the best for two tokens."""
    search = BoundSearch(Candidates(rows(SIX)), 2, 15)
    halves = [2, 1, 2] * 3 + [2, 2] * 3
    numbers = [SCALE * half // 2 for half in halves]
    assert search._evaluated(numbers) == 11
    assert Fraction(sum(numbers), SCALE) - 2 * Fraction(3, 2) == Fraction(21, 2)


@pytest.mark.parametrize("case", range(60))
@pytest.mark.first_run(cases=6)
def test_no_numbers_prove_more_than_the_optimum(case: int) -> None:
    """3,000 tries: 50 of numbers at random for each of 60 corpora."""
    words, k = corpora(60)[case]
    best, numbers = optimum(words, k), random.Random(case)
    search = BoundSearch(Candidates(rows(words)), k, 10**9)
    counts = search.candidates.places.counts
    for _ in range(50):
        spread = numbers.choice((0.2, 1.0, 3.0))
        tried = [int(SCALE * count * min(1.0, numbers.uniform(-0.2, spread))) for count in counts]
        assert search._evaluated(tried) <= best
    search.run(400)
    assert search.best.tokens <= best <= search.reached


def test_kernels_find_what_plain_python_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    if not engines.available():
        pytest.skip("no kernels here")
    numbers = random.Random(2)
    texts = ["".join(numbers.choices("abcd", k=numbers.randint(1, 12))) for _ in range(80)]
    words = {text: numbers.randint(1, 99) for text in texts}
    compiled = BoundSearch(Candidates(rows(words)), 20, 10**9)
    monkeypatch.setattr(lower_bound, "_loops", lambda: lower_bound._PLAIN)
    plain = BoundSearch(Candidates(rows(words)), 20, 10**9)
    for search in (compiled, plain):
        search.run(60)
    assert compiled.best == plain.best
    assert compiled.reached == plain.reached
    assert list(compiled.candidates.texts.numbers) == list(plain.candidates.texts.numbers)


def test_plain_python_repeats_what_a_kernel_fails_at(monkeypatch: pytest.MonkeyPatch) -> None:
    if not engines.available():
        pytest.skip("no kernels here")
    corpus = Corpus.from_text("low lower newest widest " * 3, "words")
    tokenizer = tokentui.train(corpus, "gpt2", merges=4)
    expected = BoundedCorpus(tokenizer, corpus).bounds()
    told: list[Warning] = []
    monkeypatch.setattr(engines, "failed", False)
    monkeypatch.setattr(engines, "tell", told.append)
    kernel = lower_bound._kernels().price

    def fails(*_: object) -> None:
        raise native.KernelsUnavailable("another library")

    monkeypatch.setitem(vars(kernel), "_code", fails)
    assert BoundedCorpus(tokenizer, corpus).bounds() == expected
    assert engines.failed
    assert len(told) == 1


def test_words_of_one_unit_and_long_ones_count_once() -> None:
    search = searched({"a": 7, "b" * 300: 2, "ab": 1}, 1)
    assert (search.candidates.single, search.candidates.long) == (7, 2)
    assert search.best.tokens == 10 == search.reached


def test_counts_that_are_too_large_to_be_exact_are_refused() -> None:
    with pytest.raises(TokentuiError, match="too large"):
        Candidates(rows({"ab": 1 << 52, "abc": 1}))


def test_texts_of_repeated_letters() -> None:
    """Words that share hundreds of texts with each other."""
    search = searched({"ab" * size: 2 for size in range(1, 60)}, 10, 20)
    assert search.best.tokens <= search.reached


def test_old_numbers_start_another_search() -> None:
    first = searched(C, 2)
    second = BoundSearch(Candidates(rows(C)), 3, 61, first.best.numbers)
    assert second.best.tokens <= 20
    second.run(400)
    assert second.best.tokens == 20


@pytest.mark.parametrize("words", [{}, {"a": 3}, {"ab": 1}, {"aaaa": 2, "aa": 1}])
def test_small_corpora(words: dict[str, int]) -> None:
    for k in (0, 1, 2, 50):
        search = searched(words, k, 50)
        assert search.best.tokens <= optimum(words, k) if words else search.best.tokens == 0
        assert search.best.tokens <= search.reached


SHAKESPEARE = Path(__file__).parents[2].parent / "shared/data/corpora/tinyshakespeare.txt"


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize(("size", "k", "program"), [
    (10_000, 100, 5458.0), (10_000, 300, 3899.9), (10_000, 1000, 2577.0), (40_000, 300, 17474.5),
    (40_000, 1000, 12959.6),
])  # fmt: skip
def test_it_comes_near_the_published_program(size: int, k: int, program: float) -> None:
    """Within 0.2 % of the linear program on the first kilobytes of a play, and never above."""
    if not SHAKESPEARE.exists():
        pytest.skip("no shared material")
    corpus = Corpus.from_text(SHAKESPEARE.read_text(encoding="utf-8")[:size], "play")
    tokenizer = tokentui.Trainer(corpus, "gpt2").tokenizer()
    bounded = BoundedCorpus(tokenizer, corpus)
    search = BoundSearch(bounded.candidates, k, bounded.candidates.units)
    search.run(400)
    assert 0.998 * program <= search.best.tokens <= program + 1
