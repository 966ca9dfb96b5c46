"""`tokentui languages`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from running_cli import cli, done, refused

import tokentui


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Two tokenizers: one of bytes, one that refuses what it does not know."""
    folder = tmp_path_factory.mktemp("languages")
    out = str(folder / "bytes.json"), str(folder / "sailor.json")
    done("train", "sample:english", "-r", "gpt2", "--merges", "60", "-o", out[0], "-q")
    done("train", "sample:sailor", "-r", "udl-notebook", "--merges", "20", "-o", out[1], "-q")
    return out


@pytest.mark.slow
def test_tables_and_row_have_the_numbers_of_the_library(files: tuple[str, str]) -> None:
    words = ("languages", "-t", files[0], "-t", files[0], "-q")
    text, row = done(*words), json.loads(done(*words, "--json"))
    found = tokentui.load(files[0]).languages()
    first, second = row["tokenizers"]
    assert first == second
    assert [one["tokens"] for one in first["costs"]] == [one.tokens for one in found.rows]
    assert (first["cheapest"], row["by"], row["unit"]) == (found.cheapest, "sentences", "sentence")
    parts = text.rstrip("\n").split("\n\n")
    assert parts[0] == "cost: tokens per sentence, on the same 40 sentences"
    lines = [re.split(r" {2,}", line.strip()) for line in parts[1].splitlines()[2:-1]]
    assert lines == [
        [one.language, f"{one.tokens:,}", f"{one.bytes_per_token:.2f}", f"{one.characters_per_token:.2f}",
         f"{one.cost:,.2f}", f"{one.times:.2f}", "0"]
        for one in found.rows
    ]
    assert parts[1].splitlines()[-1] == f"  cheapest: {found.cheapest}"
    compared = [line.split() for line in parts[-1].splitlines()[2:]]
    assert compared == [[one.language, f"{one.times:.2f}", f"{one.times:.2f}"] for one in found.rows]


def test_files_are_languages_counted_by_bytes(files: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "en.txt").write_text("good day\nbread\n")
    (tmp_path / "de.txt").write_text("guten Tag\nBrötchen\n", encoding="utf-8")
    names = (str(tmp_path / "en.txt"), str(tmp_path / "de.txt"))
    row = json.loads(done("languages", "-t", files[0], *names, "--json"))
    assert row["by"] == "bytes"
    tok = tokentui.load(files[0])
    for one in row["tokenizers"][0]["costs"]:
        text = (tmp_path / one["language"]).read_bytes()
        assert one["cost"] == len(tok.encode(text.decode()).ids) / len(text)
    row = json.loads(done("languages", "-t", files[0], *names, "--by", "sentences", "--json"))
    assert [one["sentences"] for one in row["tokenizers"][0]["costs"]] == [2, 2]
    (tmp_path / "de.txt").write_text("guten Tag\n")
    said = refused("languages", "-t", files[0], *names, "--by", "sentences")
    assert "1 sentences, and en.txt has 2" in said


def test_a_language_that_is_refused_ends_with_1(files: tuple[str, str]) -> None:
    words = ("languages", "-t", files[1], "sample:sailor", "sample:finnish")
    result = cli(*words)
    assert result.exit_code == 1
    assert re.search(r"^  finnish  .+\(.+\)$", result.stdout, re.M)
    (one,) = json.loads(cli(*words, "--json").stdout)["tokenizers"]
    assert [(row["language"], row["error"] is None) for row in one["costs"]] == [
        ("sailor", True), ("finnish", False),
    ]
    alone = cli(*words[:3], "sample:finnish")
    assert (alone.exit_code, "no text can be encoded" in alone.stdout) == (1, True)


def test_names_of_languages_are_drawn_safely(files: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "a\u202e\x1b[31m.txt"
    path.write_text("text")
    lines = done("languages", "-t", files[0], str(path)).splitlines()
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize(("words", "line"), [
    ((), "languages: Missing option '-t'"),
    (("-t", "none.json"), "none.json: no such file"),
    (("-t", "none.json", "--by", "byte"), "languages: Invalid value for '--by': 'byte'"),
])
def test_wrong_words(words: tuple[str, ...], line: str) -> None:
    assert refused("languages", *words).startswith(line)


def test_what_cannot_be_counted(files: tuple[str, str]) -> None:
    twice = ("languages", "-t", files[0], "sample:hugs", "sample:hugs")
    assert refused(*twice).startswith("hugs: two languages have this name")
    assert "no splitter 'word'" in refused(*twice[:4], "--words", "word")
    assert "--as is for a CORPUS" in refused("languages", "-t", files[0], "--as", "lines")
