"""Where compiled kernels are kept: a folder of the user's, never the package."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import platform
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import platformdirs

_FILLED = "complete"
_used = True


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
    """Whether all kernels of this version were compiled once."""
    return (_path() / _FILLED).is_file()


def mark_filled() -> None:
    """Note that all kernels of this version are there."""
    path = folder()
    if path is not None and not is_filled():
        with suppress(OSError):
            (path / _FILLED).touch()


@functools.cache
def _path() -> Path:
    """Its name holds all that the compiled code comes from, so that a kernel never runs with helpers of another version."""
    digest = hashlib.sha256(f"{sys.version} {platform.machine()}".encode())
    # Asking importlib.metadata for the versions takes ten times as long as all the rest.
    for path in [*map(_version_file, ("numba", "numpy", "llvmlite")), *sorted(Path(__file__).parent.glob("*.py"))]:
        digest.update(path.read_bytes())
    home = os.environ.get("TOKENTUI_HOME")
    base = Path(home) / "cache" if home else platformdirs.user_cache_path("tokentui", appauthor=False)
    return base / f"kernels-{digest.hexdigest()[:16]}"


def _version_file(package: str) -> Path:
    """The file of an installed package that says which version it is, found without importing it."""
    spec = importlib.util.find_spec(package)
    main = Path(spec.origin if spec is not None and spec.origin else __file__)
    return next((path for name in ("_version.py", "version.py") if (path := main.with_name(name)).is_file()), main)


@functools.cache
def _is_writable(path: Path) -> bool:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return True
    except OSError:
        return False
