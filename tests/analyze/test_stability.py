"""The tokens at the end of a prompt, against every short continuation."""

from __future__ import annotations

import functools
import itertools
import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from running_cli import done, refused

import tokentui
from tokentui.analyze.stability import PrefixStability, prefix_stability
from tokentui.core.errors import TokentuiError

KINDS = ("gpt2", "llama2", "t5", "bert", "subword-nmt")
TEXTS = ["hug pug pun bun hugs", "gun pugs hugs  hug bugs"]
LETTERS = "hugspn "


@functools.cache
def small(name: str) -> tokentui.Tokenizer:
    if name == "t5":
        return tokentui.train(texts=TEXTS, recipe=name, vocab_size=40)
    return tokentui.train(texts=TEXTS, recipe=name, merges=20)


def kept(tokenizer: tokentui.Tokenizer, text: str, more: str, ids: tuple[int | None, ...]) -> int:
    """Count the first tokens that a continuation leaves."""
    longer = tokenizer.encode(text + more).ids
    pairs = zip(ids, longer, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def found_in(name: str, text: str) -> PrefixStability | None:
    try:
        return prefix_stability(small(name), text)
    except TokentuiError:
        return None


@pytest.mark.slow
@given(st.sampled_from(sorted(KINDS)), st.text(LETTERS, max_size=12))
@example("gpt2", "")
@example("gpt2", "hugs hu")
@settings(max_examples=40, deadline=None)
def test_every_short_continuation(name: str, text: str) -> None:
    found, tokenizer = found_in(name, text), small(name)
    if found is None:
        return
    assert found.ids == tokenizer.encode(text).ids
    brute = len(found.ids)
    for size in (1, 2, 3):
        for more in map("".join, itertools.product(LETTERS, repeat=size)):
            brute = min(brute, kept(tokenizer, text, more, found.ids))
    assert found.certain <= found.stable <= brute
    for change in found.changes:
        assert kept(tokenizer, text, change.continuation, found.ids) == change.place
    assert [change.place for change in found.changes] == sorted({change.place for change in found.changes})
    assert found.stable == (found.changes[0].place if found.changes else len(found.ids))


def test_a_split_proves_what_is_before_the_last_word() -> None:
    text = "hugs hug pug hu"
    found = prefix_stability(small("gpt2"), text)
    assert found.certain == len(small("gpt2").encode("hugs hug pug").ids)
    assert text.startswith(found.stable_text)
    assert small("gpt2").decode(found.ids[: found.stable]) == found.stable_text


def test_a_special_token_that_the_prompt_begins() -> None:
    tokenizer = tokentui.train(texts=["hug pug hug"], recipe="gpt2", merges=3, specials=["<|a b|>"])
    plain = prefix_stability(tokenizer, "hug <|a b")
    allowed = prefix_stability(tokenizer, "hug <|a b", allow_special=True)
    place = len(tokenizer.encode("hug ").ids)
    assert allowed.stable <= place
    assert allowed.changes[0].continuation == "|>"
    assert allowed.certain <= allowed.stable
    assert plain.stable > place


def test_few_continuations() -> None:
    found = prefix_stability(small("gpt2"), "hu", most=3)
    assert (found.tried, found.all_tried) == (3, False)


def test_the_command(tmp_path: Path) -> None:
    file = str(tmp_path / "gpt2.json")
    done("train", "sample:hugs", "-r", "gpt2", "--merges", "6", "-o", file, "-q")
    text = done("encode", "-t", file, "--prefix-stability", "pugs hu")
    assert text.startswith("stable       3 of 5 tokens\n")
    row = json.loads(done("encode", "-t", file, "--prefix-stability", "--json", "pugs hu"))
    assert (row["stable"], row["stable_text"], row["exact"]) == (3, "pugs ", False)
    assert {"place", "continuation", "id", "text", "hex"} == row["changes"][0].keys()
    assert "cannot be combined" in refused("encode", "-t", file, "--prefix-stability", "--explain", "a")


@pytest.mark.parametrize("name", KINDS)
def test_a_prompt_that_is_empty(name: str) -> None:
    found = found_in(name, "")
    assert found is not None
    assert found.exact or found.ids
