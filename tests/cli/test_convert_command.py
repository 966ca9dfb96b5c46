"""`tokentui convert`, and the formats of `tokentui train -o`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running_cli import cli, done, refused, rows

from tokentui.core.errors import TokentuiError
from tokentui.formats import WRITTEN, proof
from tokentui.formats.files import export, load


@pytest.fixture(scope="module")
def novel(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("convert") / "novel.json")
    done("train", "sample:english", "-r", "gpt2", "--merges", "60", "-o", path)
    return path


def test_the_losses_are_printed_and_the_file_gives_the_same_ids(novel: str, tmp_path: Path) -> None:
    out = str(tmp_path / "novel.tiktoken")
    told = done("convert", novel, out)
    assert told.startswith("tiktoken: tiktoken's ranks, verified on ")
    assert "is not kept (· + t had count 242)\n" in told
    assert (
        "  lost  pattern: the file does not store the split: name it when you read the file (-s split=gpt2)\n"
        in told
    )
    assert done("encode", "-t", out, "-s", "split=gpt2", "the crowd") == done(
        "encode", "-t", novel, "the crowd"
    )
    back = str(tmp_path / "back.json")
    assert "lossless" in done("convert", out, back, "-s", "split=gpt2")
    assert done("encode", "-t", back, "the crowd") == done("encode", "-t", novel, "the crowd")


def test_a_report_for_machines(novel: str, tmp_path: Path) -> None:
    (row,) = rows(done("convert", novel, str(tmp_path / "a.json"), "--to", "huggingface", "--json"))
    assert row["format"] == "huggingface"
    assert row["refused"] == ""
    assert row["checked"] > 60
    assert {loss["what"] for loss in row["losses"]} == {"counts", "recipe"}
    assert json.loads((tmp_path / "a.json").read_text())["model"]["type"] == "BPE"


def test_a_named_loss_is_accepted(tmp_path: Path) -> None:
    """A format that cannot normalize is written if that is accepted; a name must be that of a loss."""
    source, out = str(tmp_path / "nfc.json"), tmp_path / "ranks.tiktoken"
    done("train", "sample:hugs", "-r", "gpt2", "-s", "normalize=nfc", "--merges", "4", "-o", source)
    result = cli("convert", source, str(out))
    assert (result.exit_code, out.exists()) == (1, False)
    assert "it normalizes text with nfc" in result.stderr
    assert "nothing is written; --accept normalizer writes it" in result.stderr
    result = cli("convert", source, str(out), "--accept", "normaliser")
    assert (result.exit_code, out.exists()) == (2, False)
    assert "tiktoken has no such loss (did you mean normalizer?)" in result.stderr
    told = done("convert", source, str(out), "--accept", "normalizer", "--accept", "counts")
    assert "  lost  normalizer: text must be normalized before it is encoded (nfc)\n" in told
    assert done("encode", "-t", str(out), "-s", "split=gpt2", "hugs") == done("encode", "-t", source, "hugs")
    assert "name OUT" in refused("convert", source, "--accept", "normalizer")


def test_texts_that_are_encoded_otherwise_are_accepted(
    novel: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A difference that no loss explains becomes one."""
    monkeypatch.setattr(proof._Trial, "_quickly_same", lambda self, texts: [False] * len(texts))
    monkeypatch.setattr(
        proof._Trial, "_difference", lambda self, text: proof.EncodingDifference(text, ("a",), ("b",))
    )
    out = tmp_path / "a.tiktoken"
    result = cli("convert", novel, str(out))
    assert (result.exit_code, out.exists()) == (1, False)
    assert "--accept encoding writes it" in result.stderr
    told = done("convert", novel, str(out), "--accept", "encoding")
    assert "  lost  encoding: some texts are encoded otherwise (" in told
    assert "verified" not in told
    (row,) = rows(done("convert", novel, str(out), "--accept", "encoding", "--json"))
    assert (row["checked"], row["accept"], row["refused"]) == (0, "", "")


def test_with_in_alone_every_format_is_told_of(novel: str) -> None:
    told = done("convert", novel)
    assert told.splitlines()[:2] == ["tokentui: tokentui's own format", "  lossless"]
    assert "  no  it is encoded with merges" in told
    found = {row["format"]: row for row in rows(done("convert", novel, "--json"))}
    assert set(found) == set(WRITTEN)
    assert found["sentencepiece"]["refused"]


def test_a_refusal_is_one_line_and_writes_nothing(novel: str, tmp_path: Path) -> None:
    result = cli("convert", novel, str(tmp_path / "vocab.txt"))
    assert result.exit_code == 1
    assert result.stderr.endswith("(this format: longest match) (nothing is written)\n")
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_two_files(novel: str, tmp_path: Path) -> None:
    done("convert", novel, str(tmp_path), "--to", "gpt2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["merges.txt", "vocab.json"]
    assert "two files" in refused("convert", novel, "-", "--to", "gpt2")
    assert "two files" in refused("convert", novel, str(tmp_path / "x"), "--to", "gpt2")


def test_standard_output_gets_the_file(novel: str, tmp_path: Path) -> None:
    result = cli("convert", novel, "-", "--to", "minbpe")
    assert result.exit_code == 0
    assert result.stdout_bytes.startswith(b"minbpe v1\n")
    assert "lost: ids" in result.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("tokenizer.json",),
            "tokenizer.json: this is the name of Hugging Face's format (--to huggingface, or --to tokentui",
        ),
        (("x", "--to", "gpt3"), "--to: no format 'gpt3'"),
        (("x.json", "-s", "unit=byte"), "only the split and encode can be set here"),
        (("-", "--json"), "cannot both go to standard output"),
        (("absent/x.json",), "no such folder"),
        (("absent/", "--to", "gpt2"), "absent/: cannot be written: no such folder (make it first)"),
        (("absent", "--to", "gpt2"), "absent: gpt2 has two files (name a folder that exists, or a file that"),
    ],
)
def test_wrong_words(novel: str, words: tuple[str, ...], told: str) -> None:
    assert told in refused("convert", novel, *words)


def test_train_writes_any_format_by_name(tmp_path: Path) -> None:
    out = tmp_path / "words.tiktoken"
    result = cli("train", "sample:english", "-r", "gpt4", "--merges", "20", "-o", str(out))
    assert result.exit_code == 0
    assert "tiktoken does not keep pattern" in result.stderr
    assert load(out, "cl100k").vocab_size == 276
    done("train", "sample:english", "-r", "gpt4", "--merges", "20", "-o", str(tmp_path), "--format", "gpt2")
    assert (tmp_path / "merges.txt").exists()
    told = done(
        "train", "sample:english", "-r", "gpt4", "--merges", "2", "-q", "-o", "-", "--format", "tiktoken"
    )
    assert told.count("\n") == 258


def test_train_refuses_before_the_work_what_a_format_cannot_hold(tmp_path: Path) -> None:
    told = refused(
        "train", "sample:english", "-r", "gpt2", "--merges", "20", "-o", str(tmp_path / "vocab.txt")
    )
    assert "bert cannot store it: it is encoded with merges" in told
    assert list(tmp_path.iterdir()) == []


def test_train_keeps_the_work_where_only_trying_showed_the_difference(tmp_path: Path) -> None:
    out = str(tmp_path / "codes")
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("a b\n\nc d\n\n" * 20)
    result = cli("train", str(corpus), "-r", "subword-nmt", "-o", out)
    assert result.exit_code == 1
    assert "with whitespace" in result.stderr
    assert f"wrote {out}.tokentui.json instead" in result.stderr
    assert load(f"{out}.tokentui.json").merges > 0


@pytest.mark.parametrize("name", ["x.unknown", "x", "x.txt", "folder/", ".json.bak"])
def test_a_name_that_says_no_format_is_refused_with_all_of_them(
    novel: str, tmp_path: Path, name: str
) -> None:
    """Before anything is read or trained, and for a folder too: which of the formats is meant must be said.
    """
    (tmp_path / "folder").mkdir()
    out = str(tmp_path) + "/" + name
    for line, option in (
        (("train", "/none", "-r", "gpt2", "-o", out), "--format"), (("convert", "/none", out), "--to"),
    ):
        said = refused(*line)
        assert said.startswith(f"{out}: unknown file extension (")
        assert said.endswith(f"or name one by {option})")
        for format in WRITTEN.values():
            assert f"for {format.name}" in said
            assert all(end in said for end in format.suffixes)
    assert [path.name for path in tmp_path.rglob("*")] == ["folder"]
    with pytest.raises(TokentuiError, match="or name one by format="):
        export(load(novel), out)
    done("convert", novel, str(tmp_path / "x.unknown"), "--to", "tokentui")
    assert load(tmp_path / "x.unknown").encode("the crowd").ids == load(novel).encode("the crowd").ids


def test_what_is_no_file_has_no_end_and_gets_the_projects_own_format(novel: str) -> None:
    assert done("convert", novel, "-") == Path(novel).read_text()
    done("convert", novel, "/dev/null")
    done("train", "sample:sailor", "-r", "gpt2", "--merges", "2", "-o", "/dev/null")


@pytest.mark.slow
def test_a_format_is_named_by_either_word(tmp_path: Path) -> None:
    """`--format` and `--to` are the same where a file is written."""
    written = []
    for n, word in enumerate(("--format", "--to")):
        made, other = tmp_path / f"made{n}", tmp_path / f"other{n}"
        done("train", "sample:sailor", "-r", "gpt2", "--merges", "9", "-o", str(made), word, "tiktoken", "-q")
        done("convert", str(made), str(other), word, "tokentui", "-s", "split=gpt2", "-q")
        written.append((made.read_bytes(), other.read_bytes()))
    assert written[0] == written[1]
