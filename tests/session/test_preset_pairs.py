"""Columns that show a point when they stand side by side: where they part, and what the measures say of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import owners
import pytest
from comparisons import Bench

from tokentui.analyze.results import DivergenceSide
from tokentui.axes import preset
from tokentui.formats.tokens import letters
from tokentui.learn import PairCandidate
from tokentui.recipe import Recipe
from tokentui.session import commands as do
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import ColumnWanted
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

FILES = ("gpt2/tokenizer.json", "bert-base-uncased/tokenizer.json", "t5-small/tokenizer.json")
TRAINED = ("trained/gpt2/tokenizer.json", "trained/bert/tokenizer.json", "trained/t5/tokenizer.json")


def duel(corpus: Corpus, *wanted: ColumnWanted | Recipe, step: int | None, typed: str = "") -> Snapshot:
    """Columns at a step, with what is found beside them."""
    bench = Bench(corpus, *wanted, wants=("measures", "agreement", "vocabularies"), typed=typed)
    bench.do(do.GoTo(step))
    return bench.find()


def values(seen: Snapshot) -> Mapping[str, list[float]]:
    """The values of each measure that every column has."""
    assert seen.between.measured is not None
    rows = seen.between.measured.rows
    return {
        row.measure.name: [one.value for one in row.figures if one is not None and one.value is not None]
        for row in rows
    }


def sides(seen: Snapshot) -> tuple[DivergenceSide, DivergenceSide]:
    first, second = seen.between.divergences[0].sides
    return first, second


def test_ties_of_subword_nmt_against_those_of_hugging_face() -> None:
    textbook = duel(
        Corpus.from_text("zy zy ab ab mn mn q"), preset("hf-bpe"), preset("subword-nmt", mark="none"), step=3
    )
    assert textbook.between.divergences[0].step == 1
    chosen = [side.why.best and side.why.best.token for side in sides(textbook)]
    assert chosen == [b"ab", b"zy"]
    assert [side.why.tied for side in sides(textbook)] == [3, 3]
    plain = preset("subword-nmt", split="whitespace")
    seen = duel(read("sample:english"), plain.with_axes(tie="lowest-ids"), plain, step=300)
    first, second = sides(seen)
    assert first.why.best is not None
    assert second.why.best is not None
    assert first.why.best.places == second.why.best.places, "a tie: the counts are equal"
    assert first.why.best.token != second.why.best.token
    assert first.why.tied > 1
    assert (first.why.tie_rule, second.why.tie_rule) == ("lowest-ids", "largest-pair")
    few, many = sorted(values(seen)["tokens"])
    assert many <= 1.005 * few
    common, only_a, _ = map(len, seen.between.overlaps[0].overlaps[0])
    assert common > 5 * only_a > 0


@pytest.mark.slow
def test_wordpiece_by_score_against_that_of_hugging_face() -> None:
    seen = duel(read("sample:english"), preset("wordpiece"), preset("bert"), step=100)
    assert seen.between.divergences[0].step == 1
    by_score, by_count = (side.why.best for side in sides(seen))
    assert isinstance(by_score, PairCandidate)
    assert isinstance(by_count, PairCandidate)
    assert by_score.count < by_count.count
    assert by_score.score == by_score.count / (by_score.left_uses * by_score.right_uses)
    tokens, bits = values(seen)["tokens"], values(seen)["bits"]
    assert tokens[0] > tokens[1], "the score does not shorten the corpus"
    assert bits[0] > bits[1]
    assert [values(seen)["vocabulary_size"][n] for n in (0, 1)] == [
        column.at.vocab_size for column in seen.columns if column.at
    ]


def test_patterns_of_gpt2_and_gpt4_on_code() -> None:
    seen = duel(
        read("sample:python"), preset("gpt2"), preset("gpt4"), step=200,
        typed="    if x:\n        return 12345",
    )
    step = seen.between.divergences[0].step
    assert step is not None
    assert step > 1, "the commonest pairs stand inside words"
    assert seen.between.measured is not None
    assert seen.between.agreed is not None
    (pair,) = seen.between.agreed.pairs
    assert any(one.text.isspace() or one.text[:1] in "\n (" for one in pair.partings), (
        "they part where signs and indents meet"
    )
    bytes_per_token = values(seen)["bytes_per_token"]
    assert bytes_per_token[0] != bytes_per_token[1]
    assert seen.between.aligned.alignment is not None
    assert seen.between.aligned.alignment.partings


def test_japanese_with_and_without_pre_tokenization() -> None:
    whole, split = preset("comp336-no-pretokenization"), preset("comp336-no-pretokenization", split="words")
    seen = duel(read("sample:japanese"), whole, split, step=150)
    first, second = (side.why.best for side in sides(seen))
    assert first is not None
    assert second is not None
    assert not first.token.decode().isalnum(), "it crosses what the other cuts"
    assert second.token.decode().isalnum()
    at = [column.at for column in seen.columns if column.at]
    assert at[0].tokens != at[1].tokens
    assert seen.between.measured is not None
    assert seen.between.agreed is not None
    found = seen.between.agreed.pairs[0].agreement
    f1 = 2 * found.shared / (found.boundaries_a + found.boundaries_b)
    assert f1 is not None
    assert 0.3 < f1 < 1


@pytest.mark.slow
@pytest.mark.parametrize(("files", "sizes", "step"), [
    pytest.param(TRAINED, [owners.SIZE, 2 * owners.SIZE, owners.SIZE], 200, id="trained"),
    pytest.param(FILES, [50_257, 30_522, 32_100], 5_000, id="published",
                 marks=[pytest.mark.shared, pytest.mark.soak]),
])
def test_gpt2_bert_and_t5_from_files(
    files: tuple[str, ...], sizes: list[int], step: int, tmp_path: Path
) -> None:
    paths = [owners.path_of(name, tmp_path) for name in files]
    corpus = Corpus.from_text(read("sample:english").documents[0][:3_000])
    columns = [ColumnWanted(path=str(path)) for path in paths]
    bench = Bench(corpus, *columns, wants=("measures", "agreement"), typed="Unhappiness costs 東京 é")
    seen = bench.find()
    assert [column.error for column in seen.columns] == ["", "", ""]
    assert seen.between.ended, "files are shown whole"
    found = values(seen)
    assert found["vocabulary_size"] == sizes
    at = [column.at for column in seen.columns if column.at]
    assert [one.tokens for one in at] == found["tokens"]
    assert found["round_trip_losses"][0] == 0 < found["round_trip_losses"][1], "BERT lowers case"
    assert found["unknowns"][0] == 0
    assert [one.step for one in seen.between.divergences] == [1, 1, 1]
    gpt2 = seen.between.divergences[0].sides[0]
    assert gpt2.why.best is not None
    first = json.loads(paths[0].read_text("utf-8"))["model"]["merges"][0]
    wanted = first if isinstance(first, list) else first.split(" ")
    assert list(map(letters, gpt2.why.best.parts)) == wanted
    assert seen.between.aligned.alignment is not None
    assert len(seen.between.aligned.alignment.rows) == 3
    assert seen.between.aligned.pairs[0].agreement.boundaries_a
    bench.do(do.GoTo(step))
    seen = bench.find()
    assert [column.at.step for column in seen.columns if column.at] == [step] * 3
    assert [column.at.tokens for column in seen.columns if column.at] == values(seen)["tokens"]
