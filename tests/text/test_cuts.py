"""A place to cut that is found from a pattern changes none of its matches, in any text."""

from __future__ import annotations

import itertools

import pytest
import scanners
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tokentui.core.errors import TokentuiError
from tokentui.text.cuts import cut_of, places
from tokentui.text.split import SPLITS, compile_pattern

PIECES = st.sampled_from([
    "a", "b", " ", r"\n", ".", "(?s:.)", r"\s", r"\S", r"\w", r"\p{L}", r"\P{N}", r"[^\s\p{L}]", "[a-b ]",
    "[^a]", "(?i:S)", "(?i:k)", "(?!a)", r"(?!\S)", "(?=b)", r"(?=[\s.])", "$", r"\Z", "(?!a|b)", "(?=ab)",
    r"\pL", "[]a]",
])
REPEATS = st.sampled_from(["", "", "", "?", "*", "+", "++", "*?", "{1,2}", "{2}", "?+", "{0,1}", "{,2}"])


def _grouped(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    rows = st.lists(inner, min_size=1, max_size=3).map("".join)
    wholes = st.lists(rows, min_size=1, max_size=3).map("|".join)
    heads = st.sampled_from(["(?:", "(?>", "(?i:", "(", "(?-i:"])
    return st.builds(lambda head, whole, times: f"{head}{whole}){times}", heads, wholes, REPEATS)


parts = st.recursive(st.builds(lambda one, times: one + times, PIECES, REPEATS), _grouped, max_leaves=6)
sequences = st.lists(parts, min_size=1, max_size=3).map("".join)
own = st.builds(
    lambda flags, branches: flags + "|".join(branches),
    st.sampled_from(["", "", "(?i)", "(?s)"]), st.lists(sequences, min_size=1, max_size=4),
)
texts = st.text(st.sampled_from("aabbAsSſkK .'\n\n1é中_"), max_size=14)


def unchanged(pattern: str, text: str) -> int:
    """Check each place to cut. Returns how many there are."""
    cut, compiled = compile_pattern(cut_of(pattern)), compile_pattern(pattern)

    def spans(start: int, end: int) -> list[tuple[int, int]]:
        found = [match.span() for match in compiled.finditer(text[start:end])]
        return [(start + first, start + last) for first, last in found]

    ends = [match.end() for match in cut.finditer(text)]
    whole = spans(0, len(text))
    for at in ends:
        assert spans(0, at) + spans(at, len(text)) == whole, (pattern, text, at)
    borders = [0, *ends, len(text)]
    stretches = [span for start, end in itertools.pairwise(borders) for span in spans(start, end)]
    assert stretches == whole, (pattern, text)
    return len(ends)


@settings(max_examples=600, deadline=None)
@given(own, st.lists(texts, min_size=1, max_size=6))
@example(r"\s+$|\s|a", ["a\n\na", "\n a", "a \n"])
@example(r"a$\n?|\na", ["a\n", "a\na"])
@example("a(?!b)|ab", ["ab", "aab"])
@example("(?:a|(?=b))+b|a", ["aab"])
@pytest.mark.slow
def test_a_cut_changes_no_match(pattern: str, documents: list[str]) -> None:
    try:
        compile_pattern(pattern)
    except TokentuiError:
        return
    if cut_of(pattern):
        for document in documents:
            unchanged(pattern, document)


@pytest.mark.parametrize("name", [name for name, one in SPLITS.items() if cut_of(one.pattern)])
@settings(max_examples=60)
@given(text=scanners.texts)
@pytest.mark.first_run(cases=2)
def test_patterns_of_splits(name: str, text: str) -> None:
    unchanged(SPLITS[name].pattern, text)


def test_cuts_are_found_at_the_expected_places() -> None:
    text = "It's 1,234 words; don't count them twice."
    assert unchanged(SPLITS["gpt2"].pattern, text) >= 12
    assert unchanged(SPLITS["o200k"].pattern, text) >= 9
    assert unchanged(r"\w+|[^\w\s]+", text) >= 14


@pytest.mark.parametrize("pattern", [
    "", "a*", "a|", "(?s).+", "^a", r"\ba", r"(?<=a)b", r"(?<!a)b", r"(a)\1", "(?=ab)a", "(?!(?!a))b", r"\Ga",
    r"\X", "a{e}", "(?m)a$", "(?x)a b", "[[:alpha:]]", "(?R)a", "(?(1)a|b)", "(?>", "a)", "(?P=n)", r"\Ka",
    "a{", "(*F)", "(" * 60 + "a" + ")" * 60, "|".join(f"[{n}a]b" for n in range(101)), "a{,}",
])
def test_text_that_was_not_read_has_no_cuts(pattern: str) -> None:
    assert cut_of(pattern) == ""


def test_the_places_of_a_cut() -> None:
    cut = r"\p{L}(?=\P{L}|')|'(?=\s)|(?!ab).(?=.)"
    assert list(places(cut)) == [r"\p{L}", r"\P{L}", "'", r"\s", "a", "b", r"[^\n]"]
