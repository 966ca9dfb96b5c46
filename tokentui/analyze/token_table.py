"""Vocabulary as a table: each id with its text, exact bytes, kind, and whether it is reachable."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tokentui.analyze.report import Report, Section, strong
from tokentui.core.errors import TokentuiError
from tokentui.core.table import escaped, plural
from tokentui.encode.reachability import reachability_of_all
from tokentui.encode.tokenizer import Tokenizer
from tokentui.text.parquet import write_columns


class TokenRow(NamedTuple):
    """A row of the table.

    Attributes:
        id: The id.
        text: The token for people, marks included; invalid UTF-8 are U+FFFD.
        hex: Its exact bytes in hex, marks included.
        bytes: The bytes in hex that it adds to a decoded text after another token: of `<0x41>` the byte, of
            `▁a` a space and a letter.
        kind: The kind of its entry: `special`, `unknown`, `byte`, `unit`, `merge`, `piece` or `orphan`.
        score: The natural log probability of a unigram piece; None elsewhere.
        rank: The rank of the merge that makes it, from 0; None if no merge makes it.
        reachable: True if some text produces it.
        reason: The name of the reason why no text produces it; empty if one does.
    """

    id: int
    text: str
    hex: str
    bytes: str
    kind: str
    score: float | None
    rank: int | None
    reachable: bool
    reason: str


def token_rows(tokenizer: Tokenizer) -> Iterator[TokenRow]:
    """Yield a row for each id, in order. A tick of the job is a token.

    Raises:
        Cancelled: The job is cancelled.
    """
    vocabulary = tokenizer.vocabulary
    first = _plain_token(tokenizer)
    before = tokenizer.decode_bytes(first)
    for entry, reach in zip(tokenizer.entries(), reachability_of_all(tokenizer), strict=True):
        made_at = 0 if entry.symbol is None else vocabulary.made_at(entry.symbol)
        added = tokenizer.decode_bytes([*first, entry.id]).removeprefix(before)
        yield TokenRow(
            entry.id, entry.text.encode("utf-8", "replace").decode(), entry.piece.hex(), added.hex(),
            entry.kind, entry.score, made_at - 1 if made_at else None, not reach.reason, reach.reason,
        )


def _plain_token(tokenizer: Tokenizer) -> list[int]:
    """Return the id of a token of letters, in a list; an empty list if there is none."""
    plain = ("unit", "merge", "piece")
    letters = (entry.id for entry in tokenizer.entries() if entry.kind in plain and entry.piece.isalpha())
    return list(itertools.islice(letters, 1))


def table_bytes(path: str, rows: Sequence[TokenRow]) -> bytes:
    """Return a table as the bytes of a file, by the end of its name: `.tsv`, `.jsonl` or `.parquet`.

    In `.tsv` a backslash and control characters are escaped as Python writes them, an absent number is empty,
    and truth is `true` or `false`.

    Raises:
        TokentuiError: The name has another extension, or pyarrow is not installed.
    """
    return _writer(path)(path, rows)


def check_table_name(path: str) -> None:
    """Check that the extension of a file name is that of a format of tables.

    Raises:
        TokentuiError: It is not.
    """
    _writer(path)


def _writer(path: str) -> Callable[[str, Sequence[TokenRow]], bytes]:
    """Return the function that writes a table, by the extension of a file name.

    Raises:
        TokentuiError: No format of tables has this extension.
    """
    for end, writer in _WRITERS.items():
        if path.lower().endswith(end):
            return writer
    raise TokentuiError("unknown file extension", path[:80], f"use {' or '.join(_WRITERS)}")


def _tsv(path: str, rows: Sequence[TokenRow]) -> bytes:
    lines = ["\t".join(TokenRow._fields), *("\t".join(map(_cell, row)) for row in rows)]
    return "".join(f"{line}\n" for line in lines).encode()


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else escaped(str(value))


def _jsonl(path: str, rows: Sequence[TokenRow]) -> bytes:
    return "".join(json.dumps(row._asdict(), ensure_ascii=False) + "\n" for row in rows).encode()


def _parquet(path: str, rows: Sequence[TokenRow]) -> bytes:
    """Return the rows as the bytes of a Parquet file. `path` is only for errors.

    Raises:
        TokentuiError: pyarrow is not installed.
    """
    types = ("int64", "string", "string", "string", "string", "float64", "int64", "bool_", "string")
    columns = {
        name: (kind, [row[n] for row in rows])
        for n, (name, kind) in enumerate(zip(TokenRow._fields, types, strict=True))
    }
    file = io.BytesIO()
    write_columns(file, columns, path)
    return file.getvalue()


_WRITERS: dict[str, Callable[[str, Sequence[TokenRow]], bytes]] = {
    ".tsv": _tsv, ".jsonl": _jsonl, ".parquet": _parquet,
}


def report(path: str, rows: Sequence[TokenRow]) -> Report:
    """Report the number of ids in a table, and how many are unreachable."""
    lost = sum(not row.reachable for row in rows)
    line = f"{plural(len(rows), 'id')}, {lost:,} unreachable"
    value = {"table": path, "ids": len(rows), "unreachable": lost}
    return Report("The vocabulary as a table", (Section("table", line),), value, strong(line))
