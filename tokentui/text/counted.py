"""Files of counted words: rows of word, tab and count, packed or not, and Parquet tables."""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO

from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check
from tokentui.core.streams import written
from tokentui.text import parquet
from tokentui.text.counting import HEADER
from tokentui.text.sources import format_counts

Packer = AbstractContextManager[Any]
"""A file to write to, which packs what it is given."""
CountedRows = Iterable[tuple[str, int]]
Write = Callable[[BinaryIO, CountedRows, str, str], None]
"""Writes rows to an open file. The third argument is its name in errors, the fourth says how the words were
counted, see `tokentui.text.counting`; empty to leave that out."""
_ROWS = 1 << 14


@dataclass(frozen=True, slots=True)
class CountsFormat:
    """A kind of file of counted words.

    Attributes:
        ends: The ends of the names of such files.
        about: What it is, in a few words.
        write: Writes the rows.
    """

    ends: tuple[str, ...]
    about: str
    write: Write


def _write_rows(file: BinaryIO, rows: CountedRows, where: str, counting: str) -> None:
    rows = iter(rows)
    if counting:
        file.write(f"{HEADER}{counting}\n".encode())
    while block := list(islice(rows, _ROWS)):
        check()
        file.write(format_counts(block).encode())


def _packed(opened: Callable[[BinaryIO, str], Packer]) -> Write:
    def write(file: BinaryIO, rows: CountedRows, where: str, counting: str) -> None:
        with opened(file, where) as packer:
            _write_rows(packer, rows, where, counting)

    return write


def _xz(file: BinaryIO, where: str) -> Packer:
    return lzma.LZMAFile(file, "wb")


def _zstd(file: BinaryIO, where: str) -> Packer:
    with suppress(ImportError):
        module = importlib.import_module("compression.zstd")
        found: Packer = module.ZstdFile(file, "wb")
        return found
    with suppress(ImportError):
        module = importlib.import_module("zstandard")
        found = module.ZstdCompressor().stream_writer(file, closefd=False)
        return found
    raise TokentuiError("zstd is not installed", where, "pip install 'tokentui[zstd]', or take .gz")


KINDS = (
    CountsFormat((".tsv", ".counts"), "rows of word, tab and count", _write_rows),
    # neither a name nor a time is written: the same rows are the same file
    CountsFormat((".tsv.gz", ".counts.gz"), "the same, packed with gzip",
         _packed(lambda file, where: gzip.GzipFile("", "wb", 6, file, mtime=0))),
    CountsFormat(
        (".tsv.bz2", ".counts.bz2"), "with bzip2", _packed(lambda file, where: bz2.BZ2File(file, "wb"))
    ),
    CountsFormat((".tsv.xz", ".counts.xz"), "with xz", _packed(_xz)),
    CountsFormat((".tsv.zst", ".counts.zst"), "with zstd", _packed(_zstd)),
    CountsFormat((".parquet",), "a Parquet table", parquet.write_counts),
)
"""The kinds of files, the plain one first."""
PLAIN = KINDS[0]


def counts_format(path: str) -> CountsFormat:
    """Return the format of a file of counts by the suffix of its name.

    Raises:
        TokentuiError: It asks for none.
    """
    for kind in KINDS:
        if path.lower().endswith(kind.ends):
            return kind
    ends = ", ".join(kind.ends[0] for kind in KINDS)
    raise TokentuiError("the end of this name says no kind of file", path, f"one of: {ends}")


def write(path: str, rows: CountedRows, counting: str = "") -> None:
    """Write counted words to a file, whole or not at all.

    Raises:
        TokentuiError: It cannot be written, its name asks for no kind, or what writes that is not installed.
    """
    kind = counts_format(path)
    with written(path) as file:
        kind.write(file, rows, path, counting)
