"""The bytes of a file: opened without hanging, unpacked (gzip, bzip2, xz, zstd), and stopped at a limit.

A pipe is polled, never just read, since it may never answer: so a job can be cancelled.
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import errno
import functools
import gzip
import hashlib
import importlib
import io
import lzma
import mmap
import os
import re
import select
import stat
import time
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.core.files import check_held, kind, unhurried
from tokentui.core.jobs import check, tick

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BLOCK = 1 << 20
"""Bytes unpacked between two checks of the job."""

_PACKED = re.compile(
    rb"(?P<gzip>\x1f\x8b\x08)"
    rb"|(?P<bzip2>BZh[1-9](?:1AY&SY|\x17rE8P\x90))"
    rb"|(?P<xz>\xfd7zXZ\x00)"
    rb"|(?P<zstd>\x28\xb5\x2f\xfd)"
)
"""Matches the start of compressed data; each group has the name of its method."""

_READ_AHEAD = 1 << 16
_POLL_MS = 50

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
    """Bytes read and unpacked so far, of all files together; `total` is 0 where it is not known."""

    def __init__(self, total: int = 0) -> None:
        self.total, self.done, self.unpacked = total, 0, 0

    def advance(self, count: int) -> None:
        """So many more bytes are read (a file may have grown since it was measured)."""
        self.done += count
        self.total = max(self.total, self.done) if self.total else 0
        tick(self.done, self.total)


class Contents(NamedTuple):
    """A file's bytes, unpacked.

    Attributes:
        data: Private memory, never the file.
        digest: The SHA-256 of the file as it stands, None where that is the digest of `data`.
        looks: A kind of file that it seems to be; empty for plain text.
    """

    data: memoryview
    digest: bytes | None
    looks: str


class Binary(Exception):
    """A file that is no text, met where only texts are wanted."""


def show(path: str) -> str:
    """A path for one line of text: as it is, or escaped where it holds what no line can."""
    return path if path.isprintable() else repr(path)[1:-1]


def read_path(path: str, meter: Meter, text_only: bool = False, *, pipes: bool = False) -> Contents:
    """The contents of a file; where `pipes` are meant, of a named pipe too.

    Raises:
        TokentuiError: It is not there, not readable, no file, too large, or a known mistake.
        Binary: It is no text and only text is wanted.
        Cancelled: As asked.
    """
    with _refused(path):
        measure(path, pipes=pipes)  # before opening: opening a device may act on it
        with open(path, "rb", 0, opener=unhurried) as file:
            _size(os.fstat(file.fileno()), path, pipes)  # it may have become another meanwhile
            return _contents(_Source(file, show(path), meter), text_only)


def read_stream(stream: BinaryIO, name: str, meter: Meter) -> Contents:
    """The contents of standard input, or of any open stream, unpacked.

    Raises:
        TokentuiError: It cannot be read, is too large, silent for too long, or a known mistake.
        Cancelled: As asked.
    """
    with _refused(name):
        return _contents(_Source(stream, name, meter), text_only=False)


def read_plain(stream: BinaryIO, name: str) -> bytes:
    """The bytes of standard input, or of any open stream, as they are.

    Raises:
        TokentuiError: It cannot be read, is too large, or silent for too long.
    """
    with _refused(name):
        return bytes(_Source(stream, name, Meter()).readall() or b"")


def measure(path: str, *, pipes: bool = False) -> int | None:
    """The size of a file in bytes; where `pipes` are meant, None for a named pipe.

    Raises:
        TokentuiError: It is neither.
        OSError: It cannot be looked at.
    """
    try:
        status = os.stat(path)
    except ValueError:
        raise TokentuiError(
            "no file can have this name", show(path), "it holds a NUL or half a character"
        ) from None
    return _size(status, path, pipes)


def _size(status: os.stat_result, path: str, pipes: bool) -> int | None:
    if stat.S_ISFIFO(status.st_mode):
        if pipes:
            return None
        raise TokentuiError(
            "is a pipe, which may never answer or end", show(path), "--as text reads it, or name it -"
        )
    if not stat.S_ISREG(status.st_mode):
        raise TokentuiError(f"is {kind(status.st_mode)}, not a file of text", show(path), _WHAT_CAN_BE_READ)
    return status.st_size


def check_size(size: int, where: str) -> None:
    """Refuse what is larger than a corpus may be."""
    most = limits.now().corpus_bytes
    if size > most:
        raise TokentuiError(
            f"{size:,} bytes are too many; the limit is {most:,}",
            where,
            limits.reading("corpus-bytes", _TAKE_PART),
        )


def refusal(error: OSError, path: str) -> TokentuiError:
    """The error for the user where the system refuses a path."""
    hints = {
        errno.ENOENT: "check the name",
        errno.EACCES: "check its permissions",
        errno.EPERM: "check its permissions",
        errno.ENXIO: _WHAT_CAN_BE_READ,
    }
    what = (error.strerror or str(error) or "cannot be read").lower()
    return TokentuiError(what, show(path), hints.get(error.errno or 0, "check the file"))


@contextlib.contextmanager
def _refused(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise refusal(error, path) from None


class _Source(io.RawIOBase):
    """Bytes as they arrive, counted. A read returns fewer bytes than were asked for only at the end.

    Args:
        stream: What is read. Where it is no file, the number of bytes and the time of silence are limited.
        where: The name of the source in errors.
        meter: Counts the bytes that are read and stops a cancelled job.

    Attributes:
        status: Of a file, what is known of it.
        count: The bytes read.
        hash: Is given what is read from the time when it is set.
    """

    def __init__(self, stream: BinaryIO, where: str, meter: Meter) -> None:
        if stream.closed:
            raise TokentuiError("is closed", where, "name a file")
        self.where, self.meter, self.count = where, meter, 0
        self.hash: hashlib._Hash | None = None
        self.status: os.stat_result | None = None
        # readinto1() returns the bytes that are available; readinto() waits for all.
        self._take: Any = getattr(stream, "readinto1", getattr(stream, "readinto", None))
        self._ended, self._poll, terminal = False, select.poll(), False
        self._polled = False
        with contextlib.suppress(OSError, AttributeError):
            self._poll.register(descriptor := stream.fileno(), select.POLLIN)
            self._polled = True
        if self._polled:
            status, terminal = os.fstat(descriptor), os.isatty(descriptor)
            mode = status.st_mode
            a_device = stat.S_ISCHR(mode) and not (
                terminal or os.path.samestat(status, os.stat(os.devnull))
            )
            if a_device or stat.S_ISBLK(mode) or stat.S_ISDIR(mode):
                raise TokentuiError(f"is {kind(mode)}, not a file of text", where, _WHAT_CAN_BE_READ)
            self.status = status if stat.S_ISREG(mode) else None
        now, endless = limits.now(), self.status is None
        self.most = min(now.corpus_bytes, now.stream_bytes) if endless else now.corpus_bytes
        self._limit = "stream-bytes" if self.most < now.corpus_bytes else "corpus-bytes"
        self._patience = now.stream_seconds if endless and not terminal else None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view, filled = memoryview(buffer).cast("B"), 0
        while filled < len(view) and not self._ended:
            size = self._next(view[filled : filled + BLOCK])
            self._ended = not size  # for good: a terminal would ask for its end of file again
            if self.hash is not None:
                self.hash.update(view[filled : filled + size])
            filled += size
            self.count += size
            if self.count > self.most:
                raise self.too_much()
            self.meter.advance(size)
        return filled

    def too_much(self) -> TokentuiError:
        """The refusal of more than it may give."""
        return TokentuiError(
            f"more than {self.most:,} bytes, which is the limit",
            self.where,
            limits.reading(self._limit, _TAKE_PART),
        )

    def _next(self, view: memoryview) -> int:
        begun = time.monotonic()
        while True:
            check()
            if self._patience is not None and time.monotonic() - begun > self._patience:
                hint = limits.reading("stream-seconds", "see what feeds it")
                raise TokentuiError(f"nothing came for {self._patience:g} s", self.where, hint)
            if not self._polled or self._poll.poll(_POLL_MS):
                with contextlib.suppress(BlockingIOError):
                    taken: int | None = self._take(view)
                    if taken is not None:
                        return taken


def _contents(source: _Source, text_only: bool) -> Contents:
    meter, where, now = source.meter, source.where, limits.now()
    size = source.status.st_size if source.status else 0
    stream = packed = io.BufferedReader(source, _READ_AHEAD)
    method = _PACKED.match(packed.peek())
    try:
        if method:
            source.hash = hashlib.sha256(packed.peek(), usedforsecurity=False)
            opened = _METHODS.get(str(method.lastgroup), functools.partial(_Zstd, where=where))
            stream = io.BufferedReader(opened(packed), _READ_AHEAD)
            if again := _PACKED.match(stream.peek()):
                what = f"{again.lastgroup} data packed with {method.lastgroup}"
                raise TokentuiError(what, where, "unpack it first")
        looks, is_text = _look(stream.peek(), where)
        if text_only and not is_text:
            raise Binary
        check_size(meter.unpacked + size, where)
        if source.status is not None:
            check_held(source.status, where)
        # with room for one more the end is found without a larger copy
        data = _room(0 if method else size + 1)
        filled = 0
        while True:
            if filled == len(data):
                data = data if isinstance(data, bytearray) else bytearray(data)
                data += bytes(BLOCK)
            with memoryview(data) as view:
                count = stream.readinto(view[filled : filled + BLOCK])
            if not count:
                break
            check()
            filled += count
            meter.unpacked += count
            if meter.unpacked > now.corpus_bytes or filled > source.most:
                raise source.too_much()
            if method and filled > max(now.packed_bytes, now.packed_ratio * source.count):
                what = f"unpacks to more than {now.packed_ratio} times its size"
                hint = limits.reading("packed-ratio", "if that is right, unpack it first")
                raise TokentuiError(what, where, hint)
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        if method is None or getattr(error, "errno", None):  # a fault of the disk, not of the data
            raise
        what = f"damaged {method.lastgroup} data: {error}"
        raise TokentuiError(what, where, "fetch it again, or unpack it first") from None
    return Contents(memoryview(data)[:filled], source.hash.digest() if source.hash else None, looks)


def _room(size: int) -> bytearray | mmap.mmap:
    """Memory for so many bytes. Much of it is not written to before it is read into: that would hold up all
    threads."""
    return mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) if size > BLOCK else bytearray(size)


def _look(head: bytes, where: str) -> tuple[str, bool]:
    """The kind of a file by its first bytes ("" for plain text), and True if that kind is text.

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


_METHODS: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
"""The unpackers by the groups of `_PACKED`; `_Zstd` does the rest."""


class _Zstd(io.RawIOBase):
    """Unpacked zstd, frame after frame, by Python's own module or by `zstandard`, which are near enough
    alike.

    `zstandard` has a reader of its own, but that takes a cut-off file for a whole one. Both unpack all that
    they are given, so they are given little at a time: 4 bytes can hold 128 KiB.
    """

    _FEED = 1024

    def __init__(self, packed: BinaryIO, where: str) -> None:
        for name in ("compression.zstd", "zstandard"):
            with contextlib.suppress(ImportError):
                self._module = importlib.import_module(name)
                break
        else:
            hint = "pip install 'tokentui[zstd]', or unpack it first"
            raise TokentuiError("zstd is not installed", where, hint)
        self._packed = packed
        self._frame: Any = None
        self._input, self._output = b"", memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
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
        part = self._output[: len(view)]
        self._output = self._output[len(part) :]
        view[: len(part)] = part
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
