"""Unicode as the owner of a tokenizer knows it: normalization, lower case, marks, and classes of characters.

Python's `unicodedata` and the `regex` library have the tables of the version that is installed. A tokenizer
gives the ids of its owner only with the tables of the owner. So `unicode.json` lists the characters that
versions treat differently, and a text without one of them takes the installed tables. In other texts

- a character that is newer than the tables of normalization never combines with its neighbors, so that the
  text is normalized in the parts between such characters;
- a pattern reads a *stand-in* for each listed character: one that all versions know, of the class that the
  owner gives it, or a code point that no version assigns. The words are cut from the text itself, at the same
  places.
"""

from __future__ import annotations

import functools
import json
import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from tokentui.core.records import dataclass
from tokentui.recipe import NEWEST_UNICODE

if TYPE_CHECKING:
    import regex

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

_OLDEST_PYTHON = 14
_OLDEST_REGEX = 16
_NEWEST = 18
_ASTRAL = "\U00010000-\U0010ffff"


@functools.cache
def _tables() -> dict[str, list[str]]:
    with open(os.path.join(os.path.dirname(__file__), "unicode.json"), "rb") as file:
        return json.loads(file.read())  # type: ignore[no-any-return]


def table(name: str) -> str:
    """Return a table that `make unicode` has written, as lines of text. Code points are in hex.

    - `INERT`: characters newer than Unicode 9 that compose, decompose or are reordered later on
    - `NO_MARKS`: marks (category M) of Unicode 18 that are none in Unicode 9
    - `ONCE_MARKS`: marks of Unicode 9 that are none in Unicode 18
    - `NEW_MARKS`: marks newer than Unicode 16
    - `FORMS`: characters newer than Unicode 14, a row `CODE VERSION COMBINING_CLASS DECOMPOSITION`
    - `CASES`: letters newer than Unicode 14, a row `CODE VERSION LOWER_CASE`
    - `CLASSES`: characters whose class changed after Unicode 16, `CODES:VERSION:STAND_IN:STAND_IN_BEFORE`
    """
    return "\n".join(_tables()[name])


class Listed:
    """A set of characters, with a fast test of whether a text contains one.

    Args:
        ranges: Ranges of code points in hex, such as `300-36F 483`.
    """

    def __init__(self, ranges: str) -> None:
        self.pairs = tuple(_pair(range_) for range_ in ranges.split())
        inner = "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in self.pairs)
        self.pattern = f"[{inner}]" if inner else "(?!)"
        plane = "".join(
            f"\\u{first:04x}-\\u{min(last, 0xFFFF):04x}" for first, last in self.pairs if first < 0x10000
        )
        # `re` looks up a character of the first plane in a bitmap, and walks through the ranges of others.
        self._maybe = re.compile(f"[{plane}{_ASTRAL}]") if inner else re.compile("(?!)")
        self._exactly = re.compile(self.pattern)

    def is_in(self, text: str) -> bool:
        """Return whether a text contains one of the characters."""
        if text.isascii() or not self._maybe.search(text):
            return False
        return any(map(self._exactly.match, set(self._maybe.findall(text))))

    def apart(self, text: str, work: Callable[[str], str], each: Callable[[str], str] = str) -> str:
        """Return a text with `work` applied to what is between the characters, and `each` to these."""
        parts, at = [], 0
        for match in self._exactly.finditer(text):
            parts += [work(text[at : match.start()]), each(match.group())]
            at = match.end()
        return "".join([*parts, work(text[at:])])

    def replaced(self, text: str, each: Callable[[str], str]) -> str:
        """Return a text with another one for each of the characters."""
        return self._exactly.sub(lambda match: each(match.group()), text)

    def places(self, text: str) -> Iterator[int]:
        """Yield the places of the characters in a text."""
        return (match.start() for match in self._exactly.finditer(text))


def _pair(range_: str) -> tuple[int, int]:
    first, _, last = range_.partition("-")
    return int(first, 16), int(last or first, 16)


@dataclass(frozen=True, eq=False)
class Tables:
    """The Unicode tables of one owner. A version of 0 is the installed one.

    Attributes:
        name: The name in a recipe.
        owner: Whose tables they are, for people.
        forms: The version of Unicode of the normalization forms: 0, 9, or 14 and later.
        marks: That of the marks that are removed with accents: 0, 9, or 16 and later.
        cases: That of lower case: 0, or 14 and later.
        classes: That of the classes in patterns: 0, or 16 and later.
        numbers: That of digits, where these are no pattern: 0, or 16 and later.
    """

    name: str
    owner: str
    forms: int
    marks: int
    cases: int
    classes: int
    numbers: int

    @property
    def described(self) -> str:
        """Whose tables they are, with their versions of Unicode."""
        parts = {"normalization": self.forms, "marks": self.marks, "lower case": self.cases,
                 "classes": self.classes, "digits": self.numbers}
        if len(set(parts.values())) == 1:
            return self.owner
        return f"{self.owner}: " + ", ".join(f"{name} {version}" for name, version in parts.items())

    def __reduce__(self) -> tuple[Callable[[str], Tables], tuple[str]]:
        """Pickle by name."""
        return tables_of, (self.name,)

    # --- normalization ---

    def normal_form(self, form: Form, text: str) -> str:
        """Return a text in a normalization form."""
        later = _OLDEST_PYTHON <= self.forms != _installed()
        if later and _new_forms().listed.is_in(text):
            return _inert(self.forms).apart(text, functools.partial(_normalized, form))
        normalized = unicodedata.normalize(form, text)
        # A part of a text in a normal form is in it, too: what no table changes, no older table changes.
        if 0 < self.forms < _OLDEST_PYTHON and normalized != text:
            inert = _inert(self.forms)
            if inert.is_in(text):
                return inert.apart(text, functools.partial(unicodedata.normalize, form))
        return normalized

    def nfc(self, text: str) -> str:
        """Return a text in the form NFC."""
        return self.normal_form("NFC", text)

    def nfd(self, text: str) -> str:
        """Return a text in the form NFD."""
        return self.normal_form("NFD", text)

    def nfkc(self, text: str) -> str:
        """Return a text in the form NFKC."""
        return self.normal_form("NFKC", text)

    def nfkd(self, text: str) -> str:
        """Return a text in the form NFKD."""
        return self.normal_form("NFKD", text)

    def nfkd_of(self, code: int) -> str:
        """Return the form NFKD of one code point; half of a surrogate pair is itself."""
        char = chr(code)
        if self.forms and (code in _new_forms().rows or self.forms < _OLDEST_PYTHON):
            return self.nfkd(char)
        return unicodedata.normalize("NFKD", char)

    def strip_accents(self, text: str) -> str:
        """Return the text without combining marks (all of category M).

        A letter composed with its accent keeps it unless `nfd` runs before.
        """
        if text.isascii():
            return text
        later = self.marks >= _OLDEST_REGEX and _classed().is_in(text)
        return str(_marks(self.marks if later or self.marks < _OLDEST_REGEX else 0).sub("", text))

    def lowercase(self, text: str) -> str:
        """Return the text in lower case, character by character as Hugging Face's library does: a sigma at
        the end of a word is σ too."""
        if self.cases and self.cases != _installed() and _cased().is_in(text):
            return _cased().apart(text, _lower, lambda letter: _lower_of(self.cases).get(letter, letter))
        return _lower(text)

    # --- classes ---

    def seen(self, text: str) -> str:
        """Return what patterns read in place of a text, of the same length: the text itself, or stand-ins for
        its listed characters."""
        return _seen(text, self.classes)

    def lists(self, text: str) -> bool:
        """Return whether a text has characters whose class may not be that of the installed tables."""
        return self.classes != 0 and not text.isascii() and _classed().is_in(text)

    def seen_for_digits(self, text: str) -> str:
        """Return what the pattern of digits reads in place of a text."""
        return _seen(text, self.numbers)

    def differing(self, text: str) -> dict[str, list[str]]:
        """Return the characters of a text that these tables treat otherwise than the newest ones, by what
        differs: `normalization`, `marks`, `lower case` or `classes`."""
        newest = TABLES[NEWEST_UNICODE]
        chars = sorted(set(text)) if not text.isascii() else []
        apart: dict[str, list[str]] = {}
        for char in chars:
            if self.forms != newest.forms and _new_or_inert(char, self.forms):
                apart.setdefault("normalization", []).append(char)
            if bool(self.strip_accents(char)) != bool(newest.strip_accents(char)):
                apart.setdefault("marks", []).append(char)
            if self.lowercase(char) != newest.lowercase(char):
                apart.setdefault("lower case", []).append(char)
            if self.seen(char) != newest.seen(char):
                apart.setdefault("classes", []).append(char)
        return apart


TABLES: Mapping[str, Tables] = {
    tables.name: tables
    for tables in (
        Tables("", "the installed Python and regex", 0, 0, 0, 0, 0),
        Tables(NEWEST_UNICODE, "Unicode 18", 18, 18, 18, 18, 18),
        Tables("tokenizers", "Hugging Face's tokenizers 0.22 and 0.23", 9, 9, 17, 16, 17),
        Tables("tiktoken", "tiktoken 0.11 to 0.14", 18, 18, 18, 16, 16),
    )
}
"""The tables, by the name in a recipe."""


def tables_of(name: str) -> Tables:
    """Return the tables of a name in a recipe; the newest ones for a name that this version does not know."""
    return TABLES.get(name) or TABLES[NEWEST_UNICODE]


@functools.cache
def _installed() -> int:
    return int(unicodedata.unidata_version.partition(".")[0])


# --- normalization ---


@functools.cache
def _inert(version: int) -> Listed:
    """Return the characters that normalization leaves alone in a version and not in the newest."""
    if version < _OLDEST_PYTHON:
        return Listed(table("INERT"))
    return Listed(" ".join(f"{code:X}" for code, row in _new_forms().rows.items() if row.age > version))


class _FormRow(NamedTuple):
    """How normalization treats a character.

    Attributes:
        age: The version of Unicode that assigned it.
        combining: Its combining class.
        parts: Its decomposition, one step.
        compatible: True if only NFKC and NFKD decompose it.
    """

    age: int
    combining: int
    parts: str
    compatible: bool


class _NewForms(NamedTuple):
    """The characters newer than the oldest Python that normalization touches, and what pairs compose to."""

    rows: dict[int, _FormRow]
    composed: dict[str, str]
    listed: Listed


@functools.cache
def _new_forms() -> _NewForms:
    """Read the decompositions of characters that a later version of Unicode added."""
    rows: dict[int, _FormRow] = {}
    for line in table("FORMS").splitlines():
        code, age, combining, *parts = line.split()
        compatible = bool(parts) and parts[0].startswith("<")
        text = "".join(chr(int(part, 16)) for part in parts[compatible:])
        rows[int(code, 16)] = _FormRow(int(age), int(combining), text, compatible)
    composed = {
        row.parts: chr(code) for code, row in rows.items() if len(row.parts) == 2 and not row.compatible
    }
    return _NewForms(rows, composed, Listed(" ".join(f"{code:X}" for code in rows)))


def _is_safe(char: str) -> bool:
    """Return whether a character surely never combines with the one before: one of those that end a part of
    most texts soon."""
    return char < "\u0300" or "\u3400" <= char <= "\u9fff"


def _normalized(form: Form, text: str) -> str:
    """Return a text in a normalization form by the newest tables. The sequences around a listed character are
    normalized here, all else by the installed tables."""
    out, at = [], 0
    for place in _new_forms().listed.places(text):
        if place < at:
            continue
        start = place
        while start > at and not _is_safe(text[start]):
            start -= 1
        end = next((after for after in range(place, len(text)) if _is_safe(text[after])), len(text))
        out += [unicodedata.normalize(form, text[at:start]), _normalized_part(form, text[start:end])]
        at = end
    return "".join([*out, unicodedata.normalize(form, text[at:])])


def _normalized_part(form: Form, text: str) -> str:
    """Return a text in a normalization form, by the algorithm of Unicode's annex 15."""
    parts = [char for one in text for char in _decomposed(form, one)]
    at = 0
    while at < len(parts):
        end = at
        while end < len(parts) and combining(parts[end]):
            end += 1
        parts[at:end] = sorted(parts[at:end], key=combining)
        at = end + 1
    return _composed(parts) if form in ("NFC", "NFKC") else "".join(parts)


def _decomposed(form: Form, char: str) -> str:
    """Return the decomposition of a character that a form asks for: canonical for NFC and NFD, compatible for
    NFKC and NFKD.

    A character with a row in `_new_forms` is decomposed by the row, and its parts likewise; another one by
    `unicodedata`.
    """
    row = _new_forms().rows.get(ord(char))
    if row is None:
        return unicodedata.normalize("NFD" if form in ("NFC", "NFD") else "NFKD", char)
    if not row.parts or (row.compatible and form in ("NFC", "NFD")):
        return char
    return "".join(_decomposed(form, part) for part in row.parts)


def combining(char: str) -> int:
    """Return the combining class of a character, by the newest tables."""
    row = _new_forms().rows.get(ord(char))
    return unicodedata.combining(char) if row is None else row.combining


def _composed(parts: list[str]) -> str:
    """Return decomposed and ordered characters, composed."""
    out: list[str] = []
    starter, last = -1, 0
    for char in parts:
        number = combining(char)
        # A character composes with the starter if none between is a starter, or of its class or a higher one.
        if starter >= 0 and (last < number or (last == 0 and starter == len(out) - 1)):
            one = _pair_of(out[starter] + char)
            if one:
                out[starter] = one
                continue
        if number == 0:
            starter, last = len(out), 0
        else:
            last = number
        out.append(char)
    return "".join(out)


def _pair_of(two: str) -> str:
    """Return what two decomposed characters compose to; empty for nothing."""
    rows = _new_forms().rows
    if ord(two[0]) in rows or ord(two[1]) in rows:
        return _new_forms().composed.get(two, "")
    one = unicodedata.normalize("NFC", two)
    return one if len(one) == 1 else ""


def _new_or_inert(char: str, version: int) -> bool:
    """Return whether normalization by a version treats a character otherwise than by the newest."""
    if version and version < _OLDEST_PYTHON:
        return _inert(version).is_in(char)
    row = _new_forms().rows.get(ord(char))
    return row is not None and row.age > (version or _installed())


@functools.cache
def _marks(version: int) -> re.Pattern[str] | regex.Pattern[str]:
    """Return the pattern of runs of marks."""
    import regex  # knows newer characters than the tables of Python; not before the first paint

    if version == 0:
        return regex.compile(r"\p{M}+")
    if version < _OLDEST_REGEX:
        never, once = Listed(table("NO_MARKS")).pattern, Listed(table("ONCE_MARKS")).pattern
        return regex.compile(rf"(?:[\p{{M}}{once[1:]}(?<!{never}))+")
    new = Listed(table("NEW_MARKS")).pattern
    return regex.compile(rf"(?:\p{{M}}|{new})+")


# --- lower case ---


def _lower(text: str) -> str:
    return text.replace("Σ", "σ").lower()


@functools.cache
def _case_rows() -> list[tuple[str, int, str]]:
    rows = (line.split() for line in table("CASES").splitlines())
    return [(chr(int(code, 16)), int(age), chr(int(lower, 16))) for code, age, lower in rows]


@functools.cache
def _cased() -> Listed:
    return Listed(" ".join(f"{ord(letter):X}" for letter, _, _ in _case_rows()))


@functools.cache
def _lower_of(version: int) -> dict[str, str]:
    return {letter: lower for letter, age, lower in _case_rows() if age <= version}


# --- classes ---


class _ClassRow(NamedTuple):
    """Characters whose class differs between versions.

    Attributes:
        first: The first code point.
        last: The last code point.
        age: The version of Unicode from which on they have their class.
        known: A character of this class, which all versions know.
        before: One of the class that they had before.
    """

    first: int
    last: int
    age: int
    known: str
    before: str


@functools.cache
def class_rows() -> tuple[_ClassRow, ...]:
    """Return the characters whose class differs between the versions of `regex` and the owners."""
    rows = []
    for text in table("CLASSES").split():
        codes, age, known, before = text.split(":")
        rows.append(_ClassRow(*_pair(codes), int(age), chr(int(known, 16)), chr(int(before, 16))))
    return tuple(rows)


@functools.cache
def _classed() -> Listed:
    return Listed(" ".join(f"{row.first:X}-{row.last:X}" for row in class_rows()))


def stand_in(char: str, version: int) -> str:
    """Return the character that a pattern reads for a listed one."""
    code = ord(char)
    row = next(row for row in class_rows() if row.first <= code <= row.last)
    return row.known if row.age <= version else row.before


def _seen(text: str, version: int) -> str:
    if not version or text.isascii() or not _classed().is_in(text):
        return text
    return _classed().replaced(text, lambda char: stand_in(char, version))
