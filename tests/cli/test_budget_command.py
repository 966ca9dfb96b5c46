"""`tokentui budget`: the cost of corpora at sizes of a vocabulary."""

from __future__ import annotations

import ast
import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from running_cli import cli, done, refused

import tokentui
from tokentui.analyze.budget import step_of

CORPORA = ("sample:english", "sample:parallel/german")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("budget") / "t.json"
    tokentui.train("sample:english", "gpt2", merges=60).save(file)
    return str(file)


def rows(*words: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of each corpus, as JSON has them."""
    answer = json.loads(done("budget", *words, "--json"))
    return {corpus["corpus"]: corpus["sizes"] for corpus in answer["corpora"]}


def test_a_row_is_what_the_tokenizer_of_that_size_gives(path: str) -> None:
    tokenizer = tokentui.load(path)
    found = rows("-t", path, *CORPORA, "--sizes", "300,260,316")
    assert list(found) == ["english", "parallel/german"]
    for source, sizes in zip(CORPORA, found.values(), strict=True):
        corpus = tokentui.read(source)
        assert [row["size"] for row in sizes] == [260, 300, 316]
        for row in sizes:
            then = tokenizer.at(row["step"])
            tokens = sum(len(then.encode(text)) for text in corpus.documents)
            assert (then.vocab_size, tokens) == (row["size"], row["tokens"])
            assert row["tokens_per_document"] == tokens / len(corpus.documents)
        assert sizes[1]["saved_per_id"] == (sizes[0]["tokens"] - sizes[1]["tokens"]) / 40


def test_units_follow_from_the_tokens(path: str) -> None:
    units = ("--embedding-dim", "64", "--training-bytes", "1M", "--context", "1k", "--price", "2.5")
    (row,) = rows("-t", path, CORPORA[0], "--sizes", "300", *units)["english"]
    each = row["bytes_per_token"]
    assert row["embedding_parameters"] == 300 * 64
    assert row["training_tokens"] == round(1_000_000 / each)
    assert row["context_bytes"] == round(1000 * each)
    assert row["cost"] == pytest.approx(row["training_tokens"] * 2.5 / 1e6)
    (untied,) = rows("-t", path, CORPORA[0], "--sizes", "300", "--embedding-dim", "64", "--untied")["english"]
    assert untied["embedding_parameters"] == 2 * 300 * 64
    (corpus,) = rows("-t", path, CORPORA[0], "--sizes", "300", "--price", "2")["english"]
    assert corpus["cost"] == pytest.approx(corpus["tokens"] * 2 / 1e6)
    assert corpus["training_tokens"] is None


def test_csv_holds_the_rows_of_json(path: str, tmp_path: Path) -> None:
    words = ("-t", path, *CORPORA, "--sizes", "260,300", "--embedding-dim", "8")
    file = tmp_path / "x.csv"
    done("budget", *words, "--csv", str(file))
    table = list(csv.DictReader(io.StringIO(file.read_text())))
    flat = [{"corpus": name, **row} for name, sizes in rows(*words).items() for row in sizes]
    texts = [{name: "" if field is None else str(field) for name, field in row.items()} for row in flat]
    assert table == texts
    assert done("budget", *words, "--csv", "-") == file.read_text()


def test_csv_holds_no_control_characters(path: str, tmp_path: Path) -> None:
    text = tmp_path / "a\x1b[31m\\.txt"
    text.write_text("a b c")
    table = done("budget", "-t", path, str(text), "--sizes", "260", "--csv", "-")
    (row,) = csv.DictReader(io.StringIO(table))
    assert "\x1b" not in table
    assert ast.literal_eval(f'"{row["corpus"]}"') == "a\x1b[31m\\.txt"


@pytest.mark.parametrize("more", [(), ("--csv", "-")])
def test_a_corpus_without_text_is_named(more: tuple[str, ...], path: str, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    result = cli("budget", "-t", path, str(tmp_path / "empty.txt"), *more)
    assert result.stderr == "tokentui: empty.txt: no text, so its figures have no meaning\n"
    assert cli("budget", "-t", path, *CORPORA, *more).stderr == ""


def test_the_default_sizes_are_the_ends_and_powers_of_two(path: str, tmp_path: Path) -> None:
    file = str(tmp_path / "t.json")
    done("edit", path, file, "--extend", "sample:english", "--vocab-size", "600", "-q")
    assert [row["size"] for row in rows("-t", file, CORPORA[0])["english"]] == [256, 512, 600]


def test_a_target_that_is_not_met(path: str) -> None:
    words = ("budget", "-t", path, CORPORA[0], "--target", "0.01")
    assert "not met on english" in cli(*words).stderr
    assert cli(*words).exit_code == 0
    assert cli(*words, "--exact").exit_code == 1


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--sizes", "32k"), "--sizes 32000: the vocabulary ends at 316 ids"),
        (("--sizes", "12"), "--sizes 12: the vocabulary begins with 256 ids"),
        (("--sizes", "300,,310"), "--sizes: not a size: ''"),
        (("--sizes", "many"), "--sizes: not a size: 'many'"),
        (("--price", "nan"), "--price nan: not a price"),
        (("--price", "0"), "--price 0: not a price"),
        (("--embedding-dim", "0"), "--embedding-dim"),
        (("--untied",), "--untied requires --embedding-dim"),
        (("--exact",), "--exact requires --target"),
        (("--json", "--csv", "-"), "--json and --csv - cannot be combined"),
        (("--csv", "no/such/x.csv"), "no such folder"),
    ],
)
def test_wrong_words(path: str, words: tuple[str, ...], what: str) -> None:
    assert what in refused("budget", "-t", path, CORPORA[0], *words)


def test_a_corpus_has_to_be_named(path: str) -> None:
    assert "CORPUS is missing" in refused("budget", "-t", path)


def test_a_size_between_two_steps_is_the_step_before() -> None:
    assert [step_of((4, 5, 8, 9), size) for size in (4, 7, 8, 9)] == [0, 1, 2, 3]
