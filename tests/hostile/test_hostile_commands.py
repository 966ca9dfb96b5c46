"""What every subcommand prints to a terminal about hostile files, names, tokens and words: text that is seen,
and line ends."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import hostile
import pytest
from grammar import is_clean
from painted import bare
from terminal import Terminal
from text_guards import ALONE, WALLS, Walls

pytestmark = pytest.mark.pty

RUN = """
import importlib, json, os, pkgutil, sys
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
import tokentui.cli
from tokentui.cli import output
from tokentui.cli.main import run
walls, lines = json.load(open(sys.argv[1]))
if walls == "no guard":
    output._guarded = lambda text, stream: text
elif walls == "no safe text":
    found = pkgutil.iter_modules(tokentui.cli.__path__, "tokentui.cli.")
    modules = [importlib.import_module(one.name) for one in found]
    text = lambda data: (
        data.decode("utf-8", "replace") if isinstance(data, bytes)
        else data.encode("utf-8", "replace").decode()
    )
    hollow = {"safe": lambda data, **_: text(data), "safe_line": lambda error, **_: text(str(error)),
        "shown": text, "visible": None}
    for module in modules:
        for name in hollow:
            if hasattr(module, name):
                setattr(module, name, hollow[name])
for words in lines:
    print(f"======== {run(words)}")
"""
"""One process for all lines of words: what a start costs is not what is tested."""
TEXT = "x\x1b[2J\u202e\u05e9\u05dc\u05d5\u05dd[/]\x9b31m\x1b\x07]52;c;eA==\x07\u200b" + "e" + "\u0301" * 20


def about_tokenizers(folder: Path) -> Iterator[list[str]]:
    """What is asked of each tokenizer file."""
    corpus = folder / "corpus.txt"
    corpus.write_bytes(b"\n".join(map(hostile.raw, hostile.SHORT[:60])))
    for number, path in enumerate(
        map(str, hostile.written(hostile.tokenizers(), folder / "tokenizers").values())
    ):
        yield ["inspect", "-t", path, TEXT]
        yield ["encode", "-t", path, "--explain", TEXT]
        yield ["encode", "-t", path, TEXT]
        yield ["decode", "-t", path, "1", "9", "27", "5001"]
        # the report on a tokenizer and that on an export print the same tokens of each file
        yield ["inspect", "-t", path] if number % 2 else ["convert", path]
        yield [
            "convert", path, "-", "--to", ("huggingface", "sentencepiece", "tekken", "tiktoken")[number % 4],
        ]
        if number % 5 == 0:
            yield ["encode", "-t", path, "--json", TEXT]
            yield ["inspect", "-t", path, "--json"]
            yield ["compare", str(corpus), "-t", path, "-r", "gpt2", "--merges", "9", "--find", TEXT]
            yield ["compare", str(corpus), "-t", path, "-r", "gpt2", "--merges", "9", "--text", TEXT]
            yield ["diff", path, path, str(corpus), "--as", "lines"]
            yield ["encode", "-t", path, "--color", "never", TEXT]


def about_corpora(folder: Path) -> Iterator[list[str]]:
    """What is trained on, and cut."""
    files = {name: data for name, data in hostile.corpora().items() if not re.search(r"-\d\d\d\.txt", name)}
    for number, path in enumerate(map(str, hostile.written(files, folder / "corpora").values())):
        yield ["train", path, "-r", ("gpt2", "bert", "gage", "comp336")[number % 4], "--merges", "9"]
    corpus = str(folder / "corpora" / "control.txt")
    yield ["train", corpus, "-r", "minbpe-basic", "--merges", "5", "--trace", "-"]
    yield ["train", corpus, "-r", "minbpe-basic", "--merges", "5", "-o", "-"]
    yield [
        "train", corpus, "-r", "minbpe-basic", "--merges", "5", "-o", "-", "--format", "minbpe", "--special",
        TEXT,
    ]
    yield ["train", corpus, "-r", "sentencepiece-unigram", "--vocab-size", "300"]
    yield ["verify", corpus, "-r", "gpt2", "--with", TEXT]
    for text in hostile.SHORT[::6]:
        yield ["split", "-s", "split=gpt2", "--", text.replace("\0", "")]


def about_names(folder: Path) -> Iterator[list[str]]:
    """Files of hostile names, names of nothing, options that are none."""
    for number, path in enumerate(map(str, hostile.named(folder / "names"))):
        yield ["train", path, "--merges", "2", *(["-o", path] if number % 3 == 0 else [])]
        yield [
            ("inspect", "convert", "encode", "decode")[number % 4], *(["-t"] if number % 4 != 1 else []),
            path, *(["1"] if number % 4 > 1 else []),
        ]
    for recipe in map(str, hostile.written(hostile.recipe_files(), folder / "recipes").values()):
        yield ["train", "sample:hugs", "-r", recipe]
    for name in (TEXT, *hostile.FAMILIES["control"][::12]):
        word = name.replace("\0", "")
        yield [word]
        yield ["train", word]
        yield ["recipes", word]
        yield ["train", "sample:hugs", "-r", word]
        yield ["train", "sample:hugs", "-s", f"{word}=x"]
        yield ["train", "sample:hugs", "-s", f"split={word}"]
        yield ["train", "sample:hugs", f"--{word}"]
        yield ["train", "sample:hugs", "--as", word]
        yield ["train", "sample:hugs", "--merges", word]
        yield ["train", "sample:hugs", "-o", f"{word}/{word}"]
        yield ["compare", word, "-r", word, "-r", word]
        yield ["verify", word, "--with", word]
        yield ["convert", word, word, "--to", word]


@pytest.mark.parametrize(
    "walls", [pytest.param(walls, marks=[] if walls in ALONE else [pytest.mark.soak]) for walls in WALLS]
)
@pytest.mark.slow
def test_what_is_printed(walls: Walls, tmp_path: Path) -> None:
    lines = [*about_tokenizers(tmp_path), *about_corpora(tmp_path), *about_names(tmp_path)]
    if walls == "no safe text":
        lines = lines[::4]  # the guard alone is one function, through which all that is printed goes
    told = tmp_path / "lines.json"
    told.write_text(json.dumps([walls, [[os.fsencode(word).decode("utf-8",
        "surrogateescape") for word in one] for one in lines]]))
    colors = {"TERM": "xterm-256color", "COLORTERM": "", "NO_COLOR": ""}
    with Terminal(str(told), program=("-c", RUN), environment=colors) as terminal:
        terminal.draw = lambda data: None
        assert terminal.end() == 0
        written = bytes(terminal.written).decode()
    # Tokens have colors. On a busy machine a progress bar is drawn and cleared. No other sequence is written.
    assert bare(written) != written
    written = bare(written)
    for sequence in ("\x1b[?25l", "\x1b[K\x1b[?25h"):
        written = written.replace(sequence, "")
    for line in re.split("[\r\n]", written):
        assert is_clean(line), ascii(line[:400])
    # A bar may have been in the same line.
    codes = re.findall("(?:^|\r)======== (\\d+)\r$", written, re.MULTILINE)
    assert len(codes) == len(lines)
    assert set(codes) == {"0", "1", "2"}
