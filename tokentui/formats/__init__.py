"""Tokenizer files: one entry of `FORMATS` a format, read by content and written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from tokentui.errors import TokentuiError
from tokentui.formats import huggingface, merge_files, minbpe, native, sentencepiece, subword_nmt, tekken, tiktoken, vocab_txt
from tokentui.formats.atomic import write_whole
from tokentui.formats.native import dumps, loads
from tokentui.formats.source import Source, read_source
from tokentui.recipe import nearest
from tokentui.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Format:
    """A file format.

    Attributes:
        name: What `--format` calls it.
        about: What it is, in a few words.
        suffixes: The ends of file names that ask for it when a tokenizer is saved.
        dumps: The text of a tokenizer.
        loads: The tokenizer of a text; the second argument is what to call it in errors.
    """

    name: str
    about: str
    suffixes: tuple[str, ...]
    dumps: Callable[[Tokenizer], str]
    loads: Callable[[str, str], Tokenizer]


FORMATS: dict[str, Format] = {
    format.name: format
    for format in (Format("tokentui", "the project's own, one JSON document", (".json",), native.dumps, native.loads),)
}
"""The formats by name. The first one is what a file name that asks for none gets."""

@dataclass(frozen=True, slots=True)
class Reader:
    """A format of another tool.

    Attributes:
        name: What it is called.
        matches: Whether a file is one, by its content.
        read: The tokenizer of a file.
    """

    name: str
    matches: Callable[[Source], bool]
    read: Callable[[Source], Tokenizer]


READERS: tuple[Reader, ...] = (
    Reader("Hugging Face's tokenizer.json", huggingface.is_tokenizer, huggingface.read),
    Reader("GPT-2's vocab.json with its merges.txt", merge_files.is_vocabulary, merge_files.read_vocabulary),
    Reader("sentencepiece's .model", sentencepiece.is_model, sentencepiece.read),
    Reader("tiktoken ranks", tiktoken.is_ranks, tiktoken.read),
    Reader("BERT's vocab.txt", vocab_txt.is_vocabulary, vocab_txt.read),
    Reader("Mistral's tekken.json", tekken.is_tekken, tekken.read),
    Reader("minbpe's .model", minbpe.is_model, minbpe.read),
    Reader("GPT-2's merges.txt with its vocab.json", merge_files.is_merges, merge_files.read_rows),
    Reader("subword-nmt's codes", subword_nmt.is_codes, subword_nmt.read),
)
"""What is read of other tools, in the order in which a file is tried."""

_PACKED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
}


def load(path: str | os.PathLike[str], split: str = "") -> Tokenizer:
    """Read a tokenizer file. What it is is told by its content, never by its name.

    Args:
        path: The file.
        split: A value of that axis, for a file that holds none (tiktoken ranks).

    Raises:
        TokentuiError: It cannot be read, is none of `FORMATS` and `READERS`, or is damaged; it says what is wrong and
            where. Or it holds a split and another one was named.
    """
    source = read_source(os.fspath(path), split)
    _refuse_others(source.data, source.where)
    name = source.document.get("format")
    if isinstance(name, str) and name in FORMATS:
        return FORMATS[name].loads(source.text or "", source.where)
    for reader in READERS:
        if reader.matches(source):
            return reader.read(source)
    known = ", ".join([*FORMATS, *(reader.name for reader in READERS)])
    raise TokentuiError("not a tokenizer file that this version reads", source.where, f"it reads: {known}")


def save(tokenizer: Tokenizer, path: str | os.PathLike[str], format: str | None = None) -> None:
    """Write a tokenizer file, whole or not at all.

    Args:
        tokenizer: What is written.
        path: Where to; a symlink's target is written, an existing file keeps its permissions.
        format: One of `FORMATS`; by the end of the file's name where None.

    Raises:
        TokentuiError: There is no such format, or the file cannot be written.
    """
    if format is not None and format not in FORMATS:
        raise TokentuiError(f"no format {format!r}", "format", nearest(format, FORMATS))
    name = os.fspath(path).lower()
    chosen = FORMATS[format] if format else next(
        (one for one in FORMATS.values() if name.endswith(one.suffixes)), next(iter(FORMATS.values()))
    )
    write_whole(path, chosen.dumps(tokenizer).encode("utf-8"))


def _refuse_others(data: bytes, where: str) -> None:
    """Name what people often have in place of the file."""
    if not data.strip():
        raise TokentuiError("the file is empty", where, "fetch it or train it again")
    if data.startswith(b"version https://git-lfs.github.com/spec/"):
        raise TokentuiError("a Git LFS pointer, not the file that it stands for", where, "run git lfs pull")
    if data.lstrip()[:20].lower().startswith((b"<!doctype html", b"<html")):
        raise TokentuiError("a web page, not a tokenizer file", where, "fetch the raw file")
    for magic, name in _PACKED.items():
        if data.startswith(magic):
            raise TokentuiError(f"packed with {name}", where, "unpack it first")


__all__ = ["FORMATS", "READERS", "Format", "Reader", "dumps", "load", "loads", "save", "write_whole"]
