"""The measures: golden values, formulas against their definitions, and columns side by side."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokentui.analyze.metrics import (
    MEASURES,
    SYMBOLS,
    Conventions,
    Tally,
    WordTally,
    efficiency,
    entropy,
    ratio,
    rows_of,
    shown,
)

COUNTS = st.lists(st.integers(0, 1000), max_size=12)
HELD = st.lists(st.integers(1, 1000), min_size=1, max_size=12)

TALLY = Tally(
    conventions=Conventions(), bytes=120, characters=100, vocab_size=16, tokens=40, counts=(20, 10, 5, 5),
    used=4, unknowns=3, spaced=WordTally(words=20, distinct=8, tokens=30, continued=5, single=6, lost=2),
    bare=WordTally(words=20, distinct=8, tokens=36, continued=9, single=2, lost=2),
)


def value(tally: Tally, name: str) -> float | int | None:
    return next(measure.of(tally) for measure in MEASURES if measure.name == name)


@pytest.mark.parametrize(
    ("text", "golden"),
    [
        ("pick @@ed pick @@l @@ed pick @@les", 0.8265064834),
        ("pick @@e @@d pick @@l @@e @@d pick @@l @@e @@s", 0.9204840242),
    ],
)
def test_golden_renyi_efficiency(text: str, golden: float) -> None:
    counts = Counter(text.split()).values()
    assert efficiency(entropy(counts, 2.5), len(counts)) == pytest.approx(golden, abs=5e-11)


def test_each_measure_by_hand() -> None:
    held = 20 / 40 * 1 + 10 / 40 * 2 + 2 * 5 / 40 * 3
    order = math.log2(0.5**2.5 + 0.25**2.5 + 2 * 0.125**2.5) / -1.5
    wanted = {
        "tokens": 40, "bytes_per_token": 3.0, "characters_per_token": 2.5, "fertility": 1.5,
        "continued_words": 0.25, "single_token_words_spaced": 0.75, "single_token_words_bare": 0.25,
        "shannon_efficiency": held / 4, "shannon_efficiency_used": held / 2, "renyi_efficiency": order / 4,
        "renyi_efficiency_used": order / 2, "vocabulary_size": 16, "vocabulary_in_use": 0.25,
        "dead_tokens": 12, "bits": 160.0, "unknowns": 3, "round_trip_losses": 2,
    }
    assert {measure.name: measure.of(TALLY) for measure in MEASURES} == pytest.approx(wanted)


def test_nothing_to_divide_by_is_no_value() -> None:
    empty = replace(
        TALLY, bytes=0, characters=0, tokens=0, counts=(), used=0, vocab_size=1, spaced=None, bare=None
    )
    for name in (
        "bytes_per_token", "fertility", "single_token_words_bare", "shannon_efficiency",
        "renyi_efficiency_used",
    ):
        assert value(empty, name) is None
    assert (value(empty, "bits"), value(empty, "round_trip_losses"), value(empty, "tokens")) == (0.0, None, 0)
    assert value(replace(empty, vocab_size=0), "bits") is None
    assert value(replace(TALLY, spaced=WordTally(0, 0, 0, 0, 0, 0)), "fertility") is None
    assert (ratio(0, 0), efficiency(1.0, 1), entropy([]), entropy([0, 0], 2.5)) == (None, None, None, None)


@given(HELD)
def test_shannon_is_its_definition(counts: list[int]) -> None:
    total = sum(counts)
    assert entropy(counts) == pytest.approx(-sum(c / total * math.log2(c / total) for c in counts), abs=1e-9)


@given(HELD, st.floats(0, 8).filter(lambda alpha: abs(alpha - 1) > 1e-3))
def test_renyi_is_its_definition(counts: list[int], alpha: float) -> None:
    total = sum(counts)
    assert entropy(counts, alpha) == pytest.approx(
        math.log2(sum((c / total) ** alpha for c in counts)) / (1 - alpha), abs=1e-9
    )


@given(COUNTS)
def test_renyi_falls_with_its_order(counts: list[int]) -> None:
    held = [count for count in counts if count]
    values = [entropy(counts, alpha) for alpha in (0, 0.5, 1, 2.5, 50, 5000, math.inf)]
    if not held:
        assert values == [None] * 7
        return
    found = [one for one in values if one is not None]
    assert len(found) == 7
    assert found[0] == pytest.approx(math.log2(len(held)), abs=1e-9)
    assert found[2] == entropy(counts)
    assert all(left >= right - 1e-9 for left, right in pairwise(found))
    assert found[-1] == pytest.approx(found[-2], abs=0.01)


def test_the_table_of_measures_is_whole() -> None:
    names = [measure.name for measure in MEASURES]
    assert len(set(names)) == len(names)
    for measure in MEASURES:
        assert measure.title
        letters = set(re.findall(r"\b[A-Zp]\b", re.sub(r"[a-z]{2,}", "", measure.formula)))
        assert letters <= set(SYMBOLS), measure.formula
        assert ("|w|" in measure.formula) <= ("splitter" in measure.under)
        assert ("α" in measure.formula) == ("alpha" in measure.under)


def test_conventions_are_said_with_each_figure() -> None:
    said = {row.measure.name: dict(row.conventions) for row in rows_of([None, TALLY])}
    assert said["fertility"] == {"leading space": "yes", "words by": "whitespace"}
    assert said["single_token_words_bare"] == {"leading space": "no", "words by": "whitespace"}
    assert said["renyi_efficiency"] == {"denominator": "log2 V", "α": "2.5"}
    assert said["renyi_efficiency_used"]["denominator"] == "log2 U"
    assert said["tokens"] == {}


def test_values_under_one_convention_share_a_row() -> None:
    rows = rows_of([TALLY, replace(TALLY, tokens=80)])
    assert [row.measure for row in rows] == list(MEASURES)
    assert [None if figure is None else figure.value for figure in rows[1].figures] == [3.0, 1.5]


def test_a_column_that_could_not_be_measured_is_empty() -> None:
    assert all(row.figures[1] is None and row.figures[0] for row in rows_of([TALLY, None]))
    assert rows_of([]) == rows_of([None]) == ()


def test_numbers_for_people() -> None:
    assert [shown(1234), shown(0.5), shown(12345.678, 1), shown(None)] == [
        "1,234", "0.5000", "12,345.7", "n/a",
    ]
