"""`tokentui inspect`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from running_cli import cli, done, refused

from tokentui import read
from tokentui.analyze.metrics import MEASURES, rows_of, tally
from tokentui.core.table import plural
from tokentui.formats.files import load
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe


@pytest.fixture(scope="module")
def slide(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The tokenizer of the slides, at N = 20."""
    file = str(tmp_path_factory.mktemp("cli") / "hugs.json")
    done("train", "sample:hugs", "-r", "comp336", "--vocab-size", "20", "--first-id", "1", "-o", file, "-q")
    return file


def told(*words: str, input: bytes | None = None) -> dict[str, Any]:
    """The one row that is printed."""
    text = done("inspect", *words, "--json", input=input)
    assert text.count("\n") == 1
    row: dict[str, Any] = json.loads(text)
    return row


def test_a_corpus_is_cut_by_the_steps_of_a_file(tmp_path: Path) -> None:
    names = ["a", "b", "x", "y", "ab"]
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps({
        "normalizer": {"type": "Replace", "pattern": {"String": "x"}, "content": "yy"},
        "pre_tokenizer": {
            "type": "Split", "pattern": {"Regex": "y+"}, "behavior": "Isolated", "invert": False,
        },
        "model": {"type": "BPE", "vocab": {name: n for n, name in enumerate(names)}, "merges": [["a", "b"]]},
    }))
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("abx\nab\n")
    answer = cli("inspect", "-t", str(file), "--corpus", str(corpus), "--as", "lines", "--json").stdout
    rows = json.loads(answer)["corpus"]["documents"]
    documents = [(one["number"], one["units"], one["tokens"]) for one in rows]
    assert documents == [(1, 4, 3), (2, 2, 1)]


def test_every_measure_is_in_the_text_and_the_json(slide: str) -> None:
    words = ("-t", slide, "--corpus", "sample:hugs")
    rows = told(*words)["measures"]
    assert [row["name"] for row in rows] == [measure.name for measure in MEASURES]
    expected = rows_of([tally(load(slide), read("sample:hugs"))])
    assert [row["values"] for row in rows] == [[one.value for one in row.figures if one] for row in expected]
    lines = [line.split() for line in done("inspect", *words).splitlines()]
    for row, measure in zip(rows, expected, strict=True):
        assert [*row["title"].split(), *row["shown"], *measure.under.split()] in lines


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("name", [
    name for name, entry in PRESETS.items() if entry.recipe.unknown == "error" or name == "gpt2"
])
def test_a_corpus_with_a_unit_that_is_refused_is_reported_without_measures(name: str, tmp_path: Path) -> None:
    (tmp_path / "seen.txt").write_text("the the hat hat", "utf-8")
    (tmp_path / "other.txt").write_text("the zebra hat", "utf-8")
    file = str(tmp_path / "tokenizer.json")
    assert cli("train", str(tmp_path / "seen.txt"), "-r", name, "--merges", "3", "-o", file).exit_code == 0
    found = cli("inspect", "-t", file, "--corpus", str(tmp_path / "other.txt"), "--json")
    row = json.loads(found.stdout)
    assert row["corpus"]["units"] > 0
    assert row["checks"]
    text = cli("inspect", "-t", file, "--corpus", str(tmp_path / "other.txt"))
    assert found.exit_code == text.exit_code == 0
    assert "unused" in text.stdout
    if row["measures"]:
        assert row["measures_error"] is None
    else:
        assert "not in the vocabulary" in row["measures_error"]
        assert row["measures_error"] in text.stdout
    assert bool(row["measures"]) == (name == "gpt2")


def test_measures_need_a_corpus(slide: str) -> None:
    assert told("-t", slide)["measures"] == []


def test_ids_with_holes(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    model = {"type": "BPE", "vocab": {"a": 2, "b": 5, "ab": 9}, "merges": [["a", "b"]]}
    file.write_text(json.dumps({"model": model}))
    assert "ids          3, 2 to 9 (" in cli("inspect", "-t", str(file)).stdout
    row = json.loads(cli("inspect", "-t", str(file), "--json").stdout)
    assert (row["tokenizer"]["first_id"], row["health"]["holes"]) == (2, [[3, 4], [6, 8]])
    assert refused("inspect", "-t", str(file), "--id", "4") == "4: no such id (ids are 2 to 9, with holes)"


@pytest.mark.slow
def test_a_part_of_a_character_and_a_very_long_word(tmp_path: Path) -> None:
    file = str(tmp_path / "bytes.json")
    done("train", "sample:hugs", "-r", "minbpe-basic", "--merges", "1", "-o", file, "-q")
    assert "a byte that is not a whole character" in done("inspect", "-t", file, "--id", "200")
    assert done("inspect", "-t", file, "a" * 10_001).endswith(
        "\nways         not counted: the word is too long\n"
    )
    assert told("-t", file, "a" * 10_001)["words"][0]["ways"] is None


def test_a_tokenizer(slide: str) -> None:
    lines = done("inspect", "-t", slide).splitlines()
    assert lines[0] == "recipe       bpe · before · characters"
    assert "ids          20, 1 to 20 (13 unit, 7 merge)" in lines
    assert "unreachable  none" in lines
    assert "  18  5 B  ·pugs" in lines
    row = told("-t", slide)
    assert Recipe.from_dict(row["tokenizer"]["recipe"]).split == "before"
    assert row["tokenizer"]["kinds"] == {"unit": 13, "merge": 7}
    assert row["health"]["spaces"] == [{"id": 1, "text": " ", "hex": "20"}]
    assert row["corpus"] is None


@pytest.mark.slow
@pytest.mark.parametrize(("recipe", "mark"), [("bert", "##"), ("subword-nmt", "</w>")])
def test_a_mark_is_none_of_the_bytes_of_a_token(tmp_path: Path, recipe: str, mark: str) -> None:
    file = str(tmp_path / "t.json")
    done("train", "sample:sailor", "-r", recipe, "-o", file, "-q")
    texts = [entry.text for entry in load(file).entries()]
    token = next(text for text in texts if mark in text and len(text) > len(mark) + 1)
    bare = token.replace(mark, "")
    lines = done("inspect", "-t", file, token).splitlines()
    assert f"hex          {bare.encode().hex(' ')}  {plural(len(bare), 'byte')}" in lines
    assert [line.split()[1] for line in lines if line.startswith("mark ")] == [mark]
    listed = [line.split()[0] for line in lines if line.startswith("U+")]
    assert listed == [f"U+{ord(char):04X}" for char in bare]
    assert told("-t", file, token)["token"]["hex"] == token.encode().hex()
    longest = [line.split() for line in done("inspect", "-t", file).splitlines() if " B  " in line]
    assert longest
    assert all(
        int(size) == len(piece.removeprefix("##").removesuffix("</w>")) for _, size, _, piece in longest
    )


def test_the_questions_of_the_slides(slide: str) -> None:
    words = ("-t", slide, "--corpus", "sample:hugs", "--exhaust")
    corpus = told(*words)["corpus"]
    assert [one["text"] for one in corpus["unused"]] == ["h", "p", "u", "ug", " pug"]
    assert [one["into"][0]["text"] for one in corpus["unused"]] == ["hug", " p", "ug", " pug", " pugs"]
    assert [(one["units"], one["tokens"]) for one in corpus["documents"]] == [(10, 3), (19, 12), (11, 9)]
    assert corpus["exhausted"] == {
        "merges": 21, "vocab_size": 34, "tokens": 10, "whole": 8, "distinct": 8, "end": "no pair left",
    }
    text = done("inspect", *words)
    assert "  17  merge  ·pug  always merged into ·pugs\n" in text
    assert "exhausted    21 merges, 34 ids, 10 tokens\n" in text


def test_a_string(slide: str) -> None:
    lines = done("inspect", "-t", slide, " hugs").splitlines()
    assert lines[:3] == [
        "string       ·hugs",
        "encoding     20 12",
        "one token    It becomes ·hug | s: no token is spelled that way, and no merge joins ·hug and s.",
    ]
    assert "3 step 7: · + hug = ·hug (once) → ·hug s" in [" ".join(line.split()) for line in lines]
    assert (
        "ways         4 segmentations; used: ·hug s (merges, in the order they were learned)"
        in lines
    )
    assert "  * 2 tokens  ·hug s" in lines
    row = told("-t", slide, " hugs")
    assert row["encoding"]["ids"] == [20, 12]
    assert row["words"][0]["ways"]["count"] == 4
    assert row["words"][0]["steps"][0] == {
        "step": 1, "hex": ["75", "67", "7567"], "start": 2, "middle": 3, "end": 4,
    }
    assert row["token"] is None
    assert row["reason"] == "missing"
    assert row["facts"] == {"left": "20687567", "right": "73", "pieces": ["20687567", "73"]}
    assert (row["decoded"], row["lost"]) == (" hugs", [])
    assert row["words"][0]["ways"]["first"][0] == {"hex": ["20687567", "73"], "score": None, "share": None}


def test_what_comes_back_where_it_differs(tmp_path: Path) -> None:
    file = str(tmp_path / "t.json")
    done("train", "sample:sailor", "-r", "bert", "-o", file, "-q")
    lines = done("inspect", "-t", file, "SEA").splitlines()
    assert "decoded      sea" in lines
    assert "  upper and lower case are not kept: normalize=bert-uncased" in lines
    row = told("-t", file, "SEA")
    assert (row["decoded"], len(row["lost"]), row["facts"]["normalized"]) == ("sea", 1, "sea")


def test_a_token(slide: str) -> None:
    text = done("inspect", "-t", slide, " pug", "--corpus", "sample:hugs")
    for line in (
        "token        id 17, merge: ·pug",
        "hex          20 70 75 67  4 bytes",
        "made         step 4, at 2 places",
        "parents      ·p + ug",
        "children     1: ·pugs",
        "reached      yes",
        "    ·p  15, step 2",
        "uses         0 in the corpus: always merged into ·pugs",
    ):
        assert line + "\n" in text
    row = told("-t", slide, "--id", "17")
    assert row["token"] == told("-t", slide, " pug")["token"]
    assert row["string"] is None
    assert "words" not in row
    assert told("-t", slide, "i", "--corpus", "sample:hugs")["uses"] == {"count": 4, "why": None, "into": []}


def test_a_token_by_what_a_string_becomes(tmp_path: Path) -> None:
    file = str(tmp_path / "t.json")
    done("train", "sample:sailor", "-r", "subword-nmt", "-o", file, "-q")
    assert told("-t", file, "sailor")["token"]["text"] == "sailor</w>"


def test_a_string_that_is_refused_is_still_told_of(slide: str) -> None:
    text = done("inspect", "-t", slide, "apple")
    assert "encoding     none: offset 3: 'l' is not in the vocabulary" in text
    assert "ways         0 segmentations; the text cannot be encoded\n" in text
    row = told("-t", slide, "apple")
    assert row["encoding"] is None
    assert row["error"].startswith("offset 3: 'l' is not in the vocabulary")


def test_a_string_from_elsewhere(slide: str) -> None:
    assert told("-t", slide, "-", input=b" hug\n")["string"] == " hug"
    assert done("inspect", "-t", slide, "--", "-x").startswith("string       -x\n")
    assert told("-t", slide, "")["why"] == "It is the empty text, which has no tokens."


def test_a_lattice(tmp_path: Path) -> None:
    file = str(tmp_path / "u.json")
    done(
        "train", "sample:english", "-r", "sentencepiece-unigram", "--vocab-size", "200", "--special", "<unk>",
        "-o", file, "-q",
    )
    word = told("-t", file, "the")["words"][0]
    assert sum(edge["posterior"] for edge in word["lattice"] if edge["start"] == 0) == pytest.approx(1.0)
    assert b"".join(bytes.fromhex(edge["hex"]) for edge in word["lattice"] if edge["best"]) == "▁the".encode()
    scores = [way["score"] for way in word["ways"]["first"]]
    assert scores == sorted(scores, reverse=True)
    shares = [way["share"] for way in word["ways"]["first"]]
    assert 0 < sum(shares) <= 1.0000001
    explained = done("encode", "-t", file, "--explain", "the")
    assert "edges: units, log probability, share of all segmentations" in explained
    assert f"{100 * shares[0]:>6.2f} %  ▁the" in explained
    assert "lattice" in done("inspect", "-t", file, "the")


@pytest.mark.slow
def test_a_huge_number_of_ways(tmp_path: Path) -> None:
    file = str(tmp_path / "t.json")
    done("train", "sample:hugs", "-r", "comp336", "-o", file, "-q")
    word = "hugpug" * 60
    count = told("-t", file, word)["words"][0]["ways"]["count"]
    assert isinstance(count, str)
    assert f"ways         about 10^{len(count) - 1} segmentations" in done("inspect", "-t", file, word)


def test_nothing_acts_on_a_terminal(tmp_path: Path) -> None:
    file = str(tmp_path / "t.json")
    source = tmp_path / "c.txt"
    source.write_text("\x1b[31m\u202ea \x1b[31m\u202ea", encoding="utf-8")
    done("train", str(source), "-r", "comp336-bytes", "-o", file, "-q")
    for words in ((), ("\x1b[31m",), ("--corpus", str(source)), ("--id", "27"), ("--json", "\x1b[31m")):
        assert "\x1b" not in done("inspect", "-t", file, *words)


@pytest.mark.parametrize(("words", "said"), [
    (("--exhaust",), "inspect: --exhaust needs a corpus to train on"),
    (("--exhaust", "--corpus", "sample:hugs", "a"), "inspect: --exhaust is about the whole corpus"),
    (("--id", "3", "a"), "inspect: a STRING and --id cannot be combined"),
    (("--id", "99"), "99: no such id (ids are 1 to 20)"),
    (("--id", "9" * 4000), "a very large number: no such id"),
    (("--id", "x"), "inspect: Invalid value for '--id': 'x'"),
    (("a", "b"), "inspect: expected one text, not 2"),
    (("--corpus", "sample:nothing"), "sample:nothing: "),
])
def test_wrong_words(words: tuple[str, ...], said: str, slide: str) -> None:
    assert refused("inspect", "-t", slide, *words).startswith(said)


def test_a_tokenizer_is_wanted() -> None:
    assert "Missing option '-t'" in refused("inspect")
    assert cli("inspect", "--help").exit_code == 0


def test_a_file_with_an_objective_that_is_not_known(slide: str, tmp_path: Path) -> None:
    """It is inspected as any other; the note says that it is not trained on."""
    document = json.loads(Path(slide).read_text("utf-8"))
    document["recipe"]["objective"] = "brand-new"
    file = str(tmp_path / "t.json")
    Path(file).write_text(json.dumps(document), "utf-8")
    lines = done("inspect", "-t", file, "--corpus", "sample:hugs", "--exhaust").splitlines()
    said = "this version does not know objective=brand-new: the tokenizer encodes, and is not trained on"
    assert f"remarks      {said}" in lines
    assert any("it cannot be trained: objective: no value 'brand-new'" in line for line in lines)
    assert told("-t", file, " zugs")["why"] == told("-t", slide, " zugs")["why"]
    assert told("-t", file)["health"] == told("-t", slide)["health"]


@pytest.mark.slow
def test_an_ignored_check_does_not_change_the_exit_code(tmp_path: Path) -> None:
    file = str(tmp_path / "bert.json")
    done("train", "sample:hugs", "-r", "bert", "--vocab-size", "40", "-o", file, "-q")
    assert cli("inspect", "-t", file, "-q").exit_code == 0
    assert cli("inspect", "-t", file, "-q", "--strict").exit_code == 1
    checks = told("-t", file)["checks"]
    warned = [one["name"] for one in checks if one["status"] == "WARN"]
    assert warned
    ignored = [word for name in warned for word in ("--ignore", name)]
    assert cli("inspect", "-t", file, "-q", "--strict", *ignored).exit_code == 0
    assert cli("inspect", "-t", file, "-q", "--strict", *ignored[2:]).exit_code == 1


def test_the_name_of_an_ignored_check_is_validated(slide: str) -> None:
    assert "spaces" in refused("inspect", "-t", slide, "--ignore", "space")
    assert "health report" in refused("inspect", "-t", slide, "--ignore", "spaces", "hug")


@pytest.mark.slow
def test_an_info_is_no_failure_of_strict(tmp_path: Path) -> None:
    file = str(tmp_path / "gpt2.json")
    done("train", "sample:english", "-r", "gpt2", "--vocab-size", "600", "-o", file, "-q")
    assert "INFO" in {one["status"] for one in told("-t", file, "--strict")["checks"]}


def test_of_a_long_token_the_first_characters_are_printed(tmp_path: Path) -> None:
    corpus, file = tmp_path / "a.txt", str(tmp_path / "t.json")
    corpus.write_text("a" * 32, "utf-8")
    done("train", str(corpus), "-r", "minbpe-basic", "--merges", "5", "-o", file, "-q")
    lines = done("inspect", "-t", file, "a" * 32).splitlines()
    assert sum(line.startswith("U+0061       a  LATIN SMALL LETTER A") for line in lines) == 20
    assert "             … and 12 more (--json has them)" in lines
    assert "made         step 5, at 1 place" in lines
