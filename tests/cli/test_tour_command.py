"""`tokentui tour` and `tokentui quiz` from the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from running_cli import cli, done

from tokentui.tours.shipped import TOURS


def test_tours_are_listed() -> None:
    lines = cli("tour").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [one.name for one in TOURS]
    assert all(one.title in line for one, line in zip(TOURS, lines, strict=True))


def test_a_tour_is_checked(tmp_path: Path) -> None:
    result = cli("tour", "gage", "--check")
    assert result.exit_code == 0
    assert result.stdout.endswith("0 wrong\n")
    path = tmp_path / "x.toml"
    path.write_text(
        'title = "X"\n[[stop]]\ncorpus = "sample:abac"\nrecipe = "minbpe"\ntext = "x"\n'
        'claims = { pair = ["b", "a"] }\n'
    )
    result = cli("tour", str(path), "--check")
    assert result.exit_code == 1
    assert 'stop 1: pair is ["a", "a"], not ["b", "a"]' in result.stderr
    assert result.stdout == "X: 1 stop, 1 claim, 1 wrong\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tour", "tie"], "no such tour"), (["tour", "nowhere.toml"], "no such tour"),
        (["tour", "--check"], "no tour is named"), (["tour", "gage"], "needs a terminal"),
        (["quiz"], "CORPUS is missing"), (["quiz", "sample:hugs"], "-r is missing"),
        (["quiz", "-r", "t5", "sample:hugs"], "merges pairs"),
        (["quiz", "-r", "gpt2", "sample:hugs", "--count", "0"], "0 is not in the range"),
    ],
)  # fmt: skip
def test_faults_are_one_line(words: list[str], said: str) -> None:
    result = cli(*words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("title = 'X'\n\x1b[31mfly\n", "x.toml:2: not TOML: "),
        ("title = 'X'\n[[stop]]\n\"\\u001b[31mfly\" = 3\n", "x.toml: stop 1: no such key: "),
    ],
)  # fmt: skip
def test_an_error_in_a_tour_names_the_file_and_the_place(tmp_path: Path, text: str, line: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text)
    result = cli("tour", str(path))
    assert result.exit_code == 2
    assert line in result.stderr
    assert "\x1b" not in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_sheet_has_questions_and_as_many_answers() -> None:
    words = ["quiz", "-r", "comp336", "sample:hugs", "--count", "6", "--seed", "3", "-q"]
    sheet = done(*words)
    questions, _, answers = sheet.partition("## Answers")
    assert len(re.findall(r"^\d+\. ", questions, re.M)) == len(re.findall(r"^\d+\. ", answers, re.M)) == 6
    assert "    hugging pugs is fun" in questions
    assert done(*words) == sheet
    assert done(*words[:-2], "4", "-q") != sheet


def test_a_sheet_of_hostile_text_does_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("a`b``c \x1b]0;x\x07 a`b``c `` a`b``c\n" * 4)
    sheet = done("quiz", "-r", "gpt2", str(path), "-q", "--count", "20")
    assert "\x1b" not in sheet
    assert "\x07" not in sheet
