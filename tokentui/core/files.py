"""Files: opened only where they are regular, and written whole or not at all.

Opening a pipe, socket or device may block or have an effect, so the type of a file is checked first.

§0,0§A reader sees the old content or the new, even if a call fails or the process is killed. The content goes
to a temporary file in the same folder, is flushed to the disk and is renamed to the target. A temporary file
is locked while its writer lives. The next write of the same target removes unlocked ones.

§0,0§Files that belong together, such as `vocab.json` and `merges.txt`, are all written, or none of them. No
system renames two files at once, so a journal in the same folder records the old files and the new ones. Then
each new file is renamed, and the journal is removed. An error restores the old files. If the process is
killed between two renames, the journal stays, and a reader learns from it that one file is new and another
one old.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from io import BufferedReader
from typing import TYPE_CHECKING, NamedTuple

from tokentui.core import limits, sandbox
from tokentui.core.errors import TokentuiError, shown_path

if TYPE_CHECKING:
    from pathlib import Path

_KINDS = {
    stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
}
_HINTS = {
    errno.EACCES: "check its permissions", errno.EPERM: "check its permissions", errno.ENXIO: "name a file",
    errno.ENOMEM: "tokentui count counts a text of any size",
}
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
_END = ".tokentui-pending"
_LARGEST_JOURNAL = 1 << 16
_AS_BEFORE = "the files are unchanged; use another path"


def short_names(paths: Sequence[str]) -> list[str]:
    """Return for each path its shortest end, in whole parts, that is not an end of another path.

    Equal paths get equal names. A path that is the end of another one is its own name.

    >>> short_names(["a/tokenizer.json", "b/tokenizer.json", "b/other.json"])
    ['a/tokenizer.json', 'b/tokenizer.json', 'other.json']
    """
    split = [[part for part in path.split("/") if part not in ("", ".")] or [path] for path in paths]

    def short(parts: list[str]) -> str:
        for count in range(1, len(parts)):
            if all(other == parts or other[-count:] != parts[-count:] for other in split):
                return "/".join(parts[-count:])
        return "/".join(parts)

    return list(map(short, split))


def refuse_irregular(mode: int, path: str, wanted: str, hint: str = "") -> None:
    """Raise an error for anything except a regular file.

    Args:
        mode: The mode of the file.
        path: Its path, for the error.
        wanted: What was expected, such as `file`, for the error.
        hint: The hint of the error; empty for a general one.
    """
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        hint = hint or ("name the file in it" if stat.S_ISDIR(mode) else f"name a {wanted}")
        raise TokentuiError(f"is {kind}, not a {wanted}", path, hint)


def check_held(status: os.stat_result, path: str) -> None:
    """Refuse a sparse file that is nearly all holes: like a compression bomb, it reads as many zeros.

    Raises:
        TokentuiError: Its size is many times the space that it takes on disk.
    """
    now, size, stored = limits.now(), status.st_size, 512 * status.st_blocks
    if size > max(now.packed_bytes, now.packed_ratio * stored):
        what = f"{size:,} bytes, of which the disk has {stored:,}: the rest are zeros"
        raise TokentuiError(what, path, limits.reading("packed-ratio", "use a part of it"))


def read_regular(path: str, wanted: str = "file", most: int = -1) -> bytes:
    """Read a regular file.

    Args:
        path: Its path.
        wanted: What was expected, such as `file`, for the error.
        most: The largest number of bytes to read; negative for all.

    Raises:
        TokentuiError: The file does not exist, cannot be read, is not a regular file, or is sparse.
    """
    with read_errors(path), open_regular(path, wanted) as file:
        check_held(os.fstat(file.fileno()), path)
        return file.read(most)


@contextlib.contextmanager
def open_regular(path: str, wanted: str = "file") -> Iterator[BufferedReader]:
    """Open a regular file for reading.

    Raises:
        TokentuiError: It is not a regular file, or the sandbox forbids it.
        OSError: It cannot be opened.
    """
    refuse_irregular(status_of(path).st_mode, path, wanted)
    with open(path, "rb", opener=open_nonblocking) as file:
        # It may have become another meanwhile.
        refuse_irregular(os.fstat(file.fileno()).st_mode, path, wanted)
        yield file


def own_folder(kind: str) -> Path:
    """Return the folder for the program's own files of a kind, such as `cache`, by the conventions of the
    system. Without a home folder, return a path that cannot exist."""
    from pathlib import Path

    import platformdirs  # not before such a file is asked for

    try:
        path: Path = getattr(platformdirs, f"user_{kind}_path")("tokentui", appauthor=False)
    except RuntimeError:
        return Path(os.devnull) / kind
    return path


@contextlib.contextmanager
def read_errors(path: str) -> Iterator[None]:
    """Raise the system's errors for a path as a `TokentuiError`.

    Raises:
        TokentuiError: The work inside raised an `OSError`.
    """
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOENT:
            raise TokentuiError("no such file", shown_path(path), "check the name") from None
        hint = _HINTS.get(error.errno or 0, "check the file")
        what = (error.strerror or str(error)).lower()
        raise TokentuiError(f"cannot be read: {what}", shown_path(path), hint) from None


def status_of(path: str) -> os.stat_result:
    """Return the status of a file without opening it: opening a device may have an effect.

    Raises:
        TokentuiError: The name is invalid, or the sandbox forbids it.
        OSError: The system does not give the status.
    """
    sandbox.check(path)
    try:
        return os.stat(path)
    except ValueError:
        hint = "it contains a NUL or a partial character"
        raise TokentuiError("no file can have this name", shown_path(path), hint) from None


def names_in(folder: str, most: int) -> set[str]:
    """Return the names in a folder, at most `most` of them.

    Raises:
        TokentuiError: It cannot be read, or the sandbox forbids it.
    """
    sandbox.check(folder)
    with read_errors(folder), os.scandir(folder) as listing:
        return {entry.name for entry in itertools.islice(listing, most)}


def open_nonblocking(path: str, flags: int) -> int:
    """Open a file without waiting for a writer, and without making it the terminal of the process."""
    sandbox.check(path)
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part.

    A symlink's target is written, and an existing file keeps its permissions. A pipe or a terminal is written
    to directly. On failure, no temporary file remains.

    Raises:
        TokentuiError: The file cannot be written. The message has the reason.
    """
    where = os.fspath(path)
    sandbox.check_writing(where)
    with write_errors(where, "the file is as it was; name another place"):
        target = os.path.realpath(where)
        mode = mode_of(where)  # /dev/stdout is a link that names no file where it is a pipe
        if mode is None or stat.S_ISREG(mode):
            remove_leftovers(target)
            with temporary(target, data, mode) as name:
                os.replace(name, target)
            flush_folder(os.path.dirname(target))
        else:
            with open(where, "wb") as file:
                file.write(data)


@contextlib.contextmanager
def write_errors(path: str, hint: str = _AS_BEFORE) -> Iterator[None]:
    """Raise the system's errors for writing a file as a `TokentuiError`.

    Args:
        path: The path of the file, for the error.
        hint: The hint of the error.
    """
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise TokentuiError(f"cannot be written: {why}", shown_path(path), hint) from None


def mode_of(target: str) -> int | None:
    """Return the mode of a file, or None if the file does not exist."""
    try:
        return os.stat(target).st_mode
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def temporary(target: str, data: bytes, mode: int | None) -> Iterator[str]:
    """Write a temporary file in the folder of a target, sync it to disk and yield its path.

    The file is removed at the end if it was not renamed.
    """
    with contextlib.ExitStack() as stack:
        while True:
            name = _temporary_name(target)
            descriptor = os.open(name, _FLAGS | os.O_EXCL, 0o666)
            stack.callback(remove, name)
            stack.callback(os.close, descriptor)
            lock(descriptor)
            if os.fstat(descriptor).st_nlink:  # else it was taken for a leftover before it was locked
                break
        if mode is not None:
            os.fchmod(descriptor, stat.S_IMODE(mode))
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
        yield name


def _temporary_name(target: str) -> str:
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{name[:100]}.{os.urandom(4).hex()}.tmp")


def remove_leftovers(target: str) -> None:
    """Remove the temporary files of writers of this target that were killed."""
    folder, name = os.path.split(target)
    like = re.compile(rf"\.{re.escape(name[:100])}\.[0-9a-f]{{8}}\.tmp")
    with contextlib.suppress(OSError):
        for leftover in [entry.path for entry in os.scandir(folder) if like.fullmatch(entry.name)]:
            with contextlib.suppress(OSError):
                descriptor = os.open(leftover, os.O_RDWR | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0))
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(leftover)
                finally:
                    os.close(descriptor)


def lock(descriptor: int, *, wait: bool = True) -> bool:
    """Lock a file until it is closed. Return False if another process holds the lock. On a file system
    without locks, return True."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        return not isinstance(error, BlockingIOError)
    return True


def flush_folder(folder: str) -> None:
    """Flush the names in a folder to disk. Do nothing if the file system does not support that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove(path: str) -> None:
    """Remove a file. Do nothing if it does not exist."""
    with contextlib.suppress(OSError):
        os.unlink(path)


# ---- files that belong together


class _File(NamedTuple):
    """An entry of a journal: the path, the digest of the old content (None for no file), the digest of the
    new one."""

    path: str
    old: str | None
    new: str


class _Journal(NamedTuple):
    """The files that are being renamed.

    Attributes:
        files: The files.
        mixed: True if the old files already were a mixture, after an earlier interrupted export.
    """

    files: tuple[_File, ...] = ()
    mixed: bool = False

    def mixture(self) -> str:
        """Return a sentence about files of different exports; empty if all are new, all are old, or some have
        changed since or cannot be read.

        A journal may name any path, so only regular files are read.
        """
        new, old = [], []
        for file in self.files:
            try:
                digest = _digest(file.path)
            except (OSError, TokentuiError):
                return ""
            if digest == file.new:
                new.append(os.path.basename(file.path))
            elif digest == file.old:
                old.append(os.path.basename(file.path))
            else:
                return ""
        if new and old:
            return f"{' and '.join(new)} is new, {' and '.join(old)} is old"
        return f"{' and '.join(old)} are of two exports" if old and self.mixed else ""


def write_together(files: Sequence[tuple[str, bytes]]) -> None:
    """Write files that belong together.

    At every moment each file is either the old one or the new one. After an error all are the old ones. If
    the process is killed between two renames, `check_whole` reports the mixture until the files are written
    again.

    Args:
        files: The path and the content of each.

    Raises:
        TokentuiError: A file cannot be written. The message names it and the reason.
    """
    if len(files) == 1:
        write_whole(*files[0])
        return
    places: list[tuple[str, str, bytes]] = []
    for path, data in files:
        sandbox.check_writing(path)
        with write_errors(path):
            target = os.path.realpath(path)
            if (mode := mode_of(target)) is not None and not stat.S_ISREG(mode):
                raise TokentuiError("cannot be written: not a file", path, _AS_BEFORE)
        places.append((target, path, data))
    with _locked(*places[0][:2]) as journal:
        _write(places, journal)


def check_whole(path: str) -> None:
    """Refuse a file that an interrupted export left among files of another tokenizer.

    Raises:
        TokentuiError: It is one of several files of which some are new and some old.
    """
    target = os.path.realpath(path)
    with contextlib.suppress(OSError, ValueError):
        for place in sorted(
            entry.path for entry in os.scandir(os.path.dirname(target)) if entry.name.endswith(_END)
        ):
            journal = _read(place)
            if any(file.path == target for file in journal.files) and (mixture := journal.mixture()):
                hint = f"export them again, or delete {os.path.basename(place)}"
                raise TokentuiError(f"an export was interrupted: {mixture}", path, hint)


def _write(places: Sequence[tuple[str, str, bytes]], journal: str) -> None:
    """Write the files under temporary names, record the plan in the journal, and rename them.

    After an error all are put back as they were, and the error is raised again.
    """
    import hashlib  # it takes longer than to read most files

    mixed = bool(_read(journal).mixture())
    with contextlib.ExitStack() as stack:
        planned, renames = [], []
        for target, path, data in places:
            remove_leftovers(target)
            with write_errors(path):
                mode = mode_of(target)
                name = stack.enter_context(temporary(target, data, mode))
                renames.append((path, name, target, stack.enter_context(_second_name(target, mode))))
                planned.append(_File(target, _digest(target), hashlib.sha256(data).hexdigest()))
        placed: list[tuple[str, str | None]] = []
        try:
            with write_errors(places[0][1]):
                _put(journal, _Journal(tuple(planned), mixed))
            for path, name, target, old in renames:
                placed.append((target, old))
                with write_errors(path):
                    os.replace(name, target)
        except BaseException:
            _put_back(placed, places[0][1])
            if not mixed:
                remove(journal)
            raise
    try:
        for folder in sorted({os.path.dirname(target) for target, _, _ in places}):
            flush_folder(folder)
    finally:
        remove(journal)


def _put_back(placed: Sequence[tuple[str, str | None]], path: str) -> None:
    """Restore the files that were there before.

    Raises:
        TokentuiError: They cannot be restored. The journal stays, and readers are warned.
    """
    failed: OSError | None = None
    for target, old in reversed(placed):
        try:
            if old is not None:
                os.replace(old, target)
            else:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(target)
        except OSError as error:
            failed = error
    if failed is not None:
        what = f"cannot be written, and the old files cannot be brought back: {failed.strerror or failed}"
        raise TokentuiError(
            what, path, "it has both new and old files: export them again to another place"
        ) from None


@contextlib.contextmanager
def _second_name(target: str, mode: int | None) -> Iterator[str | None]:
    """Provide a second name (a hard link or a copy) for a file that is about to be replaced, and delete it
    afterwards. None if there is no file.

    It is a copy if the file system has no hard links or the file belongs to another user. The copy is made at
    once: after an error the disk may be full.
    """
    if mode is None:
        yield None
        return
    name = _temporary_name(target)
    with contextlib.ExitStack() as stack:
        try:
            os.link(target, name)
            stack.callback(remove, name)
        except OSError:
            with open(target, "rb") as file:
                name = stack.enter_context(temporary(target, file.read(), mode))
        yield name


@contextlib.contextmanager
def _locked(target: str, path: str) -> Iterator[str]:
    """Lock the journal of a group of files against other writers, and yield its path.

    Args:
        target: The first file of the group, resolved.
        path: The path that the user gave for it, for errors.

    Raises:
        TokentuiError: Another process writes these files, or nothing can be written there.
    """
    folder, name = os.path.split(target)
    journal = os.path.join(folder, f".{name[:100]}{_END}")
    with write_errors(path):
        descriptor = os.open(journal + ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        if not lock(descriptor, wait=False) or not os.fstat(descriptor).st_nlink:
            raise TokentuiError("cannot be written: another program is writing these files", path,
                                "try it again")
        try:
            yield journal
        finally:
            remove(journal + ".lock")
    finally:
        os.close(descriptor)


def _put(path: str, journal: _Journal) -> None:
    """Write a journal and sync it to disk."""
    rows = [file._asdict() for file in journal.files]
    data = json.dumps({"journal": path, "mixed": journal.mixed, "files": rows}).encode("ascii")
    write_whole(path, data)


def _read(path: str) -> _Journal:
    """Read a journal. A file that is not a journal gives an empty one."""
    try:
        document = json.loads(read_regular(path, most=_LARGEST_JOURNAL))
        was, now = os.path.dirname(document["journal"]), os.path.dirname(path)
        files = []
        for row in document["files"]:
            folder, name = os.path.split(row["path"])
            # A folder that was moved since took the files with it.
            files.append(_File(os.path.join(now if folder == was else folder, name), row["old"], row["new"]))
        return _Journal(tuple(files), document["mixed"] is True)
    except (TokentuiError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return _Journal()


def _digest(path: str) -> str | None:
    """Return the SHA-256 of a regular file, or None if there is no file.

    Raises:
        TokentuiError: It is no regular file.
        OSError: It cannot be read.
    """
    import hashlib

    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None
