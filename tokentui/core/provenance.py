"""Check that the compiled kernels in the package come from the sources and tools beside them.

The tests call `problems`, which compiles nothing. `make kernels-check` compiles and compares bytes.
"""

from __future__ import annotations

import functools
import hashlib
import io
import json
import re
import tokenize
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]
"""The folder of the package."""
LIBRARIES = "core/libraries"
"""The folder of the libraries and their manifest, in the package."""
LOCK = "core/toolchain.lock"
"""The file with the versions of the tools, in the package."""
LOADER = ("core/arrays.py", "core/native.py", "building.py")
"""The sources outside the folders `kernels` that decide what the libraries contain."""

_STARTS = tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING


def problems(package: Path = PACKAGE) -> list[str]:
    """Return what is wrong with the libraries of a package, one line per problem.

    Args:
        package: The folder of the package, which holds sources, lock file and libraries.
    """
    folder = package / LIBRARIES
    try:
        manifest = json.loads((folder / "manifest.json").read_bytes())
        files: dict[str, dict[str, Any]] = dict(manifest["files"])
        built, digest, local = dict(manifest["toolchain"]), manifest["sources"], manifest.get("local")
    except (OSError, ValueError, TypeError, KeyError) as error:
        return [f"manifest.json cannot be read ({type(error).__name__}): run make kernels"]
    wrong = []
    for name, facts in files.items():
        path = folder / name
        if not path.is_file():
            wrong.append(f"{name} is missing: run make kernels")
        elif facts_of(path.read_bytes()) != facts:
            wrong.append(f"{name} is not the file in manifest.json: run make kernels")
    extra = {path.name for path in folder.iterdir()} - {*files, "manifest.json", "classes.json"}
    wrong += [f"{name} is not in manifest.json: delete it" for name in sorted(extra)]
    if digest != sources(package):
        wrong.append("the sources changed after the libraries were compiled: run make kernels")
    if not local:  # `make kernels-local` takes any versions
        wrong += differences(built, locked(package), "manifest.json has")
    return wrong


def facts_of(content: bytes | bytearray) -> dict[str, int | str]:
    """Return what the manifest records about a library: size, CRC-32 and SHA-256.

    A process checks size and CRC-32 before it opens a library. Only the tests compare SHA-256.
    """
    return {"size": len(content), "crc32": zlib.crc32(content), "sha256": hashlib.sha256(content).hexdigest()}


def locked(package: Path = PACKAGE) -> dict[str, str]:
    """Return the versions in the lock file, by tool."""
    return dict(re.findall(r"^(?:# )?(\w+)==(\S+)$", (package / LOCK).read_text("utf-8"), re.MULTILINE))


def differences(versions: Mapping[str, str], lock: Mapping[str, str], label: str) -> list[str]:
    """Return a line for each tool whose version is not the locked one, in the order of names. A tool that
    only one of both has is a difference too, with "(none)" for the other.

    Args:
        versions: The versions to check, by tool.
        lock: The versions in the lock file.
        label: What the versions are, such as `installed:`.
    """
    return [
        f"{label} {name} {versions.get(name, '(none)')}, toolchain.lock has {lock.get(name, '(none)')}"
        for name in sorted({*versions, *lock}) if versions.get(name) != lock.get(name)
    ]


def sources(package: Path = PACKAGE) -> str:
    """Return the SHA-256 digest of all sources that are compiled in, without comments and docstrings."""
    digest = hashlib.sha256()
    paths = [*package.glob("*/kernels/*.py"), *(package / name for name in LOADER)]
    for path in sorted(paths):
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(_code(path.read_bytes()))
    return digest.hexdigest()


@functools.lru_cache
def _code(source: bytes) -> bytes:
    """Return the tokens of a source without comments and docstrings."""
    texts, before, documented = [], tokenize.NEWLINE, False
    for kind, text in _tokens(source):
        if kind in (tokenize.COMMENT, tokenize.NL):
            continue
        ends_docstring = documented and kind == tokenize.NEWLINE
        documented = kind == tokenize.STRING and before in _STARTS
        if not (documented or ends_docstring):
            texts.append(b"\0" + text.encode())
        before = kind
    return b"".join(texts)


def _tokens(source: bytes) -> Iterator[tuple[int, str]]:
    """Yield the tokens of a source with their kinds.

    An f-string is one token, as in Python 3.11. Later versions split it.
    """
    lines, depth, first = source.decode().splitlines(keepends=True), 0, (1, 0)
    opens, closes = (getattr(tokenize, f"FSTRING_{word}", None) for word in ("START", "END"))
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type == opens:
            first, depth = first if depth else token.start, depth + 1
        elif token.type == closes:
            depth -= 1
            if not depth:
                rows = lines[first[0] - 1 : token.end[0]]
                rows[-1] = rows[-1][: token.end[1]]
                yield tokenize.STRING, "".join(rows)[first[1] :]
        elif not depth:
            yield token.type, token.string
