"""One vocabulary under several ways of encoding: word by word, how often they differ, and where."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running_cli import done, refused

import tokentui
from tokentui.analyze.compare import compare_on
from tokentui.encode.segment import ENCODING_WAYS
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus

RECIPE = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="per-unit")
OTHERS = [name for name, one in ENCODING_WAYS.items() if not one.needs]


@settings(max_examples=25)
@given(
    words=st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=12),
    way=st.sampled_from(OTHERS),
)
def test_the_words_that_differ_are_those_of_a_count(words: list[str], way: str) -> None:
    corpus = Corpus.from_text(" ".join(words))
    one = tokentui.train(corpus, RECIPE, merges=8)
    other = one.encoded_by(way)
    (pair,) = compare_on([(0, one), (1, other)], corpus, most=100)
    cut = {word: (one.encode(word).tokens, other.encode(word).tokens) for word in words}
    want = Counter((word, *cut[word]) for word in words if cut[word][0] != cut[word][1])
    assert {(each.text, each.a, each.b): each.count for each in pair.words} == want
    assert [each.count for each in pair.words] == sorted(want.values(), reverse=True)
    assert pair.agreement.words - pair.agreement.same_words == want.total()
    assert pair.agreement.words == len(words)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("ways") / "t.json")
    done("train", "sample:english", "-r", "gpt2", "--merges", "200", "-o", path, "-q")
    return path


@pytest.mark.slow
def test_a_way_belongs_to_the_file_before_it(file: str) -> None:
    said = done("compare", "-t", file, "-s", "encode=longest-suffix", "-t", file, "sample:english", "--json")
    row = json.loads(said)
    assert [one["recipe"]["encode"] for one in row["tokenizers"]] == ["longest-suffix", "merges"]
    assert row["tokenizers"][0]["name"] == "t.json encode=longest-suffix"
    (pair,) = row["agreement"]
    assert 0 < pair["exact"] < 1
    assert pair["different_words"][0].keys() == {"text", "count", "a", "b"}
    shown = done("compare", "-t", file, "-t", file, "-s", "encode=fewest-tokens", "sample:english")
    assert "words split differently, A and B: " in shown


def test_a_way_belongs_to_the_file_before_it_after_other_axes(file: str) -> None:
    words = ("-s", "split=whitespace", "-s", "encode=longest-suffix")
    for tokenizers, ways in (
        (("-t", file, *words, "-t", file), ["longest-suffix", "merges"]),
        (("-t", file, "-t", file, *words), ["merges", "longest-suffix"]),
        (("-t", file, *words[2:], *words[:2], "-t", file), ["longest-suffix", "merges"]),
        (("-t", file, *words, "-r", "gpt2", "--merges", "9"), ["longest-suffix", "merges"]),
    ):
        row = json.loads(done("compare", *tokenizers, "sample:sailor", "--json"))
        assert [one["recipe"]["encode"] for one in row["tokenizers"]] == ways


def test_a_file_is_encoded_and_inspected_otherwise(file: str, tmp_path: Path) -> None:
    tokenizer = tokentui.load(file)
    for way in OTHERS:
        ids = done("encode", "-t", file, "-s", f"encode={way}", "the crowd")
        assert ids.split() == list(map(str, tokenizer.encoded_by(way).encode("the crowd").ids))
        assert ENCODING_WAYS[way].how in done("inspect", "-t", file, "-s", f"encode={way}", "crowd")
    own = str(tmp_path / "own.json")
    done("convert", file, "-s", "encode=longest-token", own, "--to", "tokentui")
    assert tokentui.load(own).recipe.encode == "longest-token"
    assert "no probabilities" in refused("encode", "-t", file, "-s", "encode=viterbi", "a")
    assert "split and encode" in refused("encode", "-t", file, "-s", "tie=shortest", "a")
    assert "no value" in refused("inspect", "-t", file, "-s", "encode=longest")
