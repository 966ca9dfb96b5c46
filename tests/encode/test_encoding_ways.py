"""Ways of encoding by long and few tokens: the published example, naive models, and libraries that have them.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokentui
from tokentui.core.errors import TokentuiError
from tokentui.encode.segment import ENCODING_WAYS, Attempt
from tokentui.encode.tokenizer import Tokenizer, tokenizer_of
from tokentui.encode.vocabulary import TokenizerFile, Vocabulary
from tokentui.recipe import Recipe

CHARS = Recipe(split="none", unit="char", base="sorted", tie="first-seen", unknown="per-unit")
FIXTURE = ("a", "b", "c", "d", "e", "f", "de", "abc", "ef", "bcde", "cd")
"""Uzan et al. (2024) and Lian et al. (2024): all five ways differ on `abcdef`."""
EXPECTED = {
    "longest-match": "abc|de|f", "longest-suffix": "a|b|cd|ef", "longest-token": "a|bcde|f",
    "fewest-tokens": "abc|d|ef", "merges-by-length": "a|b|c|de|f",
}

Naive = Callable[[str, Sequence[str]], list[str]]


def table(tokens: Sequence[str], encode: str, **axes: object) -> Tokenizer:
    """A tokenizer of tokens that no merge makes, as of a file."""
    recipe = CHARS.with_axes(encode=encode, **axes)
    pieces = [token.encode() for token in tokens]
    units = {piece: n for n, piece in enumerate(pieces)}
    return tokenizer_of(TokenizerFile("", recipe, pieces, list(range(len(pieces))), units=units))


def cut(tokenizer: Tokenizer, word: str) -> list[str]:
    """A word in its tokens; what is unknown is `?`."""
    return ["?" if piece is None else piece.decode() for piece in tokenizer.encode(word).pieces]


@pytest.mark.parametrize("way", EXPECTED)
def test_the_published_example(way: str) -> None:
    assert "|".join(cut(table(FIXTURE, way), "abcdef")) == EXPECTED[way]


# ---- naive models, as the papers put them


def prefix(word: str, tokens: Sequence[str]) -> list[str]:
    if not word:
        return []
    end = next((end for end in range(len(word), 0, -1) if word[:end] in tokens), 1)
    return [word[:end], *prefix(word[end:], tokens)]


def suffix(word: str, tokens: Sequence[str]) -> list[str]:
    if not word:
        return []
    start = next((start for start in range(len(word)) if word[start:] in tokens), len(word) - 1)
    return [*suffix(word[:start], tokens), word[start:]]


def anywhere(word: str, tokens: Sequence[str]) -> list[str]:
    if not word:
        return []
    found = [(-len(token), word.find(token)) for token in tokens if token in word]
    if not found:
        return list(word)
    size, at = min(found)
    return [*anywhere(word[:at], tokens), word[at : at - size], *anywhere(word[at - size :], tokens)]


def fewest(word: str, tokens: Sequence[str]) -> list[str]:
    @functools.cache
    def ways(end: int) -> list[tuple[str, ...]]:
        if not end:
            return [()]
        return [
            (*way, word[start:end]) for start in range(end) for way in ways(start)
            if word[start:end] in tokens or start == end - 1
        ]

    def worse(way: Sequence[str]) -> tuple[int, int, list[int]]:
        unknown = sum(part not in tokens for part in way)
        return unknown, len(way), [-len(part) for part in reversed(way)]

    return min(map(list, ways(len(word))), key=worse)


def by_length(word: str, tokens: Sequence[str]) -> list[str]:
    parts = list(word)
    while True:
        joined = [
            (-len(made), tokens.index(made), at)
            for at, (one, other) in enumerate(itertools.pairwise(parts))
            if (made := one + other) in tokens and one in tokens and other in tokens
        ]
        if not joined:
            return parts
        _, _, at = min(joined)
        parts[at : at + 2] = ["".join(parts[at : at + 2])]


NAIVE: dict[str, Naive] = {
    "longest-match": prefix, "longest-suffix": suffix, "longest-token": anywhere, "fewest-tokens": fewest,
    "merges-by-length": by_length,
}
ELSEWHERE = {"merges": "tests/support/naive.py", "viterbi": "tests/encode/test_viterbi.py"}
"""The ways whose naive model is in another file."""


def test_every_way_has_a_naive_model() -> None:
    assert {*NAIVE, *ELSEWHERE} == ENCODING_WAYS.keys()


vocabularies = st.lists(st.text("abc", min_size=2, max_size=5), max_size=12, unique=True)
words = st.text("abcd", min_size=1, max_size=14)


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("way", NAIVE)
@settings(max_examples=30)
@given(longer=vocabularies, word=words)
def test_a_way_equals_the_naive_one(way: str, longer: list[str], word: str) -> None:
    tokens = ["a", "b", "c", *longer]
    want = [part if part in tokens else "?" for part in NAIVE[way](word, tokens)]
    assert cut(table(tokens, way), word) == want


def trained(way: str, texts: Sequence[str], **axes: str) -> tokentui.Tokenizer:
    corpus = tokentui.Corpus.from_text(" ".join(texts), "words")
    known = Recipe(split="whitespace", unit="char", base="sorted", encode=way, unknown="per-unit")
    return tokentui.train(corpus, known.with_axes(**axes), merges=12)


@pytest.mark.parametrize("way", NAIVE)
@pytest.mark.parametrize("mark", ["none", "prefix:##", "end-suffix:</w>"])
@settings(max_examples=12)
@given(texts=st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=6), word=words)
@pytest.mark.first_run(cases=4)
def test_marks_are_recognized_by_their_place(way: str, mark: str, texts: list[str], word: str) -> None:
    tokenizer = trained(way, texts, mark=mark)
    pieces = [entry.piece.decode() for entry in tokenizer.entries() if entry.symbol is not None]
    # Marks as single letters: what starts a word is lower case, what ends one has a full stop.
    if mark == "prefix:##":
        tokens = [one[2:].upper() if one.startswith("##") else one[0] + one[1:].upper() for one in pieces]
        units = word[0] + word[1:].upper()
    else:
        tokens = [one.replace("</w>", ".") for one in pieces]
        units = word + "." if mark != "none" else word
    if mark == "end-suffix:</w>":  # the last letter and its mark are one unit: one letter stands for both
        swap = {"a.": "x", "b.": "y", "c.": "z", "d.": "!"}
        for two, one in swap.items():
            tokens, units = [token.replace(two, one) for token in tokens], units.replace(two, one)
    want = [part if part in tokens else "?" for part in NAIVE[way](units, tokens)]
    if way == "longest-match" or "?" in want:
        want = [one for one in want if one != "?"]
    got = [piece.decode() for piece in tokenizer.encode(word).pieces if piece is not None]
    spelled = dict(zip(tokens, pieces, strict=True))
    assert got == [spelled[one] for one in want]


@pytest.mark.parametrize("way", NAIVE)
@settings(max_examples=12)
@given(longer=vocabularies, word=st.text("abc", min_size=1, max_size=12))
def test_the_steps_end_in_the_tokens(way: str, longer: list[str], word: str) -> None:
    (told,) = table(["a", "b", "c", *longer], way).explain(word)
    assert told.after(len(told.steps)) == told.pieces
    taken = [step for step in told.steps if not isinstance(step, Attempt) or step.found]
    assert taken or way == "merges-by-length"
    for step in told.steps:
        if isinstance(step, Attempt):
            assert b"".join(told.units[step.start : step.end]) == step.candidate


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("way", NAIVE)
@settings(max_examples=10)
@given(texts=st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=5), word=words)
def test_a_step_is_encoded_as_a_vocabulary_of_its_own(way: str, texts: list[str], word: str) -> None:
    whole = trained(way, texts)
    for number in range(whole.merges + 1):
        own = Tokenizer(whole.vocabulary.truncated(number))
        assert whole.at(number).encode(word).ids == own.encode(word).ids


# ---- unknown units, long words, other ways of a vocabulary

NEW = tuple(way for way in EXPECTED if way != "longest-match")


@pytest.mark.parametrize("way", NEW)
def test_words_of_any_length_and_units_that_are_no_tokens(way: str) -> None:
    tokenizer = table(FIXTURE, way)
    assert cut(tokenizer, "abc" * 200) == cut(tokenizer, "abc") * 200
    assert cut(tokenizer, "?a§") == ["?", "a", "?"]
    dropping = trained(way, ["abab"], unknown="drop")
    assert dropping.encode("a§b").pieces == dropping.encode("ab").pieces
    whole = trained(way, ["abab"], unknown="whole-word")
    assert whole.encode("ab§").unknown == (0,)
    kept = trained(way, ["abab"], unknown="pass-through")
    assert kept.encode("ab§").tokens[-1] == "§"
    in_bytes = trained(way, ["abab"], unknown="byte-fallback")
    assert in_bytes.encode("§").tokens == ("<0xC2>", "<0xA7>")
    with pytest.raises(TokentuiError, match="not in the vocabulary"):
        trained(way, ["abab"], unknown="error").encode("§")


def test_another_way_and_back() -> None:
    tokenizer = tokentui.train("sample:hugs", "gpt2", merges=6)
    other = tokenizer.encoded_by("longest-suffix")
    assert (other.recipe.encode, tokenizer.recipe.encode) == ("longest-suffix", "merges")
    assert other.encoded_by("merges").encode_ids("hugs pugs") == tokenizer.encode_ids("hugs pugs")
    with pytest.raises(TokentuiError, match="probabilities"):
        tokenizer.encoded_by("viterbi")
    with pytest.raises(TokentuiError, match="no value"):
        tokenizer.encoded_by("longest")
    with pytest.raises(TokentuiError, match="no merges"):
        table(FIXTURE, "longest-token").encoded_by("merges")
    unigram = tokentui.train("sample:hugs", "sentencepiece-unigram", vocab_size=30)
    with pytest.raises(TokentuiError, match="no merges"):
        unigram.encoded_by("merges")
    with pytest.raises(TokentuiError, match="by replacing pairs"):
        tokentui.train("sample:hugs", "gage").encoded_by("longest-token")


@pytest.mark.slow
def test_every_way_of_every_table_reads_a_file(tmp_path: Path) -> None:
    corpus = tokentui.read("sample:hugs")
    names = {"gpt2": "a.hf.json", "bert": "b.hf.json", "t5": "c.model", "subword-nmt": "codes"}
    for preset, name in names.items():
        path = tmp_path / name
        try:
            tokentui.train(corpus, preset, vocab_size=None if "gpt" in preset else 40).save(path)
        except TokentuiError:
            tokentui.train(corpus, preset, merges=20).save(path)
        read = tokentui.load(path)
        for way in ENCODING_WAYS:
            try:
                other = read.encoded_by(way)
            except TokentuiError:
                assert ENCODING_WAYS[way].needs
                continue
            ids = other.encode_ids("hugs pugs")
            own = tmp_path / "own.json"
            other.save(own)
            again = tokentui.load(own)
            assert again.recipe == other.recipe
            assert again.encode_ids("hugs pugs") == ids
            back = again.encoded_by(read.recipe.encode)
            assert back.encode_ids("hugs pugs") == read.encode_ids("hugs pugs")


@pytest.mark.parametrize("way", NEW)
def test_other_formats_report_that_they_cannot_represent_it(way: str, tmp_path: Path) -> None:
    tokenizer = tokentui.train("sample:hugs", "gpt2", merges=6, encode=way)
    tokenizer.save(tmp_path / "own.json")
    assert tokentui.load(tmp_path / "own.json").encode_ids("hugs") == tokenizer.encode_ids("hugs")
    for name in ("a.hf.json", "ranks.tiktoken", "m.minbpe.model", "tekken.json"):
        with pytest.raises(TokentuiError, match=f"encoded with {way.replace('-', ' ')}"):
            tokenizer.save(tmp_path / name)


# ---- libraries


@pytest.mark.peer
@settings(max_examples=30)
@given(longer=vocabularies, word=st.text("abc", min_size=1, max_size=14))
def test_the_longest_prefix_is_that_of_tokenizers(longer: list[str], word: str) -> None:
    models = pytest.importorskip("tokenizers.models")
    tokens = ["[UNK]", "a", "b", "c", *longer]
    model = models.WordPiece({one: n for n, one in enumerate(tokens)}, unk_token="[UNK]",
                             continuing_subword_prefix="")
    got = [token.value for token in model.tokenize(word)]
    assert cut(table(tokens, "longest-match"), word) == got


@pytest.mark.peer
@settings(max_examples=30)
@given(longer=vocabularies, word=st.text("abc", min_size=1, max_size=14))
def test_the_fewest_tokens_are_those_of_a_unigram_model_of_equal_scores(longer: list[str], word: str) -> None:
    models = pytest.importorskip("tokenizers.models")
    tokens = ["<unk>", "a", "b", "c", *longer]
    got = [token.value for token in models.Unigram([(one, -1.0) for one in tokens], 0, False).tokenize(word)]
    assert cut(table(tokens, "fewest-tokens"), word) == got


@pytest.mark.slow
@pytest.mark.peer
def test_the_fewest_tokens_are_those_of_sentencepiece_with_equal_scores(tmp_path: Path) -> None:
    processor = pytest.importorskip("sentencepiece").SentencePieceProcessor
    tokenizer = tokentui.train("sample:english", "t5", vocab_size=600)
    vocabulary = tokenizer.vocabulary
    equal = Tokenizer(Vocabulary(
        vocabulary.recipe, vocabulary.pieces, vocabulary.specials, vocabulary.first_id,
        [-1.0] * len(vocabulary.pieces),
    ))
    tokentui.Tokenizer(equal.vocabulary).save(tmp_path / "equal.model")
    theirs = processor(model_file=str(tmp_path / "equal.model"))
    ours = equal.encoded_by("fewest-tokens")
    words = sorted(set(tokentui.read("sample:english").documents[0].split()))
    assert len(words) > 100
    for word in words:
        assert list(ours.encode(word).ids) == theirs.encode(word), json.dumps(word)
