"""The built-in corpora, the ways to read a file, and the parsers of lines: documents, JSON rows, counted
words."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tokentui.core import limits
from tokentui.core.errors import TokentuiError, nearest
from tokentui.core.jobs import check
from tokentui.core.records import dataclass
from tokentui.text.counting import header_in

if TYPE_CHECKING:
    from pathlib import Path

READ_AS = {
    "text": "a document a file",
    "lines": "a document a line, line ends left out",
    "jsonl": "a document a row of JSON",
    "counts": "a word a row, with its count",
}
"""The ways to read a file, each with a description."""

_ROWS_BETWEEN_CHECKS = 4096
_LOOKED_AT = 20
_COUNT = re.compile("0*[1-9][0-9]{0,14}")
_NOT_PLAIN = re.compile("[\t\n\r\ufeff\ud800-\udfff]")
# int() refuses numbers of more than 4300 digits; no number is used here.
_JSON = json.JSONDecoder(parse_int=float)


@dataclass(frozen=True, slots=True)
class Sample:
    """A built-in corpus. `as_` is how its file is read. `language` is an ISO 639 code, or a description."""

    name: str
    title: str
    language: str
    as_: str
    path: Path

    @property
    def bytes(self) -> int:
        """The size of the file in bytes."""
        return self.path.stat().st_size

    @property
    def size(self) -> int:
        """The size of the text in bytes: without line ends for a file of lines; counted words are multiplied
        by their counts."""
        if self.as_ == "text":
            return self.bytes
        lines = self.path.read_bytes().splitlines()
        if self.as_ == "lines":
            return sum(map(len, lines))
        rows = (line.rpartition(b"\t") for line in lines)
        return sum(len(word) * int(count) for word, _, count in rows)


# A one-line example is read as lines, so that the line end of its file is not part of it.
_TABLE = (
    ("english", "An evening in a repair café", "en", "text", "english.txt"),
    ("indonesian", "Pasar pagi", "id", "text", "indonesian.txt"),
    ("japanese", "雨の日の図書館", "ja", "text", "japanese.txt"),
    ("chinese", "修钟表的人", "zh", "text", "chinese.txt"),
    ("arabic", "مخبز الحي", "ar", "text", "arabic.txt"),
    ("hindi", "आख़िरी बस", "hi", "text", "hindi.txt"),
    ("korean", "옥상 텃밭", "ko", "text", "korean.txt"),
    ("finnish", "Saunapolku", "fi", "text", "finnish.txt"),
    ("turkish", "Vapurda bir sabah", "tr", "text", "turkish.txt"),
    ("emoji", "A group chat", "emoji", "text", "emoji.txt"),
    ("python", "A program: timetables of a bus line", "python", "text", "python.txt"),
    ("numbers", "Prices, dates, addresses, tables", "numbers", "text", "numbers.txt"),
    ("cat-bat-rat", "cat bat rat bat", "en", "lines", "cat-bat-rat.txt"),
    ("sailor", "A sailor went to sea", "en", "lines", "sailor.txt"),
    ("woodchuck", "How much wood", "en", "lines", "woodchuck.txt"),
    ("hugs", "Hugs and pugs, three documents", "en", "lines", "hugs.lines.txt"),
    ("halo", "halo alo balon", "id", "lines", "halo.txt"),
    ("hai", "hai lai hau, counted words", "id", "counts", "hai.counts.tsv"),
    ("gage", "Gage's xxxdqxxxdxo", "letters", "lines", "gage.txt"),
    ("abac", "aaabdaaabac, a text with a tie", "letters", "lines", "abac.txt"),
    ("hug", "hug, pug, pun, bun, hugs, counted words", "en", "counts", "hug.counts.tsv"),
    ("digits", "1234567 in four lines", "en", "lines", "digits.txt"),
    ("contractions", "I've, you've, we've", "en", "lines", "contractions.txt"),
    ("counting", "People who count together", "en", "lines", "counting.txt"),
    ("course", "Four sentences of the Hugging Face course", "en", "lines", "course.txt"),
)

_PARALLEL = (
    ("English", "en"), ("German", "de"), ("French", "fr"), ("Spanish", "es"), ("Finnish", "fi"),
    ("Turkish", "tr"), ("Russian", "ru"), ("Arabic", "ar"), ("Hindi", "hi"), ("Chinese", "zh"),
    ("Japanese", "ja"), ("Korean", "ko"),
)
"""The languages of the parallel set: the same sentences in the same lines, one file per language."""


def _folder() -> Path:
    """Return the folder of the files: inside an installed package, next to the package in a checkout."""
    from pathlib import Path  # few commands need the samples

    package = Path(__file__).parents[1]
    inside = package / "corpora"
    return inside if inside.is_dir() else package.parent / "corpora"


def samples() -> tuple[Sample, ...]:
    """Return all built-in corpora."""
    folder = _folder()
    return tuple(
        Sample(name, title, language, as_, folder / file) for name, title, language, as_, file in _TABLE
    )


def parallel() -> tuple[Sample, ...]:
    """Return the samples of the parallel set: the same sentences in several languages, line by line."""
    folder = _folder() / "parallel"
    return tuple(
        Sample(f"parallel/{title.lower()}", title, language, "lines", folder / f"{title.lower()}.txt")
        for title, language in _PARALLEL
    )


def find_sample(name: str) -> Sample:
    """Return the built-in corpus of a name; `parallel/english` is one of the parallel set.

    Raises:
        TokentuiError: The name is unknown. The hint has the nearest name.
    """
    by_name = {sample.name: sample for sample in (*samples(), *parallel())}
    if name not in by_name:
        raise TokentuiError("no such sample", f"sample:{name}", nearest(name, by_name))
    return by_name[name]


# ---- the lines of a file


def lines(text: str) -> list[str]:
    """Return the lines of a text without their ends, LF or CR LF. An empty last line is dropped."""
    parts = text.split("\n")
    if not parts[-1]:
        parts.pop()
    return [part.removesuffix("\r") for part in parts] if "\r" in text else parts


def jsonl(text: str, field: str, where: str) -> list[str]:
    """Return the texts in one field of JSON rows. Blank lines are skipped.

    Raises:
        TokentuiError: A row is not a JSON object with a text in the field. The message has the line.
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
            names = ", ".join(
                _short(name) for name, field_value in value.items() if isinstance(field_value, str)
            )
            hint = f"--field takes one of: {names}" if names else "name another with --field"
            raise TokentuiError(f"no field {_short(field)!r}", here, hint)
        if not isinstance(value[field], str):
            raise TokentuiError(f"field {_short(field)!r} is not text", here, "name another with --field")
        documents.append(value[field])
    return documents


def counts(text: str, where: str) -> list[tuple[str, int]]:
    """Return the counted words of rows `word TAB count`, in order. Blank rows are skipped; words may repeat.

    A word that cannot stand in such a row (it holds a tab or a line end) has a row of JSON: `["

    ", 5]`. The first row may say how the words were counted, see `tokentui.text.counting`.

    Raises:
        TokentuiError: A row is invalid. The message has the line.
    """
    rows = []
    for number, row in _rows(text, where):
        if number == 1 and header_in(row) is not None:
            continue
        counted = _counted(row)
        if counted is None:
            hint = "a count is a whole number from 1, of at most 15 digits"
            raise TokentuiError("not a word, a tab and a count", f"{where}:{number}", hint)
        rows.append(counted)
    return rows


def are_counts(text: str) -> bool:
    """Return whether all of the first `_LOOKED_AT` rows that are not blank are counted words; False if there
    are none."""
    parsed = [_counted(row) for _, row in itertools.islice(_rows(text, ""), _LOOKED_AT)]
    return bool(parsed) and None not in parsed


def format_counts(counted: Iterable[tuple[str, int]]) -> str:
    """Return rows that `counts` reads. Words with special characters are written as JSON."""
    return "".join(
        f"{json.dumps([word, count])}\n" if _NOT_PLAIN.search(word) else f"{word}\t{count}\n"
        for word, count in counted
    )


def _rows(text: str, where: str) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line) of the lines that are not blank.

    Raises:
        TokentuiError: A line is too long.
    """
    most = limits.now().line_bytes
    for number, row in enumerate(lines(text), 1):
        if 4 * len(row) > most and len(row.encode("utf-8", "surrogatepass")) > most:
            hint = limits.reading("line-bytes", "use --as text")
            raise TokentuiError(f"a row has more than {most:,} bytes", f"{where}:{number}", hint)
        if number % _ROWS_BETWEEN_CHECKS == 0:
            check()
        if row and not row.isspace():
            yield number, row


def _counted(row: str) -> tuple[str, int] | None:
    """Return the word and the count of a row: tab-separated, or a JSON list. None if it is neither."""
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
