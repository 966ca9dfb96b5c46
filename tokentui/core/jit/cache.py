"""Where compiled kernels are kept: a folder of the user's, never the package."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.util
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import platformdirs

_FILLED = "complete"
_used = True


class NotKept(Exception):
    """A kernel would have to be compiled."""


def empty() -> None:
    """Remove what is kept."""
    shutil.rmtree(_path(), ignore_errors=True)
    _is_writable.cache_clear()


def use_none() -> None:
    """Compile without keeping what comes of it, for the rest of this process."""
    global _used
    _used = False


def folder() -> Path | None:
    """The folder, made if need be; nothing where it cannot be written."""
    path = _path()
    if not _used or not _is_writable(path):
        return None
    return path


def is_filled() -> bool:
    """True if all kernels of this version have been compiled once."""
    return (_path() / _FILLED).is_file()


def mark_filled() -> None:
    """Note that all kernels of this version are there."""
    path = folder()
    if path is not None and not is_filled():
        with suppress(OSError):
            (path / _FILLED).touch()


@contextlib.contextmanager
def only_kept() -> Iterator[None]:
    """Compile nothing of ours meanwhile: a kernel that was not kept raises `NotKept`."""
    event: Any = importlib.import_module("numba.core.event")

    class Refusing(event.Listener):  # type: ignore[misc]
        """Told by Numba before it compiles a function."""

        def on_start(self, event: Any) -> None:
            """Refuse a function of ours; what others compile meanwhile is none of our business."""
            if event.data["dispatcher"].py_func.__module__.startswith("tokentui."):
                raise NotKept

        def on_end(self, event: Any) -> None:
            """Nothing."""

    with event.install_listener("numba:compile", Refusing()):
        yield


def _path() -> Path:
    home = os.environ.get("TOKENTUI_HOME")
    base = Path(home) / "cache" if home else platformdirs.user_cache_path("tokentui", appauthor=False)
    return base / f"kernels-{_digest()}"


@functools.cache
def _digest() -> str:
    """All that the compiled code comes from, so that a kernel never runs with helpers of another version.

    The folder of the sources belongs to it: Numba finds what it kept by the paths of the files, and what was
    compiled for another installation would seem to be there and have to be compiled again.
    """
    digest = hashlib.sha256(f"{sys.version} {platform.machine()}\0".encode())
    package = Path(__file__).absolute().parents[2]
    sources = [*Path(__file__).parent.glob("*.py"), *package.glob("*/kernels/*.py")]
    digest.update(os.fsencode(package))
    # Asking importlib.metadata for the versions takes ten times as long as all the rest.
    for path in [*map(_version_file, ("numba", "numpy", "llvmlite")), *sorted(sources)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _version_file(package: str) -> Path:
    """The file of an installed package that says which version it is, found without importing it."""
    spec = importlib.util.find_spec(package)
    main = Path(spec.origin if spec is not None and spec.origin else __file__)
    return next(
        (path for name in ("_version.py", "version.py") if (path := main.with_name(name)).is_file()), main
    )


@functools.cache
def _is_writable(path: Path) -> bool:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return True
    except OSError:
        return False
