"""Files that users take for a tokenizer file, and what to name in place of each.

The content decides, never the name. A pickle is not opened: it can run code.
"""

from __future__ import annotations

import json
import re
import struct

from tokentui.core.errors import TokentuiError
from tokentui.formats.source import Source

_LOST = b"\xef\xbf\xbd"
_CONTROLS = bytes({*range(9), *range(14, 32)} - {27})
_SCORED = re.compile(r"[^\n]+\t(?:0|-[0-9][0-9.e+-]*)")
_READABLE = re.compile(r"\[.*\] (?:-> \[.*\] )?[0-9]+", re.DOTALL)
_FEW = 1000
_SETTINGS = {"tokenizer_class", "model_type", "unk_token", "bos_token", "eos_token"}


def refuse_before(source: Source) -> None:
    """Raise an error for a file that no format can read, before any of them looks at it.

    Raises:
        TokentuiError: The file is empty, packed, a web page, no UTF-8 or a pickle.
    """
    data = source.data
    if not data.strip():
        raise source.error("the file is empty", "download it or train it again")
    if data.lstrip()[:20].lower().startswith((b"<!doctype html", b"<html")):
        raise source.error("a web page, not a tokenizer file", "download the raw file")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise source.error("UTF-16, not UTF-8", "save it as UTF-8")
    if data.startswith(b"PK\x03\x04"):
        raise source.error("packed with zip", "unpack it first")
    if re.match(rb"\x80[\x02-\x05]", data) and data.endswith(b"."):
        hint = "of nanochat: write enc._mergeable_ranks, a row base64, space, rank; use -s split=nanochat"
        raise source.error("a pickle, which is never opened, because it can run code", hint)


def near_miss(source: Source) -> TokentuiError | None:
    """Return the error for a file of no known format that users take for a tokenizer file; None for any other
    file.
    """
    if _is_llama2c(source.data):
        return source.error("llama2.c's tokenizer.bin is not read", "name the .model that it was made from")
    lines = source.lines[:_FEW]
    if lines and all(map(_SCORED.fullmatch, lines)):
        return source.error("sentencepiece's .vocab has no normalization", "name the .model next to it")
    if lines and all(map(_READABLE.fullmatch, lines)):
        return source.error("minbpe's .vocab is for people: its bytes are lost", "name the .model next to it")
    if _object(source).get("class_name") == "Tokenizer":
        return source.error("a word list of Keras, without parts of words", "train one: tokentui train")
    return _of_ids(source) or lost_bytes(source)


def _of_ids(source: Source) -> TokentuiError | None:
    """Return the error for a JSON object of ids without merges, or of settings."""
    document = _object(source)
    ids = [value for value in document.values() if type(value) is int]
    if not ids or len(ids) < len(document):
        if ids or _SETTINGS.isdisjoint(document):
            return None
        return source.error("settings of a model folder, without a vocabulary", "name the folder")
    if any(name.startswith("▁") for name in document):
        hint = "name its folder, with the .model in it"
        return source.error("ids of the pieces of a sentencepiece model, as of M2M100, without scores", hint)
    if min(ids) >= len(ids):
        return source.error("the added tokens of a model folder, without a vocabulary", "name the folder")
    if (min(ids), max(ids)) == (1, len(ids)):
        return source.error("a word list that counts from 1, as those of Keras", "train one: tokentui train")
    return None


def lost_bytes(source: Source) -> TokentuiError | None:
    """Return the error for a file of bytes that was saved as text, so that U+FFFD took the place of bytes;
    None if it has few of these characters, or is JSON, which may show a part of a character by one."""
    if source.is_object:
        return None
    lost = source.data.count(_LOST)
    of_bytes = len(source.data.translate(None, _CONTROLS)) < len(source.data)
    if not lost or (lost * 100 < len(source.data) and not of_bytes):
        return None
    what = f"it was saved as text: {lost:,} times U+FFFD is in place of bytes"
    return source.error(what, "download or copy the original file")


def _object(source: Source) -> dict[str, object]:
    """Return the JSON object of a file, also of one that is a JSON text with an object inside; empty for any
    other file."""
    try:
        document = json.loads(source.text or "")
        document = json.loads(document) if isinstance(document, str) else document
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _is_llama2c(data: bytes) -> bool:
    """Return whether a file has the rows of llama2.c: the greatest length, then score, length and bytes of
    each token."""
    at, sizes = 4, list[int]()
    while at + 8 <= len(data) and len(sizes) < _FEW:
        score, size = struct.unpack_from("<fI", data, at)
        if not -1e9 < score <= 0 or not 0 < size < 1 << 16:
            return False
        sizes.append(size)
        at += 8 + size
    whole = at == len(data) or len(sizes) == _FEW
    return whole and len(sizes) > 1 and max(sizes) <= struct.unpack_from("<I", data)[0] < 1 << 16
