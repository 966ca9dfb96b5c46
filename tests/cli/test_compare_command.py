"""`tokentui compare`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from running_cli import cli, done, refused

from tokentui import preset
from tokentui.analyze.metrics import MEASURES, rows_of, tally
from tokentui.formats.files import load
from tokentui.text.read import read
from tokentui.tokenizer import train


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Two tokenizers: one of bytes, one that refuses what it does not know."""
    folder = tmp_path_factory.mktemp("compare")
    out = str(folder / "bytes.json"), str(folder / "sailor.json")
    done("train", "sample:english", "-r", "gpt2", "--merges", "60", "-o", out[0], "-q")
    done("train", "sample:sailor", "-r", "udl-notebook", "--merges", "20", "-o", out[1], "-q")
    return out


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file of some sentences."""
    path = tmp_path_factory.mktemp("english") / "english.txt"
    path.write_text(read("sample:english").documents[0][:2_000] + " é")
    return str(path)


def row(*words: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(done("compare", *words, "--json"))
    return answer


def block(text: str, title: str) -> list[list[str]]:
    """The rows of a table of the output, cells apart where two spaces or more are."""
    (found,) = [part for part in text.split("\n\n") if part.startswith(title)]
    return [re.split(r" {2,}", line.strip()) for line in found.splitlines()]


def test_tables_and_row_have_the_same_numbers(files: tuple[str, str]) -> None:
    words = ["-t", files[0], "-t", files[1], "-r", "bert", "--merges", "20", "sample:sailor"]
    text, answer = done("compare", *words), row(*words)
    head, *measures = block(text, "measure")
    assert head[-3:] == ["A", "B", "C"]
    assert [line[-3:] for line in measures] == [one["shown"] for one in answer["measures"]]
    assert [line[0] for line in measures] == [one["title"] for one in answer["measures"]]
    _, *agreement = block(text, "boundaries")
    assert [line[1:] for line in agreement] == [list(one["shown"].values()) for one in answer["agreement"]]
    assert [line[0] for line in agreement] == [f"{one['a']} and {one['b']}" for one in answer["agreement"]]
    _, *vocabularies = block(text, "vocabularies")
    assert [line[2:] for line in vocabularies] == [
        [f"{one[name]:,}" for name in ("common", "only_a", "only_b")] + [one["shown"]["jaccard"]]
        for one in answer["vocabulary"]
    ]


@pytest.mark.slow
def test_three_columns_have_a_map_of_their_agreement() -> None:
    """Each share is that of the table, on both sides of the diagonal."""
    words = [word for name in ("gpt2", "bert", "hf-bpe") for word in ("-r", name)]
    text = done("compare", *words, "--merges", "30", "sample:hugs")
    _, *agreement = block(text, "boundaries")
    ab, ac, bc = (line[1] for line in agreement)
    rows = [line for line in text.splitlines() if re.match(r" [A-C] +[^ ]", line)]
    cells = [re.findall(r"\d+\.\d %|–", row) for row in rows]
    assert cells == [["–", ab, ac], [ab, "–", bc], [ac, bc, "–"]]


@pytest.mark.slow
def test_the_row_has_the_numbers_of_the_library(files: tuple[str, str]) -> None:
    answer = row("-t", files[0], "-r", "bert", "--merges", "20", "sample:english")
    corpus = read("sample:english")
    ours = rows_of([tally(train(corpus, "bert", merges=20), corpus)])
    assert [one["name"] for one in answer["measures"]] == [measure.name for measure in MEASURES]
    assert [one["values"][1] for one in answer["measures"]] == [
        one.value for row in ours for one in row.figures if one
    ]
    assert [one["conventions"] for one in answer["measures"]] == [dict(row.conventions) for row in ours]
    assert answer["tokenizers"][0]["totals"]["bytes"] == corpus.size == answer["corpus"]["bytes"]


def test_ties_of_two_libraries_part_at_the_first_step(tmp_path: Path) -> None:
    corpus = tmp_path / "c.txt"
    corpus.write_text("zy zy ab ab mn mn q")
    words = ["-r", "hf-bpe", "-r", "subword-nmt", "--merges", "3", str(corpus)]
    lines = block(done("compare", *words), "first differing step")
    assert lines[0] == ["first differing step, A and B: 1"]
    assert lines[1] == ["A", "a + b = ab", "count 2, one of 3 tied pairs (lowest-ids)"]
    assert lines[2:5] == [["a + b", "2"], ["m + n", "2"], ["z + y", "2"]]
    (found,) = row(*words)["first_difference"]
    assert found["step"] == 1
    assert [side["step"]["hex"][2] for side in found["sides"]] == [b"ab".hex(), b"zy</w>".hex()]
    assert [side["tied"] for side in found["sides"]] == [3, 3]


def test_scores_are_shown_where_they_decide() -> None:
    lines = block(
        done("compare", "-r", "wordpiece", "-r", "bert", "--merges", "4", "sample:hugs"),
        "first differing step",
    )
    scored = [line for line in lines if len(line) == 4 and line[2].startswith("score ")]
    assert len(scored) == 5
    assert all(re.fullmatch(r"part counts \d+ and \d+", line[3]) for line in scored)
    found = row("-r", "wordpiece", "-r", "bert", "--merges", "4", "sample:hugs")["first_difference"][0]
    assert found["sides"][0]["step"]["score"] > 0
    assert found["sides"][1]["step"]["score"] is None


def test_equal_recipes_do_not_part() -> None:
    words = ["-r", "gpt2", "-r", "gpt2", "--merges", "9", "sample:sailor"]
    assert "first differing step, A and B: none" in done("compare", *words)
    assert row(*words)["first_difference"] == [{"a": "A", "b": "B", "step": None}]


@pytest.mark.slow
def test_a_space_is_a_space_however_it_is_written(english: str) -> None:
    words = ["-r", "gpt2", "-r", "sentencepiece-bpe", "--merges", "60", english]
    answer = row(*words)
    (spelled,), (meant,) = answer["first_difference"], answer["first_difference_by_meaning"]
    assert spelled["step"] == 1 < meant["step"]
    said = block(done("compare", *words), "first differing step")
    assert said[0] == [f"first differing step, A and B: {meant['step']}"]
    assert said[1] == ["a space, ▁ and a mark at a word's edge are one boundary; as spelled: 1 (--literal)"]
    literal = block(done("compare", *words, "--literal"), "first differing step")
    assert literal[:2] == [["first differing step, A and B: 1"], [f"by meaning: {meant['step']}"]]


@pytest.mark.slow
def test_two_files_whose_merges_differ_in_order(tmp_path: Path, english: str) -> None:
    files, steps = [], []
    for tie in ("lowest-ids", "largest-pair"):
        file = tmp_path / f"{tie}.json"
        done(
            "train", english, "-r", "hf-bpe", "-s", f"tie={tie}", "--merges", "90", "-o", str(file), "-q",
        )
        files.append(str(file))
        vocabulary = load(str(file)).vocabulary
        pieces = [piece.decode("utf-8", "surrogateescape") for piece in vocabulary.pieces]
        steps.append([(pieces[left], pieces[right]) for left, right, *_ in vocabulary.merges])
    wanted = next(n for n, (one, other) in enumerate(zip(*steps, strict=True), 1) if one != other)
    words = ["-t", files[0], "-t", files[1], english]
    lines = block(done("compare", *words), "first differing step")
    assert lines[0] == [f"first differing step, A and B: {wanted}"]
    for line, letter, made in zip(lines[1:], "AB", steps, strict=True):
        left, right = made[wanted - 1]
        assert line[:2] == [letter, f"{left} + {right} = {left}{right}"]
    (found,) = row(*words)["first_difference"]
    assert found["step"] == wanted
    trained = row("-r", "hf-bpe", "-t", files[1], "--merges", "90", english)["first_difference"]
    assert [one["step"] for one in trained] == [wanted]
    assert "first differing step, A and B: none" in done("compare", "-t", files[0], "-t", files[0], english)


@pytest.mark.parametrize("recipe", ["sentencepiece-unigram", "gage"])
def test_every_objective_has_a_column(recipe: str) -> None:
    words = ["-r", recipe, "-r", "minbpe-basic", "--vocab-size", "270", "sample:sailor"]
    assert "first differing step, A and B: " in done("compare", *words)
    answer = row(*words)
    assert all(value is not None for one in answer["measures"] for value in one["values"])


@pytest.mark.slow
def test_a_text_is_shown_in_rows(english: str) -> None:
    words = ["-r", "gpt2", "-r", "bert", "--merges", "0", english, "--text", "the é"]
    assert done("compare", *words).rstrip("\n").split("\n")[-3:] == [
        "A  t│h│e│·│<C3>┊<A9>", "B  t│h│e│· é", "    2 2 2 1",
    ]
    text = row(*words)["text"]
    assert text["text"] == "the é"
    assert text["boundaries"] == {"A": [1, 2, 3, 4], "B": [1, 2, 3]}
    assert text["ruler"] == [[1, 2], [2, 2], [3, 2], [4, 1]]
    assert text["partings"] == [[3, 5]]


def test_a_file_whose_tokens_have_no_order_has_no_steps(tmp_path: Path) -> None:
    file = str(tmp_path / "unigram.json")
    done("train", "sample:hugs", "-r", "sentencepiece-unigram", "--vocab-size", "20", "-o", file, "-q")
    answer = row("-t", file, "-r", "bert", "--merges", "5", "sample:hugs")
    assert answer["first_difference"] == answer["first_difference_by_meaning"] == []
    assert all(one["totals"] for one in answer["tokenizers"])


def test_one_that_has_ended_says_why(tmp_path: Path) -> None:
    file = str(tmp_path / "short.json")
    done("train", "sample:hugs", "-r", "hf-bpe", "--merges", "2", "-o", file, "-q")
    words = ["-t", file, "-r", "hf-bpe", "--merges", "9", "sample:hugs"]
    said = block(done("compare", *words), "first differing step")
    assert said[:2] == [["first differing step, A and B: 3"], ["A", "has ended (the last step)"]]
    (found,) = row(*words)["first_difference"]
    assert (found["sides"][0]["step"], found["sides"][0]["end"]) == (None, "the last step")


@pytest.mark.slow
def test_tokens_are_found(files: tuple[str, str], english: str) -> None:
    words = ["-t", files[0], "-r", "bert", "--merges", "60", english, "--find", "th"]
    start = "tokens with th, A and B, "
    lines = [line for line in done("compare", *words).splitlines() if line.startswith(start)]
    assert [line.split(", ")[2].partition(" (")[0] for line in lines] == ["common", "only A", "only B"]
    assert "the" in lines[0].split()
    exact, bare = row(*words)["vocabulary"]
    assert (exact["by"], bare["by"]) == ("exact", "bare")
    assert b"the".hex() in bare["found"]["common"]
    assert b" the".hex() in exact["found"]["only_a"]


def test_formulas_are_a_word_away(files: tuple[str, str]) -> None:
    words = ["-t", files[0], "-t", files[0], "sample:sailor"]
    assert "B / N" not in done("compare", *words)
    text = done("compare", *words, "--formulas")
    for measure in MEASURES:
        assert measure.formula in text
    assert "N    tokens in the corpus" in text


def test_conventions_are_chosen(files: tuple[str, str]) -> None:
    answer = row("-t", files[0], "-t", files[0], "sample:sailor", "--words", "bert", "--alpha", "3")
    said = {one["name"]: one["conventions"] for one in answer["measures"]}
    assert said["fertility"]["words by"] == "bert"
    assert said["renyi_efficiency"]["α"] == "3"


@pytest.mark.slow
def test_a_tokenizer_that_refuses_the_corpus_says_so_in_its_column(
    files: tuple[str, str], english: str
) -> None:
    result = cli("compare", "-t", files[0], "-t", files[1], "-r", "bert", "--merges", "9", english)
    assert result.exit_code == 1
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[2].startswith("B  sailor.json  the pre-token ")
    assert "is not in the vocabulary" in lines[2]
    assert "A and C" in result.stdout
    answer = json.loads(cli("compare", "-t", files[0], "-t", files[1], english, "--json").stdout)
    assert answer["tokenizers"][1]["error"].startswith("the pre-token ")
    assert all(one["values"][1] is None for one in answer["measures"])


def test_a_tokenizer_without_ids_is_compared_too(tmp_path: Path) -> None:
    empty, path = tmp_path / "empty.txt", tmp_path / "empty.json"
    empty.write_text("")
    recipe = preset("udl-notebook", unknown="drop")
    tokenizer = train(str(empty), recipe, merges=0)
    assert len(tokenizer) == 0
    tokenizer.save(path)
    text = done("compare", "-t", str(path), "-r", "gpt2", "-r", "bert", "--merges", "3", "sample:sailor")
    for pair in ("A and B", "A and C", "B and C"):
        assert pair in text


def test_a_text_that_is_refused_leaves_the_tables(files: tuple[str, str]) -> None:
    result = cli("compare", "-t", files[0], "-t", files[1], "sample:sailor", "--text", "zebra")
    assert result.exit_code == 1
    assert result.stdout.rstrip("\n").splitlines()[-1].startswith("B  offset 0: 'z' is not in the vocabulary")


def test_nothing_that_acts_is_printed(tmp_path: Path, files: tuple[str, str]) -> None:
    corpus = tmp_path / "c\x1b[31m.txt"
    corpus.write_bytes(b"a\x1b]0;x\x07 b\x1b[31m \xe2\x80\xae \xff\xfe c\n")
    words = [
        "-t", files[0], "-r", "minbpe", "--merges", "2", str(corpus), "--text", "a\x1b[31m\u202e", "--find",
        "\x1b", "-q",
    ]
    text = done("compare", *words)
    assert all(line.isprintable() for line in text.splitlines())


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "compare -t FILE sample:sailor",
            "compare: two to four tokenizers are needed, not 1 (name them with -t and -r)",
        ),
        ("compare " + "-r gpt2 " * 5 + "sample:sailor", "compare: two to four tokenizers are needed, not 5"),
        ("compare -t FILE -t FILE", "compare: CORPUS is missing (name a file, a folder"),
        ("compare -t FILE -t none.json sample:sailor", "none.json: no such file"),
        ("compare -t FILE -r gpt5 sample:sailor", "gpt5: no such preset (did you mean gpt4?)"),
        ("compare -t FILE -t FILE --merges 3 sample:sailor", "compare: nothing is trained"),
        ("compare -t FILE -t FILE sample:sailer", "sample:sailer: no such sample (did you mean sailor?)"),
        ("compare -t FILE -t FILE --words gpt2 sample:sailor", "splitter: no splitter 'gpt2' for words"),
        ("compare -t FILE -t FILE --alpha x sample:sailor", "compare: Invalid value for '--alpha': "),
        ("compare -t FILE -t FILE --alpha -1 sample:sailor", "alpha=-1.0: out of range (use 0 or more)"),
        ("compare -t OTHER -t OTHER sample:english", "the pre-token "),
    ],
)
def test_an_error_is_one_line(line: str, says: str, files: tuple[str, str]) -> None:
    words = [{"FILE": files[0], "OTHER": files[1]}.get(word, word) for word in line.split()]
    assert refused(*words).startswith(says)


def test_an_axis_is_of_the_recipe_before_it() -> None:
    """In front of the first recipe it is of all."""
    words = ("-r", "gpt2", "-s", "tie=first-seen", "-r", "gpt2", "-r", "bert", "-s", "tie=shortest",
             "-s", "unknown=fused", "--merges", "5", "sample:sailor")
    found = [one["recipe"] for one in row("-s", "weight=distinct", *words)["tokenizers"]]
    assert [one["tie"] for one in found] == ["first-seen", preset("gpt2").tie, "shortest"]
    assert [one["weight"] for one in found] == ["distinct"] * 3
    assert found[2]["unknown"] == "fused" != preset("bert").unknown
    said = refused("compare", "-r", "gpt2", "-r", "bert", "-s", "tye=x", "sample:hugs")
    assert said.startswith("-s tye=x: no such axis")


@pytest.mark.slow
def test_a_recipe_without_a_size_is_trained_to_that_of_the_file(files: tuple[str, str]) -> None:
    words = ("-t", files[0], "-r", "gpt4", "sample:english")
    found = row(*words)["tokenizers"]
    assert [one["totals"]["vocab_size"] for one in found] == [316, 316]
    assert [one["trained_to"] for one in found] == [None, 316]
    assert "316 ids (trained to 316, the size of A)" in done("compare", *words)
    own = row(*words, "--merges", "9")["tokenizers"]
    assert [one["trained_to"] for one in own] == [None, None]
    assert own[1]["totals"]["vocab_size"] == 265
    alone = row("-r", "gpt4", "-r", "gpt2", "sample:hugs")["tokenizers"]
    assert [one["trained_to"] for one in alone] == [None, None]


@pytest.mark.slow
def test_files_of_one_name_are_told_apart_by_their_folders(files: tuple[str, str], tmp_path: Path) -> None:
    paths = []
    for folder in ("left", "right"):
        (tmp_path / folder).mkdir()
        paths.append(tmp_path / folder / "tokenizer.json")
        paths[-1].write_bytes(Path(files[0]).read_bytes())
    given = ("-t", str(paths[0]), "-t", str(paths[1]))
    columns = row(*given, "sample:english")["tokenizers"]
    assert [column["name"] for column in columns] == ["left/tokenizer.json", "right/tokenizer.json"]
