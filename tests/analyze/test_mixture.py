"""The mixture that a tokenizer was trained on, against figures by hand and mixtures of our own."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

import tokentui
from tokentui.analyze.mixture import Mixture, MixtureProgram, MixtureSample, Replayed, mixture, replay
from tokentui.core.errors import TokentuiError
from tokentui.text.corpus import Corpus

pytest.importorskip("scipy")

A = {"hug": 10, "pug": 5, "pun": 12, "bun": 4}
B = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
LETTERS = sorted({letter for word in (*A, *B) for letter in word})


def symbols(words: dict[str, int]) -> Counter[tuple[int, ...]]:
    return Counter({tuple(map(LETTERS.index, word)): times for word, times in words.items()})


def merges_of(text: str) -> list[tuple[int, int]]:
    """The merges of `p+u, pu+n` as symbols."""
    numbers = {letter: number for number, letter in enumerate(LETTERS)}
    out = []
    for row in text.split(", "):
        left, right = row.split("+")
        out.append((numbers[left], numbers[right]))
        numbers[left + right] = len(numbers)
    return out


def interval(text: str, steps: int) -> tuple[float, float]:
    """The least and the greatest share of A in pairs, after some steps."""
    replayed = replay(merges_of(text)[:steps], len(LETTERS), (symbols(A), symbols(B)))
    assert replayed.pairs == (62, 63)
    program = MixtureProgram(replayed, replayed.pairs)
    fit = program.fit()
    assert fit.converged
    assert fit.slack == pytest.approx(0, abs=1e-9)
    _, ((low, high), _) = program.intervals((1, 1), fit)
    return low, high


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize(("merges", "steps", "low", "high"), [
    ("p+u, pu+n, h+u, hu+g, e+s, es+t", 1, .34254, 1), ("p+u, pu+n, h+u, hu+g, e+s, es+t", 2, .4247, 1),
    ("p+u, pu+n, h+u, hu+g, e+s, es+t", 4, .4697, 1), ("p+u, pu+n, h+u, hu+g, e+s, es+t", 6, .4697, .6392),
    ("p+u, pu+n, h+u, hu+g, pu+g, e+s", 6, .6392, .6889), ("e+s, es+t, p+u, l+o, lo+w, e+w", 1, 0, .3425),
    ("e+s, es+t, p+u, l+o, lo+w, e+w", 4, .2884, .3425), ("e+s, es+t, p+u, l+o, lo+w, e+w", 6, .2884, .3298),
])  # fmt: skip
def test_intervals_by_hand(merges: str, steps: int, low: float, high: float) -> None:
    assert interval(merges, steps) == pytest.approx((low, high), abs=1e-4)


def test_changes_are_the_counts_of_a_naive_replay() -> None:
    numbers = random.Random(3)
    for _ in range(30):
        samples = [
            Counter({tuple(numbers.choices((0, 1, 2, -1), k=numbers.randint(1, 7))): numbers.randint(1, 9)
                     for _ in range(5)})
            for _ in range(2)
        ]
        merges = [(numbers.randint(0, 2 + step), numbers.randint(0, 2 + step)) for step in range(6)]
        if len(set(merges)) < len(merges):
            continue
        found = replay(merges, 3, samples)
        words = [{word: (list(word), times) for word, times in sample.items()} for sample in samples]
        for step, joined in enumerate(merges, 1):
            counts: dict[tuple[int, int], list[int]] = {}
            for number, sample in enumerate(words):
                for word, times in sample.values():
                    for pair in itertools.pairwise(word):
                        if min(pair) >= 0:
                            counts.setdefault(pair, [0, 0])[number] += times
            told = {
                change.pair: change.counts for change in found.changes if change.first <= step <= change.last
            }
            assert found.merged[step - 1] == tuple(counts.pop(joined, (0, 0)))
            told.pop(joined, None)
            assert told == {pair: tuple(row) for pair, row in counts.items()}
            for sample in words:
                for word, _ in sample.values():
                    at = 0
                    while at < len(word) - 1:
                        if (word[at], word[at + 1]) == joined:
                            word[at : at + 2] = [2 + step]
                        at += 1


def test_a_slack_that_no_share_avoids() -> None:
    """A merge that neither sample has most often."""
    replayed = Replayed([(1, 1)], [], (10, 10))
    assert MixtureProgram(replayed, replayed.pairs).fit().slack == 0
    replayed = replay([(0, 1)], 3, [Counter({(1, 2): 5, (0, 1): 1}), Counter({(1, 2): 7, (0, 1): 2})])
    assert MixtureProgram(replayed, replayed.pairs).fit().slack == pytest.approx(5 / 9)


def test_intervals_solve_the_fit_again_where_it_has_too_little_slack() -> None:
    """A solver that stops before its optimum gives such a fit."""
    replayed = replay([(0, 1)], 3, [Counter({(1, 2): 5, (0, 1): 1}), Counter({(1, 2): 7, (0, 1): 2})])
    program = MixtureProgram(replayed, replayed.pairs)
    fit, intervals = program.intervals((1, 1), program.fit()._replace(slack=0.1))
    assert fit.slack == pytest.approx(5 / 9)
    assert all(0 <= low <= high <= 1 for low, high in intervals)


# ---- mixtures of our own


class Language:
    """A made-up language: words of its own syllables, a few of them frequent."""

    def __init__(self, seed: int) -> None:
        numbers = random.Random(seed)
        letters = numbers.sample("abcdefghijklmnopqrstuvwxyz", 14)
        syllables = ["".join(numbers.choices(letters, k=numbers.randint(1, 3))) for _ in range(40)]
        self.words = ["".join(numbers.choices(syllables, k=numbers.randint(1, 4))) for _ in range(1500)]
        self.weights = [1 / (rank + 2) for rank in range(len(self.words))]

    def text(self, size: int, seed: int) -> str:
        """Return about this many bytes of text."""
        numbers = random.Random(seed)
        return " ".join(numbers.choices(self.words, self.weights, k=size // 3))[:size]


NAMES = "north", "south", "east", "west", "hill"
LANGUAGES = {name: Language(seed) for seed, name in enumerate(NAMES)}
MIXTURES: tuple[dict[str, float], ...] = (
    {"north": .7, "south": .3}, {"north": .5, "south": .3, "east": .2}, {"north": .9, "west": .1},
    {"north": .4, "south": .3, "east": .2, "west": .1}, {"hill": .5, "south": .5}, {"east": .34, "west": .66},
    {"north": .2, "south": .2, "east": .2, "west": .2, "hill": .2}, {"west": .8, "east": .15, "hill": .05},
    {"north": .6, "hill": .4}, {"south": .55, "west": .45}, {"east": .1, "hill": .3, "north": .6},
    {"north": .05, "south": .45, "east": .5},
)  # fmt: skip


def found_in(
    shares: dict[str, float], size: int, sample: int, merges: int, offered: tuple[str, ...]
) -> Mixture:
    """Train on a mixture, and infer it from other text of the same languages."""
    texts = [LANGUAGES[name].text(int(size * share), 1) for name, share in shares.items()]
    trainer = tokentui.Trainer(None, "gpt2", texts=texts)
    trainer.run(merges=merges)
    corpora = {name: Corpus.from_text(LANGUAGES[name].text(sample, 2), name) for name in offered}
    samples = [MixtureSample(name, corpus) for name, corpus in corpora.items()]
    return mixture(trainer.tokenizer(), samples, merges)


@pytest.mark.parametrize("case", range(len(MIXTURES)))
@pytest.mark.slow
def test_mixtures_are_recovered_from_unseen_text(case: int) -> None:
    """Within 3 points, with all five languages offered."""
    shares = MIXTURES[case]
    found = found_in(shares, 400_000, 200_000, 300, NAMES)
    for share in found.shares:
        assert share.share == pytest.approx(shares.get(share.name, 0), abs=0.03)
    assert found.slack < 0.1
    assert not found.alike


def test_a_small_mixture() -> None:
    found = found_in({"north": .75, "south": .25}, 20_000, 20_000, 40, ("north", "south"))
    assert [share.share for share in found.shares] == pytest.approx([.75, .25], abs=0.06)
    assert all(share.low <= share.share <= share.high for share in found.shares)


@pytest.mark.slow
def test_text_of_none_of_the_samples_has_much_slack() -> None:
    found = found_in({"north": 1.0}, 30_000, 30_000, 60, ("south", "east"))
    assert found.slack > 0.1


def test_two_samples_of_one_language_cannot_be_told_apart() -> None:
    texts = [LANGUAGES["north"].text(20_000, seed) for seed in range(3)]
    trainer = tokentui.Trainer(None, "gpt2", texts=texts[:1])
    trainer.run(merges=40)
    samples = [MixtureSample(str(n), Corpus.from_text(text, str(n))) for n, text in enumerate(texts[1:])]
    assert mixture(trainer.tokenizer(), samples, 40).unknown == ("0", "1")


def test_training_texts_give_exact_shares() -> None:
    """Ties hold as equalities, so that the shares are pinned."""
    texts = [LANGUAGES["north"].text(9_000, 1), LANGUAGES["south"].text(6_000, 1)]
    trainer = tokentui.Trainer(None, "gpt2", texts=texts)
    trainer.run(merges=100)
    samples = [MixtureSample(str(n), Corpus.from_text(text, str(n))) for n, text in enumerate(texts)]
    found = mixture(trainer.tokenizer(), samples, 100)
    assert found.converged
    assert found.slack == pytest.approx(0, abs=1e-6)
    assert found.shares[0].share == pytest.approx(.6, abs=0.005)


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("denominator", ["bytes", "characters"])
def test_other_denominators(denominator: str) -> None:
    texts = [LANGUAGES[name].text(15_000, 1) for name in ("north", "south")]
    trainer = tokentui.Trainer(None, "gpt2", texts=texts)
    trainer.run(merges=50)
    samples = [MixtureSample(str(n), Corpus.from_text(text, str(n))) for n, text in enumerate(texts)]
    shares = mixture(trainer.tokenizer(), samples, 50, denominator).shares
    assert shares[0].share == pytest.approx(.5, abs=0.01)


def test_what_has_no_answer() -> None:
    tokenizer = tokentui.train("sample:hugs", "gpt2", merges=5)
    hugs, none = Corpus.from_text("hug pug", "hugs"), Corpus.from_text("", "none")
    with pytest.raises(TokentuiError, match="two samples"):
        mixture(tokenizer, [MixtureSample("hugs", hugs)])
    with pytest.raises(TokentuiError, match="no pair"):
        mixture(tokenizer, [MixtureSample("hugs", hugs), MixtureSample("none", none)])
    unigram = tokentui.train("sample:english", "sentencepiece-unigram", vocab_size=200)
    with pytest.raises(TokentuiError, match="merges"):
        mixture(unigram, [MixtureSample("hugs", hugs), MixtureSample("more", hugs)])
