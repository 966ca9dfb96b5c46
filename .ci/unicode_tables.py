"""Write `tokentui/text/unicode.json`: the characters that versions of Unicode treat differently.

`make unicode` runs it. It needs Python 3.11, whose tables are the oldest, the newest `regex`, and the
libraries of the owners. It fetches one `unicodedata2` for each later version of Unicode into a temporary
folder.
"""

from __future__ import annotations

import bisect
import itertools
import json
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import regex
from tokenizers import normalizers

VERSIONS = {15: "15.0.0", 16: "16.0.0", 17: "17.0.0", 18: "18.0.0"}
"""The release of `unicodedata2` for each version of Unicode after that of Python 3.11."""
OLDEST, CLASSES, NEWEST = 14, 16, 18
"""The versions of the oldest Python, of the oldest `regex`, and of the newest tables."""
TARGET = Path(__file__).parents[1] / "tokentui" / "text" / "unicode.json"
CODES = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]

_FACTS = """
import json, sys
sys.path.insert(0, sys.argv[1])
import unicodedata2 as u
chars = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
print(json.dumps([
    u.unidata_version, [u.category(c) for c in chars],
    {ord(c): u.combining(c) for c in chars if u.combining(c)},
    {ord(c): u.decomposition(c) for c in chars if u.decomposition(c)},
    [ord(c) for c in chars if u.normalize("NFC", c) != c],
]))
"""


class Facts(NamedTuple):
    """One version of Unicode: categories, combining classes, decompositions, and what NFC changes."""

    categories: dict[int, str]
    combining: dict[int, int]
    decompositions: dict[int, str]
    excluded: frozenset[int]


def facts_of(release: str, folder: str) -> Facts:
    """Return the facts of a release of `unicodedata2`."""
    place = f"{folder}/{release}"
    subprocess.run(["uv", "pip", "install", "-q", "--python", sys.executable, "--target", place,
                    f"unicodedata2=={release}"], check=True)
    said = subprocess.run([sys.executable, "-c", _FACTS, place], check=True, capture_output=True, text=True)
    version, categories, combining, decompositions, excluded = json.loads(said.stdout)
    assert version == release, (version, release)
    return Facts(dict(zip(CODES, categories, strict=True)), {int(code): n for code, n in combining.items()},
                 {int(code): text for code, text in decompositions.items()}, frozenset(excluded))


def ranges(codes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of each run of code points."""
    for _, run in itertools.groupby(enumerate(sorted(codes)), lambda pair: pair[1] - pair[0]):
        row = [code for _, code in run]
        yield row[0], row[-1]


def shown(first: int, last: int) -> str:
    return f"{first:X}" if first == last else f"{first:X}-{last:X}"


def listed(codes: Iterable[int]) -> list[str]:
    return [shown(*pair) for pair in ranges(codes)]


def ages(facts: dict[int, Facts]) -> dict[int, int]:
    """Return the version that assigned each code point that Python 3.11 does not know."""
    return {
        code: next(version for version in VERSIONS if facts[version].categories[code] != "Cn")
        for code in CODES
        if unicodedata.category(chr(code)) == "Cn" and facts[NEWEST].categories[code] != "Cn"
    }


# --- normalization ---


def composites(newest: Facts) -> dict[int, list[int]]:
    """Return the two parts of each character that they compose to."""
    parts = {code: [int(part, 16) for part in text.split()] for code, text in newest.decompositions.items()
             if not text.startswith("<")}
    return {code: row for code, row in parts.items() if len(row) == 2 and code not in newest.excluded}


def inert(newest: Facts) -> set[int]:
    """Return the characters that Unicode composes, decomposes or reorders, and tokenizers does not."""
    nfd, nfc, nfkd = normalizers.NFD(), normalizers.NFC(), normalizers.NFKD()
    pairs = composites(newest)
    found = {code for code in newest.decompositions if nfkd.normalize_str(chr(code)) == chr(code)}
    for code, number in newest.combining.items():
        before, after = ("", "\u0334") if number > 1 else ("\u0345", "")
        text = f"a{before}{chr(code)}{after}"
        if code not in newest.decompositions and nfd.normalize_str(text) == text:
            found.add(code)
    for code, row in pairs.items():
        if code in found:
            text = "".join(map(chr, row))
            assert nfc.normalize_str(text) == text
            # Characters of Unicode 9 never begin to compose: the other parts are newer.
            found |= {part for part in row if part in AGES or part in LATER}
    return found


LATER = {0x11935, 0x11930}
"""Parts of a composition that are newer than the tables of tokenizers, and older than Python 3.11's."""


def form_rows(newest: Facts) -> list[str]:
    """Return `CODE AGE CLASS DECOMPOSITION` for the characters newer than Python 3.11 that normalization
    touches."""
    parts = {part for row in composites(newest).values() for part in row}
    return [
        f"{code:X} {AGES[code]} {newest.combining.get(code, 0)} {newest.decompositions.get(code, '')}".strip()
        for code in sorted(AGES)
        if code in newest.combining or code in newest.decompositions or code in parts
    ]


# --- cases ---


def case_rows(newest: Facts) -> list[str]:
    """Return `CODE AGE LOWER` for the upper-case letters newer than Python 3.11."""
    lower = normalizers.Lowercase()
    cased = "".join(chr(code) for code in CODES if newest.categories[code] == "Ll")
    rows = []
    for code in sorted(code for code in AGES if newest.categories[code] in ("Lu", "Lt")):
        found = regex.findall(f"(?i:{chr(code)})", cased)
        if len(found) == 1:
            theirs = lower.normalize_str(chr(code))
            assert theirs == (found[0] if AGES[code] <= 17 else chr(code)), hex(code)
            rows.append(f"{code:X} {AGES[code]} {ord(found[0]):X}")
    return rows


# --- classes ---

_FLAGS = ("Alphabetic", "Lowercase", "Uppercase", "Extended_Pictographic", "Ideographic", "Diacritic",
          "Extender", "ID_Continue", "Terminal_Punctuation", "Sentence_Terminal", "Math", "Emoji")
_BREAKS = ("CN", "EX", "PP", "SM", "V", "T", "L", "LV", "LVT", "XX")


def properties(codes: list[int]) -> dict[int, tuple[object, ...]]:
    """Return what patterns ask for: category, script, place in a grapheme, and flags."""
    text = "".join(map(chr, codes))
    scripts = sorted(set(regex._regex_core.PROPERTIES["SCRIPT"][1].values()))
    names = {number: name for name, number in regex._regex_core.PROPERTIES["SCRIPT"][1].items()}

    def matched(pattern: str) -> set[str]:
        return set(regex.findall(pattern, text))

    script_of = {char: number for number in scripts for char in matched(rf"\p{{Script={names[number]}}}")}
    break_of = {char: name for name in _BREAKS for char in matched(rf"\p{{GCB={name}}}")}
    links = ("Linker", "Consonant", "Extend")
    linked = {char: name for name in links for char in matched(rf"\p{{InCB={name}}}")}
    flags = [matched(rf"\p{{{name}}}") for name in _FLAGS]
    return {
        code: (break_of.get(char), linked.get(char), script_of.get(char), *(char in flag for flag in flags))
        for code, char in zip(codes, text, strict=True)
    }


class Row(NamedTuple):
    """Characters whose class differs between versions, with their stand-ins."""

    first: int
    last: int
    age: int
    known: int
    unknown: int


def class_rows(facts: dict[int, Facts]) -> list[Row]:
    """Return the characters that are newer than the oldest `regex`, or changed, with their stand-ins.

    The stand-in of a known character is the nearest one of the oldest tables with the same properties; that
    of an unknown one is the nearest code point that no version assigns.
    """
    old, newest = facts[CLASSES].categories, facts[NEWEST].categories
    listed_ = [code for code in CODES if old[code] != newest[code]]
    # A stand-in has no other case, so that no pattern under (?i) names it by a letter of its own.
    stable = [code for code in CODES if old[code] == newest[code] and old[code] not in ("Cn", "Co", "Cc")]
    told = properties(listed_ + stable)
    pools: dict[tuple[object, ...], list[int]] = {}
    for code in stable:
        if newest[code] in ("Lu", "Ll") and chr(code).swapcase() != chr(code):
            continue
        for key in keys_of(newest[code], told[code], code):
            pools.setdefault(key, []).append(code)
    free = [code for code in CODES if newest[code] == "Cn" and code & 0xFFFE != 0xFFFE]
    rows: list[Row] = []
    for code in listed_:
        keys = keys_of(newest[code], told[code])
        known = nearest(next(pools[key] for key in keys if key in pools), code)
        unknown = nearest(free, code)
        age = AGES.get(code, 0)
        if not age:  # a changed class: the second stand-in is one of the old class
            age, unknown = next(version for version in VERSIONS if version > CLASSES
                                and facts[version].categories[code] == newest[code]), CHANGED[code]
        last = rows[-1] if rows else None
        if last and last.last == code - 1 and last.age == age and same(told, newest, last.first, code):
            rows[-1] = last._replace(last=code)
        else:
            rows.append(Row(code, code, age, known, unknown))
    return rows


def class_row(row: Row) -> str:
    """Return a row as the file has it."""
    return f"{shown(row.first, row.last)}:{row.age}:{row.known:X}:{row.unknown:X}"


def keys_of(category: str, told: tuple[object, ...], code: int | None = None) -> list[tuple[object, ...]]:
    """Return what a stand-in should share, first the most. A character of a script that patterns name stands
    in for its script alone."""
    broken, linked, script, *flags = told
    keys: list[tuple[object, ...]] = [
        (category, broken, linked, script, *flags), (category, broken, linked, script), (category, script),
    ]
    if code is None or not regex.match(_NAMED, chr(code)):
        keys += [(category, broken, linked, "any", *flags), (category, broken, "any"), (category, "any")]
    return keys


NAMED = ("Han", "Hiragana", "Katakana", "Hangul", "Bopomofo", "Latin", "Greek", "Cyrillic", "Arabic",
         "Hebrew", "Thai", "Devanagari", "Bengali", "Tamil", "Telugu", "Armenian", "Georgian", "Ethiopic")
"""Scripts that patterns name."""
_NAMED = "[" + "".join(f"\\p{{{name}}}" for name in NAMED) + "]"
CHANGED = {0x295: 0x293}
"""A stand-in of the old class for each character whose class changed."""


def same(told: dict[int, tuple[object, ...]], categories: dict[int, str], one: int, other: int) -> bool:
    return categories[one] == categories[other] and told[one] == told[other]


def nearest(codes: list[int], code: int) -> int:
    """Return the code point of a sorted list that is nearest to another one."""
    at = bisect.bisect(codes, code)
    return min(codes[max(at - 1, 0) : at + 1], key=lambda other: (abs(other - code), other))


# --- the file ---


def main(write: Callable[[str], object] = TARGET.write_text) -> None:
    """Compute the tables and write the file."""
    global AGES
    assert unicodedata.unidata_version.startswith(f"{OLDEST}."), "run it with Python 3.11"
    with tempfile.TemporaryDirectory() as folder:
        facts = {version: facts_of(release, folder) for version, release in VERSIONS.items()}
    newest = facts[NEWEST]
    AGES = ages(facts)
    marks = {code for code in CODES if newest.categories[code][0] == "M"}
    strip = normalizers.StripAccents()
    stripped = {code for code in CODES if strip.normalize_str(chr(code)) == ""}
    rows = class_rows(facts)
    tables = {
        "INERT": listed(inert(newest)),
        "NO_MARKS": listed(marks - stripped),
        "ONCE_MARKS": listed(stripped - marks),
        "NEW_MARKS": listed(code for code in marks if AGES.get(code, 0) > CLASSES),
        "FORMS": form_rows(newest),
        "CASES": case_rows(newest),
        "CLASSES": list(map(class_row, rows)),
    }
    write(json.dumps(tables, indent=0) + "\n")


AGES: dict[int, int] = {}

if __name__ == "__main__":
    main()
