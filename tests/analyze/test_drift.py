"""Ids compared with those that encoding their text gives."""

from __future__ import annotations

import functools
import itertools
import json
import random
from pathlib import Path

import peers
import pytest
from exporting import again, trained
from running_cli import cli, done, refused

from tokentui.analyze.drift import REASONS, DriftCheck, rate
from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.preset_table import preset_named

KINDS = ("gpt2", "llama2", "t5", "bert")
"""Byte-level BPE, sentencepiece's BPE, Unigram and WordPiece."""
SEQUENCES = 10_000


@functools.cache
def small(name: str) -> Tokenizer:
    chosen = preset_named(name)
    return trained(chosen.recipe, chosen.run.specials)


@functools.cache
def sequences(name: str) -> list[list[int]]:
    """Ids: half of them any ones, half those of parts of a text, each encoded alone."""
    draw, tokenizer = random.Random(name), small(name)
    text = "The sea, and the old ship! " + peers.text("finnish")[:200]
    ids = [entry.id for entry in tokenizer.entries()]
    made = [[draw.choice(ids) for _ in range(draw.randint(0, 6))] for _ in range(SEQUENCES // 2)]
    while len(made) < SEQUENCES:
        start = draw.randrange(len(text))
        cuts = [start, *(start + n for n in sorted(draw.sample(range(1, 12), 3)))]
        parts = [tokenizer.encode(text[cut:end]).ids for cut, end in itertools.pairwise(cuts)]
        made.append([number for part in parts for number in part if number is not None])
    return made


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.slow
def test_a_difference_is_one_of_encoding_the_decoded_text(name: str) -> None:
    tokenizer = small(name)
    check, seen = DriftCheck(tokenizer, allow_special=True), set()
    for ids in sequences(name):
        drift = check(ids)
        try:
            again = tokenizer.encode(tokenizer.decode(ids), allow_special=True).ids
        except TokentuiError:
            assert drift.reason == "refused"
            continue
        assert drift.same == (again == tuple(ids))
        assert drift.encoded == again
        if drift.place is None:
            assert not drift.reason
            continue
        seen.add(drift.reason)
        assert drift.reason in REASONS
        assert drift.sentence
        assert again[: drift.place] == tuple(ids[: drift.place])
        assert again[drift.place :][:1] != tuple(ids[drift.place :][:1])
        old, new = ([token.id for token in cut] for cut in (drift.before, drift.after))
        assert ids[drift.place : drift.place + len(old)] == old
        assert list(again[drift.place : drift.place + len(new)]) == new
        rest = ids[drift.place + len(old) :], list(again[drift.place + len(new) :])
        assert rest[0][:1] == rest[1][:1], "the cuts meet again"
    assert len(seen) > 1


@pytest.mark.parametrize("name", KINDS)
def test_the_ids_of_a_text_are_its_ids(name: str) -> None:
    tokenizer = small(name)
    ids = tokenizer.encode("the sea and the ship").ids
    assert DriftCheck(tokenizer)(ids).same
    found = rate(DriftCheck(tokenizer), [ids, ids, ids[:1]])
    assert (found.rows, found.differ, found.first) == (3, 0, None)


@pytest.mark.parametrize(("name", "format"), [
    ("gpt2", "huggingface"), ("llama2", "huggingface"), ("bert", "huggingface"), ("t5", "sentencepiece"),
    ("gpt2", "tiktoken"),
])
@pytest.mark.slow
def test_a_tokenizer_that_was_read(name: str, format: str, tmp_path: Path) -> None:
    tokenizer = again(small(name), format, tmp_path)
    check = DriftCheck(tokenizer)
    for ids in sequences(name)[::20]:
        known = [number for number in ids if tokenizer.id_to_token(number) is not None]
        drift = check(known)
        assert drift.same == (list(tokenizer.encode(tokenizer.decode(known)).ids) == known)
        assert drift.same == (not drift.reason)


def test_the_reasons() -> None:
    tokenizer = small("gpt2")
    check = DriftCheck(tokenizer)

    def ids(*tokens: str | bytes) -> list[int]:
        numbers = [tokenizer.token_to_id(token) for token in tokens]
        return [number for number in numbers if number is not None]

    joined = check(ids("a", "h", "e"))
    assert (joined.reason, joined.place) == ("joined", 1)
    assert joined.sentence.startswith("a merge joins `h`+`e` to `he` (")
    assert check(ids(b"\xc3", "a")).reason == "no-text"
    broken = check(ids(b"\xef", "a"))
    assert (broken.place, broken.sentence) == (
        1, "invalid UTF-8: those before `a` decode to U+FFFD"
    )
    special = ids("a", tokenizer.vocabulary.specials[0])
    assert check(special).reason == "special"
    assert DriftCheck(tokenizer, allow_special=True)(special).same


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = str(tmp_path_factory.mktemp("drift") / "gpt2.json")
    done("train", "sample:hugs", "-r", "gpt2", "--merges", "6", "-o", file, "-q")
    return file


def test_the_command(gpt2: str) -> None:
    assert done("decode", "-t", gpt2, "--check", "258 82") == "ids          2 ids, the same as encode gives\n"
    result = cli("decode", "-t", gpt2, "--check", "71", "84", "70", "82")
    assert result.exit_code == 1
    assert "a merge joins `h`+`u`+`g` to `hug` (258)" in result.stdout
    row = json.loads(cli("decode", "-t", gpt2, "--check", "--json", "71", "84", "70", "82").stdout)
    assert (row["same"], row["place"], row["encoded"], row["reason"]) == (False, 0, [258, 82], "joined")
    assert [token["text"] for token in row["before"]] == ["h", "u", "g"]
    decoded = json.loads(done("decode", "-t", gpt2, "--json", "258"))
    assert (decoded["text"], decoded["hex"]) == ("hug", "687567")


def test_a_rate_over_lines(gpt2: str) -> None:
    lines = '[258, 82]\n{"ids": [71, 84, 70]}\n\n[258]\n{"ids": [71, 84, 70, 82], "reward": 1}\n'
    result = cli("decode", "-t", gpt2, "--check", "--jsonl", "--json", input=lines)
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert (found["rows"], found["differ"], found["rate"], found["reasons"]) == (4, 2, 0.5, {"joined": 2})
    assert (found["first"]["row"], found["first"]["ids"]) == (2, [71, 84, 70])
    text = cli("decode", "-t", gpt2, "--check", "--jsonl", input=lines).stdout
    assert "2 of 4 rows differ (50.00 %)" in text
    assert cli("decode", "-t", gpt2, "--check", "--jsonl", input="[258]\n").exit_code == 0
    for line, told in (("{}", "line 2: no list"), ("[1", "line 2: not JSON"), ("[9999]", "no such id: 9999"),
                       ('["a"]', "no such id")):
        assert told in refused("decode", "-t", gpt2, "--check", "--jsonl", input=f"[258]\n{line}\n")
    assert "require --check" in refused("decode", "-t", gpt2, "--allow-special", "258")
