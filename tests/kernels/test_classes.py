"""The class tables say what the patterns of the splits say."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import regex
from scanners import class_of
from soak import code_points

from tokentui.text import normalize
from tokentui.text.kernels import rules
from tokentui.text.kernels.rules import ClassTable
from tokentui.text.normalize import BERT_PUNCTUATION, BERT_SPACES


def members(table: ClassTable, wanted: set[int]) -> set[int]:
    high, low = memoryview(table.high).cast("H"), table.low
    return {code for code in code_points() if low[high[code >> 7] << 7 | code & 127] in wanted}


@pytest.mark.first_run(cases=5)
@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        (r"\s", {rules.SPACE, rules.SPACING, rules.NEWLINE}),
        (r"[\r\n]", {rules.NEWLINE}),
        (r"\p{N}", {rules.NUMBER}),
        (r"\p{L}", {rules.EITHER, rules.UPPER, rules.LOWER}),
        (r"[^\s\p{L}\p{N}]", {rules.SIGN, rules.APOSTROPHE, rules.SLASH, rules.MARK}),
        (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", {rules.UPPER, rules.EITHER, rules.MARK}),
        (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", {rules.LOWER, rules.EITHER, rules.MARK}),
        (r"\p{M}", {rules.MARK}),
    ],
)
def test_every_code_point_has_the_class_that_patterns_give_it(pattern: str, names: set[int]) -> None:
    match = regex.compile(pattern).match
    assert members(rules.letters_table(), names) == {code for code in code_points() if match(chr(code))}


def test_one_string_of_all_code_points_is_kept() -> None:
    """Not one for each plane beside it."""
    rules._letters()
    rules._bert_words()
    assert rules._codes.cache_info().currsize == 1


def test_single_characters() -> None:
    table = rules.letters_table()
    assert [class_of(table, ord(one)) for one in " '/\t\n1aA中\u0301ʰ\udc80\U0010ffff"] == [
        rules.SPACE, rules.APOSTROPHE, rules.SLASH, rules.SPACING, rules.NEWLINE, rules.NUMBER, rules.LOWER,
        rules.UPPER, rules.EITHER, rules.MARK, rules.EITHER, rules.SIGN, rules.SIGN,
    ]


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize(
    ("table", "space", "sign"),
    [
        (rules.bert_table, f"[{BERT_SPACES}]", f"[{BERT_PUNCTUATION}]"),
        (rules.bert_runs_table, None, f"(?=[\0-\x7f])[{BERT_PUNCTUATION}]|[{normalize.BERT_IDEOGRAPHS}]"),
        (rules.spaced_table, None, "(?!)"),
        (rules.space_table, " ", "(?!)"),
    ],
)
def test_bert(table: Callable[[], ClassTable], space: str | None, sign: str) -> None:
    if space is None:  # what the normalization makes a space
        spaces = {code for code in code_points() if normalize.bert_clean(chr(code)) == " "}
    else:
        spaces = {code for code in code_points() if re.match(space, chr(code))}
    assert members(table(), {rules.SPACE}) == spaces
    assert members(table(), {rules.SIGN}) == {code for code in code_points() if re.match(sign, chr(code))}


def test_folds_are_the_letters_that_patterns_take_for_one_of_a_contraction() -> None:
    for letter in rules.FOLDED:
        match = regex.compile(f"(?i:{letter})").match
        others = {code for code in code_points() if match(chr(code))} - {ord(letter), ord(letter.upper())}
        assert others == {code for code, small in rules.folds() if small == ord(letter)}
    assert (ord("ſ"), ord("s")) in rules.folds()
