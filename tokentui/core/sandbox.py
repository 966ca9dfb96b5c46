"""The files that this process may reach: all that its user may, or those that are served to strangers alone.

A process that is shown to visitors (`tokentui serve`) stands in a folder that holds a link to each file that
it serves. It is sealed before it takes the first key. From then on a path is one of these names, or the path
of a file below a folder among them; any other is refused as text, before the disk is asked. What a link
leads to is looked at only where a visitor has named what is served.

All code that takes a path from a user goes through `core/files.py`, which asks here; a test holds it to that.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from tokentui.core.errors import TokentuiError, shown_path

REFUSED = "not among the files that are served here"
HINT = "o lists them, and t takes a text of your own"
NO_WRITING = "nothing is written to the disk here"


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
        # Below a folder that is served: a link in it must not lead out of it.
        root = os.path.realpath(parts[0])
        return os.path.realpath(path).startswith(root.rstrip("/") + "/")


_reach: ReadablePaths | None = None


def seal(names: Iterable[str], own: Iterable[str] = ()) -> None:
    """Let nothing else be read from now on, and nothing be written, until the process ends."""
    global _reach
    _reach = ReadablePaths(frozenset(names), tuple(own))


def unseal() -> None:
    """Let all be read again; for tests, which seal their own process."""
    global _reach
    _reach = None


def sealed() -> bool:
    """Return whether this process serves visitors, who must not reach the files of the machine."""
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
        TokentuiError: It must not.
    """
    if not holds(path):
        raise TokentuiError(REFUSED, shown_path(path), HINT)


def check_writing(path: str) -> None:
    """Refuse to write a file where none may be written.

    Raises:
        TokentuiError: None may.
    """
    if _reach is not None:
        raise TokentuiError(NO_WRITING, shown_path(path), "e hands a tokenizer to your browser")


def expanded(path: str) -> str:
    """Expand `~` in a typed path. In a sealed process the path is returned unchanged."""
    return path if sealed() else os.path.expanduser(path)
