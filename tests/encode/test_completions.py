"""Texts with the bytes of a part of a character, and the tokens that such texts become."""

from __future__ import annotations

import functools
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokentui
from tokentui.core.errors import TokentuiError
from tokentui.encode.completions import Allowed, completions, varied
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.reachability import reachability_of_all

EDGES = (
    0x41, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4,
    0xF5,
)
"""The first and the last byte of each range of RFC 3629, and bytes beside them."""


@functools.cache
def characters() -> list[bytes]:
    """Return all characters in UTF-8."""
    return [chr(code).encode() for code in range(0x110000) if not 0xD800 <= code < 0xE000]


@pytest.mark.parametrize("lead", EDGES)
@pytest.mark.first_run(cases=1)
def test_all_characters_with_two_bytes(lead: int) -> None:
    """Against a look at all characters, where the bytes are in one."""
    for other in EDGES[1:7:2]:
        data = bytes((lead, other))
        if lead in (0x41, 0xC1, 0xF5):
            assert lead == 0x41 or not [*completions(data)]
            continue
        wanted = {char.decode() for char in characters() if data in char}
        assert {text for text in itertools.islice(completions(data), 300_000) if len(text) == 1} == wanted


@given(data=st.lists(st.sampled_from(EDGES), min_size=1, max_size=6).map(bytes))
def test_few_texts_differ_in_category_and_neighbor(data: bytes) -> None:
    first = next(completions(data), None)
    some = [*itertools.islice(varied(data), 300)]
    assert some[:1] == ([] if first is None else [first])
    assert len(set(some)) == len(some)
    assert all(data in text.encode() for text in some)


@given(
    data=st.lists(st.sampled_from(EDGES), min_size=1, max_size=3).map(bytes),
    bytes_=st.lists(st.sampled_from(EDGES), max_size=9, unique=True).map(bytes),
)
def test_only_allowed_bytes_are_added(data: bytes, bytes_: bytes) -> None:
    for texts in (completions, varied):
        for text in itertools.islice(texts(data, Allowed(bytes_, bytes_, bytes_)), 500):
            before, _, after = text.encode().partition(data)
            assert not (before + after).strip(bytes_)


MARKS = ("none", "prefix:▁", "prefix:##", "end-suffix:</w>", "end-symbol:</w>")
WAYS = ("merges", "longest-match", "fewest-tokens")
BASES = ("gpt2-bytes", "first-seen")
RECIPES = [*itertools.product(MARKS, WAYS, BASES, ("gpt4", "minbpe-basic"), ("emoji", "chinese"))]


@pytest.mark.parametrize(("mark", "way", "base", "preset", "corpus"), RECIPES)
@pytest.mark.first_run(cases=1)
def test_a_token_of_a_text_is_reachable(
    mark: str, way: str, base: str, preset: str, corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No token that the corpus or a character of it becomes has a reason why no text becomes it, and the
    number of texts that are tried for all tokens is bounded."""
    source = f"sample:{corpus}"
    unknown = "never" if base == "gpt2-bytes" else "error"
    tokenizer = tokentui.train(
        source, preset, mark=mark, encode=way, base=base, unknown=unknown, merges=120
    )
    tried = 0
    plain = WordEncoder.ids_include

    def counted(encoder: WordEncoder, *arguments: object) -> bool:
        nonlocal tried
        tried += 1
        return plain(encoder, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(WordEncoder, "ids_include", counted)
    reached = {one.id: one for one in reachability_of_all(tokenizer)}
    assert tried < 60_000
    text = "\n".join(tokentui.read(source).documents)
    for piece in (text, *sorted(set(text)), *text.split()[:500]):
        try:
            ids = {*tokenizer.encode(piece).ids}
        except TokentuiError:
            continue
        lost = [reached[number] for number in ids if number is not None and reached[number].text is None]
        assert not lost
    for one in reached.values():
        if one.text is not None:
            assert one.id in tokenizer.encode(one.text).ids
