"""Whose Unicode tables a tokenizer uses, and the characters of a corpus that these treat in another way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tokentui.analyze.report import Report
from tokentui.analyze.unicode_report import with_unicode
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.recipe import Recipe

EMPTY = Report("a report", (), {})


def of(unicode: str) -> Tokenizer:
    recipe = replace(Recipe(), unicode=unicode)
    return Tokenizer(Vocabulary(recipe, [bytes((value,)) for value in range(256)]))


def test_a_new_tokenizer_has_the_newest_tables() -> None:
    found = with_unicode(EMPTY, of("18.0"), ["\u32ff \ua7ce \U000323b0"])
    assert found.value["unicode"] == {"tables": "18.0", "owner": "Unicode 18", "differing": {}}
    assert found.sections[-1].summary == "Unicode 18"


@pytest.mark.parametrize(
    ("unicode", "differing"),
    [
        ("tokenizers", {"normalization": ["\u32ff"], "classes": ["\U000323b0"]}),
        ("tiktoken", {"classes": ["\U000323b0"]}),
    ],
)
def test_characters_that_an_owner_treats_otherwise(unicode: str, differing: dict[str, list[str]]) -> None:
    found = with_unicode(EMPTY, of(unicode), ["plain", "\u32ff x", "\U000323b0\u4e2d"])
    value = found.value["unicode"]
    assert isinstance(value, dict)
    assert value["differing"] == differing
