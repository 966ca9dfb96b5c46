"""Files that are looked at before they are opened, so that no pipe, socket or device is: those may wait, or act."""

from __future__ import annotations

import os
import stat
from typing import BinaryIO

from tokentui.core import limits
from tokentui.core.errors import TokentuiError

_KINDS = {
    stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
}


def kind(mode: int) -> str:
    """What a file is that is no regular one, in words."""
    return _KINDS.get(stat.S_IFMT(mode), "something else")


def check_held(status: os.stat_result, path: str) -> None:
    """Refuse a file of next to nothing but holes: it is to the disk what a packed bomb is.

    Raises:
        TokentuiError: It says to hold many times what the disk holds of it.
    """
    now, size, held = limits.now(), status.st_size, 512 * status.st_blocks
    if size > max(now.packed_bytes, now.packed_ratio * held):
        what = f"{size:,} bytes, of which the disk holds {held:,}: the rest are zeros"
        raise TokentuiError(what, path, limits.reading("packed-ratio", "take a part of it"))


def open_regular(path: str, wanted: str = "file") -> BinaryIO:
    """A regular file, open for reading.

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
