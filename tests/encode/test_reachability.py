"""Which tokens a text becomes, against brute force over all short texts and against a plain look at each
token."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from exporting import preset
from hypothesis import given, settings
from hypothesis import strategies as st

import tokentui
from tokentui.analyze.glitches import glitches
from tokentui.analyze.health.survey import survey
from tokentui.analyze.vocabulary import usage
from tokentui.encode import reachability as reaching
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.pretokens import Pretokens
from tokentui.encode.reachability import reachability_of, reachability_of_all
from tokentui.encode.tokenizer import TokenEntry, Tokenizer
from tokentui.text.corpus import Corpus

SPELLINGS = st.text(alphabet="ab", min_size=1, max_size=4)


def wordpiece(folder: Path, firsts: list[str], rests: list[str], most: int) -> tokentui.Tokenizer:
    """Return a WordPiece tokenizer of some tokens."""
    tokens = ["[UNK]", *firsts, *(f"##{rest}" for rest in rests)]
    model = {
        "type": "WordPiece", "vocab": {token: n for n, token in enumerate(tokens)}, "unk_token": "[UNK]",
        "continuing_subword_prefix": "##", "max_input_chars_per_word": most,
    }
    path = folder / "tokenizer.json"
    path.write_text(json.dumps({"model": model, "pre_tokenizer": {"type": "Whitespace"}}))
    return tokentui.load(path)


def contexts_of(own: str) -> list[str]:
    """Return the texts that are tried for a token, in order: the first one that becomes it is its answer."""
    return [context.replace("{}", own) for context in reaching._CONTEXTS]


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("name", ["bert", "gpt2", "sentencepiece-unigram", "gpt1"])
def test_the_short_way_answers_as_the_long_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens that are whole words have a way of their own, and words are encoded without their text."""
    tokenizer = preset(name)
    short = list(reachability_of_all(tokenizer))
    monkeypatch.setattr(reaching, "_whole_word", lambda *token: None)
    monkeypatch.setattr(
        WordEncoder, "ids_include",
        lambda encoder, text, number, words=None: number in encoder.encode(text).ids,
    )
    assert list(reachability_of_all(Tokenizer(tokenizer.vocabulary, tokenizer.merges))) == short


@settings(max_examples=300, deadline=None)
@given(
    firsts=st.lists(SPELLINGS, min_size=1, max_size=5, unique=True),
    rests=st.lists(SPELLINGS, max_size=5, unique=True), most=st.integers(1, 6),
)
@pytest.mark.slow
def test_a_wordpiece_token_is_reached_exactly_if_a_short_text_becomes_it(
    tmp_path_factory: pytest.TempPathFactory, firsts: list[str], rests: list[str], most: int
) -> None:
    tokenizer = wordpiece(tmp_path_factory.mktemp("wordpiece"), firsts, rests, most)
    used: set[int | None] = set()
    for size in range(1, most + 2):
        for word in itertools.product("ab", repeat=size):
            used.update(tokenizer.encode("".join(word)).ids)
    for answer in reachability_of_all(tokenizer):
        if answer.piece == b"[UNK]":
            continue
        assert (answer.text is not None) == (answer.id in used), answer
        if answer.text is not None:
            assert answer.id in tokenizer.encode(answer.text).ids
        for context in contexts_of(answer.piece.decode().removeprefix("##")):
            if context == answer.text:
                break
            assert answer.id not in tokenizer.encode(context).ids


@pytest.mark.parametrize(("size", "reason"), [(98, ""), (99, ""), (100, "too-long"), (101, "too-long")])
def test_the_mark_of_a_continuation_counts_for_no_character(tmp_path: Path, size: int, reason: str) -> None:
    tokenizer = wordpiece(tmp_path, ["b", "abab"], ["a" * size], 100)
    answer = list(reachability_of_all(tokenizer))[-1]
    assert answer.reason == reason
    if answer.text is not None:
        assert answer.id in tokenizer.encode(answer.text).ids


@pytest.fixture
def many(tmp_path: Path) -> tokentui.Tokenizer:
    """Many continuations that become themselves only after a long token, and some that never do."""
    words = ["".join(word) for word in itertools.product("abc", repeat=3)]
    return wordpiece(tmp_path, ["a", "b", *words, "a" * 7, "\x07"], [*words, "-x", "c" * 100], 100)


CORPUS = Corpus.from_text("abc abcabc aaaaaaaabc cab - ba", "words")


@pytest.mark.slow
def test_cached_answers_equal_a_search_over_all_tokens(many: tokentui.Tokenizer) -> None:
    words, _ = Pretokens(many).count(CORPUS)
    unused = {one.id: one.why for one in usage(many, words).unused}
    dead = {number for number, *_ in survey(many).dead}
    never = {one.id for one in glitches(many, CORPUS) if one.kind == "never"}
    for entry in many.entries():
        fresh = Tokenizer(many.vocabulary, many.merges)
        plain = reachability_of(fresh, entry, reaching.neighbors(fresh))
        assert reachability_of(many, entry) == plain
        if entry.symbol is not None:
            assert (entry.id in dead) == (entry.id in never) == (plain.text is None)
            if unused.get(entry.id) == "unreachable":
                assert plain.text is None
    assert dead


def test_the_vocabulary_is_listed_as_often_for_many_tokens_as_for_few(
    many: tokentui.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = wordpiece(tmp_path, ["a", "b", "aaa"], ["ab"], 100)
    listed: list[Tokenizer] = []
    entries = Tokenizer.entries

    def counted(tokenizer: Tokenizer) -> Iterator[TokenEntry]:
        listed.append(tokenizer)
        return entries(tokenizer)

    monkeypatch.setattr(Tokenizer, "entries", counted)
    counts = []
    for tokenizer in (few, many):
        listed.clear()
        words, _ = Pretokens(tokenizer).count(CORPUS)
        usage(tokenizer, words)
        survey(tokenizer)
        glitches(tokenizer, CORPUS)
        counts.append(len(listed))
    assert counts[0] == counts[1]
