"""A tokenizer file as it was found: its bytes, and the text, lines or JSON that they are."""

from __future__ import annotations

import functools
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.core.files import open_regular
from tokentui.formats.document import MEND, Node, check_depth, parse
from tokentui.recipe import Recipe

_GZIP = b"\x1f\x8b"
_MOST_NEIGHBOURS = 1000
_BLOCK = 1 << 20


class NeedsSplit(TokentuiError):
    """The file holds no pattern, and none was named."""


class Known(NamedTuple):
    """The recipe and the specials that the project's own file says of a tokenizer of another tool."""

    recipe: Recipe
    specials: Mapping[str, int]


@dataclass(frozen=True)
class Source:
    """A file that is to be read.

    Attributes:
        where: Its name in errors: its path.
        data: Its bytes, unpacked where it was packed with gzip.
        split: The split that the user named for a file that holds none, empty for none.
        others: The files that it belongs to, where these are at hand; None to look for them in its folder.
        known: The recipe and the specials, where the project's own file says them.
    """

    where: str
    data: bytes
    split: str = ""
    others: tuple[Source, ...] | None = None
    known: Known | None = None

    def error(self, what: str, hint: str = MEND) -> TokentuiError:
        """An error of the whole file."""
        return TokentuiError(what, self.where, hint)

    def line(self, number: int) -> Node:
        """The place of a line, counted from 0 and shown from 1."""
        return Node(None, f"line {number + 1}", Node(None, self.where))

    def keeps_split(self, split: str) -> None:
        """Refuse a split that the user named where the file holds another one."""
        if self.split and self.split != split:
            raise self.error(f"the split cannot be changed to {self.split}",
                             f"the file holds its split: {split}")

    @functools.cached_property
    def text(self) -> str | None:
        """The file as text, None where it is not UTF-8. A byte order mark is not text."""
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None

    @functools.cached_property
    def lines(self) -> list[str]:
        """The lines of the text, without line ends and without the empty one behind the last."""
        lines = (self.text or "").replace("\r\n", "\n").split("\n")
        return lines[:-1] if lines and not lines[-1] else lines

    @property
    def is_object(self) -> bool:
        """Return whether it looks like a JSON object."""
        return self.data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")

    @functools.cached_property
    def root(self) -> Node:
        """The JSON object that it is; an empty one where it is none.

        Raises:
            TokentuiError: It looks like one and is damaged.
        """
        if not self.is_object:
            return Node({}, self.where)
        try:
            text = self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise self.error(f"not UTF-8 at byte {error.start}") from None
        root = parse(text, self.where)
        document = root.mapping()
        model = document.get("model")
        # Rows of a vocabulary and of merges are looked at one by one when they are read.
        if isinstance(model, dict):
            model = {name: one for name, one in model.items() if name not in ("vocab", "merges")}
        check_depth({**document, "model": model}, root)
        return root

    @property
    def document(self) -> dict[str, object]:
        """The keys and values of `root`."""
        return self.root.mapping()

    def neighbours(self, first: tuple[str, ...], suffixes: tuple[str, ...]) -> Iterator[Source]:
        """Other files of the folder, those of well-known names first; folders, pipes and what cannot be read
        are left out.
        """
        if self.others is not None:
            yield from (replace(other, split=self.split) for other in self.others)
            return
        folder, own = os.path.split(self.where)
        try:
            names = sorted(entry.name for entry in os.scandir(folder or "."))[:_MOST_NEIGHBOURS]
        except (OSError, ValueError):
            return
        names = [name for name in names if name != own and (name in first or name.endswith(suffixes))]
        names.sort(key=lambda name: (first.index(name) if name in first else len(first), name))
        most = limits.now().file_bytes
        for name in names:
            path = os.path.join(folder, name)
            try:
                with open_regular(path) as file:
                    if os.fstat(file.fileno()).st_size > most:
                        continue
                    near = Source(path, file.read(most), self.split)
            except (OSError, TokentuiError):
                continue
            yield near


def source_of(
    names: tuple[str, ...], files: tuple[bytes, ...], split: str = "", known: Known | None = None
) -> Source:
    """Files that lie nowhere yet as one source: the first, which knows the others."""
    first, *others = (Source(name, data, split, ()) for name, data in zip(names, files, strict=True))
    return replace(first, others=tuple(others), known=known)


def read_source(where: str, split: str = "") -> Source:
    """Read a file as it is.

    Raises:
        TokentuiError: It cannot be read, or is larger than any tokenizer.
    """
    most = limits.now().file_bytes
    try:
        with open_regular(where, "tokenizer file") as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(most + 1) if size <= most else b""
    except FileNotFoundError:
        raise TokentuiError("no such file", where, "check the name") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = error.strerror if isinstance(error, OSError) else None
        raise TokentuiError(f"cannot be read: {why or error}", where,
                            "check the name and the permissions") from None
    if size > most or len(data) > most:
        hint = limits.reading("file-bytes", "name a tokenizer file")
        raise TokentuiError(f"more than {most:,} bytes, which is the limit", where, hint)
    return Source(where, _unpacked(data, where) if data.startswith(_GZIP) else data, split)


def _unpacked(data: bytes, where: str) -> bytes:
    """The file in a gzip file, such as CLIP's is published as."""
    now = limits.now()
    unpacker = zlib.decompressobj(wbits=31)
    out, rest = bytearray(), data
    try:
        while rest and not unpacker.eof:
            out += unpacker.decompress(rest, _BLOCK)
            rest = unpacker.unconsumed_tail
            if len(out) > now.file_bytes:
                what = f"packed with gzip, and more than {now.file_bytes:,} bytes, which is the limit"
                raise TokentuiError(what, where, limits.reading("file-bytes"))
            if len(out) > max(now.packed_bytes, now.packed_ratio * (len(data) - len(rest))):
                what = f"packed with gzip, and unpacks to more than {now.packed_ratio} times its size"
                raise TokentuiError(what, where, limits.reading("packed-ratio"))
    except zlib.error:
        raise TokentuiError("packed with gzip, and damaged", where, "fetch it again") from None
    if not unpacker.eof:
        raise TokentuiError("packed with gzip, and cut off", where, "fetch it again")
    return bytes(out)
