"""A tokenizer file as it was found: its bytes, and what they are as text or JSON."""

from __future__ import annotations

import functools
import os
import stat
from dataclasses import dataclass
from typing import Any

from tokentui.errors import TokentuiError
from tokentui.formats.checking import Place, parse_json

LARGEST_FILE = 1 << 30
"""More than this is no tokenizer, in bytes."""

_MOST_NEIGHBOURS = 1000


@dataclass(frozen=True)
class Source:
    """A file that is to be read.

    Attributes:
        where: What it is called in errors: its path.
        data: Its bytes.
        split: The split that the user named for a file that holds none, empty for none.
    """

    where: str
    data: bytes
    split: str = ""

    @property
    def place(self) -> Place:
        """The file as a place in errors."""
        return Place(self.where)

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
        """Whether it looks like a JSON object."""
        return self.data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")

    @functools.cached_property
    def document(self) -> dict[str, Any]:
        """The JSON object that it is; empty where it is none.

        Raises:
            TokentuiError: It looks like one and is damaged.
        """
        if not self.is_object:
            return {}
        try:
            text = self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise TokentuiError(f"not UTF-8 at byte {error.start}", self.where, "mend the file or train it again") from None
        document: dict[str, Any] = parse_json(text, self.place)
        return document

    def neighbours(self, first: tuple[str, ...], suffixes: tuple[str, ...], largest: int = 1 << 28) -> list[Source]:
        """Other files of the folder, those of well-known names first; folders, pipes and what cannot be read are left out."""
        folder, own = os.path.split(self.where)
        try:
            names = sorted(entry.name for entry in os.scandir(folder or "."))[:_MOST_NEIGHBOURS]
        except (OSError, ValueError):
            return []
        names = [name for name in names if name != own and (name in first or name.endswith(suffixes))]
        names.sort(key=lambda name: (first.index(name) if name in first else len(first), name))
        found = []
        for name in names:
            path = os.path.join(folder, name)
            try:
                if stat.S_ISREG(os.stat(path).st_mode) and os.path.getsize(path) <= largest:
                    with open(path, "rb") as file:
                        found.append(Source(path, file.read(largest), self.split))
            except OSError:
                continue
        return found


def read_source(where: str, split: str = "") -> Source:
    """Read a file as it is.

    Raises:
        TokentuiError: It cannot be read, or is larger than any tokenizer.
    """
    if os.path.isdir(where):
        raise TokentuiError("a folder, not a tokenizer file", where, "name the file in it")
    try:
        # Opened without waiting and looked at first: a pipe that nobody writes to would hold the program for ever.
        with open(os.open(where, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise TokentuiError("a pipe or device, not a file", where, "name a tokenizer file")
            data = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise TokentuiError("no such file", where, "check the name") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = error.strerror if isinstance(error, OSError) else None
        raise TokentuiError(f"cannot be read: {why or error}", where, "check the name and the permissions") from None
    if len(data) > LARGEST_FILE:
        raise TokentuiError("larger than any tokenizer file (1 GiB)", where, "name a tokenizer file")
    return Source(where, data, split)
