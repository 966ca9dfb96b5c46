"""Encoders against naive models on vocabularies that a small recount trainer makes."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui.core.safetext import to_bytes
from tokentui.encode.pipeline import Parents
from tokentui.encode.segment import WordPart
from tokentui.encode.segment.longest import LongestMatch
from tokentui.encode.segment.merges import Merging
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer

CHARS = Recipe(split="none", unit="char", base="sorted", tie="first-seen", unknown="per-unit")
LONGEST = CHARS.with_axes(encode="longest-match", mark="prefix:##", unknown="whole-word")
BYTES = Recipe(split="gpt2")
ALL_BYTES = [bytes((value,)) for value in range(256)]


def merged(symbols: list[int], pair: tuple[int, int], symbol: int) -> list[int]:
    """All places of a pair, left to right."""
    out: list[int] = []
    at = 0
    while at < len(symbols):
        if tuple(symbols[at : at + 2]) == pair:
            out.append(symbol)
            at += 2
        else:
            out.append(symbols[at])
            at += 1
    return out


def learn(recipe: Recipe, base: Sequence[bytes], words: list[str], merges: int) -> Vocabulary:
    """A vocabulary by recounting all pairs for each merge."""
    vocabulary = Vocabulary(recipe, base)
    units = Pretokenizer(recipe).units
    corpus = [[vocabulary.units[unit] for unit in units(word)] for word in words if word]
    for _ in range(merges):
        counts = Counter(pair for word in corpus for pair in itertools.pairwise(word))
        if not counts:
            break
        pair = max(counts, key=lambda pair: (counts[pair], pair))
        symbol = vocabulary.add(*pair, counts[pair])
        corpus = [merged(word, pair, symbol) for word in corpus]
    return vocabulary


def base_of(recipe: Recipe, words: list[str]) -> list[bytes]:
    units = Pretokenizer(recipe).units
    return sorted({unit for word in words if word for unit in units(word)})


def tokens(parts: list[WordPart]) -> list[int | None]:
    return [part.symbol for part in parts]


sizes = st.integers(0, 20)
word_lists = st.lists(st.text("abc", min_size=1, max_size=12), min_size=1, max_size=6)


@settings(max_examples=75)
@given(words=word_lists, text=st.text("abcd", min_size=1, max_size=40), merges=sizes, part=sizes)
def test_merges_equal_both_naive_replays(words: list[str], text: str, merges: int, part: int) -> None:
    vocabulary = learn(CHARS, base_of(CHARS, words), words, merges)
    limit = min(part, len(vocabulary.merges))
    start = [vocabulary.units.get(character.encode(), -1) for character in text]

    in_order = start
    for rank, pair in enumerate(vocabulary.merges[:limit]):
        in_order = merged(in_order, pair, vocabulary.base_size + rank)

    lowest = start
    while True:
        pairs = itertools.pairwise(lowest)
        ranks = [rank for pair in pairs if (rank := vocabulary.ranks.get(pair, limit)) < limit]
        if not ranks:
            break
        lowest = merged(lowest, vocabulary.merges[min(ranks)], vocabulary.base_size + min(ranks))

    segmenter = Merging(vocabulary, limit)
    units = [character.encode() for character in text]
    got = [-1 if symbol is None else symbol for symbol in tokens(segmenter.segment(units, len(text)))]
    assert got == lowest == in_order
    steps = list(segmenter.steps(units, len(text)))
    assert [(step.rank, step.start) for step in steps] == sorted((step.rank, step.start) for step in steps)
    assert len(text) - len(steps) == len(got)


@settings(max_examples=75)
@given(words=word_lists, text=st.text("abcd#", min_size=1, max_size=30), merges=st.integers(0, 20))
def test_longest_match_equals_a_naive_one(words: list[str], text: str, merges: int) -> None:
    vocabulary = learn(LONGEST, base_of(LONGEST, words), words, merges)
    spelled = {piece: symbol for symbol, piece in reversed(list(enumerate(vocabulary.pieces)))}
    want: list[int | None] = []
    at = 0
    while at < len(text):
        mark = "##" if at else ""
        # No word of the corpus holds #: each token spelled with ## continues a word, and none is found at its
        # start.
        literal = not at and text.startswith("##")
        ends = (
            []
            if literal
            else [e for e in range(len(text), at, -1) if (mark + text[at:e]).encode() in spelled]
        )
        if not ends:
            want.append(None)
            break
        want.append(spelled[(mark + text[at : ends[0]]).encode()])
        at = ends[0]
    units = Pretokenizer(LONGEST).units(text)
    segmenter = LongestMatch(vocabulary, len(vocabulary.merges))
    assert tokens(segmenter.segment(units, len(text))) == want
    found = [step for step in segmenter.steps(units, len(text)) if step.found]
    assert [spelled[step.candidate] for step in found] == [symbol for symbol in want if symbol is not None]


@pytest.mark.slow
def test_words_of_a_hundred_thousand_units() -> None:
    vocabulary = Vocabulary(CHARS, [b"a", b"b"])
    for _ in range(16):
        vocabulary.add(symbol := len(vocabulary.pieces) - 1, symbol, 1)
    parts = Merging(vocabulary, 16).segment([b"b"] * 100_000, 100_000)
    assert [part.end - part.start for part in parts] == [65_536, 32_768, 1024, 512, 128, 32]


@settings(max_examples=50)
@given(words=word_lists, text=st.text())
def test_byte_recipes_give_back_any_text(words: list[str], text: str) -> None:
    tokenizer = Tokenizer(learn(BYTES, ALL_BYTES, words, 10))
    encoding = tokenizer.encode(text)
    assert tokenizer.decode(encoding.ids) == text
    assert tokenizer.lost(text) == ()
    assert b"".join(piece or b"" for piece in encoding.pieces) == to_bytes(text)
    assert all(0 <= start < end <= len(text) for start, end in encoding.offsets)
    assert [start for start, _ in encoding.offsets] == sorted(start for start, _ in encoding.offsets)
    assert [end for _, end in encoding.offsets] == sorted(end for _, end in encoding.offsets)
    assert not encoding.unknown


@settings(max_examples=50)
@given(data=st.binary())
def test_byte_recipes_give_back_any_bytes(data: bytes) -> None:
    tokenizer = Tokenizer(learn(BYTES, ALL_BYTES, ["abab"], 2))
    encoding = tokenizer.encode(data)
    assert tokenizer.decode_bytes(encoding.ids) == data
    assert tokenizer.decode(encoding.ids) == data.decode("utf-8", "replace")


@settings(max_examples=50)
@given(words=word_lists, text=st.text("abcZ é ", max_size=30), unknown=st.sampled_from(
    ["drop", "per-unit", "fused", "rest-of-word", "whole-word", "pass-through", "byte-fallback"]))
def test_explanation_ends_in_the_encoding(words: list[str], text: str, unknown: str) -> None:
    recipe = CHARS.with_axes(split="whitespace", unknown=unknown)
    tokenizer = Tokenizer(learn(recipe, base_of(recipe, words), words, 6))
    encoding, explained = tokenizer.encode(text), tokenizer.explain(text)
    assert tuple(piece for word in explained for piece in word.pieces) == encoding.pieces
    assert tuple(number for word in explained for number in word.ids) == encoding.ids
    for index, word in enumerate(explained):
        assert text[word.start : word.end] == word.text
        assert word.after(0) == word.units
        if unknown in ("drop", "pass-through"):
            assert word.after(len(word.steps)) == word.pieces
        assert (
            tuple(p for p, at in zip(encoding.pieces, encoding.words, strict=True) if at == index)
            == word.pieces
        )


def naive_parents(pieces: list[bytes], table: dict[bytes, int], symbol: int) -> list[bytes]:
    """What the bytes of a token become under the tokens before it, the leftmost pair of least rank first."""
    parts = [bytes((value,)) for value in pieces[symbol]]
    while len(parts) > 2:
        best, at = min((table.get(parts[n] + parts[n + 1], symbol), n) for n in range(len(parts) - 1))
        if best >= symbol:
            break
        parts[at : at + 2] = [pieces[best]]
    return parts


@given(st.lists(st.text("ab", min_size=2, max_size=9), unique=True, max_size=20))
def test_the_parents_of_a_rank_are_the_tokens_of_its_bytes(names: list[str]) -> None:
    single = [b"a", b"b"]
    earlier, merged = dict.fromkeys(single), []
    for name in map(str.encode, names):
        if Parents.has(name, earlier):
            merged.append(name)
            earlier[name] = None
    pieces = single + merged
    table = {piece: symbol for symbol, piece in enumerate(pieces)}
    for symbol, (left, right) in enumerate(Parents(pieces, table, 2), 2):
        assert pieces[left] + pieces[right] == pieces[symbol]
        assert max(left, right) < symbol
        parts = naive_parents(pieces, table, symbol)
        if len(parts) == 2 and all(part in table for part in parts):
            assert [pieces[left], pieces[right]] == parts


def test_the_parents_of_a_long_token_are_found_in_few_looks() -> None:
    class Counted(dict[bytes, int]):
        looks = 0

        def get(self, piece: bytes, default: Any = None) -> Any:
            self.looks += 1
            return super().get(piece, default)

    pieces = [b"a", b"b", b"ab", b"ab" * 2000, b"ab" * 2000 + b"a"]
    table = Counted({piece: symbol for symbol, piece in enumerate(pieces)})
    assert Parents(pieces, table, 4)[0] == (3, 0)
    assert table.looks < 30_000
