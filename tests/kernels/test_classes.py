"""The class tables say what the patterns of the splits say."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import regex

from tokentui.text import bert, normalize
from tokentui.text.kernels import classes
from tokentui.text.kernels.classes import ClassTable

ALL = range(0x110000)


def members(table: ClassTable, wanted: set[int]) -> set[int]:
    high, low = memoryview(table.high).cast("H"), table.low
    return {code for code in ALL if low[high[code >> 7] << 7 | code & 127] in wanted}


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        (r"\s", {classes.SPACE, classes.SPACING, classes.NEWLINE}),
        (r"[\r\n]", {classes.NEWLINE}),
        (r"\p{N}", {classes.NUMBER}),
        (r"\p{L}", {classes.EITHER, classes.UPPER, classes.LOWER}),
        (r"[^\s\p{L}\p{N}]", {classes.SIGN, classes.APOSTROPHE, classes.SLASH, classes.MARK}),
        (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", {classes.UPPER, classes.EITHER, classes.MARK}),
        (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", {classes.LOWER, classes.EITHER, classes.MARK}),
        (r"\p{M}", {classes.MARK}),
    ],
)
def test_every_code_point_has_the_class_that_patterns_give_it(pattern: str, names: set[int]) -> None:
    match = regex.compile(pattern).match
    assert members(classes.letters_table(), names) == {code for code in ALL if match(chr(code))}


def test_single_characters() -> None:
    table = classes.letters_table()
    assert [table.of(ord(one)) for one in " '/\t\n1aA中\u0301ʰ\udc80\U0010ffff"] == [
        classes.SPACE, classes.APOSTROPHE, classes.SLASH, classes.SPACING, classes.NEWLINE, classes.NUMBER, classes.LOWER,
        classes.UPPER, classes.EITHER, classes.MARK, classes.EITHER, classes.SIGN, classes.SIGN,
    ]


@pytest.mark.parametrize(
    ("table", "space", "sign"),
    [
        (classes.bert_table, f"[{bert.SPACES}]", f"[{bert.PUNCTUATION}]"),
        (classes.bert_runs_table, None, "(?!)"),
    ],
)
def test_bert(table: Callable[[], ClassTable], space: str | None, sign: str) -> None:
    if space is None:  # what the normalisation makes a space
        spaces = {code for code in ALL if normalize.bert_clean(chr(code)) == " "}
    else:
        spaces = {code for code in ALL if re.match(space, chr(code))}
    assert members(table(), {classes.SPACE}) == spaces
    assert members(table(), {classes.SIGN}) == {code for code in ALL if re.match(sign, chr(code))}


def test_folds_are_the_letters_that_patterns_take_for_one_of_a_contraction() -> None:
    for letter in classes.FOLDED:
        match = regex.compile(f"(?i:{letter})").match
        others = {code for code in ALL if match(chr(code))} - {ord(letter), ord(letter.upper())}
        assert others == {code for code, small in classes.folds() if small == ord(letter)}
    assert (ord("ſ"), ord("s")) in classes.folds()
