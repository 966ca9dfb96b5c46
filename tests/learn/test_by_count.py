"""Pairs that are chosen by a score are also listed by their counts."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokentui import learn
from tokentui.axes import preset
from tokentui.learn import BY_COUNT, PairCandidate, Query, Trainer
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

ALL = 10_000


def trained(corpus: Corpus, recipe: str = "wordpiece", step: int = 0) -> Trainer:
    trainer = learn.start(corpus, preset(recipe))
    learn.jump(trainer, step)
    return trainer


@cache
def _sailor() -> Trainer:
    return trained(read(["sample:sailor"]))


def counts(trainer: Trainer, query: Query) -> list[tuple[tuple[bytes, ...], int]]:
    rows = learn.candidates(trainer, query).rows
    return [(row.parts, row.places) for row in rows if isinstance(row, PairCandidate)]


@pytest.mark.parametrize("step", [0, 1, 40])
@pytest.mark.parametrize("recipe", ["wordpiece", "bert"])
def test_all_pairs_are_listed_the_most_frequent_first(recipe: str, step: int) -> None:
    trainer = trained(read(["sample:english"]), recipe, step)
    ranked, listed = counts(trainer, Query(0, ALL)), counts(trainer, Query(0, ALL, BY_COUNT))
    assert listed == sorted(ranked, key=lambda row: -row[1])
    assert len(listed) > 100
    if recipe == "bert":
        assert listed == ranked


@given(
    top=st.integers(0, 400), rows=st.integers(0, 50), only=st.booleans(),
    match=st.sampled_from(["", "e", "zz"]),
)
def test_a_page_is_a_part_of_the_whole_list(top: int, rows: int, only: bool, match: str) -> None:
    trainer = _sailor()
    whole = counts(trainer, Query(0, ALL, BY_COUNT))
    joined = [b"".join(parts).replace(b"##", b"") for parts, _ in whole]
    wanted = [n for n, token in enumerate(joined) if match.encode() in token]
    page = learn.candidates(trainer, Query(top, rows, BY_COUNT, (match.encode(),) if match else (), only))
    left = [whole[n] for n in wanted] if only and match else [] if only else whole
    assert page.total == len(left)
    assert [(row.parts, row.places) for row in page.rows] == left[page.top : page.top + rows]
    assert page.whole == (len(whole) if only else None)
    if match:
        assert list(page.places) == wanted
