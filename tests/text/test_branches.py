"""Branches: the one that is named is the one that the pattern took."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from tokentui.text.patterns import alternatives
from tokentui.text.split import SPLITS, branches, splitter

_TEXTS = st.text(st.sampled_from("ab Zé1234 \t\r\n'’sSdt.,/—▁漢び́ﬀ\x1c"), max_size=30)
_PATTERNS = [name for name in SPLITS if name not in ("regex", "bert", "falcon", "metaspace")]


@pytest.mark.first_run(cases=5)
@pytest.mark.parametrize("name", _PATTERNS)
@given(text=_TEXTS)
def test_the_branch_is_the_group_that_matched(name: str, text: str) -> None:
    known = branches(name)
    parts = alternatives(SPLITS[name].pattern)
    grouped = regex.compile("|".join(f"(?P<b{n}>{part})" for n, part in enumerate(parts)))
    for match in grouped.finditer(text):
        number = next(n for n in range(len(parts)) if match.group(f"b{n}") is not None)
        assert known.of(text, match.start(), match.group()) == number


@pytest.mark.first_run(cases=8)
@pytest.mark.parametrize("name", [name for name in SPLITS if name != "regex"])
@given(text=_TEXTS)
def test_every_word_has_a_branch(name: str, text: str) -> None:
    split, known = splitter(name), branches(name)
    prepared = split.prepare(text)
    for word, start, _ in split.spans(text):
        assert known.of(prepared, start, word) is not None


def test_every_branch_of_the_table_has_a_meaning() -> None:
    for name in SPLITS:
        if name != "regex":
            for branch, part in zip(branches(name).names, alternatives(SPLITS[name].pattern), strict=False):
                assert branch != part, (name, part)


def test_a_pattern_of_ones_own() -> None:
    known = branches(r"regex:(?i)[a-c|]+|\d{2}|(?:x|y)")
    assert known.names == ("(?i)[a-c|]+", r"(?i)\d{2}", "(?i)(?:x|y)")
    assert [known.of("B|12Y!", at, "") for at in (0, 2, 4, 5)] == [0, 1, 2, None]


def test_a_branch_that_refers_to_another_is_not_taken_apart() -> None:
    assert branches(r"regex:(a)b|c(?:d)|\1\w").names == (r"(a)b|c(?:d)|\1\w",)
    assert alternatives(r"[]|]a|[^]|]|\|") == ["[]|]a", "[^]|]", r"\|"]
