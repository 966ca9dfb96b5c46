"""Sessions on the disk: each in a file of its own, with the generation before it, held by one process at a time."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from pathlib import Path

from tokentui.core.errors import TokentuiError
from tokentui.core.files import write_whole
from tokentui.core.paths import state_dir
from tokentui.session.saved.value import Kept, dumps, loads

MOST_SESSIONS = 20
"""The most sessions to keep; older ones are deleted."""
LARGEST = 16 << 20
"""A larger file was not written here."""


class Keeper:
    """Saves one session, as long as no other process does.

    Args:
        kept: The session; what it is about says which file is its own.
        folder: Where sessions are; the user's folder of states if None.

    Raises:
        TokentuiError: Another process has it, or there is no place to write.
    """

    def __init__(self, kept: Kept, folder: Path | None = None) -> None:
        self.path = _path_of(kept, folder or _folder())
        self._written = b""
        self._lock = _hold(self.path)

    def save(self, kept: Kept) -> bool:
        """Write the session atomically and keep the previous generation in a second file.

        Returns:
            True if there was anything to write.

        Raises:
            TokentuiError: The file cannot be written.
        """
        data = dumps(kept)
        if data == self._written:
            return False
        if self.path.exists():
            _keep_before(self.path)
        write_whole(self.path, data)
        self._written = data
        return True

    def close(self) -> None:
        """Let others have it."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def read(path: Path) -> tuple[Kept, str]:
    """A session, or the generation before it where the file is damaged.

    Returns:
        The session, and what has to be said about it: empty, or that it is the generation before.

    Raises:
        TokentuiError: Neither can be read; it says why the newer one cannot.
    """
    try:
        return _read(path), ""
    except TokentuiError as error:
        with contextlib.suppress(TokentuiError):
            return _read(_before(path)), f"{error.what}; this is the one that was saved before it"
        raise error from None


def offered(folder: Path | None = None) -> tuple[Kept, str] | None:
    """The newest session that its user did not leave and that no process has, as `read` gives it; None where there is none."""
    for path in _sessions(folder or _folder()):
        try:
            os.close(_hold(path))
            kept, note = read(path)
        except TokentuiError:
            continue
        if not kept.ended:
            return kept, note
    return None


def tidy(folder: Path | None = None) -> None:
    """Remove the oldest sessions above `MOST_SESSIONS`."""
    for path in _sessions(folder or _folder())[MOST_SESSIONS:]:
        for one in (path, _before(path), path.with_suffix(".lock")):
            with contextlib.suppress(OSError):
                one.unlink()


def _folder() -> Path:
    return state_dir() / "sessions"


def _path_of(kept: Kept, folder: Path) -> Path:
    about = "\0".join(["scratch"] if kept.scratch is not None else [*kept.sources, kept.as_ or "", kept.field_])
    return folder / (hashlib.sha256(about.encode("utf-8", "surrogateescape")).hexdigest()[:16] + ".json")


def _before(path: Path) -> Path:
    return path.with_suffix(".before")


def _sessions(folder: Path) -> list[Path]:
    found: list[tuple[float, Path]] = []
    with contextlib.suppress(OSError):
        for path in folder.glob("*.json"):
            with contextlib.suppress(OSError):
                found.append((path.stat().st_mtime, path))
    return [path for _, path in sorted(found, reverse=True)]


def _hold(path: Path) -> int:
    """A lock that goes with the process, however it ends."""
    where = path.with_suffix(".lock")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(where, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        what = f"the session is not kept: {error.strerror}"
        raise TokentuiError(what, str(path.parent), "set TOKENTUI_HOME to a folder") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
        os.close(descriptor)
        what = f"another tokentui (process {holder or '?'}) has this session: what is done here is not kept"
        raise TokentuiError(what, str(path), "leave one of the two") from None
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
    return descriptor


def _keep_before(path: Path) -> None:
    """Give the file a second name, so that at no moment there is none under the first."""
    with contextlib.suppress(OSError):
        second = path.with_suffix(".next")
        with contextlib.suppress(FileNotFoundError):
            second.unlink()
        os.link(path, second)
        os.replace(second, _before(path))


def _read(path: Path) -> Kept:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise TokentuiError(f"cannot be read: {error.strerror}", str(path), "begin anew: tokentui CORPUS") from None
    if len(data) > LARGEST:
        raise TokentuiError("too large for a session", str(path), "begin anew: tokentui CORPUS")
    return loads(data, str(path))
