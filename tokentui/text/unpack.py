"""Packed corpora: gzip, bzip2, xz and zstd, unpacked as they are read."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import re
from typing import Any, BinaryIO

from tokentui.core.errors import TokentuiError

PACKED = re.compile(
    rb"(?P<gzip>\x1f\x8b\x08)"
    rb"|(?P<bzip2>BZh[1-9](?:1AY&SY|\x17rE8P\x90))"
    rb"|(?P<xz>\xfd7zXZ\x00)"
    rb"|(?P<zstd>\x28\xb5\x2f\xfd)"
)
"""How packed data begins; the name of the group is that of the method."""


def unpacked(packed: BinaryIO, method: str, where: str) -> Any:
    """The stream in a packed one.

    Args:
        packed: What is packed.
        method: The name of a group of `PACKED`.
        where: What it is called in errors.

    Raises:
        TokentuiError: What unpacks it is not installed.
    """
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
