"""Commands report how much text a split leaves out, on standard error and once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running_cli import cli, done

from tokentui.text.split import SPLITS, Split

TEXT = "hugs 1234hugs"
LEAVING = [(r"regex:\p{L}+", 5), (r"regex:\p{L}+|\s", 4), (r"regex:\p{L}+|[\s\d]", 0), ("signs", 13)]
"""Splits, and how many of the characters of the text they leave out. `signs` is not of the table."""


@pytest.fixture(autouse=True)
def signs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A split of the table that leaves text out, as a contributor may add one."""
    leaving = Split("signs", "runs of signs", pattern=r"[^\w\s]+", keeps_spaces=False)
    monkeypatch.setitem(SPLITS, "signs", leaving)


def line(left: int, total: int = len(TEXT), name: str = "") -> str:
    what = f"{name}the split leaves out {left} of {total} characters"
    return f"tokentui: {what}: its pattern does not match them"


def reported(*words: str, input: str | None = None) -> list[str]:
    result = cli(*words, input=input)
    assert result.exit_code == 0, result.output
    return [row for row in result.stderr.splitlines() if "leaves out" in row]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, "utf-8")
    return path


@pytest.mark.parametrize(("split", "left"), LEAVING)
@pytest.mark.slow
def test_a_training_and_its_tokenizer_report_it(path: Path, split: str, left: int) -> None:
    file, own = str(path.with_name("hugs.json")), ("-s", f"split={split}")
    training = ("-r", "minbpe-basic", *own, "--merges", "1")
    assert reported("train", str(path), *training, "-o", file) == [line(left)] * bool(left)
    for words in (
        ("inspect", "-t", file, "--corpus", str(path)), ("encode", "-t", file, TEXT),
        ("encode", "-t", file, "--json", TEXT), ("encode", "-t", file, "--explain", TEXT),
        ("encode", "-t", file, "--sample", "dropout:p=0.5,like=tokenizers", "--n", "2", TEXT),
        ("split", *own, TEXT), ("split", *own, "--json", TEXT),
    ):
        assert reported(*words) == [line(left)] * bool(left), words
    assert reported("encode", "-t", file, "-q", TEXT) == []


@pytest.mark.parametrize(("split", "left"), LEAVING)
def test_lines_of_json_are_added_up(path: Path, split: str, left: int) -> None:
    file, own = str(path.with_name("hugs.json")), ("-s", f"split={split}")
    done("train", str(path), "-r", "minbpe-basic", *own, "--merges", "1", "-o", file)
    texts = (json.dumps({"text": TEXT}) + "\n") * 3
    for words in (("encode", "-t", file, "--jsonl"), ("split", *own, "--jsonl")):
        assert reported(*words, input=texts) == [line(3 * left, 3 * len(TEXT))] * bool(left), words


@pytest.mark.parametrize(("split", "left"), LEAVING)
@pytest.mark.parametrize("more", [(), ("--top", "1"), ("--limit", "part-bytes=16"),
                                  ("--limit", "count-memory=1")])
def test_a_count_adds_up_the_parts(path: Path, split: str, left: int, more: tuple[str, ...]) -> None:
    other = path.with_name("other.txt")
    other.write_text(f"{TEXT}\n" * 9, "utf-8")
    words = ("count", str(path), str(other), "-r", "minbpe-basic", "-s", f"split={split}", "-o", "-", *more)
    ends = 0 if split == LEAVING[1][0] or split == LEAVING[2][0] else 9
    total = 10 * len(TEXT) + 9
    assert reported(*words) == [line(10 * left + ends, total)] * bool(left + ends)


def test_a_count_reports_characters_of_the_prepared_text(path: Path) -> None:
    path.write_text("ﬁsh 12", "utf-8")  # nfkc makes two letters of the ligature
    words = ("-r", "minbpe-basic", "-s", r"split=regex:\p{L}+", "-s", "normalize=nfkc", "-o", "-")
    assert reported("count", str(path), *words) == [line(3, 7)]


def test_a_comparison_names_the_column(path: Path) -> None:
    file = str(path.with_name("hugs.json"))
    own = ("-r", "minbpe-basic", "-s", r"split=regex:\p{L}+", "--merges", "1")
    done("train", str(path), *own, "-o", file)
    assert reported("compare", "-t", file, "-r", "gpt2", *own, str(path)) == [
        line(5, name="hugs.json: "), line(5, name="minbpe-basic: "),
    ]


def test_counted_words_leave_out_nothing(path: Path) -> None:
    file, own = str(path.with_name("a.counts.tsv")), ("-r", "minbpe-basic", "-s", r"split=regex:\p{L}+")
    done("count", str(path), *own, "-o", file)
    assert reported("train", file, *own, "--merges", "1") == []
    assert reported("count", file, *own, "-o", "-") == []
