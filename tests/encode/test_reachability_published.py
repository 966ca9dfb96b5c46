"""Every token of five published vocabularies: the text that becomes it, or the reason why none does."""

from __future__ import annotations

from collections import Counter

import oracle
import pytest

import tokentui
from tokentui.encode.completions import completions
from tokentui.encode.reachability import reachability_of_all, typed_text
from tokentui.encode.tokenizer import TokenEntry, Tokenizer

CL100K, LLAMA = "tiktoken_cl100k_base/cl100k_base.tiktoken", "llama2/tokenizer.json"
COUNTS = {
    "gpt2/tokenizer.json": {"": 50_243, "not-utf8": 13, "special": 1},
    CL100K: {"": 100_243, "not-utf8": 13, "special": 5},
    "bert-base-uncased/tokenizer.json": {"": 29_187, "split": 1331, "special": 4},
    "t5-small/tokenizer.json": {"": 32_098, "less-probable": 2},
    LLAMA: {"": 31_887, "covered": 97, "not-utf8": 13, "special": 3},
}
"""How many tokens have each reason; none for those that a text becomes."""
CONTEXTS = (
    "{}", " {}", "the {}", "{} the", "the{}", "{}the", "the {} the", "x{}x", "({})", "1{}2", "é{}é", "A{}Z",
    "{0}{0}",
)


@pytest.mark.parametrize("name", oracle.large(*COUNTS, marks=[pytest.mark.soak]))
def test_every_token(name: str) -> None:
    tokenizer = tokentui.load(oracle.shared(f"tokenizers/{name}"))
    entries = {entry.id: entry for entry in tokenizer.entries()}
    found = list(reachability_of_all(tokenizer))
    assert [one.id for one in found] == list(entries)
    assert Counter(one.reason for one in found) == COUNTS[name]
    for one in found:
        if one.text is not None:
            assert one.id in tokenizer.encode(one.text).ids
            assert one.reason == ("" if is_text(one.text) else "not-utf8")
        else:
            check(tokenizer, entries[one.id], one.reason)


def is_text(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


def check(tokenizer: Tokenizer, entry: TokenEntry, reason: str) -> None:
    """Encode the token's own text in many contexts, and look at the reason."""
    own = entry.text if entry.symbol is None or entry.kind == "byte" else typed_text(tokenizer, entry.symbol)
    assert own is not None
    for context in CONTEXTS:
        assert entry.id not in tokenizer.encode(context.replace("{0}", own).replace("{}", own)).ids
    encoding = tokenizer.encode(own)
    match reason:
        case "special":
            allowed = tokenizer.encode(own, allow_special=True).ids
            assert entry.id in allowed or entry.kind == "unknown"
        case "split":
            # the split sets each punctuation mark and each CJK character apart
            assert len(set(encoding.words)) > 1 or own != entry.text
            assert len(own) > 1 or entry.text.startswith("##")
        case "less-probable":
            assert len(encoding) > 1
            assert b"".join(piece or b"" for piece in encoding.pieces) == entry.piece
            scores = {one.id: one.score or 0.0 for one in tokenizer.entries()}
            assert sum(scores[number] for number in encoding.ids if number is not None) > scores[entry.id]
        case "covered":
            value = int(entry.text[3:5], 16)
            having = [chr(value)] if value < 0x80 else list(completions(bytes((value,))))
            assert all(entry.id not in tokenizer.encode(text).ids for text in having)
            assert 0 < len(having) <= 64  # a lead byte of two, all of whose characters are there
        case "not-utf8":
            value = int(entry.text[3:5], 16)
            assert value in (0xC0, 0xC1) or value >= 0xF5
        case _:
            pytest.fail(f"no check of {reason}")
