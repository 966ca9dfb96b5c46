"""`tokentui count`: a file of counts that is a corpus again, for train and the explorer."""

from __future__ import annotations

from pathlib import Path

import pytest
from running_cli import cli, done, refused

import tokentui
from tokentui.cli.commands import count as command
from tokentui.core import limits
from tokentui.preset_table import PRESETS
from tokentui.recipe import Run
from tokentui.session.training import training as opening
from tokentui.text import cluster, counted, counting
from tokentui.text.count import count
from tokentui.text.read import read
from tokentui.text.tally import count_here


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    text = tokentui.read("sample:english").documents[0]
    (folder / "a.txt").write_text(text)
    (folder / "b.txt").write_text("the crowd, the tree\n" * 50)
    return folder


@pytest.mark.parametrize("end", ["counts.tsv", "counts.tsv.gz", "parquet"])
def test_training_on_the_counts_is_training_on_the_text(texts: Path, tmp_path: Path, end: str) -> None:
    if end == "parquet":
        pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    target = str(tmp_path / f"all.{end}")
    result = cli("count", str(texts), "-r", "gpt2", "-o", target)
    assert result.exit_code == 0
    assert result.stderr.endswith("distinct, in 1 part\n")
    of_text, of_counts = str(tmp_path / "a.json"), str(tmp_path / "b.json")
    for source, out in ((str(texts), of_text), (target, of_counts)):
        done("train", source, "-r", "gpt2", "--merges", "80", "-q", "-o", out)
    assert Path(of_text).read_bytes() == Path(of_counts).read_bytes()


NAMES = [f"all{end}" for kind in counted.KINDS for end in kind.ends]
"""A name for each end that asks for a kind of file of counts."""


@pytest.mark.first_run(cases=5)
@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_counts_is_read_as_counts_whatever_its_name(name: str, tmp_path: Path) -> None:
    _skip_missing(name)
    file = str(tmp_path / name)
    done("count", "sample:hugs", "-r", "gpt2", "-o", file)
    words = count(tokentui.read("sample:hugs"), tokentui.preset("gpt2"))
    expected = dict(zip(words.words, words.counts, strict=True))
    assert dict(tokentui.read(file).counts or ()) == expected
    done("count", file, file, "-r", "gpt2", "-o", str(tmp_path / "twice.counts.tsv"))
    twice = dict(tokentui.read(tmp_path / "twice.counts.tsv").counts or ())
    assert twice == {word: 2 * times for word, times in expected.items()}


@pytest.mark.first_run(cases=4)
@pytest.mark.parametrize("name", NAMES)
def test_counts_of_another_split_are_refused(name: str, tmp_path: Path) -> None:
    _skip_missing(name)
    file = str(tmp_path / name)
    done("count", "sample:hugs", "-r", "gpt2", "-o", file)
    done("train", file, "-r", "hf-bpe", "-s", "split=gpt2", "--merges", "3")
    for line in (("train", file, "-r", "gpt4", "--merges", "3"), ("count", file, "-r", "gpt4", "-o", "-")):
        said = refused(*line)
        assert "counted with split=gpt2" in said
        assert "count the text again" in said
    with pytest.raises(tokentui.TokentuiError, match="counted with split=gpt2"):
        tokentui.Trainer(file, "gpt4")


@pytest.mark.parametrize("line", [
    "train FILE -r gpt4 --merges 3", "quiz FILE -r gpt4", "compare -r gpt4 -r gpt4o FILE --merges 3",
    "verify FILE -r gpt4 --against tokenizers", "verify FILE -r gpt4 -t TOKENIZER",
])
def test_every_command_that_trains_refuses_counts_of_another_split(line: str, tmp_path: Path) -> None:
    file, tokenizer = str(tmp_path / "a.counts.tsv"), str(tmp_path / "t.json")
    done("count", "sample:hugs", "-r", "gpt2", "-o", file)
    done("train", "sample:hugs", "-r", "gpt2", "--merges", "3", "-o", tokenizer)
    said = refused(*line.replace("FILE", file).replace("TOKENIZER", tokenizer).split())
    assert "counted with split=gpt2" in said
    assert "count the text again" in said


@pytest.mark.parametrize("partly", [False, True])
def test_the_explorer_refuses_counts_of_another_split(
    partly: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "a.counts.tsv")
    done("count", "sample:hugs", "-r", "gpt2", "-o", file)
    if partly:
        monkeypatch.setattr(opening, "FIRST_LOOK_CHARS", 1)
        monkeypatch.setattr(opening, "AT_ONCE_CHARS", 1)
    parts = list[object]()
    with pytest.raises(tokentui.TokentuiError, match="counted with split=gpt2"):
        opening.prepare(read(file), PRESETS["gpt4"].recipe, Run(), parts.append)
    assert parts == []


def test_counts_that_do_not_say_their_split_train_with_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "old.counts.tsv"
    file.write_text("hug\t5\npug\t3\n")
    result = cli("train", str(file), "-r", "gpt4", "--merges", "2")
    assert "does not store how it was counted" in result.stderr
    assert "does not store" not in cli("train", "sample:hug", "-r", "gpt4", "--merges", "2").stderr


def test_a_damaged_first_row_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.counts.tsv"
    for row in ("", "{", "[]", "{}", '{"digest": 5}'):
        file.write_text(f"{counting.HEADER}{row}\nhug\t5\n")
        result = cli("train", str(file), "-r", "gpt4", "--merges", "2")
        assert result.exit_code == (2 if row else 0)
        assert not row or "damaged" in result.stderr


def _skip_missing(name: str) -> None:
    for end, module in ((".parquet", "pyarrow"), (".zst", "zstandard")):
        if name.endswith(end):
            pytest.importorskip(module, reason="the extra is not installed")


def test_small_parts_spilling_and_standard_output(texts: Path, tmp_path: Path) -> None:
    small = ["--limit", "part-bytes=300", "--limit", "count-memory=2K"]
    plain = cli("count", str(texts), "-r", "bert", "-o", "-", "-q")
    cut = cli("count", str(texts), "-r", "bert", "-o", "-", *small)
    limits.use(None)
    assert cut.stdout == plain.stdout
    assert "exceed the limit count-memory: sorting them on disk, in " in cut.stderr
    assert plain.stderr == ""


def test_counts_are_added_up_and_the_most_frequent_kept(tmp_path: Path) -> None:
    for name, rows in (("a", "x\t1\ny\t5\n"), ("b", "z\t4\nx\t4\nw\t1\n")):
        (tmp_path / f"{name}.counts.tsv").write_text(rows)
    sources = [str(tmp_path / "a.counts.tsv"), str(tmp_path / "b.counts.tsv")]
    assert done("count", *sources, "-r", "gpt2", "-o", "-", "-q") == "x\t5\ny\t5\nz\t4\nw\t1\n"
    assert done("count", *sources, "-r", "gpt2", "-o", "-", "-q", "--top", "2") == "x\t5\ny\t5\n"


def test_standard_input_is_counted(tmp_path: Path) -> None:
    assert cli("count", "-", "-r", "gpt2", "-o", "-", "-q", input="a b a").stdout == "a\t1\n b\t1\n a\t1\n"


@pytest.mark.parametrize(("words", "line"), [
    (["sample:hugs", "-o", "a.tsv"], "count: -r is missing"),
    (["-r", "gpt2", "-o", "a.tsv"], "count: CORPUS is missing"),
    (["sample:hugs", "-r", "gpt2"], "count: Missing option '-o'"),
    (["sample:hugs", "-r", "gpt2", "-o", "a.csv"], "a.csv: unknown file extension"),
    (["sample:hugs", "-r", "gpt2", "-o", "no/a.tsv"], "no/a.tsv: cannot be written: no such folder"),
    (["sample:hugs", "-r", "gpt2", "-o", "a.tsv", "--top", "0"],
     "count: Invalid value for '--top': 0 is not in the range"),
    (["none.txt", "-r", "gpt2", "-o", "a.tsv"], "none.txt: no such file"),
    (["ftp://host/a", "-r", "gpt2", "-o", "a.tsv"], "ftp://host/a: this URL scheme is not supported"),
    (["sample:hugs", "-r", "gpt2", "-o", "a.tsv", "--scheduler", "local:0"], "not a number of processes"),
    (["-", "-r", "gpt2", "-o", "a.tsv", "--scheduler", "local"], "-: standard input cannot be distributed"),
    ([".", "-r", "gpt2", "-o", "a.tsv"], "/: no text file in this folder"),
])
def test_wrong_words_are_one_line(
    words: list[str], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = cli("count", *words)
    assert result.exit_code == 2
    assert line in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_text_larger_than_the_memory_goes_to_a_local_cluster(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def count_on(address: str, *rest: object) -> object:
        asked.append(address)
        return count_here(*rest)  # type: ignore[arg-type]

    monkeypatch.setattr(command, "_free_memory", lambda: 100)
    monkeypatch.setattr(cluster, "count_on", count_on)
    for there, addresses in ((True, ["local"]), (False, [])):
        asked.clear()
        monkeypatch.setattr(cluster, "installed", lambda there=there: there)
        result = cli("count", str(texts), "-r", "gpt2", "-o", str(tmp_path / "a.tsv"))
        assert result.exit_code == 0
        assert asked == addresses
        assert ("larger than the free memory" in result.stderr) is there
