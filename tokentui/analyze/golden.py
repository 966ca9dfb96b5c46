"""Golden ids: the ids of some texts in a file, to compare a tokenizer with later."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tokentui.analyze.health.folder import PROBES
from tokentui.analyze.health.texts import CONTROLS
from tokentui.analyze.report import Report, Section, data
from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.core.files import read_regular
from tokentui.core.jobs import each
from tokentui.core.sequences import common_length
from tokentui.core.table import plural
from tokentui.encode.encoding import Encoding
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.source import LARGEST_ID, Node, mending, parse

FORMAT = "tokentui-golden"
VERSION = 1
_SPECIALS = 20
_MEND = "pin the texts again"
_CONTEXT = 8
"""Ids that are shown from the first one that differs."""
_BEFORE = 20
_AFTER = 40
"""Characters that are shown before and after the place."""

Ids = tuple[int | None, ...]
"""The ids of a text; None for a part without an id."""


@dataclass(frozen=True, slots=True)
class GoldenText:
    """A text and its ids.

    Attributes:
        text: The text.
        ids: The ids of the plain text; None if the tokenizer refuses it.
        special: The ids with special tokens added around the text and read from it; None if the tokenizer
            refuses it.
    """

    text: str
    ids: Ids | None
    special: Ids | None


@dataclass(frozen=True, slots=True)
class GoldenDifference:
    """The first text with other ids.

    Attributes:
        number: Its number, from 1.
        text: The text.
        special: Whether the ids with special tokens differ, and not those of the plain text.
        token: The index of the first token that differs.
        character: The character of the text where this token starts; its end if there are no more tokens.
        pinned: The ids in the file; None if the text was refused.
        ids: The ids now; None if the text cannot be encoded.
    """

    number: int
    text: str
    special: bool
    token: int
    character: int
    pinned: Ids | None
    ids: Ids | None


def built_in_texts(tokenizer: Tokenizer) -> tuple[str, ...]:
    """Return texts of many scripts and kinds, and one with each of the first 20 special tokens, each once."""
    names = tokenizer.vocabulary.specials[:_SPECIALS]
    texts = (*PROBES, *(text for _, text in CONTROLS), *(f"a {name} b{name}" for name in names))
    return tuple(dict.fromkeys(texts))


def pin(tokenizer: Tokenizer, texts: Sequence[str]) -> tuple[GoldenText, ...]:
    """Encode texts, each as plain text and with special tokens. Refused texts have None. A tick of the
    current job is a text."""
    return tuple(
        GoldenText(text, *(None if encoding is None else tuple(encoding.ids) for encoding in encodings))
        for text in each(texts, len(texts)) for encodings in (_both(tokenizer, text),)
    )


def first_difference(tokenizer: Tokenizer, golden: Sequence[GoldenText]) -> GoldenDifference | None:
    """Return the first text whose ids differ from the recorded ones, or None. The plain text is compared
    first. A tick of the current job is a text."""
    for number, row in enumerate(each(golden, len(golden)), 1):
        for special, encoding in enumerate(_both(tokenizer, row.text)):
            pinned = row.special if special else row.ids
            ids = None if encoding is None else tuple(encoding.ids)
            if ids == pinned:
                continue
            token = common_length(ids or (), pinned or ())
            starts = () if encoding is None else encoding.offsets
            character = starts[token][0] if token < len(starts) else starts[-1][1] if starts else 0
            return GoldenDifference(number, row.text, bool(special), token, character, pinned, ids)
    return None


def _both(tokenizer: Tokenizer, text: str) -> tuple[Encoding | None, Encoding | None]:
    """Return the encodings of a text as plain text and with special tokens; None if it cannot be encoded."""
    return _encoded(tokenizer, text, False), _encoded(tokenizer, text, True)


def _encoded(tokenizer: Tokenizer, text: str, special: bool) -> Encoding | None:
    try:
        return tokenizer.encode(text, allow_special=special, special_tokens=special)
    except TokentuiError:
        return None


def file_of(golden: Iterable[GoldenText]) -> bytes:
    """Return the bytes of a file of golden ids: JSON with a text a line."""
    lines = []
    for row in golden:
        more = {} if row.special == row.ids else {"special": row.special}
        lines.append(json.dumps({"text": row.text, "ids": row.ids, **more}))
    texts = ",\n".join(lines)
    return f'{{"format": "{FORMAT}", "version": {VERSION}, "texts": [\n{texts}\n]}}\n'.encode("ascii")


@mending(_MEND)
def read_golden(path: str | os.PathLike[str]) -> tuple[GoldenText, ...]:
    """Read a file of golden ids.

    Raises:
        TokentuiError: It cannot be read, is too large, has no texts, or is not a golden file.
    """
    where, most = os.fspath(path), limits.now().file_bytes
    contents = read_regular(where, "file of golden ids", most + 1)
    if len(contents) > most:
        raise TokentuiError(f"more than {most:,} bytes", where, limits.reading("file-bytes"))
    try:
        root = parse(contents.decode("utf-8-sig"), where)
    except UnicodeDecodeError as error:
        raise TokentuiError(f"not UTF-8 at byte {error.start}", where, _MEND) from None
    if not isinstance(root.value, dict) or root["format"].value != FORMAT:
        raise TokentuiError("not a golden file", where, "tokentui pin writes one")
    if root["version"].value != VERSION:
        raise root["version"].error("this version of the format is not supported", "update tokentui")
    golden = []
    for row in root["texts"].rows():
        ids = _ids_of(row["ids"])
        special = _ids_of(row["special"]) if "special" in row else ids
        golden.append(GoldenText(row["text"].text(), ids, special))
    if not golden:
        raise TokentuiError("it contains no texts", where, _MEND)
    return tuple(golden)


def _ids_of(node: Node) -> Ids | None:
    """Return the row of ids, in which None may stand; None for null.

    Raises:
        TokentuiError: It is not a list of ids.
    """
    if node.value is None:
        return None
    ids = node.listed()
    if any(id is not None and (type(id) is not int or not 0 <= id <= LARGEST_ID) for id in ids):
        raise node.error("not a row of ids", _MEND)
    return tuple(ids)


def golden_report(texts: int, difference: GoldenDifference | None) -> Report:
    """Return a report on the first difference.

    Args:
        texts: The number of texts in the file.
        difference: The difference; None if all ids are the same.
    """
    value = {"texts": texts, "same": difference is None, "differs": difference}
    if difference is None:
        return Report("Golden ids", (Section("same", plural(texts, "text")),), value)
    at = difference.character
    before, after = difference.text[max(0, at - _BEFORE) : at], difference.text[at : at + _AFTER]
    encoded = "with special tokens" if difference.special else "as plain text"
    sections = (
        Section("same", plural(difference.number - 1, "text")),
        Section("differs", f"text {difference.number:,} of {texts:,}, {encoded}"),
        Section("text", (data(before), "▸", data(after))),
        Section("place", f"token {difference.token + 1:,}, character {at:,}"),
        Section("recorded", _from(difference.pinned, difference.token)),
        Section("now", _from(difference.ids, difference.token)),
    )
    return Report("Golden ids", sections, value)


def _from(ids: Ids | None, token: int) -> str:
    """Format at most _CONTEXT ids from a token on, or say that there are none, or no encoding."""
    if ids is None:
        return "the text cannot be encoded"
    part = ["?" if id is None else str(id) for id in ids[token : token + _CONTEXT]]
    return " ".join(part) + " …" * (len(ids) > token + _CONTEXT) if part else "no more ids"
