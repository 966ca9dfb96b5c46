"""Places of tokens that are computed from their ids, compared with those of the encoder."""

from __future__ import annotations

import pytest

import tokentui
from tokentui.encode.places import Placer
from tokentui.preset_table import PRESETS

TEXTS = (
    "", " ", "a", "The crowd in the street", "  two  blanks\n\n\tand a tab\r\nCR LF\rCR",
    "caf\u00e9 na\u00efve \U0001f600", "\u2028 line\u2029\x00 NUL ▁ mark <0x41>", "e\u0301\u200d\ufeff",
    "broken \udcff\udc80 bytes", "\u4e2d\u6587 \u5b57 \u3042",
    "Upper CASE 12345 \u00bd \ufb01",
)


@pytest.mark.first_run(cases=4)
@pytest.mark.parametrize("name", PRESETS)
def test_places_are_those_of_the_encoder(name: str) -> None:
    """Or there are none, where the bytes of the tokens are not the text."""
    unigram = "unigram" in name
    try:
        tokenizer = tokentui.train(
            "sample:hugs", name, vocab_size=400 if unigram else None, merges=None if unigram else 60
        )
    except tokentui.TokentuiError:
        tokenizer = tokentui.train("sample:hugs", name)
    placer, placed = Placer(tokenizer.encoder), 0
    for text in TEXTS:
        try:
            encoding = tokenizer.encode(text)
        except tokentui.TokentuiError:
            continue
        ids = [token for token in encoding.ids if token is not None]
        if len(ids) < len(encoding.ids):
            continue
        tokens = placer.place(text, ids)
        if tokens is not None:
            placed += 1
            assert [row[:5] for row in tokens] == [row[:5] for row in encoding.rows]
            assert [row.id for row in tokens[1:3]] == [*encoding.ids[1:3]]
    if name == "gpt2":
        assert placed > 5
