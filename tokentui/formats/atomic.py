"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
from collections.abc import Sequence

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


def write_together(files: Sequence[tuple[str, bytes]]) -> None:
    """Write files that belong together so that a reader never finds one of them new and another one old.

    All are written beside their places first. Then the old ones go aside, the first last, and the new ones take their names, the
    first first. Where that fails the old ones are put back. Where the program is killed in between, one of them is missing,
    which a reader says, and the old ones lie beside it under names that end in `.old`.

    Raises:
        TokentuiError: One cannot be written; it says which and why.
    """
    if len(files) == 1:
        write_whole(*files[0])
        return
    mark = secrets.token_hex(4)
    places = [(os.path.realpath(path), path, data) for path, data in files]
    aside: list[tuple[str, str]] = []
    placed: list[str] = []
    at = places[0][1]
    try:
        for target, path, data in places:
            at = path
            write_whole(_beside(target, mark, "tmp"), data)
            if os.path.exists(target):
                shutil.copymode(target, _beside(target, mark, "tmp"))
        for target, path, _ in reversed(places):
            at = path
            if os.path.exists(target):
                aside.append((_beside(target, mark, "old"), target))
                os.replace(target, _beside(target, mark, "old"))
        for target, path, _ in places:
            at = path
            placed.append(target)
            os.replace(_beside(target, mark, "tmp"), target)
    except BaseException as error:
        for target in placed:
            _gone(target)
        for old, target in reversed(aside):
            with contextlib.suppress(OSError):
                os.replace(old, target)
        if not isinstance(error, OSError | TokentuiError):
            raise
        why = error.strerror or str(error) if isinstance(error, OSError) else error.what.removeprefix("cannot be written: ")
        raise TokentuiError(f"cannot be written: {why}", at, "the files are as they were; name another place") from None
    finally:
        for target, _, _ in places:
            _gone(_beside(target, mark, "tmp"))
    for old, _ in aside:
        _gone(old)


def _beside(target: str, mark: str, end: str) -> str:
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{name[:100]}.{mark}.{end}")


def _gone(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
