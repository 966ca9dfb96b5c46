"""Several named corpora as one: their word, their shares, what is refused, and the words that come of it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokentui
from tokentui.core.errors import TokentuiError
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.count import count
from tokentui.text.joining import joined, times_of
from tokentui.text.named import PARALLEL, Corpora, named_in, short_name, sources_in
from tokentui.text.read import read
from tokentui.text.sources import parallel

NAMES = st.sampled_from(("en", "hi", "zh-Hant", "x_1", "development", "a"))
ROWS = st.dictionaries(NAMES, st.text(st.sampled_from("ab/,=% é~."), min_size=1, max_size=9), min_size=1,
                       max_size=4)


@given(rows=ROWS, shares=st.sampled_from(("count", "equal")), judged=st.booleans())
def test_named_corpora_are_read_back_from_their_text(rows: dict[str, str], shares: str, judged: bool) -> None:
    named = Corpora(tuple(rows.items()), shares, tuple(rows.items())[: 1 if judged else 0]).checked()
    assert named_in(named.text) == named
    assert sources_in([named.text]) == [source for _, source in (*named.sources, *named.development)]
    assert short_name(named.text) == " + ".join(rows)


@pytest.mark.parametrize(("name", "taken"), [
    ("a" * 40, True), ("a" * 41, False), ("_a", False), ("-a", False), ("1-_b", True), ("é" * 40, True),
])
def test_a_name_has_forty_characters(name: str, taken: bool) -> None:
    corpora = Corpora(((name, "sample:hugs"),))
    if taken:
        assert corpora.checked() == corpora
        return
    with pytest.raises(TokentuiError, match="at most 40"):
        corpora.checked()


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=6))
def test_equal_shares_are_within_half_a_percent(sizes: list[int]) -> None:
    times = times_of(sizes, "equal")
    assert all(isinstance(one, int) and one >= 1 for one in times)
    weighed = [n * size for n, size in zip(times, sizes, strict=True) if size]
    if weighed:
        most = times[sizes.index(max(sizes))] * max(sizes)
        assert all(abs(Fraction(one, most) - 1) <= Fraction(1, 200) for one in weighed)
        assert max(times[sizes.index(max(sizes))], 0) <= 100
    assert times_of(sizes, "count") == (1,) * len(sizes)


def test_equal_sizes_count_once() -> None:
    assert times_of([70, 70, 70], "equal") == (1, 1, 1)
    assert times_of([100, 50], "equal") == (1, 2)
    assert times_of([200, 300], "equal") == (3, 2)


@given(st.lists(st.lists(st.sampled_from(["a", "b", "c d"]), min_size=1, max_size=5), min_size=1, max_size=3))
def test_the_words_of_all_are_those_of_one_corpus(parts: list[list[str]]) -> None:
    """By count they are what all documents give, in the same order; a share multiplies its own."""
    named = {f"n{at}": Corpus.from_lines(lines) for at, lines in enumerate(parts)}
    recipe = Recipe(split="whitespace")
    one = count(joined(named), recipe)
    together = count(Corpus.from_lines([line for lines in parts for line in lines]), recipe)
    assert (list(one.words), list(one.counts)) == (list(together.words), list(together.counts))
    corpus = joined(named, "equal")
    weighed = count(corpus, recipe)
    summed: Counter[str] = Counter()
    for part, named_ in zip(weighed.parts, corpus.named, strict=True):
        own = count(named_.corpus, recipe)
        assert list(part.words.counts) == [named_.times * times for times in own.counts]
        summed.update(dict(zip(part.words.words, part.words.counts, strict=True)))
    assert dict(zip(weighed.words, weighed.counts, strict=True)) == summed
    assert corpus.size == sum(one.times * one.corpus.size for one in corpus.named)


def test_counted_words_are_joined_too() -> None:
    both = {"a": Corpus.from_counts([("x", 2), ("y", 1)]), "b": Corpus.from_counts([("x", 3)])}
    assert joined(both).counts == (("x", 5), ("y", 1))
    assert count(joined(both, "equal"), Recipe()).counts == (5, 1)
    with pytest.raises(TokentuiError, match="that is more than one corpus"):
        joined({**both, "c": Corpus.from_text("x")})


def test_the_parallel_set_is_named_in_one_word() -> None:
    corpus = read(PARALLEL)
    assert [one.name for one in corpus.named] == [one.language for one in parallel()]
    assert {len(one.corpus.documents) for one in corpus.named} == {40}
    assert read([PARALLEL]).named == corpus.named
    assert len(corpus.documents) == 40 * len(corpus.named)


def test_files_are_read_as_they_are_alone(tmp_path: Path) -> None:
    (tmp_path / "en.txt").write_text("the end\n")
    (tmp_path / "hi.txt").write_bytes(b"\xff\n")
    corpus = tokentui.read({"en": tmp_path / "en.txt", "hi": str(tmp_path / "hi.txt")}, as_="lines",
                           development={"en": Corpus.from_text("an end")})
    assert [one.corpus.documents for one in corpus.named] == [("the end",), ("\udcff",)]
    assert corpus.invalid is not None
    assert corpus.invalid.file == "hi.txt"
    judged = corpus.named[0].development
    assert judged is not None
    assert judged.documents == ("an end",)
    assert corpus.documents == ("the end", "\udcff")
    assert corpus.sha256 != tokentui.read({"en": tmp_path / "en.txt"}).sha256


@pytest.mark.parametrize(("word", "what"), [
    ("corpora:", "no corpus is named"), ("corpora:en", "not NAME=SOURCE"),
    ("corpora:en=", "no file is named"), ("corpora:en=a,en=b", "two corpora have this name"),
    ("corpora:e n=a", "not a valid corpus name"), ("corpora:en=a,shares=half", "no shares called 'half'"),
    ("corpora:en=a,development.hi=b", "there is no corpus of this name"),
    ("corpora:en=sample:parallel", "itself a set of named corpora"), ("corpora:en=nowhere.txt",
        "no such file"),
])
def test_an_invalid_corpus_name_is_refused_in_one_line(word: str, what: str) -> None:
    with pytest.raises(TokentuiError, match=what) as error:
        read(word)
    assert "\n" not in str(error.value)


def test_named_corpora_cannot_be_combined_with_other_sources() -> None:
    with pytest.raises(TokentuiError, match="cannot be part of another corpus"):
        read(["sample:hugs", PARALLEL])
    with pytest.raises(TokentuiError, match="only named corpora have shares"):
        read("sample:hugs", shares="equal")
    with pytest.raises(TokentuiError, match="itself a set of named corpora"):
        joined({"all": read(PARALLEL)})
