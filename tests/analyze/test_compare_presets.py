"""Presets that show a point when they stand side by side: where they part, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path

import owners
import pytest

from tokentui import learn
from tokentui.analyze.compare import PairAgreement, compare_on, overlap, pieces
from tokentui.analyze.divergence import Divergence, first_divergences
from tokentui.analyze.metrics import rows_of, tally
from tokentui.axes import preset
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn import PairCandidate, Trainer, start
from tokentui.recipe import Recipe, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

FILES = ("gpt2/vocab.json", "bert-base-uncased/vocab.txt", "tiktoken_cl100k_base/cl100k_base.tiktoken")
TRAINED = ("trained/gpt2/vocab.json", "trained/bert/vocab.txt", "trained/ranks/r.tiktoken")


def duel(
    corpus: Corpus, first: Recipe | str, second: Recipe | str, merges: int
) -> tuple[Divergence | None, list[Tokenizer]]:
    """Two recipes trained on one corpus, so many merges each."""
    trainers: list[Trainer] = []
    for one in (first, second):
        trainer = start(corpus, preset(one) if isinstance(one, str) else one)
        learn.run(trainer, Stops(merges=merges))
        trainers.append(trainer)
    return first_divergences(trainers[0], trainers[1], merges)[0], [one.tokenizer() for one in trainers]


def values(tokenizers: Sequence[Tokenizer], corpus: Corpus) -> Mapping[str, list[float]]:
    """The values of each measure that every column has."""
    return {
        row.measure.name: [
            figure.value for figure in row.figures if figure is not None and figure.value is not None
        ]
        for row in rows_of([tally(one, corpus) for one in tokenizers])
    }


def agreed_on(tokenizers: Sequence[Tokenizer], corpus: Corpus) -> tuple[PairAgreement, ...]:
    """The agreement of each two."""
    return compare_on(list(enumerate(tokenizers)), corpus)


def best(found: Divergence) -> list[tuple[bytes, bytes, int]]:
    """The best candidate of either side."""
    sides = [found.a.candidates.rows[0], found.b.candidates.rows[0]]
    return [(one.left, one.right, one.count) for one in sides if isinstance(one, PairCandidate)]


def test_ties_give_other_tokens_and_hardly_other_counts() -> None:
    corpus = read("sample:english")
    plain = preset("subword-nmt", split="whitespace")
    found, both = duel(corpus, plain, plain.with_axes(tie="lowest-ids"), 300)
    assert found is not None
    (left, right), counts = zip(*[(one[:2], one[2]) for one in best(found)], strict=True)
    assert left != right
    assert counts[0] == counts[1], "a tie: the counts are equal"
    assert found.a.why.tied > 1
    few, many = sorted(values(both, corpus)["tokens"])
    assert many <= 1.005 * few
    shared = overlap(*(map(itemgetter(1), pieces(one, False)) for one in both))
    assert shared.only_a
    assert len(shared.common) > 5 * len(shared.only_a)


def test_wordpiece_by_score_prefers_rare_parts() -> None:
    corpus = read("sample:english")
    found, both = duel(corpus, "wordpiece", "bert", 100)
    assert found is not None
    assert found.step == 1
    by_score, by_count = best(found)
    assert by_score[2] < by_count[2]
    tokens = values(both, corpus)["tokens"]
    assert tokens[0] > tokens[1], "the score does not shorten the corpus"


def test_patterns_on_code() -> None:
    corpus = read("sample:python")
    found, both = duel(corpus, "gpt2", "gpt4", 200)
    assert found is not None
    assert found.step > 1
    spaces = [
        one
        for pair in agreed_on(both, corpus)
        for one in pair.partings
        if one.text.isspace() or one.text[:1] in "\n ("
    ]
    assert spaces, "they part where signs, line ends and indents meet"
    bytes_per_token = values(both, corpus)["bytes_per_token"]
    assert bytes_per_token[0] != bytes_per_token[1]


def test_japanese_with_and_without_pre_tokenization() -> None:
    corpus = read("sample:japanese")
    whole, split = preset("comp336-no-pretokenization"), preset("comp336-no-pretokenization", split="words")
    found, both = duel(corpus, whole, split, 150)
    assert found is not None
    left, right = best(found)
    crosses = left[:2] != right[:2] and not (left[0] + left[1]).decode().isalnum()
    assert crosses, (
        "without pre-tokenization the first pair that differs holds a sign: it crosses what the other cuts"
    )
    tokens = values(both, corpus)["tokens"]
    assert tokens[0] > 0
    (pair,) = agreed_on(both, corpus)
    agreed = pair.agreement
    assert 0.3 < 2 * agreed.shared / (agreed.boundaries_a + agreed.boundaries_b) < 1


@pytest.mark.slow
@pytest.mark.parametrize("files", [
    pytest.param(TRAINED, id="trained"),
    pytest.param(FILES, id="published", marks=[pytest.mark.shared, pytest.mark.soak]),
])
def test_gpt2_bert_and_gpt4_from_files(files: tuple[str, ...], tmp_path: Path) -> None:
    tokenizers = [owners.read(name, tmp_path) for name in files]
    corpus = read("sample:python")
    found = values(tokenizers, corpus)
    assert found["tokens"] == [len(one.encode(corpus.documents[0])) for one in tokenizers]
    gpt2, bert, gpt4 = found["round_trip_losses"]
    assert gpt2 == gpt4 == 0 < bert, "BERT lowers case"
    assert found["tokens"][2] < found["tokens"][0], "GPT-4 takes runs of spaces as one"
    gaps = [
        one
        for pair in agreed_on(tokenizers, corpus)
        if (pair.a, pair.b) == (0, 2)
        for one in pair.partings
        if one.text.isspace()
    ]
    assert all(len(one.a) > len(one.b) for one in gaps)
    assert gaps
    exact, bare = (
        overlap(*(map(itemgetter(1), pieces(one, marks)) for one in tokenizers[:2]))
        for marks in (False, True)
    )
    assert len(bare.common) > 1.5 * len(exact.common), "most words are in both, each with its own mark"
