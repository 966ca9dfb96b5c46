"""Tokenizer files: one entry of `FORMATS` a format, read by content and written whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass

from tokentui.errors import TokentuiError
from tokentui.formats import native
from tokentui.formats.atomic import write_whole
from tokentui.formats.checking import Place, parse_json
from tokentui.formats.native import dumps, loads
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

_LARGEST_FILE = 1 << 30

_PACKED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
}


def load(path: str | os.PathLike[str]) -> Tokenizer:
    """Read a tokenizer file. What it is is told by its content, never by its name.

    Raises:
        TokentuiError: It cannot be read, is none of `FORMATS`, or is damaged; it says what is wrong and where.
    """
    where = os.fspath(path)
    data = _read(where)
    _refuse_others(data, where)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if _object(data):
            raise TokentuiError(f"not UTF-8 at byte {error.start}", where, "mend the file or train it again") from None
        raise _foreign(where) from None
    if not _object(data):
        raise _foreign(where)
    document = parse_json(text, Place(where))
    name = document.get("format")
    if not isinstance(name, str) or name not in FORMATS:
        raise _foreign(where)
    return FORMATS[name].loads(text, where)


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


def _read(where: str) -> bytes:
    if os.path.isdir(where):
        raise TokentuiError("a folder, not a tokenizer file", where, "name the file in it")
    try:
        # Opened without waiting and looked at first: a pipe that nobody writes to would hold the program for ever.
        with open(os.open(where, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise TokentuiError("a pipe or device, not a file", where, "name a tokenizer file")
            data = file.read(_LARGEST_FILE + 1)
    except FileNotFoundError:
        raise TokentuiError("no such file", where, "check the name") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = error.strerror if isinstance(error, OSError) else None
        raise TokentuiError(f"cannot be read: {why or error}", where, "check the name and the permissions") from None
    if len(data) > _LARGEST_FILE:
        raise TokentuiError("larger than any tokenizer file (1 GiB)", where, "name a tokenizer file")
    return data


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


def _object(data: bytes) -> bool:
    return data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


def _foreign(where: str) -> TokentuiError:
    return TokentuiError("not a tokenizer file that this version reads", where, "it reads: " + ", ".join(FORMATS))


__all__ = ["FORMATS", "Format", "dumps", "load", "loads", "save", "write_whole"]
