"""Files of counted words: rows of word, tab and count, compressed or not, and Parquet tables."""

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
"""A file that compresses what is written to it."""
CountedRows = Iterable[tuple[str, int]]
Write = Callable[[BinaryIO, CountedRows, str, str], None]
"""Writes rows to an open file. The third argument is the name of the file in errors. The fourth says how the
words were counted (see `tokentui.text.counting`); empty to omit that."""
_ROWS = 1 << 14


@dataclass(frozen=True, slots=True)
class CountsFormat:
    """A kind of file of counted words.

    Attributes:
        ends: The suffixes of such files.
        about: A short description.
        write: Writes the rows.
    """

    ends: tuple[str, ...]
    about: str
    write: Write


def _write_rows(file: BinaryIO, rows: CountedRows, where: str, counting: str) -> None:
    """Write the rows in blocks, after a header line that names `counting` unless it is empty.

    It checks for cancellation at each block.
    """
    rows = iter(rows)
    if counting:
        file.write(f"{HEADER}{counting}\n".encode())
    while block := list(islice(rows, _ROWS)):
        check()
        file.write(format_counts(block).encode())


def _packed(opened: Callable[[BinaryIO, str], Packer]) -> Write:
    """Return a function that writes rows through the packer that `opened` makes."""
    def write(file: BinaryIO, rows: CountedRows, where: str, counting: str) -> None:
        with opened(file, where) as packer:
            _write_rows(packer, rows, where, counting)

    return write


def _xz(file: BinaryIO, where: str) -> Packer:
    return lzma.LZMAFile(file, "wb")


def _zstd(file: BinaryIO, where: str) -> Packer:
    """Return a packer by the standard library, or by `zstandard`.

    Raises:
        TokentuiError: There is neither.
    """
    with suppress(ImportError):
        module = importlib.import_module("compression.zstd")
        packer: Packer = module.ZstdFile(file, "wb")
        return packer
    with suppress(ImportError):
        module = importlib.import_module("zstandard")
        packer = module.ZstdCompressor().stream_writer(file, closefd=False)
        return packer
    raise TokentuiError("zstd is not installed", where, "pip install 'tokentui[zstd]', or use .gz")


KINDS = (
    CountsFormat((".tsv", ".counts"), "rows of word, tab and count", _write_rows),
    # No name and no time is written, so that equal rows give equal files.
    CountsFormat((".tsv.gz", ".counts.gz"), "the same, packed with gzip",
         _packed(lambda file, where: gzip.GzipFile("", "wb", 6, file, mtime=0))),
    CountsFormat(
        (".tsv.bz2", ".counts.bz2"), "with bzip2", _packed(lambda file, where: bz2.BZ2File(file, "wb"))
    ),
    CountsFormat((".tsv.xz", ".counts.xz"), "with xz", _packed(_xz)),
    CountsFormat((".tsv.zst", ".counts.zst"), "with zstd", _packed(_zstd)),
    CountsFormat((".parquet",), "a Parquet table", parquet.write_counts),
)
"""The formats, the plain one first."""
PLAIN = KINDS[0]


def counts_format(path: str) -> CountsFormat:
    """Return the format of a file of counts by the suffix of its name, in either case.

    Raises:
        TokentuiError: No format has the suffix.
    """
    for kind in KINDS:
        if path.lower().endswith(kind.ends):
            return kind
    ends = ", ".join(kind.ends[0] for kind in KINDS)
    raise TokentuiError("unknown file extension", path, f"one of: {ends}")


def write(path: str, rows: CountedRows, counting: str = "") -> None:
    """Write counted words to a file, in the format of its suffix. On failure the file is not changed.

    Args:
        path: The file.
        rows: The words with their counts.
        counting: How they were counted, see `tokentui.text.counting`; empty to omit that.

    Raises:
        TokentuiError: The file cannot be written, its suffix is unknown, or a package for the format is not
            installed.
    """
    kind = counts_format(path)
    with written(path) as file:
        kind.write(file, rows, path, counting)
