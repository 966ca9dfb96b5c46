"""Sources of a corpus: folders, globs, odd and packed files, limits, pipes; and waiting for them."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reading import put, refusal, zstd

from tokentui.core import limits
from tokentui.core.errors import Cancelled
from tokentui.core.jobs import job
from tokentui.text.read import read


def test_a_folder_is_its_text_files(tmp_path: Path) -> None:
    put(tmp_path, "b.txt", "2")
    put(tmp_path, "a/z.txt", "1")
    put(tmp_path, "c.jsonl", '{"text": "3"}')
    put(tmp_path, "d.txt.gz", gzip.compress(b"4"))
    put(tmp_path, ".hidden", "no")
    put(tmp_path, ".git/config", "no")
    put(tmp_path, "photo.png", b"\x89PNG...")
    put(tmp_path, "nul.gz", gzip.compress(b"no\0"))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "gone").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to(tmp_path)
    corpus = read(tmp_path)
    assert corpus.documents == ("1", "2", "3", "4")
    assert corpus.name == tmp_path.name + "/"
    assert corpus.notes == (f"{tmp_path.name}/: left out: 2 hidden, 1 linked folder, 2 special, 2 binary",)


@pytest.mark.parametrize("name", [None, ".hidden", "photo.png"])
def test_a_folder_without_text_is_refused(tmp_path: Path, name: str | None) -> None:
    if name:
        put(tmp_path, name, b"\x89PNG")
    assert "no text file" in refusal(tmp_path).what


def test_a_glob(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "c.md", "deep/d.txt", "odd[1].txt"):
        put(tmp_path, name, name)
    assert read(f"{tmp_path}/*.txt").documents == ("a.txt", "b.txt", "odd[1].txt")
    assert read(f"{tmp_path}/**/d.txt").documents == ("deep/d.txt",)
    assert read(f"{tmp_path}/odd[1].txt").documents == ("odd[1].txt",)
    assert refusal(f"{tmp_path}/*.pdf").what == "no file matches"
    assert refusal(tmp_path / "*.txt").what == "no such file"


def test_several_sources_are_one_corpus(tmp_path: Path) -> None:
    a, b = put(tmp_path, "a", "1"), put(tmp_path, "b", "2")
    corpus = read([b, str(a), "sample:hugs"])
    assert corpus.documents == ("2", "1", "i hug pugs", "hugging pugs is fun", "i make puns")
    assert corpus.sha256 != read([a, b, "sample:hugs"]).sha256
    assert read([a]).sha256 == read(a).sha256


def test_counts_and_documents_are_no_one_corpus(tmp_path: Path) -> None:
    counted, text = put(tmp_path, "a.counts.tsv", "a\t1"), put(tmp_path, "b.txt", "b")
    assert "more than one corpus" in refusal([counted, text]).what
    more = put(tmp_path, "c.counts.tsv", "b\t1\na\t1")
    assert read([counted, more]).counts == (("a", 2), ("b", 1))


def test_no_source_is_refused() -> None:
    assert refusal([]).what == "no corpus is named"


# Refusals


def test_a_missing_file_names_one_like_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "novel.txt")
    assert refusal(tmp_path / "novle.txt").hint == f"did you mean {tmp_path / 'novel.txt'}?"
    assert refusal(tmp_path / "zzz").hint == "check the name"
    assert refusal(tmp_path / "no" / "zzz").hint == "there is no such folder either"
    monkeypatch.chdir(tmp_path)
    assert refusal("nvel.txt").hint == "did you mean novel.txt?"
    assert refusal("hugs").hint == "did you mean sample:hugs?"
    assert refusal("sample:sailr").hint == "did you mean sailor?"


@pytest.mark.parametrize("name", ["new\nline", "bell\x07", "\udcff", "nul\0", "x" * 5000, ""])
def test_odd_names_stay_one_line(tmp_path: Path, name: str) -> None:
    refusal(str(tmp_path / "none" / name) if name else "")
    if name and "\0" not in name and len(name) < 100:
        assert read(put(tmp_path, name, b"\0")).notes[0].isprintable()


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_a_device_is_refused(path: str) -> None:
    assert refusal(path).what == "is a device, not a file of text"


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        assert refusal("s").what == "is a socket, not a file of text"


def test_links_that_go_round_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "a")
    assert "symbolic" in refusal(tmp_path / "a").what


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(*_: Any) -> int:
        raise PermissionError(13, "Permission denied")

    path = put(tmp_path, "a")
    monkeypatch.setattr(os, "open", deny)
    assert str(refusal(path)) == f"{path}: cannot be read: permission denied (check its permissions)"


def test_a_git_lfs_pointer_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, "a.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n")
    assert refusal(path).hint == "run git lfs pull"


@pytest.mark.parametrize(
    ("data", "looks"),
    [
        (b"%PDF-1.7", "a PDF"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"PAR1", "a Parquet table"),
        (b"a\0b", "a binary file"),
        ("text in UTF-16".encode("utf-16-le"), "UTF-16 without"),
        (b"\n<!DOCTYPE html>", "an HTML page"),
    ],
)
def test_a_named_binary_is_taken_with_a_note(tmp_path: Path, data: bytes, looks: str) -> None:
    corpus = read(put(tmp_path, "a", data))
    assert corpus.documents == (data.decode(),)
    assert looks in corpus.notes[0]


def test_a_file_past_the_limit_is_refused_before_reading(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(2 * limits.now().corpus_bytes)
    seen: list[int] = []
    with job(lambda done, total: seen.append(done)):
        assert "limit" in refusal(path).what
    assert seen == []


def test_a_huge_binary_in_a_folder_does_no_harm(tmp_path: Path) -> None:
    with (tmp_path / "film").open("wb") as file:
        file.truncate(2 * limits.now().corpus_bytes)
    put(tmp_path, "a.txt", "a")
    assert read(tmp_path).documents == ("a",)


def test_the_limit_is_for_all_files_together(tmp_path: Path, limited: Callable[..., None]) -> None:
    limited(corpus_bytes=10)
    a, b = put(tmp_path, "a", "x" * 6), put(tmp_path, "b", "x" * 4)
    assert read([a, b]).size == 10
    assert refusal([a, b, b]).where == "all files together"
    assert "limit" in refusal("-", stdin=io.BytesIO(b"x" * 11)).what
    put(tmp_path, "c", "x")
    assert "limit" in refusal(tmp_path).what


def test_no_memory_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("tokentui.text.read.decode", exhausted)
    assert "memory" in refusal(put(tmp_path, "a")).what


# Packed files

PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd,
}


@pytest.mark.parametrize("method", PACK)
def test_packed_files_are_detected_by_content(tmp_path: Path, method: str) -> None:
    pack, text = PACK[method], "né\n" * 100_000
    data = pack(text.encode())
    corpus = read(put(tmp_path, "named.txt", data))
    assert corpus.documents == (text,)
    assert corpus.sha256 == hashlib.sha256(data).hexdigest()
    assert read(put(tmp_path, "two", data + pack(b"end"))).documents == (text + "end",)
    assert read(put(tmp_path, "empty", pack(b""))).documents == ("",)
    assert read("-", stdin=io.BytesIO(data)).documents == (text,)


@pytest.mark.parametrize("method", PACK)
def test_damaged_packed_files_are_refused(tmp_path: Path, method: str) -> None:
    data = PACK[method](os.urandom(5000))
    for damaged in (data[:-1], data[: len(data) // 2], data[:20], data[:100] + b"\0\1" * 50 + data[200:]):
        assert f"damaged {method} data" in refusal(put(tmp_path, "a", damaged)).what


@pytest.mark.parametrize("method", PACK)
def test_a_bomb_stops_at_the_limit(tmp_path: Path, method: str, limited: Callable[..., None]) -> None:
    path = put(tmp_path, "bomb", PACK[method](bytes(1 << 22)))
    assert read(path).size == 1 << 22
    limited(packed_bytes=1 << 21)
    assert "times its size" in refusal(path).what
    limited(corpus_bytes=1 << 20)
    assert "limit" in refusal(path).what


def test_without_zstd_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "a.zst", zstd(b"a"))
    for name in ("compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    assert "tokentui[zstd]" in refusal(path).hint


# Waiting, cancelling, progress


class After:
    """A `cancel` that says yes from the nth question on."""

    def __init__(self, count: int) -> None:
        self.left = count

    def __call__(self) -> bool:
        self.left -= 1
        return self.left <= 0


def test_a_pipe_that_never_answers_can_be_cancelled(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    cancel = After(4)
    with job(cancel=cancel), pytest.raises(Cancelled):
        read(tmp_path / "pipe", as_="text")
    assert cancel.left == 0


def test_a_pipe_with_a_silent_writer_can_be_cancelled(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    keeps_open = os.open(tmp_path / "pipe", os.O_RDWR)
    os.write(keeps_open, b"a beginning")
    with job(cancel=After(6)), pytest.raises(Cancelled):
        read(tmp_path / "pipe", as_="text")
    os.close(keeps_open)


def test_a_silent_standard_input_can_be_cancelled() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stdin, os.fdopen(writing, "wb", 0) as silent:
        silent.write(b"a beginning")
        with job(cancel=After(6)), pytest.raises(Cancelled):
            read("-", stdin=stdin)


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    totals = set()
    script = "import sys; open(sys.argv[1], 'wb').write(b'ab' * 200_000)"
    writer = subprocess.Popen([sys.executable, "-W", "ignore", "-c", script, tmp_path / "pipe"])
    with writer, job(lambda done, total: totals.add(total)):
        corpus = read(tmp_path / "pipe", as_="text")
    assert corpus.documents == ("ab" * 200_000,)
    assert totals == {0}


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"a\nb\n")
    os.close(writing)
    with os.fdopen(reading, "rb") as stdin:
        corpus = read("-", stdin=stdin, as_="lines")
        assert (corpus.name, corpus.documents) == ("standard input", ("a", "b"))
    with put(tmp_path, "a", "from a file").open("rb") as file:
        assert read("-", stdin=file).documents == ("from a file",)
        closed = file
    assert refusal("-", stdin=closed).what == "is closed"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"by default")))
    assert read("-").documents == ("by default",)
    monkeypatch.setattr(sys, "stdin", None)
    assert refusal("-").where == "standard input"


@pytest.mark.parametrize("packed", [False, True])
def test_progress_grows_to_the_total(tmp_path: Path, packed: bool) -> None:
    data = os.urandom(300_000)
    put(tmp_path, "a", gzip.compress(data) if packed else data.replace(b"\0", b""))
    put(tmp_path, "b", "b")
    put(tmp_path, "c.png", b"\x89PNG" * 10)
    seen: list[tuple[int, int]] = []
    with job(lambda *at: seen.append(at)):
        read([tmp_path / "a", tmp_path / "b", tmp_path / "c.png"])
    done = [at[0] for at in seen]
    assert done == sorted(done)
    assert seen[-1] == (sum(path.stat().st_size for path in tmp_path.iterdir()),) * 2
    assert len(seen) > 3


def test_cancel_between_blocks_rows_and_folders(tmp_path: Path) -> None:
    path = put(tmp_path, "a.jsonl", '{"text": ""}\n' * 20_000)
    asked = After(10**9)
    with job(cancel=asked):
        read(path)
    questions = 10**9 - asked.left
    assert questions > 20_000 // 4096
    for count in range(1, questions + 1):
        with job(cancel=After(count)), pytest.raises(Cancelled):
            read(path)
    with job(cancel=After(1)), pytest.raises(Cancelled):
        read(tmp_path)
