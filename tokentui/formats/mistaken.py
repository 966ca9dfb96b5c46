"""Tokenizer files in the place of a corpus: what a file is by its name and its first bytes, also where the rest is cut off."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Sequence
from typing import Any

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.files import open_regular
from tokentui.formats import load, recognise
from tokentui.formats.source import Source
from tokentui.formats.tiktoken import is_ranks
from tokentui.text.ways import named_like_tokenizer

_HEAD = 1 << 14
_GZIP = b"\x1f\x8b"
_OWN = re.compile(rb'\s*\{\s*"format"\s*:\s*"tokentui"')
_STEPS = rb'"(?:truncation|padding|added_tokens|normalizer|pre_tokenizer|post_processor|decoder|model)"\s*:'
_HUGGING_FACE = re.compile(rb'\s*\{\s*"version"\s*:\s*"[0-9.]+"\s*,\s*' + _STEPS)
_HUGGING_FACE_NAMED = re.compile(rb"\s*\{.*" + _STEPS, re.DOTALL)
_TEKKEN = re.compile(rb'\s*\{\s*"(?:config"\s*:\s*\{.*"(?:pattern|num_vocab_tokens)|vocab"\s*:\s*\[\s*\{\s*"rank")', re.DOTALL)
_IDS = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)+"\s*:\s*[0-9]+\s*[,}]')
_MERGES = re.compile(rb'"?[\w.]*#version')
_SPECIAL_LINE = re.compile(rb"\[(?:PAD|UNK|CLS|unused[0-9]+)\]\r?\n")
_BEGINNINGS: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    (".json", _OWN), (".json", _HUGGING_FACE), ("tokenizer.json", _HUGGING_FACE_NAMED), (".hf.json", _HUGGING_FACE_NAMED),
    (".json", _TEKKEN), ("vocab.json", _IDS), ("encoder.json", _IDS),
    ("merges.txt", _MERGES), (".bpe", _MERGES), (".codes", _MERGES), ("vocab_16e6.txt", _MERGES), ("vocab.txt", _SPECIAL_LINE),
    (".model", re.compile(rb"minbpe v[0-9]")),
)
"""The end of a name, and how a tokenizer of that name begins."""


def mistaken(path: str) -> TokentuiError | None:
    """Why a file is no corpus: it is a tokenizer, or a damaged one, by its name and its first bytes. None for any other file.

    Only a file of such a beginning is read on, to find what is wrong with it and where.
    """
    if not named_like_tokenizer(path):
        return None
    try:
        with open_regular(path) as file:
            head = _unpacked(file.read(_HEAD))
    except (OSError, ValueError, TokentuiError):
        return None
    if not _begins_like_one(path, head):
        return None
    try:
        load(path)
    except Cancelled:
        raise
    except TokentuiError as error:
        if not (is_ranks(Source(path, head)) and "pattern" in error.what):  # a rank file without a named split is a whole one
            what = error.what
            if what.startswith("not a tokenizer file"):
                what = f"it begins like one and holds too little of it: it ends at byte {os.path.getsize(path):,}"
            return TokentuiError(f"a damaged tokenizer: {what}", error.where or path, error.hint)
    return TokentuiError(f"a tokenizer, not a corpus: {recognise(path) or 'tiktoken ranks'}", path)


def refuse_tokenizers(source: Any, as_: str | None, option: str = "--as text") -> None:
    """Refuse tokenizer files among the sources of a corpus, but where it is said how these are read.

    Args:
        source: What `read` takes.
        as_: How files are read, None by their names.
        option: What says that a file is read as text, for the hint.

    Raises:
        TokentuiError: One of them is a tokenizer; it says what is wrong with it and where, if it is damaged.
    """
    if as_ is not None:
        return
    names = source if isinstance(source, Sequence) and not isinstance(source, str | bytes) else [source]
    for name in names:
        if isinstance(name, str | os.PathLike) and isinstance(path := os.fspath(name), str) and (error := mistaken(path)):
            raise TokentuiError(error.what, error.where, f"name a text, or take {option} to read it as one")


def _begins_like_one(path: str, head: bytes) -> bool:
    from tokentui.formats.sentencepiece import is_model

    name = os.path.basename(path).lower().removesuffix(".gz")
    head = head.removeprefix(b"\xef\xbb\xbf")
    if name.endswith(".model") and is_model(Source(path, head)):
        return True
    if name.endswith(".tiktoken") and is_ranks(Source(path, head)):
        return True
    return any(name.endswith(end) and pattern.match(head) for end, pattern in _BEGINNINGS)


def _unpacked(head: bytes) -> bytes:
    if not head.startswith(_GZIP):
        return head
    try:
        return zlib.decompressobj(wbits=31).decompress(head, _HEAD)
    except zlib.error:
        return b""
