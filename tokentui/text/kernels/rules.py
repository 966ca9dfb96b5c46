"""Character classes, and rules for the border between two adjacent characters, for each split that has a
scanner.

Most borders of words follow from the classes of the two characters around them. A scanner looks these up, and
runs the whole rule of a word (`scan_words.word_end`) only where the table has ASK. Words are found from left
to right, so an entry has to hold where the word of the left character starts at a true border and every pair
since then has JOIN.

Splits are patterns of `regex`, whose Unicode tables decide which characters are letters. So the table of
classes is computed by matching the patterns of the classes against every code point.
The package ships the tables of one version of `regex`. Another version takes the same tables if its classes
agree with them, which takes about 20 milliseconds to check; otherwise they are made when they are first
needed, in about a tenth of a second.
"""

from __future__ import annotations

import binascii
import functools
import importlib.util
import json
import os
import re
import zlib
from array import array
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tokentui.core.native import FOLDER, Int64s, Uint8s, Uint16s
from tokentui.recipe import Recipe
from tokentui.text import cuts
from tokentui.text.normalize import BERT_DROPPED, BERT_IDEOGRAPHS, BERT_PUNCTUATION, BERT_SPACES, NORMALIZERS
from tokentui.text.split import SPACE_MARK, SPLITS, cut_pattern, splitter, splitter_of
from tokentui.text.unicode import class_rows, tables_of

SPACE, SPACING, NEWLINE, NUMBER, SIGN, APOSTROPHE, SLASH, MARK, EITHER, UPPER, LOWER = range(11)
"""The classes. Their order lets kernels test for several with one comparison: white space up to NEWLINE;
characters that are neither white space, digits nor letters from SIGN to MARK; letters from EITHER on; from
MARK to UPPER what `[upper]` of GPT-4o's pattern matches."""
START = 15
"""The class before the first character of a text."""
CLASSES = 16
"""The entry of a pair of classes is at `left * CLASSES + right`."""

_PATTERNS = {
    SPACING: r"\s",
    NEWLINE: r"[\r\n]",
    SPACE: " ",
    NUMBER: r"\p{N}",
    APOSTROPHE: "'",
    SLASH: "/",
    MARK: r"\p{M}",
    UPPER: r"[\p{Lu}\p{Lt}]",
    LOWER: r"\p{Ll}",
    EITHER: r"[\p{Lm}\p{Lo}]",
}
"""The pattern of each class. If two match a character, the later one counts. SIGN has the rest."""
_CODES = 0x110000
_PLANE = 0x10000
_BLOCK = 128
FOLDED = "sdmtlvre"
"""The letters of contractions."""


class ClassTable(NamedTuple):
    """A class for each code point, in two steps: `low[high[code >> 7] << 7 | code & 127]`.

    `high` holds 16-bit numbers in the machine's order, `low` a byte for each class; its first block is that
    of ASCII.
    """

    high: bytes
    low: bytes


@functools.cache
def _codes() -> str:
    """Every code point in order, at the place of its number. Kept, since each table searches it: 4.3 MB."""
    return "".join(map(_plane, range(_CODES // _PLANE)))


def _plane(number: int) -> str:
    """Return the code points of a plane, in order."""
    codes = bytearray(4 * _PLANE)
    codes[0::4] = bytes(range(256)) * 256
    codes[1::4] = b"".join([bytes((byte,)) * 256 for byte in range(256)])
    codes[2::4] = bytes((number,)) * _PLANE
    return codes.decode("utf-32-le", "surrogatepass")


@functools.cache
def _shipped() -> dict[str, Any]:
    """Return the shipped tables; none if they are damaged or differ from the installed `regex`."""
    try:
        with open(os.path.join(FOLDER, "classes.json"), "rb") as file:
            content = json.loads(file.read())
        tables = {name: ClassTable(*map(_unpacked, parts)) for name, parts in content["tables"].items()}
        folds = tuple((int(code), int(letter)) for code, letter in content["folds"])
        if any(len(table.high) != 2 * (_CODES // _BLOCK) for table in tables.values()):
            return {}
        if content["regex"] != _regex_version():
            runs, letters = Runs(*map(_unpacked, content["runs"])), tables["letters"]
            if content["checksum"] != _checksum(letters) or not agrees(runs, folds):
                return {}
        return {**tables, "folds": folds}
    except (OSError, ValueError, TypeError, KeyError, IndexError, zlib.error, RecursionError):
        return {}


_CHECKED_PLANES = 0, 1, 2, 3, 14
"""The planes that `agrees` reads. Unicode assigns nothing in the others, except for private use."""


class Runs(NamedTuple):
    """The classes of a table in `_CHECKED_PLANES`, with those of `_MERGED` merged, run by run.

    Attributes:
        classes: A byte for the class of each run.
        lengths: The code points of each run, as 32-bit numbers in the machine's order.
    """

    classes: bytes
    lengths: bytes


def runs_of(table: ClassTable) -> Runs:
    """Return the runs of `letters_table`."""
    high, blocks = memoryview(table.high).cast("H"), _PLANE // _BLOCK
    rows = [row for plane in _CHECKED_PLANES for row in high[plane * blocks : (plane + 1) * blocks]]
    classes = b"".join([table.low[row * _BLOCK : (row + 1) * _BLOCK] for row in rows]).translate(_MERGED)
    runs = [match.group() for match in re.finditer(rb"(?s)(.)\1*", classes)]
    return Runs(bytes(run[0] for run in runs), array("I", map(len, runs)).tobytes())


def _checksum(table: ClassTable) -> int:
    return zlib.crc32(table.low, zlib.crc32(table.high))


def agrees(runs: Runs, folds: Sequence[tuple[int, int]]) -> bool:
    """Return whether the installed `regex` gives the classes of `letters_table`, by its runs, and these
    `folds`.

    Borders of classes would not do: a new version of Unicode assigns characters in the middle of a gap. So
    every code point of `_CHECKED_PLANES` is checked, which takes about 10 milliseconds.
    """
    import regex

    text, start = "".join(map(_plane, _CHECKED_PLANES)), 0
    members: dict[int, list[str]] = {name: [] for name in _EXCLUSIVE}
    for name, length in zip(runs.classes, memoryview(runs.lengths).cast("I"), strict=True):
        if name not in members:
            return False  # a class that no pattern gives
        members[name].append(text[start : start + length])
        start += length
    if start != len(text):
        return False
    texts = {name: "".join(parts) for name, parts in members.items()}
    signs = texts.pop(SIGN)
    if regex.search(r"\s", signs) or not regex.fullmatch(r"(?:\p{C}++|\p{P}++|\p{S}++)*+", signs):
        return False
    if not all(regex.fullmatch(f"{_EXCLUSIVE[name]}+", text) for name, text in texts.items()):
        return False
    cased = texts[UPPER] + texts[LOWER]
    letters = {ord(letter): regex.findall(f"(?i:{letter})", cased) for letter in FOLDED}
    return list(folds) == [
        (ord(match), letter)
        for letter, matches in letters.items()
        for match in matches
        if not match.isascii()
    ]


_EXCLUSIVE = {
    SPACING: r"\s", NUMBER: r"\p{N}", SIGN: r"[\p{C}\p{P}\p{S}]", MARK: r"\p{M}",
    UPPER: r"[\p{Lu}\p{Lt}]", LOWER: r"\p{Ll}", EITHER: r"[\p{Lm}\p{Lo}]",
}
"""Patterns of the classes, which are disjoint but for white space that is a control character: SPACING.
SPACING includes the other white space, SIGN includes APOSTROPHE and SLASH."""
_MERGED = bytes(
    SPACING if name in (SPACE, NEWLINE) else SIGN if name in (APOSTROPHE, SLASH) else name
    for name in range(256)
)
"""Translates classes to those of `_EXCLUSIVE`."""


@functools.cache
def _regex_version() -> str:
    """Return the version of `regex`, by the folder that its installation leaves next to it.

    Imports it only if there is no such folder: that takes longer than to count a short text.
    """
    spec = importlib.util.find_spec("regex")
    for place in (spec and spec.submodule_search_locations) or ():
        beside = os.listdir(os.path.dirname(place))
        named = [name for name in beside if name.startswith("regex-") and name.endswith(".dist-info")]
        if len(named) == 1:
            return named[0].removeprefix("regex-").removesuffix(".dist-info")
    import regex

    return str(regex.__version__)


def as_json() -> str:
    """Make all tables with the installed `regex`. Return them as `classes.json` stores them."""
    _shipped.cache_clear()
    tables = {name: make() for name, make in _TABLES.items()}
    return json.dumps({
        "regex": _regex_version(), "folds": _folds(),
        "tables": {name: list(map(_packed, table)) for name, table in tables.items()},
        "runs": list(map(_packed, runs_of(tables["letters"]))), "checksum": _checksum(tables["letters"]),
    })


def _packed(part: bytes) -> str:
    return binascii.b2a_base64(zlib.compress(part, 9), newline=False).decode()


def _unpacked(text: str) -> bytes:
    return zlib.decompress(binascii.a2b_base64(text))


def letters_table() -> ClassTable:
    """Return the classes that GPT-2's pattern and its children ask for."""
    return _table("letters")


def bert_table() -> ClassTable:
    """Return BERT's classes: SPACE, SIGN for its punctuation, LOWER for all else."""
    return _table("bert")


def bert_runs_table() -> ClassTable:
    """Return the table of BERT's runs: SPACE for characters that normalization turns into a space, SIGN for
    ASCII punctuation, which normalization keeps, and for ideographs, around which it puts spaces; LOWER for
    all else, including white space that BERT drops.
    """
    return _table("bert-runs")


def spaced_table() -> ClassTable:
    """Return the table of sentencepiece's runs: SPACE for characters that normalization turns into a space,
    LOWER for all else."""
    return _table("spaced-runs")


def space_table() -> ClassTable:
    """Return the table with SPACE for U+0020, and LOWER for all else."""
    return _table("space")


@functools.cache
def white_table(name: str) -> ClassTable:
    """Return the table of a name in `WHITE`: SPACE for its characters, SIGN for other printable ASCII, and
    LOWER for all else."""
    classes = bytearray([LOWER]) * _CODES
    classes[33:127] = bytes([SIGN]) * 94
    for character in WHITE[name]:
        classes[ord(character)] = SPACE
    return _folded(classes)


def with_classes(table: ClassTable, unicode: str) -> ClassTable:
    """Return a table of `regex` with the classes of the Unicode tables of a name: those of the stand-ins."""
    version = tables_of(unicode).classes
    high, low = array("H", table.high), bytearray(table.low)
    shared = len(low) // _BLOCK

    def class_of(code: int) -> int:
        return low[high[code // _BLOCK] * _BLOCK + code % _BLOCK]

    for row in class_rows() if version else ():
        name = class_of(ord(row.known if row.age <= version else row.before))
        if class_of(row.first) == name == class_of(row.last):
            continue
        for block in range(row.first // _BLOCK, row.last // _BLOCK + 1):
            at = high[block] * _BLOCK
            if high[block] < shared:
                low += low[at : at + _BLOCK]
                at, high[block] = len(low) - _BLOCK, len(low) // _BLOCK - 1
            start = max(row.first - block * _BLOCK, 0)
            stop = min(row.last - block * _BLOCK + 1, _BLOCK)
            low[at + start : at + stop] = bytes([name]) * (stop - start)
    return ClassTable(high.tobytes(), bytes(low))


def folds() -> tuple[tuple[int, int], ...]:
    """Return the letters outside ASCII that fold to a letter of a contraction.

    Each is (code point, lowercase ASCII letter). They count where a split ignores case.
    """
    found: tuple[tuple[int, int], ...] = _shipped().get("folds") or _folds()
    return found


@functools.cache
def _table(name: str) -> ClassTable:
    found: ClassTable = _shipped().get(name) or _TABLES[name]()
    return found


def _letters() -> ClassTable:
    """Compute the classes of the patterns of GPT-2 and those after it, by the installed `regex`."""
    import regex  # not if the shipped tables are used

    classes = bytearray([SIGN]) * _CODES
    patterns = [(name, regex.compile(f"{pattern}+")) for name, pattern in _PATTERNS.items()]
    empty = regex.compile(r"[^\s\p{L}\p{M}\p{N}'/]+")
    for first in range(0, _CODES, _PLANE):
        if empty.fullmatch(_codes(), first, first + _PLANE):
            continue  # a plane without letters, digits and white space: SIGN throughout
        for name, one in patterns:
            _fill(classes, one, name, first, first + _PLANE)
    return _folded(classes)


def _bert_words() -> ClassTable:
    classes = bytearray([LOWER]) * _CODES
    _fill(classes, re.compile(f"[{BERT_SPACES}]+"), SPACE)
    _fill(classes, re.compile(f"[{BERT_PUNCTUATION}]+"), SIGN)
    return _folded(classes)


def _runs(signs: bool) -> ClassTable:
    """Return a table of classes for runs: SPACE for characters that BERT's normalization turns into a space,
    SIGN for its ASCII punctuation and its ideographs if `signs`, LOWER for all else."""
    classes = bytearray([LOWER]) * _CODES
    spaces = re.compile(f"(?:(?![{BERT_DROPPED}])[{BERT_SPACES}]|[\t\n\r])+")
    _fill(classes, spaces, SPACE)
    if signs:
        _fill(classes, re.compile(f"[{BERT_PUNCTUATION}]+"), SIGN, 0, 0x80)
        _fill(classes, re.compile(f"[{BERT_IDEOGRAPHS}]+"), SIGN)
    return _folded(classes)


def _space() -> ClassTable:
    classes = bytearray([LOWER]) * _CODES
    classes[ord(" ")] = SPACE
    return _folded(classes)


_TABLES: dict[str, Callable[[], ClassTable]] = {
    "letters": _letters, "bert": _bert_words, "bert-runs": functools.partial(_runs, True),
    "spaced-runs": functools.partial(_runs, False), "space": _space,
}


@functools.cache
def _folds() -> tuple[tuple[int, int], ...]:
    """Return each character beyond ASCII that is a letter of a contraction without case, with that letter."""
    import regex

    return tuple(
        (ord(match.group()), ord(letter))
        for letter in FOLDED
        for match in regex.finditer(f"(?i:{letter})", _codes())
        if not match.group().isascii()
    )


def _fill(classes: bytearray, pattern: Any, name: int, first: int = 0, last: int = _CODES) -> None:
    """Set the class of the code points of a range that a pattern matches."""
    for match in pattern.finditer(_codes(), first, last):
        start, end = match.span()
        classes[start:end] = bytes([name]) * (end - start)


def _folded(classes: bytearray) -> ClassTable:
    """Return the table with each distinct block once."""
    blocks: dict[bytes, int] = {}
    high = [
        blocks.setdefault(bytes(classes[at : at + _BLOCK]), len(blocks)) for at in range(0, _CODES, _BLOCK)
    ]
    return ClassTable(array("H", high).tobytes(), b"".join(blocks))


# ---- rules

JOIN = 0
CUT = 1
"""A word ends here."""
ASK = CUT | 2
"""Run the rule of the whole word."""
DROP = 4
"""A flag of an entry: the run that starts here is no word, and is dropped."""

_SPACES = (SPACE, SPACING, NEWLINE)
_SIGNS = (SIGN, APOSTROPHE, SLASH, MARK)
_LETTERS = (EITHER, UPPER, LOWER)


def _gpt2(left: int, right: int) -> int:
    """Return what GPT-2's pattern does between two characters of these classes."""
    if left in _SPACES:
        if right in _SPACES:
            return ASK  # the last of a run stands alone or with what follows
        return JOIN if left == SPACE else CUT
    if left == APOSTROPHE and right in _LETTERS:
        return ASK  # a contraction, perhaps
    same = any(left in kind and right in kind for kind in (_LETTERS, _SIGNS, (NUMBER,)))
    return JOIN if same else CUT


def _gpt4(left: int, right: int) -> int:
    """Return what GPT-4's pattern does between two characters of these classes."""
    if left in _SPACES:
        if right in _SPACES:
            return JOIN if left == right == NEWLINE else ASK
        joins = right in _LETTERS if left == SPACING else right in _LETTERS + _SIGNS
        return JOIN if joins and left != NEWLINE else CUT
    if left in _SIGNS:
        if right in _LETTERS:
            return ASK  # a single sign begins their word; so does a contraction
        return JOIN if right in (*_SIGNS, NEWLINE) else CUT
    if left == NUMBER:
        return ASK if right == NUMBER else CUT  # by threes
    return JOIN if right in _LETTERS else CUT


def _qwen(left: int, right: int) -> int:
    return CUT if left == NUMBER else _gpt4(left, right)  # one digit at a time


def _gpt4o(left: int, right: int) -> int:
    """Return the entry of two classes for the split of GPT-4o: ASK where a contraction, case or a mark
    decides; the entry of `_gpt4` for all else."""
    if left in _LETTERS:
        if right == APOSTROPHE:
            return ASK  # a contraction belongs to its word
        if right == UPPER:
            return JOIN if left == UPPER else ASK if left == EITHER else CUT
        return JOIN if right in (*_LETTERS, MARK) else CUT
    if left == MARK:  # among letters, or the first of a word: it counts as one of them
        if right in (UPPER, APOSTROPHE):
            return ASK
        if right in (MARK, EITHER, LOWER):
            return JOIN
        return CUT
    if right == MARK and left != NEWLINE:
        return JOIN if left in (SPACE, SPACING) else CUT if left == NUMBER else ASK
    if left == NEWLINE and right == SLASH:
        return ASK  # it belongs to the line ends after signs
    return _gpt4(left, right)


def _whitespace(left: int, right: int) -> int:
    if (left in _SPACES) == (right in _SPACES):
        return JOIN
    return CUT | DROP if right in _SPACES else CUT


def _bert(left: int, right: int) -> int:
    if left == right and left != SIGN:
        return JOIN
    return CUT | DROP if right == SPACE else CUT


GPT2, GPT4, GPT4_TRAILING, GPT4O = range(4)
RUNS, SPACED = "bert-runs", "spaced-runs"
"""Names for the scanner that are no splits: the runs between the white space that BERT's normalization keeps.
With `RUNS`, each ASCII punctuation character and ideograph is a run of its own. With `SPACED`, the runs are
the words of sentencepiece without the ▁ in front."""
BEFORE_SPACES, BEFORE_WHITE = "before spaces", "before white space"
"""Names for the scanner that are no splits: the stretches that end after printable ASCII, before a space, or
before a space, tab or line end."""
WHITE = {BEFORE_SPACES: " ", BEFORE_WHITE: " \t\n\r"}
"""The characters that the second stretch of two begins with."""


def _after_printable(left: int, right: int) -> int:
    return CUT if left == SIGN and right == SPACE else JOIN


class Rule(NamedTuple):
    """A rule of `text.split.Split`.

    Attributes:
        pairs: Returns the entry for the border between characters of two classes.
        word: The rule of `word_end` for an entry with ASK. Splits that drop white space have no such entry.
        table: Returns the table of classes.
    """

    pairs: Callable[[int, int], int]
    word: int = GPT4
    table: Callable[[], ClassTable] = letters_table


RULES = {
    "gpt2": Rule(_gpt2, GPT2), "gpt4": Rule(_gpt4), "gpt4-trailing": Rule(_gpt4, GPT4_TRAILING),
    "qwen": Rule(_qwen), "gpt4o": Rule(_gpt4o, GPT4O), "whitespace": Rule(_whitespace),
    "bert": Rule(_bert, table=bert_table),
    "space": Rule(_bert, table=space_table),
    RUNS: Rule(_bert, table=bert_runs_table), SPACED: Rule(_bert, table=spaced_table),
    **{name: Rule(_after_printable, table=functools.partial(white_table, name)) for name in WHITE},
}
"""The rules by the names that records of splits give."""


def rule_of(split: str) -> str:
    """Return the name of the rule for a split, or for what is no split; empty for a split without one."""
    return split if split in (RUNS, SPACED, *WHITE) else SPLITS.of(split).rule


STRETCHES = "stretches of "
"""A prefix for the name of a split without a rule. The scanner finds the stretches between places where the
split always cuts, and the split cuts each of them."""
_FAR = 14
"""The class of characters next to which no stretch ends."""


@functools.cache
def stretches(split: str, unicode: str) -> tuple[ClassTable, bytes] | None:
    """Return the tables of the stretches of a split: the classes of characters, and an entry for each pair of
    classes.

    The pattern of the cuts of a split decides by two characters. Characters that the same parts of it match
    get one class, and one character of each class is tested. Characters beyond the first plane get a class of
    their own, next to which no stretch ends. The classes are those of the Unicode tables of a name.

    Returns:
        The tables; None for a split without cuts, or with too many classes.
    """
    import regex

    cut, pattern = splitter(split).cut, cut_pattern(split)
    if cut is None:
        return None
    compiled: Callable[[str], Any] = re.compile if SPLITS.of(split).plain else regex.compile
    text, classes = splitter(split, unicode).tables.seen(_codes()[:_PLANE]), bytes(_PLANE)
    for place in cuts.places(pattern):
        fits = bytearray(_PLANE)
        for match in compiled(f"(?:{place})+").finditer(text):
            start, end = match.span()
            fits[start:end] = b"\1" * (end - start)
        both = 2 * int.from_bytes(classes, "little") + int.from_bytes(fits, "little")
        classes = both.to_bytes(_PLANE, "little")
        found = sorted(set(classes), key=classes.index)
        if len(found) > 127:
            return None
        classes = classes.translate(bytes(found.index(n) if n in found else 0 for n in range(256)))
    ones = [text[classes.index(n)] for n in range(len(set(classes)))]
    # A cut after the second character depends on a third one, which no table of two characters knows.
    rows = [[_cuts_after_first(cut, one + other) for other in ones] for one in ones]
    kinds: dict[object, int] = {}  # classes that cut alike are one
    new = [
        min(kinds.setdefault((tuple(row), tuple(other[n] for other in rows)), len(kinds)), _FAR)
        for n, row in enumerate(rows)
    ]
    if not any(map(any, rows)):
        return None
    table = bytearray([_FAR]) * _CODES
    table[:_PLANE] = classes.translate(bytes(new).ljust(256, b"\0"))
    borders = bytearray(CLASSES * CLASSES)
    borders[START * CLASSES :] = bytes([CUT]) * CLASSES
    for n, row in enumerate(rows):
        for m, cuts_here in enumerate(row):
            if max(new[n], new[m]) < _FAR:
                borders[new[n] * CLASSES + new[m]] = CUT if cuts_here else JOIN
    return _folded(table), bytes(borders)


def _cuts_after_first(cut: Any, two: str) -> bool:
    """Return whether a pattern of cuts allows one between two characters."""
    match = cut.match(two)
    return match is not None and match.end() == 1


def is_shaped(recipe: Recipe) -> bool:
    """Return whether symbols, or a space that is added or left out in front, change the words of a text."""
    return bool(recipe.symbols) or recipe.prefix_space is not None


def scanned(recipe: Recipe) -> str:
    """Return the name by which kernels scan the text of a recipe; empty if plain Python splits it.

    That is the split if it has a rule and nothing changes the text; `RUNS` for BERT's normalization and
    split; `SPACED` for sentencepiece's; `STRETCHES` and the split if only a space is added in front of a
    document.

    `SPACED` normalizes and splits each run of a text by itself. This is exact: `nmt-nfkc` turns the white
    space that BERT's normalization keeps into single spaces, and drops those at both ends. None of its rules
    begins with a space. `metaspace` puts a ▁ before a text as it does for each space. Lower-casing makes no
    space. No symbol contains a space, so none crosses a border of runs.
    """
    rule, marks_spaces = rule_of(recipe.split), SPLITS.of(recipe.split).marks_spaces
    if recipe.normalize:
        if recipe.normalize in (("bert-uncased",), ("bert-cased",)) and rule == "bert":
            return "" if is_shaped(recipe) else RUNS
        first, *others = recipe.normalize
        kept = all(NORMALIZERS.of(step).keeps_words for step in others) and not any(
            mark in name for name in recipe.symbols for mark in (" ", SPACE_MARK)
        )
        return SPACED if first == "nmt-nfkc" and kept and marks_spaces and recipe.prefix_space is None else ""
    if rule and not is_shaped(recipe):
        return recipe.split
    cut = not recipe.symbols and splitter_of(recipe).cut
    return STRETCHES + recipe.split if cut and stretches(recipe.split, recipe.unicode) else ""


def without_scanner(recipe: Recipe) -> str:
    """Return the value of a recipe for which there is no scanner, as `axis=value`; empty if kernels count the
    words, or a document is one word."""
    record = SPLITS.of(recipe.split)
    if scanned(recipe) or (record.keeps_spaces and not record.cut):
        return ""
    shaping = "symbols" if recipe.symbols else "prefix_space"
    word = shaping if is_shaped(recipe) else "normalize" if recipe.normalize else "split"
    return f"{word}={recipe.axis(word)}"


class Split(NamedTuple):
    """The tables of a split.

    Attributes:
        rule: The rule of `word_end` for entries with ASK.
        folds: Letters of contractions outside ASCII, as `folds` returns them; none if case counts.
        high: See `ClassTable`.
        low: See `ClassTable`.
        pairs: The entry of each pair of classes, see `pairs`.
    """

    rule: int
    folds: Int64s
    high: Uint16s
    low: Uint8s
    pairs: Uint8s


@functools.cache
def pairs(split: str) -> bytes:
    """Return the entry of each pair of classes for a split, at `left * CLASSES + right`.

    The row of START cuts before each class, and drops white space where the split does.
    """
    rule = RULES[rule_of(split)].pairs
    drops = {SPACE, SPACING, NEWLINE} if rule in (_whitespace, _bert) else set()
    return bytes(
        (CUT | DROP if right in drops else CUT) if left == START else rule(left, right)
        for left in range(CLASSES)
        for right in range(CLASSES)
    )
