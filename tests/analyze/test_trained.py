"""Whether a file was trained from a corpus by a recipe, against merges that are compared one by one."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from running_cli import cli, refused

import tokentui
from tokentui.analyze.verify.trained import verify_trained
from tokentui.core.errors import TokentuiError
from tokentui.learn import MergeStep

CORPUS = tokentui.read("sample:english")


def pairs(recipe: tokentui.Recipe | str, merges: int, **axes: Any) -> list[tuple[bytes, bytes]]:
    run = tokentui.Trainer(CORPUS, recipe, **axes)
    run.run(merges=merges)
    return [(step.left, step.right) for step in run.steps() if isinstance(step, MergeStep)]


def common(one: list[tuple[bytes, bytes]], other: list[tuple[bytes, bytes]]) -> int:
    alike = (n for n, (a, b) in enumerate(itertools.zip_longest(one, other)) if a != b)
    return next(alike, len(one))


def test_a_file_of_this_very_training() -> None:
    tok = tokentui.train(CORPUS, "gpt2", merges=150)
    report = verify_trained(tok, CORPUS, tokentui.preset("gpt2"))
    assert (report.alike, report.merges, report.difference, report.tried) == (150, 150, None, 0)
    run = tokentui.Trainer(CORPUS, "gpt2")
    run.jump(151)
    assert report.next_count == run[151].row["count"]
    assert tok.trained_from("sample:english", "gpt2", merges=20).merges == 20
    assert tok.trained_from(CORPUS) == report


@pytest.mark.slow
@pytest.mark.parametrize(("axis", "value"), [("split", "cl100k"), ("tie", "largest-pair"),
                                             ("normalize", ("lowercase",))])
def test_the_axis_that_was_changed_is_found(axis: str, value: Any) -> None:
    recipe = tokentui.preset("gpt2", **{axis: value})
    tok = tokentui.train(CORPUS, recipe, merges=120)
    report = verify_trained(tok, CORPUS, tokentui.preset("gpt2"))
    alike = common(pairs(recipe, 120), pairs("gpt2", 120))
    assert (report.alike, report.merges) == (alike, 120)
    assert alike < 120
    best = report.changes[0]
    assert best.alike == 120
    assert axis in {one.axis for one in report.changes if one.alike == 120}
    for one in report.changes:
        held = (one.value,) if one.axis == "normalize" else one.value
        assert one.alike == common(pairs(recipe, 120), pairs("gpt2", 120, **{one.axis: held})) > alike


def test_both_counts_are_those_of_a_recount() -> None:
    """Of the corpus as the merges that are alike leave it."""
    tok = tokentui.train(CORPUS, "gpt2", merges=100, split="cl100k")
    report = verify_trained(tok, CORPUS, tokentui.preset("gpt2"))
    found = report.difference
    assert found is not None
    assert found.theirs is not None
    assert found.ours is not None
    before = tokentui.train(CORPUS, "gpt2", merges=report.alike)
    counts: Counter[tuple[bytes | None, ...]] = Counter()
    for word in before.encoder.pretokenizer.words(CORPUS.documents[0]):
        counts.update(itertools.pairwise(token.piece for token in before.encoder.word(word)))
    assert found.theirs.count == counts[found.theirs.pieces or ()]
    taken = next(one for one in found.candidates if one.parts == found.ours)
    assert taken.places == counts[found.ours] == max(counts.values())


def test_a_coverage_is_found() -> None:
    """With all characters a rare pair comes before the last merges of the file."""
    corpus = tokentui.Corpus.from_lines(["ab ab ab ab cd cd cd xz xz"] * 400 + ["qé qé qé qé", "dax dax dax"])
    recipe = tokentui.preset("sentencepiece-bpe")
    tok = tokentui.train(corpus, recipe, coverage=0.99)
    report = verify_trained(tok, corpus, recipe.with_axes(coverage=1.0))
    assert report.alike < report.merges
    (found,) = [one for one in report.changes if one.axis == "coverage"]
    assert found.alike == report.merges
    whole = verify_trained(tok, corpus, recipe.with_axes(coverage=0.99))
    assert (whole.alike, whole.next_count) == (whole.merges, None)


def test_what_holds_no_merges() -> None:
    unigram = tokentui.train(CORPUS, "t5", vocab_size=200)
    with pytest.raises(TokentuiError, match="no merges"):
        verify_trained(unigram, CORPUS, tokentui.preset("gpt2"))
    tok = tokentui.train(CORPUS, "gpt2", merges=3)
    with pytest.raises(TokentuiError, match="has no merges"):
        verify_trained(tok, CORPUS, tokentui.preset("t5"))


@pytest.mark.peer
def test_a_file_of_another_library(tmp_path: Path) -> None:
    """A file that Hugging Face's library trained is that of the recipe named for it."""
    tokenizers = pytest.importorskip("tokenizers")
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400, show_progress=False, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet()
    )
    theirs.train_from_iterator([CORPUS.documents[0]], trainer)
    theirs.save(str(tmp_path / "t.json"))
    result = cli("verify", "sample:english", "-t", str(tmp_path / "t.json"), "-r", "gpt2", "-q")
    assert (result.exit_code, "same         144 of 144 merges" in result.stdout) == (0, True)


def test_the_command(tmp_path: Path) -> None:
    path = str(tmp_path / "t.json")
    tokentui.train(CORPUS, "gpt2", split="cl100k", merges=100).save(path)
    words = ("verify", "sample:english", "-t", path, "-q")
    own = cli(*words)
    assert own.exit_code == 0
    assert "same         100 of 100 merges" in own.stdout
    other = cli(*words, "-r", "gpt2")
    row = json.loads(cli(*words, "-r", "gpt2", "--json").stdout)
    assert other.exit_code == 1
    assert f"same         {row['alike']:,} of 100 merges" in other.stdout
    assert f"differs      merge {row['differs']['step']:,}" in other.stdout
    assert row["differs"]["step"] == row["alike"] + 1
    assert f", count {row['differs']['file']['count']:,} here" in other.stdout
    assert row["changes"][0]["alike"] > row["alike"]
    assert "split=cl100k" in other.stdout
    assert json.loads(cli(*words, "--merges", "5", "--json").stdout)["merges"] == 5
    assert "CORPUS is missing" in refused("verify", "-t", path)
