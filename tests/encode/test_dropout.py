"""BPE-dropout: the exact distributions of the three behaviors, by trying all draws; and the libraries."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokentui
from tokentui.core.errors import TokentuiError
from tokentui.encode.segment.dropout import LIKE, Draw, Dropout
from tokentui.encode.vocabulary import Vocabulary
from tokentui.recipe import Recipe

CHARS = Recipe(split="none", unit="char", base="sorted", unknown="per-unit")
HALF = Fraction(1, 2)
Distribution = dict[str, Fraction]


def vocabulary(letters: str, *merges: str) -> Vocabulary:
    made = Vocabulary(CHARS, [letter.encode() for letter in letters])
    for merge in merges:
        left, right = (made.pieces.index(part.encode()) for part in merge.split("+"))
        made.add(left, right, 1)
    return made


class Scripted:
    """Draws in a given order, then kept ones: says how many draws there were."""

    def __init__(self, drops: list[bool]) -> None:
        self.drops, self.asked = drops, 0

    def __call__(self) -> float:
        self.asked += 1
        if self.asked > len(self.drops):
            self.drops.append(False)
        return 0.0 if self.drops[self.asked - 1] else 0.999


def distribution(
    of: Vocabulary, word: str, like: str, p: Fraction, merges: int | None = None
) -> Distribution:
    """Every run of draws with its probability."""
    found: Distribution = {}
    drops: list[bool] = []
    while True:
        source = Scripted(drops)
        segmenter = Dropout(of, merges or len(of.merges), p=float(p), like=like, random=source)
        parts = segmenter.segment([letter.encode() for letter in word], len(word))
        said = " ".join(word[part.start : part.end] for part in parts)
        drops = drops[: source.asked]
        dropped = sum(drops)
        found[said] = found.get(said, Fraction(0)) + p**dropped * (1 - p) ** (len(drops) - dropped)
        while drops and drops[-1]:
            drops.pop()
        if not drops:
            return found
        drops[-1] = True


def test_the_distributions_of_lowe() -> None:
    """Measured with the libraries on 20,000 samples each; here exactly."""
    of, eighth = vocabulary("elow", "l+o", "w+e"), Fraction(1, 8)
    ways = "lo we", "lo w e", "l o we", "l o w e"
    for like in ("subword-nmt", "tokenizers"):
        want = dict(zip(ways, (3 * eighth, 2 * eighth, eighth, 2 * eighth), strict=True))
        assert distribution(of, "lowe", like, HALF) == want
    assert distribution(of, "lowe", "sentencepiece", HALF) == dict.fromkeys(ways, 2 * eighth)


def test_the_distributions_of_abab() -> None:
    of = vocabulary("ab", "a+b", "ab+ab")
    ways = "ab ab", "abab", "a b a b", "ab a b", "a b ab"
    for like, sixteenths in (("subword-nmt", (4, 4, 4, 2, 2)), ("tokenizers", (3, 3, 4, 4, 2))):
        want = {way: Fraction(share, 16) for way, share in zip(ways, sixteenths, strict=True)}
        assert distribution(of, "abab", like, HALF) == want


merge_lists = st.sampled_from([
    ("a+b", "ab+ab"), ("a+a", "aa+a"), ("a+a", "aa+aa"), ("b+a", "a+b", "ab+c"),
    ("a+b", "b+c", "ab+c", "a+bc"),
])


@pytest.mark.parametrize("like", LIKE)
@settings(max_examples=15)
@given(merges=merge_lists, word=st.text("abc", min_size=1, max_size=5))
def test_all_ways_add_up_and_the_ends_are_merges_and_units(
    like: str, merges: tuple[str, ...], word: str
) -> None:
    of = vocabulary("abc", *merges)
    shares = distribution(of, word, like, Fraction(1, 3))
    assert sum(shares.values()) == 1
    plain = tokentui.Tokenizer(of).encode(word)
    units = [letter.encode() for letter in word]
    for p, want in ((0.0, "|".join(plain.tokens)), (1.0, "|".join(word))):
        parts = Dropout(of, len(of.merges), p=p, like=like, seed=3).segment(units, len(word))
        assert "|".join(word[part.start : part.end] for part in parts) == want
    assert " ".join(plain.tokens) in shares
    assert " ".join(word) in shares


@pytest.mark.parametrize("like", LIKE)
def test_logged_draws_reproduce_the_encoding(like: str) -> None:
    tokenizer = tokentui.train("sample:english", "gpt2", merges=200)
    text = "the crowd and the others went there"
    for seed in range(5):
        drawn = tokenizer.draws(text, p=0.3, like=like, seed=seed)
        again = tokenizer.draws(text, p=0.3, like=like, seed=seed)
        assert (drawn.words, drawn.encoding.ids) == (again.words, again.encoding.ids)
        assert tokenizer.sample(text, p=0.3, like=like, seed=seed).ids == drawn.encoding.ids
        assert tuple(number for word in drawn.words for number in word.ids) == drawn.encoding.ids
        assert tokenizer.decode(drawn.encoding.ids) == text
        numbers = iter(Random(seed).random, None)
        for word in drawn.words:
            starts = set(range(len(word.units)))
            for draw in word.draws:
                assert draw.number == next(numbers)
                assert draw.kept == (draw.number >= 0.3)
                assert not draw.merged or (draw.kept and draw.rank is not None)
                if draw.merged:
                    assert draw.left + draw.right == b"".join(word.units[draw.start : draw.end])
                    starts.discard(draw.middle)
            assert len(starts) == len(word.pieces)


def test_impossible_sampling_is_refused() -> None:
    unigram = tokentui.train("sample:hugs", "sentencepiece-unigram", vocab_size=30)
    tokenizer = tokentui.train("sample:hugs", "gpt2", merges=6)
    with pytest.raises(TokentuiError, match="no merges"):
        unigram.sample("hugs", p=0.5)
    for p in (-0.1, 1.1, float("nan"), True, "x"):
        with pytest.raises(TokentuiError, match="share from 0 to 1"):
            tokenizer.sample("hugs", p=p)  # type: ignore[arg-type]
    with pytest.raises(TokentuiError, match="no value"):
        tokenizer.sample("hugs", p=0.5, like="tiktoken")
    with pytest.raises(TokentuiError, match="whole number"):
        tokenizer.sample("hugs", p=0.5, seed=0.5)  # type: ignore[arg-type]
    with pytest.raises(TokentuiError, match="use one"):
        tokenizer.sample("hugs", p=0.5, temperature=2.0)
    other = tokenizer.encoded_by("longest-suffix")
    assert other.sample("hugs pugs", p=0.0).ids == tokenizer.encode("hugs pugs").ids


@pytest.mark.peer
def test_tokenizers_has_the_same_distribution() -> None:
    models = pytest.importorskip("tokenizers.models")
    tokens = ["a", "b", "ab", "abab"]
    model = models.BPE({one: n for n, one in enumerate(tokens)}, [("a", "b"), ("ab", "ab")], dropout=0.5)
    size = 8000
    seen = Counter(" ".join(token.value for token in model.tokenize("abab")) for _ in range(size))
    shares = distribution(vocabulary("ab", "a+b", "ab+ab"), "abab", "tokenizers", HALF)
    assert seen.keys() == shares.keys()
    for way, share in shares.items():
        assert abs(seen[way] / size - share) < 5 * (float(share * (1 - share)) / size) ** 0.5


@pytest.mark.peer
def test_sentencepiece_has_the_same_distribution(tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    file = tmp_path / "words.model"
    with file.open("wb") as out:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(["low low low lower lower wew"] * 5), model_writer=out, vocab_size=16,
            model_type="bpe", character_coverage=1.0, minloglevel=2,
        )
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(file))
    ours, word, size = tokentui.load(file), "lower", 6000
    seen = Counter(
        " ".join(theirs.encode(word, out_type=str, enable_sampling=True, alpha=0.5, nbest_size=-1))
        for _ in range(size)
    )
    of = ours.vocabulary
    shares = distribution(of, "▁lower", "sentencepiece", HALF, merges=ours.merges)
    assert len(shares) > 4
    assert seen.keys() <= shares.keys()
    for way, share in shares.items():
        assert abs(seen[way] / size - share) < 5 * (float(share * (1 - share)) / size) ** 0.5


@pytest.mark.peer
def test_subword_nmt_makes_the_same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    apply_bpe = pytest.importorskip("subword_nmt.apply_bpe")
    codes = {("a", "b"): 0, ("ab", "ab"): 1, ("a", "a"): 2, ("b", "c"): 3}
    of = vocabulary("abcx", *map("+".join, codes))
    for seed in range(300):
        word = "".join(Random(seed).choices("abc", k=1 + seed % 7)) + "x"
        monkeypatch.setattr(apply_bpe.random, "random", Random(seed).random)
        theirs = apply_bpe.encode(
            word, codes, {left + right: (left, right) for left, right in codes}, None, "@@", (0, 2), {},
            dropout=0.4,
        )
        segmenter = Dropout(of, len(codes), p=0.4, like="subword-nmt", seed=seed)
        parts = segmenter.segment([letter.encode() for letter in word], len(word))
        assert tuple(word[part.start : part.end] for part in parts) == theirs


@pytest.mark.parametrize(("left", "rank", "kept", "merged", "fate"), [
    (b"a", 3, True, True, "merged"), (b"a", 3, False, False, "dropped"),
    (b"a", None, True, False, "no merge"), (b"a", 3, True, False, "kept"),
    (b"", 3, True, False, "passed over"),
])
def test_the_fate_of_a_candidate(left: bytes, rank: int | None, kept: bool, merged: bool, fate: str) -> None:
    draw = Draw(0, 1, 2, left, b"b" if left else b"", rank, 0.5, kept, merged)
    assert draw.fate == fate
