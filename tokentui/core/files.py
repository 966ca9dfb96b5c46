"""Files: opened only where they are regular, and written whole or not at all.

A pipe, socket or device may wait for ever, or act when it is opened, so a file is looked at first.

A reader sees the old content or the new, whatever call fails and whenever the process is killed. The content
goes to a temporary file in the same folder, is flushed to the disk and takes the name of the target by one
rename. A temporary file is locked as long as its writer lives; one that is not is removed by the next write
of the same target.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import stat
from collections.abc import Iterator
from typing import BinaryIO

from tokentui.core import limits
from tokentui.core.errors import TokentuiError

_KINDS = {
    stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
}
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
_TRIES = 100


def kind(mode: int) -> str:
    """Name the kind of a file that is not regular."""
    return _KINDS.get(stat.S_IFMT(mode), "something else")


def check_held(status: os.stat_result, path: str) -> None:
    """Refuse a sparse file of almost nothing but holes, which unpacks to zeros as a packed bomb does.

    Raises:
        TokentuiError: It says to hold many times what the disk holds of it.
    """
    now, size, held = limits.now(), status.st_size, 512 * status.st_blocks
    if size > max(now.packed_bytes, now.packed_ratio * held):
        what = f"{size:,} bytes, of which the disk holds {held:,}: the rest are zeros"
        raise TokentuiError(what, path, limits.reading("packed-ratio", "take a part of it"))


def open_regular(path: str, wanted: str = "file") -> BinaryIO:
    """Open a regular file for reading.

    Args:
        path: Its path.
        wanted: What it is meant to be, for the error.

    Raises:
        TokentuiError: It is something else than a regular file, or one of holes.
        OSError: It is not there, or may not be read.
        ValueError: No file can have this name.
    """
    _check(os.stat(path), path, wanted)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        _check(status, path, wanted)  # it may have become another meanwhile
        check_held(status, path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _check(status: os.stat_result, path: str, wanted: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        hint = "name the file in it" if stat.S_ISDIR(status.st_mode) else f"name a {wanted}"
        raise TokentuiError(f"{kind(status.st_mode)}, not a {wanted}", path, hint)



def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part.

    A symlink's target is written; an existing file keeps its permissions; what is no plain file (a pipe, a
    terminal) is written to as it is. Nothing is left behind on failure.

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
    """A temporary file in the folder of a target, written and synced to the disk.

    The file is removed at the end if it still has its name.
    """
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
    """Return a new name in the folder of a target."""
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
    """Lock a file until it is closed. Returns whether no other process has it; a file system without locks
    says so as well."""
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
