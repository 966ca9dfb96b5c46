"""Hostile input is refused by what it is, or ends at a limit that is said and can be set."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exporting import SMALL, put
from running_cli import cli, done, refused

import tokentui
from tokentui.cli.main import COMMANDS
from tokentui.cli.options import SharedOptions
from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import job
from tokentui.core.limits import LIMITS, Limits
from tokentui.formats.files import load, recognize
from tokentui.text.read import read

Limited = Callable[..., None]


def refusal(ask: Callable[[], object]) -> TokentuiError:
    """The error of a call: one line that says what would do."""
    with pytest.raises(TokentuiError) as caught:
        ask()
    assert str(caught.value).isprintable()
    assert caught.value.hint
    return caught.value


# What can be set


def test_every_limit_is_listed_with_its_value_and_every_command_takes_one() -> None:
    rows = [line.split(maxsplit=2) for line in done("--limits").splitlines()]
    assert [name for name, _, _ in rows] == list(LIMITS)
    for name, value, _ in rows:
        assert LIMITS[name].read(value, "") == LIMITS[name].default
    for command in COMMANDS:
        assert "--limit NAME=VALUE" in done(command, "--help")
    assert "--limit NAME=VALUE" in done("--help")


def test_the_document_names_every_limit_with_its_value() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "limits.md").read_text(encoding="utf-8")
    for limit in LIMITS.values():
        assert f"| `{limit.name}` | {limit.shown(limit.default)} |" in text


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("corpus-byte=1", "no limit 'corpus-byte' (did you mean corpus-bytes?)"),
        ("x", "no limit 'x' (one of: corpus-bytes, "),
        ("vocabulary=1.5", "vocabulary cannot be '1.5' (a number of tokens up to"),
        ("vocabulary", "vocabulary cannot be ''"),
        ("vocabulary=0", "vocabulary cannot be '0'"),
        ("json-depth=10k", "json-depth cannot be '10k'"),
        ("corpus-bytes=-1", "corpus-bytes cannot be '-1'"),
        ("corpus-bytes=٣", "corpus-bytes cannot be"),
    ],
)
def test_what_no_limit_can_be(word: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused("split", "-s", "split=gpt2", "--limit", word, "a").startswith(f"--limit: {line}")
    monkeypatch.setenv(limits.VARIABLE, word)
    assert refused("split", "-s", "split=gpt2", "a").startswith(f"{limits.VARIABLE}: {line}")


def test_the_environment_sets_limits_and_the_command_line_stands_above_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(limits.VARIABLE, " corpus-bytes=2k,json-depth=9\tpattern-seconds=0.5 ")
    limits.use(None)
    assert limits.now() == Limits(corpus_bytes=2048, json_depth=9, pattern_seconds=0.5)
    train = ("train", "sample:english", "-r", "gpt2", "--merges", "1", "-q")
    assert "the limit is 2,048" in refused(*train)
    done(*train, "--limit", "corpus-bytes=1M")
    assert "the limit is 2,048" in refused(*train)


# Refused by what it is


@pytest.fixture(params=["pipe", "socket", "device", "folder"])
def special(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, str]:
    """Something that is no file, and what it is called."""
    monkeypatch.chdir(tmp_path)
    name = str(request.param)
    if name == "pipe":
        os.mkfifo(name)
    elif name == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(name)
    elif name == "folder":
        os.mkdir(name)
    return ("/dev/zero" if name == "device" else name), f"a {name}"


@pytest.mark.parametrize(
    "reads",
    [
        load, lambda path: read([path]),
        lambda path: SharedOptions("", {}, {}).recipe_and_run(os.path.join(".", path)),
    ],
    ids=["tokenizer", "corpus", "recipe"],
)
def test_no_file_is_not_even_opened(
    special: tuple[str, str], reads: Callable[[str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, what = special
    opened: list[Any] = []
    monkeypatch.setattr(os, "open", lambda *words, **more: opened.append(words))
    error = refusal(lambda: reads(path))
    assert what in error.what or "no text file" in error.what or "no tokenizer file" in error.what
    assert opened == []
    assert recognize(path) is None


@pytest.mark.parametrize("kind", ["/dev/zero", "folder"])
def test_a_device_or_folder_as_standard_input(tmp_path: Path, kind: str) -> None:
    descriptor = os.open(kind if kind != "folder" else tmp_path, os.O_RDONLY)
    with io.FileIO(descriptor) if kind != "folder" else _Folder(descriptor) as stream:
        error = refusal(lambda: read("-", stdin=stream))
    assert error.what == f"is a {'device' if kind != 'folder' else 'folder'}, not a file of text"


class _Folder(io.BytesIO):
    """A stream whose descriptor is that of a folder, as a shell may hand one over."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


def test_no_input_is_an_empty_text() -> None:
    with open(os.devnull, "rb") as stream:
        assert read("-", stdin=stream).documents == ("",)


def test_a_file_that_became_a_pipe_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limited: Limited
) -> None:
    """Between the look at it and its opening."""
    path = tmp_path / "file"
    path.write_bytes(b"a text")
    real = os.open

    def open_later(name: str, *flags: int) -> int:
        if name == str(path):
            path.unlink()
            os.mkfifo(path)
        return real(name, *flags)

    monkeypatch.setattr(os, "open", open_later)
    limited(stream_seconds=0.05)
    assert refusal(lambda: read(str(path))).what == "is a pipe, which may never answer or end"


def test_a_named_pipe_is_read_only_on_purpose(tmp_path: Path) -> None:
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    told = refusal(lambda: read(path))
    assert told.what == "is a pipe, which may never answer or end"
    assert told.hint.startswith("--as text")
    keeps_open = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    os.write(keeps_open, b"a\n")
    asked: list[int] = []

    def cancel() -> bool:
        asked.append(1)
        if len(asked) == 3:  # it has been opened
            os.close(keeps_open)
        return False

    with job(cancel=cancel):
        assert read(path, as_="lines").documents == ("a",)


def test_silence_ends(tmp_path: Path, limited: Limited) -> None:
    limited(stream_seconds=0.05)
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    assert refusal(lambda: read(path, as_="text")).what == "no data arrived for 0.05 s"
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream, os.fdopen(writing, "wb", 0) as silent:
        silent.write(b"a beginning")
        assert "stream-seconds" in refusal(lambda: read("-", stdin=stream)).hint


# Endless, packed, full of holes


class Endless(io.RawIOBase):
    """A stream that gives a beginning and then one thing for ever."""

    def __init__(self, begin: bytes, then: bytes) -> None:
        self._begin, self._then = begin, then
        self.given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = (self._begin if not self.given else b"") + self._then * (len(buffer) // len(self._then) + 1)
        data = data[: len(buffer)]
        buffer[: len(data)] = data
        self.given += len(data)
        return len(data)


@pytest.mark.parametrize(
    ("begin", "then"),
    [
        (b"", b"the quick\n"),
        (b"", b"\0"),
        (b"\x1f\x8b\x08\x08" + bytes(6), b"a name that never ends"),  # of gzip
        (b"\xef\xbb\xbf", b'{"text": "'),
    ],
)
def test_an_endless_stream_ends_at_its_limit(begin: bytes, then: bytes, limited: Limited) -> None:
    limited(stream_bytes=1 << 20)
    stream = Endless(begin, then)
    error = refusal(lambda: read("-", stdin=stream))  # type: ignore[arg-type]
    assert error.what == "more than 1,048,576 bytes, which is the limit"
    assert "--limit stream-bytes=" in error.hint
    assert stream.given < 4 << 20


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress,
}


@pytest.mark.parametrize("method", PACK)
def test_a_bomb_is_stopped_by_its_ratio_before_it_is_unpacked(
    tmp_path: Path, method: str, limited: Limited
) -> None:
    limited(packed_bytes=1 << 16)
    path = tmp_path / "bomb"
    path.write_bytes(PACK[method](bytes(1 << 22)))
    seen: list[int] = []
    with job(lambda now, total: seen.append(now)):
        error = refusal(lambda: read(path))
    assert error.what == "unpacks to more than 200 times its size"
    limited(packed_ratio=1 << 20)
    assert read(path).size == 1 << 22


@pytest.mark.parametrize("outer", PACK)
@pytest.mark.parametrize("inner", PACK)
def test_a_bomb_in_a_bomb_is_not_taken_for_text(tmp_path: Path, outer: str, inner: str) -> None:
    path = tmp_path / "two"
    path.write_bytes(PACK[outer](PACK[inner](b"a text")))
    assert refusal(lambda: read(path)).what == f"{inner} data packed with {outer}"


def test_a_packed_tokenizer_that_is_a_bomb(tmp_path: Path, limited: Limited) -> None:
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress(bytes(1 << 22)))
    limited(packed_bytes=1 << 16)
    assert "200 times" in refusal(lambda: load(path)).what
    limited(packed_ratio=1 << 20, file_bytes=1 << 20)
    assert "which is the limit" in refusal(lambda: load(path)).what


def test_files_of_holes(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    for size, what in ((100 << 20, "of which the disk has"), (8 << 30, "the limit")):
        with path.open("wb") as file:
            file.truncate(size)
        assert what in refusal(lambda: read(path)).what
        assert "disk has" in refusal(lambda: load(path)).what or size > LIMITS["file-bytes"].default
    (tmp_path / "a.txt").write_text("a")
    assert read(tmp_path).documents == ("a",)


def test_a_tokenizer_file_beyond_the_limits(tmp_path: Path, limited: Limited) -> None:
    path = tmp_path / "t.json"
    model = {"type": "WordLevel", "vocab": {f"w{n}": n for n in range(9)}, "unk_token": "w0"}
    path.write_text(
        json.dumps({"model": model, "pre_tokenizer": {"type": "Whitespace", "deep": [[[[[1]]]]]}})
    )
    assert load(path).vocab_size == 9
    for changed in ({"file_bytes": 100}, {"json_depth": 4}, {"vocabulary": 8}):
        limits.use(None)
        limited(**changed)
        (name,) = changed
        hint = refusal(lambda: load(path)).hint
        assert name == "json_depth" or f"--limit {name.replace('_', '-')}=" in hint


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize("format", SMALL)
def test_a_vocabulary_beyond_the_limit(format: str, tmp_path: Path, limited: Limited) -> None:
    path = tmp_path / "saved"
    path.mkdir() if format == "gpt2" else None
    recipe = {"bert": "bert", "sentencepiece": "t5", "subword-nmt": "subword-nmt"}.get(format, "gpt2")
    put(tokentui.train("sample:hugs", recipe, merges=None if recipe == "t5" else 3), path, format)
    limited(vocabulary=4)
    path = path / "vocab.json" if format == "gpt2" else path
    assert "--limit vocabulary=" in refusal(lambda: load(path, "gpt2" if format == "tiktoken" else "")).hint


# Lines


def test_rows_that_are_too_long(tmp_path: Path, limited: Limited) -> None:
    limited(line_bytes=40)
    for name, good, bad in (
        ("a.jsonl", '{"text": "a"}', '{"text": "%s"}' % ("é" * 20)),
        ("a.counts.tsv", "a\t1", "b" * 40 + "\t1"),
    ):
        (tmp_path / name).write_text(f"{good}\n{bad}\n", encoding="utf-8")
        error = refusal(lambda name=name: read(tmp_path / name))  # type: ignore[misc]
        assert (error.what, error.where[-2:]) == ("a row has more than 40 bytes", ":2")


def test_standard_input_of_the_commands(tmp_path: Path) -> None:
    path = str(tmp_path / "t.json")
    done("train", "sample:hugs", "-r", "gpt2", "--merges", "3", "-q", "-o", path)
    text = b'{"text": "a"}\n{"text": "' + b"a" * 100 + b'"}\n'
    result = cli("encode", "-t", path, "--jsonl", "--limit", "line-bytes=64", input=text)
    assert (result.exit_code, result.stdout.count("\n")) == (2, 1)
    assert result.stderr.startswith("tokentui: line 2: more than 64 bytes (--limit line-bytes=")
    for words in (
        ("encode", "-t", path), ("decode", "-t", path), ("split", "-s", "split=gpt2"),
        ("train", "-", "-r", "gpt2"),
    ):
        line = refused(*words, "--limit", "stream-bytes=1k", input=b"1 " * 1000)
        assert line.startswith("standard input: more than 1,024 bytes, which is the limit (")
