"""The header of a GGUF file: its metadata, without the tensors.

Versions 2 and 3 are read, in both byte orders. Keys unrelated to the tokenizer are skipped. Source:
ggml-org/ggml, `docs/gguf.md`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check

MAGIC = b"GGUF"
AGAIN = "download the file again"
_KEPT = ("tokenizer.", "general.name", "general.architecture")
"""Prefixes of the keys whose values are kept."""
_STRING, _ARRAY = 8, 9
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""The `struct` code of each numeric type."""
_LONGEST_KEY = (1 << 16) - 1
_MOST_KEYS = 1 << 16
_FIRST = 1 << 22
"""The bytes that are read first. While the metadata is incomplete, four times as many are read."""
_CHECKED = 1 << 14

MetadataValue = int | float | bool | str | bytes | list[int] | list[float] | list[str]


class Metadata(NamedTuple):
    """The metadata of a file.

    Attributes:
        values: The value of each kept key. An array of 8-bit numbers is bytes.
        end: The offset where the metadata ends.
    """

    values: dict[str, MetadataValue]
    end: int


class CutOff(TokentuiError):
    """The data ends inside the metadata."""


class _MetadataReader:
    """Reads the values of metadata one by one. Methods raise `CutOff` if the data ends, and `TokentuiError`
    if a value is damaged or too large.

    Args:
        data: The first bytes of the file, or all of them.
        where: The name of the file in errors.
        order: `<` for little endian, `>` for big endian.
        at: The offset of the first value.
    """

    def __init__(self, data: bytes, where: str, order: str, at: int) -> None:
        self.data, self.where, self.at = data, where, at
        self._length = struct.Struct(order + "Q")
        self._kind = struct.Struct(order + "I")
        self._order = order

    def cut_off(self) -> CutOff:
        """Return the error for data that ends too early, with the offset."""
        what = f"damaged at byte {self.at:,}: it is cut off"
        return CutOff(what, self.where, AGAIN)

    def damaged(self, what: str) -> TokentuiError:
        """Return an error at the offset of the next value."""
        return TokentuiError(f"damaged at byte {self.at:,}: {what}", self.where, AGAIN)

    def _taken(self, size: int) -> int:
        """Skip bytes, and return the offset of the first of them.

        Raises:
            CutOff: The data ends before.
        """
        start = self.at
        if size > len(self.data) - start:
            raise self.cut_off()
        self.at = start + size
        return start

    def length(self) -> int:
        """Read an 8-byte length.

        Raises:
            TokentuiError: It is larger than a tokenizer file may be.
        """
        length: int = self._length.unpack_from(self.data, self._taken(8))[0]
        if length > limits.now().file_bytes:
            self.at -= 8
            raise self.damaged(f"a length of {length:,}")
        return length

    def kind(self) -> int:
        """Read the number of a type of GGUF, 4 bytes, and advance.

        Raises:
            TokentuiError: The type is unknown. `at` is before the number again.
        """
        kind: int = self._kind.unpack_from(self.data, self._taken(4))[0]
        if kind not in _NUMBERS and kind not in (_STRING, _ARRAY):
            self.at -= 4
            raise self.damaged(f"there is no type {kind}")
        return kind

    def text(self, most: int | None = None) -> str:
        """Read a string. Bytes that are not UTF-8 become lone surrogates.

        Args:
            most: The most bytes; None for no limit.
        """
        length = self.length()
        if most is not None and length > most:
            raise self.damaged(f"a key of {length:,} bytes")
        start = self._taken(length)
        return self.data[start : start + length].decode("utf-8", "surrogateescape")

    def value(self, keep: bool) -> MetadataValue:
        """Read a value of any type, after its type. If `keep` is False, an array is skipped and gives an
        empty list."""
        kind = self.kind()
        if kind == _ARRAY:
            return self._array(keep)
        if kind == _STRING:
            return self.text()
        code = _NUMBERS[kind]
        start = self._taken(struct.calcsize(code))
        number: int | float | bool = struct.unpack_from(self._order + code, self.data, start)[0]
        return number

    def _array(self, keep: bool) -> MetadataValue:
        """Read an array of the metadata. Without `keep` it is skipped, and an empty list is returned."""
        kind, size = self.kind(), self.length()
        if kind == _ARRAY:
            raise self.damaged("an array in an array, which no tokenizer has")
        code = _NUMBERS.get(kind, "")
        if keep and code not in ("B", "b") and size > (most := limits.now().vocabulary):
            what = f"an array of {size:,} values; the limit is {most:,}"
            raise TokentuiError(what, self.where, limits.reading("vocabulary"))
        if kind == _STRING:
            return self._strings(size, keep)
        start = self._taken(size * struct.calcsize(code))
        if not keep:
            return []
        if code in "Bb":
            return self.data[start : self.at]
        return list(struct.unpack_from(f"{self._order}{size}{code}", self.data, start))

    def _strings(self, size: int, keep: bool) -> list[str]:
        """Read the strings of an array, or with `keep` False only pass them. Raises if they are cut off.

        Most of the time of reading a header is spent here.
        """
        data, end, length_of = self.data, len(self.data), self._length.unpack_from
        out: list[str] = []
        at = self.at
        for number in range(size):
            if not number % _CHECKED:
                check()
            start = at + 8
            if start > end:
                raise self.cut_off()
            stop = start + length_of(data, at)[0]
            if stop > end:
                self.at = at
                self.length()  # it may be no length at all
                raise self.cut_off()
            if keep:
                out.append(data[start:stop].decode("utf-8", "surrogateescape"))
            at = stop
        self.at = at
        return out


def parse(data: bytes, where: str, prefixes: tuple[str, ...] = _KEPT) -> Metadata:
    """Return the metadata of a file.

    Args:
        data: The file, or its first bytes.
        where: The name of the file in errors.
        prefixes: Prefixes of the keys whose values are kept.

    Raises:
        CutOff: The data ends before the metadata.
        TokentuiError: It is damaged, or of another version. The message has the offset.
    """
    if not data.startswith(MAGIC):
        raise TokentuiError("not a GGUF file", where, AGAIN)
    if len(data) < 8:
        raise _MetadataReader(data, where, "<", len(data)).cut_off()
    order = ">" if data[4:6] == b"\0\0" else "<"
    version = struct.unpack_from(order + "I", data, 4)[0]
    if version not in (2, 3):
        raise TokentuiError(f"version {version} of GGUF is not read", where,
                            "versions 2 and 3 are: convert it again")
    reader = _MetadataReader(data, where, order, 8)
    if len(data) < 24:
        raise reader.cut_off()
    _, keys = struct.unpack_from(order + "QQ", data, 8)
    if keys > _MOST_KEYS:
        raise reader.damaged(f"{keys:,} keys")
    reader.at = 24
    values: dict[str, MetadataValue] = {}
    seen: set[str] = set()
    for _ in range(keys):
        key = reader.text(_LONGEST_KEY)
        if key in seen:
            raise reader.damaged(f"the key {key[:40]!r} is there twice")
        seen.add(key)
        keeps = key.startswith(prefixes)
        value = reader.value(keeps)
        if keeps:
            values[key] = value
    return Metadata(values, reader.at)


def read_header(read: Callable[[int], bytes], where: str) -> bytes:
    """Return the first bytes of a file, up to the end of its metadata.

    Args:
        read: Returns at most this many of the next bytes of the file; empty at its end.
        where: The name of the file in errors.

    Raises:
        TokentuiError: It is damaged, or its metadata is larger than a tokenizer file may be.
    """
    most = limits.now().file_bytes
    data, wanted = b"", _FIRST
    while True:
        more = _up_to(read, wanted - len(data))
        data += more
        try:
            return data[: parse(data, where, ()).end]
        except CutOff:
            if not more:
                raise
        if wanted >= most:
            raise TokentuiError(f"metadata of more than {most:,} bytes", where, limits.reading("file-bytes"))
        wanted = min(wanted * 4, most)


def _up_to(read: Callable[[int], bytes], size: int) -> bytes:
    """Read `size` bytes. Return fewer only at the end."""
    parts: list[bytes] = []
    while size > 0 and (part := read(size)):
        check()
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
