"""Read the bytes of a file without blocking, unpacked (gzip, bzip2, xz, zstd) and up to a limit.

A pipe may never answer, so it is polled, and the job can be cancelled.
"""

from __future__ import annotations

import codecs
import contextlib
import importlib
import io
import mmap
import os
import re
import select
import stat
import sys
import time
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from tokentui.core import limits
from tokentui.core.choices import Ref
from tokentui.core.errors import TokentuiError, shown, shown_path
from tokentui.core.files import check_held, open_nonblocking, read_errors, refuse_irregular, status_of
from tokentui.core.jobs import check, tick
from tokentui.core.pages import pages

if TYPE_CHECKING:
    import hashlib

    from _typeshed import WriteableBuffer

BLOCK = 1 << 20
"""Bytes unpacked between two checks of the job."""

_PACKED = re.compile(
    rb"(?P<gzip>\x1f\x8b\x08)"
    rb"|(?P<bzip2>BZh[1-9](?:1AY&SY|\x17rE8P\x90))"
    rb"|(?P<xz>\xfd7zXZ\x00)"
    rb"|(?P<zstd>\x28\xb5\x2f\xfd)"
)
"""Matches the start of compressed data. The name of the group is the method."""

_READ_AHEAD = 1 << 16
_POLL_MS = 50
_ZSTD_FEED = 1024

_TAKE_PART = "use a part of it, such as head -c 1G"
_WANTED = "file of text"
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
    """The bytes read and unpacked so far, for all files together.

    Args:
        total: The number of bytes to read; 0 if unknown.
        limit: The name of the limit on unpacked bytes.

    Attributes:
        most: The value of the limit.
    """

    def __init__(self, total: int = 0, limit: str = "corpus-bytes") -> None:
        self.total, self.done, self.unpacked = total, 0, 0
        self.limit, self.most = limit, int(limits.value(limit))

    def advance(self, count: int) -> None:
        """Add to the number of bytes read, and report progress to the job.

        Raises the total if more is read than was measured.

        Raises:
            Cancelled: The job is cancelled.
        """
        self.done += count
        self.total = max(self.total, self.done) if self.total else 0
        tick(self.done, self.total)

    def check(self, size: int, where: str) -> None:
        """Raise if a number of bytes is above the limit. Adds nothing to the meter.

        Raises:
            TokentuiError: It is above the limit.
        """
        if size > self.most:
            what = f"{size:,} bytes are too many; the limit is {self.most:,}"
            raise TokentuiError(what, where, limits.reading(self.limit, _TAKE_PART))


class Contents(NamedTuple):
    """A file's bytes, unpacked.

    Attributes:
        data: The bytes, in private memory.
        digest: The SHA-256 of the file before unpacking; None if that is the digest of `data`.
        looks: The kind of file that it looks like; empty for plain text.
    """

    data: memoryview
    digest: bytes | None
    looks: str


class Binary(Exception):
    """A file is not text, and only text is accepted."""


def read_path(path: str, meter: Meter, text_only: bool = False, *, pipes: bool = False) -> Contents:
    """Return the contents of a file.

    Args:
        path: The path.
        meter: See `Meter`.
        text_only: True to refuse binary files.
        pipes: True to accept a named pipe.

    Raises:
        TokentuiError: It does not exist, cannot be read, is not a file, is too large, or is a known kind of
            wrong file.
        Binary: It is binary, with `text_only`.
        Cancelled: The job is cancelled.
    """
    with read_errors(path), opened_file(path, pipes=pipes) as file:
        return _contents(_LimitedStream(file, shown_path(path), meter), text_only)


@contextlib.contextmanager
def opened_file(path: str, *, pipes: bool = False) -> Iterator[BinaryIO]:
    """Open a file at its start. With `pipes` a named pipe is accepted too.

    Raises:
        TokentuiError: It is not a regular file.
        OSError: It cannot be opened.
    """
    measure(path, pipes=pipes)
    with open(path, "rb", 0, opener=open_nonblocking) as file:
        _size(os.fstat(file.fileno()), path, pipes)  # it may have become another meanwhile
        yield file


def packed(head: bytes) -> bool:
    """Return whether these first bytes of a file begin data in a compression method that can be unpacked."""
    return _PACKED.match(head) is not None


def read_stream(
    stream: BinaryIO, name: str, meter: Meter, text_only: bool = False, *, size: int | None = None
) -> Contents:
    """Return the contents of standard input, or of any open stream, unpacked.

    Args:
        stream: The stream.
        name: The name of the source in errors.
        meter: See `Meter`.
        text_only: True to refuse binary data.
        size: The size that the server announced, in bytes; None if unknown, which lowers the limit.

    Raises:
        TokentuiError: It cannot be read, is too large, sends nothing for too long, or is a known kind of
            wrong file.
        Binary: It is binary, with `text_only`.
        Cancelled: The job is cancelled.
    """
    with read_errors(name):
        return _contents(_LimitedStream(stream, name, meter, size), text_only)


def blocks(
    stream: BinaryIO, name: str, meter: Meter, text_only: bool = False, *, size: int | None = None
) -> Iterator[tuple[bytes, str]]:
    """Yield the unpacked contents of a stream or file in blocks: (bytes, the kind of file that it looks
    like).

    Arguments and errors are those of `read_stream`. Only one block is in memory at a time.
    """
    with read_errors(name):
        source = _LimitedStream(stream, name, meter, size)
        with _opened(source, text_only) as (stream_, method, looks):
            filled = 0
            while block := stream_.read(BLOCK):
                filled += len(block)
                _check_size(source, method, filled, len(block))
                yield block, looks


def read_plain(stream: BinaryIO, name: str) -> bytes:
    """Return the bytes of standard input, or of any open stream, without unpacking.

    Raises:
        TokentuiError: It cannot be read, is too large, or sends nothing for too long.
    """
    with read_errors(name):
        return bytes(_LimitedStream(stream, name, Meter()).readall() or b"")


def measure(path: str, *, pipes: bool = False) -> int | None:
    """Return the size of a file in bytes. With `pipes` a named pipe is accepted too, and gives None.

    Raises:
        TokentuiError: It is not a regular file.
        OSError: The system does not give its status.
    """
    return _size(status_of(path), path, pipes)


def _size(status: os.stat_result, path: str, pipes: bool) -> int | None:
    """Return the size of a file in bytes, None for a pipe if `pipes`.

    Raises:
        TokentuiError: It is a pipe and not allowed, or no regular file.
    """
    if stat.S_ISFIFO(status.st_mode):
        if pipes:
            return None
        what = "is a pipe, which may never answer or end"
        raise TokentuiError(what, shown_path(path), "--as text reads it, or name it -")
    refuse_irregular(status.st_mode, shown_path(path), _WANTED, _WHAT_CAN_BE_READ)
    return status.st_size


class _LimitedStream(io.RawIOBase):
    """A stream that counts and limits its bytes. A read returns fewer bytes than requested only at the end.

    Args:
        stream: The stream. If it is not a file, the number of bytes and the time without data are limited.
        where: The name of the source in errors.
        meter: Counts the bytes read and cancels the job.
        size: The size that the server announced, in bytes; None if unknown.

    Attributes:
        status: The status of a file; None for another stream.
        count: The number of bytes read.
        hash: Updated with all bytes read after it is set; None before.
    """

    def __init__(self, stream: BinaryIO, where: str, meter: Meter, size: int | None = None) -> None:
        # readinto1() returns the bytes that are available; readinto() waits for all.
        self._take: Any = getattr(stream, "readinto1", getattr(stream, "readinto", None))
        if self._take is None:
            what = f"expected a stream of bytes, not {shown(stream)}"
            raise TokentuiError(what, where, "open it as bytes")
        if stream.closed:
            raise TokentuiError("is closed", where, "name a file")
        self.where, self.meter, self.count = where, meter, 0
        self.hash: hashlib._Hash | None = None
        self.status: os.stat_result | None = None
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
                refuse_irregular(mode, where, _WANTED, _WHAT_CAN_BE_READ)
            self.status = status if stat.S_ISREG(mode) else None
        now, endless = limits.now(), self.status is None and size is None
        self.most = min(meter.most, now.stream_bytes) if endless else meter.most
        self._limit = "stream-bytes" if self.most < meter.most else meter.limit
        self._patience = now.stream_seconds if endless and not terminal else None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill a buffer as far as the stream goes, and count and hash what is read.

        Raises:
            TokentuiError: The stream is larger than the limit.
        """
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
        """Return, without raising it, the error for a stream beyond the limit."""
        return TokentuiError(
            f"more than {self.most:,} bytes, which is the limit",
            self.where,
            limits.reading(self._limit, _TAKE_PART),
        )

    def _next(self, view: memoryview) -> int:
        """Read what the stream has next; 0 at its end. Asks the job while it waits.

        Raises `TokentuiError` if nothing comes for `_patience` seconds, `Cancelled` if the job is cancelled.
        """
        begun = time.monotonic()
        while True:
            check()
            if self._patience is not None and time.monotonic() - begun > self._patience:
                hint = limits.reading("stream-seconds", "see what feeds it")
                raise TokentuiError(f"no data arrived for {self._patience:g} s", self.where, hint)
            if not self._polled or self._poll.poll(_POLL_MS):
                with contextlib.suppress(BlockingIOError):
                    taken: int | None = self._take(view)
                    if taken is not None:
                        return taken


@contextlib.contextmanager
def _opened(source: _LimitedStream, text_only: bool) -> Iterator[tuple[io.BufferedReader[Any], str, str]]:
    """Yield the unpacked contents of a source: (stream, compression method or "", the kind of file that it
    looks like).

    Errors about damaged data inside the context become one-line errors.

    Raises:
        TokentuiError: The data is damaged, larger than the limit, or a known kind of wrong file.
        Binary: The data is binary, with `text_only`.
    """
    where = source.where
    stream = packed = io.BufferedReader(source, _READ_AHEAD)
    match = _PACKED.match(packed.peek())
    method = str(match.lastgroup) if match else ""
    try:
        if method:
            import hashlib  # what is not packed needs none

            source.hash = hashlib.sha256(packed.peek(), usedforsecurity=False)
            opened = _METHODS.get(method, lambda packed: _Blocks(_zstd(packed, where)))
            stream = io.BufferedReader(opened(packed), _READ_AHEAD)
            if again := _PACKED.match(stream.peek()):
                what = f"{again.lastgroup} data packed with {method}"
                raise TokentuiError(what, where, "unpack it first")
        looks, is_text = look(stream.peek(), where)
        if text_only and not is_text:
            raise Binary
        yield stream, method, looks
    except _damages() as error:
        if not method or getattr(error, "errno", None):  # a fault of the disk, not of the data
            raise
        why = "cut off" if isinstance(error, EOFError) else error
        what = f"damaged {method} data: {why}"
        raise TokentuiError(what, where, "fetch it again, or unpack it first") from None


def _check_size(source: _LimitedStream, method: str, filled: int, count: int) -> None:
    """Add unpacked bytes to the meter, and raise an error beyond the limits.

    Args:
        source: The compressed stream.
        method: The compression method, or "".
        filled: The unpacked bytes of this stream so far.
        count: How many of these are new.
    """
    meter, now = source.meter, limits.now()
    meter.unpacked += count
    # First what is wrong with the file: to raise the other limit would not help.
    if method and filled > max(now.packed_bytes, now.packed_ratio * source.count):
        what = f"unpacks to more than {now.packed_ratio} times its size"
        hint = limits.reading("packed-ratio", "if that is right, unpack it first")
        raise TokentuiError(what, source.where, hint)
    if meter.unpacked > meter.most or filled > source.most:
        raise source.too_much()


def _contents(source: _LimitedStream, text_only: bool) -> Contents:
    """Read a stream to its end into one buffer, which is as large as the file at first.

    Raises:
        TokentuiError: More bytes come than the limit allows.
    """
    meter, where = source.meter, source.where
    size = source.status.st_size if source.status else 0
    with _opened(source, text_only) as (stream, method, looks):
        meter.check(meter.unpacked + size, where)
        if source.status is not None:
            check_held(source.status, where)
        # one more byte finds the end without another copy
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
            _check_size(source, method, filled, count)
    return Contents(memoryview(data)[:filled], source.hash.digest() if source.hash else None, looks)


def _room(size: int) -> bytearray | mmap.mmap:
    """Return memory for `size` bytes. Large blocks are not zeroed first: that would block all threads."""
    return pages(size) if size > BLOCK else bytearray(size)


def look(head: bytes, where: str) -> tuple[str, bool]:
    """Return the kind of a file by its first bytes ("" for plain text), and whether that kind is text.

    Raises:
        TokentuiError: It is a placeholder for the real file, such as a Git LFS pointer.
    """
    if head.startswith(_LFS):
        raise TokentuiError("is a Git LFS pointer, not the file itself", where, "run git lfs pull")
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


_METHODS: dict[str, Any] = {"gzip": Ref("gzip:open"), "bzip2": Ref("bz2:open"), "xz": Ref("lzma:open")}
"""The decompressors by the group names of `_PACKED`, but for zstd."""


def _damages() -> tuple[type[Exception], ...]:
    """Return the exceptions of decompressors about damaged data."""
    lzma = sys.modules.get("lzma")  # unless it is imported, nothing was packed by it
    return EOFError, OSError, zlib.error, *([] if lzma is None else [lzma.LZMAError])


class _Blocks(io.RawIOBase):
    """Blocks of bytes, none empty, as a readable file."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._left = blocks, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read from one block: fewer bytes than the buffer takes are no end."""
        view = memoryview(buffer).cast("B")
        self._left = self._left or memoryview(next(self._blocks, b""))
        part, self._left = self._left[: len(view)], self._left[len(view) :]
        view[: len(part)] = part
        return len(part)


def _zstd(packed: BinaryIO, where: str) -> Iterator[bytes]:
    """Unpack zstd frame by frame, by Python's own module or by `zstandard`, whose interfaces are nearly
    equal.

    The reader of `zstandard` does not notice a truncated file. Both unpack all their input at once, so they
    get little at a time: 4 bytes can unpack to 128 KiB.

    Raises:
        TokentuiError: zstd is not installed.
        EOFError: The data is truncated.
        OSError: The data is damaged.
    """
    for name in ("compression.zstd", "zstandard"):
        with contextlib.suppress(ImportError):
            module = importlib.import_module(name)
            break
    else:
        hint = "pip install 'tokentui[zstd]', or unpack it first"
        raise TokentuiError("zstd is not installed", where, hint)
    frame: Any = None
    data = b""
    while data := data or packed.read(_ZSTD_FEED):
        if frame is None:
            frame = module.ZstdDecompressor()
            frame = frame.decompressobj() if hasattr(frame, "decompressobj") else frame
        try:
            block = frame.decompress(data)
        except module.ZstdError as error:
            raise OSError(str(error)) from None
        data = b""
        if frame.eof:
            data, frame = frame.unused_data, None
        if block:
            yield block
    if frame is not None:
        raise EOFError("the end is missing")
