"""Parquet tables as corpora: a column of documents, or counted words. Counted words are also written.

A table of counted words has the columns `word`, `count` and `exact`. `exact` has the bytes of a word that is
not valid UTF-8 (half of a surrogate pair takes three bytes), else null.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check
from tokentui.text.counting import METADATA
from tokentui.text.files import Meter

Arrow = Any
"""A module or a value of pyarrow, which has no types."""
EXTRA = "pip install 'tokentui[parquet]'"
WORD, COUNT, EXACT = "word", "count", "exact"
_ROWS = 1 << 12
"""Rows that are unpacked at a time."""
_WRITTEN_ROWS = 1 << 17
_HALF = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def named(path: str) -> bool:
    """Return whether a path has the suffix of a Parquet table."""
    return path.lower().endswith((".parquet", ".parq"))


def _library(where: str) -> tuple[Arrow, Arrow]:
    """Import pyarrow and its parquet module. Raises `TokentuiError` at `where` if it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise TokentuiError("Parquet needs pyarrow, which is not installed", where, EXTRA) from None
    return pyarrow, pyarrow.parquet


class ParquetTable:
    """A Parquet table.

    Args:
        data: Its bytes, or an open seekable file.
        where: Its name in errors.
        meter: Counts the bytes that are unpacked.

    Raises:
        TokentuiError: It is not a Parquet table, or pyarrow is not installed.
    """

    def __init__(self, data: memoryview | BinaryIO, where: str, meter: Meter) -> None:
        arrow, library = _library(where)
        self._where, self._meter = where, meter
        self._faults = (arrow.ArrowException, OSError, ValueError)
        try:
            source = arrow.BufferReader(data) if isinstance(data, memoryview) else data
            self._file = library.ParquetFile(source)
        except self._faults as error:
            raise self._damaged(error) from None
        self._names: dict[str, Arrow] = {column.name: column.type for column in self._file.schema_arrow}
        self._types = arrow.types

    def _damaged(self, error: Exception) -> TokentuiError:
        why = " ".join(str(error).split())[:120]
        return TokentuiError(f"damaged Parquet data: {why}", self._where, "download it again")

    @property
    def groups(self) -> list[int]:
        """The unpacked size of each row group in bytes."""
        metadata = self._file.metadata
        return [metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups)]

    @property
    def counting(self) -> str:
        """How its words were counted, see `tokentui.text.counting`; empty if it does not say."""
        return ((self._file.schema_arrow.metadata or {}).get(METADATA) or b"").decode("utf-8", "replace")

    def counted(self, field: str) -> bool:
        """Return whether the table has counted words and no text column with this name."""
        return field not in self._names and {WORD, COUNT} <= self._names.keys()

    def documents(self, field: str, groups: list[int] | None = None) -> Iterator[str]:
        """Yield the texts of a column in order, without nulls.

        Args:
            field: The name of the column.
            groups: The indices of the row groups to read; None for all.

        Raises:
            TokentuiError: The column does not exist, or is not text.
        """
        texts = [name for name, kind in self._names.items() if self._is_text(kind)]
        if field not in texts:
            hint = f"--field takes one of: {', '.join(texts)[:200]}" if texts else "it holds no text"
            raise TokentuiError(f"no column {field[:40]!r} of texts", self._where, hint)
        for batch in self._batches([field], groups):
            yield from (text for text in batch.column(0).to_pylist() if text is not None)

    def counts(self, groups: list[int] | None = None) -> Iterator[tuple[str, int]]:
        """Yield the counted words in order.

        Raises:
            TokentuiError: It has no counted words, or a count is invalid.
        """
        kinds = self._types
        number = self._names.get(COUNT)
        if not self._is_text(self._names.get(WORD)) or number is None or not kinds.is_integer(number):
            what = f"no columns {WORD!r} and {COUNT!r}"
            raise TokentuiError(what, self._where, "tokentui count writes such a table")
        exact = EXACT if self._names.get(EXACT) is not None and kinds.is_binary(self._names[EXACT]) else None
        row = 0
        for batch in self._batches([WORD, COUNT, *([exact] if exact else [])], groups):
            columns = {name: batch.column(name).to_pylist() for name in batch.schema.names}
            raws = columns.get(EXACT) or [None] * len(batch)
            for word, count, raw in zip(columns[WORD], columns[COUNT], raws, strict=True):
                row += 1
                if raw is not None:
                    word = self._exact(raw, row)
                if not word or count is None or not 1 <= count < 10**15:
                    hint = "a count is a whole number from 1, of at most 15 digits"
                    raise TokentuiError("not a word and a count", f"{self._where}:{row}", hint)
                yield word, count

    def _exact(self, raw: bytes, row: int) -> str:
        try:
            return raw.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise TokentuiError("not a word and a count", f"{self._where}:{row}", "write it again") from None

    def _is_text(self, kind: Arrow) -> bool:
        return kind is not None and (self._types.is_string(kind) or self._types.is_large_string(kind))

    def _batches(self, columns: list[str], groups: list[int] | None) -> Iterator[Arrow]:
        """Yield columns batch by batch. Stops with an error where more bytes are unpacked than the limit."""
        chosen = range(len(self.groups)) if groups is None else groups
        unpacked = sum(self.groups[number] for number in chosen)
        self._meter.check(self._meter.unpacked + unpacked if groups is None else unpacked, self._where)
        try:
            for batch in self._file.iter_batches(_ROWS, list(chosen), columns, use_threads=False):
                check()
                self._meter.unpacked += batch.nbytes
                if self._meter.unpacked > self._meter.most:
                    what = f"more than {self._meter.most:,} bytes, which is the limit"
                    raise TokentuiError(what, self._where, limits.reading(self._meter.limit))
                yield batch
        except self._faults as error:
            raise self._damaged(error) from None


def write_counts(file: BinaryIO, rows: Iterable[tuple[str, int]], where: str, counting: str = "") -> None:
    """Write counted words as a table.

    Raises:
        TokentuiError: pyarrow is not installed.
    """
    arrow, library = _library(where)
    schema = arrow.schema([(WORD, arrow.string()), (COUNT, arrow.int64()), (EXACT, arrow.binary())])
    schema = schema.with_metadata({METADATA: counting.encode()}) if counting else schema
    with library.ParquetWriter(file, schema, compression="zstd") as writer:
        words, counts = list[str](), list[int]()

        def flush() -> None:
            exact = [None if _is_valid(word) else word.encode("utf-8", "surrogatepass") for word in words]
            pairs = zip(words, exact, strict=True)
            shown = [word if exact is None else word.translate(_HALF) for word, exact in pairs]
            writer.write_table(arrow.table([shown, counts, exact], schema=schema))

        for word, count in rows:
            words.append(word)
            counts.append(count)
            if len(words) == _WRITTEN_ROWS:
                check()
                flush()
                words, counts = [], []
        if words:
            flush()


def write_columns(file: BinaryIO, columns: Mapping[str, tuple[str, Sequence[object]]], where: str) -> None:
    """Write columns of the same length as a table.

    Args:
        file: The file.
        columns: The columns by name, each with the name of its Arrow type and its values; None is a null.
        where: The name of the file in errors.

    Raises:
        TokentuiError: pyarrow is not installed.
    """
    arrow, library = _library(where)
    schema = arrow.schema([(name, getattr(arrow, kind)()) for name, (kind, _) in columns.items()])
    table = arrow.table([list(values) for _, values in columns.values()], schema=schema)
    library.write_table(table, file, compression="zstd")


def _is_valid(word: str) -> bool:
    """Return whether the word has no lone surrogates."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True
