"""What a student hands in: merges, a vocabulary, ids of texts, or a Python file. Nothing of it is trusted.

Merges may be pairs of texts, of GPT-2's letters, of bytes or of ids. Ids are read in the numbering with
which most merges agree with the exercise.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokentui.core.errors import TokentuiError, shown, shown_path
from tokentui.core.files import read_regular
from tokentui.core.safetext import to_bytes
from tokentui.core.sequences import common_length
from tokentui.formats.tokens import LETTERS
from tokentui.learn.bases import byte_order_of_gpt2

MOST_BYTES = 32 << 20
MOST_MERGES = 200_000
_SHAPES = "hand in merges (merges.txt, JSON or a .model of minbpe), a vocabulary, ids, or a .py file"
_BYTE_OF = {letter: byte for byte, letter in enumerate(LETTERS)}
_PAIR_OF_IDS = re.compile(r"\s*(\d{1,9})[\s,]+(\d{1,9})\s*")

_LITERAL = r"""(b?'(?:[^'\\]|\\.)*'|b?"(?:[^"\\]|\\.)*")"""
_LITERALS = re.compile(rf"{_LITERAL}[\s,]+{_LITERAL}")

Pair = tuple[bytes, bytes]


@dataclass(frozen=True)
class Merges:
    """Merges as they were handed in: the two parts of each, and the id that it makes if it is known.

    Attributes:
        rows: The parts, each as bytes, text or id.
        ids: The id that each merge makes; None if the file does not say.
    """

    rows: tuple[tuple[Any, Any], ...]
    ids: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Submission:
    """What was handed in. Each part is None if it was not.

    Attributes:
        merges: The merges.
        vocab: The token of each id.
        ids: Ids of the texts of the exercise, in their order.
        tokens: Tokens of the texts, in their order.
        code: The text of a Python file.
    """

    merges: Merges | None = None
    vocab: Mapping[int, Any] | None = None
    ids: tuple[tuple[int, ...], ...] | None = None
    tokens: tuple[tuple[Any, ...], ...] | None = None
    code: str | None = None


def read_submission(path: str, *, allows_code: bool = True) -> Submission:
    """Read a file that a student hands in. Its content determines what it is; only Python goes by the name.

    Raises:
        TokentuiError: It cannot be read, is no such file, or is Python and code is not allowed.
    """
    data, where = read_regular(path, "submission", MOST_BYTES + 1), shown_path(path)
    if len(data) > MOST_BYTES:
        raise TokentuiError("too large for a submission", where, "at most 32 MiB")
    if data.startswith((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")) or path.endswith((".pkl",
        ".pickle")):
        what = "a pickle is not read: it can run code when it is opened"
        raise TokentuiError(what, where, "save the merges as JSON or as text")
    try:
        text = data.decode("utf-8-sig", "strict")
    except UnicodeDecodeError as error:
        raise TokentuiError(f"not UTF-8 at byte {error.start}", where, _SHAPES) from None
    if path.endswith(".py"):
        if not allows_code:
            raise TokentuiError("a Python file, and --no-code is given", where, "hand in merges instead")
        return Submission(code=text)
    if not text.strip():
        raise TokentuiError("the file is empty", where, _SHAPES)
    if text.startswith("minbpe v"):
        return Submission(merges=_minbpe(text, where))
    if text.lstrip()[:1] in "[{":
        try:
            value = json.loads(text, parse_int=_small)
        except (ValueError, RecursionError):
            value = None
        if value is not None:
            return of_value(value, where)
    return Submission(merges=_lines(text, where))


def of_value(value: Any, where: str) -> Submission:
    """Return the submission of a value: of JSON, or what a function returned.

    Raises:
        TokentuiError: The value has no form that is known.
    """
    if isinstance(value, Mapping):
        return _of_mapping(value, where)
    if not isinstance(value, list | tuple):
        raise TokentuiError(f"not merges: {shown(value)}", where, _SHAPES)
    rows = tuple(value)
    if len(rows) == 2 and isinstance(rows[0], Mapping) and isinstance(rows[1], list | tuple | Mapping):
        return _both(rows[0], rows[1], where)
    if len(rows) == 2 and isinstance(rows[1], Mapping) and isinstance(rows[0], list | tuple):
        return _both(rows[1], rows[0], where)
    if rows and all(type(row) is int for row in rows):
        return Submission(ids=(rows,))
    return Submission(merges=_merges(rows, where))


def _both(vocab: Mapping[Any, Any], merges: Any, where: str) -> Submission:
    if _holds_merges(vocab) and isinstance(merges, Mapping):
        vocab, merges = merges, vocab
    return Submission(merges=of_value(merges, where).merges, vocab=_vocabulary(vocab, where))


def _holds_merges(value: Mapping[Any, Any]) -> bool:
    return bool(value) and all(isinstance(key, tuple) and len(key) == 2 for key in value)


def _of_mapping(value: Mapping[Any, Any], where: str) -> Submission:
    """Read a submission from a mapping: merges with ids, named answers, or a vocabulary.

    A `model` in it is read in its place; keys that spell pairs of ids are read as pairs.
    """
    if isinstance(value.get("model"), Mapping):
        value = value["model"]
    if _holds_merges(value):
        ids = tuple(value.values())
        in_order = all(type(number) is int for number in ids)
        rows = sorted(value, key=value.__getitem__) if in_order else list(value)
        listed = _merges(rows, where)
        return Submission(merges=Merges(listed.rows, tuple(sorted(ids)) if in_order else None))
    if {"merges", "vocab", "ids", "tokens"}.intersection(value):
        merges = value.get("merges")
        vocab = value.get("vocab")
        return Submission(
            merges=None if merges is None else of_value(merges, where).merges if isinstance(merges, Mapping)
            else _merges(tuple(merges) if isinstance(merges, list | tuple) else (), where),
            vocab=_vocabulary(vocab, where) if isinstance(vocab, Mapping) else None,
            ids=_rows(value["ids"], int, where) if "ids" in value else None,
            tokens=_rows(value["tokens"], (str, bytes), where) if "tokens" in value else None,
        )
    keys = list(value)
    if keys and all(isinstance(key, str) and _PAIR_OF_IDS.fullmatch(key.strip("()[]")) for key in keys):
        pairs = [_PAIR_OF_IDS.fullmatch(key.strip("()[]")) for key in keys]
        rows = [(int(pair[1]), int(pair[2])) for pair in pairs if pair]
        return of_value(dict(zip(rows, value.values(), strict=True)), where)
    return Submission(vocab=_vocabulary(value, where))


def _rows(value: Any, kind: type | tuple[type, ...], where: str) -> tuple[tuple[Any, ...], ...]:
    """Return rows of ids or tokens; a single row may stand alone.

    Raises:
        TokentuiError: The value is not such a list.
    """
    if isinstance(value, list | tuple) and value and all(isinstance(item, kind) for item in value):
        value = [value]
    if not isinstance(value, list | tuple) or not all(
        isinstance(row, list | tuple) and all(isinstance(item, kind) and not isinstance(item,
            bool) for item in row)
        for row in value
    ):
        raise TokentuiError("not a list of rows, one for each text", where, "[[1, 2], [3]]")
    return tuple(map(tuple, value))


def _vocabulary(value: Mapping[Any, Any], where: str) -> dict[int, Any]:
    """Return the token of each id, from a mapping in either direction. A list of byte values is read as
    bytes.

    Raises:
        TokentuiError: An item does not map an id and a token.
    """
    items = list(value.items())
    if all(type(item) is int for _, item in items) and not all(type(key) is int for key, _ in items):
        items = [(item, key) for key, item in items]
    found: dict[int, Any] = {}
    for key, item in items:
        number = int(key) if isinstance(key, str) and key.isdecimal() and len(key) < 10 else key
        if isinstance(item, list | tuple) and all(type(byte) is int and 0 <= byte < 256 for byte in item):
            item = bytes(item)
        if type(number) is not int or not isinstance(item, str | bytes):
            raise TokentuiError("not a vocabulary: it maps no ids to tokens", where, _SHAPES)
        found[number] = item
    return found


def _merges(rows: Sequence[Any], where: str) -> Merges:
    """Read merges from pairs, lines, pairs with a made id, or triples of ids. The made ids are kept only if
    each row has one.

    Raises:
        TokentuiError: A row has another form, or there are more than `MOST_MERGES`.
    """
    if len(rows) > MOST_MERGES:
        raise TokentuiError(f"more than {MOST_MERGES:,} merges", where,
            "hand in those that the exercise asks for")
    made: list[int] = []
    found: list[tuple[Any, Any]] = []
    for number, row in enumerate(rows, 1):
        if isinstance(row, str):
            row = row.split(" ")
        if isinstance(row, list | tuple) and len(row) == 2 and isinstance(row[0],
            list | tuple) and type(row[1]) is int:
            made.append(row[1])
            row = row[0]
        elif isinstance(row, list | tuple) and len(row) == 3 and all(type(part) is int for part in row):
            made.append(row[2])
            row = row[:2]
        pair = isinstance(row, list | tuple) and len(row) == 2 and all(
            isinstance(part, str | bytes | int) and not isinstance(part, bool) for part in row
        )
        if not pair:
            raise TokentuiError(f"not a pair: {shown(row)}", f"{where}: merge {number}", _SHAPES)
        found.append((row[0], row[1]))
    return Merges(tuple(found), tuple(made) if len(made) == len(found) and made else None)


def _minbpe(text: str, where: str) -> Merges:
    """Read the merges of a .model file of minbpe, after its special tokens.

    Raises:
        TokentuiError: The text is not such a file.
    """
    lines = text.split("\n")
    try:
        start = 3 + int(lines[2])
        rows = [tuple(map(int, line.split())) for line in lines[start:] if line.strip()]
    except (ValueError, IndexError):
        raise TokentuiError("not a .model of minbpe", where, "save it with tokenizer.save") from None
    return _merges(rows, where)


def _lines(text: str, where: str) -> Merges:
    """Read one merge a line. Blank lines are skipped, and so is a first line that starts with `#` and is not
    a pair.

    Raises:
        TokentuiError: A line is not a pair; the error names its number.
    """
    rows: list[Any] = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.removesuffix("\r")
        if not line.strip() or ((number == 1 and line.startswith(("#version",
            "#"))) and line.count(" ") != 1):
            continue
        if number == 1 and line.startswith("#version"):
            continue
        rows.append(_line(line, f"{where}:{number}"))
    return _merges(rows, where)


def _line(line: str, where: str) -> Any:
    """Return the pair of a line: two tokens with a space or a tab between them, two ids, or in Python.

    Raises:
        TokentuiError: The line is not a pair.
    """
    bare = line.strip().rstrip(",")
    if bare[:1] in ("(", "[") or bare.startswith(("b'", 'b"', "'", '"')):
        two = _LITERALS.fullmatch(bare)
        literal = bare if two is None else f"({two[1]}, {two[2]})"
        try:
            value = ast.literal_eval(literal[:10_000])
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            value = None
        if isinstance(value, list | tuple) and len(value) == 2:
            return value
    if found := _PAIR_OF_IDS.fullmatch(line):
        return (int(found[1]), int(found[2])) if max(len(found[1]), len(found[2])) > 1 else (found[1],
            found[2])
    parts = line.split("\t") if line.count("\t") == 1 else line.split(" ")
    if len(parts) != 2 or not all(parts):
        raise TokentuiError(f"not two tokens with a space between them: {shown(line)}", where,
                            "write a space inside a token as Ġ, or hand in JSON")
    return parts


def _small(digits: str) -> int:
    return int(digits) if len(digits) < 16 else -1


# ---- texts and ids as bytes


def as_bytes(tokens: Iterable[Any], *, in_bytes: bool) -> list[bytes]:
    """Return tokens as bytes. If the units are bytes (`in_bytes`) and the texts are in GPT-2's letters, they
    are read as the bytes that these letters stand for; other texts become UTF-8."""
    listed = list(tokens)
    texts = [token for token in listed if isinstance(token, str)]
    lettered = in_bytes and _are_letters(texts)
    return [token if isinstance(token, bytes) else
            bytes(_BYTE_OF[char] for char in token) if lettered else to_bytes(token) for token in listed]


def _are_letters(texts: Sequence[str]) -> bool:
    """Return whether texts are in GPT-2's letters: all characters are, and one is of the second half."""
    characters = set("".join(texts))
    return characters <= _BYTE_OF.keys() and any(256 <= ord(char) < 324 for char in characters)


@dataclass(frozen=True)
class Numbering:
    """How ids are numbered.

    Attributes:
        base: The token of each id before the merges.
        first: The id of the first merge.
        note: A sentence for the student if it is not that of the exercise; empty otherwise.
    """

    base: Mapping[int, bytes]
    first: int
    note: str = ""


def numberings(base: Sequence[bytes], specials: Sequence[str], *, in_bytes: bool) -> Iterator[Numbering]:
    """Yield the numberings of ids that students use, that of the exercise first."""
    extra = len(specials)
    orders: list[tuple[Sequence[bytes], str]] = [(base, "")]
    if in_bytes:
        orders += [
            ([bytes((byte,)) for byte in range(256)], "" if list(base) == [bytes((n,)) for n in range(256)]
             else "your ids of bytes are the values of the bytes"),
            ([bytes((byte,)) for byte in byte_order_of_gpt2()],
                "your ids of bytes are in the order of GPT-2's letters"),
        ]
    for order, note in orders:
        for shift in dict.fromkeys((0, extra, 1)):
            table = {number + shift: piece for number, piece in enumerate(order)}
            for gap in dict.fromkeys((0, extra, 1)):
                yield Numbering(table, len(order) + shift + gap, note)


def pairs_of(
    merges: Merges, base: Sequence[bytes], specials: Sequence[str], right: Sequence[Pair], *, in_bytes: bool,
    prefix: int = 0, vocab: Mapping[int, Any] | None = None, where: str = "",
) -> tuple[list[Pair], str]:
    """Return merges as pairs of bytes, and a note on their numbering.

    Args:
        merges: The merges.
        base: The units of the exercise, in the order of their ids.
        specials: The special tokens.
        right: The right merges; of several numberings that with most agreement is taken.
        in_bytes: Whether units are bytes.
        prefix: The bytes that a right part loses when it is joined.
        vocab: The token of each id, if it was handed in.
        where: The file, for errors.

    Raises:
        TokentuiError: An id belongs to no token.
    """
    rows = merges.rows
    if not any(isinstance(part, int) for row in rows for part in row):
        flat = as_bytes((part for row in rows for part in row), in_bytes=in_bytes)
        return list(zip(flat[::2], flat[1::2], strict=True)), ""
    best: tuple[int, list[Pair], str] | None = None
    if vocab:
        tokens = dict(zip(vocab, as_bytes(vocab.values(), in_bytes=in_bytes), strict=True))
        with_vocab = [(tokens.get(left), tokens.get(right_)) for left, right_ in rows]
        if all(left is not None and right_ is not None for left, right_ in with_vocab):
            return [(left or b"", right_ or b"") for left, right_ in with_vocab], ""
    for numbering in numberings(base, specials, in_bytes=in_bytes):
        pairs = _resolved(merges, numbering, prefix)
        if pairs is not None:
            agreed = common_length(pairs, right)
            if best is None or agreed > best[0]:
                best = agreed, pairs, numbering.note
    if best is None:
        raise TokentuiError("an id in the merges belongs to no unit and to no earlier merge", where,
                            "hand in the merges as texts or bytes")
    return best[1], best[2]


def _resolved(merges: Merges, numbering: Numbering, prefix: int) -> list[Pair] | None:
    """Return the pairs of tokens by a numbering; None if an id is unknown when it is used.

    Also None if a token becomes longer than 64 KiB.
    """
    tokens = dict(numbering.base)
    pairs: list[Pair] = []
    for number, (left, right) in enumerate(merges.rows):
        if left not in tokens or right not in tokens:
            return None
        pairs.append((tokens[left], tokens[right]))
        made = numbering.first + number if merges.ids is None else merges.ids[number]
        tokens[made] = tokens[left] + tokens[right][prefix:]
        if len(tokens[made]) > 1 << 16:
            return None
    return pairs
