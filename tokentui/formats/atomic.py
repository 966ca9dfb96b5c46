"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat

from tokentui.errors import TokentuiError


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part.

    The content goes to a new file in the same folder, is flushed to the disk and takes the name of the target. A
    symlink's target is written; an existing file keeps its permissions; what is no plain file (a pipe, a terminal) is
    written to as it is. Nothing is left behind on failure.

    Raises:
        TokentuiError: It cannot be written; it says why.
    """
    where = os.fspath(path)
    try:
        target = os.path.realpath(where)
        try:
            mode = os.stat(target).st_mode
        except FileNotFoundError:
            mode = None
        if mode is None or stat.S_ISREG(mode):
            _replace(target, data, mode)
        else:
            with open(target, "wb") as file:
                file.write(data)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = error.strerror if isinstance(error, OSError) else None
        what = f"cannot be written: {why or error}"
        raise TokentuiError(what, where, "the file is as it was; name another place") from None


def _replace(target: str, data: bytes, mode: int | None) -> None:
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".{os.path.basename(target)[:100]}.{secrets.token_hex(4)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
    try:
        with open(descriptor, "wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    # The new name is on the disk only when the folder is; a file system that cannot say so is no failure.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
