"""The files that this process may read: all that its user may, or only those that it serves to strangers.

A process for visitors (`tokentui serve`) runs in a folder with a link to each served file. It is sealed
before it reads the first key. Then a path must be one of these names, or be below a folder among them. Any
other path is refused by its text, without access to the disk. Links are resolved only for served names.

All code that takes a path from a user calls `core/files.py`, which checks here. A test enforces that.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from tokentui.core.errors import TokentuiError, shown_path
from tokentui.core.records import dataclass

REFUSED = "not one of the served files"
HINT = "o lists them, and t opens your own text"
NO_WRITING = "writing to the disk is not allowed here"


@dataclass(frozen=True, slots=True)
class ReadablePaths:
    """The files that a sealed process may read.

    Attributes:
        names: The names in the current folder that are served: files and folders.
        own: Folders of the program's own files, such as its samples, by their whole paths.
    """

    names: frozenset[str]
    own: tuple[str, ...] = ()

    def holds(self, path: str) -> bool:
        """Return whether a path may be read. Most paths outside the served files are refused without access
        to the disk."""
        if path in self.names:
            return True
        parts = path.split("/")
        if {"", ".", ".."} & {*parts[1:]} or "\0" in path:
            return False
        if any(path.startswith(folder + "/") for folder in self.own):
            return True
        if parts[0] not in self.names:
            return False
        # A link inside a served folder must not lead out of it.
        root = os.path.realpath(parts[0])
        return os.path.realpath(path).startswith(root.rstrip("/") + "/")


_reach: ReadablePaths | None = None


def seal(names: Iterable[str], own: Iterable[str] = ()) -> None:
    """Restrict reading to these files, and forbid writing, until the process ends.

    Args:
        names: The names in the current folder that are served.
        own: Folders of the program's own files, by absolute path.
    """
    global _reach
    _reach = ReadablePaths(frozenset(names), tuple(own))


def unseal() -> None:
    """Lift the restriction. For tests, which seal their own process."""
    global _reach
    _reach = None


def sealed() -> bool:
    """Return whether this process serves visitors and may read only the served files."""
    return _reach is not None


def served() -> tuple[str, ...]:
    """Return the served names in order; empty if the process is not sealed."""
    return tuple(sorted(_reach.names)) if _reach is not None else ()


def holds(path: str) -> bool:
    """Return whether a path may be read."""
    return _reach is None or _reach.holds(path)


def check(path: str) -> None:
    """Refuse a path that must not be read.

    Raises:
        TokentuiError: The sandbox forbids it.
    """
    if not holds(path):
        raise TokentuiError(REFUSED, shown_path(path), HINT)


def check_writing(path: str) -> None:
    """Refuse to write a file in a sealed process.

    Raises:
        TokentuiError: The process is sealed.
    """
    if _reach is not None:
        raise TokentuiError(NO_WRITING, shown_path(path), "press e to download a tokenizer")


def expanded(path: str) -> str:
    """Expand `~` in a typed path. In a sealed process the path is returned unchanged."""
    return path if sealed() else os.path.expanduser(path)
