"""The laws of a way of encoding, on every way of the table."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui import train
from tokentui.axes import AXES
from tokentui.encode.segment import ENCODING_WAYS, Segmenter
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.pretokenize import Pretokenizer

PLAIN = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="per-unit")
CORPUS = Corpus.from_text("low low low low lower lower newest newest newest widest lowest new wide " * 3)
WORDS = st.text("lowernstid", min_size=1, max_size=14) | st.text("lowest§", min_size=1, max_size=9)


@functools.cache
def tokenizer(way: str) -> Tokenizer:
    """A tokenizer with all that a way of encoding needs."""
    scored = ENCODING_WAYS[way].needs == "scores"
    objectives = AXES["objective"].items()
    objective = next(name for name, one in objectives if one.scored == scored and not one.substitutes_bytes)
    recipe = PLAIN.with_axes(encode=way, objective=objective)
    if scored:
        return train(CORPUS, recipe, vocab_size=25)
    return train(CORPUS, recipe, merges=25)


def segmenter(way: str, merges: int) -> Segmenter:
    """A way of encoding, ready for the vocabulary at a number of merges."""
    return ENCODING_WAYS[way].segmenter(tokenizer(way).vocabulary, merges)


def at(way: str, step: int, word: str) -> tuple[Vocabulary, int, list[bytes]]:
    """The vocabulary of a way, its merges at a step, and the units of a word."""
    vocabulary = tokenizer(way).vocabulary
    return vocabulary, min(step, len(vocabulary.merges)), Pretokenizer(vocabulary.recipe).units(word)


@pytest.mark.parametrize("way", ENCODING_WAYS)
@settings(max_examples=20)
@given(word=WORDS, step=st.integers(0, 25))
def test_parts_cover_a_word_and_spell_it(way: str, word: str, step: int) -> None:
    """At any step, by the tokens that are there then; a part without a token is a unit that has none."""
    vocabulary, merges, units = at(way, step, word)
    end, known = 0, vocabulary.symbols_by_id(merges).values()
    for part in segmenter(way, merges).segment(units, len(word)):
        assert part.start == end < part.end
        spelled, end = b"".join(units[part.start : part.end]), part.end
        if part.symbol is None:
            assert not set(units[part.start : part.end]) & vocabulary.units.keys()
        else:
            assert part.symbol in known
            assert vocabulary.pieces[part.symbol] == spelled
    assert end == len(units)


@pytest.mark.parametrize("way", ENCODING_WAYS)
@settings(max_examples=20)
@given(word=WORDS, step=st.integers(0, 25))
def test_a_segmenter_that_is_limited_is_that_of_the_step(way: str, word: str, step: int) -> None:
    vocabulary, merges, units = at(way, step, word)
    made = [0] * vocabulary.base_size + list(range(1, len(vocabulary.merges) + 1))
    fresh, limited = segmenter(way, merges), segmenter(way, len(vocabulary.merges)).with_limit(merges, made)
    assert limited.segment(units, len(word)) == fresh.segment(units, len(word))
    assert list(limited.steps(units, len(word))) == list(fresh.steps(units, len(word)))


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize("way", ENCODING_WAYS)
@settings(max_examples=20)
@given(text=st.lists(WORDS, max_size=5).map(" ".join), step=st.integers(0, 25))
def test_encoding_explaining_and_ids_agree(way: str, text: str, step: int) -> None:
    whole = tokenizer(way)
    now = whole.at(min(step, whole.merges))
    encoding, explained = now.encode(text), now.explain(text)
    assert tuple(piece for word in explained for piece in word.pieces) == encoding.pieces
    assert tuple(number for word in explained for number in word.ids) == encoding.ids
    assert now.decode_bytes(now.encode_ids(text)) == now.decode_bytes(encoding.ids)
