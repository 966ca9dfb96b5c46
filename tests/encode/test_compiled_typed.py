"""A text that is typed has at each key the tokens that it has when it is encoded as a whole."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import pytest
import scanners
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tokentui import train
from tokentui.core.errors import TokentuiError
from tokentui.encode.encoding import EncodedToken
from tokentui.encode.incremental import Typed
from tokentui.encode.tokenizer import Tokenizer
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus

CORPUS = (
    "the mug, the rug; it's a Bug's LIFE... 中文中文 a\u0301e\u0301 1234 12 1\n\n  if x:\n\treturn 'x'\n"
    "aaaa aaaaaaaa abababab "
) * 3
CHARACTERS: dict[str, Any] = {"unit": "char", "base": "sorted", "unknown": "fused"}
RECIPES = {
    **{
        name: PRESETS[name].recipe for name in ("gpt2", "bert", "wordpiece", "t5", "llama3", "falcon", "gage")
    },
    **{
        f"split={split}": Recipe(split=split, **CHARACTERS)
        for split in ("none", "metaspace", "words", "before", "o200k")
    },
    "normalised": Recipe(split="metaspace", normalize=("nfkc", "lowercase"), **CHARACTERS),
    "trimmed": Recipe(split="metaspace", normalize=("nmt-nfkc",), **CHARACTERS),
    "own pattern": Recipe(split=r"regex:(?<=x)\w|\w+"),
    "graphemes": Recipe(split="gpt2", unit="grapheme", base="sorted", unknown="error"),
    "dropped": Recipe(split="whitespace", mark="end-symbol:</w>", **{**CHARACTERS, "unknown": "drop"}),
    "longest": Recipe(
        split="bert", mark="prefix:##", encode="longest-match", **{**CHARACTERS, "unknown": "rest-of-word"}
    ),
    "ids that move": Recipe(split="whitespace", **{**CHARACTERS, "base": "frequency"}),
    "whole words": Recipe(split="gpt2", **{**CHARACTERS, "unknown": "whole-word"}),
}
MERGES = 40


class Edit(NamedTuple):
    """So many characters at a place are replaced, and the tokenizer goes to another step or stays."""

    place: int
    length: int
    text: str
    merges: int | None


edits = st.lists(
    st.builds(
        Edit, st.integers(0, 60), st.integers(0, 12),
        st.one_of(
            scanners.texts,
            st.sampled_from(["", "a", " ", "mug ", " the mug", "'", "s ", "\u0301", CORPUS[:70]]),
        ),
        st.one_of(st.none(), st.none(), st.integers(0, MERGES)),
    ),
    max_size=8,
)


@functools.cache
def trained(name: str) -> Tokenizer:
    recipe = RECIPES[name]
    specials = ("<unk>",) if recipe.objective != "gage" else ()
    if recipe.objective == "unigram":
        return train(Corpus.from_text(CORPUS), recipe, specials=specials, vocab_size=40)
    return train(Corpus.from_text(CORPUS), recipe, specials=specials, merges=MERGES)


@functools.cache
def at(name: str, merges: int) -> Tokenizer:
    tokenizer = trained(name)
    return tokenizer.at(min(merges, len(tokenizer.vocabulary.merges)))


def whole(tokenizer: Tokenizer, text: str) -> tuple[EncodedToken, ...]:
    return tokenizer.encode(text).rows


def outcome(encode: Any, *words: Any) -> tuple[EncodedToken, ...] | str:
    """Tokens, or what the error says."""
    try:
        found: tuple[EncodedToken, ...] = encode(*words)
    except TokentuiError as error:
        return str(error)
    return found


@pytest.mark.parametrize("name", RECIPES)
@settings(max_examples=15)
@given(start=st.integers(0, 150), changes=edits)
@example(
    start=100,
    changes=[Edit(0, 0, " ", None), Edit(0, 1, "", None), Edit(3, 0, "xx", 3), Edit(60, 12, "", None)],
)
@pytest.mark.first_run(cases=3)
def test_after_each_edit(name: str, start: int, changes: list[Edit]) -> None:
    tokenizer = trained(name)
    typed, text = Typed(), CORPUS[:start]
    for place, length, new, merges in [Edit(0, 0, "", None), *changes]:
        text = text[:place] + new + text[place + length :]
        if merges is not None:
            tokenizer = at(name, merges)
        found = outcome(typed.encode, tokenizer.vocabulary, tokenizer.merges, text)
        assert found == outcome(whole, tokenizer, text)


def test_only_changed_text_is_encoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = trained("gpt2")
    typed, text = Typed(), CORPUS * 20
    typed.encode(tokenizer.vocabulary, tokenizer.merges, text)
    looked: list[str] = []
    pretokenizer = type(typed._encoder.pretokenizer)  # type: ignore[union-attr]
    plain = pretokenizer.analyze

    def analyze(self: Any, part: str) -> Any:
        looked.append(part)
        return plain(self, part)

    monkeypatch.setattr(pretokenizer, "analyze", analyze)
    for place in (0, 1000, 3000, len(text)):
        assert typed.encode(tokenizer.vocabulary, tokenizer.merges, text[:place] + "x" + text[place:])
        typed.encode(tokenizer.vocabulary, tokenizer.merges, text)
    assert len(looked) == 8
    assert max(map(len, looked)) < 40


def test_no_word_is_encoded_again_because_it_moved() -> None:
    tokenizer = trained("gpt2")
    typed, text = Typed(), CORPUS * 20
    typed.encode(tokenizer.vocabulary, tokenizer.merges, text)
    before = list(typed._words)
    assert typed.encode(tokenizer.vocabulary, tokenizer.merges, "x " + text) == whole(tokenizer, "x " + text)
    assert all(one is other for one, other in zip(typed._words[-100:], before[-100:], strict=True))


def test_a_step_keeps_the_words_that_it_does_not_change() -> None:
    tokenizer = trained("gpt2")
    encoder = tokenizer.encoder
    for word in (" the", " mug", " rug", "xyz", "中文"):
        encoder.word(word)
    before = {word: len(tokens) for word, tokens in encoder.tokens.items()}
    for merges in range(MERGES, -1, -1):
        encoder = encoder.at_merges(merges)
        fresh = tokenizer.at(merges).encoder
        assert all(tokens == fresh.word(word) for word, tokens in encoder.tokens.items())
        assert "xyz" in encoder.tokens
    assert " the" not in encoder.tokens
    assert before["xyz"] == 3
