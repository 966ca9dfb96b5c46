"""Set operations in the brackets of a pattern of one's own."""

from __future__ import annotations

import pytest
import regex
from exporting import exported, trained
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tokentui.core.errors import TokentuiError
from tokentui.formats import WRITTEN
from tokentui.formats.oniguruma import Untranslated, translated
from tokentui.formats.proof import check_export
from tokentui.formats.spec import Spec
from tokentui.recipe import Recipe
from tokentui.text.patterns import alternatives
from tokentui.text.sets import expanded
from tokentui.text.split import SPLITS, splitter

LEAVES = ("a", "a-d", r"\p{Lu}", r"\d", r"\P{L}", "[:punct:]", r"\]", "_")
ALPHABET = "abcdeABC019 \n_-&~[]^漢é!"
KIMI = "|".join([
    r"[\p{Han}]+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+",
])


@st.composite
def classes(draw: st.DrawFn, depth: int = 0) -> str:
    """A class with set operations and brackets in brackets."""
    def side() -> str:
        parts = draw(st.lists(st.sampled_from(LEAVES), min_size=1, max_size=2, unique=True))
        nested = [draw(classes(depth + 1))] if depth < 2 and draw(st.booleans()) else []
        return "".join(parts + nested)

    sides = [side() for _ in range(draw(st.integers(1 if depth else 2, 3)))]
    return "[" + "^" * draw(st.booleans()) + "&&".join(sides) + "]"


@settings(max_examples=300)
@given(classes())
@example(r"[^a-d&&[^\d]]")
@pytest.mark.slow
def test_intersections_match_as_in_oniguruma(pattern: str) -> None:
    try:
        theirs = translated(pattern)
    except Untranslated:
        assume(False)
    ours = regex.compile(expanded(pattern), regex.VERSION0)
    assert ours.findall(ALPHABET) == regex.findall(theirs, ALPHABET, regex.VERSION0), ours.pattern


@pytest.mark.parametrize(("pattern", "matches"), [
    (r"[\w--\d]", "abcdeABC_漢é"), (r"[\w--[a-d]]", "eABC019_漢é"), (r"[a-c~~[b-d]]", "ad"),
    (r"[\w&&\p{Lu}--[A]]", "BC"), (r"[^\w&&[^a]]", "a \n-&~[]^!"), (r"[\p{L}&&[^\p{Han}]]", "abcdeABCé"),
])
def test_operations_work_from_left_to_right(pattern: str, matches: str) -> None:
    assert "".join(regex.findall(expanded(pattern), ALPHABET, regex.VERSION0)) == matches


@pytest.mark.parametrize(
    "pattern",
    [*(one.pattern for one in SPLITS.values()), "[a&b]", r"[&\&]", r"\[a&&b\]", "a&&b", "[[(]", "[!--]"],
)
def test_a_pattern_without_set_operations_is_unchanged(pattern: str) -> None:
    assert expanded(pattern) == pattern


@pytest.mark.parametrize("pattern", ["[a&&]", "[&&a]", "[a&&&&b]", "[a&&[b]"])
def test_an_incomplete_set_operation_is_an_error(pattern: str) -> None:
    with pytest.raises(TokentuiError, match=r"split=regex:.*set operation|split=regex:.*cannot be compiled"):
        splitter(f"regex:{pattern}")


def test_kimis_pattern_covers_all_of_a_text() -> None:
    text = "The CROWD's 123456 漢字とkana, élan!\n\n  done  "
    assert "".join(splitter(f"regex:{KIMI}").words(text)) == text


def test_alternatives_do_not_begin_inside_a_set() -> None:
    assert alternatives(r"[a&&[^b]|]+|c") == [r"[a&&[^b]|]+", "c"]


def test_minbpe_refuses_a_set_operation() -> None:
    """Its `regex` reads `&&` as two characters."""
    tokenizer = trained(Recipe(split=f"regex:{KIMI}", base="bytes"), merges=5)
    assert "set operation" in check_export(Spec(tokenizer), WRITTEN["minbpe"]).refused
    assert not check_export(Spec(tokenizer), WRITTEN["huggingface"]).refused
    assert not exported(tokenizer, "tekken")[0].refused
