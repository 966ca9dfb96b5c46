"""The shared library of compiled kernels for this system: whether there is one, and opening it.

`tokentui --version` reports it. So this module imports little: `functools` or `json` would take as long as
all the rest of that command.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ctypes
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")

VARIABLE = "TOKENTUI_KERNELS"
"""The environment variable that turns kernels off, by the value `off`."""
COMPILED, PLAIN = "compiled", "plain Python"
"""The two engines, as `engine` calls them."""
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libraries")
"""The folder of compiled kernels: a library for each system, and `manifest.json`."""


class KernelsUnavailable(Exception):
    """This process cannot call kernels. The message is the reason."""


def system() -> str:
    """Return the name of this system, such as `linux-x86_64`."""
    return f"{sys.platform}-{os.uname().machine}"


def library_of(system: str) -> str:
    """Return the file name of a system's library, such as `libtokentui-linux-x86_64.so`."""
    return f"libtokentui-{system}.{'dylib' if system.startswith('darwin') else 'so'}"


def _once(function: Callable[[], T]) -> Callable[[], T]:
    """Return a function that calls another one until that returns, and then keeps its result."""
    results: list[T] = []

    def kept() -> T:
        if not results:
            results.append(function())
        return results[0]

    return kept


@_once
def manifest() -> dict[str, Any]:
    """Return the manifest of the libraries: `toolchain` with the versions of the tools, `sources` with the
    digest of the sources, `files` with size and CRC-32 of each library, `kernels` with their signatures, and
    `local` if `make kernels-local` built the library.

    Raises:
        KernelsUnavailable: It is missing or damaged.
    """
    import json

    try:
        with open(os.path.join(FOLDER, "manifest.json"), "rb") as file:
            found = json.loads(file.read())
        checks = {name: (facts["size"], facts["crc32"]) for name, facts in dict(found["files"]).items()}
        return {**found, "files": checks, "kernels": dict(found["kernels"])}
    except FileNotFoundError:
        raise KernelsUnavailable("this installation has no kernels") from None
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        raise KernelsUnavailable("the manifest of kernels is damaged") from None


def _fits_python() -> bool:
    """Return whether there are kernels for this kind of Python."""
    return sys.byteorder == "little" and sys.implementation.name == "cpython" and sys.maxsize > 1 << 32


@_once
def opened() -> ctypes.CDLL:
    """Open the library of this system.

    Raises:
        KernelsUnavailable: This process cannot call kernels.
    """
    import zlib

    if not _fits_python():
        raise KernelsUnavailable("no kernels for this Python")
    name = library_of(system())
    if name not in manifest()["files"]:
        raise KernelsUnavailable(f"no kernels for {system()}")
    path = os.path.join(FOLDER, name)
    try:
        with open(path, "rb") as file:
            content = file.read()
        if (len(content), zlib.crc32(content)) != manifest()["files"][name]:
            raise KernelsUnavailable("the library of kernels is damaged")
        return _open(path)
    except OSError:
        raise KernelsUnavailable("the library of kernels cannot be opened") from None


def _open(path: str) -> ctypes.CDLL:
    """Open a library. If log and exp are missing in the process, load the C library first."""
    import ctypes

    try:
        return ctypes.CDLL(path)
    except OSError:
        # The library needs log and exp. Most interpreters have already loaded them; else load libm or libc.
        for name in ("libm.so.6", "libm.so", "libc.so"):
            try:
                ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
            except OSError:
                continue
        return ctypes.CDLL(path)


@_once
def trouble() -> str:
    """Return why this process has no kernels, in a few words; empty if it has them."""
    try:
        opened()
    except KernelsUnavailable as error:
        return str(error)
    return ""


def engine() -> str:
    """Return the name of the engine of this system: `compiled`, or `plain Python` and why."""
    if os.environ.get(VARIABLE) == "off":
        return PLAIN
    return f"{PLAIN}, {trouble()}" if trouble() else COMPILED


def engine_at_once() -> str:
    """Return what `engine` does, for a process that calls no kernels.

    The manifest is not parsed if it is as `building.py` writes it, and lists the library as it is: with this
    and `_once`, `--version` takes 21 ms of processor time instead of 34.
    """
    import zlib

    name = library_of(system())
    path = os.path.join(FOLDER, name)
    if os.environ.get(VARIABLE) != "off" and _fits_python():
        try:
            with open(os.path.join(FOLDER, "manifest.json"), "rb") as file:
                text = file.read()
            with open(path, "rb") as file:
                content = file.read()
            row = f'\n  "{name}": {{\n   "size": {len(content)},\n   "crc32": {zlib.crc32(content)},\n'
            parts = (b'\n "files": {\n', row.encode(), b'\n "kernels": {\n')
            whole = text.startswith(b"{\n") and text.endswith(b"\n }\n}\n")
            if whole and all(part in text for part in parts):
                _open(path)
                return COMPILED
        except OSError:
            pass  # `engine` says why
    return engine()
