"""The budget of a vocabulary, against the tokenizer of each step."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from running_cli import done, refused

import tokentui
from tokentui.analyze.budget import Budget, BudgetCurve, BudgetTarget, knee, met_at, paid_off, picture
from tokentui.core.errors import TokentuiError

SECOND = tokentui.read("sample:parallel/german")


@pytest.fixture(scope="module")
def trained() -> tokentui.Tokenizer:
    return tokentui.train("sample:english", "gpt2", merges=60, specials=("<|end|>",))


@pytest.fixture(scope="module")
def path(trained: tokentui.Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("budget") / "t.json"
    trained.save(file)
    return str(file)


@pytest.mark.parametrize("recipe", ["gpt2", "bert", "sentencepiece-bpe"])
def test_a_curve_is_that_of_the_tokenizer_of_each_step(recipe: str) -> None:
    corpus = tokentui.read("sample:sailor")
    tok = tokentui.train(corpus, recipe, merges=25)
    found = tok.budget(corpus)
    (curve,) = found.curves
    assert len(found.sizes) == tok.merges + 1
    for step, (size, tokens) in enumerate(zip(found.sizes, curve.tokens, strict=True)):
        then = tok.at(step)
        assert (size, tokens) == (then.vocab_size, sum(len(then.encode(one)) for one in corpus.documents))


def test_a_second_corpus_has_a_curve_of_its_own(trained: tokentui.Tokenizer) -> None:
    found = trained.budget("sample:english", SECOND, "0.9")
    first, second = found.curves
    assert first.tokens == trained.budget("sample:english").curves[0].tokens
    for step in (0, 30, 60):
        assert second.tokens[step] == sum(len(trained.at(step).encode(one)) for one in SECOND.documents)
    for curve in found.curves:
        steps = [step for step, tokens in enumerate(curve.tokens) if tokens / curve.bytes <= 0.9]
        assert curve.met == min(steps, default=None)


def test_the_knee_lies_furthest_from_the_chord(trained: tokentui.Tokenizer) -> None:
    """By the plain distance of each point to a straight line."""
    found = trained.budget("sample:english")
    (curve,) = found.curves
    spread = [(size - found.sizes[0]) / (found.sizes[-1] - found.sizes[0]) for size in found.sizes]
    logs = [math.log(one) for one in curve.tokens]
    fallen = [(one - logs[-1]) / (logs[0] - logs[-1]) for one in logs]
    far = [(1 - x - y) / math.sqrt(2) for x, y in zip(spread, fallen, strict=True)]
    assert curve.knee is not None
    assert far[curve.knee] == pytest.approx(max(far))
    assert 0 < curve.knee < len(found.sizes) - 1


def test_a_straight_curve_has_no_knee() -> None:
    assert knee([0, 1, 2], [4, 2, 1]) in (None, 1)
    assert knee([0, 1, 2], [5, 5, 5]) is knee([], []) is knee([3], [9]) is None


@pytest.mark.parametrize("grows", [True, False])
@pytest.mark.parametrize("fall", [0.9, 300.0, 60_000.0])
def test_ids_stop_paying_where_a_thousand_more_save_less_than_one_percent(fall: float, grows: bool) -> None:
    """By a plain look at each size, for curves that fall and flatten; pruning goes from many ids to few."""
    sizes = tuple(range(300, 5_300))
    tokens = tuple(int(20_000 + fall * 1_000 / (size - 200)) for size in sizes)
    plain = [size for n, size in enumerate(sizes[:-1_000]) if tokens[n] - tokens[n + 1_000] < tokens[n] / 100]
    place = paid_off(sizes, tokens)
    assert (None if place is None else sizes[place]) == min(plain, default=None)
    assert paid_off(sizes[:1_000], tokens[:1_000]) is paid_off([], []) is None
    way = 1 if grows else -1
    found = Budget(sizes[::way], (BudgetCurve("text", 9, 1, tokens[::way], None, None),), None)
    assert [(mark.x, mark.name) for mark in picture(found).marks] == [(size, "< 1 %") for size in plain[:1]]


def test_a_price_is_met_where_the_sum_is_least(trained: tokentui.Tokenizer) -> None:
    found = trained.budget("sample:english", target="64:0.3")
    (curve,) = found.curves
    sums = [tokens + 64 * 0.3 * (size - found.sizes[0])
            for size, tokens in zip(found.sizes, curve.tokens, strict=True)]
    assert curve.met == sums.index(min(sums))
    assert 0 < curve.met < len(sums) - 1
    assert met_at(BudgetTarget.parse("64:1000"), found.sizes, curve.tokens, curve.bytes) == 0


@pytest.mark.parametrize("text", ["", "x", "0", "-1", "nan", "inf", "768:", ":1", "1.5:2", "768:0"])
def test_what_is_no_target(trained: tokentui.Tokenizer, text: str) -> None:
    with pytest.raises(TokentuiError, match="no target"):
        trained.budget("sample:hugs", target=text)


def test_the_command(path: str, trained: tokentui.Tokenizer) -> None:
    words = ("inspect", "-t", path, "--budget", "sample:english", "--second", "sample:hugs", "--target",
             "0.7")
    found = trained.budget("sample:english", "sample:hugs", "0.7")
    row = json.loads(done(*words, "--json"))
    assert row["sizes"] == list(found.sizes)
    assert [one["tokens"] for one in row["curves"]] == [list(one.tokens) for one in found.curves]
    assert [(one["knee"], one["met"]) for one in row["curves"]] == [
        (one.knee, one.met) for one in found.curves
    ]
    lines = [line.split() for line in done(*words).splitlines()]
    table = lines[next(n for n, line in enumerate(lines) if line[:2] == ["step", "ids"]) :]
    rows = {int(line[0].replace(",", "")): line for line in table if line and line[0][0].isdigit()}
    assert {0, 1, 2, 4, 8, 16, 32, 60} <= rows.keys()
    for step, cells in rows.items():
        assert int(cells[1].replace(",", "")) == found.sizes[step]
        assert int(cells[2].replace(",", "")) == found.curves[0].tokens[step]
    assert "CORPUS is missing" in refused(*words[:4])
    assert "require --budget" in refused("inspect", "-t", path, "--target", "1")
    assert "no target" in refused(*words[:-1], "x")


@pytest.mark.peer
def test_a_rate_is_that_of_another_library(path: str, tmp_path: Path) -> None:
    """Ranks that are cut at the size that is told meet the rate, and one fewer do not."""
    tiktoken = pytest.importorskip("tiktoken")
    from tokentui.text.split import SPLITS

    tok = tokentui.train("sample:english", "gpt4", merges=60)
    found = tok.budget("sample:english", target="0.7")
    (curve,) = found.curves
    text = tokentui.read("sample:english").documents[0]
    assert curve.met
    pieces = [entry.piece for entry in tok.entries()]
    for step, meets in ((curve.met, True), (curve.met - 1, False)):
        ranks = {piece: n for n, piece in enumerate(pieces[: found.sizes[step]])}
        theirs = tiktoken.Encoding("cut", pat_str=SPLITS["cl100k"].pattern, mergeable_ranks=ranks,
                                   special_tokens={})
        assert (len(theirs.encode_ordinary(text)) <= 0.7 * len(text.encode())) is meets
