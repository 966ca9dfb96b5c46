"""The cost of the same text in many languages, against a straightforward count."""

from __future__ import annotations

from pathlib import Path

import pytest

import tokentui
from tokentui.analyze.languages import BASES, costs, parallel_corpora, report
from tokentui.analyze.report import Bar, warning
from tokentui.core.errors import TokentuiError
from tokentui.text.corpus import Corpus
from tokentui.text.sources import parallel


@pytest.fixture(scope="module")
def trained() -> tokentui.Tokenizer:
    return tokentui.train("sample:english", "gpt2", merges=300)


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("by", BASES)
def test_costs_are_those_of_a_plain_count(trained: tokentui.Tokenizer, by: str) -> None:
    found = trained.languages(by=by)
    expected = {}
    for sample in parallel():
        lines = sample.path.read_text(encoding="utf-8").split("\n")[:-1]
        tokens = sum(len(trained.encode(line).ids) for line in lines)
        units = {
            "sentences": len(lines), "bytes": sum(len(line.encode()) for line in lines),
            "characters": sum(map(len, lines)), "words": sum(len(line.split()) for line in lines),
        }
        expected[sample.title] = tokens, units, tokens / units[by]
    least = min(cost for _, _, cost in expected.values())
    assert [one.cost for one in found.rows] == sorted(cost for _, _, cost in expected.values())
    for one in found.rows:
        tokens, units, cost = expected[one.language]
        assert (one.tokens, one.cost, one.times) == (tokens, cost, cost / least)
        assert {name: getattr(one, name) for name in units} == units
        assert one.bytes_per_token == units["bytes"] / tokens
        assert one.characters_per_token == units["characters"] / tokens
    assert found.cheapest == found.rows[0].language
    assert found.rows[0].times == 1


@pytest.mark.slow
@pytest.mark.peer
def test_tokens_are_those_of_another_library(trained: tokentui.Tokenizer, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    trained.save(tmp_path / "t.json", "huggingface")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "t.json"))
    texts = {sample.title: sample.path.read_text(encoding="utf-8").splitlines() for sample in parallel()}
    assert {one.language: one.tokens for one in trained.languages().rows} == {
        name: sum(len(one.ids) for one in theirs.encode_batch(lines)) for name, lines in texts.items()
    }


def test_a_language_of_unknown_tokens_is_not_the_cheapest() -> None:
    known = tokentui.train(Corpus.from_lines(["ab ab b"] * 3), "bert", specials=("[UNK]",))
    texts = {"known": Corpus.from_lines(["b a b"]), "unknown": Corpus.from_lines(["xyzxyzxyzxyzxyz"])}
    found = costs(known, texts)
    assert [(one.language, one.unknowns, one.times) for one in found.rows] == [
        ("known", 0, 1), ("unknown", 1, None)
    ]
    assert found.cheapest == "known"
    rows = report([found], ["k"]).sections[1].rows
    assert [row.cells[-1] for row in rows] == [Bar(1), warning("mostly unknown")]
    only = costs(known, {"unknown": texts["unknown"]})
    assert (only.cheapest, only.rows[0].times) == ("", None)
    (note,) = report([only], ["k"]).sections[1].notes
    assert note == "no language is the cheapest: most tokens are unknown"
    partly = costs(known, {"half": Corpus.from_lines(["xyz b"]), "less": Corpus.from_lines(["xyz b b a"])})
    assert [one.mostly_unknown for one in partly.rows] == [False, False]
    assert [one.times for one in partly.rows if one.language == partly.cheapest] == [1]


def test_a_language_that_is_refused_fails_alone() -> None:
    known = tokentui.train(Corpus.from_lines(["ab ab b"] * 3), "udl-notebook")
    found = costs(known, {"bad": Corpus.from_lines(["é"]), "good": Corpus.from_lines(["ab"])})
    assert [one.language for one in found.rows] == ["good", "bad"]
    assert found.rows[1].tokens is found.rows[1].cost is found.rows[1].times is None
    assert "é" in found.rows[1].error
    refused = costs(known, {"bad": Corpus.from_lines(["é"])})
    assert (refused.cheapest, refused.rows[0].words) == ("", 1)


def test_a_text_without_words_has_no_cost(trained: tokentui.Tokenizer) -> None:
    found = costs(trained, {"blank": Corpus.from_lines(["  "]), "one": Corpus.from_lines(["a b"])}, "words")
    rows = {one.language: one for one in found.rows}
    assert (rows["blank"].cost, rows["blank"].times, found.cheapest) == (None, None, "one")
    assert found.basis_detail == ", words split by whitespace"


@pytest.mark.parametrize(("texts", "by", "said"), [
    ({}, "bytes", "no language texts"),
    ({"a": Corpus.from_lines(["x"])}, "byte", "did you mean bytes"),
    ({"a": Corpus.from_lines(["x"]), "b": Corpus.from_lines(["x", "y"])}, "sentences", "2 sentences, and a"),
    ({"a": Corpus.from_counts([("x", 2)])}, "sentences", "counted words"),
])
def test_texts_that_cannot_be_compared(
    trained: tokentui.Tokenizer, texts: dict[str, Corpus], by: str, said: str
) -> None:
    with pytest.raises(TokentuiError, match=said):
        costs(trained, texts, by)


def test_the_built_in_set_is_that_of_the_files() -> None:
    assert [*parallel_corpora()] == [sample.title for sample in parallel()]
