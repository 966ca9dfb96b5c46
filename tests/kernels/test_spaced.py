"""The words of sentencepiece's split, counted by the runs between white space, are those of its lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import ModuleType

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scanners import class_of

from tokentui.preset_table import PRESETS
from tokentui.recipe import NEWEST_UNICODE, Recipe
from tokentui.text.kernels.rules import SPACED, scanned
from tokentui.text.normalize import compositions, nmt_characters
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.unicode import TABLES

RECIPE = PRESETS["sentencepiece-unigram"].recipe
SPACES = " \t\n\r\x0b\x0c\x1c\x85\xa0\u2003\u2028\u3000\u200b\ufeff\u2581"
texts = st.text(alphabet=f"ab.1é中ﾊﾟ가\u1161\u0301\u0344A\x01\x7f\udc80🏽１{SPACES}", max_size=24) | st.text(
    max_size=12
)
documents = st.lists(texts, max_size=8)


def counted(lines: list[str], recipe: Recipe) -> Counter[str]:
    words = Pretokenizer(recipe).words
    return Counter(word for line in lines for word in words(line))


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(documents, st.integers(1, 2))
@example(["a\u200bb c", "", " a", "\x01", "a\x0bb\x85c"], 1)
def test_counted_by_runs(counting: ModuleType, lines: list[str], threads: int) -> None:
    found = counting.count_words(lines, RECIPE, Pretokenizer(RECIPE).words, threads=threads)
    assert list(found.items()) == list(counted(lines, RECIPE).items())


@pytest.mark.parametrize("steps", [(), ("nfc", "nmt-nfkc"), ("nmt-nfkc", "nfkc")])
def test_other_normalizations_are_not_for_it(steps: tuple[str, ...]) -> None:
    assert scanned(replace(RECIPE, normalize=steps)) != SPACED


@pytest.mark.slow
def test_what_parts_runs_is_a_space_to_sentencepiece(counting: ModuleType) -> None:
    """And no rule of several characters has one."""
    from tokentui.text.kernels.count import tables_of
    from tokentui.text.kernels.rules import SPACE, spaced_table

    assert tables_of(SPACED)
    table = spaced_table()
    parting = [chr(code) for code in range(0x110000) if class_of(table, code) == SPACE]
    assert len(parting) > 15
    assert {nmt_characters(character, TABLES[NEWEST_UNICODE]) for character in parting} == {" "}
    assert not any(" " in parts for parts in compositions(TABLES[NEWEST_UNICODE]))
