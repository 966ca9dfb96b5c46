"""Parsers of the lines of a file: documents, JSON rows, or counted words."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator

from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check

_ROWS_BETWEEN_CHECKS = 4096
_COUNT = re.compile("0*[1-9][0-9]{0,14}")
_NOT_PLAIN = re.compile("[\t\n\r\ufeff\ud800-\udfff]")
# A whole number of more than 4300 digits would be refused as an int; no number is looked at here.
_JSON = json.JSONDecoder(parse_int=float)


def lines(text: str) -> list[str]:
    """The lines of a text without their ends, which are LF or CR LF. An empty last line is none."""
    parts = text.split("\n")
    if not parts[-1]:
        parts.pop()
    return [part.removesuffix("\r") for part in parts] if "\r" in text else parts


def jsonl(text: str, field: str, where: str) -> list[str]:
    """The texts in one field of JSON rows. Blank lines are skipped.

    Raises:
        TokentuiError: A row is no JSON object with text in that field; it names the line.
    """
    documents = []
    for number, row in _rows(text, where):
        here = f"{where}:{number}"
        try:
            value = _JSON.decode(row)
        except RecursionError:
            raise TokentuiError("the row is nested too deeply", here, "leave it out") from None
        except json.JSONDecodeError as error:
            what = f"not a JSON row: {error.msg}, column {error.colno}"
            raise TokentuiError(what, here, "write an object a line, or take --as lines") from None
        if not isinstance(value, dict):
            raise TokentuiError("not a JSON object", here, f'a row is {{"{_short(field)}": "…"}}')
        if field not in value:
            names = ", ".join(_short(name) for name, held in value.items() if isinstance(held, str))
            hint = f"--field takes one of: {names}" if names else "name another with --field"
            raise TokentuiError(f"no field {_short(field)!r}", here, hint)
        if not isinstance(value[field], str):
            raise TokentuiError(f"field {_short(field)!r} is not text", here, "name another with --field")
        documents.append(value[field])
    return documents


def counts(text: str, where: str) -> list[tuple[str, int]]:
    """The counted words of rows `word TAB count`, each word once, in order of first appearance.

    A word that cannot stand in such a row (it holds a tab or a line end) has a row of JSON: `["\\n", 5]`.

    Raises:
        TokentuiError: A row is neither; it names the line.
    """
    summed: dict[str, int] = {}
    for number, row in _rows(text, where):
        counted = _counted(row)
        if counted is None:
            hint = "a count is a whole number from 1, of at most 15 digits"
            raise TokentuiError("not a word, a tab and a count", f"{where}:{number}", hint)
        word, count = counted
        summed[word] = summed.get(word, 0) + count
    return list(summed.items())


def are_counts(text: str, rows: int = 20) -> bool:
    """True if the first rows all parse as counted words."""
    seen = [_counted(row) for _, row in itertools.islice(_rows(text, ""), rows)]
    return bool(seen) and None not in seen


def format_counts(counted: Iterable[tuple[str, int]]) -> str:
    """The rows that `counts` reads, ASCII-safe where a word is no plain text."""
    return "".join(
        f"{json.dumps([word, count])}\n" if _NOT_PLAIN.search(word) else f"{word}\t{count}\n"
        for word, count in counted
    )


def _rows(text: str, where: str) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, numbered from 1; one that is too long is refused."""
    most = limits.now().line_bytes
    for number, row in enumerate(lines(text), 1):
        if 4 * len(row) > most and len(row.encode("utf-8", "surrogatepass")) > most:
            hint = limits.reading("line-bytes", "take --as text")
            raise TokentuiError(f"a row of more than {most:,} bytes", f"{where}:{number}", hint)
        if number % _ROWS_BETWEEN_CHECKS == 0:
            check()
        if row and not row.isspace():
            yield number, row


def _counted(row: str) -> tuple[str, int] | None:
    word, tab, count = row.rpartition("\t")
    if not tab and row.startswith("["):
        try:
            value = json.loads(row)
        except (ValueError, RecursionError):
            return None
        match value:
            case [str(word), int(number)] if type(number) is int:
                count = str(number) if abs(number) < 10**15 else ""
            case _:
                return None
    return (word, int(count)) if word and _COUNT.fullmatch(count) else None


def _short(name: str) -> str:
    return name if len(name) <= 40 else name[:39] + "…"
