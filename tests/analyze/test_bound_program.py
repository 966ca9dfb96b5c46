"""The linear program of the lower bound has the value that the search finds."""

from __future__ import annotations

import math

import pytest
from bounds import corpora, rows, searched

from tokentui.analyze.bound_program import solve
from tokentui.learn.lower_bound import Candidates

pytest.importorskip("scipy")


@pytest.mark.parametrize("case", range(60))
@pytest.mark.first_run(cases=3)
def test_it_is_the_value_of_the_linear_program(case: int) -> None:
    words, k = corpora(60)[case]
    value = solve(Candidates(rows(words)), k)
    assert searched(words, k).best.tokens == math.ceil(round(value, 6))
