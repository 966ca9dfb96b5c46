"""Write files whole or not at all.

A reader sees the old content or the new, whatever call fails and whenever the process is killed.

The content goes to a temporary file in the same folder, is flushed to the disk and takes the name of the target by one rename. A
temporary file is locked as long as its writer lives; one that is not is removed by the next write of the same target.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import stat
from collections.abc import Iterator

from tokentui.core.errors import TokentuiError

_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
_TRIES = 100


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part.

    A symlink's target is written; an existing file keeps its permissions; what is no plain file (a pipe, a terminal) is
    written to as it is. Nothing is left behind on failure.

    Raises:
        TokentuiError: It cannot be written; it says why.
    """
    where = os.fspath(path)
    try:
        target = os.path.realpath(where)
        mode = mode_of(target)
        if mode is None or stat.S_ISREG(mode):
            clean(target)
            with temporary(target, data, mode) as name:
                os.replace(name, target)
            flush_folder(os.path.dirname(target))
        else:
            with open(target, "wb") as file:
                file.write(data)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = error.strerror if isinstance(error, OSError) else None
        what = f"cannot be written: {why or error}"
        raise TokentuiError(what, where, "the file is as it was; name another place") from None


def mode_of(target: str) -> int | None:
    """The mode of a file, None where there is none."""
    try:
        return os.stat(target).st_mode
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def temporary(target: str, data: bytes, mode: int | None) -> Iterator[str]:
    """A temporary file beside a target, written and on the disk. It is removed in the end where it still has its name."""
    name, descriptor = "", -1
    try:
        for _ in range(_TRIES):
            name = temporary_name(target)
            descriptor = os.open(name, _FLAGS | os.O_EXCL, 0o666)
            lock(descriptor)
            if os.fstat(descriptor).st_nlink:  # else it was taken for a leftover before it was locked
                break
            os.close(descriptor)
            descriptor = -1
        if mode is not None:
            os.fchmod(descriptor, stat.S_IMODE(mode))
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
        yield name
    finally:
        if descriptor >= 0:
            os.close(descriptor)
        if name:
            remove(name)


def temporary_name(target: str) -> str:
    """A new name beside a target."""
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{name[:100]}.{secrets.token_hex(4)}.tmp")


def clean(target: str) -> None:
    """Remove the temporary files of writers of this target that were killed."""
    folder, name = os.path.split(target)
    like = re.compile(rf"\.{re.escape(name[:100])}\.[0-9a-f]{{8}}\.tmp")
    with contextlib.suppress(OSError):
        for found in [entry.path for entry in os.scandir(folder) if like.fullmatch(entry.name)]:
            with contextlib.suppress(OSError):
                descriptor = os.open(found, os.O_RDWR | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0))
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(found)
                finally:
                    os.close(descriptor)


def lock(descriptor: int, *, wait: bool = True) -> bool:
    """Lock a file until it is closed. Returns whether no other process has it; a file system without locks says so as well."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def flush_folder(folder: str) -> None:
    """Bring new names to the disk; a file system that cannot say so is no failure."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove(path: str) -> None:
    """Remove a file that may be gone."""
    with contextlib.suppress(OSError):
        os.unlink(path)
