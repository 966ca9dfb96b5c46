"""The ways to write a word, against trying every cut."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui import learn
from tokentui.axes import preset
from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.encode.results import WordSegmentations
from tokentui.encode.segmentations import ways, ways_of
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn import start
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.read import read


def written(tokenizer: Tokenizer, word: str, limit: int = 10) -> WordSegmentations:
    """The ways to write a word."""
    return ways(tokenizer.encoder, word, limit)


def slide() -> Tokenizer:
    run = start(read("sample:hugs"), preset("comp336"), Run(first_id=1))
    learn.run(run, Stops(vocab_size=20))
    return run.tokenizer()


def test_the_four_ways_of_the_slides() -> None:
    found = written(slide(), " hugs")
    assert found.count == 4
    assert [way for way, _ in found.ways] == [
        (b" hug", b"s"), (b" ", b"hug", b"s"), (b" ", b"h", b"ug", b"s"), (b" ", b"h", b"u", b"g", b"s"),
    ]
    assert found.chosen == (b" hug", b"s")
    assert found.how.startswith("merges")


def test_a_unit_that_is_no_token_leaves_no_way() -> None:
    found = written(slide(), "apple")
    assert (found.count, found.ways, found.chosen) == (0, (), ())


def test_each_distinct_word_of_a_text() -> None:
    assert [one.word for one in ways_of(slide().encoder, "i hug hug i")] == ["i", " hug", " i"]


def test_byte_fallback_is_a_way() -> None:
    run = start(read("sample:hugs"), preset("llama2"), Run(specials=("<unk>",)))
    learn.run(run, Stops(merges=5))
    found = written(run.tokenizer(), "▁é")
    assert found.ways == (((b"\xe2\x96\x81", b"<0xC3>", b"<0xA9>"), None),)
    assert found.chosen == found.ways[0][0]


def test_a_number_of_ways_of_any_size() -> None:
    run = start(Corpus.from_counts([("aa", 1)]), preset("hf-bpe"))
    learn.run(run, Stops(merges=1))
    found = written(run.tokenizer(), "a" * 1000, 3)
    before, count = 1, 1
    for _ in range(999):
        before, count = count, before + count
    assert found.count == count
    assert [len(way) for way, _ in found.ways] == [500, 501, 501]
    with pytest.raises(TokentuiError, match="too long to count"):
        written(run.tokenizer(), "a" * (limits.now().ways_units + 1))


def cuts(tokenizer: Tokenizer, word: str) -> list[tuple[bytes, ...]]:
    """Every way, found by cutting at every set of places."""
    vocabulary = tokenizer.vocabulary
    prefix = vocabulary.recipe.mark_text.encode() if vocabulary.recipe.mark_kind == "prefix" else b""
    units = Pretokenizer(vocabulary.recipe).units(word)
    tokens = set(vocabulary.pieces[: vocabulary.base_size + tokenizer.merges])
    found = []
    for number in range(len(units)):
        for places in combinations(range(1, len(units)), number):
            spans = pairwise((0, *places, len(units)))
            way = tuple(
                units[a] + b"".join(unit.removeprefix(prefix) for unit in units[a + 1 : b]) for a, b in spans
            )
            if tokens.issuperset(way):
                found.append(way)
    return found


@settings(max_examples=40, deadline=None)
@given(
    texts=st.lists(st.text(alphabet="abc", min_size=1, max_size=9), min_size=1, max_size=5),
    word=st.text(alphabet="abc", min_size=1, max_size=9),
    name=st.sampled_from(
        ["comp336", "bert", "udl-notebook", "gpt1", "gpt2", "wordpiece", "comp336-no-spaces"]
    ),
    merges=st.integers(0, 15),
)
def test_they_are_all_that_there_are(texts: list[str], word: str, name: str, merges: int) -> None:
    run = start(Corpus.from_lines(texts), preset(name))
    learn.run(run, Stops(merges=merges))
    tokenizer = run.tokenizer()
    every = cuts(tokenizer, word)
    found = written(tokenizer, word, 1000)
    assert found.count == len(every)
    assert sorted(way for way, _ in found.ways) == sorted(every)
    lengths = [len(way) for way, _ in found.ways]
    assert lengths == sorted(lengths)
    assert [way for way, _ in written(tokenizer, word, 3).ways] == [way for way, _ in found.ways[:3]]
    if found.chosen and None not in tokenizer.explain(word)[0].ids:
        assert found.chosen in every


def scored(pieces: dict[str, int]) -> Tokenizer:
    recipe = Recipe(
        split="none", unit="char", base="frequency", objective="unigram", encode="viterbi", unknown="fused"
    )
    scores = [-score / 7 for score in pieces.values()]
    return Tokenizer(Vocabulary(recipe, [piece.encode() for piece in pieces], ("<unk>",), 0, scores))


@settings(max_examples=30, deadline=None)
@given(
    pieces=st.dictionaries(
        st.text(alphabet="ab", min_size=1, max_size=4), st.integers(1, 60), min_size=1, max_size=10
    ),
    word=st.text(alphabet="ab", min_size=1, max_size=8),
)
def test_a_unigram_model_orders_them_by_probability(pieces: dict[str, int], word: str) -> None:
    tokenizer = scored(pieces)
    found = written(tokenizer, word, 500)
    every = cuts(tokenizer, word)
    assert found.count == len(every) == len(found.ways)
    assert sorted(way for way, _ in found.ways) == sorted(every)
    # sums in another order differ in the last bit
    figures = [round(score, 9) for _, score in found.ways if score is not None]
    assert figures == sorted(figures, reverse=True)
    for way, score in found.ways:
        assert score == pytest.approx(sum(-pieces[piece.decode()] / 7 for piece in way))


def test_a_text_that_spells_a_mark_confuses_nothing() -> None:
    recipe = Recipe(split="whitespace", unit="char", mark="prefix:##", base="sorted", unknown="error")
    vocabulary = Vocabulary(recipe, [b"#", b"a", b"###", b"##a"])
    vocabulary.add(0, 2, 1)  # the text "##", at the start of a word
    found = written(Tokenizer(vocabulary), "##a")
    assert [way for way, _ in found.ways] == [(b"##", b"##a"), (b"#", b"###", b"##a")]
