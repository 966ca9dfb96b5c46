"""The bytes of a file: opened without hanging, unpacked, and stopped at a limit.

Nothing here waits where `cancel` is not asked: a pipe is polled, never just read, since it may never answer.
"""

from __future__ import annotations

import bz2
import codecs
import errno
import gzip
import hashlib
import importlib
import io
import lzma
import os
import re
import select
import stat
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

from tokentui.errors import Cancelled, TokentuiError

LIMIT = 4 << 30
"""The most bytes that a corpus may have, all its files unpacked."""

RATIO = 200
"""The most that a packed file may grow by once it is past `RATIO_FROM`. Text packs by 3 to 10."""

RATIO_FROM = 64 << 20
"""Up to so many bytes any growth is taken."""

BLOCK = 1 << 20
"""Bytes unpacked between two looks at `cancel`."""

_READ_AHEAD = 1 << 16
_POLL_MS = 50

_PACKED = re.compile(
    rb"(?P<gzip>\x1f\x8b\x08)"
    rb"|(?P<bzip2>BZh[1-9](?:1AY&SY|\x17rE8P\x90))"
    rb"|(?P<xz>\xfd7zXZ\x00)"
    rb"|(?P<zstd>\x28\xb5\x2f\xfd)"
)
_TAKE_PART = "take a part of it, such as head -c 1G"
_WHAT_CAN_BE_READ = "name a file, a folder, or - for standard input"
_LFS = b"version https://git-lfs.github.com/spec/"
_BINARY = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a zip archive or an office document"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"PAR1", "a Parquet table"),
    (b"\x7fELF", "a program"),
)


class Meter:
    """How far reading has come, and whether to go on.

    Args:
        total: Bytes to read, 0 where that is not known.
        progress: Told (done, total) as bytes are read.
        cancel: Asked often; a true answer ends the reading.
    """

    def __init__(
        self,
        total: int = 0,
        progress: Callable[[int, int], None] | None = None,
        cancel: Callable[[], bool] | None = None,
    ) -> None:
        self.total, self.done, self.unpacked = total, 0, 0
        self._progress, self._cancel = progress, cancel

    def check(self) -> None:
        """Raise `Cancelled` where the caller asks for it."""
        if self._cancel is not None and self._cancel():
            raise Cancelled("reading was cancelled")

    def advance(self, count: int) -> None:
        """So many more bytes are read (a file may have grown since it was measured)."""
        self.done += count
        self.total = max(self.total, self.done) if self.total else 0
        if self._progress is not None:
            self._progress(self.done, self.total)


@dataclass(frozen=True, slots=True)
class Contents:
    """A file's bytes, unpacked; `digest` is the SHA-256 of the file as it stands, `looks` says what it seems to be."""

    data: bytearray
    digest: bytes
    looks: str


class Binary(Exception):
    """A file that is no text, met where only texts are wanted."""


def show(path: str) -> str:
    """A path for one line of text: as it is, or escaped where it holds what no line can."""
    return path if path.isprintable() else repr(path)[1:-1]


def read_path(path: str, meter: Meter, text_only: bool = False) -> Contents:
    """The contents of a file or a named pipe.

    Raises:
        TokentuiError: It is not there, not readable, no file, too large, or a known mistake.
        Binary: It is no text and only text is wanted.
        Cancelled: As asked.
    """
    try:
        size = measure(path)  # before opening: opening a device may act on it
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            source = _Source(lambda wanted: os.read(descriptor, wanted), descriptor, meter)
            return _contents(source, show(path), size or 0, text_only)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise refusal(error, path) from None


def read_stream(stream: BinaryIO, name: str, meter: Meter) -> Contents:
    """The contents of standard input, or of any open stream.

    Raises:
        TokentuiError: It cannot be read, is too large, or a known mistake.
        Cancelled: As asked.
    """
    if stream.closed:
        raise TokentuiError("is closed", name, "name a file")
    try:
        descriptor: int | None = stream.fileno()
    except (OSError, AttributeError):
        descriptor = None
    take: Callable[[int], bytes] = getattr(stream, "read1", stream.read)  # what is there now: read() waits for all
    try:
        return _contents(_Source(take, descriptor, meter), name, 0, text_only=False)
    except OSError as error:
        raise refusal(error, name) from None


def measure(path: str) -> int | None:
    """The size of a file in bytes, None for a named pipe.

    Raises:
        TokentuiError: It is neither.
        OSError: It cannot be looked at.
    """
    try:
        status = os.stat(path)
    except ValueError:
        raise TokentuiError("no file can have this name", show(path), "it holds a NUL or half a character") from None
    if stat.S_ISFIFO(status.st_mode):
        return None
    if not stat.S_ISREG(status.st_mode):
        raise TokentuiError(f"is {_kind(status.st_mode)}, not a file of text", show(path), _WHAT_CAN_BE_READ)
    return status.st_size


def check_size(size: int, where: str) -> None:
    """Refuse what is larger than `LIMIT`."""
    if size > LIMIT:
        raise TokentuiError(f"{size:,} bytes are too many; the limit is {LIMIT:,}", where, _TAKE_PART)


def refusal(error: OSError, path: str) -> TokentuiError:
    """What to tell the user about a path that the system refuses."""
    hints = {
        errno.ENOENT: "check the name",
        errno.EACCES: "check its permissions",
        errno.EPERM: "check its permissions",
        errno.ENXIO: _WHAT_CAN_BE_READ,
    }
    what = (error.strerror or str(error) or "cannot be read").lower()
    return TokentuiError(what, show(path), hints.get(error.errno or 0, "check the file"))


def _kind(mode: int) -> str:
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
    return kinds.get(stat.S_IFMT(mode), "something else")


class _Source(io.RawIOBase):
    """Bytes as they come, hashed and counted. A read returns all that was asked for, or the end is reached."""

    def __init__(self, take: Callable[[int], bytes], descriptor: int | None, meter: Meter) -> None:
        self._take, self.meter = take, meter
        self.hash = hashlib.sha256(usedforsecurity=False)
        self.count = 0
        self._ended = False
        self._poll = select.poll()
        self._polled = descriptor is not None
        if descriptor is not None:
            self._poll.register(descriptor, select.POLLIN)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view, filled = memoryview(buffer).cast("B"), 0
        while filled < len(view) and not self._ended:
            block = self._next(len(view) - filled)
            self._ended = not block  # for good: a terminal would ask for its end of file again
            view[filled : filled + len(block)] = block
            filled += len(block)
            self.count += len(block)
            self.hash.update(block)
            self.meter.advance(len(block))
        return filled

    def _next(self, size: int) -> bytes:
        while True:
            self.meter.check()
            if not self._polled or self._poll.poll(_POLL_MS):
                try:
                    return self._take(size) or b""
                except BlockingIOError:
                    continue


def _contents(source: _Source, where: str, size: int, text_only: bool) -> Contents:
    meter = source.meter
    stream = packed = io.BufferedReader(source, _READ_AHEAD)
    method = _PACKED.match(packed.peek())
    try:
        if method:
            stream = io.BufferedReader(_unpacked(packed, str(method.lastgroup), where), _READ_AHEAD)
        looks, is_text = _look(stream.peek(), where)
        if text_only and not is_text:
            raise Binary
        check_size(meter.unpacked + size, where)
        data = bytearray()
        while block := stream.read(BLOCK):
            meter.check()
            data += block
            meter.unpacked += len(block)
            if meter.unpacked > LIMIT:
                raise TokentuiError(f"more than {LIMIT:,} bytes, which is the limit", where, _TAKE_PART)
            if method and len(data) > max(RATIO_FROM, RATIO * source.count):
                what = f"unpacks to more than {RATIO} times its size"
                raise TokentuiError(what, where, "if that is right, unpack it first")
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        if method is None or getattr(error, "errno", None):  # a fault of the disk, not of the data
            raise
        what = f"damaged {method.lastgroup} data: {error}"
        raise TokentuiError(what, where, "fetch it again, or unpack it first") from None
    return Contents(data, source.hash.digest(), looks)


def _unpacked(packed: BinaryIO, method: str, where: str) -> Any:
    match method:
        case "gzip":
            return gzip.GzipFile(fileobj=packed)
        case "bzip2":
            return bz2.BZ2File(packed)
        case "xz":
            return lzma.LZMAFile(packed)
        case _:
            return _Zstd(packed, _zstd_module(where))


def _zstd_module(where: str) -> Any:
    for name in ("compression.zstd", "zstandard"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise TokentuiError("zstd is not installed", where, "pip install 'tokentui[zstd]', or unpack it first")


class _Zstd(io.RawIOBase):
    """Unpacked zstd, frame after frame, by Python's own module or by `zstandard`, which are near enough alike.

    `zstandard` has a reader of its own, but that takes a cut-off file for a whole one. Both unpack all that they are
    given, so they are given little at a time: 4 bytes can hold 128 KiB.
    """

    _FEED = 1024

    def __init__(self, packed: BinaryIO, module: Any) -> None:
        self._packed, self._module = packed, module
        self._frame: Any = None
        self._input, self._output = b"", memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._output:
            self._input = self._input or self._packed.read(self._FEED)
            if not self._input:
                if self._frame is not None:
                    raise EOFError("the end is missing")
                return 0
            try:
                self._output = memoryview(self._unpack())
            except self._module.ZstdError as error:
                raise OSError(str(error)) from None
        part = self._output[: len(buffer)]
        self._output = self._output[len(part) :]
        buffer[: len(part)] = part
        return len(part)

    def _unpack(self) -> bytes:
        if self._frame is None:
            decompressor = self._module.ZstdDecompressor()
            self._frame = getattr(decompressor, "decompressobj", lambda: decompressor)()
        data: bytes = self._frame.decompress(self._input)
        self._input = self._frame.unused_data if self._frame.eof else b""
        if self._frame.eof:
            self._frame = None
        return data


def _look(head: bytes, where: str) -> tuple[str, bool]:
    """What the first bytes of a file look like, "" for plain text, and whether that is text.

    Raises:
        TokentuiError: It is only a stand-in for the real file.
    """
    if head.startswith(_LFS):
        raise TokentuiError("is a Git LFS pointer, not the file itself", where, "git lfs pull")
    if head[:64].lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return "an HTML page", True
    for magic, name in _BINARY:
        if head.startswith(magic):
            return name, False
    if b"\0" not in head or head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "", True
    zeros = [head[0::2].count(0), head[1::2].count(0)]
    if max(zeros) > max(4, len(head) // 4) and min(zeros) * 8 < max(zeros):
        return "UTF-16 without a byte order mark", False
    return "a binary file (it holds NUL bytes)", False
