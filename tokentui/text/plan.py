"""Cut the files of a large corpus into parts.

Parts are known before anything is read: ranges of a file of equal size in bytes. The reader of a range moves
both its ends to places where the text may be cut (`tokentui.text.blocks`).
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import BinaryIO

from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.core.files import read_errors
from tokentui.core.jobs import check
from tokentui.core.records import dataclass
from tokentui.recipe import Recipe
from tokentui.text import files, parquet, remote
from tokentui.text.counting import HEADER
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.read import FoundInputs, Input, find, way_of

_COUNTS = re.compile(r"\.(tsv|counts)(\.(gz|bz2|xz|zst))?$", re.IGNORECASE)
HEAD = 1 << 12
"""Bytes at the start of a file that identify its kind."""
UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class FileRange:
    """A range of one file.

    Attributes:
        file: The file.
        way: How to read it: one of `READ_AS`, or `table` or `counted-table` for Parquet.
        start: The offset where it begins, in bytes; for a table, in row groups.
        stop: The offset where it ends; None for the end of the file.
        size: Its size in bytes; 0 if unknown.
    """

    file: Input
    way: str
    start: int = 0
    stop: int | None = None
    size: int = 0

    @property
    def where(self) -> str:
        """The name of the file in errors."""
        place = f" from byte {self.start:,}" if self.start and "table" not in self.way else ""
        return self.file.where + place


CountTask = tuple[FileRange, ...]
"""Ranges that are counted together: one of a large file, or several small files."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A corpus in parts.

    Attributes:
        parts: The parts, in order.
        size: The size of all files in bytes, before unpacking; 0 if unknown.
        folders: The names of the folders among the sources.
    """

    parts: tuple[CountTask, ...]
    size: int
    folders: tuple[str, ...]


def plan(source: Iterable[str], recipe: Recipe, as_: str | None, field: str) -> Plan:
    """Cut a corpus into parts. Small files are put together; a large one that can be cut is several parts.

    Args:
        source: The sources, as `read` takes them.
        recipe: The recipe. Its split decides whether a document may be cut.
        as_: As `read` takes it.
        field: As `read` takes it.

    Raises:
        TokentuiError: A source does not exist, cannot be accessed, or is larger than the limit.
    """
    most, sources = int(limits.now().part_bytes), list[FoundInputs]()
    for name in source:
        check()
        sources.append(find(name, as_ is not None))
    sizes = [file.size for each in sources for file in each.inputs]
    known = 0 if None in sizes else sum(size or 0 for size in sizes)
    meter = files.Meter(limit="count-bytes")
    meter.check(sum(size or 0 for size in sizes), "all files together")
    cuts, parts, small, small_size = may_cut(recipe), list[CountTask](), list[FileRange](), 0
    for each in sources:
        for file in each.inputs:
            check()
            whole = FileRange(
                replace(file, path=_absolute(file)), _way(file, as_, field), size=file.size or 0
            )
            if file.size is not None and file.size <= most:
                if small and small_size + file.size > most:
                    parts.append(tuple(small))
                    small, small_size = [], 0
                small.append(whole)
                small_size += file.size
                continue
            if small:
                parts.append(tuple(small))
                small, small_size = [], 0
            parts += [(stretch,) for stretch in _stretches(whole, cuts, most)]
    if small:
        parts.append(tuple(small))
    return Plan(tuple(parts), known, tuple(source_.name for source_ in sources if source_.folder))


def may_cut(recipe: Recipe) -> bool:
    """Return whether a document may be cut into pieces that are split separately."""
    pretokenizer = Pretokenizer(recipe)
    return pretokenizer.in_parts and pretokenizer.knows_cuts


def _absolute(file: Input) -> str | None:
    return file.path if file.path is None or file.remote else os.path.abspath(file.path)


def _way(file: Input, as_: str | None, field: str) -> str:
    """Return how to read a file: `text`, `lines`, `jsonl`, `counts`, `table` or `counted-table`."""
    path, as_ = file.path or "", as_ or file.as_
    if as_ in (None, "counts") and parquet.named(path):
        if as_ == "counts":
            return "counted-table"
        with table_of(file) as table:
            return "counted-table" if table.counted(field) else "table"
    if as_ is None and _COUNTS.search(path) and _has_header(file):
        return "counts"
    return as_ or way_of(path, lambda: _head(file).decode("utf-8", "replace").rpartition("\n")[0])


def _has_header(file: Input) -> bool:
    """Return whether the first row of a file says that it has counted words."""
    with opened(file, 0) as stream:
        blocks = files.blocks(stream, file.where, files.Meter(limit="count-bytes"), size=file.size)
        return next(blocks, (b"", ""))[0].startswith(HEADER.encode())


@contextlib.contextmanager
def table_of(file: Input, meter: files.Meter | None = None) -> Iterator[parquet.ParquetTable]:
    """Yield the table of a Parquet file, which is open inside.

    Without a meter, a new one counts its bytes.
    """
    with opened(file, 0) as stream:
        yield parquet.ParquetTable(stream, file.where, meter or files.Meter(limit="count-bytes"))


def _head(file: Input) -> bytes:
    with opened(file, 0) as stream:
        return stream.read(HEAD)


@contextlib.contextmanager
def opened(file: Input, place: int) -> Iterator[BinaryIO]:
    """Yield a seekable remote file or a local file, at an offset.

    Raises:
        TokentuiError: The file has changed since it was measured.
    """
    assert file.path is not None
    if file.remote:
        with remote.readable_errors(file.path), remote.open_range(file.path, place) as stream:
            yield stream
        return
    with read_errors(file.path), files.opened_file(file.path) as stream:
        if file.size is not None and os.fstat(stream.fileno()).st_size != file.size:
            raise TokentuiError("the file changed while it was read", file.where, "count it again")
        stream.seek(place)
        yield stream


def _stretches(whole: FileRange, cuts: bool, most: int) -> Iterator[FileRange]:
    """Yield the ranges of a large file, or one range if it cannot be cut: packed, UTF-16, or without a
    size."""
    file = whole.file
    if "table" in whole.way:
        with table_of(file) as table:
            sizes = table.groups
        yield from _groups(whole, sizes, most)
        return
    cut = file.size is not None and (cuts or whole.way != "text")
    if cut and not (file.remote and not remote.supports_ranges(file.path or "")):
        head = _head(file)
        _, is_text = files.look(head, file.where)
        if not (files.packed(head) or head.startswith(UTF16) or (file.listed and not is_text)):
            for start in range(0, whole.size, most):
                end = start + most
                yield replace(whole, start=start, stop=end if end < whole.size else None,
                              size=min(most, whole.size - start))
            return
    yield whole


def _groups(whole: FileRange, sizes: Sequence[int], most: int) -> Iterator[FileRange]:
    """Yield runs of row groups of a table. Their sizes in the file are estimated in proportion to their
    unpacked sizes."""
    total, start, run_size = sum(sizes) or 1, 0, 0
    for number, size in enumerate(sizes):
        run_size += size
        if run_size >= most or number == len(sizes) - 1:
            yield replace(whole, start=start, stop=number + 1, size=whole.size * run_size // total)
            start, run_size = number + 1, 0
