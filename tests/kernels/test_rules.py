"""What the tables of pairs say, against the patterns; without any kernel."""

from __future__ import annotations

import itertools

import pytest
import scanners
from hypothesis import given
from hypothesis import strategies as st
from scanners import class_of

from tokentui.recipe import Recipe
from tokentui.text.kernels import rules
from tokentui.text.split import splitter


def entry(split: str, left: str, right: str) -> int:
    table = rules.RULES[rules.rule_of(split)].table()
    return rules.pairs(split)[class_of(table, ord(left)) * rules.CLASSES + class_of(table, ord(right))]


@pytest.mark.parametrize("split", scanners.SPLITS)
def test_no_border_is_certain_where_words_differ(split: str) -> None:
    """CUT and JOIN of two characters that stand alone are what the pattern does with them."""
    for left, right in itertools.product(scanners.SHORT, repeat=2):
        said = entry(split, left, right)
        if said & rules.ASK != rules.ASK and not said & rules.DROP:
            together = [word for word in splitter(split).words(left + right) if word == left + right]
            spaces = splitter(split).words(left) == [] == splitter(split).words(right)
            assert spaces or bool(together) == (said == rules.JOIN), (left, right)


def test_the_table_of_a_split_has_an_entry_for_each_pair() -> None:
    for split in scanners.SPLITS:
        table = rules.pairs(split)
        assert len(table) == rules.CLASSES**2
        starts = table[rules.START * rules.CLASSES :]
        assert all(one & rules.CUT for one in starts)


@pytest.mark.parametrize(("recipe", "said"), [
    (Recipe(split="gpt2"), ""),
    (Recipe(split="none"), ""),
    (Recipe(split="words"), ""),
    (Recipe(split=r"regex:\bw"), r"split=regex:\bw"),
    (Recipe(split="gpt2", normalize=("nfc",)), "normalize=nfc"),
    (Recipe(split="words", normalize=("nfc",)), "normalize=nfc"),  # a rule for the split would not help
    (Recipe(split="gpt2", normalize=("nfc",), symbols=("a",)), "symbols=a"),
    (Recipe(split="gpt2", prefix_space=True), ""),
    (Recipe(split=r"regex:\bw", prefix_space=True), "prefix_space=yes"),
])
def test_what_keeps_the_kernels_from_counting_is_named(recipe: Recipe, said: str) -> None:
    assert rules.without_scanner(recipe) == said


@pytest.mark.first_run(cases=4)
@pytest.mark.parametrize("split", scanners.SPLITS)
@given(st.text("ab '.1\nZé", max_size=8), st.text("ab '.1\nZé", max_size=8))
def test_a_text_may_be_cut_before_a_space_between_small_letters(split: str, head: str, tail: str) -> None:
    """`count` cuts there without the pattern of the split."""
    head, tail, one = f"{head}x", f" y{tail}", splitter(split)
    assert one.words(head) + one.words(tail, first=False) == one.words(head + tail)
