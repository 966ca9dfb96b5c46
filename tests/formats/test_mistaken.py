"""A tokenizer file in the place of a corpus is told for what it is, cut off or whole; a text stays a text."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from exporting import preset, put, unproved
from running_cli import cli, refused

import tokentui
from tokentui.formats import WRITTEN
from tokentui.formats.files import mistaken

MADE = (
    ("huggingface", "gpt2", "tokenizer.json"), ("huggingface", "bert", "mine.json"),
    ("sentencepiece", "llama2", "tokenizer.model"),
    ("sentencepiece", "t5", "spiece.model"), ("tiktoken", "gpt2", "ranks.tiktoken"),
    ("gpt2", "gpt2", "vocab.json"), ("gpt2", "gpt2", "merges.txt"), ("bert", "bert", "vocab.txt"),
    ("subword-nmt", "subword-nmt", "bpe.codes"), ("minbpe", "minbpe", "mine.model"),
    ("tekken", "gpt4o", "tekken.json"), ("tokentui", "gpt2", "novel.json"),
    ("tokentui", "t5", "t5.json"),
)
"""A format, a preset that it holds, and a name that such files have."""
SAYS_WHERE = re.compile(r"line \d+|byte [\d,]+|row \d+|column \d+|cut off|is missing")


@pytest.fixture(params=MADE, ids=lambda row: f"{row[0]}-{row[2]}")
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A tokenizer file."""
    format, name, called = request.param
    files = WRITTEN[format].files
    path: Path = tmp_path / called
    path.write_bytes(unproved(preset(name), format)[files.index(called) if len(files) > 1 else 0])
    return path


def everywhere(path: Path) -> str:
    """The line that the library, `train`, the explorer and others answer with when the file is named as a
    corpus."""
    found = mistaken(str(path))
    assert found is not None
    with pytest.raises(tokentui.TokentuiError) as raised:
        tokentui.read(path)
    assert (
        str(raised.value)
        == f"{found.where}: {found.what} (name a text, or use as_='text' to read it as one)"
    )
    for call in (lambda: tokentui.train([path], "gpt2"), lambda: tokentui.Trainer(str(path), "gpt2")):
        with pytest.raises(tokentui.TokentuiError, match=r"as_='text'"):
            call()
    line = f"{found.where}: {found.what} (name a text, or use --as text to read it as one)"
    for words in (["train", str(path), "-r", "gpt2"], [str(path)], [str(path), "-r", "gpt2", "-r", "gpt4"],
                  ["verify", str(path), "-r", "gpt2", "--against", "tokenizers"]):
        assert refused(*words) == line
    return line


@pytest.mark.first_run(cases=2)
def test_a_whole_one(made: Path) -> None:
    assert "a tokenizer, not a corpus: " in everywhere(made) or made.name in ("vocab.json", "merges.txt")


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("part", [0.5, 0.9])
def test_one_that_is_cut_off(made: Path, part: float) -> None:
    """Half of it, and almost all: what is wrong is said with its place, where its reader can tell that it is
    not whole."""
    data = made.read_bytes()
    cut = data[: int(len(data) * part)]
    made.write_bytes(cut[:-1] if cut.endswith(b"\n") else cut)
    line = everywhere(made)
    assert str(made) in line
    if made.suffix == ".json":
        assert re.search(r"a damaged tokenizer: not valid JSON: .* at line \d+, column \d+", line)
    elif "a damaged tokenizer" in line and made.name not in ("merges.txt",):
        assert SAYS_WHERE.search(line), line


def test_it_is_read_as_a_text_where_that_is_said(made: Path) -> None:
    data = made.read_bytes()
    made.write_bytes(data[: len(data) // 2])
    corpus = tokentui.read(made, as_="text")
    assert corpus.size == len(data) // 2 - (3 if data.startswith(b"\xef\xbb\xbf") else 0)
    assert cli("train", str(made), "--as", "text", "-r", "minbpe-basic", "--merges", "1", "-q").exit_code == 0


def test_one_that_is_packed(tmp_path: Path) -> None:
    put(preset("gpt2"), tmp_path / "tokenizer.json", "huggingface")
    data = (tmp_path / "tokenizer.json").read_bytes()
    packed = tmp_path / "tokenizer.json.gz"
    packed.write_bytes(gzip.compress(data[: len(data) // 2]))
    assert "not valid JSON" in everywhere(packed)
    packed.write_bytes(gzip.compress(data)[: len(data) // 8])
    assert "damaged gzip data" in everywhere(packed)


TEXTS = {
    "corpus.json": b'{"text": "a sailor went to sea", "model": "gpt"}',
    "rows.json": b'[{"text": "a"}, {"text": "b"}]',
    "tokenizer.json": b'["how a tokenizer works", "in words"]',
    "vocab.json": b'{"house": "Haus", "sea": "Meer"}',
    "config.json": b'{"vocab_size": "many", "padding": "none", "decoder": true}',
    "package.json": b'{"version": "1.0", "name": "a"}',
    "cut.json": b'{"text": "a sailor went to s',
    "vocab.txt": b"house\nsea\nsailor\n",
    "merges.txt": b"the sea\nthe sailor\n",
    "lines.codes": b"a b\nc d\n",
    "talk.model": b"a model is a thing that sails\n",
    "note.tiktoken": b"this holds no ranks\n",
    "empty.json": b"",
    "data.json": b"\x00\x01\x02 text",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_stays_a_text(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(TEXTS[name])
    assert mistaken(str(path)) is None
    if TEXTS[name]:
        assert tokentui.read(path).size == len(TEXTS[name])


def test_what_is_no_file_is_left_to_the_reader(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").mkdir()
    for path in (tmp_path / "tokenizer.json", tmp_path / "none.json", tmp_path):
        assert mistaken(str(path)) is None
    assert mistaken("a\0.json") is None


def test_a_folder_of_texts_is_read_whatever_it_holds(tmp_path: Path) -> None:
    """What lies in a folder was not named."""
    put(preset("gpt2"), tmp_path / "tokenizer.json", "huggingface")
    (tmp_path / "a.txt").write_text("a")
    assert len(tokentui.read(tmp_path).documents) == 2
